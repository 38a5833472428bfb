//! Outputs of programs that are not exactly one JSON object.

#![cfg(all(unix, feature = "command"))]

use std::time::Duration;

use hooks_runtime::{
    Action, CommandHook, Emission, Failure, FailurePolicy, HookRegistry, RegisterOptions,
};
use serde_json::json;

const DENY: &str = r#"{"action": "deny", "reason": "no"}"#;
const ASK: &str = r#"{"action": "ask_user", "approval_prompt": "sure?"}"#;
const INJECT: &str = r#"{"action": "inject_context", "context_injection": "careful"}"#;
const MODIFY: &str = r#"{"action": "modify", "data": {"a": 1}}"#;
const CONTINUE: &str = r#"{"action": "continue"}"#;

const POLICIES: [FailurePolicy; 3] = [
    FailurePolicy::Isolate,
    FailurePolicy::FailClosed,
    FailurePolicy::Propagate,
];

/// Emits an event to a program that prints these bytes.
async fn emit(policy: FailurePolicy, printed: &[u8]) -> Result<Emission, String> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("output");
    std::fs::write(&file, printed).unwrap();
    let hook = CommandHook::new("cat").arg(file);
    let hooks = HookRegistry::new();
    let options = RegisterOptions::new().name("program").on_failure(policy);
    hooks.register("tool:pre", hook, options);
    let emission = hooks.emit("tool:pre", json!({"tool_name": "Write"})).await;
    emission.map_err(|error| error.to_string())
}

fn lines(emission: &Emission) -> Vec<&str> {
    emission.output().iter().map(|line| &*line.text).collect()
}

/// Checks that the output has this action under every failure policy.
async fn is_read(printed: impl AsRef<[u8]>, action: Action) {
    let _ = read(printed, action).await;
}

/// Checks that the output has this action under every failure policy, and returns one emission.
async fn read(printed: impl AsRef<[u8]>, action: Action) -> Emission {
    let printed = printed.as_ref();
    let shown = String::from_utf8_lossy(printed);
    let mut last = None;
    for policy in POLICIES {
        let emission = emit(policy, printed).await.unwrap();
        assert_eq!(emission.action, action, "{shown}: {:?}", emission.failures);
        assert!(
            emission.failures.is_empty(),
            "{shown}: {:?}",
            emission.failures
        );
        last = Some(emission);
    }
    last.unwrap()
}

/// Checks that the output is a failure under every failure policy, and returns its message.
async fn is_invalid(printed: impl AsRef<[u8]>) -> String {
    let printed = printed.as_ref();
    let shown = String::from_utf8_lossy(printed);
    let open = emit(FailurePolicy::Isolate, printed).await.unwrap();
    let [failure] = &open.failures[..] else {
        panic!("{shown}: one failure, not {:?}", open.failures);
    };
    assert!(
        matches!(failure.failure, Failure::Invalid(_)),
        "{shown}: {failure:?}"
    );
    let closed = emit(FailurePolicy::FailClosed, printed).await.unwrap();
    assert_eq!(closed.action, Action::Deny, "{shown}");
    emit(FailurePolicy::Propagate, printed).await.unwrap_err();
    failure.failure.to_string()
}

#[tokio::test]
async fn a_denial_or_question_applies_wherever_it_is_printed() {
    for (strict, action) in [(DENY, Action::Deny), (ASK, Action::AskUser)] {
        for other in [
            CONTINUE,
            MODIFY,
            INJECT,
            "{}",
            r#"{"level": "info"}"#,
            r#"{"action": "allow"}"#,
            r#"{"action": "modify", "data": 1}"#,
            "done",
            "[1]",
            r#"{"action": "#,
            "{ action: 'continue' }",
        ] {
            for printed in [
                format!("{strict}\n{other}\n"),
                format!("{other}\n{strict}"),
                format!("{other}\r\n{strict}\r\n{other}\r\n"),
                format!("{strict}{other}"),
                format!("{strict} {other}"),
            ] {
                is_read(printed, action).await;
            }
        }
    }
}

