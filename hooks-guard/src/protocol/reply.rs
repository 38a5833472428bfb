//! Replies in the agents' own words. In: a question with its answer, or an error. Out: what the hook
//! prints, and its exit status.

use hooks_runtime::display::{escape, shorten};
use serde_json::{Value, json};

use super::agent::Agent;
use super::model::{AgentPrompt, Answer, Form, Hook, Kind, MOST_TEXT, Question};

/// Output and exit status of the hook process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// For the standard output: one JSON object, or nothing.
    pub stdout: String,
    /// For the standard error.
    pub stderr: String,
    /// The exit status.
    pub exit: u8,
}

impl Reply {
    fn json(value: &Value) -> Self {
        Self {
            stdout: value.to_string(),
            ..Self::default()
        }
    }
}

/// The reason given if there is none: agents take a refusal without a reason for a mistake.
const NO_REASON: &str = "refused by hooks-guard";

/// Returns why a request that needs approval is refused, and how to approve it: for the model and
/// its user, appended to the reason.
#[must_use]
pub fn approval_missing(agent: Agent, prompt: AgentPrompt) -> String {
    let why = match prompt {
        AgentPrompt::Unattended => "no user is at the keyboard to give it".to_owned(),
        AgentPrompt::Shown | AgentPrompt::Unavailable => {
            format!("{} cannot be made to ask for it here", agent.title())
        }
    };
    format!(
        "approval is missing, and {why}; to give it, run `hooks-guard serve` and approve the \
         request there, or add a rule that allows it"
    )
}

/// Returns the reply that tells the agent the answer to its question.
///
/// [`Answer::Ask`] becomes a refusal if the agent shows no prompt. No reply relaxes what the agent
/// would have done without the hook, except for an [`Answer::Allow`].
#[must_use]
pub fn answer(question: &Question, answer: &Answer) -> Reply {
    let hook = question.hook;
    match answer {
        Answer::Allow(reason) => allow(hook, &shown(reason)),
        Answer::Ask(reason) if question.unattended() => {
            let missing = approval_missing(hook.agent, question.prompt);
            deny(hook, &shown(&format!("{reason}; {missing}")))
        }
        Answer::Ask(reason) => ask(hook, &shown(reason)),
        Answer::Deny(reason) => deny(hook, &shown(reason)),
        Answer::Nothing => done(hook),
    }
}

/// Refusal after an error: in the agent's own field if the hook is known, otherwise by the exit
/// status. After a tool has run there is nothing to refuse, so the error is written to standard
/// error only.
#[must_use]
pub fn failed(agent: Agent, hook: Option<Hook>, why: &str) -> Reply {
    let why = shown(why);
    match hook {
        Some(hook) if hook.kind.is_before() => deny(hook, &why),
        Some(hook) => Reply {
            stderr: why,
            ..done(hook)
        },
        None => Reply {
            stdout: match agent {
                // The plugin reads what is printed, not how the process ends.
                Agent::OpenCode => json!({"throws": why}).to_string(),
                _ => String::new(),
            },
            stderr: why,
            exit: 2,
        },
    }
}

/// Reply without a decision.
#[must_use]
pub fn done(hook: Hook) -> Reply {
    match (hook.form, hook.kind) {
        (Form::Claude | Form::Codex, _) => Reply::default(),
        (Form::Copilot, Kind::Prompt) => Reply::json(&json!({})),
        (Form::Copilot, _) => Reply::default(),
        (Form::Gemini | Form::Cursor | Form::OpenCode2, _) => Reply::json(&json!({})),
        (Form::OpenCode1, _) => Reply::json(&json!({"returns": null})),
    }
}

fn allow(hook: Hook, reason: &str) -> Reply {
    let reply = match (hook.form, hook.kind) {
        (Form::Claude | Form::Codex, Kind::Prompt) => prompt(&json!({"behavior": "allow"})),
        (Form::Claude, kind) => decision(kind, "allow", reason),
        // A bare allow is none there.
        (Form::Codex, _) | (Form::OpenCode1, _) => return done(hook),
        (Form::Gemini, _) => json!({"decision": "allow"}),
        (Form::Cursor, _) => json!({"permission": "allow"}),
        (Form::Copilot, Kind::Prompt) => json!({"behavior": "allow"}),
        (Form::Copilot, _) => flat("allow", reason),
        (Form::OpenCode2, _) => json!({"effect": "allow"}),
    };
    Reply::json(&reply)
}

fn ask(hook: Hook, reason: &str) -> Reply {
    let reply = match (hook.form, hook.kind) {
        // The prompt that is about to be shown stays.
        (_, Kind::Prompt) => return done(hook),
        (Form::Claude, kind) => decision(kind, "ask", reason),
        // Codex takes `ask` for a mistake, and runs the command.
        (Form::Codex, _) => return deny(hook, reason),
        (Form::Gemini, _) => json!({"decision": "ask", "systemMessage": reason}),
        (Form::Cursor, _) => json!({
            "permission": "ask",
            "user_message": reason,
            "agent_message": "waits for the user",
        }),
        (Form::Copilot, _) => flat("ask", reason),
        (Form::OpenCode1, _) => return deny(hook, reason),
        (Form::OpenCode2, _) => json!({"effect": "ask", "message": reason}),
    };
    Reply::json(&reply)
}

fn deny(hook: Hook, reason: &str) -> Reply {
    let reply = match (hook.form, hook.kind) {
        (Form::Claude, Kind::Prompt) => {
            prompt(&json!({"behavior": "deny", "message": reason, "interrupt": false}))
        }
        (Form::Codex, Kind::Prompt) => prompt(&json!({"behavior": "deny", "message": reason})),
        (Form::Claude | Form::Codex, kind) => decision(kind, "deny", reason),
        (Form::Gemini, _) => json!({"decision": "deny", "reason": reason}),
        (Form::Cursor, _) => json!({
            "permission": "deny",
            "user_message": reason,
            "agent_message": reason,
        }),
        (Form::Copilot, Kind::Prompt) => json!({"behavior": "deny", "message": reason}),
        (Form::Copilot, _) => flat("deny", reason),
        (Form::OpenCode1, _) => json!({"throws": reason}),
        (Form::OpenCode2, _) => json!({"effect": "deny", "message": reason}),
    };
    Reply::json(&reply)
}

fn decision(kind: Kind, decision: &str, reason: &str) -> Value {
    let event = match kind {
        Kind::BeforeSkillCommand => "PreSkillShellCommand",
        _ => "PreToolUse",
    };
    json!({"hookSpecificOutput": {
        "hookEventName": event,
        "permissionDecision": decision,
        "permissionDecisionReason": reason,
    }})
}

fn prompt(decision: &Value) -> Value {
    json!({"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}})
}

fn flat(decision: &str, reason: &str) -> Value {
    json!({"permissionDecision": decision, "permissionDecisionReason": reason})
}

/// A reason as it is shown: on one line, without what deceives, and not too long.
fn shown(reason: &str) -> String {
    let reason = reason.trim();
    // Escaping makes a text longer, and never shorter.
    let short: String = reason.chars().take(MOST_TEXT + 1).collect();
    match shorten(&escape(&short), MOST_TEXT) {
        empty if empty.is_empty() => NO_REASON.to_owned(),
        shown => shown,
    }
}
