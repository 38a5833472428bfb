//! Tests `approve` in a terminal.

use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::cli::{Terminal, client_config};
use crate::support::ShiftedClock;
use crate::support::client::Request;
use crate::support::daemon::{Daemon, Setup, TOKEN};

const CHOICES: &str = "[y] approve  [s] for this session  [a] always  [n] deny  [Enter] later: ";

const CONFIRMATION: &str = "always allow this deletion? type yes: ";

/// Starts `approve`, and enters the token.
fn start_approve(daemon: &Daemon, arguments: &[&str]) -> Terminal {
    let words: Vec<&str> = [&["approve"], arguments].concat();
    let mut terminal = Terminal::start(daemon, &words);
    terminal.shows("operator's token: ");
    terminal.send(&format!("{TOKEN}\n"));
    terminal
}

fn request(command: &str) -> Value {
    json!({"command": command, "session_id": "s", "cwd": "/srv/x", "agent": "claude-code"})
}

#[test]
fn approve_reports_no_pending_questions_without_the_token() {
    let daemon = Daemon::plain();
    daemon.ask("ls");
    let terminal = Terminal::start(&daemon, &["approve"]);
    assert_eq!(terminal.end(), 0);
    terminal.shows("no pending questions");
}

#[test]
fn approve_shows_the_question_and_accepts_each_answer() {
    for (key, response, remembered) in [
        ("y", "APPROVED", 0),
        ("n", "DENIED", 0),
        ("s", "APPROVED", 1),
        ("a", "APPROVED", 1),
    ] {
        let daemon = Daemon::plain();
        let permission = daemon.post(&request("rm -r build")).ok();
        let mut terminal = start_approve(&daemon, &[]);
        let screen = terminal.shows(CHOICES);
        for part in [
            "DELETE  rm -r build",
            "agent claude-code, in /srv/x",
            "`always` applies to claude-code in /srv/x",
        ] {
            assert!(screen.contains(part), "`{part}` in {screen}");
        }
        assert!(!screen.contains(TOKEN), "{screen}");
        // An invalid answer prompts again.
        terminal.send("maybe\n");
        terminal.until(|screen| screen.matches(CHOICES).count() == 2);
        assert_eq!(
            daemon.record(&permission["id"])["user_response"],
            Value::Null
        );
        if key == "a" {
            // A deletion is always allowed only after a confirmation.
            for other in ["", "y", "a"] {
                terminal.send("a\n");
                terminal.until(|screen| screen.trim_end().ends_with(CONFIRMATION.trim_end()));
                terminal.send(&format!("{other}\n"));
                terminal.until(|screen| screen.trim_end().ends_with(CHOICES.trim_end()));
            }
            assert_eq!(
                daemon.record(&permission["id"])["user_response"],
                Value::Null
            );
            terminal.send("a\n");
            terminal.until(|screen| screen.trim_end().ends_with(CONFIRMATION.trim_end()));
            terminal.send("yes\n");
        } else {
            terminal.send(&format!("{key}\n"));
        }
        assert_eq!(terminal.end(), 0, "{}", terminal.screen());
        terminal.shows(&format!("{}: {response}", permission["id"]));
        let record = daemon.record(&permission["id"]);
        assert_eq!(record["user_response"], response);
        assert_eq!(record["answered_by"], "operator");
        let all = daemon.get("/api/hooks/remembered").ok();
        let all = all["remembered"].as_array().unwrap().clone();
        assert_eq!(all.len(), remembered, "`{key}`");
        if key == "s" {
            assert_eq!(all[0]["session_id"], "s");
        }
    }
}

#[test]
fn approve_asks_each_question_in_turn_and_skips_empty_answers() {
    let daemon = Daemon::plain();
    let ids: Vec<Value> = ["mkdir one", "mkdir two", "mkdir three"]
        .map(|command| daemon.ask(command)["id"].clone())
        .into();
    let mut terminal = start_approve(&daemon, &[]);
    for (count, (command, key)) in [("mkdir one", "y"), ("mkdir two", ""), ("mkdir three", "n")]
        .into_iter()
        .enumerate()
    {
        let screen = terminal.until(|screen| screen.matches(CHOICES).count() == count + 1);
        assert!(screen.contains(command), "{screen}");
        terminal.send(&format!("{key}\n"));
    }
    assert_eq!(terminal.end(), 0);
    let responses = ids
        .iter()
        .map(|id| daemon.record(id)["user_response"].clone());
    let responses: Vec<Value> = responses.collect();
    assert_eq!(responses, [json!("APPROVED"), Value::Null, json!("DENIED")]);
    assert_eq!(daemon.pending().len(), 1);
}

