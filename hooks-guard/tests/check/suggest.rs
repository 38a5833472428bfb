//! Tests `rules suggest` with a trail in SQLite.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::time::Duration;

use hooks_guard::audit::AuditStore;
use hooks_guard::classify::Classifier;
use hooks_guard::gate::{Gate, Policy};
use hooks_guard::places::Places;
use hooks_guard::protocol::Agent;
use hooks_guard::rules::{Protected, RuleBook};
use hooks_guard::service::{OperatorAnswer, PermissionService, RememberScope};
use hooks_guard::{FileAccess, PermissionDecision, PermissionRequest};
use serde_json::Value;
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::check::{err, out, program};

/// A user whose agent asked about commands, with the answers in a trail.
struct User {
    home: TempDir,
    runtime: Runtime,
    service: PermissionService,
    asked: usize,
}

impl User {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let places = Places::below(home.path());
        for directory in [
            &places.config,
            &places.data,
            &home.path().join("project/src"),
        ] {
            fs::create_dir_all(directory).unwrap();
        }
        let runtime = Runtime::new().unwrap();
        let url = format!("sqlite:{}", places.database_file().display());
        let store = runtime.block_on(AuditStore::open(&url)).unwrap();
        let book = RuleBook::new(&places, Protected::new(home.path()));
        let gate = Gate::new(Classifier::new(), Policy::default()).with_rules(book);
        Self {
            home,
            runtime,
            service: PermissionService::new(gate, store, Duration::from_secs(60)),
            asked: 0,
        }
    }

    fn rules_file(&self) -> PathBuf {
        Places::below(self.home.path()).rules_file()
    }

    /// Returns a request of a new session, which no earlier approval applies to.
    fn request(&mut self, command: &str) -> PermissionRequest {
        self.asked += 1;
        PermissionRequest {
            cwd: Some(self.home.path().join("project")),
            agent: Some(Agent::ClaudeCode.name().to_owned()),
            session_id: Some(format!("session-{}", self.asked)),
            ..PermissionRequest::new(command)
        }
    }

    fn ask(&mut self, request: PermissionRequest) -> PermissionDecision {
        self.runtime
            .block_on(self.service.request(request))
            .unwrap()
    }

    fn answer(&mut self, command: &str, approved: bool, remember: RememberScope) {
        let request = self.request(command);
        self.answer_request(request, approved, remember);
    }

    fn answer_request(
        &mut self,
        request: PermissionRequest,
        approved: bool,
        remember: RememberScope,
    ) {
        let id = self.ask(request).id.unwrap();
        let reply = OperatorAnswer {
            confirms_deletion: false,
            approved,
            remember,
            note: None,
        };
        let answered = self.service.respond(id, reply, "console");
        self.runtime.block_on(answered).unwrap();
    }

    fn approve(&mut self, command: &str, times: usize) {
        for _ in 0..times {
            self.answer(command, true, RememberScope::Once);
        }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = program();
        command
            .args(arguments)
            .env("HOME", self.home.path())
            .current_dir(self.home.path().join("project"));
        command
    }

    #[track_caller]
    fn succeeds(&self, arguments: &[&str]) -> Output {
        let output = self.command(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {output:?}");
        output
    }

    fn suggested(&self, options: &[&str]) -> Value {
        let arguments = [&["rules", "suggest", "--json"], options].concat();
        serde_json::from_str(out(&self.succeeds(&arguments))).unwrap()
    }

    fn programs(&self, options: &[&str]) -> Vec<String> {
        let suggested = self.suggested(options);
        let rules = suggested["rules"].as_array().unwrap().iter();
        rules
            .map(|rule| rule["program"].as_str().unwrap().to_owned())
            .collect()
    }
}

