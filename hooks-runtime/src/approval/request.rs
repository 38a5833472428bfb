//! Questions for the user and their answers, as values that can be stored.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::option::{ApprovalEffect, ApprovalOption, OfferedOptions};
use crate::digest::{self, Digest};
use crate::events::result::{APPROVAL_EFFECTS, APPROVAL_KEY};
use crate::events::table::TIMESTAMP;
use crate::{Action, ApprovalDefault, Emission, HookResult, Map};

/// A question for the user: the announced action, the hook, and the options.
///
/// The request is complete: it can be serialised, stored and answered later by another task or
/// program ([`Coordinator::resolve`](crate::Coordinator::resolve)). An approval covers
/// [`data`](Self::data), the data after all hooks have run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ApprovalRequest {
    /// Unique id of the question.
    pub id: Arc<str>,
    /// Session of the question.
    pub session: Arc<str>,
    /// Event that needs approval.
    pub event: Arc<str>,
    /// Hook that returned the question.
    pub hook: Arc<str>,
    /// The question.
    pub prompt: String,
    /// Options, in the hook's order.
    pub options: Vec<ApprovalOption>,
    /// Labels of the hook that deny because they say neither yes nor no, such as `Overwrite` beside
    /// `Rename`.
    ///
    /// If the hook is trusted, they are among the [`options`](Self::options). If it is not, they
    /// are not: the options are the other labels, with `Allow` at the position of the first unclear
    /// label if no other option allows once, and with `Deny` at the end if no other option denies.
    /// A user interface can show unclear labels as text.
    #[serde(default)]
    pub unclear: Vec<String>,
    /// Reason of the hook, if it has one.
    pub reason: Option<String>,
    /// Name of the tool, if the data name one.
    pub tool: Option<String>,
    /// Data to approve, as the last hook left them.
    pub data: Arc<Map>,
    /// `true` if a later hook changed the data after the question: the prompt may not describe
    /// [`data`](Self::data) exactly.
    pub has_changed: bool,
    /// Timeout from [`asked_at`](Self::asked_at); in JSON, in seconds, or null without a limit.
    #[serde(with = "seconds")]
    pub timeout: Duration,
    /// Default on timeout.
    pub default: ApprovalDefault,
    /// Time of the question.
    #[serde(serialize_with = "crate::timestamp::serialize")]
    pub asked_at: Timestamp,
    /// Key under which the hook lets "allow always" be remembered.
    pub(crate) key: Option<String>,
    /// `true` for the generic question.
    pub(crate) is_generic: bool,
    /// `true` if the host trusts the hook.
    pub(crate) is_trusted: bool,
    /// `true` if the hook wants to allow by default, and is not trusted to.
    #[serde(default)]
    pub(crate) is_default_refused: bool,
    /// Type of the hook: several hooks may share a name.
    #[serde(default)]
    pub(crate) hook_type: String,
}

/// Answer of the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ApprovalAnswer {
    /// Label of the chosen option, verbatim. Any other text is a denial.
    pub label: String,
}

impl ApprovalAnswer {
    /// Creates an answer with this label.
    pub fn new(label: impl Into<String>) -> Self {
        ApprovalAnswer {
            label: label.into(),
        }
    }
}

impl From<&str> for ApprovalAnswer {
    fn from(label: &str) -> Self {
        ApprovalAnswer::new(label)
    }
}

impl From<&ApprovalOption> for ApprovalAnswer {
    fn from(option: &ApprovalOption) -> Self {
        ApprovalAnswer::new(&*option.label)
    }
}

/// Question of a hook that provides none.
const GENERIC: &str = "Allow this operation?";

