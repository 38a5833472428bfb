//! Protected files. In: a part of a command, or a path. Out: the protection that it touches.

use std::collections::HashSet;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use super::super::context::{RequestContext, base_name, name_of};
use super::super::paths::{ResolvedPath, normal};
use super::places::{ANYWHERE, ROOTED};
use super::protection::{Protected, Protection, active};
use crate::classify::{
    Crud, FileOperation, OutputSource, Part, PartCall, PathEffect, Tables, UNKNOWN, Word,
};
use crate::protocol::{CLIENTS, FilePlace};

/// A protected path: its components in lower case; `*` matches within one component.
#[derive(Clone, Debug)]
struct ProtectedPath {
    protection: Protection,
    parts: Vec<String>,
    /// `true` if the path starts at the root; `false` if it matches anywhere.
    rooted: bool,
    /// `true` if everything below the path is protected.
    below: bool,
}

/// Placeholder for text that a file name pattern matches.
const WILDCARD: &str = "\u{F0002}";

/// All protected paths. The guards are built when the first path is compared. Most commands only read:
/// the guards that count for reading have a list of their own, which resolves the links of 15 files
/// instead of 60; `ls -la` −7 % instructions.
#[derive(Debug)]
pub(super) struct ProtectedFiles {
    places: Arc<Protected>,
    all: OnceLock<Vec<ProtectedPath>>,
    reading: OnceLock<Vec<ProtectedPath>>,
    holders: OnceLock<HashSet<String>>,
}

/// Builds the guards of these places; if `reading`, only the guards that count for reading.
fn build(places: &Protected, reading: bool) -> Vec<ProtectedPath> {
    let mut guards = Vec::new();
    let mut own = |path: &Path, protection, reads: bool| {
        if reading && !reads {
            return;
        }
        let mut names = vec![normal(&path.to_string_lossy())];
        names.extend(std::fs::canonicalize(path).map(|real| real.to_string_lossy().into_owned()));
        guards.extend(names.iter().map(|name| ProtectedPath {
            protection,
            parts: components(name),
            rooted: true,
            below: true,
        }));
    };
    for file in places.files.iter().chain(&places.socket) {
        own(file, Protection::Files, true);
    }
    if !reading {
        for file in places.settings.list() {
            own(&file, Protection::Settings, false);
        }
    }
    own(&places.home.join("bin"), Protection::Programs, false);
    if let Some(pid) = places.pid {
        own(
            Path::new(&format!("/proc/{pid}")),
            Protection::Process,
            true,
        );
    }
    for (table, rooted) in [(ANYWHERE, false), (ROOTED, true)] {
        for (protection, paths) in table {
            if reading && *protection != Protection::Ssh {
                continue;
            }
            guards.extend(paths.iter().map(|path| ProtectedPath {
                protection: *protection,
                parts: components(path),
                rooted,
                below: path.ends_with('/'),
            }));
        }
    }
    if !reading {
        let files = CLIENTS.iter().flat_map(|client| client.files);
        guards.extend(files.map(|file| ProtectedPath {
            protection: Protection::Settings,
            parts: components(file.path),
            rooted: file.place == FilePlace::Machine,
            below: file.is_directory(),
        }));
    }
    guards
}

impl ProtectedFiles {
    pub(super) fn new(places: Arc<Protected>) -> Self {
        Self {
            places,
            all: OnceLock::new(),
            reading: OnceLock::new(),
            holders: OnceLock::new(),
        }
    }

    /// Returns the guards that count for an effect.
    fn guards(&self, effect: Crud) -> &[ProtectedPath] {
        match effect {
            Crud::Read => self.reading.get_or_init(|| build(&self.places, true)),
            _ => self.all.get_or_init(|| build(&self.places, false)),
        }
    }

    /// Returns the protection of a path for this effect.
    pub(super) fn path_protection(&self, path: &ResolvedPath, effect: Crud) -> Option<Protection> {
        path.names.iter().find_map(|name| {
            let parts = components(name);
            let reads = effect == Crud::Read;
            let is_open = reads && is_public_part_of_ssh(&parts);
            let guards = self.guards(effect).iter();
            let mut hit = guards.filter(|guard| {
                !(is_open && guard.protection == Protection::Ssh) && guard.matches(&parts, reads)
            });
            hit.next().map(|guard| guard.protection)
        })
    }

    /// Returns the protection of a path for this effect, including protected files in a directory
    /// that is removed.
    pub(super) fn tree_protection(
        &self,
        context: &RequestContext<'_>,
        path: &ResolvedPath,
        effect: Crud,
    ) -> Option<Protection> {
        self.path_protection(path, effect).or_else(|| {
            let is_gone = effect == Crud::Delete;
            is_gone
                .then(|| self.moved_protection(context, path))
                .flatten()
        })
    }

