//! Loop between the model and its tools.

use hooks_runtime::Message;
use hooks_runtime::model::{HookedModel, ModelReply, ModelToolCall, ToolSpec};
use hooks_runtime::toolset::{ToolCall, ToolRunner};
use serde_json::{Value, json};

use crate::host::{Host, most_messages};
use crate::plugins::Quiet;
use crate::tools::{Tools, ToolsHooksSet, Workshop};

/// Maximum number of turns per prompt.
const TURNS: usize = 6;

pub(crate) struct Agent {
    model: HookedModel<'static>,
    tools: ToolRunner<'static, Tools, Workshop>,
}

impl Agent {
    pub(crate) fn new(model: HookedModel<'static>) -> Self {
        Agent {
            model,
            tools: ToolRunner::with_hooks(Workshop, ToolsHooksSet::new().with_run(Quiet)),
        }
    }

    /// Returns the response to the prompt, or the reason why there is none.
    pub(crate) async fn run(&self, host: &mut Host, prompt: &str) -> Result<String, String> {
        for _ in 0..TURNS {
            self.make_room(host, prompt).await?;
            let reply = self.ask(host).await?;
            host.say(reply.to_message());
            if reply.tool_calls.is_empty() {
                return reply
                    .output
                    .ok_or_else(|| "the model returned no text".to_owned());
            }
            for call in reply.tool_calls {
                let id = call.id.clone();
                let result = match self.call(host, call).await {
                    Ok(output) => output.to_string(),
                    Err(why) => format!("error: {why}"),
                };
                host.say(Message::tool_result(id, result));
            }
        }
        Err(format!("no response after {TURNS} turns"))
    }

    /// Compacts the conversation as hooks decide.
    async fn make_room(&self, host: &mut Host, prompt: &str) -> Result<(), String> {
        let length = json!({"messages": host.length()});
        let votes = host.decide("decision:context_resolution", length).await;
        let Some(keep) = most_messages(&votes).filter(|keep| *keep < host.length()) else {
            return Ok(());
        };
        let about = json!({"messages": host.length(), "keep": keep, "goal": prompt});
        host.emit("context:pre-compact", about).await?;
        host.compact(keep);
        Ok(())
    }

    /// Calls the model, and retries for as long as a hook requests it.
    async fn ask(&self, host: &mut Host) -> Result<ModelReply<String>, String> {
        let input = ["run", "deploy"]
            .into_iter()
            .fold(host.model_input(), |input, tool| {
                input.tool(ToolSpec::new(tool, json!({"type": "object"})))
            });
        for attempt in 1.. {
            match self.model.text_turn(input.clone()).collect().await {
                Ok(reply) => return Ok(reply),
                Err(error) if host.provider_failed(&error, attempt).await => {}
                Err(error) => return Err(error.to_string()),
            }
        }
        unreachable!("there is an attempt more")
    }

    /// Calls a tool if the hooks allow it, with the input as changed by them.
    async fn call(&self, host: &mut Host, call: ModelToolCall) -> Result<Value, String> {
        let wanted = json!({"tool_name": call.name});
        let votes = host.decide("decision:tool_resolution", wanted).await;
        let offers = |vote: &hooks_runtime::Map| {
            let tools = vote.get("tools").and_then(Value::as_array);
            tools.is_some_and(|tools| tools.contains(&call.name.as_str().into()))
        };
        if !votes.iter().any(offers) {
            return Err(format!("unknown tool `{}`", call.name));
        }

        let about = json!({"tool_name": call.name, "tool_input": call.input});
        let mut data = serde_json::Map::clone(&*host.emit("tool:pre", about).await?);
        let input = data.get("tool_input").cloned().unwrap_or_default();
        let result = self
            .tools
            .execute(ToolCall::new(call.id, call.name, input))
            .await;
        match &result {
            Ok(output) => {
                data.insert("tool_result".to_owned(), output.clone());
                host.tell("tool:post", data.into()).await;
            }
            Err(error) => {
                data.insert("error_message".to_owned(), error.to_string().into());
                host.tell("error:tool", data.into()).await;
            }
        }
        result.map_err(|error| error.to_string())
    }
}
