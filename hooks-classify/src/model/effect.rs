//! Effects: [`Effect`] of a call, [`OptionEffect`] of an option, [`Crud`] as the class of a command.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Class of a command: its strongest effect. A stronger class compares greater.
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Crud {
    /// Changes nothing.
    Read,
    /// Creates something, or runs code that the command does not show.
    Create,
    /// Changes something that exists.
    Update,
    /// Deletes or discards something.
    Delete,
}

impl fmt::Display for Crud {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Read => "READ",
            Self::Create => "CREATE",
            Self::Update => "UPDATE",
            Self::Delete => "DELETE",
        })
    }
}

/// Effect of a call as a table names it. A stronger effect compares greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Effect {
    Read,
    Create,
    /// Runs code that the command line does not show.
    Code,
    /// Not understood.
    Unknown,
    Update,
    Delete,
}

impl Effect {
    pub(crate) fn crud(self) -> Crud {
        match self {
            Self::Read => Crud::Read,
            Self::Create | Self::Code | Self::Unknown => Crud::Create,
            Self::Update => Crud::Update,
            Self::Delete => Crud::Delete,
        }
    }
}

/// Influence of an option on the effect of its call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum OptionEffect {
    /// The call has at least this effect.
    AtLeast(Effect),
    /// The call has this effect instead of its usual one.
    Replaces(Effect),
    /// The call has only this effect, regardless of its other words: `--help`.
    Forces(Effect),
    /// The call prints secrets.
    Reveals,
    /// As `Replaces(Read)` and `Reveals`.
    ReplacesAndReveals,
}
