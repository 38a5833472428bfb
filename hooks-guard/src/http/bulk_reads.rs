//! Limits bulk reads. Takes a read that is about to start; returns its permit, or the error that
//! the service is busy.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::error::ApiError;

/// Maximum number of concurrent bulk reads by clients other than the operator: half of the SQLite
/// connections for readers.
pub(super) const MAX_BULK_READS: usize = 3;

/// Maximum number of waiting bulk reads.
pub(super) const MAX_WAITING_READS: usize = 64;

/// Timeout for the permit of a bulk read.
pub(super) const PERMIT_TIMEOUT: Duration = Duration::from_secs(5);

/// Maximum number of complete responses in memory; further responses are sent in parts, or refused.
pub(super) const MAX_WHOLE_RESPONSES: usize = 32;

/// Maximum number of complete responses to clients with a proof. Their responses are never sent in
/// parts, which could not be signed.
pub(super) const MAX_PROVED_RESPONSES: usize = 16;

/// Maximum number of concurrent exports by clients other than the operator.
pub(super) const MAX_EXPORTS: usize = 16;

/// Permits of bulk reads.
#[derive(Debug)]
pub(crate) struct BulkReads {
    pub(super) turns: Arc<Semaphore>,
    pub(super) exports: Arc<Semaphore>,
    pub(super) whole: Arc<Semaphore>,
    pub(super) proved: Arc<Semaphore>,
    waiting: AtomicUsize,
}

impl Default for BulkReads {
    fn default() -> Self {
        Self {
            turns: Arc::new(Semaphore::new(MAX_BULK_READS)),
            exports: Arc::new(Semaphore::new(MAX_EXPORTS)),
            whole: Arc::new(Semaphore::new(MAX_WHOLE_RESPONSES)),
            proved: Arc::new(Semaphore::new(MAX_PROVED_RESPONSES)),
            waiting: AtomicUsize::new(0),
        }
    }
}

/// Counts a waiting read.
pub(super) struct WaitingRead<'a>(&'a AtomicUsize);

impl Drop for WaitingRead<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Permit of a bulk read; `None` for the operator, who needs none.
pub(crate) type BulkReadPermit = Option<OwnedSemaphorePermit>;

impl BulkReads {
    pub(super) async fn turn(&self) -> Result<OwnedSemaphorePermit, ApiError> {
        if let Ok(turn) = Arc::clone(&self.turns).try_acquire_owned() {
            return Ok(turn);
        }
        if self.waiting.fetch_add(1, Ordering::Relaxed) >= MAX_WAITING_READS {
            self.waiting.fetch_sub(1, Ordering::Relaxed);
            return Err(ApiError::busy());
        }
        let _waiting = WaitingRead(&self.waiting);
        let turn = timeout(PERMIT_TIMEOUT, Arc::clone(&self.turns).acquire_owned()).await;
        // The semaphore is never closed.
        turn.ok().and_then(Result::ok).ok_or_else(ApiError::busy)
    }
}
