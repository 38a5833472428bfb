//! Reports on calls with around hooks.

use std::collections::HashSet;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Instant;

use crate::around::{AroundCall, DynAround, Next};
use crate::bounds::BoxFuture;
use crate::dispatch::{Dispatch, Monitored, Policy};
use crate::entry::{Entry, EntryMeta};
use crate::failure::Failure;
use crate::report::{HookStatus, Report, ReportEntry, Reported, Rows, StatusMonitor, now};
use crate::slot::Slot;

/// A report that several dispatches of one run write to: around hooks, and the dispatches within
/// them. For front ends.
///
/// Each call of [`Next`] adds the hooks that it runs: if an around hook calls `next` twice, these
/// hooks are in the report twice. An around hook that completes without a call of `next` has
/// [`HookStatus::Stopped`].
///
/// ```
/// use hooks_core::around::{self, DynAround};
/// use hooks_core::{AroundCall, BoxFuture, Innermost, Next, SharedReport, Slot};
///
/// enum Fetch {}
///
/// impl AroundCall for Fetch {
///     type Args<'a> = (&'a str,);
///     type Output = String;
/// }
///
/// struct Client<'r>(&'r SharedReport);
///
/// impl Innermost<Fetch> for Client<'_> {
///     fn call<'a>(&'a self, (url,): (&'a str,)) -> BoxFuture<'a, String> {
///         self.0.enter_innermost();
///         Box::pin(async move { format!("the text of {url}") })
///     }
/// }
///
/// async fn cached(_: &str, _: Next<'_, Fetch>) -> String {
///     "from the cache".to_owned()
/// }
///
/// let mut hooks: Slot<dyn DynAround<Fetch>> = Slot::new();
/// hooks.insert(around::entry(cached));
///
/// let report = SharedReport::new();
/// let recorded = report.record_around(&hooks);
/// # fn block_on<T>(f: impl Future<Output = T>) -> T {
/// #     let mut f = std::pin::pin!(f);
/// #     match f.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop())) {
/// #         std::task::Poll::Ready(v) => v, _ => unreachable!() }
/// # }
/// # block_on(async {
/// let text = Next::new(&recorded, &Client(&report)).call(("/",)).await;
/// assert_eq!(text, "from the cache");
/// let report = report.take();
/// assert_eq!(report.stopped_by().unwrap().name, "cached");
/// # });
/// ```
#[derive(Debug, Default)]
pub struct SharedReport {
    rows: Rows,
    around: Mutex<AroundState>,
}

/// The state of the around hooks of a call.
#[derive(Debug, Default)]
struct AroundState {
    /// All around hooks, from the outermost to the innermost.
    hooks: Vec<ReportEntry>,
    /// The row of the around hook that is being polled.
    current: Option<usize>,
    /// The rows of the around hooks that have called `next`.
    called_next: HashSet<usize>,
    /// The row of the around hook that panicked, until another around hook catches the panic.
    panicked: Option<usize>,
}

impl SharedReport {
    /// Creates an empty report.
    #[must_use]
    pub fn new() -> Self {
        SharedReport::default()
    }

