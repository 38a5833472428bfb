//! State of event hooks that run concurrently: all receive the same data, and they finish in any
//! order.

use std::sync::Arc;

use hooks_core::{EntryId, EntryMeta, Failure, HookFuture};

use super::emission::{Emission, HandlerFailure, HookOutput, UserMessage};
use super::emit::output;
use super::event::EventContext;
use super::fields::{Fields, Transcript};
use super::handler::{Handler, HandlerOutput};
use super::result::HookResult;

/// State of the concurrent hooks of one event.
pub(super) struct ConcurrentRun<'t> {
    name: &'t Arc<str>,
    fields: Fields,
    transcript: Transcript,
    /// Hooks whose output is suppressed.
    muted: Vec<EntryId>,
    messages: Vec<(Rank, UserMessage)>,
    failures: Vec<(Rank, HandlerFailure)>,
}

impl<'t> ConcurrentRun<'t> {
    pub(super) fn new(name: &'t Arc<str>, fields: Fields, transcript: Transcript) -> Self {
        ConcurrentRun {
            name,
            fields,
            transcript,
            muted: Vec::new(),
            messages: Vec::new(),
            failures: Vec::new(),
        }
    }

    /// Returns the name of the event.
    pub(super) fn name(&self) -> &str {
        self.name
    }

    fn context(&mut self) -> EventContext<'_> {
        EventContext {
            name: self.name,
            fields: &mut self.fields,
            transcript: &self.transcript,
            is_chained: false,
        }
    }

    /// Returns `true` if the conditions of a hook hold.
    pub(super) fn admits(&mut self, entry: &EntryMeta, hook: &(dyn Handler + '_)) -> bool {
        hook.admits(self.context().event(entry))
    }

    /// Starts a hook.
    pub(super) fn start<'b>(
        &mut self,
        entry: &'b EntryMeta,
        hook: &'b (dyn Handler + '_),
    ) -> HookFuture<'b, HandlerOutput> {
        hook.start(entry, self.context())
    }

    /// Records the message of a result, and whether the result suppresses the output of the hook.
    pub(super) fn record(&mut self, entry: &EntryMeta, result: &HookResult) {
        if result.suppress_output {
            self.muted.push(entry.id());
        }
        if let Some(message) = UserMessage::of(result, entry) {
            self.messages.push((entry.rank(), message));
        }
    }

    /// Records and logs a failure.
    pub(super) fn fail(&mut self, entry: &EntryMeta, failure: Failure) {
        let failure = HandlerFailure::logged(entry, self.name, failure);
        self.failures.push((entry.rank(), failure));
    }

    /// Returns the messages, the printed texts and the failures.
    pub(super) fn finish(self) -> ConcurrentOutput {
        ConcurrentOutput {
            output: output(self.transcript.into_lines(), &self.muted),
            messages: in_order(self.messages),
            failures: in_order(self.failures),
        }
    }
}

/// Messages and failures of concurrent hooks, in the order of priority, and their printed texts, in
/// the order of time.
pub(crate) struct ConcurrentOutput {
    pub(super) output: Vec<HookOutput>,
    pub(super) messages: Vec<UserMessage>,
    pub(super) failures: Vec<HandlerFailure>,
}

impl ConcurrentOutput {
    /// Appends all parts to those of an emission.
    pub(crate) fn add_to(self, emission: &mut Emission) {
        emission.messages.extend(self.messages);
        emission.failures.extend(self.failures);
        if !self.output.is_empty() {
            let rare_fields = emission.rare_fields.get_or_default();
            rare_fields.output.extend(self.output);
        }
    }
}

/// Place of a hook in the execution order.
pub(super) type Rank = (i32, u64);

pub(super) fn in_order<T>(mut items: Vec<(Rank, T)>) -> Vec<T> {
    items.sort_by_key(|(rank, _)| *rank);
    items.into_iter().map(|(_, item)| item).collect()
}
