//! Programs that run a command which they are given, by arguments or by input.

use super::{Outcome, args};
use crate::judge::Judge;
use crate::model::arg::{Arg, UNKNOWN};
use crate::model::effect::{Effect, OptionEffect};
use crate::model::io::Input;
use crate::model::role::Role;
use crate::model::span::Span;
use crate::options::call::Call;

/// `xargs`: the words it reads come last, or where `-I` says.
pub(super) fn xargs(judge: &mut Judge<'_>, call: &Call, _: Span, input: &Input) -> Outcome {
    let mark = call
        .options
        .iter()
        .rev()
        .find(|g| ["-I", "-i", "--replace", "-J"].contains(&g.name.as_str()));
    let mut words = args(call);
    if words.is_empty() {
        return Outcome::NoOperands;
    }
    judge.verbs(call);
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
    judge.unrecognized(call);
    judge.options(call, input);
    // Alone, a program is told all by what is read: also to write or to run.
    if let [name, rest @ ..] = words.as_slice()
        && rest.iter().all(|arg| !arg.known())
        && !rest.is_empty()
        && let Some(program) = judge.tables.program(&name.text)
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
        judge.find(
            Effect::Unknown,
            name.span,
            format!("what `{}` is told is only known when it runs", name.text),
        );
    }
    let file = call
        .options
        .iter()
        .find(|g| ["-a", "--arg-file"].contains(&g.name.as_str()))
        .and_then(|g| g.value.as_ref());
    let names = match file {
        Some(file) => judge.names_of_file(file),
        None => judge.names_in(input),
    };
    Outcome::Done(judge.with_names(names, |judge| judge.run(words, &Input::Unknown)))
}

/// `env`: assignments, then a command; without one it prints the variables.
pub(super) fn env(judge: &mut Judge<'_>, call: &Call, _: Span, input: &Input) -> Outcome {
    judge.verbs(call);
    let words = args(call);
    // `-` alone is `-i`.
    let mut at = usize::from(words.first().is_some_and(|first| first.text == "-"));
    let mut set = Vec::new();
    while let Some(arg) = words.get(at)
        && let Some((name, value)) = arg.text.split_once('=')
    {
        if name.contains(UNKNOWN) {
            judge.find(
                Effect::Code,
                arg.span,
                "which variable is set is only known when it runs",
            );
        }
        judge.sets(name, &arg.with(value));
        set.push((name.to_owned(), arg.with(value)));
        at += 1;
    }
    judge.unrecognized(call);
    for given in &call.options {
        if let Some(value) = &given.value {
            if ["-S", "--split-string"].contains(&given.name.as_str()) {
                let text = words.iter().fold(value.text.clone(), |text, word| {
                    text + " " + &super::super::builtin::quoted(word)
                });
                return Outcome::Done(judge.shell_text(&value.with(&format!("env {text}")), input));
            }
            judge.option(call, given, input);
        }
    }
    let rest = words.get(at..).unwrap_or(&[]).to_vec();
    Outcome::Done(if rest.is_empty() {
        None
    } else {
        judge.with_variables(&set, false, |judge| judge.run(rest, input))
    })
}

/// `at` runs what it reads, later.
pub(super) fn at(judge: &mut Judge<'_>, call: &Call, _: Span, input: &Input) -> Outcome {
    let lists = call.options.iter().any(|g| {
        matches!(
            g.option.effect,
            Some(OptionEffect::Replaces(_) | OptionEffect::Forces(_))
        )
    });
    if !lists && let Input::Known(text) = input {
        let span = call
            .operands
            .first()
            .map_or(Span::default(), |o| o.arg.span);
        judge.shell_text(&Arg::new(text.clone(), span), &Input::Unknown);
    }
    Outcome::Table
}
