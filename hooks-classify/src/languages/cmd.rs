//! In: a text for the command shell of Windows. Out: the effects of its commands.

use super::names::CMD;
use crate::model::analysis::Analysis;
use crate::model::arg::Arg;
use crate::model::effect::Effect;
use crate::model::io::Input;

/// Returns the effects of a text.
pub(super) fn read(arg: &Arg) -> Analysis {
    let mut analysis = Analysis::new();
    // A caret escapes the next character.
    let text = arg
        .text
        .replace('^', "")
        .replace("2>nul", "")
        .replace(">nul", "")
        .replace("2>&1", "");
    if text.contains('>') {
        analysis.find(Effect::Create, arg.span, "writes a file");
    }
    if !arg.known() || text.contains('%') {
        analysis.find(Effect::Code, arg.span, "a part is only known when it runs");
    }
    for part in text.split(['&', '|', '\n', '(', ')']) {
        let part = part.trim().trim_start_matches(['"', '@']).trim();
        let first = part
            .split(|c: char| c.is_whitespace() || c == '/' || c == '.')
            .next()
            .unwrap_or("")
            .to_ascii_lowercase();
        if first.is_empty() {
            continue;
        }
        let Some(effect) = effect(&first) else {
            analysis.shell_text(&arg.with(part), &Input::Unknown);
            continue;
        };
        analysis.find(
            effect,
            arg.span,
            format!("the command shell runs `{first}`"),
        );
    }
    analysis
}

/// Returns the effect of a command, if it is one of the command shell.
fn effect(name: &str) -> Option<Effect> {
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
