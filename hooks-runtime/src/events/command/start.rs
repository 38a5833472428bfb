//! Reasons for which the system cannot start a program.
//!
//! The system returns one error for a missing program, a missing working folder and a missing
//! interpreter. The files that it reads determine the reason.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::display::escape;

/// A program, and what determines its file.
pub(crate) struct ProgramFile<'a> {
    pub(crate) program: &'a OsStr,
    pub(crate) folder: Option<&'a Path>,
    /// The program's variable `PATH`.
    pub(crate) search_path: Option<OsString>,
}

/// Reason for which a program cannot be started, and its remedy.
#[derive(Debug, thiserror::Error)]
enum StartProblem {
    #[error("its working folder `{0}` does not exist; create it, or change `current_dir`")]
    MissingFolder(String),
    #[error("its working folder `{0}` is not a folder; change `current_dir`")]
    FolderIsFile(String),
    #[error("its working folder `{0}` cannot be entered; check the folder's permissions")]
    ClosedFolder(String),
    #[error(
        "no folder in `PATH` has a program of this name; install it, set `PATH`, or give its path"
    )]
    NotInPath,
    #[error(
        "its path is relative to the working folder `{0}`, which has no such file; give an absolute path"
    )]
    NotInFolder(String),
    #[error("`{0}` is a link to a file that does not exist; restore the file, or change the link")]
    BrokenLink(String),
    #[error("`{0}` is a folder; give the path of a program")]
    ProgramIsFolder(String),
    #[error("`{0}` is not executable; run `chmod +x` with it, or start its interpreter")]
    NotExecutable(String),
    #[error("`{0}` is empty; write the program into it")]
    Empty(String),
    #[error(
        "the first line of `{file}`, `{line}`, ends with a carriage return; save the file with Unix line ends"
    )]
    CarriageReturn { file: String, line: String },
    #[error("a byte order mark precedes `#!` in `{0}`; save the file without a byte order mark")]
    ByteOrderMark(String),
    #[error(
        "`{interpreter}`, the interpreter in the first line of `{file}`, does not exist; install it, or change the line"
    )]
    MissingInterpreter { file: String, interpreter: String },
    #[error(
        "`{interpreter}`, the interpreter in the first line of `{file}`, cannot be executed; change the line, or check the interpreter's permissions"
    )]
    ClosedInterpreter { file: String, interpreter: String },
    #[error(
        "`{0}` is a script without an interpreter; write a first line such as `#!/bin/sh`, or start its interpreter"
    )]
    NoInterpreter(String),
    #[error("the loader that `{0}` needs does not exist; install a program for this system")]
    MissingLoader(String),
    #[error("`{0}` is a program for another system; install a program for this system")]
    ForeignFormat(String),
}

/// An error of the system, with the reason for it.
#[derive(Debug, thiserror::Error)]
#[error("{problem}")]
struct ExplainedError {
    problem: StartProblem,
    source: io::Error,
}

/// Maximum length of a first line that is read.
const MAX_LINE_BYTES: u64 = 4096;

