//! Imports of `src/` go down only: the files of the crate in, imports of a higher layer out.

use std::fs;
use std::path::{Path, PathBuf};

/// Layers from the lowest to the highest. A file may import its own layer and all before it.
const LAYERS: &[&str] = &[
    "host",
    "workspace",
    "model",
    "secrets",
    "settings",
    "shell",
    "tables",
    "options",
    "analysis",
    "languages",
    "programs",
    "walk",
    "classification",
    "context",
    "explain",
    "inspect",
    "lib",
];

/// Returns the layer of a file below `src/`: the first folder or the stem of its path.
fn layer_of_file(file: &Path) -> String {
    let first = file.iter().next().expect("a path with a name");
    let stem = Path::new(first).file_stem().expect("a file with a name");
    stem.to_string_lossy().into_owned()
}

fn rank(layer: &str) -> Option<usize> {
    LAYERS.iter().position(|known| *known == layer)
}

/// Returns the number of modules above the items of a file: 1 for `host.rs` and `model/mod.rs`.
fn depth(file: &Path) -> usize {
    let is_folder = file.ends_with("mod.rs");
    file.iter().count() - usize::from(is_folder)
}

/// Returns the source without comments. Line breaks stay, so that lines keep their numbers.
fn without_comments(source: &str) -> String {
    let code = |line: &str| line.split("//").next().unwrap_or("").to_owned();
    source.lines().map(code).collect::<Vec<_>>().join("\n")
}

/// Returns the source before the tests at its end.
fn without_tests(source: &str) -> &str {
    source
        .split("#[cfg(test)]\nmod tests {")
        .next()
        .unwrap_or("")
}

/// Returns the first names of a path or of a group of paths: `a`, `b` of `{a::x, b::{y, z}}`.
fn first_names(path: &str) -> Vec<String> {
    let is_name = |c: &char| c.is_alphanumeric() || *c == '_';
    let Some(group) = path.strip_prefix('{') else {
        return vec![path.chars().take_while(is_name).collect()];
    };
    let (mut names, mut level) = (vec![String::new()], 0_usize);
    let mut in_name = true;
    for c in group.chars() {
        match c {
            '}' if level == 0 => break,
            '{' => level += 1,
            '}' => level -= 1,
            ',' if level == 0 => (in_name, _) = (true, names.push(String::new())),
            c if level == 0 && in_name && is_name(&c) => names.last_mut().unwrap().push(c),
            c if c.is_whitespace() => {}
            _ => in_name = false,
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

/// Returns the line and the layer of each path that begins at the root of the crate. An item of
/// `lib.rs` has the layer `lib`.
fn imports(file: &Path, source: &str) -> Vec<(usize, String)> {
    let code = without_comments(without_tests(source));
    let to_root = "super::".repeat(depth(file));
    let mut imports = Vec::new();
    for prefix in ["crate::", to_root.as_str()] {
        for (at, _) in code.match_indices(prefix) {
            let before = &code[..at];
            if before.ends_with(|c: char| c.is_alphanumeric() || "_:".contains(c)) {
                continue;
            }
            let line = before.matches('\n').count() + 1;
            for name in first_names(&code[at + prefix.len()..]) {
                match rank(&name) {
                    Some(_) => imports.push((line, name)),
                    // `super::` in a module within the file does not reach the root.
                    None if prefix == "crate::" => imports.push((line, "lib".to_owned())),
                    None => {}
                }
            }
        }
    }
    imports
}

/// Returns a line for each import of a higher layer.
fn upward_imports(file: &Path, source: &str) -> Vec<String> {
    let own = layer_of_file(file);
    let Some(own_rank) = rank(&own) else {
        return vec![format!(
            "src/{}: `{own}` is not a layer; add it to `LAYERS` in `tests/layers.rs`",
            file.display()
        )];
    };
    let is_upward = |(_, layer): &(usize, String)| rank(layer) > Some(own_rank);
    imports(file, source)
        .into_iter()
        .filter(is_upward)
        .map(|(line, layer)| {
            format!(
                "src/{}:{line}: layer `{own}` imports the higher layer `{layer}`",
                file.display()
            )
        })
        .collect()
}

fn files_below(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry of the folder").path();
        if path.is_dir() {
            files_below(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

#[test]
fn a_layer_imports_no_layer_above_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    files_below(&root, &mut files);
    files.sort();
    let (mut count, mut upward) = (0, Vec::new());
    for path in &files {
        let source = fs::read_to_string(path).expect("a source file");
        let file = path.strip_prefix(&root).expect("a path below `src`");
        count += imports(file, &source).len();
        upward.extend(upward_imports(file, &source));
    }
    for layer in LAYERS {
        let has_layer = |path: &PathBuf| layer_of_file(path.strip_prefix(&root).unwrap()) == *layer;
        assert!(files.iter().any(has_layer), "no file of layer `{layer}`");
    }
    assert!(count > 400, "only {count} imports were found");
    assert!(upward.is_empty(), "{}", upward.join("\n"));
}

#[test]
fn an_import_of_a_higher_layer_is_found_in_each_notation() {
    let higher = |file: &str, source: &str| upward_imports(Path::new(file), source);
    for (file, source) in [
        ("tables/lists.rs", "use crate::walk::state::State;"),
        ("tables/lists.rs", "\nuse crate::{model::arg::Arg, walk};"),
        (
            "tables/lists.rs",
            "use crate::{\n    model::{arg, io},\n    walk::x,\n};",
        ),
        ("tables/mod.rs", "fn f(walk: &super::walk::state::State) {}"),
        ("tables/lists.rs", "use super::super::walk::state::State;"),
        ("classification.rs", "fn f() { crate::explain::f() }"),
        ("model/arg.rs", "use crate::Classifier;"),
    ] {
        let found = higher(file, source);
        assert_eq!(found.len(), 1, "{source}: {found:?}");
    }
    assert_eq!(
        higher("tables/lists.rs", "\nuse crate::walk::x;"),
        ["src/tables/lists.rs:2: layer `tables` imports the higher layer `walk`"]
    );
    for (file, source) in [
        ("walk/state.rs", "use crate::tables::Tables;"),
        ("walk/state.rs", "use super::walk;"),
        (
            "tables/lists.rs",
            "// as in crate::walk\nuse crate::tables::x;",
        ),
        ("tables/lists.rs", "use other_crate::walk::x;"),
        (
            "tables/lists.rs",
            "#[cfg(test)]\nmod tests {\n    use crate::Classifier;\n}",
        ),
    ] {
        let found = higher(file, source);
        assert!(found.is_empty(), "{source}: {found:?}");
    }
    let unknown = higher("other.rs", "");
    assert!(unknown[0].contains("`other` is not a layer"), "{unknown:?}");
}
