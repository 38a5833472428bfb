//! Tests that `install` and `rules preset` write presets of rules.

use std::process::Output;

use serde_json::json;

use super::{Home, decision_of, pre_tool_use};

const OWN: &str = "# mine\n[[rule]]\neffect = \"deny\"\nprogram = \"docker\"\nreason = \"no\"\n";

/// Runs the program; returns its standard output.
fn run(home: &Home, arguments: &[&str]) -> String {
    let output = output(home, arguments);
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("text")
}

fn output(home: &Home, arguments: &[&str]) -> Output {
    home.command().args(arguments).output().expect("it runs")
}

fn decision(home: &Home, command: &str) -> String {
    let mut input = pre_tool_use(command, "1");
    input["cwd"] = json!(home.path().join("work/project"));
    decision_of(&home.hook("claude-code", &[], &input)).0
}

#[test]
fn a_preset_is_written_replaced_and_removed() {
    let home = Home::new();
    home.config("");
    std::fs::create_dir_all(home.path().join("work/project")).expect("a folder");
    home.rules(OWN);
    assert_eq!(decision(&home, "cargo test"), "ask");
    let shown = run(&home, &["rules", "preset", "development", "--dry-run"]);
    assert!(shown.contains("+program = \"cargo\""), "{shown}");
    assert!(shown.contains("would change"), "{shown}");
    assert_eq!(
        std::fs::read_to_string(home.rules_file()).expect("text"),
        OWN
    );

    let shown = run(&home, &["rules", "preset", "development"]);
    assert!(shown.contains("backup of the previous content"), "{shown}");
    assert!(shown.contains("allows edits in the project"), "{shown}");
    let text = std::fs::read_to_string(home.rules_file()).expect("text");
    assert!(text.starts_with(OWN), "{text}");
    let backup = home
        .path()
        .join(".config/hooks-guard/rules.toml.hooks-guard.bak");
    assert_eq!(std::fs::read_to_string(backup).expect("text"), OWN);
    assert_eq!(decision(&home, "cargo test"), "allow");
    assert_eq!(decision(&home, "cargo test; rm a"), "ask");
    assert_eq!(decision(&home, "docker ps"), "deny");
    let tested = run(&home, &["test-rules"]);
    assert!(tested.contains(" 0 failed"), "{tested}");
    let again = run(&home, &["rules", "preset", "development"]);
    assert!(again.contains("already up to date"), "{again}");
    assert!(run(&home, &["rules", "preset"]).ends_with("development\n"));

    run(&home, &["rules", "preset", "strict"]);
    assert_eq!(decision(&home, "ls"), "ask");
    assert_eq!(decision(&home, "cargo test"), "ask");
    run(&home, &["rules", "preset", "read-only"]);
    assert_eq!(decision(&home, "ls"), "allow");
    assert_eq!(decision(&home, "rm a"), "deny");
    run(&home, &["rules", "preset", "none"]);
    assert_eq!(
        std::fs::read_to_string(home.rules_file()).expect("text"),
        OWN
    );
    let none = run(&home, &["rules", "preset", "none"]);
    assert!(none.contains("already up to date"), "{none}");
}

#[test]
fn a_rules_file_with_mistakes_is_left_unchanged() {
    let home = Home::new();
    home.config("");
    for (text, message) in [
        ("[[rule]]\neffect = 'sometimes'\n", "sometimes"),
        (
            "# >>> hooks-guard preset: strict >>>\n",
            "line 1: the marks of a preset",
        ),
    ] {
        home.rules(text);
        let output = output(&home, &["rules", "preset", "development"]);
        assert_eq!(output.status.code(), Some(3), "{output:?}");
        let why = String::from_utf8_lossy(&output.stderr);
        assert!(why.contains(message), "{why}");
        assert_eq!(
            std::fs::read_to_string(home.rules_file()).expect("text"),
            text
        );
    }
}

#[test]
fn install_writes_the_named_preset_and_uninstall_keeps_it() {
    let home = Home::new();
    let shown = run(&home, &["install", "claude-code"]);
    let line = "no preset of rules written; run `hooks-guard rules preset NAME` with development, \
                read-only, strict";
    assert!(shown.contains(line), "{shown}");
    assert!(!home.rules_file().exists());
    let shown = run(
        &home,
        &["install", "claude-code", "--preset", "strict", "--dry-run"],
    );
    assert!(shown.contains("+program = \"*\""), "{shown}");
    assert!(!home.rules_file().exists());
    run(
        &home,
        &["install", "claude-code", "--preset", "development"],
    );
    let text = std::fs::read_to_string(home.rules_file()).expect("text");
    let shown = run(&home, &["install", "claude-code"]);
    assert!(shown.contains("rules.toml`: development"), "{shown}");
    let shown = run(&home, &["install", "claude-code", "--uninstall"]);
    assert!(shown.contains("your rules in `"), "{shown}");
    assert_eq!(
        std::fs::read_to_string(home.rules_file()).expect("text"),
        text
    );
    run(&home, &["install", "claude-code", "--preset", "none"]);
    assert!(!home.rules_file().exists());
}

/// A user tries a mode before choosing it.
#[test]
fn check_and_explain_decide_in_a_mode() {
    let home = Home::new();
    let project = home.path().join("work/project");
    std::fs::create_dir_all(&project).expect("a folder");
    let check = |arguments: &[&str]| {
        let mut command = home.command();
        let output = command.current_dir(&project).args(arguments).output();
        String::from_utf8(output.expect("it runs").stdout).expect("text")
    };
    let edits = ["check", "--mode", "acceptEdits", "mkdir a", "rm a"];
    let shown = check(&edits);
    assert!(shown.contains("LEFT_TO_AGENT"), "{shown}");
    assert!(shown.contains("REQUIRES_CONFIRMATION"), "{shown}");
    let json = check(&["check", "--json", "--mode", "acceptEdits", "mkdir a"]);
    assert!(json.contains("\"left_to_agent\":true"), "{json}");
    assert!(!check(&["check", "mkdir a"]).contains("LEFT_TO_AGENT"));
    for (agent, left) in [("claude-code", true), ("codex", false)] {
        let shown = check(&["check", "--mode", "auto", "--agent", agent, "mkdir a"]);
        assert_eq!(shown.contains("LEFT_TO_AGENT"), left, "{shown}");
    }
    let shown = check(&["explain", "--mode", "acceptEdits", "mkdir a"]);
    assert!(
        shown.contains("decision LEFT_TO_AGENT: left to the agent's mode"),
        "{shown}"
    );
}
