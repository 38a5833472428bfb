//! Result of an emission.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use hooks_core::__private::ColdOption;
use hooks_core::{EntryMeta, Failure, Report};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use thin_vec::ThinVec;

use super::result::{Action, ContextRole, HookResult, MessageLevel};
use crate::Map;
use crate::error::text;

/// Result of an emission: the strongest action, and every hook's contribution, whichever action
/// won.
///
/// [`result`](Self::result) returns it as one [`HookResult`]; this type also has the parts that do
/// not fit into one.
///
/// ```
/// use hooks_runtime::{Action, Event, HookRegistry, HookResult, RegisterOptions};
/// use serde_json::json;
///
/// let hooks = HookRegistry::new();
/// let options = RegisterOptions::new;
/// hooks.register("tool:pre", |_: Event<'_>| HookResult::set("dry_run", true), options());
/// hooks.register(
///     "tool:pre",
///     |_: Event<'_>| HookResult::deny("not on a Friday").user_message("come back on Monday"),
///     options().name("calendar"),
/// );
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let emission = hooks.emit("tool:pre", json!({"tool_name": "deploy"})).await.unwrap();
/// assert_eq!(emission.action, Action::Deny);
/// assert_eq!(emission.reason(), Some("not on a Friday"));
/// assert_eq!(emission.decided_by.as_deref(), Some("calendar"));
/// // Earlier changes of data, and all messages to the user, are kept too.
/// assert_eq!(emission.data["dry_run"], true);
/// assert_eq!(emission.messages[0].text, "come back on Monday");
/// # });
/// ```
#[derive(Debug, Clone)]
#[must_use = "it may be a denial, or a question for the user"]
#[non_exhaustive]
pub struct Emission {
    /// The strongest action. With [`Action::Modify`], a hook has set the data or a field, possibly
    /// to an equal value.
    pub action: Action,
    /// Data of the announced action, as the last hook left them.
    pub data: Arc<Map>,
    /// Injections, in execution order.
    pub injections: ThinVec<Injection>,
    /// Messages for the user, in execution order.
    pub messages: ThinVec<UserMessage>,
    /// Hook that returned `action`. If several hooks returned it: the first one, for a question the
    /// first trusted one if there is one, and for [`Action::Modify`] the last one.
    pub decided_by: Option<Arc<str>>,
    /// Failures, in execution order.
    pub failures: ThinVec<HandlerFailure>,
    /// Rare parts.
    pub(crate) rest: ColdOption<Box<Rest>>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Rest {
    /// Result of the deciding hook.
    pub(crate) decision: Option<Box<HookResult>>,
    pub(crate) question: Option<QuestionOrigin>,
    pub(crate) output: Vec<HookOutput>,
    pub(crate) report: Option<Report>,
}

/// Further properties of a question.
#[derive(Debug, Clone)]
pub(crate) struct QuestionOrigin {
    pub(crate) event: Arc<str>,
    /// `true` if the host trusts the hook.
    pub(crate) is_trusted: bool,
    pub(crate) hook_type: &'static str,
    /// `true` if a later hook changed the data.
    pub(crate) has_changed: bool,
}

/// A text for the agent's conversation, with its own role, lifetime and placement.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Injection {
    /// The text.
    pub content: String,
    /// Role of the text.
    pub role: ContextRole,
    /// `true` if it applies to the current call only.
    pub ephemeral: bool,
    /// `true` to append it to the last tool result, if it is ephemeral.
    pub append_to_last_tool_result: bool,
    /// Source of the injection.
    pub provenance: Provenance,
}

/// Source of an injection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Provenance {
    /// Always `hook`.
    pub source: Cow<'static, str>,
    /// The name of the hook.
    pub hook: Arc<str>,
    /// The name of the event.
    pub event: Arc<str>,
    /// Time of the hook's output.
    #[serde(serialize_with = "crate::timestamp::serialize")]
    pub at: Timestamp,
}

/// A message for the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct UserMessage {
    /// The message.
    pub text: String,
    /// Severity.
    pub level: MessageLevel,
    /// Hook that returned it.
    pub hook: Arc<str>,
}

