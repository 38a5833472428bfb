//! How the hooks of a slot get the arguments of a dispatch: each hook its own, or all hooks, one after
//! the other, the same ones.

use std::marker::PhantomData;

use crate::hook_future::HookFuture;
use crate::typed::mode::{AsyncMode, SyncMode};
use crate::typed::slot_def::{AsyncSlot, DynHook, Lend, PassArgs, Passing, Returned, SlotDef};

const TAKEN: &str = "the last call of a dispatch takes its arguments";

/// How a hook of a slot `S` gets the arguments that a dispatch stores.
pub(crate) trait Exchange<'a, S: SlotDef + ?Sized> {
    /// The value that a hook, or a default that may suspend, returns.
    type Returned;

    /// Returns the arguments for one call. The last call of a dispatch takes them.
    fn supply(args: &mut Option<S::Args<'a>>, is_last_call: bool) -> S::Args<'a>;

    /// Starts a hook.
    fn start<'b>(
        hook: &'b (dyn DynHook<S> + '_),
        args: S::Args<'a>,
        last: S::Last,
    ) -> HookFuture<'b, Self::Returned>
    where
        'a: 'b;

    /// Runs a default that cannot suspend.
    fn default_now(args: &mut Option<S::Args<'a>>, is_last_call: bool) -> S::Out;

    /// Returns the output in the returned value, and stores the arguments in it.
    fn output(args: &mut Option<S::Args<'a>>, returned: Self::Returned) -> S::Out;
}

/// Each call gets arguments of its own.
pub(crate) struct Given;

/// Each call gets the same arguments, and returns them; `M` is the mode of the slot.
pub(crate) struct Lent<M>(PhantomData<M>);

/// How a hook of a slot with this mode gets arguments that it returns.
pub(crate) trait StartLent<S: Lend + ?Sized> {
    /// Starts a hook.
    fn start_lent<'b, 'a: 'b>(
        hook: &'b (dyn DynHook<S> + '_),
        args: S::Args<'a>,
        last: S::Last,
    ) -> HookFuture<'b, Returned<'a, S>>
    where
        S: 'a;
}

impl<S: Lend + AsyncSlot + ?Sized> StartLent<S> for AsyncMode {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn start_lent<'b, 'a: 'b>(
        hook: &'b (dyn DynHook<S> + '_),
        args: S::Args<'a>,
        last: S::Last,
    ) -> HookFuture<'b, Returned<'a, S>>
    where
        S: 'a,
    {
        hook.start_lent(args, last)
    }
}

impl<S: Lend + ?Sized> StartLent<S> for SyncMode {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn start_lent<'b, 'a: 'b>(
        hook: &'b (dyn DynHook<S> + '_),
        mut args: S::Args<'a>,
        last: S::Last,
    ) -> HookFuture<'b, Returned<'a, S>>
    where
        S: 'a,
    {
        let output = hook.start(S::lend(&mut args), last).into_ready();
        HookFuture::Ready((output, args))
    }
}

impl<'a, S: SlotDef + ?Sized> Exchange<'a, S> for Given {
    type Returned = S::Out;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn supply(args: &mut Option<S::Args<'a>>, is_last_call: bool) -> S::Args<'a> {
        if is_last_call && !S::Passing::IS_COPY {
            args.take().expect(TAKEN)
        } else {
            let args = args.as_ref().expect(TAKEN);
            if S::Passing::IS_COPY {
                args.copied()
            } else {
                S::clone_args(args)
            }
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn start<'b>(
        hook: &'b (dyn DynHook<S> + '_),
        args: S::Args<'a>,
        last: S::Last,
    ) -> HookFuture<'b, S::Out>
    where
        'a: 'b,
    {
        hook.start(args, last)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn default_now(args: &mut Option<S::Args<'a>>, is_last_call: bool) -> S::Out {
        S::now(<Self as Exchange<'a, S>>::supply(args, is_last_call))
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn output(_: &mut Option<S::Args<'a>>, returned: S::Out) -> S::Out {
        returned
    }
}

impl<'a, S: Lend + ?Sized + 'a, M: StartLent<S>> Exchange<'a, S> for Lent<M> {
    type Returned = Returned<'a, S>;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn supply(args: &mut Option<S::Args<'a>>, _: bool) -> S::Args<'a> {
        args.take().expect("the arguments were returned")
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn start<'b>(
        hook: &'b (dyn DynHook<S> + '_),
        args: S::Args<'a>,
        last: S::Last,
    ) -> HookFuture<'b, Returned<'a, S>>
    where
        'a: 'b,
    {
        M::start_lent(hook, args, last)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn default_now(args: &mut Option<S::Args<'a>>, _: bool) -> S::Out {
        let args = args.as_mut().expect("the arguments were returned");
        S::now(S::lend(args))
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn output(args: &mut Option<S::Args<'a>>, (output, lent): Returned<'a, S>) -> S::Out {
        *args = Some(lent);
        output
    }
}
