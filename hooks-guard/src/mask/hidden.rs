//! Data of masking: a hidden range with its kind, the label that replaces it, and the reader for
//! whom a text is masked.

use std::borrow::Cow;
use std::ops::Range;

/// A range to mask.
pub(super) type Hidden = (Range<usize>, HiddenKind);

/// Reader for whom a text is masked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum MaskReader {
    Model,
    /// The trail, for a name that may look random without being a secret.
    Names,
    Trail,
}

#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(super) enum HiddenKind {
    Mail,
    Secret,
}

/// Label that replaces an e-mail address.
pub(super) const MAIL_LABEL: &str = "[e-mail]";
/// Start of every label that replaces a secret.
pub(super) const SECRET_LABEL: &str = "[secret";

impl HiddenKind {
    /// Returns the replacement. States the number of lines if there are several, so that the person
    /// who approves a command sees that there is more.
    pub(super) fn label(self, text: &str) -> Cow<'static, str> {
        match (self, text.matches('\n').count()) {
            (Self::Mail, _) => MAIL_LABEL.into(),
            (Self::Secret, 0) => format!("{SECRET_LABEL}]").into(),
            (Self::Secret, breaks) => format!("{SECRET_LABEL} of {} lines]", breaks + 1).into(),
        }
    }
}
