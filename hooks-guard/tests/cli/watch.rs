//! Tests `watch`: questions and events in a terminal.

use std::io::{Read, Write};
use std::time::Instant;

use serde_json::{Value, json};

use crate::cli::Terminal;
use crate::support::ShiftedClock;
use crate::support::daemon::{Daemon, Setup, TOKEN};

const DOWN: &str = "\u{1b}[B";
const PAGE_UP: &str = "\u{1b}[5~";
const PAGE_DOWN: &str = "\u{1b}[6~";
const ESCAPE: &str = "\u{1b}";

/// Starts `watch` without a delay of answers, with this token, and waits for the connection.
fn start_watch(daemon: &Daemon, token: &str) -> Terminal {
    sized(daemon, token, 40, 120)
}

fn sized(daemon: &Daemon, token: &str, rows: u16, columns: u16) -> Terminal {
    started(daemon, &["watch", "--undo", "0"], token, rows, columns)
}

fn started(daemon: &Daemon, words: &[&str], token: &str, rows: u16, columns: u16) -> Terminal {
    let mut terminal = Terminal::of_size(daemon, words, rows, columns);
    terminal.shows("operator's token (Enter for view only): ");
    terminal.send(&format!("{token}\n"));
    terminal.shows(" connected");
    terminal
}

#[test]
fn watch_shows_pending_questions_and_live_events() {
    let daemon = Daemon::plain();
    let before = daemon.ask("mkdir before");
    let terminal = start_watch(&daemon, TOKEN);
    terminal.shows("1 pending question");
    let screen = terminal.shows("pending: mkdir before");
    assert!(terminal.alternate());
    assert!(!screen.contains(TOKEN));
    let body = json!({"command": "rm -r build", "agent": "codex", "cwd": "/srv/x"});
    let permission = daemon.post(&body).ok();
    let screen = terminal.shows("2 pending questions");
    assert!(screen.contains("DELETE"), "{screen}");
    // No question is selected automatically.
    assert!(screen.contains("No question selected"), "{screen}");
    terminal.shows("pending: rm -r build");
    daemon.ask("git status");
    terminal.shows("allowed: git status");
    daemon.respond(&before["id"], "APPROVED").ok();
    terminal.shows("1 pending question");
    terminal.shows("APPROVED by operator: mkdir before");
    daemon.executed(&before["id"], &before["secret"]).ok();
    terminal.shows("ran: mkdir before");
    daemon.respond(&permission["id"], "DENIED").ok();
    terminal.shows("no pending questions");
}

#[test]
fn watch_answers_the_selected_question_by_key() {
    let daemon = Daemon::plain();
    let mut terminal = start_watch(&daemon, TOKEN);
    for (key, response, remembered) in [
        ("y", "APPROVED", 0),
        ("n", "DENIED", 0),
        ("s", "APPROVED", 1),
        ("a", "APPROVED", 2),
    ] {
        let body = json!({
            "command": format!("mkdir by-{key}"), "session_id": "s", "cwd": "/srv/x",
            "agent": "codex",
        });
        let permission = daemon.post(&body).ok();
        terminal.shows("1 pending question");
        terminal.send(DOWN);
        let screen = terminal.shows("reason");
        for part in ["▶", "/srv/x", "codex", "`always` applies to codex"] {
            assert!(screen.contains(part), "`{part}` in {screen}");
        }
        terminal.send(key);
        assert_eq!(daemon.answered(&permission["id"]), response);
        terminal.shows("no pending questions");
        terminal.shows(" answered");
        let all = daemon.get("/api/hooks/remembered").ok();
        assert_eq!(all["remembered"].as_array().unwrap().len(), remembered);
    }
    terminal.send("q");
    assert_eq!(terminal.end(), 0);
    assert!(!terminal.alternate(), "the screen is as it was");
}

