//! Languages other than the shell's: a script in, its effects out, as an [`Analysis`].
//!
//! A file for each language; none of them runs anything, and none sees the interpreter.

pub(crate) mod awk;
mod cmd;
mod code;
pub(crate) mod evaluation;
#[cfg(feature = "javascript")]
mod javascript;
mod missing_feature;
mod mongo;
#[cfg_attr(
    not(all(
        feature = "javascript",
        feature = "powershell",
        feature = "python",
        feature = "sql"
    )),
    expect(
        dead_code,
        reason = "the names of a language that this build does not read"
    )
)]
mod names;
pub(crate) mod powershell;
#[cfg(feature = "python")]
mod python;
mod redis;
mod sed;
#[cfg(feature = "sql")]
mod sql;
#[cfg(any(feature = "javascript", feature = "python"))]
mod syntax;
mod variables;
mod words;

use crate::analysis::Analysis;
use crate::model::arg::Arg;
use crate::model::language::Language;
use crate::model::sql_dialect::SqlDialect;
use crate::model::unseen_code::UnseenCode;
use crate::tables::Tables;

/// Reason for what prints the passwords that a database stores.
pub(crate) const HASHES: &str = "prints the password hashes of users";

/// Returns the effects of a script; the dialect is that of SQL.
pub(crate) fn analyze_script(
    language: Language,
    script: &Arg,
    dialect: SqlDialect,
    tables: &Tables,
) -> Analysis {
    let mut analysis = Analysis::new();
    // Text of PowerShell is recorded where it is decoded.
    if language != Language::PowerShell {
        analysis.record_script(language, &script.text);
        analysis.append(variables::analyze(language, script));
    }
    // A filter of `jq` neither writes nor runs anything.
    if language != Language::Jq && (!script.is_known() || script.has_guessed_number) {
        analysis.record_unseen_code(UnseenCode::Script);
    }
    analysis.append(match language {
        Language::Sed => sed::analyze(script),
        Language::Awk => awk::analyze(script),
        Language::Sql => sql(script, dialect),
        Language::Redis => redis::analyze(script),
        Language::Jq => Analysis::new(),
        Language::PowerShell => powershell::analyze(script, tables),
        Language::Cmd => cmd::analyze(script),
        Language::Mongo => mongo::analyze(script),
        Language::Python
        | Language::Perl
        | Language::Ruby
        | Language::Node
        | Language::Php
        | Language::Lua
        | Language::Tcl
        | Language::Code => code::analyze(language, script),
    });
    analysis
}

#[cfg(feature = "sql")]
use sql::analyze as sql;

#[cfg(not(feature = "sql"))]
fn sql(script: &Arg, _: SqlDialect) -> Analysis {
    let mut analysis = Analysis::new();
    let reason = missing_feature::missing_feature(Language::Sql).unwrap_or_default();
    analysis.add_finding(crate::model::effect::Effect::Code, script.span, reason);
    analysis
}