impl ApprovalRequest {
    /// Returns the question of an emission, if a hook asks for approval.
    pub(crate) fn of(emission: &Emission, session: Option<&Arc<str>>) -> Option<Self> {
        if emission.action != Action::AskUser {
            return None;
        }
        let silent = HookResult::default();
        let result = emission.decision().unwrap_or(&silent);
        let question = emission.question();
        let event = question.map_or_else(|| Arc::from(""), |question| Arc::clone(&question.event));
        let is_trusted = question.is_some_and(|question| question.is_trusted);
        let hook = emission.decided_by.clone();
        let data = Arc::clone(&emission.data);
        let session = match session {
            Some(session) => Arc::clone(session),
            None => word(&data, &["session_id"]).unwrap_or_default().into(),
        };
        let prompt = result.approval_prompt.as_deref().map(str::trim);
        let prompt = prompt.filter(|prompt| !prompt.is_empty());
        let OfferedOptions { options, unclear } = options(result, is_trusted);
        Some(ApprovalRequest {
            id: uuid::Uuid::now_v7().to_string().into(),
            session,
            event,
            hook: hook.unwrap_or_else(|| Arc::from("")),
            prompt: prompt.unwrap_or(GENERIC).to_owned(),
            options,
            unclear,
            reason: result.reason.clone(),
            tool: word(&data, &TOOL),
            has_changed: question.is_some_and(|question| question.has_changed),
            timeout: time(result.approval_timeout),
            // An untrusted hook may restrict, never relax.
            default: match is_trusted {
                true => result.approval_default,
                false => ApprovalDefault::Deny,
            },
            asked_at: Timestamp::now(),
            key: result
                .extra_text(APPROVAL_KEY)
                .filter(|key| is_trusted && !key.trim().is_empty())
                .map(str::to_owned),
            is_generic: prompt.is_none(),
            is_trusted,
            is_default_refused: !is_trusted && result.approval_default == ApprovalDefault::Allow,
            hook_type: question
                .map_or("", |question| question.hook_type)
                .to_owned(),
            data,
        })
    }

    /// Returns the key under which "allow always" is remembered for every input, if the hook is
    /// trusted and sets one ([`HookResult::approval_key`]).
    pub fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }

    /// Returns the identity under which "allow always" is remembered: the hook's own key, if the
    /// data have not changed since; else the prompt, the tool and its input. The generic question
    /// is never remembered.
    pub(crate) fn memory(&self) -> Option<Digest> {
        if self.is_generic {
            return None;
        }
        let mut parts = self.origin();
        match &self.key {
            Some(key) if !self.has_changed => parts.add(&["key", key]),
            _ => {
                let tool = self.tool.as_deref().unwrap_or_default();
                parts.add(&["prompt", &self.prompt, tool]);
                parts.digest(&input(&self.data));
            }
        }
        Some(parts.finish())
    }

    /// Returns the digest that is equal for requests that share one question.
    pub(crate) fn identity(&self) -> Digest {
        let mut parts = self.origin();
        for ApprovalOption { label, effect } in &self.options {
            parts.add(&[label, effect.name()]);
        }
        for label in &self.unclear {
            parts.add(&["unclear", label]);
        }
        let default = match self.default {
            ApprovalDefault::Allow => "allow",
            ApprovalDefault::Deny => "deny",
        };
        let or_none = |text: &Option<String>| text.clone().unwrap_or_default();
        parts.add(&[default, &self.timeout.as_nanos().to_string(), &self.prompt]);
        parts.add(&[&or_none(&self.key), &or_none(&self.reason)]);
        parts.digest(&digest::of_fields(but_for_the_time(&self.data)));
        parts.finish()
    }

    /// Returns the identity of the hook. Hooks may share a name: hooks of different types share no
    /// grants, nor do a trusted and an untrusted hook.
    fn origin(&self) -> digest::Parts {
        let trust = ["other", "trusted"][usize::from(self.is_trusted)];
        let (hook, hook_type) = (&*self.hook, &*self.hook_type);
        digest::Parts::new(&[&self.session, &self.event, hook, hook_type, trust])
    }

    /// Returns `true` if these data are the approved data: after a change, ask again.
    pub fn covers(&self, data: &Map) -> bool {
        *data == *self.data
    }

    /// Returns the remaining time; 0 after the timeout.
    pub fn time_left(&self, now: Timestamp) -> Duration {
        if self.timeout == Duration::MAX {
            return Duration::MAX;
        }
        let waited = now.duration_since(self.asked_at);
        // A clock that was set back does not extend the timeout.
        let waited = Duration::try_from(waited).unwrap_or_default();
        self.timeout.saturating_sub(waited)
    }

    /// Returns `true` if this label denies because its meaning is unclear.
    pub(crate) fn is_unclear(&self, label: &str) -> bool {
        self.unclear.iter().any(|unclear| unclear == label)
    }

    /// Returns the option of an answer; `None` is a denial. If several options share a label, the
    /// strictest applies.
    pub(crate) fn option(&self, answer: &ApprovalAnswer) -> Option<&ApprovalOption> {
        let offered = self.options.iter();
        offered
            .filter(|option| option.label == answer.label)
            .min_by_key(|option| option.effect)
    }
}

