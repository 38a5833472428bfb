//! What is called within a statement.

use super::functions::{PURE, PURE_KINDS};
use super::statement::query_effect;

use std::ops::ControlFlow;

use sqlparser::ast::{Expr, ObjectName, Query, TableFactor, Visitor};

use crate::model::effect::Effect;

/// Looks for functions that change something, wherever they are called, and
/// for statements below others.
pub(super) struct Finder {
    pub(super) effect: Effect,
    pub(super) what: String,
}

impl Finder {
    fn function(&mut self, name: &ObjectName) {
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
            // What is not known may be a function of the database's own that writes.
            other if PURE.contains(&other) || PURE_KINDS.iter().any(|k| other.starts_with(k)) => {
                return;
            }
            _ => Effect::Code,
        };
        if effect > self.effect {
            self.effect = effect;
            self.what = format!("calls `{name}`, which does more than read");
        }
    }
}

impl Visitor for Finder {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        if let Expr::Function(function) = expr {
            self.function(&function.name);
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
            | TableFactor::Function { name, .. } => self.function(name),
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        let effect = query_effect(query);
        if effect > self.effect {
            self.effect = effect;
            self.what = "writes inside a query".into();
        }
        ControlFlow::Continue(())
    }
}
