//! What a client of a model implements, and what it answers.

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

/// Sends operations to a model, through whatever client.
///
/// One method serves all four kinds of operation. Written as an `async fn`, which is over
/// once the model has begun to answer; the events are a stream, which may borrow the adapter.
///
/// ```
/// use hooks_runtime::model::{
///     AdapterError, AdapterEvent, AdapterEvents, FinishReason, ModelAdapter, ModelRequest,
/// };
///
/// /// Answers with the prompt.
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
    message = "`{Self}` is no adapter for a model; implement `ModelAdapter` for it",
    label = "not an adapter"
)]
pub trait ModelAdapter: Send + Sync {
    /// Sends the operation.
    ///
    /// The stream has a [`Finished`](AdapterEvent::Finished) before its end: without one, the
    /// answer counts as cut off. It is not polled again after an error. Dropping the future
    /// or the stream has to end the operation.
    ///
    /// Once it has given a stream, the operation costs, however it ends: see
    /// [`Budget`](super::Budget). How large an answer may become is up to the adapter, too: the
    /// text of its events is kept until the stream ends.
    ///
    /// # Errors
    /// Before the first event as the `Err` of this, later as one of the stream.
    fn stream(
        &self,
        request: ModelRequest,
    ) -> impl Future<Output = Result<AdapterEvents<'_>, AdapterError>> + Send;
}

/// The events of one operation. Dropping them ends the operation.
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
    /// The answer is complete.
    Stop,
    /// The answer has become too long.
    Length,
    /// Tools are to be called.
    ToolCalls,
    /// The provider does not let the answer pass.
    ContentFilter,
    /// Anything else, in the provider's words.
    Other(String),
}

/// An adapter as an owner holds it.
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

/// One event of an answer, as an adapter sends it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum AdapterEvent {
    /// The model has begun to answer.
    Started {
        /// The provider's name for the answer.
        id: Option<String>,
        /// The model that answers.
        model: Option<String>,
    },
    /// More of the text; of the JSON, in a structured operation.
    Text(String),
    /// More of what the model thinks aloud; no part of the answer.
    Reasoning(String),
    /// More of the text in which the model refuses to answer.
    Refusal(String),
    /// A tool call, once it is complete.
    ToolCall(RawToolCall),
    /// What has been used so far, in total: the last one counts.
    Usage(Usage),
    /// Why the model has stopped. Only a usage may follow.
    Finished(FinishReason),
}

/// Why an adapter has no answer, or no more of it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AdapterError {
    /// The provider answered with the status of an error.
    #[error("the provider answered with status {status}: {message}")]
    Status {
        /// The HTTP status.
        status: u16,
        /// What kind of error it is, in the provider's words.
        code: Option<String>,
        /// What the provider says.
        message: String,
        /// How long the provider asks to wait.
        retry_after: Option<Duration>,
    },
    /// The provider reported an error amid its answer.
    #[error("the provider broke off its answer: {message}")]
    Provider {
        /// What kind of error it is, in the provider's words.
        code: Option<String>,
        /// What the provider says.
        message: String,
    },
    /// The provider could not be reached, or no longer.
    #[error("the provider cannot be reached: {0}")]
    Transport(#[source] Box<dyn Error + Send + Sync>),
    /// The provider answered what nobody understands.
    #[error("the provider's answer is not what its protocol says: {0}")]
    Protocol(#[source] Box<dyn Error + Send + Sync>),
    /// The answer is larger than the adapter lets it become.
    #[error(
        "the answer has more than {limit} {what}; where that is not too many, raise `{setting}` of the adapter"
    )]
    TooLarge {
        /// What there is too much of: `bytes`, `tool calls` or `bytes of arguments`.
        what: &'static str,
        /// How much of it there may be.
        limit: usize,
        /// The setting that raises the limit.
        setting: &'static str,
    },
    /// The adapter cannot ask for what the operation needs.
    #[error("the adapter cannot ask the provider for {what}")]
    Unsupported {
        /// What it cannot ask for.
        what: String,
    },
    /// Anything else.
    #[error(transparent)]
    Other(Box<dyn Error + Send + Sync>),
}

impl AdapterError {
    /// The provider could not be reached, or no longer.
    pub fn transport(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        AdapterError::Transport(error.into())
    }

    /// The provider answered what nobody understands.
    pub fn protocol(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        AdapterError::Protocol(error.into())
    }

    /// The adapter cannot ask for this.
    pub fn unsupported(what: impl Into<String>) -> Self {
        AdapterError::Unsupported { what: what.into() }
    }

    /// An error that fits nothing else.
    pub fn other(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        AdapterError::Other(error.into())
    }

    /// What kind of error it is: `status`, `provider`, `transport`, `protocol`, `too_large`,
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

    /// The HTTP status, where the provider answered with one.
    pub fn status(&self) -> Option<u16> {
        match self {
            AdapterError::Status { status, .. } => Some(*status),
            _ => None,
        }
    }

    /// What kind of error it is, in the provider's words.
    pub fn code(&self) -> Option<&str> {
        match self {
            AdapterError::Status { code, .. } | AdapterError::Provider { code, .. } => {
                code.as_deref()
            }
            _ => None,
        }
    }

    /// How long the provider asks to wait.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            AdapterError::Status { retry_after, .. } => *retry_after,
            _ => None,
        }
    }
}
