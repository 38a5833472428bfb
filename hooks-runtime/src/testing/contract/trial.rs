//! A hook on a separate registry, to which cases send events.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Barrier};
use std::time::Duration;

use hooks_core::Registration;
use serde_json::Value;
use tokio::runtime::Handle;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::subject::{Finding, Subject};
use super::tap::Tap;
use super::watch::{Watch, panic_message};
use crate::events::handler::{Now, handler};
use crate::testing::shown;
use crate::{
    Emission, EmitError, EmitOptions, Event, HandlerFailure, HookRegistry, HookResult,
    RegisterOptions,
};

/// The hook under test of one case.
pub(super) struct Trial {
    registry: HookRegistry,
    hook: Arc<Tap>,
    registrations: HashMap<Arc<str>, Registration>,
    watch: Arc<Watch>,
    pub(super) subject: Subject,
}

impl Trial {
    pub(super) fn new(subject: &Subject, watch: Arc<Watch>) -> Self {
        Trial {
            registry: HookRegistry::new(),
            hook: Tap::new((subject.make)()),
            registrations: HashMap::new(),
            watch,
            subject: subject.clone(),
        }
    }

    /// Returns the events of the subject.
    pub(super) fn events(&self) -> Vec<Arc<str>> {
        self.subject.events.clone()
    }

    /// Returns the first event.
    pub(super) fn event(&self) -> Arc<str> {
        Arc::clone(&self.subject.events[0])
    }

    /// Returns the timeout of a call.
    pub(super) fn limit(&self) -> Duration {
        self.subject.limit
    }

    /// Sends these data to the hook under each of its events.
    pub(super) async fn ask_each(&mut self, data: &Value) -> Result<(), Finding> {
        for event in self.events() {
            self.ask(&event, data).await?;
        }
        Ok(())
    }

    /// Sends an event to the hook, whose result has to be valid.
    pub(super) async fn ask(&mut self, event: &str, data: &Value) -> Result<(), Finding> {
        self.register(event);
        let sent = self.sends(event, data);
        let options = EmitOptions::new().deadline(self.limit());
        let emission = self.registry.emit_with(event, data.clone(), options);
        let answer = self.subject.stop.unless(emission).await.and_then(answered);
        self.judge(answer, event, 1)
            .map_err(|came| Finding { sent, came })
    }

    /// Sends an event to the hook several times concurrently, from as many threads.
    pub(super) async fn ask_at_once(&mut self, count: usize, data: &Value) -> Result<(), Finding> {
        let event = self.event();
        self.register(&event);
        let sent = format!("{count} times at once {}", self.sends(&event, data));
        // All threads start together, so that their calls overlap.
        let start = Arc::new(Barrier::new(count));
        let asks: Vec<_> = (0..count)
            .map(|_| {
                let start = Arc::clone(&start);
                let (registry, runtime) = (self.registry.clone(), Handle::current());
                let stop = self.subject.stop.clone();
                let (event, data) = (Arc::clone(&event), data.clone());
                let options = EmitOptions::new().deadline(self.limit());
                spawn_blocking(move || {
                    start.wait();
                    runtime.block_on(stop.unless(registry.emit_with(&event, data, options)))
                })
            })
            .collect();
        let mut answers = Ok(());
        for ask in asks {
            let answer = match ask.await {
                Ok(emission) => emission.and_then(answered),
                Err(error) => Err(shown::display(&error)),
            };
            answers = answers.and(answer);
        }
        self.judge(answers, &event, count)
            .map_err(|came| Finding { sent, came })
    }

    /// Calls the hook with `emit_and_collect`.
    pub(super) async fn collect(&mut self, event: &str, data: &Value) -> Result<(), Finding> {
        self.register(event);
        let sent = format!("to be collected {}", self.sends(event, data));
        let collected = self.registry.collect(event, data.clone(), self.limit());
        let collected = self.subject.stop.unless(collected).await;
        let answer = collected.and_then(|collected| match collected {
            Ok(collected) => no_fault(&collected.failures),
            Err(error) => Err(shown::display(&error)),
        });
        self.judge(answer, event, 1)
            .map_err(|came| Finding { sent, came })
    }

