//! Tests that errors of TOML and JSON show the file, the line, the column and the line with carets,
//! with line breaks and not with a literal `\n`.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

use crate::check::program;

/// A home with a configuration's directory.
struct Home {
    directory: TempDir,
}

impl Home {
    fn new() -> Self {
        let home = Self {
            directory: tempfile::tempdir().unwrap(),
        };
        fs::create_dir_all(home.config("")).unwrap();
        home
    }

    fn config(&self, name: &str) -> PathBuf {
        self.directory.path().join(".config/hooks-guard").join(name)
    }

    fn program(&self) -> Command {
        let mut program = program();
        program
            .env("HOME", self.directory.path())
            .env_remove("XDG_CONFIG_HOME")
            .env_remove("XDG_DATA_HOME")
            .env_remove("HOOKS_GUARD_CONFIG")
            .current_dir(self.directory.path());
        program
    }

    /// Runs a command that fails; returns its errors.
    #[track_caller]
    fn fails(&self, arguments: &[&str]) -> String {
        let output = self.program().args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(3), "{output:?}");
        errors(&output)
    }
}

#[track_caller]
fn errors(output: &Output) -> String {
    let text = String::from_utf8(output.stderr.clone()).unwrap();
    assert!(!text.contains(r"\n"), "a literal line break: {text}");
    text
}

#[test]
fn an_invalid_configuration_shows_its_line() {
    let home = Home::new();
    let file = home.config("config.toml");
    for (text, place, line, carets, message) in [
        (
            "listen = '127.0.0.1:4000'\nauto_alow_read = false\n",
            "2:1",
            "2 | auto_alow_read = false",
            "  | ^^^^^^^^^^^^^^",
            "unknown key `auto_alow_read`; did you mean `auto_allow_read`?",
        ),
        (
            "cleanup = 'admins'\n",
            "1:11",
            "1 | cleanup = 'admins'",
            "  |           ^^^^^^^^",
            "unknown value `admins`; use one of `open`, `operator`, `off`",
        ),
        (
            "enabled = tru\n",
            "1:11",
            "1 | enabled = tru",
            "  |           ^",
            "",
        ),
        (
            "[semantic]\nurl = 'x'\nmodel = 'm'\ntimeout_ms = 9000\n",
            "4:14",
            "4 | timeout_ms = 9000",
            "  |              ^^^^",
            "`semantic.timeout_ms` is 9000; use 1 to 2000 milliseconds",
        ),
        (
            "\nretention_days = 0\n",
            "2:18",
            "2 | retention_days = 0",
            "  |                  ^",
            "`retention_days` is 0; use 1 to 36500 days",
        ),
    ] {
        fs::write(&file, text).unwrap();
        for command in [["check", "ls"].as_slice(), &["serve"], &["test-rules"]] {
            let shown = home.fails(command);
            let place = format!("--> {}:{place}", file.display());
            for part in [&*place, line, carets, message] {
                assert!(shown.contains(part), "`{part}` in {shown}");
            }
        }
    }
}

#[test]
fn every_error_in_a_rules_file_shows_its_line() {
    let home = Home::new();
    let file = home.config("rules.toml");
    fs::write(
        &file,
        "[[rule]]\neffect = 'alow'\nprogramm = 'rm'\n\n[[rule]]\neffect = 'deny'\nsubcommand = 'x'\n",
    )
    .unwrap();
    let shown = home.fails(&["test-rules"]);
    for (place, line) in [
        ("2:10", "2 | effect = 'alow'"),
        ("3:1", "3 | programm = 'rm'"),
        ("5:1", "5 | [[rule]]"),
    ] {
        let place = format!("--> {}:{place}", file.display());
        assert!(shown.contains(&place) && shown.contains(line), "{shown}");
    }
    assert_eq!(shown.matches('^').count(), 6 + 8 + 8, "{shown}");
    // In a reason, the first mistake has one line.
    let output = home.program().args(["check", "--json", "ls"]).output();
    let reason = String::from_utf8(output.unwrap().stdout).unwrap();
    let first = format!("{}:2:10: `effect` is `alow`", file.display());
    assert!(reason.contains(&first), "{reason}");
    assert!(reason.contains("2 more mistakes"), "{reason}");
    assert!(!reason.contains(r"\n"), "{reason}");
    fs::write(&file, "[[rule]\n").unwrap();
    let shown = home.fails(&["test-rules"]);
    assert!(shown.contains("1 | [[rule]\n"), "{shown}");
}

