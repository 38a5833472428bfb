//! What the hooks of a slot take and answer, and how they are called through `dyn`.

use std::future::Future;

use crate::answer::{self, Answer};
use crate::bounds::{HookObject, MaybeSend};
use crate::future::Never;
use crate::typed::keep::Handover;

/// The shape of a slot. `#[hooks]` implements it for `dyn SlotTrait`, which serves as
/// the slot's type-level name.
pub trait Signature {
    /// The arguments as a tuple, references borrowed for `'a`.
    type Args<'a>: MaybeSend;
    /// `Option<Out>` where hooks are given the previous output, else `()` (`T-24`).
    type Last: Handover<Self::Out>;
    /// What a hook, and the slot's default, answer.
    type Out: MaybeSend;
    /// Whether the default may wait.
    type Readiness: Readiness;
    /// The method that declares the slot.
    const NAME: &'static str;
    /// Whether all arguments are references, which cost nothing to give [`again`](Self::again).
    const REFERENCES: bool = false;

    /// The slot's default.
    fn default<'a>(args: Self::Args<'a>) -> impl Future<Output = Self::Out> + MaybeSend;

    /// The same arguments for one more hook (`T-61`); a singleton, which has one hook,
    /// and a custom pipeline, which moves its call, leave it out.
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

/// What was started, or what was given where the hook does not take it as it is.
pub type Started<'b, 'a, S> =
    Result<Answer<'b, <S as Signature>::Out>, (<S as Signature>::Args<'a>, <S as Signature>::Last)>;

/// A hook that implements its slot's trait.
#[derive(Debug)]
pub struct Leaf<H>(pub H);

/// Whether the body of a default may wait, as a type.
pub trait Readiness {
    /// What has to be waited for, where the default may be `F`.
    type Wait<F: Future + MaybeSend>: Future<Output = F::Output> + MaybeSend;
    /// Whether the answer is there at once.
    const READY: bool;

    /// The answer, of a default that is ready.
    fn now<F: Future>(default: F) -> F::Output;
    /// What has to be waited for, of one that is not.
    fn later<F: Future + MaybeSend>(default: F) -> Self::Wait<F>;
}

/// What a dispatch waits for, where the default of the slot `S` is `F`.
pub(crate) type Wait<S, F> = <<S as Signature>::Readiness as Readiness>::Wait<F>;

/// The body contains nothing that could wait.
#[derive(Debug)]
pub enum Ready {}

/// The body may wait.
#[derive(Debug)]
pub enum Waits {}

impl Readiness for Ready {
    type Wait<F: Future + MaybeSend> = Never<F::Output>;
    const READY: bool = true;

    #[inline(always)]
    fn now<F: Future>(default: F) -> F::Output {
        answer::now(default)
    }

    fn later<F: Future + MaybeSend>(_: F) -> Never<F::Output> {
        unreachable!("a default that is ready is not waited for")
    }
}

impl Readiness for Waits {
    type Wait<F: Future + MaybeSend> = F;
    const READY: bool = false;

    fn now<F: Future>(_: F) -> F::Output {
        unreachable!("a default that may wait is waited for")
    }

    #[inline(always)]
    fn later<F: Future + MaybeSend>(default: F) -> F {
        default
    }
}
