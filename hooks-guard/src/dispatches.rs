//! How the last requests went through the gate, step by step; kept in memory, for people.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use serde::Serialize;

use crate::classify::{Crud, Decision};

/// How many are kept.
const KEPT: usize = 100;

/// One request on its way through the gate (P-07).
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
    /// Whether a rule forbids it.
    pub denied: bool,
    /// The steps, in their order.
    pub steps: Vec<Step>,
}

/// One step on the way (P-07).
#[cfg_attr(feature = "http", derive(utoipa::ToSchema))]
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Step {
    /// `classify`, `rules`, `approvals` or `trail`.
    pub name: &'static str,
    /// What became of it.
    pub run: StepRun,
    /// How long it took, in microseconds.
    pub took_us: u64,
    /// Who decided, or what went wrong.
    pub detail: Option<String>,
}

/// What became of a step (P-07).
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
            took_us: u64::try_from(took.as_micros()).unwrap_or(u64::MAX),
            detail: None,
        }
    }

    pub(crate) fn detail(mut self, detail: Option<String>) -> Self {
        self.detail = detail;
        self
    }
}

/// How the classifiers of this process did since it began (P-43).
#[cfg_attr(feature = "http", derive(utoipa::ToSchema))]
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Runs {
    /// How often they were asked.
    pub runs: u64,
    /// How often they failed: panicked, took too long, or did not know.
    pub failed: u64,
    /// How long they took in all, in microseconds.
    pub took_us: u64,
    /// What went wrong last.
    pub last_fault: Option<String>,
    /// When that was.
    #[cfg_attr(feature = "http", schema(value_type = Option<String>, format = DateTime))]
    pub last_fault_at: Option<Timestamp>,
}

/// The last dispatches.
#[derive(Debug, Default)]
pub(crate) struct Dispatches(Mutex<(VecDeque<Dispatch>, Runs)>);

impl Dispatches {
    pub(crate) fn push(&self, dispatch: Dispatch) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (last, runs) = &mut *kept;
        if let Some(step) = dispatch.steps.iter().find(|step| step.name == "classify") {
            runs.runs += 1;
            runs.took_us += step.took_us;
            if step.run == StepRun::Failed {
                runs.failed += 1;
                runs.last_fault.clone_from(&step.detail);
                runs.last_fault_at = Some(dispatch.at);
            }
        }
        if last.len() == KEPT {
            last.pop_back();
        }
        last.push_front(dispatch);
    }

    /// The newest first, and what they come to.
    pub(crate) fn read(&self) -> (Vec<Dispatch>, Runs) {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        (kept.0.iter().cloned().collect(), kept.1.clone())
    }
}
