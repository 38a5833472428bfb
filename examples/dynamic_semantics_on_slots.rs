//! How does a typed slot decide by the rules of a registry, and how do plugins take part in it?
//!
//! The companions of `hooks_runtime::slots` carry the rules of PRE, of POST and of events. A
//! registry is a hook of a slot, so that plugins register while the program runs.

use hooks_runtime::slots::{
    EventOutput, EventPipeline, FirstDecision, LogFailures, SlotEvent, StopAtDenial,
    StrictestResult,
};
use hooks_runtime::{
    Action, EmitError, Event, HookError, HookRegistry, HookResponse, HookResult, RegisterOptions,
    ResponseAction, hooks, impl_hook,
};
use serde_json::json;

struct ToolRequest {
    tool: &'static str,
}

#[hooks]
trait AgentHooks {
    /// The first response other than `CONTINUE` decides; without one, the default does.
    #[hook(fallback, chain = FirstDecision)]
    async fn pre_tool_use(request: &ToolRequest) -> HookResponse {
        let _ = request;
        HookResponse::proceed()
    }

    /// Every hook runs; errors are logged.
    #[hook(always, aggregate = LogFailures, output = ())]
    async fn post_tool_use(request: &ToolRequest) -> Result<(), HookError> {
        println!("ran {}", request.tool);
        Ok(())
    }

    /// A denial stops; otherwise the strongest action of all hooks wins.
    #[hook(always, chain = StopAtDenial, aggregate = StrictestResult)]
    async fn tool_pre(request: &ToolRequest) -> HookResult {
        let _ = request;
        HookResult::proceed()
    }

    /// As `emit` of a registry: each hook receives the data with the changes of the hooks before.
    #[hook(fallback, custom = EventPipeline)]
    async fn rewrite(event: SlotEvent) -> EventOutput {
        let _ = event;
        HookResult::proceed().into()
    }
}

#[impl_hook(PreToolUse)]
async fn no_shell(request: &ToolRequest) -> HookResponse {
    match request.tool {
        "shell" => HookResponse::new(ResponseAction::Deny).reason("no shell on Fridays"),
        _ => HookResponse::proceed(),
    }
}

#[impl_hook(PostToolUse)]
async fn full_disk(_request: &ToolRequest) -> Result<(), HookError> {
    Err(HookError::new("the log is full"))
}

#[impl_hook(ToolPre)]
async fn hints(_request: &ToolRequest) -> HookResult {
    HookResult::inject_context("prefer read-only tools").user_message("a hint was added")
}

#[impl_hook(ToolPre)]
async fn asks(request: &ToolRequest) -> HookResult {
    HookResult::ask_user(format!("Run `{}`?", request.tool))
}

#[impl_hook(Rewrite)]
async fn absolute(event: SlotEvent) -> EventOutput {
    let path = event.str("path").unwrap_or_default();
    HookResult::set("path", format!("/srv/{path}")).into()
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), EmitError> {
    let plugins = HookRegistry::new();
    let hooks = AgentHooksSet::new()
        .with_pre_tool_use(NoShell)
        .with_post_tool_use(FullDisk)
        .with_tool_pre(Hints)
        .with_tool_pre(Asks)
        .with_rewrite(Absolute)
        .with_rewrite(plugins.clone());

    let shell = ToolRequest { tool: "shell" };
    let response = hooks.pre_tool_use(&shell).await;
    println!("pre: {} ({:?})", response.action, response.reason);
    assert_eq!(response.action, ResponseAction::Deny);
    hooks.post_tool_use(&ToolRequest { tool: "fetch" }).await;

    let result = hooks.tool_pre(&shell).await;
    println!("event: {} {:?}", result.action, result.approval_prompt);
    assert_eq!(result.action, Action::AskUser);

    // A plugin registers after the set was built, and sees the data that `Absolute` changed.
    plugins.register(
        "tool:pre",
        |event: Event<'_>| match event.str("path") {
            Some("/srv/secret") => HookResult::deny("a secret"),
            _ => HookResult::proceed(),
        },
        RegisterOptions::new(),
    );
    for (path, is_denied) in [("readme", false), ("secret", true)] {
        let event = SlotEvent::new("tool:pre", json!({"path": path}))?;
        let emission = hooks.rewrite(event).await.emission()?;
        println!("rewrite: {} {}", emission.action, emission.data["path"]);
        assert_eq!(emission.is_denied(), is_denied);
    }
    Ok(())
}
