//! Finds what switches the hooks of an agent off. In: the files of the user, of the machine and of the
//! project with the directories around it, and the environment. Out: one check per setting, with its
//! file and key.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::check::{Check, CheckState, DoctorContext};
use crate::files;
use crate::install::{BINARY_NAME, SettingsScope, others};
use crate::protocol::{Agent, HookSwitch, OffArgument, OffValue, settings_text};

/// Maximum number of files of one directory of settings that are read.
const MAX_FILES: usize = 200;

/// Returns a check for each setting and variable that switches the agent's hooks off.
pub(super) fn checks(agent: Agent, around: &DoctorContext<'_>) -> Vec<Check> {
    let switches = &agent.description().places.switches;
    let own = around.homes.settings(agent, &SettingsScope::User);
    let mut checks: Vec<Check> = files(agent, around)
        .iter()
        .flat_map(|file| check_file(agent, file, Some(&own), switches.settings))
        .collect();
    let set = around.variables.iter();
    let set = set.filter(|(name, value)| switches.variables.contains(&&**name) && is_on(value));
    checks.extend(set.map(|(name, value)| {
        let what = format!(
            "the variable `{name}` is `{value}`, so {} does not call the hook",
            agent.title()
        );
        switched_off(agent, what, &format!("unset `{name}`"))
    }));
    checks
}

/// Returns a check for each argument with which the agent would not call the hook.
pub(super) fn check_arguments(agent: Agent, arguments: &[OsString]) -> Vec<Check> {
    let switches = &agent.description().places.switches;
    let arguments = arguments.iter().map(|argument| argument.to_string_lossy());
    // Text after `--` is a prompt.
    let arguments: Vec<_> = arguments.take_while(|argument| argument != "--").collect();
    let check = |text: &str| {
        let what = format!("with `{text}`, {} does not call the hook", agent.title());
        switched_off(agent, what, &format!("remove `{text}`"))
    };
    let mut checks = Vec::new();
    for (at, argument) in arguments.iter().enumerate() {
        let (name, value) = match argument.split_once('=') {
            Some((name, value)) if name.starts_with('-') => (name, value),
            _ => (
                &**argument,
                arguments.get(at + 1).map_or("", |next| &**next),
            ),
        };
        for off in switches.arguments {
            match *off {
                OffArgument::Flag(option) if name == option => checks.push(check(option)),
                OffArgument::Value(option, off) if name == option && value == off => {
                    checks.push(check(&format!("{option} {off}")));
                }
                OffArgument::Without(option, needed)
                    if name == option && !value.split(',').any(|one| one.trim() == needed) =>
                {
                    checks.push(check(&format!("{option} {value}")));
                }
                OffArgument::Text(text) if argument.replace(' ', "").contains(text) => {
                    checks.push(check(argument));
                }
                OffArgument::Settings(option) if name == option => {
                    let settings: Vec<&HookSwitch> = switches.settings.iter().collect();
                    checks.extend(match value.trim_start().starts_with('{') {
                        true => check_text(agent, option, value, false, &settings),
                        false => check_file(agent, Path::new(value), None, switches.settings),
                    });
                }
                _ => {}
            }
        }
    }
    checks
}

fn switched_off(agent: Agent, what: String, remedy: &str) -> Check {
    Check::new(agent.name(), CheckState::Bad, what, remedy)
}

/// Returns `true` for a value of a variable that agents read as true.
fn is_on(value: &str) -> bool {
    let value = value.trim().to_lowercase();
    !matches!(&*value, "" | "0" | "false" | "no" | "off" | "none")
}

/// Returns the files of an agent that may have settings, each once.
pub(super) fn files(agent: Agent, around: &DoctorContext<'_>) -> BTreeSet<PathBuf> {
    places(agent, around)
        .into_iter()
        .flat_map(documents)
        .collect()
}

/// Returns the files and directories of an agent that may have settings, each once.
pub(super) fn places(agent: Agent, around: &DoctorContext<'_>) -> BTreeSet<PathBuf> {
    let mut places: BTreeSet<PathBuf> = others(agent, around.homes, None).into_iter().collect();
    for folder in around.folders() {
        places.extend(others(agent, around.homes, Some(folder)));
    }
    let named = agent.description().places.switches.file_variables.iter();
    for name in named {
        let values = around.variables.iter().filter(|(other, _)| other == name);
        places.extend(values.map(|(_, value)| PathBuf::from(value)));
    }
    places
}

