//! Policy of the phase [`Observe`](super::EventPhase::Observe): every hook receives the outcome,
//! whatever the others do.

use std::sync::Arc;
use std::time::Duration;

use hooks_core::{EntryId, EntryMeta, Failure, HookFuture, Never, Policy, Slot, Step};

use super::collect::{Rank, in_order, rank};
use super::emission::{Emission, HandlerFailure, HookOutput, UserMessage};
use super::emit::output;
use super::event::{Event, EventContext};
use super::handler::{Handler, HandlerOutput, ReplyBody};
use super::record::{Background, Fields, Transcript};
use super::result::Action;
use crate::Map;

/// State of the observers of one emission.
pub(crate) struct Observers<'t> {
    name: &'t Arc<str>,
    fields: Fields,
    transcript: Transcript,
    /// Observers that have not completed.
    pending: Vec<EntryId>,
    /// Observers whose output is suppressed.
    muted: Vec<EntryId>,
    /// Each with the rank of its hook, because hooks finish in any order.
    messages: Vec<(Rank, UserMessage)>,
    failures: Vec<(Rank, HandlerFailure)>,
}

/// Policy of the observers. It borrows their state, because the dispatch is moved.
pub(crate) struct Observing<'a, 't>(&'a mut Observers<'t>);

impl<'t> Observers<'t> {
    pub(crate) fn new(name: &'t Arc<str>, data: Arc<Map>, background: Background) -> Self {
        Observers {
            name,
            fields: Fields::new(data, None),
            transcript: Transcript::with_background(background),
            pending: Vec::new(),
            muted: Vec::new(),
            messages: Vec::new(),
            failures: Vec::new(),
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
            let failure = HandlerFailure::logged(entry, self.name, Failure::Timeout(after));
            self.failures.push((rank(entry), failure));
        }
    }

    /// Returns what the observers add to the emission.
    pub(crate) fn finish(self) -> Observations {
        Observations {
            output: output(self.transcript.into_lines(), &self.muted),
            messages: in_order(self.messages),
            failures: in_order(self.failures),
        }
    }
}

/// What observers add to an emission.
pub(crate) struct Observations {
    output: Vec<HookOutput>,
    messages: Vec<UserMessage>,
    failures: Vec<HandlerFailure>,
}

impl Observations {
    /// Appends the messages, the printed texts and the failures.
    pub(crate) fn add_to(self, emission: &mut Emission) {
        emission.messages.extend(self.messages);
        emission.failures.extend(self.failures);
        if !self.output.is_empty() {
            emission
                .rare_fields
                .get_or_default()
                .output
                .extend(self.output);
        }
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
        self.0.name
    }

    fn admits(&mut self, entry: &EntryMeta, hook: &(dyn Handler + 'h)) -> bool {
        hook.admits(Event {
            name: self.0.name,
            fields: &self.0.fields,
            hook: entry,
            transcript: &self.0.transcript,
        })
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
        let context = EventContext {
            name: self.0.name,
            fields: &mut self.0.fields,
            transcript: &self.0.transcript,
            is_chained: false,
        };
        hook.start(entry, context)
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
        if let Some(ReplyBody::Result(result)) = reply.0.map(|body| *body) {
            if result.suppress_output {
                self.0.muted.push(entry.id());
            }
            let message = UserMessage::of(&result, entry);
            let message = message.map(|message| (rank(entry), message));
            self.0.messages.extend(message);
        }
        Step::Next
    }

    fn on_failure(&mut self, entry: &EntryMeta, failure: Failure) -> Step<Self, Never<()>> {
        self.0.pending.retain(|id| *id != entry.id());
        let failure = HandlerFailure::logged(entry, self.0.name, failure);
        self.0.failures.push((rank(entry), failure));
        Step::Next
    }

    fn on_future_ready(&mut self, (): ()) -> Step<Self, Never<()>> {
        Step::Next
    }

    fn finish(self) {}
}
