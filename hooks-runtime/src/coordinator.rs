//! Applies emissions: messages, injections and approvals.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use hooks_core::{Failure, Timer};

use crate::approval::{
    Approval, ApprovalAnswer, ApprovalBroker, ApprovalProvider, ApprovalRequest,
    DynApprovalProvider,
};
use crate::display::{UserDisplay, escape};
use crate::{
    Conversation, Emission, EmitError, HookOutput, HookRegistry, HostTimer, Injection,
    IntoEventData, Map, MessageLevel, UserMessage,
};

/// Applies an [`Emission`]: shows the messages, injects into the conversation, asks the user, and
/// returns whether the announced action may happen.
///
/// A coordinator serves [one session](CoordinatorBuilder::session), or several sessions that their
/// events' data identify by `session_id`. Clones share one state.
///
/// ```
/// use hooks_runtime::approval::FixedAnswers;
/// use hooks_runtime::{Conversation, Coordinator, HookRegistry, HookResult, RegisterOptions};
/// use serde_json::json;
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let hooks = HookRegistry::new();
/// hooks.register(
///     "tool:pre",
///     |_: hooks_runtime::Event<'_>| HookResult::ask_user("Deploy to production?"),
///     RegisterOptions::new(),
/// );
///
/// let coordinator = Coordinator::builder().provider(FixedAnswers::deny()).build();
/// let mut conversation = Conversation::new();
/// let data = json!({"tool_name": "deploy", "tool_input": {}});
/// let applied = coordinator.emit(&hooks, "tool:pre", data, &mut conversation).await.unwrap();
/// assert_eq!(applied.denial(), Some("user denied: Deploy to production?"));
/// # });
/// ```
#[derive(Clone)]
pub struct Coordinator {
    inner: Arc<CoordinatorInner>,
}

struct CoordinatorInner {
    broker: Arc<ApprovalBroker>,
    display: Option<Box<dyn UserDisplay>>,
    injection_size_limit: Option<usize>,
    session: Option<Arc<str>>,
}

/// An emission after its injections, messages and approval.
#[derive(Debug, Clone)]
#[must_use = "it may be a denial"]
#[non_exhaustive]
pub struct AppliedEmission {
    /// Data of the announced action, as the hooks have changed them.
    pub data: Arc<Map>,
    /// Reason for which the action is denied.
    denial: Option<String>,
    /// Decision of the user, if a hook asked for approval.
    pub approval: Option<Approval>,
}

/// Result of [`Coordinator::begin`].
#[derive(Debug, Clone)]
#[must_use = "it may be a denial, or a question"]
pub enum ApplyStep {
    /// The emission is decided.
    Done(AppliedEmission),
    /// The user has to answer this request.
    Ask(Box<ApprovalRequest>),
}

/// An emission could not be applied. The announced action must not happen.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum ApplyError {
    /// The event could not be emitted.
    #[error(transparent)]
    Emit(#[from] EmitError),
    /// A hook injects more than the limit allows; nothing is injected.
    #[error(
        "hook `{hook}` of event `{event}` injects {chars} characters, and the limit is {limit}; shorten the text, or raise `injection_size_limit`"
    )]
    InjectionTooLong {
        /// The hook.
        hook: Arc<str>,
        /// The event.
        event: Arc<str>,
        /// The length of its injection in characters.
        chars: usize,
        /// The limit in characters.
        limit: usize,
    },
}

impl Coordinator {
    /// Creates a coordinator without a provider: questions are denied, messages are logged,
    /// injections have no limit.
    pub fn new() -> Self {
        Coordinator::builder().build()
    }

    /// Returns a builder.
    pub fn builder() -> CoordinatorBuilder {
        CoordinatorBuilder::default()
    }

    /// Emits an event, and [applies](Self::apply) the emission. Dropping the future cancels both.
    ///
    /// # Errors
    /// If the event cannot be emitted, or as [`apply`](Self::apply). The announced action must not
    /// happen then; the results before the error are shown and injected.
    pub async fn emit(
        &self,
        hooks: &HookRegistry,
        event: &str,
        data: impl IntoEventData,
        conversation: &mut Conversation,
    ) -> Result<AppliedEmission, ApplyError> {
        match hooks.emit(event, data).await {
            Ok(emission) => self.apply(emission, conversation).await,
            Err(error) => {
                if let Some(emission) = error.emission() {
                    self.show(emission.output(), &emission.messages);
                    self.inject(emission.injections.to_vec(), conversation)?;
                }
                Err(error.into())
            }
        }
    }

