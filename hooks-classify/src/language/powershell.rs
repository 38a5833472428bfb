//! PowerShell: commands by their verbs and aliases.

use base64::Engine;

use crate::judge::{Arg, Judge, UNKNOWN};
use crate::tables::{Effect, Language};

const VERBS: &[&str] = &[
    "get",
    "select",
    "where",
    "sort",
    "measure",
    "format",
    "out",
    "test",
    "compare",
    "convertto",
    "convertfrom",
    "write",
    "find",
    "search",
    "show",
    "resolve",
    "group",
    "remove",
    "clear",
    "uninstall",
    "stop",
    "reset",
    "dismount",
    "unregister",
    "disable",
    "set",
    "update",
    "move",
    "rename",
    "add",
    "start",
    "restart",
    "enable",
    "push",
    "pop",
    "new",
    "copy",
    "invoke",
    "import",
    "export",
    "install",
    "expand",
    "compress",
    "save",
    "tee",
    "register",
    "foreach",
    "split",
    "join",
    "read",
    "wait",
    "trace",
    "suspend",
    "resume",
    "enter",
    "exit",
    "connect",
    "disconnect",
    "send",
    "publish",
    "mount",
];

/// Whether a name is a command's, `Verb-Noun`.
pub(crate) fn cmdlet(name: &str) -> bool {
    name.split_once('-').is_some_and(|(verb, noun)| {
        noun.chars().all(|c| c.is_ascii_alphanumeric())
            && noun.starts_with(|c: char| {
                c.is_ascii_uppercase() || verb.starts_with(|c: char| c.is_ascii_uppercase())
            })
            && VERBS.contains(&verb.to_ascii_lowercase().as_str())
    })
}

/// The text of `-EncodedCommand`, if it is one.
pub(crate) fn decoded(text: &str) -> Option<String> {
    let bytes = base64::engine::general_purpose::STANDARD
        .decode(text.trim())
        .ok()?;
    if bytes.len() % 2 != 0 || bytes.is_empty() {
        return None;
    }
    let units: Vec<u16> = bytes
        .chunks_exact(2)
        .map(|pair| u16::from_le_bytes([pair[0], pair[1]]))
        .collect();
    String::from_utf16(&units).ok()
}

pub(crate) fn judge(judge: &mut Judge<'_>, arg: &Arg) {
    judge.parts.script(Language::PowerShell, &arg.text);
    if !arg.text.contains(char::is_whitespace)
        && arg.text.len() >= 8
        && let Some(text) = decoded(&arg.text)
    {
        judge.find(Effect::Code, arg.span, "an encoded command");
        self::judge(judge, &arg.with(&text));
        return;
    }
    judge.variables_in(Language::PowerShell, arg);
    let plain = arg
        .text
        .replace("2>$null", "")
        .replace("2>&1", "")
        .replace("*>$null", "");
    if plain.contains('>') {
        judge.find(Effect::Create, arg.span, "writes a file");
    }
    let lower = plain.to_ascii_lowercase();
    for (mark, effect) in [
        ("::delete", Effect::Delete),
        (".delete(", Effect::Delete),
        ("::write", Effect::Create),
        ("::create", Effect::Create),
        ("::append", Effect::Update),
        ("::move", Effect::Update),
        ("::copy", Effect::Create),
        (".kill(", Effect::Update),
        (".moveto(", Effect::Update),
        (".foreach(", Effect::Code),
        (".invoke", Effect::Code),
        (".copyto(", Effect::Create),
        ("::start", Effect::Code),
        ("downloadstring", Effect::Code),
    ] {
        if lower.contains(mark) {
            judge.find(effect, arg.span, format!("PowerShell: `{mark}`"));
        }
    }
    if !arg.known() {
        judge.find(Effect::Code, arg.span, "a part is only known when it runs");
    }
    for part in plain.split([';', '|', '\n', '{', '}', '(', ')', '&']) {
        let first = part.split_whitespace().next().unwrap_or("");
        reads(judge, arg, &first.to_ascii_lowercase(), part);
    }
    let plain = strings_out(&plain);
    for part in plain.split([';', '|', '\n', '{', '}', '(', ')', '&']) {
        let words: Vec<&str> = part.split_whitespace().collect();
        let Some(first) = words.first() else { continue };
        let first = first
            .trim_start_matches(['$', '@', '.', '"', '\''])
            .to_ascii_lowercase();
        if matches!(first.as_str(), "invoke-expression" | "iex")
            && words.len() > 1
            && !part.contains(['$', '"', '\''])
        {
            self::judge(judge, &arg.with(&words[1..].join(" ")));
            continue;
        }
        let (effect, what) = one(&first, &words);
        judge.find(effect, arg.span, format!("PowerShell: {what}"));
    }
    members(judge, arg, &plain);
}

