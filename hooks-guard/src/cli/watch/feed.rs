//! Reads questions and events from the service, and reconnects after a failure. In: a client. Out:
//! messages for the model.

use std::sync::Arc;
use std::time::Duration;

use hooks_guard::audit::AuditRecord;
use hooks_guard::client::{Client, ClientError, ServiceEvent};
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::sync::{Notify, mpsc, watch};
use tokio::time::sleep;

use super::super::questions::{self, REQUEST_TIMEOUT};
use super::model::{ConnectionState, PendingAnswer, TrailEvent, WatchMessage};

/// Maximum time without data: the service sends something every 15 seconds.
const IDLE_TIMEOUT: Duration = Duration::from_secs(40);
/// Number of earlier decisions shown at the start.
const EARLIER_DECISIONS: u64 = 20;
/// Delay before the next connection.
const RECONNECT_DELAY: Duration = Duration::from_secs(1);
/// Delay before the pending questions or the remembered approvals are read again, because events
/// come in bursts.
const REFRESH_DELAY: Duration = Duration::from_millis(300);

/// Sends events to the model until the receiver is dropped. Each connection uses the current
/// client, which may have received a token since the last one.
pub(super) async fn follow(clients: watch::Receiver<Client>, to: mpsc::Sender<WatchMessage>) {
    let mut last = None;
    let stale = Arc::new(Notify::new());
    tokio::spawn(follow_remembered(
        clients.clone(),
        Arc::clone(&stale),
        to.clone(),
    ));
    loop {
        let client = clients.borrow().clone();
        let ended = listen(&client, &to, &stale, &mut last).await;
        let messages = match ended {
            Ok(()) => vec![WatchMessage::Link(ConnectionState::Down(
                "the service closed the \
                 connection"
                    .to_owned(),
            ))],
            // The pending questions can still be read.
            Err(error) if is_crowded(&error) => match pending(&client, false).await {
                Ok(pending) => {
                    let why = error.to_string();
                    vec![WatchMessage::Link(ConnectionState::Polling(why)), pending]
                }
                Err(error) => vec![WatchMessage::Link(ConnectionState::Down(error.to_string()))],
            },
            Err(error) => vec![WatchMessage::Link(ConnectionState::Down(error.to_string()))],
        };
        for message in messages {
            if to.send(message).await.is_err() {
                return;
            }
        }
        sleep(RECONNECT_DELAY).await;
    }
}

/// Returns `true` if the service has too many listeners.
fn is_crowded(error: &ClientError) -> bool {
    matches!(error, ClientError::Refused { code, .. } if code == "TOO_MANY_LISTENERS")
}

/// Reads events until the connection ends, and notifies `stale` if the remembered approvals may
/// have changed. An error holds the reason, if it is known.
async fn listen(
    client: &Client,
    to: &mpsc::Sender<WatchMessage>,
    stale: &Notify,
    last: &mut Option<String>,
) -> Result<(), ClientError> {
    let mut events = client.events(last.as_deref(), REQUEST_TIMEOUT).await?;
    while let Some(event) = events.next(IDLE_TIMEOUT).await? {
        let mut messages = Vec::new();
        match event.kind.as_str() {
            "hello" => {
                messages.push(WatchMessage::AnsweringUnknown);
                stale.notify_one();
                let resumed = data(&event)["resumed"] == true;
                if last.is_none() {
                    let before = before(client).await;
                    messages.extend(
                        before.unwrap_or_else(|_| vec![WatchMessage::Event(TrailEvent::Missed)]),
                    );
                } else if !resumed {
                    messages.push(WatchMessage::Event(TrailEvent::Missed));
                }
                messages.push(WatchMessage::Link(ConnectionState::Up));
                messages.push(pending(client, true).await?);
            }
            "answering" => {
                let answering = serde_json::from_str(&event.data).ok();
                messages.extend(answering.map(WatchMessage::Answering));
            }
            "withdrawn" => {
                let data = data(&event);
                messages.extend(data["id"].as_i64().map(|id| WatchMessage::NotAnswered {
                    id,
                    reason: data["reason"].as_str().map(str::to_owned),
                }));
            }
            "remembered" | "forgotten" => stale.notify_one(),
            "missed" => {
                stale.notify_one();
                messages.push(WatchMessage::Event(TrailEvent::Missed));
                messages.push(pending(client, true).await?);
            }
            "cleaned" => {
                messages.push(WatchMessage::Event(TrailEvent::Cleaned));
                messages.push(pending(client, true).await?);
            }
            "changes" => {
                let data = data(&event);
                let totals = serde_json::from_value(data["changes"].clone()).ok();
                if let (Some(id), Some(totals)) = (data["id"].as_i64(), totals) {
                    messages.push(WatchMessage::ChangesKnown { id, totals });
                }
            }
            kind => {
                let happened: Option<fn(Box<AuditRecord>) -> TrailEvent> = match kind {
                    "asked" => Some(TrailEvent::Asked),
                    "answered" => Some(TrailEvent::Answered),
                    "executed" => Some(TrailEvent::Executed),
                    // An event that `watch` does not show.
                    _ => None,
                };
                let record = serde_json::from_str(&event.data).ok();
                if let Some((happened, record)) = happened.zip(record) {
                    messages.push(WatchMessage::Event(happened(record)));
                }
            }
        }
        for message in messages {
            if to.send(message).await.is_err() {
                return Ok(());
            }
        }
        if event.id.is_some() {
            *last = event.id;
        }
    }
    Ok(())
}

