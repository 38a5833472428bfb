//! Manifests: JSON or arguments go in, a validated [`Manifest`] comes out.

use std::collections::BTreeSet;
use std::fmt;

use hooks_runtime::display::json_message;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::position::Position;

/// JSON Schema of a manifest, draft 2020-12. It accepts the same JSON as [`Manifest::parse`],
/// within the bounds of `serde_json`: numbers in range, whole characters, and at most 127 levels.
pub const MANIFEST_SCHEMA: &str = include_str!("../schema/manifest.schema.json");

/// Maximum number of characters of a manifest's `source` and `name`.
const MAX_SOURCE_CHARS: usize = 2048;
const MAX_NAME_CHARS: usize = 200;

/// Prefix of a manifest's `hash`.
const HASH_PREFIX: &str = "sha256-";

/// Context data that a hook can request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ContextKey {
    /// The public fields of the acting user.
    User,
    /// The channel of the action.
    Channel,
    /// The guild of the action.
    Guild,
}

impl ContextKey {
    /// Every key, in the order of `data`.
    pub const ALL: [ContextKey; 3] = [ContextKey::User, ContextKey::Channel, ContextKey::Guild];

    /// Returns the key as spelled in manifests and in `data`.
    pub fn as_str(self) -> &'static str {
        match self {
            ContextKey::User => "user",
            ContextKey::Channel => "channel",
            ContextKey::Guild => "guild",
        }
    }
}

impl fmt::Display for ContextKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Manifest of a hook: its source, its name and the context data that it requests.
///
/// ```
/// use hooks_script::{ContextKey, Manifest};
///
/// let manifest = Manifest::parse(
///     r#"{"source": "https://example.org/hook.js", "name": "Polite", "context": ["user", "user"]}"#,
/// )?;
/// assert_eq!(manifest.name(), "Polite");
/// assert!(manifest.asks_for(ContextKey::User));
///
/// let error = Manifest::parse(r#"{"source": "s", "name": "n", "context": ["password"]}"#).unwrap_err();
/// assert_eq!(error.to_string(), "`context[0]` is `password`; use `user`, `channel` or `guild`");
/// # Ok::<_, hooks_script::ManifestError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Manifest {
    source: String,
    name: String,
    context: BTreeSet<ContextKey>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hash: Option<String>,
}

/// Error returned when a manifest is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ManifestError {
    /// The text is not JSON.
    #[error("the manifest is not JSON: line {}, column {}: {message}", position.line, position.column)]
    Json {
        /// Message of the parser.
        message: String,
        /// Position of the error.
        position: Position,
    },
    /// The JSON is not an object.
    #[error(
        "the manifest is not an object; write `{{\"source\": …, \"name\": …, \"context\": […]}}`"
    )]
    NotAnObject,
    /// A required field is missing.
    #[error("`{0}` is missing; a manifest has `source`, `name` and `context`")]
    Missing(&'static str),
    /// A field, or a part of one, has the wrong type.
    #[error("`{field}` is not {expected}")]
    Type {
        /// Name of the field.
        field: String,
        /// Expected type.
        expected: &'static str,
    },
    /// A text is empty or too long.
    #[error("`{field}` has {length} characters; use 1 to {limit}")]
    Length {
        /// Name of the field.
        field: &'static str,
        /// Length of the text.
        length: usize,
        /// Maximum length.
        limit: usize,
    },
    /// `context` contains an unknown key.
    #[error("`context[{index}]` is `{key}`; use `user`, `channel` or `guild`")]
    UnknownKey {
        /// Index in `context`, from 0.
        index: usize,
        /// The unknown key.
        key: String,
    },
    /// The hash has an invalid format.
    #[error(
        "`hash` is `{0}`; write `sha256-` and the 64 digits, 0 to 9 and a to f, of the SHA-256 of the source"
    )]
    Hash(String),
}

impl ManifestError {
    fn of_json(error: &serde_json::Error) -> Self {
        let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX).max(1);
        Self::Json {
            message: json_message(error),
            position: Position {
                line: number(error.line()),
                column: number(error.column()),
            },
        }
    }
}

