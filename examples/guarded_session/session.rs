//! Reads a session: one JSON object per line, each a call of a coding agent. The whole input is
//! checked before any call runs.

use std::fmt::{self, Display};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::display::{escape, escape_path};

/// Maximum size of a session in bytes.
const SIZE_LIMIT: u64 = 64 << 20;

/// Maximum length of a program argument on Linux in bytes, without the terminating zero.
const COMMAND_LIMIT: usize = 128 * 1024 - 1;

/// The bundled session, compiled in so that it is trusted.
const BUNDLED: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/data/session.jsonl"));
const BUNDLED_NAME: &str = "examples/data/session.jsonl";

/// One recorded call of the agent. Unknown fields are ignored.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(tag = "tool", rename_all = "lowercase")]
pub(crate) enum Call {
    /// A command line for a shell.
    Bash { command: String },
    /// Read a file.
    Read {
        #[serde(alias = "file_path")]
        path: String,
    },
    /// Create or replace a file.
    Write {
        #[serde(alias = "file_path")]
        path: String,
        #[serde(alias = "content")]
        text: String,
    },
    /// Replace the only occurrence of `old` in a file by `new`.
    Edit {
        #[serde(alias = "file_path")]
        path: String,
        #[serde(alias = "old_text", alias = "old_string")]
        old: String,
        #[serde(alias = "new_text", alias = "new_string")]
        new: String,
    },
}

impl Call {
    /// Returns the name of the tool, as in the session.
    pub(crate) fn tool(&self) -> &'static str {
        match self {
            Self::Bash { .. } => "bash",
            Self::Read { .. } => "read",
            Self::Write { .. } => "write",
            Self::Edit { .. } => "edit",
        }
    }

    /// Returns the command or path, raw: escape it before printing.
    pub(crate) fn text(&self) -> &str {
        match self {
            Self::Bash { command } => command,
            Self::Read { path } | Self::Write { path, .. } | Self::Edit { path, .. } => path,
        }
    }

    /// Parses a call from its fields, under the rules for a line of a session.
    pub(crate) fn from_fields(fields: Map<String, Value>) -> Result<Self, ProblemKind> {
        let tool = tool_of(&fields)?;
        serde_json::from_value::<Self>(fields.into())
            .map_err(|error| ProblemKind::Fields { tool, error })?
            .checked()
    }

    fn checked(self) -> Result<Self, ProblemKind> {
        // Only the text of a file may be empty or contain any character.
        let name = if matches!(self, Self::Bash { .. }) {
            "command"
        } else {
            "path"
        };
        if self.text().trim().is_empty() {
            return Err(ProblemKind::EmptyField(name));
        }
        if self.text().contains('\0') {
            return Err(ProblemKind::Nul(name));
        }
        if matches!(&self, Self::Bash { command } if command.len() > COMMAND_LIMIT) {
            return Err(ProblemKind::TooLong);
        }
        if matches!(&self, Self::Edit { old, .. } if old.is_empty()) {
            return Err(ProblemKind::EmptyField("old"));
        }
        Ok(self)
    }
}

/// Source of a session.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    Bundled,
    Stdin,
    File(PathBuf),
}

impl Source {
    /// Returns the source that a command-line argument names.
    pub(crate) fn from_argument(argument: Option<PathBuf>) -> Self {
        match argument {
            None => Self::Bundled,
            Some(path) if path == Path::new("-") => Self::Stdin,
            Some(path) => Self::File(path),
        }
    }
}

impl Display for Source {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bundled => out.write_str(BUNDLED_NAME),
            Self::Stdin => out.write_str("standard input"),
            Self::File(path) => out.write_str(&escape_path(path)),
        }
    }
}

/// A session that was read: valid calls and invalid lines.
#[derive(Debug)]
pub(crate) struct Session {
    /// Each call with its line number.
    pub(crate) calls: Vec<(usize, Call)>,
    pub(crate) problems: Vec<Problem>,
    /// `true` if this is, byte for byte, the bundled session.
    pub(crate) is_bundled: bool,
}

