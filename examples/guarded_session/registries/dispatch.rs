//! The way from an event to what comes of it.

use std::mem;
use std::sync::{Arc, Mutex, PoisonError};

use hooks_runtime::{
    AppliedEmission, ApplyError, ApplyStep, Emission, EmitError, EmitOptions, HookRegistry, Map,
    Report, UserDisplay, UserMessage,
};
use serde::Serialize;
use serde_json::json;

use super::Registries;
use crate::guarded::Passing;
use crate::hooks::Refusal;
use crate::trail::Approved;

/// An event that was emitted.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Emitted {
    pub(crate) event: &'static str,
    /// The call that it is about, if it is about one.
    pub(crate) call: Option<usize>,
}

/// What came of an event.
#[derive(Debug)]
pub(super) struct Answered {
    /// Whether it may happen, and with which data.
    applied: Result<AppliedEmission, ApplyError>,
    /// The hook whose answer counts; else the event.
    pub(super) by: String,
    /// The action, and whose it is.
    pub(super) action: String,
    /// What hooks say to the agent and the user, and what the user has answered.
    pub(super) told: Vec<String>,
    /// Empty, unless the call is to be explained.
    pub(super) report: Report,
}

/// The messages that hooks have for the user. They stand in the report in the end, in which
/// they are escaped; a clone is the same.
#[derive(Clone, Debug, Default)]
pub(super) struct Heard(Arc<Mutex<Vec<UserMessage>>>);

impl Answered {
    /// What was said to a question, if a hook asked one.
    pub(super) fn approval(&self) -> Option<Approved> {
        let approval = self.applied.as_ref().ok()?.approval.as_ref()?;
        Some(Approved {
            yes: approval.is_allowed(),
            how: approval.to_string(),
        })
    }

    /// The data with which to go on, or why not to.
    pub(super) fn verdict(&self) -> Result<&Map, Refusal> {
        let (hook, reason) = match &self.applied {
            Ok(applied) => match applied.denial() {
                None => return Ok(&applied.data),
                Some(denial) => (&*self.by, denial.to_owned()),
            },
            Err(error @ ApplyError::InjectionTooLong { hook, .. }) => (&**hook, error.to_string()),
            Err(error) => (&*self.by, error.to_string()),
        };
        Err(Refusal {
            hook: hook.to_owned(),
            reason,
        })
    }
}

impl Registries {
    /// Emits an event, about the call that passes or about none, and does what its hooks say.
    pub(super) async fn emit(
        &mut self,
        event: &'static str,
        data: Map,
        passing: Option<&Passing>,
    ) -> Answered {
        let call = passing.map(|passing| passing.number);
        self.emitted.push(Emitted { event, call });
        let is_explained = passing.is_some_and(|passing| passing.explanation.is_some());
        let options = match is_explained {
            true => EmitOptions::new().report(),
            false => EmitOptions::new(),
        };
        match self.events.emit_with(event, data, options).await {
            Ok(emission) => {
                let (by, action) = decision(&emission, event);
                let report = emission.report().cloned().unwrap_or_default();
                let (step, mut told) = self.begin(emission, call).await;
                let applied = match step {
                    Ok(ApplyStep::Done(applied)) => Ok(applied),
                    Ok(ApplyStep::Ask(request)) => Ok(self.coordinator.ask(*request).await.into()),
                    Err(error) => Err(error),
                };
                told.extend(allowance(&applied));
                Answered {
                    applied,
                    by,
                    action,
                    told,
                    report,
                }
            }
            // Hooks are missing that might have said no. What the others have said counts, and
            // their answer does not.
            Err(error) => {
                let (mut told, mut report) = (Vec::new(), None);
                if let Some(emission) = error.emission() {
                    report = emission.report().cloned();
                    told = self.begin(emission.clone(), call).await.1;
                }
                Answered {
                    by: failed(&error, event),
                    applied: Err(error.into()),
                    action: "an error".to_owned(),
                    told,
                    report: report.unwrap_or_default(),
                }
            }
        }
    }

    /// Does what needs no waiting, and tells what hooks say to the agent and the user.
    async fn begin(
        &mut self,
        emission: Emission,
        call: Option<usize>,
    ) -> (Result<ApplyStep, ApplyError>, Vec<String>) {
        let injections = emission.injections.iter();
        let mut told: Vec<_> = injections
            .map(|injection| {
                let hook = &injection.provenance.hook;
                format!("{hook} tells the agent: {}", injection.content)
            })
            .collect();
        let conversation = self.view.conversation();
        let step = self.coordinator.begin(emission, conversation);
        if step.is_err() {
            // None of it was injected.
            told.clear();
        }
        for message in self.heard.take() {
            told.extend(self.notify(message, call).await);
        }
        (step, told)
    }

    /// Emits `user:notification` about a message, which hooks may put otherwise or keep back.
    /// What these hooks say themselves is told without asking anybody.
    async fn notify(&mut self, message: UserMessage, call: Option<usize>) -> Vec<String> {
        let event = HookRegistry::USER_NOTIFICATION;
        self.emitted.push(Emitted { event, call });
        let UserMessage {
            text, level, hook, ..
        } = message;
        let data = json!({"text": text, "level": level, "hook": &*hook});
        let conversation = self.view.conversation();
        let applied = self
            .coordinator
            .emit(&self.events, event, data, conversation)
            .await;
        let mut told = Vec::new();
        if let Some(applied) = applied.ok().filter(|applied| !applied.is_denied()) {
            let text = applied.data.get("text").and_then(|text| text.as_str());
            told.extend(text.map(|text| line(&hook, text)));
        }
        let more = self.heard.take();
        told.extend(more.iter().map(|more| line(&more.hook, &more.text)));
        told
    }
}

impl Heard {
    fn take(&self) -> Vec<UserMessage> {
        mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl UserDisplay for Heard {
    fn message(&self, message: &UserMessage) {
        let mut heard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        heard.push(message.clone());
    }
}

fn line(hook: &str, text: &str) -> String {
    format!("{hook} tells the user: {text}")
}

/// The hook whose answer counts, and the action with whose it is.
fn decision(emission: &Emission, event: &str) -> (String, String) {
    match &emission.decided_by {
        Some(by) => (by.to_string(), format!("{} by {by}", emission.action)),
        None => (event.to_owned(), emission.action.to_string()),
    }
}

/// The hook whose fault it is.
fn failed(error: &EmitError, event: &str) -> String {
    match error {
        EmitError::Hook { failure, .. } => failure.hook.to_string(),
        _ => event.to_owned(),
    }
}

/// What the user has said yes to, or somebody in their place.
fn allowance(applied: &Result<AppliedEmission, ApplyError>) -> Option<String> {
    let approval = applied.as_ref().ok()?.approval.as_ref()?;
    approval.is_allowed().then(|| approval.to_string())
}
