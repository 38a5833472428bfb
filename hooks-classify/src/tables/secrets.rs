//! Paths of secrets: a path in, `true` out if it contains or may contain secrets.

use super::glob::{globs_overlap, is_wildcard_or_unknown, matches, shell_glob_matches};
use super::lists::WordSet;
use super::private::PrivateFolders;

/// Patterns of paths that contain secrets, and exceptions.
#[derive(Debug)]
pub(crate) struct SecretPaths {
    pub(super) secret: PathPatterns,
    /// Folders in which nearly everything is secret.
    pub(super) folders: PathPatterns,
    pub(super) harmless: PathPatterns,
    /// Names of secrets that other files have, too.
    pub(super) searched: PathPatterns,
    /// Folders in which a file that the command does not name may be a secret.
    pub(super) private: PrivateFolders,
    /// Hosts that give out keys.
    pub(super) hosts: &'static [&'static str],
}

impl SecretPaths {
    /// Returns `true` if a name or pattern to search for fits names of secrets.
    pub(super) fn matches_names(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        self.searched.matches(&name)
            || name.contains(is_wildcard_or_unknown)
                && (self.searched.may_match(&name, false) || self.secret.shares_word_with(&name))
    }

    /// Returns `true` if a path is one of the patterns, in any letter case: a file system may not
    /// distinguish it. A pattern with capitals matches as it is written, because programs have
    /// such names and source code has others (`Cookies`).
    pub(super) fn is_secret(&self, path: &str) -> bool {
        self.is_secret_as_written(path) || {
            let lower = path.to_lowercase();
            lower != path && self.is_secret_as_written(&lower)
        }
    }

    fn is_secret_as_written(&self, path: &str) -> bool {
        // A path with its folder is more specific than a harmless name.
        let is_secret_path = |path: &str| {
            self.secret.matches_end(path) || self.secret.matches(path) && !self.is_harmless(path)
        };
        // The written path of a folder may end with a `/`.
        let as_path = |path: &str| {
            is_secret_path(without_home(path))
                || path.contains('/') && is_secret_path(&normalized(path))
        };
        // `HEAD:.env.local`, `1,5:.env.local`, `host:.env.local`
        let inner = path.rsplit_once(':').map(|(_, inner)| inner);
        // `file:x.sqlite?mode=ro`
        let file = inner.and_then(|inner| inner.split_once('?'));
        as_path(path) || inner.is_some_and(as_path) || file.is_some_and(|(file, _)| as_path(file))
    }

    pub(super) fn is_harmless(&self, path: &str) -> bool {
        self.harmless.matches(path)
    }

    pub(super) fn may_read_secrets(&self, path: &str) -> bool {
        if self.is_secret(path) {
            return true;
        }
        let home = without_home(path) != path;
        let path = normalized(path);
        if self.is_harmless(&path) {
            return false;
        }
        if self.folders.matches(&path) || self.folders.matches(&path.to_lowercase()) {
            return true;
        }
        let (parent, name) = path.rsplit_once('/').unwrap_or(("", &path));
        if !path.contains(is_wildcard_or_unknown) {
            return false;
        }
        let mut above = Some(parent);
        while let Some(folder) = above.filter(|_| name.contains(is_wildcard_or_unknown)) {
            if self.folders.matches(folder)
                || folder.contains(is_wildcard_or_unknown) && self.folders.may_match(folder, home)
            {
                return true;
            }
            above = folder.rsplit_once('/').map(|(rest, _)| rest);
        }
        self.secret.may_match(&path, home)
    }
}

/// Endings that do not identify the contents of a file.
const GENERIC_EXTENSIONS: &[&str] = &[
    "json",
    "yml",
    "yaml",
    "toml",
    "txt",
    "xml",
    "conf",
    "cnf",
    "dat",
    "sqlite",
    "data",
    "default",
    "config",
    "application",
    "local",
    "web",
    "used",
];

/// Patterns of paths, sorted by the build script so that a word is compared with few of them.
#[derive(Debug)]
pub(super) struct PathPatterns {
    /// Whole names of files.
    pub(super) names: WordSet,
    /// Patterns of such names.
    pub(super) globs: &'static [&'static str],
    /// Ends of paths, by the name that they end with, in the order of these names.
    pub(super) ends: &'static [(&'static str, &'static [&'static str])],
    /// Patterns of paths, each alone and with another folder above it.
    pub(super) paths: &'static [[&'static str; 2]],
}

impl PathPatterns {
    fn matches(&self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        if self.names.contains(name) || self.globs.iter().any(|glob| matches(glob, name)) {
            return true;
        }
        path.contains('/')
            && (self.matches_end(path)
                || self.paths.iter().flatten().any(|glob| matches(glob, path)))
    }

    /// Returns `true` if a path ends with one of the paths without a wildcard.
    fn matches_end(&self, path: &str) -> bool {
        let Some((_, name)) = path.rsplit_once('/') else {
            return false;
        };
        let is_end = |end: &&str| {
            let above = path.strip_suffix(end.trim_start_matches('/'));
            path == *end || above.is_some_and(|above| above.ends_with('/'))
        };
        self.ends_with(name).iter().any(is_end)
    }

