//! The worked examples of the rules, each with its own keys.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures::executor::block_on;
use hooks_runtime::{
    Action, ApprovalDefault, ContextRole, Emission, Event, EventHook, HookError, HookRegistry,
    HookResult, Map, MessageLevel, events,
};
use serde_json::{Value, json};

use crate::kit::{Log, at, emit, map, named, plain};

fn emission(registry: &HookRegistry, event: &str, data: Value) -> Emission {
    block_on(emit(registry, event, data))
}

fn text<'a>(data: &'a Map, field: &str) -> &'a str {
    data.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// `data.get("tool_input", {}).get(field, "")`
fn input<'a>(data: &'a Map, field: &str) -> &'a str {
    let input = data.get("tool_input").and_then(|input| input.get(field));
    input.and_then(Value::as_str).unwrap_or_default()
}

async fn security_check(_event: Arc<str>, data: Arc<Map>) -> HookResult {
    if text(&data, "tool_name") == "Write" && text(&data, "file_path").contains("/etc/") {
        return HookResult::deny("System files are protected");
    }
    HookResult::proceed()
}

#[test]
fn e_01_security_check_denies_system_files_until_unregistered() {
    let registry = HookRegistry::new();
    let unregister = registry.register(
        HookRegistry::TOOL_PRE,
        security_check,
        at(1).name("file_security"),
    );
    assert_eq!(
        registry.list_handlers(Some("tool:pre"))["tool:pre"],
        ["file_security"]
    );
    let write = |path: &str| json!({"tool_name": "Write", "file_path": path});
    let denied = emission(&registry, "tool:pre", write("/etc/passwd"));
    assert!(denied.is_denied());
    assert_eq!(denied.reason(), Some("System files are protected"));
    assert_eq!(denied.decided_by.as_deref(), Some("file_security"));
    assert!(!emission(&registry, "tool:pre", write("/tmp/x")).is_denied());
    let read = json!({"tool_name": "Read", "file_path": "/etc/passwd"});
    assert!(!emission(&registry, "tool:pre", read).is_denied());
    assert!(unregister.unregister());
    assert!(!emission(&registry, "tool:pre", write("/etc/passwd")).is_denied());
}

async fn security_validator(event: Arc<str>, data: Arc<Map>) -> HookResult {
    let is_authorized = data.get("user_authorized") == Some(&Value::Bool(true));
    if &*event == "tool:pre" && text(&data, "tool_name") == "file_system" && !is_authorized {
        return HookResult::deny("Unauthorized file access");
    }
    HookResult::proceed()
}

#[test]
fn e_12_e_22_security_validator_sees_the_defaults() {
    let registry = HookRegistry::new();
    registry.register("tool:pre", security_validator, at(10));
    registry.register("tool:post", security_validator, at(10));
    let call = json!({"tool_name": "file_system"});
    assert_eq!(
        emission(&registry, "tool:pre", call.clone()).reason(),
        Some("Unauthorized file access")
    );
    assert!(!emission(&registry, "tool:post", call.clone()).is_denied());
    registry.set_default_fields(map(json!({"user_authorized": true})));
    assert!(!emission(&registry, "tool:pre", call).is_denied());
    let explicit = json!({"tool_name": "file_system", "user_authorized": false});
    assert!(emission(&registry, "tool:pre", explicit).is_denied());
}

async fn security_hook(event: Arc<str>, data: Arc<Map>) -> HookResult {
    if &*event == "tool:pre" && text(&data, "tool_name") == "Write" {
        let path = input(&data, "file_path");
        if [".env", ".key", ".pem"]
            .iter()
            .any(|end| path.ends_with(end))
        {
            return HookResult::deny(format!("Access denied: {path} contains sensitive data"));
        }
    }
    HookResult::proceed()
}

async fn sanitize_hook(event: Arc<str>, data: Arc<Map>) -> HookResult {
    if &*event == "tool:pre" && text(&data, "tool_name") == "Write" {
        let mut modified = Map::clone(&data);
        if let Some(content) = modified
            .get_mut("tool_input")
            .and_then(|all| all.get_mut("content"))
        {
            *content = content.as_str().unwrap_or_default().trim().into();
        }
        return HookResult::modify(modified);
    }
    HookResult::proceed()
}

#[test]
fn e_25_sanitize_hook_replaces_the_content() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    registry.register("tool:pre", sanitize_hook, at(1));
    let writing = log.clone();
    let sees = move |_: Arc<str>, data: Arc<Map>| {
        writing.add(input(&data, "content"));
        HookResult::proceed()
    };
    registry.register("tool:pre", sees, at(2));
    let call = json!({"tool_name": "Write", "tool_input": {"file_path": "a", "content": "  x\n"}});
    let emission = emission(&registry, "tool:pre", call);
    assert_eq!(emission.action, Action::Modify);
    let expected = json!({"tool_name": "Write", "tool_input": {"file_path": "a", "content": "x"}});
    assert_eq!(Value::Object(Map::clone(&emission.data)), expected);
    assert_eq!(log.lines(), ["x"]);
}

