//! The questions that wait for an answer, as a service that runs lists them.

use std::time::Duration;

use hooks_guard::audit::{AuditRecord, SessionQuestions};
use hooks_guard::client::{Client, ClientError};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::timeout;

/// How long the service may take to answer.
const LIMIT: Duration = Duration::from_secs(10);

/// How many questions are read at a time.
pub(crate) const PAGE: usize = 100;

/// A page of questions. A response without one of these fields is no response of the service: what
/// waits is unknown then.
#[derive(Debug, Deserialize)]
pub(crate) struct Questions {
    /// The oldest of each session first.
    pub(crate) pending: Vec<AuditRecord>,
    /// How many wait altogether.
    pub(crate) total: u64,
    /// Where the next page begins.
    #[serde(deserialize_with = "required")]
    pub(crate) next: Option<String>,
    /// The sessions with most questions.
    pub(crate) sessions: Vec<SessionQuestions>,
    /// When the service listed them, by its clock.
    pub(crate) generated_at: Timestamp,
}

/// A field that has to be there, though it may be null.
fn required<'de, D: serde::Deserializer<'de>>(field: D) -> Result<Option<String>, D::Error> {
    Option::deserialize(field)
}

/// Checks that the service is there and proves that it has the key.
///
/// # Errors
/// If it is not, or does not.
pub(crate) async fn check(client: &Client) -> Result<(), ClientError> {
    let connected = timeout(LIMIT, client.connect()).await;
    connected.map_err(|_| ClientError::Late(LIMIT))?.map(drop)
}

/// Reads a page, from the beginning or from a cursor on.
///
/// # Errors
/// If there is no complete response.
pub(crate) async fn page(client: &Client, after: Option<&str>) -> Result<Questions, ClientError> {
    let mut path = format!("/api/hooks/pending?order=fair&limit={PAGE}");
    if let Some(after) = after {
        path = format!("{path}&after={after}");
    }
    let value = client.get(&path, LIMIT).await?;
    serde_json::from_value(value).map_err(|_| ClientError::Strange)
}

/// Denies all questions that `which` means, however many there are. Returns how many.
///
/// # Errors
/// If there is no complete response; some may have been denied then.
pub(crate) async fn deny_all(client: &Client, which: &Value) -> Result<u64, ClientError> {
    let mut denied = 0;
    loop {
        let done = client.post("/api/hooks/pending/deny", which, LIMIT).await?;
        let number = |field: &str| done[field].as_u64().ok_or(ClientError::Strange);
        let now = number("denied")?;
        denied += now;
        // New ones may come as fast as these go.
        if now == 0 || number("remaining")? == 0 {
            return Ok(denied);
        }
    }
}

/// The body that means the questions of the same agent and session as a question.
pub(crate) fn session_of(id: i64) -> Value {
    json!({ "session_of": id })
}
