//! Spans around dispatches and hooks, made only while a subscriber wants them.
//!
//! The price when nobody listens is one load of the process-wide level. An empty
//! slot makes no span at all.

use tracing::level_filters::LevelFilter;
use tracing::{Level, Span};

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
        let span = tracing::debug_span!(target: "hooks_core", "dispatch", slot, hooks);
        DispatchSpan((!span.is_disabled()).then(|| Box::new(span)))
    }

    #[inline]
    pub(crate) fn is_none(&self) -> bool {
        self.0.is_none()
    }

    /// The span of one hook within this dispatch.
    #[cold]
    pub(crate) fn hook(&self, entry: &EntryMeta) -> Span {
        tracing::debug_span!(
            target: "hooks_core",
            parent: self.0.as_deref().and_then(Span::id),
            "hook",
            name = &*entry.name(),
            key = entry.key(),
            priority = entry.priority(),
        )
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
