//! What a PRE hook answers.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What a PRE hook answers.
///
/// ```
/// use hooks_runtime::{HookResponse, ResponseAction};
///
/// let response = HookResponse::new(ResponseAction::Deny)
///     .reason("Scope Violation")
///     .recovery_hint("edit a file below `src/`");
/// assert!(!response.is_continue());
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[must_use = "it may be a denial"]
pub struct HookResponse {
    /// What is to happen.
    pub action: ResponseAction,
    /// What kind of call it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub classification: Option<String>,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What kind of error it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_type: Option<String>,
    /// More about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<String>,
    /// What would help.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovery_hint: Option<String>,
}

/// What is to happen to a call. In JSON the names are in capitals; any other text is an
/// [`Other`](Self::Other), which stops the call as `DENY` does.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub enum ResponseAction {
    /// It goes on.
    #[default]
    Continue,
    /// It must not happen.
    Deny,
    /// Nothing more must happen.
    Halt,
    /// Something that only the host knows.
    Other(String),
}

impl HookResponse {
    /// A response with this action and nothing else.
    pub fn new(action: ResponseAction) -> Self {
        HookResponse {
            action,
            ..HookResponse::default()
        }
    }

    /// Whether the call goes on.
    pub fn is_continue(&self) -> bool {
        self.action == ResponseAction::Continue
    }
}

macro_rules! setters {
    ($($(#[$doc:meta])* $field:ident;)*) => {
        impl HookResponse {
            $(
                $(#[$doc])*
                pub fn $field(mut self, $field: impl Into<String>) -> Self {
                    self.$field = Some($field.into());
                    self
                }
            )*
        }
    };
}

setters! {
    /// Says what kind of call it is.
    classification;
    /// Says why.
    reason;
    /// Says what kind of error it is.
    error_type;
    /// Says more about it.
    details;
    /// Says what would help.
    recovery_hint;
}

impl ResponseAction {
    /// The name in the JSON form.
    pub fn name(&self) -> &str {
        match self {
            ResponseAction::Continue => "CONTINUE",
            ResponseAction::Deny => "DENY",
            ResponseAction::Halt => "HALT",
            ResponseAction::Other(name) => name,
        }
    }
}

impl From<String> for ResponseAction {
    fn from(name: String) -> Self {
        match &*name {
            "CONTINUE" => ResponseAction::Continue,
            "DENY" => ResponseAction::Deny,
            "HALT" => ResponseAction::Halt,
            _ => ResponseAction::Other(name),
        }
    }
}

impl fmt::Display for ResponseAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for ResponseAction {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            // Read back, it would be another answer.
            ResponseAction::Other(name) if ResponseAction::from(name.clone()) != *self => {
                serializer.collect_str(&format_args!("OTHER({name})"))
            }
            action => serializer.serialize_str(action.name()),
        }
    }
}

impl<'de> Deserialize<'de> for ResponseAction {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(ResponseAction::from)
    }
}
