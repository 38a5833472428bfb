//! What the hooks of a slot take and answer, and how they are called through `dyn`.

use std::future::Future;

use crate::bounds::{HookObject, MaybeSend};
use crate::future::Never;
use crate::hook_future::HookFuture;
use crate::typed::accumulator::Handover;

/// The shape of a slot. `#[hooks]` implements it for `dyn SlotTrait`, which serves as
/// the slot's type-level name.
pub trait Signature {
    /// The arguments as a tuple, references borrowed for `'a`.
    type Args<'a>: MaybeSend;
    /// `Option<Out>` where hooks are given the previous output, else `()` (`T-24`).
    type Last: Handover<Self::Out>;
    /// What a hook, and the slot's default, answer.
    type Out: MaybeSend;
    /// Whether the default answers [`now`](Self::now); else it does so [`later`](Self::later).
    const READY: bool;
    /// The method that declares the slot.
    const NAME: &'static str;
    /// Whether all arguments are references, which cost nothing to give [`again`](Self::again).
    const REFERENCES: bool = false;

    /// The answer of a default that contains nothing that could wait.
    fn now<'a>(_: Self::Args<'a>) -> Self::Out {
        unreachable!("a default that may wait is waited for")
    }

    /// What is waited for, where the default may wait.
    fn later<'a>(_: Self::Args<'a>) -> impl Future<Output = Self::Out> + MaybeSend {
        never()
    }

    /// The same arguments for one more hook (`T-61`); a singleton, which has one hook,
    /// and a custom pipeline, which moves its call, leave it out.
    #[must_use]
    fn again<'a>(_: &Self::Args<'a>) -> Self::Args<'a> {
        unreachable!("a slot whose arguments serve once gives them once")
    }
}

fn never<T>() -> Never<T> {
    unreachable!("a default that is ready is not waited for")
}

/// A slot that can start what is stored as `H`. `#[hooks]` implements it for `dyn SlotTrait`,
/// so that the compiler finds and compares the implementations slot by slot: of one
/// trait for `Leaf<H>` it would compare those of all slots with one another.
pub trait Starts<H>: Signature {
    /// See [`Object::start`].
    fn start<'b, 'a: 'b>(
        hook: &'b H,
        args: Self::Args<'a>,
        last: Self::Last,
    ) -> HookFuture<'b, Self::Out>;
}

/// What a typed slot stores: a hook that can be called through `dyn`.
pub trait Object<S: Signature + ?Sized>: HookObject {
    /// Starts the hook.
    fn start<'b, 'a: 'b>(&'b self, args: S::Args<'a>, last: S::Last) -> HookFuture<'b, S::Out>;
}

impl<H: HookObject, S: Starts<H> + ?Sized> Object<S> for H {
    #[inline]
    fn start<'b, 'a: 'b>(&'b self, args: S::Args<'a>, last: S::Last) -> HookFuture<'b, S::Out> {
        S::start(self, args, last)
    }
}

/// What was started, or what was given where the hook does not take it as it is.
pub type Started<'b, 'a, S> = Result<
    HookFuture<'b, <S as Signature>::Out>,
    (<S as Signature>::Args<'a>, <S as Signature>::Last),
>;

/// A hook that implements its slot's trait.
#[derive(Debug)]
pub struct Leaf<H>(pub H);
