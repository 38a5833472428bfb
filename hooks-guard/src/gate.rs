//! The permission gate: who judges a request, and what is made of it.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt;
use hooks_runtime::{FirstSuccess, hooks, impl_hooks};
use jiff::Timestamp;
use tokio::time::{Instant, timeout};

use crate::classify::{Classification, Classifier, Crud, Decision, MOST_TIME};
use crate::request::{PermissionRequest, Ruling};

/// The extension points of the gate.
#[hooks]
pub trait GateHooks {
    /// Says what a request would do (P-07). The first hook that knows decides; if none does, the
    /// answer is the fallback, which has to be confirmed. So is one that panics, and one that
    /// takes longer than two seconds (P-08).
    #[hook(fallback, chain = FirstSuccess<Classification>)]
    async fn classify(request: &PermissionRequest) -> Option<Classification> {
        None
    }
}

/// [`Classifier`] as a hook of the gate.
#[impl_hooks(GateHooksSet)]
impl GateHooks for Classifier {
    async fn classify(&self, request: &PermissionRequest) -> Option<Classification> {
        let context = request.context.as_deref();
        Some(match &request.file {
            Some(access) => self.classify_files(&request.command, access),
            None => match self.classify_fully(&request.command, context).await {
                Ok(verdict) => verdict,
                Err(error) => Classification::fallback(&error.to_string()),
            },
        })
    }
}

/// How the gate makes a decision of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// See [`Config::auto_allow_read`](crate::config::Config::auto_allow_read).
    pub auto_allow_read: bool,
    /// See [`Config::require_confirmation_cud`](crate::config::Config::require_confirmation_cud).
    pub require_confirmation_cud: bool,
    /// See [`Config::dangerously_skip_confirmations`](crate::config::Config::dangerously_skip_confirmations).
    pub dangerously_skip_confirmations: bool,
}

impl Default for Policy {
    /// That of the seed (P-06).
    fn default() -> Self {
        Self {
            auto_allow_read: true,
            require_confirmation_cud: true,
            dangerously_skip_confirmations: false,
        }
    }
}

/// Judges requests: the classifiers, then the decision. It keeps no record of them.
#[derive(Clone, Debug)]
pub struct Gate {
    hooks: GateHooksSet<'static>,
    policy: Policy,
    /// The one that may ask a language model.
    classifier: Option<Classifier>,
}

/// What the gate makes of a request.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The decision, without an id.
    pub ruling: Ruling,
    /// How long it took.
    pub response_time: Duration,
    /// Whether an answer of "always" may be remembered for it.
    pub may_be_remembered: bool,
    /// What went wrong, if something did.
    pub error: Option<String>,
}

impl Gate {
    /// A gate with this classifier.
    #[must_use]
    pub fn new(classifier: Classifier, policy: Policy) -> Self {
        Self {
            hooks: GateHooksSet::new().with_hooks(classifier.clone()),
            policy,
            classifier: Some(classifier),
        }
    }

    /// A gate with these classifiers, which may be none.
    #[must_use]
    pub fn with_hooks(hooks: GateHooksSet<'static>, policy: Policy) -> Self {
        Self {
            hooks,
            policy,
            classifier: None,
        }
    }

    /// Whether a language model has answered (P-43).
    #[must_use]
    pub fn model_answered(&self) -> bool {
        self.classifier.as_ref().is_some_and(Classifier::model_answered)
    }

    /// Whether there is anything that could judge (P-12).
    #[must_use]
    pub fn has_classifier(&self) -> bool {
        self.hooks.describe().slots.iter().any(|slot| !slot.entries.is_empty())
    }

    /// What is registered where.
    #[must_use]
    pub fn hooks(&self) -> &GateHooksSet<'static> {
        &self.hooks
    }

    /// Judges a request. Whatever goes wrong asks for confirmation.
    ///
    /// Dropping the future drops what runs of the classifiers.
    pub async fn judge(&self, request: &PermissionRequest) -> Judged {
        let began = Instant::now();
        let run = AssertUnwindSafe(self.hooks.classify(request)).catch_unwind();
        // The classifier of the tables keeps the time itself, and what it found by then.
        let (verdict, error) = match timeout(MOST_TIME + Duration::from_millis(50), run).await {
            Ok(Ok(Some(verdict))) => (verdict, None),
            Ok(Ok(None)) => {
                let why = "no classifier knows the request";
                (Classification::fallback(why), Some(why.to_owned()))
            }
            Ok(Err(_)) => {
                let why = "a classifier panicked";
                (Classification::fallback(why), Some(why.to_owned()))
            }
            Err(_) => (
                Classification::timed_out(),
                Some("classification timed out".to_owned()),
            ),
        };
        let ruling = self.decide(verdict);
        Judged {
            ruling,
            response_time: began.elapsed(),
            may_be_remembered: true,
            error,
        }
    }

    fn decide(&self, verdict: Classification) -> Ruling {
        let Policy {
            auto_allow_read,
            require_confirmation_cud,
            dangerously_skip_confirmations,
        } = self.policy;
        // What is asked about for another reason than that it changes something.
        let sensitive = verdict.confidence < SURE
            || verdict.crud == Crud::Read && verdict.decision == Decision::RequiresConfirmation;
        let harmless = match verdict.decision {
            Decision::AutoAllowed => auto_allow_read,
            Decision::RequiresConfirmation => !require_confirmation_cud && !sensitive,
        };
        let decision = if harmless || dangerously_skip_confirmations {
            Decision::AutoAllowed
        } else {
            Decision::RequiresConfirmation
        };
        let reasoning = match (verdict.decision, decision) {
            (Decision::AutoAllowed, Decision::RequiresConfirmation) => {
                format!("{}; `auto_allow_read` is off", verdict.reasoning)
            }
            (Decision::RequiresConfirmation, Decision::AutoAllowed) => {
                let setting = match dangerously_skip_confirmations {
                    true => "`dangerously_skip_confirmations` is on",
                    false => "`require_confirmation_cud` is off",
                };
                format!("{}; {setting}", verdict.reasoning)
            }
            _ => verdict.reasoning,
        };
        Ruling {
            decision,
            classification: verdict.crud,
            reasoning,
            confidence: verdict.confidence,
            explanation: verdict.explanation,
            classification_method: verdict.method,
            timestamp: Timestamp::now(),
            id: None,
            secret: None,
            denied: false,
            rule: None,
        }
    }
}

/// From which confidence on a class is one that was understood.
const SURE: f64 = 0.8;
