//! Files with tables: a folder in, texts and parsed files out, or a mistake with its place.

use std::path::Path;
use std::{fmt, fs};

use serde::Deserialize;

/// A mistake in a table.
#[derive(Debug)]
pub(crate) struct TableError {
    /// The path of the file in the crate.
    pub(crate) file: String,
    /// Counts from 1; `None` if the mistake is in no single line.
    pub(crate) line: Option<usize>,
    pub(crate) message: String,
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.file, self.message),
            None => write!(f, "{}: {}", self.file, self.message),
        }
    }
}

/// A file with tables.
#[derive(Debug)]
pub(crate) struct Source {
    /// The path of the file in the crate: `programs/git.toml`.
    pub(crate) file: String,
    pub(crate) text: String,
}

/// Reads the files with tables in the folder of the crate, in the order of their names.
pub(crate) fn sources(root: &Path) -> Result<Vec<Source>, TableError> {
    let mut sources = Vec::new();
    for folder in ["languages", "programs", "secrets"] {
        add(root, folder, &mut sources)?;
    }
    sources.sort_by(|a, b| a.file.cmp(&b.file));
    Ok(sources)
}

fn add(root: &Path, folder: &str, sources: &mut Vec<Source>) -> Result<(), TableError> {
    let failed = |error: std::io::Error| TableError {
        file: folder.to_owned(),
        line: None,
        message: error.to_string(),
    };
    for entry in fs::read_dir(root.join(folder)).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
            continue;
        };
        let file = format!("{folder}/{name}");
        if path.is_dir() {
            add(root, &file, sources)?;
        } else if name.ends_with(".toml") {
            let text = fs::read_to_string(&path).map_err(failed)?;
            sources.push(Source { file, text });
        }
    }
    Ok(())
}

/// Parses a file.
pub(crate) fn read<'a, T: Deserialize<'a>>(source: &'a Source) -> Result<T, TableError> {
    toml::from_str(&source.text).map_err(|error| TableError {
        file: source.file.clone(),
        line: error.span().map(|span| line(&source.text, span.start)),
        message: error.message().to_owned(),
    })
}

/// Returns the number of the line of a byte.
pub(crate) fn line(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}
