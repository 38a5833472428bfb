//! Policy of [`emit`](super::HookRegistry::emit): each hook receives the data that the hook before
//! it returned, and the most restrictive action wins.

// Attributes that name a row of the bench `performance` hold it. Together:
// `event_continue/16` −13 % instructions.

use std::collections::HashSet;
use std::ops::ControlFlow::{self, Break, Continue};
use std::sync::Arc;

use hooks_core::__private::ColdOption;
use hooks_core::{
    EntryId, EntryMeta, Failure, FailurePolicy, HookFuture, Never, Policy, Report, Slot, Step,
};
use jiff::Timestamp;
use thin_vec::ThinVec;

use super::data::EmitError;
use super::emission::{
    Emission, HandlerFailure, HookOutput, Injection, Provenance, QuestionOrigin, RareFields,
    UserMessage,
};
use super::event::EventContext;
use super::fields::{Background, Fields, Printed, Transcript};
use super::handler::{Handler, HandlerOutput, ReplyBody};
use super::result::{APPROVAL_TIMEOUT, Action, ApprovalDefault, HookResult};
use crate::Map;

/// Policy of one emission. It borrows its state, because the dispatch is moved and the state is
/// large.
pub(crate) struct Waterfall<'a, 't>(&'a mut EmissionState<'t>);

/// State of one emission.
pub(crate) struct EmissionState<'t> {
    name: &'t Arc<str>,
    fields: Fields,
    transcript: Transcript,
    action: PackedAction,
    /// The hook that returned `action`.
    decider: Option<EntryId>,
    extras: Option<Box<Extras>>,
}

/// An [`Action`] of the width of the fields beside it. A one-byte enum would hold the niche of
/// `Option<EmissionState>`, and the state would be copied in pieces.
#[derive(Clone, Copy, Default)]
struct PackedAction(usize);

impl PackedAction {
    #[cfg_attr(not(debug_assertions), inline(always))] // event_continue/16
    fn get(self) -> Action {
        match self.0 {
            0 => Action::Continue,
            1 => Action::Modify,
            2 => Action::InjectContext,
            3 => Action::AskUser,
            _ => Action::Deny,
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))] // event_continue/16
    fn set(&mut self, action: Action) {
        self.0 = action.strength().into();
    }
}

/// Rare parts of the state: everything but changed data.
#[derive(Clone, Default)]
struct Extras {
    /// The result that decided the action.
    decision: Option<Box<HookResult>>,
    question: Option<QuestionOrigin>,
    /// `true` if a hook changed the data, and the action is stronger than `modify`.
    has_modified: bool,
    injections: ThinVec<Injection>,
    messages: ThinVec<UserMessage>,
    failures: ThinVec<HandlerFailure>,
    /// The hooks whose output is suppressed.
    muted: Vec<EntryId>,
    /// Texts that the hooks of an absorbed emission printed.
    printed: Vec<HookOutput>,
    /// The failure that ended the emission.
    raised: Option<HandlerFailure>,
}

impl<'t> EmissionState<'t> {
    #[cfg_attr(not(debug_assertions), inline(always))] // event_continue/16
    pub(crate) fn new(name: &'t Arc<str>, fields: Fields) -> Self {
        EmissionState {
            name,
            fields,
            transcript: Transcript::default(),
            action: PackedAction::default(),
            decider: None,
            extras: None,
        }
    }

    /// Creates the state of an emission whose hooks know this background.
    pub(crate) fn with_background(
        name: &'t Arc<str>,
        fields: Fields,
        background: Background,
    ) -> Self {
        EmissionState {
            transcript: Transcript::with_background(background),
            ..EmissionState::new(name, fields)
        }
    }

    /// Returns the policy of the phase `Decide`, which writes to this state.
    pub(crate) fn deciding(&mut self) -> Deciding<'_, 't> {
        Deciding(self)
    }

