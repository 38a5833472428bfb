//! The sets and slots that `#[hooks]` has expanded in this crate so far.
//!
//! A macro sees one item, so `#[impl_hook(Check)]` cannot know whether `Check` is a slot's trait, and
//! whether the slot passes `last`. The compiler runs the macros of a crate on one thread, mostly in
//! the order of the source, so a macro can know the names of earlier items; an editor runs each macro
//! on a thread of its own, which knows no names. A name does not identify an item: it only selects a form of
//! the expansion in which the compiler decides by name resolution, and which causes one error instead
//! of several. The form imports the name, and imports are stricter than other paths about names that
//! shadow each other, so it is used only if one item has the name.

use std::cell::RefCell;
use std::collections::HashMap;

use proc_macro2::TokenStream;
use quote::quote;
use syn::ext::IdentExt;
use syn::{Attribute, Ident, Path};

/// By the names `AppHooks`, `Check` and `AppHooksSet::check`: the item, or `None` if several items
/// have the name.
type Names = HashMap<String, Option<Seen>>;

thread_local! {
    static NAMES: RefCell<Names> = RefCell::default();
}

/// The item that a name belongs to.
#[derive(Clone, Copy)]
pub(crate) enum Seen {
    /// The trait of a set.
    Set,
    /// A slot.
    Slot {
        passes_last: bool,
        /// Number of parameters, without `last`.
        params: usize,
    },
}

/// Records the trait of a set.
pub(crate) fn record_set(set_trait: &Ident) {
    let _ = insert(text(set_trait), Seen::Set);
}

/// Records a slot, by its trait and by the method of its set. Returns `true` if no earlier item has
/// the trait's name.
pub(crate) fn record_slot(slot_trait: &Ident, set: &Ident, method: &Ident, slot: Seen) -> bool {
    insert(method_text(set, method), slot);
    insert(text(slot_trait), slot)
}

/// Returns `true` if the only item of this name is the trait of a set.
pub(crate) fn is_set(name: &Ident) -> bool {
    matches!(get(&text(name)), Some(Seen::Set))
}

/// Returns `true` if the only slot with a trait of this name has this number of parameters and passes
/// `last`.
pub(crate) fn slot_passes_last(slot_trait: &Ident, params: usize) -> bool {
    passes_last(&text(slot_trait), params)
}

/// Returns `true` if the only set of this name has a slot with this method and this number of
/// parameters, which passes `last`.
pub(crate) fn method_passes_last(set: &Ident, method: &Ident, params: usize) -> bool {
    passes_last(&method_text(set, method), params)
}

fn passes_last(name: &str, params: usize) -> bool {
    matches!(
        get(name),
        Some(Seen::Slot { passes_last: true, params: seen }) if seen == params
    )
}

/// Returns the items. In them, `#chosen!` is the macro with the name that the path ends in, or the
/// macro `fallback` if the name has none: the inner `use` shadows the outer one.
pub(crate) fn by_name(
    path: &Path,
    chosen: &Ident,
    fallback: &TokenStream,
    cfgs: &[&Attribute],
    items: &TokenStream,
) -> TokenStream {
    quote! {
        #(#cfgs)*
        const _: () = {
            #[allow(unused_imports)]
            use #fallback as #chosen;
            {
                #[allow(unused_imports)]
                use #path as #chosen;
                {
                    #items
                }
            }
        };
    }
}

/// Returns `true` if the name is new.
fn insert(name: String, seen: Seen) -> bool {
    NAMES.with_borrow_mut(|names| {
        let is_first = !names.contains_key(&name);
        names.insert(name, is_first.then_some(seen));
        is_first
    })
}

fn get(name: &str) -> Option<Seen> {
    NAMES.with_borrow(|names| *names.get(name)?)
}

fn text(name: &Ident) -> String {
    name.unraw().to_string()
}

fn method_text(set: &Ident, method: &Ident) -> String {
    format!("{}::{}", text(set), text(method))
}
