//! Checks that the name of a type is unique in its package: structs, enums, traits, unions and
//! type aliases of all sources below `src`.
//!
//! Three kinds of items may share a name with another item:
//!
//! - items of tests (`#[cfg(test)]`) and items within function bodies;
//! - private items that are mentioned at most thirty lines away from their definition only;
//! - items with conditions that exclude each other, such as `unix` and `not(unix)`: they define
//!   one type.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use hooks_tests::repository;
use proc_macro2::{Ident, TokenStream, TokenTree};
use syn::{Attribute, Expr, ExprLit, Item, ItemMod, Lit, Meta, Visibility};

/// The packages whose names are checked.
pub(crate) const PACKAGES: [&str; 6] = [
    "hooks-classify",
    "hooks-core",
    "hooks-guard",
    "hooks-macros",
    "hooks-runtime",
    "hooks-script",
];

/// The largest distance, in lines, between a private item and the mentions of its name.
const MAX_DISTANCE: usize = 30;

/// Definition of a type.
struct Definition {
    name: String,
    /// Path from the root of the package, and line.
    place: String,
    /// Conditions of the item and of the modules around it.
    conditions: Vec<String>,
}

/// One source file.
pub(crate) struct Source {
    pub(crate) items: Vec<Item>,
    /// The lines on which each identifier occurs, macro calls included.
    mentions: BTreeMap<String, BTreeSet<usize>>,
}

impl Source {
    fn parse(text: &str) -> Self {
        let tokens: TokenStream = text.parse().expect("a source that compiles");
        let mut mentions = BTreeMap::new();
        collect_mentions(tokens, &mut mentions);
        let file = syn::parse_file(text).expect("a source that compiles");
        Self {
            items: file.items,
            mentions,
        }
    }

    /// Returns whether all mentions of `name` are at most [`MAX_DISTANCE`] lines away from `line`.
    fn is_mentioned_near(&self, name: &str, line: usize) -> bool {
        let mut lines = self.mentions.get(name).into_iter().flatten();
        lines.all(|mention| mention.abs_diff(line) <= MAX_DISTANCE)
    }
}

fn collect_mentions(tokens: TokenStream, mentions: &mut BTreeMap<String, BTreeSet<usize>>) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => collect_mentions(group.stream(), mentions),
            TokenTree::Ident(ident) => {
                let lines = mentions.entry(ident.to_string()).or_default();
                lines.insert(ident.span().start().line);
            }
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

/// The sources of a package by their paths from its root.
pub(crate) type Sources = BTreeMap<PathBuf, Source>;

/// Reads the files with the extension `rs` below `folder`.
pub(crate) fn read_sources(package: &Path, folder: &Path, sources: &mut Sources) {
    visit_sources(package, folder, &mut |path, text| {
        sources.insert(path, Source::parse(text));
    });
}

/// Calls `visit` with the path and the text of each file with the extension `rs` below `folder`.
pub(crate) fn visit_sources(package: &Path, folder: &Path, visit: &mut impl FnMut(PathBuf, &str)) {
    for entry in fs::read_dir(package.join(folder)).expect("a folder of sources") {
        let name = entry.expect("an entry of the folder").file_name();
        let path = folder.join(name);
        if package.join(&path).is_dir() {
            visit_sources(package, &path, visit);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(package.join(&path)).expect("a source file");
            visit(path, &text);
        }
    }
}

/// Returns whether `file` is the root of a library or program.
fn is_crate_root(file: &Path) -> bool {
    let folder = file.parent().expect("a file is in a folder");
    let in_src =
        folder == Path::new("src") && (file.ends_with("lib.rs") || file.ends_with("main.rs"));
    in_src || folder == Path::new("src/bin")
}

/// Collects the definitions of a package, module by module from the roots of its crates.
struct Walk<'s> {
    sources: &'s Sources,
    read: BTreeSet<&'s Path>,
    definitions: Vec<Definition>,
}

/// Position of a module in the sources.
#[derive(Clone, Copy)]
struct Module<'s> {
    file: &'s Path,
    source: &'s Source,
    /// The folder in which the files of child modules are stored.
    folder: &'s Path,
    conditions: &'s [String],
}

impl<'s> Walk<'s> {
    fn visit_file(&mut self, file: &'s Path, conditions: &[String]) {
        if !self.read.insert(file) {
            return;
        }
        let parent = file.parent().expect("a file is in a folder");
        let folder = if is_crate_root(file) || file.ends_with("mod.rs") {
            parent.to_owned()
        } else {
            file.with_extension("")
        };
        let source = &self.sources[file];
        let module = Module {
            file,
            source,
            folder: &folder,
            conditions,
        };
        self.visit_items(&source.items, module);
    }