impl Session {
    /// Reads and checks all of `source`.
    ///
    /// # Errors
    /// Returns an error if there is nothing to read: no such file, a directory, no permission, too
    /// much text, or no call in it. Invalid lines are not errors here; they are in
    /// [`Session::problems`].
    pub(crate) fn read(source: &Source) -> Result<Self, SessionError> {
        let bytes = match source {
            Source::Bundled => read_file(&bundled_path()).unwrap_or_else(|_| BUNDLED.into()),
            Source::Stdin => read_all(io::stdin().lock())?,
            Source::File(path) => read_file(path)?,
        };
        let is_bundled = bytes == BUNDLED.as_bytes();
        let (calls, problems) = parse(&bytes);
        if calls.is_empty() && problems.is_empty() {
            return Err(SessionError::Empty);
        }
        Ok(Self {
            calls,
            problems,
            is_bundled,
        })
    }
}

/// Reason why a session cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum SessionError {
    #[error("no such file; check the path, or pass `-` to read standard input")]
    Missing(#[source] io::Error),
    #[error("is a directory; name a file with one JSON object per line")]
    Directory,
    #[error("cannot be read: {0}; check its permissions, or pass `-` and pipe it in")]
    Unreadable(#[source] io::Error),
    #[error("is larger than {} MiB; split it into several sessions", SIZE_LIMIT >> 20)]
    TooLarge,
    #[error(
        "line 1: the session is empty; write one call per line, such as `{{\"tool\": \"bash\", \"command\": \"ls\"}}`"
    )]
    Empty,
}

/// An invalid line, and its problem.
#[derive(Debug)]
pub(crate) struct Problem {
    pub(crate) line: usize,
    pub(crate) kind: ProblemKind,
}

/// Problem of a line, with a remedy in its message.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum ProblemKind {
    #[error("not valid UTF-8 from byte {0} of the line on; save the file as UTF-8")]
    NotUtf8(usize),
    #[error("not valid JSON: {}; write one JSON object per line", escape(&json_text(.0)))]
    NotJson(#[source] serde_json::Error),
    #[error("not a JSON object; write a call as `{{\"tool\": \"bash\", \"command\": \"ls\"}}`")]
    NotAnObject,
    #[error("the field `tool` is missing; use one of `bash`, `read`, `write`, `edit`")]
    NoTool,
    #[error("the field `tool` is not a string; use one of `bash`, `read`, `write`, `edit`")]
    ToolNotText,
    #[error("unknown tool `{}`; use one of `bash`, `read`, `write`, `edit`", escape(.0))]
    UnknownTool(String),
    #[error("invalid `{tool}` call: {}; it needs {}", escape(&json_text(.error)), fields_of(.tool))]
    Fields {
        tool: String,
        #[source]
        error: serde_json::Error,
    },
    #[error("the field `{0}` is empty; fill it in, or remove the line")]
    EmptyField(&'static str),
    #[error(
        "the field `command` is longer than {COMMAND_LIMIT} bytes, the maximum for a shell; split it"
    )]
    TooLong,
    #[error("the field `{0}` contains a NUL character; remove it")]
    Nul(&'static str),
}

fn bundled_path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data/session.jsonl")
}

fn read_file(path: &Path) -> Result<Vec<u8>, SessionError> {
    let file = File::open(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => SessionError::Missing(error),
        _ => SessionError::Unreadable(error),
    })?;
    read_all(file)
}

fn read_all(input: impl Read) -> Result<Vec<u8>, SessionError> {
    let mut bytes = Vec::new();
    match input.take(SIZE_LIMIT + 1).read_to_end(&mut bytes) {
        Ok(_) if bytes.len() as u64 > SIZE_LIMIT => Err(SessionError::TooLarge),
        Ok(_) => Ok(bytes),
        Err(error) if error.kind() == io::ErrorKind::IsADirectory => Err(SessionError::Directory),
        Err(error) => Err(SessionError::Unreadable(error)),
    }
}

fn parse(bytes: &[u8]) -> (Vec<(usize, Call)>, Vec<Problem>) {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut calls = Vec::new();
    let mut problems = Vec::new();
    for (line, bytes) in (1..).zip(bytes.split(|byte| *byte == b'\n')) {
        if bytes.trim_ascii().is_empty() {
            continue;
        }
        match parse_line(bytes) {
            Ok(call) => calls.push((line, call)),
            Err(kind) => problems.push(Problem { line, kind }),
        }
    }
    (calls, problems)
}