#[test]
fn e_24_security_hook_denies_after_sanitize_hook_modifies() {
    let registry = HookRegistry::new();
    registry.register("tool:pre", sanitize_hook, at(1));
    registry.register("tool:pre", security_hook, at(2));
    let call = json!({"tool_name": "Write", "tool_input": {"file_path": "a.env", "content": " x"}});
    let emission = emission(&registry, "tool:pre", call);
    assert_eq!(
        emission.reason(),
        Some("Access denied: a.env contains sensitive data")
    );
    assert_eq!(emission.data["tool_input"]["content"], "x");
}

/// A linter that finds something in Python files with `bad` in their name.
struct LinterHook;

impl EventHook for LinterHook {
    async fn call(&self, event: Event<'_>) -> Result<HookResult, HookError> {
        if event.name() == "tool:post" && event.str("tool_name") == Some("Write") {
            let path = event
                .get("tool_input")
                .and_then(|input| input["file_path"].as_str());
            let path = path.ok_or_else(|| HookError::new("no path"))?;
            if path.contains("bad") {
                let text = format!("Linter found issues in {path}:\nE501 line too long");
                return Ok(HookResult::inject_context(text)
                    .user_message("Found linting issues")
                    .user_message_level(MessageLevel::Warning));
            }
        }
        Ok(HookResult::proceed())
    }
}

#[test]
fn e_29_linter_hook_injects_its_findings() {
    let registry = HookRegistry::new();
    registry.register("tool:post", LinterHook, named("linter_hook"));
    let call = |path: &str| json!({"tool_name": "Write", "tool_input": {"file_path": path}});
    let found = emission(&registry, "tool:post", call("bad.py"));
    assert_eq!(found.action, Action::InjectContext);
    let result = found.result();
    let text = "Linter found issues in bad.py:\nE501 line too long";
    assert_eq!(result.context_injection.as_deref(), Some(text));
    assert_eq!(result.context_injection_role, ContextRole::System);
    assert!(!result.ephemeral);
    assert_eq!(result.user_message.as_deref(), Some("Found linting issues"));
    assert_eq!(found.messages[0].level, MessageLevel::Warning);
    assert_eq!(&*found.injections[0].provenance.hook, "linter_hook");
    assert_eq!(
        emission(&registry, "tool:post", call("good.py")).action,
        Action::Continue
    );
}

#[test]
fn e_29_linter_hook_and_todo_hook_are_merged() {
    let registry = HookRegistry::new();
    registry.register("tool:post", LinterHook, at(1));
    registry.register("tool:post", todo_hook(&["write tests"], "tool:post"), at(2));
    let call = json!({"tool_name": "Write", "tool_input": {"file_path": "bad.py"}});
    let emission = emission(&registry, "tool:post", call);
    let text = "Linter found issues in bad.py:\nE501 line too long\n\n\
                Current todos:\n- write tests";
    assert_eq!(emission.result().context_injection.as_deref(), Some(text));
    assert!(!emission.result().ephemeral, "the settings of the first");
    assert!(emission.injections[1].ephemeral, "the items keep their own");
}

/// Injects a list of tasks.
fn todo_hook(
    todos: &'static [&'static str],
    at_event: &'static str,
) -> impl Fn(Arc<str>, Arc<Map>) -> HookResult + Send + Sync + 'static {
    move |event: Arc<str>, _: Arc<Map>| {
        if &*event == at_event && !todos.is_empty() {
            let lines: Vec<_> = todos.iter().map(|todo| format!("- {todo}")).collect();
            return HookResult::inject_context(format!("Current todos:\n{}", lines.join("\n")))
                .ephemeral(true)
                .suppress_output(true);
        }
        HookResult::proceed()
    }
}

#[test]
fn e_30_todo_hook_is_ephemeral() {
    let registry = HookRegistry::new();
    registry.register("tool:pre", todo_hook(&["one", "two"], "tool:pre"), plain());
    let emission = emission(&registry, "tool:pre", json!({"tool_name": "Read"}));
    let result = emission.result();
    assert_eq!(
        result.context_injection.as_deref(),
        Some("Current todos:\n- one\n- two")
    );
    assert!(result.ephemeral && result.suppress_output);
    assert!(emission.injections[0].ephemeral);
}

#[test]
fn e_31_todo_hook_without_todos_continues() {
    let registry = HookRegistry::new();
    registry.register("tool:pre", todo_hook(&[], "tool:pre"), plain());
    assert_eq!(
        emission(&registry, "tool:pre", json!({})).action,
        Action::Continue
    );
}