    fn visit_items(&mut self, items: &[Item], module: Module<'_>) {
        for item in items {
            match item {
                Item::Enum(item) => self.define(&item.ident, &item.vis, &item.attrs, module),
                Item::Struct(item) => self.define(&item.ident, &item.vis, &item.attrs, module),
                Item::Trait(item) => self.define(&item.ident, &item.vis, &item.attrs, module),
                Item::Type(item) => self.define(&item.ident, &item.vis, &item.attrs, module),
                Item::Union(item) => self.define(&item.ident, &item.vis, &item.attrs, module),
                Item::Mod(item) => self.visit_module(item, module),
                // A macro may take items and repeat them: `pin_project! { struct … }`.
                Item::Macro(item) if item.ident.is_none() => {
                    if let Ok(file) = syn::parse2::<syn::File>(item.mac.tokens.clone()) {
                        self.visit_items(&file.items, module);
                    }
                }
                _ => {}
            }
        }
    }

    fn visit_module(&mut self, item: &ItemMod, module: Module<'_>) {
        let conditions = [module.conditions, &conditions(&item.attrs)].concat();
        let folder = module.folder.join(item.ident.to_string());
        if let Some((_, items)) = &item.content {
            let inner = Module {
                folder: &folder,
                conditions: &conditions,
                ..module
            };
            return self.visit_items(items, inner);
        }
        let candidates = match path_attribute(&item.attrs) {
            Some(path) => vec![module.file.with_file_name(path)],
            None => vec![folder.with_extension("rs"), folder.join("mod.rs")],
        };
        let known = |path: &PathBuf| self.sources.get_key_value(path);
        let Some((file, _)) = candidates.iter().find_map(known) else {
            panic!(
                "{}: module `{}` has no file",
                module.file.display(),
                item.ident
            );
        };
        self.visit_file(file, &conditions);
    }

    fn define(
        &mut self,
        ident: &Ident,
        visibility: &Visibility,
        attrs: &[Attribute],
        module: Module<'_>,
    ) {
        let conditions = [module.conditions, &conditions(attrs)].concat();
        let name = ident.to_string();
        let line = ident.span().start().line;
        let is_private = matches!(visibility, Visibility::Inherited);
        let is_test = conditions.iter().any(|condition| condition == "test");
        if is_test || is_private && self.is_local(&name, line, module) {
            return;
        }
        self.definitions.push(Definition {
            place: format!("{}:{line}", module.file.display()),
            name,
            conditions,
        });
    }

    /// Returns whether a private item is mentioned near its definition only. Private items are
    /// visible in the files of child modules, too.
    fn is_local(&self, name: &str, line: usize, module: Module<'_>) -> bool {
        let is_child = |file: &Path| file != module.file && file.starts_with(module.folder);
        let mut children = self.sources.iter().filter(|(file, _)| is_child(file));
        module.source.is_mentioned_near(name, line)
            && children.all(|(_, source)| !source.mentions.contains_key(name))
    }
}

/// Returns the definitions of a package that have to have a unique name.
fn definitions(sources: &Sources) -> Vec<Definition> {
    let mut walk = Walk {
        sources,
        read: BTreeSet::new(),
        definitions: Vec::new(),
    };
    for file in sources.keys().filter(|file| is_crate_root(file)) {
        walk.visit_file(file, &[]);
    }
    for file in sources.keys() {
        let is_read = walk.read.contains(file.as_path());
        assert!(is_read, "no module reads {}", file.display());
    }
    walk.definitions
}

/// Returns the predicates of the `#[cfg(…)]` attributes.
fn conditions(attrs: &[Attribute]) -> Vec<String> {
    let lists = attrs.iter().filter_map(|attr| match &attr.meta {
        Meta::List(list) if list.path.is_ident("cfg") => Some(&list.tokens),
        _ => None,
    });
    lists
        .map(|tokens| tokens.to_string().replace(' ', ""))
        .collect()
}

/// Returns the value of the `#[path = "…"]` attribute.
fn path_attribute(attrs: &[Attribute]) -> Option<String> {
    attrs.iter().find_map(|attr| match &attr.meta {
        Meta::NameValue(pair) if pair.path.is_ident("path") => match &pair.value {
            Expr::Lit(ExprLit {
                lit: Lit::Str(path),
                ..
            }) => Some(path.value()),
            _ => None,
        },
        _ => None,
    })
}

/// Returns whether one of the predicates is the negation of the other.
fn exclude_each_other(a: &str, b: &str) -> bool {
    let is_platforms = |a, b| a == "unix" && b == "windows";
    let negates = |a: &str, b| a.strip_prefix("not(").and_then(|a| a.strip_suffix(')')) == Some(b);
    is_platforms(a, b) || is_platforms(b, a) || negates(a, b) || negates(b, a)
}

/// Returns whether no build contains both definitions.
fn are_twins(a: &Definition, b: &Definition) -> bool {
    let mut pairs = a
        .conditions
        .iter()
        .flat_map(|a| b.conditions.iter().map(move |b| (a, b)));
    pairs.any(|(a, b)| exclude_each_other(a, b))
}

