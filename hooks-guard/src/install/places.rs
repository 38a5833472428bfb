//! Places of agents' settings. In: home directories and an agent. Out: the paths of its settings
//! files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::protocol::{Agent, FilePlace, client};

/// The settings to change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingsScope {
    /// The user's settings, for all projects.
    User,
    /// The settings of the project in this directory.
    Project(PathBuf),
}

impl SettingsScope {
    /// Returns the user's settings, and those of the project if there is one.
    pub(crate) fn all(project: Option<&Path>) -> Vec<Self> {
        let project = project.map(|project| Self::Project(project.to_owned()));
        std::iter::once(Self::User).chain(project).collect()
    }
}

/// Directories of the user's agent settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Homes {
    /// The user's home directory.
    pub home: PathBuf,
    /// The directories that variables move, by variable.
    moved: BTreeMap<&'static str, PathBuf>,
}

impl Homes {
    /// Returns the directories below a home directory, or those that the agents' variables, such as
    /// `CLAUDE_CONFIG_DIR`, `CODEX_HOME`, `COPILOT_HOME` and `XDG_CONFIG_HOME`, set to an absolute
    /// path.
    pub fn new(home: &Path, variable: impl Fn(&str) -> Option<PathBuf>) -> Self {
        let names = Agent::ALL
            .into_iter()
            .filter_map(|agent| agent.description().places.variable);
        let moved = names.filter_map(|name| {
            let path = variable(name).filter(|path| path.is_absolute())?;
            Some((name, path))
        });
        Self {
            home: home.to_owned(),
            moved: moved.collect(),
        }
    }

    /// Returns the directory of an agent's user settings, such as `~/.claude`.
    #[must_use]
    pub fn directory(&self, agent: Agent) -> PathBuf {
        let places = &agent.description().places;
        let moved = places.variable.and_then(|name| self.moved.get(name));
        match moved {
            Some(moved) => moved.clone(),
            None => below(&self.home, places.directory),
        }
    }

    /// Returns the file in which the hook is registered.
    #[must_use]
    pub fn settings(&self, agent: Agent, place: &SettingsScope) -> PathBuf {
        let places = &agent.description().places;
        match place {
            SettingsScope::User => self.directory(agent).join(places.user),
            SettingsScope::Project(directory) => directory.join(places.project),
        }
    }

    /// Returns a file of an agent's user settings, named from the home directory.
    fn file(&self, agent: Agent, path: &str) -> PathBuf {
        let directory = agent.description().places.directory;
        let inside = Path::new(path).strip_prefix(directory);
        match inside {
            Ok(inside) => self.directory(agent).join(inside),
            Err(_) => self.home.join(path),
        }
    }

    /// Returns a directory that exists if the user has the agent.
    pub(crate) fn sign(&self, agent: Agent) -> PathBuf {
        below(&self.directory(agent), agent.description().places.sign)
    }
}

/// Returns a path below a directory; an empty path is the directory.
fn below(directory: &Path, path: &str) -> PathBuf {
    match path {
        "" => directory.to_owned(),
        path => directory.join(path),
    }
}

/// Returns every path at which an agent's settings can be, existing or not: files and directories.
/// Their content decides when the agent asks. The built-in protections protect the files of a project
/// in every folder, so they need them only for a project whose links they follow.
#[must_use]
pub fn settings_files(homes: &Homes, project: Option<&Path>) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let scopes = SettingsScope::all(project);
    for agent in Agent::ALL {
        files.extend(scopes.iter().map(|scope| homes.settings(agent, scope)));
        files.extend(others(agent, homes, project));
    }
    // By their bytes: paths are compared part by part; `ls -la` −8 % instructions.
    files.sort_unstable_by(|one, other| one.as_os_str().cmp(other.as_os_str()));
    files.dedup_by(|one, other| one.as_os_str() == other.as_os_str());
    files
}

/// Returns the places of an agent's settings by the table of [`CLIENTS`](crate::protocol::CLIENTS),
/// except those that are patterns.
pub(crate) fn others(agent: Agent, homes: &Homes, project: Option<&Path>) -> Vec<PathBuf> {
    let files = client(agent).map_or(&[][..], |client| client.files);
    let named = files.iter().filter(|file| !file.path.contains('*'));
    let mut paths = Vec::new();
    for file in named {
        let path = file.trimmed_path();
        if file.place == FilePlace::Machine {
            paths.push(PathBuf::from(path));
        }
        if file.place.is_of_user() {
            paths.push(homes.file(agent, path));
        }
        if file.place.is_in_project() {
            paths.extend(project.map(|project| project.join(path)));
        }
    }
    paths
}
