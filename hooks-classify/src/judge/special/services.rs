//! Judges of programs that reach other machines.

use super::{Outcome, args};
use crate::judge::table::{overridden_by_header, place};
use crate::judge::{Arg, Input, Judge, UNKNOWN};
use crate::parts::UnseenCode;
use crate::shell::Span;
use crate::tables::{Call, Effect, Given, Language, Role, Verb};

pub(in crate::judge) fn method(name: &str) -> Effect {
    match name.to_ascii_uppercase().as_str() {
        "GET" | "HEAD" | "OPTIONS" | "TRACE" | "PROPFIND" | "REPORT" => Effect::Read,
        "PUT" | "PATCH" => Effect::Update,
        "DELETE" => Effect::Delete,
        _ => Effect::Create,
    }
}

/// The method decides.
pub(super) fn curl(judge: &mut Judge<'_>, call: &Call, _: Span, _: &Input) -> Outcome {
    let mut strongest = Effect::Read;
    let mut request = Request::default();
    for given in &call.options {
        let text = given.value.as_ref().map_or("", |value| value.text.as_str());
        let name = given.name.as_str();
        match name {
            "--next" | "-:" => strongest = strongest.max(std::mem::take(&mut request).effect()),
            "-X" | "--request" => request.method = Some(text.to_owned()),
            "-T" | "--upload-file" => request.upload = true,
            "-I" | "--head" => request.head = true,
            "-G" | "--get" => request.get = true,
            "-d" | "--json" | "-F" | "--form" | "--form-string" => request.body = true,
            _ if name.starts_with("--data") => request.body = true,
            _ => {}
        }
        if ["-n", "--netrc", "--netrc-optional", "--netrc-file"].contains(&name) {
            judge.ask(given.span, "`curl` sends credentials from a file");
        }
        let Some(value) = &given.value else { continue };
        if ["-b", "--cookie"].contains(&name) && !text.is_empty() && !text.contains('=') {
            judge.ask(value.span, "`curl` sends cookies from a file");
        }
        let file = match name {
            "-F" | "--form" => text
                .split_once('=')
                .map(|(_, v)| v)
                .and_then(|v| v.strip_prefix(['@', '<']))
                .map(|v| v.split(';').next().unwrap_or(v)),
            "--data-urlencode" | "--url-query" => text.split_once('@').map(|(_, v)| v),
            "-T" | "--upload-file" => Some(text),
            "-H" | "--header" | "--proxy-header" | "-d" | "--json" => text.strip_prefix('@'),
            _ if name.starts_with("--data") => text.strip_prefix('@'),
            _ => None,
        };
        // A part of a form may have its headers from a file.
        let headers = [";headers=@", ";headers=<"];
        let headers = headers.iter().find_map(|mark| text.split_once(mark));
        let headers = headers.filter(|_| matches!(name, "-F" | "--form"));
        // Written by the same call, if it names it for that, too.
        let tag = call.options.iter().any(|other| {
            other.name == "--etag-save" && other.value.as_ref().is_some_and(|v| v.text == text)
        });
        let tag = (name == "--etag-compare" && !tag).then_some(text);
        let files = [file, tag, headers.map(|(_, file)| file)];
        for file in files.into_iter().flatten() {
            judge.input_file(&value.with(file));
            judge.ask(value.span, "`curl` sends what is in a file");
        }
        if ["-H", "--header", "--proxy-header"].contains(&name) && text.starts_with('@') {
            let reason = "`curl` sends headers of a file, which may set another method";
            judge.find(Effect::Unknown, value.span, reason);
        }
        if (name == "-w" || name == "--write-out") && text.starts_with('@') {
            judge.find(
                Effect::Unknown,
                value.span,
                "a file says what `curl` prints, and where to",
            );
        }
        if (name == "-w" || name == "--write-out")
            && let Some((_, rest)) = text.split_once("%output{")
        {
            let file = rest.split('}').next().unwrap_or("");
            judge.role(call, Role::Output, &[value.with(file)], &Input::Unknown);
        }
    }
    strongest = strongest.max(request.effect());
    for given in call
        .options
        .iter()
        .filter(|g| ["-Q", "--quote"].contains(&g.name.as_str()))
    {
        if let Some(value) = &given.value
            && value
                .text
                .trim_start_matches(['-', '+', '*'])
                .to_ascii_uppercase()
                .starts_with(['D', 'R'])
            && ["DELE", "RMD", "RM ", "RMDIR"].iter().any(|word| {
                value
                    .text
                    .trim_start_matches(['-', '+', '*'])
                    .to_ascii_uppercase()
                    .starts_with(word)
            })
        {
            judge.find(Effect::Delete, value.span, "`curl` deletes on the server");
        }
    }
    let given = |name: &'static str| {
        let options = call.options.iter().filter(move |given| given.name == name);
        options.filter_map(|given| given.value.clone())
    };
    let default = given("--proto-default");
    let files = default
        .clone()
        .any(|value| value.text.to_ascii_lowercase().starts_with("file"));
    let addresses: Vec<_> = given("--url").chain(args(call)).collect();
    for address in &addresses {
        fetched(judge, address, files);
    }
    let strange = addresses
        .into_iter()
        .filter(|address| !only_fetches(&address.text));
    let default = default.filter(|scheme| !only_fetches(&format!("{}://", scheme.text)));
    for arg in strange.chain(default) {
        let reason = "`curl` speaks a protocol that may change something";
        judge.find(Effect::Unknown, arg.span, reason);
    }
    Outcome::Is(strongest)
}

