//! Tells all listeners what happens in the trail. In: entries of the log. Out: events, the same for
//! every listener, from one task that runs while a listener is there.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::response::sse::Event;
use futures_util::{FutureExt, StreamExt, stream};
use serde_json::{Value, json};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, broadcast};
use tokio::time::timeout;

use crate::audit::{AuditStore, Change};
use crate::log_limit;

/// How many may listen at a time.
pub(super) const LISTENERS: usize = 64;

/// For how many listeners more there is room if they are the operator's.
pub(super) const OPERATORS: usize = 8;

/// How many events wait for a listener that is slow; what is more is [`missed`](Told::missed).
pub(super) const WAITING: usize = 256;

/// How many changes are read at a time.
pub(super) const TOGETHER: usize = 64;

/// After how long without an event a comment is sent, so that a lost connection is noticed.
pub(super) const HEARTBEAT: Duration = Duration::from_secs(15);

/// An event, as it is sent.
#[derive(Debug)]
pub(super) struct Told {
    pub(super) seq: i64,
    kind: &'static str,
    data: String,
}

impl Told {
    pub(super) fn new(seq: i64, kind: &'static str, data: &Value) -> Self {
        let data = data.to_string();
        Self { seq, kind, data }
    }

    /// Something happened that is not told: whoever listens reads everything anew.
    pub(super) fn missed(count: u64) -> Self {
        Self::new(0, "missed", &json!({ "count": count }))
    }

    pub(super) fn event(&self) -> Event {
        let event = Event::default().event(self.kind).data(&self.data);
        match self.seq {
            0 => event,
            seq => event.id(seq.to_string()),
        }
    }
}

/// Who tells all listeners.
#[derive(Clone, Debug)]
pub(crate) struct Hub {
    sender: broadcast::Sender<Arc<Told>>,
    runs: Arc<Mutex<bool>>,
    places: Arc<Semaphore>,
    /// The operator's.
    reserved: Arc<Semaphore>,
}

impl Default for Hub {
    fn default() -> Self {
        Self {
            sender: broadcast::Sender::new(WAITING),
            runs: Arc::default(),
            places: Arc::new(Semaphore::new(LISTENERS)),
            reserved: Arc::new(Semaphore::new(OPERATORS)),
        }
    }
}

impl Hub {
    /// A place for a listener, if there is one.
    pub(super) fn place(&self, is_operator: bool) -> Option<OwnedSemaphorePermit> {
        let reserved = || Arc::clone(&self.reserved).try_acquire_owned().ok();
        // The reserved ones first: the others are for everybody.
        let place = is_operator.then(reserved).flatten();
        place.or_else(|| Arc::clone(&self.places).try_acquire_owned().ok())
    }

    /// Whatever is recorded from now on.
    pub(super) fn listen(&self, audit: &AuditStore) -> broadcast::Receiver<Arc<Told>> {
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        let receiver = self.sender.subscribe();
        if !*runs {
            *runs = true;
            let changes = audit.entries().boxed();
            tokio::spawn(self.clone().tell(audit.clone(), changes));
        }
        receiver
    }

    /// Tells what happens until nobody listens any more.
    async fn tell(self, audit: AuditStore, mut changes: stream::BoxStream<'static, (i64, Change)>) {
        loop {
            let next = timeout(HEARTBEAT, changes.next()).await;
            {
                let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
                if self.sender.receiver_count() == 0 || matches!(next, Ok(None)) {
                    *runs = false;
                    return;
                }
            }
            let Ok(Some(first)) = next else { continue };
            let mut some = vec![first];
            while some.len() < TOGETHER
                && let Some(Some(change)) = changes.next().now_or_never()
            {
                some.push(change);
            }
            let told = told(&audit, &some).await.unwrap_or_else(|error| {
                if let Some(suppressed) =
                    log_limit::suppressed("what happened cannot be told", &error)
                {
                    tracing::warn!(%error, suppressed, "what happened cannot be told");
                }
                vec![Told::missed(some.len() as u64)]
            });
            for one in told {
                // An error is that nobody listens.
                let _ = self.sender.send(Arc::new(one));
            }
        }
    }
}

/// Entries of the log as events, with their records as they are now.
pub(super) async fn told(
    audit: &AuditStore,
    entries: &[(i64, Change)],
) -> Result<Vec<Told>, crate::audit::AuditError> {
    let mut ids: Vec<i64> = entries
        .iter()
        .filter_map(|(_, change)| match change {
            Change::Asked(id) | Change::Answered(id) | Change::Executed(id) => Some(*id),
            _ => None,
        })
        .collect();
    ids.sort_unstable();
    ids.dedup();
    let records = audit.several(&ids).await?;
    let record = |id: i64| {
        let record = records.iter().find(|record| record.id == id)?;
        serde_json::to_value(record).ok()
    };
    let event = |(seq, change): &(i64, Change)| {
        let (kind, data) = match *change {
            // What a cleanup has taken away by now is told with that.
            Change::Asked(id) => ("asked", record(id)?),
            Change::Answered(id) => ("answered", record(id)?),
            Change::Executed(id) => ("executed", record(id)?),
            Change::Remembered(id) => ("remembered", json!({ "id": id })),
            Change::Forgotten(id) => ("forgotten", json!({ "id": id })),
            Change::Cleaned => ("cleaned", json!({})),
            Change::Missed(count) => return Some(Told::missed(count)),
        };
        Some(Told::new(*seq, kind, &data))
    };
    Ok(entries.iter().filter_map(event).collect())
}
