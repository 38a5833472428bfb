//! The modules of a crate have layers, and import lower layers only. The tables of layers are on the
//! page about the architecture.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use hooks_tests::repository;

use crate::imports::{Modules, modules, parsed};

/// The page with a table of layers for each crate.
const PAGE: &str = "docs/architecture.md";

/// The crates with a table, and the minimum number of imports between their modules.
const CRATES: [(&str, usize); 2] = [("hooks-guard", 250), ("hooks-script", 60)];

/// A layer: its name and its modules.
type LayerRow = (String, Vec<String>);

/// Returns the layers of a crate in the order of its table: from the lowest to the highest.
fn layers(page: &str, name: &str) -> Vec<LayerRow> {
    let header = format!("| Layer of `{name}/src/`, lowest first | Modules |");
    let rows = page.lines().skip_while(|line| !line.starts_with(&header));
    let rows = rows.skip(2).take_while(|line| line.starts_with('|'));
    let row = |row: &str| {
        let columns: Vec<&str> = row.split('|').map(str::trim).collect();
        let modules = columns[2].split('`').skip(1).step_by(2);
        (
            columns[1].to_owned(),
            modules.map(str::to_owned).collect::<Vec<_>>(),
        )
    };
    rows.map(row).collect()
}

/// Returns the module below the root that contains a module; `lib` for the root.
fn top(module: &str) -> &str {
    match module.split("::").next() {
        Some(first) if !first.is_empty() => first,
        _ => "lib",
    }
}

/// Returns the imports between modules below the root, and a line for each mistake: a module without
/// a layer or with two, a layer's module that does not exist, and an import that does not lead to a
/// lower layer.
fn check(layers: &[LayerRow], modules: &Modules) -> (usize, Vec<String>) {
    let mut mistakes = Vec::new();
    let mut ranks = BTreeMap::new();
    for (rank, (layer, names)) in layers.iter().enumerate() {
        for name in names {
            if ranks.insert(name.as_str(), (rank, layer)).is_some() {
                mistakes.push(format!("`{name}` has two layers; remove one in `{PAGE}`"));
            }
        }
    }
    let found: BTreeSet<&str> = modules.names().map(top).collect();
    let missing = found.iter().filter(|name| !ranks.contains_key(**name));
    mistakes.extend(missing.map(|name| format!("`{name}` has no layer; add it in `{PAGE}`")));
    let absent = ranks.keys().filter(|name| !found.contains(**name));
    mistakes.extend(absent.map(|name| format!("no module `{name}`; remove it in `{PAGE}`")));
    let mut count = 0;
    for (module, imports) in modules.imports() {
        let own = top(module);
        for import in imports {
            let other = top(&import.module);
            if other == own {
                continue;
            }
            count += 1;
            let (Some((from, layer)), Some((to, higher))) = (ranks.get(own), ranks.get(other))
            else {
                continue;
            };
            if to >= from {
                mistakes.push(format!(
                    "{}: `{own}` of the layer `{layer}` imports `crate::{}`, but `{other}` is of the \
                     layer `{higher}`, which is not lower",
                    import.place, import.path
                ));
            }
        }
    }
    (count, mistakes)
}

#[test]
fn a_module_imports_lower_layers_only() {
    let page = fs::read_to_string(repository().join(PAGE)).expect("the page");
    for (name, min) in CRATES {
        let layers = layers(&page, name);
        assert!(!layers.is_empty(), "no table of `{name}` in `{PAGE}`");
        let modules = modules(&repository().join(name));
        let (count, mistakes) = check(&layers, &modules);
        assert!(mistakes.is_empty(), "{name}:\n{}", mistakes.join("\n"));
        assert!(count > min, "only {count} imports of {name} were found");
    }
}

const TABLE: &str = "
| Layer of `house/src/`, lowest first | Modules | Description |
|---|---|---|
| ground | `cellar`, `drain` | |
| floor | `kitchen` | rooms |
| roof | `lib` | |

