//! The traits of PRE and POST hooks.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::sync::Arc;

use hooks_core::{HookFuture, HookObject};

use super::around::{PostCall, PreCall};
use super::response::HookResponse;
use crate::HookError;
use crate::registry::call::{DynCall, PlainHook};

/// A hook before a call; receives the request.
///
/// ```
/// use hooks_runtime::{HookError, HookResponse, PreHook, ResponseAction};
///
/// struct Budget(u32);
///
/// impl PreHook<u32> for Budget {
///     fn id(&self) -> &str {
///         "budget"
///     }
///
///     fn priority(&self) -> Option<i32> {
///         Some(40)
///     }
///
///     async fn execute(&self, cost: &u32) -> Result<HookResponse, HookError> {
///         Ok(if *cost > self.0 {
///             HookResponse::new(ResponseAction::Halt).reason("Budget Exceeded")
///         } else {
///             HookResponse::default()
///         })
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a PRE hook for `{Req}`; implement `PreHook<{Req}>`, or wrap a closure: `PreFn::new(\"id\", |request: &{Req}| …)`",
    label = "not a PRE hook"
)]
pub trait PreHook<Req: ?Sized>: Send + Sync {
    /// Returns the id among the PRE hooks: registering another hook with this id replaces it.
    fn id(&self) -> &str;

    /// Returns the priority, if the registration sets none; the default is 100.
    fn priority(&self) -> Option<i32> {
        None
    }

    /// Handles the request. Implement it as an `async fn`.
    ///
    /// # Errors
    /// If the hook fails: the call must not happen, and no later hook runs, unless the registration
    /// has another failure policy.
    fn execute(
        &self,
        request: &Req,
    ) -> impl Future<Output = Result<HookResponse, HookError>> + Send;

    #[doc(hidden)]
    fn __start<'a>(&'a self, request: &'a Req) -> HookFuture<'a, Result<HookResponse, HookError>>
    where
        Self: Sized,
    {
        HookFuture::boxed(self.execute(request))
    }
}

/// A hook after a call; receives the result and the id of the request, if there is one. Its output
/// does not affect the caller: an error is logged.
///
/// ```
/// use std::sync::atomic::{AtomicUsize, Ordering};
///
/// use hooks_runtime::{HookError, PhaseRegistry, PostHook, RegisterOptions};
///
/// /// Counts the failures.
/// #[derive(Default)]
/// struct Failures(AtomicUsize);
///
/// impl PostHook<Result<String, String>> for Failures {
///     fn id(&self) -> &str {
///         "failures"
///     }
///
///     async fn execute(
///         &self,
///         result: &Result<String, String>,
///         request_id: Option<&str>,
///     ) -> Result<(), HookError> {
///         if result.is_err() {
///             self.0.fetch_add(1, Ordering::Relaxed);
///             println!("{} has failed", request_id.unwrap_or("a call"));
///         }
///         Ok(())
///     }
/// }
///
/// let registry: PhaseRegistry<str, Result<String, String>> = PhaseRegistry::new();
/// registry.register_post(Failures::default(), RegisterOptions::new());
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a POST hook for `{Res}`; implement `PostHook<{Res}>`, or wrap a closure: `PostFn::new(\"id\", |result: &{Res}, request_id: Option<&str>| …)`",
    label = "not a POST hook"
)]
pub trait PostHook<Res: ?Sized>: Send + Sync {
    /// Returns the id among the POST hooks: registering another hook with this id replaces it.
    fn id(&self) -> &str;

    /// Handles the result. Implement it as an `async fn`.
    ///
    /// # Errors
    /// Errors are logged; the other hooks still run.
    fn execute(
        &self,
        result: &Res,
        request_id: Option<&str>,
    ) -> impl Future<Output = Result<(), HookError>> + Send;

    #[doc(hidden)]
    fn __start<'a>(
        &'a self,
        result: &'a Res,
        request_id: Option<&'a str>,
    ) -> HookFuture<'a, Result<(), HookError>>
    where
        Self: Sized,
    {
        HookFuture::boxed(self.execute(result, request_id))
    }
}

