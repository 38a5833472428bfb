//! Questions of hooks and `--approve`: fixed answers, and answers in a real terminal.

use std::fs;

use rexpect::session::{PtySession, spawn_command};
use serde_json::Value;
use tempfile::TempDir;

use crate::support::{bash, example, folder, has_program, run, session};

/// Returns a session that deletes two tags.
fn history() -> [Value; 5] {
    [
        bash("git init -q . && git add -A && git commit -q -m one"),
        bash("git tag a && git tag b"),
        bash("git tag -d a"),
        bash("git tag -d b"),
        bash("git tag"),
    ]
}

const QUESTION: &str = "`git tag` with `-d` deletes or discards something. Run it?";

#[test]
fn e_135_questions_are_denied_by_default() {
    if !has_program("git", "questions about a repository") {
        return;
    }
    for arguments in [&[][..], &["--approve", "never"]] {
        let arguments = [&["--json", "--no-sandbox"], arguments].concat();
        let calls = run(session(&history()), &arguments).calls();
        for call in &calls[2..4] {
            assert_eq!(call["decision"], "refused");
            assert_eq!(call["by"], "confirm_deletion");
            assert_eq!(call["why"], format!("user denied: {QUESTION}"));
        }
        assert_eq!(calls[4]["output"], "a\nb\n");
    }
}

#[test]
fn approve_always_allows_questions_but_not_refused_calls() {
    if !has_program("git", "questions about a repository") {
        return;
    }
    let mut calls = history().to_vec();
    calls.extend([bash("rm -rf /"), bash("git branch -D x; git push")]);
    let calls = run(
        session(&calls),
        &["--json", "--no-sandbox", "--approve", "always"],
    )
    .calls();
    assert_eq!(calls[2]["decision"], "allowed");
    let why = calls[2]["why"].as_str().expect("why");
    assert!(
        why.contains(&format!("; user allowed: {QUESTION}")),
        "{why}"
    );
    assert_eq!(calls[4]["output"], "");
    assert_eq!(calls[5]["by"], "project");
    assert_eq!(calls[6]["by"], "offline");
}

#[test]
fn e_134_asking_without_a_terminal_fails_and_denies() {
    if !has_program("setsid", "a program without a terminal") {
        return;
    }
    let folder = folder();
    let file = folder.path().join("session.jsonl");
    fs::write(&file, session(&history())).expect("a session");
    // A new session has no terminal.
    let mut command = std::process::Command::new("setsid");
    command
        .arg("--wait")
        .arg(example().get_program())
        .arg(&file)
        .args(["--json", "--no-sandbox", "--approve", "ask"]);
    let run = crate::support::finish(&mut command, b"");
    let call = &run.calls()[2];
    assert_eq!(call["decision"], "refused");
    let why = call["why"].as_str().expect("why");
    let start = "denied by default, because asking failed with `there is no terminal to ask at";
    assert!(why.starts_with(start), "{why}");
}

#[test]
fn an_unknown_value_of_approve_is_an_invalid_command_line() {
    let run = run(session(&history()), &["--approve", "perhaps"]);
    assert_eq!(run.status, Some(2));
    assert!(run.stderr.contains("[possible values: always, never, ask]"));
}

const SHELL: &str = r#"
trap : INT
was=$(stty -g)
"$0" "$@" > "$REPORT"
echo "ended with $?."
[ "$(stty -g)" = "$was" ] && read line && echo "read $line."
"#;

const READY: &str = "Your answer (denied after ";

/// Starts the example in a new terminal with `--approve ask` and its report in a file. A shell
/// around it prints the exit status, and if the terminal still echoes input.
fn terminal(folder: &TempDir, calls: &[Value]) -> PtySession {
    let file = folder.path().join("session.jsonl");
    fs::write(&file, session(calls)).expect("a session");
    let mut shell = std::process::Command::new("sh");
    shell
        .arg("-c")
        .arg(SHELL)
        .arg(example().get_program())
        .arg(file)
        .args(["--json", "--no-sandbox", "--approve", "ask"])
        .env("REPORT", folder.path().join("report.json"))
        .env("TMPDIR", folder.path())
        .env("TERM", "xterm");
    spawn_command(shell, Some(30_000)).expect("a terminal")
}

