//! Resolves paths of commands and matches them with the patterns of rules. In: a path as written,
//! and the directories in which it may be resolved. Out: absolute paths, and whether a pattern
//! matches.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use globset::{Glob, GlobBuilder, GlobMatcher};

use crate::classify::UNKNOWN;

/// Placeholder for the directory of a request without a directory.
pub(crate) const NO_DIRECTORY: &str = "/\u{F0001}";

/// Three-valued result of a match, ordered from the weakest to the strongest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum MatchResult {
    No,
    /// Unknown until the command runs.
    Unknown,
    Yes,
}

impl MatchResult {
    pub(super) fn of(holds: bool) -> Self {
        match holds {
            true => Self::Yes,
            false => Self::No,
        }
    }
}

/// A directory with all its names.
#[derive(Clone, Debug, Default)]
pub(super) struct Directory {
    pub(super) names: Vec<String>,
}

impl Directory {
    pub(super) fn new(path: &Path) -> Self {
        let lexical = normal(&path.to_string_lossy());
        let mut names = vec![lexical];
        if let Ok(real) = std::fs::canonicalize(path) {
            let real = normal(&real.to_string_lossy());
            if !names.contains(&real) {
                names.push(real);
            }
        }
        Self { names }
    }

    /// Returns the placeholder folder of a request without a directory.
    pub(super) fn unknown() -> Self {
        Self {
            names: vec![NO_DIRECTORY.to_owned()],
        }
    }

    /// Returns the rest of a path below this folder.
    pub(super) fn strip_prefix<'p>(&self, path: &'p str) -> Option<&'p str> {
        self.names
            .iter()
            .find_map(|name| strip_directory(name, path))
    }

    pub(super) fn holds(&self, path: &str) -> bool {
        self.strip_prefix(path).is_some()
    }
}

fn strip_directory<'p>(folder: &str, path: &'p str) -> Option<&'p str> {
    let rest = path.strip_prefix(folder.trim_end_matches('/'))?;
    match rest.strip_prefix('/') {
        Some(rest) => Some(rest),
        None => rest.is_empty().then_some(rest),
    }
}

/// A path with all names that it may have.
#[derive(Clone, Debug, Default)]
pub(super) struct ResolvedPath {
    /// Absolute names without `.` and `..`. A name that begins with [`UNKNOWN`] has a known end
    /// only.
    pub(super) names: Vec<String>,
}

impl ResolvedPath {
    pub(super) fn known(&self) -> bool {
        !self.names.is_empty() && !self.names.iter().any(|name| name.contains(UNKNOWN))
    }
}

/// Starting points of relative paths and of `~`.
#[derive(Clone, Debug)]
pub(crate) struct PathBase {
    /// Directories in which the command or its parts may run; contains [`UNKNOWN`] if any directory
    /// is possible.
    pub(crate) folders: Vec<String>,
    pub(super) home: String,
    links: LinkTargets,
}

impl PathBase {
    pub(crate) fn new(cwd: Option<&Path>, home: &Path) -> Self {
        let cwd = cwd.map_or_else(
            || NO_DIRECTORY.to_owned(),
            |cwd| normal(&cwd.to_string_lossy()),
        );
        Self {
            folders: vec![cwd],
            home: normal(&home.to_string_lossy()),
            links: LinkTargets::default(),
        }
    }

    /// Adds the possible directories after a change of directory.
    pub(super) fn change_directory(&mut self, text: &str) {
        let new: Vec<String> = self
            .folders
            .iter()
            .filter_map(|folder| self.resolve_one(folder, text).into_iter().next())
            .collect();
        for folder in new {
            if self.folders.len() >= 16 {
                let unknown = UNKNOWN.to_string();
                if !self.folders.contains(&unknown) {
                    self.folders.push(unknown);
                }
                return;
            }
            if !self.folders.contains(&folder) {
                self.folders.push(folder);
            }
        }
    }