/// Whether `curl` only fetches from an address, by its scheme, or else by the name of its host.
fn only_fetches(address: &str) -> bool {
    let text = address.trim_start().to_ascii_lowercase();
    match text.split_once(':') {
        Some((scheme, rest)) if rest.starts_with('/') => {
            ["http", "https", "ftp", "ftps", "sftp", "scp", "file"].contains(&scheme)
                || scheme.contains(UNKNOWN)
        }
        _ => {
            let guessed = [
                "dict", "gopher", "imap", "ldap", "mqtt", "pop3", "smtp", "telnet",
            ];
            // Of a pattern, any part may be the beginning; of a file, every line.
            !text.starts_with(['{', '[', '@']) && !guessed.iter().any(|name| text.starts_with(name))
        }
    }
}

/// Asks about an address that is a file with secrets.
fn fetched(judge: &mut Judge<'_>, address: &Arg, protocol: bool) {
    let text = address.text.to_ascii_lowercase();
    let path = match text.strip_prefix("file:") {
        Some(path) => &address.text[address.text.len() - path.len()..],
        None if protocol => address.text.as_str(),
        None => return,
    };
    // `file://HOST/PATH`; a host is left out.
    let path = match path.strip_prefix("//") {
        Some(rest) => rest.find('/').map_or(rest, |at| &rest[at..]),
        None => path,
    };
    if path.contains(['%', '[', '{', '*', '?', '\\']) || !address.known() {
        let reason = "which file `curl` reads is not plain to see";
        judge.ask(address.span, reason);
    }
    judge.input_file(&address.with(path));
}

#[derive(Default)]
struct Request {
    method: Option<String>,
    upload: bool,
    head: bool,
    get: bool,
    body: bool,
}

impl Request {
    fn effect(self) -> Effect {
        match self.method {
            Some(name) => method(&name),
            None if self.upload => Effect::Create,
            None if self.head && self.body && !self.get => Effect::Create,
            None if self.head || self.get => Effect::Read,
            None if self.body => Effect::Create,
            None => Effect::Read,
        }
    }
}

/// `[METHOD] URL [ITEM…]`
pub(super) fn httpie(judge: &mut Judge<'_>, call: &Call, whole: Span, input: &Input) -> Outcome {
    let mut operands = args(call);
    let first = operands
        .first()
        .map_or("", |arg| arg.text.as_str())
        .to_owned();
    let standard = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"]
        .contains(&first.to_ascii_uppercase().as_str());
    let capital =
        !first.is_empty() && first.chars().all(|c| c.is_ascii_uppercase()) && operands.len() > 1;
    let named = (standard || capital).then(|| operands.remove(0).text);
    let mut body =
        matches!(input, Input::Known(_) | Input::Unknown) && !call.has(&["--ignore-stdin", "-I"]);
    if body {
        ask_about_input(judge, call, whole, input);
    }
    if let Some(address) = operands.first() {
        judge.own_keys(address);
    }
    for item in operands.iter().skip(1) {
        let text = item.text.as_str();
        let mark = text.find([':', '=', '@']);
        let Some(at) = mark else { continue };
        let rest = &text[at..];
        let file = ["@", "=@", ":=@", "==@", ":@"]
            .iter()
            .find_map(|m| rest.strip_prefix(m));
        if let Some(file) = file {
            judge.input_file(&item.with(file));
            judge.ask(item.span, "sends what is in a file");
        }
        if rest.starts_with("==") {
            continue;
        }
        body |= rest.starts_with('=') || rest.starts_with(":=") || rest.starts_with('@');
    }
    Outcome::Is(match named {
        Some(name) => method(&name),
        None if body => Effect::Create,
        None => Effect::Read,
    })
}