#[tokio::test]
async fn the_strictest_of_several_results_applies() {
    for printed in [
        format!("{ASK}\n{DENY}\n{ASK}\n{CONTINUE}"),
        format!("{DENY}\n{ASK}"),
        format!("{ASK}{DENY}"),
        format!("[{CONTINUE}, {DENY}, {ASK}]"),
    ] {
        let emission = read(&printed, Action::Deny).await;
        assert_eq!(emission.reason(), Some("no"), "{printed}");
        let note = lines(&emission).concat();
        assert!(
            note.contains("results on standard output applies"),
            "{printed}: {note}"
        );
    }
}

#[tokio::test]
async fn of_equally_strict_results_the_first_applies() {
    let second = r#"{"action": "deny", "reason": "second"}"#;
    let emission = read(format!("{DENY}\n{second}\n"), Action::Deny).await;
    assert_eq!(emission.reason(), Some("no"));
}

#[tokio::test]
async fn an_invalid_denial_is_stricter_than_a_valid_continue() {
    for denial in [
        r#"{"action": "deny", "approval_timeout": 1e999}"#,
        r#"{"action": "deny", "ephemeral": "yes"}"#,
        r#"{"action": "deny", "action": "continue"}"#,
        r#"{"action": "continue", "action": "deny"}"#,
    ] {
        is_read(format!("{denial}\n{CONTINUE}\n"), Action::Deny).await;
    }
}

#[tokio::test]
async fn different_results_of_which_none_denies_are_a_failure() {
    for printed in [
        format!("{MODIFY}\n{CONTINUE}\n"),
        format!("{CONTINUE}\n{MODIFY}"),
        format!("{INJECT}{MODIFY}"),
        format!("{MODIFY}\n{{\"action\": \"modify\", \"data\": {{\"a\": 2}}}}"),
        format!("{MODIFY}\n{{}}"),
        format!("{{\"action\": \"block\"}}\n{CONTINUE}\n"),
        format!("{{\"action\": \"modify\", \"data\": 1e999}}\n{CONTINUE}\n"),
        format!("{{\"action\": \"modify\", \"action\": \"continue\"}}\n{CONTINUE}\n"),
    ] {
        let message = is_invalid(&printed).await;
        assert!(
            message.contains("2 results that differ"),
            "{printed}: {message}"
        );
    }
}

#[tokio::test]
async fn equal_results_are_one_result() {
    is_read(format!("{CONTINUE}\n{CONTINUE}\n"), Action::Continue).await;
    let other_order = r#"{"data": {"a": 1}, "action": "modify"}"#;
    is_read(format!("{MODIFY}\n{other_order}"), Action::Modify).await;
}

#[tokio::test]
async fn text_and_objects_without_an_action_may_precede_the_result() {
    for log in [
        "looking",
        r#"{"level": "info", "msg": "looking"}"#,
        "{\n  \"level\": \"info\"\n}",
        "limit {10}, set {\"a\", \"b\"}",
        "config = {",
        r#"incomplete {"a": {"b": ["#,
        r#"{"nested": {"action": "deny"}}"#,
        "the action: deny nothing",
    ] {
        for (result, action) in [
            (CONTINUE, Action::Continue),
            (MODIFY, Action::Modify),
            (DENY, Action::Deny),
        ] {
            let emission = read(format!("{log}\n{result}\n"), action).await;
            assert_eq!(lines(&emission), [log], "{log}");
        }
    }
}

#[tokio::test]
async fn a_result_may_have_several_lines() {
    let pretty = "{\n  \"action\": \"modify\",\n  \"data\": {\n    \"a\": 1\n  }\n}\n";
    for printed in [
        pretty.to_owned(),
        pretty.replace('\n', "\r\n"),
        format!("looking\n{pretty}"),
        format!("{{\"level\": \"info\"}}\n{pretty}\n\n"),
        format!("```json\n{pretty}```\n"),
    ] {
        let emission = read(&printed, Action::Modify).await;
        assert_eq!(emission.data["a"], 1, "{printed}");
    }
}

