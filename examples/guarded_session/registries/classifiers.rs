//! The classifiers: PRE hooks of one slot, which say what a command would do before anybody
//! decides about it.
//!
//! The first that objects ends the dispatch, and one that fails is a no. They are asked before
//! `tool:pre`, whose hooks are told the class, and once more about what these made of the call.

use hooks_guard::ClassifierHook;
use hooks_guard::classify::{Classification, Classifier, Crud, Explanation};
use hooks_runtime::{FailurePolicy, HookDescriptor, Phase, PhaseRegistry, RegisterOptions, Report};

use super::engine::verdict;
use super::place;
use crate::explain::CLASSIFIERS;
use crate::hooks::Refusal;
use crate::session::Call;

/// What the classifiers are asked.
#[derive(Debug)]
pub(super) struct Classifiers {
    registry: PhaseRegistry<Call, ()>,
    classifier: Classifier,
}

/// What a command would do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Class {
    /// Such as `DELETE`.
    pub(crate) name: String,
    pub(crate) reasoning: String,
}

/// What came of asking.
#[derive(Debug)]
pub(super) struct Judged {
    /// The class, which only a command has.
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
    /// All of them; the last one's class is the one that counts.
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

    /// Asks them about a call.
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

    /// What the command of a call would run, drawn for people; nothing where that is not known.
    pub(super) fn drawing(&self, call: &Call) -> Vec<String> {
        let command = command(call);
        let drawn = command.and_then(|command| self.classifier.explain(&command).ok());
        let drawn = drawn.map(|drawn| drawn.to_string()).unwrap_or_default();
        drawn.lines().map(str::to_owned).collect()
    }

    /// All of them, in execution order.
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

/// Why a command may not run whatever it changes: the scratch copy is there to be changed, but
/// nobody is to read secrets, or run what is not understood. What deletes is asked about at
/// `tool:pre`, whatever else it does.
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
