//! Paths of secrets: a path in, `true` out if it contains or may contain secrets.

use std::borrow::Cow;

use super::glob::is_wildcard_or_unknown;
use super::hosts::HostSpelling;
use super::path_patterns::{PathPatterns, PathSets};
use super::private::PrivateFolders;

/// Patterns of paths that contain secrets, and exceptions.
#[derive(Debug)]
pub(crate) struct SecretPaths {
    pub(super) patterns: PathPatterns,
    /// Folders in which a file that the command does not name may be a secret.
    pub(super) private: PrivateFolders,
    /// Hosts that give out keys.
    pub(super) hosts: &'static [&'static str],
    /// Their spellings in a text: whole names, then parts of names, each in the order of `hosts`.
    pub(super) host_spellings: &'static [HostSpelling],
}

impl SecretPaths {
    /// Returns `true` if a name or pattern to search for fits names of secrets.
    pub(super) fn matches_names(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        self.patterns.sets_of(&name).intersects(PathSets::SEARCHED)
            || name.contains(is_wildcard_or_unknown)
                && (self.patterns.may_match(PathSets::SEARCHED, &name, false)
                    || self.patterns.shares_word_with(PathSets::SECRET, &name))
    }

    /// Returns `true` if a path is one of the patterns, in any letter case: a file system may not
    /// distinguish it. A pattern with capitals matches as it is written, because programs have
    /// such names and source code has others (`Cookies`).
    pub(super) fn is_secret(&self, path: &str) -> bool {
        self.is_secret_as_written(path) || self.is_secret_in_lower_case(path)
    }

    fn is_secret_in_lower_case(&self, path: &str) -> bool {
        has_capital(path) && {
            let lower = path.to_lowercase();
            lower != path && self.is_secret_as_written(&lower)
        }
    }

    fn is_secret_as_written(&self, path: &str) -> bool {
        self.is_secret_with(path, |path| self.patterns.sets_of(path))
    }

    /// As [`is_secret_as_written`](Self::is_secret_as_written), with the function that returns the sets
    /// of a path.
    fn is_secret_with(&self, path: &str, sets_of: impl Fn(&str) -> PathSets) -> bool {
        // A path with its folder is more specific than a harmless name.
        let is_secret_path = |path: &str| {
            let sets = sets_of(path);
            sets.intersects(PathSets::SECRET_END)
                || sets.intersects(PathSets::SECRET) && !sets.intersects(PathSets::HARMLESS)
        };
        // The written path of a folder may end with a `/`.
        let as_path = |path: &str| {
            is_secret_path(without_home(path))
                || matches!(normalized(path), Cow::Owned(normal) if is_secret_path(&normal))
        };
        // `HEAD:.env.local`, `1,5:.env.local`, `host:.env.local`
        let inner = path.rsplit_once(':').map(|(_, inner)| inner);
        // `file:x.sqlite?mode=ro`
        let file = inner.and_then(|inner| inner.split_once('?'));
        as_path(path) || inner.is_some_and(as_path) || file.is_some_and(|(file, _)| as_path(file))
    }

    pub(super) fn is_harmless(&self, path: &str) -> bool {
        self.patterns.sets_of(path).intersects(PathSets::HARMLESS)
    }

    pub(super) fn may_read_secrets(&self, path: &str) -> bool {
        let (written, home) = (path, without_home(path) != path);
        let path = normalized(path);
        let sets = self.patterns.sets_of(&path);
        // Most paths are written as they are normalized.
        let known_or_new = |other: &str| match other == path {
            true => sets,
            false => self.patterns.sets_of(other),
        };
        if self.is_secret_with(written, known_or_new) || self.is_secret_in_lower_case(written) {
            return true;
        }
        if sets.intersects(PathSets::HARMLESS) {
            return false;
        }
        let is_folder = |path: &str| self.patterns.sets_of(path).intersects(PathSets::FOLDER);
        if sets.intersects(PathSets::FOLDER)
            || has_capital(&path) && is_folder(&path.to_lowercase())
        {
            return true;
        }
        let (parent, name) = path.rsplit_once('/').unwrap_or(("", &path));
        if !path.contains(is_wildcard_or_unknown) {
            return false;
        }
        let mut above = Some(parent);
        while let Some(folder) = above.filter(|_| name.contains(is_wildcard_or_unknown)) {
            if is_folder(folder)
                || folder.contains(is_wildcard_or_unknown)
                    && self.patterns.may_match(PathSets::FOLDER, folder, home)
            {
                return true;
            }
            above = folder.rsplit_once('/').map(|(rest, _)| rest);
        }
        self.patterns.may_match(PathSets::SECRET, &path, home)
    }
}

/// Returns `true` if a text may differ from the text in lower case.
fn has_capital(text: &str) -> bool {
    text.bytes()
        .any(|byte| byte.is_ascii_uppercase() || !byte.is_ascii())
}

/// Returns a path without its home.
fn without_home(path: &str) -> &str {
    ["~/", "$HOME/", "${HOME}/"]
        .iter()
        .find_map(|home| path.strip_prefix(home))
        .unwrap_or(path)
}

/// Returns a path without its home, empty parts, `.` and `..`. A path that has none of them is borrowed.
fn normalized(path: &str) -> Cow<'_, str> {
    let path = without_home(path);
    let below_root = path.strip_prefix('/');
    let is_normal = |part: &[u8]| !matches!(part, b"" | b"." | b"..");
    let mut written = below_root
        .unwrap_or(path)
        .as_bytes()
        .split(|byte| *byte == b'/');
    if path.is_empty() || written.all(is_normal) {
        return Cow::Borrowed(path);
    }
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
    Cow::Owned(format!("{root}{}", parts.join("/")))
}
