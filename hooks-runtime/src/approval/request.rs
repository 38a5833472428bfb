//! A question for the user, and its answer, as values that can be stored.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::option::{ApprovalEffect, ApprovalOption};
use crate::digest::{self, Digest};
use crate::events::result::{APPROVAL_EFFECTS, APPROVAL_KEY};
use crate::events::table::TIMESTAMP;
use crate::{Action, ApprovalDefault, Emission, HookResult, Map};

/// A question for the user: what is to happen, which hook asks, and the answers to choose
/// from.
///
/// It holds all that its answer needs, so that it can be serialised, stored and answered
/// later by another task or program ([`Coordinator::resolve`](crate::Coordinator::resolve)).
/// What is approved are [`data`](Self::data), the data after all hooks have run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ApprovalRequest {
    /// Identifies the question; no two have the same.
    pub id: Arc<str>,
    /// The session in which it is asked.
    pub session: Arc<str>,
    /// The event that is to be approved.
    pub event: Arc<str>,
    /// The hook that asks.
    pub hook: Arc<str>,
    /// The question.
    pub prompt: String,
    /// The answers, in the order of the hook.
    pub options: Vec<ApprovalOption>,
    /// Why the hook asks, if it says so.
    pub reason: Option<String>,
    /// The tool that is to run, if the data name one.
    pub tool: Option<String>,
    /// What is approved: the data as the last hook left them.
    pub data: Arc<Map>,
    /// Whether a later hook changed the data after the question had been put: the prompt may
    /// tell of something else than [`data`](Self::data).
    pub has_changed: bool,
    /// How long the question waits, from [`asked_at`](Self::asked_at) on; in JSON, in seconds,
    /// or null where it waits without an end.
    #[serde(with = "seconds")]
    pub timeout: Duration,
    /// What counts where nobody answers in time.
    pub default: ApprovalDefault,
    /// When the question was put.
    #[serde(serialize_with = "crate::timestamp::serialize")]
    pub asked_at: Timestamp,
    /// What the hook wants "allow always" remembered under, if it says so.
    pub(crate) key: Option<String>,
    /// Whether the question is the generic one.
    pub(crate) is_generic: bool,
    /// Whether the host vouches for the hook.
    pub(crate) is_trusted: bool,
    /// The type of the hook: names may be shared.
    #[serde(default)]
    pub(crate) hook_type: String,
}

/// What the user chose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ApprovalAnswer {
    /// The label of the option, verbatim. Any other text is a denial.
    pub label: String,
}

impl ApprovalAnswer {
    /// The option with this label.
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

/// The question where a hook has none.
const GENERIC: &str = "Allow this operation?";

impl ApprovalRequest {
    /// The question of an emission, if that is to ask the user.
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
        Some(ApprovalRequest {
            id: uuid::Uuid::now_v7().to_string().into(),
            session,
            event,
            hook: hook.unwrap_or_else(|| Arc::from("")),
            prompt: prompt.unwrap_or(GENERIC).to_owned(),
            options: options(result, is_trusted),
            reason: result.reason.clone(),
            tool: word(&data, &TOOL),
            has_changed: question.is_some_and(|question| question.has_changed),
            timeout: time(result.approval_timeout),
            // What nobody vouches for may restrict, and never relax.
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
            hook_type: question
                .map_or("", |question| question.hook_type)
                .to_owned(),
            data,
        })
    }

    /// What the hook wants an "allow always" remembered under, whatever the input, if it is
    /// trusted and says so ([`HookResult::approval_key`]).
    pub fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }

    /// What "allow always" is remembered under: an explicit key of the hook's, unless
    /// the data have changed since it gave that; else the prompt, the tool and its input. The
    /// generic question is never remembered.
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

    /// What is the same in two requests for which one question is enough.
    pub(crate) fn identity(&self) -> Digest {
        let mut parts = self.origin();
        for ApprovalOption { label, effect } in &self.options {
            parts.add(&[label, effect.name()]);
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

    /// Who asks. Hooks may share a name: those of different types have nothing in common, nor
    /// has one that is not trusted with one that is.
    fn origin(&self) -> digest::Parts {
        let trust = ["other", "trusted"][usize::from(self.is_trusted)];
        let (hook, hook_type) = (&*self.hook, &*self.hook_type);
        digest::Parts::new(&[&self.session, &self.event, hook, hook_type, trust])
    }

    /// Whether these are the data that are approved: after any change the question has to be
    /// asked again.
    pub fn covers(&self, data: &Map) -> bool {
        *data == *self.data
    }

    /// How long the question still waits; 0 when its time is up.
    pub fn time_left(&self, now: Timestamp) -> Duration {
        if self.timeout == Duration::MAX {
            return Duration::MAX;
        }
        let waited = now.duration_since(self.asked_at);
        // A clock that was set back gives no more time than there was.
        let waited = Duration::try_from(waited).unwrap_or_default();
        self.timeout.saturating_sub(waited)
    }

    /// What an answer means: a denial, where it is none of the options. Where a
    /// label occurs twice, the stricter one counts.
    pub(crate) fn option(&self, answer: &ApprovalAnswer) -> Option<&ApprovalOption> {
        let offered = self.options.iter();
        offered
            .filter(|option| option.label == answer.label)
            .min_by_key(|option| option.effect)
    }
}

/// The options of an answer: with the effects that a trusted hook says, else by their labels.
fn options(result: &HookResult, is_trusted: bool) -> Vec<ApprovalOption> {
    let labels = result.approval_options.as_deref().unwrap_or_default();
    let effects = result.extra.as_ref().filter(|_| is_trusted);
    let effects = effects.and_then(|extra| extra.get(APPROVAL_EFFECTS));
    let effects = effects
        .and_then(|effects| Vec::<(String, ApprovalEffect)>::deserialize(effects).ok())
        .unwrap_or_default();
    // Of other labels they say nothing.
    let is_of_these = labels.iter().eq(effects.iter().map(|(label, _)| label));
    if labels.is_empty() || !is_of_these {
        return ApprovalOption::of_labels(labels, is_trusted);
    }
    let options = effects.into_iter();
    options
        .map(|(label, effect)| ApprovalOption::new(label, effect))
        .collect()
}

/// Where the data of an event say which tool is to run, and with what.
const TOOL: [&str; 2] = ["tool_name", "tool"];
const INPUT: [&str; 2] = ["tool_input", "args"];

/// The first of these fields that has a value: as it is where it is text, else as JSON.
fn word(data: &Map, fields: &[&str]) -> Option<String> {
    let values = fields.iter().filter_map(|field| data.get(*field));
    let mut words = values.map(|value| match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    });
    words.find(|word| !word.is_empty())
}

/// Seconds as a time: none where the number is no time, and one without an end where it is
/// larger than any.
fn time(seconds: f64) -> Duration {
    match Duration::try_from_secs_f64(seconds) {
        Ok(time) => time,
        Err(_) if seconds > 0.0 => Duration::MAX,
        Err(_) => Duration::ZERO,
    }
}

/// The digest of the tool's input; of all data where there is none, but for the time at which
/// they were made.
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

/// The data but for when they were made, which makes no other question of one.
fn but_for_the_time(data: &Map) -> impl Iterator<Item = (&String, &Value)> {
    data.iter().filter(|(field, _)| *field != TIMESTAMP)
}

/// A duration in JSON: seconds, or null for one without an end.
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
