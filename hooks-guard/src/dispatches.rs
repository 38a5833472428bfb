//! Reports of recent requests, step by step, kept in memory for people. In: the steps of a
//! dispatch. Out: the last dispatches, and statistics.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use hooks_runtime::{HookStatus, Report, ReportEntry};
use jiff::Timestamp;
use serde::Serialize;

use crate::classify::{Crud, Decision};
use crate::mask::Masked;
use crate::request::PermissionRequest;

/// Number of dispatches that are kept.
const MAX_DISPATCHES: usize = 100;

/// Report of one request's dispatch through the gate.
#[cfg_attr(feature = "http", derive(utoipa::ToSchema))]
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Dispatch {
    /// Time of the decision.
    #[cfg_attr(feature = "http", schema(value_type = String, format = DateTime))]
    #[serde(serialize_with = "hooks_runtime::timestamp::serialize")]
    pub at: Timestamp,
    /// Id of the decision; `None` if it could not be recorded.
    pub id: Option<i64>,
    /// The decision.
    pub decision: Decision,
    /// The class.
    pub classification: Crud,
    /// `true` if a rule or a hook denies the request.
    pub denied: bool,
    /// The steps, in execution order.
    pub steps: Vec<Step>,
}

/// A step of a dispatch.
#[cfg_attr(feature = "http", derive(utoipa::ToSchema))]
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Step {
    /// `classify`, `restrict` if hooks may restrict, `rules`, `approvals` or `trail`.
    pub name: &'static str,
    /// Status of the step.
    pub run: StepRun,
    /// Duration in microseconds.
    pub took_us: u64,
    /// The deciding rule or hook, or the failure.
    pub detail: Option<String>,
    /// Status of each hook of the slot with this step's name, in execution order.
    pub hooks: Vec<HookRun>,
}

/// Report of a hook's run.
#[cfg_attr(feature = "http", derive(utoipa::ToSchema))]
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct HookRun {
    /// Name of the hook.
    pub name: String,
    /// Status of the hook.
    pub run: StepRun,
    /// Duration in microseconds.
    pub took_us: u64,
    /// The failure, if it failed.
    pub fault: Option<String>,
}

/// Status of a step.
#[cfg_attr(feature = "http", derive(utoipa::ToSchema))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum StepRun {
    /// Had nothing to do.
    Skipped,
    /// Ran, and kept the decision unchanged.
    Ran,
    /// Ran, and decided.
    Decided,
    /// Failed; its output never counts as an allow.
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

    /// Adds the engine's report of the hooks; secrets of the request that a failure quotes are
    /// masked.
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
            // Hooks that run sequentially are never cancelled.
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
    /// Number of runs.
    pub runs: u64,
    /// Number of runs that decided.
    pub decided: u64,
    /// Number of times it was skipped because the result was already final.
    pub skipped: u64,
    /// Number of failures: panics, timeouts or, for a slot, no result.
    pub failed: u64,
    /// Total duration, in microseconds.
    pub took_us: u64,
    /// Duration of the last run, in microseconds.
    pub last_us: Option<u64>,
    /// The last failure.
    pub last_fault: Option<String>,
    /// Time of the last failure.
    #[cfg_attr(feature = "http", schema(value_type = Option<String>, format = DateTime))]
    #[serde(serialize_with = "hooks_runtime::timestamp::serialize_option")]
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
    /// Name of the hook.
    pub hook: String,
    /// `success` if it returned, `stopped` if it threw a stop, `failure`, or `skipped` if its
    /// result was no longer needed.
    pub outcome: &'static str,
    /// Class of the thrown error, or kind of the failure; empty if there is none.
    pub class: String,
    /// Number of runs.
    pub runs: u64,
    /// Total duration, in microseconds.
    pub took_us: u64,
    /// Duration of the last run.
    pub last_us: Option<u64>,
    /// End of the last run.
    #[cfg_attr(feature = "http", schema(value_type = Option<String>, format = DateTime))]
    #[serde(serialize_with = "hooks_runtime::timestamp::serialize_option")]
    pub last_at: Option<Timestamp>,
    /// Message of the last error, without the hook's input.
    pub last_error: Option<String>,
}

/// The last dispatches, and their statistics.
#[derive(Debug, Default)]
pub(crate) struct Dispatches(Mutex<DispatchHistory>);

#[derive(Debug, Default)]
struct DispatchHistory {
    /// Newest first.
    last: VecDeque<Dispatch>,
    /// Statistics by step. The hooks of a gate, and so their positions, never change.
    runs: BTreeMap<&'static str, SlotRuns>,
}

/// Statistics of a slot, and of each hook by its position.
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
        if kept.last.len() == MAX_DISPATCHES {
            kept.last.pop_back();
        }
        kept.last.push_front(dispatch);
    }

    /// Returns the last dispatches, newest first.
    pub(crate) fn last(&self) -> Vec<Dispatch> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.last.iter().cloned().collect()
    }

    /// Returns the statistics of a slot and its hooks.
    pub(crate) fn runs(&self, slot: &str) -> SlotRuns {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.runs.get(slot).cloned().unwrap_or_default()
    }
}
