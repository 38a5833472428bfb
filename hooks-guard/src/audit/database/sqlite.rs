//! SQLite: one file, which several processes may share. In: a path. Out: transactions; whether the file
//! is still the one that was opened.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use std::{fs, io, thread};

use sqlx::pool::PoolConnection;
use sqlx::sqlite::{
    SqliteAutoVacuum, SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions,
    SqliteSynchronous,
};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, SqliteConnection};
use tokio::sync::Semaphore;

use super::mode::{OpenMode, ReadPermit, migrator};
use crate::audit::anchor::{Anchor, FileState, Stamp};
use crate::audit::error::AuditError;
use crate::files::with_end;

/// How long a statement waits for another process that writes. A request has to have its response
/// within a second, also beside a process that was stopped while it wrote.
const BUSY: Duration = Duration::from_millis(400);

/// The same for a process that records one thing.
const BRIEFLY_BUSY: Duration = Duration::from_millis(300);

/// How long a copy waits.
const COPY_BUSY: Duration = Duration::from_secs(5);

/// How long to wait for a connection of this process: until it is open, or another use of it is
/// done.
const ACQUIRE: Duration = Duration::from_secs(5);

/// The same for a process that records one thing.
const BRIEFLY_ACQUIRE: Duration = Duration::from_millis(600);

/// How many may read at a time, with the one that looks for changes.
const READERS: u32 = 7;

/// How many more may read who do not queue behind those.
const RESERVED: u32 = 2;

/// How many of them one may have at a time who reads very much.
const BESIDE: usize = 3;

/// How many pages the log beside the file may have before a process that records one thing, and does
/// not close the file, carries them over: the next process has to read the log first.
const LEFT: u64 = 250;

/// Bytes of a page in the log.
const LOG_PAGE: u64 = 4096 + 24;

/// How often to try to make a new file's tables, and how long after each other.
const TRIES: u32 = 20;
const AGAIN: Duration = Duration::from_millis(50);

/// How often to read the file without its log at most, and how long after each other: a checkpoint may
/// be writing to it.
pub(in crate::audit) const READS: u32 = 50;
pub(in crate::audit) const READ_AGAIN: Duration = Duration::from_millis(10);

/// What has to be done to an older database, in order. An entry that was released stays as it is.
const MIGRATIONS: [(i64, &str, &str); 5] = [
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
    (
        4,
        "scope of an approval",
        include_str!("../../../migrations/sqlite/0004_approval_scope.sql"),
    ),
    (
        5,
        "ended",
        include_str!("../../../migrations/sqlite/0005_ended.sql"),
    ),
];

/// The schema that [`MIGRATIONS`] make, as [`SCHEMA_QUERY`] returns it. A test holds it; another
/// text costs time, and nothing else.
const SCHEMA: &str = include_str!("../../../migrations/sqlite/schema.txt");

/// Returns a line for each object of the schema, beside the table of the migrations: its kind, its
/// name, its table and its definition.
const SCHEMA_QUERY: &str = "SELECT coalesce(group_concat(
        json_array(type, name, tbl_name, sql), char(10) ORDER BY type, name), '')
     FROM sqlite_schema
     WHERE sql IS NOT NULL AND NOT (type = 'table' AND name = '_sqlx_migrations')";

#[derive(Clone, Debug)]
pub(in crate::audit) struct Sqlite {
    writer: SqlitePool,
    /// The writer's in memory, where each connection would have a database of its own, and in a
    /// process that records one thing.
    readers: SqlitePool,
    /// For readers that do not queue behind the others; the writer's if `readers` is.
    reserved: SqlitePool,
    /// For copies: the readers may write to nothing, also not to a copy, and records do not wait
    /// for one. The writer's if `readers` is.
    copier: SqlitePool,
    /// The files, by which a deleted or replaced database is noticed; `None` in memory.
    files: Option<Arc<OpenFiles>>,
    beside: Arc<Semaphore>,
    anchor: Arc<Anchor>,
}

