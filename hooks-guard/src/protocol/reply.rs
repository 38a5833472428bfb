//! Replies in the agents' formats. In: a question with its answer, or an error. Out: the hook's
//! output and exit status.

use hooks_runtime::display::{escape, shorten};
use serde_json::{Value, json};

use super::agent::Agent;
use super::description::{HookKind, ReplyFormat};
use super::model::{AgentDecision, AgentHook, AgentPrompt, DecisionRequest, MAX_TEXT_CHARS};

/// Output and exit status of the hook process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HookReply {
    /// Standard output: one JSON object, or nothing.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// The exit status.
    pub exit: u8,
}

impl HookReply {
    /// Returns the reason with which a reply in the format of Claude Code denies a tool, if it does.
    #[must_use]
    pub fn denial_reason(&self) -> Option<String> {
        let output: Value = serde_json::from_str(&self.stdout).ok()?;
        let output = output.get("hookSpecificOutput")?;
        let denies = output.get("permissionDecision")?.as_str()? == "deny";
        let reason = output.get("permissionDecisionReason")?.as_str()?;
        denies.then(|| reason.to_owned())
    }

    fn json(value: &Value) -> Self {
        Self {
            stdout: value.to_string(),
            ..Self::default()
        }
    }
}

/// Exit status with which a hook denies.
const DENIED_STATUS: u8 = 2;

/// Maximum length of a command in a message about a changed command, in characters.
const MAX_QUOTED_CHARS: usize = 1_000;

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
/// [`AgentDecision::Ask`] becomes a denial if the agent shows no prompt. Only
/// [`AgentDecision::Allow`] permits something that the agent would not do without the hook.
#[must_use]
pub fn decision_reply(question: &DecisionRequest, answer: &AgentDecision) -> HookReply {
    let hook = question.hook;
    match answer {
        AgentDecision::Allow(reason) => allow(hook, &display_text(reason)),
        AgentDecision::Ask(reason) if question.unattended() => {
            let missing = approval_missing(hook.agent, question.prompt);
            deny(hook, &display_text(&format!("{reason}; {missing}")))
        }
        AgentDecision::Ask(reason) => ask(hook, &display_text(reason)),
        AgentDecision::Deny(reason) => deny(hook, &display_text(reason)),
        AgentDecision::Nothing => empty_reply(hook),
    }
}

/// Returns a denial after an error: in the agent's own field if the hook is known, otherwise by the
/// exit status. After a tool has run there is nothing to deny, so the error is only written to
/// standard error.
#[must_use]
pub fn failure_reply(agent: Agent, hook: Option<AgentHook>, why: &str) -> HookReply {
    let why = display_text(why);
    match hook {
        Some(hook) if hook.kind.is_before() => deny(hook, &why),
        Some(hook) => HookReply {
            stderr: why,
            ..empty_reply(hook)
        },
        // Cline ignores the exit status.
        None if agent.description().reply == ReplyFormat::Cline => HookReply {
            stdout: unread_reply(agent, &why).stdout,
            stderr: why,
            exit: 0,
        },
        None => HookReply {
            stdout: match agent.description().reply {
                // The plugin reads the output, not the exit status.
                ReplyFormat::OpenCode1 => json!({"throws": why}).to_string(),
                ReplyFormat::Pi => json!({"block": true, "reason": why}).to_string(),
                _ => String::new(),
            },
            stderr: why,
            exit: DENIED_STATUS,
        },
    }
}

/// Returns a denial after an input that cannot be read, for an agent that gets no exit status, such
/// as one that calls the hook over HTTP.
#[must_use]
pub fn unread_reply(agent: Agent, why: &str) -> HookReply {
    let why = display_text(why);
    match agent.description().reply {
        // Valid at every event; `hookSpecificOutput` would have to name the event.
        ReplyFormat::Claude | ReplyFormat::Qwen | ReplyFormat::Codex => {
            HookReply::json(&json!({"decision": "block", "reason": why}))
        }
        form => {
            let kind = HookKind::BeforeTool;
            deny(AgentHook { agent, kind, form }, &why)
        }
    }
}

