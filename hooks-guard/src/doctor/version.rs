//! Versions of agents, as far as files tell them.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use serde_json::Value;

/// The version of the Claude Code that a shell would run, without running it.
pub(super) fn claude(path: Option<&OsStr>) -> Option<[u64; 3]> {
    let program = fs::canonicalize(super::in_path(path, "claude")?).ok()?;
    // A native installation is a file that is called by its version.
    if let Some(version) = program.file_name()?.to_str().and_then(parse) {
        return Some(version);
    }
    program.ancestors().skip(1).take(3).find_map(package)
}

/// The version in the package of the directory, if it is the agent's.
fn package(directory: &Path) -> Option<[u64; 3]> {
    let text = fs::read_to_string(directory.join("package.json")).ok()?;
    let package: Value = serde_json::from_str(&text).ok()?;
    let ours = package["name"] == "@anthropic-ai/claude-code";
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

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn a_version_has_three_numbers() {
        assert_eq!(parse("2.1.295"), Some([2, 1, 295]));
        assert_eq!(parse("2.1.30-beta.1"), Some([2, 1, 30]));
        for other in ["claude", "2.1", "", "v2.1.3", "2.x.3"] {
            assert_eq!(parse(other), None, "{other}");
        }
    }
}
