//! What masking finds. In: nothing; plain data. Out: a hidden place with its kind, the label that
//! replaces it, and the reader of the text.

use std::borrow::Cow;
use std::ops::Range;

/// A text that is not shown, by its place.
pub(super) type Hidden = (Range<usize>, Kind);

/// Who reads what is left.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Reader {
    Model,
    /// The trail, of a name that looks like chance without being a secret.
    #[cfg(any(feature = "sqlite", feature = "postgres"))]
    Names,
    #[cfg_attr(
        not(any(feature = "sqlite", feature = "postgres")),
        expect(dead_code, reason = "there is no audit trail")
    )]
    Trail,
}

#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(super) enum Kind {
    Mail,
    Secret,
}

impl Kind {
    /// What stands in its place. Of several lines it says how many: who approves a command must
    /// see that there is more to it.
    pub(super) fn label(self, text: &str) -> Cow<'static, str> {
        match (self, text.matches('\n').count()) {
            (Self::Mail, _) => "[e-mail]".into(),
            (Self::Secret, 0) => "[secret]".into(),
            (Self::Secret, breaks) => format!("[secret of {} lines]", breaks + 1).into(),
        }
    }
}
