//! Paths that hold secrets.

use super::lists::Set;
use super::matches;
use super::private::Private;

/// Which paths hold secrets.
#[derive(Debug)]
pub(crate) struct Paths {
    pub(super) secret: Patterns,
    /// Folders in which nearly everything is secret.
    pub(super) folders: Patterns,
    pub(super) harmless: Patterns,
    /// Names that secrets have, and other files too.
    pub(super) searched: Patterns,
    /// Folders in which a file that the command does not name may be a secret.
    pub(super) private: Private,
    /// Hosts that give out keys.
    pub(super) hosts: &'static [&'static str],
}

impl Paths {
    /// Returns whether a name that is searched for, which may be a pattern, is one that secrets have.
    pub(super) fn is_searched(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        self.searched.hit(&name)
            || name.contains(open)
                && (self.searched.may_be(&name, false) || self.secret.is_named_by(&name))
    }

    pub(super) fn secret(&self, path: &str) -> bool {
        let is = |path: &str| self.secret.hit(path) && !self.harmless(path);
        // As it stands a folder may end with a `/`.
        let as_path = |path: &str| is(relative(path)) || path.contains('/') && is(&plain(path));
        // `HEAD:.env.local`, `1,5:.env.local`, `host:.env.local`
        let inner = path.rsplit_once(':').map(|(_, inner)| inner);
        // `file:x.sqlite?mode=ro`
        let file = inner.and_then(|inner| inner.split_once('?'));
        as_path(path) || inner.is_some_and(as_path) || file.is_some_and(|(file, _)| as_path(file))
    }

    pub(super) fn harmless(&self, path: &str) -> bool {
        self.harmless.hit(path)
    }

    pub(super) fn within(&self, path: &str) -> bool {
        if self.secret(path) {
            return true;
        }
        let home = relative(path) != path;
        let path = plain(path);
        if self.harmless(&path) {
            return false;
        }
        if self.folders.hit(&path) {
            return true;
        }
        let (parent, name) = path.rsplit_once('/').unwrap_or(("", &path));
        if !path.contains(open) {
            return false;
        }
        let mut above = Some(parent);
        while let Some(folder) = above.filter(|_| name.contains(open)) {
            if self.folders.hit(folder)
                || folder.contains(open) && self.folders.may_be(folder, home)
            {
                return true;
            }
            above = folder.rsplit_once('/').map(|(rest, _)| rest);
        }
        self.secret.may_be(&path, home)
    }
}

/// Endings that say nothing of what a file holds.
const ENDINGS: &[&str] = &[
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
pub(super) struct Patterns {
    /// Whole names of files.
    pub(super) names: Set,
    /// Patterns of such names.
    pub(super) globs: &'static [&'static str],
    /// Ends of paths, by the name that they end with, in the order of these names.
    pub(super) ends: &'static [(&'static str, &'static [&'static str])],
    /// Patterns of paths, as they stand, and for where they stand below another folder.
    pub(super) paths: &'static [[&'static str; 2]],
}

impl Patterns {
    fn hit(&self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        if self.names.contains(name) || self.globs.iter().any(|glob| matches(glob, name)) {
            return true;
        }
        let is_end = |end: &&str| {
            let above = path.strip_suffix(end.trim_start_matches('/'));
            path == *end || above.is_some_and(|above| above.ends_with('/'))
        };
        path.contains('/')
            && (self.ends_with(name).iter().any(is_end)
                || self.paths.iter().flatten().any(|glob| matches(glob, path)))
    }

    /// Returns the ends of paths that end with a name.
    fn ends_with(&self, name: &str) -> &'static [&'static str] {
        let at = self.ends.binary_search_by_key(&name, |(known, _)| known);
        at.map_or(&[], |at| self.ends[at].1)
    }

    /// Returns true if a pattern that is searched for fits one of the names and has a word of it: `*_rsa`,
    /// or a beginning up to the end of a word: `id_*`.
    fn is_named_by(&self, pattern: &str) -> bool {
        const SEPARATORS: [char; 4] = ['.', '_', '-', ' '];
        let words = |text: &str| -> Vec<String> {
            let words = text.split(SEPARATORS).filter(|word| word.len() >= 3);
            let words = words.filter(|word| !ENDINGS.contains(word));
            words.map(str::to_owned).collect()
        };
        let known: Vec<String> = pattern.split(open).flat_map(words).collect();
        let stem = pattern.split(open).next().unwrap_or("");
        let is_stem = stem.len() >= 3 && stem.ends_with(SEPARATORS);
        let has_word = |name: &str| words(name).iter().any(|word| known.contains(word));
        (self.names.iter())
            .filter(|name| is_stem && name.starts_with(stem) || has_word(name))
            .any(|name| overlap(pattern.as_bytes(), name.as_bytes()))
    }

    /// Returns true if a pattern of the shell, or a path of which some is not known, may stand for one
    /// of these paths. Below the home of the user a folder alone says which are meant.
    fn may_be(&self, path: &str, home: bool) -> bool {
        let (parent, word) = path.rsplit_once('/').unwrap_or(("", path));
        let names = self.names.iter().chain(self.globs.iter().copied());
        let names = names.map(|name| ("", name));
        let ends = self.ends.iter().flat_map(|(_, ends)| ends.iter());
        let ends = ends.chain(self.paths.iter().map(|[pattern, _]| pattern));
        let paths = ends.filter_map(|end| end.rsplit_once('/'));
        names
            .chain(paths)
            .filter(|(above, _)| ends_with(parent, above.trim_start_matches('/')))
            .any(|(above, last)| match word.contains(open) {
                true => {
                    let meant = home && !above.is_empty() && !parent.contains(open);
                    (meant || is_specific(word, above, last)) && fits(word, last)
                }
                // Of the names alone it is known whether they fit.
                false => !above.is_empty() && last == word,
            })
    }
}

