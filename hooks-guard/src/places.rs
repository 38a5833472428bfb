//! Where the guard keeps its files: by the XDG base directories, below the user's home.

use std::env;
use std::path::{Path, PathBuf};

/// Directories of a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// The user's home.
    pub home: PathBuf,
    /// Configuration and rules: `$XDG_CONFIG_HOME/hooks-guard`.
    pub config: PathBuf,
    /// The audit trail: `$XDG_DATA_HOME/hooks-guard`.
    pub data: PathBuf,
    /// What calls of tools leave for their end: `$XDG_STATE_HOME/hooks-guard`.
    pub state: PathBuf,
}

impl Places {
    /// Those of the user who runs this, by the environment; none without a home.
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

    /// Those of the user who runs this, by the user database of the system alone; none if the user
    /// is not in it. Variables of the environment, which others may have set, do not count.
    #[cfg(all(unix, feature = "cli"))]
    #[must_use]
    pub fn of_user() -> Option<Self> {
        let user = nix::unistd::User::from_uid(nix::unistd::geteuid()).ok()??;
        user.dir.is_absolute().then(|| Self::below(&user.dir))
    }

    /// Those below one directory, as in a test.
    #[must_use]
    pub fn below(home: &Path) -> Self {
        Self {
            home: home.to_owned(),
            config: home.join(".config/hooks-guard"),
            data: home.join(".local/share/hooks-guard"),
            state: home.join(".local/state/hooks-guard"),
        }
    }

    /// The configuration.
    #[must_use]
    pub fn config_file(&self) -> PathBuf {
        self.config.join("config.toml")
    }

    /// The user's rules.
    #[must_use]
    pub fn rules_file(&self) -> PathBuf {
        self.config.join("rules.toml")
    }

    /// The projects whose rules the user trusts.
    #[must_use]
    pub fn trust_file(&self) -> PathBuf {
        self.config.join("trusted.json")
    }

    /// The audit trail, unless the configuration names another.
    #[must_use]
    pub fn database_file(&self) -> PathBuf {
        self.data.join("audit.db")
    }

    /// The rules of a project.
    #[must_use]
    pub fn project_rules(project: &Path) -> PathBuf {
        project.join(".hooks-guard.toml")
    }
}

/// A directory of the environment; one that is relative is ignored, as the specification says.
fn absolute(variable: &str) -> Option<PathBuf> {
    env::var_os(variable)
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
}
