//! Configuration of the service. In: a TOML file. Out: a [`Config`], or an error with the position
//! of the mistake. The command line and variables override it.

use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use thiserror::Error;
use toml::de::DeTable;

use crate::audit::{QuestionLimits, TrailAddress};
use crate::excerpt::Excerpt;
use crate::gate::{Modes, Policy, UnknownMcpTools, UnknownTools};
use crate::protocol::Agent;
use crate::spelling::{listed, suggestion};

/// Configuration of the service. A field's default applies if its key is absent.
///
/// An unknown key is an error, so that a misspelt key does not silently leave a default.
///
/// ```
/// use hooks_guard::config::Config;
///
/// let config = Config::parse("listen = '127.0.0.1:4000'\nauto_allow_read = false")?;
/// assert_eq!(config.listen.port(), 4000);
/// assert!(Config::parse("auto_alow_read = false").is_err());
/// # Ok::<(), hooks_guard::config::ConfigError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Config {
    /// Address to listen on. Default: `127.0.0.1:3000`. An address that is not a loopback address
    /// needs [`allow_remote`](Self::allow_remote).
    pub listen: SocketAddr,
    /// Unix socket to listen on in addition; an absolute path in a file.
    pub socket: Option<PathBuf>,
    /// Audit trail: `sqlite:PATH`, a path, or `postgres://…`. Default: in the user's data
    /// directory. A path in a file must be absolute.
    pub database: Option<String>,
    /// File with the key that the service and its clients share. Default: beside the trail's file.
    /// A path in a file must be absolute.
    pub key_file: Option<PathBuf>,
    /// Address by which clients reach the service through a port mapping, such as that of a
    /// container: `127.0.0.1:3000`.
    pub published_address: Option<SocketAddr>,
    /// `false` disables the guard: the service replies 503, and agents ask their users as they
    /// would without it.
    pub enabled: bool,
    /// `true` if reads are allowed without confirmation.
    pub auto_allow_read: bool,
    /// `true` if creates, updates and deletes need confirmation. If `false`, only sensitive or
    /// unrecognised requests need one.
    pub require_confirmation_cud: bool,
    /// Allows every request that no rule denies and no protection asks about.
    pub dangerously_skip_confirmations: bool,
    /// Requests that need confirmation in a permission mode of the agent (a table); see [`Modes`]
    /// for the defaults. Claude Code, Codex and VS Code report their mode.
    pub modes: Modes,
    /// Tools of MCP servers that no rule names (a table).
    pub mcp: McpConfig,
    /// Tools of the agents themselves.
    pub tools: ToolsConfig,
    /// Time in seconds after which a pending question is denied, 1 to 86 400.
    pub approval_ttl_seconds: u64,
    /// Maximum number of permission requests from one client within any 60 seconds; 0 for no limit.
    /// All addresses of this machine count as one client.
    pub rate_limit_per_minute: u32,
    /// Maximum number of pending questions, 1 to 100 000. Requests beyond it are refused.
    pub max_open_questions: u32,
    /// Maximum number of pending questions per session of an agent, 1 to 100 000. Requests without
    /// a session are limited by the total only.
    pub max_open_questions_per_session: u32,
    /// Access to the deletion of old records over HTTP.
    pub cleanup: CleanupAccess,
    /// Age in days after which the service deletes records, 1 to 36 500. Default: none are deleted.
    pub retention_days: Option<u32>,
    /// Allows listening on an address that is not a loopback address: everyone who can reach it can
    /// read the audit trail.
    pub allow_remote: bool,
    /// Additional host names by which clients may call the service, beyond `localhost` and its
    /// addresses; any other `Host` is refused (DNS rebinding).
    pub allowed_hosts: Vec<String>,
    /// Maximum number of open connections, up to a million. At the limit, the oldest idle
    /// connections are closed for new ones.
    pub max_connections: usize,
    /// Absolute paths of JavaScript hooks that may restrict decisions, in execution order. Requires
    /// the feature `script`.
    pub scripts: Vec<PathBuf>,
    /// A language model for commands that the tables do not know. The command line requires the
    /// feature `semantic`.
    pub semantic: Option<SemanticConfig>,
}

/// Clients that may delete old records over HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CleanupAccess {
    /// Every client.
    Open,
    /// Clients with the operator's token.
    Operator,
    /// None.
    Off,
}

/// Tools of the agents themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct ToolsConfig {
    /// What happens to a call of a tool of an agent that the guard does not know, although it knows the
    /// tools of the agent: the call needs approval, the agent decides, or it is denied. Default: it needs
    /// approval.
    pub unknown: UnknownTools,
}

/// Tools of MCP servers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct McpConfig {
    /// What happens to a call of a tool that no rule names: the agent decides, the call needs
    /// approval, or it is denied. Default: the agent decides.
    pub unknown: UnknownMcpTools,
}

