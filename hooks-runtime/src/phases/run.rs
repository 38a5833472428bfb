//! Runs of the phases: a request or a result in, the response of the hooks out.

use std::panic::resume_unwind;
use std::sync::Arc;

use hooks_core::__private::drop_catching_panic;
use hooks_core::{BoxFuture, Failure, Innermost, Next, Report, SharedReport, Slot};

use super::around::{PostCall, PreCall};
use super::bail::Bail;
use super::observer::{ObserverCall, PreResult};
use super::registry::PhaseRegistry;
use super::response::{HookResponse, ResponseAction};
use crate::HookError;
use crate::error::DeadlineExceeded;
use crate::registry::call::{Call, DynCall};
use crate::registry::catch::{CatchPanic, Payload};
use crate::registry::deadline::Deadline;
use crate::registry::observe::Observe;
use crate::registry::slot::SharedSlot;
use crate::transform::TransformError;

/// A run of the POST hooks.
type ObserveResult<'a, Res> = Observe<'a, PostCall<Res>, false>;
/// A run of the observers. An observer changes nothing for the others, so none waits for another.
type ObserveResponse<'a, Req> = Observe<'a, ObserverCall<Req>, true>;

impl<Req: ?Sized + Sync + 'static, Res: ?Sized + Sync + 'static> PhaseRegistry<Req, Res> {
    /// Runs the PRE hooks until one returns a response that is not `CONTINUE`, and returns that
    /// response with all its fields; else the last hook's response, or `CONTINUE` without hooks.
    ///
    /// Dropping the future cancels the running hook, and starts no further ones.
    ///
    /// # Errors
    /// If a hook fails, panics or exceeds its timeout: later hooks do not run. Registrations can
    /// set another [`FailurePolicy`](hooks_core::FailurePolicy). If hooks are pending at the
    /// [deadline](crate::RegistryOptions::deadline) of the registry, the error is a [`DeadlineExceeded`].
    pub async fn execute_pre(&self, request: &Req) -> Result<HookResponse, HookError> {
        let mut deadline = self.start_deadline();
        self.run_pre_hooks(request, None, deadline.as_mut()).await
    }

    /// Like [`execute_pre`](Self::execute_pre), with a report on each hook, around hooks and observers
    /// included.
    ///
    /// # Errors
    /// As [`execute_pre`](Self::execute_pre); the report is returned in any case.
    pub async fn execute_pre_reported(
        &self,
        request: &Req,
    ) -> (Result<HookResponse, HookError>, Report) {
        let mut report = Report::default();
        let mut deadline = self.start_deadline();
        let run = self.run_pre_hooks(request, Some(&mut report), deadline.as_mut());
        let response = run.await;
        (response, report)
    }

    /// Runs the PRE hooks within their around hooks, then the observers.
    async fn run_pre_hooks(
        &self,
        request: &Req,
        report: Option<&mut Report>,
        deadline: Option<&mut Deadline<'_>>,
    ) -> Result<HookResponse, HookError> {
        let (hooks, slot) = (self.inner.pre.load(), &self.inner.pre);
        if report.is_none() && deadline.is_none() && self.inner.around_pre.is_empty() {
            let response = slot.run(&hooks, Bail::new(request), None).await;
            drop_catching_panic(hooks);
            if !self.inner.observers.is_empty() {
                Box::pin(self.observe(request, response.as_ref(), None, None)).await;
            }
            return response;
        }
        let run = self.run_enclosed_pre_hooks(&hooks, request, report, deadline);
        let (response, panic) = Box::pin(run).await;
        drop_catching_panic(hooks);
        match panic {
            None => response,
            Some(payload) => resume_unwind(payload),
        }
    }

    /// Runs the PRE hooks within their around hooks, then the observers, also if an around hook
    /// panics: they receive the panic as an error. Returns the response and the payload of the panic.
    async fn run_enclosed_pre_hooks(
        &self,
        hooks: &Slot<dyn DynCall<PreCall<Req>>>,
        request: &Req,
        report: Option<&mut Report>,
        mut deadline: Option<&mut Deadline<'_>>,
    ) -> (Result<HookResponse, HookError>, Option<Payload>) {
        let shared = SharedReport::new();
        let reported = report.is_some().then_some(&shared);
        let innermost = PreHooks {
            slot: &self.inner.pre,
            hooks,
            report: reported,
        };
        // The report knows which around hook panicked.
        let has_readers = reported.is_some() || !self.inner.observers.is_empty();
        let around = self.inner.around_pre.snapshot();
        let recorded = has_readers.then(|| shared.record_around(&around));
        let around = recorded.as_ref().unwrap_or(&around);
        let call = CatchPanic(Next::new(around, &innermost).call((request,)));
        let called = match &mut deadline {
            None => Ok(call.await),
            Some(deadline) => deadline.race(call).await,
        };
        let (response, panic) = match called {
            Ok(Ok(response)) => (response, None),
            Err(after) => (Err(HookError::new(DeadlineExceeded::new(after))), None),
            Ok(Err(payload)) => {
                let error = match shared.panicked() {
                    Some((hook, failure)) => HookError::of(hook, failure),
                    None => HookError::from_failure(Failure::of_payload(&*payload)),
                };
                (Err(error), Some(payload))
            }
        };
        let all = report.map(|report| {
            *report = shared.take();
            report.add_skipped(hooks);
            report
        });
        if !self.inner.observers.is_empty() {
            let observe = self.observe(request, response.as_ref(), reported, deadline);
            observe.await;
        }
        if let Some(report) = all {
            report.entries.extend(shared.take().entries);
        }
        (response, panic)
    }

