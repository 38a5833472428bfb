//! What is read of JSON with comments. In: a text or a handler in it. Out: how it is parsed, why it is
//! left alone, and whether a handler is ours.

use std::sync::LazyLock;

use jsonc_parser::ParseOptions;
use jsonc_parser::ast::{self, Object};
use jsonc_parser::errors::ParseError;
use regex::Regex;
use thiserror::Error;

use crate::protocol::Agent;

/// Why a document is left alone.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum DocumentError {
    /// It does not parse.
    #[error("line {line}, column {column}: {detail}; mend it first")]
    Parse {
        /// From 1.
        line: usize,
        /// From 1, in characters.
        column: usize,
        /// What is wrong there.
        detail: String,
    },
    /// A part of it is not what the agent reads.
    #[error("`{at}` is not {wanted}; mend it first")]
    Shape {
        /// Where, such as `hooks.PreToolUse`.
        at: String,
        /// What it should be.
        wanted: &'static str,
    },
    /// A key is there more than once: which one counts is the agent's secret.
    #[error("`{at}` is there more than once; mend it first")]
    Twice {
        /// Where.
        at: String,
    },
}

pub(super) const BOM: char = '\u{feff}';

/// JSON with comments and commas at the end, and nothing else that is no JSON.
pub(super) const OPTIONS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

pub(super) fn unparsed(error: &ParseError) -> DocumentError {
    DocumentError::Parse {
        line: error.line_display(),
        column: error.column_display(),
        detail: error.kind().to_string().to_lowercase(),
    }
}

/// Whether a handler runs this program for the agent, wherever the program is.
pub(super) fn is_ours(handler: &Object<'_>, agent: Agent) -> bool {
    let text = |field: &str| handler.get_string(field).map(|text| text.value.as_ref());
    if let Some(arguments) = handler.get_array("args") {
        // The command is a path there, and no line of a shell.
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

/// Returns whether a line of a shell begins with this program as the agent's hook; its path may be
/// quoted.
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
