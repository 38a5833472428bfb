//! Shells, and what reads text as one does.

use super::Outcome;
use crate::judge::Judge;
use crate::model::arg::{Arg, shown};
use crate::model::effect::Effect;
use crate::model::environment::Contents;
use crate::model::io::Input;
use crate::model::span::Span;
use crate::model::unseen_code::UnseenCode;
use crate::options::call::Call;

/// `sh`, `bash`: `-c TEXT`, a file, or the input.
pub(super) fn shell(judge: &mut Judge<'_>, call: &Call, whole: Span, input: &Input) -> Outcome {
    let args = &call.args;
    let mut at = 0;
    let mut text = false;
    let mut stdin = false;
    while let Some(arg) = args.get(at) {
        let word = arg.text.as_str();
        if word == "--" || word == "-" {
            at += 1;
            break;
        }
        if !word.starts_with(['-', '+']) || word.len() < 2 {
            break;
        }
        at += 1;
        match word {
            "--version" | "--help" => {
                judge.find(
                    Effect::Read,
                    whole,
                    format!("`{}` prints facts about itself", call.path),
                );
                return Outcome::Done(None);
            }
            "--norc" | "--noprofile" | "--posix" | "--login" | "--verbose" | "--restricted"
            | "--noediting" => {}
            "--rcfile" | "--init-file" => {
                judge.find(
                    Effect::Code,
                    arg.span,
                    format!("`{}` runs a file first", call.path),
                );
                if let Some(file) = args.get(at) {
                    judge.parts.code_file(file);
                }
                at += 1;
            }
            _ if word.starts_with("--") || !arg.known() => {
                judge.find(
                    Effect::Unknown,
                    arg.span,
                    format!("`{}` has no known option `{}`", call.path, shown(arg)),
                );
            }
            _ => {
                for letter in word[1..].chars() {
                    match letter {
                        'c' => text = true,
                        's' => stdin = true,
                        'o' | 'O' => at += 1,
                        'a'..='z' | 'A'..='Z' => {}
                        _ => judge.find(
                            Effect::Unknown,
                            arg.span,
                            format!("`{}` has no known option `{word}`", call.path),
                        ),
                    }
                }
            }
        }
    }
    {
        // Only checks syntax.
        let n = args[..at.min(args.len())]
            .iter()
            .any(|a| a.text.starts_with('-') && !a.text.starts_with("--") && a.text.contains('n'));
        // `+n` and `+o noexec` take it back.
        let n = n && !args.iter().any(|a| a.text.starts_with('+'));
        if n && (!text || at < args.len()) {
            // It prints the lines with errors, and with `-v` all of them.
            if let Some(file) = args.get(at).filter(|_| !text && !stdin) {
                judge.input_file(file);
            }
            judge.find(
                Effect::Read,
                whole,
                format!("`{}` checks syntax", call.path),
            );
            return Outcome::Done(None);
        }
    }
    let rest = args.get(at..).unwrap_or(&[]);
    if text {
        let Some(script) = rest.first() else {
            judge.find(
                Effect::Unknown,
                whole,
                format!("`{}` is given no text to run", call.path),
            );
            return Outcome::Done(None);
        };
        let mut positional = rest.get(1..).unwrap_or(&[]).to_vec();
        // `$0` is not followed, and may be a name all the same.
        let mut names = judge.names_of_arguments(&positional);
        names.extend(positional.first().map(|arg| judge.named_file(arg.path())));
        if !positional.is_empty() {
            positional.remove(0);
        }
        return Outcome::Done(
            judge.with_arguments(names, |judge| nested(judge, script, positional, input)),
        );
    }
    match rest.first() {
        Some(file) if !stdin => {
            judge.parts.code_file(file);
            if let Some(Contents::Text(text)) = judge.environment.files.get(&file.text).cloned() {
                return Outcome::Done(nested(
                    judge,
                    &Arg::new(text, file.span),
                    rest[1..].to_vec(),
                    input,
                ));
            }
            judge.find(
                Effect::Code,
                file.span,
                format!("`{}` runs what is in `{}`", call.path, shown(file)),
            );
            Outcome::Done(None)
        }
        _ => match input {
            Input::Known(text) => {
                let positional = rest.to_vec();
                Outcome::Done(nested(
                    judge,
                    &Arg::new(text.clone(), whole),
                    positional,
                    &Input::Unknown,
                ))
            }
            _ => {
                judge.runs_unseen(
                    whole,
                    UnseenCode::Input,
                    format!("`{}` runs what it reads", call.path),
                );
                Outcome::Done(None)
            }
        },
    }
}

/// Runs text in a shell of its own.
fn nested(
    judge: &mut Judge<'_>,
    text: &Arg,
    positional: Vec<Arg>,
    input: &Input,
) -> Option<String> {
    judge.in_child(|judge| {
        let before = judge.environment.positional.replace(positional);
        let output = judge.shell_text(text, input);
        judge.environment.positional = before;
        output
    })
}

pub(super) fn eval(judge: &mut Judge<'_>, call: &Call, whole: Span, input: &Input) -> Outcome {
    let text = call
        .args
        .iter()
        .map(|arg| arg.text.as_str())
        .collect::<Vec<_>>()
        .join(" ");
    Outcome::Done(judge.shell_text(&Arg::new(text, whole), input))
}

pub(super) fn source(judge: &mut Judge<'_>, call: &Call, whole: Span, _: &Input) -> Outcome {
    if let Some(file) = call.args.first() {
        judge.parts.code_file(file);
    }
    judge.find(
        Effect::Code,
        whole,
        format!("`{}` runs what is in a file", call.path),
    );
    Outcome::Done(None)
}
