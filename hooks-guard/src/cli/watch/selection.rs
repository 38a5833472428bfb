//! Selection in the lists of `watch`. In: the ids of a list, and the selected one. Out: the id to
//! select.

/// Returns the id after or before the selected one; the first or the last if none of them is
/// selected.
pub(super) fn step(
    ids: impl Iterator<Item = i64>,
    selected: Option<i64>,
    down: bool,
) -> Option<i64> {
    let ids: Vec<i64> = ids.collect();
    let last = ids.len().saturating_sub(1);
    let at = selected.and_then(|selected| ids.iter().position(|id| *id == selected));
    let at = match (at, down) {
        (None, true) => 0,
        (None, false) => last,
        (Some(at), true) => (at + 1).min(last),
        (Some(at), false) => at.saturating_sub(1),
    };
    ids.get(at).copied()
}
