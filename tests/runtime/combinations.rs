//! Around hooks, phases, relative order, filters, switches, schemas and copies for one call, in
//! combination, and when a run is dropped, panics, times out or runs the registry again.

mod events;
mod phases;
mod tools;

use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::FutureExt;
use hooks_runtime::around::Next;
use hooks_runtime::events::{EventCall, EventField, EventNameProblem, EventPhase, EventSchema};
use hooks_runtime::phases::{PostCall, PostFn, PreCall, PreFn, PreObserverFn, PreResult};
use hooks_runtime::toolset::{
    ExecuteTool, ToolCall, ToolCallContext, ToolCallOutput, ToolDecision, ToolError, ToolFailure,
    ToolRunner, ToolSet,
};
use hooks_runtime::transform::{
    TransformError, TransformFn, TransformInput, TransformRegistry, Transformed,
};
use hooks_runtime::{
    Action, Around, Emission, EmitError, EmitOptions, Entry, Event, FailurePolicy, HookError,
    HookRegistry, HookResponse, HookResult, HookStatus, Phase, PhaseRegistry, RegisterOptions,
    ResponseAction,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::kit::{
    Dropped, Log, at, capture_logs, emit, has_line, named, plain, refusal, yield_once,
};

type Outcome = Result<Emission, EmitError>;

fn proceed(_: Event<'_>) -> HookResult {
    HookResult::proceed()
}

fn deny(_: Event<'_>) -> HookResult {
    HookResult::deny("closed")
}

fn adds(log: &Log, line: &'static str) -> impl Fn(Event<'_>) -> HookResult + Send + Sync + 'static {
    let log = log.clone();
    move |_: Event<'_>| {
        log.add(line);
        HookResult::proceed()
    }
}

/// Logs the outcome that an observer receives.
fn observes(log: &Log) -> impl Fn(Event<'_>) -> HookResult + Send + Sync + 'static {
    let log = log.clone();
    move |event: Event<'_>| {
        match event.outcome().expect("an observer receives the outcome") {
            Ok(emission) => log.add(format!("observed {}", emission.action)),
            Err(error) => log.add(format!("observed {error}")),
        }
        HookResult::proceed()
    }
}

fn keyed(key: &'static str) -> RegisterOptions {
    named(key).key(key)
}

fn names(hooks: &HookRegistry, event: &str) -> Vec<String> {
    hooks.list_handlers(Some(event)).remove(event).unwrap()
}

/// Logs before and after the rest of an emission, with a local value.
struct Bracket(Log, &'static str, Dropped);

impl Around<EventCall> for Bracket {
    async fn call<'a>(&'a self, (call,): (EventCall,), next: Next<'a, EventCall>) -> Outcome {
        let _local = self.2.guard();
        self.0.add(format!("before {}", self.1));
        let outcome = next.call((call,)).await;
        self.0.add(format!("after {}", self.1));
        outcome
    }
}

fn bracket(log: &Log, name: &'static str) -> Bracket {
    Bracket(log.clone(), name, Dropped::default())
}
