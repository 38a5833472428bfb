//! A hook that records the events that were emitted.

use std::collections::{HashMap, VecDeque};
use std::fmt::{self, Write};
use std::future::poll_fn;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Poll, Waker};

use hooks_core::Registration;
use jiff::Timestamp;

use super::shown;
use crate::lock::lock;
use crate::{HookRegistry, HookResult, Map, RegisterOptions};

/// Records the events that it is registered for, and returns scripted results; without a script, it
/// returns `Continue`. Clones share one recorder, also on another thread.
///
/// It runs before the other hooks, so it records the data as they were emitted, also for events
/// that another hook denies. [`priority`](Self::priority) changes that: with `i32::MAX` it records
/// the data after the other hooks, and no event that another hook denied.
///
/// ```
/// use hooks_runtime::testing::EventRecorder;
/// use hooks_runtime::{HookRegistry, events};
/// use serde_json::json;
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let hooks = HookRegistry::new();
/// let recorder = EventRecorder::new();
/// recorder.attach(&hooks, events::STANDARD);
///
/// let _ = hooks.emit("session:start", ()).await;
/// let _ = hooks.emit("tool:pre", json!({"tool_name": "bash"})).await;
///
/// recorder.assert_sequence(["session:start", "tool:pre"]);
/// assert_eq!(recorder.of("tool:pre")[0].data["tool_name"], "bash");
/// # });
/// ```
#[derive(Clone)]
pub struct EventRecorder {
    log: Arc<Mutex<Log>>,
    priority: i32,
}

#[derive(Default)]
struct Log {
    events: Vec<RecordedEvent>,
    scripts: HashMap<Arc<str>, ScriptedResults>,
    waiting: Vec<Waker>,
}

/// Scripted results of an event.
#[derive(Default)]
struct ScriptedResults {
    first: VecDeque<HookResult>,
    then: HookResult,
}

/// An event that an [`EventRecorder`] has recorded.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RecordedEvent {
    /// Position among all recorded events since the recorder was created or cleared, from 0.
    pub index: usize,
    /// Its name.
    pub event: Arc<str>,
    /// Its data, as the hooks before the recorder left them.
    pub data: Arc<Map>,
    /// Time of the call.
    pub at: Timestamp,
}

impl EventRecorder {
    /// Creates an empty recorder that is not registered yet.
    pub fn new() -> Self {
        EventRecorder {
            log: Arc::default(),
            priority: i32::MIN,
        }
    }

    /// Sets the priority of later registrations; `i32::MIN` by default.
    #[must_use]
    pub fn priority(mut self, priority: i32) -> Self {
        self.priority = priority;
        self
    }

    /// Returns this result for an event, every time, after the results of
    /// [`returning_in_turn`](Self::returning_in_turn).
    #[must_use]
    pub fn returning(self, event: impl Into<Arc<str>>, result: HookResult) -> Self {
        self.log().script(event.into()).then = result;
        self
    }

    /// Returns each of these results once for an event, and then continues as before.
    #[must_use]
    pub fn returning_in_turn(
        self,
        event: impl Into<Arc<str>>,
        results: impl IntoIterator<Item = HookResult>,
    ) -> Self {
        self.log().script(event.into()).first.extend(results);
        self
    }

    /// Registers it for these events; [`STANDARD`](crate::events::STANDARD) contains all that have
    /// a constant. Registration for every possible name is not supported.
    pub fn attach(
        &self,
        registry: &HookRegistry,
        events: impl IntoIterator<Item = impl Into<Arc<str>>>,
    ) -> Vec<Registration> {
        let events = events.into_iter();
        events
            .map(|event| self.attach_to(registry, event))
            .collect()
    }

    /// Registers it for one event.
    pub fn attach_to(&self, registry: &HookRegistry, event: impl Into<Arc<str>>) -> Registration {
        let log = Arc::clone(&self.log);
        registry.register(
            event,
            move |event: Arc<str>, data: Arc<Map>| {
                let (answer, waiting) = lock(&log).record(event, data);
                // Outside of the lock: a waker may poll the waiting task.
                waiting.into_iter().for_each(Waker::wake);
                answer
            },
            RegisterOptions::new()
                .name("event_recorder")
                .priority(self.priority),
        )
    }

    /// Returns all recorded events, in order.
    pub fn events(&self) -> Vec<RecordedEvent> {
        self.log().events.clone()
    }

    /// Returns the names of all recorded events, in order.
    pub fn names(&self) -> Vec<String> {
        self.log().names()
    }

    /// Returns the recorded events of this name, in order.
    pub fn of(&self, event: &str) -> Vec<RecordedEvent> {
        self.log().of(event)
    }