#[test]
fn watch_answers_only_the_selected_question() {
    let daemon = Daemon::plain();
    let mut terminal = start_watch(&daemon, TOKEN);
    let first = daemon.ask("mkdir first");
    terminal.shows("1 pending question");
    for key in ["y", "a", "s", "n"] {
        terminal.send(key);
        terminal.shows("select a question first");
        terminal.send(ESCAPE);
        terminal.until(|screen| !screen.contains("select a question first"));
    }
    terminal.send(DOWN);
    terminal.shows("reason");
    // The question is answered elsewhere; the next one must not get the key that was meant for it.
    let second = daemon.ask("rm -r everything");
    terminal.shows("2 pending questions");
    daemon.respond(&first["id"], "DENIED").ok();
    terminal.shows("1: DENIED, by operator");
    terminal.send("y");
    terminal.shows("select a question first");
    for permission in [&first, &second] {
        assert_ne!(
            daemon.record(&permission["id"])["user_response"],
            "APPROVED"
        );
    }
    assert_eq!(daemon.pending().len(), 1);
}

#[test]
fn watch_searches_for_answers_as_it_shows_them() {
    let daemon = Daemon::plain();
    let denied = daemon.ask("mkdir denied");
    let approved = daemon.ask("mkdir approved");
    let mut terminal = start_watch(&daemon, TOKEN);
    terminal.shows("2 pending questions");
    daemon.respond(&denied["id"], "DENIED").ok();
    daemon.respond(&approved["id"], "APPROVED").ok();
    daemon.ask("git status");
    terminal.shows("allowed: git status");
    for (search, shown, hidden) in [
        (
            "denied by operator",
            "DENIED by operator: mkdir denied",
            "mkdir approved",
        ),
        ("allowed", "allowed: git status", "mkdir denied"),
    ] {
        terminal.send(&format!("/{search}"));
        terminal.until(|screen| screen.contains(shown) && !screen.contains(hidden));
        terminal.send("\u{1b}");
        terminal.until(|screen| screen.contains(hidden));
    }
}

#[test]
fn watch_searches_in_questions_and_events() {
    let daemon = Daemon::plain();
    for command in ["mkdir first", "rm -r build", "mkdir yes"] {
        daemon.ask(command);
    }
    daemon.ask("git status");
    let mut terminal = start_watch(&daemon, TOKEN);
    terminal.shows("3 pending questions");
    // Letters that answer are text here.
    terminal.send("/MKDIR y");
    let screen = terminal.shows("3 pending questions; 1 match `MKDIR y`");
    assert!(screen.contains("search: MKDIR y"), "{screen}");
    assert!(screen.contains("mkdir yes"), "{screen}");
    for hidden in ["mkdir first", "rm -r build", "git status"] {
        assert!(!screen.contains(hidden), "{hidden} in {screen}");
    }
    terminal.send("\r");
    terminal.until(|screen| !screen.contains("search:"));
    // Only what is displayed can be selected and answered.
    terminal.send(DOWN);
    terminal.send(DOWN);
    terminal.send(DOWN);
    terminal.shows("reason");
    terminal.send("n");
    let screen = terminal.shows("2 pending questions; 0 match `MKDIR y`");
    assert!(screen.contains("DENIED by operator: mkdir yes"), "{screen}");
    terminal.send("y");
    terminal.shows("select a question first");
    assert_eq!(daemon.pending().len(), 2);
    terminal.send(ESCAPE);
    let screen = terminal.until(|screen| screen.contains("rm -r build"));
    assert!(!screen.contains("match `"), "{screen}");
    // A selected question that does not match any more is not selected any more.
    terminal.send(DOWN);
    terminal.shows("reason");
    terminal.send("/zzz\r");
    terminal.shows("0 match `zzz`");
    terminal.send("y");
    terminal.shows("select a question first");
    assert_eq!(daemon.pending().len(), 2);
}

#[test]
fn watch_answers_nothing_while_its_help_is_open() {
    let daemon = Daemon::plain();
    daemon.ask("mkdir out");
    let mut terminal = sized(&daemon, TOKEN, 24, 80);
    terminal.shows("? help");
    terminal.send(DOWN);
    terminal.shows("reason");
    terminal.send("?");
    let screen = terminal.shows("approve for this session");
    for key in ["PgDn", "search in commands", "operator's token", "quit"] {
        assert!(screen.contains(key), "`{key}` in {screen}");
    }
    terminal.send("y");
    terminal.shows("1 pending question");
    assert_eq!(daemon.pending().len(), 1);
}

