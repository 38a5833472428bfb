//! The conversation that a model would have: its calls, their results, and what hooks add.

use hooks_runtime::{Conversation, Message, Role};

use crate::display::shorten;
use crate::explain::Section;
use crate::report::{Decision, Record};

/// How many messages are kept; nobody reads the older ones in a replay.
const KEPT: usize = 20;

/// How much of the output of a call is kept, in characters.
const OUTPUT: usize = 2000;

/// How many messages are explained.
const EXPLAINED: usize = 4;

/// What an agent reads, if it is there to read it.
#[derive(Debug, Default)]
pub(super) struct View {
    conversation: Conversation,
}

impl View {
    pub(super) fn conversation(&mut self) -> &mut Conversation {
        &mut self.conversation
    }

    /// The agent has read what there was for its next call, and makes that.
    pub(super) fn begin_turn(&mut self, call: &str) {
        let history = self.conversation.history_mut();
        history.drain(..history.len().saturating_sub(KEPT));
        // What was for one call only is gone with this.
        drop(self.conversation.next_call());
        self.conversation.push(Message::assistant(call));
    }

    /// The agent is given the result of its call, or why there is none. The texts of a record
    /// are free of secrets already.
    pub(super) fn end_turn(&mut self, record: &Record) {
        let text = match record.decision {
            Decision::Refused => format!("refused by {}: {}", record.by, record.why),
            _ => shorten(&record.output, OUTPUT),
        };
        let id = record.number.to_string();
        self.conversation.push(Message::tool_result(id, text));
    }

    /// The last of what the agent reads before its next call.
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
