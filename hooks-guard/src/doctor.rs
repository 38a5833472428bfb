//! Checks an installation. In: the places to examine. Out: a list of checks, each with its remedy.
//!
//! [`examine`] reads files itself and gets the findings of other components from a [`Service`]. It
//! changes nothing.

mod agents;
mod check;
mod environment;
mod other_hooks;
mod switches;

pub use self::check::{Check, CheckError, CheckState, DoctorContext};
pub use environment::SERVER_VARIABLES;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use hooks_runtime::display::shorten;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};

use self::check::{mode, same};
use crate::audit::AuditRecord;
use crate::config::ConfigWarning;
use crate::install::{BINARY_NAME, in_path};
use crate::protocol::Agent;

/// Checks that other parts of the program provide. An error is one line of text.
pub trait Service {
    /// Returns the daemon at its address; `None` if nothing listens there.
    fn daemon(&self) -> Result<Option<Daemon>, String>;
    /// Returns the audit trail; `None` if there is no database yet.
    fn audit(&self) -> Result<Option<TrailStatus>, String>;
    /// Returns the rules files.
    fn rules(&self) -> Vec<RuleFile>;
    /// Returns warnings about the configuration, or an error if it cannot be read.
    fn configuration(&self) -> Result<Vec<ConfigWarning>, CheckError>;
    /// Returns `false` if the configuration is invalid, so that the daemon and the trail are
    /// unknown.
    fn is_configured(&self) -> bool {
        true
    }
}

/// A reachable daemon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Daemon {
    /// Address of the daemon.
    pub address: String,
    /// Version of the daemon.
    pub version: String,
}

/// An audit trail that can be opened.
#[derive(Clone, Debug, PartialEq)]
pub struct TrailStatus {
    /// The file, or the server without its password.
    pub database: String,
    /// Problem in the chain of the last entries, if there is one.
    pub broken: Option<String>,
    /// Time of the newest entry.
    pub newest: Option<Timestamp>,
    /// The newest decision of the last 30 days for which another command ran than the decided one, and
    /// the number of all.
    pub changed: (Option<AuditRecord>, u64),
}

/// A rules file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleFile {
    /// Path of the file.
    pub path: PathBuf,
    /// Mistakes.
    pub mistakes: Vec<CheckError>,
    /// `true` if it is trusted; `None` for the user's file.
    pub trusted: Option<bool>,
}

/// Checks the whole installation without changing it. The result includes the checks that passed.
pub fn examine(around: &DoctorContext<'_>, service: &impl Service) -> Vec<Check> {
    let mut checks = vec![binary(around)];
    checks.extend(agents::checks(around));
    checks.extend(environment::checks(around));
    let mut newest = None;
    if service.is_configured() {
        checks.push(daemon(service));
        let (audit, time) = audit(service);
        checks.extend(audit);
        newest = time;
    } else {
        let what = "not checked, because the configuration is invalid";
        let remedy = "correct the configuration, and run `hooks-guard doctor` again";
        checks.extend(
            ["daemon", "audit"].map(|name| Check::new(name, CheckState::Bad, what, remedy)),
        );
    }
    checks.extend(around.private.iter().filter_map(|path| private(path)));
    checks.extend(around.settings.iter().filter_map(|path| settings(path)));
    checks.extend(service.rules().iter().map(rules));
    checks.extend(configuration(service));
    checks.push(clock(around.now, newest));
    checks
}

/// Returns the reasons for which an agent would run without the guard if it was started with these
/// arguments: the hook is not registered as `install` registers it, or a setting, a variable or an
/// argument switches it off. The result is empty if there is none.
#[must_use]
pub fn unguarded(agent: Agent, around: &DoctorContext<'_>, arguments: &[OsString]) -> Vec<Check> {
    agents::unguarded(agent, around, arguments)
}

/// Returns the worst state of the checks; `Ok` if there are none.
#[must_use]
pub fn worst_state(checks: &[Check]) -> CheckState {
    checks
        .iter()
        .map(|check| check.state)
        .max()
        .unwrap_or(CheckState::Ok)
}

fn binary(around: &DoctorContext<'_>) -> Check {
    let running = around.binary.display();
    match in_path(around.path, BINARY_NAME) {
        None => Check::new(
            "binary",
            CheckState::Warn,
            format!("`{BINARY_NAME}` is not in PATH; this is `{running}`"),
            "add its directory to PATH (agents call it by its full path in any case)",
        ),
        Some(found) if same(&found, around.binary) => Check::new(
            "binary",
            CheckState::Ok,
            format!("`{running}` is in PATH"),
            "",
        ),
        Some(found) => Check::new(
            "binary",
            CheckState::Warn,
            format!(
                "`{}` comes first in PATH, but this is `{running}`",
                found.display()
            ),
            "remove one of the two",
        ),
    }
}

fn daemon(service: &impl Service) -> Check {
    let version = env!("CARGO_PKG_VERSION");
    match service.daemon() {
        Ok(None) => Check::new(
            "daemon",
            CheckState::Warn,
            "no daemon is running; hooks work standalone, questions cannot be answered in a \
             console",
            "run `hooks-guard serve`",
        ),
        Ok(Some(daemon)) if daemon.version == version => Check::new(
            "daemon",
            CheckState::Ok,
            format!("version {version} responds at {}", daemon.address),
            "",
        ),
        Ok(Some(daemon)) => Check::new(
            "daemon",
            CheckState::Bad,
            format!(
                "version {1} runs at {0}, but this is version {version}",
                daemon.address, daemon.version
            ),
            "restart `hooks-guard serve`",
        ),
        Err(error) => Check::new(
            "daemon",
            CheckState::Bad,
            error,
            "check which program listens there, and restart `hooks-guard serve`",
        ),
    }
}

