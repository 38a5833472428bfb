//! Checks the agents. In: the places of their settings. Out: whether each agent calls the hook, and
//! what it does if the hook fails.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::check::{Check, CheckState, DoctorContext, mode, same};
use super::environment::PROXIES;
use super::{other_hooks, switches};
use crate::excerpt::Excerpt;
use crate::files;
use crate::install::{
    BINARY_NAME, HookCall, Plan, SettingsScope, TOKEN_VARIABLE, claude_ignores_lateness,
    codex_skips, entries, http_plan, is_http, mcp_pattern, plugin_is_installed, plugin_text,
};
use crate::protocol::{AcceptedTables, Agent, FailureReaction, TomlRegistration, settings_text};

pub(super) fn checks(around: &DoctorContext<'_>) -> Vec<Check> {
    let mut checks: Vec<_> = Agent::ALL
        .into_iter()
        .flat_map(|agent| of(agent, around))
        .collect();
    if checks.is_empty() {
        checks.push(Check::new(
            "agents",
            CheckState::Warn,
            "no supported agent found",
            "run `hooks-guard install <AGENT>`",
        ));
    }
    checks
}

fn of(agent: Agent, around: &DoctorContext<'_>) -> Vec<Check> {
    if let Some(how) = agent.description().by_hand() {
        let what = format!(
            "{} is installed, and its hooks are not checked; `hooks-guard install {agent}` prints \
             the command to register",
            agent.title()
        );
        let check = || Check::new(agent.name(), CheckState::Warn, what, how);
        let is_there = around.homes.sign(agent).is_dir();
        return is_there.then(check).into_iter().collect();
    }
    let mut checks = Vec::new();
    let mut installed = false;
    let project = around
        .project
        .filter(|_| agent.description().reads_project());
    for place in SettingsScope::all(project) {
        let file = around.homes.settings(agent, &place);
        match read(&file) {
            SettingsText::Nothing => {}
            SettingsText::Unreadable(why) => {
                checks.push(failed_check(
                    agent,
                    format!("`{}` {why}", file.display()),
                    "correct the file",
                ));
            }
            SettingsText::Text(text) => {
                if let Some(found) = check_registration(agent, &file, &text, around) {
                    installed = true;
                    checks.extend(found);
                }
            }
        }
    }
    if installed {
        checks.extend(check_switches(agent, around));
        checks.extend(check_replaced(agent, around));
        checks.extend(other_hooks::checks(agent, around));
    } else if around.homes.sign(agent).is_dir() && checks.is_empty() {
        checks.push(Check::new(
            agent.name(),
            CheckState::Warn,
            format!("{} is installed but does not call the hook", agent.title()),
            &format!("run `hooks-guard install {agent}`"),
        ));
    }
    checks
}

/// Returns the reasons for which an agent would run without the guard if it was started with these
/// arguments; empty if it calls the hook as `install` registers it.
pub(super) fn unguarded(
    agent: Agent,
    around: &DoctorContext<'_>,
    arguments: &[OsString],
) -> Vec<Check> {
    if let Some(how) = agent.description().by_hand() {
        let what = format!("the hooks of {} cannot be checked", agent.title());
        return vec![failed_check(agent, what, how)];
    }
    let mut checks = of(agent, around);
    checks.extend(switches::check_arguments(agent, arguments));
    let is_registered = checks.iter().any(|check| check.state == CheckState::Ok);
    // A changed entry is a warning of `doctor`.
    checks.retain(|check| check.state == CheckState::Bad || !is_registered);
    if !is_registered && checks.is_empty() {
        let what = format!("{} does not call the hook", agent.title());
        let remedy = format!("run `hooks-guard install {agent}`");
        checks.push(failed_check(agent, what, &remedy));
    }
    checks
}

fn failed_check(agent: Agent, what: String, remedy: &str) -> Check {
    Check::new(agent.name(), CheckState::Bad, what, remedy)
}

