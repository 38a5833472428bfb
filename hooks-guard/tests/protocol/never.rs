//! Tests that no reply ever violates the protocol, whatever the decision and the input are.

use hooks_guard::classify::{Crud, Decision};
use hooks_guard::protocol::{
    Agent, AgentDecision, DecisionRequest, HookEvent, HookKind, MAX_TEXT_CHARS, decision_reply,
    failure_reply, read,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::protocol::holds::assert_holds;
use crate::protocol::permission;

/// Asserts that a reply has nothing that Codex rejects; after a rejection Codex continues without
/// the hook. Rejected are `ask`, an `allow` without `updatedInput`, a `deny` without a reason,
/// `continue`, `stopReason`, `suppressOutput` and every unknown key; for a prompt also
/// `updatedInput`, `updatedPermissions` and `interrupt`.
fn assert_not_sent(kind: HookKind, stdout: &str) {
    if stdout.is_empty() {
        return;
    }
    let value: Value = serde_json::from_str(stdout).unwrap();
    let top: Vec<_> = value.as_object().unwrap().keys().collect();
    assert_eq!(
        top,
        ["hookSpecificOutput"],
        "continue, stopReason, unknown keys"
    );
    let nested = value["hookSpecificOutput"].as_object().unwrap();
    let keys: Vec<_> = nested.keys().map(String::as_str).collect();
    match kind {
        HookKind::BeforeTool => {
            assert_eq!(
                keys,
                [
                    "hookEventName",
                    "permissionDecision",
                    "permissionDecisionReason"
                ]
            );
            assert_eq!(
                nested["permissionDecision"], "deny",
                "neither ask nor a bare allow"
            );
            assert_ne!(
                nested["permissionDecisionReason"], "",
                "a refusal has a reason"
            );
        }
        _ => {
            assert_eq!(keys, ["hookEventName", "decision"]);
            let decision = nested["decision"].as_object().unwrap();
            let known = |key: &String| key == "behavior" || key == "message";
            assert!(decision.keys().all(known), "{decision:?}");
        }
    }
}

fn any_command() -> impl Strategy<Value = Value> {
    prop_oneof![
        4 => any::<String>().prop_map(|text| json!(text)),
        1 => any::<i64>().prop_map(|number| json!(number)),
        1 => Just(Value::Null),
        1 => Just(json!(["ls"])),
        1 => Just(json!({"command": "ls"})),
    ]
}

fn any_mode() -> impl Strategy<Value = Value> {
    let modes = [
        "default",
        "plan",
        "auto",
        "dontAsk",
        "bypassPermissions",
        "acceptEdits",
        "",
    ];
    prop_oneof![
        proptest::sample::select(modes.to_vec()).prop_map(|mode| json!(mode)),
        any::<String>().prop_map(|mode| json!(mode)),
        Just(Value::Null),
        Just(json!(7)),
    ]
}

fn any_input() -> impl Strategy<Value = Value> {
    let events = [
        "PreToolUse",
        "PermissionRequest",
        "PostToolUse",
        "PostToolUseFailure",
        "BeforeTool",
        "AfterTool",
        "beforeShellExecution",
        "preToolUse",
        "SessionStart",
        "",
    ];
    let tools = [
        "Bash",
        "Write",
        "apply_patch",
        "run_shell_command",
        "Shell",
        "PowerShell",
        "Read",
        "Odd",
    ];
    let events = proptest::sample::select(events.to_vec());
    let tools = proptest::sample::select(tools.to_vec());
    (events, tools, any_command(), any_mode(), 0..4_u8).prop_map(
        |(event, tool, command, mode, form)| match form {
            0 => json!({"hook_event_name": event, "tool_name": tool, "session_id": "s",
                "cwd": "/srv/p", "permission_mode": mode, "command": command,
                "tool_input": {"command": command, "file_path": command}}),
            1 => json!({"sessionId": "s", "toolName": tool, "permissionMode": mode,
                "toolArgs": json!({"command": command, "path": command}).to_string()}),
            2 => json!({"input": {"tool": tool, "sessionID": "s", "callID": "c"},
                "output": {"args": {"command": command, "filePath": command}}}),
            _ => json!({"sessionID": "s", "action": tool, "resource": command, "effect": mode}),
        },
    )
}

fn any_permission() -> impl Strategy<Value = hooks_guard::PermissionDecision> {
    let classes = [Crud::Read, Crud::Create, Crud::Update, Crud::Delete];
    let classes = proptest::sample::select(classes.to_vec());
    (
        any::<bool>(),
        classes,
        any::<bool>(),
        any::<bool>(),
        any::<String>(),
    )
        .prop_map(|(allowed, class, denied, rule, reasoning)| {
            let decision = match allowed {
                true => Decision::AutoAllowed,
                false => Decision::RequiresConfirmation,
            };
            let mut permission =
                permission(decision, class, denied, rule.then_some("guard.toml:1"));
            permission.reasoning = reasoning;
            permission
        })
}

fn asked(agent: Agent, input: &Value) -> Option<DecisionRequest> {
    match read(agent, input.to_string().as_bytes()) {
        Ok(HookEvent::Ask(question)) => Some(question),
        _ => None,
    }
}

proptest! {
    #[test]
    fn codex_never_gets_a_reply_that_it_rejects(
        input in any_input(), permission in any_permission(), reason in ".{0,4100}", ask in any::<bool>(),
    ) {
        if let Some(question) = asked(Agent::Codex, &input) {
            let kind = question.hook.kind;
            assert_not_sent(kind, &decision_reply(&question, &AgentDecision::of(&question, &permission)).stdout);
            let agent_decision = match ask {
                true => AgentDecision::Ask(reason.clone()),
                false => AgentDecision::Deny(reason.clone()),
            };
            assert_not_sent(kind, &decision_reply(&question, &agent_decision).stdout);
            assert_not_sent(kind, &failure_reply(Agent::Codex, Some(question.hook), &reason).stdout);
        }
    }

    #[test]
    fn only_an_allowed_request_gets_an_allow_reply(input in any_input(), permission in any_permission()) {
        for agent in Agent::ALL {
            let Some(question) = asked(agent, &input) else { continue };
            let given = AgentDecision::of(&question, &permission);
            let reply = decision_reply(&question, &given);
            let allows = [r#":"allow""#, r#":"approve""#].iter().any(|word| reply.stdout.contains(word));
            let may = permission.decision == Decision::AutoAllowed && !permission.denied;
            prop_assert!(may || !allows, "{agent}: {permission:?} is answered {reply:?}");
            if permission.denied {
                prop_assert!(matches!(given, AgentDecision::Deny(_)));
            }
        }
    }

    #[test]
    fn replies_to_any_input_are_well_formed(input in any_input()) {
        assert_holds(input.to_string().as_bytes());
    }

    #[test]
    fn replies_to_any_bytes_are_well_formed(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        assert_holds(&bytes);
    }

    #[test]
    fn reasons_are_short_and_without_control_characters(reason in ".{0,4100}") {
        for agent in Agent::ALL {
            let reply = failure_reply(agent, None, &reason);
            prop_assert!(!reply.stderr.is_empty() && reply.stderr.chars().count() <= MAX_TEXT_CHARS);
            prop_assert!(!reply.stderr.contains(char::is_control));
        }
    }
}
