//! Properties that hold for any input, for the fuzz target and tests. In: any bytes. Out: nothing;
//! panics if a reply violates the protocol.

use hooks_guard::protocol::{
    Agent, AgentDecision, HookEvent, HookReply, MAX_TEXT_CHARS, decision_reply, empty_reply,
    failure_reply, limit, read,
};
use serde_json::Value;

/// Parses the bytes as every agent's input, replies in every way, and checks the replies.
///
/// # Panics
/// If an agent would treat a reply as an approval that was never given, or could not parse it.
pub(crate) fn assert_holds(data: &[u8]) {
    for agent in Agent::ALL {
        match read(agent, data) {
            Err(error) => {
                let reply = failure_reply(agent, error.hook, &error.to_string());
                assert_formed(agent, &reply);
                assert!(!allows(&reply), "{agent}: {error} is answered {reply:?}");
                let before = error.hook.is_none_or(|hook| hook.kind.is_before());
                assert!(
                    !before || is_denial(&reply),
                    "{agent}: {error} is {reply:?}"
                );
            }
            Ok(HookEvent::Ask(question)) => {
                assert!(!limit(agent, Some(question.hook), None).is_zero());
                let edits = question.edits();
                assert!(edits.is_empty() || question.request.file.is_some());
                let reason = "because \u{202e}of\n it".to_owned();
                let answers = [
                    AgentDecision::Ask(reason.clone()),
                    AgentDecision::Deny(reason.clone()),
                    AgentDecision::Nothing,
                    AgentDecision::Allow(reason),
                ];
                for given in &answers {
                    let reply = decision_reply(&question, given);
                    assert_formed(agent, &reply);
                    let allow = matches!(given, AgentDecision::Allow(_));
                    assert!(allow || !allows(&reply), "{agent}: {given:?} is {reply:?}");
                    let deny = match given {
                        AgentDecision::Deny(_) => true,
                        AgentDecision::Ask(_) => question.unattended(),
                        _ => false,
                    };
                    assert!(
                        !deny || is_denial(&reply),
                        "{agent}: {given:?} is {reply:?}"
                    );
                }
                let reply = failure_reply(agent, Some(question.hook), "");
                assert!(is_denial(&reply), "{agent}: {reply:?}");
            }
            Ok(HookEvent::Ran(ran)) => {
                assert_formed(agent, &empty_reply(ran.hook));
                assert!(!allows(&empty_reply(ran.hook)));
            }
            Ok(HookEvent::Refused(refused)) => {
                assert_formed(agent, &empty_reply(refused.hook));
                assert!(!allows(&empty_reply(refused.hook)));
            }
            Ok(HookEvent::Nothing { hook, .. }) => {
                assert_formed(agent, &empty_reply(hook));
                assert!(!allows(&empty_reply(hook)));
            }
        }
    }
}

/// Returns `true` if an agent would treat the reply as an approval.
fn allows(reply: &HookReply) -> bool {
    contains_words(reply, &["allow", "approve"])
}

/// Returns `true` if an agent would treat the reply as a denial.
fn is_denial(reply: &HookReply) -> bool {
    (reply.exit == 2 && !reply.stderr.is_empty())
        || contains_words(reply, &["deny"])
        || reply.stdout.contains(r#""throws""#)
        || reply.stdout.contains(r#""cancel":true"#)
        || reply.stdout.contains(r#""block":true"#)
}

fn contains_words(reply: &HookReply, words: &[&str]) -> bool {
    let Ok(value) = serde_json::from_str::<Value>(&reply.stdout) else {
        return false;
    };
    let nested = &value["hookSpecificOutput"];
    let fields = [
        &value["decision"],
        &value["permission"],
        &value["permissionDecision"],
        &value["behavior"],
        &value["effect"],
        &nested["permissionDecision"],
        &nested["decision"]["behavior"],
    ];
    let mut texts = fields.into_iter().filter_map(Value::as_str);
    texts.any(|word| words.contains(&word))
}

fn assert_formed(agent: Agent, reply: &HookReply) {
    assert!(matches!(reply.exit, 0 | 2), "{agent}: {reply:?}");
    assert!(
        reply.stderr.chars().count() <= MAX_TEXT_CHARS,
        "{agent}: {reply:?}"
    );
    if reply.stdout.is_empty() {
        return;
    }
    let value: Value = serde_json::from_str(&reply.stdout).expect("JSON is printed");
    assert_texts(agent, &value);
    let nested = value["hookSpecificOutput"].as_object();
    if agent == Agent::Codex {
        // Keys that Codex rejects; it then runs the tool.
        assert_eq!(
            value.as_object().map(|value| value.len()),
            Some(1),
            "{reply:?}"
        );
        let nested = nested.expect("its only key");
        let decision = nested.get("permissionDecision").and_then(Value::as_str);
        let known: &[&str] = match decision {
            Some(decision) => {
                assert_eq!(decision, "deny", "{reply:?}");
                let reason = &nested["permissionDecisionReason"];
                assert!(reason.as_str().is_some_and(|reason| !reason.is_empty()));
                &[
                    "hookEventName",
                    "permissionDecision",
                    "permissionDecisionReason",
                ]
            }
            None => {
                let decision = nested["decision"].as_object().expect("a decision");
                let known = |key: &String| matches!(key.as_str(), "behavior" | "message");
                assert!(decision.keys().all(known), "{reply:?}");
                &["hookEventName", "decision"]
            }
        };
        assert!(
            nested.keys().all(|key| known.contains(&key.as_str())),
            "{reply:?}"
        );
    }
}

/// Checks that no text is empty, too long, or contains deceptive characters.
fn assert_texts(agent: Agent, value: &Value) {
    match value {
        Value::String(text) => {
            assert!(
                !text.is_empty() && text.chars().count() <= MAX_TEXT_CHARS,
                "{agent}"
            );
            assert!(!text.contains(char::is_control), "{agent}: {text:?}");
        }
        Value::Object(object) => object.values().for_each(|value| assert_texts(agent, value)),
        Value::Array(list) => list.iter().for_each(|value| assert_texts(agent, value)),
        _ => {}
    }
}