pub(super) fn grpcurl(_: &mut Judge<'_>, call: &Call, _: Span, _: &Input) -> Outcome {
    let operands = args(call);
    let reads = |at: usize| {
        operands
            .get(at)
            .is_some_and(|arg| arg.text == "list" || arg.text == "describe")
            && operands.len() <= at + 2
    };
    if reads(0) || reads(1) {
        Outcome::Is(Effect::Read)
    } else {
        Outcome::Is(Effect::Create)
    }
}

/// What follows the host is shell text on it.
pub(super) fn ssh(judge: &mut Judge<'_>, call: &Call, whole: Span, input: &Input) -> Outcome {
    let operands = args(call);
    // `--` after the host ends the options, and is no part of the command.
    if operands.len() > 2 && operands[1].text == "--" {
        let mut rest = call.args.clone();
        rest.remove(call.args.len() + 1 - operands.len());
        let inner = Call::read(&call.path, call.program, &rest);
        return Outcome::Done(judge.call(&inner, whole, input));
    }
    if operands
        .first()
        .is_some_and(|host| host.text.starts_with('-') || !host.known())
    {
        judge.find(
            Effect::Code,
            operands[0].span,
            "the host is only known when it runs, and may be an option",
        );
    }
    for given in &call.options {
        let Some(value) = &given.value else { continue };
        if ["-l", "-J", "-o"].contains(&given.name.as_str()) && !value.known() {
            judge.ask(
                value.span,
                "sends what an expansion holds to another machine",
            );
        }
        let text = value.text.to_ascii_lowercase();
        if let Some(rest) = text.strip_prefix("sendenv") {
            let harmless = |name: &str| name.starts_with("lang") || name.starts_with("lc_");
            if !rest.trim_matches([' ', '=']).split(' ').all(harmless) {
                judge.ask(value.span, "sends variables to another machine");
            }
        }
    }
    let waits = call.has(&["-N", "-f"]);
    if operands.len() > 1 && !waits {
        if !call.has(&["-n"]) {
            ask_about_input(judge, call, whole, input);
        }
        Outcome::Is(Effect::Read)
    } else if let (1, false, Input::Known(text)) = (operands.len(), waits, input)
        && !call.has(&["-W"])
    {
        // The shell there runs what it is given.
        judge.shell_text(&Arg::new(text.clone(), whole), &Input::Unknown);
        Outcome::Is(Effect::Read)
    } else {
        Outcome::Table
    }
}

pub(super) fn rsync(judge: &mut Judge<'_>, call: &Call, whole: Span, input: &Input) -> Outcome {
    let plain = |arg: &Arg| {
        let mut words = arg.text.split_whitespace();
        words.next() == Some("ssh")
            && {
                let rest: Vec<&str> = words.collect();
                rest.iter().all(|w| {
                    !w.to_ascii_lowercase().contains("command")
                        && !w.starts_with("-F")
                        && !w.contains(['`', '$', ';', '|', '&'])
                })
            }
            && arg.known()
    };
    let shells = |name: &str| name == "-e" || name == "--rsh";
    if call
        .options
        .iter()
        .any(|g| shells(&g.name) && g.value.as_ref().is_some_and(plain))
    {
        // Read again without them: they count for nothing.
        let mut rest = Vec::new();
        let mut words = call.args.iter();
        while let Some(word) = words.next() {
            if word.text == "-e" || word.text == "--rsh" {
                words.next();
            } else if word.text.starts_with("--rsh=")
                || (word.text.starts_with("-e") && word.text.len() > 2)
            {
                continue;
            } else if word.text.starts_with('-')
                && !word.text.starts_with("--")
                && word.text.ends_with('e')
                && word.text.len() > 2
            {
                rest.push(word.with(&word.text[..word.text.len() - 1]));
                words.next();
            } else {
                rest.push(word.clone());
            }
        }
        let inner = Call::read(&call.path, call.program, &rest);
        return Outcome::Done(judge.call(&inner, whole, input));
    }
    let lists = |given: &&Given| LISTS.contains(&given.name.as_str());
    if let Some(given) = call.options.iter().find(lists)
        && let Some(host) = call.operands.iter().find_map(|o| place(&o.arg))
    {
        let reason = format!("`rsync` sends what is in a file to `{host}`");
        judge.ask(given.span, reason);
    }
    if call.operands.len() == 1 {
        Outcome::Is(Effect::Read)
    } else {
        Outcome::Table
    }
}