fn data(event: &ServiceEvent) -> Value {
    serde_json::from_str(&event.data).unwrap_or_default()
}

/// Returns the latest events before the connection, oldest first.
async fn before(client: &Client) -> Result<Vec<WatchMessage>, ClientError> {
    let path = format!("/api/hooks/decisions?limit={EARLIER_DECISIONS}");
    let mut value = client.get(&path, REQUEST_TIMEOUT).await?;
    let records: Vec<AuditRecord> = serde_json::from_value(value["decisions"].take())
        .map_err(|_| ClientError::UnexpectedResponse)?;
    let events = records.into_iter().rev().map(|record| {
        let happened: fn(Box<AuditRecord>) -> TrailEvent = match &record {
            record if record.execution_happened => TrailEvent::Executed,
            record if record.user_response.is_some() => TrailEvent::Answered,
            _ => TrailEvent::Asked,
        };
        WatchMessage::Event(happened(Box::new(record)))
    });
    Ok(events.collect())
}

/// Reads the first page of pending questions.
async fn pending(client: &Client, anew: bool) -> Result<WatchMessage, ClientError> {
    let page = questions::page(client, None).await?;
    Ok(WatchMessage::Pending {
        page,
        at: Timestamp::now(),
        after: None,
        anew,
    })
}

/// Reads a page of pending questions again after a short delay.
pub(super) async fn read_again(
    client: Client,
    after: Option<String>,
    to: mpsc::Sender<WatchMessage>,
) {
    sleep(REFRESH_DELAY).await;
    let message = match questions::page(&client, after.as_deref()).await {
        Ok(page) => WatchMessage::Pending {
            page,
            at: Timestamp::now(),
            after,
            anew: false,
        },
        Err(error) => WatchMessage::Unknown(error.to_string()),
    };
    // An error means that the view is closed.
    let _ = to.send(message).await;
}

/// Reads the changes of a question, and sends them to the model.
pub(super) async fn changes(client: Client, id: i64, to: mpsc::Sender<WatchMessage>) {
    let result = questions::changes(&client, id).await;
    let _ = to.send(WatchMessage::Changes { id, result }).await;
}

/// Denies all questions of a question's session, and sends the result to the model.
pub(super) async fn deny_session(client: Client, id: i64, to: mpsc::Sender<WatchMessage>) {
    let denied = questions::deny_all(&client, &questions::session_of(id)).await;
    let _ = to.send(WatchMessage::Denied(denied)).await;
}

/// Sends an answer, and sends the result to the model.
pub(super) async fn answer(
    client: Client,
    answer: PendingAnswer,
    delay: Duration,
    to: mpsc::Sender<WatchMessage>,
) {
    let body = json!({
        "id": answer.id,
        "response": if answer.approved { "APPROVED" } else { "DENIED" },
        "remember": answer.remember,
        "confirm_deletion": answer.confirms_deletion,
        "delay_ms": u64::try_from(delay.as_millis()).unwrap_or(u64::MAX),
    });
    let sent = questions::answer(&client, &body).await;
    // Without `answering`, the answer has taken effect.
    let answering = |mut record: Value| serde_json::from_value(record["answering"].take()).ok();
    let message = WatchMessage::Sent {
        id: answer.id,
        result: sent.map(answering),
    };
    // An error means that the view is closed.
    let _ = to.send(message).await;
}

/// Withdraws an answer, and sends the result to the model.
pub(super) async fn withdraw(client: Client, id: i64, to: mpsc::Sender<WatchMessage>) {
    let result = questions::withdraw(&client, id).await;
    let _ = to.send(WatchMessage::Withdrawn { id, result }).await;
}

/// Reads the remembered approvals a short delay after they may have changed, until the receiver is
/// dropped. These reads are sequential, so none of their lists replaces a later one.
async fn follow_remembered(
    clients: watch::Receiver<Client>,
    stale: Arc<Notify>,
    to: mpsc::Sender<WatchMessage>,
) {
    loop {
        tokio::select! {
            () = stale.notified() => {}
            () = to.closed() => return,
        }
        sleep(REFRESH_DELAY).await;
        let client = clients.borrow().clone();
        read_remembered(client, to.clone()).await;
    }
}

/// Reads the remembered approvals, and sends them to the model.
pub(super) async fn read_remembered(client: Client, to: mpsc::Sender<WatchMessage>) {
    let found = questions::remembered(&client, true).await;
    let found = found.map_err(|error| error.to_string());
    let _ = to.send(WatchMessage::Remembered(found)).await;
}

/// Revokes a remembered approval, and sends the result to the model.
pub(super) async fn revoke(client: Client, id: i64, to: mpsc::Sender<WatchMessage>) {
    let result = questions::revoke(&client, id).await.map(drop);
    let _ = to.send(WatchMessage::Revoked { id, result }).await;
}
