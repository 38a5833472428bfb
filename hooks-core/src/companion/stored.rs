//! How a slot stores its companions: the default by its type, so that a call is neither boxed nor
//! virtual; a replacement through `dyn`.

use std::any::type_name;
use std::fmt;
use std::sync::Arc;

/// The companion of a slot that has none.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoCompanion;

/// A companion of a slot: `C` is the type in the slot's definition, `D` the `dyn` of replacements.
pub enum Companion<C, D: ?Sized> {
    /// The companion of the slot's definition.
    Default(Arc<C>),
    /// The companion that replaced it, with the name of its type.
    Override(Arc<D>, &'static str),
}

impl<C, D: ?Sized> Companion<C, D> {
    /// Creates the companion of the slot's definition.
    #[must_use]
    pub fn new(default: C) -> Self {
        Companion::Default(Arc::new(default))
    }

    /// Returns the full name of the companion's type; `default` is the name of the type in the
    /// slot's definition.
    pub(super) fn name(&self, default: &'static str) -> &'static str {
        match self {
            Companion::Default(_) => default,
            Companion::Override(_, name) => name,
        }
    }

    /// Copies a replacement from another set, and warns if it overwrites one of this set.
    pub(super) fn replace_with(&mut self, other: Self, slot: &'static str, role: &'static str) {
        if let Companion::Default(_) = other {
            return;
        }
        if let Companion::Override(..) = self {
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

impl<C, D: ?Sized> Clone for Companion<C, D> {
    fn clone(&self) -> Self {
        match self {
            Companion::Default(companion) => Companion::Default(Arc::clone(companion)),
            Companion::Override(companion, name) => {
                Companion::Override(Arc::clone(companion), name)
            }
        }
    }
}

impl<C, D: ?Sized> fmt::Debug for Companion<C, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name(type_name::<C>()))
    }
}

/// The role of a companion in its slot.
pub trait Role: Sized {
    /// Returns the role and the full name of the companion's type; `None` without a companion.
    fn role(&self) -> Option<(&'static str, &'static str)>;

    /// Copies the replacement of another set, if `other` is one, and warns if it overwrites one
    /// of this set.
    fn extend(&mut self, other: Self, slot: &'static str);
}

impl Role for NoCompanion {
    fn role(&self) -> Option<(&'static str, &'static str)> {
        None
    }

    fn extend(&mut self, _: Self, _: &'static str) {}
}

/// Role and name of an aggregate or finalizer. Holds also for a type that does not implement its
/// companion trait, so that such a type causes one error only.
pub trait Named {
    /// `aggregate` or `finalize`.
    const ROLE: &'static str;
    /// Returns the full name of the companion's type.
    fn name() -> &'static str;
}
