//! PostgreSQL: one trail for several instances. Takes a URL; returns transactions, and checks that
//! the schema is the one that the migrations produce.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgConnection, PgListener, PgPool, PgPoolOptions};
use sqlx::{ConnectOptions, Connection};

use super::mode::{OpenMode, migrator};
use crate::audit::anchor::Anchor;
use crate::audit::error::AuditError;
use crate::audit::head::CHANNEL;

/// Timeout for acquiring a connection.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(5);

/// Maximum number of concurrent readers.
const MAX_READERS: u32 = 8;

/// Number of connections for reserved readers.
const RESERVED_CONNECTIONS: u32 = 2;

/// Migrations in order. Released entries never change.
const MIGRATIONS: [(i64, &str, &str); 6] = [
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
    (
        4,
        "scope of an approval",
        include_str!("../../../migrations/postgres/0004_approval_scope.sql"),
    ),
    (
        5,
        "ended",
        include_str!("../../../migrations/postgres/0005_ended.sql"),
    ),
    (
        6,
        "ran command",
        include_str!("../../../migrations/postgres/0006_ran_command.sql"),
    ),
];

/// The tables of the trail, as a list for SQL.
macro_rules! tables {
    () => {
        "('cleanups', 'decisions', 'gaps', 'head', 'log', 'remembered', 'searched', 'tallies', \
         'times', 'used')"
    };
}

/// Returns a line for everything in the schema `$1` that runs code on the tables or affects what
/// they return. Schema names are omitted.
const SCHEMA_QUERY: &str = concat!(
    "WITH tables AS (SELECT c.* FROM pg_catalog.pg_class c
        WHERE c.relnamespace = $1::bigint::oid AND c.relname IN ",
    tables!(),
    ")
    SELECT line FROM (
        SELECT concat('table ', relname, ' of kind ', relkind::text,
            CASE WHEN relrowsecurity THEN ' with row security' END,
            CASE WHEN relhassubclass THEN ' with children' END) AS line FROM tables
        UNION ALL SELECT concat('column ', a.attname, ' of ', t.relname, ' ',
            pg_catalog.format_type(a.atttypid, a.atttypmod), ' ', l.collname,
            CASE WHEN a.attnotnull THEN ' not null' END, ' ', a.attgenerated::text,
            a.attidentity::text, pg_catalog.pg_get_expr(d.adbin, d.adrelid))
          FROM tables t JOIN pg_catalog.pg_attribute a ON a.attrelid = t.oid
          LEFT JOIN pg_catalog.pg_attrdef d ON d.adrelid = t.oid AND d.adnum = a.attnum
          LEFT JOIN pg_catalog.pg_collation l ON l.oid = a.attcollation
          WHERE a.attnum > 0 AND NOT a.attisdropped
        UNION ALL SELECT concat('index ', i.relname, ' on ', t.relname, ': ',
            regexp_replace(pg_catalog.pg_get_indexdef(i.oid), ' ON [^ ]+ ', ' '))
          FROM tables t JOIN pg_catalog.pg_index x ON x.indrelid = t.oid
          JOIN pg_catalog.pg_class i ON i.oid = x.indexrelid
        UNION ALL SELECT concat('constraint ', c.conname, ' on ', t.relname, ': ',
            pg_catalog.pg_get_constraintdef(c.oid))
          FROM tables t JOIN pg_catalog.pg_constraint c ON c.conrelid = t.oid
          WHERE c.contype <> 'n'
        UNION ALL SELECT concat('trigger ', g.tgname, ' on ', t.relname)
          FROM tables t JOIN pg_catalog.pg_trigger g ON g.tgrelid = t.oid
          WHERE NOT g.tgisinternal
        UNION ALL SELECT concat('rule ', r.rulename, ' on ', t.relname)
          FROM tables t JOIN pg_catalog.pg_rewrite r ON r.ev_class = t.oid
        UNION ALL SELECT concat('policy ', p.polname, ' on ', t.relname)
          FROM tables t JOIN pg_catalog.pg_policy p ON p.polrelid = t.oid
    ) AS lines ORDER BY line"
);

/// Number of tables of the trail.
const TABLE_COUNT: i64 = 10;

