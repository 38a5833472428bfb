//! How does a program observe the input, the output and the cost of a model?
//!
//! Implement `ModelAdapter` for the client and pass it to a `HookedModel`. Its hooks see each input
//! before it is sent and each event before the program does. Its budget refuses calls that would
//! cost too much. The client here is scripted and sends nothing.

use std::sync::Mutex;

use futures_util::stream;
use hooks_runtime::model::{
    AdapterError, AdapterEvent, AdapterEvents, FinishReason, HookedModel, ModelAdapter, ModelEvent,
    ModelHooks, ModelHooksSet, ModelInput, ModelInputHookContext, ModelOperation, ModelRequest,
    StreamEventHookContext, Usage, UsageBudget, UsageEstimate, UsageHookContext,
};
use hooks_runtime::{RequestExtensions, impl_hooks};
use serde::Deserialize;

/// Tenant of a call: an extension defined by the program.
struct Tenant(&'static str);

/// Responds from a list, and counts four letters as one token.
struct Scripted {
    answers: Mutex<Vec<&'static [&'static str]>>,
}

impl ModelAdapter for Scripted {
    async fn stream(&self, request: ModelRequest) -> Result<AdapterEvents<'_>, AdapterError> {
        let answer = self.answers.lock().unwrap().pop();
        let pieces = answer.ok_or_else(|| AdapterError::other("no scripted response is left"))?;
        let used = Usage::tokens(
            tokens(&request.operation),
            pieces.concat().len() as u64 / 4 + 1,
        );
        let text = pieces
            .iter()
            .map(|piece| AdapterEvent::Text((*piece).into()));
        let end = [
            AdapterEvent::Finished(FinishReason::Stop),
            AdapterEvent::Usage(used),
        ];
        Ok(Box::pin(stream::iter(text.chain(end).map(Ok))))
    }
}

fn tokens(operation: &ModelOperation) -> u64 {
    let letters = match operation.input() {
        Some(input) => format!("{:?}", input.messages).len(),
        None => operation.prompt().map_or(0, str::len),
    };
    letters as u64 / 4 + 1
}

/// Estimates usage, and logs inputs and events.
struct Watch;

#[impl_hooks(ModelHooksSet)]
impl ModelHooks for Watch {
    async fn resolve_usage_estimate(&self, cx: &UsageHookContext<'_>) -> UsageEstimate {
        // Input, and room for the response.
        UsageEstimate::tokens(tokens(cx.operation()) + 20)
    }

    async fn on_model_input(&self, cx: &ModelInputHookContext<'_>) {
        let tenant = cx.extensions().get::<Tenant>();
        let messages = cx.input().messages.len();
        println!(
            "{} with {messages} messages for {}",
            cx.kind(),
            tenant.map_or("nobody", |tenant| tenant.0)
        );
    }

    async fn on_stream_event(&self, cx: &StreamEventHookContext<'_>) {
        if let AdapterEvent::Text(text) = cx.event().raw() {
            println!("  seen: {text:?}");
        }
    }
}

#[derive(Debug, PartialEq, Deserialize)]
struct Plan {
    steps: Vec<String>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let budget = UsageBudget::new().limit_tokens(45);
    let adapter = Scripted {
        answers: Mutex::new(vec![
            &[r#"{"steps": ["#, r#""look", "leap"]}"#],
            &["Hel", "lo"],
        ]),
    };
    let hooks = ModelHooksSet::new().with_hooks(Watch);
    let model = HookedModel::with_hooks(adapter, budget.clone(), hooks)
        .with_default_extensions(RequestExtensions::new().ext(Tenant("everybody")));

    // The hook sees each event before the program does.
    let input = ModelInput::user("hi").system("be brief");
    let mut events = model.text_turn(input).ext(Tenant("eu-prod")).stream();
    while let Some(event) = events.next().await {
        match event.expect("the script has an answer") {
            ModelEvent::Text(text) => println!("  got:  {text:?}"),
            ModelEvent::Output(text) => assert_eq!(text, "Hello"),
            _ => {}
        }
    }

    // The JSON is parsed when the response is complete.
    let call = model.structured_completion::<Plan>("What next? Answer in JSON.");
    let plan = call.collect().await.expect("the script has an answer");
    println!(
        "plan: {}",
        plan.output
            .expect("there is no tool to call")
            .steps
            .join(", then ")
    );

    // The rest of the budget is too small for another call, so nothing is sent.
    println!("used: {} tokens", budget.used().tokens);
    let refused = model.completion("And then?").collect().await.unwrap_err();
    println!("refused: {refused}");
    assert_eq!(budget.reserved(), UsageEstimate::default());
}
