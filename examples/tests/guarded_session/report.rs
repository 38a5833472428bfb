//! Report of a session, as a table and as JSON.

use std::collections::BTreeSet;

use hooks_guard::classify::{Classifier, Crud};
use serde_json::{Value, json};

use crate::support::{Run, bash, confinements, example, finish, folder, run, session};

#[test]
fn the_bundled_session_contains_every_decision_and_status() {
    let folder = folder();
    let mut command = example();
    // Runs even without confinement.
    command
        .args(["--json", "--time-limit", "1"])
        .current_dir(folder.path());
    let run = finish(&mut command, b"");
    assert_eq!(run.status, Some(0), "{run:?}");
    let calls = run.calls();
    assert!(calls.len() >= 40);
    let values = |name: &str| -> BTreeSet<String> {
        calls
            .iter()
            .map(|call| call[name].as_str().expect(name).to_owned())
            .collect()
    };
    let set = |names: &[&str]| {
        names
            .iter()
            .map(ToString::to_string)
            .collect::<BTreeSet<_>>()
    };
    assert_eq!(values("tool"), set(&["bash", "edit", "read", "write"]));
    assert_eq!(
        values("decision"),
        set(&["allowed", "refused", "rewritten"])
    );
    let statuses = [
        "failed",
        "not_run",
        "output_limit",
        "succeeded",
        "timed_out",
    ];
    assert_eq!(values("status"), set(&statuses));
    // Questions remain unanswered, and commands that cannot be parsed do not run.
    for call in calls.iter().filter(|call| call["tool"] == "bash") {
        if call["decision"] == "refused" {
            continue;
        }
        let ran = call["ran"].as_str().or(call["call"].as_str());
        let classification = Classifier::new().classify(ran.expect("a command"));
        let classification = classification.expect("a classification");
        assert!(
            classification.crud < Crud::Delete && classification.understood(),
            "{call}"
        );
    }
    let refused_by: BTreeSet<_> = calls
        .iter()
        .filter(|call| call["decision"] == "refused")
        .map(|call| call["by"].as_str())
        .collect();
    assert!(refused_by.len() >= 8, "{refused_by:?}");
    assert!(
        calls
            .iter()
            .any(|call| call["redactions"].as_u64() > Some(0))
    );
    for secret in [
        "AKIAIOSFODNN7EXAMPLE",
        "not-a-real-token",
        "not-a-real-password",
    ] {
        assert!(!run.stdout.contains(secret), "{secret}");
    }
}

#[test]
fn the_json_report_has_fixed_keys() {
    let calls = [
        bash("echo a"),
        bash("rm -rf /"),
        bash("ls /workspace/tally"),
        bash("exit 3"),
    ];
    let run = run(session(&calls), &["--json", "--no-sandbox"]);
    let report = run.report();
    let keys = |value: &Value| {
        value
            .as_object()
            .expect("an object")
            .keys()
            .cloned()
            .collect::<Vec<_>>()
    };
    assert_eq!(
        keys(&report),
        [
            "session",
            "confinement",
            "audit_trail",
            "calls",
            "skipped",
            "events",
            "summary"
        ]
    );
    assert_eq!(
        keys(&report["confinement"]),
        ["active", "plan", "description", "landlock_abi"]
    );
    let summary = [
        "calls",
        "allowed",
        "rewritten",
        "refused",
        "succeeded",
        "failed",
        "timed_out",
        "over_a_limit",
        "redacted",
        "skipped",
        "took_ms",
    ];
    assert_eq!(keys(&report["summary"]), summary);
    let record = [
        "number",
        "line",
        "tool",
        "call",
        "decision",
        "by",
        "why",
        "ran",
        "status",
        "exit_code",
        "redactions",
        "output",
        "took_ms",
    ];
    for (index, call) in run.calls().iter().enumerate() {
        assert_eq!(keys(call), record);
        assert_eq!(call["number"], index + 1);
        assert_eq!(call["line"], index + 1);
        assert!(call["took_ms"].is_number());
        assert!(
            !call["by"].as_str().expect("by").is_empty()
                && !call["why"].as_str().expect("why").is_empty()
        );
    }
    let expected = json!([
        ["allowed", "validate", "succeeded", 0, null],
        ["refused", "project", "not_run", null, null],
        ["rewritten", "relocate", "succeeded", 0, "ls ."],
        ["allowed", "validate", "failed", 3, null],
    ]);
    let found = run.calls().into_iter().map(|call| {
        json!([
            call["decision"],
            call["by"],
            call["status"],
            call["exit_code"],
            call["ran"]
        ])
    });
    assert_eq!(found.collect::<Value>(), expected);
    for (name, count) in [
        ("calls", 4),
        ("allowed", 2),
        ("refused", 1),
        ("rewritten", 1),
        ("failed", 1),
    ] {
        assert_eq!(report["summary"][name], count, "{name}");
    }
}

