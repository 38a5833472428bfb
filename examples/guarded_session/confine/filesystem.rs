//! Landlock: restricts the files that a call may open, and the access to them.

use std::path::Path;

use landlock::{
    ABI, Access, AccessFs, AccessNet, LandlockStatus, Ruleset, RulesetAttr, RulesetCreatedAttr,
    RulesetStatus, Scope, path_beneath_rules,
};

use super::ConfineError;
use crate::scratch::PARTS;

/// Newest Landlock version that this example uses; an older kernel applies the rules that it
/// supports.
const NEWEST: ABI = ABI::V7;

/// Folders that programs need to start on any Linux system: code, libraries, names.
pub(super) const SYSTEM: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix/store",
    "/gnu/store",
    "/run/current-system",
    "/etc/alternatives",
    "/etc/group",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/ld-musl-x86_64.path",
    "/etc/ld-musl-aarch64.path",
    "/etc/localtime",
    "/etc/nsswitch.conf",
    "/etc/passwd",
];

/// Devices without data.
pub(super) const DEVICES: &[&str] = &[
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
];

/// Landlock support of this kernel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Landlocked {
    /// Version of the Landlock ABI.
    pub(super) abi: i32,
    /// `true` if processes outside cannot be signalled.
    pub(super) scopes_signals: bool,
}

/// Restricts this process and its children to reading and running [`SYSTEM`] and writing the
/// [`PARTS`] of `scratch`. If the process has its own root with only these folders, it may also
/// list any folder and read `/proc`, which shows only its own processes.
pub(super) fn restrict(scratch: &Path, has_own_root: bool) -> Result<Landlocked, ConfineError> {
    let read = AccessFs::ReadFile | AccessFs::ReadDir;
    let execute = read | AccessFs::Execute;
    let device = AccessFs::ReadFile | AccessFs::WriteFile;
    // All rights except creating device nodes.
    let write = AccessFs::from_all(NEWEST) & !(AccessFs::MakeChar | AccessFs::MakeBlock);
    let status = Ruleset::default()
        .handle_access(AccessFs::from_all(NEWEST))?
        .handle_access(AccessNet::from_all(NEWEST))?
        .scope(Scope::from_all(NEWEST))?
        .create()?
        .add_rules(path_beneath_rules(SYSTEM, execute))?
        .add_rules(path_beneath_rules(
            has_own_root.then_some("/"),
            AccessFs::ReadDir,
        ))?
        .add_rules(path_beneath_rules(has_own_root.then_some("/proc"), read))?
        .add_rules(path_beneath_rules(DEVICES, device))?
        .add_rules(path_beneath_rules([scratch], read))?
        .add_rules(path_beneath_rules(
            PARTS.map(|part| scratch.join(part)),
            write,
        ))?
        .restrict_self()?;
    match status.landlock {
        LandlockStatus::Available { effective_abi, .. }
            if status.ruleset != RulesetStatus::NotEnforced =>
        {
            Ok(Landlocked {
                abi: effective_abi as i32,
                scopes_signals: effective_abi >= ABI::V6,
            })
        }
        _ => Err(ConfineError::NoLandlock),
    }
}
