//! A handler that forwards to another one, and checks its results.

use std::sync::{Arc, Mutex};

use hooks_core::{EntryMeta, HookFuture};

use crate::HookResult;
use crate::events::event::EventContext;
use crate::events::handler::{Handler, HandlerOutput, IntoHandler, ReplyBody};
use crate::lock::lock;

/// The handler of a subject, with a record of its calls and of invalid results.
pub(super) struct Tap {
    hook: Arc<dyn Handler>,
    seen: Arc<Mutex<TapRecord>>,
}

/// Record of a [`Tap`] since the last check.
#[derive(Default)]
pub(super) struct TapRecord {
    /// The names of the events.
    pub(super) calls: Vec<Arc<str>>,
    /// The first invalid part of a result.
    pub(super) invalid: Option<String>,
}

/// The form of a [`Tap`].
pub(super) enum Tapped {}

impl Tap {
    pub(super) fn new(hook: Arc<dyn Handler>) -> Arc<Self> {
        Arc::new(Tap {
            hook,
            seen: Arc::default(),
        })
    }

    /// Returns the record since the last call of this method.
    pub(super) fn take(&self) -> TapRecord {
        std::mem::take(&mut *lock(&self.seen))
    }
}

/// Checks a result, and also its JSON form, which a foreign host receives.
fn look(seen: &Mutex<TapRecord>, reply: &HandlerOutput) {
    let Some(ReplyBody::Result(result)) = reply.0.as_deref() else {
        return;
    };
    let read = match serde_json::to_value(result) {
        Ok(json) => serde_json::from_value::<HookResult>(json).map(drop),
        Err(error) => Err(error),
    };
    let why = match (result.check(), read) {
        (Err(why), _) => why.to_string(),
        (Ok(()), Err(why)) => why.to_string(),
        (Ok(()), Ok(())) => return,
    };
    lock(seen).invalid.get_or_insert(why);
}

#[diagnostic::do_not_recommend]
impl IntoHandler<Tapped> for Tap {
    type Return = HookResult;

    fn start<'a>(
        &'a self,
        entry: &'a EntryMeta,
        context: EventContext<'_>,
        _: impl FnOnce(Self::Return, EventContext<'_>) -> HookFuture<'a, HandlerOutput>,
    ) -> HookFuture<'a, HandlerOutput> {
        lock(&self.seen).calls.push(Arc::clone(context.name));
        match self.hook.start(entry, context) {
            HookFuture::Ready(reply) => {
                look(&self.seen, &reply);
                HookFuture::Ready(reply)
            }
            HookFuture::Boxed(answer) => {
                let seen = Arc::clone(&self.seen);
                HookFuture::boxed(async move {
                    let reply = answer.await;
                    look(&seen, &reply);
                    reply
                })
            }
        }
    }
}
