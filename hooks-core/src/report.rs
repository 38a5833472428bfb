//! What became of each hook of a dispatch, for those who ask.

use std::borrow::Cow;
use std::fmt;
use std::future::Future;
use std::time::{Duration, Instant};

use crate::answer::Answer;
use crate::dispatch::{Combine, Step};
use crate::entry::{EntryId, EntryMeta};
use crate::fault::Fault;
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
    pub run: Run,
    /// From its start to its answer; nothing where it was not started, or not waited for, or
    /// where the target has no clock.
    pub took: Option<Duration>,
}

/// What became of a hook (`X-2`).
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub enum Run {
    /// It was not started: the dispatch had ended before.
    #[default]
    Skipped,
    /// It was started, and the dispatch ended before its answer was there.
    Abandoned,
    /// It answered, and the dispatch went on.
    Ran,
    /// It answered, and with that the dispatch ended.
    Stopped,
    /// It went wrong.
    Failed {
        /// What went wrong.
        fault: Fault,
        /// Whether the dispatch ended with that.
        stopped: bool,
    },
}

impl Report {
    /// The hook with whose answer or fault the dispatch ended; none where it ended because there
    /// were no more.
    pub fn stopped_by(&self) -> Option<&ReportEntry> {
        let stopped = |entry: &&ReportEntry| {
            matches!(entry.run, Run::Stopped | Run::Failed { stopped: true, .. })
        };
        self.entries.iter().find(stopped)
    }

    fn entry(&mut self, id: EntryId) -> Option<&mut ReportEntry> {
        self.entries.iter_mut().find(|entry| entry.id == id)
    }
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Run::Skipped => f.write_str("skipped"),
            Run::Abandoned => f.write_str("abandoned"),
            Run::Ran => f.write_str("ran"),
            Run::Stopped => f.write_str("stopped the dispatch"),
            Run::Failed { fault, stopped } => {
                let what = if *stopped {
                    "stopped the dispatch"
                } else {
                    "left out"
                };
                write!(f, "{fault}; {what}")
            }
        }
    }
}

impl fmt::Display for ReportEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.run)?;
        match self.took {
            Some(took) => write!(f, " ({took:.1?})"),
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

/// A policy that is watched: does what the other does, and writes down what becomes of the
/// hooks (`X-4`).
pub struct Reported<C: Combine<H>, H: ?Sized> {
    policy: C,
    report: Report,
    started: Vec<(EntryId, Option<Instant>)>,
    make: Option<fn(&mut C) -> C::Wait>,
    /// The hook after whose answer the policy waits.
    waits_after: Option<EntryId>,
}

impl<C: Combine<H>, H: ?Sized> fmt::Debug for Reported<C, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reported")
            .field("report", &self.report)
            .finish_non_exhaustive()
    }
}

impl<C: Combine<H>, H: ?Sized> Reported<C, H> {
    pub(crate) fn new(slot: &Slot<H>, policy: C) -> Self {
        let entries = slot.iter().map(|(_, entry)| ReportEntry {
            id: entry.id(),
            name: Cow::Owned(entry.name().into_owned()),
            key: entry.key().map(|key| Cow::Owned(key.to_owned())),
            priority: entry.priority(),
            run: Run::Skipped,
            took: None,
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

    fn step(&mut self, step: Step<C, C::Wait>) -> Step<Self, C::Wait> {
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
    fn conclude(&mut self, entry: &EntryMeta, run: Run, step: &Step<C, C::Wait>) {
        self.write(entry, run);
        self.waits_after = matches!(step, Step::Wait(_)).then(|| entry.id());
    }

    fn write(&mut self, entry: &EntryMeta, run: Run) {
        let started = self.started.iter().find(|(id, _)| *id == entry.id());
        let took = started.and_then(|(_, at)| Some(at.as_ref()?.elapsed()));
        if let Some(line) = self.report.entry(entry.id()) {
            line.run = run;
            line.took = took;
        }
    }
}

impl<C: Combine<H>, H: ?Sized> Combine<H> for Reported<C, H> {
    type Yield = C::Yield;
    type Outcome = (C::Outcome, Report);
    type Wait = C::Wait;

    const GUARDED: bool = C::GUARDED;
    const CONCURRENT: bool = C::CONCURRENT;

    fn slot_name(&self) -> &str {
        self.policy.slot_name()
    }

    fn open(&mut self, hooks: usize) -> Step<Self, C::Wait> {
        let step = self.policy.open(hooks);
        self.step(step)
    }

    fn invoke<'a>(&mut self, entry: &'a EntryMeta, hook: &'a H, last: bool) -> Answer<'a, C::Yield>
    where
        Self: 'a,
    {
        if let Some(line) = self.report.entry(entry.id()) {
            line.run = Run::Abandoned;
        }
        self.started.push((entry.id(), now()));
        self.policy.invoke(entry, hook, last)
    }

    fn absorb(&mut self, entry: &EntryMeta, answer: C::Yield) -> Step<Self, C::Wait> {
        let step = self.policy.absorb(entry, answer);
        let run = match step {
            Step::Next | Step::Wait(_) => Run::Ran,
            Step::Stop => Run::Stopped,
        };
        self.conclude(entry, run, &step);
        self.step(step)
    }

    fn check(&mut self, answer: C::Yield) -> Result<C::Yield, Fault> {
        self.policy.check(answer)
    }

    fn fault(&mut self, entry: &EntryMeta, fault: Fault) -> Step<Self, C::Wait> {
        let step = self.policy.fault(entry, fault.clone());
        let stopped = matches!(step, Step::Stop);
        self.conclude(entry, Run::Failed { fault, stopped }, &step);
        self.step(step)
    }

    fn timeout(&self, entry: &EntryMeta) -> Option<Duration> {
        self.policy.timeout(entry)
    }

    fn close(&mut self) -> Step<Self, C::Wait> {
        self.waits_after = None;
        let step = self.policy.close();
        self.step(step)
    }

    fn waited(&mut self, answer: <C::Wait as Future>::Output) -> Step<Self, C::Wait> {
        let step = self.policy.waited(answer);
        if let Step::Stop = step {
            let line = self.waits_after.and_then(|id| self.report.entry(id));
            match line.map(|line| &mut line.run) {
                Some(Run::Failed { stopped, .. }) => *stopped = true,
                Some(run) => *run = Run::Stopped,
                None => {}
            }
        }
        self.step(step)
    }

    fn finish(self) -> (C::Outcome, Report) {
        (self.policy.finish(), self.report)
    }
}
