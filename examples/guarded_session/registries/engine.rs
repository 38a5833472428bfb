//! The [`HookEngine`] around the calls: what it is told of them, and what it answers.
//!
//! A replay works on one intent, which owns the whole project, and which it selects before
//! the first call. The engine takes a file for known once a `read` has shown it, or a `write`
//! or `edit` has left it so. It does not look into commands: who changes a known file with one
//! has to read it before the next `write` or `edit`, or is refused by `concurrency`. A file
//! that no tool has read may be written.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use hooks_runtime::engine::{Intent, Limits};
use hooks_runtime::phases::PostFn;
use hooks_runtime::{
    HookEngine, HookError, HookResponse, Phase, RegisterOptions, ToolRequest, ToolResult,
};

use super::OpenError;
use crate::explain::PRE;
use crate::hooks::Refusal;
use crate::report::{Record, Status};
use crate::session::Call;

/// What a replay works on.
const INTENT: &str = "REQ-replay";

/// Where the engine finds and puts files, and how many calls it lets through.
#[derive(Clone, Debug)]
pub(crate) struct Grounds {
    /// The project, in which calls run.
    pub(crate) workspace: PathBuf,
    /// Where the engine writes its records.
    pub(crate) storage: PathBuf,
    pub(crate) calls: usize,
}

/// The engine, and what the hooks that were added to it have gathered.
#[derive(Debug)]
pub(super) struct Governor {
    pub(super) engine: HookEngine,
    session: String,
    /// The latest call that ran and did not succeed.
    failed: Arc<Mutex<Option<String>>>,
}

/// What is left to say of a session when it is over.
#[derive(Clone, Debug, Default)]
pub(crate) struct Aftermath {
    /// How many files tools changed, commands aside.
    changed: usize,
    /// The latest call that ran and did not succeed.
    failed: Option<String>,
}

impl Governor {
    /// An engine that has selected its intent.
    pub(super) async fn open(session: &str, grounds: Grounds) -> Result<Self, OpenError> {
        let calls = u64::try_from(grounds.calls).unwrap_or(u64::MAX);
        let engine = HookEngine::builder()
            .workspace(grounds.workspace)
            .storage(grounds.storage)
            .intents([Intent::new(INTENT).owns("**")])
            // Not of the session, in which the call that selects the intent counts as well.
            .intent_limits(Limits::new().calls(calls))
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
        // POST hooks that fail are logged only.
        match self.engine.session().active_intent().as_deref() {
            Some(INTENT) => Ok(()),
            _ => Err(OpenError::NotSelected),
        }
    }

    /// A call as the engine knows it.
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

    /// What came of a call that ran, free of the secrets that the record is free of: the
    /// engine writes it down. What is in files, it reads there.
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

    /// The ids of the hooks of a phase, in execution order.
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

/// What the answer of PRE, which ended at the hook `by`, means for a call.
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

/// The reason with its details, and what to do about it.
fn reason(response: HookResponse) -> String {
    let reason = response.reason;
    let mut reason = reason.unwrap_or_else(|| "it does not say why".to_owned());
    if let Some(details) = response.details {
        reason += &format!(": {details}");
    }
    if let Some(hint) = response.recovery_hint {
        reason += &format!("; {hint}");
    }
    reason
}

/// Keeps an eye on what fails.
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
    /// The end of a summary; nothing where there is nothing to tell.
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
