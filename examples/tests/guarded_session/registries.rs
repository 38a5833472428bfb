//! Registries that a call passes besides the typed set, and `--explain`.

use regex::Regex;
use serde_json::json;

use crate::support::{Run, bash, example, finish, folder, run, session};

/// Returns the explanation of call `number`.
fn explain(calls: &[serde_json::Value], number: usize) -> String {
    let number = number.to_string();
    let run = run(session(calls), &["--no-sandbox", "--explain", &number]);
    assert_eq!(run.status, Some(0), "{run:?}");
    run.stdout
}

/// Returns the lines of a section, without durations.
fn section(explanation: &str, title: &str) -> Vec<String> {
    let start = format!("{title}: ");
    let lines = explanation
        .lines()
        .skip_while(|line| !line.starts_with(&start));
    let lines = lines.take_while(|line| !line.is_empty());
    let without_time = lines.map(|line| line.split(" (").next().unwrap_or(line));
    let words = without_time.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    words.collect()
}

#[test]
fn event_hooks_deny_rewrite_and_notify() {
    let calls = [
        json!({"tool": "write", "path": ".git/config", "text": ""}),
        bash("tail -f /workspace/tally/README.md"),
        bash("git commit -m x"),
    ];
    let calls = run(session(&calls), &["--json", "--no-sandbox"]).calls();
    assert_eq!(calls[0]["by"], "protected_files");
    assert_eq!(calls[1]["by"], "relocate, end_tail");
    assert_eq!(calls[1]["ran"], "tail ./README.md");
    let why = calls[2]["why"].as_str().expect("why");
    assert!(
        why.contains("; commits to the user: the command makes a commit"),
        "{why}"
    );
}

#[test]
fn the_summary_contains_changed_files_and_the_last_failure() {
    let write = |path: &str| json!({"tool": "write", "path": path, "text": "x"});
    let calls = [
        write("a"),
        write("a"),
        write("b"),
        bash("exit 3"),
        bash("rm -rf /"),
    ];
    let run = run(session(&calls), &["--no-sandbox"]);
    let end = "; 2 files changed by `write` and `edit`; call 4 is the last that failed, see --explain 4\n";
    assert!(run.stdout.ends_with(end), "{run:?}");
}

#[test]
fn explain_shows_each_hook_of_a_call_that_ran() {
    let explanation = explain(&[bash("pwd"), bash("ls /workspace/tally")], 2);
    let head: Vec<_> = explanation.lines().take(4).collect();
    assert_eq!(
        head,
        [
            "call 2, line 2: bash ls /workspace/tally",
            "rewritten to: ls .",
            "rewritten by relocate: the project is in the scratch copy now",
            "result: ok",
        ]
    );
    let pre = [
        "PRE: CONTINUE",
        "fail-safe completed",
        "state-check completed",
        "traceability completed",
        "concurrency completed",
        "scope-enforcement completed",
        "budget completed",
        "circuit-breaker completed",
    ];
    assert_eq!(section(&explanation, "PRE"), pre);
    let classifiers = [
        "classifiers: CONTINUE",
        "project completed",
        "offline completed",
        "tables completed",
        "READ: AUTO_ALLOWED",
        "|",
        "1 | ls .",
        "| ---- `ls` lists folders",
        "|",
        "= because: `ls` lists folders",
    ];
    assert_eq!(section(&explanation, "classifiers"), classifiers);
    let events = section(&explanation, "tool:pre");
    assert_eq!(
        events[..3],
        [
            "tool:pre: continue",
            "protected_files completed",
            "end_tail completed"
        ]
    );
    let typed = section(&explanation, "typed set");
    assert_eq!(
        typed[..3],
        [
            "typed set: no objection",
            "relocate rewrote the call",
            "hidden_text completed"
        ]
    );
    assert_eq!(section(&explanation, "tool:post").len(), 2);
    let post = section(&explanation, "POST");
    assert_eq!(post.len(), 11, "{post:?}");
    assert_eq!(
        (&*post[0], &*post[10]),
        ("POST: all hooks ran", "failures completed")
    );
    let timed = explanation
        .lines()
        .filter(|line| line.ends_with("s)"))
        .count();
    assert_eq!(timed, 7 + 3 + 5 + 1 + 10, "{explanation}");
}

