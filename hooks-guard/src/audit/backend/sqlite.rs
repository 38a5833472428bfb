//! SQLite: one file, which several processes may share.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use std::{fs, io, thread};

use sqlx::SqlSafeStr;
use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::pool::PoolConnection;
use sqlx::sqlite::{
    SqliteAutoVacuum, SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions,
    SqliteSynchronous,
};
use tokio::sync::Semaphore;

use super::{Beside, Stay};
use crate::audit::error::AuditError;

/// How long a statement waits for another process that writes.
const BUSY: Duration = Duration::from_secs(5);

/// How many may read at a time, with the one that looks for changes.
const READERS: u32 = 7;

/// How many of them one may have at a time who reads very much.
const BESIDE: usize = 3;

/// How many pages the log beside the file has at least before they are carried over, where nobody
/// closes the file: whoever opens it next has to read the log first.
const LEFT: &str = "250";

/// How often to try to make a new file's tables, and how long after each other.
const TRIES: u32 = 20;
const AGAIN: Duration = Duration::from_millis(50);

/// What has to be done to an older database, in order. An entry that was released stays as it is.
const MIGRATIONS: [(i64, &str, &str); 3] = [
    (
        1,
        "audit",
        include_str!("../../../migrations/sqlite/0001_audit.sql"),
    ),
    (
        2,
        "parts",
        include_str!("../../../migrations/sqlite/0002_parts.sql"),
    ),
    (
        3,
        "agent of a search",
        include_str!("../../../migrations/sqlite/0003_searched_agent.sql"),
    ),
];

#[derive(Clone, Debug)]
pub(in crate::audit) struct Sqlite {
    writer: SqlitePool,
    /// In memory the writer's: every connection would have a database of its own.
    readers: SqlitePool,
    /// For copies: the readers may write to nothing, also not to a copy, and records do not wait
    /// for one. In memory the writer's as well.
    copier: SqlitePool,
    memory: bool,
    beside: Arc<Semaphore>,
}

impl Sqlite {
    /// In a file, or in memory.
    pub(super) async fn open(path: Option<&Path>, stay: Stay) -> Result<Self, AuditError> {
        let options = SqliteConnectOptions::new()
            .foreign_keys(false)
            .busy_timeout(BUSY);
        let (options, writing) = if let Some(path) = path {
            let options = options.filename(prepare(path)?);
            // What these say of the file is asked of the writer alone: it needs a lock.
            let writing = options
                .clone()
                .auto_vacuum(SqliteAutoVacuum::Incremental)
                .journal_mode(SqliteJournalMode::Wal);
            (options, writing)
        } else {
            // Not the driver's flag: with it a copy would be made in memory as well.
            let options = options.filename(":memory:");
            (options.clone(), options)
        };
        let writing = match stay {
            Stay::Long => writing,
            Stay::Brief => writing.pragma("wal_autocheckpoint", LEFT),
        };
        let writing = writing
            .synchronous(SqliteSynchronous::Full)
            // What is deleted does not stay readable in the file.
            .pragma("secure_delete", "ON");
        let writer = ending_transactions(1)
            .min_connections(1)
            .idle_timeout(None)
            .max_lifetime(None)
            .connect_with(writing)
            .await?;
        let migrations = MIGRATIONS.map(|(version, name, sql)| {
            let kind = MigrationType::Simple;
            Migration::new(
                version,
                Cow::Borrowed(name),
                kind,
                sql.into_sql_str(),
                false,
            )
        });
        let migrator = Migrator::with_migrations(migrations.into());
        let mut tries = 0;
        while let Err(error) = migrator.run(&writer).await {
            // Another process may be making the same file just now.
            tries += 1;
            let error = AuditError::from(error);
            if tries == TRIES || !matches!(error, AuditError::Locked | AuditError::Database { .. })
            {
                return Err(error);
            }
            tokio::time::sleep(AGAIN).await;
        }
        let (readers, copier) = if path.is_none() {
            (writer.clone(), writer.clone())
        } else {
            let copier = SqlitePoolOptions::new()
                .max_connections(1)
                .acquire_timeout(BUSY)
                .idle_timeout(None)
                .max_lifetime(None)
                // Copies are rare: each has a connection of its own, closed behind it.
                .after_release(|_, _| Box::pin(async { Ok(false) }))
                .connect_lazy_with(options.clone());
            let readers = ending_transactions(READERS)
                .connect_with(options.pragma("query_only", "ON"))
                .await?;
            (readers, copier)
        };
        Ok(Self {
            writer,
            readers,
            copier,
            memory: path.is_none(),
            beside: Arc::new(Semaphore::new(1)),
        })
    }

    pub(super) async fn read(&self) -> Result<PoolConnection<sqlx::Sqlite>, AuditError> {
        begun(&self.readers, "BEGIN").await
    }

    pub(super) async fn glance(&self) -> Result<PoolConnection<sqlx::Sqlite>, AuditError> {
        Ok(self.readers.acquire().await?)
    }

    pub(super) async fn write(&self) -> Result<PoolConnection<sqlx::Sqlite>, AuditError> {
        // Not `BEGIN`, which would fail at the first change if somebody wrote since the first
        // look, however long it might wait.
        begun(&self.writer, "BEGIN IMMEDIATE").await
    }

