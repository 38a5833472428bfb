//! Files of rules. In: a path. Out: its bytes, its name, its project.

use std::path::{Path, PathBuf};

use super::error::RulesError;
use crate::files;

/// Upper bound of a rules file's size, in bytes.
pub const MOST_BYTES: usize = 256 << 10;

/// The bytes of a file, with its path; none where there is no file.
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
    let most = MOST_BYTES as u64 + 1;
    file.take(most).read_to_end(&mut text).map_err(failed)?;
    Ok(Some((path.to_owned(), text)))
}

/// The text that bytes are.
pub(super) fn text_of<'t>(text: &'t [u8], name: &str) -> Result<&'t str, RulesError> {
    std::str::from_utf8(text).map_err(|_| RulesError::Encoding {
        name: name.to_owned(),
    })
}

/// What a file is called where one of its rules is named.
pub(super) fn name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

/// The project that a file of rules belongs to.
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