#[test]
fn watch_answers_nothing_until_the_token_is_typed() {
    let daemon = Daemon::plain();
    let permission = daemon.ask("mkdir out");
    let mut terminal = start_watch(&daemon, "");
    terminal.shows("1 pending question");
    terminal.send(DOWN);
    terminal.shows("reason");
    terminal.send("y");
    terminal.shows("needs the operator's token");
    terminal.send("twrong-operators-token\r");
    terminal.until(|screen| !screen.contains('•'));
    terminal.send("y");
    terminal.shows("wrong operator's token");
    assert_eq!(
        daemon.record(&permission["id"])["user_response"],
        Value::Null
    );
    terminal.send(&format!("t{TOKEN}"));
    let screen = terminal.shows(&"•".repeat(TOKEN.len()));
    assert!(!screen.contains(TOKEN), "{screen}");
    terminal.send("\r");
    terminal.until(|screen| !screen.contains('•'));
    terminal.send(DOWN);
    terminal.shows("reason");
    terminal.send("y");
    assert_eq!(daemon.answered(&permission["id"]), "APPROVED");
    let bytes = String::from_utf8_lossy(&terminal.bytes()).into_owned();
    assert!(!bytes.contains(TOKEN));
}

#[test]
fn watch_reconnects_after_a_restart_of_the_service() {
    let daemon = Daemon::plain();
    let port = daemon.port;
    let open = daemon.ask("mkdir open");
    let mut terminal = start_watch(&daemon, TOKEN);
    terminal.shows("1 pending question");
    let setup = daemon.into_setup();
    terminal.shows("disconnected: ");
    // Pending questions can be answered again after a restart on this port.
    let address = format!("127.0.0.1:{port}");
    let daemon = setup.listen(Some(&address)).start();
    daemon.ask("mkdir meanwhile");
    terminal.shows(" connected");
    terminal.shows("2 pending questions");
    terminal.shows("pending: mkdir meanwhile");
    terminal.send(DOWN);
    terminal.shows("reason");
    terminal.send("n");
    assert_eq!(daemon.answered(&open["id"]), "DENIED");
    terminal.shows("1 pending question");
}

#[test]
fn watch_escapes_control_and_bidirectional_characters() {
    let daemon = Daemon::plain();
    let command = "mkdir a\u{1b}]0;owned\u{7}b \u{202e}c\u{200b}\r\nd \u{9b}31m";
    let body = json!({
        "command": command, "agent": "\u{1b}[31mred", "cwd": "/srv/\u{202e}x",
        "session_id": "\u{1b}[5n",
    });
    daemon.post(&body).ok();
    let mut terminal = start_watch(&daemon, TOKEN);
    terminal.shows("1 pending question");
    terminal.send(DOWN);
    let screen = terminal.shows("reason");
    for shown in [
        "a\\u{1b}]0;owned\\u{7}b",
        "\\u{202e}c\\u{200b}",
        "\\u{1b}[31mred",
    ] {
        assert!(screen.contains(shown), "`{shown}` in {screen}");
    }
    let bytes = String::from_utf8_lossy(&terminal.bytes()).into_owned();
    for hidden in [
        "\u{1b}]0;",
        "\u{202e}",
        "\u{200b}",
        "\u{9b}",
        "\u{1b}[5n",
        "\u{7}",
    ] {
        assert!(!bytes.contains(hidden), "{hidden:?}");
    }
}

