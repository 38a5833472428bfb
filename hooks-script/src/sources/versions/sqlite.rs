//! Store of versions in a SQLite database.

use jiff::Timestamp;
use sqlx::Row;
use sqlx::sqlite::SqliteRow;

use super::{LoadedVersion, SourceVersion, StoredVersion};
use crate::store::{Database, StoreError, from_db_time, to_db_time};

pub(super) async fn of(
    database: &Database,
    source: &str,
) -> Result<Vec<SourceVersion>, StoreError> {
    let rows = sqlx::query("SELECT * FROM source_versions WHERE source = ? ORDER BY seen DESC")
        .bind(source)
        .fetch_all(database.pool())
        .await?;
    rows.iter().map(version).collect()
}

pub(super) async fn kept(
    database: &Database,
    source: &str,
    hash: Option<&str>,
) -> Result<Option<StoredVersion>, StoreError> {
    let row = sqlx::query(
        "SELECT * FROM source_versions WHERE source = ?1 AND (?2 IS NULL OR hash = ?2) ORDER BY seen DESC LIMIT 1",
    )
    .bind(source)
    .bind(hash)
    .fetch_optional(database.pool())
    .await?;
    let kept = |row: SqliteRow| {
        Ok(StoredVersion {
            version: version(&row)?,
            code: row.try_get("text")?,
            url: row.try_get("url")?,
            fresh_until: from_db_time(row.try_get("fresh_until_us")?)?,
            stale_allowed: row.try_get("stale_allowed")?,
        })
    };
    row.map(kept).transpose()
}

pub(super) async fn seen(
    database: &Database,
    seen: LoadedVersion<'_>,
) -> Result<SourceVersion, StoreError> {
    // Read all rows, although there is only one: the statement ends and commits only then.
    let rows = sqlx::query(
        "INSERT INTO source_versions (source, hash, seen, first_seen_us, last_seen_us, text, url, etag,
                                      last_modified, fresh_until_us, stale_allowed)
         VALUES (?1, ?2, (SELECT coalesce(max(seen), 0) + 1 FROM source_versions WHERE source = ?1),
                 ?3, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
         ON CONFLICT (source, hash) DO UPDATE SET
             seen = excluded.seen, last_seen_us = excluded.last_seen_us, text = excluded.text,
             url = excluded.url, etag = excluded.etag, last_modified = excluded.last_modified,
             fresh_until_us = excluded.fresh_until_us, stale_allowed = excluded.stale_allowed
         RETURNING *",
    )
    .bind(seen.source)
    .bind(seen.hash)
    .bind(to_db_time(seen.now))
    .bind(seen.code)
    .bind(&seen.url)
    .bind(&seen.etag)
    .bind(&seen.last_modified)
    .bind(to_db_time(seen.fresh_until))
    .bind(seen.stale_allowed)
    .fetch_all(database.pool())
    .await?;
    version(rows.first().ok_or(sqlx::Error::RowNotFound)?)
}

pub(super) async fn forget_before(database: &Database, time: Timestamp) -> Result<u64, StoreError> {
    let done = sqlx::query(
        "DELETE FROM source_versions WHERE last_seen_us < ?
         AND seen < (SELECT max(seen) FROM source_versions AS other WHERE other.source = source_versions.source)",
    )
    .bind(to_db_time(time))
    .execute(database.pool())
    .await?;
    Ok(done.rows_affected())
}

fn version(row: &SqliteRow) -> Result<SourceVersion, StoreError> {
    Ok(SourceVersion {
        source: row.try_get("source")?,
        hash: row.try_get("hash")?,
        first_seen: from_db_time(row.try_get("first_seen_us")?)?,
        last_seen: from_db_time(row.try_get("last_seen_us")?)?,
        etag: row.try_get("etag")?,
        last_modified: row.try_get("last_modified")?,
    })
}
