//! Shared start-up code of the commands. In: options and the environment. Out: the configuration,
//! its files, the trail, the gate and clients of the service.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use std::{env, io};

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use hooks_guard::audit::{AuditError, AuditStore, TrailAddress, without_password};
use hooks_guard::classify::{Shells, StagedClassifier};
use hooks_guard::client::{Address, Client};
use hooks_guard::config::{Config, ConfigWarning};
use hooks_guard::decider::{Deciders, LocalGates, listening_address};
use hooks_guard::doctor::SERVER_VARIABLES;
use hooks_guard::gate::Gate;
use hooks_guard::install::{Homes, settings_files};
use hooks_guard::places::Places;
use hooks_guard::proof::ServiceKey;
use hooks_guard::protocol::Agent;
use hooks_guard::rules::{Protected, RuleBook, SettingsFiles};
use tokio::runtime::{Builder, Runtime};
use tokio::time::{Instant, sleep};

use super::failure::CommandError;
use super::semantic;

/// The configuration's path, and overrides of its settings.
#[derive(Debug, Args)]
pub(crate) struct Setup {
    /// Configuration file. Default: `hooks-guard/config.toml` in the user's configuration
    /// directory. Rules and the list of trusted projects are in its directory.
    #[arg(long, value_name = "FILE", env = "HOOKS_GUARD_CONFIG")]
    config: Option<PathBuf>,
    /// Audit trail: a file, or `postgres://…`.
    #[arg(
        long,
        value_name = "URL",
        env = "HOOKS_GUARD_DATABASE",
        hide_env_values = true
    )]
    database: Option<String>,
}

/// The configuration and the trail of a hook, which must not depend on the environment: a project
/// can set it.
#[derive(Clone, Debug, Args)]
pub(crate) struct HookSetup {
    /// Configuration file, as an absolute path, as written by `install`; not overridden by a
    /// variable. A missing file counts as empty.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Audit trail: an absolute path, or `postgres://…`; not overridden by a variable.
    #[arg(long, value_name = "URL")]
    database: Option<String>,
}

/// The configuration, and the files that belong to it.
#[derive(Clone, Debug)]
pub(crate) struct LoadedConfig {
    /// Configuration with the overrides of the command line.
    pub(crate) config: Config,
    /// Path of the configuration, which need not exist.
    pub(crate) file: PathBuf,
    /// The user's directories; rules and trust are in the configuration's directory.
    pub(crate) places: Places,
    /// The user's default directories, without `--config`.
    defaults: Places,
}

impl Setup {
    /// Returns the address at which clients reach the service; the default if the configuration
    /// cannot be read.
    pub(crate) fn service_address(&self) -> SocketAddr {
        let config = self.load().map(|loaded| loaded.config).unwrap_or_default();
        service_address(&config)
    }

    /// Returns the configuration with the overrides of the command line.
    pub(crate) fn config(&self) -> Result<Config, CommandError> {
        Ok(self.load()?.config)
    }

    /// Reads the configuration, and finds the files that belong to it.
    pub(crate) fn load(&self) -> Result<LoadedConfig, CommandError> {
        if let Some(path) = self.config.as_ref().filter(|path| !path.exists()) {
            return Err(CommandError::Other(format!(
                "`{}` does not exist; pass the configuration's path with `--config`",
                path.display()
            )));
        }
        let config = self
            .config
            .as_deref()
            .map(std::path::absolute)
            .transpose()?;
        LoadedConfig::read(places()?, config, self.database.as_ref())
    }

    /// Returns the path of the user's rules. Neither the rules nor the configuration need exist.
    pub(crate) fn rules_file(&self) -> Result<PathBuf, CommandError> {
        let mut places = places()?;
        if let Some(config) = &self.config
            && let Some(folder) = std::path::absolute(config)?.parent()
        {
            folder.clone_into(&mut places.config);
        }
        Ok(places.rules_file())
    }

    /// Returns the configuration and the trail as passed to a hook. The configuration need not
    /// exist yet.
    pub(crate) fn for_hook(&self) -> Result<(PathBuf, Option<String>), CommandError> {
        let config = self
            .config
            .as_deref()
            .map(std::path::absolute)
            .transpose()?;
        let loaded = LoadedConfig::read(places()?, config, self.database.as_ref())?;
        Ok(loaded.for_hook())
    }
}

