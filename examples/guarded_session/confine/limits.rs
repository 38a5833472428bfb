//! Resource limits of a call.

use rustix::process::{Resource, Rlimit, setrlimit};
use serde::{Deserialize, Serialize};

use super::{ConfineError, Step};

/// Limits that the kernel enforces. The waiting process enforces time, output and disk use.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(crate) struct Limits {
    /// CPU time of one process, in seconds.
    pub(crate) cpu_seconds: u64,
    /// Processes and threads of the user, including running ones.
    pub(crate) processes: u64,
}

impl Limits {
    const MEMORY_BYTES: u64 = 1 << 30;
    const FILE_BYTES: u64 = 64 << 20;
    const OPEN_FILES: u64 = 256;

    pub(super) fn apply(self) -> Result<(), ConfineError> {
        for (resource, most) in [
            (Resource::Cpu, self.cpu_seconds),
            (Resource::Nproc, self.processes),
            (Resource::As, Self::MEMORY_BYTES),
            (Resource::Fsize, Self::FILE_BYTES),
            (Resource::Nofile, Self::OPEN_FILES),
            (Resource::Core, 0),
            (Resource::Msgqueue, 0),
        ] {
            // Keep lower limits of the user; raising them may be forbidden.
            let most = rustix::process::getrlimit(resource)
                .maximum
                .map_or(most, |now| now.min(most));
            let limit = Rlimit {
                current: Some(most),
                maximum: Some(most),
            };
            setrlimit(resource, limit).step("limit resources")?;
        }
        Ok(())
    }
}
