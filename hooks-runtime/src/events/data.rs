//! Data of an event, and the errors of an emission.

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::emission::{Emission, HandlerFailure};
use super::schema::SchemaMismatch;
use crate::map::{Map, type_name};

/// Data of an event, from a map, a [`Value`], or nothing.
///
/// An owned map is changed in place. A map that the caller keeps, as an `Arc`, is shared with the
/// hooks, and copied only if a changed map has to be returned.
#[derive(Debug, Clone)]
pub struct EventData {
    /// The object; or else
    map: Option<Arc<Map>>,
    /// the type of the value in its place.
    found: &'static str,
}

/// A value that an event is emitted with: every type that converts into [`EventData`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not event data; pass a map, a `Value`, `()` or `serde_json::to_value(&x)?`",
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
    /// Returns the object, if the value is one.
    #[inline]
    pub(crate) fn into_map(self) -> Result<Arc<Map>, NotAnObject> {
        self.map.ok_or(NotAnObject(self.found))
    }
}

/// Type of a value that is not an object. Small, because every result reserves space for it.
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
    /// Returns the fields, if there are any.
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

/// Reason for which an emission failed.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum EmitError {
    /// The data are not an object; no hook has run.
    NotAnObject {
        /// Type of the data.
        found: &'static str,
    },
    /// The data do not match the [schema](super::EventSchema) of the event.
    Schema {
        /// The problems.
        mismatch: Box<SchemaMismatch>,
        /// The emission whose hooks changed the data so that they do not match. `None` if the data
        /// did not match before the first hook; no hook has run then.
        emission: Option<Box<Emission>>,
    },
    /// A hook failed that was registered with
    /// [`FailurePolicy::Propagate`](hooks_core::FailurePolicy::Propagate).
    Hook {
        /// The failure, with its hook.
        failure: HandlerFailure,
        /// The partial emission. Its action is not final: hooks are missing.
        emission: Box<Emission>,
    },
    /// The hooks were not done by the deadline: hooks are missing, so the action must not happen.
    Deadline {
        /// Time from the start to the deadline.
        after: Duration,
        /// The partial emission. Its action is not final: hooks are missing.
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
            EmitError::Schema { mismatch, emission } => {
                if emission.is_some() {
                    f.write_str("after the changes by hooks, ")?;
                }
                mismatch.fmt(f)
            }
            EmitError::Hook { failure, .. } => failure.fmt(f),
            EmitError::Deadline { after, .. } => {
                write!(f, "the hooks were not done after {after:?}")
            }
        }
    }
}

/// The source is the hook's own error: the message already contains the rest.
impl Error for EmitError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            EmitError::Hook { failure, .. } => failure.source(),
            EmitError::NotAnObject { .. }
            | EmitError::Schema { .. }
            | EmitError::Deadline { .. } => None,
        }
    }
}

impl EmitError {
    /// Returns the emission without a final action, if hooks have run.
    pub fn emission(&self) -> Option<&Emission> {
        match self {
            EmitError::NotAnObject { .. } => None,
            EmitError::Schema { emission, .. } => emission.as_deref(),
            EmitError::Hook { emission, .. } | EmitError::Deadline { emission, .. } => {
                Some(emission)
            }
        }
    }

    /// Returns the partial emission for additions by observers.
    pub(crate) fn emission_mut(&mut self) -> Option<&mut Emission> {
        match self {
            EmitError::NotAnObject { .. } => None,
            EmitError::Schema { emission, .. } => emission.as_deref_mut(),
            EmitError::Hook { emission, .. } | EmitError::Deadline { emission, .. } => {
                Some(emission)
            }
        }
    }
}
