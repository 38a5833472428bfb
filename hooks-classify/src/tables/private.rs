//! Private folders: a path with unknown parts in, `true` out if one of its files may be a secret. Private
//! folders are the home, its hidden folders and some folders of the system.

use super::glob::{is_wildcard_or_unknown, matches, shell_glob_matches};
use crate::model::arg::UNKNOWN;

/// Folders that may contain secrets, and the exceptions.
#[derive(Debug)]
pub(super) struct PrivateFolders {
    pub(super) folders: &'static [FolderPattern],
    /// Folders within `folders` that contain no secrets.
    pub(super) open: &'static [FolderPattern],
    /// Names of source texts.
    pub(super) sources: &'static [&'static str],
    /// Names of files that no folder has.
    pub(super) files: &'static [&'static str],
    /// Folders of a home.
    pub(super) home: &'static [&'static str],
    /// Variables with the folder or file that they name.
    pub(super) variables: &'static [(&'static str, &'static str)],
}

/// A folder of the table: `~/.*/**`.
#[derive(Debug)]
pub(super) struct FolderPattern {
    pub(super) root: PathRoot,
    pub(super) parts: &'static [&'static str],
    /// `true` if the pattern includes everything below the folder.
    pub(super) below: bool,
}

/// Where a path begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PathRoot {
    Home,
    System,
    /// The current folder, or an unknown folder.
    Relative,
}

impl PrivateFolders {
    pub(super) fn path_of_variable(&self, name: &str) -> Option<&'static str> {
        let known = self.variables.iter().find(|(known, _)| *known == name);
        known.map(|(_, place)| *place)
    }

    /// Returns `true` if a file somewhere below a folder may be a secret.
    pub(super) fn may_hold_secret(&self, folder: &str) -> bool {
        let (root, parts) = split_path(folder);
        self.may_be_private(root, &parts)
    }

    /// Returns `true` if a path may be a folder below which a file may be a secret.
    pub(super) fn may_be_private_folder(&self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        let is_file = !name.contains(is_wildcard_or_unknown)
            && self.files.iter().any(|file| matches(file, name));
        !is_file && self.may_hold_secret(path)
    }

    /// Returns `true` if a file that a path with wildcards or unknown parts fits may be a secret.
    pub(super) fn may_be_private_file(&self, path: &str) -> bool {
        let (mut root, mut parts) = split_path(path);
        let mut has_open_part = parts
            .iter()
            .any(|part| part.contains(is_wildcard_or_unknown));
        // `$x/.config/app/key`: the unknown folder may be a home.
        if root == PathRoot::Relative
            && let [first, folder, ..] = parts.as_slice()
            && first.contains(UNKNOWN)
            && self.home.contains(&folder.as_str())
        {
            parts.remove(0);
            (root, has_open_part) = (PathRoot::Home, true);
        }
        let Some((last, above)) = parts.split_last() else {
            return false;
        };
        if !has_open_part
            || self.open.iter().any(|one| one.always_matches(root, &parts))
            || !self.may_be_private(root, above)
            || self.is_source(last)
        {
            return false;
        }
        match root {
            // Secrets of the system are known by their names; enough of another name excludes them.
            PathRoot::System => {
                let known = last.chars().filter(|c| c.is_alphanumeric()).count();
                last.contains(is_wildcard_or_unknown) && known < 3
            }
            _ => true,
        }
    }

    /// Returns `true` if files of this name, which may be a pattern, contain source text.
    pub(super) fn is_source(&self, name: &str) -> bool {
        self.sources
            .iter()
            .any(|source| match name.contains(is_wildcard_or_unknown) {
                // The end of the name has to be known.
                true => source
                    .strip_prefix('*')
                    .is_some_and(|end| name.ends_with(end)),
                false => matches(source, name),
            })
    }

    fn may_be_private(&self, root: PathRoot, parts: &[String]) -> bool {
        self.folders.iter().any(|one| one.may_match(root, parts))
            && !self.open.iter().any(|one| one.always_matches(root, parts))
    }
}

impl FolderPattern {
    /// Returns `true` if a path may be this folder or inside it.
    fn may_match(&self, root: PathRoot, parts: &[String]) -> bool {
        let part_matches = |(part, pattern): (&String, &&str)| shell_glob_matches(part, pattern);
        self.has_depth_of(root, parts) && parts.iter().zip(self.parts).all(part_matches)
    }

    /// Returns `true` if a path is inside this folder, or is the folder, for every value of its
    /// unknown parts.
    fn always_matches(&self, root: PathRoot, parts: &[String]) -> bool {
        let fit = |(part, pattern): (&String, &&str)| {
            *pattern == "*" || !part.contains(is_wildcard_or_unknown) && matches(pattern, part)
        };
        self.has_depth_of(root, parts) && parts.iter().zip(self.parts).all(fit)
    }

