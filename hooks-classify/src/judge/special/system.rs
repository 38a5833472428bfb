//! Judges of programs about the machine, and of Windows.

use super::{Outcome, args};
use crate::judge::{Arg, Input, Judge, UNKNOWN};
use crate::language::powershell;
use crate::parts::UnseenCode;
use crate::shell::Span;
use crate::tables::{Call, Effect, Given, Language, Verb};

pub(super) fn sysctl(_: &mut Judge<'_>, call: &Call, _: Span, _: &Input) -> Outcome {
    let sets = call
        .operands
        .iter()
        .any(|operand| operand.arg.text.contains('=') || !operand.arg.known());
    if sets {
        Outcome::Is(Effect::Update)
    } else {
        Outcome::Table
    }
}

/// Some logs of `-l` take numbers, and set what they otherwise show.
pub(super) fn smartctl(judge: &mut Judge<'_>, call: &Call, _: Span, _: &Input) -> Outcome {
    for given in &call.options {
        let Some(value) = &given.value else { continue };
        let log = value.text.to_ascii_lowercase();
        if ["-l", "--log"].contains(&given.name.as_str())
            && (log.starts_with("scterc,") || log.starts_with("scttempint") || !value.known())
        {
            judge.find(
                Effect::Update,
                value.span,
                format!("`smartctl` may set `{log}`"),
            );
        }
    }
    Outcome::Table
}

/// The loader of a program runs: its own, if it names one.
pub(super) fn ldd(judge: &mut Judge<'_>, call: &Call, _: Span, _: &Input) -> Outcome {
    const SYSTEM: &[&str] = &[
        "/usr/",
        "/bin/",
        "/sbin/",
        "/lib/",
        "/lib32/",
        "/lib64/",
        "/nix/store/",
        "/gnu/store/",
    ];
    for operand in args(call) {
        let text = operand.text.as_str();
        let known = operand.known()
            && SYSTEM.iter().any(|folder| text.starts_with(folder))
            && !text.split('/').any(|part| part == "..");
        if !known && !call.has(&["--help", "--version"]) {
            judge.find(
                Effect::Code,
                operand.span,
                "`ldd` may run the program that it looks at",
            );
        }
    }
    Outcome::Table
}

pub(super) fn pacman(judge: &mut Judge<'_>, call: &Call, _: Span, _: &Input) -> Outcome {
    for given in &call.options {
        let name = given.name.as_str();
        if name == "--refresh" || (name.contains('y') && !name.starts_with("--")) {
            judge.find(
                Effect::Update,
                given.span,
                format!("`{}` with `{name}` refreshes its databases", call.path),
            );
        }
    }
    Outcome::Table
}

/// `key=clear`, which may lack its name, and whose value may be shortened.
pub(super) fn netsh_show(judge: &mut Judge<'_>, call: &Call, _: Span, _: &Input) -> Outcome {
    for arg in &call.args {
        let text = arg.text.to_ascii_lowercase();
        let (_, value) = text.rsplit_once('=').unwrap_or(("", &text));
        if !arg.known() || (!value.is_empty() && "clear".starts_with(value)) {
            judge.ask(arg.span, "`netsh` shows passwords");
        }
    }
    Outcome::Table
}

pub(super) fn nft(_: &mut Judge<'_>, call: &Call, _: Span, _: &Input) -> Outcome {
    let text = args(call)
        .iter()
        .map(|arg| arg.text.clone())
        .collect::<Vec<_>>()
        .join(" ");
    let effect = text
        .split([';', '\n'])
        .filter_map(|part| part.split_whitespace().next())
        .map(|word| match word {
            "list" | "describe" | "monitor" => Effect::Read,
            "delete" | "destroy" | "flush" | "reset" => Effect::Delete,
            _ => Effect::Update,
        })
        .max();
    effect.map_or(Outcome::Table, |effect| {
        if call
            .options
            .iter()
            .any(|given| matches!(given.option.verb, Some(Verb::Raises(_))))
        {
            Outcome::Is(effect.max(Effect::Update))
        } else {
            Outcome::Is(effect)
        }
    })
}