    /// Applies an emission, and waits for the user if a hook asks for approval.
    ///
    /// Messages and injections are applied before the user is asked, whatever the action is.
    /// Dropping the future withdraws the question; messages and injections stay.
    ///
    /// # Errors
    /// If an injection is too long: nothing is injected, and the user is not asked.
    pub async fn apply(
        &self,
        emission: Emission,
        conversation: &mut Conversation,
    ) -> Result<AppliedEmission, ApplyError> {
        Ok(match self.begin(emission, conversation)? {
            ApplyStep::Done(applied) => applied,
            ApplyStep::Ask(request) => self.ask(*request).await.into(),
        })
    }

    /// Like [`apply`](Self::apply), without waiting: returns the question to the caller, who may
    /// [ask](Self::ask) it while the conversation is free, or store it and [resolve](Self::resolve)
    /// it later.
    ///
    /// # Errors
    /// As [`apply`](Self::apply).
    pub fn begin(
        &self,
        emission: Emission,
        conversation: &mut Conversation,
    ) -> Result<ApplyStep, ApplyError> {
        let request = ApprovalRequest::of(&emission, self.inner.session.as_ref());
        self.show(emission.output(), &emission.messages);
        let denial = emission.is_denied().then(|| refusal(&emission));
        let Emission {
            data, injections, ..
        } = emission;
        self.inject(injections.into(), conversation)?;
        Ok(match request {
            None => ApplyStep::Done(AppliedEmission {
                data,
                denial,
                approval: None,
            }),
            Some(request) => match self.inner.broker.known(&request) {
                None => ApplyStep::Ask(Box::new(request)),
                Some(decision) => {
                    ApplyStep::Done(self.inner.broker.conclude(request.into(), decision).into())
                }
            },
        })
    }

    /// Asks the user, and waits for the answer. If an equal question is pending, waits for its
    /// answer. The question is withdrawn when the last caller drops its future.
    pub async fn ask(&self, request: impl Into<Arc<ApprovalRequest>>) -> Approval {
        self.inner.broker.ask(request.into()).await
    }

    /// Returns the decision on a question that was answered elsewhere, and perhaps stored in
    /// between: equal to the decision of [`ask`](Self::ask). After the timeout the default applies;
    /// only a denial is accepted late, and an answer that was not offered is a denial.
    pub fn resolve(
        &self,
        request: impl Into<Arc<ApprovalRequest>>,
        answer: impl Into<ApprovalAnswer>,
    ) -> Approval {
        self.inner.broker.resolve(request.into(), &answer.into())
    }

    /// Removes the "allow always" grants of a session.
    pub fn end_session(&self, session: &str) {
        self.inner.broker.forget(session);
    }

    /// Returns the session, if the coordinator serves only one.
    pub fn session(&self) -> Option<&str> {
        self.inner.session.as_deref()
    }

    /// Shows the hooks' output, then their messages; without a display, messages are logged.
    fn show(&self, output: &[HookOutput], messages: &[UserMessage]) {
        let Some(display) = &self.inner.display else {
            for HookOutput { text, hook } in output {
                tracing::debug!(target: "hooks_runtime", hook = &**hook, "{}", escape(text));
            }
            messages.iter().for_each(log);
            return;
        };
        let shown = |show: &dyn Fn()| {
            if let Err(panic) = catch_unwind(AssertUnwindSafe(show)) {
                tracing::error!(target: "hooks_runtime", "the display {}", Failure::panic(panic));
                return false;
            }
            true
        };
        for printed in output {
            shown(&|| display.output(printed));
        }
        for message in messages {
            if !shown(&|| display.message(message)) {
                log(message);
            }
        }
    }

    fn inject(
        &self,
        injections: Vec<Injection>,
        conversation: &mut Conversation,
    ) -> Result<(), ApplyError> {
        let chars = |injection: &Injection| injection.content.chars().count();
        let limit = self.inner.injection_size_limit.unwrap_or(usize::MAX);
        let too_long = injections.iter().find(|injection| chars(injection) > limit);
        if let Some(injection) = too_long {
            conversation.refuse(&injections);
            return Err(ApplyError::InjectionTooLong {
                hook: Arc::clone(&injection.provenance.hook),
                event: Arc::clone(&injection.provenance.event),
                chars: chars(injection),
                limit,
            });
        }
        conversation.inject(injections);
        Ok(())
    }
}

