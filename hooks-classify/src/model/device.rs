//! Paths of devices and of kernel interfaces: a path in, its kind out.

/// Returns `true` if output to a path is discarded or shown, not stored.
pub(crate) fn is_unstored_output(path: &str) -> bool {
    matches!(
        path,
        "-" | "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/tty" | "/dev/full" | "/dev/zero"
    ) || path
        .strip_prefix("/dev/fd/")
        .is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit()))
}

/// Returns `true` if writing to a path overwrites a device such as a disk.
pub(crate) fn is_device(path: &str) -> bool {
    path.starts_with("/dev/")
        && !is_unstored_output(path)
        && !path.starts_with("/dev/shm/")
        && !path.starts_with("/dev/tcp/")
        && !path.starts_with("/dev/udp/")
}

/// Returns `true` if a path is a setting of the running kernel.
pub(crate) fn is_kernel_setting(path: &str) -> bool {
    path.starts_with("/proc/") || path.starts_with("/sys/")
}