impl HookSetup {
    /// Reads the configuration, and finds the files that belong to it.
    pub(crate) fn load(&self) -> Result<LoadedConfig, CommandError> {
        let relative = |path: &Path| {
            CommandError::Other(format!(
                "`{}` is not an absolute path, so a project could substitute another file; run \
                 `hooks-guard install` again",
                path.display()
            ))
        };
        if let Some(path) = self.config.as_ref().filter(|path| !path.is_absolute()) {
            return Err(relative(path));
        }
        if let Some(TrailAddress::File(file)) =
            self.database.as_deref().and_then(TrailAddress::read)
            && !file.is_absolute()
        {
            return Err(relative(file));
        }
        let places = match &self.config {
            // A user that the system's database does not know has the files beside the
            // configuration.
            Some(config) => Places::of_user().or_else(|| Some(Places::below(config.parent()?))),
            None => places_without_options(),
        };
        let places = places.ok_or_else(|| {
            CommandError::Other(
                "the system's user database has no home directory for this user; run `hooks-guard \
                 install` again, which stores the configuration's path"
                    .to_owned(),
            )
        })?;
        LoadedConfig::read(places, self.config.clone(), self.database.as_ref())
    }
}

/// Returns the directories of a hook whose command names no configuration: those of the user by the
/// system's user database. If that has neither a configuration nor a key, as in a container or in a
/// test that sets another `HOME`, returns those of the environment; files inside a project are
/// refused there, too.
fn places_without_options() -> Option<Places> {
    let user = Places::of_user();
    let is_used = |places: &Places| places.config.exists() || places.data.join(KEY_FILE).exists();
    match Places::of_environment() {
        Some(others) if !user.as_ref().is_some_and(is_used) => Some(others),
        _ => user,
    }
}

impl LoadedConfig {
    fn read(
        defaults: Places,
        file: Option<PathBuf>,
        database: Option<&String>,
    ) -> Result<Self, CommandError> {
        let mut places = defaults.clone();
        if let Some(folder) = file.as_deref().and_then(Path::parent) {
            folder.clone_into(&mut places.config);
        }
        let file = file.unwrap_or_else(|| places.config_file());
        let mut config = Config::load(&file)?;
        config.database = database.cloned().or(config.database);
        let trail = file_url(&places.database_file());
        config.database.get_or_insert(trail);
        Ok(Self {
            config,
            file,
            places,
            defaults,
        })
    }

    /// Returns the configuration and the trail as passed to a hook. A URL with a password is left
    /// out: it is read from the configuration, which only its owner can read.
    pub(crate) fn for_hook(&self) -> (PathBuf, Option<String>) {
        let database = match self.trail_file() {
            Some(file) => file.to_str().map(str::to_owned),
            None => self
                .config
                .database
                .clone()
                .filter(|url| !has_password(url)),
        };
        (self.file.clone(), database)
    }

    /// Returns the trail's file; `None` for a server or a trail in memory.
    pub(crate) fn trail_file(&self) -> Option<PathBuf> {
        trail_file(&self.config)
    }

    /// Returns the file with the service's key.
    pub(crate) fn key_file(&self) -> PathBuf {
        match (&self.config.key_file, self.trail_file()) {
            (Some(file), _) => file.clone(),
            (None, Some(trail)) => trail.with_file_name(KEY_FILE),
            (None, None) => self.defaults.data.join(KEY_FILE),
        }
    }

    /// Returns the directory with the stored data of unfinished tool calls.
    pub(crate) fn calls(&self) -> PathBuf {
        match self.trail_file() {
            Some(trail) => with_suffix(&trail, ".calls"),
            None => self.defaults.state.join("calls"),
        }
    }

    /// Returns warnings for the operator: settings that weaken the guard, and files that are
    /// ignored.
    pub(crate) fn warnings(&self) -> Vec<ConfigWarning> {
        let mut warnings = self.config.warnings();
        let (read, others) = (&self.places, &self.defaults);
        if read.config != others.config {
            let unread = [others.rules_file(), others.trust_file()];
            warnings.extend(unread.iter().filter(|file| file.exists()).map(|file| {
                let (file, folder) = (file.display(), read.config.display());
                ConfigWarning::new(format!(
                    "`{file}` is ignored: this file is read from `{folder}`, the \
                     configuration's directory"
                ))
            }));
        }
        warnings
    }

