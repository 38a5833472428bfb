//! Judges of the shell's own commands that tables describe as well.

use super::{Outcome, args};
use crate::classify::judge::{Arg, Input, Judge, Value};
use crate::classify::shell::Span;
use crate::classify::tables::{Call, Effect};

/// A name that is set may be one that changes what runs, and an index in it
/// is computed: `a[$(cmd)]` runs `cmd`, even where the word is quoted.
pub(super) fn assign(judge: &mut Judge<'_>, call: &Call, _: Span, _: &Input) -> Outcome {
    let printf = call.path.ends_with("printf");
    for (at, arg) in call.args.iter().enumerate() {
        judge.computed(arg);
        if arg.text == "-v"
            && printf
            && let Some(name) = call.args.get(at + 1)
        {
            named(judge, name);
        }
    }
    // Some shells compute what is shown as a number.
    if printf
        && let Some(format) = call.operands.first()
        && format.arg.text.split('%').skip(1).any(|rest| {
            let kind =
                rest.trim_start_matches(|c: char| c.is_ascii_digit() || " #+-.*'".contains(c));
            kind.starts_with(|c| "diouxXeEfFgGaA".contains(c))
        })
    {
        for operand in &call.operands[1..] {
            if !operand.arg.inert && !operand.arg.known() {
                judge.computes(&operand.arg);
            }
        }
    }
    if call.path == "getopts"
        && let Some(name) = call.args.get(1)
    {
        named(judge, name);
        judge.environment.set_unknown("OPTARG");
        judge.environment.set_unknown("OPTIND");
    }
    Outcome::Table
}

fn named(judge: &mut Judge<'_>, name: &Arg) {
    judge.names_variable(name);
    if judge.tables.variable(&name.text, None).is_some() {
        judge.find(
            Effect::Code,
            name.span,
            format!("sets `{}`, which changes what runs", name.text),
        );
    }
    judge.environment.set_unknown(&name.text);
}

/// Nothing is changed by a test, but what it computes may run.
pub(super) fn test(judge: &mut Judge<'_>, call: &Call, _: Span, _: &Input) -> Outcome {
    for (at, arg) in call.args.iter().enumerate() {
        judge.computed(arg);
        if matches!(arg.text.as_str(), "-v" | "-t" | "-R")
            && let Some(name) = call.args.get(at + 1)
        {
            judge.names_variable(name);
        }
    }
    Outcome::Table
}

pub(super) fn arithmetic(judge: &mut Judge<'_>, call: &Call, whole: Span, _: &Input) -> Outcome {
    judge.computed_values(whole);
    for arg in &call.args {
        judge.computes(arg);
        if let Some((name, _)) = arg.text.split_once('=') {
            let name = name.trim_end_matches(['+', '-', '*', '/', '%']);
            if judge.tables.variable(name, None).is_some() {
                judge.find(
                    Effect::Code,
                    arg.span,
                    format!("sets `{name}`, which changes what runs"),
                );
            }
            judge
                .environment
                .variables
                .insert(name.to_owned(), Value::Inert);
        }
    }
    Outcome::Table
}

/// `compgen -C`, `-F` and `-W` run what their values say.
pub(super) fn compgen(judge: &mut Judge<'_>, call: &Call, _: Span, _: &Input) -> Outcome {
    for arg in &call.args {
        judge.computed(arg);
    }
    if call.path == "compgen" {
        for given in &call.options {
            if let ("-C" | "-F" | "-W", Some(value)) = (given.name.as_str(), &given.value) {
                if given.name == "-W" {
                    judge.computed(value);
                } else {
                    judge.shell_text(value, &Input::Unknown);
                }
            }
        }
    }
    Outcome::Table
}

/// `jobs -x COMMAND`.
pub(super) fn jobs(judge: &mut Judge<'_>, call: &Call, _: Span, _: &Input) -> Outcome {
    if call.path == "jobs"
        && let Some(at) = call.args.iter().position(|arg| arg.text == "-x")
    {
        judge.run(call.args[at + 1..].to_vec(), &Input::Inherited);
        return Outcome::Done(None);
    }
    for arg in &call.args {
        judge.computed(arg);
    }
    Outcome::NoOperands
}

/// `fish`: only a plain command is understood.
pub(super) fn fish(judge: &mut Judge<'_>, call: &Call, whole: Span, _: &Input) -> Outcome {
    if call.has(&["-n", "--no-execute"]) {
        judge.find(Effect::Read, whole, "`fish` checks syntax");
        return Outcome::Done(None);
    }
    let text = call
        .options
        .iter()
        .find(|g| ["-c", "--command", "-C", "--init-command"].contains(&g.name.as_str()));
    let Some(text) = text.and_then(|g| g.value.clone()) else {
        if args(call).is_empty() && call.has(&["--version", "-v", "--help", "-h"]) {
            return Outcome::Table;
        }
        judge.find(Effect::Code, whole, "`fish` runs what it reads");
        return Outcome::Done(None);
    };
    judge.verbs(call);
    for given in call
        .options
        .iter()
        .filter(|given| !["-c", "--command", "-C", "--init-command"].contains(&given.name.as_str()))
    {
        judge.option(call, given, &Input::Unknown);
    }
    if text.text.contains([';', '(', '$', '\n', '&', '|', '{']) {
        judge.find(
            Effect::Code,
            text.span,
            "`fish` runs text in a language that is not followed",
        );
    }
    judge.shell_text(&text, &Input::Unknown);
    Outcome::Done(None)
}

impl Judge<'_> {
    /// Notes a word whose index the shell computes.
    pub(in crate::classify::judge) fn computed(&mut self, arg: &Arg) {
        let text = arg.text.as_str();
        let Some(at) = text.find("$(").or_else(|| text.find('`')) else {
            return;
        };
        self.find(
            Effect::Code,
            arg.span,
            "the shell computes this, and runs what stands in it",
        );
        let inner = text[at..].trim_start_matches(['$', '(', '`']);
        let inner = inner.split([')', '`']).next().unwrap_or(inner);
        if !inner.is_empty() {
            self.shell_text(&arg.with(inner), &Input::Unknown);
        }
    }
}

/// What shows facts does so only where nothing else is said.
pub(super) fn facts_alone(judge: &mut Judge<'_>, call: &Call, whole: Span, _: &Input) -> Outcome {
    if !call.operands.is_empty() && call.has(&["-help", "--help", "-h", "-V", "-version"]) {
        judge.find(
            call.program.effect,
            whole,
            format!("`{}` {}", call.path, call.program.does),
        );
    }
    Outcome::Table
}
