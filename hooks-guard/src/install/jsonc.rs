//! JSON with comments. In: a text, or a handler in it. Out: parser options, errors, and whether a
//! handler runs this program.

use std::path::Path;
use std::sync::LazyLock;

use jsonc_parser::ast::{self, Object};
use jsonc_parser::errors::ParseError;
use regex::Regex;
use thiserror::Error;

use super::endpoint;
use crate::excerpt::Excerpt;
use crate::protocol::Agent;

/// Error returned when a document is left unchanged.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum DocumentError {
    /// The document does not parse.
    #[error("line {}, column {}: {}", excerpt.line, excerpt.column, invalid_syntax(detail))]
    Parse {
        /// Line, column and text of the place.
        excerpt: Excerpt,
        /// Message of the parser.
        detail: String,
    },
    /// A value has another type than the agent expects.
    #[error("`{at}` is not {wanted}; correct it first")]
    Shape {
        /// Path of the value, such as `hooks.PreToolUse`.
        at: String,
        /// Expected type.
        wanted: &'static str,
    },
    /// A key occurs more than once, and it is unknown which one the agent uses.
    #[error("`{at}` occurs more than once; remove the others first")]
    Twice {
        /// Path of the key.
        at: String,
    },
}

impl DocumentError {
    /// Returns the message with the file, its line and its column.
    pub(crate) fn in_file(&self, path: &Path) -> String {
        let path = path.display();
        match self {
            Self::Parse { excerpt, detail } => {
                format!("{path}:{excerpt}: {}", invalid_syntax(detail))
            }
            error => format!("{path}: {error}"),
        }
    }
}

/// Returns the message for a document that does not parse, without its place.
pub(super) fn invalid_syntax(detail: &str) -> String {
    format!("{detail}; correct the syntax first")
}

/// Returns the error of the parser about this text.
pub(super) fn unparsed(text: &str, error: &ParseError) -> DocumentError {
    let at = error.range();
    DocumentError::Parse {
        excerpt: Excerpt::new(text, at.start..at.end),
        detail: error.kind().to_string().to_lowercase(),
    }
}

/// Returns `true` if a handler runs this program for the agent, from any path, or calls the service.
pub(super) fn is_ours(handler: &Object<'_>, agent: Agent) -> bool {
    let text = |field: &str| handler.get_string(field).map(|text| text.value.as_ref());
    if endpoint::is_called(handler, agent) {
        return true;
    }
    if let Some(arguments) = handler.get_array("args") {
        // Here the command is a path, not a shell command line.
        let mut words = arguments.elements.iter().filter_map(|word| match word {
            ast::Value::StringLit(word) => Some(word.value.as_ref()),
            _ => None,
        });
        let name = text("command").and_then(|command| command.rsplit(['/', '\\']).next());
        return matches!(name, Some("hooks-guard" | "hooks-guard.exe"))
            && words.next() == Some("hook")
            && words.next().is_some_and(|name| name.parse() == Ok(agent));
    }
    let mut lines = ["command", "bash", "powershell"]
        .into_iter()
        .filter_map(text);
    lines.any(|line| runs(line, agent))
}

/// Returns `true` if a shell command line begins with this program as the agent's hook; its path
/// may be quoted.
pub(super) fn runs(line: &str, agent: Agent) -> bool {
    static LINE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let quoted = r"'(?:[^']|'\\''|'')*[/\\]hooks-guard(?:\.exe)?'";
        let plain = r#"(?:[^\s'"]*[/\\])?hooks-guard(?:\.exe)?"#;
        let doubly = r#""(?:[^"]*[/\\])?hooks-guard(?:\.exe)?""#;
        Regex::new(&format!(
            "^(?:& )?(?:{quoted}|{plain}|{doubly}) hook ([a-z-]+)(?: |$)"
        ))
        .ok()
    });
    let named = LINE.as_ref().and_then(|known| known.captures(line));
    named.is_some_and(|named| named[1].parse() == Ok(agent))
}
