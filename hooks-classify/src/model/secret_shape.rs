//! [`SecretShape`]: the part of a value that is a secret.

use std::ops::Range;

/// Part of an operand, or of the value of an option, that is a secret.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum SecretShape {
    /// The table does not say; the name of the option may.
    #[default]
    Unstated,
    /// The name or the place of a secret, never a secret.
    Name,
    /// The whole value.
    Whole,
    /// The text after the first of these characters: `user:password`.
    After(&'static str),
    /// The text after the first of these characters and before the last `@`:
    /// `[DOMAIN/]USER:PASSWORD@HOST`.
    Login(&'static str),
    /// Text with options of its own, whose names say which values are secrets.
    Options,
    /// The text after one of these names and a colon: `pass:SECRET`, but not `env:NAME`.
    Scheme(&'static [&'static str]),
    /// The whole value, if the word before is the name of a secret: `config set api.token SECRET`.
    OfName,
}

/// Secrets on the standard input of a program.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum SecretInput {
    /// Each line is a secret.
    Lines,
    /// The first line is a secret; the others may be input of another program.
    FirstLine,
    /// Each line is `NAME:SECRET`.
    Accounts,
    /// Lines `user NAME SECRET` and `pass SECRET` are logins, others are commands.
    Logins,
}

impl SecretShape {
    /// Returns the part of a value that is a secret, and not its source.
    pub(crate) fn secret_in(self, text: &str) -> Option<Range<usize>> {
        let range = match self {
            Self::Unstated | Self::Name | Self::OfName | Self::Options => return None,
            Self::Whole => 0..text.len(),
            Self::After(separators) => {
                let at = text.find(|c| separators.contains(c))?;
                if text[at..].starts_with("://") {
                    return None;
                }
                at + 1..text.len()
            }
            Self::Login(separators) => {
                let at = text.find(|c| separators.contains(c)).filter(|at| *at > 0)?;
                let end = text.rfind('@').filter(|end| *end > at);
                let is_address = text.contains("://");
                // `HOST:PORT` has no user.
                let end = match separators.contains(':') {
                    true => end?,
                    false => end.unwrap_or(text.len()),
                };
                if is_address || text.starts_with('@') {
                    return None;
                }
                at + 1..end
            }
            Self::Scheme(schemes) => {
                let rest = schemes
                    .iter()
                    .find_map(|scheme| text.strip_prefix(scheme)?.strip_prefix(':'))?;
                text.len() - rest.len()..text.len()
            }
        };
        let value = &text[range.clone()];
        let is_source = value.starts_with("file://")
            || self != Self::Whole && value.starts_with(['@', '<'])
            || matches!(value, "" | "-");
        (!is_source).then_some(range)
    }
}
