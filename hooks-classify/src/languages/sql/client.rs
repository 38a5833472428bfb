//! Commands of database clients, which no server sees: a line in, its effect out.

use crate::analysis::Analysis;
use crate::model::arg::Arg;
use crate::model::effect::Effect;
use crate::model::io::Input;
use crate::model::sql_dialect::SqlDialect;

use super::analyze;

/// Adds the effect of a line.
pub(super) fn analyze_client_command(
    analysis: &mut Analysis,
    arg: &Arg,
    dialect: SqlDialect,
    line: &str,
) {
    let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    // A backslash after a command begins another one, and two begin statements.
    let whole_line = matches!(name, "\\!" | "\\copy");
    if line.starts_with('\\')
        && !whole_line
        && let Some(at) = rest.find('\\')
    {
        let (own, next) = rest.split_at(at);
        analyze_client_command(analysis, arg, dialect, &format!("{name} {own}"));
        match next.strip_prefix("\\\\") {
            Some(statements) => analysis.append(analyze(&arg.with_text(statements), dialect)),
            None => analyze_client_command(analysis, arg, dialect, next),
        }
        return;
    }
    if name == "\\s" && !rest.is_empty() {
        analysis.add_finding(
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
                analysis.run_shell_text(&arg.with_text(rest), &Input::Unknown);
                Effect::Code
            }
            ".output" | ".once" | ".backup" | ".save" | ".import" | ".clone" | ".log"
            | ".excel" | ".open" | ".restore" => {
                if rest.starts_with('|') {
                    analysis.run_shell_text(
                        &arg.with_text(rest.trim_start_matches('|')),
                        &Input::Unknown,
                    );
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
        analysis.add_finding(effect, arg.span, format!("the client runs `{name}`"));
        return;
    }
    let effect = match name.trim_end_matches('+').trim_end_matches('S') {
        "\\!" => {
            analysis.run_shell_text(&arg.with_text(rest), &Input::Unknown);
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
    analysis.add_finding(
        if backquotes {
            Effect::Code.max(effect)
        } else {
            effect
        },
        arg.span,
        format!("the client runs `{name}`"),
    );
}