#[tokio::test]
async fn text_after_or_beside_a_result_that_does_not_deny_is_a_failure_that_shows_the_text() {
    for result in [CONTINUE, MODIFY, INJECT, "{}"] {
        let message = is_invalid(format!("{result}\nall done\n")).await;
        assert!(
            message.contains("the text `all done` follows it"),
            "{message}"
        );
        let message = is_invalid(format!("{result} ok")).await;
        assert!(message.contains("the text `ok` follows it"), "{message}");
        let message = is_invalid(format!("result: {result}\n")).await;
        assert!(
            message.contains("the text `result:` precedes it on its line"),
            "{message}"
        );
        let message = is_invalid(format!("{result}\0")).await;
        assert!(message.contains(r"the text `\0` follows it"), "{message}");
        assert!(message.contains("NUL bytes"), "{message}");
    }
    let message = is_invalid(format!("[{CONTINUE}]")).await;
    assert!(message.contains("JSON, but not an object"), "{message}");
}

#[tokio::test]
async fn a_result_that_is_not_json_is_a_failure_also_before_another_result() {
    for broken in [
        r#"{"action": "deny", "reason": "path "a b" is closed"}"#,
        r#"{"action": "deny",}"#,
        r#"{"action": "deny""#,
        "{'action': 'deny'}",
        "{ action: 'deny', reason: 'no' }",
        "{\"reason\": \"two\nlines\", \"action\": \"deny\"}",
        r#""{\"action\": \"deny\"}""#,
    ] {
        is_invalid(broken).await;
        is_invalid(format!("{broken}\n{CONTINUE}\n")).await;
        is_invalid(format!("{CONTINUE}\n{broken}\n")).await;
        let message = is_invalid(format!("x\n{broken}\n{MODIFY}")).await;
        assert!(
            message.contains("an `action` in text") || message.contains("precedes it"),
            "{message}"
        );
    }
    let message = is_invalid("{\n  \"action\": \"deny\",\n").await;
    assert!(message.contains("incomplete"), "{message}");
    let message = is_invalid("permission denied\n").await;
    assert!(
        message.contains("it is text, `permission denied`"),
        "{message}"
    );
}

#[tokio::test]
async fn a_byte_order_mark_does_not_change_the_result() {
    for (result, action) in [
        (CONTINUE, Action::Continue),
        (MODIFY, Action::Modify),
        (DENY, Action::Deny),
    ] {
        for printed in [
            format!("\u{feff}{result}\r\n"),
            format!("\n\u{feff}{result}"),
            format!("looking\n\u{feff}{result}"),
            format!("{result}\u{feff}"),
        ] {
            is_read(printed, action).await;
        }
    }
    let message = is_invalid("\u{feff}done").await;
    assert!(message.contains("a byte order mark"), "{message}");
    let kept = "{\"action\": \"deny\", \"reason\": \"a\u{feff}b\"}";
    let emission = read(kept, Action::Deny).await;
    assert_eq!(emission.reason(), Some("a\u{feff}b"));
}

#[tokio::test]
async fn utf_16_is_read() {
    let encode = |text: &str, bytes: fn(u16) -> [u8; 2]| -> Vec<u8> {
        text.encode_utf16().flat_map(bytes).collect()
    };
    for (result, action) in [(CONTINUE, Action::Continue), (DENY, Action::Deny)] {
        for mark in ["", "\u{feff}"] {
            let text = format!("{mark}{result}\r\n");
            is_read(encode(&text, u16::to_le_bytes), action).await;
            is_read(encode(&text, u16::to_be_bytes), action).await;
        }
    }
    let message = is_invalid(encode("\u{feff}done", u16::to_le_bytes)).await;
    assert!(message.contains("UTF-16"), "{message}");
    // Half of a character is missing.
    let mut odd = encode(CONTINUE, u16::to_le_bytes);
    odd.pop();
    let message = is_invalid(odd).await;
    assert!(message.contains("NUL bytes"), "{message}");
}

