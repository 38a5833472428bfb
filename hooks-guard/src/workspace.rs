//! Files and variables of this machine. In: the folder of a request. Out: a [`Workspace`] that reads
//! regular files of local file systems, and nothing else.

use std::fs;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use crate::classify::{Answer, Entry, Variable, Workspace};
use crate::files;

/// The folder in which a command runs on this machine, as the process sees it.
#[derive(Clone, Debug)]
pub struct LocalWorkspace {
    folder: PathBuf,
    home: Option<PathBuf>,
    variables: VariableSource,
}

/// Variables with which a command starts.
#[derive(Clone, Debug)]
enum VariableSource {
    Unknown,
    /// Those of this process, read when they are asked for.
    Process,
    Given(Vec<Variable>),
}

impl LocalWorkspace {
    /// Returns the workspace of a folder; `None` if it is not a folder of a local file system.
    #[must_use]
    pub fn new(folder: &Path, home: Option<&Path>) -> Option<Self> {
        let is_folder = folder.is_absolute() && folder.is_dir() && is_local(folder);
        is_folder.then(|| Self {
            folder: folder.to_owned(),
            home: home.map(Path::to_owned),
            variables: VariableSource::Unknown,
        })
    }

    /// Answers with the variables of this process, which the command inherits as well.
    #[must_use]
    pub fn with_own_variables(mut self) -> Self {
        self.variables = VariableSource::Process;
        self
    }

    /// Returns the names of the variables of this process that hold secrets.
    #[cfg(feature = "http")]
    pub(crate) fn own_secret_variables() -> Option<Vec<String>> {
        let secret = own_variables().filter(Variable::is_secret);
        Some(secret.map(|variable| variable.name).collect())
    }

    /// Answers with these variables, which the command inherits.
    #[must_use]
    pub fn with_variables(mut self, variables: impl IntoIterator<Item = (String, String)>) -> Self {
        let variables = variables.into_iter().map(|(name, value)| Variable {
            name,
            value: Some(value),
        });
        self.variables = VariableSource::Given(variables.collect());
        self
    }

    /// Answers with the names of the variables that hold secrets. No other variable is known.
    #[must_use]
    pub fn with_secret_variables(mut self, names: impl IntoIterator<Item = String>) -> Self {
        let secret = |name| Variable { name, value: None };
        self.variables = VariableSource::Given(names.into_iter().map(secret).collect());
        self
    }
}

impl Workspace for LocalWorkspace {
    fn folder(&self) -> Option<String> {
        self.folder.to_str().map(str::to_owned)
    }

    fn home(&self) -> Option<String> {
        self.home.as_ref()?.to_str().map(str::to_owned)
    }

    fn entry(&self, path: &str) -> Answer<Entry> {
        let path = Path::new(path);
        let kind = match fs::symlink_metadata(path) {
            Ok(metadata) => metadata.file_type(),
            Err(error) => return missing(&error),
        };
        Answer::Known(if kind.is_symlink() {
            match fs::canonicalize(path) {
                Ok(target) => match target.to_str() {
                    Some(target) => Entry::Link {
                        target: Some(target.to_owned()),
                    },
                    None => return Answer::Unknown,
                },
                Err(error) if error.kind() == ErrorKind::NotFound => Entry::Link { target: None },
                Err(_) => return Answer::Unknown,
            }
        } else if kind.is_dir() {
            Entry::Folder
        } else if kind.is_file() {
            Entry::File
        } else {
            Entry::Special
        })
    }

    fn text(&self, path: &str, max_bytes: usize) -> Answer<String> {
        let path = Path::new(path);
        let file = match files::open(path) {
            Ok(file) => file,
            Err(error) => return missing(&error),
        };
        if !is_local_file(&file) {
            return Answer::Unknown;
        }
        let mut bytes = Vec::new();
        let limit = u64::try_from(max_bytes).unwrap_or(u64::MAX);
        match file.take(limit.saturating_add(1)).read_to_end(&mut bytes) {
            Ok(_) if bytes.len() <= max_bytes => {
                Answer::Known(String::from_utf8_lossy(&bytes).into_owned())
            }
            Ok(_) | Err(_) => Answer::Unknown,
        }
    }

