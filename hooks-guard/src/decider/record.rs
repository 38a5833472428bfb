//! Records of this process. In: the execution, the answer or the denial of a request. Out: its record
//! by the service, or by this process in the trail.

use serde_json::json;

use super::deadline::DECISION_TIMEOUT;
use super::decide::{Decider, LocalGates};
use super::error::DecideError;
use crate::audit::{AuditRecord, ExecutionResult, UserResponse};
use crate::client::ClientError;
use crate::gate::Gate;
use crate::request::PermissionRequest;
use crate::service::{PermissionService, ServiceError};

impl<G: LocalGates + Sync> Decider<'_, G> {
    /// Records that the agent or its user denied a request.
    ///
    /// # Errors
    /// If the gate cannot be created, or the trail cannot be written.
    pub async fn record_denial(
        &self,
        request: PermissionRequest,
        reason: &str,
    ) -> Result<(), DecideError> {
        let record = |service: PermissionService| async move {
            service.record_agent_denial(request, reason).await
        };
        let listen = self.listening_address().await;
        self.with_trail(self.deciders.gate(listen)?, record).await
    }

    /// Records the answer of a user whom the agent's editor has asked about a request. Returns
    /// `false` if the request has an answer already, or needed none.
    ///
    /// # Errors
    /// If the trail cannot be written.
    pub async fn record_prompt_answer(
        &self,
        id: i64,
        secret: &str,
        response: UserResponse,
        by: &str,
        note: Option<&str>,
    ) -> Result<bool, DecideError> {
        let record = |service: PermissionService| async move {
            service
                .record_prompt_answer(id, secret, response, by, note)
                .await
        };
        self.with_trail(Gate::tables_only(), record).await
    }

    /// Records in the trail that a request ran that this process decided about.
    ///
    /// # Errors
    /// If the trail cannot be written.
    pub async fn record_run(&self, id: i64, secret: &str) -> Result<(), DecideError> {
        let record = |service: PermissionService| async move {
            service
                .record_execution(id, secret, None, None)
                .await
                .map(drop)
        };
        self.with_trail(Gate::tables_only(), record).await
    }

    /// Reports to the service that a call ran, with the id and the secret of its decision. If the
    /// service is unreachable, this process records it, because the agent reports a call only once.
    /// Returns the record if another command ran than the decided one.
    ///
    /// # Errors
    /// If the service rejects the report, or if neither records it.
    pub async fn report(
        &self,
        id: i64,
        secret: &str,
        ran: Option<&PermissionRequest>,
        status: Option<i32>,
    ) -> Result<Option<AuditRecord>, DecideError> {
        let path = format!("/api/hooks/decisions/{id}/executed");
        let body = json!({ "secret": secret, "exit_status": status, "ran": ran });
        let error = match self.client() {
            Err(error) => error.into(),
            Ok(None) => DecideError::NoKey(self.deciders.service.clone()),
            Ok(Some(client)) => {
                // Leave the rest of the time for the trail.
                let limit = DECISION_TIMEOUT.min(self.remaining() / 2);
                match client.post(&path, &body, limit).await {
                    Ok(record) => {
                        // The report is recorded even if the service has another version.
                        let record = serde_json::from_value::<AuditRecord>(record).ok();
                        return Ok(record.filter(|record| record.ran_command.is_some()));
                    }
                    Err(ClientError::Refused { code, .. }) if code == "ALREADY_EXECUTED" => {
                        return Ok(None);
                    }
                    // The service is reachable and rejects the report.
                    Err(error @ ClientError::Refused { status: ..500, .. }) => {
                        return Err(error.into());
                    }
                    Err(error) => error.into(),
                }
            }
        };
        let record = |service: PermissionService| async move {
            service.record_execution(id, secret, status, ran).await
        };
        match self.with_trail(Gate::tables_only(), record).await {
            Ok(done @ (ExecutionResult::Done(_) | ExecutionResult::Already(_))) => {
                Ok(done.other_command())
            }
            Ok(ExecutionResult::WrongSecret | ExecutionResult::Unknown) => Err(error),
            Err(local) => Err(DecideError::NotRecorded {
                service: Box::new(error),
                local: Box::new(local),
            }),
        }
    }

    /// Records in the trail that a call ran that this process decided about. Returns the record if
    /// another command ran than the decided one.
    ///
    /// # Errors
    /// If the trail cannot be written.
    pub async fn record_locally(
        &self,
        ran: &PermissionRequest,
        status: Option<i32>,
    ) -> Result<Option<AuditRecord>, DecideError> {
        let record = |service: PermissionService| async move {
            let recorded = service.record_call_execution(ran, status).await?;
            Ok::<_, ServiceError>(recorded.other_command())
        };
        match ran.call_id.is_some() {
            true => self.with_trail(Gate::tables_only(), record).await,
            false => Ok(None),
        }
    }
}
