//! Hooks around a language model, with any client.
//!
//! | Module | Subject |
//! |---|---|
//! | [`owner`] | [`HookedModel`]: an adapter, a budget, defaults and the hooks around them |
//! | [`hooks`] | [`ModelHooks`]: the slots, and their parameters |
//! | [`call`] | one operation: its extensions, its stream, its reply |
//! | [`adapter`] | [`ModelAdapter`]: the trait of clients, and their events |
//! | [`input`] | input of a model |
//! | [`event`] | events for the caller |
//! | [`output`] | the two forms of output |
//! | [`budget`] | [`Budget`]: reserved before an operation, settled after it |
//! | [`error`] | [`ModelError`], and its conversion into an `error:provider` event |
//! | [`conversation`] | converts between a [`Conversation`](crate::Conversation) and a model's messages |
//! | [`provider`] | adapters in the style of OpenAI and of Claude, with hooks of their own |
//!
//! # One operation
//!
//! An operation starts when its stream is polled. Then, in this order:
//!
//! 1. the extensions of the request override the defaults of the model;
//! 2. `resolve_usage_estimate` estimates the usage of the operation;
//! 3. the budget reserves the estimate, or refuses, and then nothing is sent;
//! 4. `on_model_input` receives the input, of text and structured turns;
//! 5. the adapter receives the request, which contains no type of the caller;
//! 6. `on_stream_event` receives each event of the adapter before it is converted into the
//!    typed event for the caller;
//! 7. the budget is settled with the usage;
//! 8. `on_operation_end` receives the outcome.
//!
//! An error, a panic, or dropping the stream ends the operation: of the hooks, only `on_operation_end` runs. The
//! reservation is released if the adapter has not answered yet, and counts afterwards: see
//! [`Budget`].
//!
//! Hooks are typed slots: a panic in a hook propagates to the task that polls the stream.

pub mod adapter;
pub mod budget;
pub mod call;
pub mod conversation;
pub mod error;
pub mod event;
pub mod hooks;
pub mod input;
pub mod output;
pub mod owner;
pub mod provider;

mod coroutine;

pub use adapter::{AdapterError, AdapterEvent, AdapterEvents, FinishReason, ModelAdapter};
pub use budget::{Budget, BudgetError, Unlimited, Usage, UsageBudget, UsageEstimate};
pub use call::{ModelCall, ModelStream};
pub use conversation::InvalidMessage;
pub use error::{ModelError, emit_provider_error};
pub use event::{ModelEvent, ModelReply, ModelToolCall};
pub use hooks::{
    ModelHooks, ModelHooksSet, ModelInputHookContext, ModelStreamEvent, OperationEndHookContext,
    OperationOutcome, StreamEventHookContext, UsageHookContext,
};
pub use input::{
    GenerationOptions, ModelInput, ModelMessage, ModelOperation, ModelRequest, OperationKind,
    OutputSchema, RawToolCall, ToolSpec,
};
pub use output::{Json, ModelOutput, Text};
pub use owner::{HookedModel, ModelParts};
