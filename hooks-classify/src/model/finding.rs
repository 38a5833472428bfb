//! Findings: what the parts of a command do, and the lines of an explanation.

use super::effect::Crud;
use super::span::Span;

/// How sure a finding is; the ground of `confidence`.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(crate) enum Sure {
    /// A table says so.
    Known,
    /// It follows from code that is not shown.
    Likely,
    /// Nothing is known about it.
    Guess,
}

/// What one part of a command does.
#[derive(Clone, Debug)]
pub(crate) struct Finding {
    pub(crate) span: Span,
    pub(crate) effect: Crud,
    /// Must be asked about although it may only read.
    pub(crate) ask: bool,
    pub(crate) reason: String,
    pub(crate) sure: Sure,
}

/// A line of the explanation.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) depth: usize,
    pub(crate) span: Span,
    pub(crate) label: String,
    /// The findings that were there before this step.
    pub(crate) before: usize,
}
