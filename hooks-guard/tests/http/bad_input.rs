//! Invalid input: a clear error or a safe response; the daemon keeps running.

use serde_json::json;

use crate::support::client::{Answer, Request};
use crate::support::daemon::Daemon;

const TARGET: &str = "/api/hooks/permission-request";

#[track_caller]
fn assert_not_allowed(answer: &Answer) {
    if answer.status == 200 {
        assert_eq!(answer.ok()["decision"], "REQUIRES_CONFIRMATION");
    } else {
        answer.refusal(400);
    }
}

#[test]
fn bad_input_a_nul_character_is_never_allowed() {
    let mut daemon = Daemon::plain();
    for command in ["ls\0", "\0", "ls\0mkdir out", "ls \0; mkdir out"] {
        assert_not_allowed(&daemon.post(&json!({ "command": command })));
    }
    let raw = Request::new("POST", TARGET).body(b"{\"command\":\"ls \0\"}".as_slice());
    daemon.send(&raw).error(400, "INVALID_JSON");
    // In fields that are only stored.
    let body = json!({ "command": "ls", "session_id": "a\0b", "cwd": "/a\0b", "agent": "\0" });
    let answer = daemon.post(&body);
    assert!(matches!(answer.status, 200 | 400), "{}", answer.text());
    daemon.get("/api/hooks/decisions").ok();
    daemon.assert_healthy();
}

#[test]
fn bad_input_invalid_utf_8_is_invalid_json() {
    let mut daemon = Daemon::plain();
    for bytes in [
        b"{\"command\":\"ls \xff\"}".as_slice(),
        b"{\"command\":\"ls \xc3\"}",
        b"{\"command\":\"ls \xed\xa0\x80\"}",
        b"{\"command\":\"ls \xc0\xaf\"}",
        b"\xff\xfe{\0",
    ] {
        let request = Request::new("POST", TARGET).body(bytes);
        daemon.send(&request).error(400, "INVALID_JSON");
    }
    daemon.assert_healthy();
}

#[test]
fn bad_input_deep_json_is_refused() {
    let mut daemon = Daemon::plain();
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let deep = format!("{}1{}", open.repeat(20_000), close.repeat(20_000));
        let answer = daemon.send(&Request::new("POST", TARGET).body(deep.clone()));
        answer.refusal(400);
        let body = format!("{{\"command\":\"mkdir out\",\"file\":{deep}}}");
        daemon
            .send(&Request::new("POST", TARGET).body(body))
            .refusal(400);
    }
    daemon.assert_healthy();
}

#[test]
fn bad_input_a_command_of_10000_brackets_requires_confirmation() {
    let mut daemon = Daemon::plain();
    for bracket in [
        "(", "[", "{", "$(", "`", "${", "$((", "<(", "((", "\"$(", "{ (", "if (",
    ] {
        let command = bracket.repeat(10_000 / bracket.len());
        let permission = daemon.ask(&command);
        assert_eq!(permission["decision"], "REQUIRES_CONFIRMATION", "{bracket}");
    }
    let closed = format!("{}ls{}", "(".repeat(4_999), ")".repeat(4_999));
    let permission = daemon.ask(&closed);
    assert!(permission["decision"].is_string());
    daemon.assert_healthy();
}

#[test]
fn bad_input_an_overlong_here_document_is_refused_with_a_reason() {
    let mut daemon = Daemon::plain();
    for lines in [2_000, 20_000, 500_000] {
        let command = format!("cat <<'END'\n{}END\n", "a line\n".repeat(lines));
        let answer = daemon.post(&json!({ "command": command }));
        if answer.status == 413 {
            answer.error(413, "BODY_TOO_LARGE");
        } else {
            answer.error(400, "FIELD_TOO_LONG");
        }
    }
    // A command of valid length is classified.
    let command = format!("cat <<'END'\n{}END\n", "a line\n".repeat(1_400));
    daemon.ask(&command);
    daemon.assert_healthy();
}

#[test]
fn bad_input_a_body_too_large_is_refused_before_it_is_read() {
    let mut daemon = Daemon::plain();
    for length in ["100000000", "9999999999"] {
        let mut connection = daemon.connect();
        let head = format!(
            "POST {TARGET} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Length: {length}\r\n\r\n",
            daemon.port
        );
        connection.write(head.as_bytes()).unwrap();
        connection.read().unwrap().error(413, "BODY_TOO_LARGE");
    }
    daemon.assert_healthy();
}

#[test]
fn bad_input_special_characters_are_preserved() {
    let daemon = Daemon::plain();
    for command in [
        "echo '\u{202e}txt.exe'",
        "echo \u{1b}[31mred",
        "echo a\rb",
        "echo \u{7f}",
        "echo e\u{301}",
        "echo \u{10ffff}",
        "echo '\"\\'",
    ] {
        let permission = daemon.ask(command);
        assert_eq!(daemon.record(&permission["id"])["command"], command);
    }
}

#[test]
fn bad_input_other_endpoints_reject_invalid_bodies() {
    let mut daemon = Daemon::plain();
    let permission = daemon.ask("mkdir out");
    for body in [
        &b"{"[..],
        b"[]",
        b"\xff",
        b"{\"id\":\"x\",\"response\":1}",
        b"null",
    ] {
        let request = Request::new("POST", "/api/hooks/permission-response");
        daemon
            .send(&request.bearer(crate::support::daemon::TOKEN).body(body))
            .error(400, "INVALID_JSON");
        let target = format!("/api/hooks/decisions/{}/executed", permission["id"]);
        let answer = daemon.send(&Request::new("POST", &target).body(body));
        if body.starts_with(b"{\"id\"") {
            answer.refusal(400);
        } else {
            answer.error(400, "INVALID_JSON");
        }
    }
    let executed = format!("/api/hooks/decisions/{}/executed", permission["id"]);
    let body = json!({ "secret": permission["secret"], "exit_status": "zero" });
    daemon
        .send(&Request::new("POST", &executed).json(&body))
        .error(400, "INVALID_JSON");
    assert_eq!(
        daemon.record(&permission["id"])["execution_happened"],
        false
    );
    daemon.assert_healthy();
}

#[test]
fn bad_input_invalid_queries_are_client_errors() {
    let mut daemon = Daemon::plain();
    for query in [
        "limit=x",
        "limit=-1",
        "limit=1.5",
        "offset=x",
        "offset=-1",
        "since=%FF",
        "since=%00",
        "classification=%00",
    ] {
        let answer = daemon.get(&format!("/api/hooks/decisions?{query}"));
        assert_eq!(answer.status, 400, "{query}: {}", answer.text());
        answer.refusal(400);
    }
    // A search for text that no command contains finds nothing.
    for query in [
        "command_filter=%00",
        "command_filter=%F0%9F%98%80",
        "limit=99999999999999999999",
        "offset=9223372036854775807",
        "offset=99999999999999999999",
    ] {
        let answer = daemon.get(&format!("/api/hooks/decisions?{query}"));
        assert!(
            matches!(answer.status, 200 | 400),
            "{query}: {}",
            answer.text()
        );
    }
    daemon.assert_healthy();
}
