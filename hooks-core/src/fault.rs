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
pub enum Fault {
    /// The hook answered with an error.
    Error(Arc<dyn Error + Send + Sync>),
    /// The hook panicked, with this message.
    Panic(Arc<str>),
    /// The hook had no answer when its time was up.
    Timeout(Duration),
    /// The hook's answer breaks its contract, for this reason.
    Invalid(Arc<str>),
}

impl Fault {
    /// An error of the hook's own.
    pub fn error(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Fault::Error(error.into().into())
    }

    /// An answer that breaks its contract.
    pub fn invalid(why: impl Into<Arc<str>>) -> Self {
        Fault::Invalid(why.into())
    }

    /// A panic, with the payload that `catch_unwind` gave.
    pub fn panic(payload: Box<dyn Any + Send>) -> Self {
        let message: Arc<str> = payload
            .downcast_ref::<&str>()
            .copied()
            .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
            .unwrap_or("not a text")
            .into();
        discard(payload);
        Fault::Panic(message)
    }

    /// The kind of fault in one word, for logs and metrics: `error`, `panic`, `timeout` or
    /// `invalid`.
    pub fn kind(&self) -> &'static str {
        match self {
            Fault::Error(_) => "error",
            Fault::Panic(_) => "panic",
            Fault::Timeout(_) => "timeout",
            Fault::Invalid(_) => "invalid",
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Error(error) => write!(f, "failed: {error}"),
            Fault::Panic(message) => write!(f, "panicked: {message}"),
            Fault::Timeout(limit) => write!(f, "had no answer after {limit:?}"),
            Fault::Invalid(why) => write!(f, "gave an invalid answer: {why}"),
        }
    }
}

impl Error for Fault {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Fault::Error(error) => Some(&**error),
            Fault::Panic(_) | Fault::Timeout(_) | Fault::Invalid(_) => None,
        }
    }
}

/// Drops something of a hook's, whose destructor may panic: that is no news any more.
pub fn discard<T>(value: T) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(value))) {
        mem::forget(payload);
    }
}

/// What a fault of a hook does to the dispatch. Every slot has one of its own, and a
/// registration may ask for another (`X-2`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum FailurePolicy {
    /// The dispatch ends with the fault.
    Propagate,
    /// The fault is logged, and the dispatch goes on as if the hook were not there.
    Isolate,
    /// The dispatch ends with the answer no, which names the hook and its fault: what a
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
