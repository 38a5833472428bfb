//! Shared code of the adapters: from a response to events.

use std::future::Future;
use std::time::Duration;

use futures_util::StreamExt;
use hooks_core::RequestExtensions;
use serde::Deserialize;
use serde_json::Value;

use super::config::ProviderConfig;
use super::http::{HttpResponse, HttpTransport};
use super::protocol::{Protocol, Reader};
use super::sse::{SseEvent, SseParser};
use crate::model::adapter::{AdapterError, AdapterEvent, AdapterEvents};
use crate::model::coroutine::{Coroutine, Yielder};

/// Receives a provider's events before they are parsed.
pub(crate) trait Observer: Send + Sync {
    fn see(
        &self,
        extensions: &RequestExtensions,
        event: &SseEvent,
    ) -> impl Future<Output = ()> + Send;
}

/// Sends a request, and reads the events of the response.
pub(crate) async fn exchange<'a, P: Protocol<Reader: 'a>>(
    transport: &'a impl HttpTransport,
    config: &ProviderConfig,
    body: Value,
    observer: &'a impl Observer,
    extensions: RequestExtensions,
) -> Result<AdapterEvents<'a>, AdapterError> {
    let limits = config.limits;
    let mut reader = P::reader(limits);
    let response = transport.send(P::request(config, body)).await;
    let response = response.map_err(AdapterError::Transport)?;
    if !(200..300).contains(&response.status) {
        return Err(refusal(response).await);
    }
    Ok(Box::pin(Coroutine::new(|tx| async move {
        let most = limits.response_bytes;
        let read = read(response, most, observer, &extensions, &mut reader, &tx).await;
        if let Err(error) = read {
            tx.send(Err(error)).await;
        }
    })))
}

async fn read(
    mut response: HttpResponse<'_>,
    most: usize,
    observer: &impl Observer,
    extensions: &RequestExtensions,
    reader: &mut impl Reader,
    tx: &Yielder<Result<AdapterEvent, AdapterError>>,
) -> Result<(), AdapterError> {
    // An event cannot be longer than the response.
    let mut parser = SseParser::with_limit(most);
    let mut left = most;
    while let Some(bytes) = response.body.next().await {
        let bytes = bytes.map_err(AdapterError::Transport)?;
        left = left
            .checked_sub(bytes.len())
            .ok_or(AdapterError::TooLarge {
                what: "bytes",
                limit: most,
                setting: "max_response_bytes",
            })?;
        let events = parser.push(&bytes).map_err(AdapterError::protocol)?;
        for event in events {
            observer.see(extensions, &event).await;
            for event in reader.read(&event)? {
                tx.send(Ok(event)).await;
            }
            if reader.is_over() {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// Returns the JSON of an event.
pub(crate) fn json<'e, T: Deserialize<'e>>(event: &'e SseEvent) -> Result<T, AdapterError> {
    serde_json::from_str(&event.data).map_err(AdapterError::protocol)
}

/// An error of a provider; both use this form.
#[derive(Debug, Deserialize)]
pub(crate) struct WireError {
    #[serde(default)]
    message: String,
    #[serde(rename = "type")]
    kind: Option<String>,
    /// Text or a number.
    code: Option<Value>,
}

impl WireError {
    /// Returns the code, else the type.
    fn code(&self) -> Option<String> {
        let code = self.code.as_ref().and_then(|code| match code {
            Value::String(code) => Some(code.clone()),
            Value::Number(code) => Some(code.to_string()),
            _ => None,
        });
        code.or_else(|| self.kind.clone())
    }
}

impl From<WireError> for AdapterError {
    fn from(error: WireError) -> Self {
        AdapterError::Provider {
            code: error.code(),
            message: error.message,
        }
    }
}

#[derive(Deserialize)]
struct Wrapped {
    error: WireError,
}

/// Maximum number of bytes of an error's body.
const MAX_ERROR_BYTES: usize = 64 << 10;

/// Maximum number of characters of it in a message, if it has an unknown form.
const MAX_SHOWN_CHARS: usize = 500;

async fn refusal(mut response: HttpResponse<'_>) -> AdapterError {
    let mut body = Vec::new();
    while body.len() < MAX_ERROR_BYTES {
        // The partial body is more useful than the error that ended it.
        let Some(Ok(bytes)) = response.body.next().await else {
            break;
        };
        body.extend(bytes);
    }
    body.truncate(MAX_ERROR_BYTES);
    let wait = response.header("retry-after");
    let retry_after = wait.and_then(|wait| wait.trim().parse().ok());
    let (code, message) = match serde_json::from_slice::<Wrapped>(&body) {
        Ok(Wrapped { error }) => (error.code(), error.message),
        Err(_) => {
            let text = String::from_utf8_lossy(&body);
            (None, text.trim().chars().take(MAX_SHOWN_CHARS).collect())
        }
    };
    AdapterError::Status {
        status: response.status,
        code,
        message,
        retry_after: retry_after.map(Duration::from_secs),
    }
}
