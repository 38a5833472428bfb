//! Registries as hooks of typed slots. The compiler infers the marker type from the slot.

use hooks_core::{BoxFuture, Hook, HookFuture, SlotDef};

use super::event::SlotEvent;
use super::output::EventOutput;
use crate::HookError;
use crate::events::HookRegistry;
use crate::phases::{HookResponse, PhaseRegistry};

/// Marks a [`HookRegistry`] in a slot with an [`EventPipeline`](super::EventPipeline).
#[derive(Debug)]
pub enum EmitsEvent {}

/// Marks a [`PhaseRegistry`] in a slot that takes `&Req`, by its PRE hooks.
#[derive(Debug)]
pub enum ExecutesPre {}

/// Marks a [`PhaseRegistry`] in a slot that takes `&Res`, by its POST hooks.
#[derive(Debug)]
pub enum ExecutesPost {}

/// Marks a [`PhaseRegistry`] in a slot that takes `&Res` and the id of the request, by its POST
/// hooks.
#[derive(Debug)]
pub enum ExecutesPostWithId {}

#[diagnostic::do_not_recommend]
impl<S> Hook<S, EmitsEvent> for HookRegistry
where
    S: SlotDef<Out = EventOutput> + ?Sized,
    S: for<'a> SlotDef<Args<'a> = (SlotEvent,)>,
{
    fn start<'b, 'a: 'b>(
        &'b self,
        (event,): (SlotEvent,),
        _: S::Last,
    ) -> HookFuture<'b, EventOutput> {
        HookFuture::boxed(async move { event.emit_to(self).await })
    }
}

#[diagnostic::do_not_recommend]
impl<S, Req, Res> Hook<S, ExecutesPre> for PhaseRegistry<Req, Res>
where
    S: SlotDef<Out = Result<HookResponse, HookError>> + ?Sized,
    S: for<'a> SlotDef<Args<'a> = (&'a Req,)>,
    Req: ?Sized + Sync + 'static,
    Res: ?Sized + Sync + 'static,
{
    fn start<'b, 'a: 'b>(
        &'b self,
        (request,): (&'a Req,),
        _: S::Last,
    ) -> HookFuture<'b, Result<HookResponse, HookError>> {
        HookFuture::boxed(self.execute_pre(request))
    }
}

#[diagnostic::do_not_recommend]
impl<S, Req, Res> Hook<S, ExecutesPost> for PhaseRegistry<Req, Res>
where
    S: SlotDef<Out = Result<(), HookError>> + ?Sized,
    S: for<'a> SlotDef<Args<'a> = (&'a Res,)>,
    Req: ?Sized + Sync + 'static,
    Res: ?Sized + Sync + 'static,
{
    fn start<'b, 'a: 'b>(
        &'b self,
        (result,): (&'a Res,),
        _: S::Last,
    ) -> HookFuture<'b, Result<(), HookError>> {
        HookFuture::Boxed(post(self, result, None))
    }
}

#[diagnostic::do_not_recommend]
impl<S, Req, Res> Hook<S, ExecutesPostWithId> for PhaseRegistry<Req, Res>
where
    S: SlotDef<Out = Result<(), HookError>> + ?Sized,
    S: for<'a> SlotDef<Args<'a> = (&'a Res, Option<&'a str>)>,
    Req: ?Sized + Sync + 'static,
    Res: ?Sized + Sync + 'static,
{
    fn start<'b, 'a: 'b>(
        &'b self,
        (result, request_id): (&'a Res, Option<&'a str>),
        _: S::Last,
    ) -> HookFuture<'b, Result<(), HookError>> {
        HookFuture::Boxed(post(self, result, request_id))
    }
}

fn post<'b, Req, Res>(
    registry: &'b PhaseRegistry<Req, Res>,
    result: &'b Res,
    request_id: Option<&'b str>,
) -> BoxFuture<'b, Result<(), HookError>>
where
    Req: ?Sized + Sync + 'static,
    Res: ?Sized + Sync + 'static,
{
    Box::pin(async move {
        registry.execute_post(result, request_id).await;
        Ok(())
    })
}
