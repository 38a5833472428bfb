//! Kinds of statements: a statement in, the effect of its kind out.

use sqlparser::ast::{Query, SetExpr, Statement};

use crate::model::effect::Effect;

/// Returns the effect of a statement without that of the functions that it calls.
pub(super) fn own_effect(statement: &Statement) -> Effect {
    let text = statement.to_string().to_ascii_uppercase();
    let mut words = text.split_whitespace();
    let first = words.next().unwrap_or("");
    let second = words.next().unwrap_or("");
    match statement {
        Statement::Query(query) => query_effect(query),
        // With ANALYZE the explained statement runs.
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

/// Pragmas that read although they have an argument.
pub(super) const READING_PRAGMAS: &[&str] = &[
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

/// Returns `true` if a pragma without `=` writes.
pub(super) fn pragma_writes(name: &str) -> bool {
    // An argument is a new value.
    if let Some((name, _)) = name.split_once('(') {
        return !READING_PRAGMAS.contains(&name);
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

/// Returns the effect of a query, without that of the functions that it calls.
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
