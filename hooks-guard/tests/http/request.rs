//! `POST /api/hooks/permission-request`: fields, responses, errors (P-01 … P-16).

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::support::client::Request;
use crate::support::daemon::Daemon;
use crate::support::instant;

const TARGET: &str = "/api/hooks/permission-request";

#[test]
fn p_01_a_command_has_at_most_10000_characters() {
    let daemon = Daemon::plain();
    let longest = format!("echo {}", "a".repeat(9_995));
    daemon.post(&json!({ "command": longest })).ok();
    let body = daemon
        .post(&json!({ "command": format!("{longest}a") }))
        .error(400, "FIELD_TOO_LONG");
    assert_eq!(
        body["error"],
        "Field 'command' exceeds maximum length of 10000 characters"
    );
}

#[test]
fn p_01_the_limit_counts_characters_and_not_bytes() {
    let daemon = Daemon::plain();
    for character in ["é", "語", "😀"] {
        let longest = format!("echo {}", character.repeat(9_995));
        daemon.post(&json!({ "command": longest })).ok();
        daemon
            .post(&json!({ "command": longest + character }))
            .error(400, "FIELD_TOO_LONG");
    }
}

#[test]
fn p_01_the_limit_counts_characters_and_not_escapes() {
    let daemon = Daemon::plain();
    let body = |characters: usize| {
        let escapes = "\\ud83d\\ude00".repeat(characters - 5);
        Request::new("POST", TARGET).body(format!("{{\"command\":\"echo {escapes}\"}}"))
    };
    daemon.send(&body(10_000)).ok();
    daemon.send(&body(10_001)).error(400, "FIELD_TOO_LONG");
}

#[test]
fn p_01_a_context_is_optional_and_has_at_most_100_characters() {
    let daemon = Daemon::plain();
    let with = |context: Value| daemon.post(&json!({ "command": "ls", "context": context }));
    with(Value::Null).ok();
    with(json!("git")).ok();
    with(json!("é".repeat(100))).ok();
    let body = with(json!("é".repeat(101))).error(400, "FIELD_TOO_LONG");
    assert_eq!(
        body["error"],
        "Field 'context' exceeds maximum length of 100 characters"
    );
}

#[test]
fn p_02_invalid_json_is_an_error_with_its_position() {
    let daemon = Daemon::plain();
    for body in [
        "",
        "{",
        "command=ls",
        "{\"command\": \"ls\"",
        "{'command': 'ls'}",
        "{\"command\": \"ls\",}",
        "{\"command\": \"ls\"} trailing",
        "{\"command\": \"line\nbreak\"}",
        "{\"command\": \"\\ud83d\"}",
        "\u{feff}{\"command\": \"ls\"}",
    ] {
        let request = Request::new("POST", TARGET).header("Content-Type", "application/json");
        let body = daemon.send(&request.body(body)).error(400, "INVALID_JSON");
        assert_eq!(body["error"], "Invalid request body");
        let details = body["details"].as_str().unwrap();
        assert!(details.contains("line"), "{details}");
        // The line, and carets below the mistake.
        let [line, carets] = body["excerpt"].as_array().unwrap().as_slice() else {
            panic!("{body}");
        };
        let carets = carets.as_str().unwrap();
        assert_eq!(carets.trim_start(), "^", "{body}");
        let width = line.as_str().unwrap().chars().count();
        assert!(carets.len() <= width + 1, "{body}");
    }
}

#[test]
fn p_02_json_other_than_an_object_is_an_error() {
    let daemon = Daemon::plain();
    for body in [
        json!(null),
        json!(true),
        json!(1),
        json!("ls"),
        json!([]),
        json!(["ls"]),
        json!([{ "command": "ls" }]),
    ] {
        let body = daemon.post(&body).error(400, "INVALID_JSON");
        assert!(body["details"].is_string(), "{body}");
    }
}

#[test]
fn p_02_a_wrong_type_is_an_error() {
    let daemon = Daemon::plain();
    for wrong in [json!(1), json!(true), json!(["ls"]), json!({ "a": "ls" })] {
        let body = daemon
            .post(&json!({ "command": wrong }))
            .error(400, "INVALID_JSON");
        assert!(body["details"].is_string(), "{body}");
        for field in ["context", "agent", "session_id", "cwd", "call_id"] {
            daemon
                .post(&json!({ "command": "ls", field: wrong }))
                .error(400, "INVALID_JSON");
        }
    }
}

