//! The error of a hook.

use std::error::Error;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use hooks_core::__private::drop_catching_panic;
use hooks_core::Failure;

/// Error of a hook: any error, by `?` or `.into()`, or a panic or a timeout.
///
/// It does not implement [`Error`], so that every error converts into it; convert it to a `Box<dyn
/// Error + Send + Sync>` for that.
///
/// ```
/// use hooks_runtime::HookError;
///
/// fn read() -> Result<String, HookError> {
///     Ok(std::fs::read_to_string("/no/such/file")?)
/// }
///
/// let error = read().unwrap_err();
/// assert!(error.downcast_ref::<std::io::Error>().is_some());
/// ```
#[derive(Clone)]
pub struct HookError {
    failure: Failure,
    hook: Option<Arc<str>>,
}

impl HookError {
    /// Creates an error of the hook from a text or an error.
    pub fn new(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        match error.into().downcast::<Boxed>() {
            // The box already contains a `HookError`.
            Ok(boxed) => boxed.0,
            Err(error) => HookError::from_failure(Failure::error(error)),
        }
    }

    /// Creates an error from a failure that is not the hook's own error.
    pub fn from_failure(failure: Failure) -> Self {
        HookError {
            failure,
            hook: None,
        }
    }

    /// Creates the error of a failure in this hook.
    pub(crate) fn of(hook: Arc<str>, failure: Failure) -> Self {
        HookError {
            failure,
            hook: Some(hook),
        }
    }

    /// Returns the failure.
    pub fn failure(&self) -> &Failure {
        &self.failure
    }

    pub(crate) fn into_failure(self) -> Failure {
        self.failure
    }

    /// Returns the hook that failed, once the error has left it.
    pub fn hook(&self) -> Option<&str> {
        self.hook.as_deref()
    }

    /// Returns the error that the hook returned, if it is of this type.
    pub fn downcast_ref<E: Error + 'static>(&self) -> Option<&E> {
        match &self.failure {
            Failure::Error(error) => error.downcast_ref(),
            _ => None,
        }
    }
}

impl<E: Error + Send + Sync + 'static> From<E> for HookError {
    fn from(error: E) -> Self {
        HookError::new(error)
    }
}

impl From<HookError> for Box<dyn Error + Send + Sync> {
    fn from(error: HookError) -> Self {
        Box::new(Boxed(error))
    }
}

/// Displays the failure with the name of the hook, as in "hook `guard` failed: …". Within the hook,
/// where the error has no name yet, the hook's own error is displayed as it is.
impl fmt::Display for HookError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.failure, &self.hook) {
            (failure, Some(hook)) => write!(f, "hook `{hook}` {failure}"),
            (Failure::Error(error), None) => error.fmt(f),
            (failure, None) => write!(f, "the hook {failure}"),
        }
    }
}

impl fmt::Debug for HookError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HookError")
            .field("hook", &self.hook)
            .field("failure", &self.failure)
            .finish()
    }
}

/// The error of a run whose hooks were pending at its deadline
/// ([`RegistryOptions::deadline`](crate::RegistryOptions::deadline)), in a [`HookError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeadlineExceeded {
    /// Time from the start to the deadline.
    pub after: Duration,
}

impl DeadlineExceeded {
    pub(crate) fn new(after: Duration) -> Self {
        DeadlineExceeded { after }
    }
}

impl fmt::Display for DeadlineExceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "hooks were pending at the deadline, after {:?}",
            self.after
        )
    }
}

impl Error for DeadlineExceeded {}

/// A `HookError` that implements [`Error`].
#[derive(Debug)]
struct Boxed(HookError);

impl fmt::Display for Boxed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for Boxed {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.0.failure {
            Failure::Error(error) => error.source(),
            failure => failure.source(),
        }
    }
}

/// Returns the text of a hook's value, even if its `Display` panics.
pub(crate) fn text(shown: &dyn fmt::Display) -> String {
    let shown = catch_unwind(AssertUnwindSafe(|| shown.to_string()));
    shown.unwrap_or_else(|payload| {
        drop_catching_panic(payload);
        "an error that cannot be shown".to_owned()
    })
}
