//! Reads rules files. In: a path. Out: the file's bytes, displayed name and project.

use std::path::{Path, PathBuf};

use super::error::RulesError;
use crate::files;

/// Maximum size of a rules file, in bytes.
pub const MAX_FILE_BYTES: usize = 256 << 10;

/// Returns the bytes of a file with its path, or `None` if it does not exist.
pub(super) fn read(path: &Path) -> Result<Option<(PathBuf, Vec<u8>)>, RulesError> {
    use std::io::Read as _;
    let failed = |source| RulesError::Read {
        path: path.to_owned(),
        source,
    };
    let file = match files::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    let mut text = Vec::new();
    let most = MAX_FILE_BYTES as u64 + 1;
    file.take(most).read_to_end(&mut text).map_err(failed)?;
    Ok(Some((path.to_owned(), text)))
}

/// Decodes the bytes of a file.
pub(super) fn text_of<'t>(text: &'t [u8], name: &str) -> Result<&'t str, RulesError> {
    std::str::from_utf8(text).map_err(|_| RulesError::Encoding {
        name: name.to_owned(),
    })
}

/// Returns the displayed name of a file, used in the names of its rules.
pub(super) fn name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

/// Returns the project that a rules file belongs to.
pub(super) fn project_of(file: &Path) -> PathBuf {
    let folder = match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    };
    let folder = std::path::absolute(&folder).unwrap_or(folder);
    match (folder.file_name(), folder.parent()) {
        (Some(name), Some(above)) if name == ".hooks-guard" => above.to_owned(),
        _ => folder,
    }
}
