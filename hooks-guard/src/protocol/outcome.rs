//! Results of tools. In: the input of a hook after a tool, in the format of an agent. Out: success,
//! exit status, error.

use serde_json::Value;

use super::description::ReplyFormat;
use super::input::JsonObject;
use super::model::{AgentHook, MAX_TEXT_CHARS, ToolOutcome};

/// Returns the result of a tool at the event with this normalized name; `None` if the tool did not
/// run.
pub(super) fn outcome(hook: AgentHook, name: &str, object: &JsonObject) -> Option<ToolOutcome> {
    let mut outcome = ToolOutcome::default();
    let response = [
        "tool_response",
        "toolResponse",
        "tool_result",
        "toolResult",
        "output",
    ];
    let response = response.iter().find_map(|field| object.get(*field));
    if hook.form == ReplyFormat::Cline {
        return Some(cline_outcome(response));
    }
    if hook.form == ReplyFormat::Pi {
        return Some(pi_outcome(object.get("event")));
    }
    if hook.form == ReplyFormat::Vibe {
        return Some(vibe_outcome(object));
    }
    let printed_status = response.and_then(Value::as_str).and_then(status_in_text);
    let response = response.and_then(Value::as_object);
    let within = |fields: &[&str]| {
        let found = fields.iter().find_map(|field| response?.get(*field));
        found.filter(|value| !value.is_null())
    };
    match within(&["resultType", "result_type"]).and_then(Value::as_str) {
        Some("denied" | "rejected") => return None,
        Some("success") => outcome.succeeded = Some(true),
        Some(_) => outcome.succeeded = Some(false),
        None => {}
    }
    let metadata = within(&["metadata"]).and_then(Value::as_object);
    let exit = within(&["exit_code", "exitCode", "exit"]);
    let exit = exit.or_else(|| metadata.and_then(|metadata| metadata.get("exit")));
    let printed_status = printed_status.or_else(|| {
        let output = object.get("tool_output").and_then(Value::as_str);
        output.and_then(status_in_element)
    });
    outcome.exit_status = exit.and_then(Value::as_i64).or(printed_status);
    let fields = ["error", "tool_error"];
    let error = fields.iter().find_map(|field| object.get(*field));
    let error = error.or_else(|| within(&["error"]));
    if let Some(error) = error.filter(|error| !error.is_null()) {
        let text = match (error, error.get("message")) {
            (Value::String(text), _) | (_, Some(Value::String(text))) => text.clone(),
            (other, _) => other.to_string(),
        };
        let status_text = text.strip_prefix("Exit code ");
        let status = status_text.and_then(|rest| rest.split_whitespace().next()?.parse().ok());
        let status = status.or_else(|| status_in_last_line(&text));
        outcome.exit_status = outcome.exit_status.or(status);
        outcome.succeeded = Some(false);
        outcome.error = Some(limited(&text));
    }
    // Letta Code.
    match within(&["status"]).and_then(Value::as_str) {
        Some("success") => outcome.succeeded = outcome.succeeded.or(Some(true)),
        Some("error") => {
            let output = within(&["output"]).and_then(Value::as_str);
            let status = output.and_then(|text| {
                let (first, _) = text.split_once('\n').unwrap_or((text, ""));
                first.strip_prefix("Exit code: ")?.parse().ok()
            });
            outcome.exit_status = outcome.exit_status.or(status);
            outcome.succeeded = Some(false);
            outcome.error = outcome.error.take().or_else(|| output.map(limited));
        }
        _ => {}
    }
    if name == "posttoolusefailure" {
        outcome.succeeded = Some(false);
    } else if outcome.succeeded.is_none() && hook.agent.description().has_failure_event {
        // At `PostToolUse`, Grok also reports commands that failed, and commands that it moved to the
        // background; Kimi Code reports these, too.
        let failed = outcome.exit_status.is_some_and(|status| status != 0);
        let is_running = within(&["status"]).and_then(Value::as_str) == Some("running")
            || (object.get("tool_output").and_then(Value::as_str)).is_some_and(is_running_task);
        outcome.succeeded = (!is_running).then_some(name == "posttooluse" && !failed);
    }
    if outcome.succeeded.is_none() {
        outcome.succeeded = outcome.exit_status.map(|status| status == 0);
    }
    Some(outcome)
}

/// Returns the start of an error.
fn limited(text: &str) -> String {
    text.chars().take(MAX_TEXT_CHARS).collect()
}

/// Returns the result in Cline's `tool_result`: an error, or a list with the result of each command.
fn cline_outcome(response: Option<&Value>) -> ToolOutcome {
    let output = response.and_then(|response| response.get("output"));
    let error_of = |result: &Value| {
        let text = result.get("error")?.as_str()?;
        Some(limited(text))
    };
    let results = match output {
        Some(Value::Array(results)) => results.as_slice(),
        Some(result) => std::slice::from_ref(result),
        None => &[],
    };
    let error = results.iter().find_map(error_of);
    let failed = |result: &Value| result.get("success").and_then(Value::as_bool) == Some(false);
    let has_failed = error.is_some()
        || results.iter().any(failed)
        || response.is_some_and(|response| response.get("error").is_some());
    let status = |error: &String| {
        error
            .strip_prefix("Command exited with code ")?
            .parse()
            .ok()
    };
    ToolOutcome {
        succeeded: Some(!has_failed),
        exit_status: error.as_ref().and_then(status),
        error,
    }
}

/// Returns the result in the event of Pi.
fn pi_outcome(event: Option<&Value>) -> ToolOutcome {
    let field = |name: &str| event.and_then(|event| event.get(name));
    let failed = field("isError").and_then(Value::as_bool);
    let status = field("structuredContent").and_then(|content| content.get("exit_code"));
    ToolOutcome {
        succeeded: failed.map(|failed| !failed),
        exit_status: status.and_then(Value::as_i64),
        error: None,
    }
}

/// Returns the result in the input of Mistral Vibe, which reports a command that failed as a success, with
/// its exit status.
fn vibe_outcome(object: &JsonObject) -> ToolOutcome {
    let output = object.get("tool_output");
    let status = output.and_then(|output| output.get("returncode"));
    let exit_status = status.and_then(Value::as_i64);
    let has_ended = match object.get("tool_status").and_then(Value::as_str) {
        Some("success") => Some(true),
        Some(_) => Some(false),
        None => None,
    };
    let error = object.get("tool_error").and_then(Value::as_str);
    ToolOutcome {
        succeeded: has_ended.map(|ended| ended && exit_status.is_none_or(|status| status == 0)),
        exit_status,
        error: error.map(limited),
    }
}

/// Returns `true` for the output of a command that Kimi Code moved to the background.
fn is_running_task(output: &str) -> bool {
    output.starts_with("task_id: ") && output.lines().any(|line| line == "status: running")
}

/// Returns the exit status in the last line of an error, as Kimi Code prints it.
fn status_in_last_line(text: &str) -> Option<i64> {
    let last = text.lines().next_back()?;
    let status = last.strip_prefix("Command failed with exit code: ")?;
    status.strip_suffix('.')?.parse().ok()
}

/// Returns the exit status in an element of a result, as Auggie prints it.
fn status_in_element(text: &str) -> Option<i64> {
    let (_, rest) = text.split_once("<return-code>\n")?;
    rest.split_once("\n</return-code>")?.0.parse().ok()
}

/// Returns the exit status at the end of a result, as Droid prints it.
fn status_in_text(text: &str) -> Option<i64> {
    let (_, last) = text.trim_end().rsplit_once("[Process exited with code ")?;
    last.strip_suffix(']')?.parse().ok()
}