#[test]
fn every_invalid_test_of_a_rule_is_reported_at_its_line() {
    let home = Home::new();
    let file = home.config("rules.toml");
    let tests = [
        ("command = 'a'\nexpect = 'alow'", 2, "`expect` is `alow`"),
        ("command = 'a'", 0, "the test has no `expect`"),
        (
            "comand = 'a'\nexpect = 'ask'",
            1,
            "unknown key `comand` in a test; did you mean `command`?",
        ),
        (
            "command = 'a'\nexpct = 'ask'",
            2,
            "unknown key `expct` in a test; did you mean `expect`?",
        ),
        (
            "command = 'a'\ntool = 'Write'\nexpect = 'ask'",
            2,
            "the test has a `command` and a `tool`; split it into two tests",
        ),
        (
            "tool = 'Write'\nexpect = 'ask'",
            0,
            "the test has a `tool` but no `path`",
        ),
        (
            "path = 'a'\nexpect = 'ask'",
            0,
            "the test has a `path` but no `tool`",
        ),
        (
            "host = 'a.example'\npath = 'a'\nexpect = 'ask'",
            2,
            "the test has a `host` and a `path`",
        ),
        (
            "mcp = 'github/*'\nexpect = 'ask'",
            1,
            "`github/*` is not a tool of an MCP server",
        ),
        (
            "expect = 'ask'",
            0,
            "the test has no command, tool, host or MCP tool",
        ),
        (
            "command = 3\nexpect = 'ask'",
            1,
            "`command` is not a string",
        ),
    ];
    let mut text = "[[rule]]\neffect = 'deny'\nprogram = 'x'\n".to_owned();
    let mut wanted = Vec::new();
    for (test, line, message) in tests {
        let first = text.lines().count() + 1;
        text.push_str(&format!("[[rule.test]]\n{test}\n"));
        wanted.push((first + line, message));
    }
    fs::write(&file, &text).unwrap();
    // Another file of the same run is tested in any case.
    let project = "[[rule]]\neffect = 'deny'\nprogram = 'y'\n[[rule.test]]\ncommand = 'y'\n\
                   expect = 'deny'\n";
    fs::write(home.directory.path().join(".hooks-guard.toml"), project).unwrap();
    let output = home.program().arg("test-rules").output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let shown = errors(&output);
    for (line, message) in &wanted {
        let place = format!("--> {}:{line}:", file.display());
        let (start, _) = shown
            .split_once(&place)
            .unwrap_or_else(|| panic!("{line}: {message}\n{shown}"));
        let title = start.lines().rfind(|line| line.starts_with("error: "));
        assert!(
            title.is_some_and(|title| title.contains(message)),
            "{message}\n{shown}"
        );
    }
    assert_eq!(shown.matches("error: ").count(), wanted.len(), "{shown}");
    let tested = String::from_utf8(output.stdout).unwrap();
    assert!(
        tested.contains(".hooks-guard.toml:4: `y` → deny"),
        "{tested}"
    );
    assert!(tested.ends_with("1 passed, 0 failed\n"), "{tested}");
}

