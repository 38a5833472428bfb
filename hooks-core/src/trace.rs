//! Spans of dispatches and hooks, created only if a subscriber records them.
//!
//! Without a subscriber a dispatch costs one load of the process-wide level. An empty slot creates
//! no span.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use tracing::level_filters::LevelFilter;
use tracing::{Instrument, Level, Span};

use crate::bounds::BoxFuture;
use crate::entry::EntryMeta;
use crate::failure::Failure;
use crate::hook_future::HookFuture;

/// Returns `true` if a subscriber may record spans.
#[inline]
pub(crate) fn is_wanted() -> bool {
    LevelFilter::current() >= Level::DEBUG
}

/// Span of a dispatch, if a subscriber records it.
pub(crate) struct DispatchSpan(Option<Box<Span>>);

impl DispatchSpan {
    pub(crate) const fn none() -> Self {
        DispatchSpan(None)
    }

    // Keeps spans out of the registers of an untraced dispatch: `chain/0` −3 % instructions.
    #[cold]
    pub(crate) fn new(slot: &str, hooks: usize) -> Self {
        let span = tracing::debug_span!(target: "hooks_core", "dispatch", slot, hooks);
        DispatchSpan((!span.is_disabled()).then(|| Box::new(span)))
    }

    #[inline]
    pub(crate) fn get(&self) -> Option<&Span> {
        self.0.as_deref()
    }
}

/// Returns the span of one hook within a dispatch.
// As above: `chain/4` −1 %, `event_continue/4` −0.4 % instructions.
#[cold]
pub(crate) fn hook(dispatch: &Span, entry: &EntryMeta) -> Span {
    tracing::debug_span!(
        target: "hooks_core",
        parent: dispatch.id(),
        "hook",
        name = &*entry.name(),
        key = entry.key(),
        priority = entry.priority(),
    )
}

/// Logs a panic of a hook whose payload continues to the caller: the payload does not name the hook.
/// Only within a span, because an untraced dispatch of a typed slot has no `catch_unwind`.
struct PanicLog<'a> {
    /// The slot of a hook; `None` for an around hook.
    slot: Option<Box<str>>,
    entry: &'a EntryMeta,
}

impl PanicLog<'_> {
    fn run<R>(&self, work: impl FnOnce() -> R) -> R {
        let payload = match catch_unwind(AssertUnwindSafe(work)) {
            Ok(output) => return output,
            Err(payload) => payload,
        };
        let (hook, failure) = (self.entry.name(), Failure::of_payload(&*payload));
        match &self.slot {
            Some(slot) => tracing::error!(
                target: "hooks_core",
                slot, hook = &*hook,
                "hook `{hook}` of slot `{slot}` {failure}"
            ),
            None => tracing::error!(
                target: "hooks_core",
                hook = &*hook,
                "around hook `{hook}` {failure}"
            ),
        }
        resume_unwind(payload)
    }
}

/// Future of a hook whose panics are logged.
struct LoggedFuture<'a, T> {
    log: PanicLog<'a>,
    future: BoxFuture<'a, T>,
}

impl<T> Future for LoggedFuture<'_, T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let LoggedFuture { log, future } = self.get_mut();
        log.run(|| future.as_mut().poll(cx))
    }
}

/// Starts a hook of a typed slot in its span. Logs a panic, which then continues.
#[cold]
pub(crate) fn start_hook<'a, T: 'a>(
    dispatch: &Span,
    slot: Box<str>,
    entry: &'a EntryMeta,
    start: impl FnOnce() -> HookFuture<'a, T>,
) -> HookFuture<'a, T> {
    let (span, slot) = (hook(dispatch, entry), Some(slot));
    let log = PanicLog { slot, entry };
    match span.in_scope(|| log.run(start)) {
        HookFuture::Boxed(future) => {
            HookFuture::Boxed(Box::pin(LoggedFuture { log, future }.instrument(span)))
        }
        ready => ready,
    }
}

/// Runs an around hook in its span. Logs a panic, which then continues.
#[cold]
pub(crate) fn in_around_span<'a, T: 'a>(
    entry: &'a EntryMeta,
    start: impl FnOnce() -> BoxFuture<'a, T>,
) -> BoxFuture<'a, T> {
    let span = tracing::debug_span!(
        target: "hooks_core",
        "around",
        name = &*entry.name(),
        key = entry.key(),
        priority = entry.priority(),
    );
    let log = PanicLog { slot: None, entry };
    let future = span.in_scope(|| log.run(start));
    Box::pin(LoggedFuture { log, future }.instrument(span))
}
