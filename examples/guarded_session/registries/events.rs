//! Hooks of `tool:pre`, `tool:post` and `error:tool`, in all the forms that a hook can have.
//!
//! Hooks that analyze the command return an error if it cannot be parsed. These errors are logged
//! and ignored, because the hooks only help: the classifiers have already refused such a command.
//! `protected_files` and `confirm_deletion` fail closed.

use std::sync::Arc;
use std::time::Duration;

use hooks_guard::classify::{Classifier, Explanation, InputError, Part};
use hooks_runtime::{
    Event, EventHook, FailurePolicy, HookError, HookRegistry, HookResult, Map, MessageLevel,
    RegisterOptions, impl_hook,
};
use serde_json::{Value, json};

use super::payload::{TOOL_INPUT, TOOL_NAME, TOOL_RESULT, class, rewrite};
use crate::hooks::Change;
use crate::{paths, rewrites};

/// Registers all hooks.
pub(super) fn register(events: &HookRegistry, time_limit: Duration) {
    let before = HookRegistry::TOOL_PRE;
    let guard = |name: &'static str| {
        RegisterOptions::new()
            .name(name)
            .on_failure(FailurePolicy::FailClosed)
    };
    let files = guard("protected_files").priority(-10);
    events.register(before, ProtectedFiles, files);
    events.register(before, end_tail, RegisterOptions::new());
    let seconds = time_limit.as_secs();
    events.register(
        before,
        move |event: Event<'_>| long_sleep(event, seconds),
        RegisterOptions::new().name("long_sleep").priority(10),
    );
    events.register(before, commits, RegisterOptions::new().priority(10));

    // Runs after all hooks that change a call, so that the approved call is the one that runs.
    let question = guard("confirm_deletion").priority(20);
    events.register(before, confirm_deletion, question);

    for after in [HookRegistry::TOOL_POST, HookRegistry::ERROR_TOOL] {
        events.register(after, redaction_notice, RegisterOptions::new());
    }
    let error = HookRegistry::ERROR_TOOL;
    events.register(error, limit_notice, RegisterOptions::new());
}

/// Error: a field is missing or has the wrong type.
#[derive(Debug, thiserror::Error)]
#[error("the event has no string `{0}`")]
struct Malformed(&'static str);

/// Denies direct changes of git's own files.
#[impl_hook(EventHook)]
async fn protected_files(event: Event<'_>) -> Result<HookResult, HookError> {
    match event.str(TOOL_NAME).ok_or(Malformed(TOOL_NAME))? {
        "write" | "edit" => {}
        _ => return Ok(HookResult::proceed()),
    }
    let path = input(event, "path").ok_or(Malformed("path"))?;
    Ok(if paths::is_git_internal(path) {
        HookResult::deny(format!("`{path}` is an internal file of git"))
    } else {
        HookResult::proceed()
    })
}

/// Makes each `tail` that would follow a file stop at its end.
fn end_tail(event: Event<'_>) -> Result<HookResult, InputError> {
    let Some(command) = input(event, "command") else {
        return Ok(HookResult::proceed());
    };
    Ok(match rewrites::end_tail(command, &explain(command)?) {
        None => HookResult::proceed(),
        Some(command) => {
            let change = Change::new("end_tail", "`tail -f` would wait forever");
            rewrite(event, json!({"command": command}), &change)
        }
    })
}

/// Warns the agent if a command sleeps longer than the timeout.
fn long_sleep(event: Event<'_>, limit: u64) -> Result<HookResult, InputError> {
    let Some(command) = input(event, "command") else {
        return Ok(HookResult::proceed());
    };
    let seconds = |text: &str| text.parse::<f64>().ok();
    let is_long = |run: &Part| {
        rewrites::is(run, "sleep")
            && run.arguments().filter_map(seconds).sum::<f64>() > limit as f64
    };
    Ok(if explain(command)?.parts().runs().any(is_long) {
        HookResult::inject_context(format!("calls time out after {limit} s; sleep for less"))
            .ephemeral(true)
    } else {
        HookResult::proceed()
    })
}

/// Informs the user about commits.
async fn commits(_event: Arc<str>, data: Arc<Map>) -> Result<HookResult, InputError> {
    let command = data.get(TOOL_INPUT).and_then(|input| input.get("command"));
    let Some(command) = command.and_then(Value::as_str) else {
        return Ok(HookResult::proceed());
    };
    let commits = |run: &Part| {
        rewrites::is(run, "git")
            && run.arguments().find(|it| !it.starts_with('-')) == Some("commit")
    };
    Ok(if explain(command)?.parts().runs().any(commits) {
        HookResult::proceed().user_message("the command makes a commit")
    } else {
        HookResult::proceed()
    })
}

/// Asks before a command that deletes or discards something, based on its class.
fn confirm_deletion(event: Event<'_>) -> HookResult {
    match class(event) {
        // A question about another command needs another approval.
        Some(class) if class.deletes() => {
            HookResult::ask_user(format!("{}. Run it?", class.reasoning)).approval_options([
                "Allow once",
                "Allow always",
                "Deny",
            ])
        }
        _ => HookResult::proceed(),
    }
}

fn explain(command: &str) -> Result<Explanation, InputError> {
    Classifier::new().explain(command)
}

/// Explains to the agent why parts of the output are hidden.
fn redaction_notice(event: Event<'_>) -> HookResult {
    match result(event, "redactions").and_then(Value::as_u64) {
        None | Some(0) => HookResult::proceed(),
        Some(_) => HookResult::inject_context("redacted text is not needed; do not look for it")
            .ephemeral(true)
            .append_to_last_tool_result(true),
    }
}

/// Informs the user which limit a call exceeded.
fn limit_notice(event: Event<'_>) -> HookResult {
    let remedy = match result(event, "status").and_then(Value::as_str) {
        Some("timed_out") => "raise `--time-limit` to allow more time",
        Some("output_limit") => "raise `--output-limit` to allow more output",
        _ => return HookResult::proceed(),
    };
    HookResult::proceed()
        .user_message(remedy)
        .user_message_level(MessageLevel::Warning)
}

/// Returns a text field of the tool's input.
fn input<'a>(event: Event<'a>, field: &str) -> Option<&'a str> {
    event.get(TOOL_INPUT)?.get(field)?.as_str()
}

/// Returns a field of the tool's result.
fn result<'a>(event: Event<'a>, field: &str) -> Option<&'a Value> {
    event.get(TOOL_RESULT)?.get(field)
}
