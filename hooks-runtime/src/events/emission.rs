//! What the host is given for an event.

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

/// What came of an event: the strongest answer, and everything that any hook said, whichever
/// answer won.
///
/// [`result`](Self::result) is the same as one [`HookResult`]; what does not fit into that is
/// here.
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
/// // What the hooks before have changed, and what any of them said to the user, is there too.
/// assert_eq!(emission.data["dry_run"], true);
/// assert_eq!(emission.messages[0].text, "come back on Monday");
/// # });
/// ```
#[derive(Debug, Clone)]
#[must_use = "it may be a denial, or a question for the user"]
#[non_exhaustive]
pub struct Emission {
    /// The strongest answer. [`Action::Modify`] says that a hook has set the data or
    /// a field, be it to the same value.
    pub action: Action,
    /// The data as the last hook left them, for what the event announces.
    pub data: Arc<Map>,
    /// What is to be injected, in execution order.
    pub injections: ThinVec<Injection>,
    /// What the user is to be told, in execution order.
    pub messages: ThinVec<UserMessage>,
    /// The hook whose answer the action is; the first one where several gave it, of those that
    /// are trusted for a question if there is one, and the last one for [`Action::Modify`].
    pub decided_by: Option<Arc<str>>,
    /// What went wrong, in execution order.
    pub failures: ThinVec<HandlerFailure>,
    /// What most emissions have nothing of.
    pub(crate) rest: ColdOption<Box<Rest>>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Rest {
    /// The answer of the hook that decided.
    pub(crate) decision: Option<Box<HookResult>>,
    pub(crate) question: Option<Question>,
    pub(crate) output: Vec<HookOutput>,
    pub(crate) report: Option<Report>,
}

/// What there is to a question besides its answer.
#[derive(Debug, Clone)]
pub(crate) struct Question {
    pub(crate) event: Arc<str>,
    /// Whether the host vouches for the hook that asks.
    pub(crate) is_trusted: bool,
    pub(crate) hook_type: &'static str,
    /// Whether a later hook changed the data.
    pub(crate) has_changed: bool,
}

/// A text for the agent's conversation, with its own role, lifetime and placement.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Injection {
    /// The text.
    pub content: String,
    /// Who says it.
    pub role: ContextRole,
    /// Whether it is for the current call only.
    pub ephemeral: bool,
    /// Whether it goes behind the last tool result, where it is ephemeral.
    pub append_to_last_tool_result: bool,
    /// Where it comes from.
    pub provenance: Provenance,
}

/// Where something comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Provenance {
    /// Always `hook`.
    pub source: Cow<'static, str>,
    /// The name of the hook.
    pub hook: Arc<str>,
    /// The name of the event.
    pub event: Arc<str>,
    /// When the hook had answered.
    #[serde(serialize_with = "crate::timestamp::serialize")]
    pub at: Timestamp,
}

/// A message for the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct UserMessage {
    /// The message.
    pub text: String,
    /// How serious it is.
    pub level: MessageLevel,
    /// The hook that says it.
    pub hook: Arc<str>,
}

/// Something that a hook printed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct HookOutput {
    /// The text.
    pub text: String,
    /// The hook that printed it.
    pub hook: Arc<str>,
}

/// Something that went wrong in a hook.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HandlerFailure {
    /// The hook.
    pub hook: Arc<str>,
    /// The event.
    pub event: Arc<str>,
    /// What went wrong.
    pub failure: Failure,
}

impl UserMessage {
    /// What the hook of this entry tells the user, if it does, whatever its action.
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
    /// What went wrong in the hook of this entry; this is the one place where a failure of an
    /// event hook is logged.
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

    /// What is displayed, also where a hook's own error panics when it is.
    pub(crate) fn text(&self) -> String {
        text(self)
    }
}

impl Emission {
    /// Whether what the event announces must not happen.
    pub fn is_denied(&self) -> bool {
        self.action == Action::Deny
    }

    /// Why the hook that decided decided so, if it said.
    pub fn reason(&self) -> Option<&str> {
        self.decision()?.reason.as_deref()
    }

    /// The answer of the hook that decided; the question, where that is to ask the user.
    /// Of one that modified, it is what it said besides: the data have gone into the
    /// emission's. There is none where nobody said more than to go on, or to change fields.
    pub fn decision(&self) -> Option<&HookResult> {
        self.rest.as_ref()?.decision.as_deref()
    }

    /// What there is to the question, where the action is to ask the user.
    pub(crate) fn question(&self) -> Option<&Question> {
        self.rest.as_ref()?.question.as_ref()
    }

    /// What hooks printed and did not suppress, in the order in which it was printed.
    pub fn output(&self) -> &[HookOutput] {
        match self.rest.as_ref() {
            Some(rest) => &rest.output,
            None => &[],
        }
    }

    /// What became of each hook, where [`EmitOptions::report`](super::EmitOptions::report)
    /// asked for it.
    pub fn report(&self) -> Option<&Report> {
        self.rest.as_ref()?.report.as_ref()
    }

    /// The emission as one [`HookResult`].
    ///
    /// A denial or a question is the hook's own answer. Several injections are one, with the
    /// settings of the first. Otherwise the data are the final ones, and all
    /// messages are one, with the level of the most serious.
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