    /// Sends an event to the hook, and drops the emission after this time.
    pub(super) async fn ask_and_drop(&mut self, after: Duration, data: &Value) {
        let event = self.event();
        self.register(&event);
        self.sends(&event, data);
        let emission = self.registry.emit(&event, data.clone());
        // Other cases check the result.
        let _ = self.subject.stop.unless(timeout(after, emission)).await;
        self.hook.take();
    }

    /// Sends an event for which the hook is no longer registered.
    pub(super) async fn ask_nobody(&mut self, event: &str, data: &Value) -> Result<(), Finding> {
        let sent = self.sends(event, data);
        let options = EmitOptions::new().deadline(self.limit());
        let emission = self.registry.emit_with(event, data.clone(), options);
        let answer = self.subject.stop.unless(emission).await.and_then(answered);
        self.judge(answer, event, 0)
            .map_err(|came| Finding { sent, came })
    }

    /// Unregisters the hook from an event, and returns `true` if it was registered.
    pub(super) fn unregister(&mut self, event: &str) -> Result<bool, String> {
        let Some(registration) = self.registrations.remove(event) else {
            return Ok(false);
        };
        let first = catch_unwind(AssertUnwindSafe(|| registration.unregister()));
        let found = first.map_err(|payload| format!("a panic: {}", panic_message(&*payload)))?;
        if registration.unregister() {
            return Err("a second registration behind the first".to_owned());
        }
        Ok(found)
    }

    /// Drops the hook, which has no registration any more.
    pub(super) fn drop_hook(&mut self) -> Result<(), String> {
        let proceed = |_: Event<'_>| HookResult::proceed();
        let hook = std::mem::replace(&mut self.hook, Tap::new(handler::<_, _, Now>(proceed)));
        let dropped = catch_unwind(AssertUnwindSafe(|| drop(hook)));
        dropped.map_err(|payload| format!("a panic: {}", panic_message(&*payload)))
    }

    /// Records the event in the watch, and returns its description.
    pub(super) fn sends(&self, event: &str, data: &Value) -> String {
        let sent = format!("`{}` with {}", shown::text(event), shown::json(data));
        self.watch.begin(&sent);
        sent
    }

    fn register(&mut self, event: &str) {
        if self.registrations.contains_key(event) {
            return;
        }
        let hook = Arc::clone(&self.hook);
        let options = RegisterOptions::new().name("subject");
        let registration = self.registry.register::<_, _, Now>(event, hook, options);
        self.registrations.insert(event.into(), registration);
    }

    /// Checks the result of an event.
    fn judge(&self, answer: Result<(), String>, event: &str, times: usize) -> Result<(), String> {
        let seen = self.hook.take();
        answer?;
        // A hook that blocks its thread misses the deadline.
        let (took, limit) = (self.watch.elapsed(), self.limit());
        if took > limit.saturating_mul(times.max(1) as u32) {
            return Err(format!(
                "its answer after {took:.1?}, {limit:?} a call are allowed"
            ));
        }
        if let Some(invalid) = seen.invalid {
            return Err(format!("an invalid output: {}", shown::text(&invalid)));
        }
        if seen.calls.len() != times {
            return Err(format!(
                "{} calls of the hook, not {times}",
                seen.calls.len()
            ));
        }
        match seen.calls.iter().find(|name| ***name != *event) {
            Some(other) => Err(format!("a call with the name `{}`", shown::text(other))),
            None => Ok(()),
        }
    }
}

fn answered(emission: Result<Emission, EmitError>) -> Result<(), String> {
    match emission {
        Ok(emission) => no_fault(&emission.failures),
        Err(EmitError::Deadline { after, .. }) => Err(format!("no output within {after:?}")),
        Err(error) => Err(shown::display(&error)),
    }
}

fn no_fault(failures: &[HandlerFailure]) -> Result<(), String> {
    match failures {
        [] => Ok(()),
        [failure, ..] => Err(format!(
            "a failure: the hook {}",
            shown::display(&failure.failure)
        )),
    }
}
