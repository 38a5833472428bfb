//! Adapters in the style of two providers, with hooks of their own.
//!
//! They translate between operations and a provider's JSON and events, and leave HTTP to an
//! [`HttpTransport`]: a dozen lines around whatever client the program has.
//!
//! | Module | Subject |
//! |---|---|
//! | [`openai`] | [`OpenAiAdapter`]: chat completions |
//! | [`claude`] | [`ClaudeAdapter`]: messages |
//! | [`http`] | [`HttpTransport`], and what it carries |
//! | [`sse`] | server-sent events, from bytes |
//!
//! Both sets have the same three slots:
//!
//! | Slot | Kind | |
//! |---|---|---|
//! | `select_model` | fallback | the model that is asked, given the one that was requested |
//! | `on_request_body` | fallback | the JSON that is sent, given the one that was made |
//! | `on_wire_event` | always | sees each event of the provider's, as it came |

pub mod claude;
pub mod http;
pub mod openai;
pub mod sse;

mod answer;
mod config;
mod limits;
mod protocol;

pub use claude::{ClaudeAdapter, ClaudeHooks, ClaudeHooksSet};
pub use config::ProviderConfig;
pub use http::{HttpBody, HttpRequest, HttpResponse, HttpTransport};
pub use openai::{OpenAiAdapter, OpenAiHooks, OpenAiHooksSet};
pub use sse::{SseEvent, SseParser};
