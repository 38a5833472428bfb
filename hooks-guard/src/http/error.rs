//! API errors: status, JSON body and headers of all error responses.

use std::time::Duration;

use axum::Json;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use serde::Serialize;

use crate::classify::Classification;
use crate::excerpt::Excerpt;
use crate::protocol::Agent;

/// Id of a request in logs, responses and errors.
#[derive(Clone, Debug)]
pub(crate) struct RequestId(pub(crate) String);

/// Header of the request id.
pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

impl RequestId {
    pub(crate) fn new() -> Self {
        Self(format!("req_{}", crate::random::random::<6>()))
    }
}

/// Body of an error response.
#[derive(Clone, Debug, Default, Serialize, utoipa::ToSchema)]
pub(crate) struct ErrorBody {
    /// Error message.
    error: String,
    /// Machine-readable error code.
    #[schema(example = "INVALID_JSON")]
    code: &'static str,
    /// Details of the error.
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<String>,
    /// Only with `INVALID_JSON`: the invalid line of the body, and a line with carets below the
    /// mistake.
    #[serde(skip_serializing_if = "Option::is_none")]
    excerpt: Option<[String; 2]>,
    /// Seconds to wait before a retry.
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after_seconds: Option<u64>,
    /// Id of the request in the logs.
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<String>,
    /// Valid values of the filter.
    #[serde(skip_serializing_if = "Option::is_none")]
    valid_values: Option<&'static [&'static str]>,
    /// Example of a valid date.
    #[serde(skip_serializing_if = "Option::is_none")]
    example: Option<&'static str>,
    /// Only with `TIMEOUT`: how to treat the command that was not classified, in the fields of a
    /// decision.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    #[schema(ignore)]
    fallback: Option<Fallback>,
}

/// Substitute for a missing decision.
#[derive(Clone, Debug, Serialize)]
struct Fallback {
    #[serde(flatten)]
    found: Classification,
    #[serde(serialize_with = "hooks_runtime::timestamp::serialize")]
    timestamp: Timestamp,
}

/// Error response.
#[derive(Debug)]
pub(crate) struct ApiError {
    status: StatusCode,
    body: Box<ErrorBody>,
    challenge: bool,
}

impl ApiError {
    pub(crate) fn new(status: StatusCode, code: &'static str, error: impl Into<String>) -> Self {
        let body = ErrorBody {
            error: error.into(),
            code,
            ..ErrorBody::default()
        };
        Self {
            status,
            body: Box::new(body),
            challenge: false,
        }
    }

    fn bad(code: &'static str, error: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, code, error)
    }

    /// The body is not a JSON object, or has a field of a wrong type.
    pub(crate) fn invalid_json(details: impl Into<String>) -> Self {
        Self::bad("INVALID_JSON", "Invalid request body").details(details)
    }

    /// A required field is missing or empty.
    pub(crate) fn missing(field: &str) -> Self {
        Self::bad("MISSING_FIELD", format!("Missing required field: {field}"))
            .details(format!("send `{field}` as a string that is not empty"))
    }

    /// A field is too long.
    pub(crate) fn too_long(field: &str, most: usize) -> Self {
        Self::bad(
            "FIELD_TOO_LONG",
            format!("Field '{field}' exceeds maximum length of {most} characters"),
        )
    }

