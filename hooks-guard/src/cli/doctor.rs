//! Implements `doctor`, which checks an installation and suggests fixes. In: the configuration,
//! agents' settings, the running service and the trail. Out: a list of checks, each with its state
//! and a remedy.

use std::ffi::OsString;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use hooks_guard::audit::{AuditStore, Filter, Page, without_password};
use hooks_guard::client::{Address, Client, ClientError};
use hooks_guard::config::ConfigWarning;
use hooks_guard::decider::LocalGates;
use hooks_guard::doctor::{
    self, CheckError, CheckState, Daemon, DoctorContext, RuleFile, Service, TrailStatus,
};
use hooks_guard::install::Homes;
use hooks_guard::places::Places;
use hooks_guard::repository::is_work_tree;
use hooks_guard::rules::{Mistake, Rules, RulesError, Trust};
use jiff::Timestamp;
use tokio::runtime::Runtime;

use super::color::{LineState, has_color, label};
use super::failure::CommandError;
use super::ownership;
use super::setup::{
    LoadedConfig, Setup, address, database, homes, missing_trail, places, protected, runtime,
};

/// Period of the calls with another command than the decided one that `doctor` names.
const CHANGED_PERIOD: Duration = Duration::from_secs(30 * 24 * 3600);

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Also checks the settings of the project in this directory.
    #[arg(long, value_name = "DIRECTORY")]
    project: Option<PathBuf>,
    /// Prints a JSON array instead of lines.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    setup: Setup,
}

/// Checks of the service, the trail, the rules and the configuration.
struct InstallationChecks {
    loaded: Result<LoadedConfig, CheckError>,
    project: Option<PathBuf>,
}

pub(crate) fn doctor(options: DoctorArgs) -> Result<bool, CommandError> {
    let project = options.project.map(std::path::absolute).transpose()?;
    let loaded = options.setup.load();
    let workspace = match &project {
        Some(project) => directories_above(project, &places()?.home),
        None => directories_above(&std::env::current_dir()?, &places()?.home),
    };
    let found = Surroundings::read(
        &options.setup,
        loaded.as_ref().ok(),
        project.clone(),
        workspace,
    )?;
    let parts = InstallationChecks {
        loaded: loaded.map_err(|error| CheckError {
            message: error.to_string(),
            excerpt: match &error {
                CommandError::Config(error) => error.excerpt().cloned(),
                _ => None,
            },
        }),
        project,
    };
    let checks = doctor::examine(&found.context(), &parts);
    let mut out = io::stdout().lock();
    if options.json {
        serde_json::to_writer_pretty(&mut out, &checks)?;
        writeln!(out)?;
    } else {
        let has_color = has_color(&out);
        for check in &checks {
            let state = match check.state {
                CheckState::Ok => label(LineState::Good, "ok", has_color),
                CheckState::Warn => label(LineState::Warning, "warn", has_color),
                CheckState::Bad => label(LineState::Bad, "BAD", has_color),
            };
            writeln!(out, "{state} {}: {}", check.name, check.what)?;
            for line in check.excerpt.iter().flatten() {
                writeln!(out, "     | {line}")?;
            }
            if let Some(remedy) = &check.remedy {
                writeln!(out, "     → {remedy}")?;
            }
        }
    }
    Ok(doctor::worst_state(&checks) != CheckState::Bad)
}

/// The places that `doctor` and `run` examine.
pub(crate) struct Surroundings {
    homes: Homes,
    project: Option<PathBuf>,
    workspace: Vec<PathBuf>,
    binary: PathBuf,
    config: PathBuf,
    database: Option<String>,
    service: SocketAddr,
    variables: Vec<(String, String)>,
    path: Option<OsString>,
    private: Vec<PathBuf>,
    settings: Vec<PathBuf>,
}

impl Surroundings {
    /// Returns the places of this user and process. If the configuration cannot be read, its files
    /// are those at their default places.
    pub(crate) fn read(
        setup: &Setup,
        loaded: Option<&LoadedConfig>,
        project: Option<PathBuf>,
        workspace: Vec<PathBuf>,
    ) -> Result<Self, CommandError> {
        let places = places()?;
        let (private, settings) = match loaded {
            Some(loaded) => (loaded.private_files(), loaded.settings_files()),
            None => (
                vec![places.database_file()],
                vec![
                    places.config_file(),
                    places.rules_file(),
                    places.trust_file(),
                ],
            ),
        };
        let (config, database) = match loaded {
            Some(loaded) => loaded.for_hook(),
            None => (places.config_file(), None),
        };
        Ok(Self {
            homes: homes(&places),
            project,
            workspace,
            binary: std::env::current_exe()?,
            config,
            database,
            service: setup.service_address(),
            variables: variables(),
            path: std::env::var_os("PATH"),
            private,
            settings,
        })
    }

    /// Returns the places for the checks, at the current time.
    pub(crate) fn context(&self) -> DoctorContext<'_> {
        DoctorContext {
            homes: &self.homes,
            project: self.project.as_deref(),
            workspace: &self.workspace,
            binary: &self.binary,
            config: &self.config,
            database: self.database.as_deref(),
            service: self.service,
            variables: &self.variables,
            path: self.path.as_deref(),
            private: &self.private,
            settings: &self.settings,
            now: Timestamp::now(),
        }
    }
}

fn message(error: &CheckError) -> String {
    error.message.clone()
}

