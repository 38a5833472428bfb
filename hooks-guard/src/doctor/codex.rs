//! Codex: whether it runs the hook at all, by its `config.toml`.
//!
//! Codex skips a hook, without a message, until its user trusts it. What was trusted is in
//! `config.toml` as a hash of the entry in `hooks.json`.

use std::path::Path;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::agents::bad;
use super::{Check, State};
use crate::install::{document_value, runs};
use crate::protocol::Agent;

/// Codex's own name for each event, in the keys of what is trusted.
const EVENTS: [(&str, &str); 3] = [
    ("PreToolUse", "pre_tool_use"),
    ("PermissionRequest", "permission_request"),
    ("PostToolUse", "post_tool_use"),
];

/// Checks a file of Codex's settings.
pub(super) fn settings(file: &Path, text: &str) -> Vec<Check> {
    let shown = file.display();
    let table = match parse(file, text) {
        Ok(table) => table,
        Err(check) => return vec![check],
    };
    let mut checks = Vec::new();
    let features = table.get("features").and_then(toml::Value::as_table);
    let off =
        |name: &&str| features.and_then(|f| f.get(*name)) == Some(&toml::Value::Boolean(false));
    if let Some(name) = ["hooks", "codex_hooks"].iter().find(|name| off(name)) {
        let what = format!("`{shown}` has `features.{name} = false`: no hook is called");
        checks.push(bad(Agent::Codex, what, "remove it"));
    }
    let policy = table.get("approval_policy").and_then(toml::Value::as_str);
    if policy == Some("untrusted") {
        checks.push(Check::new(
            Agent::Codex.name(),
            State::Warn,
            format!("`{shown}` has `approval_policy = \"untrusted\"`: Codex from 0.149 does not start with it"),
            "remove it; hooks-guard does not need it",
        ));
    }
    checks
}

fn parse(file: &Path, text: &str) -> Result<toml::Table, Check> {
    text.parse().map_err(|error| {
        let error = toml::de::Error::message(&error);
        let what = format!("`{}` does not parse: {error}", file.display());
        bad(Agent::Codex, what, "correct the file")
    })
}

/// Checks whether Codex trusts the entries of the hook in `hooks`, a file of this text; `config`
/// is the text of the user's `config.toml`.
pub(super) fn trust(hooks: &Path, text: &str, config: &str) -> Option<Check> {
    let states = config.parse::<toml::Table>().unwrap_or_default();
    let state = |key: &str| states.get("hooks")?.get("state")?.get(key).cloned();
    let mut problems = Vec::new();
    for entry in entries(text) {
        let state = entry.keys(hooks).iter().find_map(|key| state(key));
        let field = |name: &str| state.as_ref().and_then(|state| state.get(name));
        let trusted = field("trusted_hash").and_then(toml::Value::as_str);
        let problem = if field("enabled") == Some(&toml::Value::Boolean(false)) {
            "is turned off"
        } else if trusted == Some(entry.hash().as_str()) {
            continue;
        } else if trusted.is_some() {
            "was changed since it was trusted"
        } else {
            "is not trusted"
        };
        problems.push(format!("the hook at `{}` {problem}", entry.event));
    }
    let first = problems.first()?;
    let what = format!(
        "`{}`: {first}: Codex skips it without a message",
        hooks.display()
    );
    let remedy = "run `/hooks` in Codex and trust the hooks of hooks-guard";
    Some(bad(Agent::Codex, what, remedy))
}

/// An entry of the hook, with its place in the file.
struct Entry {
    event: &'static str,
    label: &'static str,
    group: usize,
    handler: usize,
    matcher: Value,
    given: Value,
}

fn entries(text: &str) -> Vec<Entry> {
    let document = document_value(text).unwrap_or_default();
    let mut found = Vec::new();
    for (event, label) in EVENTS {
        let groups = document["hooks"][event].as_array();
        for (group, entry) in groups.into_iter().flatten().enumerate() {
            let handlers = entry["hooks"].as_array();
            for (handler, given) in handlers.into_iter().flatten().enumerate() {
                let line = given["command"].as_str().unwrap_or_default();
                if runs(line, Agent::Codex) {
                    found.push(Entry {
                        event,
                        label,
                        group,
                        handler,
                        matcher: entry["matcher"].clone(),
                        given: given.clone(),
                    });
                }
            }
        }
    }
    found
}

impl Entry {
    /// The keys under which its trust may be kept: Codex may have resolved links in the path.
    fn keys(&self, hooks: &Path) -> Vec<String> {
        let real = std::fs::canonicalize(hooks).ok();
        let paths = std::iter::once(hooks).chain(real.as_deref());
        let (label, group, handler) = (self.label, self.group, self.handler);
        paths
            .map(|path| format!("{}:{label}:{group}:{handler}", path.display()))
            .collect()
    }

    /// The hash that Codex keeps of what it trusts: of the entry as JSON with sorted keys.
    fn hash(&self) -> String {
        let given = |key: &str, default: Value| match &self.given[key] {
            Value::Null => default,
            value => value.clone(),
        };
        let mut handler = json!({
            "async": given("async", false.into()),
            "command": given("command", "".into()),
            "timeout": given("timeout", 600.into()),
            "type": "command",
        });
        if let Value::String(message) = &self.given["statusMessage"] {
            handler["statusMessage"] = message.as_str().into();
        }
        let mut identity = json!({"event_name": self.label, "hooks": [handler]});
        if self.matcher.is_string() {
            identity["matcher"] = self.matcher.clone();
        }
        identity.sort_all_objects();
        let digest = Sha256::digest(identity.to_string());
        let digits: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("sha256:{digits}")
    }
}

#[cfg(test)]
mod tests {
    use super::entries;

    /// The hash was read from Codex 0.169.0 (`hooks/list` of its app server).
    #[test]
    fn an_entry_has_the_hash_that_codex_shows() {
        let text = r#"{"hooks": {"PreToolUse": [{"matcher": "^(Bash|apply_patch)$", "hooks": [
            {"type": "command", "statusMessage": "hooks-guard", "timeout": 600,
             "command": "/home/dev/.cargo/bin/hooks-guard hook codex --timeout 600"}]}]}}"#;
        let entry = entries(text).remove(0);
        assert_eq!(
            entry.hash(),
            "sha256:8447fec05d6c4c55f0a5cd2676e9b5769c856a6474cf582cd51595fed0e41987"
        );
        let file = std::path::Path::new("/home/dev/.codex/hooks.json");
        assert_eq!(
            entry.keys(file)[0],
            "/home/dev/.codex/hooks.json:pre_tool_use:0:0"
        );
    }
}
