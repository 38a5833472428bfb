//! Reports: the status of each hook of a dispatch.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::mem;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::dispatch::{Decision, Dispatch, Monitor, Monitored, Policy};
use crate::entry::{EntryId, EntryMeta};
use crate::failure::Failure;
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
        self.dispatch(Monitored::new(policy, StatusMonitor::new(self, None)))
    }
}

/// The rows that several dispatches write to.
pub(crate) type Rows = Arc<Mutex<Vec<ReportEntry>>>;

/// Records the status of each hook of a dispatch.
#[derive(Debug)]
pub struct StatusMonitor {
    report: Report,
    /// Where the rows are added when the dispatch ends or is dropped.
    shared: Option<Rows>,
    /// The place in the report and the start time of each hook that was started.
    started: HashMap<EntryId, (usize, Option<Instant>)>,
    /// The hook after whose output the policy waits for its future.
    waits_after: Option<EntryId>,
    /// The place in the report of the first hook that was not started or selected.
    next: usize,
}

/// A policy that has the effect of another policy, and records the status of each hook.
pub type Reported<P, H> = Monitored<P, <P as Policy<H>>::Future, StatusMonitor>;

impl StatusMonitor {
    /// Creates a recorder of a dispatch of this slot. When the dispatch ends or is dropped, its rows
    /// are added to `shared`.
    pub(crate) fn new<H: ?Sized>(slot: &Slot<H>, shared: Option<Rows>) -> Self {
        let entries = slot.iter().map(|(_, entry)| ReportEntry::of(entry));
        StatusMonitor {
            report: Report {
                entries: entries.collect(),
            },
            shared,
            started: HashMap::new(),
            waits_after: None,
            next: 0,
        }
    }

    /// Returns the row of a hook. Hooks are selected and started in execution order, which is the
    /// order of the report.
    fn place(&mut self, entry: &EntryMeta) -> usize {
        let entries = &self.report.entries[self.next..];
        let ahead = entries.iter().take_while(|line| line.id != entry.id());
        let at = self.next + ahead.count();
        self.next = at + 1;
        at
    }

    fn set_status(&mut self, entry: &EntryMeta, status: HookStatus) {
        let Some(&(at, started)) = self.started.get(&entry.id()) else {
            return;
        };
        let line = &mut self.report.entries[at];
        line.status = status;
        line.elapsed = started.map(|started| started.elapsed());
    }

    /// Records that the policy stopped the dispatch after this hook.
    fn set_stopped(&mut self, id: EntryId) {
        let place = self.started.get(&id);
        match place.map(|(at, _)| &mut self.report.entries[*at].status) {
            Some(HookStatus::Failed { stopped, .. }) => *stopped = true,
            Some(status) => *status = HookStatus::Stopped,
            None => {}
        }
    }
}

impl Monitor for StatusMonitor {
    type Output = Report;

    fn selected(&mut self, entry: &EntryMeta, is_admitted: bool) {
        let at = self.place(entry);
        if !is_admitted {
            self.report.entries[at].status = HookStatus::Excluded;
        }
    }

    fn begin(&mut self) {
        self.next = 0;
    }

    fn started(&mut self, entry: &EntryMeta) {
        let at = self.place(entry);
        self.report.entries[at].status = HookStatus::Cancelled;
        self.started.insert(entry.id(), (at, now()));
    }

    fn completed(&mut self, entry: &EntryMeta) {
        self.set_status(entry, HookStatus::Completed);
    }

    fn failed(&mut self, entry: &EntryMeta, failure: &Failure) {
        let (failure, stopped) = (failure.clone(), false);
        self.set_status(entry, HookStatus::Failed { failure, stopped });
    }

    fn decided(&mut self, entry: Option<&EntryMeta>, decision: Decision) {
        let hook = entry.map_or(self.waits_after, |entry| Some(entry.id()));
        match (decision, hook) {
            (Decision::Stop, Some(hook)) => self.set_stopped(hook),
            (Decision::Wait, _) => self.waits_after = hook,
            _ => self.waits_after = None,
        }
    }

    fn end(&mut self) {
        self.waits_after = None;
    }

    fn finish(mut self) -> Report {
        match self.shared {
            None => mem::take(&mut self.report),
            Some(_) => self.report.clone(),
        }
    }
}

impl Drop for StatusMonitor {
    fn drop(&mut self) {
        if let Some(rows) = &self.shared {
            let mut rows = rows.lock().unwrap_or_else(PoisonError::into_inner);
            rows.append(&mut self.report.entries);
        }
    }
}
