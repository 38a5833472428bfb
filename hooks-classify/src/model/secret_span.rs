//! [`SecretSpan`]: a secret in a command or in another text.

use std::ops::Range;

/// Part of a text that is, or may be, a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SecretSpan {
    /// Start in the text, in bytes.
    pub start: usize,
    /// End in the text, in bytes.
    pub end: usize,
    /// How certain it is that the text is a secret.
    pub kind: SecretKind,
}

/// Certainty that a text is a secret, from low to high.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum SecretKind {
    /// An e-mail address: personal data, not a secret.
    Mail,
    /// A text that looks random, and is mostly a name, a digest or a commit.
    Possible,
    /// A text that looks random, with letters of both cases and digits.
    Random,
    /// A secret by its format, its name or its place.
    Certain,
}

impl SecretSpan {
    pub(crate) fn new(range: Range<usize>, kind: SecretKind) -> Self {
        Self {
            start: range.start,
            end: range.end,
            kind,
        }
    }

    /// Returns the range in the text, in bytes.
    #[must_use]
    pub fn range(&self) -> Range<usize> {
        self.start..self.end
    }
}
