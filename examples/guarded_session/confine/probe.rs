//! Finds the strongest plan that works on this system.

use std::fmt;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;

use serde::Serialize;

use super::identity::stranger;
use super::plan::Namespaces;
use super::stage::NOTHING_RAN;
use super::{Limits, Plan};
use crate::execute::{Executor, Outcome};
use crate::job::Job;
use crate::scratch::Scratch;
use crate::self_test::{Findings, SelfTest};

/// Processes that a call may start, in addition to those that its user runs.
const PROCESSES: u64 = 128;

/// The active plan, and its properties.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Confinement {
    /// `true` if a call cannot reach the rest of the system.
    pub(crate) active: bool,
    pub(crate) plan: Plan,
    /// Description for the report.
    pub(crate) description: String,
    /// Landlock version that the kernel supports.
    pub(crate) landlock_abi: Option<i32>,
    #[serde(skip)]
    limits: Limits,
    /// User that the calls run as.
    #[serde(skip)]
    owner: u32,
}

/// Error returned if no plan works: the result of each.
#[derive(Debug)]
pub(crate) struct NoConfinement(Vec<(Plan, PlanError)>);

impl fmt::Display for NoConfinement {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (plan, error) in &self.0 {
            write!(out, "\n  {}: {error}", describe(*plan, None))?;
        }
        Ok(())
    }
}

impl std::error::Error for NoConfinement {}

/// Reason why one plan does not work.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum PlanError {
    #[error("cannot change the owner of the scratch copy: {0}")]
    Owner(#[source] io::Error),
    #[error("the self-test changed files outside")]
    Harm,
    #[error("unexpected results in the self-test: {}", .0.join(", "))]
    Findings(Vec<String>),
    /// Message of the stage that failed.
    #[error("{0}")]
    Stage(String),
}

impl Confinement {
    /// Returns the strongest plan, or `only` if it is given, tried in `scratch`.
    ///
    /// # Errors
    /// Returns an error if none works.
    pub(crate) async fn probe(
        scratch: &Scratch,
        only: Option<Plan>,
        cpu_seconds: u64,
    ) -> Result<Self, NoConfinement> {
        let is_root = rustix::process::geteuid().is_root();
        let mut failures = Vec::new();
        for plan in Plan::candidates(is_root)
            .iter()
            .filter(|plan| only.is_none_or(|it| it == **plan))
        {
            let mut trial = Self::with(*plan, cpu_seconds);
            match trial.holds(scratch).await {
                Ok(landlock_abi) => {
                    trial.landlock_abi = landlock_abi;
                    trial.description = describe(*plan, landlock_abi);
                    return Ok(trial);
                }
                Err(failure) => failures.push((*plan, failure)),
            }
        }
        Err(NoConfinement(failures))
    }

    /// Returns no confinement; time, output and process limits still apply. `description` is the
    /// reason.
    pub(crate) fn none(cpu_seconds: u64, description: &str) -> Self {
        Self {
            description: description.to_owned(),
            ..Self::with(Plan::None, cpu_seconds)
        }
    }

    pub(crate) fn limits(&self) -> Limits {
        self.limits
    }

    pub(crate) fn owner(&self) -> u32 {
        self.owner
    }

    fn with(plan: Plan, cpu_seconds: u64) -> Self {
        let owner = if plan.changes_user() {
            stranger()
        } else {
            rustix::process::geteuid().as_raw()
        };
        // A new user namespace counts its processes from zero.
        let running = if plan.namespaces() == Namespaces::AsUser {
            0
        } else {
            tasks_of(owner)
        };
        Self {
            active: plan != Plan::None,
            plan,
            description: describe(plan, None),
            landlock_abi: None,
            limits: Limits {
                cpu_seconds,
                processes: running + PROCESSES,
            },
            owner,
        }
    }

    /// Tries to break out of the plan. Returns the Landlock version.
    async fn holds(&self, scratch: &Scratch) -> Result<Option<i32>, PlanError> {
        scratch.give_to(self.owner).map_err(PlanError::Owner)?;
        let test = SelfTest {
            outside: scratch.outside(),
            launcher: std::process::id(),
        };
        let run = Executor::new(self, scratch).run(Job::SelfTest(test)).await;
        if !scratch.outside_is_unharmed() {
            return Err(PlanError::Harm);
        }
        let said = run.output.trim();
        match (run.outcome, serde_json::from_str::<Findings>(said)) {
            (Outcome::Exited(0), Ok(findings)) if findings.wrong.is_empty() => {
                Ok(findings.landlock)
            }
            (Outcome::Exited(0), Ok(findings)) => Err(PlanError::Findings(findings.wrong)),
            (Outcome::Exited(_), _) => Err(PlanError::Stage(
                said.strip_prefix(NOTHING_RAN).unwrap_or(said).to_owned(),
            )),
            (Outcome::Failed(why), _) => Err(PlanError::Stage(format!(
                "the self-test could not be started: {why}"
            ))),
            (outcome, _) => Err(PlanError::Stage(format!(
                "the self-test ended early: {outcome:?}"
            ))),
        }
    }
}

/// Returns the number of processes and threads of `owner`.
fn tasks_of(owner: u32) -> u64 {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    processes
        .filter(|entry| {
            entry
                .file_name()
                .as_encoded_bytes()
                .iter()
                .all(u8::is_ascii_digit)
        })
        .filter(|entry| entry.metadata().is_ok_and(|process| process.uid() == owner))
        .map(|entry| -> io::Result<u64> {
            Ok(fs::metadata(entry.path().join("task"))?.nlink() - 2)
        })
        .map(|tasks| tasks.unwrap_or(1))
        .sum()
}

fn describe(plan: Plan, landlock_abi: Option<i32>) -> String {
    let mut locks = Vec::new();
    match plan.namespaces() {
        Namespaces::AsRoot => locks.push("namespaces".to_owned()),
        Namespaces::AsUser => locks.push("user namespaces".to_owned()),
        Namespaces::None => {}
    }
    if plan.has_landlock() {
        locks.push(landlock_abi.map_or("Landlock".to_owned(), |abi| {
            format!("Landlock (version {abi})")
        }));
    }
    if plan == Plan::None {
        return "none".to_owned();
    }
    locks.push("seccomp".to_owned());
    if plan.changes_user() {
        locks.push("an unprivileged user".to_owned());
    }
    locks.push("no network".to_owned());
    if !plan.guards_modes() {
        locks.push("file modes cannot be changed".to_owned());
    }
    locks.join(", ")
}