/// Asks about a command that prints secrets, or that is given the name of a file with secrets.
fn reads(judge: &mut Judge<'_>, arg: &Arg, name: &str, part: &str) {
    let shows = judge
        .tables
        .program(name)
        .and_then(|program| program.details.reveals);
    if let Some(what) = shows.filter(|_| name.contains('-') || name == "gcb") {
        judge.ask(arg.span, format!("PowerShell: `{name}` shows {what}"));
    }
    const NAMES: &[&str] = &[
        "ls",
        "dir",
        "gci",
        "get-childitem",
        "gi",
        "get-item",
        "test-path",
        "echo",
    ];
    if NAMES.contains(&name) {
        return;
    }
    for word in part.split_whitespace().skip(1) {
        let word = word.trim_matches(['"', '\'', ',']).replace('\\', "/");
        let word = word
            .replace("$env:USERPROFILE", "~")
            .replace("$env:HOME", "~");
        let tables = judge.tables;
        if tables.secret_within(&word) || tables.may_be_private(&word) {
            judge.ask(
                arg.span,
                format!("PowerShell: `{name}` reads `{word}`, which holds secrets"),
            );
        }
    }
}

/// Notes what `ForEach-Object` is given that is no block: the name of a
/// property or of a method, which it calls.
fn members(judge: &mut Judge<'_>, arg: &Arg, plain: &str) {
    const PROPERTIES: &[&str] = &[
        "name",
        "fullname",
        "basename",
        "extension",
        "directoryname",
        "length",
        "count",
        "id",
        "processname",
        "path",
        "key",
        "value",
        "status",
        "version",
        "lastwritetime",
        "tostring",
        "toupper",
        "tolower",
        "trim",
    ];
    let mut before = "|";
    for part in plain.split_inclusive(['|', ';', '\n', '{', '}', '&']) {
        let (text, end) =
            part.split_at(part.trim_end_matches(['|', ';', '\n', '{', '}', '&']).len());
        let words: Vec<&str> = text.split_whitespace().collect();
        let first = words
            .first()
            .map_or(String::new(), |w| w.to_ascii_lowercase());
        let name = first.split('(').next().unwrap_or("");
        let piped = before == "|";
        before = end;
        let each = matches!(name, "foreach-object" | "%") || (name == "foreach" && piped);
        if !each {
            continue;
        }
        let mut words = words.iter().skip(1).map(|word| word.to_ascii_lowercase());
        let mut strange = first != name;
        while let Some(word) = words.next() {
            if let Some(option) = word.strip_prefix('-') {
                if word.contains(':') {
                    strange = true;
                } else if option.starts_with("in") || option.starts_with('t') {
                    words.next();
                }
            } else if !PROPERTIES.contains(&word.as_str()) {
                strange = true;
            }
        }
        if strange {
            judge.find(
                Effect::Code,
                arg.span,
                "PowerShell: `ForEach-Object` calls a member of what it is given",
            );
        }
    }
}

/// The text with an empty string for every one in quotes.
fn strings_out(text: &str) -> String {
    let mut out = String::new();
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        out.push(c);
        if matches!(c, '\'' | '"') {
            let rest = characters.as_str();
            // What `$( )` in double quotes runs stays.
            if let Some(end) = rest.find(c)
                && (c == '\'' || !rest[..end].contains("$("))
            {
                characters = rest[end..].chars();
            }
        }
    }
    out
}