/// Returns the options of a result: a trusted hook sets their effects; else labels decide.
fn options(result: &HookResult, is_trusted: bool) -> OfferedOptions {
    let labels = result.approval_options.as_deref().unwrap_or_default();
    let effects = result.extra.as_ref().filter(|_| is_trusted);
    let effects = effects.and_then(|extra| extra.get(APPROVAL_EFFECTS));
    let effects = effects
        .and_then(|effects| Vec::<(String, ApprovalEffect)>::deserialize(effects).ok())
        .unwrap_or_default();
    // Effects for other labels do not apply.
    let is_of_these = labels.iter().eq(effects.iter().map(|(label, _)| label));
    if labels.is_empty() || !is_of_these {
        return OfferedOptions::of_labels(labels, is_trusted);
    }
    let options = effects.into_iter();
    OfferedOptions {
        options: options
            .map(|(label, effect)| ApprovalOption::new(label, effect))
            .collect(),
        unclear: Vec::new(),
    }
}

/// Fields of an event's data that hold the tool and its input.
const TOOL: [&str; 2] = ["tool_name", "tool"];
const INPUT: [&str; 2] = ["tool_input", "args"];

/// Returns the first of these fields that has a value: text as it is, anything else as JSON.
fn word(data: &Map, fields: &[&str]) -> Option<String> {
    let values = fields.iter().filter_map(|field| data.get(*field));
    let mut words = values.map(|value| match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    });
    words.find(|word| !word.is_empty())
}

/// Converts seconds to a duration: zero for a number that is not a time, unlimited for a number
/// that is too large.
fn time(seconds: f64) -> Duration {
    match Duration::try_from_secs_f64(seconds) {
        Ok(time) => time,
        Err(_) if seconds > 0.0 => Duration::MAX,
        Err(_) => Duration::ZERO,
    }
}

/// Returns the digest of the tool's input, or of all data without their time stamp if there is no
/// input.
fn input(data: &Map) -> Digest {
    let is_given = |field: &&str| data.get(*field).is_some_and(|value| !value.is_null());
    let has_input = INPUT.iter().any(is_given);
    if has_input {
        digest::of_fields(
            data.iter()
                .filter(|(field, _)| INPUT.contains(&field.as_str())),
        )
    } else {
        digest::of_fields(but_for_the_time(data))
    }
}

/// Returns the fields of the data without the time stamp, which does not distinguish questions.
fn but_for_the_time(data: &Map) -> impl Iterator<Item = (&String, &Value)> {
    data.iter().filter(|(field, _)| *field != TIMESTAMP)
}

/// A duration in JSON: seconds, or null for an unlimited one.
mod seconds {
    use std::time::Duration;

    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(
        duration: &Duration,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let seconds = (*duration != Duration::MAX).then_some(duration.as_secs_f64());
        seconds.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Duration, D::Error> {
        match Option::<f64>::deserialize(deserializer)? {
            None => Ok(Duration::MAX),
            Some(seconds) => Duration::try_from_secs_f64(seconds).map_err(D::Error::custom),
        }
    }
}
