//! Extension points with which plugins register at run time, on the engine of
//! [`hooks-core`](hooks_core), which this crate re-exports completely.
//!
//! | Registry | Hook | Result of a dispatch |
//! |---|---|---|
//! | [`HookRegistry`] | a function or an [`EventHook`], registered for the name of an event | [`Emission`]: the strongest action, the final data, every injection, message and failure |
//! | [`PhaseRegistry`] | a [`PreHook`] or a [`PostHook`] with an id | the first response that is not `CONTINUE`; nothing for POST |
//!
//! Both are cheap to clone, shared between threads, and changed through `&self` during dispatches;
//! a dispatch uses the hooks that were registered when it began.
//!
//! | Type | Description |
//! |---|---|
//! | [`RegisterOptions`] | priority, name, phase, filter, timeout and failure policy of a registration |
//! | [`Registration`] | unregisters one hook |
//! | [`HookResult`] | output of an event hook: proceed, deny, modify the data, inject a text, ask the user |
//! | [`Event`] | borrowed input of an event hook |
//! | [`HookResponse`] | output of a PRE hook |
//! | [`HookError`] | error of a hook, from any error by `?` |
//! | `CommandHook` | a program as an event hook (feature `command`) |
//!
//! Modules that build on the registries:
//!
//! | Module | Subject |
//! |---|---|
//! | [`around_registry`] | hooks that enclose an event, PRE, POST or a call of a tool |
//! | [`coordinator`] | [`Coordinator`]: applies emissions, with a [`Conversation`] and [approvals](approval) |
//! | `engine` (feature `engine`) | `HookEngine`: sixteen PRE and POST hooks around a coding agent's tools |
//! | [`model`] | [`HookedModel`]: typed hooks around a language model, with any client |
//! | [`transform`] | hooks that change requests, and results of tools |
//! | [`toolset`] | typed hooks for each tool of an agent, from an enum |
//! | [`slots`] | the rules of the registries as companions of typed slots |
//! | [`testing`] | a recorder of events, mock tools, a host for tests, and the contract of event hooks |
//!
//! ```
//! use std::sync::Arc;
//!
//! use hooks_runtime::{Action, HookRegistry, HookResult, Map, RegisterOptions};
//! use serde_json::json;
//!
//! async fn no_keys(_event: Arc<str>, data: Arc<Map>) -> HookResult {
//!     match data.get("file_path").and_then(|path| path.as_str()) {
//!         Some(path) if path.ends_with(".key") => HookResult::deny("writing key files is forbidden"),
//!         _ => HookResult::proceed(),
//!     }
//! }
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let hooks = HookRegistry::new();
//! let registration = hooks.register(
//!     HookRegistry::TOOL_PRE,
//!     no_keys,
//!     RegisterOptions::new().priority(-10),
//! );
//!
//! let emission = hooks.emit("tool:pre", json!({"file_path": "id.key"})).await.unwrap();
//! assert_eq!(emission.action, Action::Deny);
//! assert_eq!(emission.decided_by.as_deref(), Some("no_keys"));
//!
//! registration.unregister();
//! let emission = hooks.emit("tool:pre", json!({"file_path": "id.key"})).await.unwrap();
//! assert_eq!(emission.action, Action::Continue);
//! # });
//! ```
//!
//! # Failure
//!
//! | Registry | Default on failure, panic or timeout | Options of a registration |
//! |---|---|---|
//! | events | is logged and left out; in the phase [`Decide`](events::EventPhase::Decide), the event is denied | [`FailClosed`](FailurePolicy::FailClosed): the event is denied; [`Propagate`](FailurePolicy::Propagate) |
//! | PRE | ends the dispatch with an `Err` | `FailClosed`: `DENY`; [`Isolate`](FailurePolicy::Isolate) |
//! | POST, observers of PRE | is logged and left out | |
//! | transforms | ends the run with an `Err` and no value | `FailClosed`: the value is denied; `Isolate` |
//!
//! Panics are caught if the program unwinds: under `panic = "abort"`, and on wasm, a panic in a
//! hook ends the process. Run untrusted code in a sandbox.
//!
//! # The book
//!
//! The folder `docs` of the repository is a book. `mdbook build docs` writes it beside these pages:
//! [Events](../../book/events.html), [PRE and POST hooks](../../book/phases.html), [Acting on
//! results](../../book/acting.html), [Failure](../../book/failure.html), [The hook
//! engine](../../book/hook-engine.html), [Model hooks](../../book/model-hooks.html), [Tool
//! sets](../../book/tool-sets.html), [Dynamic semantics on typed
//! slots](../../book/typed-semantics.html), [Testing](../../book/testing.html).