/// Options of `rsync` with files whose lines the other machine is told.
const LISTS: &[&str] = &[
    "--files-from",
    "--exclude-from",
    "--include-from",
    "--early-input",
];

/// The operands are further commands; the strongest counts.
pub(super) fn flyway(judge: &mut Judge<'_>, call: &Call, _: Span, _: &Input) -> Outcome {
    let table = judge.tables.program("flyway");
    let effect = args(call)
        .iter()
        .map(|arg| {
            table
                .as_ref()
                .and_then(|t| t.commands.get(&arg.text))
                .map_or(Effect::Unknown, |c| c.effect)
        })
        .max();
    match effect {
        Some(effect) => {
            let own = call.program.effect.max(effect);
            judge.find(
                own,
                call.operands[0].arg.span,
                format!("`{}` and what follows it", call.path),
            );
            Outcome::NoOperands
        }
        None => Outcome::Table,
    }
}

/// Without a statement on the command line, the input holds them.
/// Whether an option has `psql` read commands from its standard input.
pub(in crate::judge) fn from_input(call: &Call, given: &Given) -> bool {
    call.path == "psql"
        && given.option.role == Role::ScriptFile
        && given.value.as_ref().is_some_and(|value| value.text == "-")
}

pub(super) fn sql_client(
    judge: &mut Judge<'_>,
    call: &Call,
    whole: Span,
    input: &Input,
) -> Outcome {
    let settled = call.options.iter().any(|given| {
        matches!(given.option.verb, Some(Verb::Means(_) | Verb::Only(_)))
            || matches!(given.option.role, Role::ScriptFile | Role::Script(_))
    });
    if call.options.iter().any(|given| from_input(call, given)) {
        input_text(judge, call, whole, input);
    }
    // Scripts run beside a text that was given.
    for operand in args(call) {
        if [".js", ".mjs", ".mongodb"]
            .iter()
            .any(|end| operand.text.ends_with(end))
        {
            judge.parts.code_file(&operand);
            judge.find(Effect::Code, operand.span, "runs what is in this file");
        }
    }
    let (roles, _) = call.roles();
    let scripted = roles
        .iter()
        .any(|(role, _)| matches!(role, Role::Script(_) | Role::ScriptFile));
    if scripted && !settled {
        return Outcome::Is(Effect::Read);
    }
    if settled {
        let means = call
            .options
            .iter()
            .any(|given| matches!(given.option.verb, Some(Verb::Means(_) | Verb::Only(_))));
        return if means {
            Outcome::Table
        } else {
            Outcome::Is(Effect::Read)
        };
    }
    input_text(judge, call, whole, input);
    Outcome::Is(Effect::Read)
}

/// Judges what a client reads from its standard input.
fn input_text(judge: &mut Judge<'_>, call: &Call, whole: Span, input: &Input) {
    let Input::Known(text) = input else {
        judge.runs_unseen(
            whole,
            UnseenCode::Input,
            format!("`{}` runs what it reads", call.path),
        );
        return;
    };
    let language = call
        .program
        .options
        .values()
        .map(|option| option.role)
        .chain(call.program.operands.iter().map(|(role, _)| *role))
        .find_map(|role| match role {
            Role::Script(language) => Some(language),
            _ => None,
        })
        .unwrap_or(Language::Sql);
    judge.script_in(language, &Arg::new(text.clone(), whole), &call.path);
}

/// What stands on the input goes over the network: the request in it decides.
pub(super) fn sends_input(
    judge: &mut Judge<'_>,
    call: &Call,
    whole: Span,
    input: &Input,
) -> Outcome {
    // A probe of `nc` sends nothing.
    if call.has(&["-z"]) {
        return Outcome::Table;
    }
    ask_about_input(judge, call, whole, input);
    if let Input::Known(text) = input {
        let effect = sent(text);
        if effect > Effect::Read {
            let reason = format!("`{}` sends a request that is more than a read", call.path);
            judge.find(effect, whole, reason);
        }
    }
    Outcome::Table
}

/// Returns the effect of text that goes to a server as it is: that of requests of HTTP, greetings and
/// goodbyes. Anything else may be a command of any protocol.
fn sent(text: &str) -> Effect {
    let mut in_head = false;
    let mut strongest = overridden_by_header(text).unwrap_or(Effect::Read);
    for line in text.lines().map(str::trim) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let first = words.first().map_or("", |word| *word);
        let is_header = line.split(':').next().is_some_and(|name| {
            name.len() < line.len() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
        });
        match words.as_slice() {
            [] => in_head = false,
            [name, _, version] if version.starts_with("HTTP/") => {
                in_head = true;
                strongest = strongest.max(method(name));
            }
            _ if in_head && is_header => {}
            _ if GREETINGS
                .iter()
                .any(|word| first.eq_ignore_ascii_case(word)) => {}
            ["DELETE", target] if target.starts_with('/') => strongest = Effect::Delete,
            _ => strongest = strongest.max(Effect::Create),
        }
    }
    strongest
}