impl ProgramFile<'_> {
    /// Returns the error with its reason, if the reason can be found. The error keeps its kind, and
    /// has the error of the system as its source.
    pub(crate) fn explain(&self, error: io::Error) -> io::Error {
        match self.problem(&error) {
            Some(problem) => io::Error::new(
                error.kind(),
                ExplainedError {
                    problem,
                    source: error,
                },
            ),
            None => error,
        }
    }

    /// Returns a sentence for a script whose first line ends with a carriage return.
    pub(crate) fn carriage_return(&self) -> Option<String> {
        let file = self.find()?;
        let line = first_line(&file)?;
        let problem = carriage_return(&shown(&file), &line)?;
        Some(problem.to_string())
    }

    fn problem(&self, error: &io::Error) -> Option<StartProblem> {
        let is_of_files = matches!(
            error.kind(),
            io::ErrorKind::NotFound
                | io::ErrorKind::PermissionDenied
                | io::ErrorKind::NotADirectory
                | io::ErrorKind::IsADirectory
        );
        let is_format = is_format_error(error);
        if !is_of_files && !is_format {
            return None;
        }
        if let Some(problem) = self.folder.and_then(folder_problem) {
            return Some(problem);
        }
        let Some(file) = self.find() else {
            return self.missing();
        };
        let name = shown(&file);
        let metadata = fs::metadata(&file).ok()?;
        if metadata.is_dir() {
            return Some(StartProblem::ProgramIsFolder(name));
        }
        if !is_executable(&metadata) {
            return Some(StartProblem::NotExecutable(name));
        }
        if is_format && metadata.len() == 0 {
            return Some(StartProblem::Empty(name));
        }
        let line = first_line(&file)?;
        if let Some(interpreter) = interpreter(&line) {
            return carriage_return(&name, &line)
                .or_else(|| self.interpreter_problem(name, interpreter));
        }
        match (line.starts_with(b"\x7fELF"), is_format) {
            (true, false) => Some(StartProblem::MissingLoader(name)),
            (false, false) => None,
            _ if line.starts_with("\u{feff}#!".as_bytes()) => {
                Some(StartProblem::ByteOrderMark(name))
            }
            _ if line.contains(&0) || line.starts_with(b"\x7fELF") => {
                Some(StartProblem::ForeignFormat(name))
            }
            _ => Some(StartProblem::NoInterpreter(name)),
        }
    }

    /// Returns the reason for which the program has no file.
    fn missing(&self) -> Option<StartProblem> {
        if !self.has_path() {
            return Some(StartProblem::NotInPath);
        }
        let path = self.below_folder(Path::new(self.program));
        if fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_symlink()) {
            return Some(StartProblem::BrokenLink(shown(&path)));
        }
        let folder = self.folder?;
        let is_relative = Path::new(self.program).is_relative();
        is_relative.then(|| StartProblem::NotInFolder(shown(folder)))
    }

    fn interpreter_problem(&self, file: String, interpreter: &[u8]) -> Option<StartProblem> {
        let name = String::from_utf8_lossy(interpreter).into_owned();
        let path = self.below_folder(Path::new(&name));
        let interpreter = escape(&name);
        match fs::metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Some(StartProblem::MissingInterpreter { file, interpreter })
            }
            Ok(metadata) if metadata.is_file() && is_executable(&metadata) => None,
            _ => Some(StartProblem::ClosedInterpreter { file, interpreter }),
        }
    }

    /// Returns the file that the system looks up, if it exists.
    fn find(&self) -> Option<PathBuf> {
        if self.has_path() {
            let path = self.below_folder(Path::new(self.program));
            return path.exists().then_some(path);
        }
        // The default of the system.
        let search = self.search_path.clone();
        let search = search.unwrap_or_else(|| OsString::from("/bin:/usr/bin"));
        let files: Vec<_> = env::split_paths(&search)
            .map(|folder| self.below_folder(&folder).join(self.program))
            .filter(|file| file.exists())
            .collect();
        // The system prefers executable files.
        let is_program = |file: &&PathBuf| {
            fs::metadata(file).is_ok_and(|metadata| metadata.is_file() && is_executable(&metadata))
        };
        files.iter().find(is_program).or(files.first()).cloned()
    }

    /// Returns `true` if the program is a path, and not looked up in `PATH`.
    fn has_path(&self) -> bool {
        Path::new(self.program).components().count() > 1
            || self.program.as_encoded_bytes().contains(&b'/')
    }

    fn below_folder(&self, path: &Path) -> PathBuf {
        match self.folder {
            Some(folder) => folder.join(path),
            None => path.to_owned(),
        }
    }
}

fn folder_problem(folder: &Path) -> Option<StartProblem> {
    let name = shown(folder);
    match fs::metadata(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Some(StartProblem::MissingFolder(name))
        }
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            Some(StartProblem::FolderIsFile(name))
        }
        Err(_) => Some(StartProblem::ClosedFolder(name)),
        Ok(metadata) if !metadata.is_dir() => Some(StartProblem::FolderIsFile(name)),
        // Needs the permission to enter the folder, as a start in it does.
        Ok(_) if fs::metadata(folder.join(".")).is_err() => Some(StartProblem::ClosedFolder(name)),
        Ok(_) => None,
    }
}

/// Returns the first line of a file without its line feed.
fn first_line(file: &Path) -> Option<Vec<u8>> {
    // Opening another kind of file may block.
    if !fs::metadata(file).ok()?.is_file() {
        return None;
    }
    let mut text = Vec::new();
    let mut start = File::open(file).ok()?.take(MAX_LINE_BYTES);
    start.read_to_end(&mut text).ok()?;
    if let Some(end) = text.iter().position(|byte| *byte == b'\n') {
        text.truncate(end);
    }
    Some(text)
}

/// Returns the interpreter that a first line names.
fn interpreter(line: &[u8]) -> Option<&[u8]> {
    let line = line.strip_prefix(b"#!")?.trim_ascii_start();
    line.split(|byte| matches!(byte, b' ' | b'\t')).next()
}

fn carriage_return(file: &str, line: &[u8]) -> Option<StartProblem> {
    interpreter(line)?;
    line.ends_with(b"\r").then(|| StartProblem::CarriageReturn {
        file: file.to_owned(),
        line: escape(&String::from_utf8_lossy(line)),
    })
}

fn shown(path: &Path) -> String {
    escape(&path.to_string_lossy())
}

/// Returns `true` if the system does not recognise the format of the program.
#[cfg(unix)]
fn is_format_error(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::NOEXEC.raw_os_error())
}

#[cfg(not(unix))]
fn is_format_error(_: &io::Error) -> bool {
    false
}

#[cfg(unix)]
fn is_executable(metadata: &Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;

    metadata.permissions().mode() & 0o111 != 0
}

#[cfg(not(unix))]
fn is_executable(_: &Metadata) -> bool {
    true
}
