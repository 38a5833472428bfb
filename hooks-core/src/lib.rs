//! Typed extension points: an application declares them as a trait, hooks are
//! registered in the generated set, and dispatches run them in a defined order.
//!
//! ```
//! use hooks_core::{hooks, impl_hooks};
//!
//! #[hooks]
//! trait AppHooks {
//!     /// Every hook receives the prompt; the last verdict is the result.
//!     #[hook(always)]
//!     async fn validate_prompt(prompt: &str) -> Result<(), String> {
//!         if prompt.is_empty() { Err("empty".into()) } else { Ok(()) }
//!     }
//! }
//!
//! struct NoKeys;
//!
//! #[impl_hooks(AppHooksSet)]
//! impl AppHooks for NoKeys {
//!     async fn validate_prompt(
//!         &self,
//!         prompt: &str,
//!         last: Option<Result<(), String>>,
//!     ) -> Result<(), String> {
//!         last.unwrap_or(Ok(()))?;
//!         if prompt.contains("sk-") { Err("looks like a key".into()) } else { Ok(()) }
//!     }
//! }
//!
//! # fn block_on<T>(f: impl Future<Output = T>) -> T {
//! #     let mut f = std::pin::pin!(f);
//! #     match f.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop())) {
//! #         std::task::Poll::Ready(v) => v, _ => unreachable!() }
//! # }
//! # block_on(async {
//! let hooks = AppHooksSet::new().with_hooks(NoKeys);
//! assert!(hooks.validate_prompt("hello").await.is_ok());
//! assert!(hooks.validate_prompt("sk-123").await.is_err());
//! # });
//! ```
//!
//! # Kinds of slot
//!
//! | `#[hook(…)]` | Without hooks | With hooks | `last` for hooks |
//! |---|---|---|---|
//! | `always` | the default | the default, then the hooks in order; the last output is the result | yes |
//! | `fallback` | the default | the hooks in order; the last output is the result | yes |
//! | `singleton` | the default | the hook registered last | no |
//! | `waterfall` | the default | the first argument moves from hook to hook, and to the default last | no |
//! | … `chain = C` | unchanged | may stop after any output | no |
//! | … `aggregate = A` | aggregates the outputs | all outputs become one value | no |
//! | … `finalize = F` | transforms the result | the result is transformed | unchanged |
//! | … `aggregate = A, concurrent` | as `aggregate` | as `aggregate`; the hooks run concurrently | no |
//! | … `around` | around hooks enclose the default | around hooks enclose the default and the hooks | unchanged |
//! | … `sync` | unchanged, without futures | unchanged, without futures | unchanged |
//!
//! # Main items
//!
//! | Item | Description |
//! |---|---|
//! | [`hooks`](macro@hooks) | generates a hook set from a trait; its page lists all options and generated names |
//! | [`impl_hook`](macro@impl_hook) | generates a hook of one slot from a function |
//! | [`impl_hooks`](macro@impl_hooks) | registers the methods of an `impl` block as hooks of several slots |
//! | [`Entry`] | a hook with a key, a name, a priority, a relative order, a condition, a timeout and a failure policy |
//! | [`Registrations`] | the registrations of one slot, for example to remove a hook by its key |
//! | [`Stateful`] | a hook with mutable state |
//! | [`run_now`] | runs a dispatch from synchronous code |
//! | [`Around`], [`Next`] | hooks that enclose a call: middleware, in the module [`around`] |
//! | [`Chain`], [`Aggregate`], [`Finalize`] | companions of a slot, in the module [`companion`] |
//! | [`SetDescription`] | the slots of a set and their hooks in execution order: `describe()` |
//! | [`RequestExtensions`] | typed values attached to one request |
//! | [`Slot`], [`Policy`] | the engine without the macros: a list of hooks, and the rules of a dispatch; see [`dispatch`] |
//!
//! # The book
//!
//! The folder `docs` of the repository is a book. `mdbook build docs` writes it beside these pages:
//! [Quick start](../../book/quick-start.html), [Kinds of slot](../../book/hook-kinds.html),
//! [Companions](../../book/companions.html), [Entries](../../book/entries.html), [Custom
//! policies](../../book/policies.html), [Errors](../../book/errors.html).

#![forbid(unsafe_code)]

// Expansions in this crate name the framework `::hooks_core`. Its integration tests and documentation
// tests are crates of their own.
extern crate self as hooks_core;

pub mod around;
pub mod companion;
pub mod dispatch;
pub mod form;

mod bounds;
mod cold_option;
mod describe;
mod entry;
mod escape;
mod extensions;
mod failure;
mod future;
mod hook_future;
mod reentrancy;
mod refusal;
mod registration;
mod report;
mod run_now;
mod shared_report;
mod slot;
mod stack;
mod stateful;
mod timer;
mod trace;
#[doc(hidden)]
pub mod typed;

#[doc(inline)]
pub use around::{Around, AroundCall, Innermost, IntoAround, Next};
#[doc(hidden)]
pub use bounds::second_names;
pub use bounds::{BoxFuture, HookObject, MaybeSend, MaybeSync};
#[doc(inline)]
pub use companion::{
    Aggregate, AggregateInto, Chain, Finalize, FinalizeInto, FirstSuccess, ShortCircuit,
    SyncAggregate, SyncAggregateInto, SyncChain, SyncFinalize, SyncFinalizeInto,
};
pub use describe::{
    CompanionDescription, EntryDescription, NestedDescription, SetDescription, SlotDescription,
};
#[doc(inline)]
pub use dispatch::{Dispatch, Policy, Step};
pub use entry::{Entry, EntryId, EntryMeta, When};
pub use extensions::RequestExtensions;
pub use failure::{Failure, FailurePolicy};
pub use future::Never;
pub use hook_future::HookFuture;
pub use reentrancy::HookReentrancyError;
pub use refusal::{Refused, RegistrationError};
pub use registration::{Registration, RegistrationGuard};
pub use report::{HookStatus, Report, ReportEntry, Reported, StatusMonitor};
pub use run_now::{PendingHookError, run_now};
pub use shared_report::SharedReport;
pub use slot::Slot;
pub use stateful::Stateful;
pub use timer::Timer;
pub use typed::around::AroundRegistrations;
pub use typed::custom::Forward;
pub use typed::group::HookGroup;
pub use typed::into_hook::{BoxHook, IntoHook};
pub use typed::registrations::{Registrations, RegistrationsRef};
pub use typed::slot_def::SlotDef;

// Bounds of generated code: compiler errors name them by these paths, and no user writes them.
#[doc(hidden)]
pub use bounds::{HookArgument, SlotOutput};
#[doc(hidden)]
pub use typed::custom::Pipeline;
#[doc(hidden)]
pub use typed::group::SameSet;
#[doc(hidden)]
pub use typed::into_hook::Hook;
#[doc(hidden)]
pub use typed::slot_def::AsyncSlot;
#[doc(hidden)]
pub use typed::slot_def::OmittedOutput;

pub use hooks_macros::{hooks, impl_hook, impl_hooks};

/// Items that generated code uses. Not part of the public interface.
#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;
