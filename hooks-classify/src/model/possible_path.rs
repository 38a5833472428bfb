//! [`PossiblePath`]: a path that a word may have whose value is only known when the command runs.

/// Limit of paths of a variable.
pub(crate) const MAX_PATHS_OF_VARIABLE: usize = 64;

/// File or folder that an unknown word may name, or the folder of such a file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PossiblePath {
    pub(crate) path: String,
    /// `true` if the path is a secret or may contain secrets.
    pub(crate) secret: bool,
}
