//! Failures of hooks, and their effect on a dispatch.

use std::any::Any;
use std::error::Error;
use std::fmt;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

/// The failure of a hook.
///
/// Prints as the end of a sentence about the hook: "panicked: …".
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Failure {
    /// The hook returned an error.
    Error(Arc<dyn Error + Send + Sync>),
    /// The hook panicked, with this message.
    Panic(Arc<str>),
    /// The hook did not complete within this time.
    Timeout(Duration),
    /// The hook's output is invalid, for this reason.
    Invalid(Arc<str>),
}

impl Failure {
    /// Creates the failure of a hook that returned an error.
    pub fn error(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Failure::Error(error.into().into())
    }

    /// Creates the failure of a hook whose output is invalid.
    pub fn invalid(why: impl Into<Arc<str>>) -> Self {
        Failure::Invalid(why.into())
    }

    /// Creates the failure of a hook that panicked, from the payload that `catch_unwind` returned.
    pub fn panic(payload: Box<dyn Any + Send>) -> Self {
        let failure = Failure::of_payload(&*payload);
        drop_catching_panic(payload);
        failure
    }

    /// Creates the failure of a hook that panicked, from the payload of a panic that continues with
    /// `resume_unwind`.
    pub fn of_payload(payload: &(dyn Any + Send)) -> Self {
        let message: Arc<str> = payload
            .downcast_ref::<&str>()
            .copied()
            .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
            .unwrap_or("not a text")
            .into();
        Failure::Panic(message)
    }

    /// Returns the kind of failure in one word, for logs and metrics: `error`, `panic`, `timeout`
    /// or `invalid`.
    pub fn kind(&self) -> &'static str {
        match self {
            Failure::Error(_) => "error",
            Failure::Panic(_) => "panic",
            Failure::Timeout(_) => "timeout",
            Failure::Invalid(_) => "invalid",
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Error(error) => write!(f, "failed: {error}"),
            Failure::Panic(message) => write!(f, "panicked: {message}"),
            Failure::Timeout(limit) => write!(f, "timed out after {limit:?}"),
            Failure::Invalid(why) => write!(f, "returned an invalid output: {why}"),
        }
    }
}

impl Error for Failure {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Failure::Error(error) => Some(&**error),
            Failure::Panic(_) | Failure::Timeout(_) | Failure::Invalid(_) => None,
        }
    }
}

/// Drops a value of a hook and swallows a panic of its destructor.
pub fn drop_catching_panic<T>(value: T) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(value))) {
        mem::forget(payload);
    }
}

/// The effect of a hook's failure on the dispatch. Every slot has a default, which a registration
/// may override.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum FailurePolicy {
    /// The dispatch ends with the failure. In a typed slot, a panic continues to the caller with its
    /// own payload; if a `tracing` subscriber records the spans of dispatches, the panic is logged
    /// before, with its slot and its hook.
    Propagate,
    /// The failure is logged, and the dispatch continues without the hook's output.
    Isolate,
    /// The dispatch ends with a denial that names the hook and its failure, for security hooks.
    FailClosed,
}

impl fmt::Display for FailurePolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FailurePolicy::Propagate => "propagate",
            FailurePolicy::Isolate => "isolate",
            FailurePolicy::FailClosed => "fail closed",
        })
    }
}
