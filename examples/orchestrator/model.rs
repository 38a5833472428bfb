//! Scripted model client, with failures.

use std::collections::VecDeque;
use std::sync::Mutex;

use futures_util::stream;
use hooks_runtime::model::{
    AdapterError, AdapterEvent, AdapterEvents, FinishReason, ModelAdapter, ModelRequest,
    RawToolCall, Usage,
};

/// Returns the scripted responses, in order.
pub(crate) fn script() -> Scripted {
    let call =
        |id: &str, name: &str, arguments: &str| Line::Calls(RawToolCall::new(id, name, arguments));
    Scripted(Mutex::new(VecDeque::from([
        Line::Fails,
        call("call-1", "run", r#"{"command": "cargo test"}"#),
        call("call-2", "deploy", r#"{"target": "eu"}"#),
        Line::Says("The tests pass, and eu has the new version."),
        call("call-3", "deploy", r#"{"target": "moon"}"#),
        Line::Says("There is no moon to deploy to."),
    ])))
}

/// Client that returns the lines of [`script`].
pub(crate) struct Scripted(Mutex<VecDeque<Line>>);

enum Line {
    Fails,
    Says(&'static str),
    Calls(RawToolCall),
}

impl ModelAdapter for Scripted {
    async fn stream(&self, _: ModelRequest) -> Result<AdapterEvents<'_>, AdapterError> {
        let line = self.0.lock().expect("no line panics").pop_front();
        let (said, finish) = match line {
            None => return Err(AdapterError::other("no scripted response is left")),
            Some(Line::Fails) => return Err(AdapterError::transport("connection reset")),
            Some(Line::Says(text)) => (AdapterEvent::Text(text.to_owned()), FinishReason::Stop),
            Some(Line::Calls(call)) => (AdapterEvent::ToolCall(call), FinishReason::ToolCalls),
        };
        let events = [
            said,
            AdapterEvent::Usage(Usage::tokens(100, 20)),
            AdapterEvent::Finished(finish),
        ];
        Ok(Box::pin(stream::iter(events.map(Ok))))
    }
}
