//! What the hooks of a slot take and answer, and how they are called through `dyn`.

use std::future::Future;

use crate::answer::{self, Answer};
use crate::bounds::HookObject;
use crate::future::Never;
use crate::typed::keep::Handover;

/// The shape of a slot. `#[hooks]` implements it for `dyn SlotTrait`, which serves as
/// the slot's type-level name.
pub trait Signature {
    /// The arguments as a tuple, references borrowed for `'a`.
    type Args<'a>;
    /// `Option<Out>` where hooks are given the previous output, else `()` (`T-24`).
    type Last: Handover<Self::Out>;
    /// What a hook, and the slot's default, answer.
    type Out;
    /// The method that declares the slot.
    const NAME: &'static str;
    /// Whether all arguments are references, which cost nothing to give [`again`](Self::again).
    const REFERENCES: bool = false;

    /// The same arguments for one more hook (`T-61`); a singleton, which has one hook,
    /// leaves it out.
    #[must_use]
    fn again<'a>(_: &Self::Args<'a>) -> Self::Args<'a> {
        unreachable!("a singleton gives its arguments to one hook")
    }
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
    ) -> Answer<'b, Self::Out>;
}

/// What a typed slot stores: a hook that can be called through `dyn`.
pub trait Object<S: Signature + ?Sized>: HookObject {
    /// Starts the hook.
    fn start<'b, 'a: 'b>(&'b self, args: S::Args<'a>, last: S::Last) -> Answer<'b, S::Out>;
}

impl<H: HookObject, S: Starts<H> + ?Sized> Object<S> for H {
    #[inline]
    fn start<'b, 'a: 'b>(&'b self, args: S::Args<'a>, last: S::Last) -> Answer<'b, S::Out> {
        S::start(self, args, last)
    }
}

/// A hook that implements its slot's trait.
#[derive(Debug)]
pub struct Leaf<H>(pub H);

/// How a slot's default is called.
pub trait Default<Args> {
    /// What it answers.
    type Out;
    /// The future of its answer, where it may have to be waited for.
    type Wait: Future<Output = Self::Out>;
    /// Whether the answer is there at once.
    const READY: bool;

    /// The answer, of a default that is ready.
    fn now(&self, args: Args) -> Self::Out;
    /// The future of the answer, of one that is not.
    fn later(&self, args: Args) -> Self::Wait;
}

/// A default whose body contains nothing that could wait.
#[derive(Debug)]
pub struct ReadyDefault<D>(pub D);

/// A default that may wait.
#[derive(Debug)]
pub struct WaitingDefault<D>(pub D);

impl<Args, D, F> Default<Args> for ReadyDefault<D>
where
    D: Fn(Args) -> F,
    F: Future,
{
    type Out = F::Output;
    type Wait = Never<F::Output>;
    const READY: bool = true;

    #[inline]
    fn now(&self, args: Args) -> F::Output {
        answer::now((self.0)(args))
    }

    fn later(&self, _: Args) -> Never<F::Output> {
        unreachable!("a default that is ready is not waited for")
    }
}

impl<Args, D, F> Default<Args> for WaitingDefault<D>
where
    D: Fn(Args) -> F,
    F: Future,
{
    type Out = F::Output;
    type Wait = F;
    const READY: bool = false;

    fn now(&self, _: Args) -> F::Output {
        unreachable!("a default that may wait is waited for")
    }

    #[inline]
    fn later(&self, args: Args) -> F {
        (self.0)(args)
    }
}
