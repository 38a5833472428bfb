//! Positions: a part of a text, in bytes.

use std::ops::Range;

/// A part of a text, in bytes.
///
/// Positions are no part of what would run, so two spans are always equal.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Span {
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl PartialEq for Span {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Span {
    pub(crate) fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }

    /// The part of this text, without half a character at an end.
    pub(crate) fn within(self, text: &str) -> Range<usize> {
        let floor = |at: usize| {
            let mut at = at.min(text.len());
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            at
        };
        let start = floor(self.start);
        start..floor(self.end).max(start)
    }
}
