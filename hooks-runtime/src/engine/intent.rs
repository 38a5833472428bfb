//! Intents: what a session works on, and the files that belong to it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use serde::{Deserialize, Serialize};

use super::error::EngineError;
use super::files;

/// A piece of work that somebody asked for, and the files that belong to it.
///
/// ```
/// use hooks_runtime::engine::Intent;
///
/// let intent = Intent::new("REQ-12").owns("src/**").owns("docs/*.md");
/// assert_eq!(intent.owned_scope, ["src/**", "docs/*.md"]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Intent {
    /// Its id, such as `REQ-12`.
    pub id: String,
    /// The files that it owns, as globs from the workspace on: `*` stays within a folder, `**`
    /// does not. Nothing matches an empty scope. A glob that can match no file is refused: one
    /// that begins or ends with `/`, or has `.`, `..` or nothing between two of them.
    #[serde(default)]
    pub owned_scope: Vec<String>,
    /// How far it is.
    #[serde(default)]
    pub status: IntentStatus,
}

/// How far an intent is. In JSON the names are in capitals; an unknown one is an error.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum IntentStatus {
    /// Not begun: it may be worked on, and keeps nobody from its files.
    Pending,
    /// Being worked on: its files are its own.
    #[default]
    #[serde(alias = "IN_PROGRESS")]
    Active,
    /// Stopped: it may not be worked on, and its files stay its own.
    Blocked,
    /// Done: it may not be worked on, and keeps nobody from its files.
    Completed,
}

impl IntentStatus {
    /// Whether files may be changed for such an intent.
    pub fn may_act(self) -> bool {
        matches!(self, IntentStatus::Pending | IntentStatus::Active)
    }

    /// Whether such an intent keeps others from its files.
    pub fn holds_files(self) -> bool {
        matches!(self, IntentStatus::Active | IntentStatus::Blocked)
    }

    /// The one of two that allows less.
    fn stricter(self, other: Self) -> Self {
        let strictness = |status| match status {
            IntentStatus::Pending => 0,
            IntentStatus::Active => 1,
            IntentStatus::Completed => 2,
            IntentStatus::Blocked => 3,
        };
        match strictness(other) > strictness(self) {
            true => other,
            false => self,
        }
    }
}

impl Intent {
    /// An active intent that owns nothing.
    pub fn new(id: impl Into<String>) -> Self {
        Intent {
            id: id.into(),
            owned_scope: Vec::new(),
            status: IntentStatus::default(),
        }
    }

    /// Adds files that it owns, as a glob.
    #[must_use]
    pub fn owns(mut self, glob: impl Into<String>) -> Self {
        self.owned_scope.push(glob.into());
        self
    }

    /// Says how far it is.
    #[must_use]
    pub fn status(mut self, status: IntentStatus) -> Self {
        self.status = status;
        self
    }
}

/// An intent with its globs made ready.
#[derive(Debug, Clone)]
struct Known {
    intent: Intent,
    scope: GlobSet,
}

type Table = BTreeMap<String, Known>;

/// The intents that there are. A clone is the same catalogue.
///
/// ```
/// use hooks_runtime::engine::{Intent, IntentCatalogue, IntentStatus};
///
/// let intents = IntentCatalogue::new([Intent::new("REQ-12").owns("src/**")])?;
/// intents.insert(Intent::new("REQ-13").owns("docs/**"))?;
/// assert!(intents.set_status("REQ-12", IntentStatus::Completed));
/// assert!(!intents.get("REQ-12").unwrap().status.may_act());
/// # Ok::<_, hooks_runtime::engine::EngineError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct IntentCatalogue {
    state: Arc<RwLock<State>>,
    file: Option<Arc<Path>>,
}

#[derive(Debug, Default)]
struct State {
    intents: Table,
    /// What was set since the file was read for the first time; reading it again does not
    /// undo it.
    set: BTreeMap<String, IntentStatus>,
}

impl State {
    fn of(intents: Table) -> Self {
        State {
            intents,
            set: BTreeMap::new(),
        }
    }
}

/// Whose a file is, as one intent sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ownership {
    /// There is no such intent.
    Unknown,
    /// It may not be worked on.
    Resting(IntentStatus),
    /// The file is not in its scope.
    Outside(Vec<String>),
    /// It is in its scope, and in that of another one.
    Contended(String),
    /// It is in its scope alone.
    Owned,
}

impl IntentCatalogue {
    /// These intents.
    ///
    /// # Errors
    /// If a glob is none or matches nothing, or an id is there twice.
    pub fn new(intents: impl IntoIterator<Item = Intent>) -> Result<Self, EngineError> {
        Ok(IntentCatalogue {
            state: Arc::new(RwLock::new(State::of(table(intents)?))),
            file: None,
        })
    }

