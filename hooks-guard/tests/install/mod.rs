//! Tests installing the hook in agents' settings and removing it.

mod document;
mod extension;
mod files;
mod http;
mod plugin;
mod script;
mod toml_list;

use std::fs;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use hooks_guard::install::{Homes, InstallOptions, SettingsScope, install, uninstall};
use hooks_guard::protocol::Agent;
use tempfile::TempDir;

/// Default address of the service.
pub(crate) const SERVICE: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 3000);

/// Returns the agents that `install` can register the hook with.
pub(crate) fn installable() -> impl Iterator<Item = Agent> {
    Agent::ALL
        .into_iter()
        .filter(|agent| agent.is_installable())
}

/// Returns options for the user's settings in a home directory.
pub(crate) fn options(home: &Path) -> InstallOptions {
    InstallOptions {
        homes: Homes::new(home, |_| None),
        place: SettingsScope::User,
        binary: PathBuf::from("/opt/guard/hooks-guard"),
        config: PathBuf::from("/srv/ada/.config/hooks-guard/config.toml"),
        database: Some("/srv/ada/.local/share/hooks-guard/audit.db".into()),
        path: None,
        unattended: false,
        service: SERVICE,
        http: false,
        dry_run: false,
    }
}

/// A temporary home directory.
struct Home {
    directory: TempDir,
    options: InstallOptions,
}

impl Home {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let options = options(directory.path());
        Self { directory, options }
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    fn settings(&self, agent: Agent) -> PathBuf {
        self.options.homes.settings(agent, &self.options.place)
    }

    /// Creates a home with these settings of an agent.
    fn with(agent: Agent, text: &str) -> Self {
        let home = Self::new();
        let file = home.settings(agent);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
        home
    }

    fn read(&self, agent: Agent) -> String {
        fs::read_to_string(self.settings(agent)).unwrap()
    }

    fn install(&self, agent: Agent) -> hooks_guard::install::Report {
        install(agent, &self.options).unwrap()
    }

    fn uninstall(&self, agent: Agent) -> hooks_guard::install::Report {
        uninstall(agent, &self.options).unwrap()
    }

    /// Returns all files below the home.
    fn files(&self) -> Vec<PathBuf> {
        fn add(directory: &Path, files: &mut Vec<PathBuf>) {
            for entry in fs::read_dir(directory).unwrap() {
                let path = entry.unwrap().path();
                match path.is_dir() {
                    true => add(&path, files),
                    false => files.push(path),
                }
            }
        }
        let mut files = Vec::new();
        add(self.path(), &mut files);
        files.sort();
        files
    }
}