/// Returns, for each schema in the search path, how many of the tables it contains and how many of
/// those resolve by their unqualified names.
const PLACES_QUERY: &str = concat!(
    "SELECT n.nspname::text, count(*),
        count(*) FILTER (WHERE pg_catalog.pg_table_is_visible(c.oid))
     FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = ANY(current_schemas(false)) AND c.relname IN ",
    tables!(),
    " GROUP BY n.nspname ORDER BY array_position(current_schemas(false), n.nspname)"
);

/// Returns the triggers, rules and similar objects on the tables, for any schema version.
const ACTIVE_QUERY: &str = concat!(
    "WITH tables AS (SELECT c.* FROM pg_catalog.pg_class c
        WHERE pg_catalog.pg_table_is_visible(c.oid)
            AND c.relname IN ('_sqlx_migrations', ",
    "'cleanups', 'decisions', 'gaps', 'head', 'log', 'remembered', 'searched', 'tallies', \
     'times', 'used')",
    ")
    SELECT concat('table ', relname, ' of kind ', relkind::text) FROM tables WHERE relkind <> 'r'
    UNION ALL SELECT concat('trigger ', g.tgname, ' on ', t.relname)
      FROM tables t JOIN pg_catalog.pg_trigger g ON g.tgrelid = t.oid WHERE NOT g.tgisinternal
    UNION ALL SELECT concat('rule ', r.rulename, ' on ', t.relname)
      FROM tables t JOIN pg_catalog.pg_rewrite r ON r.ev_class = t.oid
    UNION ALL SELECT concat('policy ', p.polname, ' on ', t.relname)
      FROM tables t JOIN pg_catalog.pg_policy p ON p.polrelid = t.oid
    UNION ALL SELECT concat('row security on ', relname) FROM tables WHERE relrowsecurity
    UNION ALL SELECT concat('constraint ', c.conname, ' on ', t.relname)
      FROM tables t JOIN pg_catalog.pg_constraint c ON c.conrelid = t.oid
      WHERE c.contype = 'c' AND (t.relname, c.conname) <> ('head', 'head_one_check')
    UNION ALL SELECT concat('default of ', a.attname, ' of ', t.relname)
      FROM tables t JOIN pg_catalog.pg_attrdef d ON d.adrelid = t.oid
      JOIN pg_catalog.pg_attribute a ON a.attrelid = t.oid AND a.attnum = d.adnum
      WHERE t.relname <> '_sqlx_migrations'
    LIMIT 1"
);

#[derive(Clone, Debug)]
pub(in crate::audit) struct Postgres {
    writer: PgPool,
    readers: PgPool,
    /// The schema that the migrations produce on this server; `None` if it was not determined, as
    /// in a process that records a single decision.
    expected: Option<Arc<[String]>>,
    anchor: Arc<Anchor>,
    /// Connections for reserved readers.
    reserved: PgPool,
}

impl Postgres {
    pub(super) async fn open(url: &str, mode: OpenMode) -> Result<Self, AuditError> {
        let options: PgConnectOptions =
            url.parse()
                .map_err(|error: sqlx::Error| AuditError::Unreachable {
                    source: Arc::new(error),
                })?;
        let options = options
            .application_name("hooks-guard")
            // Overrides the server's default: a decision is on disk before its response is sent.
            .options([
                ("synchronous_commit", "on"),
                ("lock_timeout", "900ms"),
                // An instance that hangs during a write must not block the others.
                ("idle_in_transaction_session_timeout", "10s"),
            ]);
        let writer = PgPoolOptions::new()
            .max_connections(match mode {
                OpenMode::ReadOnly | OpenMode::Unchecked => MAX_READERS,
                _ => 1,
            })
            .acquire_timeout(ACQUIRE_TIMEOUT)
            .connect_with(options.clone())
            .await
            .map_err(convert_error)?;
        let mut connection = writer.acquire().await.map_err(convert_error)?;
        if mode == OpenMode::Unchecked {
            drop(connection);
            return Ok(Self {
                readers: writer.clone(),
                reserved: writer.clone(),
                writer,
                // A standby cannot create the tables to compare with.
                expected: migrated_schema(&options).await.ok().map(Into::into),
                anchor: Arc::default(),
            });
        }
        check_active(&mut connection).await?;
        if mode == OpenMode::ReadOnly {
            check_version(&mut connection).await?;
            drop(connection);
            return Ok(Self {
                readers: writer.clone(),
                reserved: writer.clone(),
                writer,
                expected: None,
                anchor: Arc::default(),
            });
        }
        // Instances that start simultaneously wait for each other.
        sqlx::raw_sql("SET lock_timeout = '30s'")
            .execute(&mut *connection)
            .await?;
        migrator(&MIGRATIONS)
            .run_direct(None, &mut *connection, false)
            .await?;
        sqlx::raw_sql("SET lock_timeout = '900ms'")
            .execute(&mut *connection)
            .await?;
        drop(connection);
        let expected = match mode {
            OpenMode::Pooled => Some(migrated_schema(&options).await?.into()),
            OpenMode::OneShot | OpenMode::ReadOnly | OpenMode::Unchecked => None,
        };
        let reserved = PgPoolOptions::new()
            .max_connections(RESERVED_CONNECTIONS)
            .acquire_timeout(ACQUIRE_TIMEOUT)
            .connect_lazy_with(options.clone());
        let readers = PgPoolOptions::new()
            .max_connections(MAX_READERS)
            .acquire_timeout(ACQUIRE_TIMEOUT)
            .connect_with(options)
            .await
            .map_err(convert_error)?;
        Ok(Self {
            writer,
            readers,
            expected,
            anchor: Arc::default(),
            reserved,
        })
    }

    pub(super) fn anchor(&self) -> &Anchor {
        &self.anchor
    }

    /// Compares the schema with the schema that the migrations produce.
    pub(super) async fn check_schema(
        &self,
        connection: &mut PgConnection,
    ) -> Result<(), AuditError> {
        let Some(expected) = &self.expected else {
            return check_active(connection).await;
        };
        let places: Vec<i64> = sqlx::query_scalar(concat!(
            "SELECT DISTINCT c.relnamespace::oid::bigint FROM pg_catalog.pg_class c
             WHERE pg_catalog.pg_table_is_visible(c.oid) AND c.relname IN ",
            tables!()
        ))
        .fetch_all(&mut *connection)
        .await?;
        let &[place] = places.as_slice() else {
            return Err(AuditError::Schema {
                difference: format!("the tables are in {} schemas", places.len()),
                remedy: "SHOW search_path".to_owned(),
            });
        };
        let found = schema(connection, place).await?;
        if found == **expected {
            return Ok(());
        }
        let planted = found.iter().find(|line| !expected.contains(line));
        let missing = expected.iter().find(|line| !found.contains(line));
        Err(match (planted, missing) {
            (Some(line), _) => planted_object(line),
            (None, line) => AuditError::Schema {
                difference: format!("missing {}", line.map_or("table", String::as_str)),
                remedy: REMEDY.to_owned(),
            },
        })
    }

    /// Returns a handle to this database that reads through reserved connections.
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
            .map_err(convert_error)
    }

    pub(super) async fn write(
        &self,
    ) -> Result<sqlx::Transaction<'static, sqlx::Postgres>, AuditError> {
        self.writer.begin().await.map_err(convert_error)
    }

    /// Returns a listener for the commit notifications of all instances.
    pub(in crate::audit) async fn listener(&self) -> Result<PgListener, AuditError> {
        let mut listener = PgListener::connect_with(&self.readers)
            .await
            .map_err(convert_error)?;
        listener.listen(CHANNEL).await.map_err(convert_error)?;
        Ok(listener)
    }

    /// Completes when an instance notifies of a write, or when a lost connection is restored:
    /// notifications may have been missed in between.
    pub(in crate::audit) async fn wait_for_notification(
        &self,
        listener: &mut PgListener,
    ) -> Result<(), AuditError> {
        listener.try_recv().await.map(drop).map_err(convert_error)
    }

    pub(super) async fn close(&self) {
        self.readers.close().await;
        self.reserved.close().await;
        self.writer.close().await;
    }
}

