//! Patterns of secrets: the lists of `secrets.toml` in, source of sorted lists out, so that a path is
//! compared with few patterns.

use std::collections::{BTreeMap, BTreeSet};

use crate::emit::{list, strings};
use crate::raw::{RawPrivate, RawSecrets};

/// Returns the expression of the crate's `SecretPaths`.
pub(crate) fn paths(secrets: &RawSecrets) -> String {
    format!(
        "SecretPaths {{\nsecret: {},\nfolders: {},\nharmless: {},\nsearched: {},\nprivate: {},\nhosts: {},\n}}",
        patterns(&secrets.paths),
        patterns(&secrets.folders),
        patterns(&secrets.harmless),
        patterns(&secrets.searched),
        private(&secrets.private),
        strings(&secrets.hosts),
    )
}

fn patterns(patterns: &[String]) -> String {
    let mut names = BTreeSet::new();
    let mut globs = Vec::new();
    let mut ends: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut paths = Vec::new();
    for pattern in patterns {
        match (pattern.rsplit_once('/'), pattern.contains('*')) {
            (None, false) => drop(names.insert(pattern)),
            (None, true) => globs.push(pattern),
            (Some((_, name)), false) => ends.entry(name).or_default().push(pattern.clone()),
            (Some(_), true) => {
                let below = format!("*/{}", pattern.trim_start_matches('/'));
                paths.push(format!("[{pattern:?}, {below:?}]"));
            }
        }
    }
    let ends = ends
        .iter()
        .map(|(name, ends)| format!("({name:?}, {})", strings(ends)));
    format!(
        "PathPatterns {{\nnames: WordSet({}),\nglobs: {},\nends: {},\npaths: {},\n}}",
        strings(names),
        strings(globs),
        list(ends),
        list(paths),
    )
}

fn private(private: &RawPrivate) -> String {
    let variables = private.variables.iter();
    format!(
        "PrivateFolders {{\nfolders: {},\nopen: {},\nsources: {},\nfiles: {},\nhome: {},\nvariables: {},\n}}",
        list(private.folders.iter().map(|text| folder(text))),
        list(private.open.iter().map(|text| folder(text))),
        strings(&private.sources),
        strings(&private.files),
        strings(&private.home),
        list(variables.map(|(name, place)| format!("({name:?}, {place:?})"))),
    )
}

/// Returns the expression of the pattern of a folder: `~/.*/**`.
fn folder(text: &str) -> String {
    let (text, below) = match text.strip_suffix("/**") {
        Some(text) => (text, true),
        None => (text, false),
    };
    let root = match text.starts_with('~') {
        true => "Home",
        false => "System",
    };
    let parts = text.split('/').filter(|part| !matches!(*part, "" | "~"));
    let parts = strings(parts);
    format!("FolderPattern {{ root: PathRoot::{root}, parts: {parts}, below: {below} }}")
}
