//! Verdicts of rules. In: the name of a rule or a hook, and its effect. Out: a verdict; of two
//! verdicts, the stricter one.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::classify::Crud;

/// The effect of a rule, ordered from the weakest to the strictest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RuleEffect {
    /// Runs without confirmation.
    Allow,
    /// Needs confirmation.
    Ask,
    /// Denied.
    Deny,
}

impl fmt::Display for RuleEffect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        })
    }
}

/// Owner of a rules file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// The user.
    User,
    /// A project: its rules may restrict; they may allow only while the user trusts the file.
    Project {
        /// `true` if the user trusts the current content.
        trusted: bool,
    },
}

/// Result of evaluating rules for a request.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RuleDecision {
    /// The effect.
    pub effect: RuleEffect,
    /// The rule that decided: its place, such as `guard.toml:12`, several separated by commas, or
    /// `built in: shell start files`; `hook: NAME` for a hook that restricts.
    pub rule: String,
    /// Reason for people; may contain text from an untrusted file.
    pub reason: String,
    /// `true` if an answer may be remembered. It may not if the same command could mean something
    /// else the next time, or touches a protection.
    pub remember: bool,
    /// `true` if a rule that allows names the MCP tool of the request.
    pub names_tool: bool,
}

/// Prefix of the names of protections, which always ask.
pub(super) const BUILT_IN: &str = "built in:";

/// Start of the name of a hook that restricts.
const HOOK: &str = "hook: ";

/// Name of the protection of commands in which an executed part is hidden as a secret.
pub(super) const HIDDEN_CODE: &str = "built in: hidden text is executed";

impl RuleDecision {
    /// Returns `true` if a built-in protection asks, alone or with other rules.
    pub(crate) fn is_protection(&self) -> bool {
        !Self::remembers(&self.rule)
    }

    /// Returns `true` if an answer to a question of a rule with this name may be remembered.
    pub(crate) fn remembers(rule: &str) -> bool {
        !rule.contains(BUILT_IN)
    }

    /// Returns `true` if a rule with this name is the verdict of a hook that restricts.
    pub(crate) fn is_from_hook(rule: &str) -> bool {
        rule.starts_with(HOOK)
    }

    /// Returns `true` if a decision under this rule hides an executed part of the command, so that
    /// it cannot be approved by what the trail shows.
    pub(crate) fn hides_code(rule: &str) -> bool {
        rule.contains(HIDDEN_CODE)
    }

    /// Returns the name of a rule, if there is one, for a command in which an executed part is
    /// hidden.
    pub(crate) fn hiding_code(rule: Option<&str>) -> String {
        match rule {
            Some(rule) => format!("{rule}, {HIDDEN_CODE}"),
            None => HIDDEN_CODE.to_owned(),
        }
    }

    /// Returns a verdict that asks because the rules cannot be read, since one of them may deny the
    /// request.
    pub(crate) fn unreadable(why: &str) -> Self {
        Self {
            effect: RuleEffect::Ask,
            rule: format!("{BUILT_IN} rules that cannot be read"),
            reason: format!("cannot read the rules: {why}"),
            remember: false,
            names_tool: false,
        }
    }

    /// Returns the verdict of a hook that may only restrict.
    pub(crate) fn from_hook(name: &str, effect: RuleEffect, reason: String) -> Self {
        Self {
            effect,
            rule: format!("{HOOK}{name}"),
            reason,
            remember: true,
            names_tool: false,
        }
    }

    /// Returns a verdict that asks because such a hook failed, since it might have denied the
    /// request.
    pub(crate) fn from_failed_hook(name: &str, kind: &str) -> Self {
        Self {
            effect: RuleEffect::Ask,
            rule: format!("{BUILT_IN} hook {name} failed"),
            reason: format!("a hook that may deny it failed: {kind}"),
            remember: false,
            names_tool: false,
        }
    }
}

impl RuleDecision {
    /// Returns the protection in the name of a rule, if there is one.
    pub(crate) fn protection_of(rule: &str) -> Option<&str> {
        rule.split_once(BUILT_IN).map(|(_, protection)| protection)
    }

    /// Returns the stricter of two verdicts, or the first if they are equal. A verdict whose answer
    /// must not be remembered is the stricter one.
    pub(crate) fn stricter(self, other: Self) -> Self {
        match (other.effect, !other.remember) > (self.effect, !self.remember) {
            true => other,
            false => self,
        }
    }
}

/// Returns `true` if a class is stronger than `Read`.
pub(super) fn changes(effect: Crud) -> bool {
    effect > Crud::Read
}
