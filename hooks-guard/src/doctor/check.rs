//! Data types of the checks. In: the places to examine. Out: one finding per check, with its
//! remedy.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use hooks_runtime::display::escape;
use jiff::Timestamp;
use serde::Serialize;

use crate::excerpt::Excerpt;
use crate::install::Homes;

/// Result of one check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    /// Subject of the check, such as `daemon`.
    pub name: String,
    /// State of the subject.
    pub state: CheckState,
    /// Finding, on one line.
    pub what: String,
    /// Remedy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
    /// The invalid line of a file, and a line with carets below the mistake.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub excerpt: Option<[String; 2]>,
}

/// Error of another component, about a file or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckError {
    /// The error, on one line.
    pub message: String,
    /// The place of the mistake, if it is known.
    pub excerpt: Option<Excerpt>,
}

impl From<String> for CheckError {
    fn from(message: String) -> Self {
        Self {
            message,
            excerpt: None,
        }
    }
}

/// State of a subject, ordered from best to worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CheckState {
    /// No problem.
    Ok,
    /// Works, but could be improved.
    Warn,
    /// Does not protect.
    Bad,
}

impl Check {
    pub(super) fn new(name: &str, state: CheckState, what: impl AsRef<str>, remedy: &str) -> Self {
        Self {
            name: name.to_owned(),
            state,
            what: escape(what.as_ref()),
            remedy: (!remedy.is_empty()).then(|| escape(remedy)),
            excerpt: None,
        }
    }

    /// Adds the place of the mistake.
    pub(super) fn at(mut self, error: &CheckError) -> Self {
        self.excerpt = error.excerpt.as_ref().map(Excerpt::lines);
        self
    }
}

/// Places to examine.
#[derive(Clone, Copy, Debug)]
pub struct DoctorContext<'a> {
    /// Directories of the agents' settings.
    pub homes: &'a Homes,
    /// The project, if one is examined.
    pub project: Option<&'a Path>,
    /// Directories whose settings an agent may read: the project, or the current directory and those
    /// above it, up to the repository around it.
    pub workspace: &'a [PathBuf],
    /// The running binary.
    pub binary: &'a Path,
    /// Absolute path of the configuration, as passed to a hook by `install`.
    pub config: &'a Path,
    /// The trail, as passed to a hook by `install`.
    pub database: Option<&'a str>,
    /// Address at which clients reach the service.
    pub service: SocketAddr,
    /// The environment variables, with their values.
    pub variables: &'a [(String, String)],
    /// The search path, `PATH`.
    pub path: Option<&'a OsStr>,
    /// Files that only their owner may read: the database and the key.
    pub private: &'a [PathBuf],
    /// Files that only their owner may write: configuration, rules and trust.
    pub settings: &'a [PathBuf],
    /// Current time of this machine.
    pub now: Timestamp,
}

impl<'a> DoctorContext<'a> {
    /// Returns the folders whose settings an agent may read as those of a project, each once.
    pub(super) fn folders(&self) -> BTreeSet<&'a Path> {
        let workspace = self.workspace.iter().map(PathBuf::as_path);
        workspace.chain(self.project).collect()
    }
}

pub(super) fn same(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    real(one) == real(other)
}

#[cfg(unix)]
pub(super) fn mode(path: &Path) -> Option<u32> {
    let metadata = fs::metadata(path).ok()?;
    Some(std::os::unix::fs::PermissionsExt::mode(
        &metadata.permissions(),
    ))
}

#[cfg(not(unix))]
pub(super) fn mode(_: &Path) -> Option<u32> {
    None
}