impl Manifest {
    /// Creates a manifest. Duplicate keys count once.
    ///
    /// # Errors
    ///
    /// Returns [`ManifestError::Length`] if a text is empty or too long.
    pub fn new(
        source: impl Into<String>,
        name: impl Into<String>,
        context: impl IntoIterator<Item = ContextKey>,
    ) -> Result<Self, ManifestError> {
        let manifest = Manifest {
            source: source.into(),
            name: name.into(),
            context: context.into_iter().collect(),
            hash: None,
        };
        within("source", &manifest.source, MAX_SOURCE_CHARS)?;
        within("name", &manifest.name, MAX_NAME_CHARS)?;
        Ok(manifest)
    }

    /// Parses a manifest from JSON text.
    ///
    /// # Errors
    ///
    /// Returns the first rule that the text violates.
    pub fn parse(text: &str) -> Result<Self, ManifestError> {
        let value = serde_json::from_str(text).map_err(|error| ManifestError::of_json(&error))?;
        Manifest::from_value(&value)
    }

    /// Parses a manifest from a JSON value. Unknown fields are ignored: the server of the hook may
    /// use them.
    ///
    /// # Errors
    ///
    /// Returns the first rule that the value violates.
    pub fn from_value(value: &Value) -> Result<Self, ManifestError> {
        let fields = value.as_object().ok_or(ManifestError::NotAnObject)?;
        let field = |name| fields.get(name).ok_or(ManifestError::Missing(name));
        let text = |name: &'static str| {
            field(name)?.as_str().ok_or_else(|| ManifestError::Type {
                field: name.to_owned(),
                expected: "a string",
            })
        };
        let (source, name) = (text("source")?, text("name")?);
        let keys = field("context")?
            .as_array()
            .ok_or_else(|| ManifestError::Type {
                field: "context".to_owned(),
                expected: "a list",
            })?;
        let context: Vec<ContextKey> = keys
            .iter()
            .enumerate()
            .map(|(index, key)| {
                let key = key.as_str().ok_or_else(|| ManifestError::Type {
                    field: format!("context[{index}]"),
                    expected: "a string",
                })?;
                let known = ContextKey::ALL
                    .into_iter()
                    .find(|known| known.as_str() == key);
                known.ok_or_else(|| ManifestError::UnknownKey {
                    index,
                    key: key.to_owned(),
                })
            })
            .collect::<Result<_, _>>()?;
        let manifest = Manifest::new(source, name, context)?;
        if !fields.contains_key("hash") {
            return Ok(manifest);
        }
        manifest.pinned(text("hash")?)
    }

    /// Pins the manifest to one version of the hook: `sha256-` and the hash of its source. Another
    /// version cannot be registered with the manifest.
    ///
    /// # Errors
    ///
    /// Returns [`ManifestError::Hash`] if the format is invalid.
    pub fn pinned(mut self, hash: impl Into<String>) -> Result<Self, ManifestError> {
        let hash = hash.into();
        let digits = hash
            .strip_prefix(HASH_PREFIX)
            .unwrap_or_default()
            .as_bytes();
        let is_digit = |digit: &u8| matches!(digit, b'0'..=b'9' | b'a'..=b'f');
        if digits.len() != 64 || !digits.iter().all(is_digit) {
            return Err(ManifestError::Hash(hash));
        }
        self.hash = Some(hash);
        Ok(self)
    }

    /// Returns the pinned version: the SHA-256 of the source, in hexadecimal digits.
    pub fn pinned_hash(&self) -> Option<&str> {
        self.hash.as_deref()?.strip_prefix(HASH_PREFIX)
    }

    /// Returns the origin of the hook.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Returns the display name of the hook.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the context keys that the hook requests, without duplicates.
    pub fn context(&self) -> impl Iterator<Item = ContextKey> + '_ {
        self.context.iter().copied()
    }

    /// Returns `true` if the hook requests this key.
    pub fn asks_for(&self, key: ContextKey) -> bool {
        self.context.contains(&key)
    }
}

/// Checks the length in code points, as the JSON schema counts characters.
fn within(field: &'static str, text: &str, limit: usize) -> Result<(), ManifestError> {
    match text.chars().count() {
        length if (1..=limit).contains(&length) => Ok(()),
        length => Err(ManifestError::Length {
            field,
            length,
            limit,
        }),
    }
}
