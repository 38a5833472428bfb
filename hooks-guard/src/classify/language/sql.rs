//! SQL: every statement, and the commands of the clients.

use std::ops::ControlFlow;

use sqlparser::ast::{CopyTarget, Expr, ObjectName, Query, SetExpr, Statement, Visit, Visitor};
use sqlparser::dialect::{Dialect, GenericDialect, MySqlDialect, PostgreSqlDialect, SQLiteDialect};
use sqlparser::parser::Parser;

use crate::classify::judge::{Arg, Input, Judge, UNKNOWN};
use crate::classify::tables::Effect;

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

fn client_command(judge: &mut Judge<'_>, arg: &Arg, line: &str) {
    let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    if name == "\\s" && !rest.is_empty() {
        judge.find(
            Effect::Create,
            arg.span,
            "the client writes its history to a file",
        );
        return;
    }
    if line.starts_with('.') {
        let effect = match name {
            ".tables" | ".schema" | ".headers" | ".header" | ".mode" | ".indexes" | ".indices"
            | ".databases" | ".dbinfo" | ".show" | ".width" | ".nullvalue" | ".separator"
            | ".dump" | ".fullschema" | ".stats" | ".timer" | ".eqp" | ".explain" | ".help"
            | ".quit" | ".exit" | ".print" | ".echo" | ".bail" | ".changes" | ".version"
            | ".lint" | ".sha3sum" => Effect::Read,
            ".shell" | ".system" => {
                judge.shell_text(&arg.with(rest), &Input::Unknown);
                Effect::Code
            }
            ".output" | ".once" | ".backup" | ".save" | ".import" | ".clone" | ".log"
            | ".excel" | ".open" | ".restore" => {
                if rest.starts_with('|') {
                    judge.shell_text(&arg.with(rest.trim_start_matches('|')), &Input::Unknown);
                }
                if matches!(rest, "stdout" | "off") {
                    Effect::Read
                } else if name == ".restore" {
                    Effect::Update
                } else {
                    Effect::Create
                }
            }
            _ => Effect::Unknown,
        };
        judge.find(effect, arg.span, format!("the client runs `{name}`"));
        return;
    }
    // A backslash command ends a statement that stands before it on the line.
    let effect = match name.trim_end_matches('+').trim_end_matches('S') {
        "\\!" => {
            judge.shell_text(&arg.with(rest), &Input::Unknown);
            Effect::Code
        }
        "\\o" | "\\w" | "\\out" | "\\write" if !rest.is_empty() => Effect::Create,
        "\\g" if !rest.is_empty() => Effect::Code,
        "\\i" | "\\ir" | "\\include" | "\\gexec" | "\\setenv" | "\\e" => Effect::Code,
        "\\copy" => {
            let lower = rest.to_ascii_lowercase();
            if lower.contains("program") {
                Effect::Code
            } else if lower.contains(" from ") {
                Effect::Update
            } else if lower.contains(" to stdout") || lower.contains(" to pstdout") {
                Effect::Read
            } else {
                Effect::Create
            }
        }
        "\\password" => Effect::Update,
        "\\lo_import" => Effect::Create,
        "\\lo_unlink" => Effect::Delete,
        "\\lo_export" => Effect::Create,
        "\\o" | "\\x" | "\\timing" | "\\conninfo" | "\\encoding" | "\\echo" | "\\pset" | "\\q"
        | "\\?" | "\\h" | "\\help" | "\\a" | "\\t" | "\\f" | "\\H" | "\\c" | "\\connect"
        | "\\l" | "\\list" | "\\sf" | "\\sv" | "\\z" | "\\g" | "\\gx" | "\\s" | "\\u" | "\\G" => {
            Effect::Read
        }
        other if other.starts_with("\\d") && other.len() <= 6 => Effect::Read,
        _ => Effect::Unknown,
    };
    let backquotes = rest.contains('`');
    judge.find(
        if backquotes {
            Effect::Code.max(effect)
        } else {
            effect
        },
        arg.span,
        format!("the client runs `{name}`"),
    );
}