#[test]
fn explain_names_the_hook_that_stopped_a_call_and_the_skipped_hooks() {
    let write = json!({"tool": "write", "path": "/etc/passwd", "text": ""});
    let stopped_in_pre = explain(&[write], 1);
    let lines = section(&stopped_in_pre, "PRE");
    let start = "PRE: DENY; refused by scope-enforcement: Scope Violation: `/etc/passwd` ";
    assert!(lines[0].starts_with(start), "{lines:?}");
    assert_eq!(
        lines[4..],
        [
            "concurrency completed",
            "scope-enforcement stopped the dispatch",
            "budget skipped",
            "circuit-breaker skipped",
        ]
    );
    for title in ["classifiers", "tool:pre", "typed set", "tool:post", "POST"] {
        let lines = section(&stopped_in_pre, title);
        assert!(lines.len() > 1, "{lines:?}");
        assert!(
            lines[1..].iter().all(|line| line.ends_with(" skipped")),
            "{lines:?}"
        );
    }

    let stopped_in_event = explain(&[json!({"tool": "write", "path": ".git/x", "text": ""})], 1);
    let lines = section(&stopped_in_event, "tool:pre");
    assert!(
        lines[0].starts_with("tool:pre: deny by protected_files; "),
        "{lines:?}"
    );
    assert_eq!(
        lines[1..3],
        ["protected_files stopped the dispatch", "end_tail skipped"]
    );

    let stopped_by_classifier = explain(&[bash("rm -rf /")], 1);
    let lines = section(&stopped_by_classifier, "classifiers");
    assert_eq!(
        lines[..5],
        [
            "classifiers: DENY; refused by project: `/` leads out of the project",
            "project stopped the dispatch",
            "offline skipped",
            "tables skipped",
            "DELETE: REQUIRES_CONFIRMATION",
        ]
    );

    let stopped_in_set = explain(&[bash("echo a\u{200b}")], 1);
    let lines = section(&stopped_in_set, "typed set");
    assert!(lines[0].contains("refused by hidden_text: "), "{lines:?}");
    assert_eq!(
        lines[1..3],
        ["hidden_text stopped the dispatch", "credentials skipped"]
    );
}

#[test]
fn explain_shows_the_reasoning_of_the_classifiers() {
    let explanation = explain(&[bash("mkdir -p a && rm -r a")], 1);
    assert!(
        explanation.contains("\nclassifiers: CONTINUE\n"),
        "{explanation}"
    );
    assert!(
        explanation.contains("1 | mkdir -p a && rm -r a\n"),
        "{explanation}"
    );
    assert!(
        explanation.contains("`rm` deletes files (DELETE)\n"),
        "{explanation}"
    );
    let refusal = "refused by confirm_deletion: user denied: `rm` deletes files";
    assert!(explanation.contains(refusal), "{explanation}");

    let explanation = explain(&[bash("if then fi")], 1);
    let why = "refused by tables: incomplete shell command";
    assert!(explanation.contains(why), "{explanation}");
}

#[test]
fn a_command_that_is_too_long_to_classify_is_refused() {
    let long = format!("echo {}", "x".repeat(10_000));
    let explanation = explain(&[bash(&long)], 1);
    let lines = section(&explanation, "classifiers");
    assert!(lines[0].contains("refused by project: "), "{lines:?}");
    assert!(
        lines[1].starts_with("project failed: the command has 10005 characters"),
        "{lines:?}"
    );
}

#[test]
fn explain_runs_the_calls_before_but_none_after() {
    let folder = folder();
    let mark = folder.path().join("ran");
    let mut calls = vec![bash("ls"); 3];
    calls.extend(crate::support::script(&format!("touch {}", mark.display())));
    let explanation = explain(&calls, 3);
    assert!(
        explanation.contains("PRE: HALT; refused by circuit-breaker: "),
        "{explanation}"
    );
    assert!(!mark.exists(), "a later call ran");
}

#[test]
fn explain_counts_calls_and_not_lines() {
    let text = format!("{{}}\n{}", session(&[bash("echo a")]));
    let run = run(text, &["--no-sandbox", "--keep-going", "--explain", "1"]);
    assert_eq!(run.status, Some(2));
    assert!(
        run.stdout.starts_with("call 1, line 2: bash echo a\n"),
        "{run:?}"
    );
}

#[test]
fn explain_of_a_missing_call_names_the_range_and_runs_no_call() {
    let folder = folder();
    let mark = folder.path().join("ran");
    let calls = crate::support::script(&format!("touch {}", mark.display()));
    for number in ["0", "3", "18446744073709551615"] {
        let run = run(session(&calls), &["--no-sandbox", "--explain", number]);
        assert_eq!(run.status, Some(2));
        let message = format!("no call {number}; use 1 to 2\n");
        assert!(run.stderr.ends_with(&message), "{run:?}");
        assert!(run.stdout.is_empty() && !mark.exists(), "{run:?}");
    }
}

#[test]
fn explain_and_json_are_mutually_exclusive() {
    let run = finish(example().args(["--json", "--explain", "1"]), b"");
    assert_eq!(run.status, Some(2));
    assert!(run.stderr.contains("cannot be used with"), "{run:?}");
}