#[test]
fn watch_follows_the_terminal_size_and_answers_no_hidden_question() {
    let daemon = Daemon::plain();
    let long = format!("mkdir {} the-end", "long-name ".repeat(200));
    let permission = daemon.ask(&long);
    let mut terminal = sized(&daemon, TOKEN, 24, 80);
    terminal.shows("1 pending question");
    terminal.send(DOWN);
    let screen = terminal.shows("more lines");
    assert!(!screen.contains("the-end"), "{screen}");
    for _ in 0..30 {
        terminal.send(PAGE_DOWN);
    }
    terminal.until(|screen| screen.contains("reason") && !screen.contains("more lines"));
    terminal.resize(50, 160);
    let screen = terminal.until(|screen| screen.lines().any(|line| line.chars().count() > 130));
    assert!(screen.contains("1 pending question"), "{screen}");
    terminal.resize(6, 30);
    terminal.shows("at least 40");
    terminal.send("y");
    terminal.shows("enlarge the terminal");
    terminal.resize(24, 80);
    terminal.shows("1 pending question");
    assert_eq!(
        daemon.record(&permission["id"])["user_response"],
        Value::Null
    );
    terminal.send("y");
    assert_eq!(daemon.answered(&permission["id"]), "APPROVED");
}

#[test]
fn watch_approves_a_question_only_after_showing_its_end() {
    let daemon = Daemon::plain();
    let long = format!("mkdir {} the-end", "long-name ".repeat(200));
    let first = daemon.ask(&long);
    let mut terminal = sized(&daemon, TOKEN, 24, 80);
    terminal.shows("1 pending question");
    terminal.send(DOWN);
    terminal.shows("more lines");
    for key in ["y", "s", "a"] {
        terminal.send(key);
        terminal.shows("scroll to the end before approving");
        terminal.send(PAGE_DOWN);
        terminal.until(|screen| !screen.contains("before approving"));
    }
    // With fewer rows the view would be at the end without having shown some lines, so it starts
    // again.
    for _ in 0..2 {
        terminal.send(PAGE_DOWN);
    }
    terminal.resize(24, 160);
    terminal.until(|screen| {
        screen.contains("more lines") && screen.lines().any(|line| line.chars().count() > 130)
    });
    terminal.send("y");
    terminal.shows("scroll to the end before approving");
    assert_eq!(daemon.record(&first["id"])["user_response"], Value::Null);
    // A user who has seen the end may scroll back.
    for _ in 0..30 {
        terminal.send(PAGE_DOWN);
    }
    terminal.until(|screen| screen.contains("reason") && !screen.contains("more lines"));
    for _ in 0..30 {
        terminal.send(PAGE_UP);
    }
    terminal.shows("more lines");
    terminal.send("y");
    assert_eq!(daemon.answered(&first["id"]), "APPROVED");
    terminal.shows("no pending questions");
    // The next question must be read, too; denying it needs only its beginning.
    let second = daemon.ask(&format!("{long}-of-another"));
    terminal.shows("1 pending question");
    terminal.send(DOWN);
    terminal.shows("more lines");
    terminal.send("y");
    terminal.shows("scroll to the end before approving");
    terminal.send("n");
    assert_eq!(daemon.answered(&second["id"]), "DENIED");
}

#[test]
fn watch_uses_no_colours_with_no_color() {
    for (variables, coloured) in [(&[][..], true), (&[("NO_COLOR", "1")][..], false)] {
        let daemon = Daemon::plain();
        daemon.ask("rm -r build");
        let mut terminal = Terminal::in_environment(&daemon, &["watch"], 24, 80, variables);
        terminal.shows("operator's token");
        terminal.send("\n");
        terminal.shows("1 pending question");
        let bytes = String::from_utf8_lossy(&terminal.bytes()).into_owned();
        // All escape sequences for red.
        let red = ["38;5;1;", "38;5;1m", "[31m", "[91m"];
        let red = red.iter().any(|red| bytes.contains(red));
        assert_eq!(red, coloured, "{bytes:?}");
    }
}

#[test]
fn watch_deselects_a_question_that_has_timed_out() {
    let Some(clock) = ShiftedClock::new() else {
        return;
    };
    let daemon = clock.on(Setup::new()).start();
    let mut terminal = start_watch(&daemon, TOKEN);
    daemon.ask("mkdir out");
    terminal.shows("1 pending question");
    terminal.send(DOWN);
    terminal.shows("reason");
    clock.forward(400);
    terminal.shows("TIMEOUT");
    terminal.shows("no pending questions");
    terminal.send("y");
    terminal.shows("select a question first");
}

