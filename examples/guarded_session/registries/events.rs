//! The hooks of `tool:pre` and `tool:post`, in the forms that a hook can have.
//!
//! Those that read a command fail where it cannot be read. That is logged and left out, as
//! they only help: the typed set refuses such a command. `protected_files` guards something,
//! so that its fault is a denial.

use std::sync::Arc;

use hooks_runtime::{
    Event, EventHook, FailurePolicy, HookError, HookRegistry, HookResult, Map, MessageLevel,
    RegisterOptions, impl_hook,
};
use serde_json::{Value, json};

use super::Limits;
use super::payload::{TOOL_INPUT, TOOL_NAME, TOOL_RESULT, rewrite};
use crate::hooks::Change;
use crate::judge::shell::Unclear;
use crate::judge::{paths, programs, rewrites, risks};

/// Registers all of them.
pub(super) fn register(events: &HookRegistry, limits: Limits) {
    let before = HookRegistry::TOOL_PRE;
    let guard = RegisterOptions::new()
        .name("protected_files")
        .priority(-10)
        .on_failure(FailurePolicy::FailClosed);
    events.register(before, ProtectedFiles, guard);
    events.register(before, end_tail, RegisterOptions::new());
    let seconds = limits.time.as_secs();
    events.register(
        before,
        move |event: Event<'_>| long_sleep(event, seconds),
        RegisterOptions::new().name("long_sleep").priority(10),
    );
    events.register(before, commits, RegisterOptions::new().priority(10));

    let after = HookRegistry::TOOL_POST;
    events.register(after, redaction_notice, RegisterOptions::new());
    events.register(after, limit_notice, RegisterOptions::new());
}

/// The data lack a field, or hold something else in its place.
#[derive(Debug, thiserror::Error)]
#[error("the event has no text `{0}`")]
struct Malformed(&'static str);

/// Denies to change git's own files by hand.
#[impl_hook(EventHook)]
async fn protected_files(event: Event<'_>) -> Result<HookResult, HookError> {
    match event.str(TOOL_NAME).ok_or(Malformed(TOOL_NAME))? {
        "write" | "edit" => {}
        _ => return Ok(HookResult::proceed()),
    }
    let path = input(event, "path").ok_or(Malformed("path"))?;
    Ok(if paths::is_git_internal(path) {
        HookResult::deny(format!("`{path}` is git's own file"))
    } else {
        HookResult::proceed()
    })
}

/// Tells each `tail` that would wait for more to stop at the end.
fn end_tail(event: Event<'_>) -> Result<HookResult, Unclear> {
    let Some(command) = input(event, "command") else {
        return Ok(HookResult::proceed());
    };
    programs::read(command)?;
    Ok(match rewrites::end_tail(command) {
        None => HookResult::proceed(),
        Some(command) => {
            let change = Change::new("end_tail", "`tail -f` would wait for ever");
            rewrite(event, json!({"command": command}), &change)
        }
    })
}

/// Lets the agent know that it sleeps for longer than it may.
fn long_sleep(event: Event<'_>, limit: u64) -> Result<HookResult, Unclear> {
    let Some(command) = input(event, "command") else {
        return Ok(HookResult::proceed());
    };
    let script = programs::read(command)?;
    let seconds = |text: &str| text.parse::<f64>().ok();
    let is_long = script
        .commands
        .iter()
        .filter(|command| command.program() == Some("sleep"))
        .any(|command| command.texts().filter_map(seconds).sum::<f64>() > limit as f64);
    Ok(if is_long {
        HookResult::inject_context(format!("a call is stopped after {limit} s; sleep for less"))
            .ephemeral(true)
    } else {
        HookResult::proceed()
    })
}

/// Lets the user know of commits.
async fn commits(_event: Arc<str>, data: Arc<Map>) -> Result<HookResult, Unclear> {
    let command = data.get(TOOL_INPUT).and_then(|input| input.get("command"));
    let Some(command) = command.and_then(Value::as_str) else {
        return Ok(HookResult::proceed());
    };
    let script = programs::read(command)?;
    let commits = script.commands.iter().any(|command| {
        command.program() == Some("git") && risks::git_command(command) == Some("commit")
    });
    Ok(if commits {
        HookResult::proceed().user_message("it is a commit")
    } else {
        HookResult::proceed()
    })
}

/// Lets the agent know why it cannot read all of the output.
fn redaction_notice(event: Event<'_>) -> HookResult {
    match result(event, "redactions").and_then(Value::as_u64) {
        None | Some(0) => HookResult::proceed(),
        Some(_) => {
            HookResult::inject_context("what is blacked out is not needed; do not look for it")
                .ephemeral(true)
                .append_to_last_tool_result(true)
        }
    }
}

/// Lets the user know which limit a call met.
fn limit_notice(event: Event<'_>) -> HookResult {
    let remedy = match result(event, "status").and_then(Value::as_str) {
        Some("timed_out") => "raise --time-limit if it needs longer",
        Some("output_limit") => "raise --output-limit if it has more to say",
        _ => return HookResult::proceed(),
    };
    HookResult::proceed()
        .user_message(remedy)
        .user_message_level(MessageLevel::Warning)
}

/// A text of the tool's input.
fn input<'a>(event: Event<'a>, field: &str) -> Option<&'a str> {
    event.get(TOOL_INPUT)?.get(field)?.as_str()
}

/// A part of the tool's result.
fn result<'a>(event: Event<'a>, field: &str) -> Option<&'a Value> {
    event.get(TOOL_RESULT)?.get(field)
}
