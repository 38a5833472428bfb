//! Who a call runs as, and with which powers.

use std::fs;

use rustix::process::{DumpableBehavior, Gid, Signal, Uid};
use rustix::process::{set_dumpable_behavior, set_parent_process_death_signal};
use rustix::thread::{CapabilitySet, CapabilitySets};
use rustix::thread::{
    clear_ambient_capability_set, set_capabilities, set_no_new_privs, set_thread_groups,
    set_thread_res_gid, set_thread_res_uid,
};

use super::{ConfineError, Step};

/// By convention a user and a group that own nothing.
const NOBODY: u32 = 65534;

/// Users of this number and above belong to nobody; each session takes its own, so
/// that two at a time share neither files nor the count of their processes.
const STRANGERS: u32 = 1_700_000_000;

/// The number of a user and a group that root's calls run as.
pub(super) fn stranger() -> u32 {
    let number = STRANGERS + std::process::id();
    let is_known = |map| is_mapped(&fs::read_to_string(map).unwrap_or_default(), number);
    // Containers often have a few users only.
    if is_known("/proc/self/uid_map") && is_known("/proc/self/gid_map") {
        number
    } else {
        NOBODY
    }
}

/// Makes this process, which has one thread, that of `number`.
pub(super) fn become_stranger(number: u32) -> Result<(), ConfineError> {
    let (uid, gid) = (Uid::from_raw(number), Gid::from_raw(number));
    set_thread_groups(&[]).step("leave all groups")?;
    set_thread_res_gid(gid, gid, gid).step("become another group")?;
    set_thread_res_uid(uid, uid, uid).step("become another user")?;
    Ok(())
}

/// Whether a line of `map`, which holds a first number, its meaning outside and a
/// count, covers `number`.
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

/// Gives up every capability, for what is started from here too.
pub(super) fn drop_capabilities() -> Result<(), ConfineError> {
    // A kernel older than 4.3 has no such set to clear.
    let _ = clear_ambient_capability_set();
    let none = CapabilitySets {
        effective: CapabilitySet::empty(),
        permitted: CapabilitySet::empty(),
        inheritable: CapabilitySet::empty(),
    };
    set_capabilities(None, none).step("give up capabilities")?;
    // Without this, a program that belongs to root would get them back.
    set_no_new_privs(true).step("forbid new privileges")
}

/// Lets the kernel end this process when the one that started it ends.
pub(super) fn die_with_parent() -> Result<(), ConfineError> {
    set_parent_process_death_signal(Some(Signal::KILL)).step("follow the parent's end")
}

/// Hides the memory of this process from others of the same user.
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
