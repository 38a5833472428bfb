//! In: a program and a text in SQL. Out: the statements in each dialect that the program may speak.

use sqlparser::ast::Statement;
use sqlparser::dialect::{
    BigQueryDialect, ClickHouseDialect, Dialect as Grammar, GenericDialect, MySqlDialect,
    PostgreSqlDialect, SQLiteDialect,
};
use sqlparser::parser::Parser;

/// The dialect that a program speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    MySql,
    PostgreSql,
    Sqlite,
    Unknown,
}

impl Dialect {
    /// Returns the dialect of the program at a path such as `cockroach sql`.
    pub(super) fn of(path: &str) -> Self {
        let names = |parts: &[&str]| parts.iter().any(|part| path.contains(part));
        if names(&["mysql", "maria", "mycli"]) {
            Self::MySql
        } else if names(&["sqlite", "litecli"]) {
            Self::Sqlite
        } else if names(&["psql", "pg", "cockroach", "duckdb"]) {
            Self::PostgreSql
        } else {
            Self::Unknown
        }
    }

    /// Returns the statements of a text, once for each way in which the database may read the text;
    /// `None` for a way in which no parser can.
    pub(super) fn readings(self, text: &str) -> Vec<Option<Vec<Statement>>> {
        let grammar: &dyn Grammar = match self {
            Self::MySql => &MySqlDialect {},
            Self::PostgreSql => &PostgreSqlDialect {},
            Self::Sqlite => &SQLiteDialect {},
            Self::Unknown => &GenericDialect {},
        };
        let mut readings = vec![parse(grammar, text).or_else(|| parse(&GenericDialect {}, text))];
        if self == Self::Unknown && may_differ(text) {
            let others: [&dyn Grammar; 3] =
                [&MySqlDialect {}, &BigQueryDialect {}, &ClickHouseDialect {}];
            let parsed: Vec<_> = others
                .into_iter()
                .filter_map(|other| parse(other, text))
                .map(Some)
                .collect();
            match parsed.is_empty() {
                true => readings.push(None),
                false => readings.extend(parsed),
            }
        }
        readings
    }
}

/// Returns the statements of a text that any database may read.
pub(super) fn parse_any(text: &str) -> Option<Vec<Statement>> {
    parse(&GenericDialect {}, text)
}

fn parse(grammar: &dyn Grammar, text: &str) -> Option<Vec<Statement>> {
    Parser::parse_sql(grammar, text).ok()
}

/// Returns true if a string or a comment may end elsewhere in another dialect: a quote behind a
/// backslash, `$$…$$`, a comment within a comment, a comment that begins with `#`, and `--` that
/// begins a comment only before a blank.
fn may_differ(text: &str) -> bool {
    let is_joined = |rest: &str| !rest.is_empty() && !rest.starts_with(char::is_whitespace);
    text.contains(['\\', '#'])
        || text.matches('$').count() > 1
        || text.matches("/*").count() > 1
        || text.split("--").skip(1).any(is_joined)
}