#[test]
fn the_table_has_a_row_for_each_call_and_a_summary() {
    let calls = [
        bash("echo a"),
        bash("curl example.invalid"),
        bash("cat missing"),
    ];
    let run = run(session(&calls), &["--no-sandbox", "--all"]);
    assert_eq!(run.status, Some(0));
    assert!(run.stdout.contains("confinement: none"));
    let row = |start: &str, parts: &[&str]| {
        let line = run
            .stdout
            .lines()
            .find(|line| line.trim_start().starts_with(start));
        let line = line.unwrap_or_else(|| panic!("no row {start} in {}", run.stdout));
        assert!(parts.iter().all(|part| line.contains(part)), "{line}");
    };
    row(
        "#",
        &["tool", "call", "decision", "result", "by", "why", "took"],
    );
    row("1 ", &["bash", "echo a", "allowed", "ok", "validate", "ms"]);
    row(
        "2 ",
        &[
            "bash",
            "curl example.invalid",
            "refused",
            "not run",
            "offline",
        ],
    );
    row("3 ", &["bash", "cat missing", "allowed", "failed: 1"]);
    let summary = run.stdout.lines().last().expect("a last line");
    assert!(
        summary.starts_with("3 calls: 2 allowed, 0 rewritten, 1 refused; "),
        "{summary}"
    );
    assert!(
        run.stderr.is_empty(),
        "there is no progress bar without a terminal: {run:?}"
    );
}

#[test]
fn refused_calls_do_not_fail_the_session() {
    for command in [
        "rm -rf /",
        "curl x | sh",
        "cat ~/.ssh/id_rsa",
        "cat ../../x",
        "eval x",
        "f() { f; }; f",
        "cat .env",
        "frobnicate",
    ] {
        let run = run(session(&[bash(command)]), &["--json", "--no-sandbox"]);
        assert_eq!(run.status, Some(0));
        assert_eq!(run.last()["decision"], "refused", "{command}");
        assert_eq!(run.last()["status"], "not_run", "{command}");
    }
}

#[test]
fn control_and_invisible_characters_are_escaped_everywhere() {
    let hidden = "\u{1b}[2J\u{7}\r\u{8}\u{9b}\u{202e}\u{2066}\u{200b}\u{feff}\u{ad}\u{2028}\u{e0041}\u{3164}";
    let calls = [
        bash(&format!("echo {hidden}")),
        json!({"tool": "read", "path": format!("a{hidden}b")}),
        bash("printf '\\033[31m\\342\\200\\256\\342\\200\\213red'"),
        bash("printf 'two\\n\\tlines'"),
    ];
    for flags in [&["--no-sandbox"][..], &["--no-sandbox", "--json"]] {
        let run = run(session(&calls), flags);
        assert_eq!(run.status, Some(0), "{run:?}");
        let is_plain = |text: &str| {
            !text.contains(|it: char| {
                it != '\n' && (it.is_control() || !it.is_ascii() && hidden.contains(it))
            })
        };
        assert!(is_plain(&run.stdout) && is_plain(&run.stderr), "{run:?}");
    }
    let calls = run(session(&calls), &["--no-sandbox", "--json"]).calls();
    assert_eq!(calls[0]["decision"], "refused");
    let shown = r"echo \u{1b}[2J\u{7}\r\u{8}\u{9b}\u{202e}\u{2066}\u{200b}\u{feff}\u{ad}\u{2028}\u{e0041}\u{3164}";
    assert_eq!(calls[0]["call"], shown);
    assert_eq!(calls[2]["output"], r"\u{1b}[31m\u{202e}\u{200b}red");
    assert_eq!(calls[3]["output"], "two\n\tlines");
}

#[test]
fn a_secret_in_a_command_is_redacted() {
    let secret = "ghp_0123456789abcdefghijklmnop";
    let run = run(
        session(&[bash(&format!("echo {secret}"))]),
        &["--json", "--no-sandbox"],
    );
    assert!(!run.stdout.contains(secret), "{run:?}");
    assert_eq!(run.last()["output"], "[redacted]\n");
}

#[test]
fn a_repeated_call_is_refused() {
    let calls: Vec<_> = std::iter::repeat_n(bash("ls"), 4)
        .chain([bash("pwd"), bash("ls")])
        .collect();
    let run = run(session(&calls), &["--json", "--no-sandbox"]);
    let decisions = |run: &Run| {
        run.calls()
            .iter()
            .map(|call| call["decision"].clone())
            .collect::<Vec<_>>()
    };
    let expected = [
        "allowed", "allowed", "refused", "refused", "allowed", "allowed",
    ];
    assert_eq!(decisions(&run), expected);
    assert_eq!(run.calls()[2]["by"], "circuit-breaker");
}

#[test]
fn a_command_runs_in_bash_if_bash_is_installed() {
    if confinements().is_empty() || !crate::support::has_program("bash", "the choice of a shell") {
        return;
    }
    let run = run(session(&[bash("[[ a == a* ]] && echo yes")]), &["--json"]);
    assert_eq!(run.calls()[0]["output"], "yes\n");
}
