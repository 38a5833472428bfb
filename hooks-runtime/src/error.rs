//! The error of a hook.

use std::error::Error;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use hooks_core::__private::drop_catching_panic;
use hooks_core::Failure;

/// What went wrong in a hook: any error, by `?` or `.into()`, or a panic or a timeout.
///
/// It is no [`Error`] itself, so that every error can become one; as a
/// `Box<dyn Error + Send + Sync>` it is.
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
    /// An error of the hook's own: a text, or an error.
    pub fn new(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        match error.into().downcast::<Boxed>() {
            // It has been one all along.
            Ok(boxed) => boxed.0,
            Err(error) => HookError::from_fault(Failure::error(error)),
        }
    }

    /// What went wrong, where it is no error of the hook's own.
    pub fn from_fault(failure: Failure) -> Self {
        HookError {
            failure,
            hook: None,
        }
    }

    /// What went wrong in this hook.
    pub(crate) fn of(hook: Arc<str>, failure: Failure) -> Self {
        HookError {
            failure,
            hook: Some(hook),
        }
    }

    /// What went wrong.
    pub fn failure(&self) -> &Failure {
        &self.failure
    }

    pub(crate) fn into_fault(self) -> Failure {
        self.failure
    }

    /// The hook that failed, once the error has left it.
    pub fn hook(&self) -> Option<&str> {
        self.hook.as_deref()
    }

    /// The error that the hook answered with, if it is of this type.
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

/// An error of the hook's own in its own words, any other failure with the name of the hook.
impl fmt::Display for HookError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.failure, &self.hook) {
            (Failure::Error(error), _) => error.fmt(f),
            (failure, Some(hook)) => write!(f, "hook `{hook}` {failure}"),
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

/// The error as what other errors are.
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

/// What something of a hook's is displayed as, also where that panics.
pub(crate) fn text(shown: &dyn fmt::Display) -> String {
    let shown = catch_unwind(AssertUnwindSafe(|| shown.to_string()));
    shown.unwrap_or_else(|payload| {
        drop_catching_panic(payload);
        "an error that cannot be shown".to_owned()
    })
}
