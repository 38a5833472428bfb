//! Reports: the status of each hook of a dispatch.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::future::Future;
use std::mem;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::dispatch::{Dispatch, Policy, Step};
use crate::entry::{EntryId, EntryMeta};
use crate::failure::Failure;
use crate::hook_future::HookFuture;
use crate::slot::Slot;

/// The status of each hook of a dispatch and the time it took, as
/// [`Slot::dispatch_reported`] records them.
///
/// Prints as a table.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Report {
    /// The hooks in execution order.
    pub entries: Vec<ReportEntry>,
}

/// The status of one hook.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ReportEntry {
    /// The id of its registration.
    pub id: EntryId,
    /// Its display name.
    pub name: Cow<'static, str>,
    /// Its key, if it has one.
    pub key: Option<Cow<'static, str>>,
    /// Its priority.
    pub priority: i32,
    /// Its status.
    pub status: HookStatus,
    /// The time from its start to its output. `None` if the hook did not start or did not
    /// complete, or if the target has no clock.
    pub elapsed: Option<Duration>,
}

/// The status of a hook after a dispatch.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub enum HookStatus {
    /// The hook did not start: the dispatch ended before.
    #[default]
    Skipped,
    /// The hook did not take part in the dispatch: it is disabled, or its condition does not hold.
    Excluded,
    /// The hook started, and the dispatch ended before the hook completed.
    Cancelled,
    /// The hook completed, and the dispatch continued.
    Completed,
    /// The hook completed and stopped the dispatch; an around hook: it completed without a call of
    /// `next`.
    Stopped,
    /// The hook failed.
    Failed {
        /// The failure.
        failure: Failure,
        /// `true` if the failure stopped the dispatch.
        stopped: bool,
    },
}

impl Report {
    /// Returns the hook whose output or failure stopped the dispatch, or the around hook that did
    /// not call `next`; `None` if all hooks ran. If an around hook called `next` several times, it
    /// is the first such hook of all calls.
    pub fn stopped_by(&self) -> Option<&ReportEntry> {
        let stopped = |entry: &&ReportEntry| {
            matches!(
                entry.status,
                HookStatus::Stopped | HookStatus::Failed { stopped: true, .. }
            )
        };
        self.entries.iter().find(stopped)
    }
}

impl Report {
    /// Appends the hooks of a slot that are not in the report, as skipped or excluded: no dispatch
    /// of the slot was started.
    pub fn add_skipped<H: ?Sized>(&mut self, slot: &Slot<H>) {
        let reported: HashSet<_> = self.entries.iter().map(|entry| entry.id).collect();
        let missing = slot.iter().map(|(_, entry)| entry);
        let missing = missing.filter(|entry| !reported.contains(&entry.id()));
        self.entries.extend(missing.map(ReportEntry::of));
    }
}

impl ReportEntry {
    /// Returns the row of a hook that was not started.
    pub(crate) fn of(entry: &EntryMeta) -> Self {
        ReportEntry {
            id: entry.id(),
            name: Cow::Owned(entry.name().into_owned()),
            key: entry.key().map(|key| Cow::Owned(key.to_owned())),
            priority: entry.priority(),
            status: match entry.is_enabled() {
                true => HookStatus::Skipped,
                false => HookStatus::Excluded,
            },
            elapsed: None,
        }
    }
}

impl fmt::Display for HookStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HookStatus::Skipped => f.write_str("skipped"),
            HookStatus::Excluded => f.write_str("excluded"),
            HookStatus::Cancelled => f.write_str("cancelled"),
            HookStatus::Completed => f.write_str("completed"),
            HookStatus::Stopped => f.write_str("stopped the dispatch"),
            HookStatus::Failed { failure, stopped } => {
                let what = if *stopped {
                    "stopped the dispatch"
                } else {
                    "ignored"
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

/// One line for each hook.
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

/// Returns the time. `wasm32-unknown-unknown` has no clock.
pub(crate) fn now() -> Option<Instant> {
    (!cfg!(all(target_family = "wasm", target_os = "unknown"))).then(Instant::now)
}

impl<H: ?Sized> Slot<H> {
    /// Returns a future that runs the hooks by this policy and records the status of each hook.
    pub fn dispatch_reported<'a, P: Policy<H>>(
        &'a self,
        policy: P,
    ) -> Dispatch<'a, H, Reported<P, H>> {
        self.dispatch(Reported::new(self, policy))
    }
}

/// The rows that several dispatches write to.
pub(crate) type Rows = Arc<Mutex<Vec<ReportEntry>>>;

/// The report of one dispatch.
struct OwnReport {
    report: Report,
    /// Where the rows are added when the dispatch ends or is dropped.
    shared: Option<Rows>,
}

impl Drop for OwnReport {
    fn drop(&mut self) {
        if let Some(rows) = &self.shared {
            let mut rows = rows.lock().unwrap_or_else(PoisonError::into_inner);
            rows.append(&mut self.report.entries);
        }
    }
}

/// A policy that forwards to another policy and records the status of each hook.
pub struct Reported<P: Policy<H>, H: ?Sized> {
    policy: P,
    own: OwnReport,
    /// The place in the report and the start time of each hook that was started.
    started: HashMap<EntryId, (usize, Option<Instant>)>,
    create_future: Option<fn(&mut P) -> P::Future>,
    /// The hook after whose output the policy waits for its future.
    waits_after: Option<EntryId>,
    /// The place in the report of the first hook that was not started or selected.
    next: usize,
}

impl<P: Policy<H>, H: ?Sized> fmt::Debug for Reported<P, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reported")
            .field("report", &self.own.report)
            .finish_non_exhaustive()
    }
}

