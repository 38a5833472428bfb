//! SQLite: one file, which several processes may share. Takes a path; returns transactions, and
//! checks that the file is still the file that was opened.

use std::io::Read;
use std::ops::{Deref, DerefMut};
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
use super::queue::{QueueTurn, WriteQueue};
use super::snapshot::{FileLocation, SnapshotReader, unwound};
use crate::audit::anchor::{Anchor, FileState, Stamp};
use crate::audit::error::AuditError;
use crate::audit::head::Head;
use crate::files::{open, with_end};

/// Lock timeout of a statement. A request must be answered within one second, even if another
/// process hangs during a write.
const BUSY_TIMEOUT: Duration = Duration::from_millis(400);

/// Lock timeout in a process that records a single decision. Processes that queue do not lock each
/// other out, so the lock is that of a service or of another program.
const ONE_SHOT_BUSY_TIMEOUT: Duration = Duration::from_millis(300);

/// Lock timeout of a backup.
const BACKUP_BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Timeout for acquiring a connection of this process, including the time to open it.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(5);

/// Maximum number of concurrent readers, including the reader that polls for changes.
const MAX_READERS: u32 = 7;

/// Number of connections for reserved readers.
const RESERVED_CONNECTIONS: u32 = 2;

/// Number of additional connections that one large read may hold.
const MAX_EXTRA_CONNECTIONS: usize = 3;

/// Size of the write-ahead log, in pages, from which a process that records a single decision runs
/// a checkpoint. Such a process does not close the file, and the next process has to read the log
/// first.
const CHECKPOINT_PAGES: u64 = 250;

/// Bytes of a page in the write-ahead log.
const LOG_PAGE_BYTES: u64 = 4096 + 24;

/// Maximum number of attempts to create the tables of a new file, and the delay between them.
const MAX_ATTEMPTS: u32 = 20;
const RETRY_DELAY: Duration = Duration::from_millis(50);

/// Maximum number of attempts to read the file without its write-ahead log, and the delay between
/// them: a checkpoint may be writing to the file.
pub(in crate::audit) const MAX_READ_ATTEMPTS: u32 = 50;
pub(in crate::audit) const READ_RETRY_DELAY: Duration = Duration::from_millis(10);

/// Migrations in order. Released entries never change.
const MIGRATIONS: [(i64, &str, &str); 6] = [
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
    (
        6,
        "ran command",
        include_str!("../../../migrations/sqlite/0006_ran_command.sql"),
    ),
];

/// The schema that [`MIGRATIONS`] produce, as returned by [`SCHEMA_QUERY`]. A test keeps it up to
/// date; if it differs, opening a database only takes longer.
const SCHEMA: &str = include_str!("../../../migrations/sqlite/schema.txt");

/// Returns a line for each object of the schema except the migrations table: type, name, table and
/// definition.
const SCHEMA_QUERY: &str = "SELECT coalesce(group_concat(
        json_array(type, name, tbl_name, sql), char(10) ORDER BY type, name), '')
     FROM sqlite_schema
     WHERE sql IS NOT NULL AND NOT (type = 'table' AND name = '_sqlx_migrations')";

#[derive(Clone, Debug)]
pub(in crate::audit) struct Sqlite {
    writer: SqlitePool,
    /// The writer's pool for an in-memory database: each connection would open a separate database.
    readers: SqlitePool,
    /// Connections for reserved readers; the writer's pool for an in-memory database.
    reserved: SqlitePool,
    /// Connections for backups. Readers may not write, not even to a copy, and backups must not
    /// delay records. The writer's pool for an in-memory database.
    copier: SqlitePool,
    /// Detects a deleted or replaced database file; `None` for an in-memory database.
    files: Option<Arc<OpenFiles>>,
    /// The file for [`SnapshotReader`]s; `None` for an in-memory database.
    location: Option<FileLocation>,
    /// Queue for the write transactions of a process that records a single decision.
    queue: Option<WriteQueue>,
    beside: Arc<Semaphore>,
    anchor: Arc<Anchor>,
}

