//! Tool sets: the tools of an agent as one enum, whose calls pass typed hooks before the tool
//! runs.
//!
//! | Module | Subject |
//! |---|---|
//! | [`tool`] | [`ExecuteTool`]: what runs a tool |
//! | [`call`] | [`ToolCall`], as it comes from outside; [`ToolCallContext`], what hooks and tools know of it |
//! | [`decision`] | [`ToolDecision`]: what a hook answers |
//! | [`set`] | [`ToolSet`] and [`RunTools`], which the derive implements |
//! | [`runner`] | [`ToolRunner`]: an executor and the hooks of its set |
//! | [`error`] | [`ToolError`]: why a call has no output |
//!
//! ```
//! use hooks_runtime::toolset::{
//!     ExecuteTool, ToolCall, ToolCallContext, ToolDecision, ToolFailure, ToolRunner, ToolSet,
//! };
//! use hooks_runtime::impl_hooks;
//! use serde::Deserialize;
//! use serde_json::json;
//!
//! #[derive(Deserialize)]
//! struct Weather {
//!     city: String,
//! }
//!
//! #[derive(ToolSet)]
//! enum Tools {
//!     /// The weather of a city.
//!     #[tool(output = String)]
//!     Weather(Weather),
//! }
//!
//! struct Station;
//!
//! impl ExecuteTool<Weather, String> for Station {
//!     async fn execute(&self, input: Weather, _: ToolCallContext) -> Result<String, ToolFailure> {
//!         Ok(format!("sunny in {}", input.city))
//!     }
//! }
//!
//! struct HomeOnly;
//!
//! #[impl_hooks(ToolsHooksSet)]
//! impl ToolsHooks for HomeOnly {
//!     async fn weather(
//!         &self,
//!         input: Weather,
//!         _context: ToolCallContext,
//!     ) -> ToolDecision<Weather, String> {
//!         if input.city == "Berlin" {
//!             ToolDecision::Run(input)
//!         } else {
//!             ToolDecision::Reject("only at home".into())
//!         }
//!     }
//! }
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let hooks = ToolsHooksSet::new().with_hooks(HomeOnly);
//! let runner = ToolRunner::<Tools, _>::with_hooks(Station, hooks);
//!
//! let call = ToolCall::new("call-1", "weather", json!({"city": "Berlin"}));
//! assert_eq!(runner.execute(call).await.unwrap(), json!("sunny in Berlin"));
//!
//! let call = ToolCall::new("call-2", "weather", json!({"city": "Rome"}));
//! assert!(runner.execute(call).await.is_err());
//! # });
//! ```

pub mod call;
pub mod decision;
pub mod error;
pub mod runner;
pub mod set;
pub mod tool;

pub use call::{ToolCall, ToolCallContext};
pub use decision::ToolDecision;
pub use error::{ToolError, ToolFailure};
pub use runner::{ToolParts, ToolRunner};
pub use set::{RunTools, ToolDescriptor, ToolSet};
pub use tool::ExecuteTool;

/// Generates the hooks of an enum of tools, and implements [`ToolSet`](trait@ToolSet) and
/// [`RunTools`] for it.
///
/// Each variant holds the input of one tool, which `serde` reads, and names the output, which
/// `serde` writes. For an enum `Tools` there are the hook trait
/// `ToolsHooks` and its set `ToolsHooksSet<'h>`, as `#[hooks]` would make them, as visible as the
/// enum. For a variant `WebSearch(Search)` there is the slot `web_search`, whose hooks take
/// `(Search, ToolCallContext)`, answer a [`ToolDecision`], and implement the trait
/// `WebSearchHook`. The tool is called `web_search`; the variant's documentation describes it.
///
/// | On a variant | Does |
/// |---|---|
/// | `#[tool(output = Type)]` | says what the tool answers; every variant has it |
/// | `#[tool(name = "…")]` | gives the tool another name |
/// | `#[tool(hook = Name)]` | gives the trait of its hooks another name |
/// | `cfg`, `deprecated`, documentation | reach what is generated for the tool |
pub use hooks_macros::ToolSet;

/// What derived code calls; free to change in any release.
#[doc(hidden)]
pub mod __private {
    pub use super::decision::ToolPipeline;
    pub use super::set::{Listed, finish, read, write};
    pub use std::clone::Clone;
    pub use std::marker::{Sized, Sync};
    pub use std::primitive::str;

    /// What comes of a call. An alias: what is exported here, the compiler would name by the
    /// path to this module, in every error of a user's.
    pub type Ran = Result<serde_json::Value, super::ToolError>;
}
