//! The scratch copy: the only files that a call can change.

use std::cell::Cell;
use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::time::Instant;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, openat, statat};
use tempfile::TempDir;

/// Folders in [`Scratch::files`] that a call may write. The parent folder is read-only, so that
/// they cannot be moved.
pub(crate) const PARTS: [&str; 3] = ["project", "home", "tmp"];

/// A temporary folder, removed on drop:
///
/// | Part | Contents |
/// |---|---|
/// | `files/project` | copy of the project, where every call starts |
/// | `files/home`, `files/tmp` | `HOME` and `TMPDIR` of the calls |
/// | `records` | records of the hook engine, invisible to a confined call |
/// | `audit` | audit trail, also invisible; kept after [`Scratch::keep_audit`] |
/// | `root` | empty folder, the mount point of a new root |
/// | `outside` | files that a confined process must not reach; the self-test tries it |
#[derive(Debug)]
pub(crate) struct Scratch {
    base: TempDir,
    /// Path without symbolic links, as the confinement needs it.
    path: PathBuf,
    keeps_audit: Cell<bool>,
}

/// Disk use of a scratch copy.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Usage {
    pub(crate) bytes: u64,
    pub(crate) entries: usize,
}

impl Scratch {
    /// Creates the folders, all empty.
    pub(crate) fn create() -> io::Result<Self> {
        let base = tempfile::Builder::new()
            .prefix("guarded-session-")
            .tempdir()?;
        let path = base.path().canonicalize()?;
        for part in [
            "files/project",
            "files/home",
            "files/tmp",
            "records",
            "audit",
            "root",
            "outside",
        ] {
            fs::create_dir_all(path.join(part))?;
        }
        // Calls may run as another user, who must be able to enter.
        fs::set_permissions(&path, Permissions::from_mode(0o711))?;
        for part in ["outside", "records", "audit"] {
            fs::set_permissions(path.join(part), Permissions::from_mode(0o700))?;
        }
        for name in ["canary", "kept"] {
            fs::write(path.join("outside").join(name), CANARY)?;
            fs::set_permissions(
                path.join("outside").join(name),
                Permissions::from_mode(0o644),
            )?;
        }
        Ok(Self {
            base,
            path,
            keeps_audit: Cell::new(false),
        })
    }

    /// Returns the folder with the [`PARTS`] that a call may write.
    pub(crate) fn files(&self) -> PathBuf {
        self.path.join("files")
    }

    /// Returns the copy of the project.
    pub(crate) fn project(&self) -> PathBuf {
        self.files().join("project")
    }

    /// Returns the folder of the engine's records. A call without confinement can change it.
    pub(crate) fn records(&self) -> PathBuf {
        self.path.join("records")
    }

    /// Returns the folder of the audit trail. A call without confinement can change it.
    pub(crate) fn audit(&self) -> PathBuf {
        self.path.join(AUDIT)
    }

    /// Keeps the audit trail when everything else is removed.
    pub(crate) fn keep_audit(&self) {
        self.keeps_audit.set(true);
    }

    /// Returns the mount point of a new root.
    pub(crate) fn mount_point(&self) -> PathBuf {
        self.path.join("root")
    }

    /// Returns the folder that no call may reach.
    pub(crate) fn outside(&self) -> PathBuf {
        self.path.join("outside")
    }

    /// Makes `owner` the owner of the writable folders and of the canary, so that the confinement
    /// protects the canary, not its mode.
    pub(crate) fn give_to(&self, owner: u32) -> io::Result<()> {
        for part in PARTS {
            chown(self.files().join(part), Some(owner), None)?;
        }
        for part in ["outside", "outside/canary"] {
            chown(self.path.join(part), Some(owner), None)?;
        }
        Ok(())
    }

    /// Returns `true` if everything outside is as [`Scratch::create`] left it.
    pub(crate) fn outside_is_unharmed(&self) -> bool {
        let outside = self.outside();
        let is_kept = |name| {
            let file = outside.join(name);
            fs::metadata(&file).is_ok_and(|metadata| metadata.mode() & 0o777 == 0o644)
                && fs::read_to_string(file).is_ok_and(|text| text == CANARY)
        };
        is_kept("canary")
            && is_kept("kept")
            && fs::read_dir(&outside).is_ok_and(|entries| entries.count() == 2)
    }

    /// Returns the disk use while nothing runs in the copy.
    pub(crate) fn usage(&self) -> Usage {
        count(&self.files(), None)
    }
}

/// Returns the disk use of the files below a folder, and their number. Stops at `until` with the
/// count so far. A call may change files during the count; links are not followed.
pub(crate) fn count(files: &Path, until: Option<Instant>) -> Usage {
    let mut usage = Usage::default();
    let Ok(root) = rustix::fs::open(files, FOLDER, Mode::empty()) else {
        return usage;
    };
    let mut folders = vec![PathBuf::from(".")];
    while let Some(path) = folders.pop() {
        // A call may remove a folder during the count.
        let Ok(folder) = open_beneath(&root, &path) else {
            continue;
        };
        for entry in Dir::read_from(&folder).into_iter().flatten().flatten() {
            if until.is_some_and(|until| Instant::now() >= until) {
                return usage;
            }
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            usage.entries += 1;
            if let Ok(status) = statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
                usage.bytes += status.st_blocks.cast_unsigned() * 512;
                if FileType::from_raw_mode(status.st_mode).is_dir() {
                    folders.push(path.join(OsStr::from_bytes(name.to_bytes())));
                }
            }
        }
    }
    usage
}

const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// Opens a folder below another one without following links.
fn open_beneath(root: &OwnedFd, path: &Path) -> rustix::io::Result<OwnedFd> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{ResolveFlags, openat2};
        use rustix::io::Errno;

        let within = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        match openat2(root, path, FOLDER, Mode::empty(), within) {
            // The kernel is old, or a container refuses the call.
            Err(Errno::NOSYS | Errno::PERM) => {}
            opened => return opened,
        }
    }
    openat(root, path, FOLDER, Mode::empty())
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A call may have removed permissions from its folders; no call is running now.
        unlock(&self.path);
        let removed = if self.keeps_audit.get() {
            self.base.disable_cleanup(true);
            remove_all_but(&self.path, AUDIT)
        } else {
            fs::remove_dir_all(&self.path)
        };
        if let Err(error) = removed {
            eprintln!(
                "guarded_session: cannot remove the scratch folder: {error}; remove {} by hand",
                self.path.display()
            );
        }
    }
}

/// Removes everything in a folder except one of its folders.
fn remove_all_but(path: &Path, kept: &str) -> io::Result<()> {
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        if entry.file_name() == kept {
            continue;
        }
        // A call without confinement may have left anything here.
        match entry.file_type()?.is_dir() {
            true => fs::remove_dir_all(entry.path())?,
            false => fs::remove_file(entry.path())?,
        }
    }
    Ok(())
}

/// Folder of the audit trail.
const AUDIT: &str = "audit";

const CANARY: &str = "nobody may read or change this\n";

/// Restores the owner's permissions on every folder below `path`.
fn unlock(path: &Path) {
    let mut folders = vec![path.to_owned()];
    while let Some(folder) = folders.pop() {
        let Ok(metadata) = fs::symlink_metadata(&folder) else {
            continue;
        };
        if metadata.mode() & 0o700 != 0o700 {
            let _ = fs::set_permissions(&folder, Permissions::from_mode(0o700));
        }
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(entry.path());
            }
        }
    }
}
