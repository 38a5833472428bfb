//! The slots of the gate. In: hooks, with their entries. Out: dispatches, and a description of the
//! hooks.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use hooks_runtime::{Entry, FailurePolicy, HostTimer, Report, Slot};
use tokio::time::Instant;

use super::hook::{Classify, DynClassify, DynRestrict, Restrict, on_failure};
use super::policy::{ClassifyOutput, FirstClassification, RestrictOutput, StrictestRestriction};
use crate::classify::Classification;
use crate::dispatches::ScriptRuns;
use crate::request::PermissionRequest;

/// The extension points of the gate.
///
/// | Slot | Deciding hook | Failure, panic or timeout of a hook |
/// |---|---|---|
/// | `classify` | the first that returns a classification; if none does, the request needs confirmation | stops the dispatch; the request needs confirmation |
/// | `restrict` | the strictest, up to the first denial; the stricter of it and the rules decides | the request needs confirmation; the remaining hooks still run |
///
/// If a hook registered with [`FailurePolicy::Isolate`] fails, its output is ignored.
#[derive(Clone)]
pub struct GateHooks {
    classify: Slot<dyn DynClassify>,
    restrict: Slot<dyn DynRestrict>,
    /// The counters of hooks in JavaScript.
    script_runs: Vec<Arc<dyn CountScriptRuns>>,
}

/// Counts the runs of hooks in JavaScript, by hook, outcome and class.
pub(crate) trait CountScriptRuns: Send + Sync + 'static {
    /// Returns the counts.
    fn script_runs(&self) -> Pin<Box<dyn Future<Output = Vec<ScriptRuns>> + Send + '_>>;
}

/// Description of a slot of the gate.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SlotDescription {
    /// Name of the slot.
    pub slot: &'static str,
    /// `always` or `fallback`.
    pub kind: &'static str,
    /// How the outputs of several hooks are combined.
    pub policy: &'static str,
    /// The hooks, in execution order.
    pub entries: Vec<HookDescription>,
}

/// Description of a hook of the gate.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HookDescription {
    /// Name given at registration, else that of the type.
    pub name: String,
    /// Key, by which the hook can be replaced.
    pub key: Option<String>,
    /// Priority; lower runs first.
    pub priority: i32,
    /// Failure policy.
    pub on_failure: FailurePolicy,
}

impl GateHooks {
    /// Creates an empty set of gate hooks. A gate without a `classify` hook cannot classify requests.
    #[must_use]
    pub fn new() -> Self {
        Self {
            classify: Slot::with_timer(Arc::new(HostTimer)),
            restrict: Slot::with_timer(Arc::new(HostTimer)),
            script_runs: Vec::new(),
        }
    }

    /// Registers a hook that classifies requests.
    #[must_use]
    pub fn with_classify(self, hook: impl Classify) -> Self {
        self.with_classify_entry(Entry::new(hook))
    }

    /// Registers a hook that classifies requests, with a key, a name, a priority, a shorter
    /// timeout, or another failure policy.
    #[must_use]
    pub fn with_classify_entry<H: Classify>(mut self, entry: Entry<H>) -> Self {
        let entry = entry.map(|hook| Arc::new(hook) as Arc<dyn DynClassify>);
        self.classify.insert(entry);
        self
    }

    /// Registers a hook that may restrict.
    #[must_use]
    pub fn with_restrict(self, hook: impl Restrict) -> Self {
        self.with_restrict_entry(Entry::new(hook))
    }

    /// Registers a hook that may restrict, with a key, a name, a priority, a shorter timeout, or
    /// another failure policy.
    #[must_use]
    pub fn with_restrict_entry<H: Restrict>(mut self, entry: Entry<H>) -> Self {
        let entry = entry.map(|hook| Arc::new(hook) as Arc<dyn DynRestrict>);
        self.restrict.insert(entry);
        self
    }

    /// Adds a counter of hooks in JavaScript.
    #[cfg(feature = "script")]
    #[must_use]
    pub(crate) fn with_script_runs(mut self, runs: impl CountScriptRuns) -> Self {
        self.script_runs.push(Arc::new(runs));
        self
    }

    /// Returns the counts of JavaScript hook runs, by hook, outcome and class; empty without the
    /// feature `script`.
    pub async fn script_runs(&self) -> Vec<ScriptRuns> {
        let mut runs = Vec::new();
        for counter in &self.script_runs {
            runs.extend(counter.script_runs().await);
        }
        runs
    }

    /// Returns `true` if a hook can classify requests.
    pub(super) fn can_classify(&self) -> bool {
        !self.classify.is_empty()
    }

    /// Runs the hooks that classify, and reports the status of each.
    pub(super) fn classified<'a>(
        &'a self,
        request: &'a PermissionRequest,
        until: Instant,
    ) -> impl Future<Output = (ClassifyOutput, Report)> + Send + use<'a> {
        let policy = FirstClassification::new(request, until);
        self.classify.dispatch_reported(policy)
    }

    /// Returns `true` if a hook can restrict requests.
    pub(super) fn can_restrict(&self) -> bool {
        !self.restrict.is_empty()
    }

    /// Runs the hooks that restrict, and reports the status of each.
    pub(super) fn restricted<'a>(
        &'a self,
        request: &'a PermissionRequest,
        found: &'a Classification,
        until: Instant,
    ) -> impl Future<Output = (RestrictOutput, Report)> + Send + use<'a> {
        let policy = StrictestRestriction::new(request, found, until);
        self.restrict.dispatch_reported(policy)
    }

    /// Describes the registered hooks of each slot.
    #[must_use]
    pub fn describe(&self) -> Vec<SlotDescription> {
        vec![
            SlotDescription {
                slot: "classify",
                kind: "fallback",
                policy: "the first classification decides",
                entries: entries(&self.classify),
            },
            SlotDescription {
                slot: "restrict",
                kind: "always",
                policy: "the strictest restriction decides",
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
