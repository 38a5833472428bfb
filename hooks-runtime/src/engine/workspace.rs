//! The folder that the agent works in: where a path leads, what may not be changed in it, and
//! what its files hold.

use std::fs::OpenOptions;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::error::EngineError;
use crate::digest;

/// The file that names what no intent may change, in the syntax of a `.gitignore`.
pub const IGNORE_FILE: &str = ".intentignore";

/// The folder that the agent works in. A clone is the same.
#[derive(Debug, Clone)]
pub struct Workspace {
    root: Arc<Path>,
}

/// Why a path is not one of the workspace's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PathRefusal {
    /// It is empty, or holds a character that no path holds.
    #[error("it names no file")]
    Nothing,
    /// It begins at the root of a file system.
    #[error("it does not begin at the workspace")]
    Absolute,
    /// It goes up.
    #[error("it goes up with `..`")]
    Up,
    /// A link on it leads out of the workspace, or nowhere.
    #[error("a link on it leads out of the workspace, or nowhere")]
    Link,
    /// What is there cannot be found out.
    #[error("what it leads to cannot be found out")]
    Unknown,
}

impl Workspace {
    /// This folder.
    ///
    /// # Errors
    /// If it is no folder that can be read.
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

    /// The folder, without links.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where a path really leads, from the workspace on, with links followed.
    ///
    /// # Errors
    /// If it leads out of the workspace, or might.
    pub fn locate(&self, path: &str) -> Result<String, PathRefusal> {
        let lexical = normal(path)?;
        let mut ahead = self.root.join(&lexical);
        let mut rest = Vec::new();
        // The part that exists is followed by the system, the rest can hold no links.
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

    /// Whether the ignore file names this path, or a folder on it.
    ///
    /// # Errors
    /// If it is there and cannot be read, or holds what is no pattern.
    pub(crate) fn ignores(&self, path: &str) -> io::Result<bool> {
        Ok(self.ignore_file()?.is_some_and(|file| {
            let folder = self.root.join(path).is_dir();
            file.matched_path_or_any_parents(path, folder).is_ignore()
        }))
    }

    fn ignore_file(&self) -> io::Result<Option<Gitignore>> {
        let text = match read_file(&self.root.join(IGNORE_FILE)) {
            Ok(bytes) => String::from_utf8(bytes).map_err(io::Error::other)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut builder = GitignoreBuilder::new("");
        for line in text.lines() {
            builder.add_line(None, line).map_err(io::Error::other)?;
        }
        builder.build().map(Some).map_err(io::Error::other)
    }

    /// The hash of what a file holds, from the workspace on; `None` if there is none.
    ///
    /// # Errors
    /// If it is there and cannot be read.
    pub(crate) fn hash(&self, path: &str) -> io::Result<Option<(String, u64)>> {
        match read_file(&self.root.join(path)) {
            Ok(content) => Ok(Some((content_hash(&content), content.len() as u64))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// What a regular file holds. A named pipe in its place, which an agent can make, would keep
/// its reader waiting for ever, and so is an error.
fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt;

        let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
        options.custom_flags(flags.bits() as i32);
    }
    let mut file = options.open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    let mut content = Vec::new();
    file.read_to_end(&mut content)?;
    Ok(content)
}

/// The path without what means nothing, with `/` between its parts; as far as it can be told
/// without looking at a disk.
pub(crate) fn normal(path: &str) -> Result<String, PathRefusal> {
    if path.is_empty() || path.contains('\0') {
        return Err(PathRefusal::Nothing);
    }
    let mut kept = PathBuf::new();
    for component in Path::new(path).components() {
        match component {
            Component::Normal(part) => kept.push(part),
            Component::CurDir => {}
            // Where it leads depends on links, so it is not worked out but refused.
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

/// The hash by which the engine compares contents: SHA-256, in the form `sha256:…`.
pub fn content_hash(content: impl AsRef<[u8]>) -> String {
    format!("sha256:{}", digest::of_bytes(content.as_ref()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r_28_a_path_is_refused_that_goes_up_or_begins_elsewhere() {
        assert_eq!(normal("./src//a.rs").as_deref(), Ok("src/a.rs"));
        assert_eq!(normal("src/../a"), Err(PathRefusal::Up));
        assert_eq!(normal("/etc/passwd"), Err(PathRefusal::Absolute));
        for nothing in ["", ".", "./", "a\0b"] {
            assert_eq!(normal(nothing), Err(PathRefusal::Nothing), "{nothing:?}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn r_28_a_link_is_followed_to_where_it_leads() {
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
    fn r_28_the_ignore_file_has_the_syntax_of_git() {
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
    fn r_27_what_is_no_regular_file_is_not_waited_for() {
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
    fn r_27_hashes_are_those_of_sha_256() {
        assert_eq!(
            content_hash("abc"),
            "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }
}