/// Text that a hook printed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct HookOutput {
    /// The text.
    pub text: String,
    /// The hook that printed it.
    pub hook: Arc<str>,
}

/// A failure of a hook.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HandlerFailure {
    /// The hook.
    pub hook: Arc<str>,
    /// The event.
    pub event: Arc<str>,
    /// The failure.
    pub failure: Failure,
}

impl UserMessage {
    /// Returns the message of this entry's hook, if it has one, whatever its action.
    pub(crate) fn of(result: &HookResult, entry: &EntryMeta) -> Option<Self> {
        Some(UserMessage {
            text: result.user_message.clone()?,
            level: result.user_message_level,
            hook: entry.name_arc(),
        })
    }
}

impl fmt::Display for HandlerFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let HandlerFailure {
            hook,
            event,
            failure,
        } = self;
        write!(f, "hook `{hook}` of event `{event}` {failure}")
    }
}

impl std::error::Error for HandlerFailure {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.failure.source()
    }
}

impl HandlerFailure {
    /// Returns the failure of this entry's hook, and logs it; failures of event hooks are logged
    /// only here.
    pub(crate) fn logged(entry: &EntryMeta, event: &Arc<str>, failure: Failure) -> Self {
        let failure = HandlerFailure {
            hook: entry.name_arc(),
            event: Arc::clone(event),
            failure,
        };
        tracing::warn!(
            target: "hooks_runtime",
            event = &*failure.event,
            hook = &*failure.hook,
            kind = failure.failure.kind(),
            "{}",
            failure.text()
        );
        failure
    }

    /// Returns the text of the failure, even if the `Display` of the hook's error panics.
    pub(crate) fn text(&self) -> String {
        text(self)
    }
}

impl Emission {
    /// Returns `true` if the announced action must not happen.
    pub fn is_denied(&self) -> bool {
        self.action == Action::Deny
    }

    /// Returns the reason of the deciding hook, if it has one.
    pub fn reason(&self) -> Option<&str> {
        self.decision()?.reason.as_deref()
    }

    /// Returns the result of the deciding hook; with [`Action::AskUser`], the question. With
    /// [`Action::Modify`], the result has no data: they are in the emission's. `None` if hooks only
    /// continued or changed fields.
    pub fn decision(&self) -> Option<&HookResult> {
        self.rest.as_ref()?.decision.as_deref()
    }

    /// Returns the properties of the question, if the action is to ask the user.
    pub(crate) fn question(&self) -> Option<&QuestionOrigin> {
        self.rest.as_ref()?.question.as_ref()
    }

    /// Returns the output that hooks printed and did not suppress, in order of time.
    pub fn output(&self) -> &[HookOutput] {
        match self.rest.as_ref() {
            Some(rest) => &rest.output,
            None => &[],
        }
    }

    /// Returns the report on each hook, if [`EmitOptions::report`](super::EmitOptions::report)
    /// requested one.
    pub fn report(&self) -> Option<&Report> {
        self.rest.as_ref()?.report.as_ref()
    }

    /// Returns the emission as one [`HookResult`].
    ///
    /// A denial or a question is the hook's own result. Several injections become one, with the
    /// settings of the first. Otherwise the data are the final ones, and all messages become one,
    /// with the level of the most severe.
    pub fn result(&self) -> HookResult {
        let own = self.decision().cloned();
        match self.action {
            action @ (Action::Deny | Action::AskUser) => HookResult {
                action,
                ..own.unwrap_or_default()
            },
            Action::InjectContext => {
                let texts: Vec<_> = self.injections.iter().map(|item| &*item.content).collect();
                HookResult {
                    action: self.action,
                    context_injection: Some(texts.join("\n\n")),
                    ..own.unwrap_or_default()
                }
            }
            Action::Modify | Action::Continue => {
                let texts: Vec<_> = self.messages.iter().map(|item| &*item.text).collect();
                let level = self.messages.iter().map(|item| item.level).max();
                HookResult {
                    action: self.action,
                    data: Some(Map::clone(&self.data)),
                    user_message: (!texts.is_empty()).then(|| texts.join("\n")),
                    user_message_level: level.unwrap_or_default(),
                    changes: Default::default(),
                    ..own.unwrap_or_default()
                }
            }
        }
    }
}
