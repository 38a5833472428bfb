//! What several commands need: the configuration, and what follows from it.

use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use hooks_guard::audit::{AuditError, AuditStore, TrailAddress};
use hooks_guard::classify::Classifier;
use hooks_guard::client::Address;
use hooks_guard::config::Config;
use hooks_guard::gate::Gate;
use hooks_guard::install::{Homes, settings_files};
use hooks_guard::places::Places;
use hooks_guard::protocol::Agent;
use hooks_guard::rules::{Protected, RuleBook};
use hooks_runtime::display::escape;
use tokio::runtime::{Builder, Runtime};

use super::{Failure, semantic};

/// Where the configuration is, and what is set in another place than there.
#[derive(Debug, Args)]
pub(crate) struct Setup {
    /// The configuration; `hooks-guard/config.toml` in the user's configuration directory,
    /// unless given.
    #[arg(long, value_name = "FILE", env = "HOOKS_GUARD_CONFIG")]
    config: Option<PathBuf>,
    /// The audit trail: a file, or `postgres://…`.
    #[arg(
        long,
        value_name = "URL",
        env = "HOOKS_GUARD_DATABASE",
        hide_env_values = true
    )]
    database: Option<String>,
}

impl Setup {
    /// The configuration, with what the command line sets.
    pub(crate) fn config(&self) -> Result<Config, Failure> {
        let mut config = match (&self.config, Places::of_environment()) {
            (Some(path), _) if !path.exists() => {
                return Err(Failure::Other(format!(
                    "there is no `{}`; give the configuration's path with `--config`",
                    path.display()
                )));
            }
            (Some(path), _) => Config::load(path)?,
            (None, Some(places)) => Config::load(&places.config_file())?,
            (None, None) => Config::default(),
        };
        if let Some(database) = &self.database {
            config.database = Some(database.clone());
        }
        Ok(config)
    }
}

/// Reads the name of an agent, and has shells complete it.
pub(crate) fn agents() -> impl TypedValueParser<Value = Agent> {
    let names = Agent::ALL.map(|agent| match agent {
        Agent::ClaudeCode => PossibleValue::new(agent.name()).alias("claude"),
        agent => PossibleValue::new(agent.name()),
    });
    PossibleValuesParser::new(names).try_map(|name| name.parse::<Agent>())
}

/// The address of the audit trail.
pub(crate) fn database(config: &Config) -> Result<String, Failure> {
    match &config.database {
        Some(url) => Ok(url.clone()),
        None => {
            let places = Places::of_environment().ok_or_else(|| {
                Failure::Other(
                    "there is no home directory; give the audit trail's place with `--database`"
                        .to_owned(),
                )
            })?;
            Ok(file_url(&places.database_file()))
        }
    }
}

fn file_url(path: &Path) -> String {
    format!("sqlite:{}", path.display())
}

/// The audit trail.
pub(crate) async fn open(config: &Config) -> Result<AuditStore, Failure> {
    let url = database(config)?;
    AuditStore::open(&url)
        .await
        .map_err(|error| unusable(&url, &error))
}

/// The audit trail, for reading: if it cannot be written to, it is only read.
pub(crate) async fn open_to_read(config: &Config) -> Result<AuditStore, Failure> {
    let url = database(config)?;
    let opened = match AuditStore::open(&url).await {
        Err(AuditError::ReadOnly | AuditError::Unreachable { .. } | AuditError::Create { .. }) => {
            AuditStore::open_read_only(&url).await
        }
        opened => opened,
    };
    opened.map_err(|error| unusable(&url, &error))
}

/// The audit trail, for a process that records one thing.
pub(crate) async fn open_briefly(config: &Config) -> Result<AuditStore, Failure> {
    let url = database(config)?;
    AuditStore::open_briefly(&url)
        .await
        .map_err(|error| unusable(&url, &error))
}

fn unusable(url: &str, error: &AuditError) -> Failure {
    Failure::Other(format!("{}: {error}", without_password(url)))
}

/// Where a service of this configuration listens.
pub(crate) fn address(config: &Config) -> Address {
    match &config.socket {
        Some(socket) => Address::Unix(socket.clone()),
        None => Address::Tcp(config.listen),
    }
}

/// A runtime for a command that does one thing at a time.
pub(crate) fn runtime() -> Result<Runtime, Failure> {
    Ok(Builder::new_current_thread().enable_all().build()?)
}

/// The gate of this configuration, with the user's and the projects' rules; `secret` is a file
/// that is protected as well.
pub(crate) fn gate(config: &Config, secret: Option<PathBuf>) -> Result<Gate, Failure> {
    let classifier = match config.semantic.clone() {
        Some(stage) => semantic::classifier(stage)?,
        None => Classifier::new(),
    };
    let places = places()?;
    let mut protected = protected(&places, config);
    if let Some(secret) = secret {
        protected.files.push(std::path::absolute(secret)?);
    }
    let book = RuleBook::new(&places, protected);
    let gate = Gate::new(classifier, config.policy()).with_rules(book);
    scripted(gate, &config.scripts)
}

/// The gate with the hooks in JavaScript that the configuration names: where one cannot be used,
/// there is no gate, for it might have denied.
#[cfg(feature = "script")]
fn scripted(gate: Gate, files: &[PathBuf]) -> Result<Gate, Failure> {
    use hooks_guard::script::ScriptHooks;

    if files.is_empty() {
        return Ok(gate);
    }
    let scripts = ScriptHooks::load(files);
    let scripts = scripts.map_err(|error| Failure::Other(escape(&error.to_string())))?;
    Ok(gate.with_scripts(scripts))
}

#[cfg(not(feature = "script"))]
fn scripted(gate: Gate, files: &[PathBuf]) -> Result<Gate, Failure> {
    match files.is_empty() {
        true => Ok(gate),
        false => Err(Failure::Other(
            "`scripts` is set, and this program was built without JavaScript; build it with `--features script`, or leave `scripts` out".to_owned(),
        )),
    }
}

/// The directories of this user.
pub(crate) fn places() -> Result<Places, Failure> {
    Places::of_environment().ok_or_else(|| {
        Failure::Other("there is no home directory; set `HOME` to an absolute path".to_owned())
    })
}

/// Where agents keep this user's settings.
pub(crate) fn homes(places: &Places) -> Homes {
    Homes::new(&places.home, |name| {
        std::env::var_os(name).map(PathBuf::from)
    })
}

/// What no command and no tool may touch without a question.
pub(crate) fn protected(places: &Places, config: &Config) -> Protected {
    let mut files = vec![
        places.config.clone(),
        places.data.clone(),
        places.state.clone(),
    ];
    files.extend(std::env::current_exe());
    files.extend(config.scripts.iter().cloned());
    let address = config.database.as_deref().and_then(TrailAddress::read);
    if let Some(TrailAddress::File(path)) = address {
        files.extend(["", "-wal", "-shm", "-journal"].map(|end| {
            let mut name = path.as_os_str().to_owned();
            name.push(end);
            PathBuf::from(name)
        }));
    }
    let mut protected = Protected::new(&places.home);
    protected.listen = Some(config.listen);
    protected.socket = config.socket.clone();
    protected.files = files;
    protected.settings = settings_files(&homes(places), None);
    protected.pid = Some(std::process::id());
    protected
}

/// A database's address as it may be shown.
pub(crate) fn without_password(url: &str) -> String {
    match url.split_once("://") {
        Some((scheme, rest)) => {
            let rest = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
            let rest = rest.split('?').next().unwrap_or(rest);
            escape(&format!("{scheme}://{rest}"))
        }
        None => escape(url),
    }
}
