//! Output of a PRE hook.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Output of a PRE hook.
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
    /// Effect on the call.
    pub action: ResponseAction,
    /// Kind of the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub classification: Option<String>,
    /// Reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Kind of the error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_type: Option<String>,
    /// Details of the error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<String>,
    /// Hint for the agent to recover.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovery_hint: Option<String>,
}

/// Effect on a call. In JSON the names are in capitals; any other text is [`Other`](Self::Other),
/// which stops the call like `DENY`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub enum ResponseAction {
    /// The call continues.
    #[default]
    Continue,
    /// The call must not happen.
    Deny,
    /// The agent must stop.
    Halt,
    /// An action of the host.
    Other(String),
}

impl HookResponse {
    /// Creates a response with this action and no other fields.
    pub fn new(action: ResponseAction) -> Self {
        HookResponse {
            action,
            ..HookResponse::default()
        }
    }

    /// `CONTINUE`: the call continues.
    pub fn proceed() -> Self {
        HookResponse::default()
    }

    /// `DENY`, because of the failure of a hook that this text describes.
    pub(crate) fn failed(reason: String) -> Self {
        HookResponse::new(ResponseAction::Deny)
            .reason(reason)
            .error_type("hook_failure")
    }

    /// Returns `true` if the call continues.
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
    /// Sets the kind of the call.
    classification;
    /// Sets the reason.
    reason;
    /// Sets the kind of the error.
    error_type;
    /// Sets the details.
    details;
    /// Sets the hint for recovery.
    recovery_hint;
}

impl ResponseAction {
    /// Returns the name in JSON.
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
            // Read back, it would be another action.
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
