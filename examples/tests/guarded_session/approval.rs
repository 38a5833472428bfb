//! Questions of hooks, and `--approve`: decided beforehand, and at a real terminal.

use std::fs;

use rexpect::session::{PtySession, spawn_command};
use serde_json::Value;
use tempfile::TempDir;

use crate::support::{bash, example, folder, has_program, run, session};

/// A session that amends a commit, twice in different words, and takes one off the branch.
fn history() -> [Value; 5] {
    [
        bash("git init -q . && git add -A && git commit -q -m one"),
        bash("git commit -q --allow-empty -m two"),
        bash("git commit -q --amend --allow-empty -m three"),
        bash("git commit -q --amend --allow-empty -m four"),
        bash("git log --format=%s"),
    ]
}

#[test]
fn e_135_without_a_word_about_it_questions_are_answered_with_no() {
    if !has_program("git", "questions about a history") {
        return;
    }
    for arguments in [&[][..], &["--approve", "never"]] {
        let arguments = [&["--json", "--no-sandbox"], arguments].concat();
        let calls = run(session(&history()), &arguments).calls();
        for call in &calls[2..4] {
            assert_eq!(call["decision"], "refused");
            assert_eq!(call["by"], "confirm_history");
            let why = call["why"].as_str().expect("why");
            let denial = "user denied: `git commit --amend` replaces the last commit. Run it?; ";
            assert!(why.starts_with(denial), "{why}");
        }
        assert_eq!(calls[4]["output"], "two\none\n");
    }
}

#[test]
fn approve_always_answers_questions_with_yes_and_refusals_stay() {
    if !has_program("git", "questions about a history") {
        return;
    }
    let mut calls = history().to_vec();
    calls.extend([
        bash("git reset --hard HEAD~1"),
        bash("git rebase x; git push"),
    ]);
    let calls = run(
        session(&calls),
        &["--json", "--no-sandbox", "--approve", "always"],
    )
    .calls();
    assert_eq!(calls[2]["decision"], "allowed");
    let why = calls[2]["why"].as_str().expect("why");
    assert!(
        why.contains("; user allowed: `git commit --amend` "),
        "{why}"
    );
    assert_eq!(calls[4]["output"], "four\none\n");
    assert_eq!(calls[5]["by"], "destruction");
    assert_eq!(calls[6]["by"], "network");
}

#[test]
fn e_134_without_a_terminal_asking_fails_and_means_no() {
    if !has_program("setsid", "a program without a terminal") {
        return;
    }
    let folder = folder();
    let file = folder.path().join("session.jsonl");
    fs::write(&file, session(&history())).expect("a session");
    // A session of its own has no terminal.
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
fn an_unknown_answer_is_a_bad_command_line() {
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

/// The example at a terminal of its own, told to ask there, with its report going to a file;
/// behind it a shell that says how it ended, and whether the terminal is as it was and can be
/// read.
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
        .env("TERM", "xterm");
    spawn_command(shell, Some(30_000)).expect("a terminal")
}

/// What the example has to say in the end, and that it left the terminal as it should be.
fn end(terminal: &mut PtySession, status: i32) -> String {
    let said = terminal.exp_string(&format!("ended with {status}."));
    let said = said.expect("an end");
    terminal.send_line("on").expect("typing");
    terminal.exp_string("read on.").expect("a sane terminal");
    terminal.exp_eof().expect("an end");
    said
}

fn report(folder: &TempDir) -> Vec<Value> {
    let text = fs::read_to_string(folder.path().join("report.json")).expect("a report");
    let report: Value = serde_json::from_str(&text).expect("JSON");
    report["calls"].as_array().expect("calls").clone()
}

#[test]
fn e_130_the_question_is_put_at_the_terminal_and_the_answer_counts() {
    if !has_program("git", "questions about a history") {
        return;
    }
    for (answers, output) in [
        (["1", "Deny"], "three\none\n"),
        (["3", "allow o"], "four\none\n"),
    ] {
        let folder = folder();
        let mut terminal = terminal(&folder, &history());
        for answer in answers {
            let shown = terminal.exp_string(READY).expect("a question");
            let prompt = "`git commit --amend` replaces the last commit. Run it? (asked by hook `confirm_history` about tool `bash`)";
            assert!(shown.contains(prompt), "{shown}");
            assert!(shown.contains("git commit -q --amend"), "{shown}");
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
fn the_progress_bar_makes_room_for_the_question() {
    let folder = folder();
    let mut terminal = terminal(&folder, &history());
    let shown = terminal.exp_string(READY).expect("a question");
    let (bar, question) = shown.split_once("\n`git commit").expect("the question");
    // The bar was there before, was wiped off, and is not drawn into the question.
    assert!(bar.contains("2/5"), "{shown:?}");
    assert!(bar.trim_end().ends_with("\r\u{1b}[2K"), "{shown:?}");
    assert!(!question.contains("/5"), "{shown:?}");
    terminal.send_line("2").expect("typing");
    let rest = end(&mut terminal, 0);
    assert!(rest.contains("5/5"), "the bar is back: {rest:?}");
}

#[test]
fn e_138_allow_always_is_remembered_for_the_session() {
    if !has_program("git", "questions about a history") {
        return;
    }
    let folder = folder();
    let mut calls = history().to_vec();
    // Another loss is another question, also beside one that is allowed.
    let rebase = "git rebase -q HEAD; git commit -q --amend --allow-empty -m five";
    calls.insert(4, bash(rebase));
    let mut terminal = terminal(&folder, &calls);
    terminal.exp_string(READY).expect("a question");
    terminal.send_line("Allow always").expect("typing");
    let shown = terminal.exp_string(READY).expect("another question");
    assert!(shown.contains("`git rebase` replaces commits"), "{shown}");
    terminal.send_line("3").expect("typing");
    end(&mut terminal, 0);
    let calls = report(&folder);
    let why = calls[3]["why"].as_str().expect("why");
    let said = "; allowed for this session before: `git commit --amend` ";
    assert!(why.contains(said), "{why}");
    assert_eq!(calls[4]["by"], "confirm_history");
    assert_eq!(calls[5]["output"], "four\none\n");
}

#[test]
fn ctrl_c_at_the_question_stops_the_replay() {
    let folder = folder();
    let mut terminal = terminal(&folder, &history());
    terminal.exp_string(READY).expect("a question");
    terminal.send_control('c').expect("typing");
    let said = end(&mut terminal, 130);
    assert!(said.contains("(no longer asked)"), "{said:?}");
    let stopped = "guarded_session: stopped; the report is not complete, so there is none";
    assert!(said.contains(stopped), "{said:?}");
    let report = fs::read_to_string(folder.path().join("report.json"));
    assert_eq!(report.expect("a file"), "");
}
