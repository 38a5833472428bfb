//! Tests if paths are inside the project.

use std::path::Path;

/// Returns `true` if `path`, relative to the project's folder, leads out of it. Does not follow
/// links; the confinement handles them.
pub(crate) fn leads_out(path: &str) -> bool {
    if path.starts_with('/') {
        return !is_harmless_device(path);
    }
    let mut depth = 0_usize;
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => match depth.checked_sub(1) {
                Some(above) => depth = above,
                None => return true,
            },
            _ => depth += 1,
        }
    }
    false
}

/// Returns `true` if an absolute `path` begins with a folder of this machine, unlike a pattern, a
/// program text or a message that only begins with a slash.
pub(crate) fn is_on_this_machine(path: &str) -> bool {
    let folder = path.split('/').find(|part| !part.is_empty());
    folder.is_some_and(|folder| Path::new("/").join(folder).exists())
}

/// Returns `true` if `path` is inside a `.git` folder.
pub(crate) fn is_git_internal(path: &str) -> bool {
    path.split('/').any(|part| part == ".git")
}

fn is_harmless_device(path: &str) -> bool {
    matches!(
        path,
        "/dev/null"
            | "/dev/zero"
            | "/dev/full"
            | "/dev/random"
            | "/dev/urandom"
            | "/dev/stdin"
            | "/dev/stdout"
            | "/dev/stderr"
    )
}

#[cfg(test)]
mod tests {
    use super::{is_on_this_machine, leads_out};

    #[test]
    fn a_path_that_climbs_out_is_noticed() {
        for path in [
            "/etc/passwd",
            "..",
            "a/../../b",
            "./../x",
            "/",
            "/dev/sda",
            "/dev/../etc",
        ] {
            assert!(leads_out(path), "{path}");
        }
        for path in ["a", "./a/../b", "a/b/../..", "/dev/null", "", ".", "..a/b"] {
            assert!(!leads_out(path), "{path}");
        }
    }

    #[test]
    fn a_pattern_that_begins_with_a_slash_is_no_path() {
        assert!(is_on_this_machine("/etc/passwd") && is_on_this_machine("//dev"));
        assert!(!is_on_this_machine("/NR > 1/p") && !is_on_this_machine("/"));
    }
}
