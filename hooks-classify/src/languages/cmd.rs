//! Command shell of Windows: a text in, the effects of its commands out.

use super::names::CMD;
use crate::analysis::Analysis;
use crate::model::arg::Arg;
use crate::model::effect::Effect;
use crate::model::io::Input;

/// Returns the effects of a text.
pub(super) fn analyze(arg: &Arg) -> Analysis {
    let mut analysis = Analysis::new();
    // A caret escapes the next character.
    let text = arg
        .text
        .replace('^', "")
        .replace("2>nul", "")
        .replace(">nul", "")
        .replace("2>&1", "");
    if text.contains('>') {
        analysis.add_finding(Effect::Create, arg.span, "writes a file");
    }
    if !arg.is_known() || text.contains('%') {
        analysis.add_finding(Effect::Code, arg.span, "a part is only known when it runs");
    }
    for part in text.split(['&', '|', '\n', '(', ')']) {
        analyze_command(&mut analysis, arg, part);
    }
    analysis
}

/// Adds the effect of a command.
fn analyze_command(analysis: &mut Analysis, arg: &Arg, part: &str) {
    let part = part.trim().trim_start_matches(['"', '@']).trim();
    if part.is_empty() {
        return;
    }
    let word = part.split(|c: char| c.is_whitespace() || c == '/').next();
    let word = word.unwrap_or("").to_ascii_lowercase();
    // `echo.` and `cd..` are commands, but `dir.bat` is a file.
    let first = match word.split_once('.') {
        Some((name, ending)) if ending == "exe" || CMD.dotted.contains(name) => name,
        _ => word.as_str(),
    };
    let rest = part[first.len()..].trim();
    let effect = match first {
        name if CMD.sorts.contains(name) && rest.to_ascii_lowercase().contains("/o") => {
            Effect::Create
        }
        name if CMD.assigns.contains(name) && rest.contains('=') => Effect::Update,
        name if CMD.reads_alone.contains(name) && !rest.is_empty() => {
            analysis.run_shell_text(&arg.with_text(part), &Input::Unknown);
            return;
        }
        "if" => {
            analyze_command(analysis, arg, &command_after_condition(rest));
            Effect::Read
        }
        _ => match effect_of_command(first) {
            Some(effect) => effect,
            None => {
                analysis.run_shell_text(&arg.with_text(part), &Input::Unknown);
                return;
            }
        },
    };
    let reason = format!("the command shell runs `{first}`");
    analysis.add_finding(effect, arg.span, reason);
}

/// Returns the command after the condition of an `if`.
fn command_after_condition(text: &str) -> String {
    let mut words = text.split_whitespace().peekable();
    let prefix = |word: &&str| matches!(word.to_ascii_lowercase().as_str(), "/i" | "not");
    while words.next_if(prefix).is_some() {}
    let first = words.next().unwrap_or("").to_ascii_lowercase();
    let more = match first.as_str() {
        "exist" | "defined" | "errorlevel" | "cmdextversion" => 1,
        _ if first.contains("==") && !first.ends_with("==") => 0,
        _ if first.ends_with("==") => 1,
        _ => 2,
    };
    words.skip(more).collect::<Vec<_>>().join(" ")
}

/// Returns the effect of a command, if it is one of the command shell.
fn effect_of_command(name: &str) -> Option<Effect> {
    let lists = [
        (CMD.deletes, Effect::Delete),
        (CMD.reads, Effect::Read),
        (CMD.creates, Effect::Create),
        (CMD.updates, Effect::Update),
        (CMD.runs, Effect::Code),
    ];
    let found = lists.iter().find(|(names, _)| names.contains(name));
    found.map(|(_, effect)| *effect)
}
