//! Dialects of programs: the path of a program in, its dialect of SQL out.

use crate::model::sql_dialect::SqlDialect;

/// Parts of the paths of programs, with the dialect of the programs.
const DIALECTS: &[(&str, SqlDialect)] = &[
    ("mysql", SqlDialect::MySql),
    ("maria", SqlDialect::MySql),
    ("mycli", SqlDialect::MySql),
    ("sqlite", SqlDialect::Sqlite),
    ("litecli", SqlDialect::Sqlite),
    ("psql", SqlDialect::PostgreSql),
    ("pg", SqlDialect::PostgreSql),
    ("cockroach", SqlDialect::PostgreSql),
    ("duckdb", SqlDialect::PostgreSql),
];

/// Returns the dialect of the program at a path such as `cockroach sql`.
pub(crate) fn sql_dialect(path: &str) -> SqlDialect {
    let found = DIALECTS.iter().find(|(part, _)| path.contains(part));
    found.map_or(SqlDialect::Unknown, |(_, dialect)| *dialect)
}