/// Waits for the exit and checks that the terminal is restored. Returns the output.
fn end(terminal: &mut PtySession, status: i32) -> String {
    let printed = terminal.exp_string(&format!("ended with {status}."));
    let printed = printed.expect("an end");
    terminal.send_line("on").expect("typing");
    terminal.exp_string("read on.").expect("a sane terminal");
    terminal.exp_eof().expect("an end");
    printed
}

fn report(folder: &TempDir) -> Vec<Value> {
    let text = fs::read_to_string(folder.path().join("report.json")).expect("a report");
    let report: Value = serde_json::from_str(&text).expect("JSON");
    report["calls"].as_array().expect("calls").clone()
}

#[test]
fn e_130_a_question_is_asked_in_the_terminal_and_its_answer_applies() {
    if !has_program("git", "questions about a repository") {
        return;
    }
    for (answers, output) in [(["1", "Deny"], "b\n"), (["3", "allow o"], "a\n")] {
        let folder = folder();
        let mut terminal = terminal(&folder, &history());
        for (answer, tag) in answers.into_iter().zip(["a", "b"]) {
            let shown = terminal.exp_string(READY).expect("a question");
            let prompt = " Run it? (asked by hook `confirm_deletion` about tool `bash`)";
            assert!(shown.contains(prompt), "{shown}");
            assert!(shown.contains("`git tag` with `-d` deletes"), "{shown}");
            assert!(shown.contains(&format!("git tag -d {tag}")), "{shown}");
            assert!(
                shown.contains("1) Allow once\r\n  2) Allow always\r\n  3) Deny"),
                "{shown}"
            );
            terminal.send_line(answer).expect("typing");
        }
        end(&mut terminal, 0);
        assert_eq!(report(&folder)[4]["output"], output, "{answers:?}");
    }
}

#[test]
fn the_progress_bar_is_cleared_during_a_question() {
    let folder = folder();
    let mut terminal = terminal(&folder, &history());
    let shown = terminal.exp_string(READY).expect("a question");
    let (bar, question) = shown.split_once("\n`git tag`").expect("the question");
    // The bar was drawn, then cleared, and is not drawn during the question.
    assert!(bar.contains("2/5"), "{shown:?}");
    assert!(bar.trim_end().ends_with("\r\u{1b}[2K"), "{shown:?}");
    assert!(!question.contains("/5"), "{shown:?}");
    terminal.send_line("2").expect("typing");
    terminal.exp_string(READY).expect("another question");
    terminal.send_line("3").expect("typing");
    let rest = end(&mut terminal, 0);
    assert!(rest.contains("5/5"), "the bar is back: {rest:?}");
}

#[test]
fn e_138_allow_always_is_remembered_for_the_session() {
    if !has_program("git", "questions about a repository") {
        return;
    }
    let folder = folder();
    let mut calls = history().to_vec();
    // Another command is a new question; a repeated command is not.
    let again = [bash("git tag a"), bash("git tag -d a")];
    calls.splice(4..4, again);
    let mut terminal = terminal(&folder, &calls);
    terminal.exp_string(READY).expect("a question");
    terminal.send_line("Allow always").expect("typing");
    let shown = terminal.exp_string(READY).expect("another question");
    assert!(shown.contains("git tag -d b"), "{shown}");
    terminal.send_line("3").expect("typing");
    end(&mut terminal, 0);
    let calls = report(&folder);
    assert_eq!(calls[3]["by"], "confirm_deletion");
    let why = calls[5]["why"].as_str().expect("why");
    let part = "; allowed for this session before: `git tag` ";
    assert!(why.contains(part), "{why}");
    assert_eq!(calls[6]["output"], "b\n");
}

#[test]
fn ctrl_c_during_a_question_stops_the_replay() {
    let folder = folder();
    let mut terminal = terminal(&folder, &history());
    terminal.exp_string(READY).expect("a question");
    terminal.send_control('c').expect("typing");
    let printed = end(&mut terminal, 130);
    assert!(printed.contains("(no longer asked)"), "{printed:?}");
    let stopped = "guarded_session: stopped; an incomplete report is not printed";
    assert!(printed.contains(stopped), "{printed:?}");
    let report = fs::read_to_string(folder.path().join("report.json"));
    assert_eq!(report.expect("a file"), "");
}
