//! The imports of the files of a crate: takes the sources below `src`, returns for each module the
//! modules that it names in a path, with file and line. Tests are left out.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::names::visit_sources;

/// A part of a source.
#[derive(Clone, Debug, PartialEq)]
enum Part {
    Word(String),
    Sign(char),
    Open,
    Close,
}

/// A part of a source, and its place.
#[derive(Clone, Debug)]
struct Token {
    part: Part,
    line: usize,
    /// The modules within the file that contain it.
    inside: Vec<String>,
}

/// The source of a module.
pub(crate) struct Source {
    /// The file, relative to the package.
    file: PathBuf,
    tokens: Vec<Token>,
}

/// An import of a module by another one.
#[derive(Debug)]
pub(crate) struct Import {
    /// The imported module.
    pub(crate) module: String,
    /// The path as in the source, below the root of the crate.
    pub(crate) path: String,
    /// File and line: `src/a.rs:3`.
    pub(crate) place: String,
    /// `true` if the path is in a module within the file.
    pub(crate) is_inner: bool,
}

/// A path, and the name by which a `use` makes it known.
type NamedPath = (Vec<String>, String);

/// The modules of a crate, by their paths below its root.
pub(crate) struct Modules {
    sources: BTreeMap<String, Source>,
    /// The names that each module imports, also a module within a file.
    names: BTreeMap<String, BTreeMap<String, Vec<String>>>,
}

/// Returns the tokens of a source, without its tests. Bodies of macros are tokens like others.
fn tokens(source: TokenStream, inside: &[String], found: &mut Vec<Token>) {
    let (mut is_test, mut module) = (false, None);
    let mut trees = source.into_iter().peekable();
    while let Some(tree) = trees.next() {
        let line = tree.span().start().line;
        let token = |part| Token {
            part,
            line,
            inside: inside.to_vec(),
        };
        match tree {
            TokenTree::Group(group) => {
                let braces = group.delimiter() == Delimiter::Brace;
                let attribute = group.to_string().replace(' ', "");
                is_test |= attribute == "[cfg(test)]" || attribute.starts_with("[cfg(all(test,");
                let module = module.take().filter(|_| braces);
                if braces && is_test {
                    is_test = false;
                    continue;
                }
                let (open, close) = match braces {
                    true => (Part::Open, Part::Close),
                    false => (Part::Sign('('), Part::Sign(')')),
                };
                found.push(token(open));
                let inner = [inside, module.as_slice()].concat();
                tokens(group.stream(), &inner, found);
                found.push(token(close));
            }
            TokenTree::Ident(word) => {
                if word == "mod"
                    && let Some(TokenTree::Ident(name)) = trees.peek()
                {
                    module = Some(name.to_string());
                }
                found.push(token(Part::Word(word.to_string())));
            }
            TokenTree::Punct(sign) => {
                let is_end = sign.as_char() == ';';
                is_test &= !is_end;
                module = module.filter(|_| !is_end);
                found.push(token(Part::Sign(sign.as_char())));
            }
            TokenTree::Literal(_) => found.push(token(Part::Sign('"'))),
        }
    }
}

/// Returns `true` if the tokens begin with `::`.
fn begins_with_colons(tokens: &[Token]) -> bool {
    let is_colon = |token: &Token| token.part == Part::Sign(':');
    matches!(tokens, [first, second, ..] if is_colon(first) && is_colon(second))
}