async fn production_protection_hook(event: Arc<str>, data: Arc<Map>) -> HookResult {
    if &*event == "tool:pre" && text(&data, "tool_name") == "Write" {
        let path = input(&data, "file_path");
        if path.contains("/production/") || path.ends_with(".env") {
            return HookResult::ask_user(format!("Allow write to production file: {path}?"))
                .approval_options(["Allow once", "Allow always", "Deny"])
                .approval_timeout(300.0)
                .approval_default(ApprovalDefault::Deny);
        }
    }
    HookResult::proceed()
}

#[test]
fn e_32_production_protection_hook_asks_the_user() {
    let registry = HookRegistry::new();
    registry.register("tool:pre", production_protection_hook, plain());
    let call = |path: &str| json!({"tool_name": "Write", "tool_input": {"file_path": path}});
    let asked = emission(&registry, "tool:pre", call("/production/config.py"));
    assert_eq!(asked.action, Action::AskUser);
    assert_eq!(
        asked.decided_by.as_deref(),
        Some("production_protection_hook")
    );
    let result = asked.result();
    let prompt = "Allow write to production file: /production/config.py?";
    assert_eq!(result.approval_prompt.as_deref(), Some(prompt));
    let options = ["Allow once", "Allow always", "Deny"].map(str::to_owned);
    assert_eq!(result.approval_options.as_deref(), Some(&options[..]));
    assert_eq!(
        (result.approval_timeout, result.approval_default),
        (300.0, ApprovalDefault::Deny)
    );
    assert_eq!(
        emission(&registry, "tool:pre", call("a.rs")).action,
        Action::Continue
    );
}

#[test]
fn e_24_security_hook_overrides_production_protection_hook() {
    let registry = HookRegistry::new();
    registry.register("tool:pre", production_protection_hook, at(1));
    registry.register("tool:pre", security_hook, at(2));
    let call = json!({"tool_name": "Write", "tool_input": {"file_path": "/production/.env"}});
    assert!(emission(&registry, "tool:pre", call).is_denied());
}

fn progress_hook(event: Event<'_>) -> HookResult {
    if event.name() == "tool:post" && event.str("tool_name") == Some("ProcessFiles") {
        event.print("file 1 of 12 …");
        let files = event
            .get("tool_result")
            .and_then(|result| result["files_processed"].as_u64());
        return HookResult::proceed()
            .user_message(format!(
                "Successfully processed {} files",
                files.unwrap_or(0)
            ))
            .user_message_level(MessageLevel::Info)
            .suppress_output(true);
    }
    HookResult::proceed()
}

#[test]
fn e_35_e_150_progress_hook_shows_a_message_and_suppresses_its_output() {
    let registry = HookRegistry::new();
    registry.register("tool:post", progress_hook, plain());
    let call = json!({"tool_name": "ProcessFiles", "tool_result": {"files_processed": 12}});
    let emission = emission(&registry, "tool:post", call);
    assert_eq!(emission.action, Action::Continue);
    assert_eq!(emission.messages.len(), 1);
    assert_eq!(emission.messages[0].text, "Successfully processed 12 files");
    assert_eq!(emission.messages[0].level, MessageLevel::Info);
    assert_eq!(&*emission.messages[0].hook, "progress_hook");
    assert!(
        emission.output().is_empty(),
        "the printed output is suppressed"
    );
    assert_eq!(
        emission.result().user_message.as_deref(),
        Some("Successfully processed 12 files")
    );
}

#[test]
fn e_150_suppress_output_applies_only_to_its_own_hook() {
    let registry = HookRegistry::new();
    let prints = |event: Event<'_>| {
        event.print("shown");
        HookResult::proceed()
    };
    registry.register("tool:post", prints, at(1).name("prints"));
    registry.register("tool:post", progress_hook, at(2));
    let call = json!({"tool_name": "ProcessFiles", "tool_result": {"files_processed": 1}});
    let emission = emission(&registry, "tool:post", call);
    let output: Vec<_> = emission
        .output()
        .iter()
        .map(|item| (&*item.hook, &*item.text))
        .collect();
    assert_eq!(output, [("prints", "shown")]);
    assert_eq!(emission.data["tool_result"]["files_processed"], 1);
}

