//! `GET /api/hooks/registered`: which hooks judge requests, and how they did.

use axum::Json;
use axum::extract::State;
use serde::Serialize;

use super::AppState;
use crate::service::{Dispatch, Runs};

/// The gate's hooks.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct Registered {
    /// The type of the set.
    set: &'static str,
    /// Its slots, in the order of their declaration.
    slots: Vec<Slot>,
    /// How the classifiers did since the process began.
    runs: Runs,
    /// How the last requests went, the newest first; at most 100.
    dispatches: Vec<Dispatch>,
}

/// A place for hooks.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct Slot {
    /// Its name.
    slot: &'static str,
    /// `always`, `fallback` or `singleton`.
    kind: &'static str,
    /// What makes one answer of several, such as `chain = FirstSuccess`.
    policy: Vec<String>,
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
}

/// Which hooks judge requests, in execution order, and how the last requests went.
#[utoipa::path(
    get,
    path = "/api/hooks/registered",
    responses((status = 200, description = "The hooks", body = Registered))
)]
pub(crate) async fn registered(State(state): State<AppState>) -> Json<Registered> {
    let service = state.service();
    let described = service.gate().hooks().describe();
    let slots = described.slots.into_iter().map(|slot| Slot {
        slot: slot.slot,
        kind: slot.kind,
        policy: (slot.companions.into_iter())
            .map(|companion| format!("{} = {}", companion.role, companion.name))
            .collect(),
        entries: (slot.entries.into_iter())
            .map(|entry| Entry {
                name: entry.name,
                key: entry.key,
                priority: entry.priority,
            })
            .collect(),
    });
    Json(Registered {
        set: described.set,
        slots: slots.collect(),
        runs: service.runs(),
        dispatches: service.dispatches(),
    })
}
