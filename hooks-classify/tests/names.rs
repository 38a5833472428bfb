//! Names of programs belong in the tables and in `src/programs`: a string literal elsewhere that
//! names a program duplicates a fact.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use hooks_classify::Tables;
use proc_macro2::{Delimiter, TokenStream, TokenTree};

#[path = "names/guard.rs"]
mod guard;

/// Literals that equal the name of a program but have another meaning, or must remain where they
/// are.
const OTHER_MEANINGS: &[(&str, &str, &str)] = &[
    (".", "host.rs", "a sign"),
    (".", "model/environment.rs", "a folder"),
    (".", "tables/private.rs", "a folder"),
    (".", "tables/secrets.rs", "a folder"),
    ("[", "shell/brush.rs", "a node of the grammar"),
    ("[[", "walk/compound.rs", "a node of the grammar"),
    ("time", "shell/agree.rs", "a keyword of the grammar"),
    ("time", "shell/tree.rs", "a keyword of the grammar"),
    ("command", "shell/tree.rs", "a node of the grammar"),
    ("command", "lib.rs", "a field of the input"),
    ("command", "walk/recorder.rs", "a mark in `package_scripts`"),
    ("yes", "options/reader.rs", "a value of flags"),
    ("xml", "tables/path_patterns.rs", "an ending of files"),
    ("sqlite", "tables/path_patterns.rs", "an ending of files"),
    ("local", "tables/path_patterns.rs", "an ending of files"),
    (
        "python",
        "languages/missing_feature.rs",
        "a feature of the crate",
    ),
    (
        "powershell",
        "languages/missing_feature.rs",
        "a feature of the crate",
    ),
    ("alias", "languages/python.rs", "a field of the grammar"),
    ("call", "languages/python.rs", "a node of the grammar"),
    ("copy", "languages/python.rs", "a method of Python"),
    ("join", "languages/python.rs", "a method of Python"),
    ("open", "languages/python.rs", "a function of Python"),
    ("print", "languages/python.rs", "a function of Python"),
    ("type", "languages/python.rs", "a function of Python"),
    ("kind", "languages/javascript.rs", "a field of the grammar"),
    ("tr", "languages/words.rs", "an operator of Perl"),
    ("GET", "languages/redis.rs", "a command of Redis"),
    ("GET", "secrets/text.rs", "an HTTP method"),
    ("HEAD", "secrets/text.rs", "an HTTP method"),
    ("POST", "secrets/text.rs", "an HTTP method"),
    ("pass", "languages/redis.rs", "a part of names of settings"),
    (
        "invoke",
        "languages/powershell/commands.rs",
        "a verb of PowerShell",
    ),
    ("head", "languages/powershell/commands.rs", "an HTTP method"),
    (
        "patch",
        "languages/powershell/commands.rs",
        "an HTTP method",
    ),
];

const MAX_OTHER_MEANINGS: usize = 34;

/// A string literal with its place.
struct Literal {
    text: String,
    line: usize,
}

#[test]
fn code_outside_of_programs_names_no_program() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    // The words of the formats of settings, such as `true`, are no programs.
    let (found, unused) = compare(&source, &["programs/", "settings/"], OTHER_MEANINGS);
    assert!(
        found.is_empty(),
        "names of programs outside of the tables and of `src/programs`; make the fact a key of the tables, \
         or move the code\n{}",
        found.join("\n")
    );
    assert!(unused.is_empty(), "unused entries: {unused:?}");
    assert!(OTHER_MEANINGS.len() <= MAX_OTHER_MEANINGS);
    assert!(OTHER_MEANINGS.iter().all(|(.., reason)| !reason.is_empty()));
}

#[test]
fn the_guard_names_no_program() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../hooks-guard/src");
    // The package of the crate has no other crates.
    if !source.is_dir() {
        return;
    }
    let exceptions = guard::exceptions();
    let (found, unused) = compare(&source, &[], &exceptions);
    assert!(
        found.is_empty(),
        "names of programs in `hooks-guard`; make the fact a key of the tables\n{}",
        found.join("\n")
    );
    assert!(unused.is_empty(), "unused entries: {unused:?}");
    assert_eq!(
        guard::count(guard::OTHER_MEANINGS),
        guard::OTHER_MEANINGS_COUNT
    );
    assert_eq!(guard::count(guard::PROGRAMS), guard::PROGRAMS_COUNT);
    assert!(exceptions.iter().all(|(.., reason)| !reason.is_empty()));
}