    /// Returns the protection of a path that a part names in its words, as in
    /// [`tree_protection`](Self::tree_protection), unless the part deletes files and no folders.
    fn named_protection(
        &self,
        context: &RequestContext<'_>,
        part: &Part,
        touch: &PathEffect,
    ) -> Option<Protection> {
        let path = locate(context, &touch.path);
        match deletes_only_files(part) {
            true => self.path_protection(&path, touch.effect),
            false => self.tree_protection(context, &path, touch.effect),
        }
    }

    /// Returns the protection of a file inside a directory that is removed or moved as a whole.
    fn moved_protection(
        &self,
        context: &RequestContext<'_>,
        path: &ResolvedPath,
    ) -> Option<Protection> {
        let cwd = context
            .request
            .cwd
            .as_ref()
            .map(|cwd| components(&cwd.to_string_lossy()));
        let home = components(&self.places.home.to_string_lossy());
        path.names.iter().find_map(|name| {
            let parts = components(name);
            if name.contains(UNKNOWN) {
                return None;
            }
            if home.starts_with(&parts) {
                return Some(Protection::ShellStart);
            }
            if cwd.as_ref().is_some_and(|cwd| cwd.starts_with(&parts)) {
                return Some(Protection::Git);
            }
            let guards = self.guards(Crud::Delete).iter();
            let mut hit = guards.filter(|guard| guard.contains_protected(&parts));
            hit.next().map(|guard| guard.protection)
        })
    }

    /// Returns the protection that a part of a command touches, with the path as the command names
    /// it.
    pub(super) fn protection(
        &self,
        context: &RequestContext<'_>,
        part: &Part,
    ) -> Option<(Protection, String)> {
        for touch in &part.redirections {
            let path = locate(context, &touch.path);
            if let Some(protection) = self.tree_protection(context, &path, touch.effect) {
                return Some((protection, touch.path.text.clone()));
            }
        }
        for touch in &part.path_effects {
            if let Some(protection) = self.named_protection(context, part, touch)
                && (touch.effect > Crud::Read || counts(part, protection, &touch.path))
            {
                return Some((protection, touch.path.text.clone()));
            }
        }
        let name = name_of(part);
        let tables = Tables::embedded();
        let says = tables.output_source(name) == Some(OutputSource::Words);
        let effect = match active(part) && !says {
            true => part.effect.max(Crud::Create),
            false => Crud::Read,
        };
        if says && effect == Crud::Read {
            return None;
        }
        let words = part
            .words
            .iter()
            .skip(1)
            .chain(part.assignments.iter().map(|one| &one.value));
        let reads = files_only_read(part);
        let keeps = tables.keeps_files(part);
        for word in words {
            let effect = match reads.contains(&word.text.as_str()) {
                true => Crud::Read,
                false => effect,
            };
            for text in texts(&word.text) {
                // An argument that tells git where a repository is.
                if name == "git" && (text == ".git" || text.ends_with("/.git")) {
                    continue;
                }
                let place = locate(context, &word.with_text(text));
                if keeps && self.path_protection(&place, Crud::Read).is_none() {
                    continue;
                }
                if let Some(protection) = self.path_protection(&place, effect)
                    && (effect > Crud::Read || counts(part, protection, word))
                {
                    return Some((protection, text.to_owned()));
                }
            }
        }
        if effect == Crud::Read || keeps {
            return self.own_file_read(context, part);
        }
        if tables.file_operation(name) == Some(FileOperation::Move) {
            // The last argument is the destination.
            let last = part.words.len().saturating_sub(1);
            for word in part.words[..last].iter().skip(1) {
                if let Some(protection) = self.moved_protection(context, &locate(context, word)) {
                    return Some((protection, word.text.clone()));
                }
            }
        }
        for text in copy_destinations(name, part) {
            if let Some(protection) = self.path_protection(&context.start.locate(&text), effect) {
                return Some((protection, text));
            }
        }
        if let Some(found) = self.filled_folder(context, part, name) {
            return Some(found);
        }
        named_in_code(part)
            .filter(|token| !reads.contains(token))
            .find_map(|token| {
                let mut path = context.start.locate(token);
                if token.starts_with('/') {
                    path.names.push(format!("{UNKNOWN}{}", normal(token)));
                }
                Some((self.path_protection(&path, effect)?, token.to_owned()))
            })
            .or_else(|| self.own_file_read(context, part))
    }