#[test]
fn watch_restores_the_terminal_on_a_signal() {
    let daemon = Daemon::plain();
    let mut terminal = start_watch(&daemon, TOKEN);
    assert!(terminal.alternate());
    terminal.terminate();
    assert_eq!(terminal.end(), 0);
    assert!(!terminal.alternate());
    let mut terminal = start_watch(&daemon, TOKEN);
    terminal.send("\u{3}");
    assert_eq!(terminal.end(), 0);
}

/// Starts a program that responds to everything, and records what it receives.
fn stranger(port: u16) -> std::sync::Arc<std::sync::Mutex<Vec<u8>>> {
    let listener = std::net::TcpListener::bind(("127.0.0.1", port)).unwrap();
    let received = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let all = std::sync::Arc::clone(&received);
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = stream.read(&mut bytes) {
                all.lock().unwrap().extend(&bytes[..count]);
                let body = r#"{"pending":[],"nonce":"0","proof":"0"}"#;
                let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
                let _ = stream.write_all(format!("{head}{body}").as_bytes());
            }
        }
    });
    received
}

#[test]
fn watch_does_not_ask_for_the_token_if_a_stranger_listens() {
    let mut daemon = Daemon::plain();
    let key = daemon.setup().folder().join("data/service.key");
    assert!(key.exists());
    let reserved = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    daemon.port = reserved.local_addr().unwrap().port();
    drop(reserved);
    let received = stranger(daemon.port);
    let terminal = Terminal::start(&daemon, &["watch"]);
    assert_eq!(terminal.end(), 3);
    let screen = terminal.screen();
    assert!(
        screen.contains("is not this user's hooks-guard"),
        "{screen}"
    );
    assert!(!screen.contains("token"), "{screen}");
    let received = String::from_utf8_lossy(&received.lock().unwrap()).into_owned();
    assert!(
        received.starts_with("GET /api/hooks/identity "),
        "{received}"
    );
}

/// Another program that takes the service's place while `watch` runs receives neither the token nor
/// an answer.
#[test]
fn watch_reports_a_stranger_in_place_of_the_service() {
    let daemon = Daemon::plain();
    let permission = daemon.ask("mkdir out");
    let mut terminal = start_watch(&daemon, TOKEN);
    terminal.shows("1 pending question");
    let port = daemon.port;
    drop(daemon);
    terminal.shows("no service listens");
    let received = stranger(port);
    terminal.shows("is not this user's hooks-guard");
    terminal.send(DOWN);
    terminal.send("y");
    std::thread::sleep(std::time::Duration::from_millis(1500));
    let received = String::from_utf8_lossy(&received.lock().unwrap()).into_owned();
    assert!(
        !received.contains("Bearer") && !received.contains(TOKEN),
        "{received}"
    );
    for request in received
        .split("\r\n\r\n")
        .filter(|request| !request.is_empty())
    {
        assert!(
            request.starts_with("GET /api/hooks/identity "),
            "{received}"
        );
    }
    assert!(
        !received.contains(&permission["id"].to_string()) || !received.contains("APPROVED"),
        "{received}"
    );
}

/// Starts `watch` with its default delay of answers.
fn with_undo(daemon: &Daemon, rows: u16, columns: u16) -> Terminal {
    started(daemon, &["watch"], TOKEN, rows, columns)
}

#[test]
fn watch_undoes_an_answer_by_key() {
    let daemon = Daemon::plain();
    let permission = daemon.ask("mkdir out");
    let mut terminal = with_undo(&daemon, 24, 80);
    terminal.shows("1 pending question");
    terminal.send("u");
    terminal.shows("no answer to undo");
    terminal.send(DOWN);
    terminal.shows("reason");
    terminal.send("y");
    let screen = terminal.shows("1: APPROVED in 3 s; press u to undo");
    assert!(screen.contains("1 pending question"), "{screen}");
    // It is displayed in the list, too.
    terminal.until(|screen| screen.matches("APPROVED in ").count() == 2);
    terminal.send("u");
    terminal.shows("answer to 1 undone; the question is pending again");
    terminal.until(|screen| !screen.contains("APPROVED in "));
    std::thread::sleep(std::time::Duration::from_millis(3300));
    assert_eq!(
        daemon.record(&permission["id"])["user_response"],
        Value::Null
    );
    // Without the key, the answer takes effect.
    terminal.send(DOWN);
    terminal.shows("reason");
    terminal.send("n");
    terminal.shows("DENIED in ");
    assert_eq!(daemon.answered(&permission["id"]), "DENIED");
    terminal.shows("1: DENIED, by operator");
    terminal.send("u");
    terminal.shows("no answer to undo");
}

