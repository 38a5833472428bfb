//! The plugins for opencode, Kilo Code and Pi, separate files identified by a hash in their first line.
//! In: the hook's command line. Out: the plugin's text.
//!
//! When opencode or Kilo Code starts, it installs a package into the directory of its settings before it
//! loads a plugin. The plugin does not need this package; a `.npmrc` beside the settings limits the delay
//! if the registry is unreachable (77 s without it, 10 s with it, opencode 1.18.33).

use std::path::{Path, PathBuf};

use super::error::InstallError;
use super::file::Settings;
use super::plan::{HookCall, arguments, hash};
use super::script;
use crate::protocol::{Agent, BEFORE_TOOL_TIMEOUT, PluginHost};

/// The function of all plugins that calls the binary. If that fails, it returns a refusal.
const ASK: &str = include_str!("ask.js");

/// The refusal of a plugin because of `why`, in its own format.
const OPENCODE_REFUSAL: &str =
    r#"{ throws: `hooks-guard: ${why}`, effect: "deny", message: `hooks-guard: ${why}` }"#;
const PI_REFUSAL: &str = r"{ block: true, reason: `hooks-guard: ${why}` }";

const MARK: &str = "// Written by hooks-guard, sha256 ";

/// Name and content of the `.npmrc` in the directory of the settings of opencode or Kilo Code.
pub(super) const NPMRC: (&str, &str) = (
    ".npmrc",
    "# Written by hooks-guard: the agent waits for a package at its first start.
fetch-retries=0
fetch-timeout=15000
",
);

/// Returns the path of a file in the directory above that of a plugin's file.
pub(super) fn beside(file: &Path, name: &str) -> Option<PathBuf> {
    Some(file.parent()?.parent()?.join(name))
}

/// Returns the text of the file that calls the hook, for an agent whose file is written as a whole.
pub(crate) fn text(agent: Agent, call: HookCall<'_>) -> String {
    if let Some(scripts) = agent.description().scripts() {
        return script::before(agent, scripts, call);
    }
    let (source, refusal) = match agent.description().plugin_host() {
        Some(PluginHost::Pi) => (include_str!("pi.ts"), PI_REFUSAL),
        Some(PluginHost::OpenCode) | None => (include_str!("opencode.js"), OPENCODE_REFUSAL),
    };
    let ask = ASK.trim_end().replace("\"@REFUSAL@\"", refusal);
    let json = |value: serde_json::Value| value.to_string();
    let body = source
        .replace("@TITLE@", agent.title())
        .replace("@NAME@", agent.name())
        .replace("\"@ASK@\"", &ask)
        .replace("\"@BINARY@\"", &json(call.binary.into()))
        .replace(
            "\"@ARGUMENTS@\"",
            &json(arguments(agent, call, BEFORE_TOOL_TIMEOUT).into()),
        )
        .replace(
            "\"@LIMIT@\"",
            &(BEFORE_TOOL_TIMEOUT.as_secs() * 1000).to_string(),
        );
    format!("{MARK}{}\n{body}", hash(&body))
}

/// Returns `true` if a file is the unchanged plugin or script of any version.
pub(crate) fn is_installed(text: &str) -> bool {
    let text = text.strip_prefix(script::SHEBANG).unwrap_or(text);
    let Some((first, body)) = text.split_once('\n') else {
        return false;
    };
    let mut marks = [MARK, script::MARK].into_iter();
    marks.any(|mark| first.strip_prefix(mark) == Some(&hash(body)))
}

/// Checks that the file may be replaced or removed.
pub(super) fn check(settings: &Settings) -> Result<(), InstallError> {
    match settings.text() {
        Some(text) if !is_installed(text) => Err(InstallError::NotOurs {
            path: settings.path.clone(),
        }),
        _ => Ok(()),
    }
}
