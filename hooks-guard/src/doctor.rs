//! What is wrong with an installation, and how to mend it.
//!
//! [`examine`] looks at files itself, and is told by a [`Service`] what the other parts find. It
//! changes nothing.

mod agents;
mod environment;

pub use environment::SERVER_VARIABLES;

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use hooks_runtime::display::escape;
use jiff::{Timestamp, ToSpan};
use serde::Serialize;

use crate::install::{Homes, in_path};

/// What one check found (P-43).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    /// What was looked at, such as `daemon`.
    pub name: String,
    /// How it is.
    pub state: State,
    /// What was found, on one line.
    pub what: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

/// How something is; the worst is the greatest (P-43).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// As it should be.
    Ok,
    /// It works, and could be better.
    Warn,
    /// It does not protect.
    Bad,
}

impl Check {
    fn new(name: &str, state: State, what: impl AsRef<str>, remedy: &str) -> Self {
        Self {
            name: name.to_owned(),
            state,
            what: escape(what.as_ref()),
            remedy: (!remedy.is_empty()).then(|| escape(remedy)),
        }
    }
}

/// Where to look (P-43).
#[derive(Clone, Copy, Debug)]
pub struct Surroundings<'a> {
    /// The directories of the agents' settings.
    pub homes: &'a Homes,
    /// The project, if one is looked at.
    pub project: Option<&'a Path>,
    /// The folders whose settings may set variables for an agent: the project, or the current
    /// directory and the repository around it.
    pub workspace: &'a [PathBuf],
    /// The binary that is running.
    pub binary: &'a Path,
    /// The configuration, by an absolute path, as `install` gives it to a hook.
    pub config: &'a Path,
    /// The trail, as `install` gives it to a hook.
    pub database: Option<&'a str>,
    /// The variables of the environment, by their names.
    pub variables: &'a [String],
    /// The search path, `PATH`.
    pub path: Option<&'a OsStr>,
    /// The files that nobody but their owner may read: database, configuration, trust….
    pub private: &'a [PathBuf],
    /// The time by this machine's clock.
    pub now: Timestamp,
}

/// What the other parts of the program find (P-43). An error is a line that says what is wrong.
pub trait Service {
    /// The daemon at its address; none if nothing listens there.
    fn daemon(&self) -> Result<Option<Daemon>, String>;
    /// The audit trail; none if there is no database yet.
    fn audit(&self) -> Result<Option<Audit>, String>;
    /// The files of rules.
    fn rules(&self) -> Vec<RuleFile>;
    /// What the configuration deserves to be warned of; an error if it cannot be read.
    fn configuration(&self) -> Result<Vec<String>, String>;
}

/// A daemon that answers (P-43).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Daemon {
    /// Where it listens.
    pub address: String,
    /// Which version it is of.
    pub version: String,
}

/// An audit trail that can be opened (P-15).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Audit {
    /// The file, or the server without its password.
    pub database: String,
    /// What is wrong with the chain of its last entries.
    pub broken: Option<String>,
    /// When its newest entry was made.
    pub newest: Option<Timestamp>,
}

/// A file of rules (P-06).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleFile {
    /// Which.
    pub path: PathBuf,
    /// What is wrong in it, a line each.
    pub mistakes: Vec<String>,
    /// Whether it is trusted; none for the user's own.
    pub trusted: Option<bool>,
}

/// Looks at everything, and changes nothing; what is well is among the checks, too (P-43).
pub fn examine(around: &Surroundings<'_>, service: &impl Service) -> Vec<Check> {
    let mut checks = vec![binary(around)];
    checks.extend(agents::checks(around));
    checks.extend(environment::checks(around));
    checks.push(daemon(service));
    let (audit, newest) = audit(service);
    checks.push(audit);
    checks.extend(around.private.iter().filter_map(|path| private(path)));
    checks.extend(service.rules().iter().map(rules));
    checks.extend(configuration(service));
    checks.push(clock(around.now, newest));
    checks
}

/// How the worst of them is (P-43). Without any, all is well.
#[must_use]
pub fn worst(checks: &[Check]) -> State {
    checks
        .iter()
        .map(|check| check.state)
        .max()
        .unwrap_or(State::Ok)
}

const NAME: &str = "hooks-guard";

fn binary(around: &Surroundings<'_>) -> Check {
    let running = around.binary.display();
    match in_path(around.path, NAME) {
        None => Check::new(
            "binary",
            State::Warn,
            format!("`{NAME}` is not in PATH; running is `{running}`"),
            "add its directory to PATH; agents run it by its full path in any case",
        ),
        Some(found) if same(&found, around.binary) => {
            Check::new("binary", State::Ok, format!("`{running}` is in PATH"), "")
        }
        Some(found) => Check::new(
            "binary",
            State::Warn,
            format!(
                "`{}` comes first in PATH, and `{running}` is running",
                found.display()
            ),
            "remove the one that is not wanted",
        ),
    }
}

