//! Checks for variables that redirect the guard or its agents. In: settings of projects and of the
//! user, and the environment of this process. Out: one check per variable.

use std::path::Path;

use super::check::{Check, CheckState, DoctorContext};
use crate::classify::Classifier;
use crate::files;
use crate::install::TOKEN_VARIABLE;
use crate::protocol::variable_files::{FileVariable, VariableFile, VariableFormat, deciding};
use crate::protocol::{Agent, SettingsPlaces};

/// Effect of a variable on the guard.
#[derive(Clone, Copy, PartialEq, Eq)]
enum VariableEffect {
    /// Names another configuration, trail or address. The hook ignores it.
    Guard,
    /// Moves the user's directories. The hook finds its files without it.
    Folders,
    /// Moves the settings of an agent, and so its hooks.
    Agent,
    /// Switches the hooks of an agent off.
    Switch,
    /// Loads code into every started program, including the hook.
    Code,
    /// Decides which programs the commands of an agent run.
    Programs,
    /// Sends requests over HTTP to a proxy, and so the hooks that an agent calls over HTTP.
    Proxy,
    /// The token of an agent, which belongs into no file that others can read.
    Token,
}

/// Variables that send requests over HTTP to a proxy.
pub(super) const PROXIES: [&str; 4] = ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"];

/// Variables by which the PostgreSQL driver finds or trusts another server than the one in the
/// configuration. A hook runs without them.
pub const SERVER_VARIABLES: [&str; 10] = [
    "PGHOST",
    "PGHOSTADDR",
    "PGPORT",
    "PGUSER",
    "PGDATABASE",
    "PGOPTIONS",
    "PGSSLMODE",
    "PGSSLROOTCERT",
    "PGSSLCERT",
    "PGSSLKEY",
];

fn effect(name: &str) -> Option<VariableEffect> {
    Some(match name {
        // These two only restrict or inform.
        "HOOKS_GUARD_LOG" | "HOOKS_GUARD_UNATTENDED" => return None,
        TOKEN_VARIABLE => VariableEffect::Token,
        name if PROXIES.contains(&name) => VariableEffect::Proxy,
        name if SERVER_VARIABLES.contains(&name) => VariableEffect::Guard,
        name if name.starts_with("HOOKS_GUARD") => VariableEffect::Guard,
        "HOME" | "XDG_CONFIG_HOME" | "XDG_DATA_HOME" | "XDG_STATE_HOME" => VariableEffect::Folders,
        "OPENCODE_CONFIG"
        | "OPENCODE_CONFIG_DIR"
        | "KILO_CONFIG"
        | "KILO_CONFIG_DIR"
        | "KILO_CONFIG_CONTENT" => VariableEffect::Agent,
        name if agents_have(|places| places.switches.variables.contains(&name)) => {
            VariableEffect::Switch
        }
        name if agents_have(|places| {
            places.variable == Some(name) || places.switches.file_variables.contains(&name)
        }) =>
        {
            VariableEffect::Agent
        }
        "BASH_ENV" | "ENV" | "NODE_OPTIONS" => VariableEffect::Code,
        name if name.starts_with("LD_") || name.starts_with("DYLD_") => VariableEffect::Code,
        "PATH" | "SHELL" => VariableEffect::Programs,
        _ => return None,
    })
}

/// Returns `true` if the description of an agent's settings meets a condition.
fn agents_have(condition: impl Fn(&SettingsPlaces) -> bool) -> bool {
    let mut agents = Agent::ALL.into_iter();
    agents.any(|agent| condition(&agent.description().places))
}

pub(super) fn checks(around: &DoctorContext<'_>) -> Vec<Check> {
    let mut checks: Vec<Check> = around
        .workspace
        .iter()
        .flat_map(|folder| VariableFile::in_project(folder))
        .flat_map(|(file, format)| check_file(&file, format, true))
        .collect();
    let user = [
        (Agent::ClaudeCode, "settings.json", VariableFormat::Claude),
        (Agent::Codex, "config.toml", VariableFormat::Codex),
        (Agent::Codex, ".env", VariableFormat::Lines),
        (Agent::Gemini, ".gemini/.env", VariableFormat::Lines),
        (Agent::QwenCode, ".env", VariableFormat::Lines),
        (Agent::QwenCode, "settings.json", VariableFormat::Claude),
    ]
    .map(|(agent, name, format)| (around.homes.directory(agent).join(name), format));
    checks.extend(
        user.into_iter()
            .flat_map(|(file, format)| check_file(&file, format, false)),
    );
    checks.extend(
        around
            .variables
            .iter()
            .filter_map(|(name, _)| check_process_variable(name)),
    );
    if checks.is_empty() {
        let what = "no variable redirects the guard or its agents";
        checks.push(Check::new(NAME, CheckState::Ok, what, ""));
    }
    checks
}

