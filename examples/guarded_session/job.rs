//! Jobs of a confined process: run a shell, or perform the work of a tool.
//!
//! The kernel resolves paths of the tools below the project's folder (`openat2` with
//! `RESOLVE_BENEATH`). It refuses absolute paths, `..` beyond the folder and symbolic links that
//! lead out, even without confinement.

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

/// Project that every session starts from.
static PROJECT: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/data/project");

/// Maximum size of a file that the tools read, in bytes.
const FILE_LIMIT: u64 = 16 << 20;

/// Shells that can run a command.
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

/// One job of a confined process.
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
    /// Copies the project into the scratch folder.
    Unpack,
    /// Tries to break out, and reports the result.
    SelfTest(SelfTest),
}

impl Job {
    /// Performs the job in the current folder, which is the project, and returns the exit status.
    /// Errors are printed to standard error.
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

/// Reason why a tool failed.
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
            // ELOOP: a magic link, which does not lead to a file.
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
    // Opening a named pipe must not wait for its other end.
    let file = File::from(resolve(path, flags | OFlags::NONBLOCK | OFlags::NOCTTY)?);
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(JobError::NotAFile)
    }
}

/// Creates the parent folders of `path`.
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