pub(super) fn service(_: &mut Judge<'_>, call: &Call, _: Span, _: &Input) -> Outcome {
    let words = args(call);
    let at = usize::from(call.path != "sv");
    let status = words.get(at).is_some_and(|arg| arg.text == "status");
    if status {
        Outcome::Is(Effect::Read)
    } else {
        Outcome::Table
    }
}

/// PowerShell itself: what it is told to run.
pub(super) fn powershell(
    judge: &mut Judge<'_>,
    call: &Call,
    whole: Span,
    input: &Input,
) -> Outcome {
    let name = call.path.trim_end_matches(".exe");
    if name != "powershell" && name != "pwsh" {
        let mut text = call.path.clone();
        for arg in &call.args {
            text.push(' ');
            text.push_str(&arg.text);
        }
        // The shell here would take `$_` away; another one is meant.
        powershell::judge(judge, &Arg::new(text.replace(UNKNOWN, "$_"), whole));
        return Outcome::Done(None);
    }
    let valued = [
        "executionpolicy",
        "ep",
        "ex",
        "windowstyle",
        "w",
        "outputformat",
        "o",
        "of",
        "inputformat",
        "if",
        "configurationname",
        "workingdirectory",
        "wd",
        "version",
        "psconsolefile",
        "settingsfile",
        "custompipename",
    ];
    let flags = [
        "noprofile",
        "nop",
        "noninteractive",
        "noni",
        "nologo",
        "nol",
        "noexit",
        "noe",
        "login",
        "l",
        "mta",
        "sta",
    ];
    let mut at = 0;
    while let Some(arg) = call.args.get(at) {
        let text = arg.text.to_ascii_lowercase().replace('\u{2013}', "-");
        let Some(option) = text.strip_prefix(['-', '/']) else {
            break;
        };
        at += 1;
        let option = option.trim_start_matches('-');
        let begins = |long: &str, least: usize| option.len() >= least && long.starts_with(option);
        if option.is_empty() {
            break;
        }
        if ["help", "h", "?", "v"].contains(&option) {
            judge.find(Effect::Read, whole, "PowerShell prints help");
            return Outcome::Done(None);
        }
        if begins("command", 1) {
            let rest = &call.args[at..];
            if rest.first().is_some_and(|arg| arg.text == "-") {
                return stdin(judge, whole, input);
            }
            text_of(judge, rest, whole);
            return Outcome::Done(None);
        }
        if begins("encodedcommand", 1) || option == "ec" {
            match call.args.get(at) {
                Some(value) => match powershell::decoded(&value.text) {
                    Some(text) => {
                        judge.find(Effect::Code, value.span, "an encoded command");
                        powershell::judge(judge, &value.with(&text));
                    }
                    None => judge.find(
                        Effect::Code,
                        value.span,
                        "an encoded command that cannot be read",
                    ),
                },
                None => judge.find(Effect::Unknown, arg.span, "an option without its value"),
            }
            return Outcome::Done(None);
        }
        if begins("file", 1) {
            if let Some(file) = call.args.get(at) {
                judge.parts.code_file(file);
            }
            judge.find(Effect::Code, whole, "PowerShell runs what is in a file");
            return Outcome::Done(None);
        }
        if valued
            .iter()
            .any(|v| *v == option || (v.len() > 3 && option.len() > 2 && v.starts_with(option)))
        {
            at += 1;
        } else if !flags
            .iter()
            .any(|v| *v == option || (v.len() > 4 && option.len() > 2 && v.starts_with(option)))
        {
            judge.find(
                Effect::Unknown,
                arg.span,
                format!("PowerShell has no known option `{}`", arg.text),
            );
        }
    }
    let rest = &call.args[at.min(call.args.len())..];
    if rest.is_empty() {
        return stdin(judge, whole, input);
    }
    if name == "pwsh" {
        judge.parts.code_file(&rest[0]);
        judge.find(
            Effect::Code,
            rest[0].span,
            "PowerShell runs what is in a file",
        );
    } else {
        text_of(judge, rest, whole);
    }
    Outcome::Done(None)
}

