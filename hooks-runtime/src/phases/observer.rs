//! Observers of PRE: hooks that receive the response, whatever it is.

use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::sync::Arc;

use hooks_core::{HookFuture, HookObject};

use super::hook::IntoDone;
use super::phase::Phase;
use super::response::HookResponse;
use crate::HookError;
use crate::registry::call::{Call, DynCall, PlainHook};

/// Result of a PRE run, as an observer receives it.
pub type PreResult<'a> = Result<&'a HookResponse, &'a HookError>;

/// A hook that receives each request with the response of the PRE hooks, also after a denial or an
/// error. Its output does not affect the caller: an error is logged.
///
/// ```
/// use hooks_runtime::phases::{PreObserver, PreResult};
/// use hooks_runtime::HookError;
///
/// /// Prints the calls that do not happen.
/// struct Refused;
///
/// impl PreObserver<str> for Refused {
///     fn id(&self) -> &str {
///         "refused"
///     }
///
///     async fn observe(&self, request: &str, response: PreResult<'_>) -> Result<(), HookError> {
///         match response {
///             Ok(response) if response.is_continue() => {}
///             Ok(response) => println!("{request}: {}", response.action),
///             Err(error) => println!("{request}: {error}"),
///         }
///         Ok(())
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an observer of `{Req}`; implement `PreObserver<{Req}>`, or wrap a closure: `PreObserverFn::new(\"id\", |request: &{Req}, response: PreResult<'_>| …)`",
    label = "not an observer"
)]
pub trait PreObserver<Req: ?Sized>: Send + Sync {
    /// Returns the id among the observers: registering another observer with this id replaces it.
    fn id(&self) -> &str;

    /// Handles the request and the response. Implement it as an `async fn`.
    ///
    /// # Errors
    /// Errors are logged; the other observers still run.
    fn observe(
        &self,
        request: &Req,
        response: PreResult<'_>,
    ) -> impl Future<Output = Result<(), HookError>> + Send;

    #[doc(hidden)]
    fn __start<'a>(
        &'a self,
        request: &'a Req,
        response: PreResult<'a>,
    ) -> HookFuture<'a, Result<(), HookError>>
    where
        Self: Sized,
    {
        HookFuture::boxed(self.observe(request, response))
    }
}

#[diagnostic::do_not_recommend]
impl<Req: ?Sized, H: PreObserver<Req>> PreObserver<Req> for Arc<H> {
    fn id(&self) -> &str {
        (**self).id()
    }

    fn observe(
        &self,
        request: &Req,
        response: PreResult<'_>,
    ) -> impl Future<Output = Result<(), HookError>> + Send {
        (**self).observe(request, response)
    }

    fn __start<'a>(
        &'a self,
        request: &'a Req,
        response: PreResult<'a>,
    ) -> HookFuture<'a, Result<(), HookError>> {
        (**self).__start(request, response)
    }
}

/// A function as an observer of PRE. It returns directly, without a future.
///
/// ```
/// use hooks_runtime::phases::{PreObserverFn, PreResult};
/// use hooks_runtime::{PhaseRegistry, RegisterOptions};
///
/// let registry: PhaseRegistry<str, bool> = PhaseRegistry::new();
/// registry.register_observer(
///     PreObserverFn::new("audit", |request: &str, response: PreResult<'_>| {
///         println!("{request}: {}", response.is_ok_and(|response| response.is_continue()));
///     }),
///     RegisterOptions::new(),
/// );
/// ```
pub struct PreObserverFn<F, M = ()> {
    id: String,
    function: F,
    output: PhantomData<fn() -> M>,
}

impl<F> PreObserverFn<F> {
    /// Creates an observer from a function that takes a request and the response, and returns
    /// nothing or a `Result<(), E>`.
    pub fn new<Req: ?Sized, R>(id: impl Into<String>, function: F) -> PreObserverFn<F, R>
    where
        F: Fn(&Req, PreResult<'_>) -> R,
    {
        PreObserverFn {
            id: id.into(),
            function,
            output: PhantomData,
        }
    }
}

impl<Req: ?Sized + Sync, F, R> PreObserver<Req> for PreObserverFn<F, R>
where
    F: Fn(&Req, PreResult<'_>) -> R + HookObject,
    R: IntoDone,
{
    fn id(&self) -> &str {
        &self.id
    }

    async fn observe(&self, request: &Req, response: PreResult<'_>) -> Result<(), HookError> {
        (self.function)(request, response).into_done()
    }

    fn __start<'a>(
        &'a self,
        request: &'a Req,
        response: PreResult<'a>,
    ) -> HookFuture<'a, Result<(), HookError>> {
        HookFuture::Ready((self.function)(request, response).into_done())
    }
}

impl<F, M> fmt::Debug for PreObserverFn<F, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PreObserverFn").field(&self.id).finish()
    }
}

/// The run of the observers: they receive the request and the response to it.
pub(crate) struct ObserverCall<Req: ?Sized>(PhantomData<fn(&Req)>);

impl<Req: ?Sized + 'static> Call for ObserverCall<Req> {
    type Input<'a> = (&'a Req, PreResult<'a>);
    type Subject = Req;
    type Output = ();

    const SLOT: &'static str = Phase::Observe.name();
    const HOOK: &'static str = "OBSERVE hook";
}

impl<Req: ?Sized + 'static, H: PreObserver<Req>> DynCall<ObserverCall<Req>> for PlainHook<H> {
    fn start<'b, 'a: 'b>(
        &'b self,
        (request, response): &(&'a Req, PreResult<'a>),
    ) -> HookFuture<'b, Result<(), HookError>> {
        self.0.__start(request, *response)
    }
}