    /// Returns the files that decide what may run, existing or not.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        [self.settings_files(), self.private_files()].concat()
    }

    /// Returns the files that decide what may run.
    pub(crate) fn settings_files(&self) -> Vec<PathBuf> {
        vec![
            self.file.clone(),
            self.places.rules_file(),
            self.places.trust_file(),
        ]
    }

    /// Returns the files that no other user may read: the key and the trail, and the configuration
    /// if it has the password of a database.
    pub(crate) fn private_files(&self) -> Vec<PathBuf> {
        let mut files = vec![self.key_file()];
        files.extend(self.trail_file());
        let has_password = self
            .config
            .database
            .as_deref()
            .is_some_and(|url| url.contains('@'));
        files.extend(has_password.then(|| self.file.clone()));
        files
    }

    /// Returns the service, the trail and the gates of this configuration.
    pub(crate) fn deciders(&self) -> Result<Deciders<Self>, CommandError> {
        let home = env::var_os("HOME").map(PathBuf::from);
        let is_other = |home: &PathBuf| home.is_absolute() && *home != self.places.home;
        Ok(Deciders {
            service: address(&self.config),
            listen: self.config.listen,
            key_file: self.key_file(),
            config_file: self.file.clone(),
            trail: database(&self.config)?,
            approval_ttl: self.config.approval_ttl(),
            home: self.places.home.clone(),
            other_home: home.filter(is_other),
            gates: self.clone(),
        })
    }

    /// Returns the configured address if a service of this user may listen there.
    pub(crate) async fn listening_address(&self) -> Option<SocketAddr> {
        listening_address(self.config.listen, &self.key_file()).await
    }

    /// Returns a client of this configuration's service that requires proof of the key.
    pub(crate) fn client(&self) -> Result<Client, CommandError> {
        let key = ServiceKey::load(&self.key_file())?;
        Ok(Client::new(address(&self.config)).with_key(key))
    }
}

/// Restarts this process without the variables that would redirect it to another server, if one is
/// set. With `option`, the new process gets them as this option, each as `NAME=VALUE`.
pub(crate) fn forget_variables(option: Option<&str>) -> io::Result<()> {
    let set: Vec<_> = SERVER_VARIABLES
        .into_iter()
        .filter_map(|name| Some((name, env::var_os(name)?)))
        .collect();
    if set.is_empty() {
        return Ok(());
    }
    let mut arguments = env::args_os().skip(1);
    let mut command = Command::new(env::current_exe()?);
    // Options follow the name of the command.
    command.args(arguments.next());
    for (name, value) in set {
        command.env_remove(name);
        if let Some(option) = option {
            let mut variable = OsString::from(format!("{option}={name}="));
            variable.push(value);
            command.arg(variable);
        }
    }
    Err(command.args(arguments).exec())
}

/// Name of the file with the service's key.
const KEY_FILE: &str = "service.key";

fn trail_file(config: &Config) -> Option<PathBuf> {
    match config.database.as_deref().and_then(TrailAddress::read) {
        Some(TrailAddress::File(file)) => std::path::absolute(file).ok(),
        _ => None,
    }
}

/// Returns `true` if a URL may hold a password.
fn has_password(url: &str) -> bool {
    url::Url::parse(url).map_or(true, |url| {
        let mut pairs = url.query_pairs();
        url.password().is_some() || pairs.any(|(name, _)| name.contains("pass"))
    })
}

/// Returns a path with a suffix appended.
pub(crate) fn with_suffix(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    PathBuf::from(name)
}

/// Returns a parser of agents' names, which shells can complete.
pub(crate) fn agents() -> impl TypedValueParser<Value = Agent> {
    let names = Agent::ALL.map(|agent| PossibleValue::new(agent.name()).aliases(agent.aliases()));
    PossibleValuesParser::new(names).try_map(|name| name.parse::<Agent>())
}