/// An OpenAI-compatible chat endpoint.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct SemanticConfig {
    /// Base URL, such as `http://127.0.0.1:11434/v1`.
    pub url: String,
    /// Name of the model at the endpoint.
    pub model: String,
    /// Timeout in milliseconds; at most 2000, which is the budget of a classification.
    pub timeout_ms: Option<u64>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 3000)),
            socket: None,
            database: None,
            key_file: None,
            published_address: None,
            enabled: true,
            auto_allow_read: true,
            require_confirmation_cud: true,
            dangerously_skip_confirmations: false,
            modes: Modes::default(),
            mcp: McpConfig::default(),
            tools: ToolsConfig::default(),
            approval_ttl_seconds: 300,
            rate_limit_per_minute: 100,
            max_open_questions: QuestionLimits::default().total,
            max_open_questions_per_session: QuestionLimits::default().per_session,
            cleanup: CleanupAccess::Open,
            retention_days: None,
            allow_remote: false,
            allowed_hosts: Vec::new(),
            max_connections: 1024,
            scripts: Vec::new(),
            semantic: None,
        }
    }
}

/// Error returned when a configuration is invalid.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file exists but cannot be read.
    #[error("cannot read `{path}`: {source}; check that it is a readable file", path = path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Cause.
        source: std::io::Error,
    },
    /// The text is not TOML, or has an unknown key or an invalid value.
    #[error("{}{message}", place(file.as_deref(), excerpt.as_deref()))]
    Parse {
        /// The file, if the text is from one.
        file: Option<PathBuf>,
        /// Line, column and text of the mistake, if the parser reports them.
        excerpt: Option<Box<Excerpt>>,
        /// Description of the mistake, with its remedy.
        message: String,
    },
    /// A value is out of range.
    #[error("{}{}", place(file.as_deref(), excerpt.as_deref()), out_of_range(key, value, remedy))]
    Range {
        /// The file, if the value is from one.
        file: Option<PathBuf>,
        /// Line, column and text of the value, if it is from a file.
        excerpt: Option<Box<Excerpt>>,
        /// The key.
        key: &'static str,
        /// Its value.
        value: String,
        /// Remedy with the valid range.
        remedy: &'static str,
    },
}

impl ConfigError {
    /// Returns the place of the mistake, if it is known.
    #[must_use]
    pub fn excerpt(&self) -> Option<&Excerpt> {
        match self {
            Self::Parse { excerpt, .. } | Self::Range { excerpt, .. } => excerpt.as_deref(),
            Self::Read { .. } => None,
        }
    }

    /// Returns the error with the invalid line and carets, for a terminal; on one line if the
    /// error has no place in a file.
    #[must_use]
    pub fn report(&self, color: bool) -> Option<String> {
        let (file, excerpt, message) = match self {
            Self::Parse {
                file,
                excerpt,
                message,
            } => (file, excerpt.as_ref()?, message.clone()),
            Self::Range {
                file,
                excerpt,
                key,
                value,
                remedy,
            } => (file, excerpt.as_ref()?, out_of_range(key, value, remedy)),
            Self::Read { .. } => return None,
        };
        let file = file.as_ref()?.display().to_string();
        Some(excerpt.report(&file, &message, color))
    }
}

/// Returns the message for a value out of range, without its place.
fn out_of_range(key: &str, value: &str, remedy: &str) -> String {
    format!("`{key}` is {value}; {remedy}")
}

/// Returns the start of a message: file, line and column.
fn place(file: Option<&Path>, excerpt: Option<&Excerpt>) -> String {
    match (file, excerpt) {
        (Some(file), Some(excerpt)) => format!("{}:{excerpt}: ", file.display()),
        (Some(file), None) => format!("{}: ", file.display()),
        (None, Some(excerpt)) => format!("line {}, column {}: ", excerpt.line, excerpt.column),
        (None, None) => String::new(),
    }
}

/// Returns the message of a parser's error, with a suggestion for a misspelt key or value.
fn message(error: &toml::de::Error) -> String {
    let message = error.message();
    for (start, kind) in [("unknown field `", "key"), ("unknown variant `", "value")] {
        let Some((word, rest)) = message
            .strip_prefix(start)
            .and_then(|rest| rest.split_once("`, "))
        else {
            continue;
        };
        let known: Vec<&str> = rest.split('`').skip(1).step_by(2).collect();
        let all = format!("use one of {}", listed(&known));
        let remedy = suggestion(word, &known, &all);
        return format!("unknown {kind} `{word}`; {remedy}");
    }
    message.to_owned()
}

/// Returns the place of a key's value in a TOML text; a dot separates the keys of tables.
fn place_of(text: &str, key: &str) -> Option<Range<usize>> {
    let document = DeTable::parse(text).ok()?;
    let mut table = document.get_ref();
    let mut names = key.split('.').peekable();
    loop {
        let value = table.get(names.next()?)?;
        if names.peek().is_none() {
            return Some(value.span());
        }
        table = value.get_ref().as_table()?;
    }
}

