//! Tool sets: an agent's tools as one enum, with typed hooks that run before each tool.
//!
//! | Module | Subject |
//! |---|---|
//! | [`tool`] | [`ExecuteTool`]: runs a tool |
//! | [`call`] | [`ToolCall`], from outside; [`ToolCallContext`], for hooks and tools |
//! | [`decision`] | [`ToolDecision`]: output of a hook |
//! | [`set`] | [`ToolSet`] and [`RunTools`], which the derive implements |
//! | [`runner`] | [`ToolRunner`]: an executor and the hooks of its set |
//! | [`error`] | [`ToolError`]: reason for which a call has no output |
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

pub use call::{ToolCall, ToolCallContext, ToolCallOutput};
pub use decision::ToolDecision;
pub use error::{ToolError, ToolFailure};
pub use runner::{ToolParts, ToolRunner};
pub use set::{RunTools, ToolDescriptor, ToolSet};
pub use tool::ExecuteTool;

/// Generates the hooks of an enum of tools, and implements [`ToolSet`](trait@ToolSet) and
/// [`RunTools`] for it.
///
/// Each variant contains the input of one tool, which `serde` reads, and names the output, which
/// `serde` writes. For an enum `Tools` the derive generates the hook trait `ToolsHooks` and its set
/// `ToolsHooksSet<'h>`, as `#[hooks]` does, with the visibility of the enum. For a variant
/// `WebSearch(Search)` there is the slot `web_search`, whose hooks take `(Search,
/// ToolCallContext)`, return a [`ToolDecision`], and implement the trait `WebSearchHook`. The tool
/// is called `web_search`; the variant's documentation describes it.
///
/// | Attribute of a variant | Effect |
/// |---|---|
/// | `#[tool(output = Type)]` | sets the type of the tool's output; required |
/// | `#[tool(name = "…")]` | sets the name of the tool |
/// | `#[tool(hook = Name)]` | sets the name of its hook trait |
/// | `cfg`, `deprecated`, documentation | apply to the generated items of the tool |
pub use hooks_macros::ToolSet;

/// Items that derived code uses; may change in any release.
#[doc(hidden)]
pub mod __private {
    pub use super::decision::ToolPipeline;
    pub use super::set::{Listed, finish, read, write};
    pub use hooks_core::RegistrationError;
    pub use std::clone::Clone;
    pub use std::marker::{Sized, Sync};
    pub use std::primitive::str;
    pub use std::result::Result::{self, Ok};

    /// Result of a call. An alias: the compiler would otherwise show the path to this module in
    /// every error of a user.
    pub type Ran = Result<serde_json::Value, super::ToolError>;
}