    /// Runs the observers, and cancels pending observers at the deadline.
    async fn observe(
        &self,
        request: &Req,
        response: PreResult<'_>,
        report: Option<&SharedReport>,
        mut deadline: Option<&mut Deadline<'_>>,
    ) {
        let (hooks, slot) = (self.inner.observers.load(), &self.inner.observers);
        let policy = ObserveResponse::new((request, response), request);
        let run = slot.run_within(&hooks, policy, report, deadline.as_deref_mut());
        run.await;
        drop_catching_panic(hooks);
        warn_of_deadline(ObserverCall::<Req>::SLOT, deadline.as_deref());
    }

    /// Runs all POST hooks, one after the other, and returns when the last has finished. Hooks that
    /// fail, panic or exceed their timeout are logged, as are hooks that are pending at the
    /// [deadline](crate::RegistryOptions::deadline) of the registry. Dropping the future cancels the running
    /// hook, and starts no further ones.
    pub async fn execute_post(&self, result: &Res, request_id: Option<&str>) {
        self.run_post_hooks(result, request_id, None).await;
    }

    /// Like [`execute_post`](Self::execute_post), with a report on each hook, around hooks included.
    pub async fn execute_post_reported(&self, result: &Res, request_id: Option<&str>) -> Report {
        let report = SharedReport::new();
        self.run_post_hooks(result, request_id, Some(&report)).await
    }

    /// Runs the POST hooks within their around hooks. Returns the content of the report.
    async fn run_post_hooks(
        &self,
        result: &Res,
        request_id: Option<&str>,
        report: Option<&SharedReport>,
    ) -> Report {
        let (hooks, slot) = (self.inner.post.load(), &self.inner.post);
        let args = (result, request_id);
        let mut deadline = self.start_deadline();
        if self.inner.around_post.is_empty() {
            let policy = ObserveResult::new(args, result);
            match deadline.as_mut() {
                None => slot.run(&hooks, policy, report).await,
                deadline => slot.run_within(&hooks, policy, report, deadline).await,
            }
        } else {
            let innermost = PostHooks {
                slot,
                hooks: &hooks,
                report,
            };
            let around = self.inner.around_post.snapshot();
            let recorded = report.map(|report| report.record_around(&around));
            let around = recorded.as_ref().unwrap_or(&around);
            let call = Next::new(around, &innermost).call(args);
            match &mut deadline {
                None => call.await,
                Some(deadline) => deadline.race(call).await.unwrap_or_default(),
            }
        }
        warn_of_deadline(PostCall::<Res>::SLOT, deadline.as_ref());
        let report = report.map(|report| {
            let mut report = report.take();
            report.add_skipped(&hooks);
            report
        });
        drop_catching_panic(hooks);
        report.unwrap_or_default()
    }

    /// Runs the POST hooks in a separate task, without making the caller wait.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    #[track_caller]
    pub fn execute_post_detached(
        &self,
        result: impl Into<Arc<Res>>,
        request_id: Option<String>,
    ) -> tokio::task::JoinHandle<()>
    where
        Req: Send,
        Res: Send,
    {
        let (registry, result) = (self.clone(), result.into());
        tokio::spawn(async move {
            registry.execute_post(&result, request_id.as_deref()).await;
        })
    }
}

/// Logs that hooks without a result were cancelled at the deadline.
fn warn_of_deadline(slot: &'static str, deadline: Option<&Deadline<'_>>) {
    if let Some(after) = deadline.and_then(Deadline::cancelled) {
        tracing::warn!(
            target: "hooks_runtime",
            slot,
            "hooks of {slot} were cancelled at the deadline, after {after:?}"
        );
    }
}

/// The hooks of PRE or POST, as the innermost call of around hooks.
struct EnclosedHooks<'r, C: Call> {
    slot: &'r SharedSlot<dyn DynCall<C>>,
    hooks: &'r Slot<dyn DynCall<C>>,
    /// `None` if no report is requested.
    report: Option<&'r SharedReport>,
}

type PreHooks<'r, Req> = EnclosedHooks<'r, PreCall<Req>>;
type PostHooks<'r, Res> = EnclosedHooks<'r, PostCall<Res>>;