/// A connection in a transaction, or for a single statement.
#[derive(Debug)]
pub(in crate::audit) struct SqliteTx {
    // Field order matters: the transaction ends before the next process gets its turn.
    connection: PoolConnection<sqlx::Sqlite>,
    _turn: Option<QueueTurn>,
}

impl SqliteTx {
    fn without_turn(connection: PoolConnection<sqlx::Sqlite>) -> Self {
        Self {
            connection,
            _turn: None,
        }
    }
}

impl Deref for SqliteTx {
    type Target = SqliteConnection;

    fn deref(&self) -> &SqliteConnection {
        &self.connection
    }
}

impl DerefMut for SqliteTx {
    fn deref_mut(&mut self) -> &mut SqliteConnection {
        &mut self.connection
    }
}

/// The files of a database, as they were when it was opened.
#[derive(Debug)]
struct OpenFiles {
    path: PathBuf,
    database: FileId,
    /// The write-ahead log and its index, which exist as long as the database is open.
    logs: Vec<(PathBuf, FileId)>,
    /// If `true`, the file had content. A file that is emptied later is not a database.
    has_pages: bool,
}

fn replaced(path: &Path) -> AuditError {
    AuditError::Replaced {
        path: path.display().to_string(),
    }
}

/// Device and inode of a file. While a file is open, no other file has its inode.
type FileId = (u64, u64);

fn file_id(path: &Path) -> io::Result<FileId> {
    let file = fs::metadata(path)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        Ok((file.dev(), file.ino()))
    }
    // Windows does not allow an open file to be deleted or replaced.
    #[cfg(not(unix))]
    {
        let _ = file;
        Ok((0, 0))
    }
}

impl OpenFiles {
    /// Adds the write-ahead log of a database that is open now.
    fn with_log(mut self) -> Self {
        for end in ["-wal", "-shm"] {
            let log = with_end(&self.path, end);
            let id = file_id(&log).ok();
            self.logs.extend(id.map(|id| (log, id)));
        }
        self.has_pages = fs::metadata(&self.path).is_ok_and(|file| file.len() > 0);
        self
    }

    /// Returns the length of the write-ahead log in bytes; 0 without a log.
    fn log_length(&self) -> u64 {
        let mut logs = self.logs.iter().take(1);
        let length = logs.next().and_then(|(log, _)| fs::metadata(log).ok());
        length.map_or(0, |log| log.len())
    }

    /// Checks that the paths still refer to the open files.
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

    /// Reads the head in the file without its write-ahead log, which belongs to an earlier commit.
    /// Other pages may belong to other commits: a checkpoint skips pages that are being read.
    async fn state(&self) -> Result<FileState, sqlx::Error> {
        let io = |error: AuditError| sqlx::Error::Io(io::Error::other(error));
        let stamp = self.stamp().map_err(io)?;
        let mut connection = SqliteConnectOptions::new()
            .filename(&self.path)
            .read_only(true)
            // Without the write-ahead log and without locks: SQLite keeps the locks of its other
            // connections.
            .immutable(true)
            // Lets SQLite read a file that is shorter than its header declares.
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
        let damaged = || sqlx::Error::Decode("the hash is not 32 bytes long".into());
        Ok(FileState {
            stamp,
            head: match head {
                Some((seq, hash)) => Some((seq, hash.try_into().map_err(|_| damaged())?)),
                None => None,
            },
        })
    }
}

/// Compares the schema with the schema that the migrations produce. Returns `true` if all
/// migrations were applied.
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
    let expected = schema_of_migrations(&versions).await?;
    match difference(&found, &expected) {
        Some((difference, remedy)) => Err(AuditError::Schema { difference, remedy }),
        None => Ok(is_newest),
    }
}

