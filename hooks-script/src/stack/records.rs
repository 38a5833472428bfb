//! Records of one run of a stack, stored even if the future of the run is dropped.

use std::mem;

use hooks_runtime::Map;

use super::context::RunContext;
use crate::fields::ContextData;
use crate::history::{RunHistory, RunRecord};
use crate::hook::ScriptHook;
use crate::run::{Run, RunResult, Stage};

/// Collects one record for each hook that the run reached.
pub(crate) struct RunRecords<'a> {
    history: Option<&'a RunHistory>,
    stage: Stage,
    occasion: &'a RunContext,
    records: Vec<RunRecord>,
    /// Hook that is running and has no record yet.
    running: Option<ScriptHook>,
}

impl<'a> RunRecords<'a> {
    pub(crate) fn new(
        history: Option<&'a RunHistory>,
        stage: Stage,
        occasion: &'a RunContext,
    ) -> Self {
        RunRecords {
            history,
            stage,
            occasion,
            records: Vec::new(),
            running: None,
        }
    }

    /// Starts the turn of a hook.
    pub(crate) fn begin(&mut self, hook: &ScriptHook) {
        if self.history.is_some() {
            self.running = Some(hook.clone());
        }
    }

    /// Ends the turn of the hook with this run. Exceptions are logged too.
    pub(crate) fn put_run(
        &mut self,
        hook: &ScriptHook,
        run: &Run,
        message: &Map,
        data: &ContextData,
    ) {
        let stage = self.stage;
        let is_told = matches!(run.result, RunResult::Stop(_) | RunResult::Failed(_));
        self.put(is_told, || RunRecord::of(hook, stage, run, message, data));
    }

    /// Ends the turn of the hook with a record, which is built only if it is needed. If `is_told`
    /// is `true`, it is also logged.
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

    /// Stores the records. Writing continues if the future is dropped.
    pub(crate) async fn keep(mut self) {
        if let Some(history) = self.history {
            history.store_records(mem::take(&mut self.records)).await;
        }
    }
}

impl Drop for RunRecords<'_> {
    /// The run was cancelled: store the records so far, and a `skipped` record of the running hook.
    fn drop(&mut self) {
        if let Some(hook) = self.running.take() {
            let (stage, why) = (self.stage, "the run was cancelled before the hook finished");
            self.put(false, || RunRecord::skipped(&hook, stage, why));
        }
        if let Some(history) = self.history
            && !self.records.is_empty()
        {
            // The write has started and continues in the background.
            drop(history.store_records(mem::take(&mut self.records)));
        }
    }
}
