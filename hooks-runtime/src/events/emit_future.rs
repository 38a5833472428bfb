//! The future of `emit`: the data of an event in, its emission out.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

use super::data::{EmitError, IntoEventData};
use super::emission::Emission;
use super::state::HookRegistryInner;
use super::table::filter_bit;
use crate::Map;

pin_project! {
    /// Future returned by `emit`. Completes immediately if the event's filter bit is not set;
    /// otherwise `start` makes the future that runs the hooks. Written by hand so that an emission
    /// without hooks never reserves the space of the larger future: row `event_without_hooks` of the
    /// bench `performance`, at most 20 ns.
    #[project = Stage]
    pub(super) enum Emit<'a, D, R, F> {
        Unpolled {
            registry: &'a HookRegistryInner,
            event: &'a str,
            data: Option<D>,
            start: R,
        },
        Started { #[pin] future: F },
    }
}

impl<'a, D, R, F> Emit<'a, D, R, F>
where
    D: IntoEventData,
    R: Fn(&'a HookRegistryInner, &'a str, Arc<Map>) -> F,
    F: Future<Output = Result<Emission, EmitError>>,
{
    #[inline]
    pub(super) fn new(registry: &'a HookRegistryInner, event: &'a str, data: D, start: R) -> Self {
        Emit::Unpolled {
            registry,
            event,
            data: Some(data),
            start,
        }
    }

    /// Kept out of the path of emissions without hooks.
    #[inline(never)]
    fn poll_started(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        match self.project() {
            Stage::Started { future } => future.poll(cx),
            Stage::Unpolled { .. } => unreachable!("the stage was just set"),
        }
    }
}

impl<'a, D, R, F> Future for Emit<'a, D, R, F>
where
    D: IntoEventData,
    R: Fn(&'a HookRegistryInner, &'a str, Arc<Map>) -> F,
    F: Future<Output = Result<Emission, EmitError>>,
{
    type Output = F::Output;

    #[cfg_attr(not(debug_assertions), inline(always))] // event_continue/1
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        if let Stage::Unpolled {
            registry,
            event,
            data,
            start,
        } = self.as_mut().project()
        {
            let data = data
                .take()
                .expect("an emission was polled again after its end");
            let map = match data.into_event_data().into_map() {
                Ok(map) => map,
                Err(why) => return Poll::Ready(Err(why.into())),
            };
            if !registry.table.has_filter_bit(filter_bit(event)) {
                return Poll::Ready(Ok(Emission::of(map)));
            }
            let future = start(registry, event, map);
            self.set(Emit::Started { future });
        }
        self.poll_started(cx)
    }
}