/// Returns one line for each name that two types have.
fn duplicates(sources: &Sources) -> Vec<String> {
    let mut by_name = BTreeMap::<_, Vec<_>>::new();
    for definition in definitions(sources) {
        let same_name = by_name.entry(definition.name.clone()).or_default();
        same_name.push(definition);
    }
    let lines = by_name.into_iter().filter_map(|(name, definitions)| {
        let is_shared = definitions.iter().enumerate().any(|(index, definition)| {
            let before = &definitions[..index];
            before.iter().any(|other| !are_twins(definition, other))
        });
        let places: Vec<String> = definitions.into_iter().map(|one| one.place).collect();
        is_shared.then(|| format!("`{name}`: {}", places.join(", ")))
    });
    lines.collect()
}

#[test]
fn type_names_are_unique_in_their_package() {
    let mut found = Vec::new();
    for package in PACKAGES {
        let mut sources = Sources::new();
        read_sources(&repository().join(package), Path::new("src"), &mut sources);
        let lines = duplicates(&sources).into_iter();
        found.extend(lines.map(|line| format!("{package}: {line}")));
    }
    assert!(
        found.is_empty(),
        "{} names belong to more than one type of their package:\n{}",
        found.len(),
        found.join("\n")
    );
}

/// Returns the duplicates of a package with these files.
fn duplicates_in(files: &[(&str, &str)]) -> Vec<String> {
    let parse = |(path, text): &(&str, &str)| (PathBuf::from(path), Source::parse(text));
    duplicates(&files.iter().map(parse).collect())
}

/// Returns `#[cfg(…)] mod a; … mod b;` and two files with a private `Shared` that is used far away
/// in the second.
fn two_modules(a: &str, b: &str) -> Vec<String> {
    let far = format!("struct Shared;{}fn f(_: Shared) {{}}", "\n".repeat(40));
    duplicates_in(&[
        ("src/lib.rs", &format!("{a} mod a; {b} mod b;")),
        ("src/a.rs", "pub(crate) struct Shared;"),
        ("src/b/mod.rs", &far),
    ])
}

#[test]
fn names_of_two_modules_are_duplicates_in_builds_with_both_modules() {
    let found = ["`Shared`: src/a.rs:1, src/b/mod.rs:1"];
    assert_eq!(two_modules("", ""), found);
    assert_eq!(two_modules("#[cfg(unix)]", "#[cfg(target_os)]"), found);
    assert!(two_modules("#[cfg(unix)]", "#[cfg(not(unix))]").is_empty());
    assert!(two_modules("#[cfg(unix)]", "#[cfg(windows)]").is_empty());
    assert!(two_modules("", "#[cfg(test)]").is_empty());
}

#[test]
fn names_of_programs_macros_and_inner_modules_are_duplicates() {
    let found = duplicates_in(&[
        ("src/lib.rs", "pub trait T {}\npub type U = ();"),
        (
            "src/main.rs",
            "fn main() {}\nmod inner { pub union T { a: u8 } }",
        ),
        ("src/bin/other.rs", "items! {\n  pub enum U {}\n}"),
    ]);
    let lines = [
        "`T`: src/lib.rs:1, src/main.rs:2",
        "`U`: src/bin/other.rs:2, src/lib.rs:2",
    ];
    assert_eq!(found, lines);
}

/// Returns the duplicates of a private `Near` that is mentioned `distance` lines below its
/// definition, with a public `Near` elsewhere and a child module with this text.
fn private_name(distance: usize, child: &str) -> Vec<String> {
    let gap = "\n".repeat(distance);
    let text = format!("mod child; struct Near;{gap}show!(Near);");
    duplicates_in(&[
        ("src/lib.rs", "mod a; pub struct Near;"),
        ("src/a.rs", &text),
        ("src/a/child.rs", child),
    ])
}

#[test]
fn private_names_are_not_duplicates_if_all_mentions_are_near() {
    let found = ["`Near`: src/a.rs:1, src/lib.rs:1"];
    let in_function = "fn f() { struct Other; }";
    assert!(private_name(MAX_DISTANCE, in_function).is_empty());
    assert_eq!(private_name(MAX_DISTANCE + 1, in_function), found);
    // The child module can use the item that it mentions.
    assert_eq!(private_name(1, "fn f() { super::Near; }"), found);
}

#[test]
fn items_of_functions_are_not_duplicates() {
    let body = "fn f() { struct Local; }";
    let found = duplicates_in(&[
        ("src/lib.rs", &format!("{body} mod a; pub struct Local;")),
        ("src/a.rs", body),
    ]);
    assert!(found.is_empty(), "{found:?}");
}

#[test]
#[should_panic(expected = "no module reads src/lost.rs")]
fn files_outside_the_module_tree_are_reported() {
    duplicates_in(&[("src/lib.rs", ""), ("src/lost.rs", "")]);
}