/// Remedy for a relative path, which several processes would resolve differently.
const ABSOLUTE_PATH_REMEDY: &str = "use an absolute path, because hooks run in other directories";

fn range(key: &'static str, value: &dyn ToString, remedy: &'static str) -> ConfigError {
    ConfigError::Range {
        file: None,
        excerpt: None,
        key,
        value: value.to_string(),
        remedy,
    }
}

impl Config {
    /// Parses a configuration.
    ///
    /// # Errors
    /// If the text is not TOML, has an unknown key, or a value out of range.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        Self::parse_from(text, None)
    }

    /// Reads a configuration from a file; a missing file gives the defaults.
    ///
    /// # Errors
    /// As for [`parse`](Self::parse), and if the file exists but cannot be read.
    pub fn load(path: &Path) -> Result<Self, ConfigError> {
        match std::fs::read_to_string(path) {
            Ok(text) => Self::parse_from(&text, Some(path)),
            Err(source) if source.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(source) => Err(ConfigError::Read {
                path: path.to_owned(),
                source,
            }),
        }
    }

    fn parse_from(text: &str, path: Option<&Path>) -> Result<Self, ConfigError> {
        let config: Self = toml::from_str(text).map_err(|error| ConfigError::Parse {
            file: path.map(Path::to_owned),
            excerpt: error.span().map(|at| Box::new(Excerpt::new(text, at))),
            message: message(&error),
        })?;
        let mut checked = config.check().and_then(|()| config.check_places());
        if let Err(ConfigError::Range {
            file, excerpt, key, ..
        }) = &mut checked
        {
            *file = path.map(Path::to_owned);
            *excerpt = place_of(text, key).map(|at| Box::new(Excerpt::new(text, at)));
        }
        checked.map(|()| config)
    }

    /// Checks that paths in the configuration are absolute, so that they mean one file in every
    /// directory of an agent.
    fn check_places(&self) -> Result<(), ConfigError> {
        let address = self.database.as_deref().and_then(TrailAddress::read);
        if let Some(TrailAddress::File(file)) = address
            && !file.is_absolute()
        {
            return Err(range("database", &file.display(), ABSOLUTE_PATH_REMEDY));
        }
        if let Some(socket) = self.socket.as_ref().filter(|socket| !socket.is_absolute()) {
            return Err(range("socket", &socket.display(), ABSOLUTE_PATH_REMEDY));
        }
        if let Some(key) = self.key_file.as_ref().filter(|key| !key.is_absolute()) {
            return Err(range("key_file", &key.display(), ABSOLUTE_PATH_REMEDY));
        }
        Ok(())
    }

    /// Checks that every value is in range and consistent with the others.
    ///
    /// # Errors
    /// Names the first key that is not.
    pub fn check(&self) -> Result<(), ConfigError> {
        if !(1..=86_400).contains(&self.approval_ttl_seconds) {
            let remedy = "use 1 to 86400 seconds";
            return Err(range(
                "approval_ttl_seconds",
                &self.approval_ttl_seconds,
                remedy,
            ));
        }
        for (key, value) in [
            ("max_open_questions", self.max_open_questions),
            (
                "max_open_questions_per_session",
                self.max_open_questions_per_session,
            ),
        ] {
            if !(1..=100_000).contains(&value) {
                return Err(range(key, &value, "use 1 to 100000"));
            }
        }
        if let Some(days) = self.retention_days
            && !(1..=36_500).contains(&days)
        {
            let remedy = "use 1 to 36500 days, or remove it to keep everything";
            return Err(range("retention_days", &days, remedy));
        }
        if !(1..=1_000_000).contains(&self.max_connections) {
            let remedy = "use 1 to 1000000";
            return Err(range("max_connections", &self.max_connections, remedy));
        }
        if !self.listen.ip().is_loopback() && !self.allow_remote {
            let remedy = "use a loopback address such as 127.0.0.1:3000, or set `allow_remote = \
                          true` (everyone who can reach the address can then read the audit trail)";
            return Err(range("listen", &self.listen, remedy));
        }
        if let Some(path) = self.scripts.iter().find(|path| !path.is_absolute()) {
            return Err(range("scripts", &path.display(), ABSOLUTE_PATH_REMEDY));
        }
        if let Some(semantic) = &self.semantic
            && !(1..=2000).contains(&semantic.timeout_ms.unwrap_or(2000))
        {
            let remedy = "use 1 to 2000 milliseconds";
            let value = semantic.timeout_ms.unwrap_or_default();
            return Err(range("semantic.timeout_ms", &value, remedy));
        }
        Ok(())
    }

    /// Returns how long a question stays pending.
    #[must_use]
    pub fn approval_ttl(&self) -> Duration {
        Duration::from_secs(self.approval_ttl_seconds)
    }

    /// Returns the maximum numbers of pending questions.
    #[must_use]
    pub fn question_limits(&self) -> QuestionLimits {
        QuestionLimits {
            total: self.max_open_questions,
            per_session: self.max_open_questions_per_session,
        }
    }

    /// Returns how the gate derives a decision from a class.
    #[must_use]
    pub fn policy(&self) -> Policy {
        Policy {
            auto_allow_read: self.auto_allow_read,
            require_confirmation_cud: self.require_confirmation_cud,
            dangerously_skip_confirmations: self.dangerously_skip_confirmations,
            modes: self.modes,
            unknown_mcp_tools: self.mcp.unknown,
            unknown_tools: self.tools.unknown,
        }
    }

    /// Returns the settings that weaken the guard.
    #[must_use]
    pub fn warnings(&self) -> Vec<ConfigWarning> {
        let weak = |is_weak: bool, problem: &str| is_weak.then(|| ConfigWarning::new(problem));
        let open_cleanup = weak(
            self.cleanup == CleanupAccess::Open,
            "`cleanup` is `open`: everyone who can reach the service can delete records",
        );
        let settings = [
            weak(
                !self.enabled,
                "`enabled` is false: no command is checked, and agents use their own prompts, if \
                 any",
            ),
            weak(
                self.dangerously_skip_confirmations,
                "`dangerously_skip_confirmations` is on: deletions run without confirmation",
            ),
            weak(
                !self.require_confirmation_cud,
                "`require_confirmation_cud` is off: changes run without confirmation",
            ),
            open_cleanup.map(|warning| ConfigWarning {
                remedy: Some("set `cleanup = \"operator\"` in the configuration".to_owned()),
                ..warning
            }),
            weak(
                self.allow_remote,
                "`allow_remote` is on: the audit trail is readable without a password",
            ),
            weak(
                self.rate_limit_per_minute == 0,
                "`rate_limit_per_minute` is 0: a client can fill the disk",
            ),
        ];
        let modes = self.weakened_modes().map(ConfigWarning::new);
        settings.into_iter().flatten().chain(modes).collect()
    }

    /// Returns a sentence for each permission mode with a setting that is weaker than its default.
    fn weakened_modes(&self) -> impl Iterator<Item = String> {
        let modes = self.modes;
        let names = Modes::NAMES.into_iter();
        names.filter_map(move |name| {
            let claude = Some(Agent::ClaudeCode.name());
            let set = modes.confirm(Some(name), claude);
            let default = Modes::default().confirm(Some(name), claude);
            (set > default).then(|| {
                format!("`modes.{name}` is `{set}`, which is weaker than the default `{default}`")
            })
        })
    }
}