    /// Returns the protection of a directory with protected files that a part may fill with files of
    /// other names: it moves or copies another directory there, or makes a link to it.
    fn filled_folder(
        &self,
        context: &RequestContext<'_>,
        part: &Part,
        name: &str,
    ) -> Option<(Protection, String)> {
        let tables = Tables::embedded();
        if tables.file_operation(name) == Some(FileOperation::EmptyFolder) {
            return None;
        }
        let links = tables.places_links(part);
        // The subcommand of a version control system may move files, too.
        let called = part.calls.iter().filter_map(|call| call.path.last());
        let mut names = std::iter::once(name).chain(called.map(String::as_str));
        let copies = links || names.any(copies_files);
        // The content of a directory is copied into an existing one, or a link leads there.
        let merges = links || copies && part.words.iter().skip(1).any(names_content);
        let words = part.words.iter().skip(1).filter(|_| copies);
        let words = words.map(|word| word.text.as_str());
        let changed = part.path_effects.iter();
        let changed = changed.filter(|touch| touch.effect > Crud::Read);
        let changed = changed.map(|touch| touch.path.text.as_str());
        let inside = copy_destinations(name, part);
        let texts = words
            .chain(changed)
            .chain(inside.iter().map(String::as_str));
        // The names are compared first: a command may have thousands of words.
        let may_hold = |text: &&str| {
            let text = text.trim_end_matches(['/', '.']);
            self.holders().contains(&folded(base_name(text)))
        };
        texts.filter(may_hold).find_map(|text| {
            let path = context.start.locate(text);
            let filled = path.names.iter().find_map(|name| {
                if name.contains(UNKNOWN) || !merges && Path::new(name).is_dir() {
                    return None;
                }
                let parts = components(name);
                let mut guards = self.guards(Crud::Create).iter();
                guards.find(|guard| guard.is_held() && guard.contains_protected(&parts))
            });
            Some((filled?.protection, text.to_owned()))
        })
    }

    /// Returns the names of the directories that hold a file which is protected in every folder.
    fn holders(&self) -> &HashSet<String> {
        self.holders.get_or_init(|| {
            let guards = self.guards(Crud::Create).iter();
            let held = guards.filter(|guard| guard.is_held());
            let holders = held.flat_map(|guard| &guard.parts[..guard.parts.len() - 1]);
            holders.cloned().collect()
        })
    }

    /// Returns the guard's own file that a part reads, by code in its words or by reading a whole
    /// directory.
    fn own_file_read(
        &self,
        context: &RequestContext<'_>,
        part: &Part,
    ) -> Option<(Protection, String)> {
        let own = |path: &ResolvedPath, is: fn(&ProtectedPath, &[String]) -> bool| {
            let guards = self.guards(Crud::Read).iter();
            let guards = || {
                guards
                    .clone()
                    .filter(|one| one.protection == Protection::Files)
            };
            let mut names = path.names.iter().map(|name| components(name));
            names.any(|parts| guards().any(|guard| is(guard, &parts)))
        };
        let touches = |path: &ResolvedPath| own(path, |guard, parts| guard.matches(parts, true));
        let holds = |path: &ResolvedPath| own(path, ProtectedPath::contains_protected);
        let by_code = named_in_code(part).find(|token| touches(&context.start.locate(token)));
        // A directory read as a whole, or a file with an unknown name.
        let read = part.file_reads.iter().find(|read| {
            let path = locate(context, &read.path);
            touches(&path) || read.recursive && holds(&path)
        });
        let within = || read.map(|read| read.path.text.clone());
        let what = by_code.map(str::to_owned).or_else(within)?;
        Some((Protection::Files, what))
    }
}

/// Returns the words that name files which a changing part only reads: the part runs the file, or its
/// table says that it reads the file, and changes another one. A link to a file is a way to change
/// it later.
fn files_only_read(part: &Part) -> Vec<&str> {
    let is_changed = |touch: &PathEffect| touch.effect > Crud::Read;
    let changes_named =
        (part.path_effects.iter()).any(|touch| is_changed(touch) && touch.effect >= part.effect);
    let has_roles = changes_named && part.is_understood() && !Tables::embedded().places_links(part);
    let read = part.path_effects.iter().filter(|_| has_roles);
    let read = read.map(|touch| &touch.path);
    let is_only_read = |text: &&str| {
        let mut same = part.path_effects.iter();
        !same.any(|touch| touch.path.text == *text && is_changed(touch))
    };
    read.chain(&part.code_files)
        .map(|word| word.text.as_str())
        .filter(is_only_read)
        .collect()
}

