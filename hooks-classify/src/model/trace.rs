//! [`Trace`]: the findings and parts of one command, as the interpreter returns them.

use super::finding::SpanFinding;
use super::parts::Parts;
use super::terminal_input::TerminalInput;

/// Result of interpreting a command.
#[derive(Debug)]
pub(crate) struct Trace {
    pub(crate) findings: Vec<SpanFinding>,
    pub(crate) parts: Parts,
    /// `true` if both parsers agree on every text.
    pub(crate) parsers_agree: bool,
    pub(crate) terminal_input: TerminalInput,
}
