//! How do plugins decide before a tool runs, and how does the host apply the result?
//!
//! One hook protects files, one cleans written text, one asks about production, and one reports a
//! linter's findings to the agent. The host gets one result for each event.

use std::sync::Arc;

use hooks_runtime::{
    Action, Event, FailurePolicy, HookRegistry, HookResult, Map, MessageLevel, RegisterOptions,
};
use serde_json::{Value, json};

/// Returns a field of the tool's input.
fn input<'a>(event: &Event<'a>, field: &str) -> &'a str {
    let input = event.get("tool_input").and_then(|input| input.get(field));
    input.and_then(Value::as_str).unwrap_or_default()
}

fn protect_secrets(event: Event<'_>) -> HookResult {
    let path = input(&event, "file_path");
    if [".env", ".key", ".pem"]
        .iter()
        .any(|end| path.ends_with(end))
    {
        return HookResult::deny(format!("Access denied: {path} contains sensitive data"));
    }
    HookResult::proceed()
}

/// A hook with shared data. Its result replaces all data.
fn strip_content(_event: Arc<str>, data: Arc<Map>) -> HookResult {
    let mut changed = Map::clone(&data);
    let content = changed
        .get_mut("tool_input")
        .and_then(|input| input.get_mut("content"));
    match content {
        Some(Value::String(text)) => *text = text.trim().to_owned(),
        _ => return HookResult::proceed(),
    }
    HookResult::modify(changed)
}

fn ask_about_production(event: Event<'_>) -> HookResult {
    let path = input(&event, "file_path");
    if !path.contains("/production/") {
        return HookResult::proceed();
    }
    HookResult::ask_user(format!("Allow write to production file: {path}?")).approval_options([
        "Allow once",
        "Allow always",
        "Deny",
    ])
}

async fn lint(_event: Arc<str>, data: Arc<Map>) -> Result<HookResult, String> {
    let path = data["tool_input"]["file_path"].as_str();
    let path = path.ok_or("missing field `file_path`")?;
    // A linter would run here.
    tokio::task::yield_now().await;
    if !path.ends_with(".py") {
        return Ok(HookResult::proceed());
    }
    Ok(
        HookResult::inject_context(format!("Linter found issues in {path}:\nunused import"))
            .user_message("Found linting issues")
            .user_message_level(MessageLevel::Warning),
    )
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let hooks = HookRegistry::new();
    hooks.set_default_fields(Map::from_iter([("session_id".to_owned(), json!("abc123"))]));
    hooks.register(
        HookRegistry::TOOL_PRE,
        protect_secrets,
        // A failing guard must fail closed.
        RegisterOptions::new()
            .priority(-10)
            .on_failure(FailurePolicy::FailClosed),
    );
    hooks.register(
        HookRegistry::TOOL_PRE,
        strip_content,
        RegisterOptions::new(),
    );
    hooks.register(
        HookRegistry::TOOL_PRE,
        ask_about_production,
        RegisterOptions::new(),
    );
    hooks.register(HookRegistry::TOOL_POST, lint, RegisterOptions::new());

    for path in [
        "/srv/app/main.py",
        "/srv/production/main.py",
        "/srv/app/.env",
    ] {
        let call = json!({
            "tool_name": "Write",
            "tool_input": {"file_path": path, "content": "  import os\n"},
        });
        let emission = hooks
            .emit("tool:pre", call)
            .await
            .expect("the data are an object");
        let by = emission.decided_by.as_deref().unwrap_or("nobody");
        println!("{path}: {} by {by}", emission.action);
        match emission.action {
            Action::Deny => {
                println!("  {}", emission.reason().unwrap_or("no reason given"));
                continue;
            }
            Action::AskUser => {
                let question = emission
                    .decision()
                    .and_then(|asked| asked.approval_prompt.as_deref());
                println!("  {}", question.unwrap_or("Allow this operation?"));
            }
            _ => {}
        }
        // Whichever action wins, the data is that of the last hook that changed it.
        assert_eq!(emission.data["tool_input"]["content"], "import os");
        assert_eq!(emission.data["session_id"], "abc123");

        let emission = hooks
            .emit("tool:post", emission.data)
            .await
            .expect("an object");
        for message in &emission.messages {
            println!("  {}: {}", message.hook, message.text);
        }
        for injection in &emission.injections {
            println!("  for the agent: {}", injection.content.replace('\n', " "));
        }
    }
}
