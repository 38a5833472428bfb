//! How the last requests went through the gate, step by step; kept in memory, for people.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use hooks_runtime::{HookStatus, Report, ReportEntry};
use jiff::Timestamp;
use serde::Serialize;

use crate::classify::{Crud, Decision};
use crate::mask::Masked;
use crate::request::PermissionRequest;

/// How many are kept.
const KEPT: usize = 100;

/// The dispatch of one request through the gate.
#[cfg_attr(feature = "http", derive(utoipa::ToSchema))]
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Dispatch {
    /// When it was decided.
    #[cfg_attr(feature = "http", schema(value_type = String, format = DateTime))]
    pub at: Timestamp,
    /// The decision; none where it could not be recorded.
    pub id: Option<i64>,
    /// What came out.
    pub decision: Decision,
    /// The class.
    pub classification: Crud,
    /// Whether a rule or a hook forbids it.
    pub denied: bool,
    /// The steps, in their order.
    pub steps: Vec<Step>,
}

/// A step of a dispatch.
#[cfg_attr(feature = "http", derive(utoipa::ToSchema))]
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Step {
    /// `classify`, `restrict` where hooks may, `rules`, `approvals` or `trail`.
    pub name: &'static str,
    /// What became of it.
    pub run: StepRun,
    /// How long it took, in microseconds.
    pub took_us: u64,
    /// Who decided, or what went wrong.
    pub detail: Option<String>,
    /// What became of each hook of the slot that is called like the step, in execution order.
    pub hooks: Vec<HookRun>,
}

/// The run of a hook.
#[cfg_attr(feature = "http", derive(utoipa::ToSchema))]
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct HookRun {
    /// Its name.
    pub name: String,
    /// What became of it.
    pub run: StepRun,
    /// How long it took, in microseconds.
    pub took_us: u64,
    /// What went wrong.
    pub fault: Option<String>,
}

/// Status of a step.
#[cfg_attr(feature = "http", derive(utoipa::ToSchema))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum StepRun {
    /// There was nothing for it to do.
    Skipped,
    /// It ran, and left the decision to what was there.
    Ran,
    /// It ran, and decided.
    Decided,
    /// It went wrong: nothing that it could have said counts as a yes.
    Failed,
}

impl Step {
    pub(crate) fn new(name: &'static str, run: StepRun, took: Duration) -> Self {
        Self {
            name,
            run,
            took_us: micros(took),
            detail: None,
            hooks: Vec::new(),
        }
    }

    pub(crate) fn became(mut self, run: StepRun) -> Self {
        self.run = run;
        self
    }

    pub(crate) fn detail(mut self, detail: Option<String>) -> Self {
        self.detail = detail;
        self
    }

    /// What the engine says of the hooks; what a fault quotes of the request's secrets is masked.
    pub(crate) fn hooks(mut self, report: Report, request: &PermissionRequest) -> Self {
        let hooks = report.entries.into_iter();
        self.hooks = hooks.map(|hook| HookRun::new(hook, request)).collect();
        self
    }
}

