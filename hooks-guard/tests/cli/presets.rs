//! Tests that `install` offers the presets of rules at a terminal.

use std::path::PathBuf;

use crate::cli::Terminal;
use crate::support::daemon::{Daemon, Setup};

fn rules(daemon: &Daemon) -> PathBuf {
    daemon.setup().folder().join("operator/rules.toml")
}

#[test]
fn install_offers_the_presets_and_writes_the_chosen_one() {
    let daemon = Setup::new().start();
    let install = ["install", "claude-code"];
    let mut terminal = Terminal::start(&daemon, &install);
    let screen = terminal.shows("preset [development]:");
    for text in [
        "allows edits in the project",
        "denies updates, deletions",
        "every command and every change needs approval",
    ] {
        assert!(screen.contains(text), "{screen}");
    }
    terminal.send("none\n");
    assert_eq!(terminal.end(), 0);
    assert!(!rules(&daemon).exists());

    let mut terminal = Terminal::start(&daemon, &install);
    terminal.shows("preset [development]:");
    terminal.send("developement\n");
    terminal.shows("unknown preset `developement`");
    terminal.send("\n");
    terminal.shows("preset `development`:");
    assert_eq!(terminal.end(), 0);
    let text = std::fs::read_to_string(rules(&daemon)).unwrap();
    assert!(
        text.starts_with("# >>> hooks-guard preset: development >>>\n"),
        "{text}"
    );

    let terminal = Terminal::start(&daemon, &install);
    terminal.shows("rules.toml`: development");
    assert_eq!(terminal.end(), 0, "it does not ask again");
}
