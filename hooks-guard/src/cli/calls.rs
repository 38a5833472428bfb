//! What a call of a tool leaves for its end, which another process sees: the number of the
//! service's decision, and its secret.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use hooks_guard::PermissionRequest;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// How long a call that has no end is kept.
const KEPT: Duration = Duration::from_secs(24 * 3600);

/// A folder with a file for each call that has not ended.
pub(crate) struct Calls(PathBuf);

/// What is kept of a call.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Call {
    pub(crate) id: i64,
    pub(crate) secret: String,
}

impl Calls {
    pub(crate) fn in_folder(folder: PathBuf) -> Self {
        Self(folder)
    }

    /// Keeps a call, for this user alone.
    pub(crate) fn keep(&self, request: &PermissionRequest, call: &Call) -> io::Result<()> {
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.0)?;
        let path = self.path(request);
        let made = path.with_extension("new");
        let mut file = fs::OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&made)?;
        file.write_all(&serde_json::to_vec(call)?)?;
        fs::rename(&made, &path)?;
        // Every so often what nobody will ask for goes.
        if call.id % 256 == 0 {
            self.sweep();
        }
        Ok(())
    }

    /// A call that is kept.
    pub(crate) fn find(&self, request: &PermissionRequest) -> Option<Call> {
        serde_json::from_slice(&fs::read(self.path(request)).ok()?).ok()
    }

    /// Keeps a call no longer.
    pub(crate) fn forget(&self, request: &PermissionRequest) {
        // Most are not there.
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

    fn sweep(&self) {
        let old = |path: &Path| {
            let written = fs::metadata(path).and_then(|file| file.modified());
            written.is_ok_and(|at| {
                SystemTime::now()
                    .duration_since(at)
                    .is_ok_and(|age| age > KEPT)
            })
        };
        for entry in fs::read_dir(&self.0).into_iter().flatten().flatten() {
            if old(&entry.path()) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}
