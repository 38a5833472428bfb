//! Where something happens: for whom, and in which place.

use serde::{Deserialize, Serialize};

/// A user, guild and channel, by the host's ids. An absent id matches all ids of its kind.
///
/// ```
/// use hooks_script::Scope;
///
/// let everywhere = Scope::user("u-1");
/// let here = Scope::user("u-1").in_guild("g-7").in_channel("c-3");
/// assert!(everywhere.covers(&here));
/// assert!(!here.covers(&everywhere));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Scope {
    /// The user who acts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The guild in which they do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guild: Option<String>,
    /// The channel in which they do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<String>,
}

impl Scope {
    /// Everybody, everywhere.
    pub fn everything() -> Self {
        Scope::default()
    }

    /// A user, everywhere.
    pub fn user(id: impl Into<String>) -> Self {
        Scope {
            user: Some(id.into()),
            ..Scope::default()
        }
    }

    /// A guild, with everybody in it.
    pub fn guild(id: impl Into<String>) -> Self {
        Scope::default().in_guild(id)
    }

    /// A channel, with everybody in it.
    pub fn channel(id: impl Into<String>) -> Self {
        Scope::default().in_channel(id)
    }

    /// The same in one guild.
    #[must_use]
    pub fn in_guild(mut self, id: impl Into<String>) -> Self {
        self.guild = Some(id.into());
        self
    }

    /// The same in one channel.
    #[must_use]
    pub fn in_channel(mut self, id: impl Into<String>) -> Self {
        self.channel = Some(id.into());
        self
    }

    /// Whether `other` lies within this: every id that this one names is the same there.
    pub fn covers(&self, other: &Scope) -> bool {
        let covers =
            |mine: &Option<String>, other: &Option<String>| mine.is_none() || mine == other;
        covers(&self.user, &other.user)
            && covers(&self.guild, &other.guild)
            && covers(&self.channel, &other.channel)
    }
}
