//! Tests `run` with stand-ins for the clients, which print their arguments.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Output};

use hooks_guard::protocol::Agent;

use crate::home::{Home, write};

/// A home directory with a project, and stand-ins for the clients in its search path.
struct Workplace {
    home: Home,
    project: PathBuf,
}

impl Workplace {
    fn new() -> Self {
        let home = Home::new();
        home.config("");
        let project = home.path().join("work/project");
        fs::create_dir_all(project.join(".git/objects")).unwrap();
        fs::create_dir_all(project.join(".git/refs")).unwrap();
        write(&project.join(".git/HEAD"), "ref: refs/heads/main\n");
        fs::create_dir_all(project.join("sub")).unwrap();
        for agent in Agent::ALL {
            let client = home.path().join("bin").join(agent.program());
            write(&client, "#!/bin/sh\necho \"started $0:\" \"$@\"\nexit 7\n");
            fs::set_permissions(&client, fs::Permissions::from_mode(0o755)).unwrap();
        }
        Self { home, project }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.home.command();
        command
            .args(arguments)
            .env("PATH", self.home.path().join("bin"))
            .current_dir(self.project.join("sub"));
        command
    }

    fn install(&self, agent: Agent) {
        let output = self.command(&["install", agent.name()]).output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = self.command(&["run"]);
        command.args(arguments).output().unwrap()
    }

    /// Asserts that the client is started, with these arguments.
    fn assert_started(&self, arguments: &[&str]) {
        let output = self.run(arguments);
        let shown = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(7), "{output:?}");
        let expected = format!(
            ":{}\n",
            arguments[1..]
                .iter()
                .map(|word| format!(" {word}"))
                .collect::<String>()
        );
        assert!(
            shown.starts_with("started ") && shown.ends_with(&expected),
            "{output:?}"
        );
    }

    /// Asserts that the client is not started, for these reasons.
    fn assert_refused(&self, output: &Output, reasons: &[&str]) {
        assert_eq!(output.status.code(), Some(3), "{output:?}");
        assert_eq!(output.stdout, b"", "{output:?}");
        let why = String::from_utf8_lossy(&output.stderr);
        for reason in reasons {
            assert!(why.contains(reason), "{reason}: {why}");
        }
    }
}

#[test]
fn an_agent_with_the_hook_is_started_with_its_arguments_and_status() {
    let workplace = Workplace::new();
    for agent in Agent::ALL
        .into_iter()
        .filter(|agent| agent.is_installable())
    {
        workplace.install(agent);
        workplace.assert_started(&[
            agent.name(),
            "-p",
            "--model=x",
            "run rm -rf build",
            "--",
            "--bare",
        ]);
    }
}

#[test]
fn an_agent_without_the_hook_is_not_started() {
    let workplace = Workplace::new();
    let output = workplace.run(&["qwen-code"]);
    workplace.assert_refused(
        &output,
        &["does not call the hook", "hooks-guard install qwen-code"],
    );
    let output = workplace.run(&["kiro"]);
    workplace.assert_refused(&output, &["cannot be checked"]);
}

#[test]
fn an_agent_with_a_changed_hook_is_not_started() {
    let workplace = Workplace::new();
    workplace.install(Agent::QwenCode);
    let file = workplace.home.path().join(".qwen/settings.json");
    let text = fs::read_to_string(&file).unwrap();
    for (from, to) in [
        ("PreToolUse", "SessionStart"),
        ("/hooks-guard hook", "/other/hooks-guard hook"),
        ("600000", "6"),
        ("exit 2", "exit 0"),
    ] {
        assert!(text.contains(from), "{from}");
        fs::write(&file, text.replace(from, to)).unwrap();
        let output = workplace.run(&["qwen-code"]);
        workplace.assert_refused(&output, &[&file.display().to_string()]);
    }
    fs::write(&file, text).unwrap();
    workplace.assert_started(&["qwen-code"]);
}