#[test]
fn p_02_an_error_names_the_path_within_a_field() {
    let daemon = Daemon::plain();
    for (field, value, place) in [
        (
            "file",
            json!({ "tool": "T", "effect": "READ", "paths": ["a", 1] }),
            "file.paths[1]",
        ),
        (
            "file",
            json!({ "tool": "T", "effect": "SOME", "paths": [] }),
            "file.effect",
        ),
        ("file", json!([]), "file"),
        (
            "network",
            json!({ "host": "a", "port": "b" }),
            "network.port",
        ),
        ("types_into_programs", json!(1), "types_into_programs"),
    ] {
        let body = daemon
            .post(&json!({ "command": "ls", field: value }))
            .error(400, "INVALID_JSON");
        let details = body["details"].as_str().unwrap();
        let start = format!("field `{place}`: ");
        assert!(details.starts_with(&start), "{details}");
    }
}

/// The limits of an agent's hook.
#[test]
fn p_01_names_have_at_most_500_characters_and_a_directory_4096() {
    let daemon = Daemon::plain();
    for (field, most) in [
        ("agent", 500),
        ("session_id", 500),
        ("call_id", 500),
        ("cwd", 4_096),
    ] {
        let with = |length: usize| {
            let value = format!("/{}", "é".repeat(length - 1));
            daemon.post(&json!({ "command": "ls", field: value }))
        };
        with(most).ok();
        let body = with(most + 1).error(400, "FIELD_TOO_LONG");
        assert_eq!(
            body["error"],
            format!("Field '{field}' exceeds maximum length of {most} characters")
        );
    }
}

#[test]
fn p_03_the_error_names_a_missing_command() {
    let daemon = Daemon::plain();
    for body in [
        json!({}),
        json!({ "context": "git" }),
        json!({ "Command": "ls" }),
        json!({ "command": null }),
        json!({ "command": "" }),
    ] {
        let body = daemon.post(&body).error(400, "MISSING_FIELD");
        assert_eq!(body["error"], "Missing required field: command");
    }
}

#[test]
fn p_03_p_04_a_refused_request_leaves_no_record() {
    let daemon = Daemon::plain();
    daemon.post(&json!({})).refusal(400);
    daemon.post(&json!([])).refusal(400);
    daemon
        .post(&json!({ "command": "a".repeat(10_001) }))
        .refusal(400);
    let body = daemon.get("/api/hooks/decisions").ok();
    assert_eq!(body["pagination"]["total"], 0);
}

#[test]
fn p_05_a_response_has_every_field() {
    let daemon = Daemon::plain();
    let before = Timestamp::now() - SignedDuration::from_secs(1);
    for command in ["ls", "mkdir out"] {
        let permission = daemon.ask(command);
        for field in ["decision", "classification", "reasoning", "explanation"] {
            assert!(
                permission[field]
                    .as_str()
                    .is_some_and(|text| !text.is_empty()),
                "`{field}` in {permission}"
            );
        }
        assert_eq!(permission["classification_method"], "pattern_match");
        let confidence = permission["confidence"].as_f64().unwrap();
        assert!((0.0..=1.0).contains(&confidence), "{permission}");
        let at = instant(&permission["timestamp"]);
        let after = Timestamp::now() + SignedDuration::from_secs(1);
        assert!(before <= at && at <= after, "{permission}");
    }
}

#[test]
fn p_05_a_response_has_an_id_and_a_secret() {
    let daemon = Daemon::plain();
    let (first, second) = (daemon.ask("ls"), daemon.ask("mkdir out"));
    assert!(first["id"].as_i64().unwrap() < second["id"].as_i64().unwrap());
    for permission in [&first, &second] {
        assert!(
            permission["secret"]
                .as_str()
                .is_some_and(|secret| secret.len() >= 16),
            "{permission}"
        );
        assert_ne!(permission["denied"], true);
    }
    assert_ne!(first["secret"], second["secret"]);
}

