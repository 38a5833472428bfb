//! Audit trail of the session, in the format of the permission service: each call with its
//! decision, the approval, and if it ran.
//!
//! A call runs only after its decision is on disk.

use std::path::{Path, PathBuf};
use std::time::Duration;

use hooks_guard::audit::{AuditError, AuditStore, Execution, NewAnswer, NewDecision, UserResponse};
use hooks_guard::classify::{Crud, Decision};
use hooks_guard::gate::Gate;
use hooks_guard::{FileAccess, PermissionDecision, PermissionRequest};
use jiff::Timestamp;
use sha2::{Digest, Sha256};

use crate::report::Record;
use crate::session::Call;

/// Name of the agent in the trail.
const AGENT: &str = "guarded_session";

/// File name of the database.
const FILE: &str = "audit.db";

/// Trail of one session, in a file that may contain several.
#[derive(Debug)]
pub(crate) struct Trail {
    store: AuditStore,
    path: PathBuf,
    session: String,
    project: PathBuf,
    gate: Gate,
}

/// A decision to record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decided<'a> {
    pub(crate) number: usize,
    /// The call as it would run.
    pub(crate) call: &'a Call,
    /// Text of the call for display.
    pub(crate) shown: &'a str,
    pub(crate) refused: bool,
    /// Hook and reason of the decision, as in the report.
    pub(crate) record: &'a Record,
    /// Answer of the user, or an automatic one, if a hook asked.
    pub(crate) approval: Option<&'a Approved>,
    pub(crate) took: Duration,
}

/// Answer to the question of a hook.
#[derive(Clone, Debug)]
pub(crate) struct Approved {
    pub(crate) yes: bool,
    /// Source of the answer, and the answer.
    pub(crate) how: String,
}

impl Trail {
    /// Opens the trail in this folder, or creates it.
    pub(crate) async fn open(
        folder: &Path,
        session: &str,
        project: PathBuf,
    ) -> Result<Self, AuditError> {
        let path = folder.join(FILE);
        let store = AuditStore::open(&format!("sqlite:{}", path.display())).await?;
        Ok(Self {
            store,
            path,
            session: session.to_owned(),
            project,
            gate: Gate::tables_only(),
        })
    }

    /// Returns the path of the database.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Records the decision about a call.
    pub(crate) async fn decided(&self, decided: Decided<'_>) -> Result<(), AuditError> {
        let request = self.request(&decided);
        // Classifies the command; the decision is already made.
        let judged = self.gate.decide(&request).await;
        let asked = decided.approval.is_some();
        let new = NewDecision {
            permission: PermissionDecision {
                decision: match asked || decided.refused {
                    true => Decision::RequiresConfirmation,
                    false => Decision::AutoAllowed,
                },
                reasoning: match decided.refused {
                    true => decided.record.why.clone(),
                    false => format!("{}; {}", decided.record.why, judged.permission.reasoning),
                },
                // A refusal without a question comes from a hook.
                denied: decided.refused && !asked,
                rule: Some(decided.record.by.clone()),
                ..judged.permission
            },
            command_parts: Some(judged.command_parts),
            response_time: decided.took,
            deadline: None,
            answer: None,
            parts: judged.parts,
            error: judged.error,
            secret_hash: None,
            // The session remembers its approvals itself.
            scope: None,
            command_hash: Sha256::digest(&request.command).into(),
            request,
        };
        let id = self.store.record(new).await?;
        if let Some(Approved { yes, how }) = decided.approval {
            let answer = NewAnswer {
                response: match yes {
                    true => UserResponse::Approved,
                    false => UserResponse::Denied,
                },
                by: "--approve".to_owned(),
                note: Some(how.clone()),
                at: Timestamp::now(),
            };
            self.store.answer(id, answer).await?;
        }
        Ok(())
    }

    /// Records that call `number` ran.
    pub(crate) async fn ran(
        &self,
        number: usize,
        exit_code: Option<i32>,
    ) -> Result<(), AuditError> {
        let outcome = Execution {
            exit_status: exit_code,
            at: Timestamp::now(),
        };
        let call = number.to_string();
        let done = self
            .store
            .record_call_execution(AGENT, &self.session, &call, outcome);
        done.await.map(drop)
    }

    /// Closes the database, which merges its journal into the file.
    pub(crate) async fn close(&self) {
        self.store.close().await;
    }

    fn request(&self, decided: &Decided<'_>) -> PermissionRequest {
        let Decided { call, shown, .. } = decided;
        let (command, effect) = match call {
            Call::Bash { .. } => ((*shown).to_owned(), None),
            Call::Read { .. } => (format!("Read {shown}"), Some(Crud::Read)),
            Call::Write { .. } => (format!("Write {shown}"), Some(Crud::Create)),
            Call::Edit { .. } => (format!("Edit {shown}"), Some(Crud::Update)),
        };
        PermissionRequest {
            agent: Some(AGENT.to_owned()),
            session_id: Some(self.session.clone()),
            cwd: Some(self.project.clone()),
            call_id: Some(decided.number.to_string()),
            file: effect.map(|effect| FileAccess {
                tool: call.tool().to_owned(),
                effect,
                paths: vec![call.text().into()],
                input_hash: None,
            }),
            ..PermissionRequest::new(command)
        }
    }
}
