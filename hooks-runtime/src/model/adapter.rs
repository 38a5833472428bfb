//! The trait of model clients, and the events of their responses.

use std::error::Error;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::Stream;
use hooks_core::BoxFuture;
use serde::{Deserialize, Serialize};

use super::budget::Usage;
use super::input::{ModelRequest, RawToolCall};

/// Sends operations to a model, through any client.
///
/// One method serves all four kinds of operation. Implement it as an `async fn` that returns once
/// the model has begun to respond; the events are a stream, which may borrow the adapter.
///
/// ```
/// use hooks_runtime::model::{
///     AdapterError, AdapterEvent, AdapterEvents, FinishReason, ModelAdapter, ModelRequest,
/// };
///
/// /// Returns the prompt as the response.
/// struct Echo;
///
/// impl ModelAdapter for Echo {
///     async fn stream(&self, request: ModelRequest) -> Result<AdapterEvents<'_>, AdapterError> {
///         let prompt = request.operation.prompt().ok_or_else(|| {
///             AdapterError::unsupported("a conversation")
///         })?;
///         Ok(Box::pin(futures_util::stream::iter([
///             Ok(AdapterEvent::Text(prompt.to_owned())),
///             Ok(AdapterEvent::Finished(FinishReason::Stop)),
///         ])))
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a model adapter; implement `ModelAdapter`",
    label = "not an adapter"
)]
pub trait ModelAdapter: Send + Sync {
    /// Sends the operation.
    ///
    /// The stream has a [`Finished`](AdapterEvent::Finished) before its end: without one, the
    /// response counts as truncated. It is not polled again after an error. Dropping the future or
    /// the stream has to cancel the operation.
    ///
    /// After this has returned a stream, the operation costs, however it ends: see
    /// [`Budget`](super::Budget). The adapter also limits the size of a response: the text of its
    /// events is kept until the stream ends.
    ///
    /// # Errors
    /// Before the first event as the `Err` of this method, later as an item of the stream.
    fn stream(
        &self,
        request: ModelRequest,
    ) -> impl Future<Output = Result<AdapterEvents<'_>, AdapterError>> + Send;
}

/// Events of one operation. Dropping the stream cancels the operation.
pub type AdapterEvents<'a> =
    Pin<Box<dyn Stream<Item = Result<AdapterEvent, AdapterError>> + Send + 'a>>;

impl<A: ModelAdapter> ModelAdapter for Arc<A> {
    fn stream(
        &self,
        request: ModelRequest,
    ) -> impl Future<Output = Result<AdapterEvents<'_>, AdapterError>> + Send {
        (**self).stream(request)
    }
}

impl<A: ModelAdapter> ModelAdapter for &A {
    fn stream(
        &self,
        request: ModelRequest,
    ) -> impl Future<Output = Result<AdapterEvents<'_>, AdapterError>> + Send {
        (**self).stream(request)
    }
}

/// Reason for which a model has stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FinishReason {
    /// The response is complete.
    Stop,
    /// The response has reached the length limit.
    Length,
    /// The model requests tool calls.
    ToolCalls,
    /// The provider filtered the response.
    ContentFilter,
    /// Anything else, in the provider's words.
    Other(String),
}

/// Type-erased [`ModelAdapter`].
pub(crate) trait Erased: Send + Sync {
    fn start(
        &self,
        request: ModelRequest,
    ) -> BoxFuture<'_, Result<AdapterEvents<'_>, AdapterError>>;
}

impl<A: ModelAdapter> Erased for A {
    fn start(
        &self,
        request: ModelRequest,
    ) -> BoxFuture<'_, Result<AdapterEvents<'_>, AdapterError>> {
        Box::pin(self.stream(request))
    }
}

