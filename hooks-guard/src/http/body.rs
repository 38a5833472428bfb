//! JSON request bodies. Takes a body of any content type; returns its fields, or an API error.

use std::time::Duration;

use axum::body::{Body, Bytes};
use hooks_runtime::display::json_message;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::Body as _;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tokio::time::timeout;

use super::error::ApiError;
use crate::excerpt::Excerpt;

/// Maximum length of a body in bytes; longer than the longest command in its longest encoding.
const MAX_BODY_BYTES: usize = 512 * 1024;
/// Timeout for receiving a body.
const BODY_TIMEOUT: Duration = Duration::from_secs(10);

/// Reads a body.
pub(super) async fn bytes(body: Body) -> Result<Bytes, ApiError> {
    bytes_up_to(body, MAX_BODY_BYTES).await
}

/// Reads a body of at most this length in bytes.
pub(super) async fn bytes_up_to(body: Body, most: usize) -> Result<Bytes, ApiError> {
    if body.size_hint().lower() > most as u64 {
        return Err(ApiError::too_large(most));
    }
    match timeout(BODY_TIMEOUT, Limited::new(body, most).collect()).await {
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(ApiError::too_large(most)),
        Ok(Err(_)) => Err(ApiError::invalid_json(
            "incomplete body; send as many bytes as `Content-Length`",
        )),
        Err(_) => Err(ApiError::too_slow(BODY_TIMEOUT)),
    }
}

/// Parses a body as a JSON object.
pub(crate) async fn object(body: Body) -> Result<Map<String, Value>, ApiError> {
    let bytes = bytes(body).await?;
    match serde_json::from_slice(&bytes) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(_) => Err(ApiError::invalid_json(
            "the body is not a JSON object; send one JSON object",
        )),
        Err(error) => {
            let text = String::from_utf8_lossy(&bytes);
            let excerpt = Excerpt::of_json(&text, &error);
            let details = format!(
                "Failed to parse JSON at line {} column {}: {}; send one JSON object",
                excerpt.line,
                excerpt.column,
                json_message(&error)
            );
            Err(ApiError::invalid_json(details).excerpt(&excerpt))
        }
    }
}

/// Removes a text field from a body. `null` counts as absent.
pub(crate) fn text(
    map: &mut Map<String, Value>,
    field: &'static str,
    most: usize,
) -> Result<Option<String>, ApiError> {
    match map.remove(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if text.chars().count() > most => {
            Err(ApiError::too_long(field, most))
        }
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(wrong_type(field, "a string")),
    }
}

/// Parses a flag of a body. `null` is rejected, although in all other optional fields it counts as
/// absent.
pub(crate) fn flag(map: &mut Map<String, Value>, field: &str) -> Result<bool, ApiError> {
    match map.remove(field) {
        None => Ok(false),
        Some(Value::Bool(flag)) => Ok(flag),
        Some(_) => Err(wrong_type(field, "true or false")),
    }
}

/// Parses an optional integer of a body; accepts `1.0`.
pub(crate) fn integer(
    map: &mut Map<String, Value>,
    field: &'static str,
    expected: &str,
) -> Result<Option<i64>, ApiError> {
    // Outside this range, JSON numbers may be rounded.
    const MAX_EXACT_INTEGER: f64 = 9_007_199_254_740_992.0;
    let whole = |number: f64| {
        let is_whole = number.fract() == 0.0 && number.abs() < MAX_EXACT_INTEGER;
        is_whole.then_some(number as i64)
    };
    match map.remove(field) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => {
            let number = value.as_i64().or_else(|| value.as_f64().and_then(whole));
            number.map(Some).ok_or_else(|| wrong_type(field, expected))
        }
    }
}

/// Parses the value of an optional field.
pub(crate) fn value<T: DeserializeOwned>(
    map: &mut Map<String, Value>,
    field: &str,
) -> Result<Option<T>, ApiError> {
    match map.remove(field) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => serde_path_to_error::deserialize(value)
            .map(Some)
            .map_err(|error| {
                let inner = error.path().to_string();
                let path = match inner.as_str() {
                    "." => field.to_owned(),
                    inner if inner.starts_with('[') => format!("{field}{inner}"),
                    inner => format!("{field}.{inner}"),
                };
                ApiError::invalid_json(format!("field `{path}`: {}", error.into_inner()))
            }),
    }
}

/// Error for a field of a wrong type.
pub(crate) fn wrong_type(field: &str, expected: &str) -> ApiError {
    ApiError::invalid_json(format!("field `{field}` must be {expected}"))
}
