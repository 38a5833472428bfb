//! Spans around dispatches and hooks, made only while a subscriber wants them.
//!
//! The price when nobody listens is one load of the process-wide level. An empty
//! slot makes no span at all.

use tracing::level_filters::LevelFilter;
use tracing::{Instrument, Level, Span};

use crate::bounds::BoxFuture;
use crate::entry::EntryMeta;

/// The span of a dispatch, or nothing.
pub(crate) struct DispatchSpan(Option<Box<Span>>);

impl DispatchSpan {
    pub(crate) const fn none() -> Self {
        DispatchSpan(None)
    }

    #[inline]
    pub(crate) fn new(slot: &'static str, hooks: usize) -> Self {
        if LevelFilter::current() < Level::DEBUG {
            return DispatchSpan::none();
        }
        DispatchSpan::made(slot, hooks)
    }

    #[cold]
    fn made(slot: &'static str, hooks: usize) -> Self {
        let span = tracing::debug_span!("dispatch", slot, hooks);
        DispatchSpan((!span.is_disabled()).then(|| Box::new(span)))
    }

    /// The span of one hook within this dispatch.
    #[inline]
    pub(crate) fn hook(&self, entry: &EntryMeta) -> HookSpan {
        HookSpan(match &self.0 {
            Some(dispatch) => Some(hook_span(dispatch, entry)),
            None => None,
        })
    }

    /// Runs something inside the span.
    #[inline]
    pub(crate) fn within<T>(&self, work: impl FnOnce() -> T) -> T {
        match &self.0 {
            Some(span) => span.in_scope(work),
            None => work(),
        }
    }
}

/// The span of one hook, or nothing.
pub(crate) struct HookSpan(Option<Box<Span>>);

impl HookSpan {
    /// Runs something inside the span.
    #[inline]
    pub(crate) fn within<T>(&self, work: impl FnOnce() -> T) -> T {
        match &self.0 {
            Some(span) => span.in_scope(work),
            None => work(),
        }
    }

    /// The answer that is waited for, inside the hook's span wherever it is polled.
    #[inline]
    pub(crate) fn instrument<'a, T: 'a>(self, answer: BoxFuture<'a, T>) -> BoxFuture<'a, T> {
        match self.0 {
            Some(span) => Box::pin(answer.instrument(*span)),
            None => answer,
        }
    }
}

#[cold]
fn hook_span(dispatch: &Span, entry: &EntryMeta) -> Box<Span> {
    Box::new(tracing::debug_span!(
        parent: dispatch,
        "hook",
        name = &*entry.name(),
        key = entry.key(),
        priority = entry.priority(),
    ))
}
