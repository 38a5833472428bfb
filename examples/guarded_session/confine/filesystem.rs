//! Landlock: which files a call may open, for what.

use std::path::Path;

use landlock::{
    ABI, Access, AccessFs, AccessNet, LandlockStatus, Ruleset, RulesetAttr, RulesetCreatedAttr,
    RulesetStatus, Scope, path_beneath_rules,
};

use super::ConfineError;
use crate::scratch::PARTS;

/// The newest rules that this example knows; an older kernel holds those it has.
const NEWEST: ABI = ABI::V7;

/// What programs of any Linux system need to start: code, libraries, names.
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

/// The devices that hold nothing.
pub(super) const DEVICES: &[&str] = &[
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
];

/// What Landlock of this kernel does.
#[derive(Clone, Copy, Debug)]
pub(super) struct Landlocked {
    /// The version of the rules, as the kernel counts them.
    pub(super) abi: i32,
    /// Whether a process outside cannot be signalled.
    pub(super) scopes_signals: bool,
}

/// Allows this process and its children to read and run [`SYSTEM`], to write
/// the [`PARTS`] of `scratch`, and nothing else. Where the root is its own, made of just
/// that, folders can be listed anywhere and `/proc`, which shows nobody else, read.
pub(super) fn restrict(scratch: &Path, has_own_root: bool) -> Result<Landlocked, ConfineError> {
    let read = AccessFs::ReadFile | AccessFs::ReadDir;
    let execute = read | AccessFs::Execute;
    let device = AccessFs::ReadFile | AccessFs::WriteFile;
    // Every right but the making of device nodes.
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
