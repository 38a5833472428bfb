//! Adapters in the style of two providers, with hooks of their own.
//!
//! They convert between operations and a provider's JSON and events. HTTP is left to an
//! [`HttpTransport`]: a dozen lines around the program's HTTP client.
//!
//! | Module | Subject |
//! |---|---|
//! | [`openai`] | [`OpenAiAdapter`]: chat completions |
//! | [`claude`] | [`ClaudeAdapter`]: messages |
//! | [`http`] | [`HttpTransport`], its requests and responses |
//! | [`sse`] | server-sent events, parsed from bytes |
//!
//! Both sets have three slots:
//!
//! | Slot | Kind | Output |
//! |---|---|---|
//! | `select_model` | fallback | the model to use, from the requested one |
//! | `on_request_body` | fallback | the JSON to send, from the generated one |
//! | `on_wire_event` | always | none; receives each event of the provider |

pub mod claude;
pub mod http;
pub mod openai;
pub mod sse;

mod adapter;
mod config;
mod limits;
mod protocol;
mod response;

pub use claude::{ClaudeAdapter, ClaudeHooks, ClaudeHooksSet};
pub use config::ProviderConfig;
pub use http::{HttpBody, HttpRequest, HttpResponse, HttpTransport};
pub use openai::{OpenAiAdapter, OpenAiHooks, OpenAiHooksSet};
pub use sse::{SseEvent, SseParser};