impl HookRun {
    fn new(entry: ReportEntry, request: &PermissionRequest) -> Self {
        let (run, fault) = match entry.status {
            HookStatus::Completed => (StepRun::Ran, None),
            HookStatus::Stopped => (StepRun::Decided, None),
            HookStatus::Failed { failure, .. } => (StepRun::Failed, Some(failure)),
            // Hooks that run one after the other are not abandoned.
            _ => (StepRun::Skipped, None),
        };
        Self {
            name: entry.name.into_owned(),
            run,
            took_us: micros(entry.elapsed.unwrap_or_default()),
            fault: fault
                .map(|fault| Masked::for_storage(&request.command).other(&fault.to_string())),
        }
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// Statistics of a hook, or of all hooks of a slot, since this process started.
#[cfg_attr(feature = "http", derive(utoipa::ToSchema))]
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Runs {
    /// How often it was asked.
    pub runs: u64,
    /// How often its answer decided.
    pub decided: u64,
    /// How often it was not asked, because the answer was there before.
    pub skipped: u64,
    /// How often it failed: panicked, took too long, or, of a slot, did not know.
    pub failed: u64,
    /// How long it took in all, in microseconds.
    pub took_us: u64,
    /// How long it took last, in microseconds.
    pub last_us: Option<u64>,
    /// What went wrong last.
    pub last_fault: Option<String>,
    /// When that was.
    #[cfg_attr(feature = "http", schema(value_type = Option<String>, format = DateTime))]
    pub last_fault_at: Option<Timestamp>,
}

impl Runs {
    fn count(&mut self, run: StepRun, took_us: u64, fault: Option<&String>, at: Timestamp) {
        if run == StepRun::Skipped {
            self.skipped += 1;
            return;
        }
        self.runs += 1;
        self.took_us += took_us;
        self.last_us = Some(took_us);
        match run {
            StepRun::Decided => self.decided += 1,
            StepRun::Failed => {
                self.failed += 1;
                self.last_fault = fault.cloned();
                self.last_fault_at = Some(at);
            }
            StepRun::Ran | StepRun::Skipped => {}
        }
    }
}

/// Number of runs of a hook in JavaScript with one outcome, since this process started.
#[cfg_attr(feature = "http", derive(utoipa::ToSchema))]
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ScriptRuns {
    /// Its name.
    pub hook: String,
    /// `success` where it answered, `stopped` where it threw a stop, `failure`, or `skipped` where
    /// nobody waited for its answer any longer.
    pub outcome: &'static str,
    /// The class of what it threw, or the kind of failure; empty where there is none.
    pub class: String,
    /// How many there were.
    pub runs: u64,
    /// How long they took in all, in microseconds.
    pub took_us: u64,
    /// How long the last one took.
    pub last_us: Option<u64>,
    /// When it was over.
    #[cfg_attr(feature = "http", schema(value_type = Option<String>, format = DateTime))]
    pub last_at: Option<Timestamp>,
    /// What it said, without what it was given.
    pub last_error: Option<String>,
}

/// The last dispatches, and what all of them come to.
#[derive(Debug, Default)]
pub(crate) struct Dispatches(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    /// The newest first.
    last: VecDeque<Dispatch>,
    /// By step; a gate's hooks, and so their places in it, stay as they are.
    runs: BTreeMap<&'static str, SlotRuns>,
}

/// How a slot did, and each of its hooks by its place.
#[derive(Clone, Debug, Default)]
pub(crate) struct SlotRuns {
    pub(crate) all: Runs,
    pub(crate) hooks: Vec<Runs>,
}

impl SlotRuns {
    fn count(&mut self, step: &Step, at: Timestamp) {
        let fault = step.detail.as_ref();
        self.all.count(step.run, step.took_us, fault, at);
        let places = self.hooks.len().max(step.hooks.len());
        self.hooks.resize(places, Runs::default());
        for (runs, hook) in self.hooks.iter_mut().zip(&step.hooks) {
            runs.count(hook.run, hook.took_us, hook.fault.as_ref(), at);
        }
    }
}

impl Dispatches {
    pub(crate) fn push(&self, dispatch: Dispatch) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for step in &dispatch.steps {
            let runs = kept.runs.entry(step.name).or_default();
            runs.count(step, dispatch.at);
        }
        if kept.last.len() == KEPT {
            kept.last.pop_back();
        }
        kept.last.push_front(dispatch);
    }

    /// The newest first.
    pub(crate) fn last(&self) -> Vec<Dispatch> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.last.iter().cloned().collect()
    }

    /// How a slot did, and its hooks.
    pub(crate) fn runs(&self, slot: &str) -> SlotRuns {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.runs.get(slot).cloned().unwrap_or_default()
    }
}
