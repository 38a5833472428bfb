//! Stores remembered answers. Takes an approval or a request; returns the id of the new remembered
//! answer, or the remembered answer that matches the request.

use std::path::Path;

use super::backend::Backend;
use super::chain::{self, LogEntryKind};
use super::error::AuditError;
use super::record::{floor_us, storable};
use super::remembered::{
    NewRemembered, Remembered, RememberedRow, remembered_columns, select_remembered, stored_path,
};
use super::tx::Tx;
use super::write::{Batch, Work};
use crate::mask::Masked;

pub(super) struct RecordRemembered(pub(super) NewRemembered);

impl Work for RecordRemembered {
    type Out = Remembered;

    async fn apply(self, batch: &mut Batch) -> Result<Remembered, AuditError> {
        let new = self.0;
        batch.head.remembered += 1;
        let masked = Masked::for_storage(&new.command);
        let row = RememberedRow {
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
            .append(LogEntryKind::Remembered, row.id, row.created())
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
        row.into_remembered()
    }
}

pub(super) struct RevokeRemembered {
    pub(super) id: i64,
    pub(super) by: String,
    pub(super) at: i64,
}

impl Work for RevokeRemembered {
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
        let mut row = RememberedRow::read(&row, 0)?;
        row.revoked_at = Some(self.at);
        row.revoked_by = Some(storable(&self.by));
        let seq = batch
            .append(LogEntryKind::Revoked, row.id, row.revoked())
            .await?;
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

/// Returns the newest remembered answer that applies to a command in a directory and a session.
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
    let row = RememberedRow::read(&row, 0)?;
    let seq = Some(row.created_seq);
    chain::check_row(tx, LogEntryKind::Remembered, row.id, seq, row.created()).await?;
    chain::check_none(tx, LogEntryKind::Revoked, row.id).await?;
    row.into_remembered().map(Some)
}

/// Returns the remembered answers after this id, oldest first, and their total number. Leaves out
/// revoked answers unless `all` is `true`.
#[cfg(feature = "http")]
pub(super) async fn page(
    backend: &Backend,
    after: i64,
    limit: u64,
    all: bool,
) -> Result<(Vec<Remembered>, u64), AuditError> {
    let mut tx = backend.read().await?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let rows = tx
        .all(
            concat!(
                select_remembered!(),
                " WHERE (r.revoked_at IS NULL OR CAST($3 AS BIGINT) = 1) AND r.id > $1
                  ORDER BY r.id LIMIT $2"
            ),
            &[after.into(), limit.into(), i64::from(all).into()],
        )
        .await?;
    let row = tx
        .one(
            "SELECT count(*) FROM remembered WHERE revoked_at IS NULL OR CAST($1 AS BIGINT) = 1",
            &[i64::from(all).into()],
        )
        .await?;
    let total = row.int(0)?.max(0).unsigned_abs();
    let shown = rows.iter().map(RememberedRow::listed);
    Ok((shown.collect::<Result<_, _>>()?, total))
}

/// Returns the remembered answer with an id, also if it was revoked.
pub(super) async fn one(backend: &Backend, id: i64) -> Result<Option<Remembered>, AuditError> {
    let mut tx = backend.read().await?;
    let found = tx
        .optional(
            concat!(select_remembered!(), " WHERE r.id = $1"),
            &[id.into()],
        )
        .await?;
    found.as_ref().map(RememberedRow::listed).transpose()
}

/// Returns the remembered answers, oldest first. Leaves out revoked answers unless `all` is `true`.
pub(super) async fn list(backend: &Backend, all: bool) -> Result<Vec<Remembered>, AuditError> {
    let mut tx = backend.read().await?;
    tx.all(
        concat!(
            select_remembered!(),
            " WHERE r.revoked_at IS NULL OR CAST($1 AS BIGINT) = 1 ORDER BY r.id"
        ),
        &[i64::from(all).into()],
    )
    .await?
    .iter()
    .map(RememberedRow::listed)
    .collect()
}