/// Returns `true` if every table of the trail exists and is a plain table.
pub(super) async fn has_plain_tables(
    connection: &mut SqliteConnection,
) -> Result<bool, AuditError> {
    // An object without a root page is a view or a virtual table, whatever its declared type.
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

/// Returns the schema that some of the migrations produce.
async fn schema_of_migrations(versions: &[i64]) -> Result<String, AuditError> {
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

/// Returns the first object that only one of two schemas contains, and the statement that removes
/// it.
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
                return Some(("unexpected object without a name".to_owned(), restore));
            };
            let is_ours = expected
                .iter()
                .filter_map(|line| object(line))
                .any(|[a, b, _]| (a.as_str(), b.as_str()) == (kind.as_str(), name.as_str()));
            Some(match is_ours {
                true => (
                    format!("{kind} `{name}` has a different definition"),
                    restore,
                ),
                false => {
                    let on = match kind.as_str() {
                        "trigger" | "index" => format!(" on `{table}`"),
                        _ => String::new(),
                    };
                    let quoted = name.replace('"', "\"\"");
                    let remedy = format!("DROP {} \"{quoted}\"", kind.to_uppercase());
                    (format!("unexpected {kind} `{name}`{on}"), remedy)
                }
            })
        }
        (None, Some(line)) => {
            let object = object(line);
            let [kind, name, _] = object.unwrap_or_default();
            Some((format!("missing {kind} `{name}`"), restore))
        }
    }
}

