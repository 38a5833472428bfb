//! Scripts in general languages: code, unless it is provably harmless; words that delete or
//! change something raise the class.
//!
//! Harmless is what only computes and prints. Python and JavaScript are parsed, and every kind
//! of node, every name and every call has to be known to be harmless. A line of Perl, Ruby, PHP or
//! Lua has to be made of known words, of strings and of little else. What each may use stands in
//! `languages/`.

mod javascript;
mod names;
mod python;
mod syntax;
mod words;

use crate::judge::{Arg, Input, Judge, UNKNOWN};
use crate::tables::{Effect, Language};

pub(super) use javascript::mongo;

pub(super) fn judge(judge: &mut Judge<'_>, language: Language, arg: &Arg) {
    let text = &arg.text;
    if !text.contains(UNKNOWN) && is_harmless(language, text) {
        judge.find(Effect::Read, arg.span, "a script that only prints");
        let mut at = 0;
        for part in text.split(['\'', '"']) {
            let end = at + part.len();
            let before = text[..at].strip_suffix(['\'', '"']).unwrap_or("");
            let after = text.get(end + 1..).unwrap_or("");
            if !names::ANY.says_facts(before, after) {
                judge.input_file(&arg.with(part));
            }
            at = end + 1;
        }
        return;
    }
    judge.find(Effect::Code, arg.span, "runs code that may do anything");
    raise(judge, language, arg);
    for opening in names::ANY.shells {
        for (at, _) in text.match_indices(*opening) {
            if let Some(command) = argument(&text[at + opening.len()..], opening) {
                judge.shell_text(&arg.with(&command), &Input::Unknown);
            }
        }
    }
}

fn is_harmless(language: Language, text: &str) -> bool {
    // A grammar may not know what else ends a line, and with it a comment.
    if text.contains(|c: char| c.is_control() && c != '\n' && c != '\t') {
        return false;
    }
    match language {
        Language::Python => python::is_harmless(text),
        Language::Node => javascript::is_harmless(text),
        Language::Perl => words::is_harmless(&words::PERL, text),
        Language::Ruby => words::is_harmless(&words::RUBY, text),
        Language::Php => words::is_harmless(&words::PHP, text),
        Language::Lua => words::is_harmless(&words::LUA, text),
        _ => false,
    }
}

/// Raises the class of code by what it says.
fn raise(judge: &mut Judge<'_>, language: Language, arg: &Arg) {
    let compact: String = arg.text.split_whitespace().collect::<Vec<_>>().join(" ");
    let removes = compact
        .match_indices("rm(")
        .any(|(at, _)| !compact[..at].ends_with(|c: char| c.is_alphanumeric() || "_.".contains(c)));
    if language == Language::Code && removes {
        judge.find(Effect::Delete, arg.span, "the code has `rm(` in it");
    }
    let find = |words: &'static [&'static str]| words.iter().find(|word| compact.contains(**word));
    let found = match find(names::ANY.deletes) {
        Some(word) => Some((Effect::Delete, word)),
        None => find(names::ANY.updates).map(|word| (Effect::Update, word)),
    };
    if let Some((effect, word)) = found {
        let reason = format!("the code has `{}` in it", word.trim());
        judge.find(effect, arg.span, reason);
    }
}

/// The strings that a call is given, as one command line.
fn argument(rest: &str, opening: &str) -> Option<String> {
    let closing = match opening.chars().last()? {
        '`' => Some('`'),
        '{' => Some('}'),
        '/' => Some('/'),
        '|' => opening.chars().rev().nth(1),
        '(' if opening.starts_with("qx") || opening.starts_with("%x") => Some(')'),
        _ => None,
    };
    if let Some(closing) = closing {
        return rest
            .split_once(closing)
            .map(|(inside, _)| inside.to_owned());
    }
    let mut words = Vec::new();
    let mut characters = rest.chars().peekable();
    let mut depth = 1usize;
    while let Some(c) = characters.next() {
        match c {
            '"' | '\'' => {
                let mut word = String::new();
                while let Some(inside) = characters.next() {
                    match inside {
                        '\\' => word.extend(characters.next()),
                        end if end == c => break,
                        other => word.push(other),
                    }
                }
                words.push(word);
            }
            '(' | '[' => depth += 1,
            ')' | ']' => {
                depth -= 1;
                if depth == 0 {
                    break;
                }
            }
            ';' | '\n' => break,
            _ => {}
        }
    }
    (!words.is_empty()).then(|| words.join(" "))
}
