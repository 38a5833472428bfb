//! `git`, and programs that pass options to it: a call in, its effect out.

use super::effect::operand_words;
use super::roles::note_role;
use crate::analysis::{Analysis, Context};
use crate::model::effect::{Effect, OptionEffect};
use crate::model::io::Input;
use crate::model::role::Role;
use crate::model::span::Span;
use crate::options::call::Call;

/// Analyzes a program that passes `--log-opts` to `git log`.
pub(super) fn log_options(_: &Context<'_>, call: &Call, _: Span, _: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    for opt in &call.options {
        if opt.name == "--log-opts"
            && let Some(value) = &opt.value
        {
            let line = format!("git log {}", value.text);
            analysis.run_shell_text(&value.with_text(&line), &Input::Unknown);
        }
    }
    analysis
}

/// Analyzes `git config`, which reads or writes settings by its operands.
pub(super) fn config(context: &Context<'_>, call: &Call, _: Span, input: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    if !call.has_option(&["--name-only"]) {
        note_role(
            &mut analysis,
            context,
            call,
            Role::Setting,
            &operand_words(call),
            input,
        );
    }
    if call.options.iter().any(|opt| {
        matches!(
            opt.spec.effect,
            Some(OptionEffect::Replaces(_) | OptionEffect::Forces(_))
        )
    }) {
        return analysis.without_operands();
    }
    let operands = operand_words(call);
    let first = operands.first().map_or("", |arg| arg.text.as_str());
    analysis.with_effect(match first {
        "list" | "get" => Effect::Read,
        "set" | "rename-section" | "edit" if operands.len() > 1 || first == "edit" => {
            Effect::Update
        }
        "unset" | "remove-section" => Effect::Delete,
        _ if operands.len() > 1 => Effect::Update,
        _ => Effect::Read,
    })
}

/// Analyzes `git push`, which runs a hook, and deletes by the signs `+` and `:`.
pub(super) fn push(_: &Context<'_>, call: &Call, whole: Span, _: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    let dry = call
        .options
        .iter()
        .any(|opt| matches!(opt.spec.effect, Some(OptionEffect::Forces(Effect::Read))));
    if call.has_option(&["-n", "--dry-run"]) && !call.has_option(&["--no-verify"]) {
        analysis.add_finding(
            Effect::Code,
            whole,
            "`git push` runs the hook `pre-push` of the project, `--dry-run` or not",
        );
    }
    if !dry {
        for operand in call.operands.iter().skip(1) {
            let arg = &operand.arg;
            if arg.text.starts_with('+') {
                analysis.add_finding(
                    Effect::Delete,
                    arg.span,
                    "`git push` with `+` discards commits there",
                );
            } else if arg.text.len() > 1 && arg.text.starts_with(':') {
                analysis.add_finding(
                    Effect::Delete,
                    arg.span,
                    "`git push` with `:` deletes a branch there",
                );
            }
        }
    }
    analysis
}

/// Analyzes `git checkout`, which discards changes if an operand is a path.
pub(super) fn checkout(_: &Context<'_>, call: &Call, _: Span, _: &Input) -> Analysis {
    let analysis = Analysis::new();
    let branch = call.has_option(&["-b", "-B", "--orphan", "--track", "-t", "--detach", "-d"]);
    if call
        .operands
        .iter()
        .any(|operand| operand.after_double_dash)
    {
        return analysis.with_effect(Effect::Delete);
    }
    let operands = operand_words(call);
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
        return analysis.with_effect(Effect::Delete);
    }
    analysis
}
