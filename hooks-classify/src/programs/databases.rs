//! Clients of databases: a call and its input in, the statements that run out.

use super::code_roles::script_language;
use super::effect::operand_words;
use super::roles::reads_commands_from_input;
use crate::analysis::{Analysis, Context};
use crate::languages::HASHES;
use crate::model::arg::{Arg, UNKNOWN};
use crate::model::effect::{Effect, OptionEffect};
use crate::model::io::Input;
use crate::model::language::Language;
use crate::model::role::Role;
use crate::model::span::Span;
use crate::model::sql_dialect::SqlDialect;
use crate::model::unseen_code::UnseenCode;
use crate::options::call::{Call, ParsedOption};

/// Analyzes `flyway`, of which the operands are further commands; the strongest command decides.
pub(super) fn flyway(context: &Context<'_>, call: &Call, _: Span, _: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    let table = context.tables.program("flyway");
    let effect = operand_words(call)
        .iter()
        .map(|arg| {
            table
                .as_ref()
                .and_then(|t| t.commands.get(&arg.text))
                .map_or(Effect::Unknown, |c| c.effect)
        })
        .max();
    match effect {
        Some(effect) => {
            let own_effect = call.program.effect.max(effect);
            analysis.add_finding(
                own_effect,
                call.operands[0].arg.span,
                format!("`{}` and what follows it", call.path),
            );
            analysis.without_operands()
        }
        None => analysis,
    }
}

/// Analyzes a client of a database, which reads statements from its input if there are none among
/// its words.
pub(super) fn sql_client(
    context: &Context<'_>,
    call: &Call,
    whole: Span,
    input: &Input,
) -> Analysis {
    let mut analysis = Analysis::new();
    let ignores_input = call.options.iter().any(|opt| {
        matches!(
            opt.spec.effect,
            Some(OptionEffect::Replaces(_) | OptionEffect::Forces(_))
        ) || matches!(opt.spec.role, Role::ScriptFile | Role::Script(_))
    });
    if call
        .options
        .iter()
        .any(|opt| reads_commands_from_input(call, opt))
    {
        run_input(&mut analysis, call, whole, input);
    }
    create_database(&mut analysis, context, call);
    // Scripts run in addition to a text argument.
    for operand in operand_words(call) {
        if [".js", ".mjs", ".mongodb"]
            .iter()
            .any(|end| operand.text.ends_with(end))
        {
            analysis.record_code_file(&operand);
            analysis.add_finding(Effect::Code, operand.span, "runs this file");
        }
    }
    let (roles, _) = call.roles();
    let scripted = roles
        .iter()
        .any(|(role, _)| matches!(role, Role::Script(_) | Role::ScriptFile));
    if scripted && !ignores_input {
        return analysis.with_effect(Effect::Read);
    }
    if ignores_input {
        let has_replacing_option = call.options.iter().any(|opt| {
            matches!(
                opt.spec.effect,
                Some(OptionEffect::Replaces(_) | OptionEffect::Forces(_))
            )
        });
        return if has_replacing_option {
            analysis
        } else {
            analysis.with_effect(Effect::Read)
        };
    }
    run_input(&mut analysis, call, whole, input);
    analysis.with_effect(Effect::Read)
}

/// Runs the statements that a client reads from its standard input.
fn run_input(analysis: &mut Analysis, call: &Call, whole: Span, input: &Input) {
    let Input::Known(text) = input else {
        analysis.add_unseen_code(
            whole,
            UnseenCode::Input,
            format!("`{}` runs its input", call.path),
        );
        return;
    };
    // `:name` in the input of `psql` is replaced by the text of the variable.
    let variable = |opt: &&ParsedOption| {
        let named = ["-v", "--set", "--variable"].contains(&opt.name.as_str());
        let plain = |c: char| c.is_ascii_alphanumeric() || "_=.,:/-".contains(c);
        let value = opt.value.as_ref();
        named && text.contains(':') && value.is_some_and(|value| !value.text.chars().all(plain))
    };
    if let Some(opt) = call.options.iter().find(variable) {
        let reason = format!("`{}` may put a variable into its SQL", call.path);
        analysis.add_finding(Effect::Code, opt.span, reason);
    }
    let language = script_language(call).unwrap_or(Language::Sql);
    analysis.run_script(language, &Arg::new(text.clone(), whole), call);
}

