//! Replies in the agents' own words.

use hooks_runtime::display::{escape, shorten};
use serde_json::{Value, json};

use super::{Agent, Answer, Asks, Form, Hook, Kind, MOST_TEXT, Question};

/// What the process has to print, and how it has to end.
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

/// Said where a reason would be empty: an agent takes a refusal without one for a mistake.
const NO_REASON: &str = "refused by hooks-guard";
/// Said after the reason where the agent cannot ask.
const NOBODY: &str = "; nobody was there to agree, and this agent does not ask by itself";

/// What an agent is told about its question (P-06, X-7).
///
/// [`Answer::Ask`] becomes a refusal where the agent asks nobody, and silence where only silence
/// makes it ask. No reply relaxes what the agent would have done without the hook, other than for
/// an [`Answer::Allow`].
#[must_use]
pub fn answer(question: &Question, answer: &Answer) -> Reply {
    let hook = question.hook;
    match answer {
        Answer::Allow(reason) => allow(hook, &shown(reason)),
        Answer::Ask(reason) if question.asks == Asks::Never => {
            deny(hook, &shown(&format!("{reason}{NOBODY}")))
        }
        Answer::Ask(reason) => ask(hook, &shown(reason)),
        Answer::Deny(reason) => deny(hook, &shown(reason)),
        Answer::Nothing => done(hook),
    }
}

/// A refusal because something went wrong: in the agent's own field as far as the hook is known,
/// by the exit status where it is not. After a tool has run there is nothing to refuse,
/// and only the standard error says so.
#[must_use]
pub fn failed(agent: Agent, hook: Option<Hook>, why: &str) -> Reply {
    let why = shown(why);
    match hook {
        Some(hook) if matches!(hook.kind, Kind::BeforeTool | Kind::Prompt) => deny(hook, &why),
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

/// The reply that decides nothing.
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
        (Form::Claude, _) => decision("allow", reason),
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
        (Form::Claude, _) => decision("ask", reason),
        // `ask` would let the command run.
        (Form::Codex, _) => return done(hook),
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
        (Form::Claude | Form::Codex, _) => decision("deny", reason),
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

fn decision(decision: &str, reason: &str) -> Value {
    json!({"hookSpecificOutput": {
        "hookEventName": "PreToolUse",
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
