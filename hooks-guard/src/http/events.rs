//! `GET /api/hooks/events`: what happens in the trail, as it happens.
//!
//! One task reads what changed, once for all who listen, and only while somebody does.

use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::extract::{Extension, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::{FutureExt, Stream, StreamExt, stream};
use serde_json::{Value, json};
use tokio::sync::broadcast::{self, error::RecvError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::AppState;
use super::decisions::{failed, now};
use super::error::{ApiError, RequestId};
use super::query::Query;
use crate::audit::{AuditStore, Change};
use crate::log_limit;

/// How many may listen at a time.
const LISTENERS: usize = 64;
/// For how many listeners more there is room if they are the operator's.
const OPERATORS: usize = 8;
/// How many events wait for a listener that is slow; what is more is [`missed`](Told::missed).
const WAITING: usize = 256;
/// How many entries of the log are told again to a listener that comes back.
const AGAIN: i64 = 500;
/// How many changes are read at a time.
const TOGETHER: usize = 64;
/// How many of the events that are told again are in memory at a time.
const PART: usize = 16;
/// After how long without an event a comment is sent, so that a lost connection is noticed.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// An event, as it is sent.
#[derive(Debug)]
struct Told {
    seq: i64,
    kind: &'static str,
    data: String,
}

impl Told {
    fn new(seq: i64, kind: &'static str, data: &Value) -> Self {
        let data = data.to_string();
        Self { seq, kind, data }
    }

    /// Something happened that is not told: whoever listens reads everything anew.
    fn missed(count: u64) -> Self {
        Self::new(0, "missed", &json!({ "count": count }))
    }

    fn event(&self) -> Event {
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
    fn place(&self, is_operator: bool) -> Option<OwnedSemaphorePermit> {
        let reserved = || Arc::clone(&self.reserved).try_acquire_owned().ok();
        // The reserved ones first: the others are for everybody.
        let place = is_operator.then(reserved).flatten();
        place.or_else(|| Arc::clone(&self.places).try_acquire_owned().ok())
    }

    /// Whatever is recorded from now on.
    fn listen(&self, audit: &AuditStore) -> broadcast::Receiver<Arc<Told>> {
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
async fn told(
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

/// What happens from now on, as server-sent events.
///
/// | `event` | `data` |
/// |---|---|
/// | `hello` | the first: `{"resumed", "generated_at"}`; where it is not resumed, what was before has to be read |
/// | `asked`, `answered`, `executed` | the record, as it is now |
/// | `remembered`, `forgotten` | `{"id"}` of the approval |
/// | `cleaned` | `{}`: old decisions are gone |
/// | `missed` | `{"count"}`: so many events were not told; read everything anew |
///
/// `id` numbers the entries of the log: who comes back with the last one in `Last-Event-ID`, or in
/// `after`, is told what came after it. Without an event a comment comes every 15 seconds.
#[utoipa::path(
    get,
    path = "/api/hooks/events",
    params(
        ("after" = Option<u64>, Query, description = "The `id` of the last event that was seen; before `Last-Event-ID`"),
        ("csrf" = Option<String>, Query, description = "For a browser that is signed in, whose streams have no headers of their own: what signing in has given"),
    ),
    responses(
        (status = 200, description = "The events, without an end", body = String, content_type = "text/event-stream"),
        (status = 400, description = "INVALID_FILTER", body = super::error::ErrorBody),
        (status = 503, description = "TOO_MANY_LISTENERS", body = super::error::ErrorBody),
    )
)]
pub(crate) async fn events(
    State(state): State<AppState>,
    Extension(id): Extension<RequestId>,
    headers: HeaderMap,
    query: Query,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, ApiError> {
    let asked = query.number("after")?.map(|after| after.to_string());
    let seen = headers.get("last-event-id").and_then(|id| id.to_str().ok());
    // One that is no number was never given.
    let after: Option<i64> = asked.as_deref().or(seen).and_then(|seq| seq.parse().ok());
    let hub = &state.inner.hub;
    let csrf = query.text("csrf")?;
    let sessions = &state.inner.operator.sessions;
    let signed_in = || csrf.is_some_and(|csrf| sessions.check_value(&headers, csrf).is_ok());
    let is_operator = state.is_operator(&headers) || signed_in();
    let Some(place) = hub.place(is_operator) else {
        let error = ApiError::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "TOO_MANY_LISTENERS",
            format!("{LISTENERS} already listen to what happens"),
        );
        return Err(error
            .details("The operator has places of its own")
            .retry_after(5));
    };
    let audit = match is_operator {
        true => state.service().reserved_audit(),
        false => state.service().audit(),
    };
    // Before the log is read, so that nothing falls between.
    let receiver = hub.listen(state.service().reserved_audit());
    let failed = |error| failed(&id, &error);
    let head = audit.head().await.map_err(failed)?.count;
    let head = i64::try_from(head).unwrap_or(i64::MAX);
    let again = match after {
        // That of another database says nothing about this one.
        Some(after) if after <= head => audit.since(after, AGAIN).await.map_err(failed)?,
        _ => None,
    };
    let resumed = again.is_some();
    let again = again.unwrap_or_default();
    let last = again.last().map_or(head, |(seq, _)| (*seq).max(head));
    let first = after.filter(|_| resumed).unwrap_or(head);
    let hello = json!({ "resumed": resumed, "generated_at": now() });
    let hello = Told::new(first, "hello", &hello).event().retry(RETRY);
    // Read as the listener takes them, so that slow ones do not fill the memory.
    let parts: Vec<_> = again.chunks(PART).map(<[_]>::to_vec).collect();
    let trail = audit.clone();
    let again = stream::iter(parts)
        .then(move |part| {
            let trail = trail.clone();
            async move {
                let told = told(&trail, &part).await;
                told.unwrap_or_else(|error| {
                    tracing::warn!(%error, "what happened cannot be told");
                    vec![Told::missed(part.len() as u64)]
                })
            }
        })
        .flat_map(|told| stream::iter(told).map(|told| told.event()));
    let before = stream::iter([hello]).chain(again);
    let listening = Listening {
        state: state.clone(),
        receiver,
        last,
        _place: place,
    };
    let events = before.chain(stream::unfold(listening, Listening::next));
    Ok(Sse::new(events.map(Ok)).keep_alive(KeepAlive::new().interval(HEARTBEAT)))
}

/// After how long a browser tries again by itself.
const RETRY: Duration = Duration::from_secs(1);

struct Listening {
    state: AppState,
    receiver: broadcast::Receiver<Arc<Told>>,
    last: i64,
    _place: OwnedSemaphorePermit,
}

impl Listening {
    async fn next(mut self) -> Option<(Event, Self)> {
        loop {
            let told = tokio::select! {
                told = self.receiver.recv() => told,
                () = self.state.inner.ending.begun() => return None,
            };
            match told {
                Ok(told) if told.seq != 0 && told.seq <= self.last => {}
                Ok(told) => {
                    self.last = self.last.max(told.seq);
                    return Some((told.event(), self));
                }
                Err(RecvError::Lagged(count)) => {
                    return Some((Told::missed(count).event(), self));
                }
                Err(RecvError::Closed) => return None,
            }
        }
    }
}
