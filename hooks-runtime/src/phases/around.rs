//! The runs of PRE and POST, as hooks and around hooks receive them.

use std::fmt;
use std::marker::PhantomData;

use hooks_core::AroundCall;

use super::phase::Phase;
use super::response::HookResponse;
use crate::HookError;
use crate::registry::call::Call;

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

impl<Req: ?Sized + 'static> Call for PreCall<Req> {
    type Input<'a> = &'a Req;
    type Subject = Req;
    type Output = HookResponse;

    const SLOT: &'static str = Phase::Pre.name();
    const HOOK: &'static str = "PRE hook";
}

impl<Res: ?Sized + 'static> Call for PostCall<Res> {
    type Input<'a> = (&'a Res, Option<&'a str>);
    type Subject = Res;
    type Output = ();

    const SLOT: &'static str = Phase::Post.name();
    const HOOK: &'static str = "POST hook";
}