fn same(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    real(one) == real(other)
}

fn daemon(service: &impl Service) -> Check {
    let version = env!("CARGO_PKG_VERSION");
    match service.daemon() {
        Ok(None) => Check::new(
            "daemon",
            State::Warn,
            "no daemon is running; each hook decides alone, and nobody can agree on a console",
            "run `hooks-guard serve`",
        ),
        Ok(Some(daemon)) if daemon.version == version => Check::new(
            "daemon",
            State::Ok,
            format!("version {version} answers at {}", daemon.address),
            "",
        ),
        Ok(Some(daemon)) => Check::new(
            "daemon",
            State::Bad,
            format!(
                "at {} runs version {}, and this is {version}",
                daemon.address, daemon.version
            ),
            "restart `hooks-guard serve`",
        ),
        Err(error) => Check::new(
            "daemon",
            State::Bad,
            error,
            "look at what listens there, and restart `hooks-guard serve`",
        ),
    }
}

fn audit(service: &impl Service) -> (Check, Option<Timestamp>) {
    const CHAIN: &str = "run `hooks-guard audit verify`, and compare with a backup of the database";
    match service.audit() {
        Ok(None) => {
            let what = "there is no database yet; the first decision makes one";
            (Check::new("audit", State::Ok, what, ""), None)
        }
        Ok(Some(Audit {
            database,
            broken,
            newest,
        })) => (
            match broken {
                None => {
                    let what = format!("{database} opens, and its last entries are whole");
                    Check::new("audit", State::Ok, what, "")
                }
                Some(broken) => {
                    Check::new("audit", State::Bad, format!("{database}: {broken}"), CHAIN)
                }
            },
            newest,
        ),
        Err(error) => {
            let remedy = "mend what the error says; without a trail nothing is allowed";
            (Check::new("audit", State::Bad, error, remedy), None)
        }
    }
}

/// Whether only the owner may read a file; nothing if it is not there.
fn private(path: &Path) -> Option<Check> {
    let mode = mode(path)?;
    let shown = path.display();
    Some(match mode & 0o077 {
        0 => Check::new(
            "permissions",
            State::Ok,
            format!("`{shown}` is its owner's only"),
            "",
        ),
        _ => Check::new(
            "permissions",
            State::Bad,
            format!("`{shown}` is open to others (mode {:o})", mode & 0o777),
            &match path.is_dir() {
                true => format!("chmod 700 '{shown}'"),
                false => format!("chmod 600 '{shown}'"),
            },
        ),
    })
}

#[cfg(unix)]
fn mode(path: &Path) -> Option<u32> {
    let metadata = fs::metadata(path).ok()?;
    Some(std::os::unix::fs::PermissionsExt::mode(
        &metadata.permissions(),
    ))
}

#[cfg(not(unix))]
fn mode(_: &Path) -> Option<u32> {
    None
}

fn rules(file: &RuleFile) -> Check {
    let path = file.path.display();
    match (file.mistakes.as_slice(), file.trusted) {
        ([first, rest @ ..], _) => Check::new(
            "rules",
            State::Bad,
            match rest.len() {
                0 => first.clone(),
                more => format!("{first} (and {more} more)"),
            },
            "mend the file; `hooks-guard test-rules` says all that is wrong",
        ),
        ([], Some(false)) => Check::new(
            "rules",
            State::Warn,
            format!("`{path}` is not trusted: its rules restrict, and allow nothing"),
            "read it, and run `hooks-guard trust` if it may allow things",
        ),
        ([], _) => Check::new("rules", State::Ok, format!("`{path}` is understood"), ""),
    }
}

fn configuration(service: &impl Service) -> Vec<Check> {
    match service.configuration() {
        Ok(warnings) if warnings.is_empty() => {
            vec![Check::new(
                "configuration",
                State::Ok,
                "nothing in it is dangerous",
                "",
            )]
        }
        Ok(warnings) => {
            let remedy = "take the setting back, unless you meant it";
            let check = |warning| Check::new("configuration", State::Warn, warning, remedy);
            warnings.into_iter().map(check).collect()
        }
        Err(error) => vec![Check::new(
            "configuration",
            State::Bad,
            error,
            "mend the file",
        )],
    }
}

fn clock(now: Timestamp, newest: Option<Timestamp>) -> Check {
    // Two machines' clocks may differ by this much without harm.
    let allowed = now.checked_add(1.minute()).unwrap_or(now);
    match newest {
        Some(newest) if newest > allowed => Check::new(
            "clock",
            State::Bad,
            format!("it is {now} by the clock, and the newest record is of {newest}"),
            "set the clock; what waits for an answer is timed by it",
        ),
        _ => Check::new("clock", State::Ok, format!("it is {now}"), ""),
    }
}
