//! The slots that `#[hooks]` has expanded in this crate so far.
//!
//! A macro sees one item, so `#[impl_hook(Check)]` cannot know whether the slot `Check` passes
//! `last`. The compiler runs the macros of a crate in one process, mostly in the order of the source,
//! so a macro can know the names of earlier slots. A name does not identify a slot: it only selects a
//! form of the expansion in which the compiler decides by name resolution, and which causes one
//! error instead of two. The form imports the name, and imports are stricter than other paths about
//! names that shadow each other, so it is used only if one set has the name.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use syn::Ident;
use syn::ext::IdentExt;

/// By the names `Check` and `AppHooksSet::check`: the slot, or `None` if several slots have the
/// name.
type Slots = HashMap<String, Option<Seen>>;

static SLOTS: Mutex<Option<Slots>> = Mutex::new(None);

/// A slot.
#[derive(Clone, Copy)]
pub(crate) struct Seen {
    pub(crate) passes_last: bool,
    /// Number of parameters, without `last`.
    pub(crate) params: usize,
}

/// Records a slot, by its trait and by the method of its set.
pub(crate) fn record(slot_trait: &Ident, set: &Ident, method: &Ident, slot: Seen) {
    let mut slots = lock();
    let slots = slots.get_or_insert_default();
    for name in [text(slot_trait), method_text(set, method)] {
        let first = !slots.contains_key(&name);
        slots.insert(name, first.then_some(slot));
    }
}

/// Returns `true` if the only slot with a trait of this name passes `last` after this number of
/// parameters.
pub(crate) fn slot_passes_last(slot_trait: &Ident, params: usize) -> bool {
    passes_last(&text(slot_trait), params)
}

/// Returns `true` if the only set of this name has such a slot.
pub(crate) fn method_passes_last(set: &Ident, method: &Ident, params: usize) -> bool {
    passes_last(&method_text(set, method), params)
}

fn passes_last(name: &str, params: usize) -> bool {
    let slots = lock();
    let slot = slots.as_ref().and_then(|slots| *slots.get(name)?);
    slot.is_some_and(|slot| slot.passes_last && slot.params == params)
}

fn lock() -> MutexGuard<'static, Option<Slots>> {
    SLOTS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn text(name: &Ident) -> String {
    name.unraw().to_string()
}

fn method_text(set: &Ident, method: &Ident) -> String {
    format!("{}::{}", text(set), text(method))
}
