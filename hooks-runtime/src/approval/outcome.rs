//! Decisions on approval requests.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::option::ApprovalOption;
use super::request::ApprovalRequest;
use crate::{ApprovalDefault, Map};

/// A decision and its request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[must_use = "it may be a denial"]
#[non_exhaustive]
pub struct Approval {
    /// The question.
    pub request: Arc<ApprovalRequest>,
    /// The decision.
    pub decision: ApprovalDecision,
}

/// Decision on a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ApprovalDecision {
    /// The user chose this option.
    Chosen(ApprovalOption),
    /// The answer is not one of the options: a denial.
    NotOffered(String),
    /// Covered by an earlier "allow always" of this session.
    Remembered,
    /// Timeout; the default of the question applies.
    TimedOut,
    /// The provider failed; the default of the question applies.
    Failed(String),
    /// The timeout could not be enforced, so the question was abandoned: a denial, whatever the
    /// default.
    NoTime(String),
    /// There is no provider: a denial, whatever the default.
    NobodyToAsk,
}

impl Approval {
    /// Returns `true` if the action may happen.
    pub fn is_allowed(&self) -> bool {
        match &self.decision {
            ApprovalDecision::Chosen(option) => option.effect.is_allowed(),
            ApprovalDecision::Remembered => true,
            ApprovalDecision::TimedOut | ApprovalDecision::Failed(_) => {
                self.request.default == ApprovalDefault::Allow
            }
            ApprovalDecision::NotOffered(_)
            | ApprovalDecision::NoTime(_)
            | ApprovalDecision::NobodyToAsk => false,
        }
    }

    /// Returns the chosen label, if there is one. The caller implements further meanings of a
    /// label, such as "Create backup and overwrite".
    pub fn label(&self) -> Option<&str> {
        match &self.decision {
            ApprovalDecision::Chosen(option) => Some(&option.label),
            _ => None,
        }
    }

    /// Returns `true` if these data are the approved data. Changed data are not approved: ask
    /// again.
    pub fn covers(&self, data: &Map) -> bool {
        self.is_allowed() && self.request.covers(data)
    }

    /// Returns the reason of a denial: the source of the decision, the question, and the hook's
    /// reason.
    pub fn denial(&self) -> Option<String> {
        if self.is_allowed() {
            return None;
        }
        let denial = self.to_string();
        Some(match &self.request.reason {
            Some(reason) => format!("{denial} ({reason})"),
            None => denial,
        })
    }
}

impl fmt::Display for Approval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = if self.is_allowed() {
            "allowed"
        } else {
            "denied"
        };
        let prompt = &self.request.prompt;
        // Without it, the reader of a denial would look for an allowed timeout or error.
        let refused = match self.request.is_default_refused {
            true => ", and the default `allow` of an untrusted hook has no effect",
            false => "",
        };
        match &self.decision {
            ApprovalDecision::Chosen(option)
                if !option.effect.is_allowed() && self.request.is_unclear(&option.label) =>
            {
                write!(
                    f,
                    "{verdict}, because the chosen option `{}` says neither yes nor no; set its effect, or offer an option that denies beside it: {prompt}",
                    option.label
                )
            }
            ApprovalDecision::Chosen(_) => write!(f, "user {verdict}: {prompt}"),
            ApprovalDecision::NotOffered(label) if self.request.is_unclear(label) => write!(
                f,
                "{verdict}, because the option `{label}` of an untrusted hook says neither yes nor no and was not offered; trust the hook, or use labels such as `Allow` and `Deny`: {prompt}"
            ),
            ApprovalDecision::NotOffered(label) => write!(
                f,
                "{verdict}, because the answer `{label}` was not offered: {prompt}"
            ),
            ApprovalDecision::Remembered => {
                write!(f, "{verdict} for this session before: {prompt}")
            }
            ApprovalDecision::TimedOut => write!(
                f,
                "{verdict} by default, because no answer came before the timeout{refused}: {prompt}"
            ),
            ApprovalDecision::Failed(why) => write!(
                f,
                "{verdict} by default, because asking failed with `{why}`{refused}: {prompt}"
            ),
            ApprovalDecision::NoTime(why) => write!(
                f,
                "{verdict}, because the time could not be kept: the timer {why}; give the coordinator a timer that works where it runs: {prompt}"
            ),
            ApprovalDecision::NobodyToAsk => write!(
                f,
                "{verdict}, because the coordinator has no approval provider; set one: {prompt}"
            ),
        }
    }
}