/// Options with which a program that deletes files also deletes folders.
const OF_FOLDERS: &[&str] = &["-r", "-R", "--recursive", "-d", "--dir"];

/// Options by which the content of a directory is copied, instead of the directory.
const OF_CONTENT: &[&str] = &["-T", "--no-target-directory"];

/// Returns `true` if a word of a copying program means the content of a directory.
fn names_content(word: &Word) -> bool {
    let text = word.text.as_str();
    !word.known || text.ends_with(['/', '*']) || text.ends_with("/.") || OF_CONTENT.contains(&text)
}

/// Returns `true` if a part deletes files that it names, and no folder.
fn deletes_only_files(part: &Part) -> bool {
    let is_of_folders = |call: &PartCall| {
        call.options
            .iter()
            .any(|(name, _)| OF_FOLDERS.contains(&name.as_str()))
    };
    part.is_understood()
        && Tables::embedded().file_operation(name_of(part)) == Some(FileOperation::Delete)
        && !part.calls.iter().any(is_of_folders)
}

/// Returns `true` if a part that only reads a protected file counts. The files of SSH may be listed
/// and used, such as by `ssh -i`; their contents may not be read.
fn counts(part: &Part, protection: Protection, word: &Word) -> bool {
    let text = word.text.as_str();
    let mut reads = part.file_reads.iter();
    protection != Protection::Ssh
        || text.contains(UNKNOWN)
        || reads.any(|read| text.contains(&read.path.text))
}

/// Returns `true` for the public half of a key and the list of known hosts.
fn is_public_part_of_ssh(path: &[String]) -> bool {
    path.last().is_some_and(|name| {
        let is_list = name == "known_hosts" || name == "known_hosts.old";
        is_list || name.ends_with(".pub") && !name.contains(UNKNOWN)
    })
}

/// Returns text that looks like a path within code: words, here-documents and piped text.
fn named_in_code(part: &Part) -> impl Iterator<Item = &str> {
    let input = part.input.iter().flatten();
    let words = part.words.iter().skip(1).chain(&part.here_documents);
    let code = words.map(|word| &word.text).chain(input);
    // Code that only names a repository is harmless.
    code.flat_map(|text| tokens(text))
        .filter(|token| !token.ends_with(".git"))
}

fn locate(context: &RequestContext<'_>, word: &Word) -> ResolvedPath {
    match word.known {
        true => context.start.locate(&word.text),
        // File name patterns are compared as patterns.
        false => context
            .start
            .locate(&word.text.replace(['*', '?', '['], WILDCARD)),
    }
}

/// Returns the texts that a word may name: the word itself, and the text after `=`, `:`, `@` or a
/// one-letter option.
fn texts(word: &str) -> impl Iterator<Item = &str> {
    let joined = word
        .strip_prefix('-')
        .and_then(|rest| rest.char_indices().nth(1).map(|(at, _)| &rest[at..]));
    let split = word.char_indices().filter(|(_, c)| "=:@,".contains(*c));
    std::iter::once(word)
        .chain(joined)
        .chain(split.map(|(at, c)| &word[at + c.len_utf8()..]).take(20))
}

/// Splits code into tokens that look like paths.
fn tokens(text: &str) -> impl Iterator<Item = &str> {
    let path = |c: char| c.is_alphanumeric() || "._-/~+@".contains(c) || c == UNKNOWN;
    text.split(move |c| !path(c))
        .filter(|token| token.contains(['.', '/', '~']))
        .take(2000)
}

/// Returns `true` if a program copies, moves or links files into a directory.
fn copies_files(name: &str) -> bool {
    use FileOperation::{Copy, Link, Move};
    let operation = Tables::embedded().file_operation(name);
    matches!(operation, Some(Copy | Move | Link))
}

/// Returns the destinations of programs that copy into a directory.
fn copy_destinations(name: &str, part: &Part) -> Vec<String> {
    if !copies_files(name) {
        return Vec::new();
    }
    let target = part
        .calls
        .iter()
        .flat_map(|call| &call.options)
        .find_map(|(name, value)| {
            let target = matches!(name.as_str(), "-t" | "--target-directory");
            value
                .as_ref()
                .filter(|_| target)
                .map(|value| value.text.as_str())
        });
    let mut words: Vec<&str> = part
        .words
        .iter()
        .skip(1)
        .map(|word| word.text.as_str())
        .filter(|word| !word.starts_with('-'))
        .collect();
    let Some(folder) = target.or_else(|| words.pop()) else {
        return Vec::new();
    };
    let inside = |word: &&str| format!("{}/{}", folder.trim_end_matches('/'), base_name(word));
    words.iter().map(inside).collect()
}