impl Sqlite {
    /// Opens a database file, or an in-memory database if `path` is `None`.
    pub(super) async fn open(path: Option<&Path>, mode: OpenMode) -> Result<Self, AuditError> {
        if matches!(mode, OpenMode::ReadOnly | OpenMode::Unchecked)
            && let Some(path) = path
        {
            return Self::open_read_only(path, mode).await;
        }
        let busy = match mode {
            OpenMode::Pooled | OpenMode::ReadOnly | OpenMode::Unchecked => BUSY_TIMEOUT,
            OpenMode::OneShot => ONE_SHOT_BUSY_TIMEOUT,
        };
        let options = SqliteConnectOptions::new()
            .foreign_keys(false)
            .busy_timeout(busy);
        let mut files = None;
        let mut queue = None;
        let mut turn = None;
        let (options, writing) = if let Some(path) = path {
            let path = prepare(path)?;
            let waiting = queue.insert(WriteQueue::of(&path));
            let mut is_new = !has_log(&path);
            if is_new {
                let first = waiting.wait().await?;
                is_new = !has_log(&path);
                // Otherwise, another process has created the tables meanwhile.
                turn = is_new.then_some(first);
            }
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
            // The file keeps these. Setting them anew would be a write transaction, outside of the
            // queue; and SQLite does not wait for the lock that switches to the write-ahead log.
            let writing = match is_new {
                true => options
                    .clone()
                    .auto_vacuum(SqliteAutoVacuum::Incremental)
                    .journal_mode(SqliteJournalMode::Wal),
                false => options.clone(),
            };
            (options, writing)
        } else {
            // Not the driver's flag, which would also create backups in memory.
            let options = options.filename(":memory:");
            (options.clone(), options)
        };
        let writing = match mode {
            OpenMode::Pooled | OpenMode::ReadOnly | OpenMode::Unchecked => writing,
            OpenMode::OneShot => writing.pragma("wal_autocheckpoint", CHECKPOINT_PAGES.to_string()),
        };
        let writing = writing
            .synchronous(SqliteSynchronous::Full)
            // Deleted content must not remain readable in the file.
            .pragma("secure_delete", "ON");
        let anchor = Anchor::default();
        let opened = async {
            let writer = ending_transactions(1)
                .min_connections(1)
                .idle_timeout(None)
                .max_lifetime(None)
                .connect_with(writing)
                .await?;
            migrate(&writer, &anchor, queue.as_ref(), &mut turn).await?;
            Ok(writer)
        };
        let opened = opened.await;
        if let Some(turn) = &mut turn {
            turn.note(&opened);
        }
        let writer = opened?;
        let files = files.map(|files| Arc::new(files.with_log()));
        if let Some(files) = files.as_ref().filter(|_| mode == OpenMode::OneShot)
            && files.log_length() > CHECKPOINT_PAGES * LOG_PAGE_BYTES
            && let Some(_turn) = turn.or_else(|| queue.as_ref()?.try_take())
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
                .acquire_timeout(BACKUP_BUSY_TIMEOUT)
                .idle_timeout(None)
                .max_lifetime(None)
                // Backups are rare: each opens a connection and closes it.
                .after_release(|_, _| Box::pin(async { Ok(false) }))
                .connect_lazy_with(options.clone().busy_timeout(BACKUP_BUSY_TIMEOUT));
            let reading = options.pragma("query_only", "ON");
            let reserved =
                ending_transactions(RESERVED_CONNECTIONS).connect_lazy_with(reading.clone());
            let readers = ending_transactions(MAX_READERS)
                .connect_with(reading)
                .await?;
            (readers, reserved, copier)
        };
        let location = files.as_ref().map(|files| FileLocation {
            path: files.path.clone(),
            is_immutable: false,
        });
        let opened = Self {
            location,
            writer,
            readers,
            reserved,
            copier,
            files,
            queue: queue.filter(|_| mode == OpenMode::OneShot),
            beside: Arc::new(Semaphore::new(1)),
            anchor: Arc::new(anchor),
        };
        // The file may have been replaced before the connections were opened.
        opened.check()?;
        Ok(opened)
    }

    /// Opens a read-only file. The file is treated as immutable only if its folder is read-only,
    /// too, and no process has a write-ahead log for it.
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
            .busy_timeout(BACKUP_BUSY_TIMEOUT)
            .read_only(true);
        let mut is_immutable = false;
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
                is_immutable = true;
                options
            }
            Err(error) => return Err(error),
        };
        let readers = ending_transactions(MAX_READERS)
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
            location: Some(FileLocation { path, is_immutable }),
            queue: None,
            beside: Arc::new(Semaphore::new(1)),
            anchor: Arc::default(),
        })
    }

    pub(super) fn check(&self) -> Result<(), AuditError> {
        match &self.files {
            // A closed store reports its own error; its write-ahead log no longer exists.
            Some(files) if !self.writer.is_closed() => files.check(),
            _ => Ok(()),
        }
    }

    pub(super) fn anchor(&self) -> &Anchor {
        &self.anchor
    }

    /// Reads the file without its write-ahead log for the first time; returns `None` for an
    /// in-memory database.
    pub(in crate::audit) async fn file_state(&self) -> Result<Option<FileState>, AuditError> {
        let Some(files) = &self.files else {
            return Ok(None);
        };
        // The head is in the file from now on, unless another process blocks the checkpoint.
        let mut connection = self.writer.acquire().await?;
        let _ = sqlx::query("PRAGMA wal_checkpoint(FULL)")
            .execute(&mut *connection)
            .await;
        drop(connection);
        for _ in 0..MAX_READ_ATTEMPTS {
            if let Ok(state) = files.state().await {
                return Ok(Some(state));
            }
            tokio::time::sleep(READ_RETRY_DELAY).await;
        }
        let stamp = files.stamp()?;
        Ok(Some(FileState { stamp, head: None }))
    }

    /// Returns `true` if the file without its write-ahead log changed since a known state, for
    /// example by a checkpoint.
    pub(in crate::audit) fn has_new_contents(&self, known: &FileState) -> Result<bool, AuditError> {
        match &self.files {
            Some(files) => Ok(files.stamp()? != known.stamp),
            None => Ok(false),
        }
    }

    /// Returns the state of the file without its write-ahead log; `None` while a checkpoint writes
    /// it.
    pub(in crate::audit) async fn contents(&self) -> Option<FileState> {
        self.files.as_ref()?.state().await.ok()
    }

    /// Returns the error for a file whose state does not lead to the known head.
    pub(in crate::audit) fn replaced(&self) -> Option<AuditError> {
        self.files.as_ref().map(|files| replaced(&files.path))
    }

    /// Returns a handle to this database that reads through reserved connections.
    pub(super) fn reserved(&self) -> Self {
        Self {
            readers: self.reserved.clone(),
            ..self.clone()
        }
    }

    pub(super) async fn read(&self) -> Result<SqliteTx, AuditError> {
        self.check()?;
        let mut connection = self.readers.acquire().await?;
        sqlx::query("BEGIN").execute(&mut *connection).await?;
        Ok(SqliteTx::without_turn(connection))
    }

    pub(super) async fn acquire(&self) -> Result<SqliteTx, AuditError> {
        self.check()?;
        let connection = self.readers.acquire().await?;
        Ok(SqliteTx::without_turn(connection))
    }

    pub(super) async fn write(&self) -> Result<(SqliteTx, Head), AuditError> {
        let mut turn = match &self.queue {
            Some(queue) => Some(queue.wait().await?),
            None => None,
        };
        self.check()?;
        let mut connection = self.writer.acquire().await?;
        let began = Head::begin(&mut connection).await;
        if let Some(turn) = &mut turn {
            turn.note(&began);
        }
        let tx = SqliteTx {
            connection,
            _turn: turn,
        };
        Ok((tx, began?))
    }

    /// Returns readers of the current snapshot; none if they cannot be opened, and `None` if the
    /// snapshot has another head.
    pub(super) async fn snapshot_readers(
        &self,
        count: usize,
        head: Head,
    ) -> Result<Option<Vec<SnapshotReader>>, AuditError> {
        let Some(location) = self.location.clone() else {
            return Ok(Some(Vec::new()));
        };
        let opening = tokio::task::spawn_blocking(move || {
            let mut readers = Vec::with_capacity(count);
            for _ in 0..count {
                let reader = SnapshotReader::open(&location)?;
                if !reader.begin(&head)? {
                    return Ok(None);
                }
                readers.push(reader);
            }
            Ok::<_, rusqlite::Error>(Some(readers))
        });
        // Without readers, the transaction reads everything, and returns the error of the file.
        let readers = unwound(opening.await)?.unwrap_or_else(|_| Some(Vec::new()));
        // The file may have been replaced before the readers were opened.
        self.check()?;
        Ok(readers)
    }

    pub(super) fn read_permit(&self) -> Option<ReadPermit> {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let connections = self.readers.options().get_max_connections();
        let more = cores.min(MAX_EXTRA_CONNECTIONS).min(connections as usize) - 1;
        let turn = match more {
            0 => None,
            _ => Arc::clone(&self.beside).try_acquire_owned().ok(),
        };
        turn.map(|turn| ReadPermit {
            more,
            _permit: turn,
        })
    }

    /// Returns a number that changes when another connection commits.
    pub(in crate::audit) async fn version(
        &self,
        connection: &mut sqlx::SqliteConnection,
    ) -> Result<i64, AuditError> {
        Ok(sqlx::query_scalar("PRAGMA data_version")
            .fetch_one(connection)
            .await?)
    }

    /// Returns a connection for [`version`](Self::version); `None` for an in-memory database, which
    /// has no other writers.
    pub(in crate::audit) async fn version_connection(
        &self,
    ) -> Result<Option<PoolConnection<sqlx::Sqlite>>, AuditError> {
        Ok(match self.files {
            None => None,
            Some(_) => Some(self.readers.acquire().await?),
        })
    }

    /// Returns the space freed by a cleanup to the system.
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

    /// Copies a snapshot of the database; writers continue meanwhile.
    pub(super) async fn backup(&self, path: &Path) -> Result<(), AuditError> {
        self.check()?;
        let failed = |source| AuditError::Create {
            path: path.display().to_string(),
            source: Arc::new(source),
        };
        let whole = plain(path).map_err(failed)?;
        let name = whole
            .to_str()
            .ok_or_else(|| failed(io::Error::other("the path is not valid UTF-8")))?;
        // Create the file here, so that only its owner has access and no existing file is
        // overwritten.
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

/// Checkpoints and truncates the write-ahead log, unless another process reads or writes; does not
/// wait. SQLite never restarts the log of a database that processes only open for a short time.
async fn empty_log(writer: &SqlitePool, busy: Duration) -> Result<(), AuditError> {
    let mut connection = writer.acquire().await?;
    // A log that is not truncated only takes longer to read.
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

/// Runs a first read, which needs the write-ahead log and its index if they exist.
async fn first_look(options: &SqliteConnectOptions) -> Result<(), AuditError> {
    let mut connection = options.connect().await?;
    sqlx::query("SELECT count(*) FROM sqlite_schema")
        .execute(&mut connection)
        .await?;
    connection.close().await?;
    Ok(())
}

/// Returns `true` if a file is a database with a write-ahead log, by the versions in its header.
fn has_log(path: &Path) -> bool {
    let mut header = [0; 20];
    let read = open(path).and_then(|mut file| file.read_exact(&mut header));
    read.is_ok() && header[18..] == [2, 2]
}

/// Migrates the schema if it is one that the migrations produced. Waits for a turn before it
/// changes the schema, unless this process has its turn.
async fn migrate(
    writer: &SqlitePool,
    anchor: &Anchor,
    queue: Option<&WriteQueue>,
    turn: &mut Option<QueueTurn>,
) -> Result<(), AuditError> {
    let mut tries = 0;
    loop {
        let had_turn = turn.is_some();
        let done = async {
            let mut connection = writer.acquire().await?;
            let mark: i64 = sqlx::query_scalar("PRAGMA schema_version")
                .fetch_one(&mut *connection)
                .await?;
            // Use one snapshot: another process may be creating the tables.
            sqlx::query("BEGIN").execute(&mut *connection).await?;
            let is_newest = check_schema(&mut connection).await;
            sqlx::query("ROLLBACK").execute(&mut *connection).await?;
            if is_newest? {
                anchor.set_checked_schema(mark);
                return Ok(true);
            }
            if let Some(queue) = queue.filter(|_| turn.is_none()) {
                *turn = Some(queue.wait().await?);
                // Another process may have created the tables meanwhile.
                return Ok(false);
            }
            // Not before: the checksums of the migrations are 2 % of the instructions of `ls -la`.
            let migrator = migrator(&MIGRATIONS);
            migrator.run_direct(None, &mut *connection, false).await?;
            Ok(true)
        };
        let error: AuditError = match done.await {
            Ok(true) => return Ok(()),
            Ok(false) => continue,
            Err(error) => error,
        };
        // A process that does not queue may be creating the tables at this moment.
        tries += 1;
        let is_transient = match error {
            AuditError::Locked => !had_turn,
            AuditError::Database { .. } => true,
            _ => false,
        };
        if tries == MAX_ATTEMPTS || !is_transient {
            return Err(error);
        }
        tokio::time::sleep(RETRY_DELAY).await;
    }
}

/// Returns a pool that ends the transaction of each returned connection. SQLite ends a transaction
/// itself if the disk is full or fails; the driver would then treat it as open for ever.
fn ending_transactions(connections: u32) -> SqlitePoolOptions {
    SqlitePoolOptions::new()
        .max_connections(connections)
        .acquire_timeout(ACQUIRE_TIMEOUT)
        .test_before_acquire(false)
        .after_release(|connection, _| {
            Box::pin(async move {
                // Fails if there is no transaction.
                let _ = sqlx::query("ROLLBACK").execute(connection).await;
                Ok(true)
            })
        })
}

/// Creates the folder and the file with access for their owner only. SQLite copies these
/// permissions to the files beside it.
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

/// Returns a name that SQLite parses as a path: a name such as `file:x` would be parsed as a URI.
fn plain(path: &Path) -> io::Result<PathBuf> {
    std::path::absolute(path)
}

/// Returns options that create new files with access for their owner only.
fn private() -> fs::OpenOptions {
    let mut file = fs::OpenOptions::new();
    file.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut file, 0o600);
    file
}

#[cfg(test)]
impl Sqlite {
    /// Limits the size of the database: SQLite reports this limit like a full disk.
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

    /// With `HOOKS_WRITE=1`, writes the file that this test compares.
    #[tokio::test]
    async fn the_schema_file_equals_the_schema_of_the_migrations() {
        let all = MIGRATIONS.map(|(version, ..)| version);
        let made = schema_of_migrations(&all).await.expect("a schema");
        if std::env::var_os("HOOKS_WRITE").is_some() {
            let path = concat!(env!("CARGO_MANIFEST_DIR"), "/migrations/sqlite/schema.txt");
            fs::write(path, format!("{made}\n")).expect("written");
        } else {
            assert_eq!(made, SCHEMA.trim_end(), "run this test with HOOKS_WRITE=1");
        }
    }
}
