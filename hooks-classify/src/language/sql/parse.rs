//! SQL text in, effects of its statements out.

use sqlparser::ast::{CopyTarget, Statement};
use sqlparser::dialect::{Dialect, GenericDialect, MySqlDialect, PostgreSqlDialect, SQLiteDialect};
use sqlparser::parser::Parser;

use super::statement::statement_effect;
use crate::tables::Effect;

/// Maximum length of a text that is parsed, in bytes. The depth of a parsed expression grows with its
/// length: `1+1+1…` is as deep as it has signs.
const MAX_BYTES: usize = 64 << 10;
/// Length from which a text is parsed on a stack of its own, in bytes.
const SHORT: usize = 200;
/// Size of that stack, in bytes: enough for [`MAX_BYTES`] in a build without optimisation. The system
/// provides memory only for the part that is used.
const STACK: usize = 1 << 30;

/// A statement of a text.
pub(super) struct Parsed {
    pub(super) effect: Effect,
    pub(super) reason: String,
    /// The shell command that `COPY … PROGRAM` runs.
    pub(super) program: Option<String>,
}

/// Parses a text in the dialect of a client. Returns `None` if the text is not SQL, or too long.
pub(super) fn statements(text: &str, client: &str) -> Option<Vec<Parsed>> {
    match text.len() {
        0..SHORT => parsed(text, client),
        SHORT..=MAX_BYTES => std::thread::scope(|scope| {
            std::thread::Builder::new()
                .stack_size(STACK)
                .spawn_scoped(scope, || parsed(text, client))
                .ok()?
                .join()
                .ok()?
        }),
        _ => None,
    }
}

fn parsed(text: &str, client: &str) -> Option<Vec<Parsed>> {
    let of_dialect = Parser::parse_sql(dialect(client), text);
    let statements = of_dialect.or_else(|_| Parser::parse_sql(&GenericDialect {}, text));
    Some(statements.ok()?.iter().map(read).collect())
}

fn read(statement: &Statement) -> Parsed {
    let (effect, reason) = statement_effect(statement);
    let program = match statement {
        Statement::Copy {
            target: CopyTarget::Program { command },
            ..
        } => Some(command.clone()),
        _ => None,
    };
    Parsed {
        effect,
        reason,
        program,
    }
}

/// Returns the dialect of a client by the path of its call, such as `psql`.
fn dialect(client: &str) -> &'static dyn Dialect {
    let of_postgres = ["psql", "pg", "cockroach", "duckdb"];
    if client.contains("mysql") || client.contains("maria") {
        &MySqlDialect {}
    } else if client.contains("sqlite") {
        &SQLiteDialect {}
    } else if of_postgres.iter().any(|name| client.contains(name)) {
        &PostgreSqlDialect {}
    } else {
        &GenericDialect {}
    }
}
