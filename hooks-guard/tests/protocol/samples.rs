//! Tests samples from documentation, for agents and events without recordings: each is parsed as
//! its event, and each response that this program sends is the reply to some answer.

use hooks_guard::protocol::{
    Agent, AgentDecision, HookEvent, HookReply, decision_reply, empty_reply, failure_reply, read,
};
use serde_json::{Value, json};

/// The reply that a response of a sample corresponds to.
enum ExpectedReply {
    Allow(&'static str),
    Ask(&'static str),
    Deny(&'static str),
    /// No decision.
    Left,
    /// A failure before the hook was known.
    Failed(&'static str),
    /// A tool that ran, or an event with nothing to decide.
    Done,
    /// Never sent, with the reason.
    Not(&'static str),
}

use ExpectedReply::{Allow, Ask, Deny, Done, Failed, Left, Not};

/// Expected event of a sample's request.
enum ExpectedEvent {
    /// A question about this command.
    Asks(&'static str),
    /// This command ran, and whether it succeeded.
    Ran(&'static str, Option<bool>),
    /// The agent itself denied this command.
    Refused(&'static str),
    Other,
}

use ExpectedEvent::{Asks, Other, Ran, Refused};

fn check(file: &str, agent: Agent, is: &ExpectedEvent, responses: &[(&str, ExpectedReply)]) {
    let text = std::fs::read_to_string(format!(
        "{}/tests/protocol/samples/{file}.json",
        env!("CARGO_MANIFEST_DIR")
    ))
    .unwrap();
    let sample: Value = serde_json::from_str(&text).unwrap();
    let input = sample["request"].to_string();
    let event = read(agent, input.as_bytes()).unwrap();
    match (is, &event) {
        (Asks(command), HookEvent::Ask(question)) => {
            assert_eq!(question.request.command, *command, "{file}");
            assert_eq!(question.request.agent.as_deref(), Some(agent.name()));
            assert!(question.request.session_id.is_some(), "{file}");
            if agent != Agent::OpenCode {
                let cwd = question.request.cwd.as_deref().unwrap();
                assert_eq!(cwd, std::path::Path::new("/srv/dev/project"), "{file}");
            }
        }
        (Ran(command, succeeded), HookEvent::Ran(ran)) => {
            assert_eq!(ran.request.command, *command, "{file}");
            assert_eq!(ran.outcome.succeeded, *succeeded, "{file}");
        }
        (Refused(command), HookEvent::Refused(refused)) => {
            assert_eq!(refused.request.command, *command, "{file}");
            assert_eq!(refused.reason, sample["request"]["reason"], "{file}");
        }
        (Other, HookEvent::Nothing { .. }) => {}
        (_, event) => panic!("{file} is read as {event:?}"),
    }

    let named: Vec<_> = sample["responses"].as_object().unwrap().keys().collect();
    let ours: Vec<_> = responses.iter().map(|(name, _)| *name).collect();
    assert_eq!(named, ours, "{file}: every response is tested");
    for (name, by) in responses {
        let reply = match (by, &event) {
            (Allow(reason), HookEvent::Ask(q)) => {
                decision_reply(q, &AgentDecision::Allow((*reason).into()))
            }
            (Ask(reason), HookEvent::Ask(q)) => {
                decision_reply(q, &AgentDecision::Ask((*reason).into()))
            }
            (Deny(reason), HookEvent::Ask(q)) => {
                decision_reply(q, &AgentDecision::Deny((*reason).into()))
            }
            (Left, HookEvent::Ask(q)) => decision_reply(q, &AgentDecision::Nothing),
            (Failed(why), _) => failure_reply(agent, None, why),
            (Done, HookEvent::Ran(ran)) => empty_reply(ran.hook),
            (Done, HookEvent::Refused(refused)) => empty_reply(refused.hook),
            (Done, HookEvent::Nothing { hook, .. }) => empty_reply(*hook),
            (Not(why), _) => {
                assert!(!why.is_empty());
                continue;
            }
            _ => panic!("{file}: {name} is not a reply to this event"),
        };
        assert_same(
            &format!("{file}: {name}"),
            &sample["responses"][*name],
            &reply,
        );
    }
}

fn assert_same(what: &str, sample: &Value, reply: &HookReply) {
    let printed = match reply.stdout.as_str() {
        "" => json!(""),
        text => serde_json::from_str(text).unwrap(),
    };
    if sample.get("exit").is_none() {
        // For the plugin, the sample is the plugin's behaviour.
        assert_eq!(*sample, printed, "{what}");
        return;
    }
    assert_eq!(sample["exit"], json!(reply.exit), "{what}");
    if let Some(stderr) = sample.get("stderr") {
        assert_eq!(*stderr, json!(reply.stderr), "{what}");
    }
    if let Some(stdout) = sample.get("stdout") {
        let mut expected = stdout.clone();
        // The reply contains the reason, which is better than the sample's bare "refused by
        // policy".
        if expected["permission"] == "deny" {
            expected["agent_message"] = expected["user_message"].clone();
        }
        assert_eq!(expected, printed, "{what}");
    }
}

const REFUSED: &str = "DELETE: refused by policy";

#[test]
fn claude_code_samples_of_its_permission_request() {
    let file = "claude_code.permission_request";
    check(
        file,
        Agent::ClaudeCode,
        &Asks("rm -rf node_modules"),
        &[
            ("allow", Allow("READ")),
            (
                "allow_and_remember",
                Not("the guard stores remembered answers itself, so that they can be revoked"),
            ),
            ("deny", Deny(REFUSED)),
            ("no_decision", Ask("DELETE: the prompt stays")),
        ],
    );
}

#[test]
fn claude_code_samples_of_other_events() {
    let agent = Agent::ClaudeCode;
    check(
        "claude_code.permission_denied",
        agent,
        &Refused("rm -rf /tmp/build"),
        &[
            ("none", Done),
            ("retry", Not("a refusal is not argued with")),
        ],
    );
    check(
        "claude_code.session_start",
        agent,
        &Other,
        &[
            ("none", Done),
            ("context", Not("nothing is put into a session")),
        ],
    );
    check(
        "claude_code.user_prompt_submit",
        agent,
        &Other,
        &[
            ("none", Done),
            ("block", Not("prompts are not judged")),
            ("context", Not("nothing is put into a session")),
        ],
    );
}

#[test]
fn cursor_samples() {
    let agent = Agent::Cursor;
    check(
        "cursor.before_shell_execution",
        agent,
        &Asks("rm -rf build"),
        &[
            ("allow", Allow("READ")),
            ("ask", Ask("DELETE: rm -rf build")),
            ("deny", Deny("DELETE: refused")),
            ("deny_by_exit", Failed("DELETE: refused")),
        ],
    );
    check(
        "cursor.pre_tool_use",
        agent,
        &Asks("git status"),
        &[("allow", Allow("READ")), ("deny", Deny("x"))],
    );
    check(
        "cursor.after_shell_execution",
        agent,
        &Ran("git status", None),
        &[("none", Done)],
    );
}

#[test]
fn copilot_samples() {
    let agent = Agent::Copilot;
    check(
        "copilot_cli.pre_tool_use_pascal",
        agent,
        &Asks("rm -rf build"),
        &[("ask", Ask("DELETE"))],
    );
    check(
        "copilot_cli.permission_request",
        agent,
        &Asks("git status"),
        &[
            ("allow", Allow("READ")),
            ("deny", Deny("refused")),
            ("no_decision", Ask("DELETE: the prompt stays")),
        ],
    );
}

#[test]
fn vscode_samples() {
    check(
        "vscode.pre_tool_use",
        Agent::VsCode,
        &Asks("rm -rf build"),
        &[
            ("allow", Allow("READ")),
            ("ask", Ask("DELETE")),
            ("deny", Deny("DELETE")),
            ("deny_by_exit", Failed("refused")),
        ],
    );
}

#[test]
fn opencode_samples() {
    let agent = Agent::OpenCode;
    check(
        "opencode.v2_permission_evaluate",
        agent,
        &Asks("rm -rf build"),
        &[
            ("allow", Allow("READ")),
            ("ask", Ask("DELETE: rm -rf build")),
            ("deny", Deny("DELETE: refused")),
        ],
    );
}

/// The input of Grok CLI 1.0.5, which has no fields of Claude Code.
#[test]
fn grok_samples() {
    check(
        "grok.pre_tool_use",
        Agent::Grok,
        &Asks("rm -rf build"),
        &[
            ("allow", Allow("READ")),
            ("deny", Deny("DELETE: refused")),
            ("deny_by_exit", Failed("DELETE: refused")),
        ],
    );
}

/// Agents whose hooks were not tried: the reply to each answer is that of their documentation.
#[test]
fn samples_of_agents_that_were_not_tried() {
    const REASON: &str = "DELETE: refused";
    let by_status = [
        ("allow", Allow("READ")),
        ("deny", Deny(REASON)),
        ("deny_by_exit", Failed(REASON)),
    ];
    let command = Asks("rm -rf build");
    for (file, agent) in [
        ("openhands.pre_tool_use", Agent::OpenHands),
        ("windsurf.pre_run_command", Agent::Windsurf),
        ("kiro.pre_tool_use", Agent::Kiro),
    ] {
        check(file, agent, &command, &by_status);
    }
    check(
        "windsurf.pre_write_code",
        Agent::Windsurf,
        &Asks("write_code /srv/dev/project/file.py"),
        &[("deny", Deny(REASON))],
    );
    check(
        "cline.pre_tool_use",
        Agent::Cline,
        &command,
        &[("allow", Allow("READ")), ("deny", Deny(REASON))],
    );
    check(
        "crush.pre_tool_use",
        Agent::Crush,
        &command,
        &[
            ("allow", Allow("READ")),
            ("deny", Deny(REASON)),
            ("deny_by_exit", Failed(REASON)),
            ("no_decision", Left),
        ],
    );
    check(
        "antigravity.pre_tool_use",
        Agent::Antigravity,
        &command,
        &[
            ("allow", Allow("READ")),
            ("ask", Ask("DELETE")),
            ("deny", Deny(REASON)),
            ("deny_by_exit", Failed(REASON)),
            ("no_decision", Left),
        ],
    );
}
