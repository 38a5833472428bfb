//! How a slot holds its companions: the declared type as it is, so that calling it
//! costs neither a box nor a virtual call; a replacement through `dyn`.

use std::any::type_name;
use std::fmt;
use std::future::Future;
use std::ops::ControlFlow;
use std::sync::Arc;

use super::Chain;
use crate::bounds::{BoxFuture, ChainOutput, HookObject, MaybeSend};
use crate::future::{ColdFuture, Either, Never};

/// The place of a companion that the slot does not have.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoCompanion;

/// A companion of a slot: `C` is the declared type, `D` the `dyn` of its replacements.
pub enum Companion<C, D: ?Sized> {
    /// As the slot's definition names it.
    Declared(Arc<C>),
    /// Put in its place, with the name of its type.
    Replaced(Arc<D>, &'static str),
}

/// A slot's chain.
pub type Chained<'h, C, T> = Companion<C, dyn ErasedChain<T> + 'h>;

impl<C, D: ?Sized> Companion<C, D> {
    /// The companion as the slot's definition names it.
    #[must_use]
    pub fn new(declared: C) -> Self {
        Companion::Declared(Arc::new(declared))
    }

    /// The full name of the companion's type, given that of the declared one.
    pub(crate) fn name(&self, declared: &'static str) -> &'static str {
        match self {
            Companion::Declared(_) => declared,
            Companion::Replaced(_, name) => name,
        }
    }
}

impl<C, D: ?Sized> Clone for Companion<C, D> {
    fn clone(&self) -> Self {
        match self {
            Companion::Declared(companion) => Companion::Declared(Arc::clone(companion)),
            Companion::Replaced(companion, name) => {
                Companion::Replaced(Arc::clone(companion), name)
            }
        }
    }
}

impl<C, D: ?Sized> fmt::Debug for Companion<C, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name(type_name::<C>()))
    }
}

/// Who may stop a dispatch after an output. But where the verdict is inlined, an output is handed
/// over and back, so that it need not lie in memory where nobody looks at it.
pub trait Gate<T>: HookObject + Copy {
    /// Whether there is anybody.
    const CHECKS: bool;
    /// Whether [`check_now`](Self::check_now) has the verdict, but for replacements.
    const AT_ONCE: bool;
    /// The verdict of the declared companion, where it needs no waiting.
    fn check_now(self, output: &T) -> Option<ControlFlow<()>>;
    /// The same of whatever has taken its place.
    fn check_replaced(self, output: T) -> (T, Option<ControlFlow<()>>);
    /// The verdict.
    fn check(self, output: T) -> impl Future<Output = (T, ControlFlow<()>)> + MaybeSend;
}

impl<T> Gate<T> for NoCompanion {
    const CHECKS: bool = false;
    const AT_ONCE: bool = true;

    #[inline(always)]
    fn check_now(self, _: &T) -> Option<ControlFlow<()>> {
        Some(ControlFlow::Continue(()))
    }

    fn check_replaced(self, output: T) -> (T, Option<ControlFlow<()>>) {
        (output, Some(ControlFlow::Continue(())))
    }

    fn check(self, _: T) -> impl Future<Output = (T, ControlFlow<()>)> + MaybeSend {
        nobody()
    }
}

fn nobody<T>() -> Never<T> {
    unreachable!("a slot without a chain asks nobody")
}

impl<T: ChainOutput, C: Chain<T>> Gate<T> for &Chained<'_, C, T> {
    const CHECKS: bool = true;
    const AT_ONCE: bool = C::__HOOKS_AT_ONCE;

    #[inline(always)]
    fn check_now(self, output: &T) -> Option<ControlFlow<()>> {
        match self {
            Companion::Declared(chain) => chain.__hooks_check_now(output),
            Companion::Replaced(..) => None,
        }
    }

    #[cold]
    #[inline(never)]
    fn check_replaced(self, output: T) -> (T, Option<ControlFlow<()>>) {
        let flow = match self {
            Companion::Declared(_) => None,
            Companion::Replaced(chain, _) => chain.check_now(&output),
        };
        (output, flow)
    }

    #[inline(always)]
    fn check(self, output: T) -> impl Future<Output = (T, ControlFlow<()>)> + MaybeSend {
        match self {
            Companion::Declared(chain) => Either::left(look(&**chain, output)),
            Companion::Replaced(chain, _) => Either::right(ColdFuture::new(chain.check(output))),
        }
    }
}

#[expect(
    clippy::manual_async_fn,
    reason = "an `async fn` moves its arguments into variables before it looks at them"
)]
#[inline(always)]
fn look<T: ChainOutput, C: Chain<T>>(
    chain: &C,
    output: T,
) -> impl Future<Output = (T, ControlFlow<()>)> + MaybeSend {
    async move {
        let flow = chain.call(&output).await;
        (output, flow)
    }
}

/// A chain through `dyn`.
pub trait ErasedChain<T>: HookObject {
    /// The verdict, where it needs no waiting.
    fn check_now(&self, output: &T) -> Option<ControlFlow<()>>;
    /// The verdict.
    fn check<'a>(&'a self, output: T) -> BoxFuture<'a, (T, ControlFlow<()>)>
    where
        T: 'a;
}

impl<T: ChainOutput, C: Chain<T>> ErasedChain<T> for C {
    fn check_now(&self, output: &T) -> Option<ControlFlow<()>> {
        self.__hooks_check_now(output)
    }

    fn check<'a>(&'a self, output: T) -> BoxFuture<'a, (T, ControlFlow<()>)>
    where
        T: 'a,
    {
        Box::pin(look(self, output))
    }
}

/// The place of a companion in a slot.
pub trait Role: Sized {
    /// The role and the full name of the type, if there is a companion.
    fn role(&self) -> Option<(&'static str, &'static str)>;

    /// Takes over what was put in the place of the declared companion in another set, and
    /// says so where it pushes out what was put there in this one (`T-40`).
    fn extend(&mut self, other: Self, slot: &'static str);
}

impl Role for NoCompanion {
    fn role(&self) -> Option<(&'static str, &'static str)> {
        None
    }

    fn extend(&mut self, _: Self, _: &'static str) {}
}

impl<C, D: ?Sized> Companion<C, D> {
    pub(crate) fn take_over(&mut self, other: Self, slot: &'static str, role: &'static str) {
        if let Companion::Declared(_) = other {
            return;
        }
        if let Companion::Replaced(..) = self {
            tracing::warn!(
                target: "hooks_core",
                slot,
                role,
                "companion overwritten; the last one set wins"
            );
        }
        *self = other;
    }
}

impl<C, T> Role for Chained<'_, C, T> {
    fn role(&self) -> Option<(&'static str, &'static str)> {
        Some(("chain", self.name(type_name::<C>())))
    }

    fn extend(&mut self, other: Self, slot: &'static str) {
        self.take_over(other, slot, "chain");
    }
}