| roof | `attic` | another table |
";

/// Returns the mistakes of modules, given by their paths and sources, in the layers of [`TABLE`].
fn mistakes(files: &[(&str, &str)]) -> Vec<String> {
    let all = ["", "cellar", "drain", "kitchen"].map(|module| (module, ""));
    let sources = all.iter().chain(files).map(|(module, source)| {
        let file = format!("src/{}.rs", module.replace("::", "/"));
        ((*module).to_owned(), parsed(file, source))
    });
    let modules = Modules::new(sources.collect());
    check(&layers(TABLE, "house"), &modules).1
}

#[test]
fn the_layers_of_a_table_end_with_the_table() {
    let names: Vec<_> = layers(TABLE, "house")
        .into_iter()
        .map(|(layer, modules)| (layer, modules.join(" ")))
        .collect();
    let expected = [
        ("ground", "cellar drain"),
        ("floor", "kitchen"),
        ("roof", "lib"),
    ];
    assert_eq!(
        names,
        expected.map(|(layer, modules)| (layer.to_owned(), modules.to_owned()))
    );
    assert!(layers(TABLE, "garden").is_empty());
}

#[test]
fn an_import_of_a_higher_layer_is_found_in_each_notation() {
    for (module, source) in [
        ("cellar", "use crate::kitchen::Stove;"),
        ("cellar", "use crate::{drain, kitchen as rooms};"),
        ("cellar", "fn f(_: &super::kitchen::Stove) {}"),
        ("cellar::shelf", "use super::super::kitchen::Stove;"),
        (
            "cellar::shelf",
            "macro_rules! m { () => { $crate::kitchen::f() }; }",
        ),
        ("cellar", "mod shelf { use super::super::kitchen::Stove; }"),
        ("kitchen", "fn f() { crate::welcome() }"),
    ] {
        let found = mistakes(&[(module, source)]);
        let upward = found.iter().filter(|line| line.contains("is not lower"));
        assert!(upward.count() >= 1, "{source}: {found:?}");
    }
    assert_eq!(
        mistakes(&[("cellar::shelf", "\n\nuse crate::kitchen::Stove;")]),
        [
            "src/cellar/shelf.rs:3: `cellar` of the layer `ground` imports \
             `crate::kitchen::Stove`, but `kitchen` is of the layer `floor`, which is not lower"
        ]
    );
}

#[test]
fn modules_of_one_layer_do_not_import_each_other() {
    let found = mistakes(&[("cellar", "use crate::drain::Pipe;")]);
    assert_eq!(found.len(), 1, "{found:?}");
}

#[test]
fn an_import_of_a_lower_layer_or_within_a_module_is_no_mistake() {
    for (module, source) in [
        ("kitchen", "use crate::{cellar::Shelf, drain};"),
        ("kitchen::table", "use super::Stove;"),
        ("", "pub use kitchen::Stove;"),
        ("cellar", "mod shelf { fn f(_: super::Jar) {} }"),
        ("cellar", "// use crate::kitchen::Stove;"),
        (
            "cellar",
            "#[cfg(test)]\nmod tests {\n    use crate::kitchen::Stove;\n}",
        ),
    ] {
        let found = mistakes(&[(module, source)]);
        assert!(found.is_empty(), "{source}: {found:?}");
    }
}

#[test]
fn each_module_has_one_layer() {
    let found = mistakes(&[("attic", "")]);
    assert_eq!(
        found,
        ["`attic` has no layer; add it in `docs/architecture.md`"]
    );
    let twice = TABLE.replace("`kitchen`", "`cellar`");
    let (_, found) = check(&layers(&twice, "house"), &Modules::new(BTreeMap::new()));
    let twice = "`cellar` has two layers; remove one in `docs/architecture.md`";
    assert_eq!(found[0], twice);
    assert!(found[1].starts_with("no module `cellar`"), "{found:?}");
}
