//! [`Span`]: a byte range of a text.

use std::ops::Range;

/// Byte range of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Span {
    pub(crate) fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }

    /// Returns the range in this text, moved to the boundaries of characters.
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
