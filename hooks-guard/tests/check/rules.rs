//! Tests that `check` and `explain` decide as the service would, with rules and configuration.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use crate::check::{err, out, program};

/// A user with a home directory who works in a project.
struct User {
    home: TempDir,
}

impl User {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir_all(home.path().join(".config/hooks-guard")).unwrap();
        fs::create_dir_all(home.path().join("project/sub")).unwrap();
        Self { home }
    }

    fn with(self, file: &str, text: &str) -> Self {
        fs::write(self.home.path().join(file), text).unwrap();
        self
    }

    fn rules(self, text: &str) -> Self {
        self.with(".config/hooks-guard/rules.toml", text)
    }

    fn config(self, text: &str) -> Self {
        self.with(".config/hooks-guard/config.toml", text)
    }

    fn run(&self, arguments: &[&str]) -> Command {
        let project = self.home.path().join("project/sub");
        let mut command = program();
        command
            .args(arguments)
            .env("HOME", self.home.path())
            .current_dir(project);
        command
    }

    /// Returns the row of a command, and the exit status.
    fn check(&self, options: &[&str], command: &str) -> (Value, i32) {
        let arguments = [&["check", "--json"], options, &[command]].concat();
        let output = self.run(&arguments).output().unwrap();
        assert_eq!(err(&output), "", "{command}");
        let row = serde_json::from_str(out(&output)).unwrap();
        (row, output.status.code().unwrap())
    }
}

const RULES: &str = r#"
[[rule]]
effect = "allow"
program = "mkdir"
reason = "folders are cheap"

[[rule]]
effect = "deny"
program = "terraform"
subcommand = "apply"
reason = "only the pipeline applies"

[[rule]]
effect = "ask"
program = "ls"
"#;

#[test]
fn check_applies_the_rules_of_the_user() {
    let user = User::new().rules(RULES);
    let (row, status) = user.check(&[], "mkdir build");
    assert_eq!(row["decision"], "AUTO_ALLOWED", "{row}");
    assert_eq!(row["classification"], "CREATE");
    assert_eq!(row["method"], "pattern_match");
    assert!(
        row["rule"].as_str().unwrap().contains("rules.toml"),
        "{row}"
    );
    assert!(
        row["reasoning"]
            .as_str()
            .unwrap()
            .contains("folders are cheap")
    );
    assert!(row.get("denied").is_none(), "{row}");
    assert_eq!(status, 0);

    let (row, status) = user.check(&[], "terraform apply");
    assert_eq!(row["decision"], "REQUIRES_CONFIRMATION", "{row}");
    assert_eq!(row["denied"], true);
    assert!(
        row["rule"].as_str().unwrap().contains("rules.toml"),
        "{row}"
    );
    assert_eq!(status, 1);

    let (row, status) = user.check(&[], "ls");
    assert_eq!(row["decision"], "REQUIRES_CONFIRMATION", "{row}");
    assert_eq!(row["classification"], "READ");
    assert!(
        row["rule"].is_string() && row.get("denied").is_none(),
        "{row}"
    );
    assert_eq!(status, 1);

    let (row, status) = user.check(&[], "cat a.txt");
    assert_eq!(row["decision"], "AUTO_ALLOWED", "{row}");
    assert!(row.get("rule").is_none(), "{row}");
    assert_eq!(status, 0);
}

#[test]
fn tables_only_ignores_rules_and_configuration() {
    let user = User::new()
        .rules(RULES)
        .config("auto_allow_read = false\nenabled = false\n")
        .with(
            "project/.hooks-guard.toml",
            "[[rule]]\neffect = \"deny\"\nprogram = \"pwd\"\n",
        );
    for (command, decision, status) in [
        ("mkdir build", "REQUIRES_CONFIRMATION", 1),
        ("ls", "AUTO_ALLOWED", 0),
        ("pwd", "AUTO_ALLOWED", 0),
        ("terraform apply", "REQUIRES_CONFIRMATION", 1),
    ] {
        let (row, was) = user.check(&["--tables-only"], command);
        assert_eq!(
            (row["decision"].as_str(), was),
            (Some(decision), status),
            "{row}"
        );
        assert!(
            row.get("rule").is_none() && row.get("denied").is_none(),
            "{row}"
        );
    }
}

#[test]
fn rules_of_a_project_apply_inside_the_project_only() {
    let rules = "[[rule]]\neffect = \"deny\"\nprogram = \"make\"\n\n[[rule]]\neffect = \"allow\"\nprogram = \"mkdir\"\n";
    let user = User::new().with("project/.hooks-guard.toml", rules);
    let (row, _) = user.check(&[], "make");
    assert_eq!(row["denied"], true, "{row}");
    // An `allow` rule applies while the user trusts its file.
    let (row, _) = user.check(&[], "mkdir build");
    assert_eq!(row["decision"], "REQUIRES_CONFIRMATION", "{row}");
    let project = user.home.path().join("project");
    let trusted = user.run(&["trust"]).current_dir(project).output().unwrap();
    assert!(trusted.status.success(), "{}", err(&trusted));
    let (row, status) = user.check(&[], "mkdir build");
    assert_eq!(row["decision"], "AUTO_ALLOWED", "{row}");
    assert_eq!(status, 0);
    let elsewhere = user
        .run(&["check", "--json", "make"])
        .current_dir(user.home.path())
        .output()
        .unwrap();
    let row: Value = serde_json::from_str(out(&elsewhere)).unwrap();
    assert!(row.get("denied").is_none(), "{row}");
}

