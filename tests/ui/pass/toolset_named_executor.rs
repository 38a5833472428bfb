//! A tool set may have the name that the macro prefers for the executor's type, and one of its
//! tools that name in its raw form.

use futures_executor::block_on;
use hooks_runtime::toolset::{
    ExecuteTool, ToolCall, ToolCallContext, ToolFailure, ToolRunner, ToolSet,
};

#[derive(ToolSet)]
enum Executor {
    #[tool(output = u8)]
    Add(u8),
}

mod raw {
    #[derive(serde::Deserialize)]
    pub struct Executor(pub u8);

    #[derive(hooks_runtime::toolset::ToolSet)]
    pub enum Tools {
        #[tool(output = u8)]
        Add(r#Executor),
    }
}

struct Station;

impl ExecuteTool<u8, u8> for Station {
    async fn execute(&self, input: u8, _: ToolCallContext) -> Result<u8, ToolFailure> {
        Ok(input + 1)
    }
}

impl ExecuteTool<raw::Executor, u8> for Station {
    async fn execute(&self, input: raw::Executor, _: ToolCallContext) -> Result<u8, ToolFailure> {
        Ok(input.0 + 2)
    }
}

pub(crate) fn main() {
    let call = || ToolCall::new("1", "add", 4.into());
    let runner = ToolRunner::<Executor, _>::with_hooks(Station, ExecutorHooksSet::new());
    assert_eq!(block_on(runner.execute(call())).unwrap(), 5);
    let runner = ToolRunner::<raw::Tools, _>::new(Station);
    assert_eq!(block_on(runner.execute(call())).unwrap(), 6);
}
