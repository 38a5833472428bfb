//! The policy of [`emit`](super::HookRegistry::emit): the data go from hook to hook, and the
//! strongest answer wins (`E-20` to `E-44`).

use std::sync::Arc;

use hooks_core::{
    Answer, Combine, EntryId, EntryMeta, FailurePolicy, Fault, Never, Report, Slot, Step,
};
use jiff::Timestamp;

use super::data::EmitError;
use super::emission::{Emission, HookFault, HookOutput, Injection, Provenance, UserMessage};
use super::event::Event;
use super::handler::{Handler, Reply};
use super::record::{Change, Record, Version};
use super::result::{APPROVAL_TIMEOUT, Action, ApprovalDefault, HookResult};

/// One emission.
pub(crate) struct Waterfall<'a> {
    record: &'a Record<'a>,
    version: Version,
    action: Action,
    /// The hook whose answer the action is.
    decider: Option<EntryId>,
    said: Option<Box<Said>>,
}

/// What hooks said besides going on or changing data; most emissions have nothing of it.
#[derive(Default)]
struct Said {
    /// The answer that the action is.
    decision: Option<Box<HookResult>>,
    injections: Vec<Injection>,
    messages: Vec<UserMessage>,
    faults: Vec<HookFault>,
    /// The hooks whose output is suppressed.
    muted: Vec<EntryId>,
    /// The fault with which the emission ended.
    raised: Option<HookFault>,
}

/// What an emission came to, apart from its data.
pub(crate) struct Outcome {
    version: Version,
    action: Action,
    decider: Option<EntryId>,
    said: Option<Box<Said>>,
}

impl<'a> Waterfall<'a> {
    #[inline]
    pub(crate) fn new(record: &'a Record<'a>) -> Self {
        Waterfall {
            record,
            version: 0,
            action: Action::Continue,
            decider: None,
            said: None,
        }
    }

    fn said(&mut self) -> &mut Said {
        self.said.get_or_insert_default()
    }

    /// Changes the data for the hooks that follow.
    #[inline]
    fn change(&mut self, entry: &EntryMeta, change: Change) {
        self.version = self.record.push(self.version, change);
        if self.action.strength() <= Action::Modify.strength() {
            self.action = Action::Modify;
            self.decider = Some(entry.id());
        }
    }

    /// Takes an answer that says more than to go on.
    #[cold]
    fn take(&mut self, entry: &EntryMeta, mut result: Box<HookResult>) -> Step<Self, Never<()>> {
        if let Err(why) = result.check() {
            // The question stands, as if it had not said how long.
            result.approval_timeout = APPROVAL_TIMEOUT;
            result.approval_default = ApprovalDefault::Deny;
            self.note(entry, Fault::invalid(why.to_string()));
        }
        if result.suppress_output {
            self.said().muted.push(entry.id());
        }
        if let Some(text) = result.user_message.clone() {
            let message = UserMessage {
                text,
                level: result.user_message_level,
                hook: entry.shared_name(),
            };
            self.said().messages.push(message);
        }
        if let Some(text) = result.injection() {
            let injection = Injection {
                content: text.to_owned(),
                role: result.context_injection_role,
                ephemeral: result.ephemeral,
                append_to_last_tool_result: result.append_to_last_tool_result,
                provenance: Provenance {
                    hook: entry.shared_name(),
                    event: Arc::clone(self.record.name()),
                    at: Timestamp::now(),
                },
            };
            self.said().injections.push(injection);
        }
        match result.action {
            Action::Continue => Step::Next,
            Action::InjectContext if result.injection().is_none() => Step::Next,
            Action::Modify => {
                let before = self.version;
                if let Some(data) = result.data.take() {
                    self.change(entry, Change::Replaced(Arc::new(data)));
                }
                let changes = std::mem::take(&mut result.changes);
                if !changes.is_empty() {
                    self.change(entry, Change::Fields(changes));
                }
                if self.version > before && self.action == Action::Modify {
                    self.said().decision = Some(result);
                }
                Step::Next
            }
            action => {
                if action.strength() > self.action.strength() {
                    self.action = action;
                    self.decider = Some(entry.id());
                    self.said().decision = Some(result);
                }
                if action == Action::Deny {
                    Step::Stop
                } else {
                    Step::Next
                }
            }
        }
    }

    /// Writes down what went wrong, in the emission and in the log (`E-36`).
    fn note(&mut self, entry: &EntryMeta, fault: Fault) -> HookFault {
        let fault = HookFault {
            hook: entry.shared_name(),
            event: Arc::clone(self.record.name()),
            fault,
        };
        fault.log();
        self.said().faults.push(fault.clone());
        fault
    }
}

