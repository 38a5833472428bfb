//! Remembered answers. Takes an approval or a row of the table `remembered`; returns its content
//! hashes and its public form.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::chain::{Content, LogEntryKind, scoped};
use super::error::AuditError;
use super::record::{AuditRecord, NewAnswer, class_of, scope_of, storable, timestamp};
use super::tx::{Columns, SqlRow};
use crate::approval::ApprovalScope;
use crate::classify::Crud;

/// Approval that also applies to later requests (`always allow`).
#[cfg_attr(feature = "http", derive(utoipa::ToSchema))]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remembered {
    /// Unique id; never reused.
    pub id: i64,
    /// SHA-256 of the command before its secrets were masked. Not shown.
    #[serde(skip)]
    pub command_hash: [u8; 32],
    /// The command, with masked secrets.
    pub command: String,
    /// Directory in which the answer applies; if absent, it applies to requests without a
    /// directory.
    #[cfg_attr(feature = "http", schema(value_type = Option<String>))]
    pub cwd: Option<PathBuf>,
    /// Session in which the answer applies; if absent, it applies in every session.
    pub session_id: Option<String>,
    /// Agent for which the answer was given.
    pub agent: Option<String>,
    /// Time of the answer.
    #[cfg_attr(feature = "http", schema(value_type = String, format = DateTime))]
    #[serde(serialize_with = "hooks_runtime::timestamp::serialize")]
    pub created_at: Timestamp,
    /// Author of the answer.
    pub created_by: String,
    /// Files that the answer covers: it becomes invalid as soon as one of them changes.
    #[serde(default)]
    pub covers: Vec<String>,
    /// Description of the scope and its limits. `None` if the answer was given by a version that
    /// did not bind approvals to files; such an answer matches no request.
    #[serde(default)]
    pub holds: Option<String>,
    /// Decision that was answered; `None` if it is unknown or deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision_id: Option<i64>,
    /// Class of that decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub classification: Option<Crud>,
    /// Time of the revocation; `None` if the answer is active.
    #[cfg_attr(feature = "http", schema(value_type = Option<String>, format = DateTime))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(serialize_with = "hooks_runtime::timestamp::serialize_option")]
    pub revoked_at: Option<Timestamp>,
    /// Author of the revocation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked_by: Option<String>,
    /// Scope in addition to the command. Not shown.
    #[serde(skip)]
    pub scope: Option<ApprovalScope>,
}

impl Remembered {
    /// Reason why an answer without [`holds`](Self::holds) matches no request.
    pub const UNBOUND_REASON: &str =
        "it was given by a version that did not bind approvals to files";
}

/// Remembered answer to record.
#[derive(Clone, Debug)]
pub struct NewRemembered {
    /// SHA-256 of the command, before any masking.
    pub command_hash: [u8; 32],
    /// The command; its secrets are masked before it is stored.
    pub command: String,
    /// Directory in which the answer applies.
    pub cwd: Option<PathBuf>,
    /// Session in which the answer applies; if absent, it applies in every session.
    pub session_id: Option<String>,
    /// Agent for which the answer was given.
    pub agent: Option<String>,
    /// Author of the answer.
    pub by: String,
    /// Time of the answer.
    pub at: Timestamp,
    /// Scope in addition to the command; without a scope, the answer matches no request.
    pub scope: Option<ApprovalScope>,
}

/// How long an approval lasts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "http", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "http", schema(as = Remember))]
pub enum RememberScope {
    /// For this command only.
    #[default]
    Once,
    /// For equal commands in this directory by this agent, in this session, while the files that
    /// determine their effect are unchanged.
    Session,
    /// Like `session`, but in every session, until it is revoked.
    Always,
}

/// Sessions in which an approval is remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SessionScope {
    /// The session of its decision.
    Session,
    /// Every session.
    Always,
}

impl NewRemembered {
    /// Returns the remembered answer for the approval of a decision.
    pub(super) fn of(record: &AuditRecord, lasting: SessionScope, answer: NewAnswer) -> Self {
        Self {
            command_hash: record.command_hash,
            command: record.command.clone(),
            cwd: record.cwd.clone(),
            session_id: match lasting {
                SessionScope::Session => record.session_id.clone(),
                SessionScope::Always => None,
            },
            agent: record.agent.clone(),
            by: answer.by,
            at: answer.at,
            scope: record.scope.clone(),
        }
    }
}

/// The columns of a [`RememberedRow`].
macro_rules! remembered_columns {
    () => {
        "r.id, r.command_hash, r.command, r.cwd, r.session_id, r.agent, r.created_at, \
         r.created_by, r.created_seq, r.revoked_at, r.revoked_by, r.revoked_seq, \
         r.scope, r.scope_hash"
    };
}
pub(super) use remembered_columns;

