//! The records of one run of a stack, which are kept also where nobody waits for its end.

use std::mem;

use hooks_runtime::Map;

use super::Occasion;
use crate::fields::ContextData;
use crate::history::{RunHistory, RunRecord};
use crate::hook::ScriptHook;
use crate::run::{Run, Stage, Verdict};

/// Collects one record for each hook that the run reached.
pub(crate) struct Records<'a> {
    history: Option<&'a RunHistory>,
    stage: Stage,
    occasion: &'a Occasion,
    records: Vec<RunRecord>,
    /// Whose record is still to come.
    running: Option<ScriptHook>,
}

impl<'a> Records<'a> {
    pub(crate) fn new(
        history: Option<&'a RunHistory>,
        stage: Stage,
        occasion: &'a Occasion,
    ) -> Self {
        Records {
            history,
            stage,
            occasion,
            records: Vec::new(),
            running: None,
        }
    }

    /// The turn of a hook begins.
    pub(crate) fn begin(&mut self, hook: &ScriptHook) {
        if self.history.is_some() {
            self.running = Some(hook.clone());
        }
    }

    /// The turn of the hook is over, with this run. What it throws is for the log, too.
    pub(crate) fn put_run(
        &mut self,
        hook: &ScriptHook,
        run: &Run,
        message: &Map,
        data: &ContextData,
    ) {
        let stage = self.stage;
        let is_told = !matches!(run.verdict, Verdict::Out(_));
        self.put(is_told, || RunRecord::of(hook, stage, run, message, data));
    }

    /// The turn of the hook is over, with this record, which is made only where somebody wants
    /// it. `is_told` says that it is for the log, too.
    pub(super) fn put(&mut self, is_told: bool, record: impl FnOnce() -> RunRecord) {
        self.running = None;
        let is_logged = is_told && tracing::enabled!(target: "hooks_script", tracing::Level::WARN);
        if self.history.is_none() && !is_logged {
            return;
        }
        let record = record().action(&*self.occasion.action);
        if is_logged {
            record.log();
        }
        if self.history.is_some() {
            self.records.push(record.scope(self.occasion.scope.clone()));
        }
    }

    /// Keeps them, which goes on also if nobody waits for it.
    pub(crate) async fn keep(mut self) {
        if let Some(history) = self.history {
            history.keep(mem::take(&mut self.records)).await;
        }
    }
}

impl Drop for Records<'_> {
    /// The run was given up: what has happened has happened.
    fn drop(&mut self) {
        if let Some(hook) = self.running.take() {
            let (stage, why) = (self.stage, "the run was given up before the hook answered");
            self.put(false, || RunRecord::skipped(&hook, stage, why));
        }
        if let Some(history) = self.history
            && !self.records.is_empty()
        {
            // Begun; nobody is left to wait for its end.
            drop(history.keep(mem::take(&mut self.records)));
        }
    }
}