fn one(name: &str, words: &[&str]) -> (Effect, String) {
    let flag = |start: &str| {
        words
            .iter()
            .any(|w| w.to_ascii_lowercase().starts_with(start))
    };
    let text = format!("`{name}`");
    if flag("-whatif") && !name.starts_with("invoke") {
        return (Effect::Read, format!("{text} with `-WhatIf`"));
    }
    let original = words[0];
    if original.starts_with('$') {
        // A variable, an assignment, or a call of a method of what it holds.
        let assigns = words.get(1).is_some_and(|w| w.ends_with('='));
        let plain = name
            .chars()
            .all(|c| c.is_alphanumeric() || "_:.".contains(c));
        return if plain && !assigns {
            (Effect::Read, text)
        } else {
            (Effect::Code, text)
        };
    }
    if original.starts_with(['"', '\'']) && words.len() == 1 {
        return (Effect::Read, text);
    }
    let effect = match name {
        "ls" | "dir" | "gci" | "cat" | "type" | "gc" | "pwd" | "gl" | "echo" | "ps" | "gps"
        | "gsv" | "gm" | "select" | "sort" | "measure" | "where" | "?" | "ft" | "fl" | "fw"
        | "cd" | "sl" | "chdir" | "sls" | "gcm" | "gi" | "gp" | "gv" | "gal" | "help" | "man"
        | "h" | "history" | "group" | "diff" | "compare" | "cls" | "clear" | "whoami"
        | "hostname" | "ipconfig" | "ping" | "tasklist" | "systeminfo" | "ver" | "findstr"
        | "tree" | "iwr" | "irm" | "wget" | "curl" | "oh" | "rvpa" | "gwmi" | "gcim" => {
            if matches!(name, "iwr" | "irm" | "wget" | "curl") {
                web(words)
            } else {
                Effect::Read
            }
        }
        "ri" | "rm" | "del" | "erase" | "rd" | "rmdir" | "rp" | "rv" | "clc" | "cli" | "kill"
        | "spps" | "format" | "diskpart" => {
            if matches!(name, "kill" | "spps") {
                Effect::Update
            } else {
                Effect::Delete
            }
        }
        "mv" | "move" | "mi" | "ren" | "rni" | "sc" | "ac" | "si" | "sp" | "sasv" | "spsv"
        | "set" | "attrib" | "icacls" => Effect::Update,
        "cp" | "copy" | "cpi" | "ni" | "md" | "mkdir" | "tee" | "epcsv" | "xcopy" | "robocopy" => {
            Effect::Create
        }
        "iex" | "icm" | "saps" | "start" | "%" | "foreach" | "sal" | "nal" => {
            if matches!(name, "%" | "foreach") {
                Effect::Read
            } else {
                Effect::Code
            }
        }
        "if" | "else" | "elseif" | "return" | "switch" | "in" => Effect::Read,
        _ => match name.split_once('-') {
            Some((verb, noun)) => by_verb(verb, noun, words),
            None if name
                .chars()
                .all(|c| c.is_ascii_digit() || c == '.' || c == ',') =>
            {
                Effect::Read
            }
            // The words of a condition or the arguments of a call.
            None if original.starts_with("[") => Effect::Code,
            // An operator, or a property of what stands in brackets before it.
            None if original.starts_with(['-', '.', ',']) => Effect::Read,
            None if words.len() == 1 && original.chars().all(|c| !c.is_alphabetic()) => {
                Effect::Read
            }
            None => Effect::Unknown,
        },
    };
    (effect, text)
}

fn web(words: &[&str]) -> Effect {
    let at = words
        .iter()
        .position(|w| w.to_ascii_lowercase().starts_with("-met"));
    if let Some(method) = at.and_then(|at| words.get(at + 1)) {
        match method.to_ascii_lowercase().as_str() {
            "get" | "head" | "options" => {}
            "delete" => return Effect::Delete,
            "put" | "patch" => return Effect::Update,
            _ => return Effect::Create,
        }
    }
    let flag = |start: &str| {
        words
            .iter()
            .any(|w| w.to_ascii_lowercase().starts_with(start))
    };
    if flag("-outf") || flag("-body") || flag("-inf") || flag("-o ") || flag("-f") {
        Effect::Create
    } else {
        Effect::Read
    }
}

fn by_verb(verb: &str, noun: &str, words: &[&str]) -> Effect {
    match (verb, noun) {
        ("invoke", "webrequest" | "restmethod") => web(words),
        ("out", "file" | "printer") | ("tee", _) => Effect::Create,
        (
            "out" | "format" | "select" | "where" | "sort" | "measure" | "group" | "compare"
            | "convertto" | "convertfrom" | "test" | "resolve" | "show" | "find" | "search" | "get"
            | "split" | "join" | "trace" | "wait",
            _,
        ) => Effect::Read,
        ("foreach", "object") => Effect::Read,
        (
            "write",
            "host" | "output" | "error" | "verbose" | "warning" | "information" | "debug"
            | "progress",
        ) => Effect::Read,
        ("set", "location" | "strictmode" | "variable")
        | ("push" | "pop", "location")
        | ("clear", "host" | "variable")
        | ("start", "sleep")
        | ("import", "csv" | "clixml") => Effect::Read,
        ("remove" | "clear" | "uninstall" | "dismount" | "unregister", _) => Effect::Delete,
        (
            "set" | "update" | "move" | "rename" | "add" | "stop" | "restart" | "enable"
            | "disable" | "reset" | "suspend" | "resume",
            _,
        ) => Effect::Update,
        ("start", "service") => Effect::Update,
        ("start" | "invoke" | "import" | "enter", _) => Effect::Code,
        (
            "new" | "copy" | "export" | "install" | "expand" | "compress" | "save" | "register"
            | "publish" | "send" | "mount",
            _,
        ) => Effect::Create,
        _ if verb.contains(UNKNOWN) => Effect::Code,
        _ => Effect::Unknown,
    }
}
