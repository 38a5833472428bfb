//! What the hooks of a slot take and answer, and how they are called through `dyn`.

use std::future::Future;
use std::ops::Deref;
use std::task::Poll;

use crate::bounds::HookObject;
use crate::future::Never;
use crate::room::{self, Room};
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

    /// The same arguments for one more hook (`T-61`); a singleton, which has one hook,
    /// leaves it out.
    #[must_use]
    fn again<'a>(_: &Self::Args<'a>) -> Self::Args<'a> {
        unreachable!("a singleton gives its arguments to one hook")
    }
}

/// Slots that ask for the arguments again.
pub trait Replay: Signature {
    /// See [`Signature::again`].
    fn replay<'a>(args: &Self::Args<'a>) -> Self::Args<'a>;
}

impl<S: Signature + ?Sized> Replay for S {
    #[inline]
    fn replay<'a>(args: &S::Args<'a>) -> S::Args<'a> {
        S::again(args)
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
        room: &mut Room<'b, Self::Out>,
    ) -> Poll<()>;
}

/// What a typed slot stores: a hook that can be called through `dyn`.
pub trait Object<S: Signature + ?Sized>: HookObject {
    /// Starts the hook. The previous output is in the room, for a slot that passes
    /// `last`; the hook leaves its answer there, or the future of it.
    fn start<'b, 'a: 'b>(&'b self, args: S::Args<'a>, room: &mut Room<'b, S::Out>) -> Poll<()>;
}

impl<H: HookObject, S: Starts<H> + ?Sized> Object<S> for H {
    #[inline]
    fn start<'b, 'a: 'b>(&'b self, args: S::Args<'a>, room: &mut Room<'b, S::Out>) -> Poll<()> {
        S::start(self, args, room)
    }
}

/// A hook that implements its slot's trait.
#[derive(Debug)]
pub struct Leaf<H>(pub H);

/// One method of a value that provides several hooks. `P` points at the value;
/// `READY` says whether the method's body contains nothing that could wait.
#[derive(Debug)]
pub struct Member<P, const READY: bool>(pub P);

impl<P: Deref, const READY: bool> Member<P, READY> {
    /// The value that provides the hook.
    pub fn owner(&self) -> &P::Target {
        &self.0
    }
}

/// How a slot's default is called.
pub trait Default<Args> {
    /// What it answers.
    type Out;
    /// The future of its answer.
    type Wait: Future<Output = Self::Out>;
    /// The answer, or its future.
    fn call(&self, args: Args) -> Result<Self::Out, Self::Wait>;
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

    #[inline]
    fn call(&self, args: Args) -> Result<F::Output, Never<F::Output>> {
        Ok(room::now((self.0)(args)))
    }
}

impl<Args, D, F> Default<Args> for WaitingDefault<D>
where
    D: Fn(Args) -> F,
    F: Future,
{
    type Out = F::Output;
    type Wait = F;

    #[inline]
    fn call(&self, args: Args) -> Result<F::Output, F> {
        Err((self.0)(args))
    }
}