/// Returns the address of the audit trail.
pub(crate) fn database(config: &Config) -> Result<String, CommandError> {
    config.database.clone().ok_or_else(|| {
        CommandError::Other(
            "no home directory; set the audit trail's place with `--database`".to_owned(),
        )
    })
}

/// Returns the file of an SQLite trail if the file does not exist. Opening the trail would create it.
pub(crate) fn missing_trail(url: &str) -> Option<&Path> {
    match TrailAddress::read(url) {
        Some(TrailAddress::File(path)) if !path.exists() => Some(path),
        _ => None,
    }
}

fn file_url(path: &Path) -> String {
    format!("sqlite:{}", path.display())
}

/// Opens the audit trail.
pub(crate) async fn open(config: &Config) -> Result<AuditStore, CommandError> {
    let url = database(config)?;
    open_with_retries(&url)
        .await
        .map_err(|error| unusable(&url, &error))
}

/// How long a command of the operator tries to open a trail that other processes write to.
const OPEN_TIMEOUT: Duration = Duration::from_secs(10);

/// Opens a trail; retries for some seconds while it is locked, because no agent waits for it.
async fn open_with_retries(url: &str) -> Result<AuditStore, AuditError> {
    let until = Instant::now() + OPEN_TIMEOUT;
    loop {
        match AuditStore::open(url).await {
            Err(AuditError::Locked | AuditError::Queued) if Instant::now() < until => {
                sleep(RETRY_DELAY).await
            }
            opened => return opened,
        }
    }
}

/// Delay between two attempts.
const RETRY_DELAY: Duration = Duration::from_millis(50);

/// Opens the audit trail at an address for reading, read-only if it cannot be written to.
pub(crate) async fn open_to_read(url: &str) -> Result<AuditStore, AuditError> {
    match open_with_retries(url).await {
        Err(AuditError::ReadOnly | AuditError::Unreachable { .. } | AuditError::Create { .. }) => {
            AuditStore::open_read_only(url).await
        }
        opened => opened,
    }
}

pub(crate) fn unusable(url: &str, error: &AuditError) -> CommandError {
    CommandError::Other(format!("{}: {error}", without_password(url)))
}

/// Returns the address of this configuration's service.
pub(crate) fn address(config: &Config) -> Address {
    match &config.socket {
        Some(socket) => Address::Unix(socket.clone()),
        None => Address::Tcp(config.listen),
    }
}

/// Returns the TCP address at which clients reach the service.
pub(crate) fn service_address(config: &Config) -> SocketAddr {
    config.published_address.unwrap_or(config.listen)
}

/// Returns a single-threaded runtime.
pub(crate) fn runtime() -> Result<Runtime, CommandError> {
    Ok(Builder::new_current_thread().enable_all().build()?)
}

/// Returns the gate of this configuration, with the user's and the projects' rules; `secret` is a
/// further protected file, and `listen` the address of a service.
pub(crate) fn gate(
    loaded: &LoadedConfig,
    secret: Option<PathBuf>,
    listen: Option<SocketAddr>,
) -> Result<Gate, CommandError> {
    gate_with(
        loaded,
        classifier(loaded)?,
        protected(loaded, listen),
        secret,
    )
}

/// Returns the gate of this configuration with neither a language model nor scripts, so that nothing leaves
/// the machine.
pub(crate) fn local_gate(loaded: &LoadedConfig, protected: Protected) -> Gate {
    let book = RuleBook::new(&loaded.places, protected);
    Gate::new(StagedClassifier::new(), loaded.config.policy()).with_rules(book)
}

/// Returns the gate of this configuration for commands that these shells read. `listen` is the
/// address of a service.
pub(crate) fn gate_for_shells(
    loaded: &LoadedConfig,
    shells: Shells,
    listen: Option<SocketAddr>,
) -> Result<Gate, CommandError> {
    let classifier = classifier(loaded)?.with_shells(shells);
    gate_with(loaded, classifier, protected(loaded, listen), None)
}

/// Returns the classifier of this configuration.
fn classifier(loaded: &LoadedConfig) -> Result<StagedClassifier, CommandError> {
    Ok(match loaded.config.semantic.clone() {
        Some(stage) => semantic::classifier(stage)?,
        None => StagedClassifier::new(),
    })
}

impl LocalGates for LoadedConfig {
    type Error = CommandError;

