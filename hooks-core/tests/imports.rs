//! Imports between the files of `src/` form no cycle.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The modules that a module imports, by their paths below the root of the crate.
type Imports = BTreeMap<String, BTreeSet<String>>;

/// Returns the source without comments and without the tests at its end.
fn code(source: &str) -> String {
    let source = source.split("#[cfg(test)]\nmod tests {").next();
    let lines = source.unwrap_or_default().lines();
    lines
        .map(|line| line.split("//").next().unwrap_or_default())
        .collect::<Vec<_>>()
        .join("\n")
}

/// Returns the paths of a path or of a group of paths: `a::b`, `a::c` of `a::{b, c}`.
fn paths(text: &str) -> Vec<String> {
    let is_path = |c: char| c.is_alphanumeric() || "_:".contains(c);
    let end = text.find(|c| !is_path(c)).unwrap_or(text.len());
    let (path, rest) = text.split_at(end);
    let Some(group) = rest.strip_prefix('{') else {
        return vec![path.to_owned()];
    };
    let (mut found, mut level, mut from) = (Vec::new(), 0_usize, 0);
    for (at, c) in group.char_indices() {
        match c {
            '{' => level += 1,
            '}' if level > 0 => level -= 1,
            '}' | ',' if level == 0 => {
                for inner in paths(group[from..at].trim()) {
                    found.push(format!("{path}{inner}"));
                }
                from = at + 1;
                if c == '}' {
                    break;
                }
            }
            _ => {}
        }
    }
    found
}

/// Returns the longest known module that a path begins with.
fn module_of(path: &str, modules: &BTreeMap<String, String>) -> Option<String> {
    let names: Vec<_> = path.split("::").collect();
    (1..=names.len())
        .rev()
        .map(|count| names[..count].join("::"))
        .find(|module| modules.contains_key(module))
}

fn imports(sources: &BTreeMap<String, String>) -> Imports {
    let mut imports = Imports::new();
    for (module, source) in sources {
        let code = code(source);
        let parent = module.rsplit_once("::").map_or("", |(parent, _)| parent);
        let roots = [
            ("crate::", String::new()),
            ("super::", format!("{parent}::")),
            ("use ", format!("{module}::")),
        ];
        let found = imports.entry(module.clone()).or_default();
        for (prefix, root) in roots {
            for (at, _) in code.match_indices(prefix) {
                let before = &code[..at];
                if before.ends_with(|c: char| c.is_alphanumeric() || "_:".contains(c)) {
                    continue;
                }
                for path in paths(&code[at + prefix.len()..]) {
                    let path = format!("{root}{path}");
                    found.extend(module_of(path.trim_start_matches("::"), sources));
                }
            }
        }
        found.remove(module);
    }
    imports
}

/// Returns the modules of a cycle, if there is one.
fn cycle(imports: &Imports) -> Option<Vec<String>> {
    let mut open: BTreeSet<_> = imports.keys().collect();
    // Modules that import no open module belong to no cycle.
    while let Some(module) = open.iter().copied().find(|module| {
        let imported = &imports[*module];
        !imported.iter().any(|imported| open.contains(imported))
    }) {
        open.remove(module);
    }
    let mut cycle: Vec<&String> = vec![open.first()?];
    loop {
        let imported = &imports[*cycle.last()?];
        let next = imported.iter().find(|module| open.contains(module))?;
        if let Some(start) = cycle.iter().position(|module| *module == next) {
            return Some(
                cycle[start..]
                    .iter()
                    .map(|module| (*module).clone())
                    .collect(),
            );
        }
        cycle.push(next);
    }
}

fn sources(folder: &Path, parent: &str, found: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).expect("a folder of sources") {
        let path: PathBuf = entry.expect("an entry of the folder").path();
        let stem = path.file_stem().expect("a name").to_string_lossy();
        let module = format!("{parent}{stem}");
        if path.is_dir() {
            sources(&path, &format!("{module}::"), found);
        } else {
            let source = fs::read_to_string(&path).expect("a source file");
            found.insert(module, source);
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "reads the source files")]
fn imports_form_no_cycle() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = BTreeMap::new();
    sources(&root, "", &mut found);
    let imports = imports(&found);
    let count: usize = imports.values().map(BTreeSet::len).sum();
    assert!(count > 60, "only {count} imports were found");
    assert_eq!(cycle(&imports), None);
}

#[test]
fn a_cycle_is_found_in_each_notation() {
    let cycle_of = |files: &[(&str, &str)]| {
        let files = files.iter().map(|(module, source)| (*module, *source));
        let sources = files.map(|(module, source)| (module.to_owned(), source.to_owned()));
        cycle(&imports(&sources.collect()))
    };
    for (slot, dispatch) in [
        ("use crate::dispatch::Policy;", "use crate::slot::Slot;"),
        (
            "use crate::{entry, dispatch::{Policy, Step}};",
            "fn f(_: crate::slot::Slot) {}",
        ),
        ("use crate::{\n    dispatch,\n};", "use super::slot::Slot;"),
    ] {
        let found = cycle_of(&[("dispatch", dispatch), ("entry", ""), ("slot", slot)]);
        assert_eq!(
            found.as_deref(),
            Some(["dispatch".to_owned(), "slot".to_owned()].as_slice())
        );
    }
    let child = cycle_of(&[
        ("companion", "mod stored;\npub use stored::Companion;"),
        ("companion::stored", "use super::Chain;"),
        (
            "companion::chain",
            "use crate::companion::stored::Companion;",
        ),
    ]);
    // `super::Chain` is an item of `companion`.
    assert_eq!(child.map(|cycle| cycle.len()), Some(2));
    let none = cycle_of(&[
        (
            "slot",
            "// use crate::dispatch::Policy;\nuse crate::entry::Entry;",
        ),
        (
            "entry",
            "#[cfg(test)]\nmod tests {\n    use crate::slot::Slot;\n}",
        ),
        ("dispatch", "use crate::slot::Slot;"),
    ]);
    assert_eq!(none, None);
}
