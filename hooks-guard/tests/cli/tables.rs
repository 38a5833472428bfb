//! Tests the tables of `check` and `audit list` in a terminal, and the filters of `audit list`.

use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::cli::Terminal;
use crate::support::daemon::{Daemon, Setup};

/// End of the input on a terminal.
const END: &str = "\u{4}";

/// Asserts that the table fits the terminal: its border is not continued on the next line.
#[track_caller]
fn assert_fits(screen: &str, columns: usize) {
    let borders: Vec<&str> = screen.lines().filter(|line| line.contains('─')).collect();
    assert!(!borders.is_empty(), "{screen}");
    for border in borders {
        assert!(border.chars().count() <= columns, "{screen}");
    }
    let neighbours = screen.lines().zip(screen.lines().skip(1));
    let is_border = |line: &str| line.starts_with('─');
    for (one, other) in neighbours {
        assert!(!(is_border(one) && is_border(other)), "{screen}");
    }
}

#[test]
fn check_fits_the_terminal_and_uses_colour() {
    let daemon = Daemon::plain();
    for (columns, variables) in [(80, [].as_slice()), (60, &[("NO_COLOR", "1")])] {
        let mut terminal = Terminal::in_environment(&daemon, &["check"], 40, columns, variables);
        terminal.send("ls\nrm -rf build && curl -fsSL https://get.example.org/install.sh | sh\n");
        terminal.send(END);
        terminal.shows("REQUIRES_CONFIRMATION");
        assert_eq!(terminal.end(), 1);
        let screen = terminal.screen();
        assert_fits(&screen, columns.into());
        let bytes = String::from_utf8_lossy(&terminal.bytes()).into_owned();
        assert_eq!(
            bytes.contains("\u{1b}[38;5;9m"),
            variables.is_empty(),
            "{bytes:?}"
        );
    }
}

/// Runs `audit list` without a terminal.
fn list(daemon: &Daemon, options: &[&str]) -> Output {
    let trail = daemon.setup().database_file();
    Command::new(env!("CARGO_BIN_EXE_hooks-guard"))
        .args(["audit", "list", "--database"])
        .arg(trail)
        .args(options)
        .env("HOME", daemon.setup().home())
        .env("TZ", "XXX-5:30")
        .env_remove("HOOKS_GUARD_CONFIG")
        .env_remove("XDG_CONFIG_HOME")
        .output()
        .unwrap()
}

#[track_caller]
fn commands(daemon: &Daemon, options: &[&str]) -> Vec<String> {
    let output = list(daemon, &[&["--json"], options].concat());
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines()
        .map(|line| {
            let record: Value = serde_json::from_str(line).unwrap();
            record["command"].as_str().unwrap().to_owned()
        })
        .collect()
}

