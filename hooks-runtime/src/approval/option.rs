//! The answers that a question offers, and what each of them means (`E-131` to `E-133`).

use serde::{Deserialize, Serialize};

/// One answer to choose from.
///
/// ```
/// use hooks_runtime::HookResult;
/// use hooks_runtime::approval::ApprovalOption;
///
/// let question = HookResult::ask_user("Overwrite `important-data.json`?").approval_choices([
///     ApprovalOption::allow_once("Overwrite"),
///     ApprovalOption::deny("Leave it as it is"),
/// ]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalOption {
    /// What the user sees, verbatim.
    pub label: String,
    /// What choosing it means.
    pub effect: ApprovalEffect,
}

/// What an answer means.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalEffect {
    /// No.
    #[default]
    Deny,
    /// Yes, this time.
    AllowOnce,
    /// Yes, and the same question is not asked again in this session (`E-138`).
    AllowAlways,
}

impl ApprovalOption {
    /// An answer with this effect.
    pub fn new(label: impl Into<String>, effect: ApprovalEffect) -> Self {
        ApprovalOption {
            label: label.into(),
            effect,
        }
    }

    /// An answer that allows it this time.
    pub fn allow_once(label: impl Into<String>) -> Self {
        ApprovalOption::new(label, ApprovalEffect::AllowOnce)
    }

    /// An answer that allows it for the rest of the session.
    pub fn allow_always(label: impl Into<String>) -> Self {
        ApprovalOption::new(label, ApprovalEffect::AllowAlways)
    }

    /// An answer that denies it.
    pub fn deny(label: impl Into<String>) -> Self {
        ApprovalOption::new(label, ApprovalEffect::Deny)
    }

    /// Options of plain labels: `Allow` and `Deny` where there are none (`E-131`), else with
    /// the effects that their first words say (`E-133`).
    ///
    /// | First words, in any case | Effect |
    /// |---|---|
    /// | allow always | allow always |
    /// | allow, yes, approve, ok | allow once |
    /// | deny, no, not, cancel, reject, block, abort, stop, never, don't, skip, keep, later | deny |
    /// | do not, dont, disallow, decline, refuse, forbid, dismiss, ignore, quit, exit, nothing, none, nope; no word at all | deny, and no sign that the labels beside it mean yes |
    /// | any other | allow once, if the hook is trusted and another label is in the line of deny; else deny |
    pub fn of_labels(labels: &[String], is_trusted: bool) -> Vec<Self> {
        if labels.is_empty() {
            return vec![
                ApprovalOption::allow_once("Allow"),
                ApprovalOption::deny("Deny"),
            ];
        }
        let is_denied = |label: &String| Reading::of(label) == Reading::Denial;
        let other = if is_trusted && labels.iter().any(is_denied) {
            ApprovalEffect::AllowOnce
        } else {
            ApprovalEffect::Deny
        };
        let option = |label: &String| {
            let effect = match Reading::of(label) {
                Reading::Always => ApprovalEffect::AllowAlways,
                Reading::Yes => ApprovalEffect::AllowOnce,
                Reading::Denial | Reading::Refusal => ApprovalEffect::Deny,
                Reading::Unknown => other,
            };
            ApprovalOption::new(label, effect)
        };
        labels.iter().map(option).collect()
    }
}

impl ApprovalEffect {
    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            ApprovalEffect::Deny => "deny",
            ApprovalEffect::AllowOnce => "allow_once",
            ApprovalEffect::AllowAlways => "allow_always",
        }
    }

    /// Whether what was asked about may happen.
    pub fn is_allowed(self) -> bool {
        self != ApprovalEffect::Deny
    }
}

/// What the first words of a label say.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reading {
    Always,
    Yes,
    Denial,
    /// A denial that does not make a yes of the labels beside it.
    Refusal,
    Unknown,
}

impl Reading {
    fn of(label: &str) -> Self {
        let label = label.replace(['\u{2018}', '\u{2019}'], "'").to_lowercase();
        let mut words = label
            .split(|c: char| !c.is_alphanumeric() && c != '\'')
            .map(|word| word.trim_matches('\''))
            .filter(|word| !word.is_empty());
        match (words.next(), words.next()) {
            (Some("allow"), Some("always")) => Reading::Always,
            (Some("allow" | "yes" | "approve" | "ok"), _) => Reading::Yes,
            (Some(word), _) if is_denial(word) => Reading::Denial,
            (Some("do"), Some("not" | "nothing")) => Reading::Refusal,
            (
                Some(
                    "dont" | "disallow" | "decline" | "refuse" | "forbid" | "dismiss" | "ignore"
                    | "quit" | "exit" | "nothing" | "none" | "nope",
                ),
                _,
            ) => Reading::Refusal,
            // Nobody can mean a yes by it.
            (None, _) => Reading::Refusal,
            _ => Reading::Unknown,
        }
    }
}

fn is_denial(word: &str) -> bool {
    const DENIALS: [&str; 13] = [
        "deny", "no", "not", "cancel", "reject", "block", "abort", "stop", "never", "don't",
        "skip", "keep", "later",
    ];
    DENIALS.contains(&word)
}
