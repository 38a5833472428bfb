//! Files of a crate import each other in one direction: a *ring* is a set of files, each of which
//! imports the next one.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use hooks_tests::repository;
use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::names::visit_sources;

/// The crates, each with the numbers of files in its rings.
const CRATES: [(&str, &[usize]); 6] = [
    ("hooks-core", &[]),
    ("hooks-macros", &[]),
    ("hooks-runtime", &[]),
    ("hooks-classify", &[]),
    ("hooks-script", &[]),
    ("hooks-guard", &[4, 9, 11, 31]),
];

/// A part of a source.
#[derive(Clone, Debug, PartialEq)]
enum Token {
    Word(String),
    Sign(char),
    Open,
    Close,
}

/// A path, and the name by which a `use` makes it known.
type NamedPath = (Vec<String>, String);

/// The modules of a crate, by their paths below its root.
struct Modules {
    sources: BTreeMap<String, Vec<Token>>,
    /// The names that each module imports.
    names: BTreeMap<String, BTreeMap<String, Vec<String>>>,
}

/// Returns the tokens of a source, without its tests. Bodies of macros are tokens like others.
fn tokens(source: TokenStream, found: &mut Vec<Token>) {
    let mut is_test = false;
    for tree in source {
        match tree {
            TokenTree::Group(group) => {
                let braces = group.delimiter() == Delimiter::Brace;
                is_test |= group.to_string().replace(' ', "") == "[cfg(test)]";
                if braces && is_test {
                    is_test = false;
                    continue;
                }
                found.push(if braces {
                    Token::Open
                } else {
                    Token::Sign('(')
                });
                tokens(group.stream(), found);
                found.push(if braces {
                    Token::Close
                } else {
                    Token::Sign(')')
                });
            }
            TokenTree::Ident(word) => found.push(Token::Word(word.to_string())),
            TokenTree::Punct(sign) => {
                is_test &= sign.as_char() != ';';
                found.push(Token::Sign(sign.as_char()));
            }
            TokenTree::Literal(_) => found.push(Token::Sign('"')),
        }
    }
}

/// Returns the paths that begin at a token: `a::b`, or `a::b` and `a::c` of `a::{b, c}`, and the
/// number of their tokens.
fn paths(source: &[Token]) -> (Vec<NamedPath>, usize) {
    let (mut path, mut at) = (Vec::new(), 0);
    loop {
        match source.get(at) {
            Some(Token::Word(word)) => path.push(word.clone()),
            Some(Token::Open) => break,
            // A generic argument, or `*`.
            _ if !path.is_empty() => return (vec![(path, String::new())], at),
            _ => return (Vec::new(), 1),
        }
        at += 1;
        let is_longer = source[at..].starts_with(&[Token::Sign(':'), Token::Sign(':')]);
        if !is_longer {
            let mut name = path.last().cloned().unwrap_or_default();
            if let [Token::Word(word), Token::Word(alias), ..] = &source[at..]
                && word == "as"
            {
                name.clone_from(alias);
                at += 2;
            }
            return (vec![(path, name)], at);
        }
        at += 2;
    }
    let mut found = Vec::new();
    at += 1;
    while at < source.len() && source[at] != Token::Close {
        let (inner, length) = paths(&source[at..]);
        for (rest, name) in inner {
            let mut whole = path.clone();
            let is_own = rest.len() == 1 && rest[0] == "self";
            let name = match path.last() {
                Some(last) if is_own && name == "self" => last.clone(),
                _ => name,
            };
            whole.extend(rest.into_iter().filter(|_| !is_own));
            found.push((whole, name));
        }
        at += length;
    }
    (found, at + 1)
}

impl Modules {
    fn new(sources: BTreeMap<String, Vec<Token>>) -> Self {
        let mut modules = Modules {
            sources,
            names: BTreeMap::new(),
        };
        for (module, source) in &modules.sources {
            let uses = source.iter().enumerate();
            let uses = uses.filter(|(_, token)| **token == Token::Word("use".into()));
            let mut names = BTreeMap::new();
            for (at, _) in uses {
                for (path, name) in paths(&source[at + 1..]).0 {
                    if let Some(path) = modules.absolute(module, &path, true) {
                        names.insert(name, path);
                    }
                }
            }
            modules.names.insert(module.clone(), names);
        }
        modules
    }