    /// Returns the arguments of a hook that cannot change the data.
    fn context(&mut self) -> EventContext<'_> {
        EventContext {
            name: self.name,
            fields: &mut self.fields,
            transcript: &self.transcript,
            is_chained: false,
        }
    }

    /// Returns `true` if the conditions of a hook hold.
    fn admits(&mut self, entry: &EntryMeta, hook: &(dyn Handler + '_)) -> bool {
        hook.admits(self.context().event(entry))
    }

    /// Returns `true` if a denial or a failure has ended the emission.
    fn has_ended(&self) -> bool {
        let is_raised = |extras: &Extras| extras.raised.is_some();
        self.action.get() == Action::Deny || self.extras.as_deref().is_some_and(is_raised)
    }

    /// Returns the policy that writes to this state.
    #[cfg_attr(not(debug_assertions), inline(always))] // event_continue/16
    pub(crate) fn policy(&mut self) -> Waterfall<'_, 't> {
        Waterfall(self)
    }

    fn extras(&mut self) -> &mut Extras {
        self.extras.get_or_insert_default()
    }

    /// Records that the hook of this entry has changed the data.
    #[inline]
    fn modified(&mut self, entry: &EntryMeta) {
        if self.action.get().strength() <= Action::Modify.strength() {
            self.action.set(Action::Modify);
            self.decider = Some(entry.id());
            if let Some(extras) = &mut self.extras {
                // The result of an earlier hook describes the changes of that hook.
                extras.decision = None;
            }
        } else {
            self.record_later_change();
        }
    }

    /// Records that the data have changed after a more restrictive action was chosen.
    #[cold] // event_continue/16
    fn record_later_change(&mut self) {
        let extras = self.extras();
        extras.has_modified = true;
        if let Some(question) = &mut extras.question {
            question.has_changed = true;
        }
    }

    #[cold] // event_continue/16
    fn record_reply(&mut self, entry: &EntryMeta, reply: ReplyBody) -> ControlFlow<()> {
        match reply {
            ReplyBody::Result(result) => self.take(entry, Box::new(result)),
            ReplyBody::Failure(failure) => self.fail(entry, failure),
            ReplyBody::Emission(emission) => self.absorb(entry, emission),
        }
    }

    /// Merges a result that does more than continue.
    fn take(&mut self, entry: &EntryMeta, mut result: Box<HookResult>) -> ControlFlow<()> {
        if let Err(why) = result.check() {
            let failure = Failure::invalid(why.to_string());
            if policy(entry) != FailurePolicy::Isolate {
                return self.fail(entry, failure);
            }
            // Dropping the question would allow the action: keep it, with the default timeout.
            self.note(entry, failure);
            result.approval_timeout = APPROVAL_TIMEOUT;
            result.approval_default = ApprovalDefault::Deny;
        }
        if result.suppress_output {
            self.extras().muted.push(entry.id());
        }
        if let Some(message) = UserMessage::of(&result, entry) {
            self.extras().messages.push(message);
        }
        let texts = result.injections();
        let injects = !texts.is_empty();
        for text in texts {
            let injection = Injection {
                content: text.content,
                role: text.role,
                ephemeral: text.ephemeral,
                append_to_last_tool_result: text.append_to_last_tool_result,
                provenance: Provenance {
                    source: "hook".into(),
                    hook: entry.name_arc(),
                    event: Arc::clone(self.name),
                    at: Timestamp::now(),
                },
            };
            self.extras().injections.push(injection);
        }
        match result.action {
            Action::Continue => Continue(()),
            Action::InjectContext if !injects => Continue(()),
            Action::Modify => {
                // A hook that is ready applies such changes itself, and returns no result.
                let only_sets_fields = result.is_bare();
                let (data, changes) = (result.data.take(), std::mem::take(&mut result.changes));
                if let Some(data) = data {
                    self.fields.replace(data);
                }
                if !changes.is_empty() {
                    self.fields.change(changes);
                }
                // Without data nothing changes.
                if self.fields.has_changed() {
                    self.modified(entry);
                    if self.action.get() == Action::Modify && !only_sets_fields {
                        self.extras().decision = Some(result);
                    }
                }
                Continue(())
            }
            action => {
                if action.strength() > self.action.get().strength()
                    || action == Action::AskUser && self.is_displaced(entry.is_trusted())
                {
                    let has_modified = self.action.get() == Action::Modify;
                    self.action.set(action);
                    self.decider = Some(entry.id());
                    let question = (action == Action::AskUser).then(|| QuestionOrigin {
                        event: Arc::clone(self.name),
                        is_trusted: entry.is_trusted(),
                        hook_type: entry.hook_type(),
                        has_changed: false,
                    });
                    let extras = self.extras();
                    extras.has_modified |= has_modified;
                    extras.decision = Some(result);
                    extras.question = question;
                }
                if action == Action::Deny {
                    Break(())
                } else {
                    Continue(())
                }
            }
        }
    }

    /// Merges the emission of other hooks, as the output of the hook that ran them. Each part keeps
    /// its origin; the hook of this entry is the deciding hook.
    fn absorb(&mut self, entry: &EntryMeta, emission: Emission) -> ControlFlow<()> {
        let Emission {
            action,
            data,
            injections,
            messages,
            decided_by: _,
            failures,
            mut rare_fields,
        } = emission;
        let mut rare_fields = rare_fields.take().map(|rare| *rare).unwrap_or_default();
        let extras = self.extras();
        extras.injections.extend(injections);
        extras.messages.extend(messages);
        extras.failures.extend(failures);
        extras.printed.append(&mut rare_fields.output);
        if action == Action::Modify || self.fields.differs_from(&data) {
            self.fields = Fields::new(data, None);
            self.modified(entry);
            if action == Action::Modify && self.action.get() == Action::Modify {
                self.extras().decision = rare_fields.decision.take();
            }
        }
        if action.strength() <= Action::Modify.strength() {
            return Continue(());
        }
        let is_trusted = entry.is_trusted()
            && rare_fields
                .question
                .as_ref()
                .is_none_or(|question| question.is_trusted);
        if action.strength() > self.action.get().strength()
            || action == Action::AskUser && self.is_displaced(is_trusted)
        {
            let has_modified = self.action.get() == Action::Modify;
            self.action.set(action);
            self.decider = Some(entry.id());
            let extras = self.extras();
            extras.has_modified |= has_modified;
            extras.decision = rare_fields.decision;
            extras.question = rare_fields.question.map(|question| QuestionOrigin {
                is_trusted,
                ..question
            });
        }
        match action {
            Action::Deny => Break(()),
            _ => Continue(()),
        }
    }

    /// Returns `true` if the question of this hook, trusted or not, replaces the earlier one. The
    /// first question applies, but an untrusted hook's question cannot hide one of a trusted hook.
    fn is_displaced(&self, is_trusted: bool) -> bool {
        let extras = self.extras.as_ref();
        let question = extras.and_then(|extras| extras.question.as_ref());
        self.action.get() == Action::AskUser
            && question.is_some_and(|question| !question.is_trusted && is_trusted)
    }

    /// Applies the failure policy of the registration.
    #[cold] // event_continue/16
    fn fail(&mut self, entry: &EntryMeta, failure: Failure) -> ControlFlow<()> {
        let failure = self.note(entry, failure);
        match policy(entry) {
            FailurePolicy::Isolate => Continue(()),
            FailurePolicy::Propagate => self.raise(failure),
            // An unknown policy denies.
            _ => self.take(entry, Box::new(HookResult::deny(failure.text()))),
        }
    }

    /// Ends the emission with this failure.
    fn raise(&mut self, failure: HandlerFailure) -> ControlFlow<()> {
        self.extras().raised = Some(failure);
        Break(())
    }

    /// Records a failure in the emission and in the log.
    fn note(&mut self, entry: &EntryMeta, failure: Failure) -> HandlerFailure {
        let failure = HandlerFailure::logged(entry, self.name, failure);
        self.extras().failures.push(failure.clone());
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

    fn admits(&mut self, entry: &EntryMeta, hook: &(dyn Handler + 'h)) -> bool {
        self.0.admits(entry, hook)
    }

    #[cfg_attr(not(debug_assertions), inline(always))] // event_continue/16
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

    #[cfg_attr(not(debug_assertions), inline(always))] // event_continue/16
    fn validate_output(&mut self, reply: HandlerOutput) -> Result<HandlerOutput, Failure> {
        // Dropping the question or denial would allow the action; `take` handles it.
        reply.check(|action| matches!(action, Action::AskUser | Action::Deny))
    }

    #[cfg_attr(not(debug_assertions), inline(always))] // event_continue/16
    fn on_output(&mut self, entry: &EntryMeta, reply: HandlerOutput) -> Step<Self, Never<()>> {
        if self.0.fields.has_changed() {
            self.0.modified(entry);
        }
        match reply.0 {
            None => Step::Next,
            Some(reply) => step(self.0.record_reply(entry, *reply)),
        }
    }

    #[cold] // event_continue/16
    fn on_failure(&mut self, entry: &EntryMeta, failure: Failure) -> Step<Self, Never<()>> {
        step(self.0.fail(entry, failure))
    }

    #[cfg_attr(not(debug_assertions), inline(always))] // event_continue/16
    fn finish(self) {}
}

/// Policy of the phase [`Decide`](super::EventPhase::Decide): hooks receive the final data, and
/// cannot change them.
pub(crate) struct Deciding<'a, 't>(&'a mut EmissionState<'t>);

impl<'h> Policy<dyn Handler + 'h> for Deciding<'_, '_> {
    type HookOutput = HandlerOutput;
    type Output = ();
    type Future = Never<()>;

    const CATCH_FAILURES: bool = true;

    fn slot_name(&self) -> &str {
        self.0.name
    }

    /// Skips the phase after a denial.
    fn before_hooks(&mut self, _: usize) -> Step<Self, Never<()>> {
        if self.0.has_ended() {
            Step::Stop
        } else {
            Step::Next
        }
    }

    fn admits(&mut self, entry: &EntryMeta, hook: &(dyn Handler + 'h)) -> bool {
        self.0.admits(entry, hook)
    }

    fn invoke<'b>(
        &mut self,
        entry: &'b EntryMeta,
        hook: &'b (dyn Handler + 'h),
        _: bool,
    ) -> HookFuture<'b, HandlerOutput>
    where
        Self: 'b,
    {
        hook.start(entry, self.0.context())
    }

    fn validate_output(&mut self, reply: HandlerOutput) -> Result<HandlerOutput, Failure> {
        if reply.action() == Action::Modify {
            return Err(Failure::invalid(
                "`modify` in the phase `decide`; register the hook in the phase `transform`",
            ));
        }
        if reply
            .emission()
            .is_some_and(|emission| self.0.fields.differs_from(&emission.data))
        {
            return Err(Failure::invalid(
                "changed data in the phase `decide`; register the hook in the phase `transform`",
            ));
        }
        reply.check(|action| matches!(action, Action::AskUser | Action::Deny))
    }

    fn on_output(&mut self, entry: &EntryMeta, reply: HandlerOutput) -> Step<Self, Never<()>> {
        match reply.0 {
            None => Step::Next,
            Some(body) => step(self.0.record_reply(entry, *body)),
        }
    }

    fn on_failure(&mut self, entry: &EntryMeta, failure: Failure) -> Step<Self, Never<()>> {
        step(self.0.fail(entry, failure))
    }

    fn finish(self) {}
}

#[cfg_attr(not(debug_assertions), inline(always))] // event_continue/16
fn step<C, W>(flow: ControlFlow<()>) -> Step<C, W> {
    match flow {
        Continue(()) => Step::Next,
        Break(()) => Step::Stop,
    }
}

/// State of an emission between two outputs, for front ends whose hooks a typed slot runs. Outputs
/// are merged by the policy of `emit`.
#[derive(Clone)]
pub(crate) struct MergeState {
    fields: Fields,
    action: PackedAction,
    decider: Option<(EntryId, Arc<str>)>,
    extras: Option<Box<Extras>>,
}

impl MergeState {
    pub(crate) fn new(fields: Fields) -> Self {
        MergeState {
            fields,
            action: PackedAction::default(),
            decider: None,
            extras: None,
        }
    }

    /// Merges the output of the hook of this entry, for the event of this name. Returns `Break` if
    /// the output ends the emission.
    pub(crate) fn merge(
        self,
        name: &Arc<str>,
        entry: &EntryMeta,
        output: HandlerOutput,
    ) -> (Self, ControlFlow<()>) {
        self.with(name, entry, |state| {
            let mut policy = state.policy();
            let step = match policy.validate_output(output) {
                Ok(output) => policy.on_output(entry, output),
                Err(failure) => policy.on_failure(entry, failure),
            };
            match step {
                Step::Next | Step::Wait(_) => Continue(()),
                Step::Stop => Break(()),
            }
        })
    }

    /// Ends the emission with the failure of the hook of this entry.
    pub(crate) fn raise(self, name: &Arc<str>, entry: &EntryMeta, failure: Failure) -> Self {
        let raise = |state: &mut EmissionState<'_>| {
            let failure = state.note(entry, failure);
            state.raise(failure)
        };
        self.with(name, entry, raise).0
    }

    fn with(
        self,
        name: &Arc<str>,
        entry: &EntryMeta,
        change: impl FnOnce(&mut EmissionState<'_>) -> ControlFlow<()>,
    ) -> (Self, ControlFlow<()>) {
        let decider = self.decider;
        let mut state = EmissionState {
            action: self.action,
            decider: decider.as_ref().map(|(id, _)| *id),
            extras: self.extras,
            ..EmissionState::new(name, self.fields)
        };
        let flow = change(&mut state);
        let merged = MergeState {
            decider: match state.decider {
                Some(id) if id == entry.id() => Some((id, entry.name_arc())),
                _ => decider,
            },
            fields: state.fields,
            action: state.action,
            extras: state.extras,
        };
        (merged, flow)
    }

    /// Returns the data after the changes so far.
    pub(crate) fn fields(&self) -> &Fields {
        &self.fields
    }

    /// Returns the number of failures so far.
    pub(crate) fn failures(&self) -> usize {
        self.extras
            .as_ref()
            .map_or(0, |extras| extras.failures.len())
    }

    /// Ends the emission.
    pub(crate) fn emission(self) -> Result<Emission, EmitError> {
        let concluded = Concluded {
            fields: self.fields,
            transcript: Transcript::default(),
            action: self.action.get(),
            decided_by: self.decider.map(|(_, name)| name),
            extras: self.extras,
        };
        concluded.emission(None)
    }
}

/// Final state of an emission, which no longer borrows from the table of hooks.
pub(crate) struct Concluded {
    fields: Fields,
    transcript: Transcript,
    action: Action,
    decided_by: Option<Arc<str>>,
    extras: Option<Box<Extras>>,
}

impl EmissionState<'_> {
    /// Ends the emission to the hooks of these slots.
    pub(crate) fn conclude_phases(
        self,
        transform: &Slot<dyn Handler>,
        decide: &Slot<dyn Handler>,
    ) -> Concluded {
        let decider = self.decider;
        let mut concluded = self.conclude(transform);
        if concluded.decided_by.is_none() {
            concluded.decided_by = decider.and_then(|id| name(decide, id));
        }
        concluded
    }

    /// Ends the emission to the hooks of this slot.
    #[cfg_attr(not(debug_assertions), inline(always))] // event_continue/16
    pub(crate) fn conclude(self, slot: &Slot<dyn Handler>) -> Concluded {
        Concluded {
            fields: self.fields,
            transcript: self.transcript,
            action: self.action.get(),
            decided_by: self.decider.and_then(|id| name(slot, id)),
            extras: self.extras,
        }
    }
}