/// Literal, the file or the start of its path, and the reason.
type Exception = (&'static str, &'static str, &'static str);

/// Returns the literals in the files of a folder that equal the name of a program and are no
/// exception, and the exceptions without a literal. Files whose path begins with `left_out` are
/// left out.
fn compare(
    source: &Path,
    left_out: &[&str],
    exceptions: &[Exception],
) -> (Vec<String>, Vec<Exception>) {
    let names: BTreeSet<&str> = Tables::embedded().names().collect();
    let (mut found, mut unused) = (Vec::new(), exceptions.to_vec());
    for file in files(source) {
        let place = file.strip_prefix(source).expect("a file of the folder");
        let place = place.to_str().expect("a path in UTF-8").replace('\\', "/");
        let is_left_out = left_out.iter().any(|folder| place.starts_with(folder));
        if is_left_out || is_test(&place) {
            continue;
        }
        let code = fs::read_to_string(&file).expect("a file that can be read");
        let tokens: TokenStream = code.parse().expect("Rust");
        let mut literals = Vec::new();
        collect(tokens, &mut literals);
        for Literal { text, line } in literals {
            if !names.contains(text.as_str()) {
                continue;
            }
            let is_in =
                |path: &str| place == path || path.ends_with('/') && place.starts_with(path);
            let allowed = |(name, path, _): &&Exception| *name == text && is_in(path);
            match exceptions.iter().find(allowed) {
                Some(entry) => unused.retain(|other| other != entry),
                None => found.push(format!("{}/{place}:{line}: `{text}`", source.display())),
            }
        }
    }
    (found, unused)
}

#[test]
fn literals_outside_docs_tests_and_attributes_are_found() {
    let code = r##"
        //! "a"
        /// "b"
        #[cfg(feature = "c")]
        fn f() { g("d"); h!(["e", r#"f"#]) } // "g"
        #[cfg(test)]
        mod tests { const I: &str = "i"; }
        #[cfg(all(test, feature = "j"))]
        const J: &str = "j";
        const K: &str = "k";
        const L: bool = cfg!(feature = "l");
    "##;
    let mut literals = Vec::new();
    collect(code.parse().expect("Rust"), &mut literals);
    let found: Vec<_> = literals.iter().map(|l| (l.text.as_str(), l.line)).collect();
    assert_eq!(found, [("d", 5), ("e", 5), ("f", 5), ("k", 10)]);
}

/// Returns `true` for a file that only tests have.
fn is_test(place: &str) -> bool {
    place.contains("tests/") || place.ends_with("tests.rs") || place.ends_with("cases.rs")
}

/// Returns the files of Rust in a folder and below.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder that can be read") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|end| end == "rs") {
            found.push(path);
        }
    }
    found
}

/// Adds the string literals of code. Attributes with the comments that document an item, items for
/// tests, and conditions of the build are left out.
fn collect(tokens: TokenStream, literals: &mut Vec<Literal>) {
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Punct(sign) if sign.as_char() == '#' => {
                if matches!(tokens.peek(), Some(TokenTree::Punct(sign)) if sign.as_char() == '!') {
                    tokens.next();
                }
                let attribute = tokens.next().map(|group| group.to_string());
                let is_of_tests = |text: String| {
                    let text = text.replace(' ', "");
                    text == "[cfg(test)]" || text.starts_with("[cfg(all(test,")
                };
                if attribute.is_some_and(is_of_tests) {
                    let ends = |token: &TokenTree| match token {
                        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
                        TokenTree::Punct(sign) => sign.as_char() == ';',
                        _ => false,
                    };
                    tokens.by_ref().find(ends);
                }
            }
            TokenTree::Ident(name) if name == "cfg" => {
                // `cfg!(…)`
                tokens.next();
                tokens.next();
            }
            TokenTree::Group(group) => collect(group.stream(), literals),
            TokenTree::Literal(literal) => {
                let text = literal.to_string();
                let text = text.trim_start_matches(['r', '#']);
                if let Some(text) = text.strip_prefix('"') {
                    literals.push(Literal {
                        text: text.trim_end_matches('#').trim_end_matches('"').to_owned(),
                        line: literal.span().start().line,
                    });
                }
            }
            _ => {}
        }
    }
}
