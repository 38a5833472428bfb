//! Imports between the files of `src/` form no cycle: each file can be read after the files that it
//! imports.
//!
//! A name that a module re-exports counts as an import of the file that defines the name, so a
//! child may write `super::Sibling`. Tests at the end of a file are left out.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};
use syn::{Attribute, Item, UseTree};

/// The path of a module from the root of the crate.
type Module = Vec<String>;

/// One source file, as far as imports depend on it.
#[derive(Default)]
struct Source {
    /// Names of the items that the file defines.
    defined: BTreeSet<String>,
    /// Names that the file imports, and their paths.
    imported: BTreeMap<String, CratePath>,
    /// All paths of the file that begin in this crate.
    paths: Vec<CratePath>,
}

/// The segments of a path that begins at the root of the crate.
type CratePath = Vec<String>;

/// Returns the sources by the paths of their modules.
fn sources() -> BTreeMap<Module, Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    files_below(&root, &mut files);
    let parse = |path: PathBuf| {
        let file = path.strip_prefix(&root).expect("a path below `src`");
        let module = module_of(file);
        let text = fs::read_to_string(&path).expect("a source file");
        (module.clone(), source(&module, &text))
    };
    files.into_iter().map(parse).collect()
}

fn files_below(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry of the folder").path();
        if path.is_dir() {
            // Programs are crates of their own.
            if !path.ends_with("bin") {
                files_below(&path, files);
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// Returns the module of a file: `events::emit` for `events/emit.rs`, the root for `lib.rs`.
fn module_of(file: &Path) -> Module {
    let path = file.with_extension("");
    let names = path.iter().map(|name| name.to_string_lossy().into_owned());
    names.filter(|name| name != "lib").collect()
}

fn source(module: &Module, text: &str) -> Source {
    let file = syn::parse_file(text).expect("a source that compiles");
    let mut finder = Finder {
        module,
        source: Source::default(),
        depth: 0,
    };
    finder.visit_file(&file);
    finder.source
}

/// Collects the definitions and the paths of a file.
struct Finder<'a> {
    module: &'a Module,
    source: Source,
    /// The number of modules within the file around the item.
    depth: usize,
}

impl Finder<'_> {
    /// Returns the path from the root of the crate, or `None` if it begins elsewhere.
    fn absolute(&self, path: &[String]) -> Option<CratePath> {
        let supers = path.iter().take_while(|name| *name == "super").count();
        match path.first()?.as_str() {
            "crate" => Some(path[1..].to_vec()),
            "self" if self.depth == 0 => Some([self.module, &path[1..]].concat()),
            "super" if supers > self.depth => {
                let up = supers - self.depth;
                let parent = &self.module[..self.module.len().checked_sub(up)?];
                Some([parent, &path[supers..]].concat())
            }
            // `mod a; pub use a::b;`
            first if self.depth == 0 && self.source.defined.contains(first) => {
                Some([self.module, path].concat())
            }
            _ => None,
        }
    }

    fn import(&mut self, before: &[String], tree: &UseTree) {
        let with = |name: &syn::Ident| [before, &[name.to_string()]].concat();
        match tree {
            UseTree::Path(path) => self.import(&with(&path.ident), &path.tree),
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.import(before, tree);
                }
            }
            UseTree::Name(name) if name.ident == "self" => {
                let own = before.last().cloned().unwrap_or_default();
                self.bind(own, before);
            }
            UseTree::Name(name) => self.bind(name.ident.to_string(), &with(&name.ident)),
            UseTree::Rename(rename) => self.bind(rename.rename.to_string(), &with(&rename.ident)),
            UseTree::Glob(_) => self.bind("*".to_owned(), before),
        }
    }

    fn bind(&mut self, name: String, path: &[String]) {
        if let Some(path) = self.absolute(path) {
            self.source.paths.push(path.clone());
            if self.depth == 0 {
                self.source.imported.insert(name, path);
            }
        }
    }
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute
                .parse_args::<syn::Ident>()
                .is_ok_and(|cfg| cfg == "test")
    })
}

