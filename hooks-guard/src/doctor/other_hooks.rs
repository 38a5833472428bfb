//! Finds what else runs beside the guard's hook: other hooks before a tool, and commands of a project
//! without a hook event. In: the places of an agent's settings. Out: one check per hook and per file.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use hooks_runtime::display::shorten;

use super::check::{Check, CheckState, DoctorContext};
use super::switches;
use crate::files;
use crate::install::BINARY_NAME;
use crate::protocol::Agent;
use crate::protocol::command_files::{CommandFolder, FOLDERS};
use crate::protocol::other_hooks::{RegisteredHook, input_change, registered_before};
use crate::protocol::settings_text;

/// Maximum number of files of one place that are read.
const MAX_FILES: usize = 500;

/// Maximum depth of the directories of one place.
const MAX_DEPTH: usize = 6;

/// Maximum number of checks for one agent.
const MAX_CHECKS: usize = 20;

/// Returns a check for each other hook of an agent, and for each file of a project with a shell command
/// that the user calls by name.
pub(super) fn checks(agent: Agent, around: &DoctorContext<'_>) -> Vec<Check> {
    let mut files = BTreeSet::new();
    for place in switches::places(agent, around) {
        add_files(&place, MAX_DEPTH, &mut files);
    }
    let hooks = files
        .iter()
        .flat_map(|file| other_hooks(agent, file, around.binary));
    let mut checks: Vec<Check> = hooks.take(MAX_CHECKS).collect();
    checks.extend(commands(agent, around).into_iter().take(MAX_CHECKS));
    checks
}

/// Adds the files of a place, a file or a directory.
fn add_files(place: &Path, depth: usize, found: &mut BTreeSet<PathBuf>) {
    if place.is_file() {
        found.insert(place.to_owned());
        return;
    }
    // Packages have no hooks of their own, and many files.
    if depth == 0 || place.ends_with("node_modules") {
        return;
    }
    let entries = fs::read_dir(place).into_iter().flatten().flatten();
    let mut entries: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    entries.sort();
    for entry in entries {
        if found.len() >= MAX_FILES {
            return;
        }
        add_files(&entry, depth - 1, found);
    }
}

fn text(file: &Path) -> Option<String> {
    String::from_utf8(files::read(file).ok()?).ok()
}

/// Returns a check for each hook before a tool that a file registers, or that the file is.
fn other_hooks(agent: Agent, file: &Path, binary: &Path) -> Vec<Check> {
    let extension = file.extension().and_then(|end| end.to_str());
    let document = match extension {
        Some("toml") => text(file).and_then(|text| settings_text::toml(&text)),
        Some("json" | "jsonc") => text(file).and_then(|text| settings_text::json(&text)),
        _ => return hook_file(agent, file).into_iter().collect(),
    };
    let hooks = document.map(|document| registered_before(agent, &document));
    let other = hooks.into_iter().flatten();
    let other = other.filter(|hook| !is_own(hook, binary));
    other
        .map(|RegisteredHook { event, runs }| {
            let runs = match runs.as_str() {
                "" => String::new(),
                runs => format!(" `{}`", shorten(runs, 200)),
            };
            let what = format!(
                "`{}` registers another hook at `{event}`{runs}",
                file.display()
            );
            other_hook(agent, what)
        })
        .collect()
}

/// Returns the check of a file that is itself a hook: a script named as the event, or a plugin.
fn hook_file(agent: Agent, file: &Path) -> Option<Check> {
    let description = agent.description();
    let folder = file.parent()?.file_name()?.to_str()?;
    let extension = file.extension().and_then(|end| end.to_str());
    let is_plugin = description.uses_plugin()
        && matches!(folder, "plugin" | "plugins")
        && matches!(extension, Some("js" | "ts" | "mjs" | "cjs" | "mts"));
    let stem = file.file_stem()?.to_str()?;
    let is_script = description.scripts().is_some()
        && matches!(folder, "hooks" | "Hooks")
        && description
            .events
            .iter()
            .any(|event| event.kind.is_before() && event.name == stem);
    if !(is_plugin || is_script) || text(file).is_some_and(|text| text.contains(BINARY_NAME)) {
        return None;
    }
    let what = match is_plugin {
        true => format!("`{}` is another plugin", file.display()),
        false => format!("`{}` is another hook", file.display()),
    };
    Some(other_hook(agent, what))
}

fn other_hook(agent: Agent, what: String) -> Check {
    let changes = match input_change(agent) {
        Some(change) => format!(
            "with `{}` it can change what a tool does after the guard's decision",
            change.field
        ),
        None => "it is not known whether it can change what a tool does".to_owned(),
    };
    let what = format!("{what}: {changes}");
    let remedy = "check that it changes no input; if another command runs than the decided one, the \
                  trail records it";
    Check::new(agent.name(), CheckState::Warn, what, remedy)
}

/// Returns `true` if a hook is the guard's own: a call of this binary, or of its service over HTTP.
/// Another binary of this name is reported with the registration of the hook.
fn is_own(hook: &RegisteredHook, binary: &Path) -> bool {
    let words = shlex::split(&hook.runs).unwrap_or_default();
    let [program, subcommand, ..] = words.as_slice() else {
        return hook.runs.contains("/api/hooks/agents/");
    };
    let program = Path::new(program);
    let is_binary =
        program == binary || program.file_name().is_some_and(|name| name == BINARY_NAME);
    is_binary && subcommand == "hook"
}

/// Returns a check for each command of a project that runs a shell command.
fn commands(agent: Agent, around: &DoctorContext<'_>) -> Vec<Check> {
    let mut checks = Vec::new();
    let folders = FOLDERS.iter().filter(|folder| folder.agent == agent);
    for folder in folders {
        for project in around.folders() {
            let mut files = BTreeSet::new();
            add_files(&project.join(folder.path), MAX_DEPTH, &mut files);
            let files = files.iter().filter(|file| {
                file.extension().is_some_and(|end| end == folder.extension)
                    && text(file).is_some_and(|text| folder.runs_command(&text))
            });
            checks.extend(files.map(|file| command(folder, file)));
        }
    }
    checks
}

fn command(folder: &CommandFolder, file: &Path) -> Check {
    let (agent, shown) = (folder.agent, file.display());
    match folder.event {
        Some(event) => Check::new(
            agent.name(),
            CheckState::Ok,
            format!("`{shown}` runs a shell command if you call it; the hook decides at `{event}`"),
            "",
        ),
        None => Check::new(
            agent.name(),
            CheckState::Warn,
            format!(
                "`{shown}` runs a shell command if you call it, and {} does not call the hook for it",
                agent.title()
            ),
            "read it before you call it",
        ),
    }
}
