//! `GET /api/hooks/decisions`: pages and filters of the trail (P-20 … P-28).

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::support::daemon::{Daemon, Setup};
use crate::support::{escaped, instant};

#[track_caller]
fn find(daemon: &Daemon, query: &str) -> Value {
    let body = daemon.get(&format!("/api/hooks/decisions?{query}")).ok();
    let returned = body["decisions"].as_array().unwrap().len();
    assert_eq!(body["pagination"]["returned"], returned, "{query}");
    body
}

#[track_caller]
fn commands(daemon: &Daemon, query: &str) -> Vec<String> {
    let body = find(daemon, query);
    let records = body["decisions"].as_array().unwrap();
    assert_eq!(body["pagination"]["total"], records.len(), "{query}");
    let command = |record: &Value| record["command"].as_str().unwrap().to_owned();
    records.iter().map(command).collect()
}

/// Starts a daemon with eight decisions and all kinds of answers, oldest first.
fn trail() -> Daemon {
    let daemon = Daemon::plain();
    daemon.ask("ls alpha");
    daemon.ask("cat beta.txt");
    let created = daemon.ask("mkdir alpha");
    daemon.respond(&created["id"], "APPROVED").ok();
    daemon.executed(&created["id"], &created["secret"]).ok();
    let updated = daemon.ask("git commit -m beta");
    daemon.respond(&updated["id"], "DENIED").ok();
    let deleted = daemon.ask("rm alpha");
    daemon.respond(&deleted["id"], "APPROVED").ok();
    let deleted = daemon.ask("rm beta.txt");
    daemon.respond(&deleted["id"], "DENIED").ok();
    daemon.ask("rm gamma");
    daemon.ask("ls gamma");
    daemon
}

#[test]
fn p_20_a_page_has_50_records_by_default() {
    let daemon = Daemon::plain();
    for number in 0..60 {
        daemon.ask(&format!("ls {number}"));
    }
    let body = daemon.get("/api/hooks/decisions").ok();
    assert_eq!(
        body["pagination"],
        json!({ "limit": 50, "offset": 0, "total": 60, "returned": 50 })
    );
    let body = find(&daemon, "offset=55");
    assert_eq!(
        body["pagination"],
        json!({ "limit": 50, "offset": 55, "total": 60, "returned": 5 })
    );
    let body = find(&daemon, "limit=7&offset=3");
    assert_eq!(body["decisions"][0]["command"], "ls 56");
    assert_eq!(body["decisions"][6]["command"], "ls 50");
    let body = find(&daemon, "limit=20&offset=100");
    assert_eq!(
        body["pagination"],
        json!({ "limit": 20, "offset": 100, "total": 60, "returned": 0 })
    );
}

#[test]
fn p_20_all_pages_together_contain_every_record_once() {
    let daemon = Daemon::plain();
    for number in 0..25 {
        daemon.ask(&format!("ls {number}"));
    }
    let mut ids = Vec::new();
    for page in 0..4 {
        let body = find(&daemon, &format!("limit=7&offset={}", page * 7));
        let records = body["decisions"].as_array().unwrap();
        ids.extend(records.iter().map(|record| record["id"].as_i64().unwrap()));
    }
    assert_eq!(ids.len(), 25);
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), 25);
}

#[test]
fn p_20_an_invalid_number_is_an_error() {
    let daemon = Daemon::plain();
    for query in [
        "limit=many",
        "offset=far",
        "limit=-5",
        "offset=-5",
        "limit=2.5",
    ] {
        daemon
            .get(&format!("/api/hooks/decisions?{query}"))
            .refusal(400);
    }
}

#[test]
fn p_20_each_filter_selects() {
    let daemon = trail();
    for (query, expected) in [
        (
            "classification=READ",
            &["ls gamma", "cat beta.txt", "ls alpha"][..],
        ),
        ("classification=CREATE", &["mkdir alpha"]),
        ("classification=UPDATE", &["git commit -m beta"]),
        (
            "classification=DELETE",
            &["rm gamma", "rm beta.txt", "rm alpha"],
        ),
        ("response=APPROVED", &["rm alpha", "mkdir alpha"]),
        ("response=DENIED", &["rm beta.txt", "git commit -m beta"]),
        ("response=TIMEOUT", &[]),
        ("command_filter=gamma", &["ls gamma", "rm gamma"]),
    ] {
        assert_eq!(commands(&daemon, query), expected, "{query}");
    }
}

