//! The tools of Rust.

use super::Outcome;
use crate::judge::{Arg, Input, Judge};
use crate::shell::Span;
use crate::tables::{Call, Effect};

/// A first word `+nightly` names a toolchain.
pub(super) fn toolchain(judge: &mut Judge<'_>, call: &Call, whole: Span, input: &Input) -> Outcome {
    match call.args.first() {
        Some(first) if first.text.starts_with('+') && first.known() => {
            let inner = Call::read(&call.path, call.program, &call.args[1..]);
            Outcome::Done(judge.call(&inner, whole, input))
        }
        _ => Outcome::Table,
    }
}

pub(super) fn rustc(judge: &mut Judge<'_>, call: &Call, whole: Span, input: &Input) -> Outcome {
    for given in call.options.iter().filter(|g| g.name == "--print") {
        if let Some(value) = &given.value
            && (value.text.contains('=')
                || ["link-args", "native-static-libs"].contains(&value.text.as_str()))
        {
            judge.find(
                Effect::Create,
                value.span,
                "`--print` of this compiles or writes a file",
            );
        }
    }
    toolchain(judge, call, whole, input)
}

pub(super) fn rustfmt(judge: &mut Judge<'_>, call: &Call, whole: Span, input: &Input) -> Outcome {
    let prints = call.options.iter().any(|g| {
        g.name == "--emit"
            && g.value
                .as_ref()
                .is_some_and(|v| ["stdout", "json", "checkstyle"].contains(&v.text.as_str()))
    });
    if prints {
        return Outcome::Is(Effect::Read);
    }
    toolchain(judge, call, whole, input)
}

pub(super) fn cargo_fmt(judge: &mut Judge<'_>, call: &Call, whole: Span, input: &Input) -> Outcome {
    let after: Vec<Arg> = call
        .operands
        .iter()
        .filter(|o| o.after)
        .map(|o| o.arg.clone())
        .collect();
    if after.is_empty() {
        return Outcome::Table;
    }
    let Some(program) = judge.tables.program("rustfmt") else {
        return Outcome::Is(Effect::Unknown);
    };
    let mut words = after;
    words.push(Arg::new("src/lib.rs", whole));
    let inner = Call::read("rustfmt", program, &words);
    let output = judge.call(&inner, whole, input);
    judge.strange(call);
    Outcome::Done(output)
}
