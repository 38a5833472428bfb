//! Defaults that dispatch their own slot: the future of such a default would contain itself, and is
//! boxed.

use std::collections::HashSet;

use proc_macro2::{TokenStream, TokenTree};
use syn::ext::IdentExt;

use super::model::Slot;

/// Marks the slots whose default may dispatch the slot itself, at once or by way of the defaults of
/// other slots of the set.
///
/// A macro knows no types: a method of the slot's name may be one of another value. The default is
/// then boxed without need.
pub(super) fn mark(slots: &mut [Slot]) {
    let names: Vec<_> = slots
        .iter()
        .map(|slot| slot.method.unraw().to_string())
        .collect();
    let calls: Vec<Vec<usize>> = slots
        .iter()
        .map(|slot| {
            let mut called = HashSet::new();
            methods(slot.body.stream(), &mut called);
            (0..names.len())
                .filter(|&at| called.contains(&names[at]))
                .collect()
        })
        .collect();
    for (at, slot) in slots.iter_mut().enumerate() {
        slot.recursive = reaches(&calls, at);
    }
}

/// Returns `true` if the calls that begin at a slot come back to it.
fn reaches(calls: &[Vec<usize>], slot: usize) -> bool {
    let mut seen = HashSet::new();
    let mut open = calls[slot].clone();
    while let Some(next) = open.pop() {
        if next == slot {
            return true;
        }
        if seen.insert(next) {
            open.extend(&calls[next]);
        }
    }
    false
}

/// Collects the names behind a `.` or a `::`, in groups too.
fn methods(body: TokenStream, found: &mut HashSet<String>) {
    let mut after_sign = false;
    for token in body {
        match &token {
            TokenTree::Ident(name) if after_sign => {
                found.insert(name.unraw().to_string());
            }
            TokenTree::Group(group) => methods(group.stream(), found),
            _ => {}
        }
        after_sign =
            matches!(&token, TokenTree::Punct(sign) if matches!(sign.as_char(), '.' | ':'));
    }
}

#[cfg(test)]
mod tests {
    use super::{HashSet, methods, reaches};

    #[test]
    fn names_after_a_dot_or_path_separator_are_calls() {
        let mut found = HashSet::new();
        let body = "{ if a { set.r#check(x).await } else { AppHooksSet::other(&set) } }";
        methods(body.parse().unwrap(), &mut found);
        let mut found: Vec<_> = found.into_iter().collect();
        found.sort();
        assert_eq!(found, ["await", "check", "other"]);
    }

    #[test]
    fn a_slot_is_reached_directly_or_through_other_slots() {
        let calls = [vec![1], vec![2], vec![0], vec![3], vec![0]];
        let reached: Vec<_> = (0..calls.len()).map(|at| reaches(&calls, at)).collect();
        assert_eq!(reached, [true, true, true, true, false]);
    }
}
