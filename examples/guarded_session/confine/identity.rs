//! User and capabilities that a call runs with.

use std::fs;

use rustix::process::{DumpableBehavior, Gid, Signal, Uid};
use rustix::process::{set_dumpable_behavior, set_parent_process_death_signal};
use rustix::thread::{CapabilitySet, CapabilitySets};
use rustix::thread::{
    clear_ambient_capability_set, set_capabilities, set_no_new_privs, set_thread_groups,
    set_thread_res_gid, set_thread_res_uid,
};

use super::{ConfineError, Step};

/// By convention, the user and group without files.
const NOBODY: u32 = 65534;

/// Users from this number up are unassigned. Each session uses its own, so that concurrent sessions
/// share neither files nor the process limit.
const STRANGERS: u32 = 1_700_000_000;

/// Returns the user and group that calls run as if root starts the example.
pub(super) fn stranger() -> u32 {
    let number = STRANGERS + std::process::id();
    let is_known = |map| is_mapped(&fs::read_to_string(map).unwrap_or_default(), number);
    // Containers often map few users.
    if is_known("/proc/self/uid_map") && is_known("/proc/self/gid_map") {
        number
    } else {
        NOBODY
    }
}

/// Changes the user of this process, which has one thread, to `number`.
pub(super) fn become_stranger(number: u32) -> Result<(), ConfineError> {
    let (uid, gid) = (Uid::from_raw(number), Gid::from_raw(number));
    set_thread_groups(&[]).step("leave all groups")?;
    set_thread_res_gid(gid, gid, gid).step("become another group")?;
    set_thread_res_uid(uid, uid, uid).step("become another user")?;
    Ok(())
}

/// Returns `true` if a line of `map` covers `number`. A line has a first number, the number
/// outside, and a count.
fn is_mapped(map: &str, number: u32) -> bool {
    map.lines().any(|line| {
        let mut fields = line.split_whitespace().map(str::parse::<u32>);
        let (Some(Ok(first)), Some(Ok(count))) = (fields.next(), fields.nth(1)) else {
            return false;
        };
        number
            .checked_sub(first)
            .is_some_and(|offset| offset < count)
    })
}

/// Drops every capability, for this process and its children.
pub(super) fn drop_capabilities() -> Result<(), ConfineError> {
    // Kernels before 4.3 have no ambient set to clear.
    let _ = clear_ambient_capability_set();
    let none = CapabilitySets {
        effective: CapabilitySet::empty(),
        permitted: CapabilitySet::empty(),
        inheritable: CapabilitySet::empty(),
    };
    set_capabilities(None, none).step("give up capabilities")?;
    // Otherwise a set-user-id program would get the capabilities back.
    set_no_new_privs(true).step("forbid new privileges")
}

/// Makes the kernel kill this process when its parent ends.
pub(super) fn die_with_parent() -> Result<(), ConfineError> {
    set_parent_process_death_signal(Some(Signal::KILL)).step("follow the parent's end")
}

/// Hides the memory of this process from other processes of its user.
pub(super) fn hide_memory() -> Result<(), ConfineError> {
    set_dumpable_behavior(DumpableBehavior::NotDumpable).step("hide this process's memory")
}

#[cfg(test)]
mod tests {
    use super::is_mapped;

    #[test]
    fn a_user_is_known_where_a_line_of_the_map_covers_it() {
        let everybody = "         0          0 4294967295\n";
        assert!(is_mapped(everybody, 1_700_000_000));
        let container = "0 1000 1\n1 100000 65536\n";
        assert!(is_mapped(container, 65534));
        assert!(!is_mapped(container, 1_700_000_000));
        assert!(!is_mapped("", 0));
    }
}
