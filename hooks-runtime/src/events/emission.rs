//! Result of an emission.
//!
//! An event announces an operation of the host, such as the call of a tool. The hooks of the event
//! decide whether the operation may happen, and with which data.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use hooks_core::__private::ColdOption;
use hooks_core::{EntryMeta, Failure, Report};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use thin_vec::ThinVec;

use super::result::extras::ListedInjection;
use super::result::{Action, ContextRole, HookResult, MessageLevel, USER_MESSAGE_SOURCE};
use crate::Map;
use crate::error::text;

/// Result of an emission: the strongest action of the hooks, and the changed data, injections and
/// messages of all hooks that ran. After a denial, no further hook runs.
///
/// From the strongest action to the weakest: [`Deny`](Action::Deny), [`AskUser`](Action::AskUser),
/// [`InjectContext`](Action::InjectContext), [`Modify`](Action::Modify),
/// [`Continue`](Action::Continue).
///
/// [`result`](Self::result) summarizes an emission as one [`HookResult`], which has no place for
/// everything that an emission contains.
///
/// ```
/// use hooks_runtime::{Action, Event, HookRegistry, HookResult, RegisterOptions};
/// use serde_json::json;
///
/// let hooks = HookRegistry::new();
/// hooks.register(
///     "tool:pre",
///     |_: Event<'_>| HookResult::set("dry_run", true),
///     RegisterOptions::new(),
/// );
/// hooks.register(
///     "tool:pre",
///     |_: Event<'_>| HookResult::deny("not on a Friday").user_message("come back on Monday"),
///     RegisterOptions::new().name("calendar"),
/// );
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let emission = hooks.emit("tool:pre", json!({"tool_name": "deploy"})).await.unwrap();
/// assert_eq!(emission.action, Action::Deny);
/// assert_eq!(emission.reason(), Some("not on a Friday"));
/// assert_eq!(emission.decided_by.as_deref(), Some("calendar"));
/// // The changed data of the earlier hook, and the messages of both hooks, are in the emission.
/// assert_eq!(emission.data["dry_run"], true);
/// assert_eq!(emission.messages[0].text, "come back on Monday");
/// # });
/// ```
#[derive(Debug, Clone)]
#[must_use = "it may be a denial, or a question for the user"]
#[non_exhaustive]
pub struct Emission {
    /// The strongest action. [`Action::Modify`] means that a hook set the data or a field, possibly
    /// to an equal value.
    pub action: Action,
    /// The event's data after all changes by hooks.
    pub data: Arc<Map>,
    /// Texts for the agent's conversation, in execution order.
    pub injections: ThinVec<Injection>,
    /// Messages for the user, in execution order.
    pub messages: ThinVec<UserMessage>,
    /// Name of the deciding hook, the hook that returned `action`. If several hooks returned the
    /// action, the deciding hook is
    ///
    /// - for [`Action::AskUser`], the first hook that the host trusts, or the first hook if the host
    ///   trusts none of them;
    /// - for [`Action::InjectContext`], the first hook;
    /// - for [`Action::Modify`], the last hook.
    ///
    /// `None` for [`Action::Continue`].
    pub decided_by: Option<Arc<str>>,
    /// Failures of hooks, in execution order.
    pub failures: ThinVec<HandlerFailure>,
    /// Parts that most emissions do not have. A `ColdOption` is an `Option` optimised for `None`.
    pub(crate) rare_fields: ColdOption<Box<RareFields>>,
}

/// Parts of an emission that most emissions do not have.
#[derive(Debug, Clone, Default)]
pub(crate) struct RareFields {
    /// Result of the deciding hook.
    pub(crate) decision: Option<Box<HookResult>>,
    /// Set if the deciding hook asks the user.
    pub(crate) question: Option<QuestionOrigin>,
    /// `true` if a hook changed the data, although the action is stronger than
    /// [`Action::Modify`].
    pub(crate) has_modified: bool,
    /// Printed texts.
    pub(crate) output: Vec<HookOutput>,
    pub(crate) report: Option<Report>,
}

impl RareFields {
    /// Returns `true` if an emission needs no such parts.
    pub(crate) fn is_empty(&self) -> bool {
        let RareFields {
            decision,
            question,
            has_modified,
            output,
            report,
        } = self;
        decision.is_none()
            && question.is_none()
            && !has_modified
            && output.is_empty()
            && report.is_none()
    }
}