/// Returns a check for each file of a project that the agent reads instead of the file of the user, and
/// that does not register the hook as `install` does.
fn check_replaced(agent: Agent, around: &DoctorContext<'_>) -> Vec<Check> {
    if !agent.description().places.switches.project_replaces {
        return Vec::new();
    }
    let own = around.homes.settings(agent, &SettingsScope::User);
    let folders = around.folders().into_iter();
    let files: BTreeSet<PathBuf> = folders
        .map(|folder| {
            let place = SettingsScope::Project(folder.to_owned());
            around.homes.settings(agent, &place)
        })
        .filter(|file| *file != own)
        .collect();
    let replaces = |file: &PathBuf| match read(file) {
        SettingsText::Nothing => false,
        SettingsText::Unreadable(_) => true,
        SettingsText::Text(text) => entries(&text, agent).map_or(true, |there| {
            there.is_empty() || compare_entries(agent, file, &there, around, "").is_some()
        }),
    };
    let files = files.into_iter().filter(replaces);
    files
        .map(|file| {
            let what = format!(
                "`{}` does not register the hook as this version does, and {} reads it instead of \
                 the file of the user",
                file.display(),
                agent.title()
            );
            let remedy = format!("remove it, or run `hooks-guard install {agent} --project` there");
            failed_check(agent, what, &remedy)
        })
        .collect()
}

enum SettingsText {
    Nothing,
    Text(String),
    Unreadable(String),
}

fn read(file: &Path) -> SettingsText {
    match files::read(file) {
        Ok(bytes) => match String::from_utf8(bytes) {
            Ok(text) => SettingsText::Text(text),
            Err(_) => SettingsText::Unreadable("is not valid UTF-8".into()),
        },
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => SettingsText::Nothing,
        Err(error) => SettingsText::Unreadable(format!("cannot be read ({error})")),
    }
}

/// Checks how the hook is registered in a file; returns `None` if it is not.
fn check_registration(
    agent: Agent,
    file: &Path,
    text: &str,
    around: &DoctorContext<'_>,
) -> Option<Vec<Check>> {
    let shown = file.display();
    let again = format!("run `hooks-guard install {agent}` again");
    let good = || {
        let fails = match is_blocked_if_late(agent) {
            false => "; the tool is blocked if the hook fails, but not if it times out",
            true => "; the tool is blocked if the hook fails",
        };
        Check::new(
            agent.name(),
            CheckState::Ok,
            format!("`{shown}` calls the hook{fails}"),
            "",
        )
    };
    let mut checks = Vec::new();
    if agent.description().owns_file() {
        let is_script = agent.description().scripts().is_some();
        // A plugin has the arguments as JSON texts.
        let json = |text: &str| match is_script {
            true => text.to_owned(),
            false => Value::from(text).to_string(),
        };
        let calls = text.contains(&json(&around.binary.to_string_lossy()));
        let (binary, config) = (
            around.binary.to_string_lossy(),
            around.config.to_string_lossy(),
        );
        let is_as_now = [false, true].into_iter().any(|unattended| {
            let call = HookCall {
                binary: &binary,
                config: &config,
                database: around.database,
                unattended,
            };
            text == plugin_text(agent, call)
        });
        checks.push(match (plugin_is_installed(text), calls) {
            (true, true) if is_as_now => good(),
            (true, true) if text.contains(&json("--config")) => Check::new(
                agent.name(),
                CheckState::Warn,
                format!("the entry in `{shown}` differs from the one that this version installs"),
                &again,
            ),
            (true, true) => outdated_entry_check(agent, file, &again),
            (true, false) => other_binary_check(agent, file, &again),
            (false, _) => failed_check(
                agent,
                match is_script {
                    true => format!("the script `{shown}` was changed after its installation"),
                    false => format!("the plugin `{shown}` was changed after its installation"),
                },
                &format!("remove it, and {again}"),
            ),
        });
    } else {
        let there = match entries(text, agent) {
            Ok(there) if there.is_empty() => return None,
            Ok(there) => there,
            Err(error) => {
                return Some(vec![failed_check(
                    agent,
                    error.in_file(file),
                    "correct the file",
                )]);
            }
        };
        let comparison = compare_entries(agent, file, &there, around, &again);
        let trusted = match agent.description().needs_trust() {
            true => {
                let config = read(&around.homes.directory(Agent::Codex).join("config.toml"));
                let config = match &config {
                    SettingsText::Text(text) => text.as_str(),
                    SettingsText::Nothing | SettingsText::Unreadable(_) => "",
                };
                codex_skips(file, text, config).map(|why| {
                    let what = format!("`{shown}`: {why}, so Codex silently skips it");
                    failed_check(
                        agent,
                        what,
                        &format!(
                            "{again}, or run `/hooks` in Codex and trust the hooks of hooks-guard"
                        ),
                    )
                })
            }
            false => None,
        };
        let rejected = agent
            .description()
            .toml()
            .and_then(|format| rejected_table(format, text));
        checks.extend(rejected.map(|why| {
            let title = agent.title();
            let what = format!("`{shown}` has {why}; {title} then ignores all hooks");
            failed_check(agent, what, "correct or remove this entry")
        }));
        match there.iter().any(|(_, entry)| is_http(entry)) {
            true => checks.extend(http_checks(agent, file, comparison, around)),
            false => checks.push(comparison.or(trusted).unwrap_or_else(good)),
        }
    }
    if mode(file).is_some_and(|mode| mode & 0o022 != 0) {
        checks.push(failed_check(
            agent,
            format!("other users can write to `{shown}`"),
            &format!("chmod go-w '{shown}'"),
        ));
    }
    Some(checks)
}

