//! Context data: the fields of a user, a channel and a guild that hooks can see.
//!
//! A field reaches a hook only if it passes two allowlists: the fields that the host declares, and
//! the keys that the manifest requests.

use serde::Serialize;
use serde_json::Value;

use hooks_runtime::Map;

use crate::manifest::{ContextKey, Manifest};

/// Allowlist of public fields of users, channels and guilds, by name and type. A field that is not
/// declared is invisible; a value whose type differs from the declaration is left out.
///
/// ```
/// use hooks_script::{Field, PublicFields};
///
/// let fields = PublicFields::new()
///     .user([Field::text("id"), Field::text("name"), Field::flag("bot")])
///     .guild([Field::text("id")]);
/// # let _ = fields;
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PublicFields {
    of: [Vec<Field>; ContextKey::ALL.len()],
}

/// A public field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    name: String,
    kind: FieldKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FieldKind {
    Text,
    Number,
    Flag,
    Texts,
    Any,
}

impl Field {
    /// Declares a string field.
    pub fn text(name: impl Into<String>) -> Self {
        Field::of(name, FieldKind::Text)
    }

    /// Declares a number field. Scripts represent integers with 53 bits; declare larger ids as
    /// strings.
    pub fn number(name: impl Into<String>) -> Self {
        Field::of(name, FieldKind::Number)
    }

    /// Declares a boolean field.
    pub fn flag(name: impl Into<String>) -> Self {
        Field::of(name, FieldKind::Flag)
    }

    /// Declares a field that is a list of strings.
    pub fn texts(name: impl Into<String>) -> Self {
        Field::of(name, FieldKind::Texts)
    }

    /// Declares a field of any type, with everything in it. The host is responsible for its
    /// contents.
    pub fn any(name: impl Into<String>) -> Self {
        Field::of(name, FieldKind::Any)
    }

    fn of(name: impl Into<String>, kind: FieldKind) -> Self {
        Field {
            name: name.into(),
            kind,
        }
    }

    fn admits(&self, value: &Value) -> bool {
        match self.kind {
            FieldKind::Text => value.is_string(),
            FieldKind::Number => value.is_number(),
            FieldKind::Flag => value.is_boolean(),
            FieldKind::Texts => value
                .as_array()
                .is_some_and(|values| values.iter().all(Value::is_string)),
            FieldKind::Any => true,
        }
    }
}

impl PublicFields {
    /// Creates an empty allowlist.
    pub fn new() -> Self {
        PublicFields::default()
    }

    /// Sets the public fields of a user.
    #[must_use]
    pub fn user(self, fields: impl IntoIterator<Item = Field>) -> Self {
        self.set(ContextKey::User, fields)
    }

    /// Sets the public fields of a channel.
    #[must_use]
    pub fn channel(self, fields: impl IntoIterator<Item = Field>) -> Self {
        self.set(ContextKey::Channel, fields)
    }

    /// Sets the public fields of a guild.
    #[must_use]
    pub fn guild(self, fields: impl IntoIterator<Item = Field>) -> Self {
        self.set(ContextKey::Guild, fields)
    }

    /// Sets the public fields of `key`.
    #[must_use]
    pub fn set(mut self, key: ContextKey, fields: impl IntoIterator<Item = Field>) -> Self {
        self.of[key as usize] = fields.into_iter().collect();
        self
    }

    /// Returns `data` as a hook with this manifest sees it. A key that was not requested, or that
    /// has no value, is absent.
    pub(crate) fn visible(&self, data: &ContextData, manifest: &Manifest) -> Map {
        let mut visible = Map::new();
        for key in manifest.context() {
            let Some(given) = &data.of[key as usize] else {
                continue;
            };
            let public = self.of[key as usize].iter().filter_map(|field| {
                let value = given.get(&field.name)?;
                field
                    .admits(value)
                    .then(|| (field.name.clone(), value.clone()))
            });
            visible.insert(key.to_string(), Value::Object(public.collect()));
        }
        visible
    }
}

/// The user, the channel and the guild of a run, as the host stores them. Hooks see their
/// [`PublicFields`] only.
///
/// ```
/// use hooks_script::ContextData;
///
/// #[derive(serde::Serialize)]
/// struct User { id: String, email: String }
///
/// let user = User { id: "7".into(), email: "private@example.org".into() };
/// let data = ContextData::new().user(&user)?;
/// # let _ = data;
/// # Ok::<_, hooks_script::DataError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ContextData {
    of: [Option<Map>; ContextKey::ALL.len()],
}

/// Error returned when a value cannot be context data.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// The value does not serialize.
    #[error("the {key} cannot be serialised")]
    Serialize {
        /// Key that the value was given for.
        key: ContextKey,
        /// Cause.
        source: serde_json::Error,
    },
    /// The value does not serialize to an object.
    #[error("the {key} is not an object; use a struct or a map")]
    NotAnObject {
        /// Key that the value was given for.
        key: ContextKey,
    },
}

impl ContextData {
    /// Creates empty context data.
    pub fn new() -> Self {
        ContextData::default()
    }

    /// Sets the acting user.
    ///
    /// # Errors
    ///
    /// Returns an error if the value does not serialize to an object.
    pub fn user(self, user: &impl Serialize) -> Result<Self, DataError> {
        self.set(ContextKey::User, user)
    }

    /// Sets the channel of the action.
    ///
    /// # Errors
    ///
    /// Returns an error if the value does not serialize to an object.
    pub fn channel(self, channel: &impl Serialize) -> Result<Self, DataError> {
        self.set(ContextKey::Channel, channel)
    }

    /// Sets the guild of the action.
    ///
    /// # Errors
    ///
    /// Returns an error if the value does not serialize to an object.
    pub fn guild(self, guild: &impl Serialize) -> Result<Self, DataError> {
        self.set(ContextKey::Guild, guild)
    }

    /// Sets the value of `key`.
    ///
    /// # Errors
    ///
    /// Returns an error if the value does not serialize to an object.
    pub fn set(mut self, key: ContextKey, value: &impl Serialize) -> Result<Self, DataError> {
        match serde_json::to_value(value) {
            Ok(Value::Object(fields)) => self.of[key as usize] = Some(fields),
            Ok(_) => return Err(DataError::NotAnObject { key }),
            Err(source) => return Err(DataError::Serialize { key, source }),
        }
        Ok(self)
    }

    /// Returns all values, including fields that hooks may not see.
    pub(crate) fn values(&self) -> impl Iterator<Item = &Map> {
        self.of.iter().flatten()
    }
}
