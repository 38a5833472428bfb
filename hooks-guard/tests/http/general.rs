//! Health, metrics, paths and methods, request ids, settings (P-13, P-43 … P-46).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::support::client::Request;
use crate::support::daemon::{Daemon, Setup, TOKEN};

const ENDPOINTS: [(&str, &str); 9] = [
    ("POST", "/api/hooks/permission-request"),
    ("GET", "/api/hooks/decisions"),
    ("GET", "/api/hooks/stats"),
    ("DELETE", "/api/hooks/cleanup"),
    ("POST", "/api/hooks/permission-response"),
    ("GET", "/api/hooks/pending"),
    ("GET", "/api/hooks/remembered"),
    ("GET", "/api/hooks/openapi.json"),
    ("GET", "/health"),
];

#[test]
fn p_43_health_includes_the_hooks() {
    let body = Daemon::plain().get("/health").ok();
    let hooks = body["hooks"].as_object().unwrap();
    assert_eq!(hooks["enabled"], true);
    assert_eq!(hooks["classifier_available"], true);
    assert_eq!(hooks["model_loaded"], false);
    assert!(
        hooks["model_name"].is_null() || hooks["model_name"].is_string(),
        "{body}"
    );
    assert!(hooks["classification_latency_ms"].is_u64(), "{body}");
}

#[test]
fn p_12_patterns_work_without_a_model() {
    let daemon = Daemon::plain();
    assert_eq!(daemon.get("/health").ok()["hooks"]["model_loaded"], false);
    assert_eq!(daemon.ask("ls")["classification_method"], "pattern_match");
}

#[test]
fn p_44_an_unknown_path_is_an_error_of_the_common_shape() {
    let daemon = Daemon::plain();
    for path in [
        "/nothing",
        "/api",
        "/api/hooks",
        "/api/hooks/nothing",
        "/api/hooks/decisions/1/nothing",
        "/api/hooks/../../etc/passwd",
        "/api/hooks/%2e%2e/%2e%2e/etc/passwd",
        "/api/hooks/stats%00",
        "//api/hooks/stats",
    ] {
        daemon.get(path).error(404, "NOT_FOUND");
        daemon
            .send(&Request::new("POST", path).body("{}"))
            .error(404, "NOT_FOUND");
    }
}

#[test]
fn p_44_a_wrong_method_gets_the_allowed_one() {
    let daemon = Daemon::plain();
    for (right, path) in ENDPOINTS {
        for method in ["GET", "POST", "PUT", "PATCH", "DELETE", "BREW"] {
            if method == right {
                continue;
            }
            let answer = daemon.send(&Request::new(method, path).body("{}"));
            answer.error(405, "METHOD_NOT_ALLOWED");
            let allow = answer.header("allow").unwrap_or_default();
            assert!(allow.contains(right), "{method} {path}: allow {allow:?}");
        }
    }
}

#[test]
fn p_13_every_response_has_a_unique_id() {
    let daemon = Daemon::plain();
    let mut ids = BTreeSet::new();
    let mut count = 0;
    for answer in [
        daemon.get("/health"),
        daemon.get("/health"),
        daemon.get("/metrics"),
        daemon.get("/nothing"),
        daemon.post(&json!({})),
        daemon.post(&json!({ "command": "ls" })),
        daemon.get("/api/hooks/decisions?since=x"),
        daemon.get("/api/hooks/decisions/4711"),
        daemon.send(&Request::new("PUT", "/api/hooks/stats")),
        daemon.send(&Request::new("GET", "/api/hooks/stats").host("evil.example")),
        daemon.send(&Request::new("POST", "/api/hooks/permission-response").json(&json!({}))),
    ] {
        let id = answer.header("x-request-id").unwrap_or_default();
        assert!(!id.is_empty(), "{}", answer.text());
        ids.insert(id.to_owned());
        count += 1;
    }
    assert_eq!(ids.len(), count, "{ids:?}");
}

#[test]
fn p_13_a_request_id_of_the_client_is_not_trusted() {
    let daemon = Daemon::plain();
    let long = "x".repeat(4_000);
    for id in ["abc", "<script>", long.as_str()] {
        let answer = daemon.send(&Request::new("GET", "/health").header("X-Request-Id", id));
        answer.ok();
        let back = answer.header("x-request-id").unwrap();
        assert!(!back.contains('<') && back.len() <= 200, "{back}");
    }
}

fn samples(text: &str) -> BTreeMap<String, f64> {
    let mut samples = BTreeMap::new();
    for line in text
        .lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty())
    {
        let (name, value) = line.rsplit_once(' ').unwrap();
        let first = name.chars().next().unwrap();
        assert!(first.is_ascii_alphabetic() || first == '_', "{line}");
        samples.insert(name.to_owned(), value.parse().unwrap());
    }
    samples
}

#[test]
fn metrics_are_in_prometheus_format_and_count_requests() {
    let daemon = Daemon::plain();
    daemon.ask("ls");
    let before = daemon.get("/metrics");
    assert_eq!(before.status, 200);
    let kind = before.header("content-type").unwrap();
    assert!(kind.starts_with("text/plain"), "{kind}");
    assert!(before.text().contains("# TYPE "), "{}", before.text());
    let before = samples(&before.text());
    for _ in 0..7 {
        daemon.ask("ls");
    }
    let after = samples(&daemon.get("/metrics").text());
    let grown = |name: &&String| {
        let more = after[*name] - before.get(*name).copied().unwrap_or_default();
        (more - 7.0).abs() < 0.1
    };
    assert!(after.keys().any(|name| grown(&name)), "{after:?}");
}