fn statement_effect(statement: &Statement) -> (Effect, String) {
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
const PRAGMAS: &[&str] = &[
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

fn pragma_writes(name: &str) -> bool {
    [
        "WAL_CHECKPOINT",
        "OPTIMIZE",
        "INCREMENTAL_VACUUM",
        "SHRINK_MEMORY",
        "JOURNAL_MODE(",
        "USER_VERSION(",
    ]
    .iter()
    .any(|writes| name.starts_with(writes))
}

fn query_effect(query: &Query) -> Effect {
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

/// Functions that only compute or show.
const PURE: &[&str] = &[
    "abs",
    "acos",
    "age",
    "any_value",
    "asin",
    "atan",
    "atan2",
    "avg",
    "bit_and",
    "bit_count",
    "bit_length",
    "bit_or",
    "bool_and",
    "bool_or",
    "btrim",
    "cast",
    "cardinality",
    "ceil",
    "ceiling",
    "changes",
    "char",
    "char_length",
    "character_length",
    "chr",
    "coalesce",
    "col_description",
    "concat",
    "concat_ws",
    "connection_id",
    "convert",
    "corr",
    "cos",
    "count",
    "count_big",
    "cume_dist",
    "curdate",
    "curtime",
    "database",
    "date",
    "dateadd",
    "datediff",
    "datename",
    "datepart",
    "datetime",
    "day",
    "dayname",
    "dayofmonth",
    "dayofweek",
    "dayofyear",
    "decode",
    "degrees",
    "dense_rank",
    "div",
    "elt",
    "encode",
    "every",
    "exists",
    "exp",
    "extract",
    "field",
    "find_in_set",
    "first_value",
    "floor",
    "found_rows",
    "gcd",
    "generate_series",
    "generate_subscripts",
    "getdate",
    "glob",
    "greatest",
    "group_concat",
    "grouping",
    "hex",
    "hour",
    "if",
    "ifnull",
    "iif",
    "inet_aton",
    "inet_ntoa",
    "initcap",
    "instr",
    "isfinite",
    "isnull",
    "julianday",
    "lag",
    "last_day",
    "last_insert_id",
    "last_insert_rowid",
    "last_value",
    "lcase",
    "lcm",
    "lead",
    "least",
    "left",
    "len",
    "length",
    "like",
    "ln",
    "locate",
    "log",
    "log10",
    "log2",
    "lower",
    "lpad",
    "ltrim",
    "max",
    "md5",
    "median",
    "mid",
    "min",
    "minute",
    "mod",
    "mode",
    "month",
    "monthname",
    "now",
    "nth_value",
    "ntile",
    "nullif",
    "num_nonnulls",
    "num_nulls",
    "nvl",
    "obj_description",
    "octet_length",
    "ord",
    "overlay",
    "percent_rank",
    "percentile_cont",
    "percentile_disc",
    "pi",
    "position",
    "pow",
    "power",
    "printf",
    "quarter",
    "quote",
    "quote_ident",
    "quote_literal",
    "quote_nullable",
    "radians",
    "rand",
    "random",
    "rank",
    "repeat",
    "replace",
    "reverse",
    "right",
    "round",
    "row_count",
    "row_number",
    "row_to_json",
    "rpad",
    "rtrim",
    "schema",
    "second",
    "session_user",
    "sha",
    "sha1",
    "sha2",
    "sha224",
    "sha256",
    "sha512",
    "shobj_description",
    "sign",
    "sin",
    "soundex",
    "split_part",
    "sqlite_source_id",
    "sqlite_version",
    "sqrt",
    "starts_with",
    "std",
    "stddev",
    "stddev_pop",
    "stddev_samp",
    "str_to_date",
    "strftime",
    "strpos",
    "substr",
    "substring",
    "substring_index",
    "subdate",
    "subtime",
    "sum",
    "sysdate",
    "system_user",
    "table",
    "tan",
    "time",
    "timediff",
    "timeofday",
    "timestamp",
    "timestampadd",
    "timestampdiff",
    "toposort",
    "total",
    "total_changes",
    "transaction_timestamp",
    "translate",
    "trim",
    "trunc",
    "try_cast",
    "typeof",
    "ucase",
    "unhex",
    "unicode",
    "unistr",
    "unix_timestamp",
    "unixepoch",
    "unnest",
    "upper",
    "user",
    "uuid",
    "values",
    "var_pop",
    "var_samp",
    "variance",
    "version",
    "week",
    "weekday",
    "weekofyear",
    "width_bucket",
    "xmlagg",
    "year",
    "yearweek",
    "zeroblob",
    "clock_timestamp",
    "statement_timestamp",
    "txid_current_if_assigned",
    "gen_random_uuid",
    "col_length",
    "object_id",
    "object_name",
    "db_name",
    "newid",
    "struct",
    "map",
    "list",
    "tuple",
    "uniq",
    "quantile",
    "topk",
    "bar",
    "approx_count_distinct",
    "pg_backend_pid",
    "pg_is_in_recovery",
    "pg_last_xact_replay_timestamp",
    "pg_last_wal_receive_lsn",
    "pg_last_wal_replay_lsn",
    "pg_current_wal_lsn",
    "pg_wal_lsn_diff",
    "pg_blocking_pids",
    "pg_postmaster_start_time",
    "pg_conf_load_time",
    "pg_encoding_to_char",
    "pg_typeof",
    "pg_table_is_visible",
    "pg_indexes_size",
    "pg_database_size",
    "pg_tablespace_size",
    "pg_table_size",
    "pg_index_size",
    "pg_relation_filepath",
    "pg_relation_size",
    "pg_total_relation_size",
    "pg_column_size",
    "pg_lock_status",
    "pg_options_to_table",
    "pg_show_all_settings",
    "pg_trigger_depth",
    "pg_describe_object",
    "pg_identify_object",
    "pg_function_is_visible",
    "pg_type_is_visible",
    "pg_safe_snapshot_blocking_pids",
    "pg_walfile_name",
    "pg_ls_dir",
    "pg_ls_logdir",
    "pg_ls_waldir",
    "pg_stat_file",
];
/// Beginnings of the names of whole families of such functions.
const PURE_KINDS: &[&str] = &[
    "array_",
    "current_",
    "date_",
    "format",
    "has_",
    "inet_",
    "is_",
    "json",
    "jsonb_",
    "make_",
    "pg_get_",
    "pg_size_",
    "pg_stat_get_",
    "pragma_",
    "range_",
    "regexp_",
    "regr_",
    "string_",
    "time_",
    "to_",
    "ts_",
    "tsvector_",
    "uuid_generate",
    "uuidv",
    "st_as",
    "st_x",
    "st_y",
];

/// Looks for functions that change something, wherever they are called, and
/// for statements below others.
struct Finder {
    effect: Effect,
    what: String,
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

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        let effect = query_effect(query);
        if effect > self.effect {
            self.effect = effect;
            self.what = "writes inside a query".into();
        }
        ControlFlow::Continue(())
    }
}
