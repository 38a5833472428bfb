//! What a statement does.

use super::finder::Finder;

use sqlparser::ast::{Query, SetExpr, Statement, Visit};

use crate::model::effect::Effect;

pub(super) fn statement_effect(statement: &Statement) -> (Effect, String) {
    let mut finder = Finder {
        effect: Effect::Read,
        what: String::new(),
    };
    let own = own_effect(statement);
    let _ = statement.visit(&mut finder);
    let text: String = statement.to_string().chars().take(60).collect();
    let first: String = text
        .split_whitespace()
        .take(2)
        .collect::<Vec<_>>()
        .join(" ");
    if finder.effect > own {
        return (finder.effect, format!("the SQL `{first}` {}", finder.what));
    }
    let what = match own {
        Effect::Read => "only reads",
        Effect::Create | Effect::Code => "creates something",
        Effect::Unknown => "is not understood",
        Effect::Update => "changes something",
        Effect::Delete => "deletes something",
    };
    (own, format!("the SQL `{first}` {what}"))
}

fn own_effect(statement: &Statement) -> Effect {
    let text = statement.to_string().to_ascii_uppercase();
    let mut words = text.split_whitespace();
    let first = words.next().unwrap_or("");
    let second = words.next().unwrap_or("");
    match statement {
        Statement::Query(query) => query_effect(query),
        // What it explains runs with ANALYZE; the visitor sees it.
        Statement::Explain {
            analyze,
            statement,
            options,
            ..
        } => {
            let runs = *analyze
                || options.as_ref().is_some_and(|all| {
                    all.iter().any(|o| {
                        let text = o.to_string().to_ascii_uppercase();
                        text.starts_with("ANALYZE")
                            && !text.ends_with("OFF")
                            && !text.ends_with("FALSE")
                    })
                });
            if runs {
                own_effect(statement)
            } else {
                Effect::Read
            }
        }
        Statement::ExplainTable { .. } => Effect::Read,
        Statement::Insert(_) => {
            if first == "REPLACE"
                || text.contains("ON CONFLICT")
                || text.contains("ON DUPLICATE KEY")
            {
                Effect::Update
            } else {
                Effect::Create
            }
        }
        Statement::Update { .. } | Statement::Merge { .. } => Effect::Update,
        Statement::Delete(_) | Statement::Truncate { .. } | Statement::Drop { .. } => {
            Effect::Delete
        }
        Statement::Copy { to, target, .. } => {
            let target = target.to_string().to_ascii_uppercase();
            if target.starts_with("PROGRAM") {
                Effect::Code
            } else if !to {
                Effect::Update
            } else if target == "STDOUT" {
                Effect::Read
            } else {
                Effect::Create
            }
        }
        Statement::StartTransaction { .. }
        | Statement::Commit { .. }
        | Statement::Rollback { .. }
        | Statement::Savepoint { .. } => Effect::Read,
        _ => match (first, second) {
            ("DROP", _) => Effect::Delete,
            ("ALTER", _) if text.contains(" DROP ") => Effect::Delete,
            ("CREATE", _) => Effect::Create,
            (
                "ALTER" | "GRANT" | "REVOKE" | "ANALYZE" | "VACUUM" | "REINDEX" | "COMMENT"
                | "RENAME" | "LOCK" | "REFRESH" | "KILL" | "CLUSTER" | "OPTIMIZE" | "FLUSH",
                _,
            ) => Effect::Update,
            (
                "SHOW" | "DESCRIBE" | "DESC" | "USE" | "BEGIN" | "START" | "COMMIT" | "ROLLBACK"
                | "END" | "FETCH" | "CLOSE" | "DISCARD",
                _,
            ) => Effect::Read,
            ("SET", second) => {
                if matches!(second, "GLOBAL" | "PERSIST") || second.starts_with("@@GLOBAL") {
                    Effect::Update
                } else {
                    Effect::Read
                }
            }
            ("PRAGMA", _) => {
                if text.contains('=') || pragma_writes(second) {
                    Effect::Update
                } else {
                    Effect::Read
                }
            }
            ("CALL" | "EXECUTE" | "EXEC" | "DO", _) => Effect::Code,
            _ => Effect::Unknown,
        },
    }
}

/// Settings that are read although they are given an argument.
pub(super) const PRAGMAS: &[&str] = &[
    "TABLE_INFO",
    "TABLE_XINFO",
    "TABLE_LIST",
    "INDEX_LIST",
    "INDEX_INFO",
    "INDEX_XINFO",
    "FOREIGN_KEY_LIST",
    "FOREIGN_KEY_CHECK",
    "INTEGRITY_CHECK",
    "QUICK_CHECK",
];

pub(super) fn pragma_writes(name: &str) -> bool {
    // What is given an argument takes it for its value.
    if let Some((name, _)) = name.split_once('(') {
        return !PRAGMAS.contains(&name);
    }
    [
        "WAL_CHECKPOINT",
        "OPTIMIZE",
        "INCREMENTAL_VACUUM",
        "SHRINK_MEMORY",
    ]
    .iter()
    .any(|writes| name.starts_with(writes))
}

pub(super) fn query_effect(query: &Query) -> Effect {
    let mut effect = set_effect(&query.body);
    if let Some(with) = &query.with {
        for table in &with.cte_tables {
            effect = effect.max(query_effect(&table.query));
        }
    }
    if !query.locks.is_empty() {
        effect = effect.max(Effect::Read);
    }
    effect
}

fn set_effect(body: &SetExpr) -> Effect {
    match body {
        SetExpr::Select(select) => {
            if select.into.is_some() {
                Effect::Create
            } else {
                Effect::Read
            }
        }
        SetExpr::Query(query) => query_effect(query),
        SetExpr::SetOperation { left, right, .. } => set_effect(left).max(set_effect(right)),
        SetExpr::Values(_) | SetExpr::Table(_) => Effect::Read,
        SetExpr::Insert(statement)
        | SetExpr::Update(statement)
        | SetExpr::Delete(statement)
        | SetExpr::Merge(statement) => own_effect(statement),
    }
}
