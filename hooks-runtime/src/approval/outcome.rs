//! What came of a question.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::option::ApprovalOption;
use super::request::ApprovalRequest;
use crate::{ApprovalDefault, Map};

/// What came of a question, and of which one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[must_use = "it may be a denial"]
#[non_exhaustive]
pub struct Approval {
    /// The question.
    pub request: Arc<ApprovalRequest>,
    /// How it was decided.
    pub decision: ApprovalDecision,
}

/// How a question was decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ApprovalDecision {
    /// The user chose one of the options.
    Chosen(ApprovalOption),
    /// The answer was none of the options: a denial.
    NotOffered(String),
    /// An earlier "allow always" of this session.
    Remembered,
    /// Nobody answered in time; the default of the question counts.
    TimedOut,
    /// Asking failed; the default of the question counts.
    Failed(String),
    /// The time could not be kept, so that the question was not asked to its end: a denial,
    /// whatever the default.
    NoTime(String),
    /// There is nobody to ask: a denial, whatever the default.
    NobodyToAsk,
}

impl Approval {
    /// Whether what was asked about may happen.
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

    /// The label that was chosen, where one was: what the options say besides yes and no, such
    /// as "Create backup and overwrite", is for the caller to do.
    pub fn label(&self) -> Option<&str> {
        match &self.decision {
            ApprovalDecision::Chosen(option) => Some(&option.label),
            _ => None,
        }
    }

    /// Whether these are the data that are approved. Data that have changed since the question
    /// was put are not: ask again.
    pub fn covers(&self, data: &Map) -> bool {
        self.is_allowed() && self.request.covers(data)
    }

    /// Why it is denied, if it is: who said so, the question, and the reason of the hook.
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
        match &self.decision {
            ApprovalDecision::Chosen(_) => write!(f, "user {verdict}: {prompt}"),
            ApprovalDecision::NotOffered(label) => write!(
                f,
                "{verdict}, because the answer `{label}` was not offered: {prompt}"
            ),
            ApprovalDecision::Remembered => {
                write!(f, "{verdict} for this session before: {prompt}")
            }
            ApprovalDecision::TimedOut => write!(
                f,
                "{verdict} by default, because nobody answered in time: {prompt}"
            ),
            ApprovalDecision::Failed(why) => write!(
                f,
                "{verdict} by default, because asking failed with `{why}`: {prompt}"
            ),
            ApprovalDecision::NoTime(why) => write!(
                f,
                "{verdict}, because the time could not be kept: the timer {why}; give the coordinator a timer that works where it runs: {prompt}"
            ),
            ApprovalDecision::NobodyToAsk => write!(
                f,
                "{verdict}, because there is nobody to ask; give the coordinator an approval provider: {prompt}"
            ),
        }
    }
}
