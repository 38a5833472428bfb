//! What several commands need: the configuration, and what follows from it.

use std::path::{Path, PathBuf};

use clap::Args;
use hooks_guard::audit::AuditStore;
use hooks_guard::client::Address;
use hooks_guard::config::Config;
use hooks_guard::places::Places;
use tokio::runtime::{Builder, Runtime};

use super::Failure;

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

/// The address of the audit trail.
pub(crate) fn database(config: &Config) -> Result<String, Failure> {
    match &config.database {
        Some(url) => Ok(url.clone()),
        None => {
            let places = Places::of_environment().ok_or_else(|| {
                Failure::Other("there is no home directory; give the audit trail's place with `--database`".to_owned())
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
    Ok(AuditStore::open(&database(config)?).await?)
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
