//! Spans: byte ranges of a text.

use std::ops::Range;

/// Byte range of a text.
///
/// Two spans are always equal: positions do not matter when two readings of a text are compared.
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
