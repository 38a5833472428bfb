//! Checks for variables that redirect the guard or its agents. In: settings of projects and of the
//! user, and the environment of this process. Out: one check per variable.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::check::{Check, CheckState, DoctorContext};
use crate::files;
use crate::install::{TOKEN_VARIABLE, document_value};
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
        "OPENCODE_CONFIG" | "OPENCODE_CONFIG_DIR" => VariableEffect::Agent,
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
        .flat_map(|folder| project_files(folder))
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

/// How a file sets variables.
#[derive(Clone, Copy)]
enum VariableFormat {
    /// The object `env`.
    Claude,
    /// The table `shell_environment_policy.set`.
    Codex,
    /// The objects `terminal.integrated.env.PLATFORM`.
    VsCode,
    /// Lines `NAME=value`, with or without `export`.
    Lines,
}

/// Returns the files of a project that set variables for an agent or for the shell that starts it.
fn project_files(folder: &Path) -> [(PathBuf, VariableFormat); 9] {
    [
        (".claude/settings.json", VariableFormat::Claude),
        (".claude/settings.local.json", VariableFormat::Claude),
        (".codex/config.toml", VariableFormat::Codex),
        (".vscode/settings.json", VariableFormat::VsCode),
        (".gemini/.env", VariableFormat::Lines),
        (".qwen/.env", VariableFormat::Lines),
        (".qwen/settings.json", VariableFormat::Claude),
        (".env", VariableFormat::Lines),
        (".envrc", VariableFormat::Lines),
    ]
    .map(|(name, format)| (folder.join(name), format))
}

/// Returns the names of the variables that a file sets.
fn names(text: &str, format: VariableFormat) -> Vec<String> {
    let keys = |value: &Value| -> Vec<String> {
        let object = value.as_object();
        object
            .into_iter()
            .flat_map(|object| object.keys().cloned())
            .collect()
    };
    match format {
        VariableFormat::Claude => {
            document_value(text).map_or_else(Vec::new, |json| keys(&json["env"]))
        }
        VariableFormat::VsCode => {
            let json = document_value(text).unwrap_or_default();
            let platforms = ["linux", "osx", "windows"];
            let platforms = platforms.map(|name| format!("terminal.integrated.env.{name}"));
            platforms
                .iter()
                .flat_map(|name| keys(&json[name.as_str()]))
                .collect()
        }
        VariableFormat::Codex => {
            let table: toml::Table = text.parse().unwrap_or_default();
            let set = |table: &toml::Table| -> Vec<String> {
                let policy = table.get("shell_environment_policy");
                let set = policy.and_then(|policy| policy.get("set")?.as_table());
                set.into_iter()
                    .flat_map(|set| set.keys().cloned())
                    .collect()
            };
            let profiles = table.get("profiles").and_then(toml::Value::as_table);
            let profiles = profiles.into_iter().flat_map(toml::Table::values);
            let profiles = profiles.filter_map(toml::Value::as_table);
            profiles.chain([&table]).flat_map(set).collect()
        }
        VariableFormat::Lines => text
            .lines()
            .filter_map(|line| {
                let line = line.trim_start();
                let line = line.strip_prefix("export ").unwrap_or(line);
                let (name, _) = line.split_once('=')?;
                Some(name.trim().to_owned())
            })
            .collect(),
    }
}

fn check_file(file: &Path, format: VariableFormat, is_project: bool) -> Vec<Check> {
    let text = files::read(file)
        .ok()
        .and_then(|bytes| String::from_utf8(bytes).ok());
    let Some(text) = text else {
        return Vec::new();
    };
    let mut found = names(&text, format);
    found.sort();
    found.dedup();
    let check = |name: &String| {
        let effect = effect(name)?;
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
        _ => format!("remove `{name}`, unless you know who set it and why"),
    }
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

#[cfg(test)]
mod tests {
    use super::{VariableFormat, names};

    #[test]
    fn variables_are_found_in_every_format() {
        for (text, format) in [
            (
                r#"{"env": {"HOME": "/x"}, /* why */ "a": {"B": 1}}"#,
                VariableFormat::Claude,
            ),
            (
                "[shell_environment_policy]\nset = { HOME = '/x' }",
                VariableFormat::Codex,
            ),
            (
                "[profiles.a.shell_environment_policy.set]\nHOME = '/x'",
                VariableFormat::Codex,
            ),
            (
                r#"{"terminal.integrated.env.osx": {"HOME": "/x"}}"#,
                VariableFormat::VsCode,
            ),
            ("# c\n  export HOME=/x\n", VariableFormat::Lines),
            ("HOME =/x", VariableFormat::Lines),
        ] {
            assert_eq!(names(text, format), ["HOME"], "{text}");
        }
        for format in [
            VariableFormat::Claude,
            VariableFormat::Codex,
            VariableFormat::VsCode,
            VariableFormat::Lines,
        ] {
            for text in ["", "{", "[", "{\"env\": 1}", "no line"] {
                assert!(names(text, format).is_empty(), "{text}");
            }
        }
    }
}
