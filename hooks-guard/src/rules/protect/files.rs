//! Files that are guarded. In: a part of a command, or a path. Out: which protection it touches.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use super::super::paths::{Located, normal};
use super::super::scene::{Scene, base_name};
use super::matter::{Matter, Protected, active};
use super::places::{ANYWHERE, ROOTED};
use crate::classify::{Crud, Part, Tables, UNKNOWN, Word};

/// A guarded path: its parts, lowercase, `*` for anything within one.
#[derive(Clone, Debug)]
struct Guard {
    matter: Matter,
    parts: Vec<String>,
    /// From the root, in place of anywhere.
    rooted: bool,
    /// With all that lies in it.
    below: bool,
}

/// Stands for what a pattern of file names stands for.
const WILD: &str = "\u{F0002}";

/// All guarded files. The guards are built when the first path is compared. Most commands only read:
/// the guards that count for reading have a list of their own, which resolves the links of 15 files
/// instead of 60; `ls -la` −7 % instructions.
#[derive(Debug)]
pub(super) struct Files {
    places: Arc<Protected>,
    all: OnceLock<Vec<Guard>>,
    reading: OnceLock<Vec<Guard>>,
}

/// Builds the guards of these places; if `reading`, only the guards that count for reading.
fn build(places: &Protected, reading: bool) -> Vec<Guard> {
    let mut guards = Vec::new();
    let mut own = |path: &Path, matter, reads: bool| {
        if reading && !reads {
            return;
        }
        let mut names = vec![normal(&path.to_string_lossy())];
        names.extend(std::fs::canonicalize(path).map(|real| real.to_string_lossy().into_owned()));
        guards.extend(names.iter().map(|name| Guard {
            matter,
            parts: parts_of(name),
            rooted: true,
            below: true,
        }));
    };
    for file in places.files.iter().chain(&places.socket) {
        own(file, Matter::Files, true);
    }
    for file in &places.settings {
        own(file, Matter::Settings, false);
    }
    own(&places.home.join("bin"), Matter::Programs, false);
    if let Some(pid) = places.pid {
        own(Path::new(&format!("/proc/{pid}")), Matter::Process, true);
    }
    for (table, rooted) in [(ANYWHERE, false), (ROOTED, true)] {
        for (matter, paths) in table {
            if reading && *matter != Matter::Ssh {
                continue;
            }
            guards.extend(paths.iter().map(|path| Guard {
                matter: *matter,
                parts: parts_of(path),
                rooted,
                below: path.ends_with('/'),
            }));
        }
    }
    guards
}

impl Files {
    pub(super) fn new(places: Arc<Protected>) -> Self {
        Self {
            places,
            all: OnceLock::new(),
            reading: OnceLock::new(),
        }
    }

    /// Returns the guards that count for an effect.
    fn guards(&self, effect: Crud) -> &[Guard] {
        match effect {
            Crud::Read => self.reading.get_or_init(|| build(&self.places, true)),
            _ => self.all.get_or_init(|| build(&self.places, false)),
        }
    }

    /// What is guarded at a path that is touched so.
    pub(super) fn touched(&self, path: &Located, effect: Crud) -> Option<Matter> {
        path.names.iter().find_map(|name| {
            let parts = parts_of(name);
            let reads = effect == Crud::Read;
            let guards = self.guards(effect).iter();
            let mut hit = guards.filter(|guard| guard.matches(&parts, reads));
            hit.next().map(|guard| guard.matter)
        })
    }

    /// The same, with what lies in a folder that goes away.
    pub(super) fn reached(
        &self,
        scene: &Scene<'_>,
        path: &Located,
        effect: Crud,
    ) -> Option<Matter> {
        self.touched(path, effect).or_else(|| {
            let is_gone = effect == Crud::Delete;
            is_gone.then(|| self.inside(scene, path)).flatten()
        })
    }

