//! [`SecretShape`]: the part of a value that is a secret.

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
}
