//! What is always asked about, whatever is allowed, and never remembered: what would let somebody
//! who has to ask approve himself, or act later without asking.

mod commands;
mod files;
mod network;
mod places;
mod process;
mod secrets;

use std::net::SocketAddr;
use std::path::PathBuf;

use super::scene::{Scene, base_name};
use super::{Effect, Verdict, changes};
use crate::classify::{Crud, Part, Tables, UNKNOWN};
use files::Files;

/// The places that the guard itself needs, and those of the agents (P-06).
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
pub(super) enum Matter {
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
    fn name(self) -> &'static str {
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

    fn why(self) -> &'static str {
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

/// The protections, made ready.
#[derive(Clone, Debug)]
pub(super) struct Guarded {
    places: Protected,
    files: Files,
}

impl Guarded {
    pub(super) fn new(places: &Protected) -> Self {
        Self {
            places: places.clone(),
            files: Files::new(places),
        }
    }

    /// Whether a request touches what is protected.
    pub(super) fn judge(&self, scene: &Scene<'_>) -> Option<Verdict> {
        // Access to the network runs and touches nothing by itself.
        if scene.request.network.is_some() {
            return None;
        }
        let (matter, what) = match &scene.request.file {
            Some(file) => {
                let guarded = file.paths.iter().find_map(|path| {
                    let text = path.to_string_lossy();
                    let path = scene.start.locate(&text);
                    let matter = self.files.reached(scene, &path, file.effect)?;
                    Some((matter, text.into_owned()))
                });
                guarded.or_else(|| secrets::in_file(scene, file))?
            }
            None => self.in_command(scene)?,
        };
        Some(Verdict {
            effect: Effect::Ask,
            rule: format!("built in: {}", matter.name()),
            reason: format!("{} (`{}`)", matter.why(), shown(&what)),
            remember: false,
        })
    }

    fn in_command(&self, scene: &Scene<'_>) -> Option<(Matter, String)> {
        let parts = &scene.parts().all;
        let mut found: Option<(Matter, String)> = None;
        for part in parts {
            let here = self.in_part(scene, part);
            match here {
                // Something more particular is told first.
                Some((Matter::Unknown, _)) => found = found.or(here),
                Some(_) => return here,
                None => {}
            }
        }
        if let Some(value) = network::by_variable(parts, &self.places) {
            return Some((Matter::Port, value));
        }
        if found.is_none() && !scene.parts().complete {
            found = Some((Matter::Unknown, "…".to_owned()));
        }
        found
    }

    fn in_part(&self, scene: &Scene<'_>, part: &Part) -> Option<(Matter, String)> {
        let words = || {
            let words: Vec<&str> = part.words.iter().map(|word| word.text.as_str()).collect();
            words.join(" ")
        };
        if let Some(matter) = commands::judge(part)
            .or_else(|| process::judge(part, self.places.pid))
            .or_else(|| network::judge(part, &self.places))
        {
            return Some((matter, words()));
        }
        let files = self.files.judge(scene, part);
        files.or_else(|| secrets::judge(scene, part)).or_else(|| {
            let runs = unseen(part);
            runs.then(|| (Matter::Unknown, words()))
        })
    }
}

/// Whether something about a part matters: it does more than read, or is asked about.
fn active(part: &Part) -> bool {
    part.ask || changes(part.effect)
}

/// Whether a part changes files, or runs text, that is only known when it runs.
fn unseen(part: &Part) -> bool {
    let unknown = |text: &str| text.contains(UNKNOWN);
    let touches = part.touches.iter().chain(&part.redirections);
    let written = touches
        .filter(|touch| touch.effect > Crud::Read)
        .any(|touch| unknown(&touch.path.text));
    let name = part.words.first().map_or("", |word| base_name(&word.text));
    let text =
        Tables::embedded().is_shell(name) && part.words.iter().any(|word| unknown(&word.text));
    let program = part.words.first().is_some_and(|word| !word.known);
    active(part) && (written || text || program)
}

fn shown(text: &str) -> String {
    let text: String = text.chars().take(120).collect();
    text.replace(UNKNOWN, "…")
}
