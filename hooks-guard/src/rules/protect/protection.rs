//! Names and reasons of the protections. In: a part of a command. Out: whether the part can matter
//! to a protection.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use crate::classify::Part;
use crate::rules::verdict::changes;

/// Places of the guard and of agents' settings that the protections cover.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Protected {
    /// Address on which a guard of this user listens; `None` if none runs.
    pub listen: Option<SocketAddr>,
    /// The guard's Unix socket.
    pub socket: Option<PathBuf>,
    /// The guard's files and directories: configuration, rules, list of trusted files, database,
    /// binary.
    pub files: Vec<PathBuf>,
    /// Settings files of agents.
    pub settings: SettingsFiles,
    /// Process id of the guard.
    pub pid: Option<u32>,
    /// The user's home directory.
    pub home: PathBuf,
}

impl Protected {
    /// Creates the places of a user of whom only the home directory is known.
    pub fn new(home: impl Into<PathBuf>) -> Self {
        Self {
            home: home.into(),
            ..Self::default()
        }
    }
}

/// Settings files of agents. They are listed when a change is first compared with them: `ls -la` −8 %
/// instructions.
#[derive(Clone)]
pub struct SettingsFiles(Arc<dyn Fn() -> Vec<PathBuf> + Send + Sync>);

impl SettingsFiles {
    /// Creates the files that a function lists.
    pub fn new(list: impl Fn() -> Vec<PathBuf> + Send + Sync + 'static) -> Self {
        Self(Arc::new(list))
    }

    /// Returns the files.
    #[must_use]
    pub fn list(&self) -> Vec<PathBuf> {
        (self.0)()
    }
}

impl Default for SettingsFiles {
    fn default() -> Self {
        Self::from(Vec::new())
    }
}

impl From<Vec<PathBuf>> for SettingsFiles {
    fn from(files: Vec<PathBuf>) -> Self {
        Self::new(move || files.clone())
    }
}

impl fmt::Debug for SettingsFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.list()).finish()
    }
}

/// A protection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protection {
    Port,
    Files,
    Process,
    Commands,
    Settings,
    ShellStart,
    Git,
    Later,
    Automation,
    Ssh,
    Programs,
    Secrets,
    Variables,
    Unknown,
}

impl Protection {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Port => "the guard's address",
            Self::Files => "the guard's files",
            Self::Process => "the guard's process",
            Self::Commands => "the guard's commands",
            Self::Settings => "agents' settings",
            Self::ShellStart => "shell start files",
            Self::Git => "git's configuration and hooks",
            Self::Later => "scheduled and startup programs",
            Self::Automation => "files that tools and forges run",
            Self::Ssh => "SSH's files",
            Self::Programs => "folders of programs",
            Self::Secrets => "files that may be secrets",
            Self::Variables => "variables in a project's files",
            Self::Unknown => "unknown files, texts and programs",
        }
    }

    pub(super) fn reason(self) -> &'static str {
        match self {
            Self::Port => "it may connect to the guard",
            Self::Files => "it touches the guard's own files",
            Self::Process => "it may stop or inspect the guard",
            Self::Commands => "it would control the guard",
            Self::Settings => "it may change when agents ask",
            Self::ShellStart => "it may change what every new shell runs",
            Self::Git => "it may change what git runs",
            Self::Later => "it may run something later, without confirmation",
            Self::Automation => "it may change what a tool or a forge runs when it starts",
            Self::Ssh => "it touches credentials for other machines",
            Self::Programs => "it may change what later commands run",
            Self::Secrets => "it reads files that may contain secrets",
            Self::Variables => {
                "the project sets a variable that decides what commands run; move it to your own \
                 settings if it is yours"
            }
            Self::Unknown => "what it changes or runs is unknown until it runs",
        }
    }
}

/// Returns `true` if a part can matter to a protection: it does more than read, or needs
/// confirmation.
pub(super) fn active(part: &Part) -> bool {
    part.ask || changes(part.effect)
}