impl<'a, 'h> Combine<dyn Handler + 'h> for Waterfall<'a> {
    type Yield = Reply;
    type Outcome = Outcome;
    type Wait = Never<()>;

    const GUARDED: bool = true;

    fn slot_name(&self) -> &str {
        self.record.name()
    }

    #[inline(always)]
    fn invoke<'b>(
        &mut self,
        entry: &'b EntryMeta,
        hook: &'b (dyn Handler + 'h),
        _: bool,
    ) -> Answer<'b, Reply>
    where
        Self: 'b,
    {
        let record: &'b Record<'b> = self.record;
        hook.start(Event::new(record, self.version, entry))
    }

    #[inline(always)]
    fn check(&mut self, reply: Reply) -> Result<Reply, Fault> {
        match reply {
            Reply::Failed(fault) => Err(fault),
            reply => Ok(reply),
        }
    }

    #[inline(always)]
    fn absorb(&mut self, entry: &EntryMeta, reply: Reply) -> Step<Self, Never<()>> {
        match reply {
            Reply::Continue => Step::Next,
            Reply::Changes(changes) => {
                if !changes.is_empty() {
                    self.change(entry, Change::Fields(changes));
                }
                Step::Next
            }
            Reply::Result(result) => self.take(entry, result),
            Reply::Failed(fault) => self.fault(entry, fault),
        }
    }

    #[cold]
    fn fault(&mut self, entry: &EntryMeta, fault: Fault) -> Step<Self, Never<()>> {
        let fault = self.note(entry, fault);
        match entry.on_failure().unwrap_or(FailurePolicy::Isolate) {
            FailurePolicy::Isolate => Step::Next,
            FailurePolicy::Propagate => {
                self.said().raised = Some(fault);
                Step::Stop
            }
            // What is not known here must not mean yes.
            _ => {
                let deny = HookResult::deny(format!("{fault}"));
                self.take(entry, Box::new(deny))
            }
        }
    }

    fn waited(&mut self, (): ()) -> Step<Self, Never<()>> {
        Step::Next
    }

    #[inline]
    fn finish(self) -> Outcome {
        Outcome {
            version: self.version,
            action: self.action,
            decider: self.decider,
            said: self.said,
        }
    }
}

impl Outcome {
    /// The emission of the hooks in this slot, with the data from the record.
    #[inline]
    pub(crate) fn conclude(
        self,
        slot: &Slot<dyn Handler>,
        record: Record<'_>,
        report: Option<Report>,
    ) -> Result<Emission, EmitError> {
        let event = Arc::clone(record.name());
        let (data, printed) = record.finish(self.version);
        let mut emission = Emission {
            action: self.action,
            decided_by: self.decider.and_then(|id| name(slot, id)),
            report,
            ..Emission::of(event, data)
        };
        let muted = match self.said {
            None => Vec::new(),
            Some(said) => {
                let said = *said;
                emission.decision = said.decision;
                emission.injections = said.injections;
                emission.messages = said.messages;
                emission.faults = said.faults;
                if let Some(fault) = said.raised {
                    let emission = Box::new(emission);
                    return Err(EmitError::Hook { fault, emission });
                }
                said.muted
            }
        };
        if !printed.is_empty() {
            emission.output = printed
                .into_iter()
                .filter(|printed| !muted.contains(&printed.id))
                .map(|printed| HookOutput {
                    text: printed.text,
                    hook: printed.hook,
                })
                .collect();
        }
        Ok(emission)
    }
}

fn name(slot: &Slot<dyn Handler>, id: EntryId) -> Option<Arc<str>> {
    let mut entries = slot.iter().map(|(_, entry)| entry);
    let entry = entries.find(|entry| entry.id() == id)?;
    Some(entry.shared_name())
}

impl Emission {
    /// An emission that no hook has answered.
    #[inline]
    pub(crate) fn of(event: Arc<str>, data: Arc<crate::Map>) -> Self {
        Emission {
            event,
            action: Action::Continue,
            data,
            injections: Vec::new(),
            messages: Vec::new(),
            output: Vec::new(),
            decided_by: None,
            faults: Vec::new(),
            report: None,
            decision: None,
        }
    }
}

impl HookFault {
    /// The one place where a fault of an event hook is logged.
    pub(crate) fn log(&self) {
        tracing::warn!(
            target: "hooks_runtime",
            event = &*self.event,
            hook = &*self.hook,
            kind = self.fault.kind(),
            "event hook {}",
            self.fault
        );
    }
}
