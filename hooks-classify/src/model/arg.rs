//! Words after expansion, with what is known about their values.

use super::span::Span;

/// Stands in a value for what is only known when the command runs.
pub const UNKNOWN: char = '\u{F0000}';

/// A word after expansion.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Arg {
    /// The value, with [`UNKNOWN`] for every part that is not known.
    pub(crate) text: String,
    pub(crate) span: Span,
    /// Whether a pattern in it stands for names of files.
    pub(crate) glob: bool,
    /// Whether the value is a default that a variable may replace.
    pub(crate) maybe: bool,
    /// Whether it may become several words.
    pub(crate) many: bool,
    /// Whether what is not known in it is no code: numbers, and what the shell was started with.
    pub(crate) inert: bool,
    /// Whether some number stands in it for one that is not known.
    pub(crate) guess: bool,
    /// Whether it assigns a list in brackets that are not quoted: `NAME=(…)`.
    pub(crate) compound: bool,
    /// The path that it is where it begins with a variable such as `HOME`: `~/x` for `$HOME/x`.
    pub(crate) place: Option<String>,
    /// The path that such a variable stands for, where it is all that is not known.
    pub(crate) prefix: Option<String>,
}

impl Arg {
    pub(crate) fn new(text: impl Into<String>, span: Span) -> Self {
        Self {
            text: text.into(),
            span,
            glob: false,
            maybe: false,
            many: false,
            inert: false,
            guess: false,
            compound: false,
            place: None,
            prefix: None,
        }
    }

    pub(crate) fn unknown(span: Span) -> Self {
        Self::new(UNKNOWN, span)
    }

    /// Returns true if a word is the same, wherever it is in the text.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let span = self.span;
        *self
            == Self {
                span,
                ..other.clone()
            }
    }

    pub(crate) fn known(&self) -> bool {
        !self.text.contains(UNKNOWN)
    }

    /// Returns the path that it is, as far as it is known.
    pub(crate) fn path(&self) -> &str {
        self.place.as_deref().unwrap_or(&self.text)
    }

    /// The same word with a part of its text.
    pub(crate) fn with(&self, text: &str) -> Self {
        let place = match self.text == text {
            true => self.place.clone(),
            false => placed(self.prefix.as_deref(), text),
        };
        Self {
            text: text.to_owned(),
            place,
            ..self.clone()
        }
    }
}

/// Returns the path that a text is which begins with a variable of which it is known where it leads.
pub(crate) fn placed(prefix: Option<&str>, text: &str) -> Option<String> {
    let rest = text.strip_prefix(UNKNOWN)?;
    let prefix = prefix?;
    (rest.is_empty() || rest.starts_with('/')).then(|| format!("{prefix}{rest}"))
}

/// A word for people: what is not known as `…`.
pub(crate) fn shown(arg: &Arg) -> String {
    arg.text.replace(UNKNOWN, "…")
}
