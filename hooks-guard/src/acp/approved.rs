//! The changes of files that a person has approved in a request for permission. In: approved
//! requests, and writes. Out: whether a write is the change that was approved.
//!
//! Some agents request a permission and then have the editor write the file. The second request is
//! the same change, so the person is not asked again, if the write is exact: the session, the file,
//! its content before and its content after are those of the approved change. An approved change
//! covers one write.

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};

use super::requests::{AgentRequest, Evidence, RequestKind};
use crate::changes::{ProposedChange, ProposedEdit, replaced};
use crate::files;
use crate::protocol::MAX_INPUT_BYTES;

/// Maximum number of approved changes that wait for their write; the oldest are forgotten.
const MAX_APPROVED_CHANGES: usize = 64;

/// How long an approved change waits for its write.
const MAX_AGE: Duration = Duration::from_secs(60);

type ContentHash = [u8; 32];

/// A change of one whole file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WholeChange {
    session_id: String,
    path: PathBuf,
    /// Hash of the content before the change; `None` if there is no file.
    before: Option<ContentHash>,
    after: ContentHash,
}

impl WholeChange {
    /// Returns the change that a request for permission shows; `None` if it does not determine the
    /// content of one file.
    pub(super) fn of_permission(request: &AgentRequest) -> Option<Self> {
        match (&request.kind, &request.edits[..]) {
            (RequestKind::Permission(_), [change]) => Self::new(&request.session_id, change),
            _ => None,
        }
    }

    /// Returns the change of a request to write a file.
    pub(super) fn of_write(request: &AgentRequest) -> Option<Self> {
        match (&request.kind, request.evidence, &request.edits[..]) {
            (RequestKind::File, Evidence::Complete, [change]) => {
                Self::new(&request.session_id, change)
            }
            _ => None,
        }
    }

    fn new(session_id: &str, ProposedChange { path, edit }: &ProposedChange) -> Option<Self> {
        if !path.is_absolute() {
            return None;
        }
        let before = present(path).ok()?;
        let after = match edit {
            ProposedEdit::Write(text) => hash(text.as_bytes()),
            ProposedEdit::Replace(texts) => {
                let before = std::str::from_utf8(before.as_deref()?).ok()?;
                hash(replaced(before, texts)?.as_bytes())
            }
            _ => return None,
        };
        Some(Self {
            session_id: session_id.to_owned(),
            path: path.clone(),
            before: before.as_deref().map(hash),
            after,
        })
    }
}

fn hash(content: &[u8]) -> ContentHash {
    Sha256::digest(content).into()
}

/// Returns the present content of a file; `None` if there is none.
fn present(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
        // A link may lead to another file when the client writes.
        Ok(found) if !found.is_file() || found.len() > MAX_INPUT_BYTES as u64 => {
            Err(io::ErrorKind::InvalidInput.into())
        }
        Ok(_) => files::read(path).map(Some),
    }
}

/// The approved changes of one connection that wait for their write.
#[derive(Debug, Default)]
pub(super) struct ApprovedChanges(VecDeque<(Instant, WholeChange)>);

impl ApprovedChanges {
    pub(super) fn add(&mut self, change: WholeChange) {
        self.0.push_back((Instant::now() + MAX_AGE, change));
        if self.0.len() > MAX_APPROVED_CHANGES {
            self.0.pop_front();
        }
    }

    /// Returns `true` if no change is approved.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes the approved change that this write makes, if there is one.
    pub(super) fn take(&mut self, write: &WholeChange) -> bool {
        let now = Instant::now();
        self.0.retain(|(until, _)| *until > now);
        let found = self.0.iter().position(|(_, change)| change == write);
        found.and_then(|at| self.0.remove(at)).is_some()
    }

    /// Forgets the changes of a session, whose turn was cancelled.
    pub(super) fn forget(&mut self, session_id: &str) {
        self.0.retain(|(_, change)| change.session_id != session_id);
    }
}
