//! Tests `rules suggest --write` in a terminal.

use std::fs;

use serde_json::json;

use crate::cli::{Terminal, client_config};
use crate::support::daemon::Daemon;

#[test]
fn write_asks_on_the_terminal() {
    let daemon = Daemon::plain();
    for session in ["a", "b", "c"] {
        let body = json!({"command": "cargo test", "session_id": session, "cwd": "/srv/x"});
        let asked = daemon.post(&body).ok();
        daemon.respond(&asked["id"], "APPROVED").ok();
    }
    let rules = client_config(&daemon).with_file_name("rules.toml");
    let trail = daemon.setup().database_file();
    let arguments = ["rules", "suggest", "--database", trail.to_str().unwrap()];
    let terminal = Terminal::start(&daemon, &arguments);
    assert_eq!(terminal.end(), 0, "{}", terminal.screen());
    let screen = terminal.shows("program = \"cargo\"");
    assert!(
        screen.starts_with("# 1 suggested rule from 3 approvals; review them"),
        "{screen}"
    );
    assert!(!rules.exists());
    let arguments = [&arguments[..], &["--write"]].concat();
    for (answer, shown) in [("\n", "nothing written"), ("n\n", "nothing written")] {
        let mut terminal = Terminal::start(&daemon, &arguments);
        let screen = terminal.shows("append 1 rule to ");
        assert!(screen.contains("subcommand = \"test\""), "{screen}");
        terminal.send(answer);
        terminal.shows(shown);
        assert_eq!(terminal.end(), 0);
        assert!(!rules.exists());
    }
    let mut terminal = Terminal::start(&daemon, &arguments);
    terminal.shows("append 1 rule to ");
    terminal.send("y\n");
    terminal.shows("appended 1 rule to ");
    assert_eq!(terminal.end(), 0);
    let text = fs::read_to_string(rules).unwrap();
    assert!(
        text.starts_with("# Suggested from 3 approvals on "),
        "{text}"
    );
}