    /// What is guarded in a folder that goes away with all that lies in it.
    fn inside(&self, scene: &Scene<'_>, path: &Located) -> Option<Matter> {
        let cwd = scene
            .request
            .cwd
            .as_ref()
            .map(|cwd| parts_of(&cwd.to_string_lossy()));
        let home = parts_of(&self.places.home.to_string_lossy());
        path.names.iter().find_map(|name| {
            let parts = parts_of(name);
            if name.contains(UNKNOWN) {
                return None;
            }
            if home.starts_with(&parts) {
                return Some(Matter::ShellStart);
            }
            if cwd.as_ref().is_some_and(|cwd| cwd.starts_with(&parts)) {
                return Some(Matter::Git);
            }
            let guards = self.guards(Crud::Delete).iter();
            let mut hit = guards.filter(|guard| guard.above(&parts));
            hit.next().map(|guard| guard.matter)
        })
    }

    /// What a part of a command touches that is guarded, and by which name.
    pub(super) fn judge(&self, scene: &Scene<'_>, part: &Part) -> Option<(Matter, String)> {
        let named = part.redirections.iter().chain(&part.touches);
        for touch in named {
            let path = locate(scene, &touch.path);
            if let Some(matter) = self.reached(scene, &path, touch.effect) {
                return Some((matter, touch.path.text.clone()));
            }
        }
        let name = part.words.first().map_or("", |word| base_name(&word.text));
        let says = matches!(name, "echo" | "printf");
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
        for word in words {
            for text in texts(&word.text) {
                // Git is told where a repository is.
                if name == "git" && (text == ".git" || text.ends_with("/.git")) {
                    continue;
                }
                let place = locate(scene, &word.with(text));
                if let Some(matter) = self.touched(&place, effect) {
                    return Some((matter, text.to_owned()));
                }
            }
        }
        if effect == Crud::Read {
            return self.own_read(scene, part);
        }
        if name == "mv" || name == "rename" {
            // The last one is where it goes.
            let last = part.words.len().saturating_sub(1);
            for word in part.words[..last].iter().skip(1) {
                if let Some(matter) = self.inside(scene, &locate(scene, word)) {
                    return Some((matter, word.text.clone()));
                }
            }
        }
        for text in placed(name, part) {
            if let Some(matter) = self.touched(&scene.start.locate(&text), effect) {
                return Some((matter, text));
            }
        }
        named_in_code(part)
            .find_map(|token| {
                let mut path = scene.start.locate(token);
                if token.starts_with('/') {
                    path.names.push(format!("{UNKNOWN}{}", normal(token)));
                }
                Some((self.touched(&path, effect)?, token.to_owned()))
            })
            .or_else(|| self.own_read(scene, part))
    }

    /// What a part reads of the guard's own files: by code in its words, or as all that lies in a
    /// folder.
    fn own_read(&self, scene: &Scene<'_>, part: &Part) -> Option<(Matter, String)> {
        let own = |path: &Located, is: fn(&Guard, &[String]) -> bool| {
            let guards = self.guards(Crud::Read).iter();
            let guards = || guards.clone().filter(|one| one.matter == Matter::Files);
            let mut names = path.names.iter().map(|name| parts_of(name));
            names.any(|parts| guards().any(|guard| is(guard, &parts)))
        };
        let touches = |path: &Located| own(path, |guard, parts| guard.matches(parts, true));
        let holds = |path: &Located| own(path, Guard::above);
        let by_code = named_in_code(part).find(|token| touches(&scene.start.locate(token)));
        // A folder, with all that lies in it; or one of the files, by a name that is not known.
        let read = part.reads.iter().find(|read| {
            let path = locate(scene, &read.path);
            touches(&path) || read.below && holds(&path)
        });
        let within = || read.map(|read| read.path.text.clone());
        let what = by_code.map(str::to_owned).or_else(within)?;
        Some((Matter::Files, what))
    }
}

/// What looks like a path within the text of code: of words, documents and what is piped.
fn named_in_code(part: &Part) -> impl Iterator<Item = &str> {
    let input = part.input.iter().flatten();
    let words = part.words.iter().skip(1).chain(&part.documents);
    let code = words.map(|word| &word.text).chain(input);
    // A repository is no more than named.
    code.flat_map(|text| tokens(text))
        .filter(|token| !token.ends_with(".git"))
}