/// Returns true if a folder, of which parts may be patterns of the shell, may end with others.
fn ends_with(parent: &str, above: &str) -> bool {
    if above.is_empty() || parent.ends_with(above) {
        return true;
    }
    let parts = above.rsplit('/');
    let folders: Vec<&str> = parent.rsplit('/').take(parts.clone().count()).collect();
    let known = |folder: &&str| folder.contains(|c| !open(c));
    folders.iter().any(known)
        && folders.len() == parts.clone().count()
        && folders
            .iter()
            .zip(parts)
            .all(|(folder, part)| fits(folder, part))
}

/// Returns true if a name may fit a pattern of the shell, which has to name the dot that a name begins
/// with, and a pattern in which `*` stands for anything.
pub(super) fn fits(word: &str, pattern: &str) -> bool {
    let hidden = pattern.starts_with('.') && word.starts_with(['*', '?', '[']);
    let word = word.replace(crate::judge::UNKNOWN, "*");
    !hidden && overlap(word.as_bytes(), pattern.as_bytes())
}

/// What may stand for other characters.
pub(super) fn open(c: char) -> bool {
    matches!(c, '*' | '?' | '[') || c == crate::judge::UNKNOWN
}

/// Whether a pattern of the shell has enough of a name in it that it is likely meant: little of a
/// name fits much else.
fn is_specific(word: &str, above: &str, last: &str) -> bool {
    let chunks: Vec<&str> = word.split(open).collect();
    let head = last.split('*').next().unwrap_or("");
    if !head.is_empty() {
        let stem = chunks[0];
        let known = stem.len().min(head.len());
        let least = if above.is_empty() && !last.starts_with('.') {
            4
        } else {
            1
        };
        return known >= least && stem.starts_with(&head[..known]);
    }
    let tail = last.rsplit('*').next().unwrap_or("");
    // `*.json` is not `*.tfvars.json`.
    let most = |end: &&&str| end.len() >= 3 && end.len() > tail.len() / 2;
    let ends = chunks
        .last()
        .filter(most)
        .is_some_and(|end| tail.ends_with(end));
    ends || chunks.iter().any(|chunk| {
        let begins =
            |length: usize| tail.is_char_boundary(length) && chunk.ends_with(&tail[..length]);
        !tail.is_empty() && (chunk.contains(tail) || (3..tail.len()).any(begins))
    })
}

/// Whether some name fits both a pattern of the shell and a pattern in which `*` stands for anything.
fn overlap(mut word: &[u8], pattern: &[u8]) -> bool {
    // The places in the pattern that a beginning of the word may have reached.
    let mut reached = vec![false; pattern.len() + 1];
    reached[0] = true;
    loop {
        for at in 0..pattern.len() {
            reached[at + 1] |= reached[at] && pattern[at] == b'*';
        }
        let [byte, rest @ ..] = word else {
            return reached[pattern.len()];
        };
        word = rest;
        if *byte == b'*' {
            let first = reached.iter().position(|is| *is);
            reached[first.unwrap_or(pattern.len() + 1).min(pattern.len())..].fill(first.is_some());
            continue;
        }
        let any = matches!(byte, b'?' | b'[');
        if *byte == b'['
            && let Some(end) = word.iter().position(|byte| *byte == b']')
        {
            word = &word[end + 1..];
        }
        let mut next = vec![false; pattern.len() + 1];
        for (at, other) in pattern.iter().enumerate().filter(|(at, _)| reached[*at]) {
            let star = *other == b'*';
            next[at] |= star;
            next[at + 1] |= !star && (any || byte == other);
        }
        reached = next;
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
