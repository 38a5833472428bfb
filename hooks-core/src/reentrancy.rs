//! The error of a hook that is called from inside its own call.

use std::fmt;

/// A stateful hook was called from inside its own call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HookReentrancyError {
    /// The method that declares the slot.
    pub slot: &'static str,
    /// The type of the hook's state.
    pub hook_type: &'static str,
}

impl fmt::Display for HookReentrancyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "stateful hook `{}` of slot `{}` was called from inside its own call; override `on_reentrancy` to answer such calls",
            self.hook_type, self.slot
        )
    }
}

impl std::error::Error for HookReentrancyError {}
