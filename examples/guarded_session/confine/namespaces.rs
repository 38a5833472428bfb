//! Namespaces: gives a call its own file system, process table and network.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use rustix::mount::{
    MountFlags, MountPropagationFlags, UnmountFlags, mount, mount_bind, mount_bind_recursive,
    mount_change, mount_remount, unmount,
};
use rustix::process::{chdir, getgid, getuid, pivot_root};
use rustix::thread::UnshareFlags;

use super::filesystem::{DEVICES, SYSTEM};
use super::plan::Namespaces;
use super::{ConfineError, Step};
use crate::scratch::PARTS;

/// Leaves the namespaces of the system. The next child is the first process of the new process
/// table.
pub(super) fn leave(kind: Namespaces) -> Result<(), ConfineError> {
    let mut flags = UnshareFlags::NEWNS
        | UnshareFlags::NEWPID
        | UnshareFlags::NEWNET
        | UnshareFlags::NEWIPC
        | UnshareFlags::NEWUTS
        | UnshareFlags::NEWCGROUP;
    let (uid, gid) = (getuid().as_raw(), getgid().as_raw());
    if kind == Namespaces::AsUser {
        flags |= UnshareFlags::NEWUSER;
    }
    #[expect(
        deprecated,
        reason = "its successor is unsafe because of `UnshareFlags::FILES`, which is not used here"
    )]
    rustix::thread::unshare(flags).step("leave the namespaces of the system")?;
    if kind == Namespaces::AsUser {
        // Root inside the new namespace, to mount file systems; unchanged outside.
        fs::write("/proc/self/setgroups", "deny").step("give up changing groups")?;
        fs::write("/proc/self/uid_map", format!("0 {uid} 1")).step("map the user")?;
        fs::write("/proc/self/gid_map", format!("0 {gid} 1")).step("map the group")?;
    }
    Ok(())
}

/// Replaces the root of this process by one mounted at `mount_point`. It has the system folders,
/// read-only, and the [`PARTS`] of `scratch`, each at its original path.
pub(super) fn enter_new_root(mount_point: &Path, scratch: &Path) -> Result<(), ConfineError> {
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change("/", private).step("detach the mounts of the system")?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    mount(
        "tmpfs",
        mount_point,
        "tmpfs",
        flags,
        c"mode=0755,size=1m,nr_inodes=4k",
    )
    .step("mount a new root")?;
    for path in SYSTEM.iter().chain(DEVICES) {
        show(mount_point, Path::new(path)).step("show a system folder")?;
    }
    for (name, target) in [
        ("fd", ""),
        ("stdin", "/0"),
        ("stdout", "/1"),
        ("stderr", "/2"),
    ] {
        symlink(
            format!("/proc/self/fd{target}"),
            mount_point.join("dev").join(name),
        )
        .step("name the standard streams")?;
    }
    let proc = mount_point.join("proc");
    fs::create_dir(&proc).step("make `/proc`")?;
    let flags = flags | MountFlags::NOEXEC | MountFlags::RDONLY;
    // Only processes, if the kernel can omit the rest. A container may forbid both mounts; then a
    // call runs without `/proc`.
    let _ = mount("proc", &proc, "proc", flags, c"subset=pid")
        .or_else(|_| mount("proc", &proc, "proc", flags, c""));
    let inside = below(mount_point, scratch);
    let parts = PARTS.map(|part| inside.join(part));
    for (part, place) in PARTS.iter().zip(&parts) {
        fs::create_dir_all(place).step("make a place for the scratch copy")?;
        mount_bind(scratch.join(part), place).step("show the scratch copy")?;
    }
    lock(mount_point, &parts)?;

    // The old root is mounted over the new one and then detached.
    chdir(mount_point).step("enter the new root")?;
    pivot_root(".", ".").step("change the root")?;
    unmount(".", UnmountFlags::DETACH).step("let go of the old root")?;
    chdir("/").step("enter the new root")?;
    mount_remount("/", MountFlags::BIND | MountFlags::RDONLY | flags, c"").step("lock the new root")
}

/// Bind-mounts `path` at its own place below `root`, if it exists.
fn show(root: &Path, path: &Path) -> io::Result<()> {
    let Ok(metadata) = fs::symlink_metadata(path) else {
        return Ok(());
    };
    let place = below(root, path);
    if let Some(parent) = place.parent() {
        fs::create_dir_all(parent)?;
    }
    if metadata.is_symlink() {
        return symlink(fs::read_link(path)?, place);
    }
    if metadata.is_dir() {
        fs::create_dir_all(&place)?;
    } else {
        fs::write(&place, "")?;
    }
    Ok(mount_bind_recursive(path, place)?)
}

/// Makes every mount below `root` read-only, except those at `writable`.
fn lock(root: &Path, writable: &[PathBuf]) -> Result<(), ConfineError> {
    let table = fs::read_to_string("/proc/self/mountinfo").step("list the mounts")?;
    for line in table.lines() {
        let mut fields = line.split(' ');
        let (Some(place), Some(options)) = (fields.nth(4), fields.next()) else {
            continue;
        };
        let place = PathBuf::from(unescape(place));
        if place == root || !place.starts_with(root) {
            continue;
        }
        let mut flags = MountFlags::BIND | MountFlags::NOSUID | kept(options);
        let is_writable = writable.contains(&place);
        if !is_writable {
            flags |= MountFlags::RDONLY;
        }
        if !place.starts_with(root.join("dev")) || is_writable {
            flags |= MountFlags::NODEV;
        }
        mount_remount(&place, flags, c"").step("lock a mount")?;
    }
    Ok(())
}

/// Returns the flags that a remount must keep: the namespace of an unprivileged user may not clear
/// them.
fn kept(options: &str) -> MountFlags {
    options
        .split(',')
        .fold(MountFlags::empty(), |flags, option| {
            flags
                | match option {
                    "ro" => MountFlags::RDONLY,
                    "nodev" => MountFlags::NODEV,
                    "noexec" => MountFlags::NOEXEC,
                    "noatime" => MountFlags::NOATIME,
                    "nodiratime" => MountFlags::NODIRATIME,
                    "relatime" => MountFlags::RELATIME,
                    _ => MountFlags::empty(),
                }
        })
}

fn below(root: &Path, path: &Path) -> PathBuf {
    root.join(path.strip_prefix("/").unwrap_or(path))
}

/// Decodes a path of the mount table, in which blanks and backslashes are octal.
fn unescape(field: &str) -> String {
    [
        (r"\040", " "),
        (r"\011", "\t"),
        (r"\012", "\n"),
        (r"\134", r"\"),
    ]
    .iter()
    .fold(field.to_owned(), |path, (code, plain)| {
        path.replace(code, plain)
    })
}

#[cfg(test)]
mod tests {
    use rustix::mount::MountFlags;

    use super::{kept, unescape};

    #[test]
    fn the_mount_table_is_read_as_the_kernel_writes_it() {
        assert_eq!(unescape(r"/a\040b\134040"), r"/a b\040");
        assert_eq!(
            kept("rw,noexec,relatime"),
            MountFlags::NOEXEC | MountFlags::RELATIME
        );
    }
}