fn name_of(item: &Item) -> Option<String> {
    let ident = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Macro(item) => item.ident.as_ref()?,
        Item::Mod(item) => &item.ident,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Union(item) => &item.ident,
        _ => return None,
    };
    Some(ident.to_string())
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_file(&mut self, file: &'ast syn::File) {
        let names = file.items.iter().filter_map(name_of);
        self.source.defined.extend(names);
        visit::visit_file(self, file);
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_test(&item.attrs) {
            self.depth += 1;
            visit::visit_item_mod(self, item);
            self.depth -= 1;
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        if !is_test(&item.attrs) {
            self.import(&[], &item.tree);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Vec<_> = path
            .segments
            .iter()
            .map(|name| name.ident.to_string())
            .collect();
        let is_anchored = ["crate", "super", "self"].contains(&names[0].as_str());
        if is_anchored && names.len() > 1 {
            if let Some(path) = self.absolute(&names) {
                self.source.paths.push(path);
            }
        }
        visit::visit_path(self, path);
    }
}

/// Returns the module whose file defines the item of a path, or `None` for another crate.
fn defining(sources: &BTreeMap<Module, Source>, path: &[String], hops: usize) -> Option<Module> {
    assert!(
        hops < 20,
        "the re-exports of `{}` form a cycle",
        path.join("::")
    );
    let mut module = Module::new();
    for (at, name) in path.iter().enumerate() {
        let child = [&module[..], std::slice::from_ref(name)].concat();
        if sources.contains_key(&child) {
            module = child;
            continue;
        }
        let source = &sources[&module];
        if source.defined.contains(name) {
            return Some(module);
        }
        return match source.imported.get(name) {
            Some(path_of_name) => {
                let path = [path_of_name, &path[at + 1..]].concat();
                defining(sources, &path, hops + 1)
            }
            // The root re-exports `hooks_core`; any other module has it from a macro.
            None => (!module.is_empty()).then_some(module),
        };
    }
    Some(module)
}

/// Returns the modules that each module imports.
fn imports(sources: &BTreeMap<Module, Source>) -> BTreeMap<&Module, BTreeSet<Module>> {
    let of = |(module, source): (_, &Source)| {
        let paths = source.paths.iter();
        let found = paths.filter_map(|path| defining(sources, path, 0));
        let others = found.filter(|other| other != module).collect();
        (module, others)
    };
    sources.iter().map(of).collect()
}

/// Returns a cycle of imports, if there is one, with its first module at both ends.
fn cycle(imports: &BTreeMap<&Module, BTreeSet<Module>>) -> Option<Vec<Module>> {
    fn search(
        module: &Module,
        imports: &BTreeMap<&Module, BTreeSet<Module>>,
        way: &mut Vec<Module>,
        done: &mut BTreeSet<Module>,
    ) -> Option<Vec<Module>> {
        if let Some(start) = way.iter().position(|before| before == module) {
            return Some([&way[start..], std::slice::from_ref(module)].concat());
        }
        if done.contains(module) {
            return None;
        }
        way.push(module.clone());
        let found = imports.get(module).into_iter().flatten();
        let found = found
            .into_iter()
            .find_map(|next| search(next, imports, way, done));
        way.pop();
        done.insert(module.clone());
        found
    }
    let mut done = BTreeSet::new();
    imports
        .keys()
        .find_map(|module| search(module, imports, &mut Vec::new(), &mut done))
}

/// Returns one line for each module of a cycle.
fn shown(cycle: &[Module]) -> String {
    let names = cycle.iter().map(|module| match module.is_empty() {
        true => "lib.rs".to_owned(),
        false => format!("{}.rs", module.join("/")),
    });
    names.collect::<Vec<_>>().join("\n  imports ")
}

#[test]
fn imports_form_no_cycle() {
    let sources = sources();
    let imports = imports(&sources);
    let count: usize = imports.values().map(BTreeSet::len).sum();
    assert!(count > 200, "only {count} imports were found");
    if let Some(cycle) = cycle(&imports) {
        panic!("a cycle of imports:\n{}", shown(&cycle));
    }
}

/// Returns a cycle among sources that are given as text.
fn cycle_among(files: &[(&str, &str)]) -> Option<String> {
    let module = |file: &str| module_of(Path::new(file));
    let sources = files
        .iter()
        .map(|(file, text)| (module(file), source(&module(file), text)))
        .collect();
    cycle(&imports(&sources)).map(|cycle| shown(&cycle))
}

#[test]
fn a_cycle_is_found_in_each_notation() {
    let root = ("lib.rs", "mod a; mod b; pub use a::A;");
    for b in [
        "use crate::a::A;",
        "use super::a;",
        "use crate::{a::A};",
        "fn f() { crate::a::f() }",
        "fn f(_: &super::A) {}",
        "mod inner { use super::super::a::A; }",
        "use crate::A as Other;",
    ] {
        let found = cycle_among(&[
            root,
            ("a.rs", "use super::b::B;\npub struct A;"),
            ("b.rs", b),
        ]);
        assert_eq!(
            found.as_deref(),
            Some("a.rs\n  imports b.rs\n  imports a.rs"),
            "{b}"
        );
    }
    let longer = cycle_among(&[
        root,
        ("a.rs", "mod c; use c::C; pub struct A;"),
        ("a/c.rs", "use crate::b::B; pub struct C;"),
        ("b.rs", "use crate::A; pub struct B;"),
    ]);
    let expected = "a.rs\n  imports a/c.rs\n  imports b.rs\n  imports a.rs";
    assert_eq!(longer.as_deref(), Some(expected));
    for b in [
        "use other::a::A;",
        "// crate::a::A",
        "#[cfg(test)] mod tests { use crate::a::A; }",
        "mod inner { use super::X; } struct X;",
    ] {
        let found = cycle_among(&[
            root,
            ("a.rs", "use super::b::B;\npub struct A;"),
            ("b.rs", b),
        ]);
        assert_eq!(found, None, "{b}");
    }
}