#[test]
fn p_20_filters_combine() {
    let daemon = trail();
    let since = "since=2020-01-01T00:00:00Z";
    for (query, expected) in [
        ("classification=DELETE&response=APPROVED", &["rm alpha"][..]),
        (
            "classification=DELETE&response=DENIED&command_filter=beta",
            &["rm beta.txt"],
        ),
        ("classification=READ&response=APPROVED", &[]),
        (
            "command_filter=alpha&response=APPROVED",
            &["rm alpha", "mkdir alpha"],
        ),
        (
            "command_filter=alpha&classification=READ&until=2020-01-01T00:00:00Z",
            &[],
        ),
    ] {
        assert_eq!(commands(&daemon, query), expected, "{query}");
        if !query.contains("until") {
            assert_eq!(
                commands(&daemon, &format!("{query}&{since}")),
                expected,
                "{query}"
            );
        }
    }
    // Pages apply to the filtered decisions.
    let body = find(
        &daemon,
        &format!("classification=DELETE&{since}&limit=2&offset=1"),
    );
    assert_eq!(
        body["pagination"],
        json!({ "limit": 2, "offset": 1, "total": 3, "returned": 2 })
    );
}

#[test]
fn p_21_records_are_sorted_newest_first() {
    let daemon = trail();
    let body = find(&daemon, "limit=100");
    let records = body["decisions"].as_array().unwrap();
    assert_eq!(records.len(), 8);
    for pair in records.windows(2) {
        assert!(pair[0]["id"].as_i64().unwrap() > pair[1]["id"].as_i64().unwrap());
        assert!(instant(&pair[0]["timestamp"]) >= instant(&pair[1]["timestamp"]));
    }
}

#[test]
fn decisions_and_exports_are_filtered_by_decision() {
    let daemon = Daemon::plain();
    daemon.ask("ls");
    daemon.ask("mkdir out");
    for (decision, command) in [
        ("AUTO_ALLOWED", "ls"),
        ("REQUIRES_CONFIRMATION", "mkdir out"),
    ] {
        let body = find(&daemon, &format!("decision={decision}"));
        assert_eq!(body["pagination"]["total"], 1);
        assert_eq!(body["decisions"][0]["command"], command);
        let target = format!("/api/hooks/export?format=jsonl&decision={decision}");
        let lines = daemon.get(&target).text();
        assert_eq!(lines.lines().count(), 1, "{lines}");
        assert!(lines.contains(command), "{lines}");
    }
    let body = daemon
        .get("/api/hooks/decisions?decision=ALLOWED")
        .error(400, "INVALID_FILTER");
    assert_eq!(
        body["valid_values"],
        json!(["AUTO_ALLOWED", "REQUIRES_CONFIRMATION"])
    );
}

#[test]
fn p_22_an_invalid_filter_value_lists_the_valid_ones() {
    let daemon = Daemon::plain();
    for value in ["INVALID_TYPE", "FILE"] {
        let body = daemon
            .get(&format!("/api/hooks/decisions?classification={value}"))
            .error(400, "INVALID_FILTER");
        assert_eq!(
            body["error"],
            format!("Invalid classification filter: {value}")
        );
        assert_eq!(
            body["valid_values"],
            json!(["READ", "CREATE", "UPDATE", "DELETE"])
        );
    }
    let body = daemon
        .get("/api/hooks/decisions?response=MAYBE")
        .error(400, "INVALID_FILTER");
    assert_eq!(body["error"], "Invalid response filter: MAYBE");
    assert_eq!(
        body["valid_values"],
        json!(["APPROVED", "DENIED", "TIMEOUT"])
    );
}

#[test]
fn p_22_an_invalid_date_is_an_error_with_an_example() {
    let daemon = Daemon::plain();
    for parameter in ["since", "until"] {
        for value in [
            "yesterday",
            "2025-13-01T00:00:00Z",
            "2025-02-30T00:00:00Z",
            "1700223000",
            "10:30",
        ] {
            for endpoint in ["decisions", "stats"] {
                let body = daemon
                    .get(&format!("/api/hooks/{endpoint}?{parameter}={value}"))
                    .error(400, "INVALID_DATE");
                assert_eq!(
                    body["error"],
                    format!("Invalid ISO8601 date format for '{parameter}' parameter")
                );
                let example = body["example"].as_str().unwrap();
                daemon
                    .get(&format!("/api/hooks/{endpoint}?{parameter}={example}"))
                    .ok();
            }
        }
    }
}