const REMEDY: &str = "hooks-guard audit verify";

fn planted_object(line: &str) -> AuditError {
    let words: Vec<&str> = line.split(' ').collect();
    let remedy = match words.as_slice() {
        [kind @ ("trigger" | "rule" | "policy"), name, "on", table] => {
            format!("DROP {} \"{name}\" ON \"{table}\"", kind.to_uppercase())
        }
        ["index", name, ..] => format!("DROP INDEX \"{name}\""),
        ["constraint", name, "on", table, ..] => {
            let table = table.trim_end_matches(':');
            format!("ALTER TABLE \"{table}\" DROP CONSTRAINT \"{name}\"")
        }
        _ => REMEDY.to_owned(),
    };
    AuditError::Schema {
        difference: format!("unexpected {line}"),
        remedy,
    }
}

/// Returns `true` if every table of the trail exists and is a plain table.
pub(super) async fn has_plain_tables(connection: &mut PgConnection) -> Result<bool, AuditError> {
    let plain: i64 = sqlx::query_scalar(concat!(
        "SELECT count(*) FROM pg_catalog.pg_class c
         WHERE pg_catalog.pg_table_is_visible(c.oid) AND c.relkind = 'r' AND NOT c.relhasrules
            AND NOT c.relrowsecurity AND NOT c.relhassubclass AND c.relname IN ",
        tables!()
    ))
    .fetch_one(connection)
    .await?;
    Ok(plain == TABLE_COUNT)
}

