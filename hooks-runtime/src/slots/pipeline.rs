//! The pipeline of a typed slot with the rules of an event.

use std::ops::ControlFlow;

use hooks_core::{Entry, EntryMeta, Pipeline};

use super::event::SlotEvent;
use super::output::PipelineOutput;

/// Runs a typed slot by the rules of [`emit`](crate::HookRegistry::emit):
/// `#[hook(fallback, custom = EventPipeline)]`. The first parameter of the slot is a [`SlotEvent`].
///
/// | Rule | Effect |
/// |---|---|
/// | order | the hooks run by their entries, then the default |
/// | data | each hook receives the data with the changes of the hooks before |
/// | denial | ends the dispatch; the default does not run |
/// | precedence, injections, messages | merged by the code of `emit`, with the names of the entries and their [trust](hooks_core::Entry::trusted) |
/// | [`HookError`](crate::HookError) | is logged and left out |
/// | [`EmitError`](crate::EmitError) | ends the dispatch |
/// | panic | propagates to the caller, as in every typed slot |
///
/// The output of the slot is a [`HookResult`](crate::HookResult), a `Result<HookResult, HookError>`
/// or an [`EventOutput`](super::EventOutput). In messages, the hook of the default is `default`.
#[derive(Debug)]
pub enum EventPipeline {}

impl<O: PipelineOutput> Pipeline<SlotEvent, O> for EventPipeline {
    /// Is not called, because [`advance`](Pipeline::advance) has the event.
    fn next(output: O) -> ControlFlow<O, SlotEvent> {
        ControlFlow::Break(output)
    }

    fn lend(event: &mut Option<SlotEvent>) -> Option<SlotEvent> {
        event.as_ref().map(SlotEvent::lend)
    }

    fn advance(kept: Option<SlotEvent>, entry: &EntryMeta, output: O) -> ControlFlow<O, SlotEvent> {
        let Some(event) = kept else {
            return ControlFlow::Break(output);
        };
        let (event, flow) = event.merge(entry, output.into_handler_output());
        match flow {
            ControlFlow::Continue(()) => ControlFlow::Continue(event),
            ControlFlow::Break(()) => ControlFlow::Break(O::of_emission(event.into_emission())),
        }
    }

    fn conclude(kept: Option<SlotEvent>, output: O) -> O {
        let Some(event) = kept else {
            return output;
        };
        let entry = Entry::new(()).name("default");
        let (event, _) = event.merge(entry.meta(), output.into_handler_output());
        O::of_emission(event.into_emission())
    }
}