    pub(super) fn beside(&self) -> Option<Beside> {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let more = cores.min(BESIDE) - 1;
        let turn = match self.memory || more == 0 {
            true => None,
            false => Arc::clone(&self.beside).try_acquire_owned().ok(),
        };
        turn.map(|turn| Beside { more, _turn: turn })
    }

    /// A number that differs from that of before if another connection has committed.
    pub(in crate::audit) async fn version(
        &self,
        connection: &mut sqlx::SqliteConnection,
    ) -> Result<i64, AuditError> {
        Ok(sqlx::query_scalar("PRAGMA data_version")
            .fetch_one(connection)
            .await?)
    }

    /// A connection of its own to ask for [`version`](Self::version) on; none in memory, where
    /// nobody else is.
    pub(in crate::audit) async fn watcher(
        &self,
    ) -> Result<Option<PoolConnection<sqlx::Sqlite>>, AuditError> {
        Ok(match self.memory {
            true => None,
            false => Some(self.readers.acquire().await?),
        })
    }

    /// Gives back to the system what a cleanup has left empty.
    pub(in crate::audit) async fn shrink(&self) -> Result<u64, AuditError> {
        let mut connection = self.writer.acquire().await?;
        let size: i64 = sqlx::query_scalar("PRAGMA page_size")
            .fetch_one(&mut *connection)
            .await?;
        let before: i64 = sqlx::query_scalar("PRAGMA page_count")
            .fetch_one(&mut *connection)
            .await?;
        sqlx::query("PRAGMA incremental_vacuum(2000)")
            .execute(&mut *connection)
            .await?;
        let after: i64 = sqlx::query_scalar("PRAGMA page_count")
            .fetch_one(&mut *connection)
            .await?;
        Ok(((before - after).max(0) * size).unsigned_abs())
    }

    /// Copies what is there at one moment; writers go on meanwhile.
    pub(super) async fn backup(&self, path: &Path) -> Result<(), AuditError> {
        let failed = |source| AuditError::Create {
            path: path.display().to_string(),
            source: Arc::new(source),
        };
        let whole = plain(path).map_err(failed)?;
        let name = whole
            .to_str()
            .ok_or_else(|| failed(io::Error::other("its name is no UTF-8")))?;
        // Made here, so that it is the owner's alone and nothing that is there is written over.
        let file = private().open(path).map_err(failed)?;
        let copied = async {
            let mut connection = self.copier.acquire().await?;
            sqlx::query("VACUUM INTO $1")
                .bind(name)
                .execute(&mut *connection)
                .await?;
            file.sync_all().map_err(failed)?;
            let folder = path.parent().filter(|it| !it.as_os_str().is_empty());
            fs::File::open(folder.unwrap_or(Path::new(".")))
                .and_then(|folder| folder.sync_all())
                .map_err(failed)
        };
        copied.await.inspect_err(|_: &AuditError| {
            let _ = fs::remove_file(path);
        })
    }

    pub(super) async fn close(&self) {
        self.copier.close().await;
        self.readers.close().await;
        self.writer.close().await;
    }
}

/// A connection in a transaction, which ends when it is given back at the latest: see
/// [`ending_transactions`].
async fn begun(
    pool: &SqlitePool,
    begin: &'static str,
) -> Result<PoolConnection<sqlx::Sqlite>, AuditError> {
    let mut connection = pool.acquire().await?;
    sqlx::query(begin).execute(&mut *connection).await?;
    Ok(connection)
}

/// A pool whose connections come back without a transaction. SQLite ends one by itself when the
/// disk is full or fails: the driver's own transactions would take it for open ever after.
fn ending_transactions(connections: u32) -> SqlitePoolOptions {
    SqlitePoolOptions::new()
        .max_connections(connections)
        .acquire_timeout(BUSY)
        .test_before_acquire(false)
        .after_release(|connection, _| {
            Box::pin(async move {
                // Fails where there is none.
                let _ = sqlx::query("ROLLBACK").execute(connection).await;
                Ok(true)
            })
        })
}

/// Makes the folder and the file for their owner only; SQLite gives the files beside it the same
/// rights.
fn prepare(path: &Path) -> Result<PathBuf, AuditError> {
    let failed = |path: &Path, source: io::Error| AuditError::Create {
        path: path.display().to_string(),
        source: Arc::new(source),
    };
    if let Some(folder) = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
    {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder
            .create(folder)
            .map_err(|error| failed(folder, error))?;
    }
    match private().open(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(failed(path, error)),
        _ => plain(path).map_err(|error| failed(path, error)),
    }
}

/// A name that SQLite takes for a path whatever it begins with: `file:x` would be an address.
fn plain(path: &Path) -> io::Result<PathBuf> {
    std::path::absolute(path)
}

/// Makes new files, for their owner only.
fn private() -> fs::OpenOptions {
    let mut file = fs::OpenOptions::new();
    file.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut file, 0o600);
    file
}

#[cfg(test)]
impl Sqlite {
    /// Makes the disk as small as that: SQLite says the same of both.
    pub(in crate::audit) async fn limit(&self, pages: &'static str) {
        let mut connection = self.writer.acquire().await.expect("a connection");
        sqlx::query(pages)
            .execute(&mut *connection)
            .await
            .expect("a limit");
    }
}
