//! The slots of the gate. In: hooks, with their entries. Out: dispatches, and a description of the hooks.

use std::fmt;
use std::sync::Arc;

use hooks_runtime::{Entry, FailurePolicy, HostTimer, Report, Slot};
use tokio::time::Instant;

use super::hook::{Classifies, Classify, Restrict, Restricts, on_failure};
use super::policy::{FirstJudgement, Found, Said, Strictest};
use crate::classify::Classification;
use crate::dispatches::ScriptRuns;
use crate::request::PermissionRequest;

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
        let entries = scripts.entries();
        let mut hooks = entries.fold(self, Self::with_restrict_entry);
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