/// Returns why an agent would reject a table of its list of hooks, if it would.
fn rejected_table(format: &TomlRegistration, text: &str) -> Option<String> {
    let AcceptedTables {
        events,
        texts,
        timeout,
        max_timeout,
    } = format.accepted.as_ref()?;
    let document = settings_text::toml(text)?;
    let list = format.list;
    let tables = document[list].as_array()?;
    tables.iter().enumerate().find_map(|(at, table)| {
        let entry = format!("entry {} of `{list}` with", at + 1);
        let Some(table) = table.as_object() else {
            return Some(format!("{entry} a value that is no table"));
        };
        let event = table.get(format.event).and_then(Value::as_str);
        if !event.is_some_and(|event| events.contains(&event)) {
            return Some(match event {
                Some(event) => format!("{entry} the unknown event `{event}`"),
                None => format!("{entry} no event"),
            });
        }
        if table
            .get("command")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .is_empty()
        {
            return Some(format!("{entry} no command"));
        }
        table.iter().find_map(|(key, value)| {
            let is_accepted = if key == timeout {
                value
                    .as_u64()
                    .is_some_and(|seconds| (1..=*max_timeout).contains(&seconds))
            } else {
                key == format.event || (texts.contains(&&**key) && value.is_string())
            };
            (!is_accepted).then(|| format!("{entry} an unknown value of `{key}`"))
        })
    })
}

/// Returns the checks of entries that call the hook over HTTP.
fn http_checks(
    agent: Agent,
    file: &Path,
    comparison: Option<Check>,
    around: &DoctorContext<'_>,
) -> Vec<Check> {
    let shown = file.display();
    let mut checks = vec![comparison.unwrap_or_else(|| {
        let what = format!(
            "`{shown}` calls the hook over HTTP; the tool is blocked if the service does not run"
        );
        Check::new(agent.name(), CheckState::Ok, what, "")
    })];
    let is_set = |name: &str| {
        around
            .variables
            .iter()
            .any(|(variable, _)| variable == name)
    };
    if !is_set(TOKEN_VARIABLE) {
        checks.push(Check::new(
            agent.name(),
            CheckState::Warn,
            format!(
                "`{TOKEN_VARIABLE}` is not set here, and without it the service denies every tool"
            ),
            &format!(
                "put `export {TOKEN_VARIABLE}=\"$(hooks-guard token {agent})\"` into the start \
                 file of your shell"
            ),
        ));
    }
    if let Some(proxy) = PROXIES.into_iter().find(|name| is_set(name)) {
        checks.push(Check::new(
            agent.name(),
            CheckState::Warn,
            format!(
                "`{proxy}` is set, and {} may send its hooks there",
                agent.title()
            ),
            "add `127.0.0.1,localhost` to `NO_PROXY`, or install without `--http`",
        ));
    }
    if let Some(late) = claude_ignores_lateness(around.path) {
        checks.push(failed_check(
            agent,
            format!("{late} or the service does not run"),
            "update it to 2.1.295 or later, or install without `--http`",
        ));
    }
    checks
}

/// Returns the check of an entry of an earlier version, which names no configuration.
fn outdated_entry_check(agent: Agent, file: &Path, again: &str) -> Check {
    let what = format!(
        "`{}` calls the hook without `--config`; it was installed by an earlier version",
        file.display()
    );
    Check::new(agent.name(), CheckState::Warn, what, again)
}

fn other_binary_check(agent: Agent, file: &Path, again: &str) -> Check {
    failed_check(
        agent,
        format!("`{}` calls another binary", file.display()),
        again,
    )
}

