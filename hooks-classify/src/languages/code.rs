//! Code in general languages: a script in, its effect out. A script is code, unless it is provably
//! harmless; words that delete or change something raise the class.
//!
//! A harmless script only computes and prints. Python and JavaScript are parsed, and every kind of
//! node, every name and every call must be known to be harmless. A line of Perl, Ruby, PHP or Lua must
//! consist of known words, of strings and of little else. The tables in the folder `languages` list
//! the names that each language may use.

#[cfg(feature = "javascript")]
use super::javascript;
use super::missing_feature::missing_feature;
use super::names;
#[cfg(feature = "python")]
use super::python;
use super::words;
use crate::analysis::Analysis;
use crate::model::arg::{Arg, UNKNOWN};
use crate::model::effect::Effect;
use crate::model::io::Input;
use crate::model::language::Language;

/// Returns the effects of a script.
pub(super) fn analyze(language: Language, arg: &Arg) -> Analysis {
    let mut analysis = Analysis::new();
    let text = &arg.text;
    if !text.contains(UNKNOWN) && is_harmless(language, text) {
        analysis.add_finding(Effect::Read, arg.span, "a script that only prints");
        let mut at = 0;
        for part in text.split(['\'', '"']) {
            let end = at + part.len();
            let before = text[..at].strip_suffix(['\'', '"']).unwrap_or("");
            let after = text.get(end + 1..).unwrap_or("");
            if !names::ANY.reads_only_metadata(before, after) {
                analysis.read_file(&arg.with_text(part));
            }
            at = end + 1;
        }
        return analysis;
    }
    let reason =
        missing_feature(language).unwrap_or_else(|| "runs code that may do anything".to_owned());
    analysis.add_finding(Effect::Code, arg.span, reason);
    raise_by_words(&mut analysis, language, arg);
    for opening in names::ANY.shells {
        for (at, _) in text.match_indices(*opening) {
            if let Some(command) = command_of_call(&text[at + opening.len()..], opening) {
                analysis.run_shell_text(&arg.with_text(&command), &Input::Unknown);
            }
        }
    }
    analysis
}

/// Returns `true` if a script only computes and prints.
fn is_harmless(language: Language, text: &str) -> bool {
    // An interpreter may end a line, and with it a comment, at a character that the grammar does not
    // know.
    if text.contains(|c: char| c.is_control() && c != '\n' && c != '\t') {
        return false;
    }
    match language {
        #[cfg(feature = "python")]
        Language::Python => python::is_harmless(text),
        #[cfg(feature = "javascript")]
        Language::Node => javascript::is_harmless(text),
        Language::Perl => words::is_harmless(&words::PERL, text),
        Language::Ruby => words::is_harmless(&words::RUBY, text),
        Language::Php => words::is_harmless(&words::PHP, text),
        Language::Lua => words::is_harmless(&words::LUA, text),
        _ => false,
    }
}

/// Raises the class of code by the words in it.
fn raise_by_words(analysis: &mut Analysis, language: Language, arg: &Arg) {
    let compact: String = arg.text.split_whitespace().collect::<Vec<_>>().join(" ");
    let removes = compact
        .match_indices("rm(")
        .any(|(at, _)| !compact[..at].ends_with(|c: char| c.is_alphanumeric() || "_.".contains(c)));
    if language == Language::Code && removes {
        analysis.add_finding(Effect::Delete, arg.span, "the code has `rm(` in it");
    }
    let find = |words: &'static [&'static str]| words.iter().find(|word| compact.contains(**word));
    let found = match find(names::ANY.deletes) {
        Some(word) => Some((Effect::Delete, word)),
        None => find(names::ANY.updates).map(|word| (Effect::Update, word)),
    };
    if let Some((effect, word)) = found {
        let reason = format!("the code has `{}` in it", word.trim());
        analysis.add_finding(effect, arg.span, reason);
    }
}

/// Returns the strings in the arguments of a call, as one command line.
fn command_of_call(rest: &str, opening: &str) -> Option<String> {
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
