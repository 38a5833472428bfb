//! `GET /api/hooks/events`. Takes a request with the last event that its client has received;
//! returns server-sent events of the changes of the trail.
//!
//! One task reads the changes for all listeners, and only while there is a listener.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Extension, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::{Stream, StreamExt, stream};
use serde_json::json;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{OwnedSemaphorePermit, broadcast};

use super::common::{failed, now};
use super::delayed::announcement;
use super::error::{ApiError, RequestId};
use super::hub::{HEARTBEAT_INTERVAL, MAX_LISTENERS, SseMessage, messages_of, records_of};
use super::query::Query;
use super::state::AppState;

/// Maximum number of log entries that are replayed to a listener that reconnects.
const MAX_REPLAYED: i64 = 500;

/// Number of replayed events in memory at a time.
const REPLAYED_PER_READ: usize = 16;

/// Streams changes of the trail as server-sent events.
///
/// | `event` | `data` |
/// |---|---|
/// | `hello` | first event: `{"resumed", "generated_at"}`; reload all if not resumed |
/// | `asked`, `answered`, `executed` | the current record |
/// | `remembered`, `forgotten` | `{"id"}` of the approval |
/// | `cleaned` | `{}`: deleted old decisions |
/// | `answering` | only for the operator: a delayed answer, `{"id", "response", "remember", "note", "by", "effective_at"}` |
/// | `withdrawn` | only for the operator: `{"id", "by", "reason"}`; the delayed answer was withdrawn by `by`, or did not take effect for this `reason` |
/// | `changes` | `{"id", "changes"}`: the changes of a pending question about files became known |
/// | `missed` | `{"count"}`: this many events were dropped; reload everything |
/// | `alive` | `{}`: sent after 15 seconds without an event |
///
/// `id` is the number of the log entry. To resume, send the last `id` in `Last-Event-ID` or in
/// `after`. `answering`, `withdrawn` and `changes` have no `id`; a new stream begins with an `answering` for
/// each delayed answer.
#[utoipa::path(
    get,
    path = "/api/hooks/events",
    params(
        ("after" = Option<u64>, Query, description = "The `id` of the last received event; takes precedence over `Last-Event-ID`"),
        ("csrf" = Option<String>, Query, description = "The `csrf` of the browser session, because event streams of browsers cannot send headers"),
    ),
    responses(
        (status = 200, description = "An endless stream of events", body = String, content_type = "text/event-stream"),
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
    // The service never sends an id that is not a number.
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
            format!(
                "too many listeners ({MAX_LISTENERS}); close windows of the console or other listeners"
            ),
        );
        return Err(error
            .details("further places are reserved for the operator; send the operator's token")
            .retry_after(5));
    };
    let audit = match is_operator {
        true => state.service().reserved_audit(),
        false => state.service().audit(),
    };
    // Subscribe before the log is read, so that no change is lost in between.
    let receiver = hub.listen(state.service());
    let failed = |error| failed(&id, &error);
    let head = audit.head().await.map_err(failed)?.count;
    let head = i64::try_from(head).unwrap_or(i64::MAX);
    let again = match after {
        // An id after the head belongs to another database.
        Some(after) if after <= head => audit.since(after, MAX_REPLAYED).await.map_err(failed)?,
        _ => None,
    };
    let resumed = again.is_some();
    let again = again.unwrap_or_default();
    let last = again.last().map_or(head, |(seq, _)| (*seq).max(head));
    let first = after.filter(|_| resumed).unwrap_or(head);
    let hello = json!({ "resumed": resumed, "generated_at": now() });
    let hello = SseMessage::new(first, "hello", &hello)
        .event()
        .retry(RETRY_DELAY);
    // Read as the listener receives them, so that slow listeners do not fill the memory.
    let parts: Vec<_> = again.chunks(REPLAYED_PER_READ).map(<[_]>::to_vec).collect();
    let (service, trail) = (state.service().clone(), audit.clone());
    let again = stream::iter(parts)
        .then(move |part| {
            let (service, trail) = (service.clone(), trail.clone());
            async move {
                let records = records_of(&trail, &part).await;
                let messages = records.map(|records| messages_of(&service, records, &part));
                messages.unwrap_or_else(|error| {
                    tracing::warn!(%error, "event stream unavailable");
                    vec![SseMessage::missed(part.len() as u64)]
                })
            }
        })
        .flat_map(|told| stream::iter(told).map(|told| told.event()));
    let delayed = state.clone();
    // Read when it is sent: events since then are in `receiver`.
    let delayed = stream::once(async move { delayed.inner.delayed.all() })
        .flat_map(stream::iter)
        .filter(move |_| std::future::ready(is_operator))
        .map(|answer| announcement(&answer).event());
    let before = stream::iter([hello]).chain(again).chain(delayed);
    let listening = EventListener {
        state: state.clone(),
        is_operator,
        receiver,
        last,
        _permit: place,
    };
    let events = before.chain(stream::unfold(listening, EventListener::next));
    // Browsers do not report comments to the page, which has to notice that the service is suspended.
    let alive = Event::default().event("alive").data("{}");
    let alive = KeepAlive::new().interval(HEARTBEAT_INTERVAL).event(alive);
    Ok(Sse::new(events.map(Ok)).keep_alive(alive))
}

/// Delay before a browser reconnects.
const RETRY_DELAY: Duration = Duration::from_secs(1);

struct EventListener {
    state: AppState,
    is_operator: bool,
    receiver: broadcast::Receiver<Arc<SseMessage>>,
    last: i64,
    _permit: OwnedSemaphorePermit,
}

impl EventListener {
    async fn next(mut self) -> Option<(Event, Self)> {
        loop {
            let received = tokio::select! {
                told = self.receiver.recv() => told,
                () = self.state.inner.ending.begun() => return None,
            };
            match received {
                Ok(told) if told.seq != 0 && told.seq <= self.last => {}
                Ok(told) if told.is_for_operator && !self.is_operator => {}
                Ok(told) => {
                    self.last = self.last.max(told.seq);
                    return Some((told.event(), self));
                }
                Err(RecvError::Lagged(count)) => {
                    return Some((SseMessage::missed(count).event(), self));
                }
                Err(RecvError::Closed) => return None,
            }
        }
    }
}
