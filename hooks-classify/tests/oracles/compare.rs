//! Commands as programs describe them in, differences from the tables out.

use std::collections::BTreeSet;

use hooks_classify::{Classifier, Decision, Tables};

use super::help::HelpValue;

/// A word that is in no table.
const OPERAND: &str = "zzz9";

/// Lines of help that look like options and describe something else.
const NO_OPTIONS: [(&str, &str); 2] = [
    // A range of bytes or fields.
    ("cut", "-M"),
    ("numfmt", "-M"),
];

/// A command as its program describes it.
pub(crate) struct DescribedCommand {
    /// `["docker", "ps"]`
    pub(crate) path: Vec<String>,
    pub(crate) options: Vec<(String, HelpValue)>,
}

/// Figures of the comparison with one program.
#[derive(Default)]
pub(crate) struct Figures {
    pub(crate) version: String,
    pub(crate) commands: usize,
    pub(crate) options: usize,
    pub(crate) wrong: BTreeSet<String>,
}

/// Compares the commands that a program describes with its table.
pub(crate) fn compare(
    classifier: &Classifier,
    commands: &[DescribedCommand],
    figures: &mut Figures,
) {
    for command in commands {
        figures.commands += 1;
        let path = command.path.join(" ");
        let plain = classifier.analyze(&path).expect("a command");
        let call = |text: &str| {
            let analysis = classifier.analyze(text).expect("a command");
            let part = analysis.parts.runs().next().cloned();
            part.and_then(|part| part.calls.last().cloned())
        };
        let Some(known) = call(&path) else {
            // A wrapper without a command is not a call.
            if !Tables::embedded().names().any(|name| name == path) {
                figures.wrong.insert(format!("{path}: unknown program"));
            }
            continue;
        };
        if !known.understood {
            figures.wrong.insert(format!("{path}: unknown command"));
            continue;
        }
        // A command that needs confirmation anyway needs no options.
        if plain.classification.decision != Decision::AutoAllowed {
            continue;
        }
        for (option, takes) in &command.options {
            let is_none = NO_OPTIONS.contains(&(path.as_str(), option.as_str()));
            if is_none || ["--help", "--version"].contains(&option.as_str()) {
                continue;
            }
            figures.options += 1;
            let text = match takes {
                HelpValue::Required => format!("{path} {option} 1"),
                HelpValue::Joined if option.starts_with("--") => format!("{path} {option}=1"),
                HelpValue::Joined => format!("{path} {option}1"),
                _ => format!("{path} {option}"),
            };
            if call(&text).is_none_or(|call| !call.understood) {
                let line = format!("{path} {option}: unknown option");
                figures.wrong.insert(line);
                continue;
            }
            let Some(call) = call(&format!("{path} {option} {OPERAND}")) else {
                continue;
            };
            let is_operand = call.operands.iter().any(|operand| operand.text == OPERAND);
            let what = match (takes, is_operand) {
                (HelpValue::Required, true) => "takes a value",
                (HelpValue::None | HelpValue::Optional, false) => "takes no value of its own",
                _ => continue,
            };
            figures.wrong.insert(format!("{path} {option}: {what}"));
        }
    }
}
