//! What is guarded. In: a part of a command. Out: whether the part matters to a protection; the names
//! and reasons of the protections.

use std::net::SocketAddr;
use std::path::PathBuf;

use crate::classify::Part;
use crate::rules::verdict::changes;

/// The places that the guard itself needs, and those of the agents.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Protected {
    /// Where the guard listens.
    pub listen: Option<SocketAddr>,
    /// Its Unix socket.
    pub socket: Option<PathBuf>,
    /// Its own files and folders: configuration, rules, what is trusted, the database, the binary.
    pub files: Vec<PathBuf>,
    /// The settings of agents.
    pub settings: Vec<PathBuf>,
    /// Its process.
    pub pid: Option<u32>,
    /// The user's home.
    pub home: PathBuf,
}

impl Protected {
    /// The places of a user of whom only the home is known.
    pub fn new(home: impl Into<PathBuf>) -> Self {
        Self {
            home: home.into(),
            ..Self::default()
        }
    }
}

/// What is guarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Matter {
    Port,
    Files,
    Process,
    Commands,
    Settings,
    ShellStart,
    Git,
    Later,
    Ssh,
    Programs,
    Secrets,
    Unknown,
}

impl Matter {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Port => "the guard's address",
            Self::Files => "the guard's files",
            Self::Process => "the guard's process",
            Self::Commands => "the guard's commands",
            Self::Settings => "agents' settings",
            Self::ShellStart => "shell start files",
            Self::Git => "git's configuration and hooks",
            Self::Later => "what runs later",
            Self::Ssh => "SSH's files",
            Self::Programs => "folders of programs",
            Self::Secrets => "files that may be secrets",
            Self::Unknown => "what is not known yet",
        }
    }

    pub(super) fn why(self) -> &'static str {
        match self {
            Self::Port => "it may speak to the guard itself",
            Self::Files => "it touches the guard's own files",
            Self::Process => "it may stop the guard, or look into it",
            Self::Commands => "it would give orders to the guard",
            Self::Settings => "it may change what agents ask about",
            Self::ShellStart => "it may change what every new shell runs",
            Self::Git => "it may change what git runs",
            Self::Later => "it may have something run later, when nobody asks",
            Self::Ssh => "it touches what opens other machines",
            Self::Programs => "it may change what later commands run",
            Self::Secrets => "it reads files that may be secrets",
            Self::Unknown => "what it changes or runs is only known when it runs",
        }
    }
}

/// Whether something about a part matters: it does more than read, or is asked about.
pub(super) fn active(part: &Part) -> bool {
    part.ask || changes(part.effect)
}