/// A setting, or a file beside the configuration, that weakens the guard. Displays the problem, and
/// the remedy after a semicolon.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConfigWarning {
    /// What is unsafe, as a clause without a full stop.
    pub problem: String,
    /// What to do, if it is more than to revert a setting.
    pub remedy: Option<String>,
}

impl ConfigWarning {
    /// Creates a warning without a remedy of its own.
    #[must_use]
    pub fn new(problem: impl Into<String>) -> Self {
        ConfigWarning {
            problem: problem.into(),
            remedy: None,
        }
    }
}

impl fmt::Display for ConfigWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.problem)?;
        match &self.remedy {
            Some(remedy) => write!(f, "; {remedy}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Config;

    /// Returns the warnings about modes.
    fn warnings(modes: &str) -> Vec<String> {
        let config = Config::parse(&format!("[modes]\n{modes}")).expect("a configuration");
        let warnings = config.warnings().into_iter().map(|warning| warning.problem);
        warnings
            .filter(|warning| warning.contains("modes."))
            .collect()
    }

    #[test]
    fn only_modes_that_are_weaker_than_their_defaults_cause_warnings() {
        for modes in [
            "",
            "default = 'changes'",
            "acceptEdits = 'edits'\nauto = 'deletions'\nbypassPermissions = 'changes'",
            "acceptEdits = 'changes'\nauto = 'edits'",
        ] {
            assert_eq!(warnings(modes), Vec::<String>::new(), "{modes}");
        }
        for (modes, warning) in [
            (
                "plan = 'edits'",
                "`modes.plan` is `edits`, which is weaker than the default `changes`",
            ),
            (
                "acceptEdits = 'deletions'",
                "`modes.acceptEdits` is `deletions`, which is weaker than the default `edits`",
            ),
            (
                "bypassPermissions = 'nothing'",
                "`modes.bypassPermissions` is `nothing`, which is weaker than the default \
                 `changes`",
            ),
        ] {
            assert_eq!(warnings(modes), [warning]);
        }
    }
}
