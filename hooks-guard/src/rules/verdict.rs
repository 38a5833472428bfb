//! What rules say. In: the name of a rule or of a hook. Out: an effect with its reason; of two, the
//! stricter one.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::classify::Crud;

/// What a rule says; the strictest is the greatest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    /// Nobody has to agree.
    Allow,
    /// Somebody has to agree.
    Ask,
    /// It must not happen.
    Deny,
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        })
    }
}

/// Whose file of rules it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// The user's own.
    User,
    /// One that came with a project: it may restrict, and allow only while the user trusts it.
    Project {
        /// Whether the user trusts it as it is now.
        trusted: bool,
    },
}

/// What the rules say about a request.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verdict {
    /// What is to be done.
    pub effect: Effect,
    /// The rule that says so: its place, such as `guard.toml:12`, several with commas between, or
    /// `built in: shell start files`; of a hook that restricts `hook: NAME`.
    pub rule: String,
    /// Why, in a sentence for people; it may hold text of a file that nobody vouches for.
    pub reason: String,
    /// Whether an answer may be remembered: it may not where the same command could mean
    /// something else the next time, or touch what is protected.
    pub remember: bool,
}

/// Stands in the names of what is asked about every time.
pub(super) const BUILT_IN: &str = "built in:";

/// The rule of commands of which a part that runs is hidden as a secret.
#[cfg(any(feature = "sqlite", feature = "postgres"))]
pub(super) const HIDDEN_CODE: &str = "built in: hidden text is executed";

#[cfg(any(feature = "sqlite", feature = "postgres"))]
impl Verdict {
    /// Returns whether a built-in protection asks, alone or with other rules.
    pub(crate) fn is_protection(&self) -> bool {
        !Self::remembers(&self.rule)
    }

    /// Whether an answer to what a rule of this name asks about may be remembered.
    pub(crate) fn remembers(rule: &str) -> bool {
        !rule.contains(BUILT_IN)
    }

    /// Whether a decision under this rule hides a part of what would run, so that it
    /// cannot be approved by what the trail shows.
    pub(crate) fn hides_code(rule: &str) -> bool {
        rule.contains(HIDDEN_CODE)
    }

    /// The name of a rule, if there is one, for a command that hides a part of what would run.
    pub(crate) fn hiding_code(rule: Option<&str>) -> String {
        match rule {
            Some(rule) => format!("{rule}, {HIDDEN_CODE}"),
            None => HIDDEN_CODE.to_owned(),
        }
    }

    /// Asks, because the rules cannot be read: one of them may forbid it.
    pub(crate) fn unreadable(why: &str) -> Self {
        Self {
            effect: Effect::Ask,
            rule: "built in: rules that cannot be read".to_owned(),
            reason: format!("the rules cannot be read: {why}"),
            remember: false,
        }
    }

    /// What a hook says that may only restrict.
    pub(crate) fn of_hook(name: &str, effect: Effect, reason: String) -> Self {
        Self {
            effect,
            rule: format!("hook: {name}"),
            reason,
            remember: true,
        }
    }

    /// Asks, because such a hook failed: it might have forbidden it.
    pub(crate) fn of_failed_hook(name: &str, kind: &str) -> Self {
        Self {
            effect: Effect::Ask,
            rule: format!("built in: hook {name} failed"),
            reason: format!("a hook that may forbid it failed: {kind}"),
            remember: false,
        }
    }
}

impl Verdict {
    /// The stricter of two, the first where they are equal. An answer that must not be remembered
    /// is the stricter one.
    pub(crate) fn or_stricter(self, other: Self) -> Self {
        match (other.effect, !other.remember) > (self.effect, !self.remember) {
            true => other,
            false => self,
        }
    }
}

/// Whether a class is stronger than reading.
pub(super) fn changes(effect: Crud) -> bool {
    effect > Crud::Read
}