    pub(super) fn locate(&self, text: &str) -> ResolvedPath {
        let mut names: Vec<String> = Vec::new();
        for folder in &self.folders {
            for name in self.resolve_one(folder, text) {
                if !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        ResolvedPath { names }
    }

    /// Returns the paths that a text may mean, for each directory. Links are followed only before
    /// `..`, because `..` then means another directory.
    pub(crate) fn paths(&self, text: &str) -> Vec<String> {
        let most = if text.contains("..") { 2 } else { 1 };
        let mut paths: Vec<String> = Vec::new();
        for folder in &self.folders {
            for path in self.resolve_one(folder, text).into_iter().take(most) {
                if !paths.contains(&path) {
                    paths.push(path);
                }
            }
        }
        paths
    }

    /// Returns the path as written, and the path with links followed.
    fn resolve_one(&self, folder: &str, text: &str) -> Vec<String> {
        let home;
        let text = match text.strip_prefix('~') {
            Some("") => self.home.as_str(),
            Some(rest) if rest.starts_with('/') => {
                home = format!("{}{rest}", self.home);
                home.as_str()
            }
            // The home of another user.
            Some(rest) => {
                home = format!("{UNKNOWN}{}", rest.find('/').map_or("", |at| &rest[at..]));
                home.as_str()
            }
            None => text,
        };
        let joined = match text.starts_with('/') {
            true => text.to_owned(),
            false => format!("{folder}/{text}"),
        };
        let joined = beyond_proc(&joined, folder);
        if let Some((_, tail)) = joined.rsplit_once(UNKNOWN) {
            let tail = normal(&format!("/{tail}"));
            // `UNKNOWN` may end inside a file name.
            return vec![format!("{UNKNOWN}{}", tail.trim_end_matches('/'))];
        }
        let lexical = normal(&joined);
        // The parent of an unknown directory is unknown.
        if joined.starts_with(NO_DIRECTORY) && !lexical.starts_with(NO_DIRECTORY) {
            return vec![format!("{UNKNOWN}{lexical}")];
        }
        let mut names = vec![lexical];
        if !joined.starts_with(NO_DIRECTORY)
            && !is_per_process(&joined)
            && let Some(real) = self.links.resolve_links(&joined)
            && !names.contains(&real)
        {
            names.push(real);
        }
        names
    }
}

/// Returns `true` if a path means a different file in each process that opens it, so that following
/// a link would lead to the guard's own file.
fn is_per_process(path: &str) -> bool {
    let path = normal(path);
    let below = |folder: &str| strip_directory(folder, &path).is_some();
    let mut folders = ["/proc/self", "/proc/thread-self", "/dev/fd"].iter();
    let files = ["/dev/stdin", "/dev/stdout", "/dev/stderr"];
    folders.any(|folder| below(folder)) || files.contains(&path.as_str())
}

/// Returns the path after a `/proc` link to the root or the current directory.
fn beyond_proc(path: &str, folder: &str) -> String {
    let Some(rest) = path.strip_prefix("/proc/") else {
        return path.to_owned();
    };
    let mut parts = rest.splitn(3, '/');
    let (_, what, rest) = (parts.next(), parts.next(), parts.next().unwrap_or(""));
    match what {
        Some("root") => format!("/{rest}"),
        Some("cwd") => format!("{folder}/{rest}"),
        _ => path.to_owned(),
    }
}

/// Returns an absolute path without `.`, `..` and repeated slashes.
pub(super) fn normal(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

/// Targets of links, each path looked up once.
#[derive(Clone, Debug, Default)]
struct LinkTargets {
    known: RefCell<HashMap<PathBuf, Option<PathBuf>>>,
}

impl LinkTargets {
    /// Returns the path with links followed, as far as it exists.
    fn resolve_links(&self, path: &str) -> Option<String> {
        let real = self.follow(Path::new(path), 256)?;
        Some(normal(&real.to_string_lossy()))
    }

    fn follow(&self, path: &Path, most: usize) -> Option<PathBuf> {
        if let Some(known) = self.known.borrow().get(path) {
            return known.clone();
        }
        let real = std::fs::canonicalize(path)
            .ok()
            .or_else(|| {
                // A write through a dangling link would create its target.
                let target = std::fs::read_link(path).ok()?;
                Some(path.parent()?.join(target))
            })
            .or_else(|| {
                let above = self.follow(path.parent()?, most.checked_sub(1)?)?;
                Some(match path.file_name() {
                    Some(name) => above.join(name),
                    None => above.parent().unwrap_or(&above).to_owned(),
                })
            });
        self.known
            .borrow_mut()
            .insert(path.to_owned(), real.clone());
        real
    }
}

/// Start of a pattern.
#[derive(Clone, Debug)]
enum PatternBase {
    /// The project's directory, or that of the request.
    Project,
    /// A directory that the pattern names.
    Folder(Directory),
}

/// A pattern of paths.
#[derive(Clone, Debug)]
struct PathPattern {
    base: PatternBase,
    /// Matcher for `allow` rules.
    strict: GlobMatcher,
    /// Matcher for denials; also matches the directory of a pattern that ends in `/**`.
    wide: Option<GlobMatcher>,
    /// Matchers of both kinds without regard to letter case, for denials.
    folded: OnceLock<Vec<GlobMatcher>>,
}

impl PathPattern {
    /// Returns `true` if a path below the base matches in other letter case.
    fn matches_folded(&self, rest: &str) -> bool {
        let folded = self.folded.get_or_init(|| {
            let globs = std::iter::once(&self.strict).chain(&self.wide);
            let fold = |glob: &GlobMatcher| {
                let text = glob.glob().glob();
                let mut builder = GlobBuilder::new(text);
                builder
                    .literal_separator(true)
                    .backslash_escape(true)
                    .case_insensitive(true);
                builder.build().ok().map(|glob| glob.compile_matcher())
            };
            globs.filter_map(fold).collect()
        });
        folded.iter().any(|glob| glob.is_match(rest))
    }
}

/// The path patterns of a rule.
#[derive(Clone, Debug, Default)]
pub(super) struct PathPatterns {
    list: Vec<PathPattern>,
}

impl PathPatterns {
    /// Adds a pattern. An error holds the mistake and how to correct it.
    pub(super) fn add(&mut self, text: &str, home: &Path) -> Result<(), (String, String)> {
        if text.split('/').any(|part| part == "..") {
            return Err((
                format!("the path `{text}` contains `..`"),
                "write it relative to the project's directory, or start it with `~/` or `/`".into(),
            ));
        }
        let (base, rest) = if let Some(rest) = text.strip_prefix("~/") {
            (PatternBase::Folder(Directory::new(home)), rest.to_owned())
        } else if let Some(rest) = text.strip_prefix('/') {
            let (first, rest) = rest.split_once('/').unwrap_or(("", rest));
            match first.contains(['*', '?', '[', '{']) {
                // Links at the root belong to the system.
                false => {
                    let first = PathBuf::from(format!("/{first}"));
                    (PatternBase::Folder(Directory::new(&first)), rest.to_owned())
                }
                true => (
                    PatternBase::Folder(Directory::new(Path::new("/"))),
                    text[1..].to_owned(),
                ),
            }
        } else if text.starts_with('~') {
            return Err((
                format!("the path `{text}` is in another user's home directory"),
                "start it with `~/` or `/`".into(),
            ));
        } else {
            (PatternBase::Project, text.to_owned())
        };
        let rest = rest.trim_start_matches("./").trim_end_matches('/');
        let strict = glob(rest, true)?.compile_matcher();
        let wide = match rest.strip_suffix("/**") {
            Some(folder) if !folder.is_empty() => Some(glob(folder, true)?.compile_matcher()),
            _ => None,
        };
        self.list.push(PathPattern {
            base,
            strict,
            wide,
            folded: OnceLock::new(),
        });
        Ok(())
    }

    fn matches_one(&self, name: &str, project: &Directory, wide: bool) -> bool {
        self.list.iter().any(|pattern| {
            let base = match &pattern.base {
                PatternBase::Project => project,
                PatternBase::Folder(folder) => folder,
            };
            base.strip_prefix(name).is_some_and(|rest| {
                pattern.strict.is_match(rest)
                    || (wide
                        && pattern
                            .wide
                            .as_ref()
                            .is_some_and(|wide| wide.is_match(rest)))
                    || wide && pattern.matches_folded(rest) && folds_case(Path::new(name))
            })
        })
    }

    /// Returns `true` if every name of a path matches.
    pub(super) fn match_all(&self, path: &ResolvedPath, project: &Directory) -> bool {
        path.known()
            && path
                .names
                .iter()
                .all(|name| self.matches_one(name, project, false))
    }

    /// Returns whether a path may match, by any of its names.
    pub(super) fn may_match(&self, path: &ResolvedPath, project: &Directory) -> MatchResult {
        if path
            .names
            .iter()
            .any(|name| self.matches_one(name, project, true))
        {
            MatchResult::Yes
        } else if path.known() {
            MatchResult::No
        } else {
            MatchResult::Unknown
        }
    }
}

/// Returns `true` if the file system has the same file under the name in other letter case; for a
/// missing path, if it does so for the nearest folder above it whose name has letters.
fn folds_case(path: &Path) -> bool {
    let existing = path.ancestors().filter(|path| path.exists());
    let swap = |c: char| match c.is_ascii_lowercase() {
        true => c.to_ascii_uppercase(),
        false => c.to_ascii_lowercase(),
    };
    let mut others = existing.filter_map(|path| {
        let name = path.file_name()?.to_str()?;
        let other: String = name.chars().map(swap).collect();
        (other != name).then(|| (path, path.with_file_name(other)))
    });
    others
        .next()
        .is_some_and(|(path, other)| is_same_file(path, &other))
}

#[cfg(unix)]
fn is_same_file(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;

    let identity = |path: &Path| {
        let file = std::fs::metadata(path).ok()?;
        Some((file.dev(), file.ino()))
    };
    identity(one).is_some_and(|one| identity(other) == Some(one))
}

#[cfg(not(unix))]
fn is_same_file(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    real(one).is_some_and(|one| real(other) == Some(one))
}

/// Compiles a pattern of bounded size.
pub(super) fn glob(text: &str, of_paths: bool) -> Result<Glob, (String, String)> {
    const MAX_PATTERN_CHARS: usize = 500;
    if text.is_empty() {
        let remedy = "name a file or directory, with `*` or `**` as wildcards".to_owned();
        return Err(("a pattern is empty".to_owned(), remedy));
    }
    if text.chars().count() > MAX_PATTERN_CHARS {
        return Err((
            format!("a pattern has {} characters", text.chars().count()),
            format!("write at most {MAX_PATTERN_CHARS}"),
        ));
    }
    GlobBuilder::new(text)
        .literal_separator(of_paths)
        .backslash_escape(true)
        .case_insensitive(of_paths && cfg!(any(target_os = "macos", windows)))
        .build()
        .map_err(|error| {
            (
                format!("`{text}` is not a valid pattern: {}", error.kind()),
                "see the documentation of rules; a backslash escapes a character".to_owned(),
            )
        })
}

/// Pattern of a word or the name of a variable, in which `*` matches any text. A pattern without
/// wildcards is compared as text, which needs no compilation.
#[derive(Clone, Debug)]
pub(super) struct WordPattern {
    text: String,
    glob: Option<GlobMatcher>,
}

impl WordPattern {
    /// Parses a pattern. An error describes the mistake and its remedy.
    pub(super) fn new(text: &str) -> Result<Self, (String, String)> {
        let is_literal = !text.is_empty() && !text.contains(['*', '?', '[', ']', '{', '}', '\\']);
        Ok(Self {
            text: text.to_owned(),
            glob: match is_literal {
                true => None,
                false => Some(glob(text, false)?.compile_matcher()),
            },
        })
    }

    /// Returns the pattern as written.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn is_match(&self, word: &str) -> bool {
        match &self.glob {
            Some(glob) => glob.is_match(word),
            None => word == self.text,
        }
    }
}