/// Implements both traits for a pointer to a hook.
macro_rules! pointers_to_hooks {
    ($($pointer:ty),*) => {$(
        #[diagnostic::do_not_recommend]
        impl<Req: ?Sized, H: PreHook<Req>> PreHook<Req> for $pointer {
            fn id(&self) -> &str {
                (**self).id()
            }

            fn priority(&self) -> Option<i32> {
                (**self).priority()
            }

            fn execute(
                &self,
                request: &Req,
            ) -> impl Future<Output = Result<HookResponse, HookError>> + Send {
                (**self).execute(request)
            }

            fn __start<'a>(
                &'a self,
                request: &'a Req,
            ) -> HookFuture<'a, Result<HookResponse, HookError>> {
                (**self).__start(request)
            }
        }

        #[diagnostic::do_not_recommend]
        impl<Res: ?Sized, H: PostHook<Res>> PostHook<Res> for $pointer {
            fn id(&self) -> &str {
                (**self).id()
            }

            fn execute(
                &self,
                result: &Res,
                request_id: Option<&str>,
            ) -> impl Future<Output = Result<(), HookError>> + Send {
                (**self).execute(result, request_id)
            }

            fn __start<'a>(
                &'a self,
                result: &'a Res,
                request_id: Option<&'a str>,
            ) -> HookFuture<'a, Result<(), HookError>> {
                (**self).__start(result, request_id)
            }
        }
    )*};
}

pointers_to_hooks!(Arc<H>, Box<H>, &H);

impl<Req: ?Sized + 'static, H: PreHook<Req>> DynCall<PreCall<Req>> for PlainHook<H> {
    #[inline]
    fn start<'b, 'a: 'b>(
        &'b self,
        request: &&'a Req,
    ) -> HookFuture<'b, Result<HookResponse, HookError>> {
        self.0.__start(request)
    }
}

impl<Res: ?Sized + 'static, H: PostHook<Res>> DynCall<PostCall<Res>> for PlainHook<H> {
    #[inline]
    fn start<'b, 'a: 'b>(
        &'b self,
        (result, request_id): &(&'a Res, Option<&'a str>),
    ) -> HookFuture<'b, Result<(), HookError>> {
        self.0.__start(result, *request_id)
    }
}

/// A function as a PRE hook. It returns directly, without a future; its priority is the
/// registration's, else 100.
///
/// ```
/// use hooks_runtime::phases::PreFn;
/// use hooks_runtime::{HookResponse, PhaseRegistry, RegisterOptions, ResponseAction};
///
/// let registry: PhaseRegistry<str, str> = PhaseRegistry::new();
/// registry.register_pre(
///     PreFn::new("no-rm", |command: &str| match command.starts_with("rm ") {
///         true => HookResponse::new(ResponseAction::Deny),
///         false => HookResponse::default(),
///     }),
///     RegisterOptions::new().priority(10),
/// );
/// ```
pub struct PreFn<F, M = ()> {
    id: String,
    function: F,
    output: PhantomData<fn() -> M>,
}

impl<F> PreFn<F> {
    /// Creates a hook from a function that takes a request and returns a [`HookResponse`] or a
    /// `Result<HookResponse, E>`.
    pub fn new<Req: ?Sized, R>(id: impl Into<String>, function: F) -> PreFn<F, R>
    where
        F: Fn(&Req) -> R,
    {
        PreFn {
            id: id.into(),
            function,
            output: PhantomData,
        }
    }
}

impl<F, R> PreFn<F, R> {
    fn respond<Req: ?Sized>(&self, request: &Req) -> Result<HookResponse, HookError>
    where
        F: Fn(&Req) -> R,
        R: IntoResponse,
    {
        (self.function)(request).into_response()
    }
}

