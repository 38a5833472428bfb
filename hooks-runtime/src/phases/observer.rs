//! Observers of PRE: hooks that receive the response, whatever it is.

use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::sync::Arc;

use hooks_core::__private::drop_catching_panic;
use hooks_core::{EntryMeta, Failure, HookFuture, HookObject, Never, Policy, Step};

use super::hook::IntoDone;
use super::phase::{Phase, log};
use super::response::HookResponse;
use crate::HookError;
use crate::input_filter::{FilteredHook, InputFilters, PlainHook};

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

/// Type-erased [`PreObserver`], as the registry stores it.
pub(crate) trait DynPreObserver<Req: ?Sized>: Send + Sync {
    fn start<'a>(
        &'a self,
        request: &'a Req,
        response: PreResult<'a>,
    ) -> HookFuture<'a, Result<(), HookError>>;

    /// Returns the filters of the registration, if there are any.
    fn filters(&self) -> Option<&InputFilters<Req>> {
        None
    }
}

impl<Req: ?Sized> DynPreObserver<Req> for FilteredHook<dyn DynPreObserver<Req>, Req> {
    fn start<'a>(
        &'a self,
        request: &'a Req,
        response: PreResult<'a>,
    ) -> HookFuture<'a, Result<(), HookError>> {
        self.hook.start(request, response)
    }

    fn filters(&self) -> Option<&InputFilters<Req>> {
        Some(&self.filters)
    }
}

impl<Req: ?Sized, H: PreObserver<Req>> DynPreObserver<Req> for PlainHook<H> {
    fn start<'a>(
        &'a self,
        request: &'a Req,
        response: PreResult<'a>,
    ) -> HookFuture<'a, Result<(), HookError>> {
        self.0.__start(request, response)
    }
}

/// Policy of the observers: every hook runs, even if others fail.
pub(crate) struct ObservingPre<'a, Req: ?Sized> {
    request: &'a Req,
    response: PreResult<'a>,
}

impl<'a, Req: ?Sized> ObservingPre<'a, Req> {
    pub(crate) fn new(request: &'a Req, response: PreResult<'a>) -> Self {
        ObservingPre { request, response }
    }
}

impl<'h, Req: ?Sized> Policy<dyn DynPreObserver<Req> + 'h> for ObservingPre<'_, Req> {
    type HookOutput = Result<(), HookError>;
    type Output = ();
    type Future = Never<()>;

    const CATCH_FAILURES: bool = true;
    // An observer changes nothing for the others, so none of them waits for another.
    const CONCURRENT: bool = true;

    fn slot_name(&self) -> &str {
        "OBSERVE"
    }

    fn admits(&mut self, entry: &EntryMeta, hook: &(dyn DynPreObserver<Req> + 'h)) -> bool {
        let filters = hook.filters();
        filters.is_none_or(|filters| filters.hold(self.request, entry))
    }

    fn invoke<'b>(
        &mut self,
        _: &'b EntryMeta,
        hook: &'b (dyn DynPreObserver<Req> + 'h),
        _: bool,
    ) -> HookFuture<'b, Self::HookOutput>
    where
        Self: 'b,
    {
        hook.start(self.request, self.response)
    }

    fn validate_output(&mut self, output: Self::HookOutput) -> Result<Self::HookOutput, Failure> {
        output.map(Ok).map_err(HookError::into_fault)
    }

    fn on_output(&mut self, _: &EntryMeta, _: Self::HookOutput) -> Step<Self, Never<()>> {
        Step::Next
    }

    fn on_failure(&mut self, entry: &EntryMeta, failure: Failure) -> Step<Self, Never<()>> {
        log(Phase::Observe, entry, &failure);
        drop_catching_panic(failure);
        Step::Next
    }

    fn on_future_ready(&mut self, (): ()) -> Step<Self, Never<()>> {
        Step::Next
    }

    fn finish(self) {}
}
