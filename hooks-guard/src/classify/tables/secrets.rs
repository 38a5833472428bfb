//! Paths that hold secrets.

use std::collections::{HashMap, HashSet};

use super::matches;

/// Which paths hold secrets.
#[derive(Debug, Default)]
pub(crate) struct Paths {
    secret: Patterns,
    /// Folders in which nearly everything is secret.
    folders: Patterns,
    harmless: Patterns,
    /// Hosts that give out keys.
    pub(super) hosts: Vec<String>,
}

impl Paths {
    pub(super) fn new(
        secret: Vec<String>,
        folders: Vec<String>,
        harmless: Vec<String>,
        hosts: Vec<String>,
    ) -> Self {
        Paths {
            secret: Patterns::new(secret),
            folders: Patterns::new(folders),
            harmless: Patterns::new(harmless),
            hosts,
        }
    }

    pub(super) fn secret(&self, path: &str) -> bool {
        let is = |path: &str| self.secret.hit(path) && !self.harmless(path);
        // As it stands a folder may end with a `/`.
        is(relative(path)) || path.contains('/') && is(&plain(path))
    }

    pub(super) fn harmless(&self, path: &str) -> bool {
        self.harmless.hit(path)
    }

    pub(super) fn within(&self, path: &str) -> bool {
        if self.secret(path) {
            return true;
        }
        let path = plain(path);
        if self.harmless(&path) {
            return false;
        }
        if self.folders.hit(&path) {
            return true;
        }
        let (parent, name) = path.rsplit_once('/').unwrap_or(("", &path));
        if !name.contains(open) {
            return false;
        }
        // Something in such a folder, or a pattern that fits one of the names that are known.
        let stem = name.find(open).unwrap_or(0);
        let may_be = |(above, last): (&str, &str)| {
            // So little of a name fits much else.
            let least = if above.is_empty() && !last.starts_with('.') {
                4
            } else {
                1
            };
            stem >= least && fits(name, last) && parent.ends_with(above.trim_start_matches('/'))
        };
        self.folders.hit(parent) || self.secret.known().any(may_be)
    }
}

/// Patterns of paths, so kept that a word is compared with few of them.
#[derive(Debug, Default)]
struct Patterns {
    /// Whole names of files.
    names: HashSet<String>,
    /// Patterns of such names.
    globs: Vec<String>,
    /// Ends of paths, by the name that they end with.
    ends: HashMap<String, Vec<String>>,
    /// Patterns of paths, as they stand, and for where they stand below another folder.
    paths: Vec<[String; 2]>,
}

impl Patterns {
    fn new(patterns: Vec<String>) -> Self {
        let mut kept = Patterns::default();
        for pattern in patterns {
            match (pattern.rsplit_once('/'), pattern.contains('*')) {
                (None, false) => {
                    kept.names.insert(pattern);
                }
                (None, true) => kept.globs.push(pattern),
                (Some((_, name)), false) => {
                    let ends = kept.ends.entry(name.to_owned()).or_default();
                    ends.push(pattern);
                }
                (Some(_), true) => {
                    let below = format!("*/{}", pattern.trim_start_matches('/'));
                    kept.paths.push([pattern, below]);
                }
            }
        }
        kept
    }

    fn hit(&self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        if self.names.contains(name) || self.globs.iter().any(|glob| matches(glob, name)) {
            return true;
        }
        let is_end = |end: &String| {
            let above = path.strip_suffix(end.trim_start_matches('/'));
            path == end || above.is_some_and(|above| above.ends_with('/'))
        };
        path.contains('/')
            && (self
                .ends
                .get(name)
                .is_some_and(|ends| ends.iter().any(is_end))
                || self.paths.iter().flatten().any(|glob| matches(glob, path)))
    }

    /// The names that are no patterns, each with the folders above it.
    fn known(&self) -> impl Iterator<Item = (&str, &str)> {
        let names = self.names.iter().map(|name| ("", name.as_str()));
        let ends = self.ends.values().flatten();
        names.chain(ends.filter_map(|end| end.rsplit_once('/')))
    }
}

/// What may stand for other characters.
fn open(c: char) -> bool {
    matches!(c, '*' | '?' | '[') || c == crate::classify::judge::UNKNOWN
}

/// Whether a name fits a pattern of the shell.
fn fits(pattern: &str, name: &str) -> bool {
    let pattern = pattern.replace(crate::classify::judge::UNKNOWN, "*");
    crate::classify::judge::fits(pattern.as_bytes(), name.as_bytes())
}

/// A path without its home.
fn relative(path: &str) -> &str {
    ["~/", "$HOME/", "${HOME}/"]
        .iter()
        .find_map(|home| path.strip_prefix(home))
        .unwrap_or(path)
}

/// A path without its home, and without the parts that lead nowhere.
fn plain(path: &str) -> String {
    let path = relative(path);
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    let root = if path.starts_with('/') { "/" } else { "" };
    format!("{root}{}", parts.join("/"))
}
