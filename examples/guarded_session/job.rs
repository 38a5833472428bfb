//! What a confined process does: run a shell, or the work of one of the tools.
//!
//! The tools' paths are resolved by the kernel below the project's folder
//! (`openat2` with `RESOLVE_BENEATH`): an absolute path, a `..` that climbs out
//! and a symbolic link that points out are refused even where nothing confines.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::path::{Component, Path};

use include_dir::{Dir, include_dir};
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, mkdirat, openat2};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::confine::stage::Held;
use crate::self_test::{self, SelfTest};

/// The project that every session starts from.
static PROJECT: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/data/project");

/// The largest file that the tools read, in bytes.
const FILE_LIMIT: u64 = 16 << 20;

/// The shells that a command can be given to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Shell {
    Sh,
    Bash,
}

impl Shell {
    pub(crate) fn program(self) -> &'static str {
        match self {
            Self::Sh => "/bin/sh",
            Self::Bash => "bash",
        }
    }
}

/// One piece of work for a confined process.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) enum Job {
    Shell {
        shell: Shell,
        command: String,
    },
    Read {
        path: String,
    },
    Write {
        path: String,
        text: String,
    },
    Edit {
        path: String,
        old: String,
        new: String,
    },
    /// Fill the scratch copy with the project.
    Unpack,
    /// Try to break out, and tell how that went.
    SelfTest(SelfTest),
}

impl Job {
    /// Does the work in the current folder, the project's, and returns the exit
    /// status; what went wrong is on standard error.
    pub(crate) fn run(self, held: Held) -> u8 {
        let outcome = match self {
            Self::Read { path } => read(&path).and_then(|text| Ok(io::stdout().write_all(&text)?)),
            Self::Write { path, text } => write(&path, text.as_bytes()),
            Self::Edit { path, old, new } => edit(&path, &old, &new),
            Self::Unpack => PROJECT.extract(".").map_err(JobError::Io),
            Self::SelfTest(test) => return self_test::run(&test, held),
            Self::Shell { .. } => Err(JobError::Io(io::ErrorKind::Unsupported.into())),
        };
        match outcome {
            Ok(()) => 0,
            Err(error) => {
                eprintln!("{error}");
                1
            }
        }
    }
}

/// Why a tool could not do its work.
#[derive(Debug, thiserror::Error)]
enum JobError {
    #[error("the path leads out of the project")]
    Outside,
    #[error("no such file")]
    Missing,
    #[error("not a regular file")]
    NotAFile,
    #[error("larger than {} MiB", FILE_LIMIT >> 20)]
    TooLarge,
    #[error("not a text file")]
    NotText,
    #[error("the text to replace does not occur in the file")]
    NoMatch,
    #[error("the text to replace occurs {0} times in the file, not once")]
    Ambiguous(usize),
    #[error("{0}")]
    Io(#[from] io::Error),
}

impl From<Errno> for JobError {
    fn from(error: Errno) -> Self {
        match error {
            // ELOOP: a link of the kind that never leads to a file.
            Errno::XDEV | Errno::LOOP => Self::Outside,
            Errno::NOENT => Self::Missing,
            Errno::ISDIR | Errno::NXIO => Self::NotAFile,
            other => Self::Io(other.into()),
        }
    }
}

fn read(path: &str) -> Result<Vec<u8>, JobError> {
    let mut text = Vec::new();
    let file = open(Path::new(path), OFlags::RDONLY)?;
    file.take(FILE_LIMIT + 1).read_to_end(&mut text)?;
    if text.len() as u64 > FILE_LIMIT {
        Err(JobError::TooLarge)
    } else {
        Ok(text)
    }
}

fn write(path: &str, text: &[u8]) -> Result<(), JobError> {
    let path = Path::new(path);
    make_parents(path)?;
    let mut file = open(path, OFlags::WRONLY | OFlags::CREATE)?;
    file.set_len(0)?;
    Ok(file.write_all(text)?)
}

fn edit(path: &str, old: &str, new: &str) -> Result<(), JobError> {
    let text = String::from_utf8(read(path)?).map_err(|_| JobError::NotText)?;
    match text.matches(old).count() {
        0 => Err(JobError::NoMatch),
        1 => write(path, text.replacen(old, new, 1).as_bytes()),
        more => Err(JobError::Ambiguous(more)),
    }
}

/// Opens a regular file below the current folder.
fn open(path: &Path, flags: OFlags) -> Result<File, JobError> {
    // A named pipe must not make the call wait for its other end.
    let file = File::from(resolve(path, flags | OFlags::NONBLOCK | OFlags::NOCTTY)?);
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(JobError::NotAFile)
    }
}

/// Makes the folders that `path` is to lie in.
fn make_parents(path: &Path) -> Result<(), JobError> {
    let Some(parent) = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty())
    else {
        return Ok(());
    };
    let mut made = std::path::PathBuf::new();
    for part in parent.components() {
        let folder = if made.as_os_str().is_empty() {
            Path::new(".")
        } else {
            &made
        };
        if let Component::Normal(name) = part {
            match mkdirat(
                resolve(folder, OFlags::PATH | OFlags::DIRECTORY)?,
                name,
                Mode::from(0o777),
            ) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
        }
        made.push::<&OsStr>(part.as_ref());
    }
    Ok(())
}

fn resolve(path: &Path, flags: OFlags) -> Result<OwnedFd, JobError> {
    let mode = if flags.contains(OFlags::CREATE) {
        Mode::from(0o666)
    } else {
        Mode::empty()
    };
    let beneath = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    Ok(openat2(CWD, path, flags | OFlags::CLOEXEC, mode, beneath)?)
}
