//! Reads the versions of agents from their files, without running them. In: the search path. Out: a
//! version, or a note about it.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::protocol::Agent;

/// First version of Claude Code that denies a tool call if the hook fails or is late.
const BLOCKS_FROM: [u64; 3] = [2, 1, 295];

/// Returns the version of the Claude Code that a shell with this `PATH` would run.
fn claude(path: Option<&OsStr>) -> Option<[u64; 3]> {
    let program = fs::canonicalize(in_path(path, Agent::ClaudeCode.program())?).ok()?;
    // A native installation is a file named after its version.
    if let Some(version) = program.file_name()?.to_str().and_then(parse) {
        return Some(version);
    }
    program.ancestors().skip(1).take(3).find_map(package)
}

/// Returns the version in the package of a directory, if it is Claude Code's.
fn package(directory: &Path) -> Option<[u64; 3]> {
    let text = fs::read_to_string(directory.join("package.json")).ok()?;
    let package: Value = serde_json::from_str(&text).ok()?;
    // Native binaries are in packages such as `@anthropic-ai/claude-code-linux-x64`.
    let name = package["name"].as_str().unwrap_or_default();
    let ours = name.starts_with("@anthropic-ai/claude-code");
    package["version"].as_str().filter(|_| ours).and_then(parse)
}

fn parse(version: &str) -> Option<[u64; 3]> {
    let mut parts = version.splitn(3, '.');
    let mut next = || {
        let part = parts.next()?;
        let digits = part.split(['-', '+']).next()?;
        digits.parse().ok()
    };
    Some([next()?, next()?, next()?])
}

/// Returns `true` if a shell with this `PATH` would run a Claude Code whose version cannot be read.
pub(super) fn claude_is_unknown(path: Option<&OsStr>) -> bool {
    in_path(path, Agent::ClaudeCode.program()).is_some() && claude(path).is_none()
}

/// Returns a sentence if the Claude Code that a shell with this `PATH` would run executes the tool
/// when the hook is late; `None` if it denies the call.
pub(crate) fn claude_ignores_lateness(path: Option<&OsStr>) -> Option<String> {
    let [major, minor, patch] = claude(path)?;
    ([major, minor, patch] < BLOCKS_FROM)
        .then(|| format!("Claude Code {major}.{minor}.{patch} runs the tool if the hook times out"))
}

/// Returns the program with this name that a shell with this `PATH` would run. Relative directories of
/// `PATH` are skipped.
#[must_use]
pub fn in_path(path: Option<&OsStr>, name: &str) -> Option<PathBuf> {
    let directories = std::env::split_paths(path?).filter(|directory| directory.is_absolute());
    directories
        .map(|directory| directory.join(name))
        .find(|file| is_program(file))
}

fn is_program(file: &Path) -> bool {
    let Ok(metadata) = fs::metadata(file) else {
        return false;
    };
    #[cfg(unix)]
    let executable = std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o111 != 0;
    #[cfg(not(unix))]
    let executable = true;
    executable && metadata.is_file()
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn a_version_is_parsed_from_three_numbers() {
        assert_eq!(parse("2.1.295"), Some([2, 1, 295]));
        assert_eq!(parse("2.1.30-beta.1"), Some([2, 1, 30]));
        for other in ["claude", "2.1", "", "v2.1.3", "2.x.3"] {
            assert_eq!(parse(other), None, "{other}");
        }
    }
}
