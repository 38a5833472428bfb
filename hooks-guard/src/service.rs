//! The permission service: the gate, its audit trail, and the answers of people.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use sha2::{Digest, Sha256};
use thiserror::Error;
use tokio::time::{Instant, timeout_at};

use crate::audit::{
    Answered, AuditError, AuditRecord, AuditStore, Executed, Execution, NewAnswer, NewDecision,
    NewRemembered, UserResponse,
};
use crate::classify::Decision;
use crate::gate::{Gate, Judged};
use crate::random::random;
use crate::request::{PermissionRequest, Ruling};

/// Judges requests, has every decision on disk before it is given out (P-15), and keeps the
/// questions that wait for an answer.
///
/// Cheap to clone; clones are one service.
#[derive(Clone, Debug)]
pub struct PermissionService {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    gate: Gate,
    audit: AuditStore,
    ttl: Duration,
}

/// Why a request got no decision.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ServiceError {
    /// P-12.
    #[error("no classifier is registered; register one with the gate")]
    NoClassifier,
    /// The trail could not be written or read: what is not recorded is not allowed.
    #[error("the audit trail failed; {0}")]
    Audit(#[from] AuditError),
}

/// What a person says to a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// Whether it may happen.
    pub approved: bool,
    /// For what else it may happen, too.
    pub remember: Remember,
    /// What the person wants to add.
    pub note: Option<String>,
}

/// For how long an approval holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "http", derive(utoipa::ToSchema))]
pub enum Remember {
    /// For the one command that was asked about.
    #[default]
    Once,
    /// For the same command in the same directory, in this session.
    Session,
    /// For the same command in the same directory, until it is revoked.
    Always,
}

impl PermissionService {
    /// A service that judges by `gate`, records in `audit`, and lets a question wait for `ttl`.
    #[must_use]
    pub fn new(gate: Gate, audit: AuditStore, ttl: Duration) -> Self {
        Self {
            inner: Arc::new(Inner { gate, audit, ttl }),
        }
    }

    /// Who judges.
    #[must_use]
    pub fn gate(&self) -> &Gate {
        &self.inner.gate
    }

    /// What was decided.
    #[must_use]
    pub fn audit(&self) -> &AuditStore {
        &self.inner.audit
    }

    /// Decides about a request. The decision is on disk when this returns.
    ///
    /// What a person approved before is allowed: once, where the approval has not been used
    /// yet, or as long as it was to be remembered; for the same command, directory and session.
    ///
    /// Dropping the future may leave a decision in the trail that nobody was told.
    ///
    /// # Errors
    /// When nothing can judge, or the trail cannot be written.
    pub async fn request(&self, request: PermissionRequest) -> Result<Ruling, ServiceError> {
        let Inner { gate, audit, ttl } = &*self.inner;
        if !gate.has_classifier() {
            return Err(ServiceError::NoClassifier);
        }
        let Judged {
            mut ruling,
            response_time,
            may_be_remembered,
            error,
        } = gate.judge(&request).await;
        let command_hash = command_hash(&request);
        let asks = ruling.decision == Decision::RequiresConfirmation && !ruling.denied;
        if asks
            && may_be_remembered
            && let Some(grant) = audit.grant(command_hash, &request).await?
        {
            ruling.decision = Decision::AutoAllowed;
            ruling.reasoning = format!("{}; {grant}", ruling.reasoning);
        }
        let asks = asks && ruling.decision == Decision::RequiresConfirmation;
        let secret = random::<16>();
        let id = audit
            .record(NewDecision {
                deadline: asks.then(|| ruling.timestamp + *ttl),
                request,
                ruling: ruling.clone(),
                response_time,
                error,
                secret_hash: Some(Sha256::digest(&secret).into()),
                command_hash,
                may_be_remembered,
            })
            .await?;
        ruling.id = Some(id);
        ruling.secret = Some(secret);
        Ok(ruling)
    }

    /// Takes a person's answer to a question. The first one counts.
    ///
    /// # Errors
    /// When the trail cannot be written.
    pub async fn respond(&self, id: i64, reply: Reply, by: &str) -> Result<Answered, ServiceError> {
        let audit = &self.inner.audit;
        let answer = NewAnswer {
            response: match reply.approved {
                true => UserResponse::Approved,
                false => UserResponse::Denied,
            },
            by: by.to_owned(),
            note: reply.note,
            remember: match (reply.approved, reply.remember) {
                (true, Remember::Session) => Some(NewRemembered { session_only: true }),
                (true, Remember::Always) => Some(NewRemembered { session_only: false }),
                _ => None,
            },
        };
        Ok(audit.answer(id, answer).await?)
    }

    /// A decision; waits for so long for the answer, where it waits for one.
    ///
    /// # Errors
    /// When the trail cannot be read.
    pub async fn decision(
        &self,
        id: i64,
        wait: Duration,
    ) -> Result<Option<AuditRecord>, ServiceError> {
        let audit = &self.inner.audit;
        let until = Instant::now() + wait;
        let mut changes = audit.changes();
        loop {
            let Some(record) = audit.decision(id).await? else {
                return Ok(None);
            };
            let Some(deadline) = record.waits_until() else {
                return Ok(Some(record));
            };
            let now = Timestamp::now();
            if deadline <= now {
                audit.expire(now).await?;
                continue;
            }
            if Instant::now() >= until {
                return Ok(Some(record));
            }
            let left = Duration::try_from(deadline.duration_since(now)).unwrap_or_default();
            let until = until.min(Instant::now() + left);
            let _ = timeout_at(until, changes.of(id)).await;
        }
    }

    /// Denies the questions whose time is up.
    ///
    /// # Errors
    /// When the trail cannot be written.
    pub async fn expire(&self) -> Result<Vec<i64>, ServiceError> {
        Ok(self.inner.audit.expire(Timestamp::now()).await?)
    }

    /// Takes the report that what was decided about ran, from who has the decision's secret.
    ///
    /// # Errors
    /// When the trail cannot be written.
    pub async fn executed(
        &self,
        id: i64,
        secret: &str,
        outcome: Execution,
    ) -> Result<Executed, ServiceError> {
        Ok(self.inner.audit.executed(id, secret, outcome).await?)
    }
}

/// What an approval is bound to, together with the directory and the session.
fn command_hash(request: &PermissionRequest) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(request.command.as_bytes());
    if let Some(access) = &request.file {
        // No command has a NUL in it.
        hash.update([0, access.effect as u8]);
        hash.update(access.tool.as_bytes());
        for path in &access.paths {
            hash.update([0]);
            hash.update(path.as_os_str().as_encoded_bytes());
        }
    }
    hash.finalize().into()
}
