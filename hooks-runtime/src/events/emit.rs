//! The policy of [`emit`](super::HookRegistry::emit): the data go from hook to hook, and the
//! strongest answer wins (`E-20` to `E-44`).

use std::ops::ControlFlow::{self, Break, Continue};
use std::sync::Arc;

use hooks_core::__private::ColdOption;
use hooks_core::{
    EntryId, EntryMeta, Failure, FailurePolicy, HookFuture, Never, Policy, Report, Slot, Step,
};
use jiff::Timestamp;

use super::data::EmitError;
use super::emission::{
    Emission, HandlerFailure, HookOutput, Injection, Provenance, Question, Rest, UserMessage,
};
use super::event::EventContext;
use super::handler::{Handler, HandlerOutput, ReplyBody};
use super::items::Items;
use super::record::{Fields, Printed, Transcript};
use super::result::{APPROVAL_TIMEOUT, Action, ApprovalDefault, HookResult};
use crate::Map;

/// The policy of one emission. What it has gathered lies beside the dispatch, not in it: the
/// dispatch is moved, and what is gathered stays.
pub(crate) struct Waterfall<'a, 't>(&'a mut EmissionState<'t>);

/// What an emission has come to so far.
pub(crate) struct EmissionState<'t> {
    name: &'t Arc<str>,
    fields: Fields,
    transcript: Transcript,
    action: PackedAction,
    /// The hook whose answer the action is.
    decider: Option<EntryId>,
    said: Option<Box<Extras>>,
}

/// The strongest action so far, as wide as the fields beside it: a byte, in which a policy
/// that is there or not would have its mark, would have it copied in pieces.
#[derive(Clone, Copy, Default)]
struct PackedAction(usize);

impl PackedAction {
    #[inline(always)]
    fn get(self) -> Action {
        match self.0 {
            0 => Action::Continue,
            1 => Action::Modify,
            2 => Action::InjectContext,
            3 => Action::AskUser,
            _ => Action::Deny,
        }
    }

    #[inline(always)]
    fn set(&mut self, action: Action) {
        self.0 = action.strength().into();
    }
}

/// What hooks said besides going on or changing data; most emissions have nothing of it.
#[derive(Default)]
struct Extras {
    /// The answer that the action is.
    decision: Option<Box<HookResult>>,
    question: Option<Question>,
    injections: Items<Injection>,
    messages: Items<UserMessage>,
    failures: Items<HandlerFailure>,
    /// The hooks whose output is suppressed.
    muted: Vec<EntryId>,
    /// The failure with which the emission ended.
    raised: Option<HandlerFailure>,
}

impl<'t> EmissionState<'t> {
    #[inline(always)]
    pub(crate) fn new(name: &'t Arc<str>, fields: Fields) -> Self {
        EmissionState {
            name,
            fields,
            transcript: Transcript::default(),
            action: PackedAction::default(),
            decider: None,
            said: None,
        }
    }

    /// The policy that gathers.
    #[inline(always)]
    pub(crate) fn policy(&mut self) -> Waterfall<'_, 't> {
        Waterfall(self)
    }

    fn said(&mut self) -> &mut Extras {
        self.said.get_or_insert_default()
    }

    /// Notes that the data have changed for the hooks that follow.
    #[inline]
    fn modified(&mut self, entry: &EntryMeta) {
        if self.action.get().strength() <= Action::Modify.strength() {
            self.action.set(Action::Modify);
            self.decider = Some(entry.id());
            if let Some(said) = &mut self.said {
                // What an earlier one said of its own changes.
                said.decision = None;
            }
        } else {
            self.outlived();
        }
    }

    /// Notes that the data have changed since a stronger answer was given for them.
    #[cold]
    fn outlived(&mut self) {
        let said = self.said.as_mut();
        if let Some(question) = said.and_then(|said| said.question.as_mut()) {
            question.has_changed = true;
        }
    }

    #[cold]
    fn record_reply(&mut self, entry: &EntryMeta, spoken: ReplyBody) -> ControlFlow<()> {
        match spoken {
            ReplyBody::Result(result) => self.take(entry, Box::new(result)),
            ReplyBody::Failure(failure) => self.fail(entry, failure),
        }
    }

