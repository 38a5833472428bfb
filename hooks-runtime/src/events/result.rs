//! Output of event hooks.

use std::borrow::Cow;
use std::convert::Infallible;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::changes::Changes;
use crate::Map;
use crate::approval::ApprovalOption;

pub(crate) mod extras;
pub(crate) mod json;

/// Output of an event hook: an [`Action`], and its parameters.
///
/// Each field has a default, so that a hook sets only the fields that it needs:
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
/// In JSON, fields have the names used here. A wrong type, an unknown value or a repeated field is
/// an error that names the field; unknown keys are kept.
#[derive(Debug, Clone, PartialEq)]
#[must_use = "it may be a denial; answer with it"]
pub struct HookResult {
    /// Action of the hook.
    pub action: Action,
    /// With [`Action::Modify`]: data that replace the event's.
    pub data: Option<Map>,
    /// Reason; on a denial, the agent sees it.
    pub reason: Option<String>,
    /// With [`Action::InjectContext`]: the text for the agent's conversation.
    pub context_injection: Option<String>,
    /// Role of the injected text.
    pub context_injection_role: ContextRole,
    /// `true` if only the next call of the model gets the injected text, and the history does not
    /// contain it.
    pub ephemeral: bool,
    /// `true` to append the injection to the last tool result, if it is
    /// [`ephemeral`](Self::ephemeral).
    pub append_to_last_tool_result: bool,
    /// With [`Action::AskUser`]: the question.
    pub approval_prompt: Option<String>,
    /// Options of the question; `Allow` and `Deny` by default.
    pub approval_options: Option<Vec<String>>,
    /// Seconds until [`approval_default`](Self::approval_default) applies.
    pub approval_timeout: f64,
    /// Default on timeout.
    pub approval_default: ApprovalDefault,
    /// `true` to keep text that the hook printed out of the transcript.
    pub suppress_output: bool,
    /// A message for the user, with any action.
    pub user_message: Option<String>,
    /// Severity of the message.
    pub user_message_level: MessageLevel,
    /// With [`Action::Modify`]: new values for single fields, applied after [`data`](Self::data).
    /// Read and written with any action, like `data`.
    pub changes: Changes,
    /// Other keys of the JSON form: further properties of a question
    /// ([`approval_choices`](Self::approval_choices), [`approval_key`](Self::approval_key)), the
    /// name beside the message ([`user_message_source`](Self::user_message_source)), a list
    /// `context_injections`, and unknown keys.
    ///
    /// With [`Action::InjectContext`], `context_injections` lists several texts. Each is an object
    /// with `content`, `role`, `ephemeral` and `append_to_last_tool_result`. A list with text
    /// replaces [`context_injection`](Self::context_injection) and its settings.
    pub extra: Option<Box<Map>>,
}

/// Effect on the operation that an event announces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// The operation continues.
    #[default]
    Continue,
    /// The operation must not happen.
    Deny,
    /// The operation continues with other data.
    Modify,
    /// The operation continues, and text is injected into the agent's conversation.
    InjectContext,
    /// The operation must not happen before the user approves it.
    AskUser,
}

/// Role of injected text.
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

/// Default of a question on timeout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalDefault {
    /// The operation may happen.
    Allow,
    /// The operation is denied.
    #[default]
    Deny,
}

/// Severity of a message.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, Default, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum MessageLevel {
    /// For information.
    #[default]
    Info,
    /// A warning.
    Warning,
    /// An error.
    Error,
}

/// Default timeout of a question, in seconds.
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

/// Constructors, one for each action.
impl HookResult {
    /// `continue`.
    #[inline]
    pub fn proceed() -> Self {
        HookResult::default()
    }

    /// `deny`, with a reason.
    pub fn deny(reason: impl Into<String>) -> Self {
        HookResult {
            action: Action::Deny,
            reason: Some(reason.into()),
            ..HookResult::default()
        }
    }

    /// `modify`: replaces all data.
    pub fn modify(data: Map) -> Self {
        HookResult {
            action: Action::Modify,
            data: Some(data),
            ..HookResult::default()
        }
    }

    /// `modify`: sets one field, and keeps the others.
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
    #[doc(alias = "ask")]
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
        /// Setters of further fields.
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
    /// Sets the reason.
    reason: impl Into<String> => Some(reason.into());
    /// Sets the role of the injected text.
    context_injection_role: ContextRole => context_injection_role;
    /// Sets whether only the next call of the model gets the injected text.
    ephemeral: bool => ephemeral;
    /// Sets whether an ephemeral injection is appended to the last tool result.
    append_to_last_tool_result: bool => append_to_last_tool_result;
    /// Sets the options; `Allow` and `Deny` by default.
    approval_options: impl IntoIterator<Item = impl Into<String>> =>
        Some(approval_options.into_iter().map(Into::into).collect());
    /// Sets the timeout of the question in seconds: a finite number, 0 or greater.
    approval_timeout: f64 => approval_timeout;
    /// Sets the default on timeout.
    approval_default: ApprovalDefault => approval_default;
    /// Sets whether text that the hook printed is kept out of the transcript.
    suppress_output: bool => suppress_output;
    /// Sets the message for the user.
    user_message: impl Into<String> => Some(user_message.into());
    /// Sets the severity of the message.
    user_message_level: MessageLevel => user_message_level;
}

