//! Paths that hold secrets.

use super::matches;

/// Patterns of paths.
#[derive(Debug, Default)]
pub(crate) struct Paths {
    pub(super) secret: Vec<String>,
    /// Folders in which nearly everything is secret.
    pub(super) folders: Vec<String>,
    pub(super) harmless: Vec<String>,
}

impl Paths {
    pub(super) fn secret(&self, path: &str) -> bool {
        let is = |path: &str| {
            self.secret.iter().any(|pattern| hit(pattern, path)) && !self.harmless(path)
        };
        // As it stands a folder may end with a `/`.
        is(relative(path)) || is(&plain(path))
    }

    pub(super) fn harmless(&self, path: &str) -> bool {
        self.harmless.iter().any(|pattern| hit(pattern, path))
    }

    pub(super) fn within(&self, path: &str) -> bool {
        if self.secret(path) {
            return true;
        }
        let path = plain(path);
        if self.harmless(&path) {
            return false;
        }
        let folder = |path: &str| self.folders.iter().any(|folder| hit(folder, path));
        if folder(&path) {
            return true;
        }
        let (parent, name) = path.rsplit_once('/').unwrap_or(("", &path));
        if !name.contains(open) {
            return false;
        }
        // Something in such a folder, or a pattern that fits one of the names that are known.
        let stem = name.find(open).unwrap_or(0);
        let may_be = |secret: &String| {
            let (above, last) = secret.rsplit_once('/').unwrap_or(("", secret));
            // So little of a name fits much else.
            let least = if above.is_empty() && !last.starts_with('.') {
                4
            } else {
                2
            };
            stem >= least
                && !secret.contains('*')
                && fits(name, last)
                && parent.ends_with(above.trim_start_matches('/'))
        };
        folder(parent) || self.secret.iter().any(may_be)
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

fn hit(pattern: &str, path: &str) -> bool {
    if pattern.contains('/') {
        let below = pattern.trim_start_matches('/');
        matches(pattern, path)
            || if pattern.contains('*') {
                matches(&format!("*/{below}"), path)
            } else {
                path.strip_suffix(below)
                    .is_some_and(|above| above.ends_with('/'))
            }
    } else {
        matches(pattern, path.rsplit('/').next().unwrap_or(path))
    }
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
