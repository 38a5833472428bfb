//! What can go wrong in a hook, and what a slot does about it.

use std::any::Any;
use std::error::Error;
use std::fmt;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

/// What went wrong in a hook (`X-2`).
///
/// Prints as the end of a sentence about the hook: "panicked: …".
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Failure {
    /// The hook answered with an error.
    Error(Arc<dyn Error + Send + Sync>),
    /// The hook panicked, with this message.
    Panic(Arc<str>),
    /// The hook had no answer when its time was up.
    Timeout(Duration),
    /// The hook's answer breaks its contract, for this reason.
    Invalid(Arc<str>),
}

impl Failure {
    /// An error of the hook's own.
    pub fn error(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Failure::Error(error.into().into())
    }

    /// An answer that breaks its contract.
    pub fn invalid(why: impl Into<Arc<str>>) -> Self {
        Failure::Invalid(why.into())
    }

    /// A panic, with the payload that `catch_unwind` gave.
    pub fn panic(payload: Box<dyn Any + Send>) -> Self {
        let message: Arc<str> = payload
            .downcast_ref::<&str>()
            .copied()
            .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
            .unwrap_or("not a text")
            .into();
        drop_catching_panic(payload);
        Failure::Panic(message)
    }

    /// The kind of failure in one word, for logs and metrics: `error`, `panic`, `timeout` or
    /// `invalid`.
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
            Failure::Timeout(limit) => write!(f, "had no answer after {limit:?}"),
            Failure::Invalid(why) => write!(f, "gave an invalid answer: {why}"),
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

/// Drops something of a hook's, whose destructor may panic: that is no news any more.
pub fn drop_catching_panic<T>(value: T) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(value))) {
        mem::forget(payload);
    }
}

/// What a failure of a hook does to the dispatch. Every slot has one of its own, and a
/// registration may ask for another (`X-2`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum FailurePolicy {
    /// The dispatch ends with the failure.
    Propagate,
    /// The failure is logged, and the dispatch goes on as if the hook were not there.
    Isolate,
    /// The dispatch ends with the answer no, which names the hook and its failure: what a
    /// security hook needs.
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
