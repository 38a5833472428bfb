//! How does a test remove one check from a running application?
//!
//! PRE hooks have ids. A hook with the id of another one replaces it in its place, so a mock needs
//! only the id of the hook that it replaces.

use hooks_runtime::phases::{PostFn, PreFn};
use hooks_runtime::{
    HookError, HookResponse, Phase, PhaseRegistry, PreHook, RegisterOptions, ResponseAction,
};

struct Request {
    tool: &'static str,
    cost: u32,
}

struct Budget {
    limit: u32,
}

impl PreHook<Request> for Budget {
    fn id(&self) -> &str {
        "budget"
    }

    fn priority(&self) -> Option<i32> {
        Some(40)
    }

    async fn execute(&self, request: &Request) -> Result<HookResponse, HookError> {
        if request.cost <= self.limit {
            return Ok(HookResponse::default());
        }
        Ok(HookResponse::new(ResponseAction::Halt)
            .reason("Budget Exceeded")
            .recovery_hint("split the work"))
    }
}

fn application() -> PhaseRegistry<Request, bool> {
    let registry = PhaseRegistry::new();
    registry.register_pre(Budget { limit: 10 }, RegisterOptions::new());
    registry.register_pre(
        PreFn::new("known-tool", |request: &Request| match request.tool {
            "read" | "write" => Ok(HookResponse::default()),
            tool => Err(format!("unknown tool `{tool}`")),
        }),
        RegisterOptions::new().priority(10),
    );
    registry.register_post(
        PostFn::new("audit", |done: &bool, _: Option<&str>| {
            println!("audit: done = {done}")
        }),
        RegisterOptions::new(),
    );
    registry
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), HookError> {
    let registry = application();
    let dear = Request {
        tool: "write",
        cost: 99,
    };
    let response = registry.execute_pre(&dear).await?;
    println!(
        "{}: {}",
        response.action,
        response.reason.unwrap_or_default()
    );
    assert_eq!(response.action, ResponseAction::Halt);

    // A mock with the id of the original, at its place and priority.
    registry.replace_pre(PreFn::new("budget", |_: &Request| HookResponse::default()));
    let order: Vec<_> = registry
        .registered_hooks(Phase::Pre)
        .into_iter()
        .map(|hook| hook.id)
        .collect();
    assert_eq!(order, ["known-tool", "budget"]);
    assert!(registry.execute_pre(&dear).await?.is_continue());

    // An error is not a response: the caller handles it.
    let unknown = Request {
        tool: "teleport",
        cost: 1,
    };
    let error = registry
        .execute_pre(&unknown)
        .await
        .expect_err("a hook fails");
    println!("{error}");
    registry.execute_post(&true, None).await;
    Ok(())
}
