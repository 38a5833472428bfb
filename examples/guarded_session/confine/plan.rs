//! The combinations of locks that are tried, the strongest first.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// One combination of locks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Plan {
    /// Made by root: own namespaces, a user who owns nothing, Landlock.
    RootNamespacesLandlock,
    /// Made by anybody: own namespaces below a user namespace, Landlock.
    UserNamespacesLandlock,
    /// Made by root where namespaces are refused, as in many containers: a user
    /// who owns nothing, Landlock.
    StrangerLandlock,
    /// Landlock and the filter for system calls.
    Landlock,
    /// As the first, on a kernel without Landlock.
    RootNamespaces,
    /// As the second, on a kernel without Landlock.
    UserNamespaces,
    /// No lock at all.
    None,
}

/// How the namespaces of a plan come about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Namespaces {
    None,
    AsRoot,
    AsUser,
}

impl Plan {
    /// What is worth trying, the strongest first.
    pub(super) fn candidates(is_root: bool) -> &'static [Self] {
        if is_root {
            &[
                Self::RootNamespacesLandlock,
                Self::StrangerLandlock,
                Self::UserNamespacesLandlock,
                Self::Landlock,
                Self::RootNamespaces,
                Self::UserNamespaces,
            ]
        } else {
            &[
                Self::UserNamespacesLandlock,
                Self::Landlock,
                Self::UserNamespaces,
            ]
        }
    }

    pub(super) fn namespaces(self) -> Namespaces {
        match self {
            Self::RootNamespacesLandlock | Self::RootNamespaces => Namespaces::AsRoot,
            Self::UserNamespacesLandlock | Self::UserNamespaces => Namespaces::AsUser,
            Self::StrangerLandlock | Self::Landlock | Self::None => Namespaces::None,
        }
    }

    pub(super) fn has_landlock(self) -> bool {
        matches!(
            self,
            Self::RootNamespacesLandlock
                | Self::UserNamespacesLandlock
                | Self::StrangerLandlock
                | Self::Landlock
        )
    }

    /// Whether a call can be let change the mode of a file, because it owns none that it is not
    /// to change: without that, it is told that it did, and nothing happens.
    pub(super) fn guards_modes(self) -> bool {
        !matches!(self.namespaces(), Namespaces::None) || self.changes_user()
    }

    /// Whether root's calls become those of a user who owns nothing.
    pub(super) fn changes_user(self) -> bool {
        matches!(
            self,
            Self::RootNamespacesLandlock | Self::StrangerLandlock | Self::RootNamespaces
        )
    }
}