#![forbid(unsafe_code)]

// Expansions in this crate need the name that users have for it.
extern crate self as hooks_runtime;

pub mod approval;
pub mod around_registry;
pub mod conversation;
pub mod coordinator;
pub mod display;
#[cfg(feature = "engine")]
pub mod engine;
pub mod events;
pub mod model;
pub mod phases;
pub mod slots;
pub mod testing;
pub mod timestamp;
pub mod toolset;
pub mod transform;

mod digest;
mod error;
mod lock;
mod map;
mod registry;
mod timer;

// Everything; a glob would show what `hooks-core` hides, so the visible items follow by name.
// `tests/re_exports.rs` compares the lists.
#[doc(hidden)]
pub use hooks_core::*;

#[doc(inline)]
pub use hooks_core::{
    Aggregate, AggregateInto, Around, AroundCall, AroundRegistrations, BoxFuture, BoxHook, Chain,
    CompanionDescription, Dispatch, Entry, EntryDescription, EntryId, EntryMeta, Failure,
    FailurePolicy, Finalize, FinalizeInto, FirstSuccess, Forward, HookFuture, HookGroup,
    HookObject, HookReentrancyError, HookStatus, Innermost, IntoAround, IntoHook, MaybeSend,
    MaybeSync, NestedDescription, Never, Next, PendingHookError, Policy, Refused, Registration,
    RegistrationError, RegistrationGuard, Registrations, RegistrationsRef, Report, ReportEntry,
    Reported, RequestExtensions, SetDescription, SharedReport, ShortCircuit, Slot, SlotDef,
    SlotDescription, Stateful, StatusMonitor, Step, SyncAggregate, SyncAggregateInto, SyncChain,
    SyncFinalize, SyncFinalizeInto, Timer, When, around, companion, dispatch, form, hooks,
    impl_hook, impl_hooks, run_now,
};

#[doc(inline)]
pub use around_registry::AroundRegistry;
#[doc(inline)]
pub use conversation::{Conversation, InjectionRecord, InjectionStatus, Message, Role};
#[doc(inline)]
pub use coordinator::{AppliedEmission, ApplyError, ApplyStep, Coordinator, CoordinatorBuilder};
#[doc(inline)]
pub use display::UserDisplay;
#[cfg(feature = "engine")]
#[doc(inline)]
pub use engine::{HookEngine, ToolRequest, ToolResult};
pub use error::{DeadlineExceeded, HookError};
#[cfg(feature = "command")]
#[doc(inline)]
pub use events::CommandHook;
#[doc(inline)]
pub use events::{
    Action, ApprovalDefault, Changes, Collected, ContextRole, Emission, EmitError, EmitOptions,
    Event, EventData, EventDescriptor, EventHook, HandlerFailure, HookOutput, HookRegistry,
    HookResult, Injection, InvalidResult, MessageLevel, Provenance, StatefulEventHook, UserMessage,
    WeakHookRegistry,
};
pub use map::Map;
#[doc(inline)]
pub use model::{
    AdapterError, AdapterEvent, AdapterEvents, HookedModel, ModelAdapter, ModelError, ModelHooks,
    ModelHooksSet, ModelInputHookContext, ModelStreamEvent, StreamEventHookContext,
    UsageHookContext,
};
#[doc(inline)]
pub use phases::{
    HookDescriptor, HookResponse, Phase, PhaseRegistry, PostHook, PreHook, ResponseAction,
    WeakPhaseRegistry,
};
pub use registry::failure_counts::DisabledHook;
pub use registry::options::{RegisterOptions, RegistryOptions};
pub use timer::HostTimer;

// Bounds of `register` and `emit`; their pages are in `events`.
#[doc(hidden)]
pub use events::{HookReturn, IntoEventData, IntoHandler};