#[test]
fn p_23_since_and_until_are_exclusive() {
    let daemon = trail();
    let all = find(&daemon, "limit=100");
    let records = all["decisions"].as_array().unwrap();
    for record in records {
        let at = instant(&record["timestamp"]);
        let text = record["timestamp"].as_str().unwrap();
        let count = |keep: &dyn Fn(Timestamp) -> bool| {
            let times = records.iter().map(|record| instant(&record["timestamp"]));
            times.filter(|&time| keep(time)).count()
        };
        let later = find(&daemon, &format!("since={text}"));
        assert_eq!(
            later["pagination"]["total"],
            count(&|time| time > at),
            "after {text}"
        );
        let earlier = find(&daemon, &format!("until={text}"));
        assert_eq!(
            earlier["pagination"]["total"],
            count(&|time| time < at),
            "before {text}"
        );
    }
}

#[test]
fn p_23_until_defaults_to_now() {
    let Some(clock) = crate::support::ShiftedClock::new() else {
        return;
    };
    let daemon = clock.on(Setup::new()).start();
    clock.shift(3_600);
    daemon.ask("ls tomorrow");
    clock.shift(0);
    daemon.ask("ls today");
    let body = daemon.get("/api/hooks/decisions").ok();
    assert_eq!(body["pagination"]["total"], 1, "{body}");
    assert_eq!(body["decisions"][0]["command"], "ls today");
    let until = Timestamp::now() + SignedDuration::from_hours(2);
    assert_eq!(
        find(&daemon, &format!("until={until:.0}"))["pagination"]["total"],
        2
    );
}

#[test]
fn p_23_instants_may_have_an_offset_or_a_fraction() {
    let daemon = Daemon::plain();
    daemon.ask("ls");
    for (since, total) in [
        ("2020-01-01T00:00:00%2B01:00", 1),
        ("2020-01-01T00:00:00.123Z", 1),
        ("2020-01-01T00:00:00-05:00", 1),
        ("2999-01-01T00:00:00%2B01:00", 0),
    ] {
        assert_eq!(
            find(&daemon, &format!("since={since}"))["pagination"]["total"],
            total,
            "{since}"
        );
    }
}

#[test]
fn p_24_a_search_is_literal() {
    let daemon = Daemon::plain();
    let marks = [
        "%", "_", "*", "?", "'", "\"", "\\", "(", ")", "-x", "^", "+", ":", "a AND b", "NEAR", "ä",
        "语", "😀",
    ];
    for mark in marks {
        daemon.ask(&format!("printf zz{mark}zz"));
    }
    for mark in marks {
        let expected: Vec<_> = marks
            .iter()
            .rev()
            .map(|other| format!("printf zz{other}zz"))
            .filter(|command| command.to_lowercase().contains(&mark.to_lowercase()))
            .collect();
        let found = commands(&daemon, &format!("command_filter={}", escaped(mark)));
        assert_eq!(found, expected, "{mark:?}");
        let longer = commands(
            &daemon,
            &format!("command_filter={}", escaped(&format!("zz{mark}zz"))),
        );
        assert_eq!(longer, [format!("printf zz{mark}zz")], "{mark:?}");
    }
    assert!(commands(&daemon, "command_filter=p%25f").is_empty());
    assert!(commands(&daemon, "command_filter=p_intf").is_empty());
}

#[test]
fn p_24_a_search_ignores_case() {
    let daemon = Daemon::plain();
    for command in ["cat README.md", "cat readme.txt", "ls Ärger", "ls ärger"] {
        daemon.ask(command);
    }
    for (filter, expected) in [
        ("readme", &["cat readme.txt", "cat README.md"][..]),
        ("ReAd", &["cat readme.txt", "cat README.md"]),
        (".MD", &["cat README.md"]),
        ("ÄRGER", &["ls ärger", "ls Ärger"]),
        ("ä", &["ls ärger", "ls Ärger"]),
        ("LS", &["ls ärger", "ls Ärger"]),
    ] {
        let found = commands(&daemon, &format!("command_filter={}", escaped(filter)));
        assert_eq!(found, expected, "{filter}");
    }
}

