//! Decides whether a file may be changed for an intent, both for the hook that prevents changes and
//! for the hook that records them.

use super::context::EngineContext;
use super::intent::Ownership;
use super::storage::Storage;
use super::workspace::{IGNORE_FILE, Workspace, normal};

/// Decision on a change of a file for an intent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    Allowed,
    /// The ignore file names the file, or cannot be read.
    Ignored(String),
    /// The file is not in the scope.
    Violation(String),
    /// The file is in the scope of another intent as well.
    Contention(String),
    /// The path is a folder, and may contain files of other intents.
    Folder(String),
}

impl EngineContext {
    /// Decides whether a file may be changed for an intent. Reads the ignore file.
    pub(crate) fn judge(&self, intent: &str, path: &str) -> Verdict {
        let real = match self.locate(path) {
            Ok(real) => real,
            Err(refusal) => {
                return Verdict::Violation(format!(
                    "`{path}` is not a file of the workspace: {refusal}"
                ));
            }
        };
        // Check both the link and its target: a link must not bypass a rule.
        let spelled = normal(path).unwrap_or_else(|_| real.clone());
        let names = [&spelled, &real];
        if let Some(workspace) = self.workspace() {
            for name in names {
                match workspace.ignores(name) {
                    Ok(false) => {}
                    Ok(true) => {
                        return Verdict::Ignored(format!("`{path}` is named by `{IGNORE_FILE}`"));
                    }
                    Err(error) => {
                        let why = format!("`{IGNORE_FILE}` cannot be read: {error}");
                        return Verdict::Ignored(why);
                    }
                }
            }
            if names.iter().any(|name| self.is_own(workspace, name)) {
                return Verdict::Violation(format!("`{path}` is the engine's own"));
            }
        }
        match self.owned(intent, &spelled) {
            Verdict::Allowed => self.owned(intent, &real),
            refused => refused,
        }
    }

    /// Like [`judge`](Self::judge), for a pending change: a folder is refused, because the change
    /// would cover all files in it.
    pub(crate) fn judge_change(&self, intent: &str, path: &str) -> Verdict {
        let verdict = self.judge(intent, path);
        let workspace = self.workspace().filter(|_| verdict == Verdict::Allowed);
        let folder = workspace.is_some_and(|workspace| workspace.is_folder(path));
        match folder {
            true => Verdict::Folder(format!("`{path}` is a folder")),
            false => verdict,
        }
    }

    /// Decides whether the intents let this intent change the file of this name.
    fn owned(&self, intent: &str, name: &str) -> Verdict {
        match self.intents().ownership(intent, name) {
            Ownership::Owned => Verdict::Allowed,
            Ownership::Contended(other) => Verdict::Contention(other),
            Ownership::Unknown => Verdict::Violation(format!("there is no intent `{intent}`")),
            Ownership::Resting(status) => {
                Verdict::Violation(format!("intent `{intent}` is {status:?}"))
            }
            Ownership::Outside(scope) => Verdict::Violation(format!(
                "`{name}` is not in the scope of `{intent}`, which is `{}`",
                scope.join("`, `")
            )),
        }
    }

    /// Returns `true` if the engine reads its rules from the file, or writes to it.
    fn is_own(&self, workspace: &Workspace, path: &str) -> bool {
        let path = workspace.root().join(path);
        let ignore_file = workspace.root().join(IGNORE_FILE);
        // It may be a link to the rules.
        let rules = ignore_file.canonicalize().ok();
        let mut own = [
            Some(ignore_file.as_path()),
            rules.as_deref(),
            self.storage().map(Storage::folder),
            self.intents().file(),
        ]
        .into_iter()
        .flatten();
        // Deleting or moving a folder affects the files in it.
        own.any(|own| path.starts_with(own) || own.starts_with(&path))
    }
}
