//! Words after expansion: [`Arg`], a text with [`UNKNOWN`] for each part that is only known when the
//! command runs.

use super::span::Span;

/// Placeholder in a value for each part that is known only when the command runs.
pub const UNKNOWN: char = '\u{F0000}';

/// A word after expansion. Words that differ only in their positions are equal.
#[derive(Clone, Debug)]
pub(crate) struct Arg {
    /// The value, with [`UNKNOWN`] for each unknown part.
    pub(crate) text: String,
    pub(crate) span: Span,
    /// `true` if the word contains a pattern of file names.
    pub(crate) glob: bool,
    /// The value if inherited variables replace the defaults in it; `None` if it has none.
    pub(crate) overridden: Option<String>,
    /// `true` if the word may become several words.
    pub(crate) may_split: bool,
    /// `true` if the unknown parts are data (numbers, inherited variables), never code.
    pub(crate) inert: bool,
    /// `true` if the value contains `1` instead of an unknown number.
    pub(crate) has_guessed_number: bool,
    /// `true` if the word assigns an unquoted list: `NAME=(…)`.
    pub(crate) is_array_literal: bool,
    /// Path of a word that begins with a variable such as `HOME`: `~/x` for `$HOME/x`.
    pub(crate) resolved_path: Option<String>,
    /// Path in this variable, if the variable is the only unknown part.
    pub(crate) path_of_prefix: Option<String>,
}

impl PartialEq for Arg {
    fn eq(&self, other: &Self) -> bool {
        let Self {
            text,
            span: _,
            glob,
            overridden,
            may_split,
            inert,
            has_guessed_number,
            is_array_literal,
            resolved_path,
            path_of_prefix,
        } = other;
        self.text == *text
            && (self.glob, self.may_split) == (*glob, *may_split)
            && self.overridden == *overridden
            && (self.inert, self.has_guessed_number, self.is_array_literal)
                == (*inert, *has_guessed_number, *is_array_literal)
            && self.resolved_path == *resolved_path
            && self.path_of_prefix == *path_of_prefix
    }
}

impl Arg {
    pub(crate) fn new(text: impl Into<String>, span: Span) -> Self {
        Self {
            text: text.into(),
            span,
            glob: false,
            overridden: None,
            may_split: false,
            inert: false,
            has_guessed_number: false,
            is_array_literal: false,
            resolved_path: None,
            path_of_prefix: None,
        }
    }

    pub(crate) fn unknown(span: Span) -> Self {
        Self::new(UNKNOWN, span)
    }

    pub(crate) fn is_known(&self) -> bool {
        !self.text.contains(UNKNOWN)
    }

    /// Returns `true` if a shell that computes with the word runs nothing.
    pub(crate) fn runs_nothing(&self) -> bool {
        !self.glob && (self.inert || self.is_known() && !may_compute(&self.text))
    }

    /// Returns the word as a path, with known variables replaced.
    pub(crate) fn path(&self) -> &str {
        self.resolved_path.as_deref().unwrap_or(&self.text)
    }

    /// Returns the word with a part of its text.
    pub(crate) fn with_text(&self, text: &str) -> Self {
        let resolved_path = match self.text == text {
            true => self.resolved_path.clone(),
            false => resolve_prefix(self.path_of_prefix.as_deref(), text),
        };
        Self {
            text: text.to_owned(),
            // A part that becomes unknown may be anything.
            inert: self.inert && (self.text.contains(UNKNOWN) || !text.contains(UNKNOWN)),
            resolved_path,
            overridden: match (&self.overridden, self.text == text) {
                (overridden, true) => overridden.clone(),
                (Some(_), false) => Some(UNKNOWN.to_string()),
                (None, false) => None,
            },
            ..self.clone()
        }
    }

    /// Returns the word with its defaults replaced by unknown values.
    pub(crate) fn with_replaced_defaults(&self) -> Self {
        match &self.overridden {
            Some(text) => Self {
                text: text.clone(),
                overridden: None,
                resolved_path: None,
                path_of_prefix: None,
                ..self.clone()
            },
            None => self.clone(),
        }
    }
}

/// Returns a text as a path, if it begins with a variable whose path is `prefix`.
pub(crate) fn resolve_prefix(prefix: Option<&str>, text: &str) -> Option<String> {
    let rest = text.strip_prefix(UNKNOWN)?;
    let prefix = prefix?;
    (rest.is_empty() || rest.starts_with('/')).then(|| format!("{prefix}{rest}"))
}

/// Returns the text of a word for messages, with `…` for each unknown part.
pub(crate) fn display_text(arg: &Arg) -> String {
    arg.text.replace(UNKNOWN, "…")
}

/// Returns shell text that evaluates to exactly this word.
pub(crate) fn shell_quoted(arg: &Arg) -> String {
    if arg.is_known() {
        format!("'{}'", arg.text.replace('\'', "'\\''"))
    } else {
        let text: String = arg
            .text
            .chars()
            .map(|c| match c {
                UNKNOWN => "$_".to_owned(),
                '"' | '$' | '`' | '\\' => format!("\\{c}"),
                _ => c.to_string(),
            })
            .collect();
        format!("\"{text}\"")
    }
}

/// Returns `true` if a text may run code where a shell computes with it.
pub(crate) fn may_compute(text: &str) -> bool {
    text.contains(['[', '$', '`'])
}
