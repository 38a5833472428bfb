//! The command `replay`: its screen, its JSON, its options and its errors.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

use super::{copy, home, transcripts};

/// Runs `replay` as a user with this home.
fn replay(home: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hooks-guard"));
    command.arg("replay").args(arguments).env_clear();
    let command = command
        .env("HOME", home)
        .env("TZ", "UTC")
        .env("TMPDIR", std::env::temp_dir());
    command.output().expect("the program")
}

fn text(output: &[u8]) -> String {
    String::from_utf8(output.to_vec()).expect("UTF-8")
}

fn json(output: &Output) -> Value {
    assert!(output.status.success(), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// Returns a home with the sessions of every client in their usual folders.
fn home_of_all() -> TempDir {
    let home = TempDir::new().expect("a folder");
    for client in fs::read_dir(transcripts()).expect("the recorded sessions") {
        let session = client.expect("a client").path().join("session");
        if session.is_dir() {
            copy(&session, home.path());
        }
    }
    home
}

/// Returns the paths and contents of all files below a folder.
fn contents(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        match path.is_dir() {
            true => found.extend(contents(&path)),
            false => found.push((path.clone(), fs::read(&path).expect("a file"))),
        }
    }
    found.sort();
    found
}

#[test]
fn the_usual_folders_of_every_client_are_read_and_nothing_is_changed() {
    let home = home_of_all();
    let before = contents(home.path());
    let report = json(&replay(home.path(), &["--json"]));
    assert_eq!(contents(home.path()), before);
    let agents = report["agents"].as_array().expect("agents");
    assert_eq!(
        agents.len(),
        hooks_guard::replay::replayed_agents().len(),
        "{agents:#?}"
    );
    // Both versions of Claude Code, and the others with seven calls each; Letta Code has six.
    assert_eq!(report["calls"], 7 * (agents.len() + 1) - 1);
    assert_eq!(report["sessions"], agents.len() + 1);
    assert_eq!(report["transcripts"]["unreadable"], 0);
    let shown = report.to_string();
    assert!(!shown.contains("ghp_0123456789"), "{shown}");
}

/// Returns the paths of the fields in a value.
fn fields(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(object) => object.iter().for_each(|(name, value)| {
            fields(value, &format!("{at}.{name}"), found);
        }),
        Value::Array(list) => list
            .iter()
            .take(1)
            .for_each(|value| fields(value, &format!("{at}[]"), found)),
        Value::Null | Value::Bool(_) => found.push(at.to_owned()),
        Value::Number(_) => found.push(format!("{at}: number")),
        Value::String(_) => found.push(format!("{at}: text")),
    }
}

/// Compares a text with a recorded one; `HOOKS_WRITE=1` records it.
fn assert_recorded(name: &str, text: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/replay")
        .join(name);
    if std::env::var_os("HOOKS_WRITE").is_some_and(|set| set == "1") {
        fs::write(&file, text).expect("a recording");
    }
    let recorded = fs::read_to_string(&file).unwrap_or_default();
    assert_eq!(
        text, recorded,
        "run the test with HOOKS_WRITE=1, and review the change of {name}"
    );
}

/// Returns the home of a user of Claude Code and Codex, with a rule that denies `touch`.
fn home_with_rules() -> TempDir {
    let home = home("claude/asked");
    copy(&transcripts().join("codex/asked"), home.path());
    copy(&transcripts().join("claude/session"), home.path());
    let rules = "[[rule]]\neffect = \"deny\"\nprogram = \"touch\"\nreason = \"no new files\"\n";
    let folder = home.path().join(".config/hooks-guard");
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join("rules.toml"), rules).expect("rules");
    home
}

/// The page of the book.
fn page() -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/replay.md");
    fs::read_to_string(file).expect("the page")
}

#[test]
fn the_book_lists_every_agent_that_can_be_replayed() {
    let page = page();
    for agent in hooks_guard::replay::replayed_agents() {
        let row = format!("\n| {} | `~/", agent.title());
        assert!(page.contains(&row), "no row of {agent} in the book");
    }
}