fn text_of(judge: &mut Judge<'_>, words: &[Arg], whole: Span) {
    let text = words
        .iter()
        .map(|arg| arg.text.as_str())
        .collect::<Vec<_>>()
        .join(" ");
    let span = words
        .first()
        .map_or(whole, |first| Span::new(first.span.start, whole.end));
    powershell::judge(judge, &Arg::new(text, span));
}

fn stdin(judge: &mut Judge<'_>, whole: Span, input: &Input) -> Outcome {
    match input {
        Input::Known(text) => powershell::judge(judge, &Arg::new(text.clone(), whole)),
        _ => judge.runs_unseen(whole, UnseenCode::Input, "PowerShell runs what it reads"),
    }
    Outcome::Done(None)
}

/// The command shell of Windows.
pub(super) fn cmd(judge: &mut Judge<'_>, call: &Call, whole: Span, _: &Input) -> Outcome {
    let at = call.args.iter().position(|arg| {
        matches!(
            arg.text.to_ascii_lowercase().as_str(),
            "/c" | "/k" | "/r" | "//c"
        )
    });
    let Some(at) = at else {
        judge.find(Effect::Code, whole, "opens a shell");
        return Outcome::Done(None);
    };
    let words = &call.args[at + 1..];
    let text = words
        .iter()
        .map(|arg| arg.text.as_str())
        .collect::<Vec<_>>()
        .join(" ");
    judge.script_in(Language::Cmd, &Arg::new(text, whole), "cmd");
    Outcome::Done(None)
}

/// Requests of PowerShell.
pub(super) fn request(judge: &mut Judge<'_>, call: &Call, whole: Span, _: &Input) -> Outcome {
    let mut text = call.path.clone();
    for arg in &call.args {
        text.push(' ');
        text.push_str(&arg.text);
        if !arg.known() {
            judge.ask(arg.span, "sends what an expansion holds over the network");
        }
    }
    powershell::judge(judge, &Arg::new(text, whole));
    Outcome::Done(None)
}

pub(super) fn wmic(_: &mut Judge<'_>, call: &Call, _: Span, _: &Input) -> Outcome {
    let words: Vec<String> = call
        .args
        .iter()
        .map(|arg| arg.text.to_ascii_lowercase())
        .collect();
    let mut skip = false;
    for word in &words {
        if std::mem::take(&mut skip) {
            continue;
        }
        match word.as_str() {
            "where" => skip = true,
            "/?" => return Outcome::Is(Effect::Read),
            "get" | "list" => {
                let writes = words
                    .iter()
                    .any(|w| w.starts_with("/output:") || w.starts_with("/append:"));
                return Outcome::Is(if writes { Effect::Create } else { Effect::Read });
            }
            "create" => return Outcome::Is(Effect::Create),
            "call" | "set" => return Outcome::Is(Effect::Update),
            "delete" => return Outcome::Is(Effect::Delete),
            _ => {}
        }
    }
    Outcome::Table
}

pub(super) fn wsl(_: &mut Judge<'_>, call: &Call, _: Span, _: &Input) -> Outcome {
    let lists = call.has(&["-l", "--list", "--status", "-v", "--version", "--help"]);
    let verbs = call
        .options
        .iter()
        .any(|given| given.option.verb.is_some() || !given.rest.is_empty());
    if call.operands.is_empty() && !lists && !verbs {
        Outcome::Is(Effect::Code)
    } else {
        Outcome::Table
    }
}

