//! The formats of transcripts, each with its own reader. In: entries of a transcript. Out: its calls.
//!
//! Each reader was written from transcripts of the published client, in the version that its module
//! names; `contrib/agents-lab/lab.mjs --transcripts` makes them.

mod auggie;
mod claude_code;
mod cline;
mod codex;
mod copilot;
mod droid;
mod gemini;
mod goose;
mod grok;
mod kimi_code;
mod letta_code;
mod mistral_vibe;
mod opencode;
mod openhands;
mod parts;
mod pi;
mod qwen_code;

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde_json::Value;

use super::call::CallBuffer;
use crate::protocol::Agent;
pub(super) use crate::protocol::JsonObject;

/// Reads the entries of one transcript in their order.
pub(super) trait EntryReader {
    /// Adds the calls and the results in an entry.
    fn read(&mut self, entry: &JsonObject, calls: &mut CallBuffer);
}

/// Place of an agent's transcripts.
#[derive(Clone, Copy, Debug)]
pub(super) enum TranscriptPlace {
    /// Below the directory of the agent's settings.
    Settings(&'static str),
    /// Below the user's directory for data, `~/.local/share`.
    Data(&'static str),
}

/// A format with one JSON object per line.
#[derive(Debug)]
pub(super) struct LineFormat {
    /// The agent that writes it.
    pub(super) agent: Agent,
    pub(super) place: TranscriptPlace,
    /// Returns `true` for an entry of this file by which the format is recognized.
    pub(super) recognizes: fn(&JsonObject, &Path) -> bool,
    /// Creates the reader of a transcript.
    pub(super) reader: fn(&Path) -> Box<dyn EntryReader>,
}

/// The formats with one object per line. The first one that recognizes an entry reads the file.
pub(super) const LINE_FORMATS: &[LineFormat] = &[
    LineFormat {
        agent: Agent::ClaudeCode,
        place: TranscriptPlace::Settings("projects"),
        recognizes: |entry, _| claude_code::recognizes(entry),
        reader: |_| Box::<claude_code::ClaudeCodeReader>::default(),
    },
    LineFormat {
        agent: Agent::Codex,
        place: TranscriptPlace::Settings("sessions"),
        recognizes: |entry, _| codex::recognizes(entry),
        reader: |_| Box::<codex::CodexReader>::default(),
    },
    LineFormat {
        agent: Agent::Gemini,
        place: TranscriptPlace::Settings(".gemini/tmp"),
        recognizes: |entry, _| gemini::recognizes(entry),
        reader: |file| Box::new(gemini::GeminiReader::new(file)),
    },
    LineFormat {
        agent: Agent::Copilot,
        place: TranscriptPlace::Settings("session-state"),
        recognizes: |entry, _| copilot::recognizes(entry),
        reader: |_| Box::<copilot::CopilotReader>::default(),
    },
    LineFormat {
        agent: Agent::QwenCode,
        place: TranscriptPlace::Settings("projects"),
        recognizes: |entry, _| qwen_code::recognizes(entry),
        reader: |_| Box::new(qwen_code::QwenCodeReader),
    },
    LineFormat {
        agent: Agent::Droid,
        place: TranscriptPlace::Settings(".factory/sessions"),
        recognizes: |entry, _| droid::recognizes(entry),
        reader: |_| Box::<droid::DroidReader>::default(),
    },
    LineFormat {
        agent: Agent::Grok,
        place: TranscriptPlace::Settings("sessions"),
        recognizes: |entry, _| grok::recognizes(entry),
        reader: |file| Box::new(grok::GrokReader::new(file)),
    },
    LineFormat {
        agent: Agent::LettaCode,
        place: TranscriptPlace::Settings("lc-local-backend/conversations"),
        recognizes: letta_code::recognizes,
        reader: |_| Box::new(pi::PiReader::new(Agent::LettaCode)),
    },
    LineFormat {
        agent: Agent::Pi,
        place: TranscriptPlace::Settings("sessions"),
        recognizes: |entry, _| pi::is_session(entry),
        reader: |_| Box::new(pi::PiReader::new(Agent::Pi)),
    },
    LineFormat {
        agent: Agent::KimiCode,
        place: TranscriptPlace::Settings("sessions"),
        recognizes: |entry, _| kimi_code::recognizes(entry),
        reader: |file| Box::new(kimi_code::KimiCodeReader::new(file)),
    },
];

/// A format with one JSON object per file.
#[derive(Debug)]
pub(super) struct DocumentFormat {
    /// The agent that writes it.
    pub(super) agent: Agent,
    pub(super) place: TranscriptPlace,
    /// End of the names of its files.
    pub(super) ending: &'static str,
    /// Name of the folder of its files.
    pub(super) folder: &'static str,
    /// Field with the list of entries; `None` if the file is the list.
    pub(super) entries: Option<&'static str>,
    /// Creates the reader of a transcript. It also reads each id beside the list, as an entry of its own.
    pub(super) reader: fn(&Path) -> Box<dyn EntryReader>,
}

/// The formats with one object per file, each with files of other names.
pub(super) const DOCUMENT_FORMATS: &[DocumentFormat] = &[
    DocumentFormat {
        agent: Agent::Cline,
        place: TranscriptPlace::Settings(".cline/data/sessions"),
        ending: ".messages.json",
        folder: "",
        entries: Some("messages"),
        reader: |file| Box::new(cline::ClineReader::new(file)),
    },
    DocumentFormat {
        agent: Agent::Auggie,
        place: TranscriptPlace::Settings("sessions"),
        ending: ".json",
        folder: "sessions",
        entries: Some("chatHistory"),
        reader: |_| Box::<auggie::AuggieReader>::default(),
    },
    DocumentFormat {
        agent: Agent::MistralVibe,
        place: TranscriptPlace::Settings("logs/session"),
        ending: ".json",
        folder: "chunks",
        entries: None,
        reader: |file| Box::new(mistral_vibe::MistralVibeReader::new(file)),
    },
];

/// A format with a folder of files, each with one JSON object. Their order is that of their names.
#[derive(Debug)]
pub(super) struct FolderFormat {
    /// The agent that writes it.
    pub(super) agent: Agent,
    pub(super) place: TranscriptPlace,
    /// Name of the folder.
    pub(super) folder: &'static str,
    /// Start of the name of the first file.
    pub(super) first: &'static str,
    /// Creates the reader of the folder of a file.
    pub(super) reader: fn(&Path) -> Box<dyn EntryReader>,
}

/// The formats with a folder of files.
pub(super) const FOLDER_FORMATS: &[FolderFormat] = &[FolderFormat {
    agent: Agent::OpenHands,
    place: TranscriptPlace::Settings("conversations"),
    folder: "events",
    first: "event-00000-",
    reader: |file| Box::new(openhands::OpenHandsReader::new(file)),
}];

/// Returns the agents with the places of their transcripts.
pub(super) fn places() -> impl Iterator<Item = (Agent, TranscriptPlace)> {
    let lines = LINE_FORMATS
        .iter()
        .map(|format| (format.agent, format.place));
    let documents = DOCUMENT_FORMATS
        .iter()
        .map(|format| (format.agent, format.place));
    let folders = FOLDER_FORMATS
        .iter()
        .map(|format| (format.agent, format.place));
    let databases = DATABASE_FORMATS
        .iter()
        .map(|format| (format.agent, format.place));
    lines.chain(documents).chain(folders).chain(databases)
}

/// A format with the sessions in a database of SQLite.
#[derive(Debug)]
pub(super) struct DatabaseFormat {
    /// The agent that writes it.
    pub(super) agent: Agent,
    pub(super) place: TranscriptPlace,
    /// Name of the database.
    pub(super) file: &'static str,
    /// Query of the entries after a place, at most a number of them. Its columns are `place`, `session`, `at`,
    /// `cwd` and `data`, a text of JSON.
    pub(super) query: &'static str,
    /// Creates the reader of the rows.
    pub(super) reader: fn() -> Box<dyn EntryReader>,
}

/// The formats in a database.
pub(super) const DATABASE_FORMATS: &[DatabaseFormat] = &[
    DatabaseFormat {
        agent: Agent::OpenCode,
        place: TranscriptPlace::Data("opencode"),
        file: "opencode.db",
        query: opencode::QUERY,
        reader: || Box::new(opencode::OpenCodeReader(Agent::OpenCode)),
    },
    DatabaseFormat {
        agent: Agent::KiloCode,
        place: TranscriptPlace::Data("kilo"),
        file: "kilo.db",
        query: opencode::QUERY,
        reader: || Box::new(opencode::OpenCodeReader(Agent::KiloCode)),
    },
    DatabaseFormat {
        agent: Agent::Goose,
        place: TranscriptPlace::Data("goose/sessions"),
        file: "sessions.db",
        query: goose::QUERY,
        reader: || Box::new(goose::GooseReader),
    },
];

/// Returns a text of an object, unless it is empty.
fn text<'a>(object: &'a JsonObject, field: &str) -> Option<&'a str> {
    object.get(field)?.as_str().filter(|text| !text.is_empty())
}

/// Returns a text as an owned value.
fn owned(object: &JsonObject, field: &str) -> Option<String> {
    text(object, field).map(str::to_owned)
}

/// Returns an absolute path of an object.
fn path(object: &JsonObject, field: &str) -> Option<PathBuf> {
    let path = text(object, field).map(PathBuf::from);
    path.filter(|path| path.is_absolute())
}

/// Returns an object in an object.
fn inner<'a>(object: &'a JsonObject, field: &str) -> Option<&'a JsonObject> {
    object.get(field)?.as_object()
}

/// Returns the objects of a list in an object.
fn objects<'a>(object: &'a JsonObject, field: &str) -> impl Iterator<Item = &'a JsonObject> {
    let list = object.get(field).and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_object)
}

/// Returns a time in RFC 3339, or a number of milliseconds since 1970.
fn time(object: &JsonObject, field: &str) -> Option<Timestamp> {
    match object.get(field)? {
        Value::String(text) => text.parse().ok(),
        Value::Number(number) => Timestamp::from_millisecond(number.as_i64()?).ok(),
        _ => None,
    }
}
