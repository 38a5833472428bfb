//! In: a text in PowerShell. Out: the effects of its commands, by their verbs and aliases.

use super::super::variables;
use super::encoded::decoded;
use crate::model::analysis::Analysis;
use crate::model::arg::{Arg, UNKNOWN};
use crate::model::effect::Effect;
use crate::model::io::Input;
use crate::model::language::Language;
use crate::tables::Tables;

/// Adds the effects of a text.
pub(super) fn read_into(analysis: &mut Analysis, arg: &Arg, tables: &Tables) {
    analysis.script_text(Language::PowerShell, &arg.text);
    if !arg.text.contains(char::is_whitespace)
        && arg.text.len() >= 8
        && let Some(text) = decoded(&arg.text)
    {
        analysis.find(Effect::Code, arg.span, "an encoded command");
        read_into(analysis, &arg.with(&text), tables);
        return;
    }
    analysis.append(variables::read(Language::PowerShell, arg));
    let plain = arg
        .text
        .replace("2>$null", "")
        .replace("2>&1", "")
        .replace("*>$null", "");
    if plain.contains('>') {
        analysis.find(Effect::Create, arg.span, "writes a file");
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
            analysis.find(effect, arg.span, format!("PowerShell: `{mark}`"));
        }
    }
    if !arg.known() {
        analysis.find(Effect::Code, arg.span, "a part is only known when it runs");
    }
    for part in plain.split([';', '|', '\n', '{', '}', '(', ')', '&']) {
        let first = part.split_whitespace().next().unwrap_or("");
        check_secrets(analysis, arg, &first.to_ascii_lowercase(), part, tables);
    }
    let plain = without_strings(&plain);
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
            read_into(analysis, &arg.with(&words[1..].join(" ")), tables);
            continue;
        }
        if may_be_program(&first, &words) && tables.program(&first).is_some() {
            let words = words.iter().map(|word| word.trim_matches(['"', '\'']));
            let words = words.map(|word| arg.with(word)).collect();
            analysis.run(words, &Input::Unknown);
        }
        let (effect, what) = command_effect(&first, &words);
        analysis.find(effect, arg.span, format!("PowerShell: {what}"));
    }
    check_members(analysis, arg, &plain);
}

/// Parameters of the commands behind the aliases that are names of programs, too.
const PARAMETERS: &[&str] = &[
    "path",
    "literalpath",
    "filter",
    "include",
    "exclude",
    "recurse",
    "force",
    "depth",
    "name",
    "attributes",
    "directory",
    "file",
    "hidden",
    "readonly",
    "system",
    "erroraction",
    "ea",
    "property",
    "expandproperty",
    "excludeproperty",
    "first",
    "last",
    "skip",
    "unique",
    "descending",
    "casesensitive",
    "culture",
    "top",
    "bottom",
    "stable",
    "inputobject",
    "pattern",
    "simplematch",
    "context",
    "allmatches",
    "raw",
    "totalcount",
    "tail",
    "head",
    "wait",
    "encoding",
    "readcount",
    "delimiter",
    "uri",
    "usebasicparsing",
    "headers",
    "method",
    "timeoutsec",
    "useragent",
    "maximumredirection",
    "skipcertificatecheck",
    "id",
    "computername",
    "includeusername",
    "module",
    "referenceobject",
    "differenceobject",
    "syncwindow",
    "includeequal",
    "excludedifferent",
    "passthru",
    "autosize",
    "wrap",
    "groupby",
    "line",
    "word",
    "character",
    "noelement",
    "quiet",
    "full",
    "detailed",
    "examples",
    "parameter",
    "online",
    "category",
    "count",
    "verbose",
    "eq",
    "ne",
    "gt",
    "ge",
    "lt",
    "le",
    "like",
    "notlike",
    "match",
    "notmatch",
    "contains",
    "in",
    "and",
    "or",
    "not",
    "whatif",
];

