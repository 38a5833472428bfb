//! Approval providers: the interface of a user, and fixed answers for tests.

use std::collections::VecDeque;
use std::future::Future;
use std::sync::{Arc, Mutex};

use hooks_core::BoxFuture;

use super::option::ApprovalEffect;
use super::request::{ApprovalAnswer, ApprovalRequest};
use crate::HookError;
use crate::lock::lock;

/// Puts questions to somebody, and brings the answers.
///
/// The [`Coordinator`](crate::Coordinator) looks after everything else: time limits, defaults,
/// what an answer means, what is remembered, identical questions at the same time. An error or
/// a panic of the provider counts as no answer: the default of the question applies.
///
/// The future is dropped when nobody waits for the answer any more: the question is withdrawn.
///
/// ```
/// use std::sync::Arc;
///
/// use hooks_runtime::HookError;
/// use hooks_runtime::approval::{ApprovalAnswer, ApprovalProvider, ApprovalRequest};
///
/// struct Chat;
///
/// impl ApprovalProvider for Chat {
///     async fn ask(&self, request: &Arc<ApprovalRequest>) -> Result<ApprovalAnswer, HookError> {
///         let label = post(&request.prompt, &request.options).await?;
///         Ok(ApprovalAnswer::new(label))
///     }
/// }
/// # use hooks_runtime::approval::ApprovalOption;
/// # async fn post(_: &str, options: &[ApprovalOption]) -> Result<String, HookError> {
/// #     Ok(options[0].label.clone())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not answer questions; implement `ApprovalProvider` for it",
    label = "not an approval provider"
)]
pub trait ApprovalProvider: Send + Sync {
    /// Asks the user, and returns the label of one of the options. Written as
    /// an `async fn`.
    ///
    /// # Errors
    /// If there is no answer to be had.
    fn ask(
        &self,
        request: &Arc<ApprovalRequest>,
    ) -> impl Future<Output = Result<ApprovalAnswer, HookError>> + Send;
}

impl<P: ApprovalProvider + ?Sized> ApprovalProvider for Arc<P> {
    fn ask(
        &self,
        request: &Arc<ApprovalRequest>,
    ) -> impl Future<Output = Result<ApprovalAnswer, HookError>> + Send {
        (**self).ask(request)
    }
}

/// Type-erased [`ApprovalProvider`].
pub(crate) trait DynApprovalProvider: Send + Sync {
    fn start<'a>(
        &'a self,
        request: &'a Arc<ApprovalRequest>,
    ) -> BoxFuture<'a, Result<ApprovalAnswer, HookError>>;
}

impl<P: ApprovalProvider> DynApprovalProvider for P {
    fn start<'a>(
        &'a self,
        request: &'a Arc<ApprovalRequest>,
    ) -> BoxFuture<'a, Result<ApprovalAnswer, HookError>> {
        Box::pin(self.ask(request))
    }
}

/// Answers without asking anybody: for tests, and for hosts where nobody is there to ask.
///
/// A clone is the same one: it knows what has been asked.
///
/// ```
/// use hooks_runtime::approval::FixedAnswers;
///
/// let always_no = FixedAnswers::deny();
/// let scripted = FixedAnswers::labels(["Allow once", "Deny"]);
/// ```
#[derive(Debug, Clone)]
pub struct FixedAnswers {
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
struct State {
    script: Script,
    asked: Vec<Arc<ApprovalRequest>>,
}

#[derive(Debug)]
enum Script {
    Effect(ApprovalEffect),
    Labels(VecDeque<String>),
}

impl FixedAnswers {
    /// Chooses the first option that allows, preferably once only. Where none does, it has no
    /// answer.
    pub fn allow() -> Self {
        FixedAnswers::of(Script::Effect(ApprovalEffect::AllowOnce))
    }

    /// Chooses the first option that denies. Where none does, it has no answer.
    pub fn deny() -> Self {
        FixedAnswers::of(Script::Effect(ApprovalEffect::Deny))
    }

    /// Gives these labels, one a question; after the last one it has no answer.
    pub fn labels(labels: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let labels = labels.into_iter().map(Into::into).collect();
        FixedAnswers::of(Script::Labels(labels))
    }

    fn of(script: Script) -> Self {
        let asked = Vec::new();
        FixedAnswers {
            state: Arc::new(Mutex::new(State { script, asked })),
        }
    }

    /// What has been asked, in order.
    pub fn asked(&self) -> Vec<Arc<ApprovalRequest>> {
        let state = lock(&self.state);
        state.asked.clone()
    }
}

impl ApprovalProvider for FixedAnswers {
    async fn ask(&self, request: &Arc<ApprovalRequest>) -> Result<ApprovalAnswer, HookError> {
        let mut state = lock(&self.state);
        state.asked.push(Arc::clone(request));
        let label = match &mut state.script {
            Script::Labels(labels) => labels.pop_front(),
            Script::Effect(effect) => request.first(*effect),
        };
        let label = label.ok_or_else(|| HookError::new("there is no answer to this question"))?;
        Ok(ApprovalAnswer { label })
    }
}

impl ApprovalRequest {
    /// The label of the first option with this effect, or else with one that is as good.
    fn first(&self, effect: ApprovalEffect) -> Option<String> {
        let with = |matches: &dyn Fn(ApprovalEffect) -> bool| {
            let mut options = self.options.iter();
            options.find(|option| matches(option.effect))
        };
        let option = with(&|other| other == effect)
            .or_else(|| with(&|other| other.is_allowed() == effect.is_allowed()))?;
        Some(option.label.clone())
    }
}
