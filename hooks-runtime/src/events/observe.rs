//! Policy of the phase [`Observe`](super::EventPhase::Observe): every hook receives the outcome,
//! whatever the others do.

use std::sync::Arc;
use std::time::Duration;

use hooks_core::{EntryId, EntryMeta, Failure, HookFuture, Never, Policy, Slot, Step};

use super::concurrent::{ConcurrentOutput, ConcurrentRun};
use super::fields::{Background, Fields, Transcript};
use super::handler::{Handler, HandlerOutput};
use super::result::Action;
use crate::Map;

/// State of the observers of one emission.
pub(crate) struct Observers<'t> {
    run: ConcurrentRun<'t>,
    /// Observers that have not completed.
    pending: Vec<EntryId>,
}

/// Policy of the observers. It borrows their state, because the dispatch is moved.
pub(crate) struct Observing<'a, 't>(&'a mut Observers<'t>);

impl<'t> Observers<'t> {
    pub(crate) fn new(name: &'t Arc<str>, data: Arc<Map>, background: Background) -> Self {
        let transcript = Transcript::with_background(background);
        Observers {
            run: ConcurrentRun::new(name, Fields::new(data, None), transcript),
            pending: Vec::new(),
        }
    }

    /// Returns the policy that writes to this state.
    pub(crate) fn policy(&mut self) -> Observing<'_, 't> {
        Observing(self)
    }

    /// Records a failure of the observers that the deadline of the emission cancelled.
    pub(crate) fn cancel(&mut self, slot: &Slot<dyn Handler>, after: Duration) {
        let pending = std::mem::take(&mut self.pending);
        let entries = slot.iter().map(|(_, entry)| entry);
        let cancelled = entries.filter(|entry| pending.contains(&entry.id()));
        for entry in cancelled {
            self.run.fail(entry, Failure::Timeout(after));
        }
    }

    /// Returns what the observers add to the emission.
    pub(crate) fn finish(self) -> ConcurrentOutput {
        self.run.finish()
    }
}

impl<'h> Policy<dyn Handler + 'h> for Observing<'_, '_> {
    type HookOutput = HandlerOutput;
    type Output = ();
    type Future = Never<()>;

    const CATCH_FAILURES: bool = true;
    // An observer changes nothing for the others, so none of them waits for another.
    const CONCURRENT: bool = true;

    fn slot_name(&self) -> &str {
        self.0.run.name()
    }

    fn admits(&mut self, entry: &EntryMeta, hook: &(dyn Handler + 'h)) -> bool {
        self.0.run.admits(entry, hook)
    }

    fn invoke<'b>(
        &mut self,
        entry: &'b EntryMeta,
        hook: &'b (dyn Handler + 'h),
        _: bool,
    ) -> HookFuture<'b, HandlerOutput>
    where
        Self: 'b,
    {
        self.0.pending.push(entry.id());
        self.0.run.start(entry, hook)
    }

    fn validate_output(&mut self, reply: HandlerOutput) -> Result<HandlerOutput, Failure> {
        let reply = reply.check(|_| false)?;
        match reply.action() {
            Action::Continue => Ok(reply),
            action => Err(Failure::invalid(format!(
                "`{}` in the phase `observe`; register the hook in the phase `decide` or `transform`",
                action.name()
            ))),
        }
    }

    fn on_output(&mut self, entry: &EntryMeta, reply: HandlerOutput) -> Step<Self, Never<()>> {
        self.0.pending.retain(|id| *id != entry.id());
        if let Some(result) = reply.into_result() {
            self.0.run.record(entry, &result);
        }
        Step::Next
    }

    fn on_failure(&mut self, entry: &EntryMeta, failure: Failure) -> Step<Self, Never<()>> {
        self.0.pending.retain(|id| *id != entry.id());
        self.0.run.fail(entry, failure);
        Step::Next
    }

    fn finish(self) {}
}
