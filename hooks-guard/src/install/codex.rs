//! Codex's trust in hooks, without which Codex skips a hook silently. In: the texts of
//! `config.toml` and `hooks.json`. Out: the problems, or the text of `config.toml` with or without
//! the trust.
//!
//! Trust is stored in the user's `config.toml`, as a hash of each entry in `hooks.json`. Only the
//! trust in this program's entries changes; the rest of the file stays as it is.

use std::path::Path;

use serde_json::{Value, json};
use toml_edit::{DocumentMut, Item, Table, TableLike, value};

use super::{jsonc, plan};
use crate::protocol::{Agent, settings_text};

/// Codex's names of the events, as used in the keys of the trust.
const EVENTS: [(&str, &str); 3] = [
    ("PreToolUse", "pre_tool_use"),
    ("PermissionRequest", "permission_request"),
    ("PostToolUse", "post_tool_use"),
];

/// Returns the reason why Codex skips an entry of the hook in `hooks`, a file with this text, if it
/// does. `config` is the text of the user's `config.toml`.
pub(crate) fn skipped(hooks: &Path, text: &str, config: &str) -> Option<String> {
    let config = config.parse::<DocumentMut>().unwrap_or_default();
    let state = |key: &str| config.get("hooks")?.get("state")?.get(key);
    entries(text).iter().find_map(|entry| {
        let state = entry.keys(hooks).iter().find_map(|key| state(key));
        let field = |name: &str| state?.get(name);
        let trusted = field("trusted_hash").and_then(Item::as_str);
        let why = if field("enabled").and_then(Item::as_bool) == Some(false) {
            "is disabled"
        } else if trusted == Some(entry.hash().as_str()) {
            return None;
        } else if trusted.is_some() {
            "has changed since it was trusted"
        } else {
            "is not trusted"
        };
        Some(format!("the hook at `{}` {why}", entry.event))
    })
}

/// Returns `config` with trust in the hook's entries in `hooks`, a file with this text; `None` if
/// Codex could not read the result.
pub(super) fn with_trust(config: Option<&str>, hooks: &Path, text: &str) -> Option<String> {
    let config = config.unwrap_or_default();
    if skipped(hooks, text, config).is_none() {
        return Some(config.to_owned());
    }
    edited(config, |document| {
        let states = states(document.as_table_mut(), true)?;
        for entry in entries(text) {
            let keys = entry.keys(hooks);
            let known = keys.iter().find(|key| states.contains_key(key));
            let key = known.or(keys.last())?;
            let state = states.entry(key).or_insert(Item::Table(Table::new()));
            let state = state.as_table_like_mut()?;
            state.insert("trusted_hash", value(entry.hash()));
            // Codex skips a disabled entry even if it is trusted.
            state.remove("enabled");
        }
        Some(())
    })
}

/// Returns `config` without trust in the hook's entries in `hooks`, a file with this text.
pub(super) fn without_trust(config: &str, hooks: &Path, text: &str) -> Option<String> {
    let mut removed = false;
    let without = edited(config, |document| {
        if let Some(states) = states(document.as_table_mut(), false) {
            for entry in entries(text) {
                for key in entry.keys(hooks) {
                    removed |= states.remove(&key).is_some();
                }
            }
        }
        Some(())
    })?;
    match removed {
        true => Some(without),
        false => Some(config.to_owned()),
    }
}

/// Returns `config` after an edit; `None` if it does not parse or has mixed line endings. Keeps the
/// byte order mark and the line endings, which `toml_edit` does not preserve.
fn edited(config: &str, edit: impl FnOnce(&mut DocumentMut) -> Option<()>) -> Option<String> {
    let text = config.strip_prefix('\u{feff}').unwrap_or(config);
    let mark = &config[..config.len() - text.len()];
    let has_carriage_returns = text.contains("\r\n");
    if has_carriage_returns && text.matches("\r\n").count() != text.matches('\n').count() {
        return None;
    }
    let mut document = text.parse::<DocumentMut>().ok()?;
    edit(&mut document)?;
    let mut text = document.to_string();
    if has_carriage_returns {
        text = text.replace("\r\n", "\n").replace('\n', "\r\n");
    }
    Some(format!("{mark}{text}"))
}

/// Returns the table `hooks.state`; creates a missing one if `make` is set.
fn states(root: &mut Table, make: bool) -> Option<&mut dyn TableLike> {
    let mut at: &mut dyn TableLike = root;
    for name in ["hooks", "state"] {
        if make && !at.contains_key(name) {
            let mut table = Table::new();
            table.set_implicit(true);
            at.insert(name, Item::Table(table));
        }
        at = at.get_mut(name)?.as_table_like_mut()?;
    }
    Some(at)
}

/// An entry of the hook with its position in the file.
struct CodexEntry {
    event: &'static str,
    label: &'static str,
    group: usize,
    handler: usize,
    matcher: Value,
    handler_value: Value,
}