    /// Returns the number of recorded events.
    pub fn len(&self) -> usize {
        self.log().events.len()
    }

    /// Returns `true` if no event is recorded.
    pub fn is_empty(&self) -> bool {
        self.log().events.is_empty()
    }

    /// Removes the recorded events. The scripts stay.
    pub fn clear(&self) {
        self.log().events.clear();
    }

    /// Waits until it has recorded an event this many times since it was created or cleared, and
    /// returns these events. Wrap it in a timeout of your runtime: it has none.
    pub async fn wait_for(&self, event: &str, count: usize) -> Vec<RecordedEvent> {
        poll_fn(|cx| {
            let mut log = self.log();
            let seen = log.of(event);
            if seen.len() >= count {
                return Poll::Ready(seen);
            }
            // A waker of an earlier poll is woken once more, without harm.
            if !log.waiting.iter().any(|waker| waker.will_wake(cx.waker())) {
                log.waiting.push(cx.waker().clone());
            }
            Poll::Pending
        })
        .await
    }

    /// Asserts that it has recorded exactly these events, in this order.
    ///
    /// # Panics
    /// If it has not; the message shows the first difference.
    #[track_caller]
    pub fn assert_sequence<E: AsRef<str>>(&self, expected: impl IntoIterator<Item = E>) {
        let seen = self.names();
        let expected = expected.into_iter().map(|name| name.as_ref().to_owned());
        let expected: Vec<String> = expected.collect();
        if seen != expected {
            panic!("{}", parted(&expected, &seen));
        }
    }

    /// Asserts that it has recorded this event this many times.
    ///
    /// # Panics
    /// If it has not; the message lists the recorded events.
    #[track_caller]
    pub fn assert_count(&self, event: &str, expected: usize) {
        let (seen, names) = (self.of(event).len(), self.names());
        assert!(
            seen == expected,
            "event `{}` was emitted {seen} times, not {expected}; recorded are {}",
            shown::text(event),
            list(&names),
        );
    }

    /// Asserts that it has not recorded this event.
    ///
    /// # Panics
    /// If it has; the message shows the data.
    #[track_caller]
    pub fn assert_none(&self, event: &str) {
        if let Some(first) = self.of(event).first() {
            panic!(
                "event `{}` was emitted, as number {} with {}; recorded are {}",
                shown::text(event),
                first.index,
                shown::json(&*first.data),
                list(&self.names()),
            );
        }
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        lock(&self.log)
    }
}

impl Log {
    fn record(&mut self, event: Arc<str>, data: Arc<Map>) -> (HookResult, Vec<Waker>) {
        let answer = match self.scripts.get_mut(&event) {
            Some(script) => script
                .first
                .pop_front()
                .unwrap_or_else(|| script.then.clone()),
            None => HookResult::proceed(),
        };
        self.events.push(RecordedEvent {
            index: self.events.len(),
            event,
            data,
            at: Timestamp::now(),
        });
        (answer, mem::take(&mut self.waiting))
    }

    fn script(&mut self, event: Arc<str>) -> &mut ScriptedResults {
        self.scripts.entry(event).or_default()
    }

    fn names(&self) -> Vec<String> {
        let names = self.events.iter().map(|seen| seen.event.to_string());
        names.collect()
    }

    fn of(&self, event: &str) -> Vec<RecordedEvent> {
        let seen = self.events.iter().filter(|seen| &*seen.event == event);
        seen.cloned().collect()
    }
}

/// Describes the first difference between two sequences.
fn parted(expected: &[String], seen: &[String]) -> String {
    let same = expected.iter().zip(seen).take_while(|(a, b)| a == b);
    let at = same.count();
    let mut message = String::from("the events are not the expected ones\n");
    for index in 0..expected.len().max(seen.len()) {
        let name = |names: &[String]| match names.get(index) {
            Some(name) => format!("`{}`", shown::text(name)),
            None => "nothing".to_owned(),
        };
        let mark = if index == at {
            "  <- they part here"
        } else {
            ""
        };
        let _ = writeln!(
            message,
            "  {index}: expected {}, recorded {}{mark}",
            name(expected),
            name(seen),
        );
    }
    message
}

fn list(names: &[String]) -> String {
    if names.is_empty() {
        return "no events".to_owned();
    }
    let names: Vec<_> = names
        .iter()
        .map(|name| format!("`{}`", shown::text(name)))
        .collect();
    names.join(", ")
}

impl Default for EventRecorder {
    fn default() -> Self {
        EventRecorder::new()
    }
}

impl fmt::Debug for EventRecorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventRecorder")
            .field("priority", &self.priority)
            .field("events", &self.names())
            .finish_non_exhaustive()
    }
}
