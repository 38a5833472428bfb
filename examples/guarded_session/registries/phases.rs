//! The PRE and POST hooks.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use hooks_runtime::phases::{PostFn, PreFn};
use hooks_runtime::{
    FailurePolicy, HookError, HookResponse, PhaseRegistry, PostHook, PreHook, RegisterOptions,
    ResponseAction,
};

use super::Limits;
use crate::judge::{paths, rewrites};
use crate::report::{Record, Status};
use crate::session::Call;

/// Registers all of them. Each PRE hook guards something, so that its faults are a no.
pub(super) fn register(
    phases: &PhaseRegistry<Call, Record>,
    limits: Limits,
    aftermath: &Arc<Aftermath>,
) {
    let guard = || RegisterOptions::new().on_failure(FailurePolicy::FailClosed);
    phases.register_pre(Budget::of(limits.calls), guard());
    phases.register_pre(Breaker::default(), guard());
    phases.register_pre(PreFn::new("scope", scope), guard().priority(30));

    let log = Arc::clone(aftermath);
    let mutations = move |record: &Record, _: Option<&str>| log.note_mutation(record);
    phases.register_post(PostFn::new("mutations", mutations), RegisterOptions::new());
    phases.register_post(Failures(Arc::clone(aftermath)), RegisterOptions::new());
}

/// Halts an agent that has made all calls it may make.
struct Budget {
    calls: usize,
    used: AtomicUsize,
}

impl Budget {
    fn of(calls: usize) -> Self {
        Self {
            calls,
            used: AtomicUsize::new(0),
        }
    }
}

impl PreHook<Call> for Budget {
    fn id(&self) -> &str {
        "budget"
    }

    fn priority(&self) -> Option<i32> {
        Some(10)
    }

    async fn execute(&self, _: &Call) -> Result<HookResponse, HookError> {
        Ok(if self.used.fetch_add(1, Ordering::Relaxed) < self.calls {
            HookResponse::default()
        } else {
            HookResponse::new(ResponseAction::Halt)
                .reason(format!("the budget of {} calls is used up", self.calls))
                .recovery_hint("give it more with --budget")
        })
    }
}

/// Halts an agent that is stuck: the same call over and over, until another one comes.
#[derive(Default)]
struct Breaker(Mutex<Streak>);

#[derive(Default)]
struct Streak {
    call: Option<Call>,
    times: usize,
}

impl PreHook<Call> for Breaker {
    fn id(&self) -> &str {
        "breaker"
    }

    fn priority(&self) -> Option<i32> {
        Some(20)
    }

    async fn execute(&self, call: &Call) -> Result<HookResponse, HookError> {
        let mut streak = lock(&self.0)?;
        if streak.call.as_ref() == Some(call) {
            streak.times += 1;
        } else {
            *streak = Streak {
                call: Some(call.clone()),
                times: 1,
            };
        }
        Ok(match streak.times {
            0..=2 => HookResponse::default(),
            times => HookResponse::new(ResponseAction::Halt)
                .reason(format!("it is the same call, {times} times in a row")),
        })
    }
}

/// Denies the file tools what lies outside of the project, which the agent may name by the
/// place where it lay.
fn scope(call: &Call) -> HookResponse {
    let (Call::Read { path } | Call::Write { path, .. } | Call::Edit { path, .. }) = call else {
        return HookResponse::default();
    };
    let moved = rewrites::relocate_path(path);
    if paths::leads_out(moved.as_deref().unwrap_or(path)) {
        HookResponse::new(ResponseAction::Deny)
            .reason(format!("`{path}` leads out of the project"))
            .error_type("scope_violation")
    } else {
        HookResponse::default()
    }
}

/// What the POST hooks gather.
#[derive(Debug, Default)]
pub(crate) struct Aftermath {
    /// The files that tools changed, commands aside.
    changed: Mutex<BTreeSet<String>>,
    /// The latest call that ran and did not succeed.
    failed: Mutex<Option<String>>,
}

impl Aftermath {
    fn note_mutation(&self, record: &Record) -> Result<(), HookError> {
        if matches!(record.tool, "write" | "edit") && record.status == Status::Succeeded {
            let path = record.ran.as_ref().unwrap_or(&record.call);
            lock(&self.changed)?.insert(path.clone());
        }
        Ok(())
    }

    /// The end of a summary; nothing where there is nothing to tell.
    pub(crate) fn line(&self) -> String {
        let mut line = String::new();
        match lock(&self.changed).map_or(0, |changed| changed.len()) {
            0 => {}
            1 => line += "; 1 file changed by `write` and `edit`",
            files => line += &format!("; {files} files changed by `write` and `edit`"),
        }
        if let Ok(Some(number)) = lock(&self.failed).as_deref() {
            line += &format!("; call {number} is the last that failed, see --explain {number}");
        }
        line
    }
}

/// Keeps an eye on what fails.
struct Failures(Arc<Aftermath>);

impl PostHook<Record> for Failures {
    fn id(&self) -> &str {
        "failures"
    }

    async fn execute(&self, record: &Record, number: Option<&str>) -> Result<(), HookError> {
        if record.status != Status::Succeeded {
            *lock(&self.0.failed)? = number.map(str::to_owned);
        }
        Ok(())
    }
}

/// What a hook remembers, unless a panic has left it half changed.
fn lock<T>(memory: &Mutex<T>) -> Result<MutexGuard<'_, T>, HookError> {
    memory
        .lock()
        .map_err(|_| HookError::new("its memory is broken by an earlier panic"))
}