fn audit(service: &impl Service) -> (Vec<Check>, Option<Timestamp>) {
    const VERIFY_REMEDY: &str =
        "run `hooks-guard audit verify`, and compare the database with a backup";
    match service.audit() {
        Ok(None) => {
            let what = "no database yet; the first decision creates it";
            (vec![Check::new("audit", CheckState::Ok, what, "")], None)
        }
        Ok(Some(TrailStatus {
            database,
            broken,
            newest,
            changed,
        })) => {
            let check = match broken {
                None => {
                    let what = format!("{database} opens, and its last entries are intact");
                    Check::new("audit", CheckState::Ok, what, "")
                }
                Some(broken) => Check::new(
                    "audit",
                    CheckState::Bad,
                    format!("{database}: {broken}"),
                    VERIFY_REMEDY,
                ),
            };
            let changed = changed_command(changed.0.as_ref(), changed.1);
            ([check].into_iter().chain(changed).collect(), newest)
        }
        Err(error) => {
            let remedy = "correct the reported error; without a trail, nothing is allowed";
            (
                vec![Check::new("audit", CheckState::Bad, error, remedy)],
                None,
            )
        }
    }
}

/// Returns the check of calls in which another command ran than the decided one.
fn changed_command(newest: Option<&AuditRecord>, count: u64) -> Option<Check> {
    let record = newest?;
    let agent = record.agent.as_deref().unwrap_or("an agent");
    let ran = shorten(record.ran_command.as_deref().unwrap_or_default(), 200);
    let more = match count {
        0 | 1 => String::new(),
        count => format!(" ({count} calls in 30 days)"),
    };
    let what = format!(
        "{agent} ran `{ran}`, but `{}` was decided (decision {}){more}",
        shorten(&record.command, 200),
        record.id
    );
    let remedy = "remove what changes commands after the decision, such as another hook or a plugin; \
                  the checks of the agent list other hooks";
    Some(Check::new("changed", CheckState::Bad, what, remedy))
}

/// Checks that only the owner can read a file; returns `None` if it does not exist.
fn private(path: &Path) -> Option<Check> {
    let shown = path.display();
    let remedy = match path.is_dir() {
        true => format!("chmod 700 '{shown}'"),
        false => format!("chmod 600 '{shown}'"),
    };
    permissions(
        path,
        0o077,
        format!("`{shown}` is accessible to its owner only"),
        &format!("`{shown}` is accessible to other users"),
        &remedy,
    )
}

/// Checks that only the owner can write a file; returns `None` if it does not exist.
fn settings(path: &Path) -> Option<Check> {
    let shown = path.display();
    permissions(
        path,
        0o022,
        format!("`{shown}` can be changed by its owner only"),
        &format!("other users can change `{shown}`"),
        &format!("chmod go-w '{shown}'"),
    )
}

/// Checks that a file has none of the `excess` permissions; returns `None` if it does not exist.
fn permissions(path: &Path, excess: u32, good: String, bad: &str, remedy: &str) -> Option<Check> {
    let mode = mode(path)?;
    Some(match mode & excess {
        0 => Check::new("permissions", CheckState::Ok, good, ""),
        _ => {
            let what = format!("{bad} (mode {:o})", mode & 0o777);
            Check::new("permissions", CheckState::Bad, what, remedy)
        }
    })
}

fn rules(file: &RuleFile) -> Check {
    let path = file.path.display();
    match (file.mistakes.as_slice(), file.trusted) {
        ([first, rest @ ..], _) => Check::new(
            "rules",
            CheckState::Bad,
            match rest.len() {
                0 => first.message.clone(),
                more => format!("{} (and {more} more)", first.message),
            },
            "correct the file; `hooks-guard test-rules` lists all mistakes",
        )
        .at(first),
        ([], Some(false)) => Check::new(
            "rules",
            CheckState::Warn,
            format!("`{path}` is not trusted: its `allow` rules are ignored"),
            "review it, and run `hooks-guard trust` to apply its `allow` rules",
        ),
        ([], _) => Check::new("rules", CheckState::Ok, format!("`{path}` is valid"), ""),
    }
}

fn configuration(service: &impl Service) -> Vec<Check> {
    match service.configuration() {
        Ok(warnings) if warnings.is_empty() => {
            vec![Check::new(
                "configuration",
                CheckState::Ok,
                "no unsafe settings",
                "",
            )]
        }
        Ok(warnings) => {
            let check = |ConfigWarning { problem, remedy }| {
                let remedy = remedy.as_deref();
                let remedy = remedy.unwrap_or("revert the setting unless it is intended");
                Check::new("configuration", CheckState::Warn, problem, remedy)
            };
            warnings.into_iter().map(check).collect()
        }
        Err(error) => vec![
            Check::new(
                "configuration",
                CheckState::Bad,
                &error.message,
                "correct the file",
            )
            .at(&error),
        ],
    }
}

fn clock(now: Timestamp, newest: Option<Timestamp>) -> Check {
    // Clocks of two machines may differ by this much.
    let allowed = now.checked_add(1.minute()).unwrap_or(now);
    match newest {
        Some(newest) if newest > allowed => Check::new(
            "clock",
            CheckState::Bad,
            format!(
                "it is {}, but the newest record is from {}",
                shown_time(now),
                shown_time(newest)
            ),
            "set the clock; it determines when questions expire",
        ),
        _ => Check::new(
            "clock",
            CheckState::Ok,
            format!("it is {}", shown_time(now)),
            "",
        ),
    }
}

/// Returns a time in the time zone of this machine, in seconds.
fn shown_time(time: Timestamp) -> String {
    let local = time.to_zoned(TimeZone::system());
    local.strftime("%Y-%m-%d %H:%M:%S %Z").to_string()
}
