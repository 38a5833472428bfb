//! Finds git repositories by their files, without running git. In: a folder. Out: whether it is the
//! root of a work tree, and where its repository is.
//!
//! A folder named `.git` alone is no repository: some sandboxes create empty folders of this name
//! while a command runs, and leave them if they are killed.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::files::open;

/// Number of bytes at the start of a file that are read; a path has at most 4096.
const MAX_LINE_BYTES: u64 = 4200;

/// Returns `true` if a folder is the root of a work tree of this user, by git's own conditions: its
/// `.git` is a repository, or a file or link that leads to a repository, as in a submodule and in a
/// linked work tree; and the folder, its `.git` and the repository belong to this user.
///
/// A bare repository has no work tree.
#[must_use]
pub fn is_work_tree(folder: &Path) -> bool {
    let entry = folder.join(".git");
    let Some(repository) = (match fs::metadata(&entry) {
        Ok(metadata) if metadata.is_dir() => Some(entry.clone()),
        Ok(_) => linked_repository(folder),
        Err(_) => None,
    }) else {
        return false;
    };
    let parts = [folder, &entry, &repository];
    is_repository(&repository) && parts.iter().all(|path| is_own(path))
}

/// Returns `true` if a folder of this user is a repository itself, such as a bare one.
pub(crate) fn is_bare_repository(folder: &Path) -> bool {
    is_repository(folder) && is_own(folder)
}

/// Returns `true` if several users can put files into a folder, or if it belongs to another user.
/// A missing folder belongs to no other user.
#[must_use]
pub fn is_shared(folder: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        const STICKY_OR_OTHERS_WRITE: u32 = 0o1002;
        let is_open = |folder: fs::Metadata| {
            folder.mode() & STICKY_OR_OTHERS_WRITE != 0 || folder.uid() != user_id()
        };
        fs::metadata(folder).is_ok_and(is_open)
    }
    #[cfg(not(unix))]
    {
        let _ = folder;
        false
    }
}

/// Returns the repository to which the file `.git` of a folder leads; it may not exist.
pub(crate) fn linked_repository(folder: &Path) -> Option<PathBuf> {
    let line = first_line(&folder.join(".git"))?;
    Some(folder.join(line.strip_prefix("gitdir: ")?))
}

/// Returns the folder with the files that all work trees of a repository share.
pub(crate) fn shared_repository(repository: &Path) -> PathBuf {
    match first_line(&repository.join("commondir")) {
        Some(common) => repository.join(common),
        None => repository.to_owned(),
    }
}

/// Returns `true` if a folder has the files by which git recognizes a repository.
fn is_repository(folder: &Path) -> bool {
    let shared = shared_repository(folder);
    has_head(folder)
        && ["objects", "refs"]
            .iter()
            .all(|name| shared.join(name).is_dir())
}

/// Returns `true` if `HEAD` names a reference or a commit.
fn has_head(repository: &Path) -> bool {
    let head = repository.join("HEAD");
    if let Ok(target) = fs::read_link(&head) {
        return target.starts_with("refs");
    }
    let Some(line) = first_line(&head) else {
        return false;
    };
    match line.strip_prefix("ref:") {
        Some(reference) => reference.trim_start().starts_with("refs/"),
        None => matches!(line.len(), 40 | 64) && line.bytes().all(|byte| byte.is_ascii_hexdigit()),
    }
}

fn first_line(path: &Path) -> Option<String> {
    let mut text = String::new();
    let mut start = open(path).ok()?.take(MAX_LINE_BYTES);
    start.read_to_string(&mut text).ok()?;
    Some(text.lines().next()?.trim_end().to_owned())
}

/// Returns `true` if a file belongs to this user; a link counts itself.
fn is_own(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        fs::symlink_metadata(path).is_ok_and(|file| file.uid() == user_id())
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        true
    }
}