    fn gate(&self, listen: Option<SocketAddr>) -> Result<Gate, CommandError> {
        gate(self, None, listen)
    }

    fn gate_without_model(
        &self,
        home: &Path,
        listen: Option<SocketAddr>,
    ) -> Result<Gate, CommandError> {
        let mut protected = protected(self, listen);
        if home != protected.home {
            let (of_user, moved) = (protected.settings, home.to_owned());
            protected.settings = SettingsFiles::new(move || {
                let mut files = of_user.list();
                files.extend(agents_settings(&moved));
                files
            });
            home.clone_into(&mut protected.home);
        }
        gate_with(self, StagedClassifier::new(), protected, None)
    }
}

fn gate_with(
    loaded: &LoadedConfig,
    classifier: StagedClassifier,
    mut protected: Protected,
    secret: Option<PathBuf>,
) -> Result<Gate, CommandError> {
    if let Some(secret) = secret {
        protected.files.push(std::path::absolute(secret)?);
    }
    let book = RuleBook::new(&loaded.places, protected);
    let gate = Gate::new(classifier, loaded.config.policy()).with_rules(book);
    scripted(gate, &loaded.config.scripts)
}

/// Adds the configured script hooks to the gate. Fails if a script cannot be loaded, because it
/// might deny a request.
#[cfg(feature = "script")]
fn scripted(gate: Gate, files: &[PathBuf]) -> Result<Gate, CommandError> {
    use hooks_guard::script::ScriptHooks;
    use hooks_runtime::display::escape;

    if files.is_empty() {
        return Ok(gate);
    }
    let scripts = ScriptHooks::load(files);
    let scripts = scripts.map_err(|error| CommandError::Other(escape(&error.to_string())))?;
    Ok(gate.with_scripts(scripts))
}

#[cfg(not(feature = "script"))]
fn scripted(gate: Gate, files: &[PathBuf]) -> Result<Gate, CommandError> {
    match files.is_empty() {
        true => Ok(gate),
        false => Err(CommandError::Other(
            "`scripts` is set, but this program was built without JavaScript; build it with \
             `--features script`, or remove `scripts`"
                .to_owned(),
        )),
    }
}

/// Returns the directories of this user.
pub(crate) fn places() -> Result<Places, CommandError> {
    Places::of_environment().ok_or_else(|| {
        CommandError::Other("no home directory; set `HOME` to an absolute path".to_owned())
    })
}

/// Returns the places where agents keep this user's settings.
pub(crate) fn homes(places: &Places) -> Homes {
    Homes::new(&places.home, |name| env::var_os(name).map(PathBuf::from))
}

/// Returns the settings files of agents in a home directory: at their default places, and where
/// variables move them, which a project may have set.
fn agents_settings(home: &Path) -> Vec<PathBuf> {
    let fixed = Homes::new(home, |_| None);
    let moved = Homes::new(home, |name| env::var_os(name).map(PathBuf::from));
    let mut files = settings_files(&fixed, None);
    if moved != fixed {
        files.extend(settings_files(&moved, None));
    }
    files
}

/// Returns the files, the processes and the address that no command and no tool may touch without a
/// question. `listen` is the address of a service.
pub(crate) fn protected(loaded: &LoadedConfig, listen: Option<SocketAddr>) -> Protected {
    let LoadedConfig {
        config,
        file,
        places,
        defaults,
    } = loaded;
    let mut files = vec![
        defaults.config.clone(),
        defaults.data.clone(),
        defaults.state.clone(),
        file.clone(),
        places.rules_file(),
        places.trust_file(),
        loaded.key_file(),
        loaded.calls(),
    ];
    files.extend(env::current_exe());
    files.extend(config.scripts.iter().cloned());
    if let Some(trail) = loaded.trail_file() {
        let ends = ["", "-wal", "-shm", "-journal", "-queue", "-service"];
        files.extend(ends.map(|end| with_suffix(&trail, end)));
    }
    files.dedup();
    let mut protected = Protected::new(&places.home);
    protected.listen = listen;
    protected.socket = config.socket.clone();
    protected.files = files;
    let home = places.home.clone();
    protected.settings = SettingsFiles::new(move || agents_settings(&home));
    protected.pid = Some(std::process::id());
    protected
}