/// The files of an open database, as they were when it was opened.
#[derive(Debug)]
struct OpenFiles {
    path: PathBuf,
    database: FileId,
    /// The log beside it and the index of the log, which are there as long as the database is open.
    logs: Vec<(PathBuf, FileId)>,
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
        for end in ["-wal", "-shm"] {
            let log = with_end(&self.path, end);
            let id = file_id(&log).ok();
            self.logs.extend(id.map(|id| (log, id)));
        }
        self.has_pages = fs::metadata(&self.path).is_ok_and(|file| file.len() > 0);
        self
    }

    /// The length of the log in bytes; 0 without one.
    fn log_length(&self) -> u64 {
        let mut logs = self.logs.iter().take(1);
        let length = logs.next().and_then(|(log, _)| fs::metadata(log).ok());
        length.map_or(0, |log| log.len())
    }

    /// Checks that the files are still those that are open.
    fn check(&self) -> Result<(), AuditError> {
        let logs = self.logs.iter().map(|(path, id)| (path, *id));
        let mut files = std::iter::once((&self.path, self.database)).chain(logs);
        let other = files.find(|(path, id)| !file_id(path).is_ok_and(|now| now == *id));
        let emptied = || fs::metadata(&self.path).is_ok_and(|file| file.len() == 0);
        match other {
            None if self.has_pages && emptied() => Err(replaced(&self.path)),
            None => Ok(()),
            Some((path, _)) => Err(replaced(path)),
        }
    }

    fn stamp(&self) -> Result<Stamp, AuditError> {
        let file = fs::metadata(&self.path).map_err(|_| replaced(&self.path))?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            let time = |seconds: i64, nanoseconds: i64| {
                i128::from(seconds) * 1_000_000_000 + i128::from(nanoseconds)
            };
            let changed = time(file.mtime(), file.mtime_nsec());
            Ok((file.len(), changed, time(file.ctime(), file.ctime_nsec())))
        }
        #[cfg(not(unix))]
        {
            let since = |time: io::Result<std::time::SystemTime>| {
                let since = time.ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
                i128::try_from(since.as_nanos()).ok()
            };
            let changed = since(file.modified()).unwrap_or_default();
            Ok((file.len(), changed, 0))
        }
    }

    /// Reads the head that stands in the file without its log, which is that of an earlier commit.
    /// Other pages may be of other commits: a checkpoint leaves out those that are still read.
    async fn state(&self) -> Result<FileState, sqlx::Error> {
        let io = |error: AuditError| sqlx::Error::Io(io::Error::other(error));
        let stamp = self.stamp().map_err(io)?;
        let mut connection = SqliteConnectOptions::new()
            .filename(&self.path)
            .read_only(true)
            // Without the log, and without locks: SQLite keeps those that its other connections have.
            .immutable(true)
            // Has SQLite read a file that is shorter than its first page says.
            .pragma("writable_schema", "ON")
            .connect()
            .await?;
        let has_tables: bool =
            sqlx::query_scalar("SELECT count(*) > 0 FROM sqlite_schema WHERE name = 'head'")
                .fetch_one(&mut connection)
                .await?;
        let head: Option<(i64, Vec<u8>)> = match has_tables {
            true => Some(
                sqlx::query_as("SELECT seq, hash FROM head")
                    .fetch_one(&mut connection)
                    .await?,
            ),
            false => None,
        };
        connection.close().await?;
        let damaged = || sqlx::Error::Decode("the hash has not 32 bytes".into());
        Ok(FileState {
            stamp,
            head: match head {
                Some((seq, hash)) => Some((seq, hash.try_into().map_err(|_| damaged())?)),
                None => None,
            },
        })
    }
}

/// Compares the schema with the one that the migrations make, and returns whether all of them ran.
pub(super) async fn check_schema(connection: &mut SqliteConnection) -> Result<bool, AuditError> {
    let found: String = sqlx::query_scalar(SCHEMA_QUERY)
        .fetch_one(&mut *connection)
        .await?;
    let has_versions: bool = sqlx::query_scalar(
        "SELECT count(*) > 0 FROM sqlite_schema
         WHERE type = 'table' AND name = '_sqlx_migrations'",
    )
    .fetch_one(&mut *connection)
    .await?;
    let versions: Vec<i64> = match has_versions {
        true => {
            sqlx::query_scalar("SELECT version FROM _sqlx_migrations ORDER BY version")
                .fetch_all(&mut *connection)
                .await?
        }
        false => Vec::new(),
    };
    let known = MIGRATIONS.iter().map(|(version, ..)| *version);
    let newest = known.clone().max().unwrap_or_default();
    if let Some(&version) = versions.last().filter(|version| **version > newest) {
        return Err(AuditError::Newer { version });
    }
    let is_newest = versions.iter().copied().eq(known);
    if is_newest && found == SCHEMA.trim_end() {
        return Ok(true);
    }
    let expected = made_by(&versions).await?;
    match difference(&found, &expected) {
        Some((difference, remedy)) => Err(AuditError::Schema { difference, remedy }),
        None => Ok(is_newest),
    }
}

