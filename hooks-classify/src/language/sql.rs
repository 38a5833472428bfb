//! SQL: every statement, and the commands of the clients.

mod client;
mod finder;
mod functions;
mod statement;

use sqlparser::ast::{CopyTarget, Statement};
use sqlparser::dialect::{Dialect, GenericDialect, MySqlDialect, PostgreSqlDialect, SQLiteDialect};
use sqlparser::parser::Parser;

use crate::judge::Judge;
use crate::model::arg::{Arg, UNKNOWN};
use crate::model::effect::Effect;
use crate::model::io::Input;

use client::client_command;
use statement::{PRAGMAS, pragma_writes, statement_effect};

pub(super) fn judge(judge: &mut Judge<'_>, arg: &Arg, path: &str) {
    let mut rest = String::new();
    for line in arg.text.lines() {
        let line = line.trim();
        let client = line.starts_with('\\') || (path.contains("sqlite") && line.starts_with('.'));
        if client {
            client_command(judge, arg, line);
        } else {
            rest.push_str(line);
            rest.push('\n');
        }
    }
    if rest.trim().is_empty() {
        return;
    }
    let unknown = rest.contains(UNKNOWN);
    let text = rest.replace(UNKNOWN, "x");
    if unknown {
        judge.find(
            Effect::Code,
            arg.span,
            "a part of the SQL is only known when it runs",
        );
    }
    let dialect: &dyn Dialect = if path.contains("mysql") || path.contains("maria") {
        &MySqlDialect {}
    } else if path.contains("sqlite") {
        &SQLiteDialect {}
    } else if ["psql", "pg", "cockroach", "duckdb"]
        .iter()
        .any(|name| path.contains(name))
    {
        &PostgreSqlDialect {}
    } else {
        &GenericDialect {}
    };
    let text = text.replace("\\G", ";").replace("\\g", ";");
    let parsed =
        Parser::parse_sql(dialect, &text).or_else(|_| Parser::parse_sql(&GenericDialect {}, &text));
    match parsed {
        Ok(statements) => {
            for statement in &statements {
                if let Statement::Copy {
                    target: CopyTarget::Program { command },
                    ..
                } = statement
                {
                    judge.shell_text(&arg.with(command), &Input::Unknown);
                }
                let (effect, what) = statement_effect(statement);
                judge.find(effect, arg.span, what);
            }
        }
        Err(_) => {
            let mut strongest = Effect::Unknown;
            let mut effects = Vec::new();
            for part in text.split(';') {
                let words: Vec<String> = part
                    .split(|c: char| !c.is_alphanumeric() && c != '_')
                    .filter(|w| !w.is_empty())
                    .map(str::to_ascii_uppercase)
                    .collect();
                let first = words.first().map_or("", String::as_str);
                let simple = matches!(first, "SHOW" | "DESCRIBE" | "DESC" | "STATUS" | "HELP");
                if simple
                    && words.len() < 8
                    && text.trim_end_matches([';', '\n', ' ']).find(';').is_none()
                {
                    judge.find(Effect::Read, arg.span, "shows facts about the database");
                    return;
                }
                if first == "PRAGMA" {
                    let reads = part.find('=').is_none()
                        && words.get(1).is_some_and(|name| {
                            PRAGMAS.contains(&name.as_str())
                                || words.len() == 2 && !pragma_writes(name)
                        });
                    effects.push(if reads { Effect::Read } else { Effect::Update });
                    continue;
                }
                if first == "VACUUM" && words.get(1).is_some_and(|w| w == "INTO") {
                    effects.push(Effect::Create);
                    continue;
                }
                if words.is_empty() {
                    continue;
                }
                match Parser::parse_sql(&GenericDialect {}, part) {
                    Ok(statements) => {
                        effects.extend(statements.iter().map(|s| statement_effect(s).0))
                    }
                    Err(_) => effects.push(Effect::Unknown),
                }
                if words
                    .iter()
                    .any(|w| matches!(w.as_str(), "DELETE" | "DROP" | "TRUNCATE"))
                {
                    strongest = strongest.max(Effect::Delete);
                } else if words.iter().any(|w| {
                    matches!(
                        w.as_str(),
                        "UPDATE" | "ALTER" | "GRANT" | "REVOKE" | "VACUUM" | "REINDEX" | "REFRESH"
                    )
                }) {
                    strongest = strongest.max(Effect::Update);
                }
            }
            if strongest == Effect::Unknown {
                strongest = effects.into_iter().max().unwrap_or(Effect::Unknown);
            }
            judge.find(strongest, arg.span, "this SQL was judged by its words");
        }
    }
}
