//! `GET /api/hooks/registered`. Returns the registered hooks and statistics of their runs.

use axum::Json;
use axum::extract::State;
use serde::Serialize;

use super::state::AppState;
use crate::dispatches::{Dispatch, Runs, ScriptRuns};

/// Registered hooks of the gate.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct Registered {
    /// Slots in the order of their dispatch.
    slots: Vec<Slot>,
    /// Runs of JavaScript hooks, by hook, outcome and class.
    scripts: Vec<ScriptRuns>,
    /// Reports of the last requests, newest first; at most 100.
    dispatches: Vec<Dispatch>,
}

/// A slot with its hooks.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct Slot {
    /// Name of the slot.
    slot: &'static str,
    /// `always` or `fallback`.
    kind: &'static str,
    /// Policy that combines the outputs of the hooks.
    policy: &'static str,
    /// Runs of all hooks of the slot since the process started.
    runs: Runs,
    /// Hooks in execution order.
    entries: Vec<Entry>,
}

/// A registered hook.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct Entry {
    /// Name of the hook.
    name: String,
    /// Key of the hook, by which it can be replaced.
    key: Option<String>,
    /// Priority; lower values run first.
    priority: i32,
    /// Failure policy: `fail closed` or `isolate`.
    on_failure: String,
    /// Runs of the hook since the process started.
    runs: Runs,
}

/// Lists the registered hooks in execution order, and reports of the last requests.
#[utoipa::path(
    get,
    path = "/api/hooks/registered",
    responses((status = 200, description = "The hooks", body = Registered))
)]
pub(crate) async fn registered(State(state): State<AppState>) -> Json<Registered> {
    let service = state.service();
    let described = service.gate().hooks().describe().into_iter();
    let slots = described.map(|slot| {
        let mut runs = service.hook_runs(slot.slot).into_iter();
        let entries = slot.entries.into_iter().map(|entry| Entry {
            name: entry.name,
            key: entry.key,
            priority: entry.priority,
            on_failure: entry.on_failure.to_string(),
            runs: runs.next().unwrap_or_default(),
        });
        Slot {
            slot: slot.slot,
            kind: slot.kind,
            policy: slot.policy,
            entries: entries.collect(),
            runs: service.runs(slot.slot),
        }
    });
    Json(Registered {
        slots: slots.collect(),
        scripts: service.gate().hooks().script_runs().await,
        dispatches: service.dispatches(),
    })
}
