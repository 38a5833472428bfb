//! What became of each hook of a dispatch, for those who ask.

use std::borrow::Cow;
use std::fmt;
use std::future::Future;
use std::time::{Duration, Instant};

use crate::dispatch::{Dispatch, Policy, Step};
use crate::entry::{EntryId, EntryMeta};
use crate::failure::Failure;
use crate::hook_future::HookFuture;
use crate::slot::Slot;

/// What became of each hook of a dispatch: which ran, which was skipped, which failed, which
/// one stopped it, and how long each took (`X-2`). Costs nothing where nobody asks for it.
///
/// Prints as a table.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Report {
    /// The hooks in execution order.
    pub entries: Vec<ReportEntry>,
}

/// What became of one hook (`X-2`).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ReportEntry {
    /// The registration.
    pub id: EntryId,
    /// Its name for people.
    pub name: Cow<'static, str>,
    /// Its key, if it has one.
    pub key: Option<Cow<'static, str>>,
    /// Its priority.
    pub priority: i32,
    /// What became of it.
    pub status: HookStatus,
    /// From its start to its answer; nothing where it was not started, or not waited for, or
    /// where the target has no clock.
    pub elapsed: Option<Duration>,
}

/// What became of a hook (`X-2`).
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub enum HookStatus {
    /// It was not started: the dispatch had ended before.
    #[default]
    Skipped,
    /// It was started, and the dispatch ended before its answer was there.
    Cancelled,
    /// It answered, and the dispatch went on.
    Completed,
    /// It answered, and with that the dispatch ended.
    Stopped,
    /// It went wrong.
    Failed {
        /// What went wrong.
        failure: Failure,
        /// Whether the dispatch ended with that.
        stopped: bool,
    },
}

impl Report {
    /// The hook with whose answer or failure the dispatch ended; none where it ended because there
    /// were no more.
    pub fn stopped_by(&self) -> Option<&ReportEntry> {
        let stopped = |entry: &&ReportEntry| {
            matches!(
                entry.status,
                HookStatus::Stopped | HookStatus::Failed { stopped: true, .. }
            )
        };
        self.entries.iter().find(stopped)
    }

    fn entry(&mut self, id: EntryId) -> Option<&mut ReportEntry> {
        self.entries.iter_mut().find(|entry| entry.id == id)
    }
}

impl fmt::Display for HookStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HookStatus::Skipped => f.write_str("skipped"),
            HookStatus::Cancelled => f.write_str("abandoned"),
            HookStatus::Completed => f.write_str("ran"),
            HookStatus::Stopped => f.write_str("stopped the dispatch"),
            HookStatus::Failed { failure, stopped } => {
                let what = if *stopped {
                    "stopped the dispatch"
                } else {
                    "left out"
                };
                write!(f, "{failure}; {what}")
            }
        }
    }
}

impl fmt::Display for ReportEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.status)?;
        match self.elapsed {
            Some(elapsed) => write!(f, " ({elapsed:.1?})"),
            None => Ok(()),
        }
    }
}

/// One line a hook.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.entries.is_empty() {
            return writeln!(f, "no hooks");
        }
        self.entries
            .iter()
            .try_for_each(|entry| writeln!(f, "{entry}"))
    }
}

/// The time; `wasm32-unknown-unknown` has none.
fn now() -> Option<Instant> {
    (!cfg!(all(target_family = "wasm", target_os = "unknown"))).then(Instant::now)
}

impl<H: ?Sized> Slot<H> {
    /// Returns a future that runs the hooks by this policy and records the status of each hook.
    pub fn dispatch_reported<'a, C: Policy<H>>(
        &'a self,
        policy: C,
    ) -> Dispatch<'a, H, Reported<C, H>> {
        self.dispatch(Reported::new(self, policy))
    }
}

/// A policy that forwards to another policy and records the status of each hook.
pub struct Reported<C: Policy<H>, H: ?Sized> {
    policy: C,
    report: Report,
    started: Vec<(EntryId, Option<Instant>)>,
    make: Option<fn(&mut C) -> C::Future>,
    /// The hook after whose answer the policy waits.
    waits_after: Option<EntryId>,
}

impl<C: Policy<H>, H: ?Sized> fmt::Debug for Reported<C, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reported")
            .field("report", &self.report)
            .finish_non_exhaustive()
    }
}

