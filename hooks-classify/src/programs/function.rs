//! Functions of programs: the name that a table gives in, the function out.

use super::{
    builds, cluster, databases, documents, files, filters, find, git, github, http, interpreters,
    machine, monitors, packages, python, remote, rust, secrets, shell, shell_builtins, windows,
    wrappers, xargs,
};
use crate::analysis::{Analysis, Context};
use crate::model::effect::Effect;
use crate::model::io::Input;
use crate::model::span::Span;
use crate::options::call::Call;
use crate::tables::FUNCTIONS;

/// Function for effects of a program that no table can state: a context, a call, the span of its
/// command and its input in, the analysis of the call out.
pub(crate) type ProgramFunction = fn(&Context<'_>, &Call, Span, &Input) -> Analysis;

/// The functions by their names.
const PROGRAM_FUNCTIONS: &[(&str, ProgramFunction)] = &[
    ("maybe-command", by_table),
    ("output-formats", documents::output_formats),
    ("cp", files::cp),
    ("truncate", files::truncate),
    ("dd", files::dd),
    ("date", files::date),
    ("man", files::man),
    ("rustup-run", rust::rustup_run),
    ("etcd-get", cluster::etcd_get),
    ("container-top", monitors::container_top),
    ("tshark", monitors::tshark),
    ("dumps-users", secrets::dumps_users),
    ("secret-scanner", secrets::secret_scanner),
    ("queried", secrets::queried),
    ("mongosh", databases::mongosh),
    ("find", find::find),
    ("fd", find::fd),
    ("tar", documents::tar),
    ("rename", files::rename),
    ("less", files::less),
    ("vim", files::vim),
    ("pattern", files::pattern),
    ("stdout-last", files::stdout_last),
    ("git-config", git::config),
    ("git-push", git::push),
    ("git-checkout", git::checkout),
    ("gh-api", github::api),
    ("kubectl-get", cluster::kubectl_get),
    ("ansible", cluster::ansible),
    ("ansible-vars", cluster::ansible_vars),
    ("arguments-file", builds::arguments_file),
    ("compile-flags", builds::compile_flags),
    ("convert", documents::convert),
    ("duckdb", databases::duckdb),
    ("glow", documents::glow),
    ("log-options", git::log_options),
    ("ctest", builds::ctest),
    ("nix-eval", builds::nix_eval),
    ("npm-diff", packages::npm_diff),
    ("npm-dry-run", packages::npm_dry_run),
    ("pprof", monitors::pprof),
    ("strace", monitors::strace),
    ("interpreter", interpreters::interpreter),
    ("python", python::python),
    ("shell", shell::shell),
    ("eval", shell::eval),
    ("source", shell::source),
    ("xargs", xargs::xargs),
    ("env", wrappers::env),
    ("assignments", wrappers::assignments),
    ("sed", filters::sed),
    ("awk", filters::awk),
    ("jq", filters::jq),
    ("environment", secrets::environment),
    ("wg-show", secrets::wg_show),
    ("substitutes", secrets::substitutes),
    ("goals", builds::goals),
    ("tasks", builds::tasks),
    ("toolchain", rust::toolchain),
    ("rustc", rust::rustc),
    ("rustfmt", rust::rustfmt),
    ("cargo-fmt", rust::cargo_fmt),
    ("assign", shell_builtins::assign),
    ("print", shell_builtins::print),
    ("hash", shell_builtins::hash),
    ("autoload", shell_builtins::autoload),
    ("zmodload", shell_builtins::zmodload),
    ("zstyle", shell_builtins::zstyle),
    ("repeat", shell_builtins::repeat),
    ("ulimit", shell_builtins::ulimit),
    ("test", shell_builtins::test),
    ("zargs", shell_builtins::zargs),
    ("arithmetic", shell_builtins::arithmetic),
    ("compgen", shell_builtins::compgen),
    ("jobs", shell_builtins::jobs),
    ("fish", shell::fish),
    ("curl", http::curl),
    ("httpie", http::httpie),
    ("wget", http::wget),
    ("adb-shell", remote::adb_shell),
    ("command-server", remote::command_server),
    ("package-program", packages::package_program),
    ("wrapped-program", packages::wrapped_program),
    ("named-program", packages::named_program),
    ("terraform-plan", builds::terraform_plan),
    ("terraform-apply", builds::terraform_apply),
    ("grpcurl", http::grpcurl),
    ("ssh", remote::ssh),
    ("rsync", remote::rsync),
    ("flyway", databases::flyway),
    ("sql-client", databases::sql_client),
    ("watch", wrappers::watch),
    ("sudo", wrappers::sudo),
    ("parallel", xargs::parallel),
    ("flock", wrappers::flock),
    ("tmux", wrappers::tmux),
    ("pictures", documents::pictures),
    ("sends-input", remote::sends_input),
    ("facts-alone", shell_builtins::facts_alone),
    ("flag-values", builds::flag_values),
    ("private-keys", secrets::private_keys),
    ("decrypts", secrets::decrypts),
    ("state-as-json", secrets::state_as_json),
    ("mlr", documents::mlr),
    ("at", wrappers::at),
    ("debugfs", machine::debugfs),
    ("exiftool", documents::exiftool),
    ("rpm", packages::rpm),
    ("cc", builds::cc),
    ("flake", builds::flake),
    ("ninja", builds::ninja),
    ("cmake", builds::cmake),
    ("buildifier", builds::buildifier),
    ("sysctl", machine::sysctl),
    ("plist-commands", machine::plist_commands),
    ("ps", monitors::ps),
    ("capture", monitors::capture),
    ("capture-contents", monitors::capture_contents),
    ("smartctl", machine::smartctl),
    ("ldd", machine::ldd),
    ("pacman", packages::pacman),
    ("netsh-show", windows::netsh_show),
    ("nft", machine::nft),
    ("service", machine::service),
    ("powershell", windows::powershell),
    ("cmd", windows::cmd),
    ("iwr", windows::request),
    ("wmic", windows::wmic),
    ("wsl", windows::wsl),
    // The table lists all abbreviations.
    ("ip", by_table),
    // The shell's own commands, which the interpreter runs without their tables.
    ("declare", by_table),
    ("set", by_table),
    ("trap", by_table),
    ("command", by_table),
    ("alias", by_table),
];

/// Returns the function of a name. A name without a function has an unknown effect.
pub(crate) fn find_function(name: &str) -> ProgramFunction {
    let mut functions = PROGRAM_FUNCTIONS.iter();
    functions
        .find(|(known, _)| *known == name)
        .map_or(not_understood, |(_, function)| *function)
}

// No table names a function that does not exist.
const _: () = {
    let mut at = 0;
    while at < FUNCTIONS.len() {
        let (name, mistake) = FUNCTIONS[at];
        let mut known = 0;
        while known < PROGRAM_FUNCTIONS.len() && !is_same(PROGRAM_FUNCTIONS[known].0, name) {
            known += 1;
        }
        assert!(known < PROGRAM_FUNCTIONS.len(), "{}", mistake);
        at += 1;
    }
};

const fn is_same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}

/// Adds nothing to the table of a program.
fn by_table(_: &Context<'_>, _: &Call, _: Span, _: &Input) -> Analysis {
    Analysis::new()
}

/// Leaves the effect of a program unknown.
fn not_understood(_: &Context<'_>, _: &Call, _: Span, _: &Input) -> Analysis {
    Analysis::new().with_effect(Effect::Unknown)
}
