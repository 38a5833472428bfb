//! Tests the changes of a file tool in `approve` and `watch`.

use serde_json::{Value, json};

use crate::cli::Terminal;
use crate::support::client::Request;
use crate::support::daemon::{Daemon, TOKEN};

const DOWN: &str = "\u{1b}[B";
const CHOICES: &str = "[n] deny  [Enter] later: ";

fn ask(daemon: &Daemon, diff: &str) -> Value {
    let changes = json!({"files": [{"path": "src/\u{202e}a.rs", "kind": "edit", "diff": diff,
        "notes": ["a note"], "omitted_lines": 1_203}]});
    let body = json!({
        "command": "Edit src/a.rs", "agent": "codex", "session_id": "s", "cwd": "/srv/x",
        "file": {"tool": "Edit", "effect": "UPDATE", "paths": ["src/a.rs"]},
        "changes": changes,
    });
    daemon.post(&body).ok()["id"].clone()
}

fn long() -> String {
    let lines: String = (1..=100).map(|line| format!("+line-{line}\n")).collect();
    format!("@@ -0,0 +1,100 @@\n{lines}")
}

fn start(daemon: &Daemon, command: &str, prompt: &str, colors: bool) -> Terminal {
    let variables: &[(&str, &str)] = if colors { &[] } else { &[("NO_COLOR", "1")] };
    let mut terminal = Terminal::in_environment(daemon, &[command], 40, 120, variables);
    terminal.shows(prompt);
    terminal.send(&format!("{TOKEN}\n"));
    terminal
}

#[test]
fn approve_shows_a_short_diff_whole() {
    for colors in [true, false] {
        let daemon = Daemon::plain();
        let id = ask(&daemon, "@@ -9,2 +9,2 @@\n same\n-old\u{1b}[2J\n+new\n");
        let mut terminal = start(&daemon, "approve", "operator's token: ", colors);
        let screen = terminal.shows(CHOICES);
        for part in [
            "edits src/\\u{202e}a.rs  +1 -1",
            "a note",
            "@@ -9,2 +9,2 @@",
            "   9    9  same",
            "  10      -old\\u{1b}[2J",
            "       10 +new",
            "… 1203 more lines",
        ] {
            assert!(screen.contains(part), "`{part}` in {screen}");
        }
        assert!(!screen.contains("[d]"), "{screen}");
        let bytes = String::from_utf8(terminal.bytes()).unwrap();
        assert_eq!(bytes.contains("\u{1b}["), colors, "{bytes:?}");
        terminal.send("y\n");
        assert_eq!(terminal.end(), 0);
        assert_eq!(daemon.record(&id)["user_response"], "APPROVED");
    }
}

#[test]
fn approve_shows_a_screen_of_a_long_diff_and_all_of_it_on_request() {
    let daemon = Daemon::plain();
    let id = ask(&daemon, &long());
    let mut terminal = start(&daemon, "approve", "operator's token: ", true);
    let screen = terminal.shows(CHOICES);
    assert!(screen.contains("[d] all lines"), "{screen}");
    assert!(screen.contains("more lines; d shows all"), "{screen}");
    assert!(
        screen.contains("Edit src/a.rs"),
        "the question stays on the screen: {screen}"
    );
    assert!(!screen.contains("+line-90"), "{screen}");
    terminal.send("d\n");
    let screen = terminal.shows("+line-100");
    assert!(screen.contains("… 1203 more lines"), "{screen}");
    terminal.send("n\n");
    assert_eq!(terminal.end(), 0);
    assert_eq!(daemon.record(&id)["user_response"], "DENIED");
}

#[test]
fn watch_shows_the_changes_of_the_selected_question() {
    let daemon = Daemon::plain();
    let mut terminal = start(
        &daemon,
        "watch",
        "operator's token (Enter for view only): ",
        true,
    );
    terminal.shows(" connected");
    let id = ask(&daemon, &long());
    terminal.shows("1 pending question");
    terminal.send(DOWN);
    terminal.shows("more lines (PgDn)");
    for _ in 0..10 {
        terminal.send(" ");
    }
    let screen = terminal.shows("more lines; d shows all");
    assert!(screen.contains("+line-1"), "{screen}");
    terminal.send("d");
    // All lines have to be seen now.
    terminal.send("y");
    terminal.shows("scroll to the end before approving");
    for _ in 0..50 {
        terminal.send(" ");
    }
    terminal.shows("+line-100");
    terminal.shows("… 1203 more lines");
    terminal.send("y");
    terminal.shows("no pending questions");
    assert_eq!(daemon.answered(&id), "APPROVED");
}

#[test]
fn watch_shows_changes_that_arrive_after_the_selection() {
    let daemon = Daemon::plain();
    let body = json!({
        "command": "Write a", "agent": "codex", "cwd": "/srv/x",
        "file": {"tool": "Write", "effect": "CREATE", "paths": ["a"]},
    });
    let permission = daemon.post(&body).ok();
    let mut terminal = start(
        &daemon,
        "watch",
        "operator's token (Enter for view only): ",
        true,
    );
    terminal.shows("1 pending question");
    terminal.send(DOWN);
    terminal.shows("reason");
    let changes = json!({"files": [{"path": "a", "kind": "create", "diff": "+late line\n"}]});
    let body = json!({"secret": permission["secret"], "changes": changes});
    let target = format!("/api/hooks/decisions/{}/changes", permission["id"]);
    daemon.send(&Request::new("POST", &target).json(&body)).ok();
    for _ in 0..5 {
        terminal.send(" ");
    }
    terminal.until(|screen| screen.contains("+late line") || screen.contains("more lines (PgDn)"));
    for _ in 0..10 {
        terminal.send(" ");
    }
    terminal.shows("+late line");
}

#[test]
fn watch_without_the_token_shows_only_counts() {
    let daemon = Daemon::plain();
    ask(&daemon, "+secret line\n");
    let mut terminal = Terminal::start(&daemon, &["watch"]);
    terminal.shows("operator's token (Enter for view only): ");
    terminal.send("\n");
    terminal.shows("1 pending question");
    terminal.send(DOWN);
    for _ in 0..10 {
        terminal.send(" ");
    }
    let screen = terminal.shows("changes: 1 file, +1 -0; press t");
    assert!(!screen.contains("secret line"), "{screen}");
    terminal.send("t");
    terminal.shows("operator's token, then Enter");
    terminal.send(&format!("{TOKEN}\r"));
    for _ in 0..10 {
        terminal.send(" ");
    }
    terminal.shows("+secret line");
}