    /// The body is longer than any valid request.
    pub(crate) fn too_large(most: usize) -> Self {
        Self::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "BODY_TOO_LARGE",
            format!("request body exceeds {most} bytes; send a shorter one"),
        )
    }

    /// The body was not received in time; the connection is closed.
    pub(crate) fn too_slow(most: Duration) -> Self {
        Self::new(
            StatusCode::REQUEST_TIMEOUT,
            "BODY_TOO_SLOW",
            format!(
                "request body not received within {} seconds; send it at once",
                most.as_secs()
            ),
        )
    }

    /// The request exceeded its timeout. The body contains the fallback classification.
    pub(crate) fn timed_out(budget: Duration) -> Self {
        let mut error = Self::new(
            StatusCode::REQUEST_TIMEOUT,
            "TIMEOUT",
            format!(
                "Classification request timed out after {}ms",
                budget.as_millis()
            ),
        )
        .details("No decision was made in time. Defaulting to safe classification.");
        error.body.fallback = Some(Fallback {
            found: Classification::timed_out(),
            timestamp: Timestamp::now(),
        });
        error
    }

    /// A parameter has an invalid value.
    pub(crate) fn invalid_choice(
        name: &str,
        value: &str,
        valid_values: &'static [&'static str],
    ) -> Self {
        let value: String = value.chars().take(100).collect();
        let mut error = Self::bad("INVALID_FILTER", format!("Invalid {name} filter: {value}"));
        error.body.valid_values = Some(valid_values);
        error
    }

    /// A parameter is empty, not a number, or out of range.
    pub(crate) fn invalid_parameter(name: &str, expected: &str) -> Self {
        Self::bad(
            "INVALID_FILTER",
            format!("Invalid {name} parameter: must be {expected}"),
        )
    }

    /// A parameter is not a valid date.
    pub(crate) fn invalid_date(name: &str) -> Self {
        let mut error = Self::bad(
            "INVALID_DATE",
            format!("Invalid ISO8601 date format for '{name}' parameter"),
        );
        error.body.example = Some("2025-11-17T10:30:00Z");
        error
    }

    /// The number of days is out of range.
    pub(crate) fn invalid_days() -> Self {
        Self::bad(
            "INVALID_DAYS",
            "Invalid days parameter: must be between 1 and 365",
        )
    }

    /// A cleanup lacks `force=true`.
    pub(crate) fn needs_force() -> Self {
        Self::new(
            StatusCode::FORBIDDEN,
            "REQUIRES_CONFIRMATION",
            "Cleanup requires confirmation. Add ?force=true to proceed.",
        )
    }

    /// The operation is not allowed by this service or by its configuration.
    pub(crate) fn forbidden(code: &'static str, error: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, code, error)
    }

    /// The operator's token is required.
    pub(crate) fn unauthorized() -> Self {
        let mut error = Self::new(
            StatusCode::UNAUTHORIZED,
            "OPERATOR_TOKEN_REQUIRED",
            "the operator's token is required",
        )
        .details(
            "send `Authorization: Bearer TOKEN`; the service prints the token on its terminal",
        );
        error.challenge = true;
        error
    }

    /// The agent's token is missing or wrong.
    pub(crate) fn no_agent_token(agent: Agent) -> Self {
        Self::new(
            StatusCode::UNAUTHORIZED,
            "AGENT_TOKEN_REQUIRED",
            "the agent's token is missing or wrong",
        )
        .details(format!(
            "start the agent with the variable `HOOKS_GUARD_AGENT_TOKEN` set to the output of \
             `hooks-guard token {agent}`"
        ))
    }

    /// The service has no key, by which it authenticates clients.
    pub(crate) fn no_key() -> Self {
        Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "NO_KEY",
            "the service has no key; restart it with `hooks-guard serve`",
        )
    }

    /// The resource does not exist.
    pub(crate) fn not_found(what: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "NOT_FOUND", what)
    }

    /// The operation is too late or too early.
    pub(crate) fn conflict(code: &'static str, error: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, code, error)
    }

    /// The client exceeded its rate limit.
    pub(crate) fn rate_limited(most: u32, retry_after_seconds: u64) -> Self {
        let mut error = Self::new(
            StatusCode::TOO_MANY_REQUESTS,
            "RATE_LIMITED",
            format!("Rate limit exceeded: {most} requests per minute"),
        );
        error.body.retry_after_seconds = Some(retry_after_seconds);
        error
    }

    /// There are too many pending questions to record another.
    pub(crate) fn too_many_questions(error: impl Into<String>) -> Self {
        Self::new(
            StatusCode::TOO_MANY_REQUESTS,
            "TOO_MANY_QUESTIONS",
            "too many pending questions; answer some, or wait until they expire",
        )
        .details(error)
        .retry_after(60)
    }

    /// No classifier is available.
    pub(crate) fn not_ready(details: impl Into<String>) -> Self {
        Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "CLASSIFIER_NOT_READY",
            "Classifier is not ready",
        )
        .details(details)
    }

    /// The service is shutting down; sent to clients that wait for an answer.
    pub(crate) fn shutting_down() -> Self {
        let mut error = Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "SHUTTING_DOWN",
            "the service is shutting down",
        )
        .details("the question stays open; retry when the service is running again");
        error.body.retry_after_seconds = Some(1);
        error
    }

    /// Internal error. The cause is logged under the request id.
    pub(crate) fn internal(id: &RequestId) -> Self {
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "INTERNAL_ERROR",
            "Internal server error",
        )
        .details("An unexpected error occurred. Please check the daemon logs.")
        .request_id(id)
    }

    /// Failed database query, reported like [`internal`](Self::internal).
    pub(crate) fn database(id: &RequestId) -> Self {
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "DB_ERROR",
            "Database query failed",
        )
        .details("look for the request id in the service's log, and run `hooks-guard doctor`")
        .request_id(id)
    }

    /// Sets the number of seconds to wait before a retry.
    pub(crate) fn retry_after(mut self, seconds: u64) -> Self {
        self.body.retry_after_seconds = Some(seconds);
        self
    }

    /// Returns the error code.
    pub(crate) fn code(&self) -> &'static str {
        self.body.code
    }

    /// Returns the message with its details, on one line.
    pub(crate) fn message(&self) -> String {
        match &self.body.details {
            Some(details) => format!("{}; {details}", self.body.error),
            None => self.body.error.clone(),
        }
    }

    pub(crate) fn details(mut self, details: impl Into<String>) -> Self {
        self.body.details = Some(details.into());
        self
    }

    /// Adds the invalid line of the body.
    pub(crate) fn excerpt(mut self, excerpt: &Excerpt) -> Self {
        self.body.excerpt = Some(excerpt.lines());
        self
    }

    fn request_id(mut self, id: &RequestId) -> Self {
        self.body.request_id = Some(id.0.clone());
        self
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let retry_after = self.body.retry_after_seconds;
        let ends = self.status == StatusCode::REQUEST_TIMEOUT;
        let mut response = (self.status, Json(self.body)).into_response();
        let headers = response.headers_mut();
        if let Some(seconds) = retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if ends {
            // The rest of the request body would be parsed as the next request.
            headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        if self.challenge {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}
