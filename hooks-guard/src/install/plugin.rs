//! The plugin for opencode: a file of its own, known by a hash in its first line.
//!
//! opencode installs a package of its own into the folder of its settings when it starts, and waits
//! for it before it loads a plugin. The plugin does not need it; a `.npmrc` beside the settings keeps
//! the wait short if the registry cannot be reached (77 s without it, 10 s with it, opencode 1.18.33).

use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::error::InstallError;
use super::file::Settings;
use super::plan::{HookCall, arguments};
use crate::protocol::{Agent, PATIENCE};

const SOURCE: &str = include_str!("opencode.js");
const MARK: &str = "// Written by hooks-guard, sha256 ";

/// The `.npmrc` in the folder of opencode's settings.
pub(super) const NPMRC: &str =
    "# Written by hooks-guard: opencode waits for a package at its first start.
fetch-retries=0
fetch-timeout=15000
";

/// Where it is, for a plugin in this file.
pub(super) fn npmrc(plugin: &Path) -> Option<PathBuf> {
    Some(plugin.parent()?.parent()?.join(".npmrc"))
}

/// The plugin that calls the hook.
pub(crate) fn text(call: HookCall<'_>) -> String {
    let json = |value: serde_json::Value| value.to_string();
    let body = SOURCE
        .replace("\"@BINARY@\"", &json(call.binary.into()))
        .replace(
            "\"@ARGUMENTS@\"",
            &json(arguments(Agent::OpenCode, call, PATIENCE).into()),
        )
        .replace("\"@LIMIT@\"", &(PATIENCE.as_secs() * 1000).to_string());
    format!("{MARK}{}\n{body}", hash(&body))
}

/// Whether a file is the plugin as it was written, by any version.
pub(crate) fn is_installed(text: &str) -> bool {
    let Some((first, body)) = text.split_once('\n') else {
        return false;
    };
    first.strip_prefix(MARK) == Some(&hash(body))
}

/// That the file may be replaced or removed.
pub(super) fn check(settings: &Settings) -> Result<(), InstallError> {
    match settings.text() {
        Some(text) if !is_installed(text) => Err(InstallError::NotOurs {
            path: settings.path.clone(),
        }),
        _ => Ok(()),
    }
}

/// The SHA-256 of a text, in hexadecimal.
pub(super) fn hash(text: &str) -> String {
    hex::encode(Sha256::digest(text))
}
