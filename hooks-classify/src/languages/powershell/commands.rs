//! Commands of PowerShell: a text in, the effects of its commands by their verbs and aliases out.

use super::super::{names::POWERSHELL, variables};
use super::encoded::decode_command;
use crate::analysis::Analysis;
use crate::model::arg::{Arg, UNKNOWN};
use crate::model::effect::Effect;
use crate::model::io::Input;
use crate::model::language::Language;
use crate::tables::{Tables, WordSet};

/// Adds the effects of a text.
pub(super) fn analyze_into(analysis: &mut Analysis, arg: &Arg, tables: &Tables) {
    analysis.record_script(Language::PowerShell, &arg.text);
    if !arg.text.contains(char::is_whitespace)
        && arg.text.len() >= 8
        && let Some(text) = decode_command(&arg.text)
    {
        analysis.add_finding(Effect::Code, arg.span, "an encoded command");
        analyze_into(analysis, &arg.with_text(&text), tables);
        return;
    }
    analysis.append(variables::analyze(Language::PowerShell, arg));
    let plain = arg
        .text
        .replace("2>$null", "")
        .replace("2>&1", "")
        .replace("*>$null", "");
    if plain.contains('>') {
        analysis.add_finding(Effect::Create, arg.span, "writes a file");
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
            analysis.add_finding(effect, arg.span, format!("PowerShell: `{mark}`"));
        }
    }
    if !arg.is_known() {
        analysis.add_finding(Effect::Code, arg.span, "a part is only known when it runs");
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
        if POWERSHELL.evaluates.contains(&first)
            && words.len() > 1
            && !part.contains(['$', '"', '\''])
        {
            analyze_into(analysis, &arg.with_text(&words[1..].join(" ")), tables);
            continue;
        }
        if may_be_program(&first, &words) && tables.program(&first).is_some() {
            let words = words.iter().map(|word| word.trim_matches(['"', '\'']));
            let words = words.map(|word| arg.with_text(word)).collect();
            analysis.run_words(words, &Input::Unknown);
        }
        let (effect, what) = command_effect(&first, &words);
        analysis.add_finding(effect, arg.span, format!("PowerShell: {what}"));
    }
    check_members(analysis, arg, &plain);
}

/// Returns `true` if a name before these words may be that of a program rather than an alias:
/// outside Windows many aliases do not exist, and a word with a dash that is not a PowerShell
/// parameter indicates the program.
fn may_be_program(name: &str, words: &[&str]) -> bool {
    let foreign = |word: &&str| {
        word.strip_prefix('-').is_some_and(|rest| {
            let own = rest.split(':').next().unwrap_or("").to_ascii_lowercase();
            let fits =
                |known: &str| *known == *own || own.len() > 2 && known.starts_with(own.as_str());
            !rest.is_empty() && !POWERSHELL.parameters.0.iter().copied().any(fits)
        })
    };
    POWERSHELL.programs.contains(name)
        || POWERSHELL.aliases.contains(name) && words.iter().skip(1).any(foreign)
}

/// Requires confirmation of a command that prints secrets, or that gets the name of a file with
/// secrets.
fn check_secrets(analysis: &mut Analysis, arg: &Arg, name: &str, part: &str, tables: &Tables) {
    let secret = tables
        .program(name)
        .and_then(|program| program.details.reveals);
    if let Some(what) = secret.filter(|_| name.contains('-') || POWERSHELL.secrets.contains(name)) {
        analysis.require_confirmation(arg.span, format!("PowerShell: `{name}` shows {what}"));
    }
    if POWERSHELL.lists.contains(name) {
        return;
    }
    for word in part.split_whitespace().skip(1) {
        let word = word.trim_matches(['"', '\'', ',']).replace('\\', "/");
        let word = word
            .replace("$env:USERPROFILE", "~")
            .replace("$env:HOME", "~");
        if tables.may_read_secrets(&word) || tables.may_be_private_file(&word) {
            analysis.require_confirmation(
                arg.span,
                format!("PowerShell: `{name}` reads `{word}`, which holds secrets"),
            );
        }
    }
}

/// Records a member that `ForEach-Object` calls: an operand that is neither a block nor a known
/// property.
fn check_members(analysis: &mut Analysis, arg: &Arg, plain: &str) {
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
        let each = POWERSHELL.each.contains(name) || (name == "foreach" && piped);
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
            } else if !POWERSHELL.properties.contains(&word) {
                calls_member = true;
            }
        }
        if calls_member {
            analysis.add_finding(
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
    if POWERSHELL.requests.contains(name) {
        return (request_effect(words), text);
    }
    let lists = [
        (POWERSHELL.reads, Effect::Read),
        (POWERSHELL.deletes, Effect::Delete),
        (POWERSHELL.updates, Effect::Update),
        (POWERSHELL.creates, Effect::Create),
        (POWERSHELL.runs, Effect::Code),
    ];
    let by_name = || match name.split_once('-') {
        Some((verb, _)) => verb_effect(name, verb, words),
        None if name
            .chars()
            .all(|c| c.is_ascii_digit() || c == '.' || c == ',') =>
        {
            Effect::Read
        }
        // A type, whose members may do anything.
        None if original.starts_with('[') => Effect::Code,
        // An operator, or a property of an expression in brackets.
        None if original.starts_with(['-', '.', ',']) => Effect::Read,
        None if words.len() == 1 && original.chars().all(|c| !c.is_alphabetic()) => Effect::Read,
        None => Effect::Unknown,
    };
    (effect_in_lists(name, &lists).unwrap_or_else(by_name), text)
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

/// Returns the effect of a command `Verb-Noun`: of its name, or of its verb.
fn verb_effect(name: &str, verb: &str, words: &[&str]) -> Effect {
    if POWERSHELL.request_commands.contains(name) {
        return request_effect(words);
    }
    let by_name = [
        (POWERSHELL.read_commands, Effect::Read),
        (POWERSHELL.create_commands, Effect::Create),
        (POWERSHELL.update_commands, Effect::Update),
    ];
    let by_verb = [
        (POWERSHELL.read_verbs, Effect::Read),
        (POWERSHELL.delete_verbs, Effect::Delete),
        (POWERSHELL.update_verbs, Effect::Update),
        (POWERSHELL.run_verbs, Effect::Code),
        (POWERSHELL.create_verbs, Effect::Create),
    ];
    let found = effect_in_lists(name, &by_name).or_else(|| effect_in_lists(verb, &by_verb));
    found.unwrap_or_else(|| match verb.contains(UNKNOWN) {
        true => Effect::Code,
        false => Effect::Unknown,
    })
}

/// Returns the effect of the first list that contains a name.
fn effect_in_lists(name: &str, lists: &[(WordSet, Effect)]) -> Option<Effect> {
    let found = lists.iter().find(|(names, _)| names.contains(name));
    found.map(|(_, effect)| *effect)
}