#[test]
fn doctor_shows_the_invalid_line_of_a_file() {
    let home = Home::new();
    let shown = |arguments: &[&str]| {
        let output = home.program().args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    fs::write(home.config("rules.toml"), "[[rule]]\neffect = 'alow'\n").unwrap();
    let text = shown(&["doctor"]);
    let lines = "\n     | effect = 'alow'\n     |          ^^^^^^\n     → correct the file";
    assert!(text.contains(lines), "{text}");
    assert!(
        text.contains("rules.toml:2:10: `effect` is `alow`"),
        "{text}"
    );
    fs::write(
        home.config("config.toml"),
        "enabled = true\nauto_alow_read = 1\n",
    )
    .unwrap();
    let text = shown(&["doctor"]);
    let lines = "\n     | auto_alow_read = 1\n     | ^^^^^^^^^^^^^^\n     → correct the file";
    assert!(text.contains(lines), "{text}");
    let json: serde_json::Value = serde_json::from_str(&shown(&["doctor", "--json"])).unwrap();
    let check = json
        .as_array()
        .unwrap()
        .iter()
        .find(|check| check["name"] == "configuration")
        .unwrap();
    assert_eq!(
        check["excerpt"],
        serde_json::json!(["auto_alow_read = 1", "^^^^^^^^^^^^^^"])
    );
    // The list of trusted files.
    fs::remove_file(home.config("config.toml")).unwrap();
    fs::write(home.config("rules.toml"), "").unwrap();
    fs::write(home.config("trusted.json"), "{\n  \"trusted\": [,]\n}").unwrap();
    let text = shown(&["doctor"]);
    assert!(
        text.contains("\n     |   \"trusted\": [,]\n     |"),
        "{text}"
    );
}

#[test]
fn doctor_reports_a_configuration_with_which_hooks_refuse_to_decide() {
    let home = Home::new();
    let elsewhere = tempfile::tempdir().unwrap();
    fs::write(
        home.config("config.toml"),
        "[semantic]\nurl = 'http://llm.example/v1'\nmodel = 'm'\n",
    )
    .unwrap();
    let mut doctor = home.program();
    let output = doctor.arg("doctor").current_dir(elsewhere.path()).output();
    let output = output.unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let reason = "hooks refuse to decide: `http` is allowed only for this machine";
    assert!(text.contains(reason), "{text}");
}

#[test]
fn an_invalid_list_of_trusted_files_shows_its_line() {
    let home = Home::new();
    let list = home.program().args(["trust", "--list"]).output().unwrap();
    assert!(String::from_utf8_lossy(&list.stdout).contains("no trusted files"));
    // Its place is that of the first save.
    fs::write(home.directory.path().join(".hooks-guard.toml"), "").unwrap();
    assert!(home.program().arg("trust").status().unwrap().success());
    let file = fs::read_dir(home.config(""))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .next()
        .unwrap();
    fs::write(&file, "{\n  \"trusted\": [,]\n}").unwrap();
    let shown = home.fails(&["trust", "--list"]);
    let place = format!("--> {}:2:", file.display());
    for part in [
        &*place,
        "2 |   \"trusted\": [,]",
        "^",
        "trust the files again",
    ] {
        assert!(shown.contains(part), "`{part}` in {shown}");
    }
}

#[test]
fn an_invalid_json_line_is_reported_with_its_column() {
    let mut child = program()
        .args(["check", "--json", "--tables-only"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = "{\"command\": \"ls\" \"x\"}\n{\"command\": 3}\n{ ls; }\n{\"command\": \"ls\"}\n";
    let mut input = child.stdin.take().unwrap();
    input.write_all(lines.as_bytes()).unwrap();
    drop(input);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stdout).unwrap();
    let rows: Vec<serde_json::Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let reason = |at: usize| rows[at]["reasoning"].as_str().unwrap();
    assert!(reason(0).starts_with("invalid JSON: column 18: "), "{text}");
    assert!(reason(1).starts_with("invalid JSON: column 13: "), "{text}");
    for at in [0, 1] {
        assert_eq!(rows[at]["decision"], "REQUIRES_CONFIRMATION");
    }
    assert_eq!(rows[2]["decision"], "AUTO_ALLOWED", "a group: {text}");
    assert_eq!(rows[3]["decision"], "AUTO_ALLOWED");
}

#[test]
fn an_input_error_of_a_hook_has_its_position_on_one_line() {
    let home = Home::new();
    for agent in [
        "claude-code",
        "codex",
        "gemini",
        "cursor",
        "copilot",
        "opencode",
    ] {
        let mut child = home
            .program()
            .args(["hook", agent])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        input
            .write_all(b"{\"session_id\": \"s\",\n \"tool_name\": }")
            .unwrap();
        drop(input);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{agent}");
        let shown = errors(&output);
        let wanted = "the hook's input is not valid JSON: line 2, column 15: expected value; send one JSON object\n";
        assert_eq!(shown, wanted, "{agent}");
    }
}
