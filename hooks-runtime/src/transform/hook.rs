//! Transforms, and their outputs.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::sync::Arc;

use hooks_core::{HookFuture, HookObject};

use super::input::TransformInput;
use crate::HookError;

/// Output of a transform.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "without it, the value stays unchanged"]
pub enum Transformed<T: ?Sized> {
    /// The value stays as it is.
    Unchanged,
    /// This value replaces it.
    Changed(Arc<T>),
    /// The caller gets no value, for this reason.
    Denied(String),
}

impl<T: ?Sized> Transformed<T> {
    /// Replaces the value.
    pub fn changed(value: impl Into<Arc<T>>) -> Self {
        Transformed::Changed(value.into())
    }

    /// Withholds the value, for this reason.
    pub fn denied(reason: impl Into<String>) -> Self {
        Transformed::Denied(reason.into())
    }
}

/// A hook that may change a value.
///
/// ```
/// use hooks_runtime::HookError;
/// use hooks_runtime::transform::{TransformHook, TransformInput, Transformed};
///
/// /// Cuts long outputs.
/// struct MaxLength(usize);
///
/// impl TransformHook<String> for MaxLength {
///     fn id(&self) -> &str {
///         "max-length"
///     }
///
///     async fn transform(
///         &self,
///         input: TransformInput<'_, String>,
///     ) -> Result<Transformed<String>, HookError> {
///         Ok(match input.current().char_indices().nth(self.0) {
///             Some((end, _)) => Transformed::changed(input.current()[..end].to_owned()),
///             None => Transformed::Unchanged,
///         })
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a transform of `{T}`; implement `TransformHook<{T}>`, or wrap a closure: `TransformFn::new(\"id\", |input: TransformInput<'_, {T}>| …)`",
    label = "not a transform"
)]
pub trait TransformHook<T: ?Sized>: Send + Sync {
    /// Returns the id: registering another hook with this id replaces it.
    fn id(&self) -> &str;

    /// Changes the value. Implement it as an `async fn`.
    ///
    /// # Errors
    /// If the hook fails: the caller gets no value, unless the registration
    /// [isolates](crate::FailurePolicy::Isolate) failures.
    fn transform(
        &self,
        input: TransformInput<'_, T>,
    ) -> impl Future<Output = Result<Transformed<T>, HookError>> + Send;

    #[doc(hidden)]
    fn __start<'a>(
        &'a self,
        raw: &Arc<T>,
        current: &Arc<T>,
    ) -> HookFuture<'a, Result<Transformed<T>, HookError>>
    where
        Self: Sized,
        T: Send + Sync + 'a,
    {
        let (raw, current) = (Arc::clone(raw), Arc::clone(current));
        HookFuture::boxed(async move {
            let input = TransformInput {
                current: &*current,
                raw: &*raw,
            };
            self.transform(input).await
        })
    }
}

#[diagnostic::do_not_recommend]
impl<T: ?Sized, H: TransformHook<T>> TransformHook<T> for Arc<H> {
    fn id(&self) -> &str {
        (**self).id()
    }

    fn transform(
        &self,
        input: TransformInput<'_, T>,
    ) -> impl Future<Output = Result<Transformed<T>, HookError>> + Send {
        (**self).transform(input)
    }

    fn __start<'a>(
        &'a self,
        raw: &Arc<T>,
        current: &Arc<T>,
    ) -> HookFuture<'a, Result<Transformed<T>, HookError>>
    where
        T: Send + Sync + 'a,
    {
        (**self).__start(raw, current)
    }
}

/// A function as a transform. It returns directly, without a future.
pub struct TransformFn<F, R = ()> {
    id: String,
    function: F,
    output: PhantomData<fn() -> R>,
}

impl<F> TransformFn<F> {
    /// Creates a hook from a function that takes a [`TransformInput`] and returns a
    /// [`Transformed`] or a `Result<Transformed<T>, E>`.
    pub fn new<T: ?Sized, R>(id: impl Into<String>, function: F) -> TransformFn<F, R>
    where
        F: Fn(TransformInput<'_, T>) -> R,
    {
        TransformFn {
            id: id.into(),
            function,
            output: PhantomData,
        }
    }
}

impl<T, F, R> TransformHook<T> for TransformFn<F, R>
where
    T: ?Sized + Send + Sync,
    F: Fn(TransformInput<'_, T>) -> R + HookObject,
    R: IntoTransformed<T>,
{
    fn id(&self) -> &str {
        &self.id
    }

    async fn transform(&self, input: TransformInput<'_, T>) -> Result<Transformed<T>, HookError> {
        (self.function)(input).into_transformed()
    }

    fn __start<'a>(
        &'a self,
        raw: &Arc<T>,
        current: &Arc<T>,
    ) -> HookFuture<'a, Result<Transformed<T>, HookError>>
    where
        T: Send + Sync + 'a,
    {
        let input = TransformInput {
            current: &**current,
            raw: &**raw,
        };
        HookFuture::Ready((self.function)(input).into_transformed())
    }
}

impl<F, R> fmt::Debug for TransformFn<F, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TransformFn").field(&self.id).finish()
    }
}

/// Return type of a function that is a transform.
#[diagnostic::on_unimplemented(
    message = "invalid output `{Self}` of a transform of `{T}`; return a `Transformed<{T}>` or a `Result<Transformed<{T}>, E>` whose `E` is a string or an error that is `Send + Sync`",
    label = "invalid output"
)]
pub trait IntoTransformed<T: ?Sized> {
    /// Converts the value.
    #[doc(hidden)]
    fn into_transformed(self) -> Result<Transformed<T>, HookError>;
}

impl<T: ?Sized> IntoTransformed<T> for Transformed<T> {
    fn into_transformed(self) -> Result<Transformed<T>, HookError> {
        Ok(self)
    }
}

#[diagnostic::do_not_recommend]
impl<T: ?Sized, E: Into<Box<dyn Error + Send + Sync>>> IntoTransformed<T>
    for Result<Transformed<T>, E>
{
    fn into_transformed(self) -> Result<Transformed<T>, HookError> {
        self.map_err(HookError::new)
    }
}