/// Returns a reply without a decision.
#[must_use]
pub fn empty_reply(hook: AgentHook) -> HookReply {
    match (hook.form, hook.kind) {
        (ReplyFormat::Claude | ReplyFormat::Qwen | ReplyFormat::Codex, _) => HookReply::default(),
        (ReplyFormat::Copilot, HookKind::Prompt) => HookReply::json(&json!({})),
        (ReplyFormat::Copilot, _) => HookReply::default(),
        (ReplyFormat::Gemini | ReplyFormat::Cursor | ReplyFormat::OpenCode2, _) => {
            HookReply::json(&json!({}))
        }
        (ReplyFormat::OpenCode1, _) => HookReply::json(&json!({"returns": null})),
        (ReplyFormat::Grok | ReplyFormat::Vibe | ReplyFormat::ExitStatus, _) => {
            HookReply::default()
        }
        // Antigravity denies without a decision; `ask` leaves the decision to its own rules.
        (ReplyFormat::Antigravity, HookKind::BeforeTool) => {
            HookReply::json(&json!({"decision": "ask"}))
        }
        (ReplyFormat::Antigravity, _) => HookReply::json(&json!({})),
        (ReplyFormat::Cline, _) => HookReply::json(&json!({"cancel": false})),
        (ReplyFormat::Pi, _) => HookReply::json(&json!({"block": false})),
    }
}

/// Returns the reply after the command `ran`, and not the `decided` one of the decision `id`: a message for the agent's user,
/// if the agent shows one, else on standard error.
#[must_use]
pub fn other_command_reply(hook: AgentHook, id: i64, decided: &str, ran: &str) -> HookReply {
    let text = format!(
        "hooks-guard did not decide about what ran: `{}` was decided, `{}` ran; another hook, a \
         plugin or the agent changed it after the decision; see `hooks-guard audit show {}`, and \
         `hooks-guard doctor` for other hooks",
        shorten(decided, MAX_QUOTED_CHARS),
        shorten(ran, MAX_QUOTED_CHARS),
        id
    );
    let text = display_text(&text);
    match hook.form {
        ReplyFormat::Claude
        | ReplyFormat::Qwen
        | ReplyFormat::Codex
        | ReplyFormat::Gemini
        | ReplyFormat::Grok => HookReply {
            stderr: text.clone(),
            ..HookReply::json(&json!({ "systemMessage": text }))
        },
        ReplyFormat::Vibe => HookReply {
            stderr: text.clone(),
            ..HookReply::json(&json!({ "system_message": text }))
        },
        _ => HookReply {
            stderr: text,
            ..empty_reply(hook)
        },
    }
}

fn allow(hook: AgentHook, reason: &str) -> HookReply {
    let reply = match (hook.form, hook.kind) {
        (ReplyFormat::Claude | ReplyFormat::Qwen | ReplyFormat::Codex, HookKind::Prompt) => {
            prompt(&json!({"behavior": "allow"}))
        }
        (ReplyFormat::Claude | ReplyFormat::Qwen, kind) => decision(kind, "allow", reason),
        // Codex ignores a bare `allow`.
        (ReplyFormat::Codex, _) | (ReplyFormat::OpenCode1, _) => return empty_reply(hook),
        (ReplyFormat::Gemini, _) => json!({"decision": "allow"}),
        (ReplyFormat::Antigravity, _) => json!({"decision": "allow", "reason": reason}),
        // These agents run what is not denied.
        (ReplyFormat::Grok | ReplyFormat::Cline | ReplyFormat::Pi, _)
        | (ReplyFormat::Vibe | ReplyFormat::ExitStatus, _) => return empty_reply(hook),
        (ReplyFormat::Cursor, _) => json!({"permission": "allow"}),
        (ReplyFormat::Copilot, HookKind::Prompt) => json!({"behavior": "allow"}),
        (ReplyFormat::Copilot, _) => flat("allow", reason),
        (ReplyFormat::OpenCode2, _) => json!({"effect": "allow"}),
    };
    HookReply::json(&reply)
}

