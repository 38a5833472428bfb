//! Invalid input: message, exit status, and that no call runs.

use std::fs;

use serde_json::json;

use crate::support::{
    Run, bash, confinements, example, finish, folder, is_root, run, script, session,
};

/// Invalid lines, each with a part of its message.
const INVALID_LINES: [(&[u8], &str); 10] = [
    (b"{\"tool\": \"bash\"", "not valid JSON"),
    (b"hello", "not valid JSON"),
    (b"[\"bash\"]", "not a JSON object"),
    (b"{\"command\": \"ls\"}", "`tool` is missing"),
    (b"{\"tool\": 7}", "`tool` is not a string"),
    (
        b"{\"tool\": \"browse\", \"url\": \"x\"}",
        "unknown tool `browse`",
    ),
    (b"{\"tool\": \"bash\"}", "missing field `command`"),
    (
        b"{\"tool\": \"bash\", \"command\": 5}",
        "invalid type: integer `5`",
    ),
    (
        b"{\"tool\": \"write\", \"path\": \"a\"}",
        "missing field `text`",
    ),
    (
        b"{\"tool\": \"bash\", \"command\": \"l\xff\"}",
        "not valid UTF-8",
    ),
];

#[test]
fn an_invalid_line_is_reported_with_its_remedy_and_no_call_runs() {
    for (line, message) in INVALID_LINES {
        let outside = folder();
        let mark = outside.path().join("ran");
        // Without a sandbox, a call that ran would create this file.
        let mut text = session(&script(&format!("touch {}", mark.display()))).into_bytes();
        text.extend_from_slice(line);
        let run = run(text, &["--no-sandbox"]);
        assert_eq!(run.status, Some(2), "{run:?}");
        assert!(run.stderr.contains("session.jsonl:3: "), "{run:?}");
        assert!(run.stderr.contains(message), "{run:?}");
        assert!(
            run.stderr
                .lines()
                .next()
                .is_some_and(|line| line.contains("; ")),
            "{run:?}"
        );
        assert!(run.stdout.is_empty(), "{run:?}");
        assert!(!mark.exists(), "a call ran before {line:?} was read");
    }
}

#[test]
fn every_invalid_line_is_reported() {
    let run = run("{}\n\n[]\n", &[]);
    assert_eq!(run.status, Some(2));
    assert!(
        run.stderr.contains(":1: ") && run.stderr.contains(":3: "),
        "{run:?}"
    );
}

#[test]
fn keep_going_skips_invalid_lines_runs_the_rest_and_fails() {
    if confinements().is_empty() {
        return;
    }
    for (line, message) in INVALID_LINES {
        let mut text = line.to_vec();
        text.push(b'\n');
        text.extend_from_slice(session(&[bash("echo ran")]).as_bytes());
        let run = run(text, &["--keep-going", "--json"]);
        assert_eq!(run.status, Some(2), "{run:?}");
        assert!(run.stderr.contains(message), "{run:?}");
        let report = run.report();
        assert_eq!(report["skipped"][0]["line"], 1);
        assert_eq!(report["summary"]["skipped"], 1);
        assert_eq!(report["calls"][0]["line"], 2);
        assert_eq!(report["calls"][0]["output"], "ran\n");
    }
}

#[test]
fn keep_going_without_a_valid_call_is_an_error() {
    let run = run("{}\n", &["--keep-going"]);
    assert_eq!(run.status, Some(2));
    assert!(run.stderr.contains("no line is a valid call; "), "{run:?}");
}

#[test]
fn an_empty_session_is_an_error() {
    for text in ["", "\n\n", " \r\n"] {
        for arguments in [&[][..], &["--keep-going"]] {
            expect_refusal(
                &run(text, arguments),
                "session.jsonl: line 1: the session is empty; ",
            );
        }
    }
    expect_refusal(
        &finish(example().arg("-"), b""),
        "standard input: line 1: the session is empty; ",
    );
}

#[test]
fn a_source_that_cannot_be_read_is_an_error() {
    let folder = folder();
    let missing = folder.path().join("missing.jsonl");
    expect_refusal(
        &finish(example().arg(&missing), b""),
        "missing.jsonl: no such file; ",
    );
    expect_refusal(
        &finish(example().arg(folder.path()), b""),
        ": is a directory; ",
    );
    let below = missing.join("x");
    fs::write(&missing, "").expect("a file");
    expect_refusal(&finish(example().arg(below), b""), ": cannot be read: ");
    let endless = finish(example().arg("/dev/zero"), b"");
    expect_refusal(&endless, "/dev/zero: is larger than 64 MiB; ");
}

#[test]
fn standard_input_is_read_and_named_in_errors() {
    expect_refusal(
        &finish(example().arg("-"), b"{}"),
        "standard input:1: the field `tool` is missing; ",
    );
    if !confinements().is_empty() {
        let good = finish(
            example().args(["-", "--json"]),
            session(&[bash("echo here")]).as_bytes(),
        );
        assert_eq!(good.last()["output"], "here\n");
    }
}

#[test]
fn names_and_values_in_errors_are_escaped() {
    let folder = folder();
    let name = folder.path().join("a\u{1b}[31m\u{202e}b");
    let missing = finish(example().arg(&name), b"");
    assert!(
        missing
            .stderr
            .contains(r"a\u{1b}[31m\u{202e}b: no such file"),
        "{missing:?}"
    );
    let line = json!({"tool": "\u{1b}]0;x\u{7}\u{200b}"}).to_string();
    let unknown = run(line, &[]);
    assert!(
        unknown.stderr.contains(r"`\u{1b}]0;x\u{7}\u{200b}`"),
        "{unknown:?}"
    );
    let field = run(r#"{"tool": "bash", "command": {"\u001b": 1}}"#, &[]);
    for run in [missing, unknown, field] {
        assert!(
            !run.stderr
                .contains(['\u{1b}', '\u{202e}', '\u{200b}', '\u{7}']),
            "{run:?}"
        );
    }
}

#[test]
fn an_invalid_command_line_is_an_error() {
    for arguments in [&["--no-such-flag"][..], &["--time-limit", "0"], &["a", "b"]] {
        assert_eq!(
            finish(example().args(arguments), b"").status,
            Some(2),
            "{arguments:?}"
        );
    }
}

#[test]
fn a_confinement_that_does_not_work_is_an_error() {
    let plan = if is_root() { "none" } else { "root-namespaces" };
    let run = run(session(&[bash("ls")]), &["--confinement", plan]);
    expect_refusal(&run, "no confinement works on this system");
    assert!(run.stderr.contains("--no-sandbox"), "{run:?}");
}

fn expect_refusal(run: &Run, message: &str) {
    assert_eq!(run.status, Some(2), "{run:?}");
    assert!(run.stderr.contains(message), "{run:?}");
    assert!(run.stdout.is_empty(), "{run:?}");
}