/// Returns a file, or the files of a directory that may be documents of settings.
fn documents(place: PathBuf) -> Vec<PathBuf> {
    if !place.is_dir() {
        return vec![place];
    }
    let entries = fs::read_dir(&place).into_iter().flatten().flatten();
    let files = entries.map(|entry| entry.path()).filter(|path| {
        let end = path.extension().and_then(|end| end.to_str());
        matches!(end, Some("json" | "jsonc" | "toml"))
    });
    files.take(MAX_FILES).collect()
}

/// Checks a file of settings. `own` is the file in which `install` registers the hook.
fn check_file(
    agent: Agent,
    file: &Path,
    own: Option<&Path>,
    switches: &[HookSwitch],
) -> Vec<Check> {
    let text = files::read(file)
        .ok()
        .and_then(|bytes| String::from_utf8(bytes).ok());
    let is_toml = file.extension().is_some_and(|end| end == "toml");
    let is_own = Some(file) == own;
    let switches: Vec<&HookSwitch> = switches
        .iter()
        .filter(|switch| !(is_own && switch.off == OffValue::ReplacesHook))
        .collect();
    match text {
        Some(text) if !switches.is_empty() => {
            check_text(agent, &file.to_string_lossy(), &text, is_toml, &switches)
        }
        _ => Vec::new(),
    }
}

/// Checks a document of settings, which is shown as `shown`.
fn check_text(
    agent: Agent,
    shown: &str,
    text: &str,
    is_toml: bool,
    switches: &[&HookSwitch],
) -> Vec<Check> {
    let check = |what: String, remedy: &str| switched_off(agent, what, remedy);
    let document = match is_toml {
        true => settings_text::toml(text),
        false => settings_text::json(text),
    };
    let Some(document) = document else {
        // An agent may read more than this parser.
        let named = switches.iter().filter_map(|switch| switch.keys.last());
        let named = named.copied().find(|key| text.contains(key));
        let what = |key| format!("`{shown}` cannot be parsed, and contains `{key}`");
        return named
            .map(|key| check(what(key), "correct the syntax, and remove the setting"))
            .into_iter()
            .collect();
    };
    let registers = text.contains(BINARY_NAME) && text.contains(" hook ");
    let mut checks = Vec::new();
    for switch in switches {
        for (key, value) in found(&document, switch.keys) {
            if is_off(value, switch.off, registers) {
                let what = format!(
                    "`{shown}` sets `{key}` to `{value}`, so {} does not call the hook",
                    agent.title()
                );
                checks.push(check(what, &format!("remove `{key}` from `{shown}`")));
            }
        }
    }
    checks
}

/// Returns the values at a path of keys, each with its key for display.
fn found<'a>(document: &'a Value, keys: &[&str]) -> Vec<(String, &'a Value)> {
    let mut found = vec![(String::new(), document)];
    for key in keys {
        let mut next = Vec::new();
        for (path, value) in found {
            let joined = |name: &str| match path.is_empty() {
                true => name.to_owned(),
                false => format!("{path}.{name}"),
            };
            match (value.as_object(), *key) {
                (Some(object), "*") => {
                    next.extend(object.iter().map(|(name, value)| (joined(name), value)));
                }
                (Some(object), name) => {
                    next.extend(object.get(name).map(|value| (joined(name), value)));
                }
                (None, "*") => {
                    let items = value.as_array().into_iter().flatten().enumerate();
                    next.extend(items.map(|(at, value)| (joined(&at.to_string()), value)));
                }
                (None, _) => {}
            }
        }
        found = next;
    }
    found
}

fn is_off(value: &Value, off: OffValue, registers: bool) -> bool {
    // Agents convert texts.
    let is = |wanted: bool| match value {
        Value::Bool(value) => *value == wanted,
        Value::String(text) => text.trim().eq_ignore_ascii_case(&wanted.to_string()),
        _ => false,
    };
    let texts = value.as_array().map_or(&[][..], Vec::as_slice).iter();
    let mut texts = texts.filter_map(Value::as_str);
    match off {
        OffValue::Is(wanted) => is(wanted),
        OffValue::ManagedOnly => !registers && (is(true) || texts.any(|text| text == "hooks")),
        OffValue::NamesHook => texts.any(|text| text.contains(BINARY_NAME)),
        OffValue::ReplacesHook => value
            .as_str()
            .is_some_and(|name| name.contains(BINARY_NAME)),
        OffValue::ExcludesHook => texts.any(|text| match text.trim().split_at_checked(1) {
            Some(("-", name)) => name.contains(BINARY_NAME),
            Some(("!", pattern)) => may_match(pattern),
            _ => false,
        }),
    }
}

