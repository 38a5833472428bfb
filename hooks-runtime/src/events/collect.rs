//! Policy of [`collect`](super::HookRegistry::collect): all hooks run concurrently, and their data
//! are collected.

use std::sync::Arc;
use std::time::Duration;

use hooks_core::{EntryId, EntryMeta, Failure, HookFuture, Never, Policy, Step};

use super::emission::{HandlerFailure, HookOutput, UserMessage};
use super::emit::output;
use super::event::{Event, EventContext};
use super::handler::{Handler, HandlerOutput, ReplyBody};
use super::record::{Fields, Transcript};
use crate::Map;

/// Result of a collection.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Collected {
    /// Data of each hook, in the order of their priority, each with the name of its hook.
    pub outputs: Vec<(Arc<str>, Map)>,
    /// Messages for the user, in the order of priority.
    pub messages: Vec<UserMessage>,
    /// Output that hooks printed and did not suppress, in order of time.
    pub output: Vec<HookOutput>,
    /// Failures, including timeouts.
    pub failures: Vec<HandlerFailure>,
}

impl Collected {
    /// Returns the data alone.
    pub fn into_data(self) -> Vec<Map> {
        self.outputs.into_iter().map(|(_, data)| data).collect()
    }
}

/// One collection.
pub(crate) struct Collect<'a> {
    name: &'a Arc<str>,
    fields: Fields,
    transcript: Transcript,
    timeout: Duration,
    /// Each with the rank of its hook, because hooks finish in any order.
    outputs: Vec<(Rank, (Arc<str>, Map))>,
    messages: Vec<(Rank, UserMessage)>,
    failures: Vec<(Rank, HandlerFailure)>,
    /// Hooks whose output is suppressed.
    muted: Vec<EntryId>,
}

pub(super) type Rank = (i32, u64);

impl<'a> Collect<'a> {
    pub(crate) fn new(name: &'a Arc<str>, fields: Fields, timeout: Duration) -> Self {
        Collect {
            name,
            fields,
            transcript: Transcript::default(),
            timeout,
            outputs: Vec::new(),
            messages: Vec::new(),
            failures: Vec::new(),
            muted: Vec::new(),
        }
    }
}

impl<'a, 'h> Policy<dyn Handler + 'h> for Collect<'a> {
    type HookOutput = HandlerOutput;
    type Output = Collected;
    type Future = Never<()>;

    const CATCH_FAILURES: bool = true;
    const CONCURRENT: bool = true;

    fn slot_name(&self) -> &str {
        self.name
    }

    fn admits(&mut self, entry: &EntryMeta, hook: &(dyn Handler + 'h)) -> bool {
        hook.admits(Event {
            name: self.name,
            fields: &self.fields,
            hook: entry,
            transcript: &self.transcript,
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
        let context = EventContext {
            name: self.name,
            fields: &mut self.fields,
            transcript: &self.transcript,
            is_chained: false,
        };
        hook.start(entry, context)
    }

    fn validate_output(&mut self, reply: HandlerOutput) -> Result<HandlerOutput, Failure> {
        reply.check(|_| false)
    }

    /// Collects the data for any action; no action ends the collection.
    fn on_output(&mut self, entry: &EntryMeta, reply: HandlerOutput) -> Step<Self, Never<()>> {
        let Some(ReplyBody::Result(result)) = reply.0.map(|spoken| *spoken) else {
            return Step::Next;
        };
        let rank = rank(entry);
        if result.suppress_output {
            self.muted.push(entry.id());
        }
        if let Some(message) = UserMessage::of(&result, entry) {
            self.messages.push((rank, message));
        }
        if let Some(data) = result.into_data() {
            self.outputs.push((rank, (entry.name_arc(), data)));
        }
        Step::Next
    }

    fn on_failure(&mut self, entry: &EntryMeta, failure: Failure) -> Step<Self, Never<()>> {
        let failure = HandlerFailure::logged(entry, self.name, failure);
        self.failures.push((rank(entry), failure));
        Step::Next
    }

    /// Returns the timeout of the collection, or of the hook if that is shorter.
    fn timeout(&self, entry: &EntryMeta) -> Option<Duration> {
        Some(match entry.timeout() {
            Some(own) => own.min(self.timeout),
            None => self.timeout,
        })
    }

    fn on_future_ready(&mut self, (): ()) -> Step<Self, Never<()>> {
        Step::Next
    }

    fn finish(self) -> Collected {
        Collected {
            outputs: in_order(self.outputs),
            messages: in_order(self.messages),
            output: output(self.transcript.into_lines(), &self.muted),
            failures: in_order(self.failures),
        }
    }
}

pub(super) fn rank(entry: &EntryMeta) -> Rank {
    (entry.priority(), entry.sequence())
}

pub(super) fn in_order<T>(mut items: Vec<(Rank, T)>) -> Vec<T> {
    items.sort_by_key(|(rank, _)| *rank);
    items.into_iter().map(|(_, item)| item).collect()
}