/// Returns the components of a path, in the form in which file systems compare them that ignore
/// letter case.
fn components(path: &str) -> Vec<String> {
    let parts = path.split('/').filter(|part| !part.is_empty());
    parts.map(folded).collect()
}

fn folded(part: &str) -> String {
    // HFS+ ignores these characters.
    let is_ignored = |c: &char| matches!(*c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}');
    match part.is_ascii() {
        true => part.to_ascii_lowercase(),
        // The long s and the Kelvin sign have the upper case of a plain letter.
        false => {
            let seen: String = part.chars().filter(|c| !is_ignored(c)).collect();
            seen.to_uppercase().to_lowercase()
        }
    }
}

/// Directory in which agents keep the worktrees of their sessions: `~/.codex/worktrees/ID/…`.
const WORKTREES: &str = "worktrees";

/// Returns `true` for a file of a worktree in a directory of a client. The client reads nothing there
/// as its own; the files of the table are protected in a worktree as in any folder.
fn is_in_worktree(below: &[String]) -> bool {
    let leads_elsewhere =
        |part: &String| part == ".." || part.contains(UNKNOWN) || part.contains(WILDCARD);
    below.len() > 2 && below[0] == WORKTREES && !below.iter().any(leads_elsewhere)
}

impl ProtectedPath {
    fn matches(&self, path: &[String], reads: bool) -> bool {
        let length = self.parts.len();
        let fits = |path: &[String]| {
            (self.below || path.len() == length)
                && path.len() >= length
                && !(self.is_held() && is_in_worktree(&path[length..]))
                && path
                    .iter()
                    .zip(&self.parts)
                    .enumerate()
                    .all(|(at, (a, b))| {
                        // The first component must be more specific than a wildcard.
                        let least = match reads {
                            true if self.protection == Protection::Files => 0,
                            true => 2,
                            false => usize::from(at == 0),
                        };
                        self::component_may_match(a, b, least)
                    })
        };
        let unknown = path.first().is_some_and(|first| first.contains(UNKNOWN));
        if unknown {
            let known = &path[1..];
            // The known end of a path may be the end of a protected path.
            let least = if reads { 2.min(length) } else { 1 };
            return (0..length).any(|skip| {
                let rest = &self.parts[skip..];
                (!reads || skip == 0 || rest.len() >= 2)
                    && rest.len() >= least
                    && (self.below || known.len() == rest.len())
                    && known.len() >= rest.len()
                    && known
                        .iter()
                        .zip(rest)
                        .all(|(a, b)| self::component_may_match(a, b, 1))
            }) || (!self.rooted && (0..known.len()).any(|at| fits(&known[at..])));
        }
        match self.rooted {
            true => fits(path),
            false => (0..path.len()).any(|at| fits(&path[at..])),
        }
    }

    /// Returns `true` for a file of a client in any folder, which may get there with its directory.
    fn is_held(&self) -> bool {
        self.protection == Protection::Settings && !self.rooted
    }

    /// Returns `true` if a directory contains a protected path.
    fn contains_protected(&self, path: &[String]) -> bool {
        let holds = |path: &[String]| {
            path.len() < self.parts.len()
                && path
                    .iter()
                    .zip(&self.parts)
                    .all(|(a, b)| component_may_match(a, b, 1))
        };
        match self.rooted {
            true => holds(path),
            false => (0..path.len()).any(|at| holds(&path[at..])),
        }
    }
}

/// Returns `true` if a path component, possibly a pattern, may match a protected one. A pattern
/// counts only if it begins with at least `least` literal characters.
fn component_may_match(part: &str, guarded: &str, least: usize) -> bool {
    if let Some((head, rest)) = part.split_once(WILDCARD) {
        let tail = rest.rsplit(WILDCARD).next().unwrap_or(rest);
        // The end of `[…]` is part of the pattern.
        let tail = if tail.contains(']') { "" } else { tail };
        let halves = guarded.split_once('*');
        let (start, end) = halves.unwrap_or((guarded, guarded));
        // A pattern does not match a leading dot.
        let hidden = guarded.starts_with('.') && head.is_empty();
        return !hidden
            && head.len() >= least
            && (start.starts_with(head) || halves.is_some() && head.starts_with(start))
            && (end.ends_with(tail) || halves.is_some() && tail.ends_with(end));
    }
    match guarded.split_once('*') {
        None => part == guarded,
        Some((head, tail)) => {
            part.len() >= head.len() + tail.len() && part.starts_with(head) && part.ends_with(tail)
        }
    }
}
