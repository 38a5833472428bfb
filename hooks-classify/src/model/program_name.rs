//! Names of programs without the folders of the system.

/// Folders whose programs are what their names say.
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
    "/busybox/",
];

/// Returns the name of a program without its folder, if that is a folder of the system, in which
/// programs are what their names say.
#[must_use]
pub fn plain_program(name: &str) -> &str {
    SYSTEM_FOLDERS
        .iter()
        .find_map(|folder| name.strip_prefix(folder))
        .unwrap_or(name)
}
