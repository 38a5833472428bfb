//! What the host lets hooks see of a user, a channel and a guild.
//!
//! Two gates stand in a row, and both are lists of what may pass: the fields that the host
//! declares, and the keys that the manifest asks for. Nothing else reaches a hook.

use serde::Serialize;
use serde_json::Value;

use hooks_runtime::Map;

use crate::manifest::{ContextKey, Manifest};

/// The public fields of users, channels and guilds, by name and type. A field that is not declared
/// here is not visible; a value whose type differs from the declaration is left out.
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
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Number,
    Flag,
    Texts,
    Any,
}

impl Field {
    /// A text.
    pub fn text(name: impl Into<String>) -> Self {
        Field::of(name, Kind::Text)
    }

    /// A number. Scripts have 53 bits of an integer; ids that need more are texts.
    pub fn number(name: impl Into<String>) -> Self {
        Field::of(name, Kind::Number)
    }

    /// True or false.
    pub fn flag(name: impl Into<String>) -> Self {
        Field::of(name, Kind::Flag)
    }

    /// A list of texts.
    pub fn texts(name: impl Into<String>) -> Self {
        Field::of(name, Kind::Texts)
    }

    /// Whatever the field holds, with all that is in it: the host vouches for that.
    pub fn any(name: impl Into<String>) -> Self {
        Field::of(name, Kind::Any)
    }

    fn of(name: impl Into<String>, kind: Kind) -> Self {
        Field {
            name: name.into(),
            kind,
        }
    }

    fn admits(&self, value: &Value) -> bool {
        match self.kind {
            Kind::Text => value.is_string(),
            Kind::Number => value.is_number(),
            Kind::Flag => value.is_boolean(),
            Kind::Texts => value
                .as_array()
                .is_some_and(|values| values.iter().all(Value::is_string)),
            Kind::Any => true,
        }
    }
}

impl PublicFields {
    /// Nothing is public.
    pub fn new() -> Self {
        PublicFields::default()
    }

    /// What is public of a user.
    #[must_use]
    pub fn user(self, fields: impl IntoIterator<Item = Field>) -> Self {
        self.set(ContextKey::User, fields)
    }

    /// What is public of a channel.
    #[must_use]
    pub fn channel(self, fields: impl IntoIterator<Item = Field>) -> Self {
        self.set(ContextKey::Channel, fields)
    }

    /// What is public of a guild.
    #[must_use]
    pub fn guild(self, fields: impl IntoIterator<Item = Field>) -> Self {
        self.set(ContextKey::Guild, fields)
    }

    /// What is public of `key`.
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
    /// It does not serialise.
    #[error("the {key} cannot be serialised")]
    Serialize {
        /// What it was given as.
        key: ContextKey,
        /// Why.
        source: serde_json::Error,
    },
    /// It has no fields.
    #[error("the {key} is no object; give a struct or a map")]
    NotAnObject {
        /// What it was given as.
        key: ContextKey,
    },
}

impl ContextData {
    /// Nothing.
    pub fn new() -> Self {
        ContextData::default()
    }

    /// The user who acts.
    ///
    /// # Errors
    ///
    /// If it does not serialise to an object.
    pub fn user(self, user: &impl Serialize) -> Result<Self, DataError> {
        self.set(ContextKey::User, user)
    }

    /// The channel in which it happens.
    ///
    /// # Errors
    ///
    /// If it does not serialise to an object.
    pub fn channel(self, channel: &impl Serialize) -> Result<Self, DataError> {
        self.set(ContextKey::Channel, channel)
    }

    /// The guild in which it happens.
    ///
    /// # Errors
    ///
    /// If it does not serialise to an object.
    pub fn guild(self, guild: &impl Serialize) -> Result<Self, DataError> {
        self.set(ContextKey::Guild, guild)
    }

    /// What `key` stands for.
    ///
    /// # Errors
    ///
    /// If it does not serialise to an object.
    pub fn set(mut self, key: ContextKey, value: &impl Serialize) -> Result<Self, DataError> {
        match serde_json::to_value(value) {
            Ok(Value::Object(fields)) => self.of[key as usize] = Some(fields),
            Ok(_) => return Err(DataError::NotAnObject { key }),
            Err(source) => return Err(DataError::Serialize { key, source }),
        }
        Ok(self)
    }

    /// Everything in it, whether a hook may see it or not.
    pub(crate) fn values(&self) -> impl Iterator<Item = &Map> {
        self.of.iter().flatten()
    }
}
