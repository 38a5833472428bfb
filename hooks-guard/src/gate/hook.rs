//! Traits of the gate's hooks. In: a request. Out: a classification, or a restriction; and the
//! effect of a failure.

use hooks_runtime::{EntryMeta, FailurePolicy, HookError, HookFuture};

use crate::classify::{Classification, Classifier, CommandAnalysis, StagedClassifier};
use crate::protocol::Agent;
use crate::request::{PermissionRequest, Sight};
use crate::workspace::LocalWorkspace;

/// A hook that classifies requests by their effect.
///
/// ```
/// use hooks_guard::PermissionRequest;
/// use hooks_guard::classify::{Classifier, CommandAnalysis};
/// use hooks_guard::gate::{Classify, Gate, GateHooks, Policy};
///
/// struct OurDeploy;
///
/// impl Classify for OurDeploy {
///     async fn classify(&self, request: &PermissionRequest) -> Option<CommandAnalysis> {
///         // The tables do not know this program; treat it like `ls`.
///         let rest = request.command.strip_prefix("deploy --dry-run ")?;
///         Classifier::new().analyze(&format!("ls {rest}")).ok()
///     }
/// }
///
/// let hooks = GateHooks::new().with_classify(OurDeploy).with_classify(Classifier::new());
/// let gate = Gate::with_hooks(hooks, Policy::default());
/// assert_eq!(gate.hooks().describe()[0].entries[0].name, "OurDeploy");
/// ```
pub trait Classify: Send + Sync + 'static {
    /// Returns the classification of a request, or `None` to leave it to the next hook.
    fn classify(
        &self,
        request: &PermissionRequest,
    ) -> impl Future<Output = Option<CommandAnalysis>> + Send;
}

/// [`Classify`] as a trait object, as a slot stores it.
pub(super) trait DynClassify: Send + Sync {
    fn start<'a>(
        &'a self,
        request: &'a PermissionRequest,
    ) -> HookFuture<'a, Option<CommandAnalysis>>;
}

impl<H: Classify> DynClassify for H {
    fn start<'a>(
        &'a self,
        request: &'a PermissionRequest,
    ) -> HookFuture<'a, Option<CommandAnalysis>> {
        HookFuture::boxed(self.classify(request))
    }
}

impl Classify for StagedClassifier {
    async fn classify(&self, request: &PermissionRequest) -> Option<CommandAnalysis> {
        let context = request.context.as_deref();
        let call = request.described_mcp_call();
        if let Some(tool) = &request.tool {
            return Some(tool.analyze(&request.command, self.tables()));
        }
        Some(match (&request.file, &request.network, call) {
            (Some(access), ..) => access.analyze(&request.command),
            (None, Some(access), _) => access.analyze(&request.command),
            (None, None, Some(call)) => call.analyze(&request.command),
            (None, None, None) => {
                let agent = request.agent.as_deref().map(str::parse::<Agent>);
                let mut own = self.clone();
                if let Some(Ok(agent)) = agent {
                    own = own.with_shells(agent.shells());
                }
                if let Some(workspace) = workspace(request) {
                    own = own.with_workspace(workspace);
                }
                match own.analyze_fully(&request.command, context).await {
                    Ok(found) => found,
                    Err(error) => Classification::fallback(&error.to_string()).into(),
                }
            }
        })
    }
}

/// Returns the place where the command of a request runs, if it may be looked at.
fn workspace(request: &PermissionRequest) -> Option<LocalWorkspace> {
    let local = || {
        let home = std::env::home_dir();
        LocalWorkspace::new(request.cwd.as_deref()?, home.as_deref())
    };
    match request.sight {
        Sight::Text => None,
        Sight::Files => Some(match request.secret_variables.clone() {
            Some(names) => local()?.with_secret_variables(names),
            None => local()?,
        }),
        Sight::FilesAndVariables => Some(local()?.with_own_variables()),
    }
}

impl Classify for Classifier {
    async fn classify(&self, request: &PermissionRequest) -> Option<CommandAnalysis> {
        let staged = StagedClassifier::from(self.clone());
        Classify::classify(&staged, request).await
    }
}

/// A hook that may deny a request or require confirmation, whatever its class and the rules are. It
/// cannot allow a request, so it need not be trusted.
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
    /// Returns a restriction, or `None` to leave the decision to the others.
    ///
    /// # Errors
    /// If the hook cannot decide: then the request needs confirmation.
    fn restrict(
        &self,
        request: &PermissionRequest,
        found: &Classification,
    ) -> impl Future<Output = Result<Option<Restriction>, HookError>> + Send;
}

/// A restriction and its reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Restriction {
    /// The request needs confirmation.
    Ask(String),
    /// The request is denied.
    Deny(String),
}

/// [`Restrict`] as a trait object, as a slot stores it.
pub(super) trait DynRestrict: Send + Sync {
    fn start<'a>(
        &'a self,
        request: &'a PermissionRequest,
        found: &'a Classification,
    ) -> HookFuture<'a, Result<Option<Restriction>, HookError>>;
}

impl<H: Restrict> DynRestrict for H {
    fn start<'a>(
        &'a self,
        request: &'a PermissionRequest,
        found: &'a Classification,
    ) -> HookFuture<'a, Result<Option<Restriction>, HookError>> {
        HookFuture::boxed(self.restrict(request, found))
    }
}

/// Returns the failure policy of a hook: every policy except `Isolate` means that the request needs
/// confirmation.
pub(super) fn on_failure(entry: &EntryMeta) -> FailurePolicy {
    match entry.on_failure() {
        Some(FailurePolicy::Isolate) => FailurePolicy::Isolate,
        _ => FailurePolicy::FailClosed,
    }
}