#[test]
fn p_06_reads_are_allowed_and_other_commands_require_confirmation() {
    let daemon = Daemon::plain();
    for (command, class, decision) in [
        ("ls -la", "READ", "AUTO_ALLOWED"),
        ("cat README.md | wc -l", "READ", "AUTO_ALLOWED"),
        ("mkdir out", "CREATE", "REQUIRES_CONFIRMATION"),
        (
            "git commit -m 'Fix bug in parser'",
            "UPDATE",
            "REQUIRES_CONFIRMATION",
        ),
        ("rm old.txt", "DELETE", "REQUIRES_CONFIRMATION"),
    ] {
        let permission = daemon.ask(command);
        assert_eq!(permission["classification"], class, "{command}");
        assert_eq!(permission["decision"], decision, "{command}");
    }
}

#[test]
fn p_09_the_strongest_part_of_a_command_decides() {
    let daemon = Daemon::plain();
    for (command, class) in [
        ("ls; rm old.txt", "DELETE"),
        ("ls && git commit -m x", "UPDATE"),
        ("mkdir out && git commit -m x && rm old.txt", "DELETE"),
        ("cat old.txt | xargs rm", "DELETE"),
        ("echo $(rm old.txt)", "DELETE"),
        ("ls `mkdir out`", "CREATE"),
    ] {
        let permission = daemon.ask(command);
        assert_eq!(permission["classification"], class, "{command}");
        assert_eq!(permission["decision"], "REQUIRES_CONFIRMATION", "{command}");
    }
    let permission = daemon.ask("echo text > new.txt");
    assert_eq!(permission["decision"], "REQUIRES_CONFIRMATION");
}

#[test]
fn p_10_the_examples_of_the_specification_are_classified_as_stated() {
    let daemon = Daemon::plain();
    for (command, class) in [
        ("ls", "READ"),
        ("mkdir build", "CREATE"),
        ("git commit -m 'Fix bug in parser'", "UPDATE"),
        ("rm -rf /tmp/*.log", "DELETE"),
    ] {
        let permission = daemon.ask(command);
        assert_eq!(permission["classification"], class);
        assert!(
            permission["confidence"].as_f64().unwrap() >= 0.9,
            "{permission}"
        );
        assert_eq!(permission["classification_method"], "pattern_match");
    }
    let body = json!({ "command": "npm install --save-dev jest", "context": "npm" });
    assert_eq!(daemon.post(&body).ok()["decision"], "REQUIRES_CONFIRMATION");
}

#[test]
fn p_14_any_content_type_is_accepted() {
    let daemon = Daemon::plain();
    let request = Request::new("POST", TARGET).body(r#"{"command":"ls"}"#);
    daemon.send(&request).ok();
    for kind in [
        "application/json",
        "application/json; charset=utf-8",
        "text/plain;charset=UTF-8",
        "application/x-www-form-urlencoded",
    ] {
        daemon
            .send(&request.clone().header("Content-Type", kind))
            .ok();
    }
}

#[test]
fn p_15_every_decision_is_recorded_before_its_response() {
    let daemon = Daemon::plain();
    for command in ["ls", "mkdir out", "frobnicate-zq --x", "if true; then"] {
        let permission = daemon.ask(command);
        let record = daemon.record(&permission["id"]);
        assert_eq!(record["command"], command);
        assert_eq!(record["classification"], permission["classification"]);
        assert_eq!(record["confidence"], permission["confidence"]);
        assert_eq!(
            record["decision_requires_confirmation"],
            permission["decision"] == "REQUIRES_CONFIRMATION"
        );
        let newest = &daemon.get("/api/hooks/decisions?limit=1").ok()["decisions"][0];
        assert_eq!(newest["id"], permission["id"]);
    }
}

#[test]
fn p_05_optional_fields_are_accepted() {
    let daemon = Daemon::plain();
    let permission = daemon
        .post(&json!({
            "command": "mkdir out", "agent": "claude-code", "session_id": "s-1",
            "cwd": "/srv/project", "call_id": "toolu_1",
        }))
        .ok();
    assert_eq!(permission["decision"], "REQUIRES_CONFIRMATION");
    let none = json!({
        "command": "ls", "agent": null, "session_id": null, "cwd": null, "call_id": null,
    });
    daemon.post(&none).ok();
}
