//! The classifier as a PRE hook. In: a request with a command. Out: `CONTINUE` or `DENY` with the
//! class.

use std::fmt;

use hooks_runtime::{HookError, HookResponse, PreHook, ResponseAction};

use crate::classify::{Classification, Decision, Explanation, StagedClassifier};

/// Runs a [`StagedClassifier`] as a PRE hook of a [`PhaseRegistry`](hooks_runtime::PhaseRegistry), such
/// as that of a `HookEngine`: it classifies the command in a request and denies commands that
/// require confirmation.
///
/// | Command | Response |
/// |---|---|
/// | none | `CONTINUE` |
/// | [allowed](Self::allow) | `CONTINUE`, with the class as `classification` |
/// | not allowed | `DENY`, with the class, the reasoning, and the explanation as its details |
/// | denied by a [rule](Self::deny) | `DENY`, with the class and the rule's reason |
/// | cannot be classified | an error, which ends the phase |
///
/// If several are registered, the first `DENY` decides; no hook can override it. With a language
/// model ([`StagedClassifier::with_semantic`]), the hook needs a Tokio runtime.
///
/// ```
/// use hooks_guard::ClassifierHook;
/// use hooks_guard::classify::Classifier;
/// use hooks_runtime::{PhaseRegistry, RegisterOptions, ResponseAction};
///
/// let registry: PhaseRegistry<String, ()> = PhaseRegistry::new();
/// let hook = ClassifierHook::new("classifier", Classifier::new(), |command: &String| {
///     Some(command.clone())
/// });
/// registry.register_pre(hook, RegisterOptions::new());
///
/// # futures_executor::block_on(async {
/// let response = registry.execute_pre(&"ls -la".to_owned()).await?;
/// assert_eq!(response.action, ResponseAction::Continue);
/// let response = registry.execute_pre(&"ls && rm -r build".to_owned()).await?;
/// assert_eq!(response.action, ResponseAction::Deny);
/// assert_eq!(response.classification.as_deref(), Some("DELETE"));
/// # Ok::<_, hooks_runtime::HookError>(())
/// # }).unwrap();
/// ```
pub struct ClassifierHook<F> {
    id: String,
    classifier: StagedClassifier,
    command: F,
    allow: Box<dyn Fn(&Classification) -> bool + Send + Sync>,
    deny: Option<DenyRule>,
}

/// Returns the reason why a command must not run, if there is one.
type DenyRule = Box<dyn Fn(&str, &Explanation) -> Option<String> + Send + Sync>;

impl<F> ClassifierHook<F> {
    /// Creates a hook with this id. `command` returns the command in a request.
    pub fn new<Req: ?Sized>(
        id: impl Into<String>,
        classifier: impl Into<StagedClassifier>,
        command: F,
    ) -> Self
    where
        F: Fn(&Req) -> Option<String>,
    {
        Self {
            id: id.into(),
            classifier: classifier.into(),
            command,
            allow: Box::new(|verdict| verdict.decision == Decision::AutoAllowed),
            deny: None,
        }
    }

    /// Sets which commands may run. Default: those with [`AutoAllowed`](Decision::AutoAllowed).
    #[must_use]
    pub fn allow(
        mut self,
        allow: impl Fn(&Classification) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.allow = Box::new(allow);
        self
    }

    /// Sets a rule of the host that applies to every class: it gets the command and its
    /// explanation, and returns the reason if the command must not run. A second rule replaces the
    /// first.
    #[must_use]
    pub fn deny(
        mut self,
        rule: impl Fn(&str, &Explanation) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.deny = Some(Box::new(rule));
        self
    }
}

impl<Req: ?Sized + Sync, F> PreHook<Req> for ClassifierHook<F>
where
    F: Fn(&Req) -> Option<String> + Send + Sync + 'static,
{
    fn id(&self) -> &str {
        &self.id
    }

    async fn execute(&self, request: &Req) -> Result<HookResponse, HookError> {
        let Some(command) = (self.command)(request) else {
            return Ok(HookResponse::default());
        };
        let verdict = self.classifier.classify_fully(&command, None).await?;
        if let Some(rule) = &self.deny
            && let Some(why) = rule(&command, &self.classifier.tables().explain(&command)?)
        {
            return Ok(HookResponse::new(ResponseAction::Deny)
                .classification(verdict.crud.to_string())
                .reason(why));
        }
        let action = match (self.allow)(&verdict) {
            true => ResponseAction::Continue,
            false => ResponseAction::Deny,
        };
        let response = HookResponse::new(action)
            .classification(verdict.crud.to_string())
            .reason(verdict.reasoning);
        Ok(match response.is_continue() {
            true => response,
            false => response.details(verdict.explanation),
        })
    }
}

impl<F> fmt::Debug for ClassifierHook<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClassifierHook")
            .field("id", &self.id)
            .field("classifier", &self.classifier)
            .finish_non_exhaustive()
    }
}
