//! What an event hook answers.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::changes::Changes;
use crate::Map;
use crate::approval::ApprovalOption;

pub(crate) mod json;

/// What an event hook answers: an [`Action`], and what belongs to it.
///
/// Each field has a default, so that a hook names what it needs:
///
/// ```
/// use hooks_runtime::{Action, HookResult, MessageLevel};
///
/// let result = HookResult::deny("production is frozen")
///     .user_message("Deployment blocked")
///     .user_message_level(MessageLevel::Error);
/// assert_eq!(result.action, Action::Deny);
///
/// assert_eq!(HookResult::default(), HookResult::proceed());
/// ```
///
/// As JSON it has the names of its fields; a wrong type, an unknown value or a field that is there
/// twice is an error that names the field, and unknown keys are kept.
#[derive(Debug, Clone, PartialEq)]
#[must_use = "it may be a denial; answer with it"]
pub struct HookResult {
    /// What is to happen.
    pub action: Action,
    /// With [`Action::Modify`]: the data in the place of the event's.
    pub data: Option<Map>,
    /// Why; the agent is shown it on a denial.
    pub reason: Option<String>,
    /// With [`Action::InjectContext`]: the text for the agent's conversation.
    pub context_injection: Option<String>,
    /// Who says it.
    pub context_injection_role: ContextRole,
    /// Whether it is for the current call only, and not for the history.
    pub ephemeral: bool,
    /// Whether it goes behind the last tool result, where it is [`ephemeral`](Self::ephemeral).
    pub append_to_last_tool_result: bool,
    /// With [`Action::AskUser`]: the question.
    pub approval_prompt: Option<String>,
    /// The answers to choose from; `Allow` and `Deny` unless given.
    pub approval_options: Option<Vec<String>>,
    /// Seconds until [`approval_default`](Self::approval_default) counts.
    pub approval_timeout: f64,
    /// What counts where nobody answers.
    pub approval_default: ApprovalDefault,
    /// Whether what the hook itself printed is kept from the transcript.
    pub suppress_output: bool,
    /// A message for the user, with any action.
    pub user_message: Option<String>,
    /// How serious the message is.
    pub user_message_level: MessageLevel,
    /// With [`Action::Modify`]: new values for single fields, on top of
    /// [`data`](Self::data) if that is given. Read and written with any action, as the data are.
    pub changes: Changes,
    /// Keys of the JSON form beside the fields: what a question says besides
    /// ([`approval_choices`](Self::approval_choices), [`approval_key`](Self::approval_key)), and
    /// those that are not known here.
    pub extra: Option<Box<Map>>,
}

/// What is to happen to what an event announces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// It goes on.
    #[default]
    Continue,
    /// It must not happen.
    Deny,
    /// It goes on with other data.
    Modify,
    /// It goes on, and the agent is told something.
    InjectContext,
    /// The user is to decide.
    AskUser,
}

/// Who says what is injected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ContextRole {
    /// The environment.
    #[default]
    System,
    /// The user.
    User,
    /// The agent itself.
    Assistant,
}

/// What counts where nobody answers a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalDefault {
    /// Yes.
    Allow,
    /// No.
    #[default]
    Deny,
}

/// How serious a message is.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, Default, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum MessageLevel {
    /// For information.
    #[default]
    Info,
    /// Something to look at.
    Warning,
    /// Something went wrong.
    Error,
}

/// Seconds that a question waits unless its hook says otherwise.
pub(crate) const APPROVAL_TIMEOUT: f64 = 300.0;

impl Default for HookResult {
    #[inline]
    fn default() -> Self {
        HookResult {
            action: Action::Continue,
            data: None,
            reason: None,
            context_injection: None,
            context_injection_role: ContextRole::System,
            ephemeral: false,
            append_to_last_tool_result: false,
            approval_prompt: None,
            approval_options: None,
            approval_timeout: APPROVAL_TIMEOUT,
            approval_default: ApprovalDefault::Deny,
            suppress_output: false,
            user_message: None,
            user_message_level: MessageLevel::Info,
            changes: Changes::new(),
            extra: None,
        }
    }
}

/// One for each action.
impl HookResult {
    /// `continue`.
    #[inline]
    pub fn proceed() -> Self {
        HookResult::default()
    }

    /// `deny`, and why.
    pub fn deny(reason: impl Into<String>) -> Self {
        HookResult {
            action: Action::Deny,
            reason: Some(reason.into()),
            ..HookResult::default()
        }
    }

    /// `modify`: these data in the place of all others.
    pub fn modify(data: Map) -> Self {
        HookResult {
            action: Action::Modify,
            data: Some(data),
            ..HookResult::default()
        }
    }

    /// `modify`: a new value for one field, while the others stay as they are.
    ///
    /// ```
    /// use hooks_runtime::HookResult;
    ///
    /// let result = HookResult::set("path", "/tmp/a").and_set("checked", true);
    /// assert_eq!(result.changes.get("checked"), Some(&true.into()));
    /// ```
    #[inline]
    pub fn set(field: impl Into<Cow<'static, str>>, value: impl Into<Value>) -> Self {
        HookResult {
            action: Action::Modify,
            ..HookResult::default()
        }
        .and_set(field, value)
    }

