//! Tests that `doctor` names other hooks before a tool, and commands of a project that run without the
//! hook.

use std::fs;
use std::path::Path;

use hooks_guard::doctor::{Check, CheckState};
use hooks_guard::protocol::Agent;

use super::Home;

fn write(file: &Path, text: &str) {
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}

/// Returns the checks of an agent in a state.
fn checks(home: &Home, agent: Agent, state: CheckState) -> Vec<Check> {
    let checks = home.examine().into_iter();
    checks
        .filter(|check| check.name == agent.name() && check.state == state)
        .collect()
}

/// Files with another hook: the agent, the file below the home directory or a project, its text, and
/// what `doctor` names.
const OTHERS: &[(Agent, bool, &str, &str, &[&str])] = &[
    (
        Agent::ClaudeCode,
        false,
        ".claude/settings.json",
        r#"{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "./other"}]}]}}"#,
        &["`PreToolUse`", "`./other`", "`updatedInput`"],
    ),
    (
        Agent::ClaudeCode,
        true,
        ".claude/plugins/cache/a/b/hooks/hooks.json",
        r#"{"hooks": {"PreToolUse": [{"hooks": [{"type": "http", "url": "http://x.example"}]}]}}"#,
        &["`http://x.example`", "`updatedInput`"],
    ),
    (
        Agent::Codex,
        false,
        ".codex/config.toml",
        "[[hooks.PreToolUse]]\nhooks = [{ type = 'command', command = './other' }]\n",
        &["`./other`", "`updatedInput`"],
    ),
    (
        Agent::Gemini,
        true,
        ".gemini/extensions/x/hooks/hooks.json",
        r#"{"hooks": {"BeforeTool": [{"hooks": [{"type": "command", "command": "./other"}]}]}}"#,
        &["`BeforeTool`", "`tool_input`"],
    ),
    (
        Agent::Copilot,
        false,
        ".github/hooks/x.json",
        r#"{"version": 1, "hooks": {"preToolUse": [{"type": "command", "bash": "./other"}]}}"#,
        &["`./other`", "`modifiedArgs`"],
    ),
    (
        Agent::OpenCode,
        false,
        ".opencode/plugin/x.js",
        "export const X = async () => ({})",
        &["another plugin", "`output.args`"],
    ),
    (
        Agent::Cline,
        false,
        ".clinerules/hooks/PreToolUse.sh",
        "echo '{}'",
        &["another hook", "`overrideInput`"],
    ),
];

#[test]
fn another_hook_before_a_tool_is_named_with_what_it_may_change() {
    for (agent, of_user, path, text, parts) in OTHERS {
        let mut home = Home::new();
        home.install(*agent);
        let project = home.below("work/project");
        home.workspace = vec![project.clone()];
        assert_eq!(checks(&home, *agent, CheckState::Warn), [], "{agent}");
        let file = match of_user {
            true => home.below(path),
            false => project.join(path),
        };
        write(&file, text);
        let found = checks(&home, *agent, CheckState::Warn);
        let [check] = &found[..] else {
            panic!("{agent} {path}: {found:#?}");
        };
        for part in parts.iter().chain([&&*file.display().to_string()]) {
            assert!(check.what.contains(part), "{part}: {check:?}");
        }
    }
}

#[test]
fn hooks_at_other_events_and_the_own_hook_are_not_named() {
    let mut home = Home::new();
    home.install(Agent::ClaudeCode);
    let project = home.below("work/project");
    home.workspace = vec![project.clone()];
    write(
        &project.join(".claude/settings.json"),
        r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "./other"}]}],
            "PreToolUse": [{"hooks": [{"type": "command", "command": "/opt/hooks-guard hook claude-code"}]}]}}"#,
    );
    assert_eq!(checks(&home, Agent::ClaudeCode, CheckState::Warn), []);
}

#[test]
fn a_command_of_a_project_that_runs_without_the_hook_is_named() {
    for (agent, path, text) in [
        (
            Agent::Gemini,
            ".gemini/commands/a/tidy.toml",
            "prompt = 'x !{rm -r build}'",
        ),
        (
            Agent::QwenCode,
            ".qwen/commands/tidy.md",
            "x !{rm -r build}",
        ),
        (
            Agent::OpenCode,
            ".opencode/command/tidy.md",
            "x !`rm -r build`",
        ),
        (
            Agent::KiloCode,
            ".kilo/commands/a/tidy.md",
            "x !`rm -r build`",
        ),
        (Agent::LettaCode, ".commands/tidy.md", "x !`rm -r build`"),
    ] {
        let mut home = Home::new();
        home.install(agent);
        let project = home.below("work/project");
        home.workspace = vec![project.clone()];
        let file = project.join(path);
        write(&file, "only text");
        assert_eq!(checks(&home, agent, CheckState::Warn), []);
        write(&file, text);
        let found = checks(&home, agent, CheckState::Warn);
        assert_eq!(found.len(), 1, "{found:#?}");
        assert!(
            found[0].what.contains("does not call the hook for it"),
            "{found:?}"
        );
    }
    let mut home = Home::new();
    home.install(Agent::ClaudeCode);
    let project = home.below("work/project");
    home.workspace = vec![project.clone()];
    write(&project.join(".claude/commands/tidy.md"), "!`rm -r build`");
    assert_eq!(checks(&home, Agent::ClaudeCode, CheckState::Warn), []);
    let found = checks(&home, Agent::ClaudeCode, CheckState::Ok);
    let named = |check: &Check| check.what.contains("`PreSkillShellCommand`");
    assert!(found.iter().any(named), "{found:#?}");
}