impl<Req: ?Sized + Sync, F, R> PreHook<Req> for PreFn<F, R>
where
    F: Fn(&Req) -> R + HookObject,
    R: IntoResponse,
{
    fn id(&self) -> &str {
        &self.id
    }

    async fn execute(&self, request: &Req) -> Result<HookResponse, HookError> {
        self.respond(request)
    }

    fn __start<'a>(&'a self, request: &'a Req) -> HookFuture<'a, Result<HookResponse, HookError>> {
        HookFuture::Ready(self.respond(request))
    }
}

impl<F, M> fmt::Debug for PreFn<F, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PreFn").field(&self.id).finish()
    }
}

/// A function as a POST hook. It returns directly, without a future. It takes the result, and the
/// id of the request, if the host has one.
///
/// ```
/// use hooks_runtime::phases::PostFn;
/// use hooks_runtime::{PhaseRegistry, RegisterOptions};
///
/// let registry: PhaseRegistry<str, bool> = PhaseRegistry::new();
/// registry.register_post(
///     PostFn::new("audit", |done: &bool, request: Option<&str>| {
///         println!("{}: {done}", request.unwrap_or("a call"));
///     }),
///     RegisterOptions::new(),
/// );
/// ```
pub struct PostFn<F, M = ()> {
    id: String,
    function: F,
    output: PhantomData<fn() -> M>,
}

impl<F> PostFn<F> {
    /// Creates a hook from a function that takes a result and the id of the request, and returns
    /// nothing or a `Result<(), E>`.
    pub fn new<Res: ?Sized, R>(id: impl Into<String>, function: F) -> PostFn<F, R>
    where
        F: Fn(&Res, Option<&str>) -> R,
    {
        PostFn {
            id: id.into(),
            function,
            output: PhantomData,
        }
    }
}

impl<Res: ?Sized + Sync, F, R> PostHook<Res> for PostFn<F, R>
where
    F: Fn(&Res, Option<&str>) -> R + HookObject,
    R: IntoDone,
{
    fn id(&self) -> &str {
        &self.id
    }

    async fn execute(&self, result: &Res, request_id: Option<&str>) -> Result<(), HookError> {
        (self.function)(result, request_id).into_done()
    }

    fn __start<'a>(
        &'a self,
        result: &'a Res,
        request_id: Option<&'a str>,
    ) -> HookFuture<'a, Result<(), HookError>> {
        HookFuture::Ready((self.function)(result, request_id).into_done())
    }
}

impl<F, M> fmt::Debug for PostFn<F, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PostFn").field(&self.id).finish()
    }
}

/// Return type of a function that is a PRE hook.
#[diagnostic::on_unimplemented(
    message = "invalid output `{Self}` of a PRE hook; return a `HookResponse` or a `Result<HookResponse, E>` whose `E` is a string or an error that is `Send + Sync`",
    label = "invalid output"
)]
pub trait IntoResponse {
    /// Converts the value.
    #[doc(hidden)]
    fn into_response(self) -> Result<HookResponse, HookError>;
}

impl IntoResponse for HookResponse {
    fn into_response(self) -> Result<HookResponse, HookError> {
        Ok(self)
    }
}

#[diagnostic::do_not_recommend]
impl<E: Into<Box<dyn Error + Send + Sync>>> IntoResponse for Result<HookResponse, E> {
    fn into_response(self) -> Result<HookResponse, HookError> {
        self.map_err(HookError::new)
    }
}

/// Return type of a function that is a POST hook.
#[diagnostic::on_unimplemented(
    message = "invalid output `{Self}` of a POST hook; return `()` or a `Result<(), E>` whose `E` is a string or an error that is `Send + Sync`",
    label = "invalid output"
)]
pub trait IntoDone {
    /// Converts the value.
    #[doc(hidden)]
    fn into_done(self) -> Result<(), HookError>;
}

impl IntoDone for () {
    fn into_done(self) -> Result<(), HookError> {
        Ok(())
    }
}

#[diagnostic::do_not_recommend]
impl<E: Into<Box<dyn Error + Send + Sync>>> IntoDone for Result<(), E> {
    fn into_done(self) -> Result<(), HookError> {
        self.map_err(HookError::new)
    }
}
