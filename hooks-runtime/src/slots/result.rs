//! Companions of slots with a `HookResult`.

use std::future::{Future, ready};
use std::ops::ControlFlow::{self, Break, Continue};
use std::sync::Arc;

use hooks_core::{Aggregate, AggregateInto, Chain, Entry, FinalizeInto, MaybeSend};

use crate::events::emit::MergeState;
use crate::events::fields::Fields;
use crate::events::handler::HandlerResult;
use crate::events::{Action, Changes, Emission, EmitError, HookResult};
use crate::{HookError, Map};

/// Stops a dispatch at the first `deny`. If the output of the slot is a `Result`, an error does not
/// stop the dispatch.
#[derive(Debug, Clone, Copy, Default)]
pub struct StopAtDenial;

impl Chain<HookResult> for StopAtDenial {
    const __HOOKS_AT_ONCE: bool = true;

    fn call(&self, result: &HookResult) -> impl Future<Output = ControlFlow<()>> + MaybeSend {
        ready(flow(result))
    }

    fn __hooks_check_now(&self, result: &HookResult) -> Option<ControlFlow<()>> {
        Some(flow(result))
    }
}

impl<E> Chain<Result<HookResult, E>> for StopAtDenial {
    const __HOOKS_AT_ONCE: bool = true;

    fn call(
        &self,
        result: &Result<HookResult, E>,
    ) -> impl Future<Output = ControlFlow<()>> + MaybeSend {
        ready(result.as_ref().map_or(Continue(()), flow))
    }

    fn __hooks_check_now(&self, result: &Result<HookResult, E>) -> Option<ControlFlow<()>> {
        Some(result.as_ref().map_or(Continue(()), flow))
    }
}

fn flow(result: &HookResult) -> ControlFlow<()> {
    match result.action {
        Action::Deny => Break(()),
        _ => Continue(()),
    }
}

/// Merges the results of a dispatch by the code of [`emit`](crate::HookRegistry::emit): the
/// strongest action wins, and the result is the [summary](Emission::result) of all results.
///
/// | Part of the result | Value |
/// |---|---|
/// | [`data`](HookResult::data), [`changes`](HookResult::changes) | with any action, the changes of all hooks, relative to the data of the event: [`apply_to`](HookResult::apply_to) applies them. Later values replace earlier values |
/// | other fields | as [`Emission::result`] has them |
///
/// All hooks receive the same arguments, because a companion does not see the arguments of a
/// dispatch: no hook sees the data that an earlier hook changed. Use
/// [`EventPipeline`](super::EventPipeline) if hooks have to see changed data. An aggregate does not
/// know the registrations either: every hook is trusted, and messages of failures have no name.
///
/// If the output of the slot is a `Result`, errors are logged and left out.
#[derive(Debug, Clone, Copy, Default)]
pub struct StrictestResult;

impl Aggregate<HookResult> for StrictestResult {
    fn call(&self, outputs: Vec<HookResult>) -> impl Future<Output = HookResult> + MaybeSend {
        ready(merge(outputs.into_iter().map(Ok)))
    }
}

impl AggregateInto<Result<HookResult, HookError>, HookResult> for StrictestResult {
    fn call(
        &self,
        outputs: Vec<Result<HookResult, HookError>>,
    ) -> impl Future<Output = HookResult> + MaybeSend {
        ready(merge(outputs.into_iter()))
    }
}

/// Name of the event and of the hooks, in the log. An aggregate knows neither of them.
const UNNAMED: &str = "typed slot";

/// Merges the outputs of a dispatch.
fn merge(outputs: impl Iterator<Item = Result<HookResult, HookError>>) -> HookResult {
    let event = Arc::from(UNNAMED);
    let mut state = MergeState::new(Fields::new(Arc::default(), None));
    let mut changed = DataChange::default();
    for output in outputs {
        let change = output.as_ref().ok().and_then(DataChange::of);
        let entry = Entry::new(()).name(UNNAMED);
        let failures = state.failures();
        let flow;
        (state, flow) = state.merge(&event, entry.meta(), output.apply(None));
        // An invalid result is a failure, and changes nothing.
        if let (Some(change), true) = (change, state.failures() == failures) {
            changed.extend(change);
        }
        if flow.is_break() {
            break;
        }
    }
    let emission = match state.emission() {
        Ok(emission) => emission,
        Err(error) => return HookResult::deny(error.to_string()),
    };
    HookResult {
        data: changed.data,
        changes: changed.changes,
        ..emission.result()
    }
}

/// Changes of the data of an event that is not known.
#[derive(Default)]
struct DataChange {
    data: Option<Map>,
    changes: Changes,
}

impl DataChange {
    /// Returns the changes of one result, if it modifies the data.
    fn of(result: &HookResult) -> Option<Self> {
        (result.action == Action::Modify).then(|| DataChange {
            data: result.data.clone(),
            changes: result.changes.clone(),
        })
    }

    /// Adds later changes.
    fn extend(&mut self, later: DataChange) {
        if later.data.is_some() {
            *self = later;
        } else {
            self.changes.extend(later.changes);
        }
    }
}

/// Summarizes an emission as one [`HookResult`], for slots whose output is an [`Emission`] or a
/// `Result<Emission, EmitError>`: see [`Emission::result`].
///
/// ```
/// use hooks_runtime::slots::ScalarResult;
/// use hooks_runtime::{Emission, HookResult, Map, hooks};
///
/// #[hooks]
/// trait AgentHooks {
///     #[hook(fallback, finalize = ScalarResult, output = HookResult)]
///     async fn tool_pre(data: &Map) -> Emission {
///         Emission::proceed(data.clone())
///     }
/// }
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct ScalarResult;

impl FinalizeInto<Emission, HookResult> for ScalarResult {
    fn call(&self, emission: Emission) -> impl Future<Output = HookResult> + MaybeSend {
        ready(emission.result())
    }
}

impl FinalizeInto<Result<Emission, EmitError>, Result<HookResult, EmitError>> for ScalarResult {
    fn call(
        &self,
        emission: Result<Emission, EmitError>,
    ) -> impl Future<Output = Result<HookResult, EmitError>> + MaybeSend {
        ready(emission.map(|emission| emission.result()))
    }
}