#[test]
fn an_agent_is_not_started_if_a_file_switches_the_hook_off() {
    for (agent, path, text, key) in [
        (
            Agent::QwenCode,
            ".qwen/settings.json",
            r#"{"disableAllHooks": true}"#,
            "disableAllHooks",
        ),
        (
            Agent::Droid,
            ".factory/hooks.json",
            r#"{"hooksDisabled": true}"#,
            "hooksDisabled",
        ),
        (
            Agent::Copilot,
            ".github/copilot/settings.json",
            r#"{"disableAllHooks": true}"#,
            "disableAllHooks",
        ),
        (
            Agent::ClaudeCode,
            ".claude/settings.json",
            r#"{"disableAllHooks": true}"#,
            "disableAllHooks",
        ),
        (
            Agent::Codex,
            ".codex/config.toml",
            "[features]\nhooks = false\n",
            "features.hooks",
        ),
        (
            Agent::Gemini,
            ".gemini/settings.json",
            r#"{"hooksConfig": {"disabled": ["hooks-guard"]}}"#,
            "hooksConfig.disabled",
        ),
        (
            Agent::Pi,
            ".pi/settings.json",
            r#"{"extensions": ["x.ts", "-extensions/hooks-guard.ts"]}"#,
            "extensions",
        ),
        (
            Agent::LettaCode,
            ".letta/settings.json",
            r#"{"hooks": {"disabled": true}}"#,
            "hooks.disabled",
        ),
    ] {
        let workplace = Workplace::new();
        workplace.install(agent);
        workplace.assert_started(&[agent.name(), "x"]);
        // The current directory, and the repository around it.
        for folder in [workplace.project.join("sub"), workplace.project.clone()] {
            let file = folder.join(path);
            write(&file, text);
            let output = workplace.run(&[agent.name(), "x"]);
            workplace.assert_refused(&output, &[&file.display().to_string(), key]);
            fs::remove_file(&file).unwrap();
        }
        // A directory outside of the repository is not read.
        write(&workplace.home.path().join("work").join(path), text);
        workplace.assert_started(&[agent.name(), "x"]);
    }
}

#[test]
fn an_agent_is_not_started_if_a_variable_switches_the_hook_off_or_moves_it() {
    let workplace = Workplace::new();
    for agent in [
        Agent::ClaudeCode,
        Agent::QwenCode,
        Agent::OpenCode,
        Agent::KiloCode,
        Agent::Gemini,
    ] {
        workplace.install(agent);
    }
    for (agent, name, value) in [
        ("claude-code", "CLAUDE_CODE_SAFE_MODE", "1"),
        ("qwen-code", "QWEN_CODE_SAFE_MODE", "true"),
        ("opencode", "OPENCODE_PURE", "1"),
        ("kilo", "KILO_PURE", "1"),
        ("qwen-code", "QWEN_HOME", "/nonexistent"),
        ("gemini", "GEMINI_CLI_HOME", "/nonexistent"),
    ] {
        let mut command = workplace.command(&["run", agent]);
        let output = command.env(name, value).output().unwrap();
        workplace.assert_refused(&output, &["not started"]);
        workplace.assert_started(&[agent]);
    }
}

#[test]
fn an_agent_is_not_started_with_an_argument_that_switches_the_hook_off() {
    let workplace = Workplace::new();
    let off = workplace.project.join("off.json");
    write(&off, r#"{"disableAllHooks": true}"#);
    let off = off.to_str().unwrap();
    for agent in [
        Agent::ClaudeCode,
        Agent::QwenCode,
        Agent::OpenCode,
        Agent::KiloCode,
        Agent::Codex,
    ] {
        workplace.install(agent);
    }
    for arguments in [
        &["claude", "--safe-mode"][..],
        &["claude", "-p", "--bare", "x"],
        &["claude", "--setting-sources", "project,local"],
        &["claude", "--setting-sources=project"],
        &["claude", "--settings", r#"{"disableAllHooks": true}"#],
        &["claude", "--settings", off],
        &["codex", "--disable", "hooks"],
        &["codex", "exec", "-c", "features.hooks=false"],
        &["codex", "exec", "-c", "features.hooks = false"],
        &["codex", "exec", "--ignore-user-config", "x"],
        &["qwen", "--bare"],
        &["opencode", "--pure"],
        &["kilo", "run", "--pure", "x"],
    ] {
        let output = workplace.run(arguments);
        workplace.assert_refused(&output, &["not started"]);
    }
    workplace.assert_started(&["claude", "--setting-sources", "user,project"]);
    workplace.assert_started(&["claude", "-p", "--", "--safe-mode"]);
    workplace.assert_started(&["codex", "--disable", "apps"]);
}

#[test]
fn a_missing_client_is_named() {
    let workplace = Workplace::new();
    workplace.install(Agent::Droid);
    fs::remove_file(workplace.home.path().join("bin/droid")).unwrap();
    let output = workplace.run(&["droid"]);
    workplace.assert_refused(&output, &["`droid` is not in PATH"]);
}
