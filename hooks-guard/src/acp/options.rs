//! The options of a permission request. In: the options that the agent offers. Out: the id of the
//! option that a decision selects, and the response with it.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::{Value, json};

/// Ids of options of the kind `allow_once` that allow more than the request: they change the mode of the
/// session. Qwen Code 0.24.4.
const CHANGES_MODE: &[&str] = &["proceed_once_and_switch_to_default"];

/// Ids of options of the kind `reject_once` after which the agent continues; another option of this kind
/// ends its turn. codex-acp 2.6.0.
const CONTINUES: &[&str] = &["decline"];

/// The options that an agent offers, in its order.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(transparent)]
pub struct PermissionOptions(Vec<PermissionOption>);

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct PermissionOption {
    option_id: String,
    kind: String,
}

impl PermissionOptions {
    /// Returns the id of the option that allows the request once, and changes no mode. `None` if
    /// there is none, or several: they may allow different things.
    #[must_use]
    pub fn allow_once(&self) -> Option<&str> {
        let once = self.of_kind("allow_once");
        let mut found = once.filter(|id| !CHANGES_MODE.contains(id));
        found.next().filter(|_| found.next().is_none())
    }

    /// Returns the id of the option that rejects the request: once if the agent offers it, else
    /// always. Of several, one after which the agent continues.
    #[must_use]
    pub fn reject(&self) -> Option<&str> {
        let mut once = self.of_kind("reject_once");
        let mut continuing = self
            .of_kind("reject_once")
            .filter(|id| CONTINUES.contains(id));
        let mut always = self.of_kind("reject_always");
        continuing
            .next()
            .or_else(|| once.next())
            .or_else(|| always.next())
    }

    /// Returns `true` if the option with this id allows the request.
    #[must_use]
    pub fn allows(&self, id: &str) -> bool {
        let ids = self
            .of_kind("allow_once")
            .chain(self.of_kind("allow_always"));
        ids.into_iter().any(|allowed| allowed == id)
    }

    /// Returns the ids of the options of a kind. An id of several options selects none of them.
    fn of_kind(&self, kind: &'static str) -> impl Iterator<Item = &str> {
        let mut uses: HashMap<&str, usize> = HashMap::new();
        for option in &self.0 {
            *uses.entry(&option.option_id).or_default() += 1;
        }
        self.0
            .iter()
            .filter(move |option| option.kind == kind && uses[option.option_id.as_str()] == 1)
            .map(|option| option.option_id.as_str())
    }
}

/// Returns the result that selects an option, with the reason for people who read the messages.
#[must_use]
pub(super) fn selected(id: &str, reason: &str) -> Value {
    json!({
        "outcome": { "outcome": "selected", "optionId": id },
        "_meta": { "hooks-guard": { "reason": reason } },
    })
}

/// Returns the result that selects no option.
#[must_use]
pub(super) fn cancelled(reason: &str) -> Value {
    json!({
        "outcome": { "outcome": "cancelled" },
        "_meta": { "hooks-guard": { "reason": reason } },
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::PermissionOptions;

    fn options(kinds: &[(&str, &str)]) -> PermissionOptions {
        let options = kinds
            .iter()
            .map(|(id, kind)| json!({"optionId": id, "kind": kind, "name": "x"}));
        serde_json::from_value(options.collect()).expect("options")
    }

    #[test]
    fn a_decision_selects_an_option_of_its_kind() {
        let all = options(&[
            ("a", "allow_always"),
            ("b", "allow_once"),
            ("c", "reject_always"),
            ("d", "reject_once"),
        ]);
        assert_eq!(all.allow_once(), Some("b"));
        assert_eq!(all.reject(), Some("d"));
        assert!(all.allows("a") && all.allows("b") && !all.allows("c") && !all.allows("x"));
    }

    #[test]
    fn no_option_is_invented() {
        let allow = options(&[("a", "allow_always")]);
        assert_eq!((allow.allow_once(), allow.reject()), (None, None));
        let always = options(&[("c", "reject_always"), ("x", "_custom")]);
        assert_eq!((always.allow_once(), always.reject()), (None, Some("c")));
        let mode = "proceed_once_and_switch_to_default";
        let qwen = options(&[("proceed_once", "allow_once"), (mode, "allow_once")]);
        assert_eq!(qwen.allow_once(), Some("proceed_once"));
        assert_eq!(options(&[(mode, "allow_once")]).allow_once(), None);
        assert!(qwen.allows(mode));
        let codex = options(&[("cancel", "reject_once"), ("decline", "reject_once")]);
        assert_eq!(codex.reject(), Some("decline"));
        let two = options(&[("turn", "allow_once"), ("review", "allow_once")]);
        assert_eq!(two.allow_once(), None);
        let same = options(&[("yes", "allow_once"), ("yes", "reject_once")]);
        assert_eq!((same.allow_once(), same.reject()), (None, None));
        assert!(!same.allows("yes"));
    }
}
