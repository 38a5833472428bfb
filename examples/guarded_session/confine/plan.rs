//! Combinations of confinement mechanisms, strongest first.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// One combination of mechanisms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Plan {
    /// Started by root: namespaces, an unprivileged user, Landlock.
    RootNamespacesLandlock,
    /// Started by any user: namespaces below a user namespace, Landlock.
    UserNamespacesLandlock,
    /// Started by root where namespaces are refused, as in many containers: an unprivileged user,
    /// Landlock.
    StrangerLandlock,
    /// Landlock and the seccomp filter.
    Landlock,
    /// Like `RootNamespacesLandlock`, on a kernel without Landlock.
    RootNamespaces,
    /// Like `UserNamespacesLandlock`, on a kernel without Landlock.
    UserNamespaces,
    /// No confinement.
    None,
}

/// Method of creating the namespaces of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Namespaces {
    None,
    AsRoot,
    AsUser,
}

impl Plan {
    /// Returns the plans to try, strongest first.
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

    /// Returns `true` if a call may change file modes, because it owns only files that it may
    /// change. Otherwise the filter reports success without changing the mode.
    pub(super) fn guards_modes(self) -> bool {
        !matches!(self.namespaces(), Namespaces::None) || self.changes_user()
    }

    /// Returns `true` if calls of root run as an unprivileged user.
    pub(super) fn changes_user(self) -> bool {
        matches!(
            self,
            Self::RootNamespacesLandlock | Self::StrangerLandlock | Self::RootNamespaces
        )
    }
}
