//! Dialects of SQL: a text and the dialect of its program in, parsed statements out, once for each way
//! in which the database may read the text.

use sqlparser::ast::Statement;
use sqlparser::dialect::{
    BigQueryDialect, ClickHouseDialect, Dialect, GenericDialect, MySqlDialect, PostgreSqlDialect,
    SQLiteDialect,
};
use sqlparser::parser::Parser;

use crate::model::sql_dialect::SqlDialect;

/// Returns the statements of a text, once for each way in which the database may read the text;
/// `None` for a way in which no parser can.
pub(super) fn parse_alternatives(dialect: SqlDialect, text: &str) -> Vec<Option<Vec<Statement>>> {
    let grammar: &dyn Dialect = match dialect {
        SqlDialect::MySql => &MySqlDialect {},
        SqlDialect::PostgreSql => &PostgreSqlDialect {},
        SqlDialect::Sqlite => &SQLiteDialect {},
        SqlDialect::Unknown => &GenericDialect {},
    };
    // MariaDB, whose client has the names of MySQL's, runs the text in `/*M! … */`.
    let text = &match dialect {
        SqlDialect::MySql | SqlDialect::Unknown => text.replace("/*M!", "/*!"),
        SqlDialect::PostgreSql | SqlDialect::Sqlite => text.to_owned(),
    };
    let may_differ = may_differ(text);
    // The general grammar knows more statements, but has different strings and comments.
    let general = || parse_any(text).filter(|_| !may_differ);
    let mut readings = vec![parse(grammar, text).or_else(general)];
    if dialect == SqlDialect::Unknown && may_differ {
        let others: [&dyn Dialect; 3] =
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

/// Returns the statements of a text that any database may read.
pub(super) fn parse_any(text: &str) -> Option<Vec<Statement>> {
    parse(&GenericDialect {}, text)
}

fn parse(grammar: &dyn Dialect, text: &str) -> Option<Vec<Statement>> {
    Parser::parse_sql(grammar, text).ok()
}

/// Returns `true` if a string or a comment may end elsewhere in another dialect: a quote after a
/// backslash, `$$…$$`, a comment within a comment, a comment that begins with `#`, and `--` that
/// begins a comment only before a blank.
fn may_differ(text: &str) -> bool {
    let is_joined = |rest: &str| !rest.is_empty() && !rest.starts_with(char::is_whitespace);
    text.contains(['\\', '#'])
        || text.matches('$').count() > 1
        || text.matches("/*").count() > 1
        || text.split("--").skip(1).any(is_joined)
}
