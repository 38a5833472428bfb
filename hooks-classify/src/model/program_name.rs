//! Names of programs: a word in, the name without a system folder out.

/// Folders in which the name of a file identifies the program.
pub(crate) const SYSTEM_FOLDERS: &[&str] = &[
    "/bin/",
    "/usr/bin/",
    "/usr/local/bin/",
    "/sbin/",
    "/usr/sbin/",
    "/usr/local/sbin/",
    "/opt/homebrew/bin/",
    "/usr/lib/git-core/",
    "/usr/libexec/git-core/",
    "/usr/libexec/",
    "/busybox/",
];

/// Returns the name of a program without its folder, if the folder is a system folder.
#[must_use]
pub fn without_system_folder(name: &str) -> &str {
    SYSTEM_FOLDERS
        .iter()
        .find_map(|folder| name.strip_prefix(folder))
        .unwrap_or(name)
}
