//! The options of a question, and the effect of each.

use serde::{Deserialize, Serialize};

/// An option of a question.
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
#[non_exhaustive]
pub struct ApprovalOption {
    /// Label that the user sees, verbatim.
    pub label: String,
    /// Effect of choosing this option.
    pub effect: ApprovalEffect,
}

/// Effect of an option.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalEffect {
    /// Denies.
    #[default]
    Deny,
    /// Allows this time.
    AllowOnce,
    /// Allows, and remembers the answer for this session.
    AllowAlways,
}

impl ApprovalOption {
    /// Creates an option with this effect.
    pub fn new(label: impl Into<String>, effect: ApprovalEffect) -> Self {
        ApprovalOption {
            label: label.into(),
            effect,
        }
    }

    /// Creates an option that allows the action this time.
    pub fn allow_once(label: impl Into<String>) -> Self {
        ApprovalOption::new(label, ApprovalEffect::AllowOnce)
    }

    /// Creates an option that allows the action for the rest of the session.
    pub fn allow_always(label: impl Into<String>) -> Self {
        ApprovalOption::new(label, ApprovalEffect::AllowAlways)
    }

    /// Creates an option that denies the action.
    pub fn deny(label: impl Into<String>) -> Self {
        ApprovalOption::new(label, ApprovalEffect::Deny)
    }

    /// Creates options from plain labels: `Allow` and `Deny` if there are no labels, else one
    /// option per label, with the effect of its first words.
    ///
    /// | First words, in any case | Effect |
    /// |---|---|
    /// | allow always | allow always |
    /// | allow, yes, approve, ok | allow once |
    /// | deny, no, not, cancel, reject, block, abort, stop, never, don't, skip, keep, later | deny |
    /// | dont, disallow, decline, refuse, forbid, prevent, dismiss, ignore, quit, exit, close, nothing, none, nope, wait, leave, discard, revert, undo, back, hold; any first word, with deny, denied, don't, dont, not, reject, block, refuse, never, nothing, cancel, abort or back further on, such as in `Always deny`, `Go back`; no word at all | deny, and no sign that the labels beside it mean yes |
    /// | any other | allow once, if the hook is trusted and another label is in the line of deny; else deny |
    ///
    /// The question of an untrusted hook does not offer an option of the last line: see
    /// [`ApprovalRequest::unclear`](super::ApprovalRequest::unclear).
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

/// Options that a question offers.
pub(super) struct OfferedOptions {
    pub(super) options: Vec<ApprovalOption>,
    /// Labels that deny because their meaning is unclear.
    pub(super) unclear: Vec<String>,
}

impl OfferedOptions {
    /// Returns the options for plain labels.
    ///
    /// A trusted hook's labels are offered as they are. An untrusted hook's unclear labels could
    /// look like a yes, and would deny. They are not offered: `Allow` takes the place of the first
    /// one if no other option allows once, and `Deny` is added if no other option denies.
    pub(super) fn of_labels(labels: &[String], is_trusted: bool) -> Self {
        let options = ApprovalOption::of_labels(labels, is_trusted);
        let is_unclear = |option: &ApprovalOption| {
            !option.effect.is_allowed() && Reading::of(&option.label) == Reading::Unknown
        };
        let Some(first) = options.iter().position(is_unclear) else {
            return OfferedOptions {
                options,
                unclear: Vec::new(),
            };
        };
        if is_trusted {
            let unclear = options.iter().filter(|option| is_unclear(option));
            return OfferedOptions {
                unclear: unclear.map(|option| option.label.clone()).collect(),
                options,
            };
        }
        let (unclear, mut offered): (Vec<_>, Vec<_>) = options.into_iter().partition(is_unclear);
        let is_offered = |offered: &[ApprovalOption], effect| {
            let mut effects = offered.iter().map(|option| option.effect);
            effects.any(|offered| offered == effect)
        };
        if !is_offered(&offered, ApprovalEffect::AllowOnce) {
            // All options before the first unclear one are offered.
            offered.insert(first, ApprovalOption::allow_once("Allow"));
        }
        if !is_offered(&offered, ApprovalEffect::Deny) {
            offered.push(ApprovalOption::deny("Deny"));
        }
        OfferedOptions {
            options: offered,
            unclear: unclear.into_iter().map(|option| option.label).collect(),
        }
    }
}

impl ApprovalEffect {
    /// Returns the name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            ApprovalEffect::Deny => "deny",
            ApprovalEffect::AllowOnce => "allow_once",
            ApprovalEffect::AllowAlways => "allow_always",
        }
    }

    /// Returns `true` if the action may happen.
    pub fn is_allowed(self) -> bool {
        self != ApprovalEffect::Deny
    }
}

/// Meaning of the first words of a label.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reading {
    Always,
    Yes,
    Denial,
    /// A denial that is no evidence that the labels beside it allow.
    Refusal,
    Unknown,
}

impl Reading {
    fn of(label: &str) -> Self {
        let label = label.replace(['\u{2018}', '\u{2019}'], "'").to_lowercase();
        let words = label
            .split(|c: char| !c.is_alphanumeric() && c != '\'')
            .map(|word| word.trim_matches('\''))
            .filter(|word| !word.is_empty());
        let words: Vec<_> = words.collect();
        // `Back up and overwrite` is no refusal, `Go back` is one.
        let is_refusal = |(place, word)| {
            REFUSALS.contains(word) && !matches!(words[place..], ["back", "up", ..])
        };
        let is_refused = || words.iter().enumerate().any(is_refusal);
        match &words[..] {
            ["allow", "always", ..] => Reading::Always,
            ["allow" | "yes" | "approve" | "ok", ..] => Reading::Yes,
            [word, ..] if DENIALS.contains(word) => Reading::Denial,
            ["back", "up", ..] if !is_refused() => Reading::Unknown,
            [word, ..] if WITHDRAWALS.contains(word) => Reading::Refusal,
            // `Always deny`, `Go back`, `Please don't`.
            _ if is_refused() => Reading::Refusal,
            // A label without words cannot mean yes.
            [] => Reading::Refusal,
            _ => Reading::Unknown,
        }
    }
}

/// First words that deny.
const DENIALS: [&str; 13] = [
    "deny", "no", "not", "cancel", "reject", "block", "abort", "stop", "never", "don't", "skip",
    "keep", "later",
];

/// First words that deny, but are no evidence for the meaning of the labels beside them.
const WITHDRAWALS: [&str; 21] = [
    "dont", "disallow", "decline", "refuse", "forbid", "prevent", "dismiss", "ignore", "quit",
    "exit", "close", "nothing", "none", "nope", "wait", "leave", "discard", "revert", "undo",
    "back", "hold",
];

/// Words that deny at any place in a label whose first word has no meaning.
const REFUSALS: [&str; 13] = [
    "deny", "denied", "don't", "dont", "not", "reject", "block", "refuse", "never", "nothing",
    "cancel", "abort", "back",
];