#[test]
fn metrics_contain_no_command_and_no_session() {
    let daemon = Daemon::plain();
    daemon
        .post(&json!({
            "command": "mkdir quite-unmistakable", "session_id": "session-unmistakable",
            "cwd": "/srv/unmistakable", "agent": "agent-unmistakable", "context": "unmistakable",
        }))
        .ok();
    let text = daemon.get("/metrics").text();
    assert!(!text.contains("unmistakable"), "{text}");
}

#[test]
fn p_46_responses_contain_every_field_of_version_1_0() {
    // A client of version 1.0 sends these two fields and reads these seven.
    let daemon = Daemon::plain();
    let permission = daemon
        .post(&json!({ "command": "ls", "context": "shell" }))
        .ok();
    for field in [
        "decision",
        "classification",
        "reasoning",
        "confidence",
        "explanation",
        "classification_method",
        "timestamp",
    ] {
        assert!(permission.get(field).is_some(), "{field}");
    }
}

#[test]
fn settings_auto_allow_read_off_asks_before_reads() {
    let daemon = Setup::new().config("auto_allow_read = false").start();
    let permission = daemon.ask("ls");
    assert_eq!(permission["classification"], "READ");
    assert_eq!(permission["decision"], "REQUIRES_CONFIRMATION");
    assert_eq!(daemon.pending().len(), 1);
    daemon.respond(&permission["id"], "APPROVED").ok();
}

#[test]
fn settings_require_confirmation_cud_off_allows_and_warns() {
    let daemon = Setup::new()
        .config("require_confirmation_cud = false")
        .start();
    let permission = daemon.ask("mkdir out");
    assert_eq!(permission["classification"], "CREATE");
    assert_eq!(permission["decision"], "AUTO_ALLOWED");
    assert_eq!(
        daemon.record(&permission["id"])["decision_requires_confirmation"],
        false
    );
    let stderr = daemon.stderr();
    assert!(stderr.contains("require_confirmation_cud"), "{stderr}");
}

#[test]
fn settings_dangerously_skip_confirmations_allows_and_warns() {
    let daemon = Setup::new()
        .config("dangerously_skip_confirmations = true")
        .start();
    let permission = daemon.ask("rm old.txt");
    assert_eq!(permission["classification"], "DELETE");
    assert_eq!(permission["decision"], "AUTO_ALLOWED");
    let stderr = daemon.stderr();
    assert!(
        stderr.contains("dangerously_skip_confirmations"),
        "{stderr}"
    );
    // It is recorded as well.
    assert_eq!(daemon.record(&permission["id"])["command"], "rm old.txt");
}

#[test]
fn settings_enabled_off_is_reported_by_health_and_at_start() {
    let daemon = Setup::new().config("enabled = false").start();
    assert_eq!(daemon.get("/health").ok()["hooks"]["enabled"], false);
    assert!(daemon.stderr().contains("enabled"), "{}", daemon.stderr());
    assert!(daemon.pending().is_empty());
}

#[test]
fn p_12_a_missing_classifier_is_an_error() {
    let daemon = Setup::new().config("enabled = false").start();
    for command in ["ls", "mkdir out"] {
        let body = daemon
            .post(&json!({ "command": command }))
            .error(503, "CLASSIFIER_NOT_READY");
        assert_eq!(body["error"], "Classifier is not ready");
    }
}

#[test]
fn secrets_in_commands_are_masked_before_they_are_stored() {
    let mut daemon = Daemon::plain();
    let secrets = [
        format!("ghp_{}", "Zq7".repeat(12)),
        format!("AKIA{}", "ZQ7X".repeat(4)),
        "xoxb-123456789012-123456789012-AbCdEfGhIjKlMnOpQrStUvWx".to_owned(),
        "hunter2-quite-unmistakable".to_owned(),
    ];
    for command in [
        format!(
            "curl -H 'Authorization: Bearer {}' https://api.example",
            secrets[0]
        ),
        format!("AWS_ACCESS_KEY_ID={} aws s3 ls", secrets[1]),
        format!("curl -d token={} https://slack.example", secrets[2]),
        format!("mysql --password={} -e 'select 1'", secrets[3]),
    ] {
        let permission = daemon.ask(&command);
        let record = daemon.record(&permission["id"]);
        let shown: Value = json!([record, daemon.pending()]);
        for secret in &secrets {
            assert!(!shown.to_string().contains(secret), "{secret} in {shown}");
        }
    }
    daemon.terminate();
    for file in crate::support::files_below(daemon.setup().folder()) {
        let bytes = std::fs::read(&file).unwrap_or_default();
        for secret in &secrets {
            assert!(
                !crate::support::contains(&bytes, secret),
                "{secret} in {}",
                file.display()
            );
        }
    }
}

#[test]
fn a_token_in_the_query_is_ignored() {
    let daemon = Daemon::plain();
    let permission = daemon.ask("mkdir out");
    let body = json!({ "id": permission["id"], "response": "APPROVED", "token": TOKEN });
    let target = format!("/api/hooks/permission-response?token={TOKEN}&access_token={TOKEN}");
    daemon
        .send(&Request::new("POST", &target).json(&body))
        .error(401, "OPERATOR_TOKEN_REQUIRED");
}
