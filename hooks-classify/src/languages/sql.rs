//! SQL: statements and commands of the clients in, their effects out.

mod client;
mod dialect;
mod finder;
mod statement;
mod words;

use sqlparser::ast::{CopyTarget, Statement};

use crate::analysis::Analysis;
use crate::model::arg::{Arg, UNKNOWN};
use crate::model::effect::Effect;
use crate::model::io::Input;
use crate::model::sql_dialect::SqlDialect;

use super::names::SQL;
use client::analyze_client_command;
use dialect::parse_alternatives;
use finder::statement_effect;
use words::effect_by_keywords;

/// Returns the effects of the statements in a text.
pub(super) fn analyze(arg: &Arg, dialect: SqlDialect) -> Analysis {
    let mut analysis = Analysis::new();
    let mut rest = String::new();
    for line in arg.text.lines() {
        let line = line.trim();
        let is_dotted = dialect == SqlDialect::Sqlite && line.starts_with('.');
        if line.starts_with('\\') || is_dotted {
            analyze_client_command(&mut analysis, arg, dialect, line);
        } else {
            rest.push_str(line);
            rest.push('\n');
        }
    }
    if rest.trim().is_empty() {
        return analysis;
    }
    let unknown = rest.contains(UNKNOWN);
    let text = rest.replace(UNKNOWN, "x");
    if unknown {
        analysis.add_finding(
            Effect::Code,
            arg.span,
            "a part of the SQL is only known when it runs",
        );
    }
    if dialect != SqlDialect::MySql && text.lines().any(has_target) {
        let reason = "the client writes the result to a file or a program";
        analysis.add_finding(Effect::Code, arg.span, reason);
    }
    if let Some(name) = password_catalogue(&text) {
        let reason = format!("reads `{name}`, which holds passwords");
        analysis.require_confirmation(arg.span, reason);
    }
    let text = text
        .replace("\\gx", ";")
        .replace("\\G", ";")
        .replace("\\g", ";");
    for reading in parse_alternatives(dialect, &text) {
        match reading {
            Some(statements) => {
                for statement in &statements {
                    analyze_statement(&mut analysis, arg, statement);
                }
            }
            None => {
                let (effect, reason) = effect_by_keywords(&text);
                analysis.add_finding(effect, arg.span, reason);
            }
        }
    }
    analysis
}

/// Returns the name in a text of a table, a column or a statement with passwords.
fn password_catalogue(text: &str) -> Option<String> {
    let text = text.to_lowercase().replace(['`', '"', '[', ']'], "");
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
    let words: Vec<&str> = text
        .split(|c| !is_name(c))
        .filter(|word| !word.is_empty())
        .collect();
    if let Some(name) = words.iter().find(|word| SQL.secrets.contains(word)) {
        return Some((*name).to_owned());
    }
    let is_listed = |pair: &[&str]| SQL.secret_tables.contains(&pair.join(" "));
    let lists_users = text.contains('*') && words.windows(2).any(is_listed);
    let shows_user = words
        .windows(3)
        .any(|three| three == ["show", "create", "user"]);
    (lists_users || shows_user).then(|| "user".to_owned())
}

/// Returns `true` if a line ends a statement with `\g TARGET`.
fn has_target(line: &str) -> bool {
    line.split("\\g").skip(1).any(|rest| {
        let rest = rest.trim_start_matches('x').trim();
        !rest.is_empty() && !rest.starts_with(['\\', ';'])
    })
}

fn analyze_statement(analysis: &mut Analysis, arg: &Arg, statement: &Statement) {
    if let Statement::Copy {
        target: CopyTarget::Program { command },
        ..
    } = statement
    {
        analysis.run_shell_text(&arg.with_text(command), &Input::Unknown);
    }
    let (effect, reason) = statement_effect(statement);
    analysis.add_finding(effect, arg.span, reason);
}
