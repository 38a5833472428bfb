//! The [`HookEngine`] around the calls: converts calls and results for it, and its responses to
//! decisions.
//!
//! A replay works on one intent, which owns the whole project and is selected before the first
//! call. The engine knows a file after a `read`, `write` or `edit`. It does not analyze commands:
//! if a command changes a known file, the file must be read before the next `write` or `edit`;
//! otherwise `concurrency` refuses it. A file that no tool has read may be written.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use hooks_runtime::engine::{BudgetLimits, Intent};
use hooks_runtime::phases::PostFn;
use hooks_runtime::{
    HookEngine, HookError, HookResponse, Phase, RegisterOptions, ToolRequest, ToolResult,
};

use super::OpenError;
use crate::explain::PRE;
use crate::hooks::Refusal;
use crate::report::{Record, Status};
use crate::session::Call;

/// Intent of a replay.
const INTENT: &str = "REQ-replay";

/// Folders and call limit of the engine.
#[derive(Clone, Debug)]
pub(crate) struct Grounds {
    /// Project, in which calls run.
    pub(crate) workspace: PathBuf,
    /// Folder of the engine's records.
    pub(crate) storage: PathBuf,
    pub(crate) calls: usize,
}

/// The engine, and the state of the hooks that were added to it.
#[derive(Debug)]
pub(super) struct Governor {
    pub(super) engine: HookEngine,
    session: String,
    /// Last call that ran and failed.
    failed: Arc<Mutex<Option<String>>>,
}

/// Additional lines of the summary.
#[derive(Clone, Debug, Default)]
pub(crate) struct Aftermath {
    /// Number of files that tools changed, without commands.
    changed: usize,
    /// Last call that ran and failed.
    failed: Option<String>,
}

impl Governor {
    /// Builds an engine and selects its intent.
    pub(super) async fn open(session: &str, grounds: Grounds) -> Result<Self, OpenError> {
        let calls = u64::try_from(grounds.calls).unwrap_or(u64::MAX);
        let engine = HookEngine::builder()
            .workspace(grounds.workspace)
            .storage(grounds.storage)
            .intents([Intent::new(INTENT).owns("**")])
            // A limit of the intent, not of the session, which also counts the selection of the
            // intent.
            .intent_limits(BudgetLimits::new().calls(calls))
            .build()?;
        let failed = Arc::default();
        let log = Arc::clone(&failed);
        let failures = move |result: &ToolResult, number: Option<&str>| note(&log, result, number);
        let plain = RegisterOptions::new();
        engine
            .registry()
            .register_post(PostFn::new("failures", failures), plain);
        let governor = Self {
            engine,
            session: session.to_owned(),
            failed,
        };
        governor.select().await?;
        Ok(governor)
    }

    async fn select(&self) -> Result<(), OpenError> {
        let select = ToolRequest::new("select_active_intent")
            .param("intent_id", INTENT)
            .session(&*self.session);
        let (answer, report) = self.engine.pre_tool_use_reported(&select).await;
        let by = report.stopped_by().map_or(PRE, |entry| &entry.name);
        verdict(by, answer).map_err(|Refusal { hook, reason }| OpenError::Refused {
            what: "the intent of the session",
            hook,
            reason,
        })?;
        let selected = ToolResult::of(select).succeeded("selected");
        self.engine.post_tool_use(&selected, None).await;
        // A failure of a POST hook is only logged, so check its effect.
        match self.engine.session().active_intent().as_deref() {
            Some(INTENT) => Ok(()),
            _ => Err(OpenError::NotSelected),
        }
    }

    /// Converts a call to a request of the engine.
    pub(super) fn request(&self, call: &Call) -> ToolRequest {
        let request = match call {
            Call::Bash { command } => {
                ToolRequest::new("execute_command").param("command", &**command)
            }
            Call::Read { path } => ToolRequest::new("read_file").param("path", &**path),
            Call::Write { path, text } => ToolRequest::new("write_to_file")
                .param("path", &**path)
                .param("content", &**text),
            Call::Edit { path, old, new } => ToolRequest::new("search_and_replace")
                .param("path", &**path)
                .param("search", &**old)
                .param("replace", &**new),
        };
        request.intent(INTENT).session(&*self.session)
    }

    /// Converts the record of a call that ran to a result, without secrets, because the engine
    /// stores it. The engine reads file contents itself.
    pub(super) fn result(&self, call: &Call, record: &Record) -> ToolResult {
        let mut request = self.request(call);
        if matches!(call, Call::Bash { .. }) {
            let command = record.ran.as_ref().unwrap_or(&record.call);
            request = request.param("command", &**command);
        }
        for text in ["content", "search", "replace"] {
            request.params.shift_remove(text);
        }
        let result = ToolResult::of(request);
        let result = match record.status {
            Status::Succeeded => result.succeeded(&*record.output),
            _ => result.failed(&*record.output),
        };
        match record.exit_code {
            Some(code) => result.exit_code(code),
            None => result,
        }
    }

    /// Returns the ids of the hooks of a phase, in execution order.
    pub(super) fn ids(&self, phase: Phase) -> Vec<String> {
        let hooks = self.engine.registry().registered_hooks(phase).into_iter();
        hooks.map(|hook| hook.id).collect()
    }

    pub(super) fn aftermath(&self) -> Aftermath {
        let failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        Aftermath {
            changed: self.engine.session().progress(INTENT).files.len(),
            failed: failed.clone(),
        }
    }
}

/// Converts the response of PRE, which ended at the hook `by`, to a decision.
pub(super) fn verdict(by: &str, answer: Result<HookResponse, HookError>) -> Result<(), Refusal> {
    let reason = match answer {
        Ok(response) if response.is_continue() => return Ok(()),
        Ok(response) => reason(response),
        Err(error) => error.to_string(),
    };
    Err(Refusal {
        hook: by.to_owned(),
        reason,
    })
}

/// Returns the reason with its details and remedy.
fn reason(response: HookResponse) -> String {
    let reason = response.reason;
    let mut reason = reason.unwrap_or_else(|| "no reason given".to_owned());
    if let Some(details) = response.details {
        reason += &format!(": {details}");
    }
    if let Some(hint) = response.recovery_hint {
        reason += &format!("; {hint}");
    }
    reason
}

/// Records the last failure.
fn note(
    failed: &Mutex<Option<String>>,
    result: &ToolResult,
    number: Option<&str>,
) -> Result<(), HookError> {
    if !result.success {
        *failed.lock().unwrap_or_else(PoisonError::into_inner) = number.map(str::to_owned);
    }
    Ok(())
}

impl Aftermath {
    /// Returns the end of a summary; empty if there is nothing to report.
    pub(crate) fn line(&self) -> String {
        let mut line = String::new();
        match self.changed {
            0 => {}
            1 => line += "; 1 file changed by `write` and `edit`",
            files => line += &format!("; {files} files changed by `write` and `edit`"),
        }
        if let Some(number) = &self.failed {
            line += &format!("; call {number} is the last that failed, see --explain {number}");
        }
        line
    }
}
