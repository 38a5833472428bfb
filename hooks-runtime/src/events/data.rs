//! What an event is emitted with.

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::emission::{Emission, HandlerFailure};
use crate::map::{Map, type_name};

/// The data of an event, from a map, a [`Value`], or nothing.
///
/// A map that is given away is changed in place; one that the caller keeps, as an `Arc`, is
/// shared with the hooks, and copied only where a changed one has to be given back.
#[derive(Debug, Clone)]
pub struct EventData {
    /// The object; or else
    map: Option<Arc<Map>>,
    /// what was given in its place.
    found: &'static str,
}

/// A value that an event is emitted with: every type that converts into [`EventData`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not event data; pass a map, a `Value` or `()`, or `serde_json::to_value(&x)?`",
    label = "not event data"
)]
pub trait IntoEventData {
    /// Converts the value.
    #[doc(hidden)]
    fn into_event_data(self) -> EventData;
}

#[diagnostic::do_not_recommend]
impl<D: Into<EventData>> IntoEventData for D {
    #[inline]
    fn into_event_data(self) -> EventData {
        self.into()
    }
}

impl EventData {
    /// The object, if it is one.
    #[inline]
    pub(crate) fn into_map(self) -> Result<Arc<Map>, NotAnObject> {
        self.map.ok_or(NotAnObject(self.found))
    }
}

/// What was given in the place of an object. Small, because it could be in every answer.
pub(crate) struct NotAnObject(&'static str);

impl From<NotAnObject> for EmitError {
    fn from(NotAnObject(found): NotAnObject) -> Self {
        EmitError::NotAnObject { found }
    }
}

impl From<Arc<Map>> for EventData {
    #[inline]
    fn from(map: Arc<Map>) -> Self {
        EventData {
            map: Some(map),
            found: "",
        }
    }
}

impl From<&Arc<Map>> for EventData {
    fn from(map: &Arc<Map>) -> Self {
        Arc::clone(map).into()
    }
}

impl From<Map> for EventData {
    fn from(map: Map) -> Self {
        Arc::new(map).into()
    }
}

/// No fields.
impl From<()> for EventData {
    fn from((): ()) -> Self {
        Map::new().into()
    }
}

/// `None` is no fields.
impl From<Option<Map>> for EventData {
    fn from(map: Option<Map>) -> Self {
        map.unwrap_or_default().into()
    }
}

/// `null` is no fields.
impl From<Value> for EventData {
    fn from(value: Value) -> Self {
        match value {
            Value::Object(map) => map.into(),
            Value::Null => ().into(),
            other => EventData {
                map: None,
                found: type_name(&other),
            },
        }
    }
}

/// Fields for the data of every event: a map, or `()` for none.
#[derive(Debug, Clone, Default)]
pub struct DefaultFields(Arc<Map>);

impl DefaultFields {
    /// The fields, if there are any.
    pub(crate) fn into_map(self) -> Option<Arc<Map>> {
        (!self.0.is_empty()).then_some(self.0)
    }
}

impl From<Map> for DefaultFields {
    fn from(fields: Map) -> Self {
        DefaultFields(Arc::new(fields))
    }
}

impl From<Arc<Map>> for DefaultFields {
    fn from(fields: Arc<Map>) -> Self {
        DefaultFields(fields)
    }
}

impl From<()> for DefaultFields {
    fn from((): ()) -> Self {
        DefaultFields::default()
    }
}

/// Why an event has no answer.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum EmitError {
    /// The data are no object; no hook has run.
    NotAnObject {
        /// What they are.
        found: &'static str,
    },
    /// A hook failed that was registered with
    /// [`FailurePolicy::Propagate`](hooks_core::FailurePolicy::Propagate).
    Hook {
        /// What went wrong, and where.
        failure: HandlerFailure,
        /// What had come together until then. Its action is no answer: hooks are missing.
        emission: Box<Emission>,
    },
    /// The hooks were not done by the deadline: hooks are missing, so this is no yes.
    Deadline {
        /// The time that the emission had.
        after: Duration,
        /// What had come together until then. Its action is no answer: hooks are missing.
        emission: Box<Emission>,
    },
}

impl fmt::Display for EmitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EmitError::NotAnObject { found } => write!(
                f,
                "the data of an event are an object, not {found}; put it into a field"
            ),
            EmitError::Hook { failure, .. } => failure.fmt(f),
            EmitError::Deadline { after, .. } => {
                write!(f, "the hooks were not done after {after:?}")
            }
        }
    }
}

/// The source is what the hook answered with: what is above it has been said.
impl Error for EmitError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            EmitError::Hook { failure, .. } => failure.source(),
            EmitError::NotAnObject { .. } | EmitError::Deadline { .. } => None,
        }
    }
}

impl EmitError {
    /// What had come together until then, where hooks had run at all.
    pub fn emission(&self) -> Option<&Emission> {
        match self {
            EmitError::NotAnObject { .. } => None,
            EmitError::Hook { emission, .. } | EmitError::Deadline { emission, .. } => {
                Some(emission)
            }
        }
    }
}