    /// Takes an answer that says more than to go on.
    fn take(&mut self, entry: &EntryMeta, mut result: Box<HookResult>) -> ControlFlow<()> {
        if let Err(why) = result.check() {
            let failure = Failure::invalid(why.to_string());
            if policy(entry) != FailurePolicy::Isolate {
                return self.fail(entry, failure);
            }
            // Without the question it would be a yes: it stands, as if it had not said how
            // long.
            self.note(entry, failure);
            result.approval_timeout = APPROVAL_TIMEOUT;
            result.approval_default = ApprovalDefault::Deny;
        }
        if result.suppress_output {
            self.said().muted.push(entry.id());
        }
        if let Some(message) = UserMessage::of(&result, entry) {
            self.said().messages.push(message);
        }
        if let Some(text) = result.injection() {
            let injection = Injection {
                content: text.to_owned(),
                role: result.context_injection_role,
                ephemeral: result.ephemeral,
                append_to_last_tool_result: result.append_to_last_tool_result,
                provenance: Provenance {
                    source: "hook".into(),
                    hook: entry.name_arc(),
                    event: Arc::clone(self.name),
                    at: Timestamp::now(),
                },
            };
            self.said().injections.push(injection);
        }
        match result.action {
            Action::Continue => Continue(()),
            Action::InjectContext if result.injection().is_none() => Continue(()),
            Action::Modify => {
                let (data, changes) = (result.data.take(), std::mem::take(&mut result.changes));
                if let Some(data) = data {
                    self.fields.replace(data);
                }
                if !changes.is_empty() {
                    self.fields.change(changes);
                }
                // Without data nothing changes (`E-26`).
                if self.fields.has_changed() {
                    self.modified(entry);
                    if self.action.get() == Action::Modify {
                        self.said().decision = Some(result);
                    }
                }
                Continue(())
            }
            action => {
                if action.strength() > self.action.get().strength()
                    || action == Action::AskUser && self.is_displaced(entry)
                {
                    self.action.set(action);
                    self.decider = Some(entry.id());
                    let question = (action == Action::AskUser).then(|| Question {
                        event: Arc::clone(self.name),
                        is_trusted: entry.is_trusted(),
                        hook_type: entry.hook_type(),
                        has_changed: false,
                    });
                    let said = self.said();
                    said.decision = Some(result);
                    said.question = question;
                }
                if action == Action::Deny {
                    Break(())
                } else {
                    Continue(())
                }
            }
        }
    }

    /// Whether a question of this hook counts in the place of an earlier one: the first one
    /// counts (`E-32`), but none that nobody vouches for keeps the user from one of a hook
    /// that is trusted.
    fn is_displaced(&self, by: &EntryMeta) -> bool {
        let said = self.said.as_ref();
        let question = said.and_then(|said| said.question.as_ref());
        self.action.get() == Action::AskUser
            && question.is_some_and(|question| !question.is_trusted && by.is_trusted())
    }

    /// Does what the registration says to a failure (`X-2`).
    #[cold]
    fn fail(&mut self, entry: &EntryMeta, failure: Failure) -> ControlFlow<()> {
        let failure = self.note(entry, failure);
        match policy(entry) {
            FailurePolicy::Isolate => Continue(()),
            FailurePolicy::Propagate => {
                self.said().raised = Some(failure);
                Break(())
            }
            // What is not known here must not mean yes.
            _ => self.take(entry, Box::new(HookResult::deny(failure.text()))),
        }
    }

    /// Writes down what went wrong, in the emission and in the log (`E-36`).
    fn note(&mut self, entry: &EntryMeta, failure: Failure) -> HandlerFailure {
        let failure = HandlerFailure::logged(entry, self.name, failure);
        self.said().failures.push(failure.clone());
        failure
    }
}

impl<'h> Policy<dyn Handler + 'h> for Waterfall<'_, '_> {
    type HookOutput = HandlerOutput;
    type Output = ();
    type Future = Never<()>;

    const CATCH_FAILURES: bool = true;

    fn slot_name(&self) -> &str {
        self.0.name
    }