    fn has_depth_of(&self, root: PathRoot, parts: &[String]) -> bool {
        let (length, own) = (parts.len(), self.parts.len());
        root == self.root && (length == own || self.below && length > own)
    }
}

/// Returns where a path begins, and its parts. Each user's home is home.
fn split_path(path: &str) -> (PathRoot, Vec<String>) {
    let home = ["$HOME", "${HOME}"]
        .iter()
        .find_map(|name| path.strip_prefix(name))
        .filter(|rest| rest.is_empty() || rest.starts_with('/'));
    let (mut root, rest) = match (home, path.strip_prefix('~')) {
        (Some(rest), _) => (PathRoot::Home, rest),
        // `~ada/x`
        (None, Some(rest)) => (PathRoot::Home, rest.find('/').map_or("", |at| &rest[at..])),
        (None, None) if path.starts_with('/') => (PathRoot::System, path),
        (None, None) => (PathRoot::Relative, path),
    };
    let mut parts: Vec<String> = Vec::new();
    for part in rest.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.is_empty() && root == PathRoot::Home => {
                (root, parts) = (PathRoot::System, vec!["home".to_owned()]);
            }
            ".." if root == PathRoot::Relative && parts.last().is_none_or(|last| last == "..") => {
                parts.push(part.to_owned());
            }
            ".." => drop(parts.pop()),
            part => parts.push(part.to_owned()),
        }
        if root == PathRoot::System
            && let Some(new) = canonical_folder(&parts)
        {
            (root, parts) = new;
        }
    }
    (root, parts)
}

/// Returns the other name of a folder of the system: a home, the root, a folder of macOS.
fn canonical_folder(parts: &[String]) -> Option<(PathRoot, Vec<String>)> {
    let names: Vec<&str> = parts.iter().map(String::as_str).collect();
    match names.as_slice() {
        ["home" | "Users", _] | ["root"] | ["var", "root"] => Some((PathRoot::Home, Vec::new())),
        ["proc", _, "root"] | ["private"] => Some((PathRoot::System, Vec::new())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::UNKNOWN;
    use crate::tables::Tables;

    #[test]
    fn home_and_its_hidden_folders_may_hold_secrets() {
        let tables = Tables::embedded();
        for folder in [
            "~",
            "~/",
            "~/.",
            "~ada",
            "$HOME",
            "${HOME}/.config",
            "~/.config/app",
            "~/projects/../.config",
            "~/..",
            "/home",
            "/home/ada",
            "/home/*/.config",
            concat!("/Users", "/ada/Library/Mail"),
            "/root",
            "/proc/self/root/home/ada",
            "/",
            "//",
            "/etc",
            "/private/etc",
            "/var/lib/app",
            "/proc",
            "/proc/1",
            "/run/user/1000",
            "~/.c*/app",
        ] {
            assert!(tables.may_read_secrets_below(folder), "{folder}");
        }
        for folder in [
            "src",
            ".",
            ".config",
            "~/projects/app",
            concat!("/home", "/ada/app"),
            "/srv/app",
            "/usr/include",
            "/tmp/x",
            "~/.cargo/registry/src",
            concat!("/home", "/ada/.cargo/registry"),
            "~/.rustup/toolchains",
            "/proc/sys/net",
            "/var/log/app",
        ] {
            assert!(!tables.may_read_secrets_below(folder), "{folder}");
        }
    }

    #[test]
    fn patterns_in_private_folders_may_match_secrets() {
        let tables = Tables::embedded();
        let unknown = format!("~/.config/{UNKNOWN}/settings");
        let home = format!("{UNKNOWN}/.config/app/settings");
        for path in [
            home.as_str(),
            "~/.config/*/settings",
            "~/.c*/app/t*",
            "~/*",
            "~/.config/app/*",
            "/home/*/.config/app/x?",
            "/etc/*",
            "/proc/1/*",
            unknown.as_str(),
        ] {
            assert!(tables.may_be_private_file(path), "{path}");
        }
        let source = format!("{UNKNOWN}/.config/app/main.rs");
        let project = format!("{UNKNOWN}/.github/workflows/ci.yml");
        for path in [
            source.as_str(),
            project.as_str(),
            "~/.config/app/settings",
            "src/*",
            "~/projects/*/config",
            "/etc/*release",
            "/proc/*/status",
            "~/.config/nvim/lua/*.lua",
            "~/.cargo/registry/src/*/serde-1*/Cargo.toml",
            "/sys/class/*/address",
        ] {
            assert!(!tables.may_be_private_file(path), "{path}");
        }
    }
}