#[test]
fn explain_escapes_the_text_of_calls_and_redacts_secrets() {
    let hidden = "\u{1b}[2J\u{7}\r\u{202e}\u{200b}\u{ad}";
    let secret = "ghp_0123456789abcdefghijklmnop";
    let calls = [
        json!({"tool": "write", "path": format!("/etc/{hidden}{secret}"), "text": ""}),
        json!({"tool": "write", "path": format!(".git/{hidden}{secret}"), "text": ""}),
        bash(&format!("cat '/etc/{secret}{hidden}\nPRE: CONTINUE'")),
        bash(&format!("cat /etc/{secret}")),
    ];
    for number in 1..=calls.len() {
        let explanation = explain(&calls, number);
        assert!(explanation.contains("refused by "), "{explanation}");
        let is_plain =
            |it: char| it == '\n' || !it.is_control() && (it.is_ascii() || !hidden.contains(it));
        assert!(explanation.chars().all(is_plain), "{explanation:?}");
        assert!(
            !explanation.contains(secret) && explanation.contains("[redacted]"),
            "{explanation}"
        );
        assert_eq!(
            explanation
                .lines()
                .filter(|line| line.starts_with("PRE: "))
                .count(),
            1
        );
    }
}

#[test]
fn explain_works_on_the_bundled_session() {
    for (number, after) in [
        ("1", "tool:post"),
        ("9", "error:tool"),
        ("15", "tool:post"),
        ("24", "tool:post"),
        ("35", "tool:post"),
    ] {
        let run: Run = finish(example().args(["--explain", number]), b"");
        assert_eq!(run.status, Some(0), "{run:?}");
        let sections = run
            .stdout
            .split("\n\n")
            .skip(1)
            .map(|section| section.split(": ").next().unwrap_or_default());
        // Dispatches that a call did not reach follow those that it reached, before the view.
        let sections: Vec<_> = sections.collect();
        let expected = [
            "PRE",
            "classifiers",
            "tool:pre",
            "typed set",
            after,
            "POST",
            "next call",
        ];
        assert_eq!(sections, expected, "{run:?}");
    }
}

#[test]
fn the_readme_shows_a_real_explanation() {
    let readme = include_str!("../../../README.md");
    let (_, block) = readme.split_once("```text\ncall ").expect("a block");
    let (block, _) = block.split_once("\n```").expect("an end");
    let (number, _) = block.split_once(',').expect("a number");
    let run: Run = finish(example().args(["--explain", number]), b"");
    assert_eq!(run.status, Some(0), "{run:?}");
    let time = Regex::new(r"\(\d+(\.\d+)?(ns|µs|ms|s)\)").expect("an expression");
    let printed = time.replace_all(&run.stdout, "(time)");
    let mut printed = printed.lines();
    let mut is_omitted = false;
    for line in format!("call {block}").lines() {
        if line.trim() == "…" {
            is_omitted = true;
            continue;
        }
        let line = time.replace_all(line, "(time)");
        let is_printed = match is_omitted {
            true => printed.any(|printed| printed == line),
            false => printed.next() == Some(&line),
        };
        assert!(is_printed, "`{line}` is not in {}", run.stdout);
        is_omitted = false;
    }
    assert_eq!(is_omitted, printed.next().is_some(), "{}", run.stdout);
}

#[test]
fn explain_shows_messages_that_are_injected_for_one_call() {
    let calls = [
        bash("echo token=ghp_0123456789abcdefghijklmnop"),
        bash("pwd"),
        bash("echo b"),
    ];
    let first = section(&explain(&calls, 1), "next call");
    assert_eq!(
        first[0],
        "next call: the agent reads 2 messages; the last are"
    );
    assert!(first[1].starts_with("agent: bash echo "), "{first:?}");
    assert!(
        first[2].starts_with("tool: ")
            && first[2].ends_with("redacted text is not needed; do not look for it"),
        "{first:?}"
    );
    // It was for one call only.
    let second = section(&explain(&calls, 2), "next call");
    assert_eq!(second.len(), 5, "{second:?}");
    assert!(
        !second.concat().contains("redacted text is not needed"),
        "{second:?}"
    );
}

#[test]
fn the_report_lists_the_events_in_the_order_in_which_they_were_emitted() {
    let calls = [
        bash("echo a"),
        bash("git commit -m x"),
        bash("echo \u{200b}"),
        json!({"tool": "write", "path": "../x", "text": ""}),
        bash("rm -rf /"),
        bash("sleep 30"),
    ];
    let run = run(
        session(&calls),
        &["--json", "--no-sandbox", "--time-limit", "1"],
    );
    let events = run.report()["events"].clone();
    let event = |event: &str, call: serde_json::Value| json!({"event": event, "call": call});
    let expected = json!([
        event("session:start", json!(null)),
        event("tool:pre", json!(1)),
        event("tool:post", json!(1)),
        event("tool:pre", json!(2)),
        event("user:notification", json!(2)),
        // There is no repository to commit to.
        event("error:tool", json!(2)),
        // Refused by the typed set, after `tool:pre`.
        event("tool:pre", json!(3)),
        // The engine refuses the fourth call before `tool:pre`; a classifier refuses the fifth.
        event("tool:pre", json!(6)),
        event("error:tool", json!(6)),
        // The call exceeded a limit.
        event("user:notification", json!(6)),
        event("session:end", json!(null)),
    ]);
    assert_eq!(events, expected);
}
