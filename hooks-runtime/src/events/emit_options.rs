//! Options of an emission.

use std::time::Duration;

/// Options of an emission.
///
/// ```
/// use std::time::Duration;
///
/// use hooks_runtime::EmitOptions;
///
/// let options = EmitOptions::new().deadline(Duration::from_secs(10)).report();
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EmitOptions {
    pub(super) deadline: Option<Duration>,
    pub(super) report: bool,
    pub(super) original: bool,
}

impl EmitOptions {
    /// Creates options without a deadline and without a report; the original data are not kept.
    pub fn new() -> Self {
        EmitOptions::default()
    }

    /// Ends the emission with an error if a hook is pending after this time. A hook that blocks its
    /// thread cannot be cancelled. After the deadline, hooks of the phase
    /// [`Observe`](super::EventPhase::Observe) are polled once; if they are pending, they are
    /// cancelled, and the emission has their failures.
    #[must_use]
    pub fn deadline(mut self, after: Duration) -> Self {
        self.deadline = Some(after);
        self
    }

    /// Keeps the data before the changes by hooks for [`Event::original`](super::Event::original),
    /// such as the raw result of a tool. Hooks that change the data then copy them.
    #[must_use]
    pub fn keep_original(mut self) -> Self {
        self.original = true;
        self
    }

    /// Adds a report on each hook to the emission, around hooks included.
    #[must_use]
    pub fn report(mut self) -> Self {
        self.report = true;
        self
    }
}
