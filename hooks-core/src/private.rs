//! Items that generated code and the runtime use, under one path; may change in any release.

pub use crate::around::AroundCall;
pub use crate::bounds::{BoxFuture, HookArgument, HookObject, MaybeSend};
pub use crate::cold_option::ColdOption;
pub use crate::companion::{
    Aggregate, AggregateInto, AggregateIntoRole, AggregateRole, By, Chain, ChainRole, Chained,
    Finalize, FinalizeInto, FinalizeIntoRole, FinalizeRole, NoCompanion, StopCondition,
    SyncAggregate, SyncAggregateInto, SyncChain, SyncFinalize, SyncFinalizeInto, SyncRole,
};
pub use crate::describe::SetDescription;
pub use crate::entry::Entry;
pub use crate::escape::{escape, is_blank};
pub use crate::failure::drop_catching_panic;
pub use crate::future::{ColdFuture, Lazy};
pub use crate::hook_future::HookFuture;
pub use crate::reentrancy::HookReentrancyError;
pub use crate::refusal::RegistrationError;
pub use crate::stateful::Stateful;
pub use crate::typed::around::AroundSlot;
pub use crate::typed::custom::{AsyncRelay, Custom, Forward, Pipeline, Relay, Steps, Waterfall};
pub use crate::typed::direct;
pub use crate::typed::group::{GroupPointer, HookGroup, HookGroupPtr, NoSlot, SameSet};
pub use crate::typed::into_hook::IntoHook;
pub use crate::typed::kind::{Concurrent, Lending, Sequential, Synchronous};
pub use crate::typed::registrations::Registrations;
pub use crate::typed::rule::{Always, Fallback, Singleton};
pub use crate::typed::slot::{ErasedSlot, TypedSlot};
pub use crate::typed::slot_def::{
    AsyncSlot, CallHook, CallMethod, CallStateful, Cloned, Companions, Copied, DynHook, EndOf,
    Lend, ModeOf, OmittedOutput, OnReentry, OutputsOf, OwnedArgs, Returned, SlotDef, Start,
    Started, default, owned, pin, text,
};

pub use std::clone::Clone;
pub use std::default::Default;
pub use std::fmt::{Debug, Formatter, Result as FmtResult};
pub use std::future::Future;
pub use std::marker::{Copy, PhantomData, Sized};
pub use std::ops::{Deref, Fn, FnMut};
pub use std::option::Option::{self, None, Some};
/// Removes the key of an entry.
#[must_use]
pub fn without_key<H>(entry: crate::Entry<H>) -> crate::Entry<H> {
    entry.without_key()
}

pub use std::primitive::{bool, str, usize};
pub use std::result::Result::{self, Err, Ok};
pub use std::string::String;
pub use std::sync::Arc;

/// Boxes the future of a default that may dispatch its own slot, so that its type does not contain
/// itself.
pub fn boxed<'a, T>(future: impl Future<Output = T> + MaybeSend + 'a) -> BoxFuture<'a, T> {
    Box::pin(future)
}

/// Returns the output of a registration.
///
/// # Panics
/// If the registration was refused, at the caller's line.
#[track_caller]
pub fn registered<T>(output: Result<T, crate::RegistrationError>) -> T {
    match output {
        Ok(output) => output,
        Err(error) => panic!("{error}"),
    }
}

/// Ends a re-entrant call whose hook does not override `on_reentrancy`.
///
/// # Panics
/// Always.
#[cold]
pub fn reentered(err: HookReentrancyError) -> ! {
    panic!("{err}")
}
