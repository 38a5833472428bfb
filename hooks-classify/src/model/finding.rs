//! [`SpanFinding`]: the effect of a span of a command, with the reason and its certainty.

use super::effect::Crud;
use super::span::Span;

/// Certainty of a finding, from which `confidence` is computed.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(crate) enum Certainty {
    /// A table names the effect.
    Known,
    /// The command runs code that it does not show.
    Likely,
    /// The effect is assumed.
    Guess,
}

/// Effect of one part of a command.
#[derive(Clone, Debug)]
pub(crate) struct SpanFinding {
    pub(crate) span: Span,
    pub(crate) effect: Crud,
    /// `true` if the part must be confirmed although it may only read.
    pub(crate) ask: bool,
    pub(crate) reason: String,
    pub(crate) certainty: Certainty,
}
