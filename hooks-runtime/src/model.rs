//! Hooks around a language model, whichever client talks to it.
//!
//! | Module | Subject |
//! |---|---|
//! | [`owner`] | [`HookedModel`]: an adapter, a budget, defaults and the hooks around them |
//! | [`hooks`] | [`ModelHooks`]: the three slots, and what they are given |
//! | [`call`] | one operation: its extensions, its stream, its reply |
//! | [`adapter`] | [`ModelAdapter`]: what a client has to implement, and what it answers |
//! | [`input`] | what a model is asked |
//! | [`event`] | what a caller gets |
//! | [`output`] | the two forms of output |
//! | [`budget`] | [`Budget`]: reserved before an operation, settled after it |
//! | [`error`] | [`ModelError`], and how it becomes an `error:provider` event |
//! | [`conversation`] | from a [`Conversation`](crate::Conversation) to a model, and back |
//! | [`provider`] | adapters in the style of OpenAI and of Claude, with hooks of their own |
//!
//! # One operation
//!
//! Nothing happens until the stream is polled. Then, in this order:
//!
//! 1. the extensions of the request are laid over the defaults of the model;
//! 2. `resolve_usage_estimate` says what the operation may use;
//! 3. the budget reserves that, or refuses, and then nothing is sent;
//! 4. `on_model_input` sees the input, of text and structured turns;
//! 5. the adapter is given the request, in which no type of the caller's is left;
//! 6. `on_stream_event` sees each event of the adapter before it is made into the typed event
//!    that the caller gets;
//! 7. the budget is settled with what was used.
//!
//! An error or a panic on the way, and a stream that is dropped, end the operation: no hook
//! runs any more. What was reserved is released as long as the adapter has not answered, and
//! counts afterwards: see [`Budget`].
//!
//! Hooks are typed slots: a panic in one goes to whoever polls the stream.

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
    ModelHooks, ModelHooksSet, ModelInputHookContext, ModelStreamEvent, StreamEventHookContext,
    UsageHookContext,
};
pub use input::{
    GenerationOptions, ModelInput, ModelMessage, ModelOperation, ModelRequest, OperationKind,
    OutputSchema, RawToolCall, ToolSpec,
};
pub use output::{Json, ModelOutput, Text};
pub use owner::{HookedModel, ModelParts};
