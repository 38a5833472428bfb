//! Shells, and commands that run texts of the shell: a call in, the text that runs out.

use super::effect::{note_option_effects, operand_words};
use super::roles::note_option_value;
use super::words_as_text::join_words_at;
use crate::analysis::{Analysis, ChildShell, Context};
use crate::model::arg::{Arg, display_text};
use crate::model::effect::Effect;
use crate::model::environment::FileContents;
use crate::model::io::Input;
use crate::model::shells::Shells;
use crate::model::span::Span;
use crate::model::unseen_code::UnseenCode;
use crate::options::call::Call;

/// Reason to confirm a shell whose text may set any variable of a program.
const EXPORTS: &str = "exports the variables that its text sets";

/// Analyzes a shell, which runs the text of `-c`, a file or its input.
pub(super) fn shell(context: &Context<'_>, call: &Call, whole: Span, input: &Input) -> Analysis {
    let mut analysis = Analysis::new();
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
                analysis.add_finding(
                    Effect::Read,
                    whole,
                    format!("`{}` prints facts about itself", call.path),
                );
                return analysis.done();
            }
            "--norc" | "--noprofile" | "--posix" | "--login" | "--verbose" | "--restricted"
            | "--noediting" => {}
            "--rcfile" | "--init-file" => {
                analysis.add_finding(
                    Effect::Code,
                    arg.span,
                    format!("`{}` runs a file first", call.path),
                );
                if let Some(file) = args.get(at) {
                    analysis.record_code_file(file);
                }
                at += 1;
            }
            _ if word.starts_with("--") || !arg.is_known() => {
                analysis.add_finding(
                    Effect::Unknown,
                    arg.span,
                    format!("unknown option `{}` of `{}`", display_text(arg), call.path),
                );
            }
            _ => {
                for letter in word[1..].chars() {
                    match letter {
                        'c' => text = true,
                        's' => stdin = true,
                        'o' | 'O' => {
                            let value = args.get(at).map_or("", |value| value.text.as_str());
                            if matches!(value, "allexport" | "keyword") {
                                analysis.add_finding(Effect::Code, arg.span, EXPORTS);
                            }
                            at += 1;
                        }
                        'a' | 'k' if word.starts_with('-') => {
                            analysis.add_finding(Effect::Code, arg.span, EXPORTS);
                        }
                        'a'..='z' | 'A'..='Z' => {}
                        _ => analysis.add_finding(
                            Effect::Unknown,
                            arg.span,
                            format!("unknown option `{word}` of `{}`", call.path),
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
        // `+n` and `+o noexec` turn `-n` off.
        let n = n && !args.iter().any(|a| a.text.starts_with('+'));
        if n && (!text || at < args.len()) {
            // It prints the lines with errors, and with `-v` all of them.
            if let Some(file) = args.get(at).filter(|_| !text && !stdin) {
                analysis.read_file(file);
            }
            analysis.add_finding(
                Effect::Read,
                whole,
                format!("`{}` checks syntax", call.path),
            );
            return analysis.done();
        }
    }
    let rest = args.get(at..).unwrap_or(&[]);
    if text {
        let Some(script) = rest.first() else {
            analysis.add_finding(
                Effect::Unknown,
                whole,
                format!("`{}` is given no text to run", call.path),
            );
            return analysis.done();
        };
        let words = rest.get(1..).unwrap_or(&[]);
        let output = analysis.run_child_shell(ChildShell {
            text: script.clone(),
            // `$0` is not followed.
            positional: words.get(1..).unwrap_or(&[]).to_vec(),
            shells: shells_of(&call.path),
            path_words: Some(words.to_vec()),
            input: input.clone(),
        });
        return analysis.done_with(output);
    }
    match rest.first() {
        Some(file) if !stdin => {
            analysis.record_code_file(file);
            if let Some(FileContents::Text(text)) =
                context.environment.files.get(&file.text).cloned()
            {
                let output = analysis.run_child_shell(ChildShell {
                    text: Arg::new(text, file.span),
                    positional: rest[1..].to_vec(),
                    shells: shells_of(&call.path),
                    path_words: None,
                    input: input.clone(),
                });
                return analysis.done_with(output);
            }
            analysis.add_finding(
                Effect::Code,
                file.span,
                format!("`{}` runs the file `{}`", call.path, display_text(file)),
            );
            analysis.done()
        }
        _ => match input {
            Input::Known(text) => {
                let output = analysis.run_child_shell(ChildShell {
                    text: Arg::new(text.clone(), whole),
                    positional: rest.to_vec(),
                    shells: shells_of(&call.path),
                    path_words: None,
                    input: Input::Unknown,
                });
                analysis.done_with(output)
            }
            _ => {
                analysis.add_unseen_code(
                    whole,
                    UnseenCode::Input,
                    format!("`{}` runs its input", call.path),
                );
                analysis.done()
            }
        },
    }
}

impl Shells {
    /// Returns the shells that a program of this name may be, such as `bash` or `sh`; `None` if it
    /// names no shell of a kind that is known.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "bash" => Self::BASH,
            "zsh" => Self::ZSH,
            "ksh" | "ksh93" | "yash" => Self::KSH | Self::MKSH,
            "mksh" => Self::MKSH,
            "dash" | "ash" | "busybox" | "posh" => Self::DASH,
            "sh" => Self::SH,
            _ => return None,
        })
    }
}