/// Returns `true` if a pattern for files may match the plugin of the guard.
fn may_match(pattern: &str) -> bool {
    let last = pattern.rsplit('/').next().unwrap_or(pattern);
    if pattern.contains(BINARY_NAME) || last.contains(['?', '[', '{', '(']) {
        return true;
    }
    let mut parts = last.split('*');
    let first = parts.next().unwrap_or_default();
    // Without `*`, the pattern names another file.
    last.contains('*') && BINARY_NAME.starts_with(first)
}

#[cfg(test)]
mod tests {
    use crate::classify::Classifier;
    use crate::protocol::{Agent, HookSwitch, OffArgument, OffValue};

    /// Returns a setting with the value that switches hooks off, as the book shows it.
    fn setting(switch: &HookSwitch) -> String {
        let key = switch.keys.join(".");
        match switch.off {
            OffValue::Is(value) => format!("`{key}`: `{value}`"),
            OffValue::ManagedOnly => format!("`{key}` in managed settings"),
            OffValue::NamesHook => format!("`{key}` with the hook"),
            OffValue::ExcludesHook => format!("`{key}` with a pattern that excludes the hook"),
            OffValue::ReplacesHook => format!("`{key}` of the hook in another file"),
        }
    }

    fn argument(argument: &OffArgument) -> String {
        match argument {
            OffArgument::Flag(option) => format!("`{option}`"),
            OffArgument::Value(option, value) => format!("`{option} {value}`"),
            OffArgument::Without(option, value) => format!("`{option}` without `{value}`"),
            OffArgument::Text(text) => format!("text with `{text}`"),
            OffArgument::Settings(option) => format!("`{option}` with such a setting"),
        }
    }

    /// Returns the row of an agent in the book's table.
    fn row(agent: Agent) -> String {
        let switches = &agent.description().places.switches;
        let column = |texts: Vec<String>| match texts.is_empty() {
            true => "none known".to_owned(),
            false => texts.join(", "),
        };
        let code = |names: &[&str]| -> Vec<String> {
            names.iter().map(|name| format!("`{name}`")).collect()
        };
        let place = &agent.description().places;
        let moves: Vec<&str> = place
            .variable
            .iter()
            .chain(switches.file_variables)
            .copied()
            .collect();
        let replaced = switches.project_replaces;
        let replaced = replaced.then(|| format!("a `{}` without the hook", place.project));
        let settings = switches.settings.iter().map(setting);
        let settings: Vec<String> = settings.chain(replaced).collect();
        format!(
            "| {} | {} | {} | {} | {} |",
            agent.title(),
            column(settings),
            column(code(switches.variables)),
            column(switches.arguments.iter().map(argument).collect()),
            column(code(&moves)),
        )
    }

    #[test]
    fn the_reason_of_a_nested_agent_names_what_switches_its_hooks_off() {
        let mut count = 0;
        for agent in Agent::ALL {
            let description = agent.description();
            for argument in description.places.switches.arguments {
                let option = match *argument {
                    OffArgument::Flag(option) => option.to_owned(),
                    OffArgument::Value(option, value) => format!("{option} {value}"),
                    _ => continue,
                };
                let command = format!("{} {option} x", description.program);
                let found = Classifier::new().classify(&command).expect("a command");
                assert!(
                    found.reasoning.contains(&format!("`{option}`")),
                    "{command}: {}",
                    found.reasoning
                );
                count += 1;
            }
        }
        assert!(count > 5, "{count}");
    }

    #[test]
    fn the_page_lists_what_switches_hooks_off() {
        let page = include_str!("../../../docs/agents.md");
        let rows: Vec<String> = Agent::ALL.into_iter().map(row).collect();
        for row in &rows {
            assert!(
                page.contains(row),
                "docs/agents.md lacks a row of\n{}",
                rows.join("\n")
            );
        }
    }
}
