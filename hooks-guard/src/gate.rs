//! The permission gate: who judges a request, and what is made of it.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use hooks_runtime::{FirstSuccess, hooks, impl_hooks};
use jiff::Timestamp;
use tokio::time::{Instant, timeout};

use crate::classify::{Classification, Classifier, Crud, Decision, Judgement, MOST_TIME, Method};
use crate::dispatches::{Step, StepRun};
use crate::request::{CommandPart, PermissionRequest, Ruling};
use crate::rules::{Effect, RuleBook, Verdict};

/// The extension points of the gate (P-07).
#[hooks]
pub trait GateHooks {
    /// Says what a request would do (P-07). The first hook that knows decides; if none does, the
    /// answer is the fallback, which has to be confirmed. So is one that panics, and one that
    /// takes longer than two seconds (P-08).
    #[hook(fallback, chain = FirstSuccess<Judgement>)]
    async fn classify(request: &PermissionRequest) -> Option<Judgement> {
        None
    }
}

/// [`Classifier`] as a hook of the gate.
#[impl_hooks(GateHooksSet)]
impl GateHooks for Classifier {
    async fn classify(&self, request: &PermissionRequest) -> Option<Judgement> {
        let context = request.context.as_deref();
        Some(match &request.file {
            Some(access) => Judgement::of_file(access, &request.command),
            None => match self.judge_fully(&request.command, context).await {
                Ok(found) => found,
                Err(error) => Classification::fallback(&error.to_string()).into(),
            },
        })
    }
}

/// How the gate makes a decision of a class (P-06).
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

/// Judges requests: the classifiers, then the rules, then the decision (P-06, P-07). It keeps
/// no record of them.
#[derive(Clone, Debug)]
pub struct Gate {
    hooks: GateHooksSet<'static>,
    /// The names of the hooks that classify.
    names: Arc<[String]>,
    policy: Policy,
    rules: Option<Arc<RuleBook>>,
    /// The one that may ask a language model.
    classifier: Option<Classifier>,
}

/// What the gate makes of a request (P-05).
#[derive(Clone, Debug)]
pub struct Judged {
    /// The decision, without an id.
    pub ruling: Ruling,
    /// How long it took.
    pub response_time: Duration,
    /// The parts of the command, the strongest of any two that are the same; at most 32.
    pub parts: Vec<CommandPart>,
    /// How it went.
    pub steps: Vec<Step>,
    /// Whether an answer of "always" may be remembered for it.
    pub may_be_remembered: bool,
    /// What went wrong, if something did.
    pub error: Option<String>,
}

impl Gate {
    /// A gate with this classifier, without rules.
    #[must_use]
    pub fn new(classifier: Classifier, policy: Policy) -> Self {
        let hooks = GateHooksSet::new().with_hooks(classifier.clone());
        Self {
            classifier: Some(classifier),
            ..Self::with_hooks(hooks, policy)
        }
    }

    /// A gate with these classifiers, which may be none, without rules.
    #[must_use]
    pub fn with_hooks(hooks: GateHooksSet<'static>, policy: Policy) -> Self {
        let slots = hooks.describe().slots;
        let entries = slots.into_iter().flat_map(|slot| slot.entries);
        Self {
            names: entries.map(|entry| entry.name).collect(),
            hooks,
            policy,
            rules: None,
            classifier: None,
        }
    }

    /// A gate with the classifier of the tables alone, and the policy of the seed.
    #[must_use]
    pub fn by_tables() -> Self {
        Self::new(Classifier::new(), Policy::default())
    }

    /// Holds requests against these rules.
    #[must_use]
    pub fn with_rules(mut self, rules: RuleBook) -> Self {
        self.rules = Some(Arc::new(rules));
        self
    }

    /// Whether a language model has answered (P-43).
    #[must_use]
    pub fn model_answered(&self) -> bool {
        let classifier = self.classifier.as_ref();
        classifier.is_some_and(Classifier::model_answered)
    }

    /// Whether there is anything that could judge (P-12).
    #[must_use]
    pub fn has_classifier(&self) -> bool {
        !self.names.is_empty()
    }