/// First words of lines that change nothing, whatever the protocol.
const GREETINGS: &[&str] = &[
    "quit",
    "q",
    "exit",
    "ehlo",
    "helo",
    "lhlo",
    "noop",
    "capability",
];

fn ask_about_input(judge: &mut Judge<'_>, call: &Call, whole: Span, input: &Input) {
    if *input == Input::Unknown {
        judge.ask(whole, format!("`{}` sends what it reads", call.path));
    }
}

/// Keys are printed unless an option keeps them back.
pub(super) fn private_keys(judge: &mut Judge<'_>, call: &Call, whole: Span, _: &Input) -> Outcome {
    let kept = [
        "-noout", "-pubout", "-pubin", "-nokeys", "-help", "--help", "-export",
    ];
    let stated = |arg: &Arg| {
        let name = arg.text.trim_start_matches('-');
        kept.iter().any(|k| k.trim_start_matches('-') == name)
    };
    if !call.args.iter().any(stated) {
        judge.ask(whole, format!("`{}` prints a private key", call.path));
    }
    Outcome::Table
}

/// With a cipher or a key, `-d` decrypts; without one it decodes.
pub(super) fn decrypts(judge: &mut Judge<'_>, call: &Call, whole: Span, _: &Input) -> Outcome {
    let keyed = |name: &str| {
        let name = name.trim_start_matches('-');
        let ciphers = [
            "aes", "des", "chacha", "camellia", "aria", "sm4", "rc", "bf", "cast", "seed",
        ];
        matches!(name, "k" | "K" | "pass" | "kfile" | "pbkdf2" | "iv")
            || ciphers.iter().any(|cipher| name.starts_with(cipher))
    };
    let command = call.path.rsplit(' ').next().unwrap_or("");
    let named = keyed(command)
        || call
            .args
            .iter()
            .any(|arg| arg.text.starts_with('-') && keyed(&arg.text));
    if named && call.has(&["-d"]) {
        judge.ask(whole, format!("`{}` prints what was encrypted", call.path));
    }
    Outcome::Table
}

/// The state as JSON has the secrets that the text leaves out; a plan is a file that is named.
pub(super) fn state_as_json(judge: &mut Judge<'_>, call: &Call, whole: Span, _: &Input) -> Outcome {
    if call.has(&["-json"]) && call.operands.is_empty() {
        judge.ask(
            whole,
            format!("`{}` prints the secrets of the state", call.path),
        );
    }
    Outcome::Table
}

/// A format or a list of properties may name the environment of what is described.
pub(super) fn environment(judge: &mut Judge<'_>, call: &Call, _: Span, _: &Input) -> Outcome {
    let values = call.options.iter().filter_map(|given| given.value.as_ref());
    for value in values {
        let mut words = value.text.split(|c: char| !c.is_ascii_alphanumeric());
        if words.any(|word| matches!(word, "Env" | "Environment")) {
            let reason = format!(
                "`{}` prints an environment, which may hold secrets",
                call.path
            );
            judge.ask(value.span, reason);
        }
    }
    Outcome::Table
}

/// Variables that a text names are replaced by their values.
pub(super) fn substitutes(judge: &mut Judge<'_>, call: &Call, _: Span, input: &Input) -> Outcome {
    let span = call.args.last().map_or(Span::default(), |arg| arg.span);
    let mut texts: Vec<Arg> = call.operands.iter().map(|o| o.arg.clone()).collect();
    if let Input::Known(text) = input {
        texts.push(Arg::new(text.as_str(), span));
    }
    for text in texts {
        for part in text.text.split('$').skip(1) {
            let part = part.trim_start_matches('{');
            let name = part.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            judge.prints_variable(name.clone().next().unwrap_or(""), text.span);
        }
    }
    Outcome::Table
}

/// One kind of fact about a tunnel is its keys, or has them in it.
pub(super) fn wg_show(judge: &mut Judge<'_>, call: &Call, whole: Span, _: &Input) -> Outcome {
    let keys = ["private-key", "preshared-keys", "dump"];
    if call
        .args
        .iter()
        .any(|arg| !arg.known() || keys.contains(&arg.text.as_str()))
    {
        judge.ask(whole, format!("`{}` prints private keys", call.path));
    }
    Outcome::Table
}