/// Checks that the tables have no triggers, rules or similar objects, for any schema version.
async fn check_active(connection: &mut PgConnection) -> Result<(), AuditError> {
    let current: Option<String> = sqlx::query_scalar("SELECT current_schema()::text")
        .fetch_one(&mut *connection)
        .await?;
    // A schema earlier in the search path would hide the trail, and a new one would be created
    // there.
    let places: Vec<(String, i64, i64)> = sqlx::query_as(PLACES_QUERY)
        .fetch_all(&mut *connection)
        .await?;
    let has_trail = |&&(_, all, _): &&(String, i64, i64)| all == TABLE_COUNT;
    if let Some((trail, ..)) = places.iter().find(has_trail) {
        let other = places
            .iter()
            .find(|(place, _, visible)| place != trail && *visible > 0);
        let other = match other {
            Some((other, ..)) => Some(other),
            None => current.as_ref().filter(|current| *current != trail),
        };
        if let Some(other) = other {
            return Err(AuditError::Schema {
                difference: format!("schema `{other}` hides tables of the trail in `{trail}`"),
                remedy: format!("DROP SCHEMA \"{other}\""),
            });
        }
    }
    let found: Option<String> = sqlx::query_scalar(ACTIVE_QUERY)
        .fetch_optional(connection)
        .await?;
    match found {
        Some(line) => Err(planted_object(&line)),
        None => Ok(()),
    }
}

/// Checks that all migrations were applied, where none can run.
async fn check_version(connection: &mut PgConnection) -> Result<(), AuditError> {
    let version: Option<i64> = sqlx::query_scalar("SELECT max(version) FROM _sqlx_migrations")
        .fetch_one(connection)
        .await?;
    let version = version.unwrap_or_default();
    let newest = MIGRATIONS.iter().map(|(version, ..)| *version).max();
    match version.cmp(&newest.unwrap_or_default()) {
        std::cmp::Ordering::Less => Err(AuditError::Older { version }),
        std::cmp::Ordering::Equal => Ok(()),
        std::cmp::Ordering::Greater => Err(AuditError::Newer { version }),
    }
}

async fn schema(connection: &mut PgConnection, place: i64) -> Result<Vec<String>, AuditError> {
    Ok(sqlx::query_scalar(SCHEMA_QUERY)
        .bind(place)
        .fetch_all(connection)
        .await?)
}

/// Returns the schema that the migrations produce, as this server formats it. Creates temporary
/// tables on a separate connection.
async fn migrated_schema(options: &PgConnectOptions) -> Result<Vec<String>, AuditError> {
    let mut connection = options.connect().await.map_err(convert_error)?;
    sqlx::raw_sql("BEGIN; SET LOCAL search_path = pg_temp")
        .execute(&mut connection)
        .await?;
    for (_, _, sql) in MIGRATIONS {
        sqlx::raw_sql(sql).execute(&mut connection).await?;
    }
    let place: i64 = sqlx::query_scalar("SELECT pg_catalog.pg_my_temp_schema()::oid::bigint")
        .fetch_one(&mut connection)
        .await?;
    let made = schema(&mut connection, place).await?;
    sqlx::raw_sql("ROLLBACK").execute(&mut connection).await?;
    connection.close().await?;
    Ok(made)
}

/// Converts an error. A server that is down refuses connections or lets them hang until the pool's
/// timeout. For a SQLite file the timeout means that another process holds the lock.
fn convert_error(error: sqlx::Error) -> AuditError {
    match error {
        sqlx::Error::PoolTimedOut => AuditError::Unreachable {
            source: Arc::new(io::Error::new(
                io::ErrorKind::TimedOut,
                "the server does not respond",
            )),
        },
        error => error.into(),
    }
}