    /// Returns a path below the root of the crate; `None` if it begins elsewhere.
    fn absolute(&self, module: &str, path: &[String], in_use: bool) -> Option<Vec<String>> {
        let mut base: Vec<String> = module.split("::").map(str::to_owned).collect();
        base.retain(|part| !part.is_empty());
        let mut rest = path;
        match path.first()?.as_str() {
            "crate" => return Some(path[1..].to_vec()),
            "self" => rest = &path[1..],
            "super" => {
                while let Some((first, after)) = rest.split_first()
                    && first == "super"
                {
                    base.pop();
                    rest = after;
                }
            }
            child => {
                let child = [base.join("::"), child.to_owned()].join("::");
                let child = child.trim_start_matches("::");
                if !in_use || !self.sources.contains_key(child) {
                    return None;
                }
            }
        }
        base.extend_from_slice(rest);
        Some(base)
    }

    /// Returns the module in which the item of a path is defined, as far as names that modules import
    /// show it.
    fn module_of(&self, path: &[String], depth: usize) -> Option<String> {
        let lengths = (0..=path.len()).rev();
        let mut modules = lengths.map(|length| (length, path[..length].join("::")));
        let (length, module) = modules.find(|(_, module)| self.sources.contains_key(module))?;
        let imported = path
            .get(length)
            .and_then(|name| self.names[&module].get(name));
        match imported {
            Some(imported) if depth < 8 => {
                let mut imported = imported.clone();
                imported.extend_from_slice(&path[length + 1..]);
                self.module_of(&imported, depth + 1)
            }
            _ => Some(module),
        }
    }

    /// Returns the modules that each module imports.
    fn imports(&self) -> BTreeMap<&str, BTreeSet<String>> {
        let mut imports = BTreeMap::new();
        for (module, source) in &self.sources {
            let found: &mut BTreeSet<String> = imports.entry(module.as_str()).or_default();
            for (at, token) in source.iter().enumerate() {
                let Token::Word(word) = token else {
                    continue;
                };
                let is_root = matches!(word.as_str(), "crate" | "super" | "self");
                let is_later = source[..at].ends_with(&[Token::Sign(':'), Token::Sign(':')]);
                if !is_root || is_later {
                    continue;
                }
                for (path, _) in paths(&source[at..])
                    .0
                    .iter()
                    .filter(|(path, _)| path.len() > 1)
                {
                    let path = self.absolute(module, path, false);
                    found.extend(path.and_then(|path| self.module_of(&path, 0)));
                }
            }
            found.remove(module);
        }
        imports
    }
}

/// Returns the rings, each with its modules.
fn rings(modules: &Modules) -> Vec<BTreeSet<String>> {
    let imports = modules.imports();
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

/// Returns the path of the module of a file below `src`; `None` for a program and a file of tests.
fn module_path(file: &Path) -> Option<String> {
    let file = file.with_extension("");
    let mut parts: Vec<_> = file
        .iter()
        .skip(1)
        .map(|part| part.to_string_lossy())
        .collect();
    if parts
        .iter()
        .any(|part| matches!(&**part, "bin" | "main" | "tests"))
    {
        return None;
    }
    let is_parent = parts.last().is_some_and(|last| last == "mod") || parts == ["lib"];
    parts.truncate(parts.len() - usize::from(is_parent));
    Some(parts.join("::"))
}

/// Returns the modules of a package.
fn modules(package: &Path) -> Modules {
    let mut sources = BTreeMap::new();
    visit_sources(package, Path::new("src"), &mut |file, text| {
        sources.extend(module_path(&file).map(|module| (module, parsed(text))));
    });
    Modules::new(sources)
}

fn parsed(source: &str) -> Vec<Token> {
    let mut found = Vec::new();
    tokens(source.parse().expect("tokens of Rust"), &mut found);
    found
}

#[test]
fn no_crate_has_a_new_ring_of_files() {
    for (name, known) in CRATES {
        let modules = modules(&repository().join(name));
        let count: usize = modules.imports().values().map(BTreeSet::len).sum();
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
            .map(|(module, source)| ((*module).to_owned(), parsed(source)));
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
