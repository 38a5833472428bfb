//! Hooks that depend on the events only, not on the host.

use hooks_runtime::model::{ModelHooks, ModelHooksSet, UsageEstimate, UsageHookContext};
use hooks_runtime::toolset::{ToolCallContext, ToolDecision};
use hooks_runtime::{
    Event, FailurePolicy, HookRegistry, HookResult, Map, MessageLevel, RegisterOptions, impl_hook,
    impl_hooks,
};
use serde_json::{Value, json};

use crate::tools::{Ran, RunHook, RunInput};

/// Registers all hooks.
pub(crate) fn register(hooks: &HookRegistry) {
    let named = |name| RegisterOptions::new().name(name);
    let guard = named("secrets").on_failure(FailurePolicy::FailClosed);
    hooks.register(HookRegistry::PROMPT_SUBMIT, secrets, guard);
    hooks.register(
        HookRegistry::DECISION_AGENT_RESOLUTION,
        vote("builder"),
        named("by_name"),
    );
    hooks.register(
        HookRegistry::DECISION_AGENT_RESOLUTION,
        vote("builder"),
        named("by_cost"),
    );
    hooks.register(
        HookRegistry::DECISION_AGENT_RESOLUTION,
        vote("writer"),
        named("by_habit"),
    );
    hooks.register(
        HookRegistry::DECISION_CONTEXT_RESOLUTION,
        keep_last(4),
        named("short_memory"),
    );
    hooks.register(
        HookRegistry::CONTEXT_PRE_COMPACT,
        keep_the_goal,
        named("goal"),
    );
    hooks.register(
        HookRegistry::DECISION_TOOL_RESOLUTION,
        allow_tools,
        named("catalogue"),
    );
    hooks.register(HookRegistry::TOOL_PRE, production, named("production"));
    hooks.register(HookRegistry::TOOL_POST, todo, named("todo"));
    hooks.register(HookRegistry::ERROR_TOOL, sorry, named("sorry"));
    hooks.register(HookRegistry::ERROR_PROVIDER, try_again, named("retry"));
}

fn secrets(event: Event<'_>) -> Result<HookResult, &'static str> {
    let prompt = event.str("prompt").ok_or("missing field `prompt`")?;
    Ok(match prompt.contains("secrets") {
        true => HookResult::deny("secrets are off limits"),
        false => HookResult::proceed(),
    })
}

/// Returns a vote in a decision, as the data of the result.
fn vote(agent: &'static str) -> impl Fn(Event<'_>) -> HookResult + Send + Sync {
    move |_| HookResult::set("agent", agent)
}

fn keep_last(messages: usize) -> impl Fn(Event<'_>) -> HookResult + Send + Sync {
    move |_| HookResult::set("keep", messages)
}

/// Repeats the goal in one line after a compaction.
fn keep_the_goal(event: Event<'_>) -> HookResult {
    match event.str("goal") {
        Some(goal) => HookResult::inject_context(format!("The goal was: {goal}")),
        None => HookResult::proceed(),
    }
}

fn allow_tools(_: Event<'_>) -> HookResult {
    HookResult::modify(Map::from_iter([(
        "tools".to_owned(),
        json!(["run", "deploy"]),
    )]))
}

/// Asks the user about deployments, once for each target.
fn production(event: Event<'_>) -> HookResult {
    let target = event
        .get("tool_input")
        .and_then(|input| input["target"].as_str());
    match (event.str("tool_name"), target) {
        (Some("deploy"), Some("eu")) => HookResult::ask_user("Deploy to eu?")
            .approval_options(["Allow once", "Allow always", "Deny"])
            .reason("eu has customers"),
        _ => HookResult::proceed(),
    }
}

/// Adds a reminder after the tool's result, for the next model call only.
fn todo(event: Event<'_>) -> HookResult {
    HookResult::inject_context(format!(
        "({} is done; remember to inform the user)",
        event.str("tool_name").unwrap_or("it")
    ))
    .ephemeral(true)
    .append_to_last_tool_result(true)
}

fn sorry(event: Event<'_>) -> HookResult {
    let why = event.str("error_message").unwrap_or("unknown reason");
    HookResult::proceed()
        .user_message(format!("a tool failed: {why}"))
        .user_message_level(MessageLevel::Warning)
}

/// Requests one retry.
fn try_again(event: Event<'_>) -> HookResult {
    let is_first = event.get("attempt") == Some(&Value::from(1));
    match event.str("error_type") {
        Some("transport") if is_first => HookResult::set("retry", true),
        _ => HookResult::proceed(),
    }
}

/// Typed hook of one tool: it receives the typed input and passes it on, or responds itself.
#[impl_hook(RunHook)]
pub(crate) async fn quiet(
    mut input: RunInput,
    _context: ToolCallContext,
) -> ToolDecision<RunInput, Ran> {
    if input.command.starts_with("cargo ") {
        input.command += " --quiet";
    }
    ToolDecision::Run(input)
}

/// Estimates the usage of a model call.
pub(crate) struct Accountant;

#[impl_hooks(ModelHooksSet)]
impl ModelHooks for Accountant {
    async fn resolve_usage_estimate(&self, cx: &UsageHookContext<'_>) -> UsageEstimate {
        let input = cx.operation().input();
        UsageEstimate::tokens(100 * input.map_or(1, |input| input.messages.len() as u64))
    }
}