#[cfg(unix)]
fn user_id() -> u32 {
    rustix::process::geteuid().as_raw()
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{PermissionsExt, chown, symlink};

    use super::*;

    fn folder() -> tempfile::TempDir {
        tempfile::tempdir().expect("a folder")
    }

    fn write(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }

    fn repository(path: &Path, head: &str) {
        for name in ["objects", "refs"] {
            fs::create_dir_all(path.join(name)).expect("a folder");
        }
        write(&path.join("HEAD"), head);
    }

    const BRANCH: &str = "ref: refs/heads/main\n";

    #[test]
    fn incomplete_repositories_are_none() {
        let folder = folder();
        let git = folder.path().join(".git");
        assert!(!is_work_tree(folder.path()), "nothing");
        fs::create_dir(&git).expect("a folder");
        assert!(!is_work_tree(folder.path()), "an empty folder");
        write(&git.join("HEAD"), BRANCH);
        assert!(!is_work_tree(folder.path()), "only a HEAD");
        fs::create_dir(git.join("objects")).expect("a folder");
        assert!(!is_work_tree(folder.path()), "no references");
        fs::create_dir(git.join("refs")).expect("a folder");
        assert!(is_work_tree(folder.path()));
        fs::remove_file(git.join("HEAD")).expect("it is ours");
        assert!(!is_work_tree(folder.path()), "no HEAD");
    }

    #[test]
    fn head_names_a_reference_or_a_commit() {
        for (head, expected) in [
            (BRANCH, true),
            ("ref:refs/heads/main", true),
            ("ref: refs/heads/.invalid\n", true),
            ("ref: heads/main\n", false),
            ("", false),
            ("main\n", false),
            ("0123456789abcdef0123456789abcdef01234567\n", true),
            ("0123456789abcdef0123456789abcdef0123456\n", false),
            (&"0f".repeat(32), true),
            (&"0g".repeat(32), false),
        ] {
            let folder = folder();
            repository(&folder.path().join(".git"), head);
            assert_eq!(is_work_tree(folder.path()), expected, "{head:?}");
        }
        let folder = folder();
        let git = folder.path().join(".git");
        repository(&git, "");
        fs::remove_file(git.join("HEAD")).expect("it is ours");
        symlink("refs/heads/main", git.join("HEAD")).expect("a link");
        assert!(is_work_tree(folder.path()), "a link to a reference");
    }

    #[test]
    fn files_and_links_lead_to_a_repository() {
        let folder = folder();
        let main = folder.path().join("main");
        let git = main.join(".git");
        repository(&git, BRANCH);
        // A submodule.
        repository(&git.join("modules/sub"), BRANCH);
        let sub = main.join("sub");
        write(&sub.join(".git"), "gitdir: ../.git/modules/sub\n");
        assert!(is_work_tree(&sub));
        // A linked work tree has its own HEAD only.
        let tree = folder.path().join("tree");
        let own = git.join("worktrees/tree");
        write(&own.join("HEAD"), BRANCH);
        write(&tree.join(".git"), &format!("gitdir: {}\n", own.display()));
        assert!(!is_work_tree(&tree), "no `commondir`");
        write(&own.join("commondir"), "../..\n");
        assert!(is_work_tree(&tree));
        // A link to a repository.
        let linked = folder.path().join("linked");
        fs::create_dir(&linked).expect("a folder");
        symlink(&git, linked.join(".git")).expect("a link");
        assert!(is_work_tree(&linked));
        for text in [
            "gitdir: ../no/such\n",
            "gitdir:",
            "",
            "../main/.git\n",
            "gitdir: ../main\n",
        ] {
            let other = folder.path().join("other");
            write(&other.join(".git"), text);
            assert!(!is_work_tree(&other), "{text:?}");
        }
    }

    #[test]
    fn bare_repositories_have_no_work_tree() {
        let folder = folder();
        repository(folder.path(), BRANCH);
        assert!(!is_work_tree(folder.path()));
    }

    #[test]
    fn repositories_of_another_user_are_none() {
        if !rustix::process::geteuid().is_root() {
            return;
        }
        for part in ["", ".git"] {
            let folder = folder();
            repository(&folder.path().join(".git"), BRANCH);
            assert!(is_work_tree(folder.path()));
            chown(folder.path().join(part), Some(4711), None).expect("root may");
            assert!(!is_work_tree(folder.path()), "{part}");
        }
    }

    #[test]
    fn folders_of_several_users_are_shared() {
        let folder = folder();
        for (mode, expected) in [
            (0o700, false),
            (0o755, false),
            (0o775, false),
            (0o777, true),
            (0o1777, true),
            (0o1755, true),
        ] {
            let mode_of = fs::Permissions::from_mode(mode);
            fs::set_permissions(folder.path(), mode_of).expect("it is ours");
            assert_eq!(is_shared(folder.path()), expected, "{mode:o}");
        }
        assert!(!is_shared(&folder.path().join("no/such")));
    }
}
