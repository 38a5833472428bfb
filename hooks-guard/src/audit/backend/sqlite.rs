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

/// How many more may read who do not queue behind those.
const RESERVED: u32 = 2;

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
    /// For readers that do not queue behind the others; in memory the writer's as well.
    reserved: SqlitePool,
    /// For copies: the readers may write to nothing, also not to a copy, and records do not wait
    /// for one. In memory the writer's as well.
    copier: SqlitePool,
    /// The files, by which a deleted or replaced database is noticed; `None` in memory.
    files: Option<Arc<OpenFiles>>,
    beside: Arc<Semaphore>,
}

/// The files of an open database, as they were when it was opened.
#[derive(Debug)]
struct OpenFiles {
    path: PathBuf,
    database: FileId,
    /// The log beside it, which is there as long as the database is open.
    log: Option<(PathBuf, FileId)>,
    /// Whether something stood in it: an emptied file is no database.
    has_pages: bool,
}

fn replaced(path: &Path) -> AuditError {
    AuditError::Replaced {
        path: path.display().to_string(),
    }
}

/// The device and the inode of a file. While the file is open, no other file has the same.
type FileId = (u64, u64);

fn file_id(path: &Path) -> io::Result<FileId> {
    let file = fs::metadata(path)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        Ok((file.dev(), file.ino()))
    }
    // Windows does not delete or replace a file that is open.
    #[cfg(not(unix))]
    {
        let _ = file;
        Ok((0, 0))
    }
}

impl OpenFiles {
    /// The log of a database that is open by now.
    fn with_log(mut self) -> Self {
        let mut log = self.path.clone().into_os_string();
        log.push("-wal");
        let log = PathBuf::from(log);
        self.log = file_id(&log).ok().map(|id| (log, id));
        self.has_pages = fs::metadata(&self.path).is_ok_and(|file| file.len() > 0);
        self
    }

    /// Checks that the files are still those that are open.
    fn check(&self) -> Result<(), AuditError> {
        let log = self.log.as_ref().map(|(path, id)| (path, *id));
        let mut files = std::iter::once((&self.path, self.database)).chain(log);
        let other = files.find(|(path, id)| !file_id(path).is_ok_and(|now| now == *id));
        let emptied = || fs::metadata(&self.path).is_ok_and(|file| file.len() == 0);
        match other {
            None if self.has_pages && emptied() => Err(replaced(&self.path)),
            None => Ok(()),
            Some((path, _)) => Err(replaced(path)),
        }
    }
}

impl Sqlite {
    /// In a file, or in memory.
    pub(super) async fn open(path: Option<&Path>, stay: Stay) -> Result<Self, AuditError> {
        let options = SqliteConnectOptions::new()
            .foreign_keys(false)
            .busy_timeout(BUSY);
        let mut files = None;
        let (options, writing) = if let Some(path) = path {
            let path = prepare(path)?;
            let unreadable = |source| AuditError::Create {
                path: path.display().to_string(),
                source: Arc::new(source),
            };
            files = Some(OpenFiles {
                database: file_id(&path).map_err(unreadable)?,
                path: path.clone(),
                log: None,
                has_pages: false,
            });
            let options = options.filename(path);
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
        let files = files.map(|files| Arc::new(files.with_log()));
        let (readers, reserved, copier) = if files.is_none() {
            (writer.clone(), writer.clone(), writer.clone())
        } else {
            let copier = SqlitePoolOptions::new()
                .max_connections(1)
                .acquire_timeout(BUSY)
                .idle_timeout(None)
                .max_lifetime(None)
                // Copies are rare: each has a connection of its own, closed behind it.
                .after_release(|_, _| Box::pin(async { Ok(false) }))
                .connect_lazy_with(options.clone());
            let reading = options.pragma("query_only", "ON");
            let reserved = ending_transactions(RESERVED).connect_lazy_with(reading.clone());
            let readers = ending_transactions(READERS).connect_with(reading).await?;
            (readers, reserved, copier)
        };
        let opened = Self {
            writer,
            readers,
            reserved,
            copier,
            files,
            beside: Arc::new(Semaphore::new(1)),
        };
        // The file may have been replaced before the connections were made.
        opened.check()?;
        Ok(opened)
    }

    pub(super) fn check(&self) -> Result<(), AuditError> {
        match &self.files {
            // A closed store says so itself; its log is gone with it.
            Some(files) if !self.writer.is_closed() => files.check(),
            _ => Ok(()),
        }
    }

    /// The same database, whose readers have connections of their own.
    pub(super) fn reserved(&self) -> Self {
        Self {
            readers: self.reserved.clone(),
            ..self.clone()
        }
    }

    pub(super) async fn read(&self) -> Result<PoolConnection<sqlx::Sqlite>, AuditError> {
        self.check()?;
        begun(&self.readers, "BEGIN").await
    }

    pub(super) async fn glance(&self) -> Result<PoolConnection<sqlx::Sqlite>, AuditError> {
        self.check()?;
        Ok(self.readers.acquire().await?)
    }

    pub(super) async fn write(&self) -> Result<PoolConnection<sqlx::Sqlite>, AuditError> {
        self.check()?;
        // Not `BEGIN`, which would fail at the first change if somebody wrote since the first
        // look, however long it might wait.
        begun(&self.writer, "BEGIN IMMEDIATE").await
    }

    pub(super) fn beside(&self) -> Option<Beside> {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let more = cores.min(BESIDE) - 1;
        let turn = match self.files.is_none() || more == 0 {
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
        Ok(match self.files {
            None => None,
            Some(_) => Some(self.readers.acquire().await?),
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
        self.check()?;
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
        self.reserved.close().await;
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
