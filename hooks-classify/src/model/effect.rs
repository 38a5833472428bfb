//! Effects: of a command, of a call as tables say it, of an option on its call.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What a command does to things; the strongest effect is the greatest (P-09).
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Crud {
    /// Nothing changes anywhere.
    Read,
    /// Something new comes to be, or code runs that is not shown.
    Create,
    /// Something changes.
    Update,
    /// Something goes away.
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

/// What a call does, as a table says it. The strongest is the greatest.
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

/// What an option does to the effect of a call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum OptionEffect {
    /// The call has at least this effect.
    AtLeast(Effect),
    /// The call has this effect in the place of its own.
    Replaces(Effect),
    /// The call has this effect and no other, whatever else is among its words: `--help`.
    Forces(Effect),
    /// The call prints secrets.
    Reveals,
    /// As `Replaces(Read)` and `Reveals`.
    ReplacesAndReveals,
}
