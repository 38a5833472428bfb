//! [`Value`]: what is known of a variable, and the join of two values.

use super::arg::UNKNOWN;

/// Value of a variable that the text sets.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Text(String),
    /// List of plain words. Shells differ in the value of `$name` for a list.
    List(String),
    /// Address of another machine with an unknown rest. An unknown start means that the value may
    /// be something else.
    Address(String),
    /// Unknown data that runs nothing when it is evaluated: a number, an inherited value.
    Inert,
    Unknown,
}

impl Value {
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::List(_) | Self::Address(_) | Self::Inert | Self::Unknown => None,
        }
    }

    /// Returns `true` if the value may be the output of a command.
    pub(crate) fn is_unknown(&self) -> bool {
        matches!(self, Self::Unknown | Self::Address(_))
    }

    /// Returns all elements of a list.
    pub(crate) fn list(&self) -> Option<&str> {
        match self {
            Self::List(words) => Some(words),
            _ => self.text(),
        }
    }

    pub(super) fn is_inert(&self) -> bool {
        match self {
            Self::Text(text) | Self::List(text) => is_numeric(text),
            Self::Inert => true,
            Self::Address(_) | Self::Unknown => false,
        }
    }

    /// Returns the value of a variable that has one of two values.
    pub(crate) fn join(&self, other: &Self) -> Self {
        match (self, other) {
            _ if self == other => self.clone(),
            (Self::Address(address), _) | (_, Self::Address(address)) => {
                Self::Address(possible_address(address))
            }
            _ if self.is_inert() && other.is_inert() => Self::Inert,
            _ => Self::Unknown,
        }
    }
}

/// Returns an address that may also be something else.
pub(crate) fn possible_address(address: &str) -> String {
    format!("{UNKNOWN}{}", address.trim_start_matches(UNKNOWN))
}

/// Returns `true` if a text consists of digits and separators of numbers.
pub(crate) fn is_numeric(text: &str) -> bool {
    text.chars()
        .all(|c| c.is_ascii_digit() || "-+. :\n".contains(c))
}
