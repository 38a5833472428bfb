//! Emits an event and applies the results of its hooks.

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
    /// Number of the call, if the event is about a call.
    pub(crate) call: Option<usize>,
}

/// Result of an event.
#[derive(Debug)]
pub(super) struct Answered {
    /// Permission and data, or the reason why the event must not happen.
    applied: Result<AppliedEmission, ApplyError>,
    /// Hook that decided; otherwise the event.
    pub(super) by: String,
    /// Action, and the hook that returned it.
    pub(super) action: String,
    /// Messages of hooks for the agent and the user, and the user's answer.
    pub(super) told: Vec<String>,
    /// Empty unless the call is to be explained.
    pub(super) report: Report,
}

/// Messages of hooks for the user, escaped later by the report. Clones share the list.
#[derive(Clone, Debug, Default)]
pub(super) struct Heard(Arc<Mutex<Vec<UserMessage>>>);

impl Answered {
    /// Returns the answer to a question, if a hook asked one.
    pub(super) fn approval(&self) -> Option<Approved> {
        let approval = self.applied.as_ref().ok()?.approval.as_ref()?;
        Some(Approved {
            yes: approval.is_allowed(),
            how: approval.to_string(),
        })
    }

    /// Returns the data to continue with, or the refusal.
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
    /// Emits an event, about the current call or none, and applies the results of its hooks.
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
            // A missing hook might have denied. The messages of the others are kept, but their
            // decision is not.
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

    /// Applies the effects that need no waiting, and collects the messages of hooks for the agent
    /// and the user.
    async fn begin(
        &mut self,
        emission: Emission,
        call: Option<usize>,
    ) -> (Result<ApplyStep, ApplyError>, Vec<String>) {
        let injections = emission.injections.iter();
        let mut told: Vec<_> = injections
            .map(|injection| {
                let hook = &injection.provenance.hook;
                format!("{hook} to the agent: {}", injection.content)
            })
            .collect();
        let conversation = self.view.conversation();
        let step = self.coordinator.begin(emission, conversation);
        if step.is_err() {
            // Nothing was injected.
            told.clear();
        }
        for message in self.heard.take() {
            told.extend(self.notify(message, call).await);
        }
        (step, told)
    }

    /// Emits `user:notification` about a message, which hooks may rewrite or suppress. Messages of
    /// these hooks are shown without another event.
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
    format!("{hook} to the user: {text}")
}

/// Returns the hook that decided, and its action with its name.
fn decision(emission: &Emission, event: &str) -> (String, String) {
    match &emission.decided_by {
        Some(by) => (by.to_string(), format!("{} by {by}", emission.action)),
        None => (event.to_owned(), emission.action.to_string()),
    }
}

/// Returns the hook that failed.
fn failed(error: &EmitError, event: &str) -> String {
    match error {
        EmitError::Hook { failure, .. } => failure.hook.to_string(),
        _ => event.to_owned(),
    }
}

/// Describes the approval by the user or by an automatic answer.
fn allowance(applied: &Result<AppliedEmission, ApplyError>) -> Option<String> {
    let approval = applied.as_ref().ok()?.approval.as_ref()?;
    approval.is_allowed().then(|| approval.to_string())
}
