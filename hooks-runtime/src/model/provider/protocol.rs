//! What differs between providers: a request in, its JSON and its HTTP request out; events of a
//! response in, events of an adapter out.

use serde_json::Value;

use super::config::{Options, ProviderConfig};
use super::http::HttpRequest;
use super::limits::ResponseLimits;
use super::sse::SseEvent;
use crate::model::adapter::{AdapterError, AdapterEvent};
use crate::model::input::ModelOperation;

/// Protocol of a provider.
pub(crate) trait Protocol {
    /// Reads one response.
    type Reader: Reader;

    /// Returns the JSON to send.
    fn body(operation: &ModelOperation, options: Options) -> Result<Value, AdapterError>;

    /// Returns the HTTP request, with address and key.
    fn request(config: &ProviderConfig, body: Value) -> HttpRequest;

    fn reader(limits: ResponseLimits) -> Self::Reader;
}

/// Converts the events of a provider into events of an adapter.
pub(crate) trait Reader: Send {
    fn read(&mut self, event: &SseEvent) -> Result<Vec<AdapterEvent>, AdapterError>;

    /// Returns `true` after the last event of the response. Later bytes are neither read nor awaited.
    fn is_over(&self) -> bool;
}