/// Returns whether each table of the trail is there and is a plain table.
pub(super) async fn has_plain_tables(
    connection: &mut SqliteConnection,
) -> Result<bool, AuditError> {
    // What has no page of its own is a view or a virtual table, whatever it calls itself.
    let plain: i64 = sqlx::query_scalar(
        "SELECT count(DISTINCT name) FROM sqlite_schema
         WHERE type = 'table' AND rootpage > 0 AND upper(substr(sql, 1, 13)) = 'CREATE TABLE '
            AND name IN ('cleanups', 'decisions', 'gaps', 'head', 'log', 'remembered', 'searched',
                'tallies', 'times', 'used')",
    )
    .fetch_one(connection)
    .await?;
    Ok(plain == 10)
}

/// The schema that some of the migrations make.
async fn made_by(versions: &[i64]) -> Result<String, AuditError> {
    let mut connection = SqliteConnectOptions::new()
        .filename(":memory:")
        .connect()
        .await?;
    for (version, _, sql) in MIGRATIONS {
        if versions.contains(&version) {
            sqlx::raw_sql(sql).execute(&mut connection).await?;
        }
    }
    let made = sqlx::query_scalar(SCHEMA_QUERY)
        .fetch_one(&mut connection)
        .await?;
    connection.close().await?;
    Ok(made)
}

/// The first object that one of two schemas has and the other one has not, and how to remove it.
fn difference(found: &str, expected: &str) -> Option<(String, String)> {
    let object = |line: &str| -> Option<[String; 3]> {
        let parts: Vec<Option<String>> = serde_json::from_str(line).ok()?;
        let [kind, name, table, ..] = parts.as_slice() else {
            return None;
        };
        Some([kind.clone()?, name.clone()?, table.clone()?])
    };
    let lines = |text: &str| -> Vec<String> { text.lines().map(str::to_owned).collect() };
    let (found, expected) = (lines(found), lines(expected));
    let planted = found.iter().find(|line| !expected.contains(line));
    let missing = expected.iter().find(|line| !found.contains(line));
    let restore = "hooks-guard audit verify".to_owned();
    match (planted, missing) {
        (None, None) => None,
        (Some(line), _) => {
            let Some([kind, name, table]) = object(line) else {
                return Some(("an object without a name".to_owned(), restore));
            };
            let is_ours = expected
                .iter()
                .filter_map(|line| object(line))
                .any(|[a, b, _]| (a.as_str(), b.as_str()) == (kind.as_str(), name.as_str()));
            Some(match is_ours {
                true => (
                    format!("the {kind} `{name}` has another definition"),
                    restore,
                ),
                false => {
                    let on = match kind.as_str() {
                        "trigger" | "index" => format!(" on `{table}`"),
                        _ => String::new(),
                    };
                    let quoted = name.replace('"', "\"\"");
                    let remedy = format!("DROP {} \"{quoted}\"", kind.to_uppercase());
                    (format!("there is a {kind} `{name}`{on}"), remedy)
                }
            })
        }
        (None, Some(line)) => {
            let object = object(line);
            let [kind, name, _] = object.unwrap_or_default();
            Some((format!("the {kind} `{name}` is missing"), restore))
        }
    }
}