    /// Returns the ends of paths that end with a name.
    fn ends_with(&self, name: &str) -> &'static [&'static str] {
        let at = self.ends.binary_search_by_key(&name, |(known, _)| known);
        at.map_or(&[], |at| self.ends[at].1)
    }

    /// Returns `true` if a pattern that is searched for fits one of the names and has a word of it:
    /// `*_rsa`, or a beginning up to the end of a word: `id_*`.
    fn shares_word_with(&self, pattern: &str) -> bool {
        const SEPARATORS: [char; 4] = ['.', '_', '-', ' '];
        let words = |text: &str| -> Vec<String> {
            let words = text.split(SEPARATORS).filter(|word| word.len() >= 3);
            let words = words.filter(|word| !GENERIC_EXTENSIONS.contains(word));
            words.map(str::to_owned).collect()
        };
        let known: Vec<String> = pattern
            .split(is_wildcard_or_unknown)
            .flat_map(words)
            .collect();
        let stem = pattern.split(is_wildcard_or_unknown).next().unwrap_or("");
        let is_stem = stem.len() >= 3 && stem.ends_with(SEPARATORS);
        let has_word = |name: &str| words(name).iter().any(|word| known.contains(word));
        (self.names.iter())
            .filter(|name| is_stem && name.starts_with(stem) || has_word(name))
            .any(|name| globs_overlap(pattern.as_bytes(), name.as_bytes()))
    }

    /// Returns `true` if a pattern of the shell, or a path with unknown parts, may fit one of these
    /// paths. Below the home of the user a folder is enough to fit.
    fn may_match(&self, path: &str, home: bool) -> bool {
        let (parent, word) = path.rsplit_once('/').unwrap_or(("", path));
        let names = self.names.iter().chain(self.globs.iter().copied());
        let names = names.map(|name| ("", name));
        let ends = self.ends.iter().flat_map(|(_, ends)| ends.iter());
        let ends = ends.chain(self.paths.iter().map(|[pattern, _]| pattern));
        let paths = ends.filter_map(|end| end.rsplit_once('/'));
        let chunks: Vec<&str> = word.split(is_wildcard_or_unknown).collect();
        let is_pattern = chunks.len() > 1;
        let is_in_home = home && !parent.contains(is_wildcard_or_unknown);
        names.chain(paths).any(|(above, last)| {
            let fits = match is_pattern {
                true => {
                    (is_in_home && !above.is_empty() || is_specific(&chunks, above, last))
                        && shell_glob_matches(word, last)
                }
                // Names without a folder were compared before.
                false => !above.is_empty() && last == word,
            };
            fits && ends_with(parent, above.trim_start_matches('/'))
        })
    }
}

/// Returns `true` if a folder, whose parts may be patterns of the shell, may end with other
/// folders.
fn ends_with(parent: &str, above: &str) -> bool {
    if above.is_empty() || parent.ends_with(above) {
        return true;
    }
    let parts = above.rsplit('/');
    let folders: Vec<&str> = parent.rsplit('/').take(parts.clone().count()).collect();
    let known = |folder: &&str| folder.contains(|c| !is_wildcard_or_unknown(c));
    folders.iter().any(known)
        && folders.len() == parts.clone().count()
        && folders
            .iter()
            .zip(parts)
            .all(|(folder, part)| shell_glob_matches(folder, part))
}

/// Returns `true` if a pattern of the shell contains enough of a name to be meant for it; `chunks` is
/// the text between its wildcards. A short part of a name fits many other names.
fn is_specific(chunks: &[&str], above: &str, last: &str) -> bool {
    let head = last.find('*').map_or(last, |at| &last[..at]);
    if !head.is_empty() {
        let stem = chunks[0];
        let known = stem.len().min(head.len());
        let min_length = if above.is_empty() && !last.starts_with('.') {
            4
        } else {
            1
        };
        return known >= min_length && stem.starts_with(&head[..known]);
    }
    let tail = last.rsplit('*').next().unwrap_or("");
    // `*.json` is not `*.tfvars.json`.
    let is_most_of_tail = |end: &&&str| end.len() >= 3 && end.len() > tail.len() / 2;
    let ends = chunks
        .last()
        .filter(is_most_of_tail)
        .is_some_and(|end| tail.ends_with(end));
    ends || chunks.iter().any(|chunk| {
        let begins =
            |length: usize| tail.is_char_boundary(length) && chunk.ends_with(&tail[..length]);
        !tail.is_empty() && (chunk.contains(tail) || (3..tail.len()).any(begins))
    })
}

/// Returns a path without its home.
fn without_home(path: &str) -> &str {
    ["~/", "$HOME/", "${HOME}/"]
        .iter()
        .find_map(|home| path.strip_prefix(home))
        .unwrap_or(path)
}

/// Returns a path without its home, empty parts, `.` and `..`.
fn normalized(path: &str) -> String {
    let path = without_home(path);
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
