//! Tests `approvals` and `audit show`.

use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use crate::cli::{Terminal, client_config};
use crate::support::daemon::{Daemon, TOKEN};

/// Asks for a command and approves it; returns the id of the decision.
#[track_caller]
fn approve(daemon: &Daemon, command: &str, remember: &str) -> Value {
    let body = json!({
        "command": command, "session_id": "s-1", "cwd": "/srv/app", "agent": "codex",
    });
    daemon.approve(&body, remember)
}

/// Runs a command without a terminal, as a client of the daemon or on its trail.
fn run(daemon: &Daemon, words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_hooks-guard"))
        .args(words)
        .arg("--config")
        .arg(client_config(daemon))
        .arg("--database")
        .arg(daemon.setup().database_file())
        .env("HOME", daemon.setup().home())
        .env_remove("XDG_CONFIG_HOME")
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

#[track_caller]
fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Returns the values that `approvals list --json` prints.
#[track_caller]
fn listed(daemon: &Daemon, options: &[&str]) -> Vec<Value> {
    let words = [&["approvals", "list", "--json"], options].concat();
    let text = stdout(&run(daemon, &words));
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn approvals_are_listed_in_a_table_that_fits_the_terminal() {
    let daemon = Daemon::plain();
    let empty = stdout(&run(&daemon, &["approvals", "list"]));
    assert!(empty.starts_with("no remembered approvals; "), "{empty}");
    approve(
        &daemon,
        "mkdir -p a/rather/long/path/to/wrap/in/the/table",
        "always",
    );
    approve(&daemon, "rm -r build", "session");
    for (columns, variables) in [(80, [].as_slice()), (80, &[("NO_COLOR", "1")])] {
        let words = ["approvals", "list"];
        let terminal = Terminal::in_environment(&daemon, &words, 40, columns, variables);
        let screen = terminal.shows("revoke one with `hooks-guard approvals revoke ID`");
        assert_eq!(terminal.end(), 0);
        for part in [
            "CREATE",
            "DELETE",
            "always",
            "in session",
            "/srv/app",
            "rm -r build",
        ] {
            assert!(screen.contains(part), "`{part}` in {screen}");
        }
        for line in screen.lines() {
            assert!(line.chars().count() <= columns.into(), "{screen}");
        }
        let borders: Vec<_> = screen.lines().filter(|line| line.contains('─')).collect();
        assert_eq!(borders.len(), 3, "{screen}");
        let bytes = String::from_utf8_lossy(&terminal.bytes()).into_owned();
        let has_color = bytes.contains("\u{1b}[38;5;9m");
        assert_eq!(has_color, variables.is_empty(), "{bytes:?}");
    }
}

#[test]
fn approvals_are_revoked_through_the_service() {
    let daemon = Daemon::plain();
    let id = approve(&daemon, "mkdir one", "always");
    approve(&daemon, "mkdir two", "session");
    let active = listed(&daemon, &[]);
    assert_eq!(active.len(), 2);
    assert_eq!(active[0]["decision_id"], id);
    // The token is read from a terminal.
    let output = run(&daemon, &["approvals", "revoke", "1"]);
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    for (token, status) in [("not the operator's token", 3), (TOKEN, 1)] {
        let words = ["approvals", "revoke", "1", "4711"];
        let mut terminal = Terminal::start(&daemon, &words);
        terminal.shows("operator's token: ");
        terminal.send(&format!("{token}\n"));
        assert_eq!(terminal.end(), status, "{}", terminal.screen());
        let revoked = listed(&daemon, &[]).len() == 1;
        assert_eq!(revoked, token == TOKEN);
        if revoked {
            let screen = terminal.shows("1: revoked; `mkdir one` needs approval again");
            assert!(
                screen.contains("4711: unknown or already revoked"),
                "{screen}"
            );
            assert!(!screen.contains(TOKEN), "{screen}");
        }
    }
    let all = listed(&daemon, &["--all"]);
    assert_eq!(all.len(), 2);
    assert_eq!(all[0]["revoked_by"], "operator");
    let text = stdout(&run(&daemon, &["approvals", "list", "--all"]));
    assert!(text.contains("by operator"), "{text}");
    assert!(text.contains("1 of 2 active"), "{text}");
    let body = json!({
        "command": "mkdir one", "session_id": "s-1", "cwd": "/srv/app", "agent": "codex",
    });
    let again = daemon.post(&body).ok();
    assert_eq!(again["decision"], "REQUIRES_CONFIRMATION");
}

#[test]
fn approvals_are_listed_and_revoked_without_a_service() {
    let mut daemon = Daemon::plain();
    approve(&daemon, "mkdir one", "always");
    approve(&daemon, "mkdir two", "always");
    daemon.terminate();
    assert_eq!(listed(&daemon, &[]).len(), 2);
    let output = run(&daemon, &["approvals", "revoke", "2", "2"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(printed, "2: revoked; `mkdir two` needs approval again\n");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        stderr.starts_with("2: unknown or already revoked"),
        "{stderr}"
    );
    let all = listed(&daemon, &["--all"]);
    assert_eq!(all[1]["revoked_by"], "command line");
    assert_eq!(listed(&daemon, &[]), all[..1]);
    // The chain contains the revocation.
    stdout(&run(&daemon, &["audit", "verify"]));
}

#[test]
fn audit_show_prints_how_long_an_approval_lasts() {
    let daemon = Daemon::plain();
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("deploy.sh");
    std::fs::write(&script, "echo one\n").unwrap();
    let show = |id: &Value| stdout(&run(&daemon, &["audit", "show", &id.to_string()]));
    let once = approve(&daemon, "mkdir once", "once");
    let text = show(&once);
    for part in [
        "command     mkdir once",
        "class       CREATE",
        "answer      APPROVED by operator",
        "approval    once; not used yet",
        "session     s-1",
        "directory   /srv/app",
    ] {
        assert!(text.contains(part), "`{part}` in {text}");
    }
    let body = json!({
        "command": "bash deploy.sh", "session_id": "s-1", "cwd": folder.path(), "agent": "codex",
    });
    let id = daemon.post(&body).ok()["id"].clone();
    let answer = json!({"id": id, "response": "APPROVED", "remember": "always"});
    daemon.respond_with(&answer).ok();
    let revoke = "`hooks-guard approvals revoke 1`";
    let active = format!("approval    always; active, revoke it with {revoke}");
    assert!(show(&id).contains(&active), "{}", show(&id));
    std::fs::write(&script, "echo two\n").unwrap();
    let changed = "approval    always; does not apply at present: `deploy.sh` has changed";
    assert!(show(&id).contains(changed), "{}", show(&id));
    let text = stdout(&run(&daemon, &["audit", "show", "--json", &id.to_string()]));
    let record: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(record["command"], "bash deploy.sh");
    assert_eq!(record["approval"]["state"], "changed");
    let mut terminal = Terminal::start(&daemon, &["approvals", "revoke", "1"]);
    terminal.shows("operator's token: ");
    terminal.send(&format!("{TOKEN}\n"));
    assert_eq!(terminal.end(), 0);
    let text = show(&id);
    assert!(text.contains("approval    always; revoked "), "{text}");
    let output = run(&daemon, &["audit", "show", "4711"]);
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(stderr.starts_with("unknown decision 4711; "), "{stderr}");
}
