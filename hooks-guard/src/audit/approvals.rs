//! State of an approval. Takes an approved decision; returns how long its approval lasts, and if it
//! still applies.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::error::AuditError;
use super::record::{AuditRecord, UserResponse};
use super::remembered::{RememberScope, Remembered, RememberedRow, remembered_columns};
use super::store::AuditStore;
use super::used::{changed, is_used, with_timeout};

/// How long an approval lasts, and if it still applies.
#[cfg_attr(feature = "http", derive(utoipa::ToSchema))]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalStatus {
    /// How long the approval lasts.
    pub remember: RememberScope,
    /// If the approval still applies.
    pub state: ApprovalState,
    /// Id of the remembered answer; `None` for an approval of one command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remembered_id: Option<i64>,
    /// Time of the revocation.
    #[cfg_attr(feature = "http", schema(value_type = Option<String>, format = DateTime))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(serialize_with = "hooks_runtime::timestamp::serialize_option")]
    pub revoked_at: Option<Timestamp>,
    /// Author of the revocation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked_by: Option<String>,
    /// Reason why the approval is `changed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// State of an approval.
#[cfg_attr(feature = "http", derive(utoipa::ToSchema))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ApprovalState {
    /// Of one command: not used yet.
    Unused,
    /// Of one command: used.
    Used,
    /// Of one command: not used before the deadline of the question.
    Expired,
    /// Remembered, and not revoked.
    Active,
    /// Remembered, and revoked.
    Revoked,
    /// Remembered, but it does not apply at present: a file that it is bound to has changed.
    Changed,
}

impl ApprovalState {
    /// Returns the name in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unused => "unused",
            Self::Used => "used",
            Self::Expired => "expired",
            Self::Active => "active",
            Self::Revoked => "revoked",
            Self::Changed => "changed",
        }
    }
}

impl AuditStore {
    /// Returns the state of the approval of a decision; `None` if it was not approved. With
    /// `read_files`, reads the files that a remembered answer is bound to; without, the state is
    /// never [`Changed`](ApprovalState::Changed) because of a file.
    ///
    /// # Errors
    ///
    /// Returns an error if the approval cannot be read.
    pub async fn approval_status(
        &self,
        record: &AuditRecord,
        read_files: bool,
    ) -> Result<Option<ApprovalStatus>, AuditError> {
        if record.user_response != Some(UserResponse::Approved) {
            return Ok(None);
        }
        let mut tx = self.inner.backend.acquire().await?;
        let found = tx
            .optional(
                concat!(
                    "SELECT ",
                    remembered_columns!(),
                    " FROM decisions d
                      JOIN log l ON l.seq = d.answered_seq + 1 AND l.kind = 4
                      JOIN remembered r ON r.id = l.subject AND r.created_at = d.answered_at
                        AND r.command_hash = d.command_hash
                      WHERE d.id = $1"
                ),
                &[record.id.into()],
            )
            .await?;
        let Some(row) = found else {
            let is_over = record.deadline.is_none_or(|end| end <= Timestamp::now());
            let state = match is_used(&mut tx, record.id).await? || record.execution_happened {
                true => ApprovalState::Used,
                false if is_over => ApprovalState::Expired,
                false => ApprovalState::Unused,
            };
            return Ok(Some(ApprovalStatus::new(RememberScope::Once, state)));
        };
        drop(tx);
        let found = RememberedRow::read(&row, 0)?.into_remembered()?;
        let remember = match found.session_id {
            Some(_) => RememberScope::Session,
            None => RememberScope::Always,
        };
        let mut status = ApprovalStatus {
            remembered_id: Some(found.id),
            revoked_at: found.revoked_at,
            revoked_by: found.revoked_by,
            ..ApprovalStatus::new(remember, ApprovalState::Active)
        };
        if status.revoked_at.is_some() {
            status.state = ApprovalState::Revoked;
            return Ok(Some(status));
        }
        status.reason = match found.scope {
            None => Some(Remembered::UNBOUND_REASON.to_owned()),
            Some(_) if !read_files => None,
            Some(scope) => {
                let approved = scope.clone();
                match with_timeout(move || scope.refresh()).await {
                    Some(now) if now.hash() == approved.hash() => None,
                    Some(now) => Some(changed(Some(approved), &now)),
                    None => Some("timeout while reading the files that it is bound to".to_owned()),
                }
            }
        };
        if status.reason.is_some() {
            status.state = ApprovalState::Changed;
        }
        Ok(Some(status))
    }
}

impl ApprovalStatus {
    fn new(remember: RememberScope, state: ApprovalState) -> Self {
        Self {
            remember,
            state,
            remembered_id: None,
            revoked_at: None,
            revoked_by: None,
            reason: None,
        }
    }
}