/// Returns the reason of a denial, or a default one.
fn refusal(emission: &Emission) -> String {
    match (emission.reason(), &emission.decided_by) {
        (Some(reason), _) if !reason.trim().is_empty() => reason.to_owned(),
        (_, Some(hook)) => format!("denied by hook `{hook}`"),
        (_, None) => "denied".to_owned(),
    }
}

/// Logs a message if there is no display.
fn log(message: &UserMessage) {
    let UserMessage {
        text,
        level,
        hook,
        source,
    } = message;
    let (text, hook, source) = (escape(text), &**hook, source.as_deref());
    match level {
        MessageLevel::Info => tracing::info!(target: "hooks_runtime", hook, source, "{text}"),
        MessageLevel::Warning => tracing::warn!(target: "hooks_runtime", hook, source, "{text}"),
        MessageLevel::Error => tracing::error!(target: "hooks_runtime", hook, source, "{text}"),
    }
}

impl AppliedEmission {
    /// Returns `true` if the announced action must not happen.
    pub fn is_denied(&self) -> bool {
        self.denial.is_some()
    }

    /// Returns the reason of a denial, for the agent.
    pub fn denial(&self) -> Option<&str> {
        self.denial.as_deref()
    }

    /// Returns `true` if the action may happen with these data: after a question, they have to be
    /// the approved data.
    pub fn covers(&self, data: &Map) -> bool {
        match &self.approval {
            Some(approval) => approval.covers(data),
            None => !self.is_denied(),
        }
    }
}

impl From<Approval> for AppliedEmission {
    fn from(approval: Approval) -> Self {
        AppliedEmission {
            data: Arc::clone(&approval.request.data),
            denial: approval.denial(),
            approval: Some(approval),
        }
    }
}

impl Default for Coordinator {
    fn default() -> Self {
        Coordinator::new()
    }
}

impl fmt::Debug for Coordinator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Coordinator")
            .field("session", &self.inner.session)
            .field("broker", &self.inner.broker)
            .field("injection_size_limit", &self.inner.injection_size_limit)
            .finish_non_exhaustive()
    }
}

/// Builder of a [`Coordinator`].
#[derive(Default)]
#[must_use = "a coordinator is made by `build`"]
pub struct CoordinatorBuilder {
    provider: Option<Arc<dyn DynApprovalProvider>>,
    display: Option<Box<dyn UserDisplay>>,
    timer: Option<Arc<dyn Timer>>,
    injection_size_limit: Option<usize>,
    session: Option<Arc<str>>,
}

impl CoordinatorBuilder {
    /// Sets the provider that answers questions.
    pub fn provider(mut self, provider: impl ApprovalProvider + 'static) -> Self {
        self.provider = Some(Arc::new(provider));
        self
    }

    /// Sets the display for messages.
    pub fn display(mut self, display: impl UserDisplay + 'static) -> Self {
        self.display = Some(Box::new(display));
        self
    }

    /// Sets the timer for timeouts; [`HostTimer`] by default.
    pub fn timer(mut self, timer: Arc<dyn Timer>) -> Self {
        self.timer = Some(timer);
        self
    }

    /// Sets the maximum length of one injection in characters; unlimited by default.
    pub fn injection_size_limit(mut self, chars: usize) -> Self {
        self.injection_size_limit = Some(chars);
        self
    }

    /// Sets the session. By default, `session_id` in the data of events identifies the session,
    /// which hooks can change.
    pub fn session(mut self, session: impl Into<Arc<str>>) -> Self {
        self.session = Some(session.into());
        self
    }

    /// Builds the coordinator.
    pub fn build(self) -> Coordinator {
        let timer = self.timer.unwrap_or_else(|| Arc::new(HostTimer));
        Coordinator {
            inner: Arc::new(CoordinatorInner {
                broker: Arc::new(ApprovalBroker::new(self.provider, timer)),
                display: self.display,
                injection_size_limit: self.injection_size_limit,
                session: self.session,
            }),
        }
    }
}

impl fmt::Debug for CoordinatorBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CoordinatorBuilder")
            .field("injection_size_limit", &self.injection_size_limit)
            .field("session", &self.session)
            .finish_non_exhaustive()
    }
}