/// Requests that only print; `dump`, `rdump`, `logdump -f` and others write.
pub(super) fn debugfs(judge: &mut Judge<'_>, call: &Call, _: Span, _: &Input) -> Outcome {
    const PRINTS: &[&str] = &[
        "stat",
        "ls",
        "cat",
        "stats",
        "show_super_stats",
        "blocks",
        "bmap",
        "ncheck",
        "icheck",
        "testi",
        "testb",
        "imap",
        "extents",
        "ex",
        "lsdel",
        "ea_list",
        "ea_get",
        "features",
        "htree",
        "pwd",
        "dump_extents",
        "show_inode_info",
        "supported_features",
        "filefrag",
    ];
    let requests: Vec<_> = call.options.iter().filter(|g| g.name == "-R").collect();
    if requests.is_empty() {
        return Outcome::Is(Effect::Code);
    }
    for given in requests {
        if let Some(value) = &given.value {
            let first = value.text.split_whitespace().next().unwrap_or("");
            if !PRINTS.contains(&first) || value.text.contains(UNKNOWN) {
                judge.find(
                    Effect::Code,
                    value.span,
                    format!("`debugfs` is told `{first}`"),
                );
            }
        }
    }
    Outcome::Table
}

/// `-Name` asks for a tag, `-Name=…` and `-Name<…` write one. Names of tags
/// begin with a capital and go on small; its options do not.
pub(super) fn exiftool(judge: &mut Judge<'_>, call: &Call, whole: Span, input: &Input) -> Outcome {
    let mut rest = Vec::new();
    let mut asked = false;
    for arg in &call.args {
        let text = arg.text.as_str();
        let name = text.trim_start_matches('-');
        let dash = text.starts_with('-') && arg.known();
        if dash && name.contains(['=', '<']) && !name.starts_with(['=', '<']) {
            judge.find(
                Effect::Update,
                arg.span,
                format!("`exiftool` writes `{name}`"),
            );
            asked = true;
        } else if dash
            && name.len() > 2
            && name.starts_with(|c: char| c.is_ascii_uppercase())
            && name[1..].contains(|c: char| c.is_ascii_lowercase())
            && name
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || ":*?#_-".contains(c))
            && !OPTIONS
                .iter()
                .any(|option| name.to_ascii_lowercase().starts_with(option))
        {
            asked = true;
        } else {
            rest.push(arg.clone());
        }
    }
    if asked {
        let inner = Call::read(&call.path, call.program, &rest);
        return Outcome::Done(judge.call(&inner, whole, input));
    }
    Outcome::Table
}

/// Beginnings of `exiftool`'s options that do more than ask, in any case.
const OPTIONS: &[&str] = &[
    "api",
    "charset",
    "config",
    "csv",
    "delete",
    "echo",
    "efile",
    "execute",
    "ext",
    "fileorder",
    "fixbase",
    "geosync",
    "geotag",
    "htmldump",
    "if",
    "lang",
    "list",
    "overwrite",
    "password",
    "plot",
    "preserve",
    "progress",
    "restore",
    "scanforxmp",
    "sep",
    "srcfile",
    "stay",
    "tagout",
    "tagsfromfile",
    "textout",
    "use",
    "userparam",
    "wext",
];

/// `-E` expands macros: `%(…)` runs a command, `%{lua:…}` and others may too.
pub(super) fn rpm(judge: &mut Judge<'_>, call: &Call, whole: Span, _: &Input) -> Outcome {
    let mut plain = false;
    for given in call
        .options
        .iter()
        .filter(|g| ["-E", "--eval"].contains(&g.name.as_str()))
    {
        let Some(value) = &given.value else { continue };
        let inner = value
            .text
            .trim_start_matches("%{")
            .trim_start_matches(['?', '!', '%']);
        let name = inner.trim_end_matches('}');
        if value.known()
            && !name.is_empty()
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && ![
                "load", "include", "define", "global", "undefine", "dump", "trace",
            ]
            .contains(&name)
        {
            plain = true;
            continue;
        }
        judge.find(
            Effect::Code,
            value.span,
            "`rpm` expands macros, which may run commands",
        );
        if let Some((_, rest)) = value.text.split_once("%(") {
            let command = rest.rsplit_once(')').map_or(rest, |(command, _)| command);
            judge.shell_text(&value.with(command), &Input::Unknown);
        }
    }
    if plain && call.options.len() == 1 && call.operands.is_empty() && call.strange.is_empty() {
        judge.find(Effect::Read, whole, "`rpm` prints what a macro stands for");
        return Outcome::Done(None);
    }
    Outcome::Table
}