#[test]
fn check_applies_the_configuration() {
    let user = User::new().config("auto_allow_read = false\n");
    let (row, status) = user.check(&[], "ls");
    assert_eq!(row["decision"], "REQUIRES_CONFIRMATION", "{row}");
    assert_eq!(status, 1);
    let user = user.with("other.toml", "require_confirmation_cud = false\n");
    let other = user.home.path().join("other.toml");
    let (row, status) = user.check(&["--config", other.to_str().unwrap()], "mkdir build");
    assert_eq!(row["decision"], "AUTO_ALLOWED", "{row}");
    assert_eq!(status, 0);
    let user = User::new().config("enabled = false\n");
    let (row, status) = user.check(&[], "ls");
    assert!(
        row["reasoning"]
            .as_str()
            .unwrap()
            .contains("`enabled = false`"),
        "{row}"
    );
    assert_eq!(status, 1);
}

#[test]
fn the_guards_own_files_are_protected() {
    let user = User::new();
    let (row, status) = user.check(&[], "cat ~/.config/hooks-guard/rules.toml");
    assert_eq!(row["decision"], "REQUIRES_CONFIRMATION", "{row}");
    assert!(
        row["rule"].as_str().unwrap().starts_with("built in"),
        "{row}"
    );
    assert_eq!(status, 1);
}

#[test]
fn invalid_rules_require_confirmation() {
    let user = User::new().rules("[[rule]]\neffect = \"perhaps\"\n");
    let (row, status) = user.check(&[], "ls");
    assert_eq!(row["decision"], "REQUIRES_CONFIRMATION", "{row}");
    assert_eq!(status, 1);
    let broken = User::new().config("auto_allow_read = maybe\n");
    let output = broken.run(&["check", "ls"]).output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", out(&output));
    assert!(err(&output).contains("config.toml"), "{}", err(&output));
}

#[test]
fn an_empty_or_overlong_command_is_never_allowed() {
    let user = User::new().config("dangerously_skip_confirmations = true\n");
    let long = format!("echo {}", "x".repeat(10_000));
    for command in ["", " ", &long] {
        let (row, status) = user.check(&[], command);
        assert_eq!(row["decision"], "REQUIRES_CONFIRMATION", "{row}");
        assert_eq!((&row["method"], status), (&"fallback".into(), 1));
    }
    let (row, status) = user.check(&[], "mkdir x");
    assert_eq!((&row["decision"], status), (&"AUTO_ALLOWED".into(), 0));
}

/// A shell runs the first line of such a text, and rules see none of its commands.
#[test]
fn a_command_that_no_parser_reads_is_never_allowed() {
    let user = User::new()
        .config("dangerously_skip_confirmations = true\n")
        .rules("[[rule]]\neffect = \"deny\"\nprogram = \"rm\"\n");
    let nested = format!("{}rm x{}", "(".repeat(150), ")".repeat(150));
    for command in ["rm x\nif", "echo x >> ~/.bashrc\nif", &nested] {
        let (row, status) = user.check(&[], command);
        assert_eq!(row["decision"], "REQUIRES_CONFIRMATION", "{row}");
        assert_eq!(status, 1, "{row}");
    }
}

#[test]
fn the_table_shows_denied_for_a_deny_rule() {
    let user = User::new().rules(RULES);
    let output = user.run(&["check", "terraform apply"]).output().unwrap();
    assert!(out(&output).contains(" DENIED "), "{}", out(&output));
}

#[test]
fn check_records_nothing() {
    let user = User::new().rules(RULES);
    user.check(&[], "mkdir build");
    assert!(!Path::new(&user.home.path().join(".local")).exists());
}

#[test]
fn explain_shows_the_deciding_rule() {
    let user = User::new().rules(RULES);
    let last = |arguments: &[&str]| {
        let output = user.run(arguments).output().unwrap();
        let last = out(&output).lines().last().unwrap_or_default().to_owned();
        (last, output.status.code())
    };
    let (line, status) = last(&["explain", "mkdir build"]);
    assert!(
        line.starts_with("decision AUTO_ALLOWED: folders are cheap"),
        "{line}"
    );
    assert_eq!(status, Some(0));
    let (line, status) = last(&["explain", "terraform apply"]);
    assert!(
        line.starts_with("decision DENIED: only the pipeline"),
        "{line}"
    );
    assert_eq!(status, Some(1));
    let (line, status) = last(&["explain", "--tables-only", "mkdir build"]);
    assert!(line.trim_start().starts_with("= because: "), "{line}");
    assert_eq!(status, Some(1));
    let (line, status) = last(&["explain", "cat a.txt"]);
    assert!(line.trim_start().starts_with("= because: "), "{line}");
    assert_eq!(status, Some(0));
}

#[test]
fn the_agent_or_an_option_names_the_shells_that_read_a_command() {
    let user = User::new();
    // Shells without `[[` write a file here.
    let command = "[[ a > b ]] && echo later";
    for (options, status) in [
        (&[][..], 1),
        (&["--shell", "bash"], 0),
        (&["--shell", "bash", "--shell", "zsh"], 0),
        (&["--shell", "bash", "--shell", "dash"], 1),
        (&["--shell", "sh", "--tables-only"], 1),
        (&["--shell", "zsh", "--tables-only"], 0),
        (&["--agent", "claude-code"], 0),
        // Its shell is one of its own.
        (&["--agent", "crush"], 1),
    ] {
        let (row, was) = user.check(options, command);
        assert_eq!(was, status, "{options:?}: {row}");
        let options = [&["explain"], options, &[command]].concat();
        let explained = user.run(&options).output().unwrap();
        assert_eq!(explained.status.code(), Some(status), "{options:?}");
    }
    let unknown = user.run(&["check", "--shell", "fsh", "ls"]).output();
    let unknown = unknown.unwrap();
    assert_eq!(unknown.status.code(), Some(2));
    assert!(err(&unknown).contains("`fsh`") || err(&unknown).contains("'fsh'"));
}
