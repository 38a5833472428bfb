//! Judges on top of a table, for what no table can say.
//!
//! Each is named in the tables, where the comment above the program says what
//! it decides.

mod builds;
mod builtins;
mod carried;
mod documents;
mod files;
mod find;
mod forge;
mod given;
mod python;
mod repository;
mod runs;
mod rust;
mod services;
mod shell;
mod system;
mod wrappers;

pub(super) use services::{from_input, method};

use super::{Arg, Input, Judge, Output};
use crate::shell::Span;
use crate::tables::{Call, Effect, JUDGES};

/// What a judge decided.
#[derive(Debug)]
pub(super) enum Outcome {
    /// Nothing: the table holds.
    Table,
    /// The table holds, but the judge dealt with the operands.
    NoOperands,
    /// This is the effect of the plain call.
    Is(Effect),
    /// All is said.
    Done(Output),
}

type Special = fn(&mut Judge<'_>, &Call, Span, &Input) -> Outcome;

/// The judges by the names that tables use.
pub(crate) const SPECIALS: &[(&str, SpecialFn)] = &[
    ("maybe-command", SpecialFn(|_, _, _, _| Outcome::Table)),
    ("cp", SpecialFn(files::cp)),
    ("truncate", SpecialFn(files::truncate)),
    ("dd", SpecialFn(files::dd)),
    ("date", SpecialFn(files::date)),
    ("find", SpecialFn(find::find)),
    ("fd", SpecialFn(find::fd)),
    ("tar", SpecialFn(documents::tar)),
    ("rename", SpecialFn(files::rename)),
    ("less", SpecialFn(files::less)),
    ("vim", SpecialFn(files::vim)),
    ("pattern", SpecialFn(files::pattern)),
    ("stdout-last", SpecialFn(files::stdout_last)),
    ("git-config", SpecialFn(repository::config)),
    ("git-push", SpecialFn(repository::push)),
    ("git-checkout", SpecialFn(repository::checkout)),
    ("gh-api", SpecialFn(forge::api)),
    ("kubectl-get", SpecialFn(forge::kubectl_get)),
    ("ansible", SpecialFn(forge::ansible)),
    ("ansible-vars", SpecialFn(forge::ansible_vars)),
    ("arguments-file", SpecialFn(carried::arguments_file)),
    ("compile-flags", SpecialFn(carried::compile_flags)),
    ("convert", SpecialFn(carried::convert)),
    ("duckdb", SpecialFn(carried::duckdb)),
    ("glow", SpecialFn(carried::glow)),
    ("log-options", SpecialFn(carried::log_options)),
    ("npm-diff", SpecialFn(carried::npm_diff)),
    ("pprof", SpecialFn(carried::pprof)),
    ("strace", SpecialFn(carried::strace)),
    ("interpreter", SpecialFn(runs::interpreter)),
    ("python", SpecialFn(python::python)),
    ("shell", SpecialFn(shell::shell)),
    ("eval", SpecialFn(shell::eval)),
    ("source", SpecialFn(shell::source)),
    ("xargs", SpecialFn(given::xargs)),
    ("env", SpecialFn(given::env)),
    ("sed", SpecialFn(runs::sed)),
    ("awk", SpecialFn(runs::awk)),
    ("jq", SpecialFn(runs::jq)),
    ("environment", SpecialFn(services::environment)),
    ("wg-show", SpecialFn(services::wg_show)),
    ("substitutes", SpecialFn(services::substitutes)),
    ("goals", SpecialFn(builds::goals)),
    ("toolchain", SpecialFn(rust::toolchain)),
    ("rustc", SpecialFn(rust::rustc)),
    ("rustfmt", SpecialFn(rust::rustfmt)),
    ("cargo-fmt", SpecialFn(rust::cargo_fmt)),
    ("assign", SpecialFn(builtins::assign)),
    ("print", SpecialFn(builtins::print)),
    ("hash", SpecialFn(builtins::hash)),
    ("autoload", SpecialFn(builtins::autoload)),
    ("zmodload", SpecialFn(builtins::zmodload)),
    ("zstyle", SpecialFn(builtins::zstyle)),
    ("repeat", SpecialFn(builtins::repeat)),
    ("ulimit", SpecialFn(builtins::ulimit)),
    ("test", SpecialFn(builtins::test)),
    ("zargs", SpecialFn(builtins::zargs)),
    ("arithmetic", SpecialFn(builtins::arithmetic)),
    ("compgen", SpecialFn(builtins::compgen)),
    ("jobs", SpecialFn(builtins::jobs)),
    ("fish", SpecialFn(builtins::fish)),
    ("curl", SpecialFn(services::curl)),
    ("httpie", SpecialFn(services::httpie)),
    ("grpcurl", SpecialFn(services::grpcurl)),
    ("ssh", SpecialFn(services::ssh)),
    ("rsync", SpecialFn(services::rsync)),
    ("flyway", SpecialFn(services::flyway)),
    ("sql-client", SpecialFn(services::sql_client)),
    ("watch", SpecialFn(wrappers::watch)),
    ("sudo", SpecialFn(wrappers::sudo)),
    ("parallel", SpecialFn(wrappers::parallel)),
    ("flock", SpecialFn(wrappers::flock)),
    ("tmux", SpecialFn(wrappers::tmux)),
    ("pictures", SpecialFn(documents::pictures)),
    ("sends-input", SpecialFn(services::sends_input)),
    ("facts-alone", SpecialFn(builtins::facts_alone)),
    ("flag-values", SpecialFn(builds::flag_values)),
    ("private-keys", SpecialFn(services::private_keys)),
    ("decrypts", SpecialFn(services::decrypts)),
    ("state-as-json", SpecialFn(services::state_as_json)),
    ("mypy", SpecialFn(builds::mypy)),
    ("mlr", SpecialFn(documents::mlr)),
    ("at", SpecialFn(given::at)),
    ("debugfs", SpecialFn(system::debugfs)),
    ("exiftool", SpecialFn(system::exiftool)),
    ("rpm", SpecialFn(system::rpm)),
    ("cc", SpecialFn(builds::cc)),
    ("flake", SpecialFn(builds::flake)),
    ("ninja", SpecialFn(builds::ninja)),
    ("cmake", SpecialFn(builds::cmake)),
    ("buildifier", SpecialFn(builds::buildifier)),
    ("sysctl", SpecialFn(system::sysctl)),
    ("ps", SpecialFn(system::ps)),
    ("capture", SpecialFn(system::capture)),
    ("capture-contents", SpecialFn(system::capture_contents)),
    ("smartctl", SpecialFn(system::smartctl)),
    ("ldd", SpecialFn(system::ldd)),
    ("pacman", SpecialFn(system::pacman)),
    ("netsh-show", SpecialFn(system::netsh_show)),
    ("nft", SpecialFn(system::nft)),
    ("service", SpecialFn(system::service)),
    ("powershell", SpecialFn(system::powershell)),
    ("cmd", SpecialFn(system::cmd)),
    ("iwr", SpecialFn(system::request)),
    ("wmic", SpecialFn(system::wmic)),
    ("wsl", SpecialFn(system::wsl)),
    // All abbreviations stand in the table.
    ("ip", SpecialFn(|_, _, _, _| Outcome::Table)),
    // The shell's own: `builtin` deals with them before any table is asked.
    ("declare", SpecialFn(|_, _, _, _| Outcome::Table)),
    ("set", SpecialFn(|_, _, _, _| Outcome::Table)),
    ("trap", SpecialFn(|_, _, _, _| Outcome::Table)),
    ("command", SpecialFn(|_, _, _, _| Outcome::Table)),
    ("alias", SpecialFn(|_, _, _, _| Outcome::Table)),
];

/// A judge; a type of its own so that its signature stays in here.
#[derive(Clone, Copy)]
pub(crate) struct SpecialFn(Special);

// Tables name no judge that does not exist.
const _: () = {
    let mut at = 0;
    while at < JUDGES.len() {
        let (name, mistake) = JUDGES[at];
        let mut known = 0;
        while known < SPECIALS.len() && !is_same(SPECIALS[known].0, name) {
            known += 1;
        }
        assert!(known < SPECIALS.len(), "{}", mistake);
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

/// The judge of this name; the build holds that there is one.
pub(super) fn special(name: &str) -> Special {
    SPECIALS.iter().find(|(known, _)| *known == name).map_or(
        |_, _, _, _| Outcome::Is(Effect::Unknown),
        |(_, special)| special.0,
    )
}

/// Whether a name is that of a PowerShell command, `Verb-Noun`.
pub(super) fn cmdlet(name: &str) -> bool {
    crate::language::powershell::cmdlet(name)
}

impl Judge<'_> {
    pub(super) fn cmdlet(&mut self, args: &[Arg], whole: Span) -> Output {
        let text = args
            .iter()
            .map(|arg| arg.text.as_str())
            .collect::<Vec<_>>()
            .join(" ");
        crate::language::powershell::judge(self, &Arg::new(text, whole));
        None
    }
}

fn args(call: &Call) -> Vec<Arg> {
    call.operands
        .iter()
        .map(|operand| operand.arg.clone())
        .collect()
}