/// Compares the entries in a file with those of this version.
fn compare_entries(
    agent: Agent,
    file: &Path,
    there: &[(String, Value)],
    around: &DoctorContext<'_>,
    again: &str,
) -> Option<Check> {
    let (binary, config) = (
        around.binary.to_string_lossy(),
        around.config.to_string_lossy(),
    );
    let plan = |unattended| {
        let call = HookCall {
            binary: &binary,
            config: &config,
            database: around.database,
            unattended,
        };
        Plan::new(agent, call).entries
    };
    let wanted = plan(false);
    let is = |wanted: &[(String, Value)]| {
        wanted.len() == there.len() && wanted.iter().all(|entry| there.contains(entry))
    };
    let is_http_plan = [false, true].into_iter().any(|unattended| {
        http_plan(agent, around.service, unattended).is_ok_and(|plan| is(&plan.entries))
    });
    if is(&wanted) || is(&plan(true)) || is_http_plan {
        return None;
    }
    let shown = file.display();
    let mut binaries = there.iter().filter_map(|(_, entry)| called_binary(entry));
    if let Some(missing) = binaries
        .clone()
        .find(|binary| binary.is_absolute() && !binary.exists())
    {
        return Some(failed_check(
            agent,
            format!(
                "`{shown}` calls `{}`, which does not exist",
                missing.display()
            ),
            again,
        ));
    }
    if binaries.any(|binary| !same(&binary, around.binary)) {
        return Some(other_binary_check(agent, file, again));
    }
    let is_before = |name: &str| {
        let mut events = agent.description().events.iter();
        events.any(|event| event.name == name && event.kind.is_before())
    };
    let before = there.iter().filter(|(event, _)| is_before(event));
    if let Some(name) = before
        .filter_map(|(_, entry)| missing_stop_key(agent, entry))
        .next()
    {
        return Some(failed_check(
            agent,
            format!("`{shown}` lacks `{name}`, so the agent continues if the hook fails"),
            again,
        ));
    }
    let mut lines = there.iter().filter_map(|(_, entry)| command_words(entry));
    if lines
        .clone()
        .any(|words| option(&words, "--config").is_none())
    {
        return Some(outdated_entry_check(agent, file, again));
    }
    let other = lines.find_map(|words| {
        let given = |name| option(&words, name).cloned();
        let named = (given("--config")?, given("--database"));
        let is_other = named.0 != config || named.1.as_deref() != around.database;
        is_other.then_some(named)
    });
    if let Some((config, database)) = other {
        let database = database.map_or_else(String::new, |url| format!(" and `{url}`"));
        let what = format!(
            "`{shown}` calls the hook with `{config}`{database}, but `doctor` checks `{}`",
            around.config.display()
        );
        return Some(Check::new(agent.name(), CheckState::Warn, what, again));
    }
    let missing = wanted
        .iter()
        .find(|(event, _)| !there.iter().any(|(other, _)| other == event));
    let skips_mcp = wanted
        .iter()
        .any(|(event, entry)| skips_mcp_tools(agent, event, entry, there));
    Some(match missing {
        Some((event, _)) => failed_check(
            agent,
            format!("`{shown}` does not call the hook at `{event}`"),
            again,
        ),
        None if skips_mcp => Check::new(
            agent.name(),
            CheckState::Warn,
            format!(
                "`{shown}` does not call the hook for tools of MCP servers, so rules with `mcp` \
                 have no effect"
            ),
            again,
        ),
        None => Check::new(
            agent.name(),
            CheckState::Warn,
            format!("the entry in `{shown}` differs from the one that this version installs"),
            again,
        ),
    })
}

/// Returns `true` if the entries at an event have matchers without the tools of MCP servers, which
/// the entry of this version has.
fn skips_mcp_tools(agent: Agent, event: &str, wanted: &Value, there: &[(String, Value)]) -> bool {
    let pattern = mcp_pattern(agent);
    let has_pattern = |entry: &Value| {
        let matcher = entry["matcher"].as_str();
        matcher.is_none_or(|matcher| matcher == "*" || matcher.contains(&pattern))
    };
    let is_named = wanted["matcher"]
        .as_str()
        .is_some_and(|wanted| wanted.contains(&pattern));
    let mut entries = there.iter().filter(|(other, _)| other == event);
    is_named && !entries.any(|(_, entry)| has_pattern(entry))
}

/// Returns the words of an entry's command line, the binary first.
fn command_words(entry: &Value) -> Option<Vec<String>> {
    let handler = entry
        .get("hooks")
        .map_or(Some(entry), |hooks| hooks.get(0))?;
    let line = handler
        .get("command")
        .or_else(|| handler.get("bash"))?
        .as_str()?;
    match handler.get("args").and_then(Value::as_array) {
        Some(arguments) => {
            let arguments = arguments.iter().filter_map(Value::as_str);
            Some(
                std::iter::once(line)
                    .chain(arguments)
                    .map(str::to_owned)
                    .collect(),
            )
        }
        None => shlex::split(line),
    }
}