#[test]
fn the_fields_of_the_json_are_those_of_the_book() {
    let home = home_with_rules();
    // A rule is suggested for a command that ran twice.
    copy(&transcripts().join("qwen/asked"), home.path());
    copy(&transcripts().join("gemini/asked"), home.path());
    fs::remove_file(home.path().join(".config/hooks-guard/rules.toml")).expect("the rules");
    let report = json(&replay(home.path(), &["--json"]));
    let mut found = Vec::new();
    fields(&report, "", &mut found);
    assert_recorded("fields.txt", &(found.join("\n") + "\n"));
    let page = page();
    let (_, page) = page.split_once("\n## JSON\n").expect("a section");
    for name in report.as_object().expect("an object").keys() {
        assert!(
            page.contains(&format!("`{name}`")),
            "the book does not name `{name}`"
        );
    }
    let number = |value: &Value| value.as_u64().expect("a number");
    let decisions = report["decisions"].as_object().expect("decisions").values();
    assert_eq!(decisions.map(number).sum::<u64>(), number(&report["calls"]));
}

#[test]
fn the_screen_tells_decisions_reasons_and_the_comparison() {
    let home = home_with_rules();
    let output = replay(home.path(), &[]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let screen = text(&output.stdout);
    assert_recorded("screen.txt", &screen);
    assert!(
        page().contains(&screen),
        "the screen in the book is another one"
    );
    assert!(screen.lines().count() <= 50, "{screen}");
    assert!(screen.contains("no new files"), "{screen}");
}

#[test]
fn the_three_rules_that_save_most_are_suggested_with_passing_tests() {
    let home = home("claude/asked");
    for client in ["codex", "copilot", "gemini", "qwen"] {
        copy(&transcripts().join(client).join("asked"), home.path());
    }
    let report = json(&replay(home.path(), &["--json"]));
    let rules = report["rules"].as_array().expect("rules");
    // Every user approved `touch`, and rejected `rm`.
    assert_eq!(rules.len(), 1, "{rules:#?}");
    assert_eq!(rules[0]["program"], "touch");
    assert_eq!(report["saved"], 5);
    let toml = rules[0]["toml"].as_str().expect("TOML");
    let folder = home.path().join(".config/hooks-guard");
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join("rules.toml"), toml).expect("rules");
    let with_rule = json(&replay(home.path(), &["--json"]));
    let asked = |report: &Value| report["decisions"]["asked"].as_u64().expect("a number");
    assert_eq!(asked(&with_rule), asked(&report) - 5);
    let tested = Command::new(env!("CARGO_BIN_EXE_hooks-guard"))
        .args(["test-rules"])
        .arg(folder.join("rules.toml"))
        .env("HOME", home.path())
        .output()
        .expect("the program");
    assert!(tested.status.success(), "{}", text(&tested.stdout));
}

#[test]
fn since_leaves_out_earlier_calls() {
    let home = home("claude/session");
    let calls =
        |since: &str| json(&replay(home.path(), &["--json", "--since", since]))["calls"].clone();
    assert_eq!(calls("2026-01-01"), 7);
    // The last two calls of the session.
    assert_eq!(calls("2026-12-01T04:23:37.100Z"), 2);
    assert_eq!(calls("2026-12-02"), 0);
}

#[test]
fn a_transcript_that_grew_is_recent_even_if_its_first_file_is_old() {
    for session in ["openhands/session", "opencode/session"] {
        let home = home(session);
        for file in hooks_guard::replay::transcript_files(home.path()) {
            let log = file.with_file_name("opencode.db-wal");
            fs::write(log, "").expect("a log");
            let year = std::time::Duration::from_secs(365 * 24 * 3600);
            let old = std::time::SystemTime::now() - year;
            let file = fs::File::options()
                .append(true)
                .open(&file)
                .expect("a transcript");
            file.set_modified(old).expect("a time");
        }
        let report = json(&replay(home.path(), &["--json", "--since", "2 days"]));
        assert_eq!(report["transcripts"]["read"], 1, "{session}");
    }
}

#[test]
fn an_unknown_format_is_an_error_that_names_what_was_tried() {
    let home = TempDir::new().expect("a folder");
    let folder = home.path().join("logs");
    fs::create_dir(&folder).expect("a folder");
    fs::write(folder.join("log.jsonl"), "{\"level\":\"info\"}\nno JSON\n").expect("a log");
    let output = replay(home.path(), &[folder.to_str().expect("UTF-8")]);
    assert_eq!(output.status.code(), Some(3));
    let error = text(&output.stderr);
    assert!(error.contains("no known format in 1 file"), "{error}");
    assert!(
        error.contains("Claude Code") && error.contains("Codex"),
        "{error}"
    );
    let output = replay(home.path(), &[]);
    assert_eq!(output.status.code(), Some(3));
    let error = text(&output.stderr);
    assert!(
        error.contains("no transcripts in") && error.contains(".claude/projects"),
        "{error}"
    );
    let output = replay(home.path(), &["/nonexistent/folder"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(text(&output.stderr).contains("does not exist"));
}