impl<P: Policy<H>, H: ?Sized> Reported<P, H> {
    fn new(slot: &Slot<H>, policy: P) -> Self {
        let entries = slot.iter().map(|(_, entry)| ReportEntry::of(entry));
        let report = Report {
            entries: entries.collect(),
        };
        Reported {
            policy,
            own: OwnReport {
                report,
                shared: None,
            },
            started: HashMap::new(),
            create_future: None,
            waits_after: None,
            next: 0,
        }
    }

    /// As [`new`](Self::new). When the dispatch ends or is dropped, adds its rows to these.
    pub(crate) fn shared(slot: &Slot<H>, policy: P, rows: Rows) -> Self {
        let mut reported = Reported::new(slot, policy);
        reported.own.shared = Some(rows);
        reported
    }

    fn entries(&mut self) -> &mut [ReportEntry] {
        &mut self.own.report.entries
    }

    /// Returns the place of a hook in the report. Hooks are selected and started in execution
    /// order, which is the order of the report.
    fn place(&mut self, entry: &EntryMeta) -> usize {
        let entries = &self.own.report.entries[self.next..];
        let ahead = entries.iter().take_while(|line| line.id != entry.id());
        let at = self.next + ahead.count();
        self.next = at + 1;
        at
    }

    fn forward_step(&mut self, step: Step<P, P::Future>) -> Step<Self, P::Future> {
        match step {
            Step::Next => Step::Next,
            Step::Stop => Step::Stop,
            Step::Wait(create) => {
                self.create_future = Some(create);
                Step::Wait(|reported: &mut Self| {
                    let create = reported.create_future.take();
                    create.expect("a future was requested")(&mut reported.policy)
                })
            }
        }
    }

    /// Records the status of a hook, and whether the policy waits for its future before the
    /// dispatch continues.
    fn record(&mut self, entry: &EntryMeta, status: HookStatus, step: &Step<P, P::Future>) {
        self.set_status(entry, status);
        self.waits_after = matches!(step, Step::Wait(_)).then(|| entry.id());
    }

    fn set_status(&mut self, entry: &EntryMeta, status: HookStatus) {
        let Some(&(at, started)) = self.started.get(&entry.id()) else {
            return;
        };
        let line = &mut self.entries()[at];
        line.status = status;
        line.elapsed = started.map(|started| started.elapsed());
    }
}

impl<P: Policy<H>, H: ?Sized> Policy<H> for Reported<P, H> {
    type HookOutput = P::HookOutput;
    type Output = (P::Output, Report);
    type Future = P::Future;

    const CATCH_FAILURES: bool = P::CATCH_FAILURES;
    const CONCURRENT: bool = P::CONCURRENT;

    fn slot_name(&self) -> &str {
        self.policy.slot_name()
    }

    fn admits(&mut self, entry: &EntryMeta, hook: &H) -> bool {
        let at = self.place(entry);
        let is_admitted = self.policy.admits(entry, hook);
        if !is_admitted {
            self.entries()[at].status = HookStatus::Excluded;
        }
        is_admitted
    }

    fn before_hooks(&mut self, hooks: usize) -> Step<Self, P::Future> {
        self.next = 0;
        let step = self.policy.before_hooks(hooks);
        self.forward_step(step)
    }

    fn invoke<'a>(
        &mut self,
        entry: &'a EntryMeta,
        hook: &'a H,
        is_final: bool,
    ) -> HookFuture<'a, P::HookOutput>
    where
        Self: 'a,
    {
        let at = self.place(entry);
        self.entries()[at].status = HookStatus::Cancelled;
        self.started.insert(entry.id(), (at, now()));
        self.policy.invoke(entry, hook, is_final)
    }

    fn on_output(&mut self, entry: &EntryMeta, output: P::HookOutput) -> Step<Self, P::Future> {
        let step = self.policy.on_output(entry, output);
        let status = match step {
            Step::Next | Step::Wait(_) => HookStatus::Completed,
            Step::Stop => HookStatus::Stopped,
        };
        self.record(entry, status, &step);
        self.forward_step(step)
    }

    fn validate_output(&mut self, output: P::HookOutput) -> Result<P::HookOutput, Failure> {
        self.policy.validate_output(output)
    }

    fn on_failure(&mut self, entry: &EntryMeta, failure: Failure) -> Step<Self, P::Future> {
        let step = self.policy.on_failure(entry, failure.clone());
        let stopped = matches!(step, Step::Stop);
        self.record(entry, HookStatus::Failed { failure, stopped }, &step);
        self.forward_step(step)
    }

    fn timeout(&self, entry: &EntryMeta) -> Option<Duration> {
        self.policy.timeout(entry)
    }

    fn after_hooks(&mut self) -> Step<Self, P::Future> {
        self.waits_after = None;
        let step = self.policy.after_hooks();
        self.forward_step(step)
    }

    fn on_future_ready(&mut self, output: <P::Future as Future>::Output) -> Step<Self, P::Future> {
        let step = self.policy.on_future_ready(output);
        if let Step::Stop = step {
            let place = self.waits_after.and_then(|id| self.started.get(&id));
            match place.map(|(at, _)| &mut self.own.report.entries[*at].status) {
                Some(HookStatus::Failed { stopped, .. }) => *stopped = true,
                Some(status) => *status = HookStatus::Stopped,
                None => {}
            }
        }
        self.forward_step(step)
    }

    fn finish(mut self) -> (P::Output, Report) {
        let own = &mut self.own;
        let report = match own.shared {
            None => mem::take(&mut own.report),
            Some(_) => own.report.clone(),
        };
        (self.policy.finish(), report)
    }
}