/// Returns whether a name in front of these words may be that of a program instead of an alias:
/// outside Windows many aliases do not exist, and a word with a dash that is no parameter of
/// PowerShell shows that the program is meant.
fn may_be_program(name: &str, words: &[&str]) -> bool {
    const PROGRAMS: &[&str] = &[
        "wget",
        "hostname",
        "ipconfig",
        "ping",
        "whoami",
        "tasklist",
        "systeminfo",
        "findstr",
        "tree",
    ];
    const ALIASES: &[&str] = &[
        "ls", "dir", "cat", "type", "echo", "ps", "sort", "man", "history", "diff", "compare",
        "clear", "curl", "where", "help", "group", "measure", "gm", "gp", "gi",
    ];
    let foreign = |word: &&str| {
        word.strip_prefix('-').is_some_and(|rest| {
            let own = rest.split(':').next().unwrap_or("").to_ascii_lowercase();
            let fits =
                |known: &&str| **known == *own || own.len() > 2 && known.starts_with(own.as_str());
            !rest.is_empty() && !PARAMETERS.iter().any(fits)
        })
    };
    PROGRAMS.contains(&name) || ALIASES.contains(&name) && words.iter().skip(1).any(foreign)
}

/// Asks about a command that prints secrets, or that gets the name of a file with secrets.
fn check_secrets(analysis: &mut Analysis, arg: &Arg, name: &str, part: &str, tables: &Tables) {
    let shows = tables
        .program(name)
        .and_then(|program| program.details.reveals);
    if let Some(what) = shows.filter(|_| name.contains('-') || name == "gcb") {
        analysis.ask(arg.span, format!("PowerShell: `{name}` shows {what}"));
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
        if tables.secret_within(&word) || tables.may_be_private(&word) {
            analysis.ask(
                arg.span,
                format!("PowerShell: `{name}` reads `{word}`, which holds secrets"),
            );
        }
    }
}

/// Records a member that `ForEach-Object` calls: an operand that is no block and no known property.
fn check_members(analysis: &mut Analysis, arg: &Arg, plain: &str) {
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
        let mut calls_member = first != name;
        while let Some(word) = words.next() {
            if let Some(option) = word.strip_prefix('-') {
                if word.contains(':') {
                    calls_member = true;
                } else if option.starts_with("in") || option.starts_with('t') {
                    words.next();
                }
            } else if !PROPERTIES.contains(&word.as_str()) {
                calls_member = true;
            }
        }
        if calls_member {
            analysis.find(
                Effect::Code,
                arg.span,
                "PowerShell: `ForEach-Object` calls a member of its input",
            );
        }
    }
}

/// Returns the text with an empty string for every string in quotes.
fn without_strings(text: &str) -> String {
    let mut out = String::new();
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        out.push(c);
        if matches!(c, '\'' | '"') {
            let rest = characters.as_str();
            // A string with `$( )` in double quotes runs code, and stays.
            if let Some(end) = rest.find(c)
                && (c == '\'' || !rest[..end].contains("$("))
            {
                characters = rest[end..].chars();
            }
        }
    }
    out
}

/// Returns the effect of a command, and its name for the reason.
fn command_effect(name: &str, words: &[&str]) -> (Effect, String) {
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
        // A variable, an assignment, or a call of a method.
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
                request_effect(words)
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
            Some((verb, noun)) => verb_effect(verb, noun, words),
            None if name
                .chars()
                .all(|c| c.is_ascii_digit() || c == '.' || c == ',') =>
            {
                Effect::Read
            }
            // A type, whose members may do anything.
            None if original.starts_with("[") => Effect::Code,
            // An operator, or a property of an expression in brackets.
            None if original.starts_with(['-', '.', ',']) => Effect::Read,
            None if words.len() == 1 && original.chars().all(|c| !c.is_alphabetic()) => {
                Effect::Read
            }
            None => Effect::Unknown,
        },
    };
    (effect, text)
}

/// Returns the effect of a request.
fn request_effect(words: &[&str]) -> Effect {
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

/// Returns the effect of `Verb-Noun`.
fn verb_effect(verb: &str, noun: &str, words: &[&str]) -> Effect {
    match (verb, noun) {
        ("invoke", "webrequest" | "restmethod") => request_effect(words),
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