/// Returns the binary that an entry calls.
fn called_binary(entry: &Value) -> Option<PathBuf> {
    command_words(entry)?.first().map(PathBuf::from)
}

/// Returns the value of an option in a command line.
fn option<'a>(words: &'a [String], name: &str) -> Option<&'a String> {
    let at = words.iter().position(|word| word == name)?;
    words.get(at + 1)
}

/// Returns the missing key that makes the agent stop if the hook fails.
fn missing_stop_key(agent: Agent, entry: &Value) -> Option<&'static str> {
    let (key, value) = agent.description().fail_closed()?;
    let value = value.to_json();
    let has_key = |handler: &Value| handler[key] == value;
    let is_complete = match entry["hooks"].as_array() {
        Some(handlers) => handlers.iter().all(has_key),
        None => has_key(entry),
    };
    (!is_complete).then_some(key)
}

/// Returns `true` if the agent does not run the tool if the hook is late. An agent that was not
/// tried is expected to follow the key that `install` sets, and otherwise to run it.
fn is_blocked_if_late(agent: Agent) -> bool {
    match agent.failure_rules().late {
        FailureReaction::Denies => true,
        FailureReaction::Continues => false,
        FailureReaction::Unknown => agent.description().fail_closed().is_some(),
    }
}

/// Checks other settings that decide whether the agent calls the hook.
fn check_switches(agent: Agent, around: &DoctorContext<'_>) -> Vec<Check> {
    let mut checks = switches::checks(agent, around);
    if agent == Agent::Codex {
        for file in switches::files(agent, around) {
            if let SettingsText::Text(text) = read(&file)
                && file.extension().is_some_and(|end| end == "toml")
            {
                checks.extend(codex(&file, &text));
            }
        }
    }
    if agent == Agent::Pi {
        checks.extend(around.folders().into_iter().flat_map(pi));
    }
    if agent == Agent::Goose {
        checks.extend(goose_settings(around));
        checks.extend(goose_variable(around));
        let plugin = |folder| goose_plugin(folder, around);
        checks.extend(around.folders().into_iter().filter_map(plugin));
    }
    if agent == Agent::ClaudeCode
        && let Some(late) = claude_ignores_lateness(around.path)
    {
        let remedy = "update Claude Code to 2.1.295 or later";
        checks.push(Check::new(agent.name(), CheckState::Warn, late, remedy));
    }
    checks
}

/// Settings of a project of Pi that decide what runs: extensions, and the shell of commands.
const PI_SETTINGS: [&str; 4] = ["extensions", "packages", "shellPath", "shellCommandPrefix"];

/// Checks what Pi loads from a project that its user trusts. Extensions of a project run in Pi before
/// the one of the guard; the prefix is part of every command, and the hook does not see it.
fn pi(folder: &Path) -> Vec<Check> {
    let warn =
        |what: String, remedy: &str| Check::new(Agent::Pi.name(), CheckState::Warn, what, remedy);
    let mut checks = Vec::new();
    let extensions = folder.join(".pi/extensions");
    let entries = std::fs::read_dir(&extensions).into_iter().flatten();
    let names = entries.flatten().map(|entry| entry.file_name());
    let mut names: Vec<String> = names
        .map(|name| name.to_string_lossy().into_owned())
        .filter(|name| !name.starts_with(BINARY_NAME))
        .collect();
    names.sort();
    if !names.is_empty() {
        checks.push(warn(
            format!(
                "`{}` has extensions that Pi runs before the one of the guard if you trust the \
                 project: `{}`",
                extensions.display(),
                names.join("`, `")
            ),
            "read them, and start Pi with `--no-approve` unless you trust them",
        ));
    }
    let settings = folder.join(".pi/settings.json");
    let SettingsText::Text(text) = read(&settings) else {
        return checks;
    };
    let settings_of_project = settings_text::json(&text).unwrap_or_default();
    for key in PI_SETTINGS {
        if settings_of_project[key].is_null() {
            continue;
        }
        checks.push(warn(
            format!(
                "`{}` sets `{key}`, which decides what Pi runs if you trust the project",
                settings.display()
            ),
            "move it to your own settings, or start Pi with `--no-approve`",
        ));
    }
    checks
}