fn entries(text: &str) -> Vec<CodexEntry> {
    let document = settings_text::json(text).unwrap_or_default();
    let mut found = Vec::new();
    for (event, label) in EVENTS {
        let groups = document["hooks"][event].as_array();
        for (group, entry) in groups.into_iter().flatten().enumerate() {
            let handlers = entry["hooks"].as_array();
            for (handler, given) in handlers.into_iter().flatten().enumerate() {
                let line = given["command"].as_str().unwrap_or_default();
                if jsonc::runs(line, Agent::Codex) {
                    found.push(CodexEntry {
                        event,
                        label,
                        group,
                        handler,
                        matcher: entry["matcher"].clone(),
                        handler_value: given.clone(),
                    });
                }
            }
        }
    }
    found
}

impl CodexEntry {
    /// Returns the possible keys of the entry's trust: by the given path, and by the path with
    /// links resolved.
    fn keys(&self, hooks: &Path) -> Vec<String> {
        let real = std::fs::canonicalize(hooks).ok();
        let real = real.filter(|real| real != hooks);
        let paths = real.as_deref().into_iter().chain([hooks]);
        let (label, group, handler) = (self.label, self.group, self.handler);
        paths
            .map(|path| format!("{}:{label}:{group}:{handler}", path.display()))
            .collect()
    }

    /// Returns the hash that Codex stores: of the entry as JSON with sorted keys.
    fn hash(&self) -> String {
        let given = |key: &str, default: Value| match &self.handler_value[key] {
            Value::Null => default,
            value => value.clone(),
        };
        let mut handler = json!({
            "async": given("async", false.into()),
            "command": given("command", "".into()),
            "timeout": given("timeout", 600.into()),
            "type": "command",
        });
        if let Value::String(message) = &self.handler_value["statusMessage"] {
            handler["statusMessage"] = message.as_str().into();
        }
        let mut identity = json!({"event_name": self.label, "hooks": [handler]});
        if self.matcher.is_string() {
            identity["matcher"] = self.matcher.clone();
        }
        identity.sort_all_objects();
        format!("sha256:{}", plan::hash(&identity.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{entries, skipped, with_trust, without_trust};

    const HOOKS: &str = r#"{"hooks": {"PreToolUse": [{"matcher": "^(Bash|apply_patch)$", "hooks": [
        {"type": "command", "command": "mine.sh"},
        {"type": "command", "statusMessage": "hooks-guard", "timeout": 600,
         "command": "/opt/guard/hooks-guard hook codex --timeout 600"}]}]}}"#;

    fn file() -> &'static Path {
        Path::new("/srv/dev/.codex/hooks.json")
    }

    /// The hash was read from Codex 0.169.0 (`hooks/list` of its app server); 0.171.0 accepts it.
    #[test]
    fn the_hash_of_an_entry_equals_that_of_codex() {
        let entry = entries(HOOKS).remove(0);
        assert_eq!(
            entry.hash(),
            "sha256:1103a19e2c0c00adda79eca36b581bc4191e15f902373ec78e79e348febc31c5"
        );
        let key = "/srv/dev/.codex/hooks.json:pre_tool_use:0:1";
        assert_eq!(entry.keys(file()), [key]);
    }

    #[test]
    fn adding_and_removing_trust_preserves_the_rest_of_the_file() {
        for config in [
            "",
            "# mine\nmodel = \"x\" # why\n\n[projects.\"/srv/p\"]\ntrust_level = \"trusted\"\n",
            "[hooks.state.\"/srv/dev/.codex/hooks.json:stop:0:0\"]\ntrusted_hash = \"sha256:1\"\n",
            "hooks = { state = {} }\n",
            "[[hooks.Stop]]\nhooks = [{ type = \"command\", command = \"mine.sh\" }]\n",
            "model = \"no end of line\"",
            "model = \"x\"\r\n# c\r\n\r\n[projects.\"/srv/p\"]\r\ntrust_level = \"trusted\"\r\n",
            "\u{feff}model = \"x\"\n",
        ] {
            let trusted = with_trust(Some(config), file(), HOOKS).unwrap();
            assert_ne!(trusted, config);
            assert_eq!(skipped(file(), HOOKS, &trusted), None, "{trusted}");
            let again = with_trust(Some(&trusted), file(), HOOKS).unwrap();
            assert_eq!(again, trusted, "a second time changes nothing");
            let without = without_trust(&trusted, file(), HOOKS).unwrap();
            assert_eq!(without.trim_end(), config.trim_end());
            let (ends, lines) = (trusted.matches("\r\n"), trusted.matches('\n'));
            assert!(!config.contains('\r') || ends.count() == lines.count());
        }
    }

    #[test]
    fn a_file_that_cannot_be_edited_safely_is_unchanged() {
        for config in [
            "model = ",
            "hooks = 7",
            "[hooks]\nstate = \"no table\"\n",
            "a = 1\r\nb = 2\n",
        ] {
            assert_eq!(with_trust(Some(config), file(), HOOKS), None, "{config}");
        }
    }
}
