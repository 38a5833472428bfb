//! Limits of one survey. In: the units of work that a step takes. Out: whether the step may be done.
//!
//! Limits count work and never time, so the same files give the same text.

/// Remaining work of a survey.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// Entries of directories that are read.
    pub(super) entries: usize,
    /// Entries of indexes that are compared with a file.
    pub(super) tracked: usize,
    /// Bytes of files that are hashed.
    pub(super) hashed: u64,
    /// Entries of trees that are compared with an index.
    pub(super) tree_entries: usize,
    /// Commits that are followed.
    pub(super) commits: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            entries: 20_000,
            tracked: 20_000,
            hashed: 64 << 20,
            tree_entries: 20_000,
            commits: 5_000,
        }
    }
}

/// Takes one unit of a limit; returns `false` if none is left.
pub(super) fn take(left: &mut usize) -> bool {
    match left.checked_sub(1) {
        Some(rest) => {
            *left = rest;
            true
        }
        None => false,
    }
}
