//! The error type of the command line. In: an error of any part of the program. Out: one
//! [`CommandError`] with the same message.

use std::io;

use hooks_guard::audit::AuditError;
use hooks_guard::client::ClientError;
use hooks_guard::config::ConfigError;
use hooks_guard::decider::DecideError;
use hooks_guard::http::ServeError;
use hooks_guard::install::InstallError;
use hooks_guard::proof::KeyError;
use hooks_guard::rules::{BookError, RulesError, TrustError};
use hooks_guard::service::ServiceError;
use thiserror::Error;

use super::semantic::StageError;

/// An error that ends a command of this program.
#[derive(Debug, Error)]
pub(crate) enum CommandError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error(transparent)]
    Stage(#[from] StageError),
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Audit(#[from] AuditError),
    #[error(transparent)]
    Serve(#[from] ServeError),
    #[error(transparent)]
    Client(#[from] ClientError),
    #[error(transparent)]
    Key(#[from] KeyError),
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    #[error(transparent)]
    Service(#[from] ServiceError),
    #[error(transparent)]
    Decide(#[from] DecideError),
    #[error(transparent)]
    Install(#[from] InstallError),
    #[error(transparent)]
    Rules(#[from] RulesError),
    #[error(transparent)]
    Trust(#[from] TrustError),
    #[error("{0}")]
    Other(String),
}

impl From<BookError> for CommandError {
    fn from(error: BookError) -> Self {
        match error {
            BookError::Rules(error) => Self::Rules(error),
            BookError::Trust(error) => Self::Trust(error),
            error => Self::Other(error.to_string()),
        }
    }
}
