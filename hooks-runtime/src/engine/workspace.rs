//! The folder that the agent works in: resolves paths, reads the ignore file, and hashes files.

use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::error::EngineError;
use super::files;
use crate::digest;

/// The file that lists paths that no intent may change, in the syntax of a `.gitignore`.
pub const IGNORE_FILE: &str = ".intentignore";

/// The folder that the agent works in. Clones share one folder.
///
/// Files are hashed in pieces. A file of more than 256 MiB, and anything but a regular file, is not
/// read: it has no hash, which is an error if a hash is required.
#[derive(Debug, Clone)]
pub struct Workspace {
    root: Arc<Path>,
}

/// Reason for which a path is outside the workspace.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PathRefusal {
    /// It is empty, or contains a character that no path contains.
    #[error("it names no file")]
    Nothing,
    /// It is absolute.
    #[error("it does not begin at the workspace")]
    Absolute,
    /// It contains `..`.
    #[error("it goes up with `..`")]
    Up,
    /// A link in it leads out of the workspace, or nowhere.
    #[error("a link on it leads out of the workspace, or nowhere")]
    Link,
    /// It cannot be examined.
    #[error("what it leads to cannot be found out")]
    Unknown,
}

impl Workspace {
    /// Opens this folder.
    ///
    /// # Errors
    /// If it is not a readable folder.
    pub fn new(root: impl AsRef<Path>) -> Result<Self, EngineError> {
        let unusable = |source| EngineError::Path {
            path: root.as_ref().to_owned(),
            remedy: "name a folder that exists",
            source,
        };
        let found = root.as_ref().canonicalize().map_err(unusable)?;
        if !found.is_dir() {
            return Err(unusable(io::Error::from(io::ErrorKind::NotADirectory)));
        }
        Ok(Workspace { root: found.into() })
    }

