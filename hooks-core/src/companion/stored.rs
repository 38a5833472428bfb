//! How a slot stores its companions: the default by its type, so that a call is neither boxed nor
//! virtual; a replacement through `dyn`.

use std::any::type_name;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use crate::bounds::HookObject;

/// The companion of a slot that has none.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoCompanion;

/// A companion of a slot: `C` is the companion of the slot's definition, `D` the `dyn` of replacements.
pub enum Companion<C, D: ?Sized> {
    /// The companion of the slot's definition.
    Default(C),
    /// The companion that replaced it.
    Override(Arc<Replacement<D>>),
}

/// A companion that replaced the companion of the slot's definition.
#[derive(Debug)]
pub struct Replacement<D: ?Sized> {
    type_name: &'static str,
    pub(super) companion: D,
}

impl<C> Replacement<C> {
    pub(crate) fn new(companion: C, type_name: &'static str) -> Self {
        Replacement {
            type_name,
            companion,
        }
    }
}

impl<C: Stored, D: ?Sized> Companion<C, D> {
    /// Returns the role and the full name of the companion's type; `None` without a companion.
    pub(crate) fn role(&self) -> Option<(&'static str, &'static str)> {
        C::ROLE.map(|role| (role, self.name()))
    }

    fn name(&self) -> &'static str {
        match self {
            Companion::Default(_) => C::name(),
            Companion::Override(replacement) => replacement.type_name,
        }
    }

    /// Copies the replacement of another set, if `other` is one, and warns if it overwrites one of
    /// this set.
    pub(crate) fn extend(&mut self, other: Self, slot: &'static str) {
        if let Companion::Default(_) = other {
            return;
        }
        if let Companion::Override(..) = self {
            tracing::warn!(
                target: "hooks_core",
                slot,
                role = C::ROLE,
                "companion overwritten; the last one set wins"
            );
        }
        *self = other;
    }
}

impl<C: Stored, D: ?Sized> Clone for Companion<C, D> {
    fn clone(&self) -> Self {
        // A constant: `for_call/1` −2 % instructions.
        if let Some(absent) = C::ABSENT {
            return Companion::Default(absent);
        }
        match self {
            Companion::Default(companion) => Companion::Default(companion.clone()),
            Companion::Override(replacement) => Companion::Override(Arc::clone(replacement)),
        }
    }
}

impl<C: Stored, D: ?Sized> fmt::Debug for Companion<C, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A companion in a slot's definition, or [`NoCompanion`].
pub trait Stored: Clone + HookObject {
    /// `chain`, `aggregate` or `finalize`; `None` without a companion.
    const ROLE: Option<&'static str>;
    /// `Some` for [`NoCompanion`], which is never replaced.
    const ABSENT: Option<Self> = None;
    /// Returns the full name of the companion's type.
    fn name() -> &'static str;
}

impl Stored for NoCompanion {
    const ROLE: Option<&'static str> = None;
    const ABSENT: Option<Self> = Some(NoCompanion);

    fn name() -> &'static str {
        type_name::<NoCompanion>()
    }
}

/// A companion of the type `C` in the role `R`.
#[derive(Debug)]
pub struct By<R, C>(pub(super) Arc<C>, PhantomData<fn() -> R>);

/// The role of a companion.
pub trait Role {
    /// Its name.
    const NAME: &'static str;
}

/// The role `R` in a synchronous slot.
#[derive(Debug)]
pub struct SyncRole<R>(PhantomData<fn() -> R>);

impl<R: Role> Role for SyncRole<R> {
    const NAME: &'static str = R::NAME;
}

/// Defines the roles, each with its name.
macro_rules! roles {
    ($($(#[$doc:meta])* $role:ident $(<$result:ident>)?: $name:literal;)+) => {
        $(
            $(#[$doc])*
            #[derive(Debug)]
            pub struct $role $(<$result>(PhantomData<fn() -> $result>))?;

            impl $(<$result>)? Role for $role $(<$result>)? {
                const NAME: &'static str = $name;
            }
        )+
    };
}

roles! {
    /// The role of a [`Chain`](super::Chain).
    ChainRole: "chain";
    /// The role of an [`Aggregate`](super::Aggregate).
    AggregateRole: "aggregate";
    /// The role of an [`AggregateInto`](super::AggregateInto) with the result `O`.
    AggregateIntoRole<O>: "aggregate";
    /// The role of a [`Finalize`](super::Finalize).
    FinalizeRole: "finalize";
    /// The role of a [`FinalizeInto`](super::FinalizeInto) with the result `O`.
    FinalizeIntoRole<O>: "finalize";
}

impl<R, C> By<R, C> {
    /// Wraps a companion.
    #[must_use]
    pub fn new(companion: C) -> Self {
        By(Arc::new(companion), PhantomData)
    }
}

impl<R, C> Clone for By<R, C> {
    fn clone(&self) -> Self {
        By(Arc::clone(&self.0), PhantomData)
    }
}

impl<R: Role, C: HookObject> Stored for By<R, C> {
    const ROLE: Option<&'static str> = Some(R::NAME);

    fn name() -> &'static str {
        type_name::<C>()
    }
}