impl Concluded {
    /// Builds the emission. It is large, so it is built last, in the caller's place.
    #[cfg_attr(not(debug_assertions), inline(always))] // event_continue/16
    pub(crate) fn emission(self, report: Option<Report>) -> Result<Emission, EmitError> {
        let emission = Emission {
            action: self.action,
            decided_by: self.decided_by,
            ..Emission::of(self.fields.into_map())
        };
        if self.extras.is_none() && self.transcript.is_untouched() && report.is_none() {
            return Ok(emission);
        }
        complete(emission, self.extras, self.transcript, report)
    }
}

/// Completes an emission that has more than data and an action.
#[cold] // event_continue/16
fn complete(
    mut emission: Emission,
    extras: Option<Box<Extras>>,
    transcript: Transcript,
    report: Option<Report>,
) -> Result<Emission, EmitError> {
    let printed = transcript.into_lines();
    let extras = extras.map(|extras| *extras).unwrap_or_default();
    let mut output = output(printed, &extras.muted);
    output.extend(extras.printed);
    let rare_fields = RareFields {
        decision: extras.decision,
        question: extras.question,
        has_modified: extras.has_modified,
        output,
        report,
    };
    if !rare_fields.is_empty() {
        emission.rare_fields = ColdOption::from(Box::new(rare_fields));
    }
    emission.injections = extras.injections;
    emission.messages = extras.messages;
    emission.failures = extras.failures;
    match extras.raised {
        None => Ok(emission),
        Some(failure) => Err(EmitError::Hook {
            failure,
            emission: Box::new(emission),
        }),
    }
}