    /// `inject_context`: a text for the agent.
    pub fn inject_context(text: impl Into<String>) -> Self {
        HookResult {
            action: Action::InjectContext,
            context_injection: Some(text.into()),
            ..HookResult::default()
        }
    }

    /// `ask_user`: a question for the user.
    pub fn ask_user(prompt: impl Into<String>) -> Self {
        HookResult {
            action: Action::AskUser,
            approval_prompt: Some(prompt.into()),
            ..HookResult::default()
        }
    }
}

macro_rules! setters {
    ($($(#[$doc:meta])* $field:ident: $given:ty => $value:expr;)*) => {
        /// The fields besides those that an action needs.
        impl HookResult {
            $(
                $(#[$doc])*
                pub fn $field(mut self, $field: $given) -> Self {
                    self.$field = $value;
                    self
                }
            )*
        }
    };
}

setters! {
    /// Says why.
    reason: impl Into<String> => Some(reason.into());
    /// Says who says what is injected.
    context_injection_role: ContextRole => context_injection_role;
    /// Says whether the injection is for the current call only.
    ephemeral: bool => ephemeral;
    /// Says whether an ephemeral injection goes behind the last tool result.
    append_to_last_tool_result: bool => append_to_last_tool_result;
    /// Gives the user other answers to choose from than `Allow` and `Deny`.
    approval_options: impl IntoIterator<Item = impl Into<String>> =>
        Some(approval_options.into_iter().map(Into::into).collect());
    /// Says how many seconds the question waits; a finite number from 0 on is valid.
    approval_timeout: f64 => approval_timeout;
    /// Says what counts where nobody answers.
    approval_default: ApprovalDefault => approval_default;
    /// Says whether what the hook itself printed is kept from the transcript.
    suppress_output: bool => suppress_output;
    /// Tells the user something.
    user_message: impl Into<String> => Some(user_message.into());
    /// Says how serious the message is.
    user_message_level: MessageLevel => user_message_level;
}

/// Among the extra keys: what each of the options means, as pairs of label and effect.
pub(crate) const APPROVAL_EFFECTS: &str = "approval_effects";
/// Among the extra keys: what "allow always" is remembered under.
pub(crate) const APPROVAL_KEY: &str = "approval_key";

/// What a question says besides the fields.
impl HookResult {
    /// Gives the user these answers to choose from, each with its effect, which otherwise its
    /// label has to say. The effects count where the hook is trusted.
    pub fn approval_choices(mut self, options: impl IntoIterator<Item = ApprovalOption>) -> Self {
        // With their labels: a hook may change those afterwards.
        let (labels, effects): (Vec<_>, Vec<_>) = options
            .into_iter()
            .map(|option| {
                let effect = json!([option.label, option.effect.name()]);
                (option.label, effect)
            })
            .unzip();
        self.approval_options = Some(labels);
        self.with_extra(APPROVAL_EFFECTS, effects)
    }

    /// Says what an "allow always" is remembered under, in place of the question and the
    /// tool's input: a later question of the same hook for the same event, under
    /// the same key, is not asked. The key counts where the hook is trusted.
    pub fn approval_key(self, key: impl Into<String>) -> Self {
        self.with_extra(APPROVAL_KEY, key.into())
    }

    fn with_extra(mut self, key: &str, value: impl Into<Value>) -> Self {
        let extra = self.extra.get_or_insert_default();
        extra.insert(key.to_owned(), value.into());
        self
    }

    /// One of the extra keys, if it is text.
    pub(crate) fn extra_text(&self, key: &str) -> Option<&str> {
        self.extra.as_ref()?.get(key)?.as_str()
    }
}

impl HookResult {
    /// Gives one more field a new value.
    pub fn and_set(mut self, field: impl Into<Cow<'static, str>>, value: impl Into<Value>) -> Self {
        self.changes.set(field, value);
        self
    }

    /// The data that the hook answered with, whatever its action.
    pub(crate) fn into_data(self) -> Option<Map> {
        match (self.data, self.changes) {
            (data, changes) if changes.is_empty() => data,
            (data, changes) => {
                let mut data = data.unwrap_or_default();
                changes.apply(&mut data);
                Some(data)
            }
        }
    }

    /// The text to inject, if this injects one.
    pub(crate) fn injection(&self) -> Option<&str> {
        match (self.action, &self.context_injection) {
            (Action::InjectContext, Some(text)) if !text.is_empty() => Some(text),
            _ => None,
        }
    }
}

impl Action {
    /// The name in the JSON form.
    pub fn name(self) -> &'static str {
        match self {
            Action::Continue => "continue",
            Action::Deny => "deny",
            Action::Modify => "modify",
            Action::InjectContext => "inject_context",
            Action::AskUser => "ask_user",
        }
    }

    /// The greater one wins.
    #[inline]
    pub(crate) fn strength(self) -> u8 {
        match self {
            Action::Continue => 0,
            Action::Modify => 1,
            Action::InjectContext => 2,
            Action::AskUser => 3,
            Action::Deny => 4,
        }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