/// Analyzes `duckdb`, which fetches and loads an extension to read from an address.
pub(super) fn duckdb(context: &Context<'_>, call: &Call, whole: Span, input: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    if let Some(arg) = call.args.iter().find(|arg| arg.text.contains("://")) {
        analysis.add_finding(
            Effect::Create,
            arg.span,
            "`duckdb` fetches an extension to read from an address",
        );
    }
    let writes = |text: &str| {
        let text = text.to_ascii_lowercase();
        let mut settings = WRITING_SETTINGS.iter();
        settings.any(|setting| text.contains(setting))
            && (text.contains("set") || text.contains("pragma") || text.contains("enable_logging"))
    };
    let piped = matches!(input, Input::Known(text) if writes(text));
    if piped || call.args.iter().any(|arg| writes(&arg.text)) {
        let reason = "a setting names a file that `duckdb` writes";
        analysis.add_finding(Effect::Create, whole, reason);
    }
    analysis.then(sql_client(context, call, whole, input))
}

/// Analyzes `mongosh`, of which some scripts print the password hashes of users.
pub(super) fn mongosh(context: &Context<'_>, call: &Call, whole: Span, input: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    let mut texts: Vec<&str> = call.args.iter().map(|arg| arg.text.as_str()).collect();
    if let Input::Known(text) = input {
        texts.push(text);
    }
    let shows = |text: &str| {
        let text = text.to_ascii_lowercase();
        text.contains("showcredentials") || text.contains("system.users")
    };
    if texts.into_iter().any(shows) {
        analysis.require_confirmation(whole, HASHES);
    }
    analysis.then(sql_client(context, call, whole, input))
}

/// Settings of DuckDB that name a file or a folder to write to.
const WRITING_SETTINGS: &[&str] = &[
    "log_query_path",
    "profiling_output",
    "profile_output",
    "temp_directory",
    "enable_logging",
    "logging_storage",
    "secret_directory",
    "extension_directory",
    "home_directory",
];

/// Notes a database that SQLite creates if there is none. A name with an ending is taken for a database
/// that exists.
fn create_database(analysis: &mut Analysis, context: &Context<'_>, call: &Call) {
    let is_sqlite = call.program.details.dialect == SqlDialect::Sqlite;
    let Some(database) = call.operands.first().filter(|_| is_sqlite) else {
        return;
    };
    let text = database.arg.text.as_str();
    // `file:NAME?mode=MODE`; without a mode, the database is made, too.
    let (file, mode) = match text.strip_prefix("file:") {
        Some(uri) => uri.split_once('?').unwrap_or((uri, "")),
        None => (text, ""),
    };
    let name = file.rsplit('/').next().unwrap_or(file);
    let has_mode = |mode_of: &str| mode.split('&').any(|part| part == mode_of);
    let opens = ["mode=ro", "mode=rw", "mode=memory", "immutable=1"];
    let makes = has_mode("mode=rwc") && !call.has_option(&["-readonly", "--readonly"]);
    let is_kept = call.has_option(&["-readonly", "--readonly"])
        || opens.iter().any(|mode| has_mode(mode))
        || context.tables.may_read_secrets(database.arg.path())
        || name.contains(['.', UNKNOWN])
        || matches!(name, "" | ":memory:");
    if makes || !is_kept {
        let reason = format!("creates the database `{text}` if there is none");
        analysis.add_finding(Effect::Create, database.arg.span, reason);
    }
}
