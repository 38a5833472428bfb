//! Files of a crate import each other in one direction: a *ring* is a set of files, each of which
//! imports the next one.

use std::collections::{BTreeMap, BTreeSet};

use hooks_tests::repository;

use crate::imports::{Modules, modules, parsed};

/// The crates, each with the numbers of files in its rings.
const CRATES: [(&str, &[usize]); 6] = [
    ("hooks-core", &[]),
    ("hooks-macros", &[]),
    ("hooks-runtime", &[]),
    ("hooks-classify", &[]),
    ("hooks-script", &[]),
    ("hooks-guard", &[4, 11, 33]),
];

/// Returns the modules that each module imports. A module within a file does not count: it holds
/// generated data or names for macros.
fn imported(modules: &Modules) -> BTreeMap<&str, BTreeSet<String>> {
    let imports = modules.imports().into_iter();
    let names = imports.map(|(module, imports)| {
        let imports = imports.into_iter().filter(|import| !import.is_inner);
        let imports = imports.map(|import| import.module);
        (module, imports.collect())
    });
    names.collect()
}

/// Returns the rings, each with its modules.
fn rings(modules: &Modules) -> Vec<BTreeSet<String>> {
    let imports = imported(modules);
    let reached = |from: &str| {
        let (mut reached, mut open) = (BTreeSet::new(), vec![from.to_owned()]);
        while let Some(module) = open.pop() {
            for next in imports.get(module.as_str()).into_iter().flatten() {
                if reached.insert(next.clone()) {
                    open.push(next.clone());
                }
            }
        }
        reached
    };
    let all: BTreeMap<_, _> = imports
        .keys()
        .map(|module| (*module, reached(module)))
        .collect();
    let mut rings: Vec<BTreeSet<String>> = Vec::new();
    for (module, reached) in &all {
        let is_known = rings.iter().any(|ring| ring.contains(*module));
        if reached.contains(*module) && !is_known {
            let back = |other: &&String| all[other.as_str()].contains(*module);
            rings.push(reached.iter().filter(back).cloned().collect());
        }
    }
    rings
}

#[test]
fn no_crate_has_a_new_ring_of_files() {
    for (name, known) in CRATES {
        let modules = modules(&repository().join(name));
        let count: usize = imported(&modules).values().map(BTreeSet::len).sum();
        assert!(count > 60, "only {count} imports of {name} were found");
        let found = rings(&modules);
        let mut sizes: Vec<usize> = found.iter().map(BTreeSet::len).collect();
        sizes.sort_unstable();
        assert_eq!(sizes, known, "{name}: {found:#?}");
    }
}

#[test]
fn a_ring_is_found_in_each_notation() {
    let sizes = |files: &[(&str, &str)]| {
        let files = files
            .iter()
            .map(|(module, source)| ((*module).to_owned(), parsed(*module, source)));
        let found = rings(&Modules::new(files.collect()));
        found.iter().map(BTreeSet::len).collect::<Vec<_>>()
    };
    for (slot, dispatch) in [
        ("use crate::dispatch::Policy;", "use crate::slot::Slot;"),
        (
            "use crate::{entry, dispatch::{Policy as Rules, Step}};",
            "fn f(_: crate::slot::Slot) {}",
        ),
        (
            "use crate::{\n    dispatch,\n};",
            "use super::slot::{self, Slot};",
        ),
        (
            "macro_rules! run { ($p:path) => { $crate::dispatch::run::<$p>() }; }",
            "use crate::slot::Slot;",
        ),
    ] {
        let files = [
            ("", ""),
            ("dispatch", dispatch),
            ("entry", ""),
            ("slot", slot),
        ];
        assert_eq!(sizes(&files), [2], "{slot}");
    }
    // `super::Chain` is an item of `companion`.
    let of_parent = [
        (
            "companion",
            "mod stored;\npub use stored::Companion;\npub trait Chain {}\nfn f(_: self::stored::Companion) {}",
        ),
        ("companion::stored", "use super::Chain;"),
    ];
    assert_eq!(sizes(&of_parent), [2]);
    // `super::Companion` is an item of `companion::stored`.
    let re_exported = [
        (
            "companion",
            "mod stored;\nmod chain;\npub use stored::Companion;",
        ),
        ("companion::chain", "use super::Companion;"),
        ("companion::stored", ""),
    ];
    assert_eq!(sizes(&re_exported), [0_usize; 0]);
    let none = [
        (
            "slot",
            "// use crate::dispatch::Policy;\nuse crate::entry::Entry;",
        ),
        (
            "entry",
            "#[cfg(test)]\nmod tests {\n    use crate::slot::Slot;\n}",
        ),
        ("dispatch", "use crate::slot::Slot;"),
    ];
    assert_eq!(sizes(&none), [0_usize; 0]);
}
