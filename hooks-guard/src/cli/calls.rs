//! Stores the id and the secret of the service's decision when a tool call starts, or the reason of its
//! denial, for the process that reports the end of the call. In: a request and its decision. Out: the
//! stored data, until the call ends or [`CALL_RETENTION`] has passed.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use hooks_guard::PermissionRequest;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// How long a call without a reported end is stored.
const CALL_RETENTION: Duration = Duration::from_secs(24 * 3600);

/// A directory with one file for each unfinished call.
pub(crate) struct CallStore(PathBuf);

/// Stored data of one call.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct StoredCall {
    pub(crate) id: i64,
    pub(crate) secret: String,
}

impl CallStore {
    pub(crate) fn in_folder(folder: PathBuf) -> Self {
        Self(folder)
    }

    /// Stores a call, readable by this user only.
    pub(crate) fn store(&self, request: &PermissionRequest, call: &StoredCall) -> io::Result<()> {
        self.write(&self.path(request), &serde_json::to_vec(call)?)?;
        // Delete expired calls about once in 256 calls.
        if call.id % 256 == 0 {
            self.delete_expired();
        }
        Ok(())
    }

    /// Writes a file atomically.
    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.0)?;
        let made = path.with_extension("new");
        let mut file = fs::OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&made)?;
        file.write_all(bytes)?;
        fs::rename(&made, path)
    }

    /// Stores the reason with which a call was denied, readable by this user only.
    pub(crate) fn store_denial(&self, request: &PermissionRequest, why: &str) -> io::Result<()> {
        self.write(&self.denial(request), why.as_bytes())
    }

    /// Returns and deletes the reason with which a call was denied.
    pub(crate) fn take_denial(&self, request: &PermissionRequest) -> Option<String> {
        let path = self.denial(request);
        let why = fs::read_to_string(&path).ok()?;
        let _ = fs::remove_file(path);
        Some(why)
    }

    fn denial(&self, request: &PermissionRequest) -> PathBuf {
        self.path(request).with_extension("denied")
    }

    /// Returns a stored call.
    pub(crate) fn find(&self, request: &PermissionRequest) -> Option<StoredCall> {
        serde_json::from_slice(&fs::read(self.path(request)).ok()?).ok()
    }

    /// Deletes a stored call.
    pub(crate) fn forget(&self, request: &PermissionRequest) {
        // Most calls have no file.
        let _ = fs::remove_file(self.path(request));
    }

    fn path(&self, request: &PermissionRequest) -> PathBuf {
        let mut hash = Sha256::new();
        for part in [&request.agent, &request.session_id, &request.call_id] {
            hash.update(part.as_deref().unwrap_or(""));
            hash.update([0]);
        }
        self.0.join(hex::encode(hash.finalize()))
    }

    fn delete_expired(&self) {
        let old = |path: &Path| {
            let written = fs::metadata(path).and_then(|file| file.modified());
            written.is_ok_and(|at| {
                SystemTime::now()
                    .duration_since(at)
                    .is_ok_and(|age| age > CALL_RETENTION)
            })
        };
        for entry in fs::read_dir(&self.0).into_iter().flatten().flatten() {
            if old(&entry.path()) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}