#[test]
fn approve_asks_equal_questions_once() {
    for (key, response) in [
        ("y", json!("APPROVED")),
        ("n", json!("DENIED")),
        ("", Value::Null),
    ] {
        let daemon = Daemon::plain();
        let ask = |command: &str, session: &str| {
            let mut request = request(command);
            request["session_id"] = session.into();
            daemon.post(&request).ok()["id"].clone()
        };
        let equal = [
            ask("mkdir out", "s"),
            ask("mkdir out", "t"),
            ask("mkdir out", "s"),
        ];
        let other = ask("mkdir other", "s");
        let mut terminal = start_approve(&daemon, &[]);
        let screen = terminal.shows(CHOICES);
        let line = format!(
            "asked 3 times; the answer applies to {}, {}, too",
            equal[1], equal[2]
        );
        assert!(screen.contains(&line), "`{line}` in {screen}");
        terminal.send(&format!("{key}\n"));
        let screen = terminal.until(|screen| screen.matches(CHOICES).count() == 2);
        assert!(screen.contains("CREATE  mkdir other"), "{screen}");
        assert_eq!(screen.matches("CREATE  mkdir out").count(), 1, "{screen}");
        terminal.send("\n");
        assert_eq!(terminal.end(), 0, "{}", terminal.screen());
        for id in &equal {
            assert_eq!(daemon.record(id)["user_response"], response, "`{key}`");
        }
        assert_eq!(daemon.record(&other)["user_response"], Value::Null);
    }
}

#[test]
fn approve_shows_the_questions_of_one_session_or_agent() {
    let daemon = Daemon::plain();
    for (command, session, agent) in [
        ("mkdir one", "s", "claude-code"),
        ("mkdir two", "s&x=1", "claude-code"),
        ("mkdir three", "s", "codex"),
    ] {
        let body = json!({"command": command, "session_id": session, "agent": agent});
        daemon.post(&body).ok();
    }
    for (options, wanted) in [
        (["--session", "s&x=1"].as_slice(), "mkdir two"),
        (&["--agent", "codex"], "mkdir three"),
        (&["--agent", "claude-code", "--session", "s"], "mkdir one"),
    ] {
        let mut terminal = start_approve(&daemon, options);
        let screen = terminal.shows(CHOICES);
        assert!(screen.contains(wanted), "{screen}");
        terminal.send("\n");
        assert_eq!(terminal.end(), 0);
        let screen = terminal.screen();
        assert_eq!(screen.matches(CHOICES).count(), 1, "{options:?}: {screen}");
    }
    let terminal = Terminal::start(&daemon, &["approve", "--agent", "gemini"]);
    assert_eq!(terminal.end(), 0);
    terminal.shows("no matching pending questions; change `--agent` or `--session`");
    assert_eq!(daemon.pending().len(), 3);
}

#[test]
fn approve_escapes_control_and_bidirectional_characters() {
    let daemon = Daemon::plain();
    let long = "x".repeat(600);
    let command = format!("mkdir a\u{1b}[2Jb \u{202e}c\u{200b} \u{9b}3m d\r\ne {long} unseen");
    let body = json!({"command": command, "agent": "\u{1b}]0;t\u{7}", "cwd": "/a\u{202e}b"});
    let permission = daemon.post(&body).ok();
    let mut terminal = start_approve(&daemon, &[]);
    let screen = terminal.shows(CHOICES);
    for shown in [
        "a\\u{1b}[2Jb",
        "\\u{202e}c\\u{200b}",
        "unseen",
        "/a\\u{202e}b",
    ] {
        // Ignore line breaks.
        let joined: String = screen.split('\n').collect();
        assert!(joined.contains(shown), "`{shown}` in {screen}");
    }
    let bytes = String::from_utf8(terminal.bytes()).unwrap();
    let bad = |character: char| {
        character.is_control() && !matches!(character, '\r' | '\n')
            || matches!(character, '\u{202e}' | '\u{200b}')
    };
    assert!(!bytes.contains(bad), "{bytes:?}");
    terminal.send("n\n");
    assert_eq!(terminal.end(), 0);
    assert_eq!(daemon.record(&permission["id"])["user_response"], "DENIED");
}