#[test]
fn suggested_rules_can_be_appended_to_the_rules() {
    let mut user = User::new();
    user.approve("cargo test --workspace", 3);
    user.approve("cargo test -p core", 2);
    user.approve("touch src/a.rs", 2);
    user.approve("touch src/b.rs", 1);
    user.answer("touch src/c/x.rs && make", false, RememberScope::Once);
    user.approve("rm -r target", 3);
    user.approve("timeout 9 make", 1);
    let output = user.succeeds(&["rules", "suggest"]);
    let toml = out(&output);
    assert!(toml.starts_with("# Suggested from 5 approvals"), "{toml}");
    assert!(toml.contains("subcommand = \"test\"\n"), "{toml}");
    assert!(toml.contains("path = \"src/**\"\n"), "{toml}");
    let shown = err(&output);
    for line in [
        "no rule is suggested for 2 approved commands:",
        "  3× rm -r target: it deletes",
        "  1× timeout 9 make: `timeout` runs another program",
    ] {
        assert!(shown.contains(line), "{shown}");
    }
    let own = "# my rules\n[[rule]]\neffect = \"deny\"\nprogram = \"terraform\"\n\n[[rule.test]]\ncommand = \"terraform plan\"\nexpect = \"deny\"\n";
    fs::write(user.rules_file(), format!("{own}{toml}")).unwrap();
    let tested = user.succeeds(&["test-rules"]);
    assert!(out(&tested).contains(", 0 failed"), "{tested:?}");
    assert!(!out(&tested).contains("warn"), "{tested:?}");
    user.succeeds(&["check", "--json", "cargo test -p core"]);
    let asks = user.command(&["check", "--json", "cargo test -p core > /etc/x"]);
    assert_eq!({ asks }.output().unwrap().status.code(), Some(1));
    // What the rules allow is not suggested again.
    let again = user.succeeds(&["rules", "suggest"]);
    assert!(
        out(&again).starts_with("# no rules suggested from "),
        "{again:?}"
    );
}

#[test]
fn only_approvals_of_a_person_count() {
    let mut user = User::new();
    // Expired, pending, denied.
    for command in ["make expired", "make pending"] {
        let request = user.request(command);
        user.ask(request);
    }
    user.answer("make denied", false, RememberScope::Once);
    // Approved for good: the later request was not asked about.
    user.answer("touch always", true, RememberScope::Always);
    let request = user.request("touch always");
    assert!(user.ask(request).approved);
    // Left to the agent's mode, and run.
    for mode in ["auto", "default"] {
        for _ in 0..2 {
            let request = PermissionRequest {
                permission_mode: Some(mode.to_owned()),
                asks_itself: true,
                ..user.request(&format!("npm run {mode}"))
            };
            let decision = user.ask(request);
            assert_eq!(decision.left_to_agent, mode == "auto");
            let (id, secret) = (decision.id.unwrap(), decision.secret.unwrap());
            let ran = user.service.record_execution(id, &secret, Some(0), None);
            user.runtime.block_on(ran).unwrap();
        }
    }
    // Masked, and not a command.
    user.approve("make TOKEN=ghp_16C7e42F292c6912E7710c838347Ae178B4a", 2);
    for _ in 0..2 {
        let request = PermissionRequest {
            file: Some(FileAccess {
                tool: "Write".to_owned(),
                effect: hooks_guard::classify::Crud::Create,
                paths: vec!["src/a".into()],
                input_hash: None,
            }),
            ..user.request("Write src/a")
        };
        user.answer_request(request, true, RememberScope::Once);
    }
    // A protection.
    user.approve("git config user.name x", 2);
    let suggested = user.suggested(&["--min", "1"]);
    let rules = suggested["rules"].as_array().unwrap();
    let text = serde_json::to_string(&rules).unwrap();
    assert!(
        text.contains("touch always") && text.contains("npm run default"),
        "{text}"
    );
    for other in [
        "expired",
        "pending",
        "npm run auto",
        "TOKEN",
        "Write",
        "git",
    ] {
        assert!(!text.contains(other), "{other} in {text}");
    }
    let approvals: Vec<_> = rules
        .iter()
        .map(|rule| rule["approvals"].as_u64())
        .collect();
    assert_eq!(approvals, [Some(2), Some(1)]);
    let unsuitable = suggested["unsuitable"].to_string();
    for reason in ["masked", "git's configuration"] {
        assert!(unsuitable.contains(reason), "{reason} in {unsuitable}");
    }
}

#[test]
fn since_selects_approvals_and_keeps_all_denials() {
    let mut user = User::new();
    user.answer("make deploy", false, RememberScope::Once);
    std::thread::sleep(Duration::from_millis(1100));
    let since = jiff::Timestamp::now().to_string();
    user.approve("cargo test", 2);
    user.approve("make deploy", 2);
    let options = ["--min", "2"];
    assert_eq!(user.programs(&options), ["cargo"]);
    let later = [&options[..], &["--since", &since]].concat();
    assert_eq!(user.programs(&later), ["cargo"]);
    std::thread::sleep(Duration::from_millis(1100));
    let since = jiff::Timestamp::now().to_string();
    let later = [&options[..], &["--since", &since]].concat();
    assert_eq!(user.programs(&later), [""; 0]);
    assert_eq!(user.programs(&["--min", "3"]), [""; 0]);
    assert_eq!(
        user.programs(&["--since", "yesterday", "--min", "2"]),
        ["cargo"]
    );
}