/// Returns `true` if a shell that emulates this one reads later text as before; with `-c`, if it
/// reads that text as before.
pub(crate) fn is_read_alike(emulated: &str, has_text: bool) -> bool {
    match emulated {
        "zsh" => true,
        "sh" | "ksh" => has_text,
        _ => false,
    }
}

/// Returns the shells that a program may be.
fn shells_of(program: &str) -> Shells {
    let name = program.rsplit('/').next().unwrap_or(program);
    Shells::named(name).unwrap_or(Shells::ALL)
}

/// Analyzes `eval`, which runs its words as a text of the shell.
pub(super) fn eval(_: &Context<'_>, call: &Call, whole: Span, input: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    let output = analysis.run_shell_text(&join_words_at(&call.args, whole), input);
    analysis.done_with(output)
}

/// Analyzes `source`, which runs a file in the shell.
pub(super) fn source(_: &Context<'_>, call: &Call, whole: Span, _: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    if let Some(file) = call.args.first() {
        analysis.record_code_file(file);
    }
    analysis.add_finding(
        Effect::Code,
        whole,
        format!("`{}` runs the contents of a file", call.path),
    );
    analysis.done()
}

/// Analyzes `fish`, of which only plain commands are understood.
pub(super) fn fish(context: &Context<'_>, call: &Call, whole: Span, _: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    if call.has_option(&["-n", "--no-execute"]) {
        // It prints the lines with errors.
        for operand in &call.operands {
            analysis.read_file(&operand.arg);
        }
        analysis.add_finding(Effect::Read, whole, "`fish` checks syntax");
        return analysis.done();
    }
    let text = call
        .options
        .iter()
        .find(|g| ["-c", "--command", "-C", "--init-command"].contains(&g.name.as_str()));
    let Some(text) = text.and_then(|g| g.value.clone()) else {
        if operand_words(call).is_empty() && call.has_option(&["--version", "-v", "--help", "-h"]) {
            return analysis;
        }
        analysis.add_unseen_code(whole, UnseenCode::Input, "`fish` runs its input");
        return analysis.done();
    };
    note_option_effects(&mut analysis, call);
    for opt in call
        .options
        .iter()
        .filter(|opt| !["-c", "--command", "-C", "--init-command"].contains(&opt.name.as_str()))
    {
        note_option_value(&mut analysis, context, call, opt, &Input::Unknown);
    }
    if text.text.contains([';', '(', '$', '\n', '&', '|', '{']) {
        analysis.add_finding(
            Effect::Code,
            text.span,
            "`fish` runs text in a language that is not followed",
        );
    }
    analysis.run_shell_text(&text, &Input::Unknown);
    analysis.done()
}