/// Extra key: effect of each option, as pairs of label and effect.
pub(crate) const APPROVAL_EFFECTS: &str = "approval_effects";
/// Extra key: key under which "allow always" is remembered.
pub(crate) const APPROVAL_KEY: &str = "approval_key";
/// Extra key: name that a host displays beside the message for the user.
pub(crate) const USER_MESSAGE_SOURCE: &str = "user_message_source";

/// Setters of extra keys.
impl HookResult {
    /// Sets the options with their effects, which labels determine by default. The effects apply if
    /// the hook is trusted.
    pub fn approval_choices(mut self, options: impl IntoIterator<Item = ApprovalOption>) -> Self {
        // Stored with their labels: a hook may change the labels afterwards.
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

    /// Sets the key under which "allow always" is remembered, in place of the question and the
    /// tool's input: a later question of this hook for this event with an equal key is not asked.
    /// The key applies if the hook is trusted.
    pub fn approval_key(self, key: impl Into<String>) -> Self {
        self.with_extra(APPROVAL_KEY, key.into())
    }

    /// Sets a name for display beside the message for the user, for example if the hook is named
    /// after a tool. It does not hide the name of the hook.
    pub fn user_message_source(self, source: impl Into<String>) -> Self {
        self.with_extra(USER_MESSAGE_SOURCE, source.into())
    }

    fn with_extra(mut self, key: &str, value: impl Into<Value>) -> Self {
        let extra = self.extra.get_or_insert_default();
        extra.insert(key.to_owned(), value.into());
        self
    }

    /// Returns one of the extra keys, if it is text.
    pub(crate) fn extra_text(&self, key: &str) -> Option<&str> {
        self.extra.as_ref()?.get(key)?.as_str()
    }
}

/// Bound of [`HookResult::ask`] that no prompt meets, so that the compiler names the constructor.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`HookResult` has no constructor `ask`; call `HookResult::ask_user(prompt)`",
    label = "the constructor is `ask_user`"
)]
pub trait PromptOfAsk {
    /// Is never called: there is no value of this type.
    fn never(self) -> HookResult;
}

/// Without an implementation, the compiler suggests adding one.
#[diagnostic::do_not_recommend]
impl PromptOfAsk for Infallible {
    fn never(self) -> HookResult {
        match self {}
    }
}

/// At the end, because the compiler lists the first constructors where an unknown one is called.
impl HookResult {
    #[doc(hidden)]
    pub fn ask<P: PromptOfAsk>(prompt: P) -> Self {
        prompt.never()
    }
}

impl HookResult {
    /// Sets another field.
    pub fn and_set(mut self, field: impl Into<Cow<'static, str>>, value: impl Into<Value>) -> Self {
        self.changes.set(field, value);
        self
    }

    /// Returns `true` if the result has at most an action and changes of single fields.
    #[cfg_attr(not(debug_assertions), inline(always))] // event_continue/16
    pub(crate) fn is_bare(&self) -> bool {
        self.data.is_none()
            && self.reason.is_none()
            && self.context_injection.is_none()
            && self.approval_prompt.is_none()
            && self.approval_options.is_none()
            && self.approval_timeout == APPROVAL_TIMEOUT
            && !self.suppress_output
            && self.user_message.is_none()
            && self.extra.is_none()
    }

    /// Applies the [`data`](Self::data) and then the [`changes`](Self::changes) to the data of an
    /// event, whatever the action.
    ///
    /// ```
    /// use hooks_runtime::{HookResult, Map};
    ///
    /// let mut data = Map::from_iter([("path".to_owned(), "a".into())]);
    /// HookResult::set("dry_run", true).apply_to(&mut data);
    /// assert_eq!(data.len(), 2);
    /// ```
    pub fn apply_to(self, data: &mut Map) {
        if let Some(replacement) = self.data {
            *data = replacement;
        }
        self.changes.apply(data);
    }

    /// Returns the data of the hook, whatever its action.
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
}

impl Action {
    /// Returns the name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Action::Continue => "continue",
            Action::Deny => "deny",
            Action::Modify => "modify",
            Action::InjectContext => "inject_context",
            Action::AskUser => "ask_user",
        }
    }

    /// Returns the strength; the greater one wins.
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