fn ask(hook: AgentHook, reason: &str) -> HookReply {
    let reply = match (hook.form, hook.kind) {
        // The agent's own prompt is shown.
        (_, HookKind::Prompt) => return empty_reply(hook),
        (ReplyFormat::Claude | ReplyFormat::Qwen, kind) => decision(kind, "ask", reason),
        // Codex treats `ask` as an error, and runs the command.
        (ReplyFormat::Codex, _) => return deny(hook, reason),
        (ReplyFormat::Gemini, _) => json!({"decision": "ask", "systemMessage": reason}),
        (ReplyFormat::Cursor, _) => json!({
            "permission": "ask",
            "user_message": reason,
            "agent_message": "waits for the user",
        }),
        (ReplyFormat::Copilot, _) => flat("ask", reason),
        (ReplyFormat::OpenCode1, _) => return deny(hook, reason),
        (ReplyFormat::OpenCode2, _) => json!({"effect": "ask", "message": reason}),
        // `ask` would respect a command that the user always allows.
        (ReplyFormat::Antigravity, _) => json!({"decision": "force_ask", "reason": reason}),
        // Grok 1.0.5 and older versions know no `ask`: they read `decision`, and run what is not
        // denied. Newer versions prefer `permissionDecision`.
        (ReplyFormat::Grok, kind) => with_decision(decision(kind, "ask", reason), "deny", reason),
        (ReplyFormat::Pi, _) => json!({"confirm": reason}),
        (ReplyFormat::Cline | ReplyFormat::Vibe | ReplyFormat::ExitStatus, _) => {
            return deny(hook, reason);
        }
    };
    HookReply::json(&reply)
}

fn deny(hook: AgentHook, reason: &str) -> HookReply {
    let reply = match (hook.form, hook.kind) {
        (ReplyFormat::Claude | ReplyFormat::Qwen, HookKind::Prompt) => {
            prompt(&json!({"behavior": "deny", "message": reason, "interrupt": false}))
        }
        (ReplyFormat::Codex, HookKind::Prompt) => {
            prompt(&json!({"behavior": "deny", "message": reason}))
        }
        (ReplyFormat::Claude | ReplyFormat::Codex, kind) => decision(kind, "deny", reason),
        // Of several hooks, the last one decides in `hookSpecificOutput`, and each in `continue`.
        (ReplyFormat::Qwen, kind) => {
            let mut reply = decision(kind, "deny", reason);
            reply["continue"] = false.into();
            reply["stopReason"] = reason.into();
            reply
        }
        (ReplyFormat::Gemini | ReplyFormat::Vibe, _) => {
            json!({"decision": "deny", "reason": reason})
        }
        (ReplyFormat::Cursor, _) => json!({
            "permission": "deny",
            "user_message": reason,
            "agent_message": reason,
        }),
        (ReplyFormat::Copilot, HookKind::Prompt) => json!({"behavior": "deny", "message": reason}),
        (ReplyFormat::Copilot, _) => flat("deny", reason),
        (ReplyFormat::OpenCode1, _) => json!({"throws": reason}),
        (ReplyFormat::OpenCode2, _) => json!({"effect": "deny", "message": reason}),
        (ReplyFormat::Antigravity, _) => json!({"decision": "deny", "reason": reason}),
        (ReplyFormat::Cline, _) => json!({"cancel": true, "errorMessage": reason}),
        (ReplyFormat::Pi, _) => json!({"block": true, "reason": reason}),
        (ReplyFormat::Grok, kind) => {
            let reply = with_decision(decision(kind, "deny", reason), "deny", reason);
            return HookReply {
                stdout: reply.to_string(),
                stderr: reason.to_owned(),
                exit: DENIED_STATUS,
            };
        }
        (ReplyFormat::ExitStatus, _) => {
            return HookReply {
                stderr: reason.to_owned(),
                exit: DENIED_STATUS,
                ..HookReply::default()
            };
        }
    };
    HookReply::json(&reply)
}

