//! `xargs` and `parallel`: a command and the words of its input in, the commands that run out.

use super::effect::note_options;
use super::effect::{note_option_effects, note_unrecognized, operand_words};
use super::roles::note_option_values;
use super::words_as_text::join_words;
use crate::analysis::{Analysis, Context, OutputAction, PathSource};
use crate::model::arg::{Arg, UNKNOWN};
use crate::model::effect::Effect;
use crate::model::io::Input;
use crate::model::role::Role;
use crate::model::span::Span;
use crate::options::call::Call;

/// Analyzes `xargs`, which adds the words of its input at the end of a command, or at the
/// placeholder of `-I`.
pub(super) fn xargs(context: &Context<'_>, call: &Call, _: Span, input: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    let mark = call
        .options
        .iter()
        .rev()
        .find(|g| ["-I", "-i", "--replace", "-J"].contains(&g.name.as_str()));
    let mut words = operand_words(call);
    if words.is_empty() {
        return analysis.without_operands();
    }
    note_option_effects(&mut analysis, call);
    let last = words.last().map_or(Span::default(), |arg| arg.span);
    let read = match input {
        // A line is one word or several, so its words are known.
        Input::Known(text) if mark.is_none() && !text.contains(['\'', '"', '\\']) => Some(
            text.split_whitespace()
                .map(|word| Arg::new(word, last))
                .collect::<Vec<_>>(),
        ),
        _ => None,
    };
    match mark {
        Some(opt) => {
            let mark = opt
                .value
                .as_ref()
                .map_or("{}", |value| value.text.as_str())
                .to_owned();
            let value = match input {
                Input::Known(text) if text.lines().count() == 1 => text.trim().to_owned(),
                _ => UNKNOWN.to_string(),
            };
            for word in &mut words {
                let put = |text: &str| text.replace(&mark, &value);
                (word.text, word.resolved_path) =
                    (put(&word.text), word.resolved_path.as_deref().map(put));
            }
        }
        None => match read {
            Some(read)
                if !call.has_option(&["-0", "--null", "-d", "--delimiter", "-a", "--arg-file"]) =>
            {
                words.extend(read)
            }
            _ => {
                // All words in one call, unless an option limits the words of a call.
                let one = call.options.iter().any(|g| {
                    ["-n", "--max-args", "-L", "--max-lines"].contains(&g.name.as_str())
                        && g.value.as_ref().is_some_and(|value| value.text == "1")
                });
                words.push(Arg::unknown(last));
                if !one {
                    words.push(Arg::unknown(last));
                }
            }
        },
    }
    note_unrecognized(&mut analysis, call);
    note_option_values(&mut analysis, context, call, input);
    // If it has no words, all words of the program come from the input, also an option that writes
    // or runs something.
    if let [name, rest @ ..] = words.as_slice()
        && rest.iter().all(|arg| !arg.is_known())
        && !rest.is_empty()
        && let Some(program) = context.tables.program(&name.text)
        && program.options.values().any(|option| {
            matches!(
                option.role,
                Role::Output
                    | Role::Append
                    | Role::Update
                    | Role::Program
                    | Role::Shell
                    | Role::Argv { .. }
            )
        })
    {
        analysis.add_finding(
            Effect::Unknown,
            name.span,
            format!("the words of `{}` are only known when it runs", name.text),
        );
    }
    let file = call
        .options
        .iter()
        .find(|g| ["-a", "--arg-file"].contains(&g.name.as_str()))
        .and_then(|g| g.value.as_ref());
    let names = match file {
        Some(file) => PathSource::File(file.clone()),
        None => PathSource::Input(input.clone()),
    };
    let output = analysis.with_paths(names, |inner| inner.run_words(words, &Input::Inherited));
    analysis.done_with(output)
}

/// Analyzes `parallel COMMAND ::: WORDS`.
pub(super) fn parallel(context: &Context<'_>, call: &Call, whole: Span, input: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    note_options(&mut analysis, call);
    note_option_values(&mut analysis, context, call, &Input::Unknown);
    // It runs even if the command does not run.
    if let Some(arg) = call.args.iter().find(|arg| arg.text.contains("{=")) {
        analysis.add_finding(Effect::Code, arg.span, "`{= … =}` holds Perl code");
    }
    if call.has_option(&["--rpl"]) {
        analysis.add_finding(Effect::Code, whole, "the value of `--rpl` is Perl");
    }
    if call.has_option(&["--dry-run", "--dryrun", "--version", "--help", "-h", "-V"]) {
        analysis.add_finding(Effect::Read, whole, "`parallel` shows what it would run");
        return analysis.done();
    }
    let words = operand_words(call);
    let marks = [":::", ":::+", "::::", "::::+"];
    let at = words
        .iter()
        .position(|arg| marks.contains(&arg.text.as_str()))
        .unwrap_or(words.len());
    let (command, rest) = words.split_at(at);
    let direct: Vec<&Arg> = match rest.first() {
        Some(mark) if mark.text == ":::" => rest[1..]
            .iter()
            .take_while(|arg| !marks.contains(&arg.text.as_str()))
            .collect(),
        _ => Vec::new(),
    };
    let single = rest
        .iter()
        .filter(|arg| marks.contains(&arg.text.as_str()))
        .count()
        == 1;
    let Some(text) = join_words(command) else {
        if direct.is_empty() {
            analysis.add_finding(
                Effect::Code,
                whole,
                "`parallel` runs the lines that it reads",
            );
        }
        for word in direct {
            analysis.run_shell_text(word, &Input::Inherited);
        }
        return analysis.done();
    };
    let values: Vec<String> = if single
        && !direct.is_empty()
        && direct.len() <= 8
        && direct.iter().all(|arg| arg.is_known() && !arg.glob)
    {
        direct.iter().map(|arg| arg.text.clone()).collect()
    } else {
        vec![UNKNOWN.to_string()]
    };
    let lines: Vec<String> = values
        .iter()
        .map(|value| parallel_line(&text.text, value))
        .collect();
    let inserts_unknown = |line: &String| line.contains(UNKNOWN) && !line.starts_with(UNKNOWN);
    if lines.iter().any(inserts_unknown) {
        // With words after a mark, it reads none from its input.
        let source = match rest.is_empty() {
            true => input.clone(),
            false => Input::Unknown,
        };
        analysis.with_paths(PathSource::Input(source), |inner| {
            for line in lines {
                // The inserted word is quoted.
                let line = match inserts_unknown(&line) {
                    true => Arg::new(line.replace(UNKNOWN, "\"$_\""), text.span),
                    false => text.with_text(&line),
                };
                inner.run_shell_text(&line, &Input::Inherited);
            }
            OutputAction::NONE
        });
    } else {
        for line in lines {
            analysis.run_shell_text(&text.with_text(&line), &Input::Inherited);
        }
    }
    analysis.done()
}

/// Returns the command line that `parallel` makes of its command and a word.
fn parallel_line(command: &str, word: &str) -> String {
    let mut line = command.to_owned();
    let mut placed = false;
    for mark in [
        "{}", "{.}", "{/}", "{//}", "{/.}", "{1}", "{2}", "{3}", "{1/}", "{1.}",
    ] {
        if line.contains(mark) {
            placed = true;
            line = line.replace(mark, word);
        }
    }
    for mark in ["{#}", "{%}"] {
        line = line.replace(mark, "1");
    }
    match placed {
        true => line,
        false => format!("{line} {word}"),
    }
}
