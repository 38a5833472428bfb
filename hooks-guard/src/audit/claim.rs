//! The claim of a service on a trail in a file. Takes the address of the trail and a description of
//! the service; returns the claim, or an error that names the other service.

use std::fs::{self, File, TryLockError};
use std::io::{Read, Seek, Write};

use super::address::TrailAddress;
use super::error::AuditError;
use crate::files::{open_lock, with_end};

/// Maximum length of the description of a service, in bytes.
const MAX_HOLDER_BYTES: u64 = 512;

/// The claim of a service on a trail. Two services on one file would answer the same questions, each
/// with its own operator.
///
/// The claim ends when it is dropped and when its process ends, also if the process is killed. Trails
/// in PostgreSQL and in memory need no claim: several instances share a database server, and no other
/// process has a trail in memory.
#[derive(Debug)]
pub struct ServiceClaim {
    _file: Option<File>,
}

impl ServiceClaim {
    /// Claims the trail at an address. `holder` describes the service to others, such as by its
    /// process id and its address.
    ///
    /// # Errors
    ///
    /// Returns [`AuditError::Claimed`] if another service has claimed the trail, and
    /// [`AuditError::Create`] if the file of the claim cannot be written.
    pub fn take(url: &str, holder: &str) -> Result<Self, AuditError> {
        let Some(TrailAddress::File(trail)) = TrailAddress::read(url) else {
            return Ok(Self { _file: None });
        };
        // By another path, the file is the same.
        let resolved = fs::canonicalize(trail).unwrap_or_else(|_| trail.to_owned());
        let path = with_end(&resolved, "-service");
        let failed = |source| AuditError::Create {
            path: path.display().to_string(),
            source: std::sync::Arc::new(source),
        };
        let mut file = open_lock(&path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(AuditError::Claimed {
                    path: trail.display().to_string(),
                    holder: description(&file),
                });
            }
            // A file system without locks.
            Err(TryLockError::Error(_)) => return Ok(Self { _file: None }),
        }
        file.set_len(0).map_err(failed)?;
        file.rewind().map_err(failed)?;
        file.write_all(holder.as_bytes()).map_err(failed)?;
        Ok(Self { _file: Some(file) })
    }
}

/// Returns the description of the service that has claimed a trail.
fn description(file: &File) -> String {
    let mut text = Vec::new();
    let read = file.take(MAX_HOLDER_BYTES).read_to_end(&mut text);
    let text = String::from_utf8_lossy(&text);
    let is_shown = |c: &char| !c.is_control();
    match text.chars().filter(is_shown).collect::<String>() {
        text if read.is_ok() && !text.is_empty() => text,
        _ => "which has not written its address yet".to_owned(),
    }
}
