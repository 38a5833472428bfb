//! Result of a run of transforms.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use crate::HookError;

/// Result of a run: the value after all changes, and the raw value.
#[derive(Debug)]
#[non_exhaustive]
pub struct TransformOutcome<T: ?Sized> {
    /// The value after all changes.
    pub value: Arc<T>,
    /// The value before all changes.
    pub raw: Arc<T>,
    /// Names of the hooks that changed the value, in execution order.
    pub changed_by: Vec<Arc<str>>,
}

impl<T: ?Sized> Clone for TransformOutcome<T> {
    fn clone(&self) -> Self {
        TransformOutcome {
            value: Arc::clone(&self.value),
            raw: Arc::clone(&self.raw),
            changed_by: self.changed_by.clone(),
        }
    }
}

/// Reason for which there is no value.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum TransformError {
    /// A hook denied the value.
    Denied {
        /// Name of the hook.
        hook: Arc<str>,
        /// Reason of the hook.
        reason: String,
    },
    /// A hook failed.
    Failed(HookError),
}

impl fmt::Display for TransformError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TransformError::Denied { hook, reason } => write!(f, "denied by `{hook}`: {reason}"),
            // Names the hook.
            TransformError::Failed(error) => error.fmt(f),
        }
    }
}

impl Error for TransformError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            TransformError::Denied { .. } => None,
            TransformError::Failed(error) => error.failure().source(),
        }
    }
}
