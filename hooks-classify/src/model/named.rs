//! Files of which a command gets the names when it runs.

/// A file or folder that a word names which is not known when the command is judged; or a folder in
/// which such a file lies.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Named {
    pub(crate) path: String,
    /// Whether it is a secret, or may hold some.
    pub(crate) secret: bool,
}
