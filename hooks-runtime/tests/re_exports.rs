//! Checks that the documentation of this crate lists every item that the documentation of
//! `hooks-core` lists.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use syn::{Attribute, Item, UseTree, Visibility};

fn items(file: &str) -> Vec<Item> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    let text = fs::read_to_string(path).expect("a source file");
    syn::parse_file(&text)
        .expect("a source that compiles")
        .items
}

fn is_visible(visibility: &Visibility, attributes: &[Attribute]) -> bool {
    let is_hidden = attributes.iter().any(|attribute| {
        let hidden = attribute.parse_args::<syn::Ident>();
        attribute.path().is_ident("doc") && hidden.is_ok_and(|word| word == "hidden")
    });
    matches!(visibility, Visibility::Public(_)) && !is_hidden
}

/// Adds the names that an import binds.
fn collect_names(tree: &UseTree, names: &mut BTreeSet<String>) {
    match tree {
        UseTree::Path(path) => collect_names(&path.tree, names),
        UseTree::Group(group) => {
            for tree in &group.items {
                collect_names(tree, names);
            }
        }
        UseTree::Name(name) => drop(names.insert(name.ident.to_string())),
        UseTree::Rename(rename) => drop(names.insert(rename.rename.to_string())),
        UseTree::Glob(_) => panic!("a visible glob"),
    }
}

#[test]
fn items_of_the_core_are_listed() {
    let mut expected = BTreeSet::new();
    for item in items("../hooks-core/src/lib.rs") {
        match item {
            Item::Use(item) if is_visible(&item.vis, &item.attrs) => {
                collect_names(&item.tree, &mut expected);
            }
            Item::Mod(item) if is_visible(&item.vis, &item.attrs) => {
                expected.insert(item.ident.to_string());
            }
            _ => {}
        }
    }
    assert!(expected.len() > 40, "only {expected:?} were found");
    let mut listed = BTreeSet::new();
    for item in items("src/lib.rs") {
        let Item::Use(item) = item else { continue };
        if let UseTree::Path(path) = &item.tree {
            if path.ident == "hooks_core" && is_visible(&item.vis, &item.attrs) {
                collect_names(&path.tree, &mut listed);
            }
        }
    }
    assert_eq!(listed, expected);
}
