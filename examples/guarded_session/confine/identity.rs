//! Who a call runs as, and with which powers.

use rustix::process::{DumpableBehavior, Gid, Signal, Uid};
use rustix::process::{set_dumpable_behavior, set_parent_process_death_signal};
use rustix::thread::{CapabilitySet, CapabilitySets};
use rustix::thread::{
    clear_ambient_capability_set, set_capabilities, set_no_new_privs, set_thread_groups,
    set_thread_res_gid, set_thread_res_uid,
};

use super::{ConfineError, Step};

/// The user and group that root's calls run as; by convention they own nothing.
pub(super) const NOBODY: u32 = 65534;

/// Makes this process, which has one thread, that of [`NOBODY`].
pub(super) fn become_nobody() -> Result<(), ConfineError> {
    let (uid, gid) = (Uid::from_raw(NOBODY), Gid::from_raw(NOBODY));
    set_thread_groups(&[]).step("leave all groups")?;
    set_thread_res_gid(gid, gid, gid).step("become group `nobody`")?;
    set_thread_res_uid(uid, uid, uid).step("become user `nobody`")?;
    Ok(())
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
