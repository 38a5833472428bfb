//! Intents: the work of a session, and the files that belong to it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use serde::{Deserialize, Serialize};

use super::error::EngineError;
use super::files;

/// A piece of requested work, and the files that belong to it.
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
    /// Files that it owns, as globs relative to the workspace: `*` stays within a folder, `**` does
    /// not. An empty scope matches nothing. A glob that can match no file is refused: it begins or
    /// ends with `/`, or has `.`, `..` or nothing between two of them.
    #[serde(default)]
    pub owned_scope: Vec<String>,
    /// Status of the work.
    #[serde(default)]
    pub status: IntentStatus,
}

/// Status of an intent. In JSON the names are in capitals; an unknown one is an error.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum IntentStatus {
    /// Not begun: work is allowed; other intents may change its files.
    Pending,
    /// In progress: other intents may not change its files.
    #[default]
    #[serde(alias = "IN_PROGRESS")]
    Active,
    /// Blocked: no work is allowed; its files stay reserved.
    Blocked,
    /// Done: no work is allowed; other intents may change its files.
    Completed,
}

impl IntentStatus {
    /// Returns `true` if files may be changed for such an intent.
    pub fn may_act(self) -> bool {
        matches!(self, IntentStatus::Pending | IntentStatus::Active)
    }

    /// Returns `true` if such an intent keeps others from its files.
    pub fn holds_files(self) -> bool {
        matches!(self, IntentStatus::Active | IntentStatus::Blocked)
    }

    /// Returns the stricter of two statuses.
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
    /// Creates an active intent that owns nothing.
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

    /// Sets the status.
    #[must_use]
    pub fn status(mut self, status: IntentStatus) -> Self {
        self.status = status;
        self
    }
}

/// An intent with its compiled globs.
#[derive(Debug, Clone)]
struct Known {
    intent: Intent,
    scope: GlobSet,
}

type IntentTable = BTreeMap<String, Known>;

/// The known intents. Clones share one catalogue.
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
    state: Arc<RwLock<CatalogueState>>,
    file: Option<Arc<Path>>,
}

#[derive(Debug, Default)]
struct CatalogueState {
    intents: IntentTable,
    /// Statuses set since the file was first read; reading it again does not undo them.
    set: BTreeMap<String, IntentStatus>,
}

impl CatalogueState {
    fn of(intents: IntentTable) -> Self {
        CatalogueState {
            intents,
            set: BTreeMap::new(),
        }
    }
}

/// Ownership of a file, from the view of one intent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ownership {
    /// The intent does not exist.
    Unknown,
    /// The intent's status does not allow work.
    Resting(IntentStatus),
    /// The file is outside its scope.
    Outside(Vec<String>),
    /// The file is in its scope, and in the scope of another intent.
    Contended(String),
    /// The file is in its scope alone.
    Owned,
}

impl IntentCatalogue {
    /// Creates a catalogue of these intents.
    ///
    /// # Errors
    /// If a glob is invalid or matches nothing, or if two intents share an id.
    pub fn new(intents: impl IntoIterator<Item = Intent>) -> Result<Self, EngineError> {
        Ok(IntentCatalogue {
            state: Arc::new(RwLock::new(CatalogueState::of(table(intents)?))),
            file: None,
        })
    }

    /// Loads the intents of a file: a JSON list, or one JSON object a line.
    ///
    /// # Errors
    /// If the file cannot be read, or has another format.
    pub fn load(file: impl Into<PathBuf>) -> Result<Self, EngineError> {
        let file = file.into();
        let intents = table(read(&file)?)?;
        // Resolve links now: later changes of links have no effect.
        let file = file
            .canonicalize()
            .map_err(|error| unusable(&file, error))?;
        Ok(IntentCatalogue {
            state: Arc::new(RwLock::new(CatalogueState::of(intents))),
            file: Some(file.into()),
        })
    }

    /// Reads the file again, if the intents come from one; else does nothing.
    ///
    /// A status that was [set](Self::set_status) meanwhile, by the host or by the end of the work,
    /// stays: the stricter of it and the status in the file applies, in the order pending, active,
    /// completed, blocked. Intents that were [added](Self::insert) are removed.
    ///
    /// # Errors
    /// As [`load`](Self::load); the intents then stay unchanged.
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