/// Checks the plugins of a project for Goose. Of two plugins of one name, Goose 1.52.0 loads that of the
/// project.
fn goose_plugin(folder: &Path, around: &DoctorContext<'_>) -> Option<Check> {
    let place = SettingsScope::Project(folder.to_path_buf());
    let file = around.homes.settings(Agent::Goose, &place);
    let plugin = file.parent()?.parent()?;
    let is_users = file == around.homes.settings(Agent::Goose, &SettingsScope::User);
    if is_users || !plugin.is_dir() {
        return None;
    }
    let registers = match read(&file) {
        SettingsText::Text(text) => check_registration(Agent::Goose, &file, &text, around),
        _ => None,
    };
    if registers.is_some_and(|checks| checks.iter().all(|check| check.state == CheckState::Ok)) {
        return None;
    }
    let what = format!(
        "`{}` replaces the plugin of the guard, because Goose prefers a plugin of the project, and \
         does not call the hook",
        plugin.display()
    );
    let remedy = "remove this folder, or run `hooks-guard install goose --project`";
    Some(failed_check(Agent::Goose, what, remedy))
}

/// Returns the directory of the user's plugin for Goose.
fn goose_user_plugin(around: &DoctorContext<'_>) -> Option<String> {
    let file = around.homes.settings(Agent::Goose, &SettingsScope::User);
    Some(file.parent()?.parent()?.to_string_lossy().into_owned())
}

/// Checks the variable that replaces the list of plugins in Goose's settings.
fn goose_variable(around: &DoctorContext<'_>) -> Option<Check> {
    const NAME: &str = "PLUGINS";
    let plugin = goose_user_plugin(around)?;
    let (_, value) = around.variables.iter().find(|(name, _)| name == NAME)?;
    let what = format!("the variable `{NAME}` is `{value}`, so Goose does not call the hook");
    let disables = value.contains(&plugin) && value.contains("false");
    disables.then(|| failed_check(Agent::Goose, what, "unset `PLUGINS`"))
}

/// Checks the user's settings of Goose, in which plugins can be disabled by their path.
fn goose_settings(around: &DoctorContext<'_>) -> Option<Check> {
    let plugin = goose_user_plugin(around)?;
    // With `GOOSE_PATH_ROOT`, the file is in another directory below it.
    let root = Path::new(&plugin).ancestors().nth(3)?;
    let places = [around.homes.sign(Agent::Goose), root.join("config")];
    let mut files = places.into_iter().map(|place| place.join("config.yaml"));
    let (file, text) = files.find_map(|file| match read(&file) {
        SettingsText::Text(text) => Some((file, text)),
        _ => None,
    })?;
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let is_off = |line: &str| line.replace(' ', "").contains("enabled:false");
    let mut pairs = lines.iter().zip(lines.iter().skip(1).chain([&""]));
    let disables = pairs.any(|(line, next)| {
        line.contains(&plugin) && (is_off(line) || line.ends_with(':') && is_off(next))
    });
    let what = format!(
        "`{}` disables the plugin `{plugin}`, so Goose does not call the hook",
        file.display()
    );
    let remedy = "set `enabled: true` for this plugin in the file";
    disables.then(|| failed_check(Agent::Goose, what, remedy))
}

/// Checks a file of Codex's settings.
fn codex(file: &Path, text: &str) -> Vec<Check> {
    let shown = file.display();
    let table: toml::Table = match text.parse() {
        Ok(table) => table,
        Err(error) => {
            let message = toml::de::Error::message(&error);
            let what = match error.span() {
                Some(at) => format!(
                    "{shown}:{}: invalid TOML: {message}",
                    Excerpt::new(text, at)
                ),
                None => format!("{shown}: invalid TOML: {message}"),
            };
            return vec![failed_check(Agent::Codex, what, "correct the syntax")];
        }
    };
    let mut checks = Vec::new();
    let profiles = table.get("profiles").and_then(toml::Value::as_table);
    let profiles = profiles.into_iter().flat_map(toml::Table::values);
    let mut tables = profiles.filter_map(toml::Value::as_table).chain([&table]);
    let is_untrusted = |table: &toml::Table| {
        table.get("approval_policy").and_then(toml::Value::as_str) == Some("untrusted")
    };
    if tables.any(is_untrusted) {
        let what = format!(
            "`{shown}` has `approval_policy = \"untrusted\"`: Codex from 0.149 does not start with it"
        );
        let remedy = "remove it; hooks-guard does not need it";
        checks.push(Check::new(
            Agent::Codex.name(),
            CheckState::Warn,
            what,
            remedy,
        ));
    }
    checks
}
