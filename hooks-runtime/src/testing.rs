//! Test kit for authors of hooks, and for programs that emit events.
//!
//! | Purpose | Item |
//! |---|---|
//! | record the events that a program emits, and return scripted results | [`EventRecorder`] |
//! | a host that applies hooks' results, and records everything | [`TestCoordinator`] |
//! | a tool that only records its calls | [`MockTool`] |
//! | test a hook against the contract of every hook | [`hook_behavior_tests!`](crate::hook_behavior_tests), [`contract`] |
//! | test a program against this contract | the binary `hooks-validate` (feature `validate`) |
//!
//! ```
//! use hooks_runtime::testing::{EventRecorder, MockTool};
//! use hooks_runtime::{HookRegistry, HookResult, events};
//! use serde_json::json;
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let hooks = HookRegistry::new();
//! let recorder = EventRecorder::new().returning("tool:pre", HookResult::deny("not today"));
//! recorder.attach(&hooks, events::STANDARD);
//! let tool = MockTool::new("bash").returning(json!({"stdout": "done"}));
//!
//! let emission = hooks.emit("tool:pre", json!({"tool_name": tool.name()})).await.unwrap();
//! if !emission.is_denied() {
//!     tool.call(json!({"command": "ls"})).await.unwrap();
//! }
//!
//! recorder.assert_sequence(["tool:pre"]);
//! tool.assert_not_called();
//! # });
//! ```

mod behavior_tests;
pub mod contract;
mod coordinator;
mod mock_tool;
mod recorder;
mod shown;

pub use coordinator::TestCoordinator;
pub use mock_tool::MockTool;
pub use recorder::{EventRecorder, RecordedEvent};

/// Functions that the expansion of [`hook_behavior_tests!`](crate::hook_behavior_tests) calls.
#[doc(hidden)]
pub mod __private {
    pub use super::behavior_tests::{Make, check};
    pub use super::contract::Subject;
}
