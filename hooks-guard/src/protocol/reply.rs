//! Replies in the agents' formats. In: a question with its answer, or an error. Out: the hook's
//! output and exit status.

use hooks_runtime::display::{escape, shorten};
use serde_json::{Value, json};

use super::agent::Agent;
use super::model::{AgentPrompt, Answer, Form, Hook, Kind, MOST_TEXT, Question};

/// Output and exit status of the hook process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// Standard output: one JSON object, or nothing.
    pub stdout: String,
    /// Standard error.
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

/// Default reason: agents treat a denial without a reason as an error.
const NO_REASON: &str = "denied by hooks-guard";

/// Returns why a request that needs approval is denied, and how to approve it. Appended to the
/// reason, for the model and its user.
#[must_use]
pub fn approval_missing(agent: Agent, prompt: AgentPrompt) -> String {
    let why = match prompt {
        AgentPrompt::Unattended => "no user is at the keyboard".to_owned(),
        AgentPrompt::Shown | AgentPrompt::Unavailable => {
            format!("{} has no prompt for it here", agent.title())
        }
    };
    format!(
        "this request needs approval, but {why}; run `hooks-guard serve` and approve the request \
         there, or add a rule that allows it"
    )
}

/// Returns the reply that gives the agent the answer to its question.
///
/// [`Answer::Ask`] becomes a denial if the agent shows no prompt. Only [`Answer::Allow`] permits
/// something that the agent would not do without the hook.
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

/// Returns a denial after an error: in the agent's own field if the hook is known, otherwise by the
/// exit status. After a tool has run there is nothing to deny, so the error is only written to
/// standard error.
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
                // The plugin reads the output, not the exit status.
                Agent::OpenCode => json!({"throws": why}).to_string(),
                _ => String::new(),
            },
            stderr: why,
            exit: 2,
        },
    }
}

/// Returns a reply without a decision.
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
        // Codex ignores a bare `allow`.
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
        // The agent's own prompt is shown.
        (_, Kind::Prompt) => return done(hook),
        (Form::Claude, kind) => decision(kind, "ask", reason),
        // Codex treats `ask` as an error, and runs the command.
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

/// Returns a reason for display: on one line, without deceptive characters, and of limited length.
fn shown(reason: &str) -> String {
    let reason = reason.trim();
    // Escaping never shortens a text.
    let short: String = reason.chars().take(MOST_TEXT + 1).collect();
    match shorten(&escape(&short), MOST_TEXT) {
        empty if empty.is_empty() => NO_REASON.to_owned(),
        shown => shown,
    }
}