    fn names(&self, folder: &str, max_names: usize) -> Answer<Vec<String>> {
        let folder = Path::new(folder);
        let entries = match fs::read_dir(folder) {
            Ok(_) if !is_local(folder) => return Answer::Unknown,
            Ok(entries) => entries,
            Err(error) => return missing(&error),
        };
        let mut names = Vec::new();
        for entry in entries {
            let Ok(entry) = entry else {
                return Answer::Unknown;
            };
            if names.len() == max_names {
                return Answer::Unknown;
            }
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
        Answer::Known(names)
    }

    fn variables(&self) -> Answer<Vec<Variable>> {
        match &self.variables {
            VariableSource::Unknown => Answer::Unknown,
            VariableSource::Process => Answer::Known(own_variables().collect()),
            VariableSource::Given(variables) => Answer::Known(variables.clone()),
        }
    }
}

/// Returns the variables of this process.
fn own_variables() -> impl Iterator<Item = Variable> {
    std::env::vars_os().map(|(name, value)| Variable {
        name: name.to_string_lossy().into_owned(),
        value: Some(value.to_string_lossy().into_owned()),
    })
}

fn missing<T>(error: &io::Error) -> Answer<T> {
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => Answer::Absent,
        _ => Answer::Unknown,
    }
}

/// File systems of other machines, and of the kernel: reading them may block or have effects.
#[cfg(target_os = "linux")]
const OTHER_FILE_SYSTEMS: &[u64] = &[
    0x6969,      // NFS
    0x517B,      // SMB
    0xFF53_4D42, // CIFS
    0xFE53_4D42, // SMB 2
    0x5346_414F, // AFS
    0x6B41_4653, // AFS of the kernel
    0x7375_7245, // Coda
    0x00C3_6400, // Ceph
    0x0187,      // automounter
    0x9FA0,      // proc
    0x6265_6572, // sysfs
];

#[cfg(target_os = "linux")]
fn is_local(path: &Path) -> bool {
    rustix::fs::statfs(path).is_ok_and(|system| has_local_type(&system))
}

#[cfg(target_os = "linux")]
fn is_local_file(file: &fs::File) -> bool {
    rustix::fs::fstatfs(file).is_ok_and(|system| has_local_type(&system))
}

#[cfg(target_os = "linux")]
fn has_local_type(system: &rustix::fs::StatFs) -> bool {
    let kind = u64::try_from(system.f_type).unwrap_or_default() & 0xFFFF_FFFF;
    !OTHER_FILE_SYSTEMS.contains(&kind)
}

#[cfg(not(target_os = "linux"))]
fn is_local(_: &Path) -> bool {
    true
}

#[cfg(not(target_os = "linux"))]
fn is_local_file(_: &fs::File) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::LocalWorkspace;
    use crate::classify::{Answer, Entry, Workspace};

    fn workspace() -> (tempfile::TempDir, LocalWorkspace) {
        let folder = tempfile::tempdir().expect("a folder");
        let local = LocalWorkspace::new(folder.path(), None).expect("a local folder");
        (folder, local)
    }

    fn path(folder: &tempfile::TempDir, name: &str) -> String {
        folder.path().join(name).to_str().expect("UTF-8").to_owned()
    }

    #[test]
    fn files_are_read_up_to_the_limit() {
        let (folder, local) = workspace();
        std::fs::write(folder.path().join("a"), "text").expect("written");
        let file = path(&folder, "a");
        assert_eq!(local.text(&file, 4), Answer::Known("text".to_owned()));
        assert_eq!(local.text(&file, 3), Answer::Unknown);
        assert_eq!(local.text(&path(&folder, "b"), 3), Answer::Absent);
        assert_eq!(local.text(&path(&folder, "a/b"), 3), Answer::Absent);
        assert_eq!(
            local.names(&path(&folder, ""), 1),
            Answer::Known(vec!["a".to_owned()])
        );
        std::fs::write(folder.path().join("b"), "").expect("written");
        assert_eq!(local.names(&path(&folder, ""), 1), Answer::Unknown);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn pipes_devices_and_files_of_the_kernel_are_not_opened() {
        let (folder, local) = workspace();
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.expect("mkfifo").success());
        std::os::unix::fs::symlink("/dev/zero", folder.path().join("zero")).expect("a link");
        std::os::unix::fs::symlink("/proc/self/environ", folder.path().join("environ"))
            .expect("a link");
        for name in ["pipe", "zero", "environ"] {
            assert_eq!(
                local.text(&path(&folder, name), 1 << 20),
                Answer::Unknown,
                "{name}"
            );
        }
        assert_eq!(
            local.entry(&path(&folder, "pipe")),
            Answer::Known(Entry::Special)
        );
        let zero = Entry::Link {
            target: Some("/dev/zero".to_owned()),
        };
        assert_eq!(local.entry(&path(&folder, "zero")), Answer::Known(zero));
        assert!(LocalWorkspace::new("/proc".as_ref(), None).is_none());
    }
}
