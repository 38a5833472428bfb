//! Findings: effects of parts of a command, and the lines of an explanation.

use super::effect::Crud;
use super::span::Span;

/// Certainty of a finding, from which `confidence` is computed.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(crate) enum Sure {
    /// A table names the effect.
    Known,
    /// The command runs code that it does not show.
    Likely,
    /// The effect is assumed.
    Guess,
}

/// Effect of one part of a command.
#[derive(Clone, Debug)]
pub(crate) struct Finding {
    pub(crate) span: Span,
    pub(crate) effect: Crud,
    /// Whether the part must be confirmed although it may only read.
    pub(crate) ask: bool,
    pub(crate) reason: String,
    pub(crate) sure: Sure,
}

/// Line of the explanation.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) depth: usize,
    pub(crate) span: Span,
    pub(crate) label: String,
    /// Number of findings before this step.
    pub(crate) before: usize,
}