fn locate(scene: &Scene<'_>, word: &Word) -> Located {
    match word.known {
        true => scene.start.locate(&word.text),
        // What stands for names of files is compared as such.
        false => scene
            .start
            .locate(&word.text.replace(['*', '?', '['], WILD)),
    }
}

/// What a word may name: itself, what stands after `=`, `:` or `@`, or after a letter's option.
fn texts(word: &str) -> impl Iterator<Item = &str> {
    let joined = word
        .strip_prefix('-')
        .and_then(|rest| rest.char_indices().nth(1).map(|(at, _)| &rest[at..]));
    let split = word.char_indices().filter(|(_, c)| "=:@,".contains(*c));
    std::iter::once(word)
        .chain(joined)
        .chain(split.map(|(at, c)| &word[at + c.len_utf8()..]).take(20))
}

/// Pieces of code that look like paths.
fn tokens(text: &str) -> impl Iterator<Item = &str> {
    let path = |c: char| c.is_alphanumeric() || "._-/~+@".contains(c) || c == UNKNOWN;
    text.split(move |c| !path(c))
        .filter(|token| token.contains(['.', '/', '~']))
        .take(2000)
}

/// Where programs that copy into a folder put what they are given.
fn placed(name: &str, part: &Part) -> Vec<String> {
    const COPIES: &[&str] = &["cp", "mv", "install", "ln", "rsync", "scp", "ditto"];
    if !Tables::embedded().is_one_of(name, COPIES) {
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

fn parts_of(path: &str) -> Vec<String> {
    let parts = path.split('/').filter(|part| !part.is_empty());
    parts.map(str::to_lowercase).collect()
}

impl Guard {
    fn matches(&self, path: &[String], reads: bool) -> bool {
        let length = self.parts.len();
        let fits = |path: &[String]| {
            (self.below || path.len() == length)
                && path.len() >= length
                && path
                    .iter()
                    .zip(&self.parts)
                    .enumerate()
                    .all(|(at, (a, b))| {
                        // The first one has to be more than any name.
                        let least = match reads {
                            true if self.matter == Matter::Files => 0,
                            true => 2,
                            false => usize::from(at == 0),
                        };
                        self::fits(a, b, least)
                    })
        };
        let unknown = path.first().is_some_and(|first| first.contains(UNKNOWN));
        if unknown {
            let known = &path[1..];
            // The end of what is guarded may be what is known.
            let least = if reads { 2.min(length) } else { 1 };
            return (0..length).any(|skip| {
                let rest = &self.parts[skip..];
                (!reads || skip == 0 || rest.len() >= 2)
                    && rest.len() >= least
                    && (self.below || known.len() == rest.len())
                    && known.len() >= rest.len()
                    && known.iter().zip(rest).all(|(a, b)| self::fits(a, b, 1))
            }) || (!self.rooted && (0..known.len()).any(|at| fits(&known[at..])));
        }
        match self.rooted {
            true => fits(path),
            false => (0..path.len()).any(|at| fits(&path[at..])),
        }
    }

    /// Whether a folder holds what is guarded.
    fn above(&self, path: &[String]) -> bool {
        let holds = |path: &[String]| {
            path.len() < self.parts.len()
                && path.iter().zip(&self.parts).all(|(a, b)| fits(a, b, 1))
        };
        match self.rooted {
            true => holds(path),
            false => (0..path.len()).any(|at| holds(&path[at..])),
        }
    }
}

/// Whether a part of a path, perhaps a pattern, may be a guarded one. A pattern counts from `least`
/// characters that it begins with.
fn fits(part: &str, guarded: &str, least: usize) -> bool {
    if let Some((head, _)) = part.split_once(WILD) {
        let start = guarded.split('*').next().unwrap_or(guarded);
        // A pattern does not stand for a dot at the start.
        let hidden = guarded.starts_with('.') && head.is_empty();
        return !hidden
            && head.len() >= least
            && (start.starts_with(head) || head.starts_with(start));
    }
    match guarded.split_once('*') {
        None => part == guarded,
        Some((head, tail)) => {
            part.len() >= head.len() + tail.len() && part.starts_with(head) && part.ends_with(tail)
        }
    }
}