impl<C: Call> EnclosedHooks<'_, C> {
    fn enter(&self) {
        if let Some(report) = self.report {
            report.enter_innermost();
        }
    }
}

impl<Req: ?Sized + Sync + 'static> Innermost<PreCall<Req>> for PreHooks<'_, Req> {
    fn call<'a>(
        &'a self,
        (request,): (&'a Req,),
    ) -> BoxFuture<'a, Result<HookResponse, HookError>> {
        self.enter();
        // The deadline limits the whole call.
        Box::pin(self.slot.run(self.hooks, Bail::new(request), self.report))
    }
}

impl<Res: ?Sized + Sync + 'static> Innermost<PostCall<Res>> for PostHooks<'_, Res> {
    fn call<'a>(&'a self, args: (&'a Res, Option<&'a str>)) -> BoxFuture<'a, ()> {
        self.enter();
        let policy = ObserveResult::new(args, args.0);
        Box::pin(self.slot.run(self.hooks, policy, self.report))
    }
}

impl<Req: ?Sized + Send + Sync + 'static, Res: ?Sized + Sync + 'static> PhaseRegistry<Req, Res> {
    /// Runs the hooks that may [change the request](Self::requests), then the PRE hooks on the
    /// changed request, then the observers. Make the call with [`PreRun::request`].
    ///
    /// If a hook denies the request, the response is `DENY` with its reason; if a hook fails, the
    /// response is the error. The PRE hooks do not run then, and the observers receive the raw
    /// request.
    ///
    /// [`execute_pre`](Self::execute_pre) does not run these hooks.
    ///
    /// ```
    /// use hooks_runtime::phases::PreFn;
    /// use hooks_runtime::transform::{TransformFn, TransformInput, Transformed};
    /// use hooks_runtime::{HookResponse, PhaseRegistry, RegisterOptions, ResponseAction};
    ///
    /// let registry: PhaseRegistry<String, bool> = PhaseRegistry::new();
    /// registry.register_pre(
    ///     PreFn::new("no-sudo", |command: &String| match command.starts_with("sudo ") {
    ///         true => HookResponse::new(ResponseAction::Deny),
    ///         false => HookResponse::default(),
    ///     }),
    ///     RegisterOptions::new(),
    /// );
    /// registry.requests().register(
    ///     TransformFn::new("drop-sudo", |command: TransformInput<'_, String>| {
    ///         match command.current().strip_prefix("sudo ") {
    ///             Some(command) => Transformed::changed(command.to_owned()),
    ///             None => Transformed::Unchanged,
    ///         }
    ///     }),
    ///     RegisterOptions::new(),
    /// );
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let run = registry.run_pre("sudo ls".to_owned()).await;
    /// assert!(run.response?.is_continue());
    /// assert_eq!(*run.request, "ls");
    /// # Ok::<_, hooks_runtime::HookError>(())
    /// # }).unwrap();
    /// ```
    pub async fn run_pre(&self, request: impl Into<Arc<Req>>) -> PreRun<Req> {
        let raw = request.into();
        let mut deadline = self.start_deadline();
        let (requests, request) = (&self.inner.requests, Arc::clone(&raw));
        let applied = match &mut deadline {
            None => requests.apply(request).await,
            Some(deadline) => Box::pin(requests.apply_within(request, deadline)).await,
        };
        let refused = match applied {
            Ok(outcome) => {
                let run = self.run_pre_hooks(&outcome.value, None, deadline.as_mut());
                let response = run.await;
                return PreRun {
                    request: outcome.value,
                    raw: outcome.raw,
                    changed_by: outcome.changed_by,
                    response,
                };
            }
            Err(TransformError::Failed(error)) => Err(error),
            Err(TransformError::Denied { hook, reason }) => {
                let response = HookResponse::new(ResponseAction::Deny).reason(reason);
                Ok(response.details(format!("denied by `{hook}`")))
            }
        };
        if !self.inner.observers.is_empty() {
            Box::pin(self.observe(&raw, refused.as_ref(), None, deadline.as_mut())).await;
        }
        PreRun {
            request: Arc::clone(&raw),
            raw,
            changed_by: Vec::new(),
            response: refused,
        }
    }
}

/// Result of [`PhaseRegistry::run_pre`].
#[derive(Debug)]
#[must_use = "the response may be a denial"]
#[non_exhaustive]
pub struct PreRun<Req: ?Sized> {
    /// The request after all changes, which the PRE hooks have checked.
    pub request: Arc<Req>,
    /// The request before all changes.
    pub raw: Arc<Req>,
    /// Names of the hooks that changed the request, in execution order.
    pub changed_by: Vec<Arc<str>>,
    /// The response of the PRE hooks, or the error of a hook.
    pub response: Result<HookResponse, HookError>,
}
