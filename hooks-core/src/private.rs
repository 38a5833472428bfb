//! What generated code calls, under one path; free to change in any release.

pub use crate::bounds::{HookObject, MaybeSend};
pub use crate::companion::{
    Aggregate, AggregateInto, Aggregated, ByAggregate, ByAggregateInto, ByFinalize, ByFinalizeInto,
    Chain, Chained, Companion, Finalize, FinalizeInto, Finalized, NoCompanion,
};
pub use crate::entry::Entry;
pub use crate::room::Room;
pub use crate::stateful::{HookReentrancyError, Stateful};
pub use crate::typed::direct;
pub use crate::typed::group::{HookGroup, SetOf};
pub use crate::typed::keep::Handover;
pub use crate::typed::kind::{Always, Fallback, Singleton};
pub use crate::typed::signature::{
    Leaf, Member, Object, ReadyDefault, Replay, Signature, WaitingDefault,
};
pub use crate::typed::slot::TypedSlot;

pub use std::clone::Clone;
pub use std::default::Default;
pub use std::fmt::Debug;
pub use std::future::Future;
pub use std::marker::{Copy, PhantomData, Sized};
pub use std::ops::Deref;
pub use std::option::Option;
pub use std::result::Result::{Err, Ok};
pub use std::string::String;
pub use std::task::Poll;

/// Ends a re-entrant call whose hook does not override `on_reentrancy`.
///
/// # Panics
/// Always.
#[cold]
pub fn reentered(err: HookReentrancyError) -> ! {
    panic!("{err}")
}

/// A value that several hooks are given (`T-61`).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is given to several hooks and cannot be cloned; implement `Clone` for it, take `&{Self}`, or make the slot a singleton",
    label = "does not implement `Clone`"
)]
pub trait Replayable {
    #[doc(hidden)]
    fn __hooks_replay(&self) -> Self;
}

#[diagnostic::do_not_recommend]
impl<T: Clone> Replayable for T {
    #[inline]
    fn __hooks_replay(&self) -> Self {
        self.clone()
    }
}

/// The same argument again.
#[inline]
pub fn replay<T: Replayable>(argument: &T) -> T {
    argument.__hooks_replay()
}

/// The set itself, on the condition that it is the one which the hook trait generated.
#[inline]
pub fn own_set<Own, Given: SetOf<Own>>(given: &mut Given, _: PhantomData<Own>) -> &mut Own {
    given.__hooks_set()
}
