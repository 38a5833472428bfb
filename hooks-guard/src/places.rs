//! Places of the guard's files. In: the environment or the user database. Out: paths by the XDG
//! base directories, below the user's home.

use std::env;
use std::path::{Path, PathBuf};

/// Directories of a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// The user's home directory.
    pub home: PathBuf,
    /// Configuration and rules: `$XDG_CONFIG_HOME/hooks-guard`.
    pub config: PathBuf,
    /// The audit trail: `$XDG_DATA_HOME/hooks-guard`.
    pub data: PathBuf,
    /// Stored data of unfinished tool calls: `$XDG_STATE_HOME/hooks-guard`.
    pub state: PathBuf,
}

impl Places {
    /// Returns the directories of this process's user by the environment; `None` without a home
    /// directory.
    #[must_use]
    pub fn of_environment() -> Option<Self> {
        let home = absolute("HOME")?;
        let place = |variable, default: &str| {
            let base = absolute(variable).unwrap_or_else(|| home.join(default));
            base.join("hooks-guard")
        };
        Some(Self {
            config: place("XDG_CONFIG_HOME", ".config"),
            data: place("XDG_DATA_HOME", ".local/share"),
            state: place("XDG_STATE_HOME", ".local/state"),
            home,
        })
    }

    /// Returns the directories of this process's user by the system's user database only; `None` if
    /// the user is not in it. Ignores environment variables, which another program may have set.
    #[cfg(all(unix, feature = "cli"))]
    #[must_use]
    pub fn of_user() -> Option<Self> {
        let user = nix::unistd::User::from_uid(nix::unistd::geteuid()).ok()??;
        user.dir.is_absolute().then(|| Self::below(&user.dir))
    }

    /// Returns directories below one directory, for tests.
    #[must_use]
    pub fn below(home: &Path) -> Self {
        Self {
            home: home.to_owned(),
            config: home.join(".config/hooks-guard"),
            data: home.join(".local/share/hooks-guard"),
            state: home.join(".local/state/hooks-guard"),
        }
    }

    /// Returns the path of the configuration.
    #[must_use]
    pub fn config_file(&self) -> PathBuf {
        self.config.join("config.toml")
    }

    /// Returns the path of the user's rules.
    #[must_use]
    pub fn rules_file(&self) -> PathBuf {
        self.config.join("rules.toml")
    }

    /// Returns the path of the list of trusted rules files.
    #[must_use]
    pub fn trust_file(&self) -> PathBuf {
        self.config.join("trusted.json")
    }

    /// Returns the default path of the audit trail.
    #[must_use]
    pub fn database_file(&self) -> PathBuf {
        self.data.join("audit.db")
    }

    /// Returns the path of a project's rules.
    #[must_use]
    pub fn project_rules(project: &Path) -> PathBuf {
        project.join(".hooks-guard.toml")
    }
}

/// Returns a directory from the environment; a relative path is ignored, as the specification
/// requires.
fn absolute(variable: &str) -> Option<PathBuf> {
    env::var_os(variable)
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
}
