//! Aggregates and finalizers as the last step of a dispatch.

use std::future::Future;

use super::stored::{Companion, Role};
use super::{Aggregate, AggregateInto, Finalize, FinalizeInto};
use crate::bounds::{BoxFuture, HookObject, MaybeSend, MaybeSync};
use crate::future::{ColdFuture, Either};

/// A slot's aggregate, from the outputs to one value.
pub type Aggregated<'h, C, I, O> = Companion<C, dyn Erased<Vec<I>, O> + 'h>;
/// A slot's finalizer.
pub type Finalized<'h, C, I, O> = Companion<C, dyn Erased<I, O> + 'h>;

/// The last step of a dispatch.
pub trait End<I, O>: HookObject {
    /// The answer of the dispatch.
    fn end(&self, input: I) -> impl Future<Output = O> + MaybeSend;
}

/// The last step of a dispatch through `dyn`.
pub trait Erased<I, O>: HookObject {
    /// The answer of the dispatch.
    fn end_boxed<'a>(&'a self, input: I) -> BoxFuture<'a, O>
    where
        I: 'a,
        O: 'a;
}

impl<I, O, C: End<I, O>> Erased<I, O> for C {
    fn end_boxed<'a>(&'a self, input: I) -> BoxFuture<'a, O>
    where
        I: 'a,
        O: 'a,
    {
        Box::pin(self.end(input))
    }
}

impl<C, I, O> Companion<C, dyn Erased<I, O> + '_>
where
    C: End<I, O>,
{
    fn end(&self, input: I) -> impl Future<Output = O> + MaybeSend {
        match self {
            Companion::Declared(companion) => Either::left(companion.end(input)),
            Companion::Replaced(companion, _) => {
                Either::right(ColdFuture::new(companion.end_boxed(input)))
            }
        }
    }
}

/// What an [`End`] is called in a description.
pub trait Named {
    /// `aggregate` or `finalize`.
    const ROLE: &'static str;
    /// The full name of the companion's type.
    fn name() -> &'static str;
}

impl<C: Named, I, O> Role for Companion<C, dyn Erased<I, O> + '_> {
    fn role(&self) -> Option<(&'static str, &'static str)> {
        Some((C::ROLE, self.name(C::name())))
    }

    fn extend(&mut self, other: Self, slot: &'static str) {
        self.take_over(other, slot, C::ROLE);
    }
}

/// Makes a type of one of the four companion traits an [`End`].
macro_rules! ends {
    ($($(#[$doc:meta])* $name:ident: $companion:ident<$($arg:ident),+> from $input:ty, $role:literal;)+) => {
        $(
            $(#[$doc])*
            #[derive(Debug, Clone, Copy, Default)]
            pub struct $name<C>(pub C);

            impl<$($arg,)+ C> End<$input, ends!(@last $($arg)+)> for $name<C>
            where
                C: $companion<$($arg),+>,
            {
                fn end(
                    &self,
                    input: $input,
                ) -> impl Future<Output = ends!(@last $($arg)+)> + MaybeSend {
                    self.0.call(input)
                }
            }

            impl<C> Named for $name<C> {
                const ROLE: &'static str = $role;

                fn name() -> &'static str {
                    std::any::type_name::<C>()
                }
            }
        )+
    };
    (@last $only:ident) => { $only };
    (@last $first:ident $last:ident) => { $last };
}

ends! {
    /// [`Aggregate`] as an [`End`].
    ByAggregate: Aggregate<T> from Vec<T>, "aggregate";
    /// [`AggregateInto`] as an [`End`].
    ByAggregateInto: AggregateInto<I, O> from Vec<I>, "aggregate";
    /// [`Finalize`] as an [`End`].
    ByFinalize: Finalize<T> from T, "finalize";
    /// [`FinalizeInto`] as an [`End`].
    ByFinalizeInto: FinalizeInto<I, O> from I, "finalize";
}

/// What becomes of a fallback slot's default where no hook is registered.
pub trait Alone<I, O> {
    /// Without `output =` it is the answer already, with it an aggregate of one.
    fn alone(output: I) -> Result<O, Vec<I>>;
}

impl<T, C> Alone<T, T> for ByAggregate<C> {
    fn alone(output: T) -> Result<T, Vec<T>> {
        Ok(output)
    }
}

impl<I, O, C> Alone<I, O> for ByAggregateInto<C> {
    fn alone(output: I) -> Result<O, Vec<I>> {
        Err(vec![output])
    }
}

/// The aggregate of a slot, as a dispatch needs it.
pub trait Reduce<I, O>: MaybeSync {
    /// See [`Alone`].
    fn alone(&self, output: I) -> Result<O, Vec<I>>;
    /// Reduces the outputs.
    fn reduce(&self, outputs: Vec<I>) -> impl Future<Output = O> + MaybeSend;
}

impl<C, I, O> Reduce<I, O> for Aggregated<'_, C, I, O>
where
    C: End<Vec<I>, O> + Alone<I, O>,
{
    fn alone(&self, output: I) -> Result<O, Vec<I>> {
        C::alone(output)
    }

    fn reduce(&self, outputs: Vec<I>) -> impl Future<Output = O> + MaybeSend {
        self.end(outputs)
    }
}

/// The finalizer of a slot, as a dispatch needs it.
pub trait Transform<I, O>: MaybeSync {
    /// Transforms the result of a dispatch.
    fn transform(&self, result: I) -> impl Future<Output = O> + MaybeSend;
}

impl<C: End<I, O>, I, O> Transform<I, O> for Finalized<'_, C, I, O> {
    fn transform(&self, result: I) -> impl Future<Output = O> + MaybeSend {
        self.end(result)
    }
}
