//! `GET /api/hooks/registered`. In: a request. Out: which hooks judge requests, and how they did.

use axum::Json;
use axum::extract::State;
use serde::Serialize;

use super::state::AppState;
use crate::dispatches::{Dispatch, Runs, ScriptRuns};

/// The gate's hooks.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct Registered {
    /// The slots, in the order in which they are asked.
    slots: Vec<Slot>,
    /// The runs of hooks in JavaScript, by hook, outcome and class.
    scripts: Vec<ScriptRuns>,
    /// How the last requests went, the newest first; at most 100.
    dispatches: Vec<Dispatch>,
}

/// A place for hooks.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct Slot {
    /// Its name.
    slot: &'static str,
    /// `always` or `fallback`.
    kind: &'static str,
    /// What makes one answer of several.
    policy: &'static str,
    /// How its hooks did together, since the process began.
    runs: Runs,
    /// The hooks, in execution order.
    entries: Vec<Entry>,
}

/// A hook in its place.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct Entry {
    /// Its name.
    name: String,
    /// Its key, by which it can be replaced.
    key: Option<String>,
    /// Lower runs first.
    priority: i32,
    /// What a fault of it does: `fail closed`, or `isolate`.
    on_failure: String,
    /// How it did since the process began.
    runs: Runs,
}

/// Which hooks judge requests, in execution order, and how the last requests went.
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
