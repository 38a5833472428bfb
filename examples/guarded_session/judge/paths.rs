//! Which paths lie in the project.

/// Whether `path`, taken from the project's folder, leads out of it. Links are
/// not followed; the confinement sees to those.
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

/// Whether `path` lies in git's own folder.
pub(crate) fn is_git_internal(path: &str) -> bool {
    path.split('/').any(|part| part == ".git")
}

/// Whether `path` is known to hold credentials.
pub(crate) fn holds_credentials(path: &str) -> bool {
    let folders = [".ssh", ".aws", ".gnupg", ".kube", ".docker"];
    let files = [
        ".env",
        ".netrc",
        ".npmrc",
        ".pypirc",
        ".pgpass",
        ".git-credentials",
        "id_rsa",
        "id_ecdsa",
        "id_ed25519",
        "shadow",
        "credentials",
    ];
    let name = path.rsplit('/').next().unwrap_or(path);
    path.split('/').any(|part| folders.contains(&part))
        || files.contains(&name)
        || name.starts_with(".env.")
        || name.ends_with(".pem")
        || name.ends_with(".key")
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
    use super::{holds_credentials, leads_out};

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
    fn credentials_are_known_by_their_names() {
        for path in [
            ".env",
            "a/.env",
            ".env.local",
            "x/.ssh/config",
            "server.pem",
            "/etc/shadow",
        ] {
            assert!(holds_credentials(path), "{path}");
        }
        for path in ["env", "src/environment.sh", "keys.txt", "a.envelope"] {
            assert!(!holds_credentials(path), "{path}");
        }
    }
}
