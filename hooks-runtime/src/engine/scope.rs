//! Whether a file may be changed for an intent: the one place where that is decided, for the
//! hook that prevents and for the one that notes.

use super::context::EngineContext;
use super::intent::Ownership;
use super::storage::Storage;
use super::workspace::{IGNORE_FILE, Workspace, normal};

/// Whether a file may be changed for an intent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    Allowed,
    /// The ignore file names it, or cannot be asked.
    Ignored(String),
    /// It is not in the scope.
    Violation(String),
    /// It is in the scope of another intent as well.
    Contention(String),
    /// It is a folder, and what is in it may be anybody's.
    Folder(String),
}

impl EngineContext {
    /// Whether a file may be changed for an intent. Reads the ignore file.
    pub(crate) fn judge(&self, intent: &str, path: &str) -> Verdict {
        let real = match self.locate(path) {
            Ok(real) => real,
            Err(refusal) => {
                return Verdict::Violation(format!(
                    "`{path}` is no file of the workspace: {refusal}"
                ));
            }
        };
        // A link must not get round a rule, whether that names the link or its end.
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

    /// As [`judge`](Self::judge), for what is still to be done: a folder is then refused, for
    /// it would be changed with all that is in it.
    pub(crate) fn judge_change(&self, intent: &str, path: &str) -> Verdict {
        let verdict = self.judge(intent, path);
        let workspace = self.workspace().filter(|_| verdict == Verdict::Allowed);
        let folder = workspace.is_some_and(|workspace| workspace.is_folder(path));
        match folder {
            true => Verdict::Folder(format!("`{path}` is a folder")),
            false => verdict,
        }
    }

    /// Whether the intents let this intent change the file of this name.
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

    /// Whether a file is what the engine reads its rules from, or writes to.
    fn is_own(&self, workspace: &Workspace, path: &str) -> bool {
        let path = workspace.root().join(path);
        let ignore_file = workspace.root().join(IGNORE_FILE);
        // It may be a link, behind which the rules are.
        let rules = ignore_file.canonicalize().ok();
        let mut own = [
            Some(ignore_file.as_path()),
            rules.as_deref(),
            self.storage().map(Storage::folder),
            self.intents().file(),
        ]
        .into_iter()
        .flatten();
        // A folder that holds them goes with them, when it is deleted or moved.
        own.any(|own| path.starts_with(own) || own.starts_with(&path))
    }
}
