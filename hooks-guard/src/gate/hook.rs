//! A hook of the gate, by itself. In: a request. Out: a judgement, or a restriction; and what a failure
//! of the hook means.

use hooks_runtime::{EntryMeta, FailurePolicy, HookError, HookFuture};

use crate::classify::{Classification, Classifier, Judgement};
use crate::request::PermissionRequest;

/// Says what a request would do.
///
/// ```
/// use hooks_guard::PermissionRequest;
/// use hooks_guard::classify::{Classifier, Judgement};
/// use hooks_guard::gate::{Classify, Gate, GateHooks, Policy};
///
/// struct OurDeploy;
///
/// impl Classify for OurDeploy {
///     async fn classify(&self, request: &PermissionRequest) -> Option<Judgement> {
///         // The tables do not know our program: it is like one that they do.
///         let rest = request.command.strip_prefix("deploy --dry-run ")?;
///         Classifier::new().judge(&format!("ls {rest}"), None).ok()
///     }
/// }
///
/// let hooks = GateHooks::new().with_classify(OurDeploy).with_classify(Classifier::new());
/// let gate = Gate::with_hooks(hooks, Policy::default());
/// assert_eq!(gate.hooks().describe()[0].entries[0].name, "OurDeploy");
/// ```
pub trait Classify: Send + Sync + 'static {
    /// What it would do; nothing leaves it to the hooks behind.
    fn classify(
        &self,
        request: &PermissionRequest,
    ) -> impl Future<Output = Option<Judgement>> + Send;
}

/// [`Classify`], as a slot holds it.
pub(super) trait Classifies: Send + Sync {
    fn start<'a>(&'a self, request: &'a PermissionRequest) -> HookFuture<'a, Option<Judgement>>;
}

impl<H: Classify> Classifies for H {
    fn start<'a>(&'a self, request: &'a PermissionRequest) -> HookFuture<'a, Option<Judgement>> {
        HookFuture::boxed(self.classify(request))
    }
}

impl Classify for Classifier {
    async fn classify(&self, request: &PermissionRequest) -> Option<Judgement> {
        let context = request.context.as_deref();
        Some(match (&request.file, &request.network) {
            (Some(access), _) => access.judge(&request.command),
            (None, Some(access)) => access.judge(&request.command),
            (None, None) => match self.judge_fully(&request.command, context).await {
                Ok(found) => found,
                Err(error) => Classification::fallback(&error.to_string()).into(),
            },
        })
    }
}

/// Says no, or has somebody asked, whatever the class is and whatever rules allow. It has no
/// word for yes, and so need not be trusted.
///
/// ```
/// use hooks_guard::PermissionRequest;
/// use hooks_guard::classify::{Classification, Classifier};
/// use hooks_guard::gate::{GateHooks, Restrict, Restriction};
/// use hooks_runtime::HookError;
///
/// struct Nights;
///
/// impl Restrict for Nights {
///     async fn restrict(
///         &self,
///         _: &PermissionRequest,
///         _: &Classification,
///     ) -> Result<Option<Restriction>, HookError> {
///         let is_night = false;
///         Ok(is_night.then(|| Restriction::Deny("nothing runs at night".to_owned())))
///     }
/// }
///
/// let hooks = GateHooks::new().with_classify(Classifier::new()).with_restrict(Nights);
/// assert_eq!(hooks.describe()[1].entries[0].name, "Nights");
/// ```
pub trait Restrict: Send + Sync + 'static {
    /// What it says; nothing leaves the decision to the others.
    ///
    /// # Errors
    /// When it cannot say: then somebody is asked.
    fn restrict(
        &self,
        request: &PermissionRequest,
        found: &Classification,
    ) -> impl Future<Output = Result<Option<Restriction>, HookError>> + Send;
}

/// What a [`Restrict`] says, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Restriction {
    /// Somebody has to agree.
    Ask(String),
    /// It must not happen.
    Deny(String),
}

/// [`Restrict`], as a slot holds it.
pub(super) trait Restricts: Send + Sync {
    fn start<'a>(
        &'a self,
        request: &'a PermissionRequest,
        found: &'a Classification,
    ) -> HookFuture<'a, Result<Option<Restriction>, HookError>>;
}

impl<H: Restrict> Restricts for H {
    fn start<'a>(
        &'a self,
        request: &'a PermissionRequest,
        found: &'a Classification,
    ) -> HookFuture<'a, Result<Option<Restriction>, HookError>> {
        HookFuture::boxed(self.restrict(request, found))
    }
}

/// What a fault of this hook does: whatever is asked for but to be left out is to be asked about.
pub(super) fn on_failure(entry: &EntryMeta) -> FailurePolicy {
    match entry.on_failure() {
        Some(FailurePolicy::Isolate) => FailurePolicy::Isolate,
        _ => FailurePolicy::FailClosed,
    }
}
