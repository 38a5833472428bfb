//! The tested hook, and the findings of a case.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::stop::StopSignal;
#[cfg(feature = "command")]
use crate::CommandHook;
use crate::events::handler::{Handler, HookReturn, IntoHandler, handler};

/// Default timeout of a call; see [`Subject::time_limit`].
pub const TIME_LIMIT: Duration = Duration::from_secs(5);

/// Data that were sent to a hook, and its invalid result.
#[derive(Debug)]
pub(super) struct Finding {
    pub(super) sent: String,
    pub(super) came: String,
}

/// A hook under test. Each case creates a new one.
#[derive(Clone)]
pub struct Subject {
    pub(super) make: Arc<dyn Fn() -> Arc<dyn Handler> + Send + Sync>,
    #[cfg(feature = "command")]
    pub(super) program: Option<CommandHook>,
    pub(super) events: Vec<Arc<str>>,
    pub(super) limit: Duration,
    pub(super) stop: StopSignal,
}

impl Subject {
    /// Creates a subject for a hook of any form that can be
    /// [registered](crate::HookRegistry::register). The closure runs within a tokio runtime of one
    /// thread.
    pub fn new<H, Form: 'static, Time: 'static>(
        make: impl Fn() -> H + Send + Sync + 'static,
    ) -> Self
    where
        H: IntoHandler<Form, Return: HookReturn<Time, Waits: Send>>,
    {
        Subject {
            make: Arc::new(move || handler::<H, Form, Time>(make())),
            #[cfg(feature = "command")]
            program: None,
            events: vec![crate::events::TOOL_PRE.into()],
            limit: TIME_LIMIT,
            stop: StopSignal::new(),
        }
    }

    /// Creates a subject for a program, which has additional cases. The subject's
    /// [timeout](Self::time_limit) replaces the program's own.
    #[cfg(feature = "command")]
    pub fn program(program: CommandHook) -> Self {
        let program = program.time_limit(Duration::MAX);
        let hook = program.clone();
        Subject {
            program: Some(program),
            ..Subject::new(move || hook.clone())
        }
    }

    /// Sets the events for unusual data; `tool:pre` by default, and for an empty list. All standard
    /// events are also sent, with usual data.
    #[must_use]
    pub fn events(mut self, events: impl IntoIterator<Item = impl Into<Arc<str>>>) -> Self {
        let events: Vec<_> = events.into_iter().map(Into::into).collect();
        if !events.is_empty() {
            self.events = events;
        }
        self
    }

    /// Sets the timeout of each call; [`TIME_LIMIT`] by default. The timeout of a case is the sum
    /// of its calls', and a case fails at the first call that exceeds its own.
    #[must_use]
    pub fn time_limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Sets the handle that stops the cases.
    #[must_use]
    pub fn stopped_by(mut self, stop: &StopSignal) -> Self {
        self.stop = stop.clone();
        self
    }
}

impl fmt::Debug for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subject")
            .field("events", &self.events)
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}
