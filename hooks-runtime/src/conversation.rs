//! The conversation with a model, including the messages that hooks inject.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::{ContextRole, Injection, Map, Provenance};

/// The messages of a conversation: a stored history, and messages that hooks inject into the next
/// model call only.
///
/// ```
/// use hooks_runtime::{Conversation, Message};
///
/// let mut conversation = Conversation::new();
/// conversation.push(Message::user("Tidy up the project."));
///
/// let messages = conversation.next_call();
/// assert_eq!(messages, conversation.history());
/// ```
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Conversation {
    history: Vec<Message>,
    /// Messages for the next call only, never stored.
    #[serde(skip)]
    ephemeral: Vec<Injection>,
    audit: VecDeque<InjectionRecord>,
    dropped: u64,
}

/// One message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Message {
    /// Role of the author.
    pub role: Role,
    /// Text of the message.
    pub content: String,
    /// Tool call that this result belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// Hook that injected it, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub injected_by: Option<Provenance>,
    /// Further fields of the host.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub extra: Map,
}

/// Role of a message's author.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The environment.
    System,
    /// The user.
    User,
    /// The agent.
    Assistant,
    /// A tool; the message is its result.
    Tool,
}

/// One injection in the audit trail.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct InjectionRecord {
    /// Source of the injection.
    pub provenance: Provenance,
    /// Role of the message.
    pub role: ContextRole,
    /// Length in characters.
    pub chars: usize,
    /// Status of the injection; `fate` in JSON.
    #[serde(rename = "fate")]
    pub status: InjectionStatus,
}

/// Result of one injection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum InjectionStatus {
    /// Stored in the history.
    Stored,
    /// Part of the next call only.
    Ephemeral,
    /// Refused: this injection, or another one of the emission, is too long.
    Refused,
}

impl Conversation {
    /// Creates a conversation without messages.
    pub fn new() -> Self {
        Conversation::default()
    }

    /// Adds a message to the history.
    pub fn push(&mut self, message: Message) {
        self.history.push(message);
    }

    /// Returns the stored messages.
    pub fn history(&self) -> &[Message] {
        &self.history
    }

    /// Returns the stored messages, for a host that compacts or edits them.
    pub fn history_mut(&mut self) -> &mut Vec<Message> {
        &mut self.history
    }

    /// Returns the messages for the next model call: the history, and the messages injected for
    /// this call only, which are then removed. To retry the call, keep them.
    pub fn next_call(&mut self) -> Vec<Message> {
        let messages = self.preview_call();
        self.ephemeral.clear();
        messages
    }

    /// Returns the messages that [`next_call`](Self::next_call) would return.
    pub fn preview_call(&self) -> Vec<Message> {
        let mut messages = self.history.clone();
        for injection in &self.ephemeral {
            // The text of another hook does not separate it from the tool's result.
            let last = messages.iter_mut().rfind(|last| last.injected_by.is_none());
            match last {
                Some(last) if last.role == Role::Tool && injection.append_to_last_tool_result => {
                    append(&mut last.content, &injection.content);
                }
                _ => messages.push(Message::of(injection)),
            }
        }
        messages
    }

    /// Returns the audit of injections, also of refused ones, oldest first; the last 10 000.
    pub fn audit(&self) -> impl ExactSizeIterator<Item = &InjectionRecord> {
        self.audit.iter()
    }

    /// Returns the number of records that the audit dropped because of its limit.
    pub fn audit_dropped(&self) -> u64 {
        self.dropped
    }

    /// Adds injections, each by its own role and lifetime.
    pub(crate) fn inject(&mut self, injections: Vec<Injection>) {
        for injection in injections {
            if injection.ephemeral {
                self.record(&injection, InjectionStatus::Ephemeral);
                self.ephemeral.push(injection);
            } else {
                self.record(&injection, InjectionStatus::Stored);
                self.history.push(Message::of(&injection));
            }
        }
    }

    /// Records injections that are refused.
    pub(crate) fn refuse(&mut self, injections: &[Injection]) {
        for injection in injections {
            self.record(injection, InjectionStatus::Refused);
        }
    }

    fn record(&mut self, injection: &Injection, status: InjectionStatus) {
        let record = InjectionRecord {
            provenance: injection.provenance.clone(),
            role: injection.role,
            chars: injection.content.chars().count(),
            status,
        };
        tracing::info!(
            target: "hooks_runtime",
            source = %record.provenance.source,
            hook = &*record.provenance.hook,
            event = &*record.provenance.event,
            at = %record.provenance.at,
            chars = record.chars,
            fate = ?record.status,
            "context injection"
        );
        if self.audit.len() == AUDIT_LENGTH {
            self.audit.pop_front();
            self.dropped += 1;
        }
        self.audit.push_back(record);
    }
}

const AUDIT_LENGTH: usize = 10_000;

/// Appends a text to a tool's result, after a blank line unless the text starts with one.
fn append(content: &mut String, text: &str) {
    if !content.is_empty() && !text.starts_with('\n') {
        content.push_str("\n\n");
    }
    content.push_str(text);
}

impl Message {
    /// Creates a message of this role.
    pub fn new(role: Role, content: impl Into<String>) -> Self {
        Message {
            role,
            content: content.into(),
            tool_call_id: None,
            injected_by: None,
            extra: Map::new(),
        }
    }

    /// Creates a message of the environment.
    pub fn system(content: impl Into<String>) -> Self {
        Message::new(Role::System, content)
    }

    /// Creates a message of the user.
    pub fn user(content: impl Into<String>) -> Self {
        Message::new(Role::User, content)
    }

    /// Creates a message of the agent.
    pub fn assistant(content: impl Into<String>) -> Self {
        Message::new(Role::Assistant, content)
    }

    /// Creates the result of this tool call.
    pub fn tool_result(call_id: impl Into<String>, content: impl Into<String>) -> Self {
        Message {
            tool_call_id: Some(call_id.into()),
            ..Message::new(Role::Tool, content)
        }
    }

    fn of(injection: &Injection) -> Self {
        Message {
            injected_by: Some(injection.provenance.clone()),
            ..Message::new(injection.role.into(), &*injection.content)
        }
    }
}

impl From<ContextRole> for Role {
    fn from(role: ContextRole) -> Self {
        match role {
            ContextRole::System => Role::System,
            ContextRole::User => Role::User,
            ContextRole::Assistant => Role::Assistant,
        }
    }
}
