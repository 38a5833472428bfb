//! An event as around hooks receive it.

use std::sync::Arc;

use hooks_core::AroundCall;

use super::data::EmitError;
use super::emission::Emission;
use crate::Map;

/// An event that an around hook encloses; registered with
/// [`HookRegistry::around`](super::HookRegistry::around).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct EventCall {
    /// Name of the event. `next` emits the original event, whatever the name in its argument is.
    pub event: Arc<str>,
    /// Data of the event, without the default fields. `next` runs the hooks with the data in its
    /// argument.
    pub data: Arc<Map>,
}

impl EventCall {
    pub(crate) fn new(event: Arc<str>, data: Arc<Map>) -> Self {
        EventCall { event, data }
    }

    /// Returns the call with other data.
    #[must_use]
    pub fn with_data(mut self, data: impl Into<Arc<Map>>) -> Self {
        self.data = data.into();
        self
    }
}

impl AroundCall for EventCall {
    type Args<'a> = (EventCall,);
    type Output = Result<Emission, EmitError>;
}