#[test]
fn nothing_to_suggest_is_one_line() {
    let user = User::new();
    let output = user.succeeds(&["rules", "suggest"]);
    assert_eq!(
        out(&output),
        "# no rules suggested: the audit trail has no approved commands\n"
    );
    assert_eq!(err(&output), "");
    // Without a trail.
    let home = tempfile::tempdir().unwrap();
    let output = program()
        .args(["rules", "suggest"])
        .env("HOME", home.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(out(&output).contains("no approved commands"), "{output:?}");
    assert_eq!(
        fs::read_dir(home.path()).unwrap().count(),
        0,
        "no file is created"
    );
    let mut user = User::new();
    user.approve("make", 2);
    let output = user.succeeds(&["rules", "suggest"]);
    assert_eq!(
        out(&output),
        "# no rules suggested from 2 approvals; 2 approvals of commands that were approved fewer \
         than 3 times (`--min`)\n"
    );
    // The output can be appended.
    fs::write(user.rules_file(), out(&output)).unwrap();
    user.succeeds(&["test-rules"]);
    let failed = user
        .command(&["rules", "suggest", "--min", "0"])
        .output()
        .unwrap();
    assert_eq!(failed.status.code(), Some(2));
}

#[test]
fn write_appends_to_the_rules_with_a_backup() {
    let mut user = User::new();
    user.approve("cargo test", 3);
    let file = user.rules_file();
    // Without a terminal, it does not ask and does not write.
    let refused = user
        .command(&["rules", "suggest", "--write"])
        .output()
        .unwrap();
    assert_eq!(refused.status.code(), Some(3), "{refused:?}");
    assert!(err(&refused).contains("`--yes`"), "{refused:?}");
    assert!(!file.exists());
    let written = user.succeeds(&["rules", "suggest", "--write", "--yes"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), out(&written));
    assert!(err(&written).contains("appended 1 rule to "), "{written:?}");
    assert!(!err(&written).contains("backup"), "{written:?}");
    user.approve("npm run build", 3);
    let own = format!("# mine\n{}", fs::read_to_string(&file).unwrap());
    fs::write(&file, &own).unwrap();
    let written = user.succeeds(&["rules", "suggest", "--write", "--yes"]);
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.starts_with(&own), "{text}");
    assert!(text.ends_with(out(&written)), "{text}");
    let backup = file.with_file_name("rules.toml.hooks-guard.bak");
    assert_eq!(fs::read_to_string(backup).unwrap(), own);
    let tested = user.succeeds(&["test-rules"]);
    assert!(out(&tested).contains("6 passed, 0 failed"), "{tested:?}");
    user.succeeds(&["check", "cargo test && npm run build"]);
    // Rules with mistakes are reported, and the file is unchanged.
    fs::write(&file, "[[rule]]\neffect = 'alow'\n").unwrap();
    let failed = user
        .command(&["rules", "suggest", "--write", "--yes"])
        .output()
        .unwrap();
    assert_eq!(failed.status.code(), Some(3));
    assert!(err(&failed).contains("2 | effect = 'alow'"), "{failed:?}");
    assert_eq!(
        fs::read_to_string(&file).unwrap(),
        "[[rule]]\neffect = 'alow'\n"
    );
}

#[test]
fn json_has_every_field() {
    let mut user = User::new();
    user.approve("cargo test", 3);
    let suggested = user.suggested(&[]);
    let rule = &suggested["rules"][0];
    assert_eq!(rule["program"], "cargo");
    assert_eq!(rule["subcommand"], serde_json::json!(["test"]));
    assert_eq!(rule["approvals"], 3);
    assert_eq!(rule["examples"], serde_json::json!(["cargo test"]));
    assert_eq!(rule["tests"][0]["command"], "cargo test");
    assert_eq!(rule["tests"][0]["expect"], "allow");
    assert_eq!(rule["tests"][1]["expect"], "ask");
    assert!(
        rule["first"].is_string() && rule["last"].is_string(),
        "{rule}"
    );
    assert!(
        rule["toml"].as_str().unwrap().contains("[[rule]]"),
        "{rule}"
    );
    assert_eq!(suggested["rare"], 0);
    assert_eq!(suggested["unsuitable"], serde_json::json!([]));
}

#[test]
fn at_most_ten_commands_without_a_rule_are_shown() {
    let mut user = User::new();
    for at in 0..12 {
        user.approve(&format!("rm file-{at}"), 1);
    }
    let output = user.succeeds(&["rules", "suggest"]);
    let shown = err(&output);
    assert!(shown.contains("12 approved commands"), "{shown}");
    assert_eq!(shown.matches("it deletes").count(), 10, "{shown}");
    assert!(shown.contains("and 2 more; `--json` lists all"), "{shown}");
    let all = user.suggested(&[]);
    assert_eq!(all["unsuitable"].as_array().unwrap().len(), 12);
}