    /// Returns the folder, with links resolved.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the target of a path relative to the workspace, with links followed.
    ///
    /// # Errors
    /// If it leads out of the workspace, or might.
    pub fn locate(&self, path: &str) -> Result<String, PathRefusal> {
        let lexical = normal(path)?;
        let mut ahead = self.root.join(&lexical);
        let mut rest = Vec::new();
        // The system resolves the existing part; the rest can contain no links.
        let found = loop {
            match ahead.symlink_metadata() {
                Ok(_) => break ahead.canonicalize().map_err(|_| PathRefusal::Link)?,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    rest.push(ahead.file_name().ok_or(PathRefusal::Nothing)?.to_owned());
                    if !ahead.pop() {
                        return Err(PathRefusal::Unknown);
                    }
                }
                Err(_) => return Err(PathRefusal::Unknown),
            }
        };
        let inside = found
            .strip_prefix(&self.root)
            .map_err(|_| PathRefusal::Link)?;
        let mut inside = inside.to_owned();
        inside.extend(rest.iter().rev());
        slashed(&inside).ok_or(PathRefusal::Unknown)
    }

    /// Returns `true` if the ignore file matches this path, or a folder in it. As in git, a path
    /// below an ignored folder cannot be re-included.
    ///
    /// # Errors
    /// If the ignore file exists and cannot be read, or contains an invalid pattern.
    pub(crate) fn ignores(&self, path: &str) -> io::Result<bool> {
        let Some(file) = self.ignore_file()? else {
            return Ok(false);
        };
        let ends = path.match_indices('/').map(|(end, _)| (end, true));
        let whole = (path.len(), self.is_folder(path));
        let mut ends = ends.chain([whole]);
        Ok(ends.any(|(end, folder)| file.matched(&path[..end], folder).is_ignore()))
    }

    /// Returns `true` if the path is a folder, or a link to one.
    pub(crate) fn is_folder(&self, path: &str) -> bool {
        self.root.join(path).is_dir()
    }

    fn ignore_file(&self) -> io::Result<Option<Gitignore>> {
        let path = self.root.join(IGNORE_FILE);
        let text = match files::read_text(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                // A link exists even if its target does not.
                return match path.symlink_metadata() {
                    Err(gone) if gone.kind() == io::ErrorKind::NotFound => Ok(None),
                    _ => Err(error),
                };
            }
            Err(error) => return Err(error),
        };
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let mut builder = GitignoreBuilder::new("");
        for line in text.lines() {
            builder.add_line(None, line).map_err(io::Error::other)?;
        }
        builder.build().map(Some).map_err(io::Error::other)
    }

    /// Returns the hash of a file, by its path relative to the workspace; `None` if it does not
    /// exist.
    ///
    /// # Errors
    /// If it exists and cannot be read, is not a regular file, or is too large.
    pub(crate) fn hash(&self, path: &str) -> io::Result<Option<(String, u64)>> {
        match files::digest(&self.root.join(path)) {
            Ok((digest, size)) => Ok(Some((spelled(digest), size))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Returns the path without redundant parts, with `/` between its parts, without access to a disk.
pub(crate) fn normal(path: &str) -> Result<String, PathRefusal> {
    if path.is_empty() || path.contains('\0') {
        return Err(PathRefusal::Nothing);
    }
    let mut kept = PathBuf::new();
    for component in Path::new(path).components() {
        match component {
            Component::Normal(part) => kept.push(part),
            Component::CurDir => {}
            // The target depends on links, so it is refused.
            Component::ParentDir => return Err(PathRefusal::Up),
            Component::RootDir | Component::Prefix(_) => return Err(PathRefusal::Absolute),
        }
    }
    match slashed(&kept) {
        Some(path) if !path.is_empty() => Ok(path),
        _ => Err(PathRefusal::Nothing),
    }
}

fn slashed(path: &Path) -> Option<String> {
    let parts: Option<Vec<&str>> = path.iter().map(|part| part.to_str()).collect();
    parts.map(|parts| parts.join("/"))
}

/// Returns the hash by which the engine compares contents: SHA-256, in the form `sha256:…`.
pub fn content_hash(content: impl AsRef<[u8]>) -> String {
    spelled(digest::of_bytes(content.as_ref()))
}

fn spelled(digest: digest::Digest) -> String {
    format!("sha256:{digest}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r_28_absolute_empty_and_parent_paths_are_refused() {
        assert_eq!(normal("./src//a.rs").as_deref(), Ok("src/a.rs"));
        assert_eq!(normal("src/../a"), Err(PathRefusal::Up));
        assert_eq!(normal("/etc/passwd"), Err(PathRefusal::Absolute));
        for nothing in ["", ".", "./", "a\0b"] {
            assert_eq!(normal(nothing), Err(PathRefusal::Nothing), "{nothing:?}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn r_28_links_are_resolved_and_refused_if_they_leave_the_project() {
        use std::os::unix::fs::symlink;

        let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let workspace = Workspace::new(folder.path()).unwrap();
        std::fs::create_dir(folder.path().join("real")).unwrap();
        symlink("real", folder.path().join("inside")).unwrap();
        symlink(elsewhere.path(), folder.path().join("outside")).unwrap();
        symlink(elsewhere.path().join("none"), folder.path().join("nowhere")).unwrap();

        assert_eq!(workspace.locate("new/a.rs").as_deref(), Ok("new/a.rs"));
        assert_eq!(workspace.locate("inside/a/b").as_deref(), Ok("real/a/b"));
        assert_eq!(workspace.locate("outside/a"), Err(PathRefusal::Link));
        assert_eq!(workspace.locate("nowhere"), Err(PathRefusal::Link));
        std::fs::write(folder.path().join("file"), "").unwrap();
        assert_eq!(workspace.locate("file/below"), Err(PathRefusal::Unknown));
    }

    #[test]
    fn r_28_the_ignore_file_uses_gitignore_syntax() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace::new(folder.path()).unwrap();
        assert!(!workspace.ignores("a.key").unwrap());
        let file = folder.path().join(IGNORE_FILE);
        std::fs::write(&file, "# keys\n*.key\n!open.key\n/vault/\n").unwrap();
        for (path, ignored) in [
            ("a/b.key", true),
            ("open.key", false),
            ("vault/new/file", true),
            ("a/vault/file", false),
        ] {
            assert_eq!(workspace.ignores(path).unwrap(), ignored, "{path}");
        }
        for odd in [&b"{a\n"[..], b"\xff\n"] {
            std::fs::write(&file, odd).unwrap();
            assert!(workspace.ignores("x").is_err());
        }
    }

    #[cfg(unix)]
    #[test]
    fn r_27_pipes_and_folders_are_refused_without_blocking() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace::new(folder.path()).unwrap();
        for name in ["pipe", IGNORE_FILE] {
            let made = std::process::Command::new("mkfifo")
                .arg(folder.path().join(name))
                .status();
            assert!(made.unwrap().success());
        }
        std::fs::create_dir(folder.path().join("folder")).unwrap();
        assert!(workspace.hash("pipe").is_err());
        assert!(workspace.hash("folder").is_err());
        assert!(workspace.ignores("x").is_err());
    }

    #[test]
    fn r_27_content_hashes_are_sha_256() {
        assert_eq!(
            content_hash("abc"),
            "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }
}
