//! A conversation that event hooks change, and a model that continues it.

use std::sync::Arc;

use hooks_runtime::model::{
    HookedModel, ModelHooksSet, ModelInput, ModelInputHookContext, ModelMessage, RawToolCall,
    ToolSpec, Unlimited, hooks::OnModelInput,
};
use hooks_runtime::{
    ContextRole, Conversation, Coordinator, HookRegistry, HookResult, Map, Message, RegisterOptions,
};
use serde_json::json;

use crate::kit::{Log, Script, call, stop, text};

/// Records the input of the model.
struct Input(Log);

impl OnModelInput for Input {
    async fn call(&self, cx: &ModelInputHookContext<'_>) {
        for message in &cx.input().messages {
            self.0.add(format_args!("{message:?}"));
        }
    }
}

#[tokio::test]
async fn t_71_e_111_a_model_hook_sees_the_injections_of_event_hooks() {
    let registry = HookRegistry::new();
    let lint =
        |_: Arc<str>, _: Arc<Map>| HookResult::inject_context("line 3 is too long").ephemeral(true);
    registry.register("tool:post", lint, RegisterOptions::new());
    let mut conversation = Conversation::new();
    conversation.push(Message::user("write it"));
    let coordinator = Coordinator::new();
    let emission = registry.emit("tool:post", ()).await.unwrap();
    assert_eq!(emission.injections[0].role, ContextRole::System);
    let applied = coordinator
        .apply(emission, &mut conversation)
        .await
        .unwrap();
    assert!(!applied.is_denied());

    let log = Log::new();
    let hooks = ModelHooksSet::new().with_on_model_input(Input(log.clone()));
    let script = Script::new(&Log::new(), [text("done"), stop()]);
    let model = HookedModel::with_hooks(script, Unlimited, hooks);
    let input = ModelInput::from_messages(conversation.next_call()).unwrap();
    let reply = model.text_turn(input).collect().await.unwrap();
    assert_eq!(
        log.take(),
        ["User(\"write it\")", "System(\"line 3 is too long\")"]
    );
    conversation.push(reply.to_message().into());
    assert_eq!(conversation.history()[1], Message::assistant("done"));
}

#[tokio::test]
async fn t_71_tool_calls_and_results_round_trip_through_a_conversation() {
    let script = Script::new(
        &Log::new(),
        [call("weather", "{\"city\":\"Oslo\"}"), stop()],
    );
    let tool = ToolSpec::new("weather", json!({}));
    let input = ModelInput::user("hi").tool(tool);
    let reply = HookedModel::new(script, Unlimited).text_turn(input);
    let reply = reply.collect().await.unwrap();
    let mut messages = vec![
        ModelMessage::System("be brief".to_owned()),
        ModelMessage::User("hi".to_owned()),
        reply.to_message(),
    ];
    for is_error in [false, true] {
        messages.push(ModelMessage::ToolResult {
            call_id: "call-1".to_owned(),
            content: "cold".to_owned(),
            is_error,
        });
    }
    let calls = vec![RawToolCall::new("call-1", "weather", "{\"city\":\"Oslo\"}")];
    assert_eq!(
        messages[2],
        ModelMessage::Assistant {
            text: String::new(),
            tool_calls: calls
        }
    );
    let stored: Vec<Message> = messages.iter().cloned().map(Message::from).collect();
    let stored = serde_json::to_string(&stored).unwrap();
    let stored: Vec<Message> = serde_json::from_str(&stored).unwrap();
    assert_eq!(
        ModelInput::from_messages(stored).unwrap().messages,
        messages
    );
}

#[test]
fn t_71_a_message_that_cannot_be_converted_is_an_error() {
    let mut nameless = Message::tool_result("1", "cold");
    nameless.tool_call_id = None;
    let error = ModelInput::from_messages([nameless]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the result of a tool names no call; set its `tool_call_id`"
    );

    let mut calling = Message::assistant("");
    calling
        .extra
        .insert("tool_calls".to_owned(), json!([{"name": "weather"}]));
    let error = ModelInput::from_messages([calling]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the `tool_calls` of a message cannot be read: missing field `id`; each has an `id`, a `name` and `arguments`, which are a text"
    );
}