impl Sqlite {
    /// In a file, or in memory.
    pub(super) async fn open(path: Option<&Path>, mode: OpenMode) -> Result<Self, AuditError> {
        if matches!(mode, OpenMode::ReadOnly | OpenMode::Unchecked)
            && let Some(path) = path
        {
            return Self::open_read_only(path, mode).await;
        }
        let (busy, acquire) = match mode {
            OpenMode::Pooled | OpenMode::ReadOnly | OpenMode::Unchecked => (BUSY, ACQUIRE),
            OpenMode::OneShot => (BRIEFLY_BUSY, BRIEFLY_ACQUIRE),
        };
        let options = SqliteConnectOptions::new()
            .foreign_keys(false)
            .busy_timeout(busy);
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
                logs: Vec::new(),
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
        let writing = match mode {
            OpenMode::Pooled | OpenMode::ReadOnly | OpenMode::Unchecked => writing,
            OpenMode::OneShot => writing.pragma("wal_autocheckpoint", LEFT.to_string()),
        };
        let writing = writing
            .synchronous(SqliteSynchronous::Full)
            // What is deleted does not stay readable in the file.
            .pragma("secure_delete", "ON");
        let writer = ending_transactions(1, acquire)
            .min_connections(1)
            .idle_timeout(None)
            .max_lifetime(None)
            .connect_with(writing)
            .await?;
        let anchor = Anchor::default();
        migrate(&writer, &anchor).await?;
        let files = files.map(|files| Arc::new(files.with_log()));
        if let Some(files) = files.as_ref().filter(|_| mode == OpenMode::OneShot)
            && files.log_length() > LEFT * LOG_PAGE
        {
            empty_log(&writer, busy).await?;
        }
        // A process that records one thing reads and writes in turn. A second connection would parse
        // the schema anew; without it, `ls -la` −10 % instructions.
        let (readers, reserved, copier) = if files.is_none() || mode == OpenMode::OneShot {
            (writer.clone(), writer.clone(), writer.clone())
        } else {
            let copier = SqlitePoolOptions::new()
                .max_connections(1)
                .acquire_timeout(COPY_BUSY)
                .idle_timeout(None)
                .max_lifetime(None)
                // Copies are rare: each has a connection of its own, closed behind it.
                .after_release(|_, _| Box::pin(async { Ok(false) }))
                .connect_lazy_with(options.clone().busy_timeout(COPY_BUSY));
            let reading = options.pragma("query_only", "ON");
            let reserved =
                ending_transactions(RESERVED, acquire).connect_lazy_with(reading.clone());
            let readers = ending_transactions(READERS, acquire)
                .connect_with(reading)
                .await?;
            (readers, reserved, copier)
        };
        let opened = Self {
            writer,
            readers,
            reserved,
            copier,
            files,
            beside: Arc::new(Semaphore::new(1)),
            anchor: Arc::new(anchor),
        };
        // The file may have been replaced before the connections were made.
        opened.check()?;
        Ok(opened)
    }

    /// Opens a file that may only be read. The file is taken for unchanging only if its folder may
    /// not be written to either and no process has a log beside it.
    async fn open_read_only(path: &Path, mode: OpenMode) -> Result<Self, AuditError> {
        let unreadable = |source| AuditError::Create {
            path: path.display().to_string(),
            source: Arc::new(source),
        };
        let path = plain(path).map_err(unreadable)?;
        fs::metadata(&path).map_err(unreadable)?;
        let options = SqliteConnectOptions::new()
            .filename(&path)
            .foreign_keys(false)
            .busy_timeout(COPY_BUSY)
            .read_only(true);
        let options = match first_look(&options).await {
            Ok(()) => options,
            Err(AuditError::ReadOnly | AuditError::Unreachable { .. }) => {
                if fs::metadata(with_end(&path, "-wal")).is_ok_and(|log| log.len() > 0) {
                    return Err(AuditError::UnreadableLog {
                        path: path.display().to_string(),
                    });
                }
                let options = options.immutable(true);
                first_look(&options).await?;
                options
            }
            Err(error) => return Err(error),
        };
        let readers = ending_transactions(READERS, ACQUIRE)
            .connect_with(options.clone())
            .await?;
        let mut connection = readers.acquire().await?;
        if mode == OpenMode::ReadOnly && !check_schema(&mut connection).await? {
            let version: Option<i64> =
                sqlx::query_scalar("SELECT max(version) FROM _sqlx_migrations")
                    .fetch_one(&mut *connection)
                    .await?;
            let version = version.unwrap_or_default();
            return Err(AuditError::Older { version });
        }
        drop(connection);
        Ok(Self {
            writer: readers.clone(),
            copier: readers.clone(),
            reserved: readers.clone(),
            readers,
            files: None,
            beside: Arc::new(Semaphore::new(1)),
            anchor: Arc::default(),
        })
    }

    pub(super) fn check(&self) -> Result<(), AuditError> {
        match &self.files {
            // A closed store says so itself; its log is gone with it.
            Some(files) if !self.writer.is_closed() => files.check(),
            _ => Ok(()),
        }
    }

    pub(super) fn anchor(&self) -> &Anchor {
        &self.anchor
    }

    /// Reads the file without its log for the first time; `None` in memory.
    pub(in crate::audit) async fn file_state(&self) -> Result<Option<FileState>, AuditError> {
        let Some(files) = &self.files else {
            return Ok(None);
        };
        // The head is in the file from now on, if no other process is in the way.
        let mut connection = self.writer.acquire().await?;
        let _ = sqlx::query("PRAGMA wal_checkpoint(FULL)")
            .execute(&mut *connection)
            .await;
        drop(connection);
        for _ in 0..READS {
            if let Ok(state) = files.state().await {
                return Ok(Some(state));
            }
            tokio::time::sleep(READ_AGAIN).await;
        }
        let stamp = files.stamp()?;
        Ok(Some(FileState { stamp, head: None }))
    }

