//! Opens files at paths that an agent controls, without blocking on pipes or reading without a
//! limit.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::path::Path;

use crate::digest;

/// Maximum size of a file to hash, in bytes: larger files are not read on every call.
const HASH_LIMIT: u64 = 256 << 20;

/// Maximum size of a file of rules or intents, in bytes.
const TEXT_LIMIT: u64 = 16 << 20;

/// Opens a regular file; anything else is an error.
pub(crate) fn open(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    // Opening a pipe would block until its other end is opened.
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits() as i32);
    }
    let file = options.open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "it is not a regular file",
        )),
    }
}

/// Returns the content of a file as text.
pub(crate) fn read_text(path: &Path) -> io::Result<String> {
    let file = open(OpenOptions::new().read(true), path)?;
    let mut text = String::new();
    within(TEXT_LIMIT, |limit| {
        let read = file.take(limit).read_to_string(&mut text)?;
        Ok(read as u64)
    })?;
    Ok(text)
}

/// Returns the digest and the size of a file, which is read in pieces.
pub(crate) fn digest(path: &Path) -> io::Result<(digest::Digest, u64)> {
    let file = open(OpenOptions::new().read(true), path)?;
    let (mut found, known) = (digest::Stream::new(), file.metadata()?.len());
    let size = match known {
        0..=HASH_LIMIT => within(HASH_LIMIT, |limit| {
            io::copy(&mut file.take(limit), &mut found)
        })?,
        _ => return Err(too_large(HASH_LIMIT)),
    };
    Ok((found.finish(), size))
}

/// Reads up to one byte more than the limit, which is then an error: a file may grow while it is
/// read.
fn within(limit: u64, read: impl FnOnce(u64) -> io::Result<u64>) -> io::Result<u64> {
    match read(limit + 1)? {
        size if size > limit => Err(too_large(limit)),
        size => Ok(size),
    }
}

fn too_large(limit: u64) -> io::Error {
    let why = format!("it holds more than {} MiB", limit >> 20);
    io::Error::new(io::ErrorKind::FileTooLarge, why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r_28_text_files_over_the_size_limit_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rules");
        let file = File::create(&path).unwrap();
        file.set_len(TEXT_LIMIT).unwrap();
        assert_eq!(read_text(&path).unwrap().len() as u64, TEXT_LIMIT);
        file.set_len(TEXT_LIMIT + 1).unwrap();
        let error = read_text(&path).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
    }

    #[test]
    fn r_27_the_digest_of_a_file_equals_the_digest_of_its_content() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let content = "abc".repeat(100_000);
        std::fs::write(&path, &content).unwrap();
        let (found, size) = digest(&path).unwrap();
        assert!(found == digest::of_bytes(content.as_bytes()));
        assert_eq!(size, 300_000);
        assert!(digest(folder.path()).is_err());
    }
}