/// Returns the printed lines without those of muted hooks.
pub(crate) fn output(printed: Vec<Printed>, muted: &[EntryId]) -> Vec<HookOutput> {
    let muted: HashSet<_> = muted.iter().collect();
    printed
        .into_iter()
        .filter(|printed| !muted.contains(&printed.id))
        .map(|printed| HookOutput {
            text: printed.text,
            hook: printed.hook,
        })
        .collect()
}

/// Returns the failure policy of a hook; the default is `Isolate`.
pub(crate) fn policy(entry: &EntryMeta) -> FailurePolicy {
    entry.on_failure().unwrap_or(FailurePolicy::Isolate)
}

#[cfg_attr(not(debug_assertions), inline(always))] // event_modify/1
fn name(slot: &Slot<dyn Handler>, id: EntryId) -> Option<Arc<str>> {
    let mut entries = slot.iter().map(|(_, entry)| entry);
    let entry = entries.find(|entry| entry.id() == id)?;
    Some(entry.name_arc())
}

impl Emission {
    /// Returns the emission of an event without hooks.
    #[inline]
    pub(crate) fn of(data: Arc<Map>) -> Self {
        Emission {
            action: Action::Continue,
            data,
            injections: ThinVec::new(),
            messages: ThinVec::new(),
            decided_by: None,
            failures: ThinVec::new(),
            rare_fields: ColdOption::none(),
        }
    }
}
