//! The kinds of slot: when the default runs, and what a registration does.

use std::sync::Arc;

use crate::entry::Entry;
use crate::slot::Slot;

/// A kind of slot, as a type.
pub trait Kind {
    /// The word in `#[hook(…)]`.
    const NAME: &'static str;
    /// Whether the default stands in where hooks are registered but none stopped a chain.
    const FALLS_BACK: bool;

    /// Whether the default runs before the hooks.
    fn default_runs_first(hooks: usize) -> bool;

    /// Registers an entry.
    ///
    /// # Panics
    /// If the entry asks for what typed slots cannot do.
    #[track_caller]
    fn insert<H: ?Sized>(slot: &mut Slot<H>, name: &'static str, entry: Entry<Arc<H>>) {
        entry.meta().admit_unguarded(name);
        slot.insert(entry);
    }
}

/// The default always runs, and first.
#[derive(Debug)]
pub enum Always {}

/// The default runs only where no hook is registered.
#[derive(Debug)]
pub enum Fallback {}

/// At most one hook, in place of the default.
#[derive(Debug)]
pub enum Singleton {}

impl Kind for Always {
    const NAME: &'static str = "always";
    const FALLS_BACK: bool = false;

    #[inline]
    fn default_runs_first(_: usize) -> bool {
        true
    }
}

impl Kind for Fallback {
    const NAME: &'static str = "fallback";
    const FALLS_BACK: bool = true;

    #[inline]
    fn default_runs_first(hooks: usize) -> bool {
        hooks == 0
    }
}

impl Kind for Singleton {
    const NAME: &'static str = "singleton";
    const FALLS_BACK: bool = false;

    #[inline]
    fn default_runs_first(hooks: usize) -> bool {
        hooks == 0
    }

    /// The last registration wins, and says so (`T-30`).
    #[track_caller]
    fn insert<H: ?Sized>(slot: &mut Slot<H>, name: &'static str, entry: Entry<Arc<H>>) {
        entry.meta().admit_unguarded(name);
        if slot.replace_all(entry) {
            tracing::warn!(
                target: "hooks_core",
                slot = name,
                "singleton hook registration overwritten; last registered hook wins"
            );
        }
    }
}
