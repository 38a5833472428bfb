//! Refused registrations: the reason, and what was refused.

use std::error::Error;
use std::fmt;

use crate::failure::drop_catching_panic;

/// Reason for which a slot or a registry refuses a registration. The slot or the registry is then
/// unchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RegistrationError {
    /// `before` or `after` names a key that no entry has.
    #[non_exhaustive]
    UnknownKey {
        /// Name of the refused hook.
        hook: String,
        /// `before` or `after`.
        option: &'static str,
        /// The key.
        key: String,
    },
    /// The order would be a cycle.
    #[non_exhaustive]
    Cycle {
        /// The hooks of the cycle: each one's name, and its key if the key is not the name.
        hooks: Vec<String>,
    },
    /// Another entry has the key, and may not be replaced: the entry has
    /// [`if_absent`](crate::Entry::if_absent), or one of the two is a hook for every event.
    #[non_exhaustive]
    TakenKey {
        /// Name of the refused hook.
        hook: String,
        /// The key; empty in a `singleton` whose hook has none.
        key: String,
    },
    /// An option is not supported here, or contradicts another option.
    #[non_exhaustive]
    InvalidOption {
        /// The hook, the option, and the remedy.
        message: String,
    },
}

impl RegistrationError {
    /// Creates the error for an option that a slot or a registry does not support. The message
    /// names the hook, the option and the remedy.
    pub fn invalid_option(message: impl Into<String>) -> Self {
        RegistrationError::InvalidOption {
            message: message.into(),
        }
    }

    /// Panics with the reason at the caller's line.
    #[cold]
    #[track_caller]
    pub(crate) fn panic(&self) -> ! {
        panic!("{self}")
    }

    /// Creates the error of a hook with a key that may not be replaced. For front ends.
    pub fn taken_key(hook: impl Into<String>, key: impl Into<String>) -> Self {
        RegistrationError::TakenKey {
            hook: hook.into(),
            key: key.into(),
        }
    }
}

impl fmt::Display for RegistrationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RegistrationError::UnknownKey { hook, option, key } => write!(
                f,
                "`{hook}` is to run {option} `{key}`, and the slot has no entry with this key; register `{key}` first, use `{option}_if_present`, or leave `{option}` out"
            ),
            RegistrationError::Cycle { hooks } => write!(
                f,
                "the order of {} is a cycle; remove one of their `before` and `after` options",
                hooks.join(", ")
            ),
            RegistrationError::TakenKey { hook, key } => write!(
                f,
                "`{hook}` may not replace the hook with the key `{key}`; choose another key, or leave `if_absent` out if it is set"
            ),
            RegistrationError::InvalidOption { message } => f.write_str(message),
        }
    }
}

impl Error for RegistrationError {}

/// A refused registration: the reason, and the entry or the entries.
///
/// If the slot is behind a lock, drop this value after the lock is released: the destructor of a
/// hook may use the registry that refuses the hook.
pub struct Refused<E>(Box<(RegistrationError, E)>);

impl<E> Refused<E> {
    /// Creates a refusal.
    #[cold]
    pub fn new(error: RegistrationError, entry: E) -> Self {
        Refused(Box::new((error, entry)))
    }

    /// Returns the reason.
    pub fn error(&self) -> &RegistrationError {
        &self.0.0
    }

    /// Returns the reason, and the entry or the entries.
    pub fn into_parts(self) -> (RegistrationError, E) {
        *self.0
    }

    /// Converts the entry or the entries.
    pub fn map<T>(self, convert: impl FnOnce(E) -> T) -> Refused<T> {
        let (error, entry) = self.into_parts();
        Refused::new(error, convert(entry))
    }

    /// Drops the entry or the entries, and returns the reason. A panic of a destructor is caught.
    pub fn into_error(self) -> RegistrationError {
        let (error, entry) = self.into_parts();
        drop_catching_panic(entry);
        error
    }

    /// Drops the entry or the entries, and panics with the reason at the caller's line.
    #[cold]
    #[track_caller]
    pub fn panic(self) -> ! {
        self.into_error().panic()
    }
}

impl<E> fmt::Debug for Refused<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Refused").field(self.error()).finish()
    }
}

impl<E> fmt::Display for Refused<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error().fmt(f)
    }
}

impl<E> Error for Refused<E> {}
