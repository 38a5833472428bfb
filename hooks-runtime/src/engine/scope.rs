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
        if let Some(workspace) = self.workspace() {
            // A link must not get round a pattern, whether that names the link or its end.
            for name in [normal(path).as_deref().unwrap_or(&real), &real] {
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
            if self.is_own(workspace, &real) {
                return Verdict::Violation(format!("`{path}` is the engine's own"));
            }
        }
        match self.intents().ownership(intent, &real) {
            Ownership::Owned => Verdict::Allowed,
            Ownership::Contended(other) => Verdict::Contention(other),
            Ownership::Unknown => Verdict::Violation(format!("there is no intent `{intent}`")),
            Ownership::Resting(status) => {
                Verdict::Violation(format!("intent `{intent}` is {status:?}"))
            }
            Ownership::Outside(scope) => Verdict::Violation(format!(
                "`{real}` is not in the scope of `{intent}`, which is `{}`",
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
