//! How many bulk reads run at a time. In: a read that wants to start. Out: its turn, or the error that
//! the service is busy.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::error::ApiError;

/// How many bulk reads of clients other than the operator run at a time: half of the connections
/// that SQLite has for readers.
pub(super) const TOGETHER: usize = 3;

/// How many wait for their turn.
pub(super) const WAITING: usize = 64;

/// How long a read waits for its turn.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);

/// How many such responses are in memory at a time; others are sent in parts, or refused.
pub(super) const WHOLE: usize = 32;

/// The same for clients that prove themselves: their responses are never sent in parts, which
/// could not be proved.
pub(super) const PROVED: usize = 16;

/// How many exports of such clients run at a time.
pub(super) const EXPORTS: usize = 16;

/// The turns of bulk reads.
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
            turns: Arc::new(Semaphore::new(TOGETHER)),
            exports: Arc::new(Semaphore::new(EXPORTS)),
            whole: Arc::new(Semaphore::new(WHOLE)),
            proved: Arc::new(Semaphore::new(PROVED)),
            waiting: AtomicUsize::new(0),
        }
    }
}

/// Counts a read that waits.
pub(super) struct Waiting<'a>(&'a AtomicUsize);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The right to read in bulk: `None` for the operator, who needs none.
pub(crate) type Turn = Option<OwnedSemaphorePermit>;

impl BulkReads {
    pub(super) async fn turn(&self) -> Result<OwnedSemaphorePermit, ApiError> {
        if let Ok(turn) = Arc::clone(&self.turns).try_acquire_owned() {
            return Ok(turn);
        }
        if self.waiting.fetch_add(1, Ordering::Relaxed) >= WAITING {
            self.waiting.fetch_sub(1, Ordering::Relaxed);
            return Err(ApiError::busy());
        }
        let _waiting = Waiting(&self.waiting);
        let turn = timeout(PATIENCE, Arc::clone(&self.turns).acquire_owned()).await;
        // The semaphore is never closed.
        turn.ok().and_then(Result::ok).ok_or_else(ApiError::busy)
    }
}