/// Origin of a question to the user. The question itself is in the result of the deciding hook.
#[derive(Debug, Clone)]
pub(crate) struct QuestionOrigin {
    /// Name of the event.
    pub(crate) event: Arc<str>,
    /// `true` if the host trusts the hook that asks.
    pub(crate) is_trusted: bool,
    /// Name of the type of this hook.
    pub(crate) hook_type: &'static str,
    /// `true` if a hook changed the event's data after the question.
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
    /// `true` if only the next call of the model gets the text, and the history does not contain it.
    pub ephemeral: bool,
    /// `true` to append an ephemeral text to the last result of a tool.
    pub append_to_last_tool_result: bool,
    /// Origin of the text.
    pub provenance: Provenance,
}

/// Origin of an injection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Provenance {
    /// Kind of the origin: always `hook`.
    pub source: Cow<'static, str>,
    /// Name of the hook.
    pub hook: Arc<str>,
    /// Name of the event.
    pub event: Arc<str>,
    /// Time at which the hook returned the text.
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
    /// Name of the hook that returned the message.
    pub hook: Arc<str>,
    /// Name for display, if the hook set one
    /// ([`HookResult::user_message_source`]). The host does not check it: only
    /// [`hook`](Self::hook) proves which hook returned the message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

/// Text that a hook printed with [`Event::print`](super::Event::print).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct HookOutput {
    /// The text.
    pub text: String,
    /// Name of the hook that printed the text.
    pub hook: Arc<str>,
}

/// A failure of an event hook.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HandlerFailure {
    /// Name of the hook.
    pub hook: Arc<str>,
    /// Name of the event.
    pub event: Arc<str>,
    /// Cause: an error, a panic, a timeout or an invalid output.
    pub failure: Failure,
}

impl UserMessage {
    /// Returns the message in a result, with the name of its hook. `None` if the result has no
    /// message. `entry` is the registration of the hook.
    pub(crate) fn of(result: &HookResult, entry: &EntryMeta) -> Option<Self> {
        Some(UserMessage {
            text: result.user_message.clone()?,
            level: result.user_message_level,
            hook: entry.name_arc(),
            source: result
                .extra_text(USER_MESSAGE_SOURCE)
                .filter(|source| !source.trim().is_empty())
                .map(str::to_owned),
        })
    }
}

impl From<&Injection> for ListedInjection {
    fn from(injection: &Injection) -> Self {
        ListedInjection {
            content: injection.content.clone(),
            role: injection.role,
            ephemeral: injection.ephemeral,
            append_to_last_tool_result: injection.append_to_last_tool_result,
        }
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
    /// Creates the failure of a hook and logs it. No other code logs failures of event hooks, so each
    /// is logged once. `entry` is the registration of the hook.
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

    /// Formats the failure. If the `Display` of the hook's error panics, returns a placeholder.
    pub(crate) fn text(&self) -> String {
        text(self)
    }
}

impl Emission {
    /// Creates an emission with these data that continues, for around hooks that do not call the
    /// other hooks.
    pub fn proceed(data: impl Into<Arc<Map>>) -> Self {
        Emission::of(data.into())
    }

    /// Creates a denial by this hook, for around hooks that do not call the other hooks.
    pub fn deny(
        data: impl Into<Arc<Map>>,
        hook: impl Into<Arc<str>>,
        reason: impl Into<String>,
    ) -> Self {
        let mut emission = Emission::proceed(data);
        emission.action = Action::Deny;
        emission.decided_by = Some(hook.into());
        let denial = HookResult::deny(reason);
        emission.rare_fields.get_or_default().decision = Some(Box::new(denial));
        emission
    }

    /// Returns `true` if a hook denied the announced operation.
    ///
    /// `false` does not always permit the operation: with [`Action::AskUser`], the user has to
    /// approve it first.
    pub fn is_denied(&self) -> bool {
        self.action == Action::Deny
    }

    /// Returns the reason of the deciding hook, if it has one.
    pub fn reason(&self) -> Option<&str> {
        self.decision()?.reason.as_deref()
    }

