//! Strongest effect: a statement in, the strongest effect of the statement, its functions and its
//! subqueries out.

use super::super::names::SQL;
use super::statement::{own_effect, query_effect};

use std::ops::ControlFlow;

use sqlparser::ast::{Expr, ObjectName, Query, Statement, TableFactor, Visit, Visitor};

use crate::model::effect::Effect;

/// Returns the effect of a statement, and the reason.
pub(super) fn statement_effect(statement: &Statement) -> (Effect, String) {
    let mut finder = EffectFinder {
        effect: Effect::Read,
        reason: String::new(),
    };
    let direct_effect = own_effect(statement);
    let _ = statement.visit(&mut finder);
    let text: String = statement.to_string().chars().take(60).collect();
    let first: String = text
        .split_whitespace()
        .take(2)
        .collect::<Vec<_>>()
        .join(" ");
    if finder.effect > direct_effect {
        return (
            finder.effect,
            format!("the SQL `{first}` {}", finder.reason),
        );
    }
    let what = match direct_effect {
        Effect::Read => "only reads",
        Effect::Create | Effect::Code => "creates something",
        Effect::Unknown => "is not understood",
        Effect::Update => "changes something",
        Effect::Delete => "deletes something",
    };
    (direct_effect, format!("the SQL `{first}` {what}"))
}

/// Finds calls of functions that change something, and statements within others.
struct EffectFinder {
    effect: Effect,
    reason: String,
}

impl EffectFinder {
    fn check_function(&mut self, name: &ObjectName) {
        let name = name.to_string().to_ascii_lowercase();
        let name = name
            .rsplit('.')
            .next()
            .unwrap_or(&name)
            .trim_matches('"')
            .to_owned();
        let effect = match name.as_str() {
            "pg_terminate_backend"
            | "pg_cancel_backend"
            | "pg_reload_conf"
            | "pg_rotate_logfile"
            | "setval"
            | "nextval"
            | "set_config"
            | "pg_promote"
            | "pg_switch_wal"
            | "pg_logical_emit_message"
            | "pg_stat_reset"
            | "pg_notify"
            | "pg_advisory_lock"
            | "pg_stat_statements_reset"
            | "lo_put"
            | "pg_import_system_collations"
            | "get_lock"
            | "release_lock" => Effect::Update,
            "lo_unlink" | "pg_drop_replication_slot" | "pg_file_unlink" => Effect::Delete,
            "lo_import"
            | "lo_export"
            | "lo_create"
            | "lo_from_bytea"
            | "pg_create_restore_point"
            | "pg_file_write"
            | "writefile"
            | "pg_create_physical_replication_slot"
            | "pg_create_logical_replication_slot"
            | "pg_export_snapshot" => Effect::Create,
            "dblink" | "dblink_exec" | "load_extension" | "sys_exec" | "sys_eval"
            | "query_to_xml" | "edit" | "fts3_tokenizer" | "shell" => Effect::Code,
            // An unknown function may be the user's own, and write.
            other
                if SQL.pure.contains(other)
                    || SQL.pure_kinds.iter().any(|kind| other.starts_with(kind)) =>
            {
                return;
            }
            _ => Effect::Code,
        };
        if effect > self.effect {
            self.effect = effect;
            self.reason = format!("calls `{name}`, which does more than read");
        }
    }
}

impl Visitor for EffectFinder {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        if let Expr::Function(function) = expr {
            self.check_function(&function.name);
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, table: &TableFactor) -> ControlFlow<()> {
        match table {
            TableFactor::Table {
                name,
                args: Some(_),
                ..
            }
            | TableFactor::Function { name, .. } => self.check_function(name),
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        let effect = query_effect(query);
        if effect > self.effect {
            self.effect = effect;
            self.reason = "writes inside a query".into();
        }
        ControlFlow::Continue(())
    }
}
