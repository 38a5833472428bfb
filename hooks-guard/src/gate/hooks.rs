//! What can be registered with the gate.

use std::fmt;
use std::sync::Arc;

use hooks_runtime::{Answer, Entry, EntryMeta, FailurePolicy, HookError, HostTimer, Report, Slot};
use tokio::time::Instant;

use super::policy::{FirstJudgement, Found, Said, Strictest};
use crate::classify::{Classification, Classifier, Judgement};
use crate::dispatches::ScriptRuns;
use crate::request::PermissionRequest;

/// Says what a request would do (P-07).
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
    fn start<'a>(&'a self, request: &'a PermissionRequest) -> Answer<'a, Option<Judgement>>;
}

impl<H: Classify> Classifies for H {
    fn start<'a>(&'a self, request: &'a PermissionRequest) -> Answer<'a, Option<Judgement>> {
        Answer::later(self.classify(request))
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

/// Says no, or has somebody asked, whatever the class is and whatever rules allow (P-06). It has no
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

/// What a [`Restrict`] says (P-06), and why.
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
    ) -> Answer<'a, Result<Option<Restriction>, HookError>>;
}

impl<H: Restrict> Restricts for H {
    fn start<'a>(
        &'a self,
        request: &'a PermissionRequest,
        found: &'a Classification,
    ) -> Answer<'a, Result<Option<Restriction>, HookError>> {
        Answer::later(self.restrict(request, found))
    }
}

/// The extension points of the gate (P-07).
///
/// | Slot | Which hook counts | One that fails, panics, or takes too long |
/// |---|---|---|
/// | `classify` | the first that knows what the request would do; if none does, it has to be confirmed | ends it: the request has to be confirmed (P-08) |
/// | `restrict` | the strictest, up to the first that denies; the strictest of it and the rules decides | has somebody asked, and the others go on |
///
/// A hook registered with [`FailurePolicy::Isolate`] is left out where it fails, as if it were not
/// there.
#[derive(Clone)]
pub struct GateHooks {
    classify: Slot<dyn Classifies>,
    restrict: Slot<dyn Restricts>,
    #[cfg(feature = "script")]
    scripts: Vec<crate::script::ScriptHooks>,
}

/// A slot of the gate as it stands (`X-9`).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SlotDescription {
    /// Its name.
    pub slot: &'static str,
    /// `always` or `fallback`.
    pub kind: &'static str,
    /// What makes one answer of several.
    pub policy: &'static str,
    /// The hooks, in execution order.
    pub entries: Vec<HookDescription>,
}

/// A hook of the gate (`X-9`).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HookDescription {
    /// The name given at registration, else that of its type.
    pub name: String,
    /// Its key, by which it can be replaced.
    pub key: Option<String>,
    /// Lower runs first.
    pub priority: i32,
    /// What a fault does.
    pub on_failure: FailurePolicy,
}

impl GateHooks {
    /// No hooks: nothing can be judged (P-12).
    #[must_use]
    pub fn new() -> Self {
        Self {
            classify: Slot::with_timer(Arc::new(HostTimer)),
            restrict: Slot::with_timer(Arc::new(HostTimer)),
            #[cfg(feature = "script")]
            scripts: Vec::new(),
        }
    }

    /// Registers a hook that says what a request would do.
    #[must_use]
    pub fn with_classify(self, hook: impl Classify) -> Self {
        self.with_classify_entry(Entry::new(hook))
    }

    /// The same with a key, a name, a priority, less time, or another policy for its faults.
    #[must_use]
    pub fn with_classify_entry<H: Classify>(mut self, entry: Entry<H>) -> Self {
        let entry = entry.map(|hook| Arc::new(hook) as Arc<dyn Classifies>);
        self.classify.insert(entry);
        self
    }

    /// Registers a hook that may restrict.
    #[must_use]
    pub fn with_restrict(self, hook: impl Restrict) -> Self {
        self.with_restrict_entry(Entry::new(hook))
    }

    /// The same with a key, a name, a priority, less time, or another policy for its faults.
    #[must_use]
    pub fn with_restrict_entry<H: Restrict>(mut self, entry: Entry<H>) -> Self {
        let entry = entry.map(|hook| Arc::new(hook) as Arc<dyn Restricts>);
        self.restrict.insert(entry);
        self
    }

    /// Registers these hooks in JavaScript as hooks that may restrict.
    #[cfg(feature = "script")]
    #[must_use]
    pub fn with_scripts(self, scripts: crate::script::ScriptHooks) -> Self {
        let mut hooks = scripts.register(self);
        hooks.scripts.push(scripts);
        hooks
    }

    /// The runs of hooks in JavaScript, by hook, outcome and class; none without the feature
    /// `script`.
    pub async fn script_runs(&self) -> Vec<ScriptRuns> {
        #[cfg_attr(not(feature = "script"), expect(unused_mut, reason = "there are none"))]
        let mut runs = Vec::new();
        #[cfg(feature = "script")]
        for scripts in &self.scripts {
            runs.extend(scripts.runs().await);
        }
        runs
    }

    /// Whether there is anything that could say what a request would do.
    pub(super) fn can_classify(&self) -> bool {
        !self.classify.is_empty()
    }

    /// What the hooks say that classify, and what became of each.
    pub(super) fn classified<'a>(
        &'a self,
        request: &'a PermissionRequest,
        until: Instant,
    ) -> impl Future<Output = (Found, Report)> + Send + use<'a> {
        let policy = FirstJudgement::new(request, until);
        self.classify.dispatch_reported(policy)
    }

    /// Whether there is anything that could restrict.
    pub(super) fn can_restrict(&self) -> bool {
        !self.restrict.is_empty()
    }

    /// What the hooks say that restrict, and what became of each.
    pub(super) fn restricted<'a>(
        &'a self,
        request: &'a PermissionRequest,
        found: &'a Classification,
        until: Instant,
    ) -> impl Future<Output = (Said, Report)> + Send + use<'a> {
        let policy = Strictest::new(request, found, until);
        self.restrict.dispatch_reported(policy)
    }

    /// What is registered where.
    #[must_use]
    pub fn describe(&self) -> Vec<SlotDescription> {
        vec![
            SlotDescription {
                slot: "classify",
                kind: "fallback",
                policy: "the first that knows decides",
                entries: entries(&self.classify),
            },
            SlotDescription {
                slot: "restrict",
                kind: "always",
                policy: "the strictest counts",
                entries: entries(&self.restrict),
            },
        ]
    }
}

fn entries<H: ?Sized>(slot: &Slot<H>) -> Vec<HookDescription> {
    let described = slot.iter().map(|(_, entry)| HookDescription {
        name: entry.name().into_owned(),
        key: entry.key().map(str::to_owned),
        priority: entry.priority(),
        on_failure: on_failure(entry),
    });
    described.collect()
}

/// What a fault of this hook does: whatever is asked for but to be left out is to be asked about.
pub(super) fn on_failure(entry: &EntryMeta) -> FailurePolicy {
    match entry.on_failure() {
        Some(FailurePolicy::Isolate) => FailurePolicy::Isolate,
        _ => FailurePolicy::FailClosed,
    }
}

impl Default for GateHooks {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for GateHooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.describe()).finish()
    }
}
