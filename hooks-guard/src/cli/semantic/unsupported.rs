//! The semantic (second) stage in a program without the feature `semantic`. In: its configuration.
//! Out: an error, because the configured stage raises classes.

use hooks_guard::classify::StagedClassifier;
use hooks_guard::config::SemanticConfig;
use thiserror::Error;

/// Error while building the second stage.
#[derive(Debug, Error)]
pub(crate) enum StageError {
    #[error(
        "this program was built without the client of language models; build it with `--features \
         semantic`, or remove the key `semantic` of the configuration, the option `--semantic-url` \
         and the variable `HOOKS_GUARD_SEMANTIC_URL`"
    )]
    Unsupported,
}

/// Returns an error for every configuration.
pub(crate) fn classifier(_: SemanticConfig) -> Result<StagedClassifier, StageError> {
    Err(StageError::Unsupported)
}