    /// The intents of a file: a JSON list, or one JSON object a line.
    ///
    /// # Errors
    /// If the file cannot be read, or holds anything else.
    pub fn load(file: impl Into<PathBuf>) -> Result<Self, EngineError> {
        let file = file.into();
        let intents = table(read(&file)?)?;
        // Where it is now is where it stays, whatever becomes of links on the way.
        let file = file
            .canonicalize()
            .map_err(|error| unusable(&file, error))?;
        Ok(IntentCatalogue {
            state: Arc::new(RwLock::new(State::of(intents))),
            file: Some(file.into()),
        })
    }

    /// Reads the file again, where the intents come from one. Without a file nothing happens.
    ///
    /// A status that was [set](Self::set_status) meanwhile, by the host or by the end of the
    /// work, stays: of it and the status in the file the stricter one counts, in the order
    /// pending, active, completed, blocked. Intents that were [added](Self::insert) are gone.
    ///
    /// # Errors
    /// As [`load`](Self::load); the intents then stay as they were.
    pub fn reload(&self) -> Result<(), EngineError> {
        if let Some(file) = &self.file {
            let mut read = table(read(file)?)?;
            let mut state = self.write();
            for (id, known) in &mut read {
                if let Some(set) = state.set.get(id) {
                    known.intent.status = known.intent.status.stricter(*set);
                }
            }
            state.intents = read;
        }
        Ok(())
    }

    /// Adds an intent, in the place of one with the same id, and of the status that was set
    /// for that.
    ///
    /// # Errors
    /// If a glob is none, or matches nothing.
    pub fn insert(&self, intent: Intent) -> Result<(), EngineError> {
        let known = Known::new(intent)?;
        let mut state = self.write();
        state.set.remove(&known.intent.id);
        state.intents.insert(known.intent.id.clone(), known);
        Ok(())
    }

    /// Says how far an intent is, and whether there is one with this id. It stays said when the
    /// file is [read again](Self::reload).
    pub fn set_status(&self, id: &str, status: IntentStatus) -> bool {
        self.set_if(id, status, |_| true)
    }

    /// Says that an intent is done, if it may be worked on. Answers whether it could be.
    pub(crate) fn complete(&self, id: &str) -> bool {
        self.set_if(id, IntentStatus::Completed, IntentStatus::may_act)
    }

    fn set_if(&self, id: &str, status: IntentStatus, test: fn(IntentStatus) -> bool) -> bool {
        let mut state = self.write();
        match state.intents.get_mut(id) {
            Some(known) if test(known.intent.status) => known.intent.status = status,
            _ => return false,
        }
        state.set.insert(id.to_owned(), status);
        true
    }

    /// The intent with this id.
    pub fn get(&self, id: &str) -> Option<Intent> {
        let state = self.read();
        state.intents.get(id).map(|known| known.intent.clone())
    }

    /// Whether there is an intent with this id.
    pub(crate) fn has(&self, id: &str) -> bool {
        self.read().intents.contains_key(id)
    }

    /// How far the intent with this id is.
    pub(crate) fn status(&self, id: &str) -> Option<IntentStatus> {
        let state = self.read();
        state.intents.get(id).map(|known| known.intent.status)
    }

    /// Whether anybody has said which intents there are, if only that there are none.
    pub(crate) fn is_told(&self) -> bool {
        self.file.is_some() || !self.read().intents.is_empty()
    }

    /// Reads the file without taking anything over, for probes.
    pub(crate) fn probe(&self) -> Result<(), EngineError> {
        match &self.file {
            Some(file) => table(read(file)?).map(drop),
            None => Ok(()),
        }
    }

    /// The file that the intents come from.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// Whose this file is, from the workspace on, as the intent with this id sees it.
    pub(crate) fn ownership(&self, id: &str, path: &str) -> Ownership {
        let state = self.read();
        let Some(own) = state.intents.get(id) else {
            return Ownership::Unknown;
        };
        if !own.intent.status.may_act() {
            return Ownership::Resting(own.intent.status);
        }
        if !own.scope.is_match(path) {
            return Ownership::Outside(own.intent.owned_scope.clone());
        }
        let other = state.intents.values().find(|other| {
            other.intent.id != id && other.intent.status.holds_files() && other.scope.is_match(path)
        });
        match other {
            Some(other) => Ownership::Contended(other.intent.id.clone()),
            None => Ownership::Owned,
        }
    }

    // Nothing panics between two changes that belong together, so no half of them is seen.
    fn read(&self) -> std::sync::RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> std::sync::RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    fn new(intent: Intent) -> Result<Self, EngineError> {
        let mut scope = GlobSetBuilder::new();
        let error = |glob: &str, source| EngineError::Glob {
            intent: intent.id.clone(),
            glob: glob.to_owned(),
            source,
        };
        for glob in &intent.owned_scope {
            if let Some(remedy) = dead(glob) {
                return Err(EngineError::DeadGlob {
                    intent: intent.id.clone(),
                    glob: glob.clone(),
                    remedy,
                });
            }
            // A `\` must not mean a separator on one system and an escape on another.
            let built = GlobBuilder::new(glob)
                .literal_separator(true)
                .backslash_escape(true)
                .build();
            scope.add(built.map_err(|source| error(glob, source))?);
        }
        let scope = scope.build().map_err(|source| error("", source))?;
        Ok(Known { intent, scope })
    }
}

