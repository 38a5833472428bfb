//! How do several plugins vote on one decision?
//!
//! `emit_and_collect` calls all hooks concurrently, each with a timeout of one second. A slow or
//! failed hook has no vote and does not delay the others.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use hooks_runtime::{Event, HookRegistry, HookResult, Map, RegisterOptions};
use serde_json::{Value, json};

fn vote(tool: &'static str) -> impl Fn(Event<'_>) -> HookResult {
    move |_| HookResult::set("recommended_tool", tool)
}

async fn too_slow(_event: Arc<str>, _data: Arc<Map>) -> HookResult {
    std::future::pending().await
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let hooks = HookRegistry::new();
    let event = HookRegistry::DECISION_TOOL_RESOLUTION;
    hooks.register(event, vote("weather"), RegisterOptions::new());
    hooks.register(event, too_slow, RegisterOptions::new());
    hooks.register(event, vote("web"), RegisterOptions::new());
    hooks.register(event, vote("weather"), RegisterOptions::new());

    let question =
        json!({"user_query": "What's the weather?", "available_tools": ["weather", "web"]});
    let responses = hooks
        .emit_and_collect(event, question, Duration::from_millis(50))
        .await;

    let mut votes = BTreeMap::new();
    for tool in responses
        .iter()
        .filter_map(|data| data["recommended_tool"].as_str())
    {
        *votes.entry(tool).or_insert(0) += 1;
    }
    let (tool, count) = votes
        .iter()
        .max_by_key(|(_, count)| **count)
        .expect("there are votes");
    println!("{tool} with {count} of {} votes", responses.len());
    assert_eq!(responses.len(), 3);
    assert_eq!(
        responses[1]["recommended_tool"],
        Value::from("web"),
        "in order of registration"
    );
}