/// Returns the paths that begin at a token: `a::b`, or `a::b` and `a::c` of `a::{b, c}`, and the
/// number of their tokens.
fn paths(source: &[Token]) -> (Vec<NamedPath>, usize) {
    let (mut path, mut at) = (Vec::new(), 0);
    loop {
        match source.get(at).map(|token| &token.part) {
            Some(Part::Word(word)) => path.push(word.clone()),
            Some(Part::Open) => break,
            // A generic argument, or `*`.
            _ if !path.is_empty() => return (vec![(path, String::new())], at),
            _ => return (Vec::new(), 1),
        }
        at += 1;
        if !begins_with_colons(&source[at..]) {
            let mut name = path.last().cloned().unwrap_or_default();
            if let [first, second, ..] = &source[at..]
                && first.part == Part::Word("as".into())
                && let Part::Word(alias) = &second.part
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
    while at < source.len() && source[at].part != Part::Close {
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

/// Returns the path of a module within the file of another one.
fn inner(module: &str, inside: &[String]) -> String {
    let parts = std::iter::once(module).chain(inside.iter().map(String::as_str));
    let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
    parts.join("::")
}

/// Returns a path below the root of the crate; `None` if it begins elsewhere.
fn absolute(
    sources: &BTreeMap<String, Source>,
    module: &str,
    path: &[String],
    in_use: bool,
) -> Option<Vec<String>> {
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
            if !in_use || !sources.contains_key(child) {
                return None;
            }
        }
    }
    base.extend_from_slice(rest);
    Some(base)
}

impl Modules {
    pub(crate) fn new(sources: BTreeMap<String, Source>) -> Self {
        let mut modules = Modules {
            sources,
            names: BTreeMap::new(),
        };
        for (module, source) in &modules.sources {
            modules.names.entry(module.clone()).or_default();
            let uses = source.tokens.iter().enumerate();
            let uses = uses.filter(|(_, token)| token.part == Part::Word("use".into()));
            for (at, token) in uses {
                let own = inner(module, &token.inside);
                for (path, name) in paths(&source.tokens[at + 1..]).0 {
                    if let Some(path) = absolute(&modules.sources, &own, &path, true) {
                        let names = modules.names.entry(own.clone()).or_default();
                        names.insert(name, path);
                    }
                }
            }
        }
        modules
    }

    /// Returns the module in which the item of a path is defined, as far as names that modules import
    /// show it.
    fn module_of(&self, path: &[String], depth: usize) -> Option<String> {
        let lengths = (0..=path.len()).rev();
        let mut modules = lengths.map(|length| (length, path[..length].join("::")));
        let (length, module) = modules.find(|(_, module)| self.names.contains_key(module))?;
        let imported = path
            .get(length)
            .and_then(|name| self.names[&module].get(name));
        match imported {
            Some(imported) if depth < 8 => {
                let mut imported = imported.clone();
                imported.extend_from_slice(&path[length + 1..]);
                self.module_of(&imported, depth + 1)
            }
            // A module within a file belongs to the file.
            _ => {
                let mut modules = (0..=length).rev().map(|length| path[..length].join("::"));
                modules.find(|module| self.sources.contains_key(module))
            }
        }
    }

    /// Returns the imports of each module.
    pub(crate) fn imports(&self) -> BTreeMap<&str, Vec<Import>> {
        let mut imports = BTreeMap::new();
        for (module, source) in &self.sources {
            let found: &mut Vec<Import> = imports.entry(module.as_str()).or_default();
            let tokens = &source.tokens;
            for (at, token) in tokens.iter().enumerate() {
                let Part::Word(word) = &token.part else {
                    continue;
                };
                let is_root = matches!(word.as_str(), "crate" | "super" | "self");
                let is_later = at >= 2 && begins_with_colons(&tokens[at - 2..]);
                if !is_root || is_later {
                    continue;
                }
                let own = inner(module, &token.inside);
                for (path, _) in paths(&tokens[at..])
                    .0
                    .iter()
                    .filter(|(path, _)| path.len() > 1)
                {
                    let Some(path) = absolute(&self.sources, &own, path, false) else {
                        continue;
                    };
                    let imported = self.module_of(&path, 0);
                    let imported = imported.filter(|imported| imported != module);
                    found.extend(imported.map(|module| Import {
                        module,
                        path: path.join("::"),
                        place: format!("{}:{}", source.file.display(), token.line),
                        is_inner: !token.inside.is_empty(),
                    }));
                }
            }
        }
        imports
    }

    /// Returns the modules below the root of the crate, and the root, which has an empty name.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.sources.keys().map(String::as_str)
    }
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
pub(crate) fn modules(package: &Path) -> Modules {
    let mut sources = BTreeMap::new();
    visit_sources(package, Path::new("src"), &mut |file, text| {
        sources.extend(module_path(&file).map(|module| (module, parsed(file, text))));
    });
    Modules::new(sources)
}

/// Returns the source of a module from the text of its file.
pub(crate) fn parsed(file: impl Into<PathBuf>, source: &str) -> Source {
    let mut found = Vec::new();
    tokens(source.parse().expect("tokens of Rust"), &[], &mut found);
    Source {
        file: file.into(),
        tokens: found,
    }
}