#[tokio::test]
async fn colour_codes_do_not_change_the_result() {
    for (name, action) in [("continue", Action::Continue), ("deny", Action::Deny)] {
        for printed in [
            format!("\x1b[32m{{\"action\": \"{name}\"}}\x1b[0m\n"),
            format!(
                "\x1b[1;39m{{\n  \x1b[0m\x1b[34;1m\"action\"\x1b[0m\x1b[1;39m:\x1b[0m \
                 \x1b[0;32m\"{name}\"\x1b[0m\x1b[1;39m\n}}\x1b[0m\n"
            ),
            format!("\x1b[1mlooking\x1b[0m\n{{\"action\": \"{name}\"}}\x1b(B\x1b[m"),
            format!("\x1b[38;2;1;2;3m{{\"action\": \"\x1b[1m{name}\x1b[22m\"}}\x1b[K"),
        ] {
            is_read(printed, action).await;
        }
    }
    let message = is_invalid("\x1b[31mdenied\x1b[0m\n").await;
    assert!(message.contains("`denied`"), "{message}");
    assert!(message.contains("colour codes"), "{message}");
    // An escape that begins no colour code stays text.
    let message = is_invalid(format!("\x1b[{CONTINUE}")).await;
    assert!(message.contains("precedes it"), "{message}");
}

#[tokio::test]
async fn an_output_without_text_continues_and_other_bytes_do_not() {
    is_read("", Action::Continue).await;
    is_read(" \r\n\t\n", Action::Continue).await;
    is_invalid("\0").await;
    is_invalid("\u{feff}").await;
    is_invalid("```\n```\n").await;
}

#[tokio::test]
async fn a_long_output_of_braces_is_read() {
    let nested = r#"{"a":"#.repeat(40_000);
    for noise in [
        "{".repeat(200_000),
        nested.clone(),
        format!("{nested}x"),
        "{}".repeat(100_000),
        format!("{{\"a\": {}", "[".repeat(200_000)),
        "\x1b[".repeat(100_000),
        "{\"a\":\n".repeat(40_000),
        "{\"a\":\n".repeat(40_000) + "x",
    ] {
        is_read(format!("{noise}\n{DENY}\n"), Action::Deny).await;
        is_read(format!("{noise}\n{CONTINUE}\n"), Action::Continue).await;
    }
}

#[tokio::test]
async fn the_exit_code_decides_before_the_output() {
    let emit = async |script: String| {
        let hooks = HookRegistry::new();
        let hook = CommandHook::new("/bin/sh").args(["-c", &script]);
        let hook = hook.time_limit(Duration::from_secs(1)).output_limit(1000);
        hooks.register("tool:pre", hook, RegisterOptions::new().name("program"));
        hooks.emit("tool:pre", ()).await.unwrap()
    };
    let emission = emit(format!("echo '{CONTINUE}'; exit 2")).await;
    assert_eq!(emission.action, Action::Deny);
    for (script, kind) in [
        (format!("echo '{DENY}'; exit 1"), "error"),
        (format!("echo '{CONTINUE}'; kill -9 $$"), "error"),
        (format!("echo '{CONTINUE}'; exec sleep 60"), "timeout"),
        (format!("echo '{CONTINUE}'; exec yes"), "error"),
    ] {
        let emission = emit(script.clone()).await;
        assert_eq!(emission.action, Action::Continue, "{script}");
        assert_eq!(emission.failures.len(), 1, "{script}");
        assert_eq!(emission.failures[0].failure.kind(), kind, "{script}");
    }
}
