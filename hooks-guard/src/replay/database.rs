//! Transcripts in a database of SQLite. In: its path. Out: the rows of a query, in pages. The database is not
//! changed: a database with a log is copied first, because SQLite writes beside it.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{AssertSqlSafe, ConnectOptions, Row};
use tempfile::TempDir;

use super::formats::{DatabaseFormat, JsonObject};
use crate::files;

/// Maximum number of rows that are read at once.
const PAGE_ROWS: i64 = 100;

/// An open database.
#[derive(Debug)]
pub(super) struct TranscriptDatabase {
    connection: SqliteConnection,
    query: &'static str,
    /// Place of the last row.
    place: i64,
    /// Copy of the database, deleted in the end.
    _copy: Option<TempDir>,
}

/// A row of the query: an entry, or `None` if its JSON is broken.
pub(super) type DatabaseRow = Option<JsonObject>;

impl TranscriptDatabase {
    /// Opens a database.
    ///
    /// # Errors
    /// If it is not a database, or cannot be copied.
    pub(super) async fn open(file: &Path, format: &DatabaseFormat) -> Result<Self, sqlx::Error> {
        let (file, copy) = match has_log(file) {
            true => {
                let (file, folder) = copied(file)?;
                (file, Some(folder))
            }
            false => (file.to_owned(), None),
        };
        // Without a log, nothing is written beside an immutable database.
        let options = SqliteConnectOptions::new().filename(&file);
        let options = match &copy {
            Some(_) => options,
            None => options.read_only(true).immutable(true),
        };
        Ok(Self {
            connection: options.disable_statement_logging().connect().await?,
            query: format.query,
            place: i64::MIN,
            _copy: copy,
        })
    }

    /// Returns the next rows; none at the end.
    ///
    /// # Errors
    /// If the database has another form, or cannot be read.
    pub(super) async fn next_rows(&mut self) -> Result<Vec<DatabaseRow>, sqlx::Error> {
        let query = sqlx::query(AssertSqlSafe(self.query));
        let query = query.bind(self.place).bind(PAGE_ROWS);
        let rows = query.fetch_all(&mut self.connection).await?;
        if let Some(last) = rows.last() {
            self.place = last.try_get("place")?;
        }
        rows.iter()
            .map(|row| {
                let texts = ["session", "cwd"].map(|name| {
                    let text: Result<Option<String>, _> = row.try_get(name);
                    Ok::<_, sqlx::Error>((name.to_owned(), Value::from(text?)))
                });
                let mut entry: JsonObject = texts.into_iter().collect::<Result<Map<_, _>, _>>()?;
                entry.insert("at".to_owned(), row.try_get::<i64, _>("at")?.into());
                let data: String = row.try_get("data")?;
                Ok(serde_json::from_str(&data).ok().map(|data| {
                    entry.insert("data".to_owned(), data);
                    entry
                }))
            })
            .collect()
    }
}

/// Returns `true` if the database has a log with changes.
fn has_log(file: &Path) -> bool {
    let log = files::with_end(file, "-wal");
    log.metadata().is_ok_and(|log| log.len() > 0)
}

/// Copies a database with its log into a folder that only this user can read.
fn copied(file: &Path) -> std::io::Result<(PathBuf, TempDir)> {
    let folder = TempDir::with_prefix("hooks-guard-")?;
    let copy = folder.path().join("transcripts.db");
    for end in ["", "-wal"] {
        let (from, to) = (files::with_end(file, end), files::with_end(&copy, end));
        std::io::copy(&mut files::open(&from)?, &mut std::fs::File::create(to)?)?;
    }
    Ok((copy, folder))
}