/// Returns the environment variables of this process, sorted by name.
fn variables() -> Vec<(String, String)> {
    let text = |text: OsString| text.to_string_lossy().into_owned();
    let variables = std::env::vars_os().map(|(name, value)| (text(name), text(value)));
    let mut variables: Vec<_> = variables.collect();
    variables.sort();
    variables
}

/// Returns a directory and those above it, up to the repository around it. Without a repository, up
/// to the directory below the root and the home directory.
pub(crate) fn directories_above(directory: &Path, home: &Path) -> Vec<PathBuf> {
    let repository = directory.ancestors().find(|folder| is_work_tree(folder));
    let mut above = Vec::new();
    for folder in directory.ancestors() {
        let is_above =
            repository.is_none() && (home.starts_with(folder) || folder.parent().is_none());
        if is_above && folder != directory {
            break;
        }
        above.push(folder.to_owned());
        if repository == Some(folder) {
            break;
        }
    }
    above
}

/// Returns an error if a program listens at the service's address although there is no key: without
/// a key, no service can prove itself.
fn check_other_listener(
    runtime: &Runtime,
    place: &Address,
    error: &CommandError,
) -> Result<Option<Daemon>, String> {
    let client = Client::new(place.clone());
    match runtime.block_on(client.is_reachable(Duration::from_secs(3))) {
        false => Ok(None),
        true => Err(format!(
            "{}; {error}",
            ClientError::Unproved(place.to_string())
        )),
    }
}

impl Service for InstallationChecks {
    fn daemon(&self) -> Result<Option<Daemon>, String> {
        let loaded = self.loaded.as_ref().map_err(message)?;
        let runtime = runtime().map_err(|error| error.to_string())?;
        let place = address(&loaded.config);
        let client = match loaded.client() {
            Ok(client) => client,
            Err(error) => return check_other_listener(&runtime, &place, &error),
        };
        match runtime.block_on(client.get("/health", Duration::from_secs(3))) {
            Ok(health) => Ok(Some(Daemon {
                address: match place {
                    Address::Tcp(address) => format!("http://{address}"),
                    Address::Unix(path) => path.display().to_string(),
                },
                version: health["version"].as_str().unwrap_or("unknown").to_owned(),
            })),
            Err(ClientError::Unreachable(_)) => Ok(None),
            Err(error) => Err(error.to_string()),
        }
    }

    fn audit(&self) -> Result<Option<TrailStatus>, String> {
        let config = &self.loaded.as_ref().map_err(message)?.config;
        let url = database(config).map_err(|error| error.to_string())?;
        if missing_trail(&url).is_some() {
            return Ok(None);
        }
        let runtime = runtime().map_err(|error| error.to_string())?;
        let looked = runtime.block_on(async {
            let store = AuditStore::open(&url).await?;
            let page = Page {
                limit: 1,
                offset: 0,
            };
            let newest = store.decisions(&Filter::default(), page).await?;
            let found = store.verify().await?;
            let since = Timestamp::now() - CHANGED_PERIOD;
            Ok::<_, hooks_guard::audit::AuditError>(TrailStatus {
                database: without_password(&url),
                broken: found.broken.map(|broken| broken.problem),
                newest: newest.records.first().map(|record| record.timestamp),
                changed: store.changed_commands(since).await?,
            })
        });
        looked.map(Some).map_err(|error| error.to_string())
    }

    fn rules(&self) -> Vec<RuleFile> {
        let Ok(loaded) = &self.loaded else {
            return Vec::new();
        };
        let protected = protected(loaded, None);
        let trust = Trust::load(&loaded.places.trust_file());
        let mut files = Vec::new();
        let user = loaded.places.rules_file();
        let project = self.project.as_deref().map(Places::project_rules);
        for (path, own) in [(Some(user), true), (project, false)] {
            let Some(path) = path.filter(|path| path.exists()) else {
                continue;
            };
            let (user, project) = match own {
                true => (Some(path.as_path()), None),
                false => (None, Some(path.as_path())),
            };
            let empty = Trust::empty();
            let known = trust.as_ref().unwrap_or(&empty);
            let read = Rules::load(user, project, known, &protected);
            let mut mistakes: Vec<CheckError> = match &read {
                Ok(_) => Vec::new(),
                Err(RulesError::Mistakes(mistakes)) => {
                    let error = |mistake: &Mistake| CheckError {
                        message: mistake.to_string(),
                        excerpt: Some(mistake.excerpt.clone()),
                    };
                    mistakes.iter().map(error).collect()
                }
                Err(error) => vec![error.to_string().into()],
            };
            if let Err(error) = &trust {
                mistakes.push(CheckError {
                    message: error.to_string(),
                    excerpt: error.excerpt().cloned(),
                });
            }
            let trusted = read.is_ok_and(|rules| !rules.untrusted());
            files.push(RuleFile {
                path,
                mistakes,
                trusted: (!own).then_some(trusted),
            });
        }
        files
    }

    fn is_configured(&self) -> bool {
        self.loaded.is_ok()
    }

    fn configuration(&self) -> Result<Vec<ConfigWarning>, CheckError> {
        let loaded = self.loaded.as_ref().map_err(Clone::clone)?;
        match ownership::problem(loaded, self.project.as_deref()) {
            Some(problem) => Err(format!("hooks refuse to decide: {problem}").into()),
            None => match loaded.gate(None) {
                Ok(_) => Ok(loaded.warnings()),
                Err(error) => Err(format!("hooks refuse to decide: {error}").into()),
            },
        }
    }
}
