//! PostgreSQL: one trail for several instances.

use std::borrow::Cow;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use sqlx::SqlSafeStr;
use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::postgres::{PgConnectOptions, PgListener, PgPool, PgPoolOptions};

use crate::audit::error::AuditError;

/// How long to wait for a connection, and for somebody else's transaction.
const BUSY: Duration = Duration::from_secs(5);

/// How many may read at a time.
const READERS: u32 = 8;

/// How many more may read who do not queue behind those.
const RESERVED: u32 = 2;

/// What has to be done to an older database, in order. An entry that was released stays as it is.
const MIGRATIONS: [(i64, &str, &str); 3] = [
    (
        1,
        "audit",
        include_str!("../../../migrations/postgres/0001_audit.sql"),
    ),
    (
        2,
        "parts",
        include_str!("../../../migrations/postgres/0002_parts.sql"),
    ),
    (
        3,
        "agent of a search",
        include_str!("../../../migrations/postgres/0003_searched_agent.sql"),
    ),
];

/// On which all instances hear that something was written.
pub(in crate::audit) const CHANNEL: &str = "hooks_guard_audit";

#[derive(Clone, Debug)]
pub(in crate::audit) struct Postgres {
    writer: PgPool,
    readers: PgPool,
    /// For readers that do not queue behind the others.
    reserved: PgPool,
}

impl Postgres {
    pub(super) async fn open(url: &str) -> Result<Self, AuditError> {
        let options: PgConnectOptions =
            url.parse()
                .map_err(|error: sqlx::Error| AuditError::Unreachable {
                    source: Arc::new(error),
                })?;
        let options = options
            .application_name("hooks-guard")
            // Whatever the server's default: a decision is on disk before its answer leaves.
            .options([("synchronous_commit", "on"), ("lock_timeout", "5s")]);
        let writer = PgPoolOptions::new()
            .max_connections(1)
            .acquire_timeout(BUSY)
            .connect_with(options.clone())
            .await
            .map_err(failed)?;
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
        Migrator::with_migrations(migrations.into())
            .run(&writer)
            .await?;
        let reserved = PgPoolOptions::new()
            .max_connections(RESERVED)
            .acquire_timeout(BUSY)
            .connect_lazy_with(options.clone());
        let readers = PgPoolOptions::new()
            .max_connections(READERS)
            .acquire_timeout(BUSY)
            .connect_with(options)
            .await
            .map_err(failed)?;
        Ok(Self {
            writer,
            readers,
            reserved,
        })
    }

    /// The same database, whose readers have connections of their own.
    pub(super) fn reserved(&self) -> Self {
        Self {
            readers: self.reserved.clone(),
            ..self.clone()
        }
    }

    pub(super) async fn read(
        &self,
    ) -> Result<sqlx::Transaction<'static, sqlx::Postgres>, AuditError> {
        self.readers
            .begin_with("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            .await
            .map_err(failed)
    }

    pub(super) async fn write(
        &self,
    ) -> Result<sqlx::Transaction<'static, sqlx::Postgres>, AuditError> {
        self.writer.begin().await.map_err(failed)
    }

    /// What hears of the transactions of every instance.
    pub(in crate::audit) async fn listener(&self) -> Result<PgListener, AuditError> {
        let mut listener = PgListener::connect_with(&self.readers)
            .await
            .map_err(failed)?;
        listener.listen(CHANNEL).await.map_err(failed)?;
        Ok(listener)
    }

    /// Ends when an instance says that it has written, or when the connection was lost and is
    /// there again: then something may have been missed.
    pub(in crate::audit) async fn heard(
        &self,
        listener: &mut PgListener,
    ) -> Result<(), AuditError> {
        listener.try_recv().await.map(drop).map_err(failed)
    }

    pub(super) async fn close(&self) {
        self.readers.close().await;
        self.reserved.close().await;
        self.writer.close().await;
    }
}

/// A server that is down refuses connections or lets them wait, until the pool's time is over. Of
/// a file the same error says that somebody else has it.
fn failed(error: sqlx::Error) -> AuditError {
    match error {
        sqlx::Error::PoolTimedOut => AuditError::Unreachable {
            source: Arc::new(io::Error::new(
                io::ErrorKind::TimedOut,
                "it does not answer",
            )),
        },
        error => error.into(),
    }
}
