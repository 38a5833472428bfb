//! Error of changing an agent's settings. In: a path and a cause. Out: one error with a message for
//! the user.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use thiserror::Error;

use super::jsonc::{DocumentError, invalid_syntax};
use crate::protocol::Agent;
use crate::rules::{MarksError, RulesError};

/// Error returned when settings cannot be changed. The settings are unchanged.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum InstallError {
    /// The settings cannot be read.
    #[error("cannot read `{}`; check its permissions", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Cause.
        #[source]
        source: io::Error,
    },
    /// The settings cannot be written.
    #[error("cannot write `{}`; check its permissions and the free disk space", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Cause.
        #[source]
        source: io::Error,
    },
    /// The settings are not UTF-8.
    #[error("`{}` is not valid UTF-8; correct it first", path.display())]
    Encoding {
        /// The file.
        path: PathBuf,
    },
    /// The settings exceed the maximum size.
    #[error("`{}` is longer than {most} bytes; shorten it first", path.display())]
    TooLong {
        /// The file.
        path: PathBuf,
        /// The limit.
        most: u64,
    },
    /// The settings are not a document that the agent can read.
    #[error("{}; the file is unchanged", source.in_file(path))]
    Document {
        /// The file.
        path: PathBuf,
        /// Cause.
        source: DocumentError,
    },
    /// Another process wrote the settings in the meantime.
    #[error("another process has just changed `{}`; try again", path.display())]
    Raced {
        /// The file.
        path: PathBuf,
    },
    /// A file with this name was not written by this program, or was changed since.
    #[error("`{}` was changed after its installation; move it away first", path.display())]
    NotOurs {
        /// The file.
        path: PathBuf,
    },
    /// The marks of a preset in a rules file are incomplete or repeated.
    #[error("`{}`: {source}; the file is unchanged", path.display())]
    Preset {
        /// The file.
        path: PathBuf,
        /// Cause.
        source: MarksError,
    },
    /// The rules in a file have mistakes, so a preset in it would have no effect. The file is
    /// unchanged.
    #[error(transparent)]
    Rules(#[from] RulesError),
    /// The agent has no settings file for all of its sessions, so the user registers the hook.
    #[error("{how}: `{line}`")]
    ByHand {
        /// The agent.
        agent: Agent,
        /// How the user registers the hook.
        how: &'static str,
        /// The hook's command line.
        line: String,
    },
    /// The agent reads hooks from the user's settings only.
    #[error("{} reads no hooks from the settings of a project; install without `--project`", agent.title())]
    UserOnly {
        /// The agent.
        agent: Agent,
    },
    /// A path in the hook's arguments cannot be written to a settings file.
    #[error("`{path}` is not an absolute path in plain UTF-8; move or rename the file")]
    Argument {
        /// The path.
        path: String,
    },
    /// The agent cannot call hooks over HTTP.
    #[error("{} cannot call hooks over HTTP; install without `--http`", agent.title())]
    HttpUnsupported {
        /// The agent.
        agent: Agent,
    },
    /// The installed version runs the tool if the service does not respond.
    #[error(
        "{what} or the service does not respond; update it to 2.1.295 or later, or install without `--http`"
    )]
    HttpVersion {
        /// The version, and what it does.
        what: String,
    },
    /// The service cannot be reached at a loopback address.
    #[error(
        "the service listens on {address}, but agents call hooks only at a loopback address; change `listen` or `published_address`"
    )]
    HttpAddress {
        /// The address of the service.
        address: SocketAddr,
    },
    /// The binary's path cannot be written to a settings file.
    #[error("`{}` is not an absolute path, in plain UTF-8, of a binary named `hooks-guard`; move \
             or rename it", path.display())]
    Binary {
        /// The path.
        path: PathBuf,
    },
}

impl InstallError {
    /// Returns the error with the invalid line and carets, for a terminal; `None` if the error has
    /// no place in a file.
    #[must_use]
    pub fn report(&self, color: bool) -> Option<String> {
        let Self::Document {
            path,
            source: DocumentError::Parse { excerpt, detail },
        } = self
        else {
            return None;
        };
        let message = format!("{}; the file is unchanged", invalid_syntax(detail));
        Some(excerpt.report(&path.display().to_string(), &message, color))
    }
}
