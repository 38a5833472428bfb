//! Sessions of Cline: `~/.cline/data/sessions/SESSION/….messages.json`, one object whose `messages` has the
//! messages, beside `SESSION.json` with the directory. From transcripts of Cline 3.0.65.

use std::path::{Path, PathBuf};

use super::parts::{MessagePlace, read_parts};
use super::{EntryReader, JsonObject, owned, path, time};
use crate::files;
use crate::protocol::Agent;
use crate::replay::call::CallBuffer;

/// Reader of one session.
#[derive(Debug)]
pub(super) struct ClineReader {
    session: String,
    cwd: Option<PathBuf>,
}

impl ClineReader {
    pub(super) fn new(file: &Path) -> Self {
        let folder = file.parent().and_then(Path::file_name);
        let session = folder.unwrap_or_default().to_string_lossy().into_owned();
        let about = files::read(&file.with_file_name(format!("{session}.json"))).ok();
        let about = about.and_then(|text| serde_json::from_slice::<JsonObject>(&text).ok());
        Self {
            cwd: about.as_ref().and_then(|about| path(about, "cwd")),
            session,
        }
    }
}

impl EntryReader for ClineReader {
    fn read(&mut self, entry: &JsonObject, calls: &mut CallBuffer) {
        if let Some(session) = owned(entry, "sessionId") {
            self.session = session;
        }
        let place = MessagePlace {
            agent: Agent::Cline,
            session: &self.session,
            cwd: self.cwd.as_deref(),
            at: time(entry, "ts"),
        };
        read_parts(&place, entry, calls);
    }
}
