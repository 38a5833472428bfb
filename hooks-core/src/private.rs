//! Items that generated code and the runtime use, under one path; may change in any release.

pub use crate::around::AroundCall;
pub use crate::bounds::{BoxFuture, HookArgument, HookObject, MaybeSend};
pub use crate::cold_option::ColdOption;
pub use crate::companion::{
    Aggregate, AggregateInto, Aggregated, ByAggregate, ByAggregateInto, ByFinalize, ByFinalizeInto,
    Chain, Chained, Companion, Finalize, FinalizeInto, Finalized, NoCompanion,
};
pub use crate::describe::SetDescription;
pub use crate::entry::Entry;
pub use crate::escape::{escape, is_blank};
pub use crate::failure::drop_catching_panic;
pub use crate::future::{ColdFuture, Lazy};
pub use crate::hook_future::HookFuture;
pub use crate::reentrancy::HookReentrancyError;
pub use crate::stateful::Stateful;
pub use crate::typed::around::{AroundSlot, DispatchInner};
pub use crate::typed::custom::{Custom, Pipeline, Relay};
pub use crate::typed::direct;
pub use crate::typed::group::{HookGroup, HookGroupPtr, NoSlot, SameSet};
pub use crate::typed::into_hook::IntoHook;
pub use crate::typed::kind::{Always, Concurrent, Fallback, Singleton};
pub use crate::typed::registrations::Registrations;
pub use crate::typed::slot::{AlwaysSlot, ChainedSlot, FallbackSlot, SingletonSlot, TypedSlot};
pub use crate::typed::slot_def::{
    CallHook, CallMethod, CallStateful, Cloned, Copied, DirectStart, DynHook, OmittedOutput,
    OnReentry, OwnedArgs, SlotDef, default, pin, text,
};

pub use crate::{
    __hooks_keep_method as keep_method, __hooks_refuse_set as refuse_set,
    __hooks_write_hook as write_hook,
};
pub use last_macros::*;

pub use std::clone::Clone;
pub use std::default::Default;
pub use std::fmt::{Debug, Formatter, Result as FmtResult};
pub use std::future::Future;
pub use std::marker::{Copy, PhantomData, Sized};
pub use std::ops::{Deref, Fn};
pub use std::option::Option::{self, None, Some};
pub use std::primitive::{bool, str};
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

/// Selects the second part, the hook, of an expansion of `#[impl_hook(…)]` whose path may name a
/// set's trait, or whose function may lack `last`. See [`refuse_set`] and [`last_macros`].
#[doc(hidden)]
#[macro_export]
macro_rules! __hooks_write_hook {
    ({ $($error:tt)* } { $($hook:tt)* } $($last:tt)*) => { $($hook)* };
}

/// Selects the first part, the error. `#[hooks]` gives this macro the name of a set's trait, so
/// that `#[impl_hook(…)]` with this name resolves to it and not to [`write_hook`].
#[doc(hidden)]
#[macro_export]
macro_rules! __hooks_refuse_set {
    ({ $($error:tt)* } { $($hook:tt)* } $($last:tt)*) => { $($error)* };
}

/// Keeps a method of an `#[impl_hooks(…)]` block whose set has no macro, because it is in another
/// crate or no slot passes `last`.
#[doc(hidden)]
#[macro_export]
macro_rules! __hooks_keep_method {
    ($name:literal $count:literal { $($error:tt)* } { $($method:tt)* }) => { $($method)* };
    (foreign { $($check:tt)* }) => { $($check)* };
}

/// One macro for each number of arguments of a slot that passes `last`. `#[hooks]` gives it the
/// name of the slot's trait, so that `#[impl_hook(…)]` with this name resolves to it and not to
/// [`write_hook`]. It selects the third part, the error, for a function that takes the arguments
/// alone.
mod last_macros {
    macro_rules! last_macros {
        ($($count:tt $name:ident $short:ident)*) => { last_macros! { ($) $($count $name $short)* } };
        (($dollar:tt) $($count:tt $name:ident $short:ident)*) => {
            $(
                #[doc(hidden)]
                #[macro_export]
                macro_rules! $name {
                    (
                        { $dollar($dollar error:tt)* } { $dollar($dollar hook:tt)* }
                        $count { $dollar($dollar missing:tt)* }
                    ) => { $dollar($dollar missing)* };
                    ({ $dollar($dollar error:tt)* } { $dollar($dollar hook:tt)* } $dollar($dollar last:tt)*) => {
                        $dollar($dollar hook)*
                    };
                }
                pub use $name as $short;
            )*
        };
    }

    last_macros! {
        0 __hooks_last_0 last_0
        1 __hooks_last_1 last_1
        2 __hooks_last_2 last_2
        3 __hooks_last_3 last_3
        4 __hooks_last_4 last_4
        5 __hooks_last_5 last_5
        6 __hooks_last_6 last_6
        7 __hooks_last_7 last_7
        8 __hooks_last_8 last_8
        9 __hooks_last_9 last_9
        10 __hooks_last_10 last_10
        11 __hooks_last_11 last_11
        12 __hooks_last_12 last_12
        13 __hooks_last_13 last_13
        14 __hooks_last_14 last_14
        15 __hooks_last_15 last_15
        16 __hooks_last_16 last_16
    }
}
