//! Emits events and applies the results of their hooks.

use std::sync::Arc;

use hooks_runtime::approval::FixedAnswers;
use hooks_runtime::model::{ModelError, ModelInput, emit_provider_error};
use hooks_runtime::{
    Conversation, Coordinator, HookRegistry, Map, Message, MessageLevel, Role, UserDisplay,
    UserMessage,
};
use serde_json::Value;

use crate::plugins;

/// State shared by a session and its agent: hooks, user, and conversation.
pub(crate) struct Host {
    hooks: HookRegistry,
    coordinator: Coordinator,
    conversation: Conversation,
}

impl Host {
    pub(crate) fn new(session: &str, user: FixedAnswers) -> Self {
        let hooks = HookRegistry::new();
        // In the data of every event; separates sessions for remembered approvals.
        hooks.set_default_fields(Map::from_iter([("session_id".to_owned(), session.into())]));
        plugins::register(&hooks);
        Host {
            hooks,
            coordinator: Coordinator::builder()
                .session(session)
                .provider(user)
                .display(Screen)
                .build(),
            conversation: Conversation::new(),
        }
    }

    /// Emits an event and applies the results of its hooks. Returns the final data, or the reason
    /// for a denial.
    pub(crate) async fn emit(&mut self, event: &str, data: Value) -> Result<Arc<Map>, String> {
        println!("{event} {data}");
        let conversation = &mut self.conversation;
        let applied = self
            .coordinator
            .emit(&self.hooks, event, data, conversation);
        let applied = applied.await.map_err(|error| error.to_string())?;
        match applied.denial() {
            Some(denial) => Err(denial.to_owned()),
            None => Ok(applied.data),
        }
    }

    /// Reports something that has happened: a denial has no effect.
    pub(crate) async fn tell(&mut self, event: &str, data: Value) {
        if let Err(denial) = self.emit(event, data).await {
            println!("  denied too late: {denial}");
        }
    }

    /// Collects the results of all hooks of a decision concurrently.
    pub(crate) async fn decide(&self, event: &str, data: Value) -> Vec<Map> {
        println!("{event} {data}");
        let timeout = HookRegistry::COLLECT_TIMEOUT;
        self.hooks.emit_and_collect(event, data, timeout).await
    }

    /// Reports a failed provider. Returns `true` if a hook requests a retry.
    pub(crate) async fn provider_failed(&self, error: &ModelError, attempt: u32) -> bool {
        println!("error:provider {error}");
        let more = Map::from_iter([("attempt".to_owned(), attempt.into())]);
        let emission = emit_provider_error(&self.hooks, error, more).await;
        let data = emission.ok().flatten().map(|emission| emission.data);
        data.is_some_and(|data| data.get("retry") == Some(&Value::Bool(true)))
    }

    pub(crate) fn say(&mut self, message: impl Into<Message>) {
        self.conversation.push(message.into());
    }

    /// Returns the number of messages in the conversation.
    pub(crate) fn length(&self) -> usize {
        self.conversation.history().len()
    }

    /// Removes all but the last messages. A tool's result stays with its call.
    pub(crate) fn compact(&mut self, keep: usize) {
        let history = self.conversation.history_mut();
        let mut start = history.len().saturating_sub(keep);
        while start > 0 && history[start].role == Role::Tool {
            start -= 1;
        }
        history.drain(..start);
    }

    /// Returns the input of the next model call: the history, and messages injected for this call
    /// only.
    pub(crate) fn model_input(&mut self) -> ModelInput {
        let messages = self.conversation.next_call();
        if let Some(last) = messages.last() {
            println!("  last model input: {:?}", last.content);
        }
        ModelInput::from_messages(messages).expect("the host makes whole messages")
    }

    /// Forgets the user's approvals for the session.
    pub(crate) fn close(&self) {
        if let Some(session) = self.coordinator.session() {
            self.coordinator.end_session(session);
        }
    }
}

/// Output for the user.
struct Screen;

impl UserDisplay for Screen {
    fn message(&self, message: &UserMessage) {
        let mark = match message.level {
            MessageLevel::Info => "·",
            MessageLevel::Warning | MessageLevel::Error => "!",
        };
        println!("  {mark} {} ({})", message.text, message.hook);
    }
}

/// Returns the most frequent value of a field; the first one in case of a tie.
pub(crate) fn most<'v>(votes: &'v [Map], field: &str) -> Option<&'v str> {
    let named = || votes.iter().filter_map(|vote| vote.get(field)?.as_str());
    let count = |name| named().filter(|other| *other == name).count();
    named().rev().max_by_key(|name| count(*name))
}

/// Returns the largest number of messages that a hook votes to keep.
pub(crate) fn most_messages(votes: &[Map]) -> Option<usize> {
    let named = votes.iter().filter_map(|vote| vote.get("keep")?.as_u64());
    named.max().and_then(|keep| usize::try_from(keep).ok())
}