fn decision(kind: HookKind, decision: &str, reason: &str) -> Value {
    let event = match kind {
        HookKind::BeforeSkillCommand => "PreSkillShellCommand",
        _ => "PreToolUse",
    };
    json!({"hookSpecificOutput": {
        "hookEventName": event,
        "permissionDecision": decision,
        "permissionDecisionReason": reason,
    }})
}

/// Adds a decision at the top.
fn with_decision(mut reply: Value, decision: &str, reason: &str) -> Value {
    reply["decision"] = decision.into();
    reply["reason"] = reason.into();
    reply
}

fn prompt(decision: &Value) -> Value {
    json!({"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}})
}

fn flat(decision: &str, reason: &str) -> Value {
    json!({"permissionDecision": decision, "permissionDecisionReason": reason})
}

/// Returns a reason for display: on one line, without deceptive characters, and of limited length.
fn display_text(reason: &str) -> String {
    let reason = reason.trim();
    // Escaping never shortens a text.
    let short: String = reason.chars().take(MAX_TEXT_CHARS + 1).collect();
    match shorten(&escape(&short), MAX_TEXT_CHARS) {
        empty if empty.is_empty() => NO_REASON.to_owned(),
        shown => shown,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns the events before an action of the agents that read Claude Code's fields.
    fn events_with_fields() -> Vec<(AgentHook, &'static str)> {
        let mut events = Vec::new();
        for agent in Agent::ALL {
            let description = agent.description();
            for event in description.events {
                let form = event.reply.unwrap_or(description.reply);
                let reads_fields = matches!(
                    form,
                    ReplyFormat::Claude
                        | ReplyFormat::Qwen
                        | ReplyFormat::Codex
                        | ReplyFormat::Grok
                );
                let kind = event.kind;
                if reads_fields && kind.is_before() {
                    events.push((AgentHook { agent, kind, form }, event.name));
                }
            }
        }
        events
    }

    /// Codex runs what is denied without a reason, Claude Code what is denied without the event's
    /// name.
    fn check_fields(reply: &HookReply, event: &str) -> Result<(), TestCaseError> {
        if reply.stdout.is_empty() {
            return Ok(());
        }
        let value: Value = serde_json::from_str(&reply.stdout).expect("JSON");
        let output = &value["hookSpecificOutput"];
        prop_assert_eq!(&output["hookEventName"], event);
        let (decision, reason) = match output.get("decision") {
            Some(decision) => (&decision["behavior"], &decision["message"]),
            None => (
                &output["permissionDecision"],
                &output["permissionDecisionReason"],
            ),
        };
        prop_assert!(decision == "allow" || decision == "ask" || decision == "deny");
        if decision != "allow" {
            let reason = reason.as_str().unwrap_or_default();
            prop_assert!(!reason.trim().is_empty(), "{}", reply.stdout);
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn every_answer_names_its_event_and_every_denial_its_reason(
            reason in "\\PC{0,40}|[ \t\n\r\u{200b}\u{202e}\u{0}]{0,5}",
        ) {
            let events = events_with_fields();
            prop_assert!(events.len() > 5);
            for (hook, event) in events {
                check_fields(&deny(hook, &display_text(&reason)), event)?;
                check_fields(&ask(hook, &display_text(&reason)), event)?;
                check_fields(&allow(hook, &display_text(&reason)), event)?;
                check_fields(&failure_reply(hook.agent, Some(hook), &reason), event)?;
            }
        }
    }
}
