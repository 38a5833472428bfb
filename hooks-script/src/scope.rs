//! Scopes: the user, guild and channel that a decision or a record is about.

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
    /// The acting user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Guild of the action.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guild: Option<String>,
    /// Channel of the action.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<String>,
}

impl Scope {
    /// Creates a scope that matches every user and place.
    pub fn everything() -> Self {
        Scope::default()
    }

    /// Creates the scope of a user in every place.
    pub fn user(id: impl Into<String>) -> Self {
        Scope {
            user: Some(id.into()),
            ..Scope::default()
        }
    }

    /// Creates the scope of a guild with all its users.
    pub fn guild(id: impl Into<String>) -> Self {
        Scope::default().in_guild(id)
    }

    /// Creates the scope of a channel with all its users.
    pub fn channel(id: impl Into<String>) -> Self {
        Scope::default().in_channel(id)
    }

    /// Restricts the scope to one guild.
    #[must_use]
    pub fn in_guild(mut self, id: impl Into<String>) -> Self {
        self.guild = Some(id.into());
        self
    }

    /// Restricts the scope to one channel.
    #[must_use]
    pub fn in_channel(mut self, id: impl Into<String>) -> Self {
        self.channel = Some(id.into());
        self
    }

    /// Returns `true` if this scope contains `other`: every id that this scope names is equal in
    /// `other`.
    pub fn covers(&self, other: &Scope) -> bool {
        let covers =
            |mine: &Option<String>, other: &Option<String>| mine.is_none() || mine == other;
        covers(&self.user, &other.user)
            && covers(&self.guild, &other.guild)
            && covers(&self.channel, &other.channel)
    }
}
