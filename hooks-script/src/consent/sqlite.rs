//! Consent store in a SQLite database.

use sqlx::Row;
use sqlx::sqlite::SqliteRow;

use super::request::{ConsentChange, ConsentRequest, Decision};
use super::rule::{self, ConsentState};
use crate::scope::Scope;
use crate::store::{Database, StoreError, from_db_time, to_db_time};

pub(super) async fn append(
    database: &Database,
    mut change: ConsentChange,
) -> Result<ConsentChange, StoreError> {
    let done = sqlx::query(
        "INSERT INTO consent_changes (time_us, decided_by, decision, hook, code_hash, context, capability, user_id, guild_id, channel_id)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )
    .bind(to_db_time(change.time))
    .bind(&change.by)
    .bind(change.decision.as_str())
    .bind(&change.hook)
    .bind(&change.code_hash)
    .bind(&change.context)
    .bind(&change.capability)
    .bind(&change.scope.user)
    .bind(&change.scope.guild)
    .bind(&change.scope.channel)
    .execute(database.pool())
    .await?;
    change.id = done.last_insert_rowid().cast_unsigned();
    Ok(change)
}

/// Loads the last change of each kind for each scope that covers or overlaps the request. The rule
/// needs no others, so a check does not slow down with the length of the history.
pub(super) async fn standing(
    database: &Database,
    request: &ConsentRequest,
) -> Result<ConsentState, StoreError> {
    let rows = sqlx::query(
        "SELECT max(id) AS id, time_us, decided_by, decision, hook, code_hash, context, capability, user_id, guild_id, channel_id
         FROM consent_changes
         WHERE hook = ?1 AND capability = ?2
           AND (user_id IS NULL OR user_id = ?3)
           AND (guild_id IS NULL OR guild_id = ?4)
           AND (channel_id IS NULL OR channel_id = ?5)
         GROUP BY user_id, guild_id, channel_id, decision, code_hash IS ?6 AND context IS ?7",
    )
    .bind(&request.hook)
    .bind(&request.capability)
    .bind(&request.scope.user)
    .bind(&request.scope.guild)
    .bind(&request.scope.channel)
    .bind(&request.code_hash)
    .bind(&request.context)
    .fetch_all(database.pool())
    .await?;
    let changes: Vec<_> = rows.iter().map(change).collect::<Result<_, _>>()?;
    Ok(rule::standing(request, &changes))
}

pub(super) async fn changes(
    database: &Database,
    hook: Option<&str>,
    user: Option<&str>,
) -> Result<Vec<ConsentChange>, StoreError> {
    let rows = sqlx::query(
        "SELECT id, time_us, decided_by, decision, hook, code_hash, context, capability, user_id, guild_id, channel_id
         FROM consent_changes
         WHERE (?1 IS NULL OR hook = ?1) AND (?2 IS NULL OR user_id = ?2)
         ORDER BY id",
    )
    .bind(hook)
    .bind(user)
    .fetch_all(database.pool())
    .await?;
    rows.iter().map(change).collect()
}

fn change(row: &SqliteRow) -> Result<ConsentChange, StoreError> {
    Ok(ConsentChange {
        id: match row.try_get::<i64, _>("id")? {
            id @ 1.. => id.cast_unsigned(),
            other => return Err(StoreError::unknown("id", other)),
        },
        time: from_db_time(row.try_get("time_us")?)?,
        by: row.try_get("decided_by")?,
        decision: match row.try_get("decision")? {
            "approve" => Decision::Approve,
            "deny" => Decision::Deny,
            "revoke" => Decision::Revoke,
            other => return Err(StoreError::unknown("decision", other)),
        },
        hook: row.try_get("hook")?,
        code_hash: row.try_get("code_hash")?,
        context: row.try_get("context")?,
        capability: row.try_get("capability")?,
        scope: Scope::from_row(row)?,
    })
}
