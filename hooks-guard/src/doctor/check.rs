//! What the checks of an installation share. In: where to look. Out: one finding a check, with its
//! remedy.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use hooks_runtime::display::escape;
use jiff::Timestamp;
use serde::Serialize;

use crate::install::Homes;

/// What one check found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    /// What was looked at, such as `daemon`.
    pub name: String,
    /// How it is.
    pub state: State,
    /// What was found, on one line.
    pub what: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

/// How something is; the worst is the greatest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// As it should be.
    Ok,
    /// It works, and could be better.
    Warn,
    /// It does not protect.
    Bad,
}

impl Check {
    pub(super) fn new(name: &str, state: State, what: impl AsRef<str>, remedy: &str) -> Self {
        Self {
            name: name.to_owned(),
            state,
            what: escape(what.as_ref()),
            remedy: (!remedy.is_empty()).then(|| escape(remedy)),
        }
    }
}

/// Where to look.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings<'a> {
    /// The directories of the agents' settings.
    pub homes: &'a Homes,
    /// The project, if one is looked at.
    pub project: Option<&'a Path>,
    /// The folders whose settings may set variables for an agent: the project, or the current
    /// directory and the repository around it.
    pub workspace: &'a [PathBuf],
    /// The binary that is running.
    pub binary: &'a Path,
    /// The configuration, by an absolute path, as `install` gives it to a hook.
    pub config: &'a Path,
    /// The trail, as `install` gives it to a hook.
    pub database: Option<&'a str>,
    /// The variables of the environment, by their names.
    pub variables: &'a [String],
    /// The search path, `PATH`.
    pub path: Option<&'a OsStr>,
    /// The files that nobody but their owner may read: database, configuration, trust….
    pub private: &'a [PathBuf],
    /// The time by this machine's clock.
    pub now: Timestamp,
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