/// An event of a response, as an adapter sends it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum AdapterEvent {
    /// The model has begun to respond.
    Started {
        /// The provider's name for the response.
        id: Option<String>,
        /// The model that responds.
        model: Option<String>,
    },
    /// More of the text; of the JSON, in a structured operation.
    Text(String),
    /// More of the model's reasoning; not part of the response.
    Reasoning(String),
    /// More of the text of a refusal.
    Refusal(String),
    /// A tool call, once it is complete.
    ToolCall(RawToolCall),
    /// Total usage so far: the last one applies.
    Usage(Usage),
    /// Reason for which the model has stopped. Only a usage may follow.
    Finished(FinishReason),
}

/// Reason for which a response failed, at its start or later.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AdapterError {
    /// The provider responded with the status of an error.
    #[error("the provider responded with status {status}: {message}")]
    Status {
        /// The HTTP status.
        status: u16,
        /// Kind of the error, in the provider's words.
        code: Option<String>,
        /// Message of the provider.
        message: String,
        /// Delay that the provider requests before a retry.
        retry_after: Option<Duration>,
    },
    /// The provider reported an error during its response.
    #[error("the provider broke off its response: {message}")]
    Provider {
        /// Kind of the error, in the provider's words.
        code: Option<String>,
        /// Message of the provider.
        message: String,
    },
    /// The connection to the provider failed.
    #[error("the provider cannot be reached: {0}")]
    Transport(#[source] Box<dyn Error + Send + Sync>),
    /// The provider's response has an unknown format.
    #[error("the provider's response is not what its protocol says: {0}")]
    Protocol(#[source] Box<dyn Error + Send + Sync>),
    /// The response exceeds a limit of the adapter.
    #[error(
        "the response has more than {limit} {what}; where that is not too many, raise `{setting}` of the adapter"
    )]
    TooLarge {
        /// Unit of the limit: `bytes`, `tool calls` or `bytes of arguments`.
        what: &'static str,
        /// The limit.
        limit: usize,
        /// The setting that raises the limit.
        setting: &'static str,
    },
    /// The adapter does not support the operation.
    #[error("the adapter cannot ask the provider for {what}")]
    Unsupported {
        /// The unsupported feature.
        what: String,
    },
    /// Anything else.
    #[error(transparent)]
    Other(Box<dyn Error + Send + Sync>),
}

impl AdapterError {
    /// Creates a [`Transport`](Self::Transport) error.
    pub fn transport(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        AdapterError::Transport(error.into())
    }

    /// Creates a [`Protocol`](Self::Protocol) error.
    pub fn protocol(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        AdapterError::Protocol(error.into())
    }

    /// Creates an [`Unsupported`](Self::Unsupported) error.
    pub fn unsupported(what: impl Into<String>) -> Self {
        AdapterError::Unsupported { what: what.into() }
    }

    /// Creates an [`Other`](Self::Other) error.
    pub fn other(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        AdapterError::Other(error.into())
    }

    /// Returns the kind of the error: `status`, `provider`, `transport`, `protocol`, `too_large`,
    /// `unsupported` or `other`.
    pub fn kind(&self) -> &'static str {
        match self {
            AdapterError::Status { .. } => "status",
            AdapterError::Provider { .. } => "provider",
            AdapterError::Transport(_) => "transport",
            AdapterError::Protocol(_) => "protocol",
            AdapterError::TooLarge { .. } => "too_large",
            AdapterError::Unsupported { .. } => "unsupported",
            AdapterError::Other(_) => "other",
        }
    }

    /// Returns the HTTP status, if the provider sent an error status.
    pub fn status(&self) -> Option<u16> {
        match self {
            AdapterError::Status { status, .. } => Some(*status),
            _ => None,
        }
    }

    /// Returns the kind of the error, in the provider's words.
    pub fn code(&self) -> Option<&str> {
        match self {
            AdapterError::Status { code, .. } | AdapterError::Provider { code, .. } => {
                code.as_deref()
            }
            _ => None,
        }
    }

    /// Returns the delay that the provider requests before a retry.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            AdapterError::Status { retry_after, .. } => *retry_after,
            _ => None,
        }
    }
}
