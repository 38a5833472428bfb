//! Hooks in sandboxed JavaScript.
//!
//! A hook is a module that exports one function. A [`ScriptEngine`] compiles it once, and runs
//! it on a thread of its own, in QuickJS compiled to WebAssembly: without files, network,
//! imports, `eval`, or a clock that the host does not set, and from a state that no run before
//! could touch.
//!
//! | | |
//! |---|---|
//! | [`Manifest`] | what a hook says about itself, and what it asks to see |
//! | [`PublicFields`], [`ContextData`] | what the host lets hooks see |
//! | [`Limits`] | what a run may use |
//! | [`ScriptHook`] | a registered hook: [`run_pre`](ScriptHook::run_pre), [`run_post`](ScriptHook::run_post) |
//! | [`ScriptStack`] | hooks in an order, with a budget: the message goes from one to the next |
//! | [`ScriptEventHook`], [`ScriptPhaseHook`] | a hook in a registry of `hooks-runtime` |
//! | [`OutboundRequest`] | what a hook asks to be sent, where a [`Permit`] lets it |
//! | [`Sources`], [`Versions`] | where hooks come from, and every version of them |
//! | [`ConsentStore`], [`Permit`] | who agreed to what hooks may do beyond computing |
//! | [`RunHistory`], [`RunRecord`] | what hooks did |
//! | [`Run`], [`Verdict`], [`Failure`] | what a run comes to |
//! | [`Rejection`] | what a run before an action means for the action: [`decide`](ScriptHook::decide) |

// `sandbox::machine` allows it, and says why.
#![deny(unsafe_code)]

mod address;
mod attach;
mod consent;
mod decision;
mod engine;
mod error;
mod fields;
#[cfg(feature = "fetch")]
mod guard;
mod history;
mod hook;
mod limits;
mod manifest;
#[cfg(feature = "bench")]
#[doc(hidden)]
pub mod measure;
mod outbox;
mod run;
mod sandbox;
mod scope;
mod source;
mod sources;
mod stack;
mod store;

pub use address::is_public_address;
pub use attach::{ScriptEventHook, ScriptPhaseHook};
pub use consent::{
    Consent, ConsentChange, ConsentError, ConsentRequest, ConsentStore, Decision, Missing, Permit,
    PermitVoid,
};
pub use decision::Rejection;
pub use engine::{ScriptEngine, ScriptEngineBuilder};
pub use error::{BuildError, RegisterError};
pub use fields::{ContextData, DataError, Field, PublicFields};
pub use history::{
    AnonymizerKey, Histogram, KeyTooShort, OutcomeKind, RunGroup, RunHistory, RunOutcome, RunPage,
    RunQuery, RunRecord, mask,
};
pub use hook::ScriptHook;
pub use limits::Limits;
pub use manifest::{ContextKey, MANIFEST_SCHEMA, Manifest, ManifestError};
pub use outbox::{HTTP, OutboundRequest};
#[cfg(feature = "fetch")]
pub use outbox::{OutboxSender, OutboxSenderBuilder, SendError};
pub use run::{ConsoleLevel, ConsoleLine, Failure, Position, Run, Stage, Stop, Verdict};
pub use scope::Scope;
#[cfg(feature = "fetch")]
pub use sources::{FetchError, Fetcher, FetcherBuilder};
pub use sources::{Freshness, Loaded, Source, SourceError, SourceVersion, Sources, Versions};
pub use stack::{
    HookState, Occasion, PostOutcome, PreOutcome, ScriptStack, ScriptStackBuilder, StackRun,
    UnknownHook,
};
#[cfg(feature = "sqlite")]
pub use store::Database;
pub use store::StoreError;

/// `hook-stop.js`: the definition of `HookStopException`, for authors of hooks. The engine runs
/// this text.
pub const HOOK_STOP: &str = include_str!("../js/hook-stop.js");

/// `hook.d.ts`: the types of a hook's input and return value, for authors who use TypeScript.
pub const HOOK_TYPES: &str = include_str!("../js/hook.d.ts");

/// The page of the book, whose Rust blocks are tests of this crate.
#[cfg(doctest)]
#[doc = include_str!("../../docs/script-hooks.md")]
mod page {}

/// The page about stacks, likewise.
#[cfg(doctest)]
#[doc = include_str!("../../docs/script-stacks.md")]
mod stacks_page {}

/// The page about running them, likewise.
#[cfg(all(doctest, feature = "fetch", feature = "sqlite"))]
#[doc = include_str!("../../docs/script-operations.md")]
mod operations_page {}
