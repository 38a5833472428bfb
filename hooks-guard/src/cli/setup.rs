//! What several commands need: the configuration, and what follows from it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use hooks_guard::audit::{AuditError, AuditStore, TrailAddress};
use hooks_guard::classify::Classifier;
use hooks_guard::client::{Address, Client};
use hooks_guard::config::Config;
use hooks_guard::gate::Gate;
use hooks_guard::install::{Homes, settings_files};
use hooks_guard::places::Places;
use hooks_guard::proof::ServiceKey;
use hooks_guard::protocol::Agent;
use hooks_guard::rules::{Protected, RuleBook};
use hooks_runtime::display::escape;
use tokio::runtime::{Builder, Runtime};
use tokio::time::{Instant, sleep};

use super::failure::Failure;
use super::semantic;

/// Where the configuration is, and what is set in another place than there.
#[derive(Debug, Args)]
pub(crate) struct Setup {
    /// The configuration; `hooks-guard/config.toml` in the user's configuration directory,
    /// unless given. Rules and the list of trusted projects are in its folder.
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

/// The configuration and the trail of a hook: they must not depend on the environment, which a
/// project can set.
#[derive(Debug, Args)]
pub(crate) struct HookSetup {
    /// The configuration, by an absolute path, as `install` writes it; no variable replaces it. A
    /// file that is not there counts as an empty one.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The audit trail: the absolute path of a file, or `postgres://…`; no variable replaces it.
    #[arg(long, value_name = "URL")]
    database: Option<String>,
}

/// The configuration, and the files that belong to it.
#[derive(Clone, Debug)]
pub(crate) struct Loaded {
    /// With what the command line sets.
    pub(crate) config: Config,
    /// The file of the configuration, which need not be there.
    pub(crate) file: PathBuf,
    /// The user's folders; rules and trust are in the folder of the configuration.
    pub(crate) places: Places,
    /// The folders that the user has without a configuration elsewhere.
    defaults: Places,
}

impl Setup {
    /// The configuration, with what the command line sets.
    pub(crate) fn config(&self) -> Result<Config, Failure> {
        Ok(self.load()?.config)
    }

    /// The configuration, and the files that belong to it.
    pub(crate) fn load(&self) -> Result<Loaded, Failure> {
        if let Some(path) = self.config.as_ref().filter(|path| !path.exists()) {
            return Err(Failure::Other(format!(
                "there is no `{}`; give the configuration's path with `--config`",
                path.display()
            )));
        }
        let config = self
            .config
            .as_deref()
            .map(std::path::absolute)
            .transpose()?;
        Loaded::read(places()?, config, self.database.as_ref())
    }

    /// The configuration and the trail as a hook is given them. The configuration need not be
    /// there yet.
    pub(crate) fn for_hook(&self) -> Result<(PathBuf, Option<String>), Failure> {
        let config = self
            .config
            .as_deref()
            .map(std::path::absolute)
            .transpose()?;
        let loaded = Loaded::read(places()?, config, self.database.as_ref())?;
        Ok(loaded.for_hook())
    }
}

impl HookSetup {
    /// The configuration, and the files that belong to it.
    pub(crate) fn load(&self) -> Result<Loaded, Failure> {
        let relative = |path: &Path| {
            Failure::Other(format!(
                "`{}` is not an absolute path, so that a project could put another file in its \
                 place; run `hooks-guard install` again",
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
            // A user that the system does not know has the files that are named.
            Some(config) => Places::of_user().or_else(|| Some(Places::below(config.parent()?))),
            None => places_without_options(),
        };
        let places = places.ok_or_else(|| {
            Failure::Other(
                "the system's user database has no home of this user; run `hooks-guard install` again, which names the configuration"
                    .to_owned(),
            )
        })?;
        Loaded::read(places, self.config.clone(), self.database.as_ref())
    }
}

/// The folders of a hook whose command names no configuration: those of the user by the system's
/// user database. If there is neither a configuration nor a key, as in a container or in a test that
/// sets another `HOME`, those by the environment; files of a project are refused there, too.
fn places_without_options() -> Option<Places> {
    let user = Places::of_user();
    let is_used = |places: &Places| places.config.exists() || places.data.join(KEY).exists();
    match Places::of_environment() {
        Some(others) if !user.as_ref().is_some_and(is_used) => Some(others),
        _ => user,
    }
}

impl Loaded {
    fn read(
        defaults: Places,
        file: Option<PathBuf>,
        database: Option<&String>,
    ) -> Result<Self, Failure> {
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

    /// The configuration and the trail as a hook is given them. A URL with a password is left to the
    /// configuration, which its owner alone can read.
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

    /// The trail's file; none of a server or in memory.
    pub(crate) fn trail_file(&self) -> Option<PathBuf> {
        trail_file(&self.config)
    }

    /// The file with the key of the service.
    pub(crate) fn key_file(&self) -> PathBuf {
        match (&self.config.key_file, self.trail_file()) {
            (Some(file), _) => file.clone(),
            (None, Some(trail)) => trail.with_file_name(KEY),
            (None, None) => self.defaults.data.join(KEY),
        }
    }

    /// The folder with what calls of tools leave for their end.
    pub(crate) fn calls(&self) -> PathBuf {
        match self.trail_file() {
            Some(trail) => beside(&trail, ".calls"),
            None => self.defaults.state.join("calls"),
        }
    }

    /// Returns warnings for the operator: settings that weaken the guard, and files that do not count.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let mut warnings: Vec<String> = self
            .config
            .warnings()
            .into_iter()
            .map(str::to_owned)
            .collect();
        let (read, others) = (&self.places, &self.defaults);
        if read.config != others.config {
            let unread = [others.rules_file(), others.trust_file()];
            warnings.extend(unread.iter().filter(|file| file.exists()).map(|file| {
                let (file, folder) = (file.display(), read.config.display());
                format!("`{file}` does not count: it is read from `{folder}`, the configuration's folder")
            }));
        }
        warnings
    }

    /// The files that decide what may run, whether or not they are there.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let mut files = vec![
            self.file.clone(),
            self.places.rules_file(),
            self.places.trust_file(),
            self.key_file(),
        ];
        files.extend(self.trail_file());
        files
    }