/// Captures packets: those of the loopback interface hold what programs of this machine say to each
/// other.
pub(super) fn capture(judge: &mut Judge<'_>, call: &Call, whole: Span, _: &Input) -> Outcome {
    let contents = [
        "-A", "-x", "-xx", "-X", "-XX", "-w", "-v", "-vv", "-vvv", "-V", "-O", "-T", "-z",
    ];
    capture_with(judge, call, whole, call.has(&contents))
}

/// As [`capture`], for programs that always show the contents of packets.
pub(super) fn capture_contents(
    judge: &mut Judge<'_>,
    call: &Call,
    whole: Span,
    _: &Input,
) -> Outcome {
    capture_with(judge, call, whole, true)
}

fn capture_with(judge: &mut Judge<'_>, call: &Call, whole: Span, shows_contents: bool) -> Outcome {
    let value = |names: &'static [&'static str]| {
        let options = call.options.iter();
        let options = options.filter(|given| names.contains(&given.name.as_str()));
        options.filter_map(|given| given.value.as_ref())
    };
    let prints = |given: &Given| {
        given.option.verb == Some(Verb::Only(Effect::Read))
            || ["-D", "--list-interfaces", "-L", "-G"].contains(&given.name.as_str())
    };
    // `-I` of some is a file, and of others a flag.
    let from_file = value(&["-r", "-I"]).next().is_some();
    if from_file || call.options.iter().any(prints) {
        return Outcome::Table;
    }
    let own = |name: &str| {
        let name = name.to_ascii_lowercase();
        name.starts_with("lo")
            || ["any", "all", "pktap", "nflog", "loopback", "dbus"]
                .iter()
                .any(|word| name.contains(word))
            || name.parse::<u32>().is_ok()
            || name.contains(UNKNOWN)
    };
    let mut interfaces = value(&["-i", "--interface", "-d"]).peekable();
    let asked = match interfaces.peek() {
        Some(_) => interfaces.any(|interface| own(&interface.text)),
        None => shows_contents,
    };
    if asked {
        let reason = format!("`{}` shows what programs of this machine send", call.path);
        judge.ask(whole, reason);
    }
    Outcome::Table
}

/// Prints the environment of processes, which holds their secrets, with `e` as BSD writes it.
pub(super) fn ps(judge: &mut Judge<'_>, call: &Call, _: Span, _: &Input) -> Outcome {
    let mut value = false;
    for arg in &call.args {
        let text = arg.text.as_str();
        let is_value = std::mem::take(&mut value);
        // A column of that name, wherever it is asked for: `-o pid,environ`, `oenviron=`.
        if text.contains("environ") {
            judge.ask(arg.span, "`ps` prints the environment of processes");
        }
        let dashed = text.starts_with('-');
        let letters = text.trim_start_matches('-');
        if is_value || text.starts_with("--") || !letters.chars().all(|c| c.is_ascii_alphabetic()) {
            continue;
        }
        let own = match dashed {
            true => "oOkpqtUCGgsun",
            false => "oOkpqtU",
        };
        let flags = letters.split(|c| own.contains(c)).next().unwrap_or("");
        value = letters.ends_with(|c| own.contains(c));
        if flags.contains('E') || !dashed && flags.contains('e') {
            judge.ask(arg.span, "`ps` prints the environment of processes");
        }
    }
    Outcome::Table
}