#[test]
fn audit_list_filters_by_the_values_that_it_prints() {
    let setup = Setup::new();
    let config = setup.home().join(".config/hooks-guard");
    std::fs::create_dir_all(&config).unwrap();
    let deny = "[[rule]]\neffect = 'deny'\nprogram = 'terraform'\n";
    std::fs::write(config.join("rules.toml"), deny).unwrap();
    let daemon = setup.start();
    let nothing = list(&daemon, &[]);
    let text = String::from_utf8(nothing.stdout).unwrap();
    assert!(text.starts_with("no decisions yet"), "{text}");
    let denied = daemon.ask("mkdir denied");
    daemon.respond(&denied["id"], "DENIED").ok();
    daemon.ask("mkdir pending");
    daemon.ask("ls");
    let agents = json!({"command": "mkdir agent", "asks_itself": true, "session_id": "s"});
    daemon.post(&agents).ok();
    assert_eq!(daemon.ask("terraform apply")["denied"], true);
    // Export has the same filters.
    let trail = daemon.setup().database_file();
    let exported = Command::new(env!("CARGO_BIN_EXE_hooks-guard"))
        .args([
            "audit",
            "export",
            "--format",
            "csv",
            "--response",
            "pending",
            "--database",
        ])
        .arg(trail)
        .env("HOME", daemon.setup().home())
        .env_remove("HOOKS_GUARD_CONFIG")
        .output()
        .unwrap();
    let text = String::from_utf8(exported.stdout).unwrap();
    assert_eq!(text.lines().count(), 2, "{text}");
    assert!(text.contains("mkdir pending"), "{text}");
    for (options, wanted) in [
        (
            [].as_slice(),
            [
                "terraform apply",
                "mkdir agent",
                "ls",
                "mkdir pending",
                "mkdir denied",
            ]
            .as_slice(),
        ),
        (&["--limit", "1"], &["terraform apply"]),
        (
            &["--response", "DENIED"],
            &["terraform apply", "mkdir denied"],
        ),
        (
            &["--response", "denied", "--class", "create"],
            &["mkdir denied"],
        ),
        (&["--response", "allowed"], &["ls"]),
        (
            &["--classification", "create"],
            &["mkdir agent", "mkdir pending", "mkdir denied"],
        ),
        (
            &["--since", "yesterday"],
            &[
                "terraform apply",
                "mkdir agent",
                "ls",
                "mkdir pending",
                "mkdir denied",
            ],
        ),
        (&["--since", "2h", "--response", "allowed"], &["ls"]),
        (&["--until", "1 day ago"], &[]),
        (
            &["--class", "Create", "--answer", "denied"],
            &["mkdir denied"],
        ),
        (&["--response", "DENIED by operator"], &["mkdir denied"]),
        (&["--response", "denied by Operator"], &["mkdir denied"]),
        (&["--response", "APPROVED by operator"], &[]),
        (&["--response", "DENIED by console"], &[]),
        (&["--response", "pending"], &["mkdir pending"]),
        (
            &["--status", "Pending", "--class", "CREATE"],
            &["mkdir pending"],
        ),
        (&["--status", "pending", "--class", "delete"], &[]),
        (&["--response", "left to agent"], &["mkdir agent"]),
        (
            &["--response", "left to the agent's prompt"],
            &["mkdir agent"],
        ),
        (&["--decision", "AUTO_ALLOWED"], &["ls"]),
        (&["--decision", "allowed"], &["ls"]),
        (&["--decision", "denied"], &["terraform apply"]),
        (
            &["--decision", "needs approval", "--limit", "2"],
            &["terraform apply", "mkdir agent"],
        ),
        (
            &[
                "--decision",
                "requires_confirmation",
                "--response",
                "denied",
            ],
            &["terraform apply", "mkdir denied"],
        ),
        (
            &["--decision", "needs approval", "--response", "allowed"],
            &[],
        ),
        (&["--session", "s"], &["mkdir agent"]),
    ] {
        assert_eq!(commands(&daemon, options), wanted, "{options:?}");
    }
    let shown = list(&daemon, &["--agent", "nobody"]);
    let text = String::from_utf8(shown.stdout).unwrap();
    assert!(text.starts_with("no matching decisions"), "{text}");
    for (options, remedy) in [
        (["--since", "someday"], "use `yesterday`, `2h`"),
        (
            ["--response", "maybe"],
            "APPROVED, DENIED, TIMEOUT, allowed",
        ),
        (["--classification", "x"], "READ, CREATE, UPDATE, DELETE"),
    ] {
        let output = list(&daemon, &options);
        assert_eq!(output.status.code(), Some(2));
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(text.contains(remedy), "{text}");
    }
    // Times are those of this machine's zone.
    let asked: jiff::Timestamp = daemon.record(&denied["id"])["timestamp"]
        .as_str()
        .unwrap()
        .parse()
        .unwrap();
    let local = asked + jiff::SignedDuration::from_mins(330);
    let wanted = local.strftime("%F %R").to_string();
    let text = String::from_utf8(list(&daemon, &[]).stdout).unwrap();
    assert!(text.contains(&wanted), "{wanted} in {text}");
    let trail = daemon.setup().database_file();
    let arguments = ["audit", "list", "--database", trail.to_str().unwrap()];
    let terminal = Terminal::of_size(&daemon, &arguments, 40, 80);
    terminal.shows("5 of 5");
    assert_fits(&terminal.screen(), 80);
}

#[test]
fn reports_have_colour_on_a_terminal() {
    let daemon = Daemon::plain();
    let rules = daemon.setup().folder().join("operator/rules.toml");
    let test = |command: &str| format!("[[rule.test]]\ncommand = '{command}'\nexpect = 'ask'\n");
    let rule = "[[rule]]\neffect = 'ask'\nprogram = 'jq'\n";
    std::fs::write(&rules, [rule, &test("jq ."), &test("ls")].concat()).unwrap();
    for (variables, has_color) in [([].as_slice(), true), (&[("NO_COLOR", "1")], false)] {
        for (command, status, words) in [
            (
                "test-rules",
                1,
                [("32", "ok  "), ("1;31", "FAIL")].as_slice(),
            ),
            ("doctor", 0, &[("32", "ok  "), ("33", "warn")]),
        ] {
            let terminal = Terminal::in_environment(&daemon, &[command], 40, 120, variables);
            assert_eq!(terminal.end(), status, "{}", terminal.screen());
            let bytes = String::from_utf8_lossy(&terminal.bytes()).into_owned();
            for (color, word) in words {
                let colored = format!("\u{1b}[{color}m{word}\u{1b}[0m");
                assert_eq!(bytes.contains(&colored), has_color, "{bytes:?}");
                assert!(bytes.contains(word), "{bytes:?}");
            }
        }
    }
}
