//! The enum of a tool set may be in a module that shadows names of the standard library and of the
//! framework.

#![allow(dead_code, non_camel_case_types, non_snake_case)]

mod shadowed {
    mod std {}
    mod core {}
    mod hooks_core {}
    mod hooks_runtime {}
    mod serde {}
    mod serde_json {}
    struct Option;
    struct Result;
    struct String;
    struct Value;
    struct Box;
    struct Vec;
    struct ToolCall;
    struct ToolCallContext;
    struct ToolDecision;
    struct ToolError;
    struct Weather;
    struct bool;
    struct str;
    trait Send {}
    trait Sync {}
    trait Sized {}
    trait Clone {}
    trait Default {}
    trait Future {}
    trait ToolSet {}
    trait RunTools {}
    trait ExecuteTool {}
    fn Some() {}
    fn Ok() {}
    fn Err() {}
    fn Run() {}

    /// Has the name that the macro prefers for the executor's type.
    #[derive(::serde::Deserialize)]
    pub struct Executor(pub ::std::primitive::u8);

    #[derive(::hooks_runtime::toolset::ToolSet)]
    pub enum Tools {
        #[tool(output = ::std::primitive::u8)]
        Weather(Executor),
        #[tool(output = Executor_)]
        Match(Executor),
        #[deprecated = "use the other one"]
        #[tool(output = &'static ::std::primitive::str)]
        Execute(Executor),
    }

    #[derive(::serde::Serialize)]
    pub struct Executor_;

    pub struct Doubles;

    #[::hooks_runtime::impl_hooks(ToolsHooksSet)]
    impl ToolsHooks for Doubles {
        async fn weather(
            &self,
            input: Executor,
            _: ::hooks_runtime::toolset::ToolCallContext,
        ) -> ::hooks_runtime::toolset::ToolDecision<Executor, u8> {
            ::hooks_runtime::toolset::ToolDecision::Run(Executor(2 * input.0))
        }
    }
}

use futures_executor::block_on;
use hooks_runtime::toolset::{ExecuteTool, ToolCall, ToolCallContext, ToolFailure, ToolRunner};
use shadowed::*;

struct Station;

impl ExecuteTool<Executor, u8> for Station {
    async fn execute(&self, input: Executor, _: ToolCallContext) -> Result<u8, ToolFailure> {
        Ok(input.0)
    }
}

impl ExecuteTool<Executor, Executor_> for Station {
    async fn execute(&self, _: Executor, _: ToolCallContext) -> Result<Executor_, ToolFailure> {
        Ok(Executor_)
    }
}

impl ExecuteTool<Executor, &'static str> for Station {
    async fn execute(&self, _: Executor, _: ToolCallContext) -> Result<&'static str, ToolFailure> {
        Ok("done")
    }
}

pub(crate) fn main() {
    // A tool set may be in a function as well, and use its items.
    #[derive(hooks_runtime::toolset::ToolSet)]
    enum Inner {
        #[tool(output = u8)]
        Add(Executor),
    }

    let hooks = ToolsHooksSet::new().with_hooks(Doubles);
    let runner = ToolRunner::<Tools, _>::with_hooks(Station, hooks);
    let run = |name| block_on(runner.execute(ToolCall::new("1", name, 4.into()))).unwrap();
    assert_eq!(run("weather"), 8);
    assert!(run("match").is_null());
    assert_eq!(run("execute"), "done");
    let inner = ToolRunner::<Inner, _>::new(Station);
    let call = ToolCall::new("1", "add", 4.into());
    assert_eq!(block_on(inner.execute(call)).unwrap(), 4);
}
