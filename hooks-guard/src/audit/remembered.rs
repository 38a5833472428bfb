//! An answer that holds for the next time as well. In: an approval, or a row of the table `remembered`.
//! Out: its entries in the chain, and what is shown of it.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::chain::{Content, Kind, scoped};
use super::error::AuditError;
use super::record::{AuditRecord, NewAnswer, scope_of, storable, time_of};
use super::tx::Row;
use crate::approval::ApprovalScope;

/// An answer that holds for the next time as well: `always allow`.
#[cfg_attr(feature = "http", derive(utoipa::ToSchema))]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remembered {
    /// Unique; never given a second time.
    pub id: i64,
    /// SHA-256 of the command it is about, before its secrets were masked. Not shown.
    #[serde(skip)]
    pub command_hash: [u8; 32],
    /// The command, without its secrets.
    pub command: String,
    /// In which directory it holds; without one, where the request says none either.
    #[cfg_attr(feature = "http", schema(value_type = Option<String>))]
    pub cwd: Option<PathBuf>,
    /// In which session it holds; in every one without.
    pub session_id: Option<String>,
    /// The agent for which it was given.
    pub agent: Option<String>,
    /// When it was given.
    #[cfg_attr(feature = "http", schema(value_type = String, format = DateTime))]
    pub created_at: Timestamp,
    /// By whom.
    pub created_by: String,
    /// The files that it covers: it does not serve any more when one of them changes.
    #[serde(default)]
    pub covers: Vec<String>,
    /// For what it holds, in words, and what is not covered; `None` if it is of a version that did
    /// not bind approvals to files, and so serves no request.
    #[serde(default)]
    pub holds: Option<String>,
    /// What it is bound to beside the command. Not shown.
    #[serde(skip)]
    pub scope: Option<ApprovalScope>,
}

/// An answer that is to hold for the next time as well.
#[derive(Clone, Debug)]
pub struct NewRemembered {
    /// SHA-256 of the command, before any masking.
    pub command_hash: [u8; 32],
    /// The command; its secrets are masked before it is stored.
    pub command: String,
    /// In which directory.
    pub cwd: Option<PathBuf>,
    /// In which session; in every one without.
    pub session_id: Option<String>,
    /// For which agent it was given.
    pub agent: Option<String>,
    /// By whom.
    pub by: String,
    /// When.
    pub at: Timestamp,
    /// What it is bound to beside the command; without it, it serves no request.
    pub scope: Option<ApprovalScope>,
}

/// Where an approval holds for the next time as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lasting {
    /// In the session of its decision.
    Session,
    /// In every one.
    Always,
}

impl NewRemembered {
    /// An approval of a decision.
    pub(super) fn of(record: &AuditRecord, lasting: Lasting, answer: NewAnswer) -> Self {
        Self {
            command_hash: record.command_hash,
            command: record.command.clone(),
            cwd: record.cwd.clone(),
            session_id: match lasting {
                Lasting::Session => record.session_id.clone(),
                Lasting::Always => None,
            },
            agent: record.agent.clone(),
            by: answer.by,
            at: answer.at,
            scope: record.scope.clone(),
        }
    }
}

/// The columns of a [`StoredRemembered`].
macro_rules! remembered_columns {
    () => {
        "r.id, r.command_hash, r.command, r.cwd, r.session_id, r.agent, r.created_at, \
         r.created_by, r.created_seq, r.revoked_at, r.revoked_by, r.revoked_seq, \
         r.scope, r.scope_hash"
    };
}
pub(super) use remembered_columns;

#[derive(Clone, Debug)]
pub(super) struct StoredRemembered {
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
    /// What it is bound to, in JSON.
    pub(super) scope: Option<String>,
    pub(super) scope_hash: Option<String>,
}

impl StoredRemembered {
    /// A row read by [`remembered_columns`], from the given position on.
    pub(super) fn read(row: &Row, from: usize) -> Result<Self, AuditError> {
        Ok(Self {
            id: row.int(from)?,
            command_hash: row.hash(from + 1)?,
            command: row.text(from + 2)?,
            cwd: row.maybe_text(from + 3)?,
            session_id: row.maybe_text(from + 4)?,
            agent: row.maybe_text(from + 5)?,
            created_at: row.int(from + 6)?,
            created_by: row.text(from + 7)?,
            created_seq: row.int(from + 8)?,
            revoked_at: row.maybe_int(from + 9)?,
            revoked_by: row.maybe_text(from + 10)?,
            revoked_seq: row.maybe_int(from + 11)?,
            scope: row.maybe_text(from + 12)?,
            scope_hash: row.maybe_text(from + 13)?,
        })
    }

    pub(super) fn shown(self) -> Result<Remembered, AuditError> {
        let scope = scope_of(self.scope.as_deref())?;
        Ok(Remembered {
            id: self.id,
            command_hash: self.command_hash,
            command: self.command,
            cwd: self.cwd.map(PathBuf::from),
            session_id: self.session_id,
            agent: self.agent,
            created_at: time_of(self.created_at)?,
            created_by: self.created_by,
            covers: scope
                .as_ref()
                .map(ApprovalScope::covers)
                .unwrap_or_default(),
            holds: scope.as_ref().map(ApprovalScope::sentence),
            scope,
        })
    }

    /// The content of the entry that made it.
    pub(super) fn created(&self) -> [u8; 32] {
        let content = Content::new(Kind::Remembered, self.id)
            .bytes(&self.command_hash)
            .text(&self.command)
            .maybe_text(&self.cwd)
            .maybe_text(&self.session_id)
            .maybe_text(&self.agent)
            .int(self.created_at)
            .text(&self.created_by);
        // Nothing where there is none: so it was before there were scopes.
        match &self.scope {
            Some(scope) => scoped(content, scope, &self.scope_hash).hash(),
            None => content.hash(),
        }
    }

    /// The content of the entry that ended it.
    pub(super) fn revoked(&self) -> [u8; 32] {
        Content::new(Kind::Revoked, self.id)
            .maybe_int(self.revoked_at)
            .maybe_text(&self.revoked_by)
            .hash()
    }
}

pub(super) fn stored_path(path: Option<&Path>) -> Option<String> {
    path.map(|path| storable(&path.to_string_lossy()))
}
