//! Broadcasts changes of the trail. Takes log entries; sends events to all listeners, from one task
//! that runs while there is a listener.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::response::sse::Event;
use futures_util::{FutureExt, StreamExt, stream};
use serde_json::{Value, json};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, broadcast};
use tokio::time::timeout;

use crate::audit::{AuditChange, AuditError, AuditRecord, AuditStore};
use crate::changes::ChangeTotals;
use crate::log_limit;
use crate::service::PermissionService;

/// Maximum number of concurrent listeners.
pub(super) const MAX_LISTENERS: usize = 64;

/// Number of additional listeners for the operator.
pub(super) const RESERVED_LISTENERS: usize = 8;

/// Maximum number of events buffered for a slow listener; dropped events are reported as
/// [`missed`](SseMessage::missed).
pub(super) const MAX_BUFFERED_EVENTS: usize = 256;

/// Number of changes per read.
pub(super) const CHANGES_PER_READ: usize = 64;

/// Time without an event after which a comment is sent, so that a lost connection is noticed.
pub(super) const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(15);

/// Serialized event.
#[derive(Debug)]
pub(super) struct SseMessage {
    pub(super) seq: i64,
    kind: &'static str,
    data: String,
    /// `true` if only listeners of the operator receive the event.
    pub(super) is_for_operator: bool,
}

impl SseMessage {
    pub(super) fn new(seq: i64, kind: &'static str, data: &Value) -> Self {
        let data = data.to_string();
        Self {
            seq,
            kind,
            data,
            is_for_operator: false,
        }
    }

    /// Restricts the event to listeners of the operator.
    pub(super) fn for_operator(self) -> Self {
        Self {
            is_for_operator: true,
            ..self
        }
    }

    /// Event that reports dropped events; listeners reload everything.
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

/// Broadcaster of events.
#[derive(Clone, Debug)]
pub(crate) struct Hub {
    sender: broadcast::Sender<Arc<SseMessage>>,
    runs: Arc<Mutex<bool>>,
    places: Arc<Semaphore>,
    /// Places for the operator.
    reserved: Arc<Semaphore>,
    /// Held while records are completed and sent.
    sending: Arc<Mutex<()>>,
}

impl Default for Hub {
    fn default() -> Self {
        Self {
            sender: broadcast::Sender::new(MAX_BUFFERED_EVENTS),
            runs: Arc::default(),
            places: Arc::new(Semaphore::new(MAX_LISTENERS)),
            reserved: Arc::new(Semaphore::new(RESERVED_LISTENERS)),
            sending: Arc::default(),
        }
    }
}

impl Hub {
    /// Returns a place for a listener, if there is one.
    pub(super) fn place(&self, is_operator: bool) -> Option<OwnedSemaphorePermit> {
        let reserved = || Arc::clone(&self.reserved).try_acquire_owned().ok();
        // The operator uses the reserved places first, because the others are shared.
        let place = is_operator.then(reserved).flatten();
        place.or_else(|| Arc::clone(&self.places).try_acquire_owned().ok())
    }

    /// Returns a receiver of all events from now on.
    pub(super) fn listen(
        &self,
        service: &PermissionService,
    ) -> broadcast::Receiver<Arc<SseMessage>> {
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        let receiver = self.sender.subscribe();
        if !*runs {
            *runs = true;
            let changes = service.reserved_audit().entries().boxed();
            tokio::spawn(self.clone().broadcast(service.clone(), changes));
        }
        receiver
    }

    /// Sends an event to all listeners.
    pub(super) fn announce(&self, message: SseMessage) {
        // An error means that there are no listeners.
        let _ = self.sender.send(Arc::new(message));
    }

    /// Announces the changes of a pending question, after the event of the question unless that
    /// event contains them.
    pub(super) fn announce_changes(&self, id: i64, totals: ChangeTotals) {
        let data = json!({ "id": id, "changes": totals });
        let _sending = self.sending.lock().unwrap_or_else(PoisonError::into_inner);
        self.announce(SseMessage::new(0, "changes", &data));
    }

    /// Sends events until there are no listeners.
    async fn broadcast(
        self,
        service: PermissionService,
        mut changes: stream::BoxStream<'static, (i64, AuditChange)>,
    ) {
        loop {
            let next = timeout(HEARTBEAT_INTERVAL, changes.next()).await;
            {
                let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
                if self.sender.receiver_count() == 0 || matches!(next, Ok(None)) {
                    *runs = false;
                    return;
                }
            }
            let Ok(Some(first)) = next else { continue };
            let mut some = vec![first];
            while some.len() < CHANGES_PER_READ
                && let Some(Some(change)) = changes.next().now_or_never()
            {
                some.push(change);
            }
            let records = records_of(service.reserved_audit(), &some).await;
            let _sending = self.sending.lock().unwrap_or_else(PoisonError::into_inner);
            let messages = records.map(|records| messages_of(&service, records, &some));
            let messages = messages.unwrap_or_else(|error| {
                if let Some(suppressed) = log_limit::suppressed("event stream unavailable", &error)
                {
                    tracing::warn!(%error, suppressed, "event stream unavailable");
                }
                vec![SseMessage::missed(some.len() as u64)]
            });
            for one in messages {
                self.announce(one);
            }
        }
    }
}

/// Returns the current records of log entries.
pub(super) async fn records_of(
    audit: &AuditStore,
    entries: &[(i64, AuditChange)],
) -> Result<Vec<AuditRecord>, AuditError> {
    let mut ids: Vec<i64> = entries
        .iter()
        .filter_map(|(_, change)| match change {
            AuditChange::Asked(id) | AuditChange::Answered(id) | AuditChange::Executed(id) => {
                Some(*id)
            }
            _ => None,
        })
        .collect();
    ids.sort_unstable();
    ids.dedup();
    audit.decisions_by_ids(&ids).await
}

/// Returns log entries as events, with their records.
pub(super) fn messages_of(
    service: &PermissionService,
    mut records: Vec<AuditRecord>,
    entries: &[(i64, AuditChange)],
) -> Vec<SseMessage> {
    for record in &mut records {
        service.add_changes(record);
    }
    let record = |id: i64| {
        let record = records.iter().find(|record| record.id == id)?;
        serde_json::to_value(record).ok()
    };
    let event = |(seq, change): &(i64, AuditChange)| {
        let (kind, data) = match *change {
            // For a decision that a cleanup has deleted meanwhile, the cleanup is reported.
            AuditChange::Asked(id) => ("asked", record(id)?),
            AuditChange::Answered(id) => ("answered", record(id)?),
            AuditChange::Executed(id) => ("executed", record(id)?),
            AuditChange::Remembered(id) => ("remembered", json!({ "id": id })),
            AuditChange::Forgotten(id) => ("forgotten", json!({ "id": id })),
            AuditChange::Cleaned => ("cleaned", json!({})),
            AuditChange::Missed(count) => return Some(SseMessage::missed(count)),
        };
        Some(SseMessage::new(*seq, kind, &data))
    };
    entries.iter().filter_map(event).collect()
}