    /// Adds an intent; replaces one with an equal id, and the status that was set for it.
    ///
    /// # Errors
    /// If a glob is invalid, or matches nothing.
    pub fn insert(&self, intent: Intent) -> Result<(), EngineError> {
        let known = Known::new(intent)?;
        let mut state = self.write();
        state.set.remove(&known.intent.id);
        state.intents.insert(known.intent.id.clone(), known);
        Ok(())
    }

    /// Sets the status of an intent, and returns `true` if the intent exists. The status survives a
    /// [reload](Self::reload).
    pub fn set_status(&self, id: &str, status: IntentStatus) -> bool {
        self.set_if(id, status, |_| true)
    }

    /// Completes an intent whose status allows work, and returns `true` if it did.
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

    /// Returns the intent with this id.
    pub fn get(&self, id: &str) -> Option<Intent> {
        let state = self.read();
        state.intents.get(id).map(|known| known.intent.clone())
    }

    /// Returns `true` if an intent with this id exists.
    pub(crate) fn has(&self, id: &str) -> bool {
        self.read().intents.contains_key(id)
    }

    /// Returns the status of the intent with this id.
    pub(crate) fn status(&self, id: &str) -> Option<IntentStatus> {
        let state = self.read();
        state.intents.get(id).map(|known| known.intent.status)
    }

    /// Returns `true` if the host has set the intents, even to none.
    pub(crate) fn is_told(&self) -> bool {
        self.file.is_some() || !self.read().intents.is_empty()
    }

    /// Reads the file without applying it, for probes.
    pub(crate) fn probe(&self) -> Result<(), EngineError> {
        match &self.file {
            Some(file) => table(read(file)?).map(drop),
            None => Ok(()),
        }
    }

    /// Returns the file of the intents.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// Returns the ownership of a file, relative to the workspace, for the intent with this id.
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

    // Nothing panics between two related changes, so no reader sees half of them.
    fn read(&self) -> std::sync::RwLockReadGuard<'_, CatalogueState> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> std::sync::RwLockWriteGuard<'_, CatalogueState> {
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

/// Returns a replacement for a glob that no file of the workspace can match.
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

fn table(intents: impl IntoIterator<Item = Intent>) -> Result<IntentTable, EngineError> {
    let mut table = IntentTable::new();
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

    fn overlapping_intents() -> IntentCatalogue {
        let shared = Intent::new("REQ-2").owns("src/shared/**").owns("docs/*.md");
        IntentCatalogue::new([Intent::new("REQ-1").owns("src/**"), shared]).unwrap()
    }

    #[test]
    fn r_28_one_star_matches_within_a_folder_and_two_match_below_it() {
        let intents = overlapping_intents();
        assert_eq!(intents.ownership("REQ-1", "src/a/b.rs"), Ownership::Owned);
        assert_eq!(intents.ownership("REQ-2", "docs/a.md"), Ownership::Owned);
        let outside = intents.ownership("REQ-2", "docs/a/b.md");
        assert!(matches!(outside, Ownership::Outside(_)), "{outside:?}");
    }

    #[test]
    fn r_28_a_shared_file_is_contended_until_one_intent_completes() {
        let intents = overlapping_intents();
        let path = "src/shared/a.rs";
        let contended = Ownership::Contended("REQ-2".to_owned());
        assert_eq!(intents.ownership("REQ-1", path), contended);
        intents.set_status("REQ-2", IntentStatus::Blocked);
        assert_eq!(intents.ownership("REQ-1", path), contended);
        intents.set_status("REQ-2", IntentStatus::Completed);
        assert_eq!(intents.ownership("REQ-1", path), Ownership::Owned);
    }

    #[test]
    fn r_28_blocked_completed_and_unknown_intents_own_no_file() {
        let intents = overlapping_intents();
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
    fn r_28_intents_load_from_a_list_or_lines_and_invalid_files_fail() {
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
        let unknown_status = load(r#"[{"id": "REQ-1", "status": "SOMEHOW"}]"#);
        assert!(matches!(unknown_status, Err(EngineError::Intents { .. })));
        let duplicate = load(r#"[{"id": "REQ-1"}, {"id": "REQ-1"}]"#);
        assert!(matches!(duplicate, Err(EngineError::TwoIntents(_))));
        let glob = load(r#"[{"id": "REQ-1", "owned_scope": ["a["]}]"#);
        assert!(matches!(glob, Err(EngineError::Glob { .. })));
    }
}
