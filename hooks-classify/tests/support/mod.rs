//! Helpers for several subjects.

pub(crate) mod languages;
pub(crate) mod parallel;
#[cfg(unix)]
pub(crate) mod process;
pub(crate) mod random;
pub(crate) mod required;
