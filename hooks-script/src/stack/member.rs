//! One hook of a stack, and its count of failures.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

use crate::hook::ScriptHook;
use crate::run::{Run, RunResult};

/// One hook of a stack. Clones share its state.
#[derive(Clone)]
pub(crate) struct StackMember {
    pub(super) id: Arc<str>,
    pub(super) hook: ScriptHook,
    health: Arc<HookHealth>,
}

#[derive(Default)]
struct HookHealth {
    failures: AtomicU32,
    is_disabled: AtomicBool,
}

/// State of a hook of a stack.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HookState {
    /// Id of the hook in the stack.
    pub id: Arc<str>,
    /// Name in the manifest.
    pub name: String,
    /// Number of consecutive failures.
    pub failures: u32,
    /// `true` if the hook failed too often and is skipped until
    /// [`enable`](crate::ScriptStack::enable). Never `true` for a hook that fails closed.
    pub is_disabled: bool,
    /// `true` if failures of the hook reject the action; see [`ScriptHook::fails_closed`].
    pub fails_closed: bool,
}

impl StackMember {
    pub(super) fn new(id: Arc<str>, hook: ScriptHook) -> Self {
        StackMember {
            id,
            hook,
            health: Arc::default(),
        }
    }

    pub(super) fn is_disabled(&self) -> bool {
        self.health.is_disabled.load(Relaxed)
    }

    pub(super) fn enable(&self) {
        self.health.failures.store(0, Relaxed);
        self.health.is_disabled.store(false, Relaxed);
    }

    pub(super) fn state(&self) -> HookState {
        HookState {
            id: Arc::clone(&self.id),
            name: self.hook.manifest().name().to_owned(),
            failures: self.health.failures.load(Relaxed),
            is_disabled: self.is_disabled(),
            fails_closed: self.hook.fails_closed(),
        }
    }

    /// Counts a run that ended because of the hook itself. Disables the hook if it failed too
    /// often, unless it fails closed: without it, the actions that it stops would pass.
    pub(super) fn count(&self, run: &Run, disable_after: Option<NonZeroU32>) {
        let failure = match &run.result {
            RunResult::Failed(failure) => failure,
            RunResult::Returned(_) | RunResult::Unchanged | RunResult::Stop(_) => {
                self.health.failures.store(0, Relaxed);
                return;
            }
        };
        let failures = self.health.failures.fetch_add(1, Relaxed).saturating_add(1);
        let Some(most) = disable_after.map(NonZeroU32::get) else {
            return;
        };
        if self.hook.fails_closed() {
            if failures == most {
                tracing::warn!(
                    target: "hooks_script",
                    hook = &*self.id,
                    failures,
                    kind = failure.kind(),
                    "a hook that fails closed keeps failing; it stays enabled"
                );
            }
        } else if failures >= most && !self.health.is_disabled.swap(true, Relaxed) {
            tracing::warn!(
                target: "hooks_script",
                hook = &*self.id,
                failures,
                kind = failure.kind(),
                "disabled a hook after repeated failures"
            );
        }
    }
}
