//! The plugin for opencode: a file of its own, known by a hash in its first line.

use sha2::{Digest, Sha256};

use super::InstallError;
use super::file::Settings;
use super::plan::arguments;
use crate::protocol::{Agent, PATIENCE};

const SOURCE: &str = include_str!("opencode.js");
const MARK: &str = "// Written by hooks-guard, sha256 ";

/// The plugin that calls this binary.
pub(super) fn text(binary: &str, unattended: bool) -> String {
    let json = |value: serde_json::Value| value.to_string();
    let body = SOURCE
        .replace("\"@BINARY@\"", &json(binary.into()))
        .replace(
            "\"@ARGUMENTS@\"",
            &json(arguments(Agent::OpenCode, PATIENCE, unattended).into()),
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

fn hash(body: &str) -> String {
    let digest = Sha256::digest(body.as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
