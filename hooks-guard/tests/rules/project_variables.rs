//! Tests that every command needs approval while a file of the project sets a variable that decides what
//! the commands of the agent run.

use std::fs;
use std::path::Path;

use hooks_guard::classify::Decision;
use hooks_guard::protocol::Agent;
use hooks_guard::{PermissionDecision, PermissionRequest};
use serde_json::json;

use super::client_files::{Extent, Workplace, request};

/// Returns the text of a file that sets a variable.
type Text = fn(&str, &str) -> String;

/// Files of a project, each with its agent and its text for a variable.
const FILES: &[(Agent, &str, Text)] = &[
    (Agent::ClaudeCode, ".claude/settings.json", env_object),
    (Agent::ClaudeCode, ".claude/settings.local.json", env_object),
    (Agent::Codex, ".codex/config.toml", policy),
    (Agent::Codex, ".codex/config.toml", policy_of_profile),
    (Agent::Gemini, ".gemini/.env", line),
    (Agent::Gemini, ".env", exported_line),
    (Agent::QwenCode, ".qwen/.env", line),
    (Agent::QwenCode, ".qwen/settings.json", env_object),
    (Agent::QwenCode, ".env", line),
    (Agent::VsCode, ".vscode/settings.json", terminal),
];

const DECIDING: &[(&str, &str)] = &[
    ("BASH_ENV", "./start"),
    ("GIT_EXTERNAL_DIFF", "./show"),
    ("LD_PRELOAD", "./x.so"),
    ("NODE_OPTIONS", "--require ./x.js"),
    ("PATH", "./bin:/usr/bin"),
];

const INFORMING: &[(&str, &str)] = &[
    ("NODE_OPTIONS", "--max-old-space-size=4096"),
    ("DATABASE_URL", "postgres://localhost/app"),
    ("RUST_BACKTRACE", "1"),
];

fn env_object(name: &str, value: &str) -> String {
    format!("// why\n{}", json!({"env": {name: value}}))
}

fn policy(name: &str, value: &str) -> String {
    format!(
        "[shell_environment_policy.set]\n{name} = {}\n",
        json!(value)
    )
}

fn policy_of_profile(name: &str, value: &str) -> String {
    format!(
        "[profiles.a.shell_environment_policy]\nset = {{ {name} = {} }}\n",
        json!(value)
    )
}

fn line(name: &str, value: &str) -> String {
    format!("# a comment\n{name}=\"{value}\"\n")
}

fn exported_line(name: &str, value: &str) -> String {
    format!("export {name}='{value}'\n")
}

fn terminal(name: &str, value: &str) -> String {
    json!({"terminal.integrated.env.linux": {name: value}}).to_string()
}

fn git_status(agent: Agent, cwd: &Path) -> PermissionRequest {
    let (event, tool) = match agent {
        Agent::Gemini => ("BeforeTool", "run_shell_command"),
        Agent::QwenCode => ("PreToolUse", "run_shell_command"),
        Agent::VsCode => ("PreToolUse", "run_in_terminal"),
        _ => ("PreToolUse", "Bash"),
    };
    let input = json!({"hook_event_name": event, "session_id": "s", "cwd": cwd,
        "tool_name": tool, "tool_input": {"command": "git status"}});
    PermissionRequest {
        agent: Some(agent.name().to_owned()),
        ..request(agent, &input)
    }
}

fn write(folder: &Path, file: &str, text: &str) {
    let file = folder.join(file);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}

impl Workplace {
    /// Decides with the gate of the default mode that has no rules and no preset.
    async fn decide_plainly(&self, request: &PermissionRequest) -> PermissionDecision {
        self.decide(&self.gates[0].1, request, "default").await
    }
}

#[tokio::test]
async fn a_variable_of_the_project_that_decides_what_runs_needs_approval() {
    let place = Workplace::new();
    let project = place.project();
    let (below, link) = (project.join("sub"), place.home.path().join("link/sub"));
    std::os::unix::fs::symlink(&project, link.parent().unwrap()).unwrap();
    for (turn, (agent, file, text)) in FILES.iter().enumerate() {
        let commands = [&project, &below, &link].map(|cwd| git_status(*agent, cwd));
        for command in &commands {
            let permission = place.decide_plainly(command).await;
            assert_eq!(permission.decision, Decision::AutoAllowed, "{file}");
        }
        for (at, (name, value)) in DECIDING.iter().enumerate() {
            write(&project, file, &text(name, value));
            for command in &commands {
                let extent = if at == 0 {
                    Extent::EachGate
                } else {
                    Extent::Weakest
                };
                place.assert_guarded(command, extent, turn + at).await;
                let permission = place.decide_plainly(command).await;
                let why = permission.reasoning;
                assert!(why.contains(name) && why.contains(file), "{file}: {why}");
            }
        }
        for (name, value) in INFORMING {
            write(&project, file, &text(name, value));
            for command in &commands {
                let permission = place.decide_plainly(command).await;
                assert_eq!(permission.decision, Decision::AutoAllowed, "{file}: {name}");
            }
        }
        fs::remove_file(project.join(file)).unwrap();
    }
}

#[tokio::test]
async fn variables_of_others_decide_nothing() {
    let place = Workplace::new();
    let project = place.project();
    let evil = ("BASH_ENV", "./start");
    // Those of the user, of another agent, and of a directory below that of the request.
    write(
        place.home.path(),
        ".claude/settings.json",
        &env_object(evil.0, evil.1),
    );
    write(&project, ".codex/config.toml", &policy(evil.0, evil.1));
    write(
        &project.join("sub"),
        ".claude/settings.json",
        &env_object(evil.0, evil.1),
    );
    for cwd in [&*project, place.home.path()] {
        let permission = place
            .decide_plainly(&git_status(Agent::ClaudeCode, cwd))
            .await;
        assert_eq!(
            permission.decision,
            Decision::AutoAllowed,
            "{}",
            cwd.display()
        );
    }
    let command = git_status(Agent::ClaudeCode, &project.join("sub"));
    let permission = place.decide_plainly(&command).await;
    assert_eq!(permission.decision, Decision::RequiresConfirmation);
}
