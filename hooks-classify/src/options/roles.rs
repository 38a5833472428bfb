//! Roles of operands: operands and the roles of a table in, the operands of each role out.

use std::collections::VecDeque;

use crate::model::arg::Arg;
use crate::model::role::Role;
use crate::tables::OperandCount;

/// Operands by role, and the operands without a role.
pub(super) type OperandRoles = (Vec<(Role, Vec<Arg>)>, Vec<Arg>);

/// Distributes operands to roles. Roles after the role with `*` take operands from the end.
pub(super) fn assign_roles(list: &[(Role, OperandCount)], operands: Vec<Arg>) -> OperandRoles {
    assign(list, operands, |role| matches!(role, Role::Argv { .. }))
}

/// Distributes operands to entries of a list. An entry that `takes_rest`, or has `*`, takes all
/// operands that no later entry needs.
pub(super) fn assign<R: Copy, O>(
    list: &[(R, OperandCount)],
    operands: Vec<O>,
    takes_rest: impl Fn(R) -> bool,
) -> (Vec<(R, Vec<O>)>, Vec<O>) {
    let mut out = Vec::new();
    let mut left: VecDeque<O> = operands.into();
    // A command takes all operands that follow, regardless of later roles in the list.
    let many = list
        .iter()
        .position(|(role, count)| *count == OperandCount::Many || takes_rest(*role));
    let (before, after) = match many {
        Some(at) => (&list[..at], &list[at + 1..]),
        None => (list, &list[..0]),
    };
    let needed = after
        .iter()
        .filter(|(_, count)| *count == OperandCount::One)
        .count();
    for (role, _) in before {
        if let Some(arg) = left.pop_front() {
            out.push((*role, vec![arg]));
        }
    }
    let mut tail = Vec::new();
    if needed > 0 {
        for (role, _) in after.iter().rev() {
            if let Some(arg) = left.pop_back() {
                tail.push((*role, vec![arg]));
            }
        }
    }
    if let Some(at) = many
        && !left.is_empty()
    {
        out.push((list[at].0, left.drain(..).collect()));
    }
    out.extend(tail.into_iter().rev());
    (out, left.into())
}
