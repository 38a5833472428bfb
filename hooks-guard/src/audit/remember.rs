//! Answers that hold for the next time as well.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::backend::{Backend, Row, Tx};
use super::chain::{self, Content, Kind, scoped};
use super::error::AuditError;
use super::record::{AuditRecord, NewAnswer, floor_us, scope_of, storable, time_of};
use super::write::{Batch, Work};
use crate::approval::ApprovalScope;
use crate::mask::Masked;

/// An answer that holds for the next time as well: `always allow` (P-26).
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

/// An answer that is to hold for the next time as well (P-26).
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
    command_hash: [u8; 32],
    command: String,
    cwd: Option<String>,
    session_id: Option<String>,
    agent: Option<String>,
    created_at: i64,
    created_by: String,
    pub(super) created_seq: i64,
    revoked_at: Option<i64>,
    revoked_by: Option<String>,
    pub(super) revoked_seq: Option<i64>,
    /// What it is bound to, in JSON.
    scope: Option<String>,
    scope_hash: Option<String>,
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

    fn shown(self) -> Result<Remembered, AuditError> {
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

fn stored_path(path: Option<&Path>) -> Option<String> {
    path.map(|path| storable(&path.to_string_lossy()))
}

pub(super) struct Remember(pub(super) NewRemembered);

impl Work for Remember {
    type Out = Remembered;

    async fn apply(self, batch: &mut Batch) -> Result<Remembered, AuditError> {
        let new = self.0;
        batch.head.remembered += 1;
        let masked = Masked::for_storage(&new.command);
        let row = StoredRemembered {
            id: batch.head.remembered,
            command_hash: new.command_hash,
            command: storable(&masked.text),
            cwd: stored_path(new.cwd.as_deref()),
            session_id: new.session_id.as_deref().map(storable),
            agent: new.agent.as_deref().map(storable),
            created_at: floor_us(new.at),
            created_by: storable(&new.by),
            created_seq: batch.next_seq(),
            revoked_at: None,
            revoked_by: None,
            revoked_seq: None,
            scope_hash: new.scope.as_ref().map(|scope| scope.hash().to_owned()),
            scope: new.scope.map(|scope| storable(&scope.stored(&masked))),
        };
        batch
            .append(Kind::Remembered, row.id, row.created())
            .await?;
        batch
            .tx
            .execute(
                "INSERT INTO remembered (id, command_hash, command, cwd, session_id, agent,
                    created_at, created_by, created_seq, scope, scope_hash)
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
                &[
                    row.id.into(),
                    (&row.command_hash).into(),
                    (&row.command).into(),
                    (&row.cwd).into(),
                    (&row.session_id).into(),
                    (&row.agent).into(),
                    row.created_at.into(),
                    (&row.created_by).into(),
                    row.created_seq.into(),
                    (&row.scope).into(),
                    (&row.scope_hash).into(),
                ],
            )
            .await?;
        row.shown()
    }
}

pub(super) struct Forget {
    pub(super) id: i64,
    pub(super) by: String,
    pub(super) at: i64,
}

impl Work for Forget {
    type Out = bool;

    async fn apply(self, batch: &mut Batch) -> Result<bool, AuditError> {
        let found = batch
            .tx
            .optional(
                concat!(
                    "SELECT ",
                    remembered_columns!(),
                    " FROM remembered r WHERE r.id = $1 AND r.revoked_at IS NULL"
                ),
                &[self.id.into()],
            )
            .await?;
        let Some(row) = found else {
            return Ok(false);
        };
        let mut row = StoredRemembered::read(&row, 0)?;
        row.revoked_at = Some(self.at);
        row.revoked_by = Some(storable(&self.by));
        let seq = batch.append(Kind::Revoked, row.id, row.revoked()).await?;
        batch
            .tx
            .execute(
                "UPDATE remembered SET revoked_at = $2, revoked_by = $3, revoked_seq = $4
                 WHERE id = $1",
                &[
                    row.id.into(),
                    row.revoked_at.into(),
                    (&row.revoked_by).into(),
                    seq.into(),
                ],
            )
            .await?;
        Ok(true)
    }
}

/// The newest that holds for a command, in a directory and a session.
pub(super) async fn find(
    tx: &mut Tx,
    command_hash: &[u8; 32],
    cwd: Option<&Path>,
    session: Option<&str>,
    scope: Option<&str>,
) -> Result<Option<Remembered>, AuditError> {
    let found = tx
        .optional(
            concat!(
                "SELECT ",
                remembered_columns!(),
                " FROM remembered r WHERE r.revoked_at IS NULL AND r.command_hash = $1
                AND ((r.cwd IS NULL AND $2 IS NULL) OR r.cwd = $2)
                AND (r.session_id IS NULL OR r.session_id = $3)
                AND (CAST($4 AS TEXT) IS NULL OR r.scope_hash = $4)
              ORDER BY r.id DESC LIMIT 1"
            ),
            &[
                command_hash.into(),
                (&stored_path(cwd)).into(),
                (&session.map(storable)).into(),
                (&scope.map(str::to_owned)).into(),
            ],
        )
        .await?;
    let Some(row) = found else { return Ok(None) };
    let row = StoredRemembered::read(&row, 0)?;
    let seq = Some(row.created_seq);
    chain::check_row(tx, Kind::Remembered, row.id, seq, row.created()).await?;
    chain::check_none(tx, Kind::Revoked, row.id).await?;
    row.shown().map(Some)
}

/// Those that hold behind this number, the oldest first, and how many hold altogether.
#[cfg(feature = "http")]
pub(super) async fn page(
    backend: &Backend,
    after: i64,
    limit: u64,
) -> Result<(Vec<Remembered>, u64), AuditError> {
    let mut tx = backend.read().await?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let rows = tx
        .all(
            concat!(
                "SELECT ",
                remembered_columns!(),
                " FROM remembered r WHERE r.revoked_at IS NULL AND r.id > $1
                  ORDER BY r.id LIMIT $2"
            ),
            &[after.into(), limit.into()],
        )
        .await?;
    let row = tx
        .one(
            "SELECT count(*) FROM remembered WHERE revoked_at IS NULL",
            &[],
        )
        .await?;
    let total = row.int(0)?.max(0).unsigned_abs();
    let shown = rows
        .iter()
        .map(|row| StoredRemembered::read(row, 0)?.shown());
    Ok((shown.collect::<Result<_, _>>()?, total))
}

pub(super) async fn list(backend: &Backend) -> Result<Vec<Remembered>, AuditError> {
    let mut tx = backend.read().await?;
    tx.all(
        concat!(
            "SELECT ",
            remembered_columns!(),
            " FROM remembered r WHERE r.revoked_at IS NULL ORDER BY r.id"
        ),
        &[],
    )
    .await?
    .iter()
    .map(|row| StoredRemembered::read(row, 0)?.shown())
    .collect()
}