    /// Returns around hooks that record their status in this report. Pass them to [`Next::new`].
    #[must_use]
    pub fn record_around<'a, C>(
        &'a self,
        hooks: &'a Slot<dyn DynAround<C> + 'a>,
    ) -> Slot<dyn DynAround<C> + 'a>
    where
        C: AroundCall + ?Sized + 'a,
    {
        self.around().hooks = hooks
            .iter()
            .map(|(_, meta)| ReportEntry::of(meta))
            .collect();
        let mut recorded: Slot<dyn DynAround<C> + 'a> = Slot::new();
        let enabled = hooks.iter().filter(|(_, meta)| meta.is_enabled());
        recorded.insert_all(enabled.map(|(hook, meta)| {
            let report = self;
            let recorded = Arc::new(RecordedAround { report, hook, meta });
            let entry: Entry<Arc<dyn DynAround<C> + 'a>> = Entry::new(recorded);
            entry.conditional(meta.is_conditional())
        }));
        recorded
    }

    /// Records that the innermost around hook has called `next`. For
    /// [`Innermost::call`](crate::Innermost::call).
    pub fn enter_innermost(&self) {
        let mut around = self.around();
        let calling = around.current;
        around.called_next.extend(calling);
    }

    /// Returns a future that runs the hooks of a slot, and adds them to this report when it
    /// completes or is dropped.
    pub fn dispatch<'a, H: ?Sized, P: Policy<H>>(
        &self,
        slot: &'a Slot<H>,
        policy: P,
    ) -> Dispatch<'a, H, Reported<P, H>> {
        let statuses = StatusMonitor::new(slot, Some(Arc::clone(&self.rows)));
        slot.dispatch(Monitored::new(policy, statuses))
    }

    /// Returns the name and the failure of the around hook whose panic has reached the caller.
    #[must_use]
    pub fn panicked(&self) -> Option<(Arc<str>, Failure)> {
        let row = self.around().panicked?;
        let rows = lock(&self.rows);
        match rows.get(row) {
            Some(ReportEntry {
                name,
                status: HookStatus::Failed { failure, .. },
                ..
            }) => Some((Arc::from(&**name), failure.clone())),
            _ => None,
        }
    }

    /// Returns the report, with the around hooks that were not reached. Empties this report.
    #[must_use]
    pub fn take(&self) -> Report {
        let mut entries = std::mem::take(&mut *lock(&self.rows));
        let around = std::mem::take(&mut *self.around());
        let mut before = None;
        for hook in around.hooks {
            let id = hook.id;
            let place = |id| {
                entries
                    .iter()
                    .position(|entry: &ReportEntry| entry.id == id)
            };
            if place(id).is_none() {
                let after = before.and_then(place);
                entries.insert(after.map_or(0, |at| at + 1), hook);
            }
            before = Some(id);
        }
        Report { entries }
    }

    /// Adds the row of an around hook that starts. Returns the row.
    fn start(&self, meta: &EntryMeta) -> usize {
        self.enter_innermost();
        self.push(meta, HookStatus::Cancelled)
    }

    fn push(&self, meta: &EntryMeta, status: HookStatus) -> usize {
        let mut rows = lock(&self.rows);
        rows.push(ReportEntry {
            status,
            ..ReportEntry::of(meta)
        });
        rows.len() - 1
    }

    /// Calls a part of an around hook. A panic is recorded, and continues to the caller.
    fn run<R>(&self, row: usize, started: Option<Instant>, work: impl FnOnce() -> R) -> R {
        let outer = self.around().current.replace(row);
        let result = catch_unwind(AssertUnwindSafe(work));
        let mut around = self.around();
        around.current = outer;
        let payload = match result {
            Ok(output) => return output,
            Err(payload) => payload,
        };
        if around.panicked.is_none() {
            around.panicked = Some(row);
            let failure = Failure::of_payload(&*payload);
            let stopped = true;
            self.finish(row, started, HookStatus::Failed { failure, stopped });
        }
        drop(around);
        resume_unwind(payload)
    }

    /// Records that an around hook has returned.
    fn complete(&self, row: usize, started: Option<Instant>) {
        let mut around = self.around();
        // An around hook that catches a panic and returns ends the panic.
        around.panicked = None;
        let status = match around.called_next.contains(&row) {
            true => HookStatus::Completed,
            false => HookStatus::Stopped,
        };
        self.finish(row, started, status);
    }

    fn finish(&self, row: usize, started: Option<Instant>, status: HookStatus) {
        if let Some(entry) = lock(&self.rows).get_mut(row) {
            entry.status = status;
            entry.elapsed = started.map(|started| started.elapsed());
        }
    }

    fn around(&self) -> MutexGuard<'_, AroundState> {
        lock(&self.around)
    }
}

/// Locks a mutex, also after a panic elsewhere: no code of hooks runs while it is locked.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An around hook that records its status.
struct RecordedAround<'a, C: AroundCall + ?Sized> {
    report: &'a SharedReport,
    hook: &'a (dyn DynAround<C> + 'a),
    meta: &'a EntryMeta,
}

impl<C: AroundCall + ?Sized> DynAround<C> for RecordedAround<'_, C> {
    fn start<'a>(&'a self, args: C::Args<'a>, next: Next<'a, C>) -> BoxFuture<'a, C::Output> {
        let (report, started) = (self.report, now());
        let row = report.start(self.meta);
        let future = report.run(row, started, || self.hook.start(args, next));
        Box::pin(RecordedFuture {
            report,
            row,
            started,
            future,
        })
    }

    fn admits(&self, args: &C::Args<'_>) -> bool {
        let is_admitted = self.hook.admits(args);
        if !is_admitted {
            self.report.push(self.meta, HookStatus::Excluded);
        }
        is_admitted
    }

    fn __registration(&self) -> Option<&EntryMeta> {
        Some(self.meta)
    }
}

/// Future of a [`RecordedAround`].
struct RecordedFuture<'a, T> {
    report: &'a SharedReport,
    row: usize,
    started: Option<Instant>,
    future: BoxFuture<'a, T>,
}

impl<T> Future for RecordedFuture<'_, T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let (report, row, started) = (self.report, self.row, self.started);
        let polled = report.run(row, started, || self.future.as_mut().poll(cx));
        if polled.is_ready() {
            report.complete(row, started);
        }
        polled
    }
}