fn parse_line(line: &[u8]) -> Result<Call, ProblemKind> {
    let text =
        str::from_utf8(line).map_err(|error| ProblemKind::NotUtf8(error.valid_up_to() + 1))?;
    let value: Value = serde_json::from_str(text).map_err(ProblemKind::NotJson)?;
    let Value::Object(fields) = &value else {
        return Err(ProblemKind::NotAnObject);
    };
    let tool = tool_of(fields)?;
    // Parses the text instead of `value`, so that a duplicate field is an error rather than a
    // silent choice.
    let call: Call =
        serde_json::from_str(text).map_err(|error| ProblemKind::Fields { tool, error })?;
    call.checked()
}

fn tool_of(fields: &Map<String, Value>) -> Result<String, ProblemKind> {
    match fields.get("tool") {
        None => Err(ProblemKind::NoTool),
        Some(Value::String(tool)) if ["bash", "read", "write", "edit"].contains(&&**tool) => {
            Ok(tool.clone())
        }
        Some(Value::String(tool)) => Err(ProblemKind::UnknownTool(tool.clone())),
        Some(_) => Err(ProblemKind::ToolNotText),
    }
}

/// Returns serde_json's message without the line number, which is always 1 here.
fn json_text(error: &serde_json::Error) -> String {
    error
        .to_string()
        .replace(" at line 1 column ", " at column ")
}

fn fields_of(tool: &str) -> &'static str {
    match tool {
        "bash" => "the string field `command`",
        "read" => "the string field `path`",
        "write" => "the string fields `path` and `text`",
        _ => "the string fields `path`, `old` and `new`",
    }
}

#[cfg(test)]
mod tests {
    use super::{BUNDLED, Call, parse};

    fn problem(line: &[u8]) -> String {
        let (calls, problems) = parse(line);
        assert!(calls.is_empty(), "{calls:?}");
        problems[0].kind.to_string()
    }

    #[test]
    fn each_tool_is_read_with_its_fields_and_their_usual_other_names() {
        let (calls, problems) = parse(
            br#"{"tool":"bash","command":"ls","description":"ignored"}
{"tool":"read","file_path":"a"}

{"tool":"write","path":"a","content":""}
{"tool":"edit","path":"a","old_string":"x","new_text":"y"}"#,
        );
        assert!(problems.is_empty(), "{problems:?}");
        let lines: Vec<_> = calls
            .iter()
            .map(|(line, call)| (*line, call.tool()))
            .collect();
        assert_eq!(lines, [(1, "bash"), (2, "read"), (4, "write"), (5, "edit")]);
        let edit = Call::Edit {
            path: "a".into(),
            old: "x".into(),
            new: "y".into(),
        };
        assert_eq!(calls[3].1, edit);
    }

    #[test]
    fn each_broken_line_says_what_is_wrong_and_what_to_do() {
        for (line, part) in [
            (
                &b"{"[..],
                "not valid JSON: EOF while parsing an object at column 1; write",
            ),
            (b"[1]", "not a JSON object; write"),
            (b"{}", "`tool` is missing; use one of"),
            (br#"{"tool":1}"#, "`tool` is not a string; use"),
            (br#"{"tool":"fly"}"#, "unknown tool `fly`; use one of"),
            (
                "{\"tool\":\"\u{202e}fly\"}".as_bytes(),
                r"unknown tool `\u{202e}fly`",
            ),
            (br#"{"tool":"bash"}"#, "missing field `command`; it needs"),
            (
                br#"{"tool":"bash","command":5}"#,
                "invalid type: integer `5`, expected a string",
            ),
            (
                br#"{"tool":"bash","command":"a","command":"b"}"#,
                "duplicate field `command`",
            ),
            (br#"{"tool":"write","path":"a"}"#, "missing field `text`"),
            (
                br#"{"tool":"edit","path":"a","old":"","new":"x"}"#,
                "`old` is empty; fill",
            ),
            (
                br#"{"tool":"bash","command":" "}"#,
                "`command` is empty; fill",
            ),
            (
                br#"{"tool":"read","path":"a\u0000b"}"#,
                "`path` contains a NUL",
            ),
            (b"{\"tool\":\"\xff\"}", "not valid UTF-8 from byte 10"),
        ] {
            let said = problem(line);
            assert!(said.contains(part), "{said}");
            assert!(said.contains("; "), "no remedy in: {said}");
        }
    }

    #[test]
    fn the_bundled_session_holds_at_least_forty_good_calls() {
        let (calls, problems) = parse(BUNDLED.as_bytes());
        assert!(problems.is_empty(), "{problems:?}");
        assert!(calls.len() >= 40, "only {}", calls.len());
    }
}
