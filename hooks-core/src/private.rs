//! Items that generated code and the runtime use, under one path; may change in any release.

pub use crate::bounds::{BoxFuture, HookArgument, HookObject, MaybeSend};
pub use crate::cold_option::ColdOption;
pub use crate::companion::{
    Aggregate, AggregateInto, Aggregated, ByAggregate, ByAggregateInto, ByFinalize, ByFinalizeInto,
    Chain, Chained, Companion, Finalize, FinalizeInto, Finalized, NoCompanion,
};
pub use crate::describe::SetDescription;
pub use crate::entry::Entry;
pub use crate::failure::drop_catching_panic;
pub use crate::future::Lazy;
pub use crate::hook_future::HookFuture;
pub use crate::shown::{escape, is_blank};
pub use crate::stateful::{HookReentrancyError, Stateful};
pub use crate::typed::custom::{Custom, Pipeline, Relay};
pub use crate::typed::direct;
pub use crate::typed::group::{HookGroup, HookGroupPtr, NoSlot, SameSet, is_ready};
pub use crate::typed::into_hook::IntoHook;
pub use crate::typed::kind::{Always, Fallback, Singleton};
pub use crate::typed::registrations::Registrations;
pub use crate::typed::slot::{ChainedSlot, TypedSlot};
pub use crate::typed::slot_def::{
    CallHook, CallMethod, CallStateful, DynHook, Lent, OwnedArgs, SlotDef, SlotInfo, Started,
    default, or_call,
};

pub use crate::{__hooks_refuse_set as refuse_set, __hooks_write_hook as write_hook};

pub use std::clone::Clone;
pub use std::default::Default;
pub use std::fmt::{Debug, Formatter, Result as FmtResult};
pub use std::future::Future;
pub use std::marker::{Copy, PhantomData, Sized};
pub use std::ops::{Deref, Fn};
pub use std::option::Option;
pub use std::primitive::{bool, str};
pub use std::result::Result::{self, Err, Ok};
pub use std::string::String;
pub use std::sync::Arc;

/// Boxes the future of a default that may dispatch its own slot, so that its type does not contain
/// itself.
pub fn boxed<'a, T>(future: impl Future<Output = T> + MaybeSend + 'a) -> BoxFuture<'a, T> {
    Box::pin(future)
}

/// Returns the text of a `&str`, for hooks that take a `String`.
#[inline]
pub fn text(text: &str) -> String {
    text.to_owned()
}

/// Ends a re-entrant call whose hook does not override `on_reentrancy`.
///
/// # Panics
/// Always.
#[cold]
pub fn reentered(err: HookReentrancyError) -> ! {
    panic!("{err}")
}

/// Selects the second part, the hook, of an expansion of `#[impl_hook(…)]` in which the path may
/// name a set's trait. See [`refuse_set`].
#[doc(hidden)]
#[macro_export]
macro_rules! __hooks_write_hook {
    ({ $($error:tt)* } { $($hook:tt)* }) => { $($hook)* };
}

/// Selects the first part, the error. `#[hooks]` gives this macro the name of a set's trait, so
/// that `#[impl_hook(…)]` with that name finds it in place of [`write_hook`].
#[doc(hidden)]
#[macro_export]
macro_rules! __hooks_refuse_set {
    ({ $($error:tt)* } { $($hook:tt)* }) => { $($error)* };
}
