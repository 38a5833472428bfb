//! Paths that are no files: devices, and interfaces of the kernel.

/// Files that are none: what is written to them is gone or shown.
pub(crate) fn nowhere(path: &str) -> bool {
    matches!(
        path,
        "-" | "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/tty" | "/dev/full" | "/dev/zero"
    ) || path
        .strip_prefix("/dev/fd/")
        .is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit()))
}

/// Whether writing to a path destroys what is on a disk.
pub(crate) fn device(path: &str) -> bool {
    path.starts_with("/dev/")
        && !nowhere(path)
        && !path.starts_with("/dev/shm/")
        && !path.starts_with("/dev/tcp/")
        && !path.starts_with("/dev/udp/")
}

/// Whether a path is a setting of the running system.
pub(crate) fn kernel(path: &str) -> bool {
    path.starts_with("/proc/") || path.starts_with("/sys/")
}
