//! What an agent says and is told. In: nothing; plain data. Out: events, questions and answers, with
//! the hook that they belong to.

use std::path::PathBuf;

use super::agent::Agent;
use crate::classify::Decision;
use crate::request::{PermissionRequest, Ruling};

/// The longest text in a reply, in characters.
pub const MOST_TEXT: usize = 4_000;

/// What an agent says by calling its hook.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The agent is about to use a tool.
    Ask(Question),
    /// A tool ran.
    Ran(Ran),
    /// The agent itself refused to use a tool.
    Refused(Refused),
    /// There is nothing to decide: [`done`](super::done) is the reply.
    Nothing {
        /// The hook that was called.
        hook: Hook,
        /// Why there is nothing to decide, such as ``the tool `WebFetch` is not judged``.
        why: String,
    },
}

/// Which hook of which agent was called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hook {
    /// The agent that the input is of.
    pub agent: Agent,
    /// When it calls.
    pub kind: Kind,
    pub(crate) form: Form,
}

/// When an agent calls a hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Before a tool is used: `PreToolUse`, `BeforeTool`, `beforeShellExecution`….
    BeforeTool,
    /// Before a shell command in the text of a skill: `PreSkillShellCommand`. An answer that
    /// asks keeps the command from running.
    BeforeSkillCommand,
    /// Before the agent's own prompt is shown: `PermissionRequest`.
    Prompt,
    /// After a tool was used.
    AfterTool,
    /// After the agent itself refused a tool: `PermissionDenied`.
    Refused,
    /// At another time.
    Other,
}

impl Kind {
    /// Returns whether the hook is called before something happens and can refuse it.
    #[must_use]
    pub fn is_before(self) -> bool {
        matches!(
            self,
            Kind::BeforeTool | Kind::BeforeSkillCommand | Kind::Prompt
        )
    }
}

/// In which words a hook is answered. Which it is comes from the input, because agents read the
/// settings of other agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// `hookSpecificOutput`; VS Code has the same.
    Claude,
    /// As Claude, without `ask`, a bare `allow` and anything that is not known.
    Codex,
    /// `decision`.
    Gemini,
    /// `permission`.
    Cursor,
    /// `permissionDecision`, at the top.
    Copilot,
    /// `throws` or `returns`, for the plugin.
    OpenCode1,
    /// `effect`, for the plugin.
    OpenCode2,
}

/// Whether the agent shows its user a prompt when the hook answers [`Answer::Ask`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentPrompt {
    /// The agent shows its prompt, or has it open already.
    Shown,
    /// The agent has no prompt for this hook, or none in its current mode. An [`Answer::Ask`]
    /// becomes a refusal unless the operator approves.
    Unavailable,
    /// The agent has a prompt, but no user is at the keyboard to answer it. An [`Answer::Ask`]
    /// becomes a refusal unless the operator approves.
    Unattended,
}

/// A tool is about to be used.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// The hook that was called.
    pub hook: Hook,
    /// What the agent wants to do. A command for PowerShell is given as `pwsh -Command '…'`.
    pub request: PermissionRequest,
    /// Whether the agent shows a prompt.
    pub prompt: AgentPrompt,
    /// Whether the tool is missing in the table of tools and was judged by its `command` text.
    /// Such a tool may do more than run the command, so a ruling never allows it; the operator may.
    pub unlisted_tool: bool,
}

impl Question {
    /// Returns whether no prompt of the agent reaches a user, so that the operator has to be
    /// asked, and the request denied if there is none.
    #[must_use]
    pub fn unattended(&self) -> bool {
        self.prompt != AgentPrompt::Shown
    }
}

/// The agent itself refused to use a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct Refused {
    /// The hook that was called.
    pub hook: Hook,
    /// What the agent refused. Its `session_id` and `call_id` name the decision it belongs to.
    pub request: PermissionRequest,
    /// The agent's reason, in at most [`MOST_TEXT`] characters.
    pub reason: String,
}

/// A tool ran.
#[derive(Clone, Debug, PartialEq)]
pub struct Ran {
    /// The hook that was called.
    pub hook: Hook,
    /// What was done. Its `session_id` and `call_id` tell which decision it belongs to; where an
    /// agent has no `call_id` (Cursor, Gemini, Copilot), its command and directory do.
    pub request: PermissionRequest,
    /// What came of it.
    pub outcome: Outcome,
}

/// What came of a tool that ran.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Whether it succeeded; none where the agent does not say.
    pub succeeded: Option<bool>,
    /// The exit status, where the agent says it.
    pub exit_status: Option<i64>,
    /// The agent's error, in at most [`MOST_TEXT`] characters.
    pub error: Option<String>,
}

/// What the agent is told, with the reason that is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It may.
    Allow(String),
    /// Somebody has to agree.
    Ask(String),
    /// It may not.
    Deny(String),
    /// No decision: whatever the agent would do without the hook.
    Nothing,
}

impl Answer {
    /// Converts a ruling to the answer to a question.
    ///
    /// Access to files or to the network that no rule allows is left to the agent instead of
    /// allowed, and so is a tool that is not in the table of tools. PowerShell, of which the
    /// classifier knows only the verbs, is asked about unless a rule or an approval allows it.
    #[must_use]
    pub fn of(question: &Question, ruling: &Ruling) -> Self {
        let reason = format!("{}: {}", ruling.classification, ruling.reasoning);
        if ruling.denied {
            return Answer::Deny(reason);
        }
        if ruling.left_to_agent {
            return Answer::Nothing;
        }
        let request = &question.request;
        match ruling.decision {
            Decision::AutoAllowed if question.unlisted_tool => Answer::Nothing,
            Decision::AutoAllowed if ruling.rule.is_some() => Answer::Allow(reason),
            Decision::AutoAllowed if request.file.is_some() || request.network.is_some() => {
                Answer::Nothing
            }
            Decision::AutoAllowed if ruling.approved || !request.confirm => Answer::Allow(reason),
            _ => Answer::Ask(reason),
        }
    }
}

/// Makes an absolute directory of one that may be relative to another.
pub(crate) fn directory(base: Option<PathBuf>, below: Option<&str>) -> Option<PathBuf> {
    let below = below.filter(|below| !below.is_empty());
    match (base, below) {
        (Some(base), Some(below)) => Some(base.join(below)),
        (Some(base), None) => Some(base),
        (None, below) => below.map(PathBuf::from).filter(|path| path.is_absolute()),
    }
}