    /// Returns whether the file without its log was written to after a known state, which a checkpoint
    /// does.
    pub(in crate::audit) fn has_new_contents(&self, known: &FileState) -> Result<bool, AuditError> {
        match &self.files {
            Some(files) => Ok(files.stamp()? != known.stamp),
            None => Ok(false),
        }
    }

    /// The state of the file without its log; `None` while a checkpoint writes it.
    pub(in crate::audit) async fn contents(&self) -> Option<FileState> {
        self.files.as_ref()?.state().await.ok()
    }

    /// The error of a file whose state is not on the way to the known head.
    pub(in crate::audit) fn replaced(&self) -> Option<AuditError> {
        self.files.as_ref().map(|files| replaced(&files.path))
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

    pub(super) fn beside(&self) -> Option<ReadPermit> {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let connections = self.readers.options().get_max_connections();
        let more = cores.min(BESIDE).min(connections as usize) - 1;
        let turn = match more {
            0 => None,
            _ => Arc::clone(&self.beside).try_acquire_owned().ok(),
        };
        turn.map(|turn| ReadPermit { more, _turn: turn })
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

/// Carries the log over and empties it, unless another process reads or writes: this one waits for
/// none. SQLite itself does not begin the log of a database anew that each process only opens.
async fn empty_log(writer: &SqlitePool, busy: Duration) -> Result<(), AuditError> {
    let mut connection = writer.acquire().await?;
    // A log that stays as it is takes longer to read, and no more.
    let _ = sqlx::raw_sql("PRAGMA busy_timeout = 0; PRAGMA wal_checkpoint(TRUNCATE)")
        .execute(&mut *connection)
        .await;
    sqlx::raw_sql(AssertSqlSafe(format!(
        "PRAGMA busy_timeout = {}",
        busy.as_millis()
    )))
    .execute(&mut *connection)
    .await?;
    Ok(())
}

/// Reads something, which needs the log and its index if there are any.
async fn first_look(options: &SqliteConnectOptions) -> Result<(), AuditError> {
    let mut connection = options.connect().await?;
    sqlx::query("SELECT count(*) FROM sqlite_schema")
        .execute(&mut connection)
        .await?;
    connection.close().await?;
    Ok(())
}

/// Brings the schema up to date, if it is one that the migrations made.
async fn migrate(writer: &SqlitePool, anchor: &Anchor) -> Result<(), AuditError> {
    let mut tries = 0;
    loop {
        let done = async {
            let mut connection = writer.acquire().await?;
            let mark: i64 = sqlx::query_scalar("PRAGMA schema_version")
                .fetch_one(&mut *connection)
                .await?;
            // One state: another process may be making the tables.
            sqlx::query("BEGIN").execute(&mut *connection).await?;
            let is_newest = check_schema(&mut connection).await;
            sqlx::query("ROLLBACK").execute(&mut *connection).await?;
            if is_newest? {
                anchor.compared(mark);
                return Ok(());
            }
            // Not before: the checksums of the migrations are 2 % of the instructions of `ls -la`.
            let migrator = migrator(&MIGRATIONS);
            migrator.run_direct(None, &mut *connection, false).await?;
            Ok(())
        };
        let error: AuditError = match done.await {
            Ok(()) => return Ok(()),
            Err(error) => error,
        };
        // Another process may be making the same file just now.
        tries += 1;
        if tries == TRIES || !matches!(error, AuditError::Locked | AuditError::Database { .. }) {
            return Err(error);
        }
        tokio::time::sleep(AGAIN).await;
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
fn ending_transactions(connections: u32, acquire: Duration) -> SqlitePoolOptions {
    SqlitePoolOptions::new()
        .max_connections(connections)
        .acquire_timeout(acquire)
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

#[cfg(test)]
mod tests {
    use super::*;

    /// `HOOKS_WRITE=1` writes the file that is compared here.
    #[tokio::test]
    async fn the_written_schema_is_the_one_that_the_migrations_make() {
        let all = MIGRATIONS.map(|(version, ..)| version);
        let made = made_by(&all).await.expect("a schema");
        if std::env::var_os("HOOKS_WRITE").is_some() {
            let path = concat!(env!("CARGO_MANIFEST_DIR"), "/migrations/sqlite/schema.txt");
            fs::write(path, format!("{made}\n")).expect("written");
        } else {
            assert_eq!(made, SCHEMA.trim_end(), "run this test with HOOKS_WRITE=1");
        }
    }
}
