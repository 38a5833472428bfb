//! The conversation with a model, as far as hooks add to it.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::{ContextRole, Injection, Map, Provenance};

/// The messages of a conversation: a history that is kept, and what hooks add for the next
/// call of the model only.
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
    /// For the next call only, and therefore never stored.
    #[serde(skip)]
    ephemeral: Vec<Injection>,
    audit: VecDeque<InjectionRecord>,
    dropped: u64,
}

/// One message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Message {
    /// Who says it.
    pub role: Role,
    /// What is said.
    pub content: String,
    /// The call that a tool's result belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// The hook that injected it, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub injected_by: Option<Provenance>,
    /// What else the host keeps of the message.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub extra: Map,
}

/// Who says a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The environment.
    System,
    /// The user.
    User,
    /// The agent.
    Assistant,
    /// A tool, whose result it is.
    Tool,
}

/// One injection in the audit trail.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct InjectionRecord {
    /// Where it comes from.
    pub provenance: Provenance,
    /// Who says it.
    pub role: ContextRole,
    /// Its length in characters.
    pub chars: usize,
    /// What became of the injection; `fate` in JSON.
    #[serde(rename = "fate")]
    pub status: InjectionStatus,
}

/// Result of one injection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum InjectionStatus {
    /// It is in the history.
    Stored,
    /// It is in the next call only.
    Ephemeral,
    /// It, or one that came with it, is too long.
    Refused,
}

impl Conversation {
    /// A conversation without messages.
    pub fn new() -> Self {
        Conversation::default()
    }

    /// Adds a message to the history.
    pub fn push(&mut self, message: Message) {
        self.history.push(message);
    }

    /// The messages that are kept.
    pub fn history(&self) -> &[Message] {
        &self.history
    }

    /// The messages that are kept, for a host that compacts or edits them.
    pub fn history_mut(&mut self) -> &mut Vec<Message> {
        &mut self.history
    }

    /// The messages for the next call of the model: the history, and what was injected for
    /// this call only, which is gone afterwards. To try the same call again, keep
    /// them.
    pub fn next_call(&mut self) -> Vec<Message> {
        let messages = self.preview_call();
        self.ephemeral.clear();
        messages
    }

    /// The messages that [`next_call`](Self::next_call) would give.
    pub fn preview_call(&self) -> Vec<Message> {
        let mut messages = self.history.clone();
        for injection in &self.ephemeral {
            match messages.last_mut() {
                Some(last) if last.role == Role::Tool && injection.append_to_last_tool_result => {
                    append(&mut last.content, &injection.content);
                }
                _ => messages.push(Message::of(injection)),
            }
        }
        messages
    }

    /// What hooks injected, or tried to, oldest first; of the last 10 000.
    pub fn audit(&self) -> impl ExactSizeIterator<Item = &InjectionRecord> {
        self.audit.iter()
    }

    /// How many records the audit has had to drop, because they were too many.
    pub fn audit_dropped(&self) -> u64 {
        self.dropped
    }

    /// Takes what is injected, by its own role and lifetime.
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

    /// Writes down what is not injected.
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

/// Puts a text behind a tool's result, with a blank line between them unless it brings one.
fn append(content: &mut String, text: &str) {
    if !content.is_empty() && !text.starts_with('\n') {
        content.push_str("\n\n");
    }
    content.push_str(text);
}

impl Message {
    /// A message of this role.
    pub fn new(role: Role, content: impl Into<String>) -> Self {
        Message {
            role,
            content: content.into(),
            tool_call_id: None,
            injected_by: None,
            extra: Map::new(),
        }
    }

    /// A message of the environment.
    pub fn system(content: impl Into<String>) -> Self {
        Message::new(Role::System, content)
    }

    /// A message of the user.
    pub fn user(content: impl Into<String>) -> Self {
        Message::new(Role::User, content)
    }

    /// A message of the agent.
    pub fn assistant(content: impl Into<String>) -> Self {
        Message::new(Role::Assistant, content)
    }

    /// The result of a tool, for this call of it.
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
