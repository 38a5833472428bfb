//! Sessions of Letta Code with its agents on the machine:
//! `~/.letta/lc-local-backend/conversations/CONVERSATION/messages.jsonl`. The entries have the form of Pi. From
//! transcripts of Letta Code 0.32.18.

use std::path::Path;

use super::JsonObject;
use super::pi;

/// Returns `true` for the first line of a session in a file with the name that Letta Code gives.
pub(super) fn recognizes(entry: &JsonObject, file: &Path) -> bool {
    pi::is_session(entry) && file.ends_with("messages.jsonl")
}
