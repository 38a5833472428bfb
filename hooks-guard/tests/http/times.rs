//! Times in JSON have one width, so that they sort as text.

use std::collections::BTreeSet;

use hooks_guard::audit::AuditRecord;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::support::client::Answer;
use crate::support::daemon::Daemon;
use crate::support::instant;

/// Collects the times in a value, with the names of their fields.
fn times(value: &Value, name: &str, found: &mut Vec<(String, String)>) {
    match value {
        Value::String(text) if text.parse::<Timestamp>().is_ok() => {
            instant(value);
            found.push((name.to_owned(), text.clone()));
        }
        Value::Array(list) => list.iter().for_each(|value| times(value, name, found)),
        Value::Object(map) => map
            .iter()
            .for_each(|(name, value)| times(value, name, found)),
        _ => {}
    }
}

#[test]
fn all_times_in_responses_have_one_width_and_sort_as_text() {
    let daemon = Daemon::plain();
    let mut found = Vec::new();
    let mut keep = |answer: Answer| {
        for line in answer.text().lines() {
            if let Ok(value) = serde_json::from_str(line) {
                times(&value, "", &mut found);
            }
        }
    };
    let body = |command: &str| json!({ "command": command, "cwd": "/srv/a", "agent": "codex" });
    daemon.approve(&body("mkdir one"), "always");
    let permission = daemon.post(&body("ls")).ok();
    keep(daemon.post(&body("ls")));
    keep(daemon.executed(&permission["id"], &permission["secret"]));
    let asked = daemon.ask("mkdir two");
    let answer = json!({ "id": asked["id"], "response": "DENIED", "delay_ms": 10_000 });
    keep(daemon.respond_with(&answer));
    keep(daemon.as_operator("GET", "/api/hooks/pending"));
    let list = daemon.get("/api/hooks/remembered").ok();
    let target = format!("/api/hooks/remembered/{}", list["remembered"][0]["id"]);
    keep(daemon.as_operator("DELETE", &target));
    let decision = format!(
        "/api/hooks/decisions/{}",
        list["remembered"][0]["decision_id"]
    );
    for target in [
        "/api/hooks/decisions",
        "/api/hooks/remembered?all=true",
        "/api/hooks/export",
        "/api/hooks/registered",
        "/api/hooks/stats?since=2025-01-01T00:00:00Z&until=2125-01-01T00:00:00.5Z",
        "/api/hooks/series?since=2025-01-01T00:00:00Z",
        "/api/hooks/pending",
        "/health",
        &decision,
    ] {
        keep(daemon.as_operator("GET", target));
    }
    keep(daemon.as_operator("DELETE", "/api/hooks/cleanup?days=365&force=true"));

    let names: BTreeSet<_> = found.iter().map(|(name, _)| &**name).collect();
    for name in [
        "timestamp",
        "answered_at",
        "deadline",
        "executed_at",
        "effective_at",
        "generated_at",
        "since",
        "until",
        "start",
        "created_at",
        "revoked_at",
        "at",
    ] {
        assert!(names.contains(name), "no `{name}` in {names:?}");
    }
    let mut texts: Vec<_> = found.into_iter().map(|(_, text)| text).collect();
    assert!(texts.contains(&"2025-01-01T00:00:00.000000000Z".to_owned()));
    texts.sort();
    assert!(texts.is_sorted_by_key(|text| text.parse::<Timestamp>().unwrap()));
}

#[test]
fn times_without_a_fraction_have_the_same_width_and_shorter_times_are_read() {
    let daemon = Daemon::plain();
    let id = &daemon.ask("ls")["id"];
    let mut record: AuditRecord = serde_json::from_value(daemon.record(id)).unwrap();
    let mut texts = Vec::new();
    for text in [
        "2026-05-01T10:00:00Z",
        "2026-05-01T10:00:00.000000001Z",
        "2026-05-01T10:00:00.5Z",
        "2026-05-01T10:00:00.500001Z",
        "2026-05-01T10:00:01Z",
        "9999-12-30T22:00:00Z",
    ] {
        let at = text.parse().unwrap();
        (record.timestamp, record.deadline) = (at, Some(at));
        let mut shown = serde_json::to_value(&record).unwrap();
        assert_eq!(instant(&shown["timestamp"]), at);
        assert_eq!(shown["deadline"], shown["timestamp"]);
        assert_eq!(shown["answered_at"], Value::Null);
        texts.push(shown["timestamp"].as_str().unwrap().to_owned());
        shown["timestamp"] = text.into();
        let read: AuditRecord = serde_json::from_value(shown).unwrap();
        assert_eq!(read, record);
    }
    assert!(texts.is_sorted(), "{texts:?}");
}