#[test]
fn watch_shows_and_undoes_the_answer_of_another_window() {
    let daemon = Daemon::plain();
    let permission = daemon.ask("mkdir out");
    let body = json!({"id": permission["id"], "response": "APPROVED", "delay_ms": 10_000});
    let first = with_undo(&daemon, 40, 120);
    first.shows("1 pending question");
    assert_eq!(daemon.respond_with(&body).status, 202);
    first.shows("APPROVED in ");
    // A window that connects later shows it, too.
    let mut second = with_undo(&daemon, 40, 120);
    second.shows("APPROVED in ");
    second.send(DOWN);
    second.shows("reason");
    second.send("n");
    second.shows("1 is already answered: APPROVED in ");
    second.send("u");
    second.shows("answer to 1 undone");
    first.until(|screen| !screen.contains("APPROVED in "));
    assert_eq!(
        daemon.record(&permission["id"])["user_response"],
        Value::Null
    );
}

#[test]
fn watch_confirms_always_for_a_deletion() {
    let daemon = Daemon::plain();
    let body = json!({
        "command": "rm -r build", "session_id": "s", "cwd": "/srv/x", "agent": "codex",
    });
    let permission = daemon.post(&body).ok();
    let mut terminal = start_watch(&daemon, TOKEN);
    terminal.shows("1 pending question");
    terminal.send(DOWN);
    terminal.shows("reason");
    for (typed, shown) in [("\r", ""), ("ye\r", ""), ("ay\r", ""), ("yes", "yes")] {
        terminal.send("a");
        terminal.shows("always allow this deletion? type yes");
        terminal.send(typed);
        if shown.is_empty() {
            terminal.shows("was not answered");
        } else {
            terminal.shows("then Enter: yes");
            terminal.send(ESCAPE);
            terminal.shows("was not answered");
        }
        assert_eq!(daemon.pending().len(), 1);
    }
    terminal.send("a");
    terminal.shows("always allow this deletion? type yes");
    terminal.send("yes\r");
    assert_eq!(daemon.answered(&permission["id"]), "APPROVED");
    terminal.shows("APPROVED by operator, always: rm -r build");

    // The confirmation of a question that has vanished answers no other question.
    let first = daemon.ask("rm -r first");
    terminal.shows("1 pending question");
    terminal.send(DOWN);
    terminal.shows("reason");
    terminal.send("ayes");
    terminal.shows("then Enter: yes");
    let second = daemon.ask("rm -r second");
    daemon.respond(&first["id"], "DENIED").ok();
    terminal.shows("DENIED by operator: rm -r first");
    terminal.send("\r");
    terminal.shows("was not answered");
    assert_eq!(daemon.record(&second["id"])["user_response"], Value::Null);
}

