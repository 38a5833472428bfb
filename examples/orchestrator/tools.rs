//! Tools of the agent.

use hooks_runtime::toolset::{ExecuteTool, ToolCallContext, ToolFailure, ToolSet};
use serde::{Deserialize, Serialize};

/// Tools of the agent; the derive generates their hook set, `ToolsHooksSet`.
#[derive(Debug, ToolSet)]
pub(crate) enum Tools {
    /// Runs a command in the project.
    #[tool(output = Ran)]
    Run(RunInput),
    /// Deploys the project.
    #[tool(output = Deployed)]
    Deploy(DeployInput),
}

#[derive(Debug, Deserialize)]
pub(crate) struct RunInput {
    pub(crate) command: String,
}

#[derive(Debug, Serialize)]
pub(crate) struct Ran {
    pub(crate) stdout: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct DeployInput {
    pub(crate) target: String,
}

#[derive(Debug, Serialize)]
pub(crate) struct Deployed {
    pub(crate) version: u32,
}

/// Performs the tools; here it only prints them.
pub(crate) struct Workshop;

impl ExecuteTool<RunInput, Ran> for Workshop {
    async fn execute(&self, input: RunInput, _: ToolCallContext) -> Result<Ran, ToolFailure> {
        Ok(Ran {
            stdout: format!("$ {}\nok", input.command),
        })
    }
}

impl ExecuteTool<DeployInput, Deployed> for Workshop {
    async fn execute(
        &self,
        input: DeployInput,
        _: ToolCallContext,
    ) -> Result<Deployed, ToolFailure> {
        match &*input.target {
            "eu" => Ok(Deployed { version: 7 }),
            other => Err(format!("cannot deploy to `{other}`").into()),
        }
    }
}
