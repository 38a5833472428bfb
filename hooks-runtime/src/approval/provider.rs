//! Approval providers: the interface of a user, and fixed answers for tests.

use std::collections::VecDeque;
use std::future::Future;
use std::sync::{Arc, Mutex};

use hooks_core::BoxFuture;

use super::option::ApprovalEffect;
use super::request::{ApprovalAnswer, ApprovalRequest};
use crate::HookError;
use crate::lock::lock;

/// Delivers questions to a user, and returns the answers.
///
/// The [`Coordinator`](crate::Coordinator) implements everything else: timeouts, defaults, the
/// effect of an answer, grants, and equal questions at one time. If the provider returns an error
/// or panics, the default of the question applies.
///
/// If no caller waits for the answer, the future is dropped: the question is withdrawn.
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
    message = "`{Self}` is not an approval provider; implement `ApprovalProvider`",
    label = "not an approval provider"
)]
pub trait ApprovalProvider: Send + Sync {
    /// Asks the user, and returns the label of one of the options. Implement it as an `async fn`.
    ///
    /// # Errors
    /// If there is no answer.
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

/// An [`ApprovalProvider`] with fixed answers: for tests, and for hosts without a user.
///
/// Clones share one state: the questions asked, and the remaining answers.
///
/// ```
/// use hooks_runtime::approval::FixedAnswers;
///
/// let always_no = FixedAnswers::deny();
/// let scripted = FixedAnswers::labels(["Allow once", "Deny"]);
/// ```
#[derive(Debug, Clone)]
pub struct FixedAnswers {
    state: Arc<Mutex<FixedAnswersState>>,
}

#[derive(Debug)]
struct FixedAnswersState {
    script: AnswerScript,
    asked: Vec<Arc<ApprovalRequest>>,
}

#[derive(Debug)]
enum AnswerScript {
    Effect(ApprovalEffect),
    Labels(VecDeque<String>),
}

impl FixedAnswers {
    /// Creates a provider that chooses the first option that allows, preferably once only. If no
    /// option allows, it returns an error.
    pub fn allow() -> Self {
        FixedAnswers::of(AnswerScript::Effect(ApprovalEffect::AllowOnce))
    }

    /// Creates a provider that chooses the first option that denies. If no option denies, it
    /// returns an error.
    pub fn deny() -> Self {
        FixedAnswers::of(AnswerScript::Effect(ApprovalEffect::Deny))
    }

    /// Creates a provider that returns these labels, one per question; after the last label it
    /// returns an error.
    pub fn labels(labels: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let labels = labels.into_iter().map(Into::into).collect();
        FixedAnswers::of(AnswerScript::Labels(labels))
    }

    fn of(script: AnswerScript) -> Self {
        let asked = Vec::new();
        FixedAnswers {
            state: Arc::new(Mutex::new(FixedAnswersState { script, asked })),
        }
    }

    /// Returns the questions asked, in order.
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
            AnswerScript::Labels(labels) => labels.pop_front(),
            AnswerScript::Effect(effect) => request.first(*effect),
        };
        let label = label.ok_or_else(|| HookError::new("there is no answer to this question"))?;
        Ok(ApprovalAnswer { label })
    }
}

impl ApprovalRequest {
    /// Returns the label of the first option with this effect, or else of an option that is
    /// equivalent.
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