    /// What is registered where.
    pub fn hooks(&self) -> &GateHooksSet<'static> {
        &self.hooks
    }

    /// Who classified, where there is only one who could.
    fn only_hook(&self) -> Option<&str> {
        match &*self.names {
            [only] => Some(only),
            _ => None,
        }
    }

    /// Judges a request. Whatever goes wrong asks for confirmation.
    ///
    /// Dropping the future drops what runs of the classifiers.
    pub async fn judge(&self, request: &PermissionRequest) -> Judged {
        let began = Instant::now();
        let (found, mut error) = self.found(request).await;
        let classified = began.elapsed();
        let run = match &error {
            Some(_) => StepRun::Failed,
            None => StepRun::Decided,
        };
        let by = || self.only_hook().map(str::to_owned);
        let mut steps =
            vec![Step::new("classify", run, classified).detail(error.clone().or_else(by))];
        let verdict =
            self.rules
                .as_ref()
                .and_then(|book| match book.rules_in(request.cwd.as_deref()) {
                    Ok(rules) => rules.judge(request, &found),
                    Err(why) => {
                        let why = why.to_string();
                        let verdict = Verdict::unreadable(&why);
                        error.get_or_insert(why);
                        Some(verdict)
                    }
                });
        let run = match (&self.rules, &verdict) {
            (None, _) => StepRun::Skipped,
            (Some(_), None) => StepRun::Ran,
            (Some(_), Some(_)) if error.is_some() && run != StepRun::Failed => StepRun::Failed,
            (Some(_), Some(_)) => StepRun::Decided,
        };
        let rule = verdict.as_ref().map(|verdict| verdict.rule.clone());
        let took = began.elapsed().saturating_sub(classified);
        steps.push(Step::new("rules", run, took).detail(rule));
        let may_be_remembered = verdict.as_ref().is_none_or(|verdict| verdict.remember);
        Judged {
            parts: parts(&found.classification),
            ruling: self.decide(found.classification, verdict),
            response_time: began.elapsed(),
            steps,
            may_be_remembered,
            error,
        }
    }

    /// What the classifiers say; the fallback, and why, where something went wrong.
    async fn found(&self, request: &PermissionRequest) -> (Judgement, Option<String>) {
        let run = AssertUnwindSafe(self.hooks.classify(request)).catch_unwind();
        // The classifier of the tables keeps the time itself, and what it found by then.
        let (verdict, error) = match timeout(MOST_TIME + Duration::from_millis(50), run).await {
            Ok(Ok(Some(found))) => return (found, None),
            Ok(Ok(None)) => {
                let why = "no classifier knows the request";
                (Classification::fallback(why), why)
            }
            Ok(Err(_)) => {
                let why = "a classifier panicked";
                (Classification::fallback(why), why)
            }
            Err(_) => (Classification::timed_out(), "classification timed out"),
        };
        (verdict.into(), Some(error.to_owned()))
    }

    /// P-06, with what the rules and the settings make of it.
    fn decide(&self, found: Classification, verdict: Option<Verdict>) -> Ruling {
        let Policy {
            auto_allow_read,
            require_confirmation_cud,
            dangerously_skip_confirmations,
        } = self.policy;
        // What is asked about for another reason than that it changes something.
        let sensitive = found.confidence < SURE
            || found.crud == Crud::Read && found.decision == Decision::RequiresConfirmation;
        let (allowed, because) = match (&verdict, found.decision) {
            (Some(verdict), _) => (
                verdict.effect == Effect::Allow,
                Some(format!("{} ({})", verdict.reason, verdict.rule)),
            ),
            (None, Decision::AutoAllowed) => (
                auto_allow_read,
                (!auto_allow_read).then(|| "`auto_allow_read` is off".to_owned()),
            ),
            (None, Decision::RequiresConfirmation) if dangerously_skip_confirmations => (
                true,
                Some("`dangerously_skip_confirmations` is on".to_owned()),
            ),
            (None, Decision::RequiresConfirmation) => {
                let allowed = !require_confirmation_cud && !sensitive;
                let because = "`require_confirmation_cud` is off";
                (allowed, allowed.then(|| because.to_owned()))
            }
        };
        Ruling {
            decision: match allowed {
                true => Decision::AutoAllowed,
                false => Decision::RequiresConfirmation,
            },
            classification: found.crud,
            reasoning: match because {
                Some(because) => format!("{because}; {}", found.reasoning),
                None => found.reasoning,
            },
            confidence: found.confidence,
            explanation: found.explanation,
            classification_method: found.method,
            timestamp: Timestamp::now(),
            id: None,
            secret: None,
            denied: (verdict.as_ref()).is_some_and(|verdict| verdict.effect == Effect::Deny),
            rule: verdict.map(|verdict| verdict.rule),
        }
    }
}

/// How many parts of a command are told.
const MOST_PARTS: usize = 32;

/// The parts of a command. Where a language model decided, or nothing did, none of them is what
/// the class is due to.
fn parts(found: &Classification) -> Vec<CommandPart> {
    let mut parts: Vec<CommandPart> = Vec::new();
    for (at, finding) in found.findings.iter().enumerate() {
        let character = |character: usize| u32::try_from(character).unwrap_or(u32::MAX);
        let part = CommandPart {
            start: character(finding.start_character),
            end: character(finding.end_character),
            effect: finding.effect,
            decided: at == 0 && found.method == Method::PatternMatch,
        };
        let place = |had: &CommandPart| (had.start, had.end) == (part.start, part.end);
        match parts.iter().position(place) {
            Some(same) => parts[same].effect = parts[same].effect.max(part.effect),
            None if part.start < part.end && parts.len() < MOST_PARTS => parts.push(part),
            None => {}
        }
    }
    parts
}

/// From which confidence on a class is one that was understood.
const SURE: f64 = 0.8;
