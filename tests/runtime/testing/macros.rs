//! `hook_behavior_tests!`: with hooks of every form, and with one that violates the contract.

use std::process::Command;
use std::sync::Arc;

use hooks_runtime::{
    CommandHook, Event, EventHook, HookError, HookResult, Map, hook_behavior_tests, impl_hook,
};

async fn shared(_event: Arc<str>, data: Arc<Map>) -> HookResult {
    tokio::task::yield_now().await;
    HookResult::inject_context(format!("{} fields", data.len()))
}

#[impl_hook(EventHook)]
async fn borrowed(event: Event<'_>) -> Result<HookResult, HookError> {
    Ok(match event.str("path") {
        Some(path) => HookResult::set("path", path.to_lowercase()),
        None => HookResult::proceed(),
    })
}

struct Typed(&'static str);

impl EventHook for Typed {
    async fn call(&self, event: Event<'_>) -> Result<HookResult, HookError> {
        tokio::task::yield_now().await;
        Ok(HookResult::deny(format!("{}: {}", self.0, event.name())))
    }
}

/// Has the name of a generated item.
fn unregisters(_: Event<'_>) -> HookResult {
    HookResult::proceed()
}

mod inner {
    use hooks_runtime::hook_behavior_tests;

    // Resolved at the macro call, not in the module of its tests.
    hook_behavior_tests!(named_by_path, || super::unregisters);
}

hook_behavior_tests!(|| shared);
hook_behavior_tests!(borrowed_function, || Borrowed);
hook_behavior_tests!(closure, || |_: Event<'_>| HookResult::ask_user("sure?")
    .approval_timeout(0.0));
hook_behavior_tests!(typed, || Typed("no"),);
#[cfg(unix)]
hook_behavior_tests!(program, || CommandHook::new("/bin/sh")
    .args(["-c", "cat >/dev/null; echo '{}'"]));

/// The variable under which the hook violates the contract.
const MISBEHAVES: &str = "HOOKS_TEST_MISBEHAVES";

fn unstable(event: Event<'_>) -> HookResult {
    if std::env::var_os(MISBEHAVES).is_none() {
        return HookResult::proceed();
    }
    assert!(
        event.get("tool_name").is_none_or(|name| !name.is_null()),
        "no tool"
    );
    let result = HookResult::ask_user("sure?");
    match event.name() {
        "session:end" => result.approval_timeout(-1.0),
        _ => result,
    }
}

hook_behavior_tests!(unstable_hook, || unstable);

#[test]
fn e_160_exactly_the_violated_cases_fail_with_a_reason() {
    let program = std::env::current_exe().unwrap();
    let tests = Command::new(program)
        .args(["testing::macros::unstable_hook::", "--test-threads=2"])
        .env(MISBEHAVES, "1")
        .output()
        .unwrap();
    assert_eq!(tests.status.code(), Some(101));
    let output = String::from_utf8_lossy(&tests.stdout);
    let start = "test testing::macros::unstable_hook::";
    let outcomes = output
        .lines()
        .filter_map(|line| line.strip_prefix(start)?.split_once(" ... "));
    let mut failed: Vec<_> = Vec::new();
    let mut count = 0;
    for (name, outcome) in outcomes {
        count += 1;
        match outcome {
            "ok" => {}
            "FAILED" => failed.push(name),
            other => panic!("neither ok nor failed: {other}"),
        }
    }
    failed.sort_unstable();
    assert_eq!(
        count,
        hooks_runtime::testing::contract::CASES.len(),
        "{output}"
    );
    assert_eq!(
        failed,
        ["handles_every_standard_event", "survives_null_data"],
        "{output}"
    );
    assert!(
        output.contains("a failure: the hook panicked: no tool"),
        "{output}"
    );
    assert!(
        output.contains("field `approval_timeout` is -1"),
        "{output}"
    );
    assert!(output.contains("sent `session:end` with {"), "{output}");
}