    /// Returns the result of the [deciding hook](Self::decided_by); with [`Action::AskUser`], the
    /// question.
    ///
    /// With [`Action::Modify`], the result contains no data: the changed data are in
    /// [`data`](Self::data). `None` if there is no deciding hook, or if the deciding hook only set
    /// single fields.
    pub fn decision(&self) -> Option<&HookResult> {
        self.rare_fields.as_ref()?.decision.as_deref()
    }

    /// Returns the origin of the question if the action is [`Action::AskUser`].
    pub(crate) fn question(&self) -> Option<&QuestionOrigin> {
        self.rare_fields.as_ref()?.question.as_ref()
    }

    /// Returns the texts that hooks printed, in order of time. The texts of a hook whose result has
    /// [`suppress_output`](HookResult::suppress_output) are omitted.
    pub fn output(&self) -> &[HookOutput] {
        match self.rare_fields.as_ref() {
            Some(rest) => &rest.output,
            None => &[],
        }
    }

    /// Returns the report on each hook, if [`EmitOptions::report`](super::EmitOptions::report)
    /// requested one.
    pub fn report(&self) -> Option<&Report> {
        self.rare_fields.as_ref()?.report.as_ref()
    }

    /// Returns the report for additions by observers.
    pub(crate) fn report_mut(&mut self) -> Option<&mut Report> {
        self.rare_fields.as_mut()?.report.as_mut()
    }

    /// Summarizes the emission as one [`HookResult`].
    ///
    /// | Action | Result |
    /// |---|---|
    /// | `Deny`, `AskUser` | the result of the deciding hook |
    /// | `InjectContext` | the result of the deciding hook, with the texts of all injections, separated by blank lines; role, lifetime and placement are those of the first. If the hook listed its texts (`context_injections`), the list contains all injections |
    /// | `Modify`, `Continue` | the messages of all hooks, a line each, with the level of the most severe message |
    ///
    /// `data` of the result are the final [`data`](Self::data) with every action if a hook changed
    /// them, and always with `Modify` and `Continue`. Data that a hook returned without `Modify`
    /// had no effect, so a question or an injection never contains them; a denial contains them if
    /// no hook changed the data.
    pub fn result(&self) -> HookResult {
        let mut result = self.summary();
        let has_data = result.data.is_some() || !result.changes.is_empty();
        if self.has_modified() || (has_data && self.action != Action::Deny) {
            result.data = Some(Map::clone(&self.data));
            result.changes = Default::default();
        }
        result
    }

    /// Returns `true` if a hook changed the data.
    fn has_modified(&self) -> bool {
        let rare_fields = self.rare_fields.as_ref();
        self.action == Action::Modify || rare_fields.is_some_and(|rest| rest.has_modified)
    }

    /// Returns the summary, without the data of stronger actions.
    fn summary(&self) -> HookResult {
        let own = self.decision().cloned();
        match self.action {
            action @ (Action::Deny | Action::AskUser) => HookResult {
                action,
                ..own.unwrap_or_default()
            },
            Action::InjectContext => {
                let texts: Vec<_> = self.injections.iter().map(|item| &*item.content).collect();
                let mut result = HookResult {
                    action: self.action,
                    context_injection: Some(texts.join("\n\n")),
                    ..own.unwrap_or_default()
                };
                if let Some(first) = self.injections.first() {
                    result.context_injection_role = first.role;
                    result.ephemeral = first.ephemeral;
                    result.append_to_last_tool_result = first.append_to_last_tool_result;
                }
                // The list is read before the text, so it needs the texts of the other hooks, too.
                result.relist(self.injections.iter().map(ListedInjection::from).collect());
                result
            }
            Action::Modify | Action::Continue => {
                let texts: Vec<_> = self.messages.iter().map(|item| &*item.text).collect();
                let level = self.messages.iter().map(|item| item.level).max();
                let mut result = HookResult {
                    action: self.action,
                    // `result` sets the final data.
                    data: Some(Map::new()),
                    user_message: (!texts.is_empty()).then(|| texts.join("\n")),
                    user_message_level: level.unwrap_or_default(),
                    ..own.unwrap_or_default()
                };
                let mut sources = self.messages.iter().map(|item| item.source.as_deref());
                let first = sources.next().flatten();
                let is_common = sources.all(|source| source == first);
                result.set_message_source(first.filter(|_| is_common));
                result
            }
        }
    }
}