/// What to write in the place of a glob that no file of the workspace has a name for.
fn dead(glob: &str) -> Option<&'static str> {
    if glob.starts_with('/') {
        return Some("begin it at the workspace, without a `/`");
    }
    if glob.ends_with('/') {
        return Some("write `**` behind the last `/`, for what is in the folder");
    }
    let odd = glob.split('/').any(|part| matches!(part, "" | "." | ".."));
    odd.then_some("name the folders from the workspace on, without `.` and `..`")
}

fn table(intents: impl IntoIterator<Item = Intent>) -> Result<Table, EngineError> {
    let mut table = Table::new();
    for intent in intents {
        let known = Known::new(intent)?;
        if let Some(twice) = table.insert(known.intent.id.clone(), known) {
            return Err(EngineError::TwoIntents(twice.intent.id));
        }
    }
    Ok(table)
}

fn unusable(file: &Path, source: std::io::Error) -> EngineError {
    EngineError::Path {
        path: file.to_owned(),
        remedy: "make it a readable file with the intents",
        source,
    }
}

fn read(file: &Path) -> Result<Vec<Intent>, EngineError> {
    let text = files::read_text(file).map_err(|error| unusable(file, error))?;
    let read = if text.trim_start().starts_with('[') {
        serde_json::from_str(&text)
    } else {
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        lines.map(serde_json::from_str).collect()
    };
    read.map_err(|source| EngineError::Intents {
        path: file.to_owned(),
        source,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two() -> IntentCatalogue {
        let shared = Intent::new("REQ-2").owns("src/shared/**").owns("docs/*.md");
        IntentCatalogue::new([Intent::new("REQ-1").owns("src/**"), shared]).unwrap()
    }

    #[test]
    fn r_28_a_star_stays_within_a_folder_and_two_do_not() {
        let intents = two();
        assert_eq!(intents.ownership("REQ-1", "src/a/b.rs"), Ownership::Owned);
        assert_eq!(intents.ownership("REQ-2", "docs/a.md"), Ownership::Owned);
        let outside = intents.ownership("REQ-2", "docs/a/b.md");
        assert!(matches!(outside, Ownership::Outside(_)), "{outside:?}");
    }

    #[test]
    fn r_28_a_file_of_two_is_contended_until_one_lets_go() {
        let intents = two();
        let path = "src/shared/a.rs";
        let contended = Ownership::Contended("REQ-2".to_owned());
        assert_eq!(intents.ownership("REQ-1", path), contended);
        intents.set_status("REQ-2", IntentStatus::Blocked);
        assert_eq!(intents.ownership("REQ-1", path), contended);
        intents.set_status("REQ-2", IntentStatus::Completed);
        assert_eq!(intents.ownership("REQ-1", path), Ownership::Owned);
    }

    #[test]
    fn r_28_a_blocked_a_completed_and_an_unknown_intent_own_nothing() {
        let intents = two();
        for status in [IntentStatus::Blocked, IntentStatus::Completed] {
            intents.set_status("REQ-1", status);
            assert_eq!(
                intents.ownership("REQ-1", "src/a"),
                Ownership::Resting(status)
            );
        }
        assert_eq!(intents.ownership("REQ-9", "src/a"), Ownership::Unknown);
    }

    #[test]
    fn r_28_a_file_of_intents_is_a_list_or_lines_and_an_unknown_status_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("intents.json");
        let load = |text: &str| {
            std::fs::write(&file, text).unwrap();
            IntentCatalogue::load(&file)
        };
        for text in [
            r#"[{"id": "REQ-1", "owned_scope": ["a"]}, {"id": "REQ-2"}]"#,
            "{\"id\": \"REQ-1\", \"owned_scope\": [\"a\"]}\n\n{\"id\": \"REQ-2\"}\n",
        ] {
            let intents = load(text).unwrap();
            assert_eq!(intents.get("REQ-1"), Some(Intent::new("REQ-1").owns("a")));
            assert!(intents.get("REQ-2").is_some());
        }
        assert!(matches!(load("[{"), Err(EngineError::Intents { .. })));
        let odd = load(r#"[{"id": "REQ-1", "status": "SOMEHOW"}]"#);
        assert!(matches!(odd, Err(EngineError::Intents { .. })));
        let twice = load(r#"[{"id": "REQ-1"}, {"id": "REQ-1"}]"#);
        assert!(matches!(twice, Err(EngineError::TwoIntents(_))));
        let glob = load(r#"[{"id": "REQ-1", "owned_scope": ["a["]}]"#);
        assert!(matches!(glob, Err(EngineError::Glob { .. })));
    }
}
