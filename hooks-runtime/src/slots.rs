//! Dynamic semantics on typed slots: the rules of the registries as companions of the slots that
//! `#[hooks]` declares.
//!
//! | Rules of | Slot | Output of a hook | Result |
//! |---|---|---|---|
//! | PRE | `always, chain = FirstDecision` | [`HookResponse`](crate::HookResponse), or a `Result` of it | the first response other than `CONTINUE`, else the last response |
//! | POST | `always, aggregate = LogFailures, output = ()` | `Result<(), E>` | nothing; errors are logged |
//! | an event | `always, chain = StopAtDenial, aggregate = StrictestResult` | [`HookResult`](crate::HookResult) | one `HookResult`, merged as [`Emission::result`](crate::Emission::result) merges it |
//! | an event, with changed data from hook to hook | `fallback, custom = EventPipeline`, first parameter [`SlotEvent`] | `HookResult`, `Result<HookResult, HookError>` or [`EventOutput`] | the same type; [`EventOutput`] contains the [`Emission`](crate::Emission) |
//!
//! | Companion | Role | Effect |
//! |---|---|---|
//! | [`FirstDecision`] | chain | stops at the first response other than `CONTINUE`, and at an error |
//! | [`DenyFailures`] | finalizer | turns the error of a PRE slot into `DENY` |
//! | [`LogFailures`] | aggregate | logs the errors of a POST slot, and returns nothing |
//! | [`StopAtDenial`] | chain | stops at `deny` |
//! | [`StrictestResult`] | aggregate | merges results by the precedence of actions |
//! | [`ScalarResult`] | finalizer | summarizes an emission as one `HookResult` |
//! | [`EventPipeline`] | custom | merges each output as `emit` does, and passes the changed data on |
//!
//! The companions merge with the code that the registries run. A registry can be a hook of a slot,
//! so that plugins that register at run time take part in a typed dispatch:
//!
//! | Registry | Parameters of the slot | Output of the slot |
//! |---|---|---|
//! | [`HookRegistry`](crate::HookRegistry) | [`SlotEvent`], with an [`EventPipeline`] | [`EventOutput`] |
//! | [`PhaseRegistry`](crate::PhaseRegistry), PRE | `&Req` | `Result<HookResponse, HookError>` |
//! | [`PhaseRegistry`](crate::PhaseRegistry), POST | `&Res`, or `&Res` and `Option<&str>` | `Result<(), HookError>` |
//!
//! A set can be a handler of an event, by its [`EventOutput`], and a PRE hook, by an implementation
//! of [`PreHook`](crate::PreHook) that calls it.
//!
//! ```
//! use hooks_runtime::slots::{FirstDecision, StopAtDenial, StrictestResult};
//! use hooks_runtime::{Action, HookResponse, HookResult, ResponseAction, hooks, impl_hook};
//!
//! #[hooks]
//! trait AgentHooks {
//!     #[hook(fallback, chain = FirstDecision)]
//!     async fn pre_tool_use(_tool: &str) -> HookResponse {
//!         HookResponse::proceed()
//!     }
//!
//!     #[hook(always, chain = StopAtDenial, aggregate = StrictestResult)]
//!     async fn tool_pre(_tool: &str) -> HookResult {
//!         HookResult::proceed()
//!     }
//! }
//!
//! #[impl_hook(PreToolUse)]
//! async fn no_shell(tool: &str) -> HookResponse {
//!     match tool {
//!         "shell" => HookResponse::new(ResponseAction::Deny),
//!         _ => HookResponse::proceed(),
//!     }
//! }
//!
//! #[impl_hook(ToolPre)]
//! async fn asks(_tool: &str) -> HookResult {
//!     HookResult::ask_user("Run the tool?")
//! }
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let hooks = AgentHooksSet::new().with_pre_tool_use(NoShell).with_tool_pre(Asks);
//! assert!(!hooks.pre_tool_use("shell").await.is_continue());
//! assert_eq!(hooks.tool_pre("fetch").await.action, Action::AskUser);
//! # });
//! ```

mod event;
mod output;
mod pipeline;
mod post;
mod pre;
mod registry;
mod result;

pub use event::SlotEvent;
pub use output::{EventOutput, PipelineOutput};
pub use pipeline::EventPipeline;
pub use post::LogFailures;
pub use pre::{DenyFailures, FirstDecision};
pub use result::{ScalarResult, StopAtDenial, StrictestResult};