const NAME: &str = "environment";

fn check_file(file: &Path, format: VariableFormat, is_project: bool) -> Vec<Check> {
    let text = files::read(file)
        .ok()
        .and_then(|bytes| String::from_utf8(bytes).ok());
    let Some(text) = text else {
        return Vec::new();
    };
    let mut found = format.variables(&text);
    found.sort_by(|one, other| one.name.cmp(&other.name));
    found.dedup_by(|one, other| one.name == other.name);
    let classifier = Classifier::new();
    let check = |variable: &FileVariable| {
        let name = &variable.name;
        let Some(effect) = effect(name) else {
            // The user's own settings are the user's choice.
            let found = deciding(&classifier, std::slice::from_ref(variable));
            let reason = found.filter(|_| is_project)?.reason;
            let what = format!(
                "a project's settings set `{name}`, in `{}`: it {reason}",
                file.display()
            );
            return Some(Check::new(NAME, CheckState::Warn, what, &removal(name)));
        };
        // In the user's settings, only some variables are worth a warning.
        let state = match (effect, is_project) {
            (VariableEffect::Programs | VariableEffect::Proxy, true) => CheckState::Warn,
            (_, true) => CheckState::Bad,
            (VariableEffect::Switch, false) => CheckState::Bad,
            (VariableEffect::Guard | VariableEffect::Code | VariableEffect::Token, false) => {
                CheckState::Warn
            }
            (_, false) => return None,
        };
        let whose = if is_project {
            "a project's settings set"
        } else {
            "your settings set"
        };
        let what = format!(
            "{whose} `{name}`, in `{}`: {}",
            file.display(),
            effect_text(effect)
        );
        Some(Check::new(NAME, state, what, &remedy(name, effect)))
    };
    found.iter().filter_map(check).collect()
}

fn effect_text(effect: VariableEffect) -> &'static str {
    match effect {
        VariableEffect::Guard => {
            "hooks ignore it, but `serve`, `approve` and `watch` would use other files or servers"
        }
        VariableEffect::Folders => "hooks ignore it, but `~` in a command means another directory",
        VariableEffect::Agent => "the agent reads other settings, without the hook",
        VariableEffect::Switch => "the agent does not call the hook",
        VariableEffect::Code => {
            "it loads code into every program that the agent starts, including the \
             hook"
        }
        VariableEffect::Programs => "it decides which programs the agent's commands run",
        VariableEffect::Proxy => {
            "hooks over HTTP go to this proxy, which can answer in the service's place"
        }
        VariableEffect::Token => {
            "everyone who can read the file can call hooks over HTTP as the agent"
        }
    }
}

fn remedy(name: &str, effect: VariableEffect) -> String {
    match effect {
        VariableEffect::Guard if name.starts_with("PG") => {
            format!("remove `{name}`; put it into the URL of `database` in the configuration")
        }
        VariableEffect::Guard => format!(
            "remove `{name}`; set it in the configuration, and run `hooks-guard install` again"
        ),
        VariableEffect::Token => {
            format!("remove `{name}`; set it in the start file of your shell")
        }
        _ => removal(name),
    }
}

fn removal(name: &str) -> String {
    format!("remove `{name}`, unless you know who set it and why")
}

/// Checks a variable of this process.
fn check_process_variable(name: &str) -> Option<Check> {
    let does = match effect(name)? {
        VariableEffect::Guard if !name.starts_with("PG") => "hooks ignore it",
        VariableEffect::Code if name == "LD_PRELOAD" || name == "DYLD_INSERT_LIBRARIES" => {
            "it loads code into every program, including the hook"
        }
        _ => return None,
    };
    let what = format!("`{name}` is set: {does}");
    let remedy = "unset it, unless you set it for `serve`, `approve` or `watch`";
    Some(Check::new(NAME, CheckState::Warn, what, remedy))
}
