//! Trace: the findings, steps and parts of one command.

use super::finding::{Finding, Step};
use super::parts::Parts;
use super::terminal_input::TerminalInput;

/// Result of interpreting a command.
#[derive(Debug)]
pub(crate) struct Trace {
    pub(crate) findings: Vec<Finding>,
    /// Lines of the explanation.
    pub(crate) steps: Vec<Step>,
    pub(crate) parts: Parts,
    /// Whether both parsers read every text the same way.
    pub(crate) agreed: bool,
    pub(crate) terminal_input: TerminalInput,
}
