//! Shared helpers: logs, handlers with scripts, and a subscriber for log messages.

use std::cell::RefCell;
use std::fmt::{self, Write};
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Once};

use hooks_runtime::{Emission, EventData, HookRegistry, HookResult, Map, RegisterOptions};
pub(crate) use hooks_tests::{Log, yield_once};
use serde_json::Value;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// Returns the fields of an object.
pub(crate) fn map(value: Value) -> Map {
    match value {
        Value::Object(map) => map,
        other => panic!("not an object: {other}"),
    }
}

/// Returns the default options.
pub(crate) fn plain() -> RegisterOptions {
    RegisterOptions::new()
}

/// Returns options with this priority.
pub(crate) fn at(priority: i32) -> RegisterOptions {
    RegisterOptions::new().priority(priority)
}

/// Returns options with this name.
pub(crate) fn named(name: impl Into<String>) -> RegisterOptions {
    RegisterOptions::new().name(name.into())
}

/// Emits data that are an object, without a hook that propagates.
pub(crate) async fn emit(
    registry: &HookRegistry,
    event: &str,
    data: impl Into<EventData>,
) -> Emission {
    registry
        .emit(event, data)
        .await
        .expect("the emission has a result")
}

/// Returns a handler with a fixed result.
pub(crate) fn returning(
    result: HookResult,
) -> impl Fn(Arc<str>, Arc<Map>) -> HookResult + Send + Sync + 'static {
    move |_event: Arc<str>, _data: Arc<Map>| result.clone()
}

/// Returns a handler that adds a line when it is called, with a fixed result.
pub(crate) fn logging(
    log: &Log,
    line: impl Into<String>,
    result: HookResult,
) -> impl Fn(Arc<str>, Arc<Map>) -> HookResult + Send + Sync + 'static {
    let (log, line) = (log.clone(), line.into());
    move |_event: Arc<str>, _data: Arc<Map>| {
        log.add(&line);
        result.clone()
    }
}

/// Returns a handler that records its data, as JSON.
pub(crate) fn recording_data(
    log: &Log,
) -> impl Fn(Arc<str>, Arc<Map>) -> HookResult + Send + Sync + 'static {
    let log = log.clone();
    move |_event: Arc<str>, data: Arc<Map>| {
        log.add(Value::Object(Map::clone(&data)));
        HookResult::proceed()
    }
}

/// Returns the message of the panic of a registration.
pub(crate) fn refusal<R>(register: impl FnOnce() -> R) -> String {
    let Err(payload) = catch_unwind(AssertUnwindSafe(register)) else {
        panic!("the registration is not refused");
    };
    let text = payload.downcast_ref::<String>().cloned();
    text.unwrap_or_else(|| payload.downcast_ref::<&str>().unwrap().to_string())
}

/// Returns `true` if its owner has been dropped.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dropped(Arc<AtomicBool>);

impl Dropped {
    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    pub(crate) fn guard(&self) -> DropGuard {
        DropGuard(self.clone())
    }
}

pub(crate) struct DropGuard(Dropped);

impl Drop for DropGuard {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::SeqCst);
    }
}

thread_local! {
    static CAPTURED: RefCell<Option<Vec<String>>> = const { RefCell::new(None) };
}

/// Returns the log messages of this thread while `act` runs: `LEVEL field=value …`, one line per
/// event.
pub(crate) async fn capture_logs<R>(act: impl Future<Output = R>) -> (R, Vec<String>) {
    static INSTALL: Once = Once::new();
    INSTALL.call_once(|| {
        tracing::subscriber::set_global_default(LogCapture).expect("the only subscriber");
    });
    CAPTURED.set(Some(Vec::new()));
    let output = act.await;
    (output, CAPTURED.take().unwrap_or_default())
}

/// Returns `true` if a line of this level contains all of these words.
pub(crate) fn has_line(lines: &[String], level: &str, words: &[&str]) -> bool {
    let is_match =
        |line: &&String| line.starts_with(level) && words.iter().all(|word| line.contains(word));
    lines.iter().any(|line| is_match(&line))
}

struct LogCapture;

impl Subscriber for LogCapture {
    fn enabled(&self, _metadata: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _span: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _span: &Id, _values: &Record<'_>) {}

    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line(event.metadata().level().to_string());
        event.record(&mut line);
        CAPTURED.with_borrow_mut(|captured| {
            if let Some(lines) = captured {
                lines.push(line.0);
            }
        });
    }

    fn enter(&self, _span: &Id) {}

    fn exit(&self, _span: &Id) {}
}

struct Line(String);

impl Visit for Line {
    fn record_str(&mut self, field: &Field, value: &str) {
        let _ = write!(self.0, " {}={value}", field.name());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let _ = write!(self.0, " {}={value:?}", field.name());
    }
}
