//! Transcripts on this machine. In: the directories of agents, or folders. Out: the files that can be transcripts.

use std::fs;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::formats::{TranscriptPlace, places};
use super::transcript::{FileKind, kind};
use crate::files;
use crate::protocol::Agent;

/// Maximum depth of a folder below the one that is searched.
const MAX_DEPTH: usize = 24;
/// Folders that hold no transcripts, but many files.
const SKIPPED: [&str; 2] = [".git", "node_modules"];

/// Returns the agents whose transcripts can be read, in the order of their names.
#[must_use]
pub fn replayed_agents() -> Vec<Agent> {
    let mut agents: Vec<Agent> = places().map(|(agent, _)| agent).collect();
    agents.sort_by_key(|agent| agent.title());
    agents
}

/// Returns the folders in which agents keep their transcripts, existing or not. `settings` returns the directory
/// of an agent's settings, and `data` is the user's directory for data.
pub fn usual_folders(settings: impl Fn(Agent) -> PathBuf, data: &Path) -> Vec<PathBuf> {
    places()
        .map(|(agent, place)| match place {
            TranscriptPlace::Settings(folder) => settings(agent).join(folder),
            TranscriptPlace::Data(folder) => data.join(folder),
        })
        .collect()
}

/// Returns the time of the last change of a transcript; `None` if it is not known.
#[must_use]
pub fn changed_at(file: &Path) -> Option<Timestamp> {
    let time = |path: &Path| {
        let changed = path.metadata().and_then(|metadata| metadata.modified());
        Timestamp::try_from(changed.ok()?).ok()
    };
    match kind(file) {
        // A new event is a new file.
        Some(FileKind::Folder(_)) => time(file.parent()?),
        Some(FileKind::Database(_)) => time(file).max(time(&files::with_end(file, "-wal"))),
        Some(FileKind::Lines | FileKind::Document(_)) | None => time(file),
    }
}

/// Returns the files below a folder that can be transcripts, sorted; or the file itself. Links to folders are not
/// followed. A folder that cannot be read is left out.
#[must_use]
pub fn transcript_files(folder: &Path) -> Vec<PathBuf> {
    if folder.is_file() {
        return vec![folder.to_owned()];
    }
    let mut found = Vec::new();
    let mut folders = vec![(folder.to_owned(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let Ok(file_type) = entry.file_type() else {
                continue;
            };
            let path = entry.path();
            let is_skipped = SKIPPED.iter().any(|name| entry.file_name() == *name);
            if file_type.is_dir() && depth < MAX_DEPTH && !is_skipped {
                folders.push((path, depth + 1));
            } else if file_type.is_file() && kind(&path).is_some() {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}
