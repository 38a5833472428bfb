//! Programs that run a command which they are given, by arguments or by input.

use super::effect::{note_option_effects, note_unrecognized, operand_words};
use super::roles::{option_value, option_values};
use crate::model::analysis::{Analysis, Context, Names};
use crate::model::arg::{Arg, UNKNOWN, quoted};
use crate::model::effect::{Effect, OptionEffect};
use crate::model::io::Input;
use crate::model::role::Role;
use crate::model::span::Span;
use crate::tables::Call;

/// `xargs`: the words it reads come last, or where `-I` says.
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
        // One line is one word, or several: what it holds is then known.
        Input::Known(text) if mark.is_none() && !text.contains(['\'', '"', '\\']) => Some(
            text.split_whitespace()
                .map(|word| Arg::new(word, last))
                .collect::<Vec<_>>(),
        ),
        _ => None,
    };
    match mark {
        Some(given) => {
            let mark = given
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
                (word.text, word.place) = (put(&word.text), word.place.as_deref().map(put));
            }
        }
        None => match read {
            Some(read) if !call.has(&["-0", "--null", "-d", "--delimiter", "-a", "--arg-file"]) => {
                words.extend(read)
            }
            _ => {
                // As many as fit, unless it is told to take one at a time.
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
    option_values(&mut analysis, context, call, input);
    // Alone, a program is told all by what is read: also to write or to run.
    if let [name, rest @ ..] = words.as_slice()
        && rest.iter().all(|arg| !arg.known())
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
        analysis.find(
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
        Some(file) => Names::InFile(file.clone()),
        None => Names::In(input.clone()),
    };
    let output = analysis.with_names(names, |inner| inner.run(words, &Input::Unknown));
    analysis.done_with(output)
}

/// `env`: assignments, then a command; without one it prints the variables.
pub(super) fn env(context: &Context<'_>, call: &Call, _: Span, input: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    note_option_effects(&mut analysis, call);
    let words = operand_words(call);
    // `-` alone is `-i`.
    let mut at = usize::from(words.first().is_some_and(|first| first.text == "-"));
    let mut set = Vec::new();
    while let Some(arg) = words.get(at)
        && let Some((name, value)) = arg.text.split_once('=')
    {
        if name.contains(UNKNOWN) {
            analysis.find(
                Effect::Code,
                arg.span,
                "which variable is set is only known when it runs",
            );
        }
        analysis.sets(name, &arg.with(value));
        set.push((name.to_owned(), arg.with(value)));
        at += 1;
    }
    note_unrecognized(&mut analysis, call);
    for given in &call.options {
        if let Some(value) = &given.value {
            if ["-S", "--split-string"].contains(&given.name.as_str()) {
                let text = words
                    .iter()
                    .fold(value.text.clone(), |text, word| text + " " + &quoted(word));
                let output = analysis.shell_text(&value.with(&format!("env {text}")), input);
                return analysis.done_with(output);
            }
            option_value(&mut analysis, context, call, given, input);
        }
    }
    let rest = words.get(at..).unwrap_or(&[]).to_vec();
    if rest.is_empty() {
        return analysis.done();
    }
    let output = analysis.with_variables(set, |inner| inner.run(rest, input));
    analysis.done_with(output)
}

/// `at` runs what it reads, later.
pub(super) fn at(_: &Context<'_>, call: &Call, _: Span, input: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    let lists = call.options.iter().any(|g| {
        matches!(
            g.option.verb,
            Some(OptionEffect::Replaces(_) | OptionEffect::Forces(_))
        )
    });
    if !lists && let Input::Known(text) = input {
        let span = call
            .operands
            .first()
            .map_or(Span::default(), |o| o.arg.span);
        analysis.shell_text(&Arg::new(text.clone(), span), &Input::Unknown);
    }
    analysis
}
