//! The conversation of a model: calls, results, and messages of hooks.

use hooks_runtime::{Conversation, Message, Role};

use crate::display::shorten;
use crate::explain::Section;
use crate::report::{Decision, Record};

/// Number of messages kept; a replay never shows older ones.
const KEPT: usize = 20;

/// Number of characters kept of a call's output.
const OUTPUT: usize = 2000;

/// Number of messages shown by `--explain`.
const EXPLAINED: usize = 4;

/// Messages for the agent.
#[derive(Debug, Default)]
pub(super) struct View {
    conversation: Conversation,
}

impl View {
    pub(super) fn conversation(&mut self) -> &mut Conversation {
        &mut self.conversation
    }

    /// Starts the next turn: the agent has read its messages and makes this call.
    pub(super) fn begin_turn(&mut self, call: &str) {
        let history = self.conversation.history_mut();
        history.drain(..history.len().saturating_sub(KEPT));
        // Drops messages that were for one turn only.
        drop(self.conversation.next_call());
        self.conversation.push(Message::assistant(call));
    }

    /// Adds the result of a call, or the reason for its refusal. Texts of a record are already
    /// redacted.
    pub(super) fn end_turn(&mut self, record: &Record) {
        let text = match record.decision {
            Decision::Refused => format!("refused by {}: {}", record.by, record.why),
            _ => shorten(&record.output, OUTPUT),
        };
        let id = record.number.to_string();
        self.conversation.push(Message::tool_result(id, text));
    }

    /// Returns the last messages before the agent's next call.
    pub(super) fn explain(&self) -> Section {
        let messages = self.conversation.preview_call();
        let last = messages.iter().rev().take(EXPLAINED).rev();
        let lines: Vec<_> = last
            .map(|message| {
                let role = match message.role {
                    Role::System => "system",
                    Role::User => "user",
                    Role::Assistant => "agent",
                    Role::Tool => "tool",
                };
                format!("{role}: {}", shorten(message.content.trim_end(), OUTPUT))
            })
            .collect();
        let read = format!("the agent reads {} messages; the last are", messages.len());
        Section::inferred("next call", read, []).telling(&lines)
    }
}
