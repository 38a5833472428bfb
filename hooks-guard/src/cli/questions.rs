//! Requests of the operator to a running service: about pending questions, their answers, and
//! remembered approvals. In: a client. Out: its responses.

use std::time::Duration;

use hooks_guard::audit::{AuditRecord, Remembered, SessionQuestions};
use hooks_guard::changes::FileChanges;
use hooks_guard::client::{Client, ClientError};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::timeout;

/// Timeout of one request to the service.
pub(crate) const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

/// Number of questions per page.
pub(crate) const PAGE_SIZE: usize = 100;

/// A page of questions. A response without one of these fields does not come from the service; the
/// pending questions are then unknown.
#[derive(Debug, Deserialize)]
pub(crate) struct PendingPage {
    /// Pending questions, the oldest of each session first.
    pub(crate) pending: Vec<AuditRecord>,
    /// Number of all pending questions.
    pub(crate) total: u64,
    /// Cursor of the next page.
    #[serde(deserialize_with = "required")]
    pub(crate) next: Option<String>,
    /// The sessions with the most questions.
    pub(crate) sessions: Vec<SessionQuestions>,
    /// When the service created the list, by its clock.
    pub(crate) generated_at: Timestamp,
}

/// Deserializes a field that must be present but may be `null`.
fn required<'de, D: serde::Deserializer<'de>>(field: D) -> Result<Option<String>, D::Error> {
    Option::deserialize(field)
}

/// Checks that the service is reachable and proves that it has the key.
///
/// # Errors
/// If it is unreachable or does not prove it.
pub(crate) async fn check(client: &Client) -> Result<(), ClientError> {
    let connected = timeout(REQUEST_TIMEOUT, client.connect()).await;
    connected
        .map_err(|_| ClientError::Timeout(REQUEST_TIMEOUT))?
        .map(drop)
}

/// Reads a page, the first one or the one at a cursor.
///
/// # Errors
/// If there is no complete response.
pub(crate) async fn page(client: &Client, after: Option<&str>) -> Result<PendingPage, ClientError> {
    page_of(client, &ShownQuestions::default(), after).await
}

/// Conditions of the questions to show.
#[derive(Clone, Debug, Default)]
pub(crate) struct ShownQuestions {
    pub(crate) agent: Option<String>,
    pub(crate) session: Option<String>,
}

impl ShownQuestions {
    fn path(&self, after: Option<&str>) -> String {
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        query.append_pair("order", "fair");
        query.append_pair("limit", &PAGE_SIZE.to_string());
        let conditions = [
            ("agent", self.agent.as_deref()),
            ("session_id", self.session.as_deref()),
            ("after", after),
        ];
        for (name, value) in conditions {
            if let Some(value) = value {
                query.append_pair(name, value);
            }
        }
        format!("/api/hooks/pending?{}", query.finish())
    }
}

/// Reads a page of the questions that match the conditions, the first one or the one at a cursor.
///
/// # Errors
/// If there is no complete response.
pub(crate) async fn page_of(
    client: &Client,
    which: &ShownQuestions,
    after: Option<&str>,
) -> Result<PendingPage, ClientError> {
    let path = which.path(after);
    let value = client.get(&path, REQUEST_TIMEOUT).await?;
    serde_json::from_value(value).map_err(|_| ClientError::UnexpectedResponse)
}

/// Reads the changes of a question, as the operator. Returns `None` if there are none, or none any
/// more.
///
/// # Errors
/// If there is no complete response.
pub(crate) async fn changes(client: &Client, id: i64) -> Result<Option<FileChanges>, ClientError> {
    let path = format!("/api/hooks/decisions/{id}/changes");
    match client.get(&path, REQUEST_TIMEOUT).await {
        Ok(value) => {
            let changes = serde_json::from_value(value);
            changes
                .map(Some)
                .map_err(|_| ClientError::UnexpectedResponse)
        }
        Err(ClientError::Refused { status: 404, .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Answers a question. Returns its record.
///
/// # Errors
/// If there is no complete response.
pub(crate) async fn answer(client: &Client, body: &Value) -> Result<Value, ClientError> {
    let path = "/api/hooks/permission-response";
    client.post(path, body, REQUEST_TIMEOUT).await
}

/// Withdraws the answer to a question.
///
/// # Errors
/// If there is no complete response.
pub(crate) async fn withdraw(client: &Client, id: i64) -> Result<(), ClientError> {
    let path = format!("/api/hooks/permission-response/{id}");
    client.delete(&path, REQUEST_TIMEOUT).await.map(drop)
}

/// Denies all questions that `which` selects, in as many requests as needed. Returns their number.
///
/// # Errors
/// If there is no complete response; some questions may then already be denied.
pub(crate) async fn deny_all(client: &Client, which: &Value) -> Result<u64, ClientError> {
    let mut denied = 0;
    loop {
        let done = client
            .post("/api/hooks/pending/deny", which, REQUEST_TIMEOUT)
            .await?;
        let number = |field: &str| done[field].as_u64().ok_or(ClientError::UnexpectedResponse);
        let now = number("denied")?;
        denied += now;
        // New questions may arrive as fast as these are denied.
        if now == 0 || number("remaining")? == 0 {
            return Ok(denied);
        }
    }
}

/// Reads all remembered approvals; with `all`, also the revoked ones.
///
/// # Errors
/// If there is no complete response.
pub(crate) async fn remembered(client: &Client, all: bool) -> Result<Vec<Remembered>, ClientError> {
    let (mut found, mut after) = (Vec::new(), 0);
    loop {
        let path = format!("/api/hooks/remembered?all={all}&after={after}");
        let mut page = client.get(&path, REQUEST_TIMEOUT).await?;
        let part: Vec<Remembered> = serde_json::from_value(page["remembered"].take())
            .map_err(|_| ClientError::UnexpectedResponse)?;
        found.extend(part);
        match page["next"].as_i64() {
            Some(next) if next > after => after = next,
            _ => return Ok(found),
        }
    }
}

/// Revokes a remembered approval. Returns it.
///
/// # Errors
/// If there is no complete response.
pub(crate) async fn revoke(client: &Client, id: i64) -> Result<Value, ClientError> {
    let path = format!("/api/hooks/remembered/{id}");
    client.delete(&path, REQUEST_TIMEOUT).await
}

/// Returns the request body that selects all questions of a question's agent and session.
pub(crate) fn session_of(id: i64) -> Value {
    json!({ "session_of": id })
}