    /// Speaks to the service of this configuration, once it has proved itself.
    pub(crate) fn client(&self) -> Result<Client, Failure> {
        let key = ServiceKey::load(&self.key_file())?;
        Ok(Client::new(address(&self.config)).with_key(key))
    }
}

/// The name of the file with the service's key.
const KEY: &str = "service.key";

fn trail_file(config: &Config) -> Option<PathBuf> {
    match config.database.as_deref().and_then(TrailAddress::read) {
        Some(TrailAddress::File(file)) => std::path::absolute(file).ok(),
        _ => None,
    }
}

/// Returns whether a URL may hold a password.
fn has_password(url: &str) -> bool {
    url::Url::parse(url).map_or(true, |url| {
        let mut pairs = url.query_pairs();
        url.password().is_some() || pairs.any(|(name, _)| name.contains("pass"))
    })
}

/// A path with something at its end.
pub(crate) fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    PathBuf::from(name)
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
    config.database.clone().ok_or_else(|| {
        Failure::Other(
            "there is no home directory; give the audit trail's place with `--database`".to_owned(),
        )
    })
}

fn file_url(path: &Path) -> String {
    format!("sqlite:{}", path.display())
}

/// The audit trail.
pub(crate) async fn open(config: &Config) -> Result<AuditStore, Failure> {
    let url = database(config)?;
    open_patiently(&url)
        .await
        .map_err(|error| unusable(&url, &error))
}

/// How long a command of the operator tries to open a trail that others write to.
const OPEN: Duration = Duration::from_secs(10);

/// Opens a trail. Agents are not waiting for it: if it is locked, tries again for some seconds.
async fn open_patiently(url: &str) -> Result<AuditStore, AuditError> {
    let until = Instant::now() + OPEN;
    loop {
        match AuditStore::open(url).await {
            Err(AuditError::Locked) if Instant::now() < until => sleep(AGAIN).await,
            opened => return opened,
        }
    }
}

/// How long it waits before it tries again.
const AGAIN: Duration = Duration::from_millis(50);

/// The audit trail at an address, for reading: if it cannot be written to, it is only read.
pub(crate) async fn open_to_read(url: &str) -> Result<AuditStore, AuditError> {
    match open_patiently(url).await {
        Err(AuditError::ReadOnly | AuditError::Unreachable { .. } | AuditError::Create { .. }) => {
            AuditStore::open_read_only(url).await
        }
        opened => opened,
    }
}

/// The audit trail, for a process that records one thing.
pub(crate) async fn open_briefly(config: &Config) -> Result<AuditStore, Failure> {
    let url = database(config)?;
    AuditStore::open_briefly(&url)
        .await
        .map_err(|error| unusable(&url, &error))
}

pub(crate) fn unusable(url: &str, error: &AuditError) -> Failure {
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
pub(crate) fn gate(loaded: &Loaded, secret: Option<PathBuf>) -> Result<Gate, Failure> {
    let classifier = match loaded.config.semantic.clone() {
        Some(stage) => semantic::classifier(stage)?,
        None => Classifier::new(),
    };
    gate_with(loaded, classifier, protected(loaded), secret)
}

/// The gate of this configuration without a language model, for a shell with this home.
pub(crate) fn gate_by_tables(loaded: &Loaded, home: &Path) -> Result<Gate, Failure> {
    let mut protected = protected(loaded);
    if home != protected.home {
        protected.settings.extend(agents_settings(home));
        home.clone_into(&mut protected.home);
    }
    gate_with(loaded, Classifier::new(), protected, None)
}

fn gate_with(
    loaded: &Loaded,
    classifier: Classifier,
    mut protected: Protected,
    secret: Option<PathBuf>,
) -> Result<Gate, Failure> {
    if let Some(secret) = secret {
        protected.files.push(std::path::absolute(secret)?);
    }
    let book = RuleBook::new(&loaded.places, protected);
    let gate = Gate::new(classifier, loaded.config.policy()).with_rules(book);
    scripted(gate, &loaded.config.scripts)
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

/// The settings of agents in a home: where they are without variables, and where variables move them,
/// which a project may have set.
fn agents_settings(home: &Path) -> Vec<PathBuf> {
    let fixed = Homes::new(home, |_| None);
    let moved = Homes::new(home, |name| std::env::var_os(name).map(PathBuf::from));
    let mut files = settings_files(&fixed, None);
    if moved != fixed {
        files.extend(settings_files(&moved, None));
    }
    files
}

/// What no command and no tool may touch without a question.
pub(crate) fn protected(loaded: &Loaded) -> Protected {
    let Loaded {
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
    files.extend(std::env::current_exe());
    files.extend(config.scripts.iter().cloned());
    if let Some(trail) = loaded.trail_file() {
        files.extend(["", "-wal", "-shm", "-journal"].map(|end| beside(&trail, end)));
    }
    files.dedup();
    let mut protected = Protected::new(&places.home);
    protected.listen = Some(config.listen);
    protected.socket = config.socket.clone();
    protected.files = files;
    protected.settings = agents_settings(&places.home);
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