#[test]
fn e_20_audit_hook_does_not_change_the_result() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    let writing = log.clone();
    let audit_hook = move |event: Arc<str>, data: Arc<Map>| {
        if &*event == "tool:post" {
            let success = data
                .get("tool_result")
                .and_then(|result| result["success"].as_bool());
            let outcome = if success == Some(true) {
                "success"
            } else {
                "failed"
            };
            writing.add(format!(
                "Tool {} executed: {outcome}",
                text(&data, "tool_name")
            ));
        }
        HookResult::proceed()
    };
    registry.register(events::TOOL_POST, audit_hook, named("audit_hook"));
    let call = json!({"tool_name": "Read", "tool_result": {"success": true}});
    let seen = emission(&registry, "tool:post", call.clone());
    assert_eq!(seen.action, Action::Continue);
    assert_eq!(Value::Object(Map::clone(&seen.data)), call);
    emission(&registry, "tool:post", json!({"tool_name": "Write"}));
    assert_eq!(
        log.lines(),
        ["Tool Read executed: success", "Tool Write executed: failed"]
    );
}

#[test]
fn e_05_one_error_handler_can_handle_two_events() {
    let (registry, log) = (HookRegistry::new(), Log::new());
    let writing = log.clone();
    let error_handler = move |event: Arc<str>, _: Arc<Map>| {
        writing.add(event);
        HookResult::proceed()
    };
    registry.register(HookRegistry::ERROR_TOOL, error_handler.clone(), plain());
    registry.register(HookRegistry::ERROR_PROVIDER, error_handler, plain());
    emission(&registry, "error:provider", json!({}));
    emission(&registry, "error:tool", json!({}));
    emission(&registry, "error:orchestration", json!({}));
    assert_eq!(log.lines(), ["error:provider", "error:tool"]);
}

#[tokio::test(start_paused = true)]
async fn e_50_decision_votes_are_collected() {
    let registry = HookRegistry::new();
    let votes = [
        ("weather", 100),
        ("web", 50),
        ("weather", 10),
        ("late", 5_000),
    ];
    for (tool, millis) in votes {
        let votes = move |_: Arc<str>, data: Arc<Map>| async move {
            tokio::time::sleep(Duration::from_millis(millis)).await;
            let knows = data["available_tools"]
                .as_array()
                .unwrap()
                .contains(&tool.into());
            match knows || tool == "late" {
                true => HookResult::modify(map(json!({"recommended_tool": tool}))),
                false => HookResult::proceed(),
            }
        };
        registry.register(events::DECISION_TOOL_RESOLUTION, votes, plain());
    }
    let observes = |_: Arc<str>, _: Arc<Map>| HookResult::proceed();
    registry.register(events::DECISION_TOOL_RESOLUTION, observes, plain());
    let question =
        json!({"user_query": "What's the weather?", "available_tools": ["weather", "web"]});
    let answers = registry
        .emit_and_collect("decision:tool_resolution", question, Duration::from_secs(2))
        .await;
    assert_eq!(answers.len(), 3);
    let mut counts = HashMap::new();
    for answer in &answers {
        *counts.entry(text(answer, "recommended_tool")).or_insert(0) += 1;
    }
    let selected = counts.into_iter().max_by_key(|(_, count)| *count).unwrap();
    assert_eq!(selected, ("weather", 2));
}

#[test]
fn e_65_session_fields_are_merged_into_event_data() {
    let registry = HookRegistry::new();
    let fields =
        json!({"session_id": "sess_123", "user_id": "user_456", "environment": "production"});
    registry.set_default_fields(map(fields));
    let emission = emission(&registry, "tool:pre", json!({"tool_name": "calculator"}));
    let expected = json!({
        "session_id": "sess_123",
        "user_id": "user_456",
        "environment": "production",
        "tool_name": "calculator",
    });
    assert_eq!(Value::Object(Map::clone(&emission.data)), expected);
}

#[test]
fn e_150_suppress_output_applies_per_registration_not_per_name() {
    let registry = HookRegistry::new();
    let prints = |suppress: bool| {
        move |event: Event<'_>| {
            event.print(if suppress { "hidden" } else { "shown" });
            HookResult::proceed().suppress_output(suppress)
        }
    };
    registry.register("e", prints(true), at(1).name("same"));
    registry.register("e", prints(false), at(2).name("same"));
    registry.register("e", prints(true), at(3).name("same"));
    let emission = emission(&registry, "e", json!({}));
    let output: Vec<_> = emission.output().iter().map(|item| &*item.text).collect();
    assert_eq!(output, ["shown"]);
}

#[test]
fn e_115_an_injection_records_hook_event_and_time() {
    let registry = HookRegistry::new();
    registry.register("tool:post", LinterHook, plain());
    let call = json!({"tool_name": "Write", "tool_input": {"file_path": "bad.py"}});
    let emission = emission(&registry, "tool:post", call);
    let written = serde_json::to_value(&emission.injections[0]).unwrap();
    assert_eq!(written["provenance"]["hook"], "LinterHook");
    assert_eq!(written["provenance"]["event"], "tool:post");
    assert!(
        written["provenance"]["at"].as_str().unwrap().ends_with('Z'),
        "{written}"
    );
}
