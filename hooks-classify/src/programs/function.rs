//! The functions of programs by the names that tables use.

use super::{builds, builtins, carried, documents, files, find, forge, given, python, repository};
use super::{runs, rust, services, shell, system, wrappers};
use crate::model::analysis::{Analysis, Context};
use crate::model::effect::Effect;
use crate::model::io::Input;
use crate::model::span::Span;
use crate::tables::Call;

/// A function for what no table can say of a program: from a call, the place of the command and its
/// input to what the call does.
pub(crate) type Function = fn(&Context<'_>, &Call, Span, &Input) -> Analysis;

/// The functions by their names.
const FUNCTIONS: &[(&str, Function)] = &[
    ("maybe-command", table),
    ("cp", files::cp),
    ("truncate", files::truncate),
    ("dd", files::dd),
    ("date", files::date),
    ("find", find::find),
    ("fd", find::fd),
    ("tar", documents::tar),
    ("rename", files::rename),
    ("less", files::less),
    ("vim", files::vim),
    ("pattern", files::pattern),
    ("stdout-last", files::stdout_last),
    ("git-config", repository::config),
    ("git-push", repository::push),
    ("git-checkout", repository::checkout),
    ("gh-api", forge::api),
    ("kubectl-get", forge::kubectl_get),
    ("ansible", forge::ansible),
    ("ansible-vars", forge::ansible_vars),
    ("arguments-file", carried::arguments_file),
    ("compile-flags", carried::compile_flags),
    ("convert", carried::convert),
    ("duckdb", carried::duckdb),
    ("glow", carried::glow),
    ("log-options", carried::log_options),
    ("npm-diff", carried::npm_diff),
    ("pprof", carried::pprof),
    ("strace", carried::strace),
    ("interpreter", runs::interpreter),
    ("python", python::python),
    ("shell", shell::shell),
    ("eval", shell::eval),
    ("source", shell::source),
    ("xargs", given::xargs),
    ("env", given::env),
    ("sed", runs::sed),
    ("awk", runs::awk),
    ("jq", runs::jq),
    ("environment", services::environment),
    ("wg-show", services::wg_show),
    ("substitutes", services::substitutes),
    ("goals", builds::goals),
    ("toolchain", rust::toolchain),
    ("rustc", rust::rustc),
    ("rustfmt", rust::rustfmt),
    ("cargo-fmt", rust::cargo_fmt),
    ("assign", builtins::assign),
    ("print", builtins::print),
    ("hash", builtins::hash),
    ("autoload", builtins::autoload),
    ("zmodload", builtins::zmodload),
    ("zstyle", builtins::zstyle),
    ("repeat", builtins::repeat),
    ("ulimit", builtins::ulimit),
    ("test", builtins::test),
    ("zargs", builtins::zargs),
    ("arithmetic", builtins::arithmetic),
    ("compgen", builtins::compgen),
    ("jobs", builtins::jobs),
    ("fish", builtins::fish),
    ("curl", services::curl),
    ("httpie", services::httpie),
    ("grpcurl", services::grpcurl),
    ("ssh", services::ssh),
    ("rsync", services::rsync),
    ("flyway", services::flyway),
    ("sql-client", services::sql_client),
    ("watch", wrappers::watch),
    ("sudo", wrappers::sudo),
    ("parallel", wrappers::parallel),
    ("flock", wrappers::flock),
    ("tmux", wrappers::tmux),
    ("pictures", documents::pictures),
    ("sends-input", services::sends_input),
    ("facts-alone", builtins::facts_alone),
    ("flag-values", builds::flag_values),
    ("private-keys", services::private_keys),
    ("decrypts", services::decrypts),
    ("state-as-json", services::state_as_json),
    ("mypy", builds::mypy),
    ("mlr", documents::mlr),
    ("at", given::at),
    ("debugfs", system::debugfs),
    ("exiftool", system::exiftool),
    ("rpm", system::rpm),
    ("cc", builds::cc),
    ("flake", builds::flake),
    ("ninja", builds::ninja),
    ("cmake", builds::cmake),
    ("buildifier", builds::buildifier),
    ("sysctl", system::sysctl),
    ("ps", system::ps),
    ("capture", system::capture),
    ("capture-contents", system::capture_contents),
    ("smartctl", system::smartctl),
    ("ldd", system::ldd),
    ("pacman", system::pacman),
    ("netsh-show", system::netsh_show),
    ("nft", system::nft),
    ("service", system::service),
    ("powershell", system::powershell),
    ("cmd", system::cmd),
    ("iwr", system::request),
    ("wmic", system::wmic),
    ("wsl", system::wsl),
    // All abbreviations stand in the table.
    ("ip", table),
    // The shell's own commands, which the interpreter runs without their tables.
    ("declare", table),
    ("set", table),
    ("trap", table),
    ("command", table),
    ("alias", table),
];

/// Returns the function of a name; a name without a function is understood as nothing.
pub(crate) fn function(name: &str) -> Function {
    let mut functions = FUNCTIONS.iter();
    functions
        .find(|(known, _)| *known == name)
        .map_or(not_understood, |(_, function)| *function)
}

/// Returns whether a function has this name.
pub(crate) fn is_function(name: &str) -> bool {
    FUNCTIONS.iter().any(|(known, _)| *known == name)
}

fn table(_: &Context<'_>, _: &Call, _: Span, _: &Input) -> Analysis {
    Analysis::new()
}

fn not_understood(_: &Context<'_>, _: &Call, _: Span, _: &Input) -> Analysis {
    Analysis::new().with_effect(Effect::Unknown)
}
