//! Policy of [`collect`](super::HookRegistry::collect): all hooks run concurrently, and their data
//! are collected.

use std::sync::Arc;
use std::time::Duration;

use hooks_core::{EntryMeta, Failure, HookFuture, Never, Policy, Step};

use super::concurrent::{ConcurrentRun, Rank, in_order};
use super::emission::{HandlerFailure, HookOutput, UserMessage};
use super::fields::{Fields, Transcript};
use super::handler::{Handler, HandlerOutput};
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
    run: ConcurrentRun<'a>,
    timeout: Duration,
    /// Each with the rank of its hook, because hooks finish in any order.
    outputs: Vec<(Rank, (Arc<str>, Map))>,
}

impl<'a> Collect<'a> {
    pub(crate) fn new(name: &'a Arc<str>, fields: Fields, timeout: Duration) -> Self {
        Collect {
            run: ConcurrentRun::new(name, fields, Transcript::default()),
            timeout,
            outputs: Vec::new(),
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
        self.run.name()
    }

    fn admits(&mut self, entry: &EntryMeta, hook: &(dyn Handler + 'h)) -> bool {
        self.run.admits(entry, hook)
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
        self.run.start(entry, hook)
    }

    fn validate_output(&mut self, reply: HandlerOutput) -> Result<HandlerOutput, Failure> {
        reply.check(|_| false)
    }

    /// Collects the data for any action; no action ends the collection.
    fn on_output(&mut self, entry: &EntryMeta, reply: HandlerOutput) -> Step<Self, Never<()>> {
        let Some(result) = reply.into_result() else {
            return Step::Next;
        };
        self.run.record(entry, &result);
        if let Some(data) = result.into_data() {
            self.outputs.push((entry.rank(), (entry.name_arc(), data)));
        }
        Step::Next
    }

    fn on_failure(&mut self, entry: &EntryMeta, failure: Failure) -> Step<Self, Never<()>> {
        self.run.fail(entry, failure);
        Step::Next
    }

    /// Returns the timeout of the collection, or of the hook if that is shorter.
    fn timeout(&self, entry: &EntryMeta) -> Option<Duration> {
        Some(match entry.timeout() {
            Some(own) => own.min(self.timeout),
            None => self.timeout,
        })
    }

    fn finish(self) -> Collected {
        let run = self.run.finish();
        Collected {
            outputs: in_order(self.outputs),
            messages: run.messages,
            output: run.output,
            failures: run.failures,
        }
    }
}
