//! Hooks in sandboxed JavaScript, for code from untrusted authors.
//!
//! A hook is a module that exports one function. A [`ScriptEngine`] compiles it once and runs it on
//! a worker thread, in QuickJS compiled to WebAssembly. A hook has no files, network, imports or
//! `eval`, sees only the clock that the host sets, and starts every run from a state that no
//! earlier run could change.
//!
//! | Type | Purpose |
//! |---|---|
//! | [`Manifest`] | describes a hook and the context data that it requests |
//! | [`PublicFields`], [`ContextData`] | context data that the host exposes to hooks |
//! | [`Limits`] | limits of a run |
//! | [`ScriptHook`] | a registered hook: [`run_pre`](ScriptHook::run_pre), [`run_post`](ScriptHook::run_post) |
//! | [`ScriptStack`] | ordered hooks with a shared budget; each receives the message of the previous one |
//! | [`ScriptEventHook`], [`ScriptPhaseHook`] | a hook in a registry of `hooks-runtime` |
//! | [`OutboundRequest`] | a request by a hook, sent only with a [`Permit`] |
//! | [`Sources`], [`Versions`] | load the code of hooks and store every version |
//! | [`ConsentStore`], [`Permit`] | consents of users to the capabilities of hooks |
//! | [`RunHistory`], [`RunRecord`] | records of runs |
//! | [`Run`], [`RunResult`], [`Failure`] | result of a run |
//! | [`Rejection`] | a rejected action: [`decide`](ScriptHook::decide) |
//!
//! The folder `docs` of the repository is a book. `mdbook build docs` writes it beside these pages:
//! [Hooks in JavaScript](../../book/script-hooks.html), [Stacks](../../book/script-stacks.html),
//! [Operations](../../book/script-operations.html). The layers of the modules are on the page
//! [Architecture](../../book/architecture.html#layers-of-modules).

// `sandbox::machine` allows it and gives the reasons.
#![deny(unsafe_code)]

mod address;
mod attach;
mod consent;
mod decision;
mod engine;
mod engine_state;
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
mod position;
mod run;
mod sandbox;
mod scope;
#[cfg(feature = "fetch")]
mod sender;
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
pub use position::Position;
pub use run::{ConsoleLevel, ConsoleLine, Failure, Run, RunResult, Stage, Stop};
pub use scope::Scope;
#[cfg(feature = "fetch")]
pub use sender::{OutboxSender, OutboxSenderBuilder, SendError};
#[cfg(feature = "fetch")]
pub use sources::{FetchError, Fetcher, FetcherBuilder};
pub use sources::{Freshness, Loaded, Source, SourceError, SourceVersion, Sources, Versions};
pub use stack::{
    HookState, PostOutcome, PreOutcome, RunContext, ScriptStack, ScriptStackBuilder, StackRun,
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

/// Compiles the Rust blocks of the page about script hooks as tests of this crate.
#[cfg(doctest)]
#[doc = include_str!("../../docs/script-hooks.md")]
mod page {}

/// Compiles the Rust blocks of the page about stacks.
#[cfg(doctest)]
#[doc = include_str!("../../docs/script-stacks.md")]
mod stacks_page {}

/// Compiles the Rust blocks of the page about operation.
#[cfg(all(doctest, feature = "fetch", feature = "sqlite"))]
#[doc = include_str!("../../docs/script-operations.md")]
mod operations_page {}