impl<C: Policy<H>, H: ?Sized> Reported<C, H> {
    fn new(slot: &Slot<H>, policy: C) -> Self {
        let entries = slot.iter().map(|(_, entry)| ReportEntry {
            id: entry.id(),
            name: Cow::Owned(entry.name().into_owned()),
            key: entry.key().map(|key| Cow::Owned(key.to_owned())),
            priority: entry.priority(),
            status: HookStatus::Skipped,
            elapsed: None,
        });
        Reported {
            policy,
            report: Report {
                entries: entries.collect(),
            },
            started: Vec::new(),
            make: None,
            waits_after: None,
        }
    }

    fn step(&mut self, step: Step<C, C::Future>) -> Step<Self, C::Future> {
        match step {
            Step::Next => Step::Next,
            Step::Stop => Step::Stop,
            Step::Wait(make) => {
                self.make = Some(make);
                Step::Wait(|me: &mut Self| {
                    let make = me.make.take().expect("the policy wants to wait");
                    make(&mut me.policy)
                })
            }
        }
    }

    /// Writes down what became of a hook, and whether the policy still has to think about it.
    fn conclude(&mut self, entry: &EntryMeta, status: HookStatus, step: &Step<C, C::Future>) {
        self.write(entry, status);
        self.waits_after = matches!(step, Step::Wait(_)).then(|| entry.id());
    }

    fn write(&mut self, entry: &EntryMeta, status: HookStatus) {
        let started = self.started.iter().find(|(id, _)| *id == entry.id());
        let elapsed = started.and_then(|(_, at)| Some(at.as_ref()?.elapsed()));
        if let Some(line) = self.report.entry(entry.id()) {
            line.status = status;
            line.elapsed = elapsed;
        }
    }
}

impl<C: Policy<H>, H: ?Sized> Policy<H> for Reported<C, H> {
    type HookOutput = C::HookOutput;
    type Output = (C::Output, Report);
    type Future = C::Future;

    const CATCH_FAILURES: bool = C::CATCH_FAILURES;
    const CONCURRENT: bool = C::CONCURRENT;

    fn slot_name(&self) -> &str {
        self.policy.slot_name()
    }

    fn before_hooks(&mut self, hooks: usize) -> Step<Self, C::Future> {
        let step = self.policy.before_hooks(hooks);
        self.step(step)
    }

    fn invoke<'a>(
        &mut self,
        entry: &'a EntryMeta,
        hook: &'a H,
        is_final: bool,
    ) -> HookFuture<'a, C::HookOutput>
    where
        Self: 'a,
    {
        if let Some(line) = self.report.entry(entry.id()) {
            line.status = HookStatus::Cancelled;
        }
        self.started.push((entry.id(), now()));
        self.policy.invoke(entry, hook, is_final)
    }

    fn on_output(&mut self, entry: &EntryMeta, answer: C::HookOutput) -> Step<Self, C::Future> {
        let step = self.policy.on_output(entry, answer);
        let status = match step {
            Step::Next | Step::Wait(_) => HookStatus::Completed,
            Step::Stop => HookStatus::Stopped,
        };
        self.conclude(entry, status, &step);
        self.step(step)
    }

    fn validate_output(&mut self, answer: C::HookOutput) -> Result<C::HookOutput, Failure> {
        self.policy.validate_output(answer)
    }

    fn on_failure(&mut self, entry: &EntryMeta, failure: Failure) -> Step<Self, C::Future> {
        let step = self.policy.on_failure(entry, failure.clone());
        let stopped = matches!(step, Step::Stop);
        self.conclude(entry, HookStatus::Failed { failure, stopped }, &step);
        self.step(step)
    }

    fn timeout(&self, entry: &EntryMeta) -> Option<Duration> {
        self.policy.timeout(entry)
    }

    fn after_hooks(&mut self) -> Step<Self, C::Future> {
        self.waits_after = None;
        let step = self.policy.after_hooks();
        self.step(step)
    }

    fn on_future_ready(&mut self, answer: <C::Future as Future>::Output) -> Step<Self, C::Future> {
        let step = self.policy.on_future_ready(answer);
        if let Step::Stop = step {
            let line = self.waits_after.and_then(|id| self.report.entry(id));
            match line.map(|line| &mut line.status) {
                Some(HookStatus::Failed { stopped, .. }) => *stopped = true,
                Some(status) => *status = HookStatus::Stopped,
                None => {}
            }
        }
        self.step(step)
    }

    fn finish(self) -> (C::Output, Report) {
        (self.policy.finish(), self.report)
    }
}