/// Remembered answers and the decisions that they answered: a transaction writes the entry of the
/// answer directly before the entry of the remembered answer.
macro_rules! select_remembered {
    () => {
        concat!(
            "SELECT ",
            $crate::audit::remembered::remembered_columns!(),
            ", d.id, d.class FROM remembered r
              LEFT JOIN log l ON l.seq = r.created_seq - 1 AND l.kind = 2
              LEFT JOIN decisions d ON d.id = l.subject AND d.answered_seq = l.seq
                AND d.answered_at = r.created_at AND d.command_hash = r.command_hash"
        )
    };
}
pub(super) use select_remembered;

#[derive(Clone, Debug)]
pub(super) struct RememberedRow {
    pub(super) id: i64,
    pub(super) command_hash: [u8; 32],
    pub(super) command: String,
    pub(super) cwd: Option<String>,
    pub(super) session_id: Option<String>,
    pub(super) agent: Option<String>,
    pub(super) created_at: i64,
    pub(super) created_by: String,
    pub(super) created_seq: i64,
    pub(super) revoked_at: Option<i64>,
    pub(super) revoked_by: Option<String>,
    pub(super) revoked_seq: Option<i64>,
    /// Scope, in JSON.
    pub(super) scope: Option<String>,
    pub(super) scope_hash: Option<String>,
}

impl RememberedRow {
    /// Parses a row selected by [`remembered_columns`], from the given position.
    pub(super) fn read(row: &impl Columns, from: usize) -> Result<Self, AuditError> {
        fn owned(text: impl AsRef<str>) -> String {
            text.as_ref().to_owned()
        }
        Ok(Self {
            id: row.int(from)?,
            command_hash: row.hash(from + 1)?,
            command: owned(row.text(from + 2)?),
            cwd: row.maybe_text(from + 3)?.map(owned),
            session_id: row.maybe_text(from + 4)?.map(owned),
            agent: row.maybe_text(from + 5)?.map(owned),
            created_at: row.int(from + 6)?,
            created_by: owned(row.text(from + 7)?),
            created_seq: row.int(from + 8)?,
            revoked_at: row.maybe_int(from + 9)?,
            revoked_by: row.maybe_text(from + 10)?.map(owned),
            revoked_seq: row.maybe_int(from + 11)?,
            scope: row.maybe_text(from + 12)?.map(owned),
            scope_hash: row.maybe_text(from + 13)?.map(owned),
        })
    }

    pub(super) fn into_remembered(self) -> Result<Remembered, AuditError> {
        let scope = scope_of(self.scope.as_deref())?;
        Ok(Remembered {
            id: self.id,
            command_hash: self.command_hash,
            command: self.command,
            cwd: self.cwd.map(PathBuf::from),
            session_id: self.session_id,
            agent: self.agent,
            created_at: timestamp(self.created_at)?,
            created_by: self.created_by,
            covers: scope
                .as_ref()
                .map(ApprovalScope::covers)
                .unwrap_or_default(),
            holds: scope.as_ref().map(ApprovalScope::describe),
            decision_id: None,
            classification: None,
            revoked_at: self.revoked_at.map(timestamp).transpose()?,
            revoked_by: self.revoked_by,
            scope,
        })
    }

    /// Parses a row selected by [`select_remembered`].
    pub(super) fn listed(row: &SqlRow) -> Result<Remembered, AuditError> {
        Ok(Remembered {
            decision_id: row.maybe_int(14)?,
            classification: row.maybe_int(15)?.map(class_of).transpose()?,
            ..Self::read(row, 0)?.into_remembered()?
        })
    }

    /// Returns the content hash of the entry that created the answer.
    pub(super) fn created(&self) -> [u8; 32] {
        let content = Content::new(LogEntryKind::Remembered, self.id)
            .bytes(&self.command_hash)
            .text(&self.command)
            .maybe_text(&self.cwd)
            .maybe_text(&self.session_id)
            .maybe_text(&self.agent)
            .int(self.created_at)
            .text(&self.created_by);
        // Rows without a scope hash as they did before scopes existed.
        match &self.scope {
            Some(scope) => scoped(content, scope, &self.scope_hash).hash(),
            None => content.hash(),
        }
    }

    /// Returns the content hash of the entry that revoked the answer.
    pub(super) fn revoked(&self) -> [u8; 32] {
        Content::new(LogEntryKind::Revoked, self.id)
            .maybe_int(self.revoked_at)
            .maybe_text(&self.revoked_by)
            .hash()
    }
}

pub(super) fn stored_path(path: Option<&Path>) -> Option<String> {
    path.map(|path| storable(&path.to_string_lossy()))
}
