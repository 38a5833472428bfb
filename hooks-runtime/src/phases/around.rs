//! Around hooks of PRE and POST.

use std::any::Any;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use hooks_core::{AroundCall, BoxFuture, Innermost, Next, SharedReport};

use super::response::HookResponse;
use crate::HookError;
use crate::around_registry::AroundRegistry;

/// The run of the PRE hooks, as around hooks enclose it: the argument is the request.
///
/// ```
/// use hooks_runtime::around::Next;
/// use hooks_runtime::phases::PreCall;
/// use hooks_runtime::{Entry, PhaseRegistry};
///
/// let registry: PhaseRegistry<str, bool> = PhaseRegistry::new();
/// registry.around_pre().register(
///     Entry::new(async |request: &str, next: Next<'_, PreCall<str>>| {
///         let response = next.call((request,)).await;
///         println!("{request}: {response:?}");
///         response
///     }).key("log"),
/// );
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// assert!(registry.execute_pre("read").await?.is_continue());
/// # Ok::<_, hooks_runtime::HookError>(())
/// # }).unwrap();
/// ```
pub struct PreCall<Req: ?Sized>(PhantomData<fn(&Req)>);

/// The run of the POST hooks, as around hooks enclose it: the arguments are the result, and the id
/// of the request.
pub struct PostCall<Res: ?Sized>(PhantomData<fn(&Res)>);

impl<Req: ?Sized> fmt::Debug for PreCall<Req> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PreCall")
    }
}

impl<Res: ?Sized> fmt::Debug for PostCall<Res> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PostCall")
    }
}

impl<Req: ?Sized + Sync + 'static> AroundCall for PreCall<Req> {
    type Args<'a> = (&'a Req,);
    type Output = Result<HookResponse, HookError>;
}

impl<Res: ?Sized + Sync + 'static> AroundCall for PostCall<Res> {
    type Args<'a> = (&'a Res, Option<&'a str>);
    type Output = ();
}

/// Runs the PRE hooks without around hooks.
pub(crate) trait RunPre<Req: ?Sized>: Send + Sync {
    fn run<'a>(&'a self, request: &'a Req) -> BoxFuture<'a, Result<HookResponse, HookError>>
    where
        Req: Sync;
}

/// Runs the POST hooks without around hooks.
pub(crate) trait RunPost<Res: ?Sized>: Send + Sync {
    fn run<'a>(&'a self, result: &'a Res, request_id: Option<&'a str>) -> BoxFuture<'a, ()>
    where
        Res: Sync;
}

/// The around hooks of PRE. A trait, because only requests that are `Sync` have around hooks.
pub(crate) trait EnclosePre<Req: ?Sized>: Send + Sync {
    /// Runs the around hooks and the PRE hooks. Adds the around hooks to `report`.
    fn run<'a>(
        &'a self,
        hooks: &'a dyn RunPre<Req>,
        request: &'a Req,
        report: Option<&'a SharedReport>,
    ) -> BoxFuture<'a, Result<HookResponse, HookError>>;

    fn is_empty(&self) -> bool;

    fn copied(&self) -> Arc<dyn EnclosePre<Req>>;

    fn as_any(&self) -> &dyn Any;
}

/// The around hooks of POST.
pub(crate) trait EnclosePost<Res: ?Sized>: Send + Sync {
    /// Runs the around hooks and the POST hooks. Adds the around hooks to `report`.
    fn run<'a>(
        &'a self,
        hooks: &'a dyn RunPost<Res>,
        result: &'a Res,
        request_id: Option<&'a str>,
        report: Option<&'a SharedReport>,
    ) -> BoxFuture<'a, ()>;

    fn is_empty(&self) -> bool;

    fn copied(&self) -> Arc<dyn EnclosePost<Res>>;

    fn as_any(&self) -> &dyn Any;
}

/// The innermost call of around hooks: the hooks of a phase.
struct PhaseHooks<'a, H: ?Sized>(&'a H);

impl<Req: ?Sized + Sync + 'static> Innermost<PreCall<Req>>
    for PhaseHooks<'_, dyn RunPre<Req> + '_>
{
    fn call<'a>(
        &'a self,
        (request,): (&'a Req,),
    ) -> BoxFuture<'a, Result<HookResponse, HookError>> {
        self.0.run(request)
    }
}

impl<Res: ?Sized + Sync + 'static> Innermost<PostCall<Res>>
    for PhaseHooks<'_, dyn RunPost<Res> + '_>
{
    fn call<'a>(&'a self, (result, request_id): (&'a Res, Option<&'a str>)) -> BoxFuture<'a, ()> {
        self.0.run(result, request_id)
    }
}

impl<Req: ?Sized + Sync + 'static> EnclosePre<Req> for AroundRegistry<PreCall<Req>> {
    fn run<'a>(
        &'a self,
        hooks: &'a dyn RunPre<Req>,
        request: &'a Req,
        report: Option<&'a SharedReport>,
    ) -> BoxFuture<'a, Result<HookResponse, HookError>> {
        let (around, innermost) = (self.snapshot(), PhaseHooks(hooks));
        Box::pin(async move {
            let Some(report) = report else {
                return Next::new(&around, &innermost).call((request,)).await;
            };
            let recorded = report.record_around(&around);
            Next::new(&recorded, &innermost).call((request,)).await
        })
    }

    fn is_empty(&self) -> bool {
        self.is_empty()
    }

    fn copied(&self) -> Arc<dyn EnclosePre<Req>> {
        Arc::new(self.copied())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl<Res: ?Sized + Sync + 'static> EnclosePost<Res> for AroundRegistry<PostCall<Res>> {
    fn run<'a>(
        &'a self,
        hooks: &'a dyn RunPost<Res>,
        result: &'a Res,
        request_id: Option<&'a str>,
        report: Option<&'a SharedReport>,
    ) -> BoxFuture<'a, ()> {
        let (around, innermost) = (self.snapshot(), PhaseHooks(hooks));
        Box::pin(async move {
            let args = (result, request_id);
            let Some(report) = report else {
                return Next::new(&around, &innermost).call(args).await;
            };
            let recorded = report.record_around(&around);
            Next::new(&recorded, &innermost).call(args).await;
        })
    }

    fn is_empty(&self) -> bool {
        self.is_empty()
    }

    fn copied(&self) -> Arc<dyn EnclosePost<Res>> {
        Arc::new(self.copied())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