#[test]
fn watch_lists_and_revokes_remembered_approvals() {
    let daemon = Daemon::plain();
    let mut terminal = sized(&daemon, TOKEN, 24, 80);
    terminal.send("r");
    terminal.shows("no remembered approvals");
    terminal.send("x");
    terminal.shows("select an approval first");
    for (command, remember) in [("mkdir one", "always"), ("mkdir two", "session")] {
        let body = json!({
            "command": command, "session_id": "s-1", "cwd": "/srv/x", "agent": "codex",
        });
        let id = &daemon.post(&body).ok()["id"];
        let answer = json!({"id": id, "response": "APPROVED", "remember": remember});
        daemon.respond_with(&answer).ok();
    }
    let screen = terminal.shows("2 remembered approvals");
    for part in ["2 CREATE session", "1 CREATE always"] {
        assert!(screen.contains(part), "`{part}` in {screen}");
    }
    terminal.send(DOWN);
    let screen = terminal.shows("given");
    for part in [
        "▶     2",
        "for the session",
        "scope      applies to codex in /srv/x",
        "mkdir two",
        "/srv/x",
        "codex",
        "s-1",
        "by operator",
    ] {
        assert!(screen.contains(part), "`{part}` in {screen}");
    }
    // Keys that answer questions do nothing here.
    daemon.ask("mkdir pending");
    terminal.send("yna");
    terminal.send(DOWN);
    terminal.shows("▶     1");
    terminal.send("x");
    terminal.shows("press x again to revoke approval 1");
    // Another key cancels the revocation.
    terminal.send("k");
    terminal.shows("▶     2");
    terminal.send("j");
    terminal.shows("▶     1");
    terminal.send("x");
    terminal.shows("press x again to revoke approval 1");
    assert_eq!(daemon.get("/api/hooks/remembered").ok()["total"], 2);
    terminal.send("x");
    terminal.shows("approval 1 revoked");
    terminal.shows("1 remembered approval ");
    let all = daemon.get("/api/hooks/remembered?all=true").ok();
    assert_eq!(all["remembered"][0]["revoked_by"], "operator");
    assert_eq!(all["remembered"][1].get("revoked_by"), None);
    terminal.send("h");
    terminal.shows("2 remembered approvals, with revoked ones");
    terminal.shows("1 CREATE revoked");
    // The events tell how long each approval lasts.
    terminal.send("r");
    terminal.shows("1 pending question");
    terminal.shows("APPROVED by operator, for the session: mkdir two");
    terminal.shows("APPROVED by operator, always (revoked): mkdir one");
    assert_eq!(daemon.pending().len(), 1);
}

#[test]
fn watch_revokes_nothing_without_the_token() {
    let daemon = Daemon::plain();
    let id = &daemon.ask("mkdir one")["id"];
    let answer = json!({"id": id, "response": "APPROVED", "remember": "always"});
    daemon.respond_with(&answer).ok();
    let mut terminal = start_watch(&daemon, "");
    terminal.send("r");
    terminal.shows("1 remembered approval ");
    terminal.send(DOWN);
    terminal.shows("given");
    terminal.send("x");
    terminal.shows("revoking needs the operator's token");
    terminal.send("twrong-operators-token\r");
    terminal.until(|screen| !screen.contains('•'));
    terminal.send("xx");
    terminal.shows("approval 1 not revoked: wrong operator's token");
    assert_eq!(daemon.get("/api/hooks/remembered").ok()["total"], 1);
}

/// Returns the number of requests that read remembered approvals.
fn remembered_reads(daemon: &Daemon) -> u64 {
    let metrics = daemon.get("/metrics").text();
    let mut lines = metrics.lines().filter(|line| {
        line.starts_with("hooks_guard_http_requests_total{")
            && line.contains("path=\"/api/hooks/remembered\"")
    });
    let line = lines.next().unwrap_or_else(|| panic!("{metrics}"));
    assert_eq!(lines.next(), None);
    line.rsplit(' ').next().unwrap().parse().unwrap()
}

#[test]
fn watch_reads_remembered_approvals_once_for_a_burst_of_events() {
    let daemon = Daemon::plain();
    let mut terminal = start_watch(&daemon, TOKEN);
    terminal.send("r");
    terminal.shows("no remembered approvals");
    let asked: Vec<_> = (0..30)
        .map(|number| daemon.ask(&format!("mkdir d{number}")))
        .collect();
    let (before, start) = (remembered_reads(&daemon), Instant::now());
    for question in &asked {
        let answer = json!({"id": question["id"], "response": "APPROVED", "remember": "always"});
        daemon.respond_with(&answer).ok();
    }
    terminal.shows("30 remembered approvals");
    let reads = remembered_reads(&daemon) - before;
    // One read for the connection, one after the last event, and one per 300 ms between them.
    let most = 2 + start.elapsed().as_millis() / 300;
    assert!(u128::from(reads) <= most, "{reads} reads, at most {most}");
}