#[test]
fn approve_reports_a_question_that_has_timed_out() {
    let Some(clock) = ShiftedClock::new() else {
        return;
    };
    let daemon = clock.on(Setup::new()).start();
    let permission = daemon.ask("mkdir out");
    let mut terminal = start_approve(&daemon, &[]);
    terminal.shows(CHOICES);
    clock.forward(400);
    assert_eq!(daemon.answered(&permission["id"]), "TIMEOUT");
    terminal.send("y\n");
    assert_eq!(terminal.end(), 1);
    terminal.shows("ALREADY_ANSWERED");
    assert_eq!(daemon.record(&permission["id"])["user_response"], "TIMEOUT");
}

#[test]
fn approve_answers_the_given_ids_and_reports_unknown_ones() {
    let daemon = Daemon::plain();
    let permission = daemon.ask("mkdir out");
    let id = permission["id"].to_string();
    let terminal = start_approve(&daemon, &["--deny", "--note", "not now", &id, "4711"]);
    assert_eq!(terminal.end(), 1);
    let screen = terminal.shows("4711: ");
    assert!(screen.contains(&format!("{id}: DENIED")), "{screen}");
    assert!(screen.contains("NOT_FOUND"), "{screen}");
    assert_eq!(daemon.record(&permission["id"])["answer_note"], "not now");
}

#[test]
fn approve_always_for_a_deletion_by_id_needs_an_option() {
    let daemon = Daemon::plain();
    let deletion = daemon.post(&request("rm -r build")).ok()["id"].to_string();
    let other = daemon.post(&request("mkdir out")).ok()["id"].to_string();
    let terminal = start_approve(&daemon, &["--remember", "always", &deletion, &other]);
    assert_eq!(terminal.end(), 1);
    let screen = terminal.shows(&format!("{other}: APPROVED"));
    assert!(
        screen.contains(&format!("{deletion}: not answered")),
        "{screen}"
    );
    assert!(screen.contains("`--confirm-deletion`"), "{screen}");
    assert_eq!(daemon.pending().len(), 1);
    let options = ["--remember", "always", "--confirm-deletion", &deletion];
    let terminal = start_approve(&daemon, &options);
    assert_eq!(terminal.end(), 0);
    terminal.shows(&format!("{deletion}: APPROVED"));
    let all = daemon.get("/api/hooks/remembered").ok();
    assert_eq!(all["total"], 2);
}

#[test]
fn approve_with_a_wrong_token_answers_nothing() {
    let daemon = Daemon::plain();
    let permission = daemon.ask("mkdir out");
    let mut terminal = Terminal::start(&daemon, &["approve"]);
    terminal.shows("operator's token: ");
    terminal.send("not the operator's token\n");
    terminal.shows(CHOICES);
    terminal.send("y\n");
    assert_eq!(terminal.end(), 3);
    terminal.shows("OPERATOR_TOKEN_REQUIRED");
    assert_eq!(
        daemon.record(&permission["id"])["user_response"],
        Value::Null
    );
}

#[test]
fn approve_needs_a_terminal() {
    let daemon = Daemon::plain();
    let permission = daemon.ask("mkdir out");
    let config = client_config(&daemon);
    for command in ["approve", "watch"] {
        let output = Command::new(env!("CARGO_BIN_EXE_hooks-guard"))
            .args([command, "--config"])
            .arg(&config)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(3), "{output:?}");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(stderr.contains("terminal"), "{stderr}");
    }
    assert_eq!(
        daemon.record(&permission["id"])["user_response"],
        Value::Null
    );
    let body = json!({"id": permission["id"], "response": "APPROVED"});
    let unsigned = Request::new("POST", "/api/hooks/permission-response").json(&body);
    daemon.send(&unsigned).error(401, "OPERATOR_TOKEN_REQUIRED");
}