#[test]
fn p_24_a_search_may_have_blanks() {
    let daemon = Daemon::plain();
    for command in ["git status", "git  status", "status git"] {
        daemon.ask(command);
    }
    assert_eq!(
        commands(&daemon, "command_filter=git+status"),
        ["git status"]
    );
    assert_eq!(
        commands(&daemon, "command_filter=git%20status"),
        ["git status"]
    );
    assert_eq!(commands(&daemon, "command_filter=s%20g"), ["status git"]);
}

#[test]
fn p_25_a_record_has_every_field() {
    let daemon = trail();
    let body = find(&daemon, "limit=100");
    for record in body["decisions"].as_array().unwrap() {
        let command = record["command"].as_str().unwrap();
        assert!(record["id"].is_i64(), "{record}");
        instant(&record["timestamp"]);
        let reads = command.starts_with("ls") || command.starts_with("cat");
        assert_eq!(record["decision_requires_confirmation"], !reads, "{record}");
        assert_eq!(
            record["execution_happened"],
            command == "mkdir alpha",
            "{record}"
        );
        let expected = match command {
            "mkdir alpha" | "rm alpha" => json!("APPROVED"),
            "git commit -m beta" | "rm beta.txt" => json!("DENIED"),
            _ => Value::Null,
        };
        assert_eq!(record.get("user_response"), Some(&expected), "{record}");
        assert!(record["response_time_ms"].is_u64(), "{record}");
        let confidence = record["confidence"].as_f64().unwrap();
        assert!((0.0..=1.0).contains(&confidence), "{record}");
        assert_eq!(record.get("error"), Some(&Value::Null), "{record}");
        assert!(record.get("secret").is_none(), "{record}");
        let mut single = daemon.record(&record["id"]);
        let approval = single.as_object_mut().unwrap().remove("approval");
        assert_eq!(approval.is_some(), expected == "APPROVED", "{record}");
        assert_eq!(&single, record);
    }
}

#[test]
fn p_27_an_empty_trail_has_an_empty_page() {
    let daemon = Daemon::plain();
    let body = daemon.get("/api/hooks/decisions").ok();
    assert_eq!(body["decisions"], json!([]));
    assert_eq!(
        body["pagination"],
        json!({ "limit": 50, "offset": 0, "total": 0, "returned": 0 })
    );
    instant(&body["generated_at"]);
    let stats = &body["stats"];
    for field in [
        "total_decisions",
        "read_operations",
        "create_operations",
        "update_operations",
        "delete_operations",
        "approved_confirmations",
        "denied_confirmations",
        "timeout_classifications",
    ] {
        assert_eq!(stats[field], 0, "{field}");
    }
    assert_eq!(stats["avg_response_time_ms"].as_f64(), Some(0.0));
}

#[test]
fn p_28_stats_count_the_whole_trail() {
    let daemon = trail();
    for query in ["limit=1", "classification=READ"] {
        let stats = find(&daemon, query)["stats"].clone();
        for (field, count) in [
            ("total_decisions", 8),
            ("read_operations", 3),
            ("create_operations", 1),
            ("update_operations", 1),
            ("delete_operations", 3),
            ("approved_confirmations", 2),
            ("denied_confirmations", 2),
            ("timeout_classifications", 0),
        ] {
            if query == "limit=1" {
                assert_eq!(stats[field], count, "{field}");
            }
        }
        assert!(stats["avg_response_time_ms"].is_number());
    }
}

#[test]
fn p_28_an_unanswered_question_is_not_a_classifier_timeout() {
    let daemon = Setup::new().config("approval_ttl_seconds = 1").start();
    let permission = daemon.ask("mkdir out");
    assert_eq!(daemon.answered(&permission["id"]), "TIMEOUT");
    let body = daemon.get("/api/hooks/decisions").ok();
    assert_eq!(body["stats"]["timeout_classifications"], 0);
    assert_eq!(body["stats"]["denied_confirmations"], 0);
    let stats = daemon.get("/api/hooks/stats").ok();
    assert_eq!(stats["user_responses"]["timeouts"], 0);
}
