//! Judges of `git`'s commands.

use super::{Outcome, args};
use crate::judge::Judge;
use crate::model::effect::{Effect, OptionEffect};
use crate::model::io::Input;
use crate::model::role::Role;
use crate::model::span::Span;
use crate::options::call::Call;

pub(super) fn config(judge: &mut Judge<'_>, call: &Call, _: Span, input: &Input) -> Outcome {
    if !call.has(&["--name-only"]) {
        judge.role(call, Role::Setting, &args(call), input);
    }
    if call.options.iter().any(|given| {
        matches!(
            given.option.effect,
            Some(OptionEffect::Replaces(_) | OptionEffect::Forces(_))
        )
    }) {
        return Outcome::NoOperands;
    }
    let operands = args(call);
    let first = operands.first().map_or("", |arg| arg.text.as_str());
    Outcome::Is(match first {
        "list" | "get" => Effect::Read,
        "set" | "rename-section" | "edit" if operands.len() > 1 || first == "edit" => {
            Effect::Update
        }
        "unset" | "remove-section" => Effect::Delete,
        _ if operands.len() > 1 => Effect::Update,
        _ => Effect::Read,
    })
}

pub(super) fn push(judge: &mut Judge<'_>, call: &Call, whole: Span, _: &Input) -> Outcome {
    let dry = call.options.iter().any(|given| {
        matches!(
            given.option.effect,
            Some(OptionEffect::Forces(Effect::Read))
        )
    });
    if call.has(&["-n", "--dry-run"]) && !call.has(&["--no-verify"]) {
        judge.find(
            Effect::Code,
            whole,
            "`git push` runs the hook `pre-push` of the project, `--dry-run` or not",
        );
    }
    if !dry {
        for operand in call.operands.iter().skip(1) {
            let arg = &operand.arg;
            if arg.text.starts_with('+') {
                judge.find(
                    Effect::Delete,
                    arg.span,
                    "`git push` with `+` discards commits there",
                );
            } else if arg.text.len() > 1 && arg.text.starts_with(':') {
                judge.find(
                    Effect::Delete,
                    arg.span,
                    "`git push` with `:` deletes a branch there",
                );
            }
        }
    }
    Outcome::Table
}

pub(super) fn checkout(_: &mut Judge<'_>, call: &Call, _: Span, _: &Input) -> Outcome {
    let branch = call.has(&["-b", "-B", "--orphan", "--track", "-t", "--detach", "-d"]);
    if call
        .operands
        .iter()
        .any(|operand| operand.after_double_dash)
    {
        return Outcome::Is(Effect::Delete);
    }
    let operands = args(call);
    let path = operands.first().is_some_and(|arg| {
        let text = arg.text.as_str();
        let last = text.rsplit('/').next().unwrap_or("");
        let extension = last.rsplit_once('.').is_some_and(|(stem, extension)| {
            // `v1.2` and `release-1.2.x` are names of versions.
            let number = |text: &str| text.chars().all(|c| c.is_ascii_digit() || c == '.');
            let version = stem.strip_prefix('v').is_some_and(number)
                || (extension == "x" && stem.ends_with(|c: char| c.is_ascii_digit()));
            let letters = extension.chars().all(|c| c.is_ascii_alphabetic());
            !version && letters && !stem.is_empty() && !extension.is_empty()
        });
        text == "."
            || text == ".."
            || ["./", "../", ":/", ":("]
                .iter()
                .any(|p| text.starts_with(p))
            || text.ends_with('/')
            || text.contains(['*', '?'])
            || extension
    });
    if !branch && (operands.len() > 1 || (operands.len() == 1 && path)) {
        return Outcome::Is(Effect::Delete);
    }
    Outcome::Table
}
