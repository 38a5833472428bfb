//! Classifiers: PRE hooks of one slot, which determine the effects of a command before other hooks
//! decide.
//!
//! The first refusal ends the dispatch, and a failure is a refusal. They run before `tool:pre`,
//! whose hooks receive the class, and again if those hooks changed the call.

use hooks_guard::ClassifierHook;
use hooks_guard::classify::{Classification, Classifier, Crud, Explanation};
use hooks_runtime::{FailurePolicy, HookDescriptor, Phase, PhaseRegistry, RegisterOptions, Report};

use super::engine::verdict;
use super::place;
use crate::explain::CLASSIFIERS;
use crate::hooks::Refusal;
use crate::session::Call;

/// Registry of the classifiers.
#[derive(Debug)]
pub(super) struct Classifiers {
    registry: PhaseRegistry<Call, ()>,
    classifier: Classifier,
}

/// Class of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Class {
    /// Name, such as `DELETE`.
    pub(crate) name: String,
    pub(crate) reasoning: String,
}

/// Result of the dispatch.
#[derive(Debug)]
pub(super) struct Judged {
    /// The class, or a refusal. Only a command has a class.
    pub(super) verdict: Result<Option<Class>, Refusal>,
    pub(super) action: String,
    pub(super) report: Report,
}

impl Class {
    pub(super) fn deletes(&self) -> bool {
        self.name == Crud::Delete.to_string()
    }
}

impl Classifiers {
    /// Registers all classifiers; the class of the last one is used.
    pub(super) fn new() -> Self {
        let registry = PhaseRegistry::new();
        let classifier = Classifier::new();
        let closed = || RegisterOptions::new().on_failure(FailurePolicy::FailClosed);
        let any = |_: &Classification| true;
        let hook = |id| ClassifierHook::new(id, classifier.clone(), command);
        registry.register_pre(
            hook("project").allow(any).deny(place::leaves_project),
            closed(),
        );
        registry.register_pre(
            hook("offline").allow(any).deny(place::is_useless_here),
            closed(),
        );
        registry.register_pre(hook("tables").allow(any).deny(not_wanted), closed());
        Self {
            registry,
            classifier,
        }
    }

    /// Dispatches a call to the classifiers.
    pub(super) async fn judge(&self, call: &Call) -> Judged {
        let (answer, report) = self.registry.execute_pre_reported(call).await;
        let action = match &answer {
            Ok(response) => response.action.to_string(),
            Err(_) => "an error".to_owned(),
        };
        let class = answer.as_ref().ok().and_then(|response| {
            Some(Class {
                name: response.classification.clone()?,
                reasoning: response.reason.clone()?,
            })
        });
        let by = report.stopped_by().map_or(CLASSIFIERS, |entry| &entry.name);
        let verdict = verdict(by, answer).map(|()| class);
        Judged {
            verdict,
            action,
            report,
        }
    }

    /// Returns the parsed command of a call as a tree; empty if it cannot be parsed.
    pub(super) fn drawing(&self, call: &Call) -> Vec<String> {
        let command = command(call);
        let drawn = command.and_then(|command| self.classifier.explain(&command).ok());
        let drawn = drawn.map(|drawn| drawn.to_string()).unwrap_or_default();
        drawn.lines().map(str::to_owned).collect()
    }

    /// Returns all classifiers in execution order.
    pub(super) fn hooks(&self) -> Vec<HookDescriptor> {
        self.registry.registered_hooks(Phase::Pre)
    }
}

fn command(call: &Call) -> Option<String> {
    match call {
        Call::Bash { command } => Some(command.clone()),
        Call::Read { .. } | Call::Write { .. } | Call::Edit { .. } => None,
    }
}

/// Refuses commands by their effects. Changes of the scratch copy are fine; reading secrets and
/// running unknown commands are not. `tool:pre` asks about deletes.
fn not_wanted(_: &str, explanation: &Explanation) -> Option<String> {
    let verdict = explanation.classification();
    let findings = || verdict.findings.iter();
    let is_asked = verdict.crud == Crud::Delete;
    let unknown = findings().find(|finding| !finding.understood && !is_asked);
    let secret = findings().find(|finding| finding.ask && finding.effect == Crud::Read);
    match unknown.or(secret) {
        Some(finding) => Some(finding.reason.clone()),
        None => (!verdict.understood() && !is_asked).then(|| verdict.reasoning.clone()),
    }
}
