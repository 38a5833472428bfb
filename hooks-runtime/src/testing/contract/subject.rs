//! The hook that is tested, and what a case found out about it.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::stop::Stop;
#[cfg(feature = "command")]
use crate::CommandHook;
use crate::events::handler::{Handler, HookAnswer, IntoHandler, handler};

/// The time that a hook has for one call unless [`Subject::time_limit`] says otherwise.
pub const TIME_LIMIT: Duration = Duration::from_secs(5);

/// What was sent to a hook, and what came that must not.
#[derive(Debug)]
pub(super) struct Finding {
    pub(super) sent: String,
    pub(super) came: String,
}

/// A hook that is put through the cases. Each case makes a new one.
#[derive(Clone)]
pub struct Subject {
    pub(super) make: Arc<dyn Fn() -> Arc<dyn Handler> + Send + Sync>,
    #[cfg(feature = "command")]
    pub(super) program: Option<CommandHook>,
    pub(super) events: Vec<Arc<str>>,
    pub(super) limit: Duration,
    pub(super) stop: Stop,
}

impl Subject {
    /// A hook of any form that can be [registered](crate::HookRegistry::register), as this
    /// makes it. It is made within a tokio runtime of one thread.
    pub fn new<H, Form: 'static, Time: 'static>(
        make: impl Fn() -> H + Send + Sync + 'static,
    ) -> Self
    where
        H: IntoHandler<Form, Answer: HookAnswer<Time, Waits: Send>>,
    {
        Subject {
            make: Arc::new(move || handler::<H, Form, Time>(make())),
            #[cfg(feature = "command")]
            program: None,
            events: vec![crate::events::TOOL_PRE.into()],
            limit: TIME_LIMIT,
            stop: Stop::new(),
        }
    }

    /// A program, which has to hold some cases more. The [time limit](Self::time_limit) of the
    /// subject counts in the place of the program's own.
    #[cfg(feature = "command")]
    pub fn program(program: CommandHook) -> Self {
        let program = program.time_limit(Duration::MAX);
        let hook = program.clone();
        Subject {
            program: Some(program),
            ..Subject::new(move || hook.clone())
        }
    }

    /// Sets the events that the hook is sent the odd data of, besides all standard events
    /// with ordinary ones; `tool:pre` unless given. No events at all are `tool:pre`, too.
    #[must_use]
    pub fn events(mut self, events: impl IntoIterator<Item = impl Into<Arc<str>>>) -> Self {
        let events: Vec<_> = events.into_iter().map(Into::into).collect();
        if !events.is_empty() {
            self.events = events;
        }
        self
    }

    /// Limits the time of each call of the hook; [`TIME_LIMIT`] unless given. A case has as
    /// much time as its calls have together, and fails with the first one that takes longer.
    #[must_use]
    pub fn time_limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Lets the cases be stopped from elsewhere.
    #[must_use]
    pub fn stopped_by(mut self, stop: &Stop) -> Self {
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
