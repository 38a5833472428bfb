//! Policy of one run of a stack. Before the action, a waterfall that a stop ends; after it,
//! independent observers.

use std::sync::Arc;
use std::time::Duration;

use hooks_runtime::dispatch::Step;
use hooks_runtime::{EntryMeta, Failure as HookFailure, HookFuture, Map, Never, Policy};

use super::budget::StackBudget;
use super::context::RunContext;
use super::inner::StackInner;
use super::member::StackMember;
use super::outcome::StackRun;
use super::records::RunRecords;
use crate::consent::{ConsentRequest, Permit};
use crate::decision::Rejection;
use crate::fields::ContextData;
use crate::history::RunRecord;
use crate::hook::ScriptHook;
use crate::outbox::HTTP;
use crate::run::{Failure, Run, RunResult, Stage};
use crate::scope::Scope;

/// One run of a stack.
pub(super) struct StackPolicy<'a> {
    stack: &'a StackInner,
    stage: Stage,
    scope: &'a Scope,
    data: &'a ContextData,
    budget: StackBudget,
    /// The hook that is running.
    member: Option<StackMember>,
    done: StackResult,
    records: RunRecords<'a>,
}

/// Result so far.
pub(super) struct StackResult {
    pub(super) message: Arc<Map>,
    pub(super) rejection: Option<Rejection>,
    pub(super) runs: Vec<StackRun>,
}

/// Output of a hook; `None` if it is disabled.
pub(super) type MemberOutput = Option<(Run, Option<Permit>)>;

impl<'a> StackPolicy<'a> {
    pub(super) fn new(
        stack: &'a StackInner,
        stage: Stage,
        occasion: &'a RunContext,
        message: Map,
        data: &'a ContextData,
        budget: StackBudget,
    ) -> Self {
        StackPolicy {
            stack,
            stage,
            scope: &occasion.scope,
            data,
            budget,
            member: None,
            done: StackResult {
                message: Arc::new(message),
                rejection: None,
                runs: Vec::new(),
            },
            records: RunRecords::new(stack.history.as_ref(), stage, occasion),
        }
    }

    fn take(&mut self, turn: MemberOutput) -> Step<Self, Never<()>> {
        let Some(member) = self.member.take() else {
            return Step::Stop;
        };
        let StackMember { id, hook, .. } = &member;
        let (run, permit) = match turn {
            Some((run, permit)) => (run, permit),
            None => {
                let why = "it is disabled after repeated failures";
                self.records
                    .put(false, || RunRecord::skipped(hook, self.stage, why));
                self.done.runs.push(StackRun {
                    id: Arc::clone(id),
                    run: None,
                    permit: None,
                });
                // A hook that fails closed is never disabled, so the action continues.
                return Step::Next;
            }
        };
        self.budget.spend(run.fuel);
        if self.is_its_own(hook, &run) {
            member.count(&run, self.stack.disable_after);
        }
        self.records
            .put_run(hook, &run, &self.done.message, self.data);
        let step = self.decide(&member, &run);
        self.done.runs.push(StackRun {
            id: Arc::clone(id),
            run: Some(run),
            permit,
        });
        step
    }

    /// Returns `true` if the hook itself caused the end of the run, rather than the message, the
    /// engine, or a lack of time because of other runs.
    fn is_its_own(&self, hook: &ScriptHook, run: &Run) -> bool {
        match &run.result {
            RunResult::Failed(_) if !run.began => false,
            RunResult::Failed(Failure::NoWorker | Failure::Engine(_)) => false,
            RunResult::Failed(Failure::Wall(had)) => self.budget.is_fair(*had, hook.limits().wall),
            RunResult::Failed(_)
            | RunResult::Returned(_)
            | RunResult::Unchanged
            | RunResult::Stop(_) => true,
        }
    }

    /// Decides if the action continues after a run. After the action, every result continues.
    fn decide(&mut self, member: &StackMember, run: &Run) -> Step<Self, Never<()>> {
        if self.stage == Stage::Post {
            return Step::Next;
        }
        match member.hook.outcome(run) {
            Ok(None) => Step::Next,
            Ok(Some(out)) => {
                self.done.message = Arc::new(out.clone());
                Step::Next
            }
            Err(rejection) => {
                self.done.rejection = Some(rejection);
                Step::Stop
            }
        }
    }
}

impl<'a> Policy<StackMember> for StackPolicy<'a> {
    type HookOutput = MemberOutput;
    type Output = (StackResult, RunRecords<'a>);
    type Future = Never<()>;

    const CATCH_FAILURES: bool = true;

    fn slot_name(&self) -> &str {
        match self.stage {
            Stage::Pre => "script pre",
            Stage::Post => "script post",
        }
    }

    fn before_hooks(&mut self, hooks: usize) -> Step<Self, Never<()>> {
        self.budget.share_among(hooks);
        Step::Next
    }

    fn invoke<'b>(
        &mut self,
        _: &'b EntryMeta,
        member: &'b StackMember,
        _: bool,
    ) -> HookFuture<'b, MemberOutput>
    where
        Self: 'b,
    {
        self.member = Some(member.clone());
        self.records.begin(&member.hook);
        let mut allowance = self.budget.share();
        if member.is_disabled() {
            return HookFuture::Ready(None);
        }
        let (stage, data) = (self.stage, self.data);
        let message = Arc::clone(&self.done.message);
        let consent = self.stack.consent.as_ref();
        let consent = consent.filter(|_| stage == Stage::Post);
        let scope = self.scope;
        HookFuture::boxed(async move {
            let permit = match consent {
                None => None,
                Some(consent) => {
                    let request = ConsentRequest::of(&member.hook, HTTP, scope.clone());
                    consent.permit(&request).await
                }
            };
            allowance.http = permit.is_some();
            let run = member.hook.run_within(stage, &message, data, allowance);
            Some((run.await, permit))
        })
    }

    fn on_output(&mut self, _: &EntryMeta, turn: MemberOutput) -> Step<Self, Never<()>> {
        self.take(turn)
    }

    fn on_failure(&mut self, _: &EntryMeta, failure: HookFailure) -> Step<Self, Never<()>> {
        // The sandbox enforces the hook's own timeout: a timeout here is a wait for a worker, and a
        // panic is the host's.
        let failure = match failure {
            HookFailure::Timeout(_) => Failure::NoWorker,
            failure => Failure::Engine(failure.to_string()),
        };
        let run = self
            .member
            .as_ref()
            .map(|member| member.hook.failed_run(failure));
        match run {
            Some(run) => self.take(Some((run, None))),
            None => Step::Stop,
        }
    }

    fn timeout(&self, _: &EntryMeta) -> Option<Duration> {
        Some(self.budget.patience())
    }

    fn finish(self) -> (StackResult, RunRecords<'a>) {
        (self.done, self.records)
    }
}