    #[inline(always)]
    fn invoke<'b>(
        &mut self,
        entry: &'b EntryMeta,
        hook: &'b (dyn Handler + 'h),
        _: bool,
    ) -> HookFuture<'b, HandlerOutput>
    where
        Self: 'b,
    {
        let context = EventContext {
            name: self.0.name,
            fields: &mut self.0.fields,
            transcript: &self.0.transcript,
            is_chained: true,
        };
        hook.start(entry, context)
    }

    #[inline(always)]
    fn validate_output(&mut self, reply: HandlerOutput) -> Result<HandlerOutput, Failure> {
        // Without the question, or the no, it would be a yes: that is for `take`.
        reply.check(|action| matches!(action, Action::AskUser | Action::Deny))
    }

    #[inline(always)]
    fn on_output(&mut self, entry: &EntryMeta, reply: HandlerOutput) -> Step<Self, Never<()>> {
        if self.0.fields.has_changed() {
            self.0.modified(entry);
        }
        match reply.0 {
            None => Step::Next,
            Some(spoken) => step(self.0.record_reply(entry, *spoken)),
        }
    }

    #[cold]
    fn on_failure(&mut self, entry: &EntryMeta, failure: Failure) -> Step<Self, Never<()>> {
        step(self.0.fail(entry, failure))
    }

    fn on_future_ready(&mut self, (): ()) -> Step<Self, Never<()>> {
        Step::Next
    }

    #[inline(always)]
    fn finish(self) {}
}

#[inline(always)]
fn step<C, W>(flow: ControlFlow<()>) -> Step<C, W> {
    match flow {
        Continue(()) => Step::Next,
        Break(()) => Step::Stop,
    }
}

/// What an emission has come to in the end, for which the table of the hooks is not needed.
pub(crate) struct Concluded {
    fields: Fields,
    transcript: Transcript,
    action: Action,
    decided_by: Option<Arc<str>>,
    said: Option<Box<Extras>>,
}

impl EmissionState<'_> {
    /// The end of the emission to the hooks in this slot.
    #[inline(always)]
    pub(crate) fn conclude(self, slot: &Slot<dyn Handler>) -> Concluded {
        Concluded {
            fields: self.fields,
            transcript: self.transcript,
            action: self.action.get(),
            decided_by: self.decider.and_then(|id| name(slot, id)),
            said: self.said,
        }
    }
}

impl Concluded {
    /// The emission. Made last: it is large, and is written where the caller wants it.
    #[inline(always)]
    pub(crate) fn emission(self, report: Option<Report>) -> Result<Emission, EmitError> {
        let emission = Emission {
            action: self.action,
            decided_by: self.decided_by,
            ..Emission::of(self.fields.into_map())
        };
        if self.said.is_none() && self.transcript.is_untouched() && report.is_none() {
            return Ok(emission);
        }
        complete(emission, self.said, self.transcript, report)
    }
}

/// An emission to which there is more than its data and its action.
#[cold]
fn complete(
    mut emission: Emission,
    said: Option<Box<Extras>>,
    transcript: Transcript,
    report: Option<Report>,
) -> Result<Emission, EmitError> {
    let printed = transcript.into_lines();
    let said = said.map(|said| *said).unwrap_or_default();
    emission.rest = ColdOption::from(Box::new(Rest {
        decision: said.decision,
        question: said.question,
        output: output(printed, &said.muted),
        report,
    }));
    emission.injections = said.injections;
    emission.messages = said.messages;
    emission.failures = said.failures;
    match said.raised {
        None => Ok(emission),
        Some(failure) => Err(EmitError::Hook {
            failure,
            emission: Box::new(emission),
        }),
    }
}

/// What has been printed, but for what these hooks suppress (`E-150`).
pub(crate) fn output(printed: Vec<Printed>, muted: &[EntryId]) -> Vec<HookOutput> {
    let heard = printed
        .into_iter()
        .filter(|printed| !muted.contains(&printed.id));
    heard
        .map(|printed| HookOutput {
            text: printed.text,
            hook: printed.hook,
        })
        .collect()
}

/// What a failure of this hook does (`X-2`).
pub(crate) fn policy(entry: &EntryMeta) -> FailurePolicy {
    entry.on_failure().unwrap_or(FailurePolicy::Isolate)
}

fn name(slot: &Slot<dyn Handler>, id: EntryId) -> Option<Arc<str>> {
    let mut entries = slot.iter().map(|(_, entry)| entry);
    let entry = entries.find(|entry| entry.id() == id)?;
    Some(entry.name_arc())
}

impl Emission {
    /// An emission that no hook has answered.
    #[inline]
    pub(crate) fn of(data: Arc<Map>) -> Self {
        Emission {
            action: Action::Continue,
            data,
            injections: Items::new(),
            messages: Items::new(),
            decided_by: None,
            failures: Items::new(),
            rest: ColdOption::none(),
        }
    }
}
