//! Tests that `doctor` names every setting and variable that switches an agent's hooks off, in the
//! files of the user, the project, the directories above it and the machine.

use std::fs;
use std::path::Path;

use hooks_guard::doctor::{Check, CheckState};
use hooks_guard::protocol::Agent;

use super::{Home, set};

/// A setting that switches hooks off: the agent, its file in the home directory if it has one, its file
/// in a project if it has one, the document, and the key that `doctor` names.
type Switch = (
    Agent,
    Option<&'static str>,
    Option<&'static str>,
    &'static str,
    &'static str,
);

const SWITCHES: &[Switch] = &[
    (
        Agent::ClaudeCode,
        Some(".claude/settings.local.json"),
        Some(".claude/settings.json"),
        r#"{"disableAllHooks": true}"#,
        "disableAllHooks",
    ),
    (
        Agent::ClaudeCode,
        None,
        Some(".claude/settings.local.json"),
        r#"{"disableAllHooks": "true"}"#,
        "disableAllHooks",
    ),
    (
        Agent::QwenCode,
        None,
        Some(".qwen/settings.json"),
        "{\n  // off\n  \"disableAllHooks\": true,\n}",
        "disableAllHooks",
    ),
    (
        Agent::QwenCode,
        None,
        Some(".qwen/settings.json"),
        r#"{"hooksConfig": {"disabled": ["hooks-guard"]}}"#,
        "hooksConfig.disabled",
    ),
    (
        Agent::Droid,
        Some(".factory/settings.json"),
        Some(".factory/hooks.json"),
        r#"{"hooksDisabled": true}"#,
        "hooksDisabled",
    ),
    (
        Agent::Droid,
        Some(".factory/settings.local.json"),
        Some(".factory/settings.json"),
        r#"{"hooks": {"hooksDisabled": true}}"#,
        "hooks.hooksDisabled",
    ),
    (
        Agent::Pi,
        Some(".pi/agent/settings.json"),
        Some(".pi/settings.json"),
        r#"{"extensions": ["a.ts", "-extensions/hooks-guard.ts"]}"#,
        "extensions",
    ),
    (
        Agent::Pi,
        Some(".pi/agent/settings.json"),
        None,
        r#"{"extensions": ["!extensions/*.ts"]}"#,
        "extensions",
    ),
    (
        Agent::MistralVibe,
        None,
        Some(".vibe/hooks.toml"),
        "[[hooks]]\nname = \"x\"\n[[hooks]]\nname = \"hooks-guard-pre_tool-0\"\ncommand = \"true\"\n",
        "hooks.1.name",
    ),
    (
        Agent::LettaCode,
        None,
        Some(".letta/settings.json"),
        r#"{"hooks": {"disabled": true}}"#,
        "hooks.disabled",
    ),
    (
        Agent::Codex,
        Some(".codex/other.config.toml"),
        Some(".codex/config.toml"),
        "[features]\nhooks = false\n",
        "features.hooks",
    ),
    (
        Agent::Codex,
        None,
        Some(".codex/config.toml"),
        "features.codex_hooks = false\n",
        "features.codex_hooks",
    ),
    (
        Agent::Codex,
        None,
        Some(".codex/config.toml"),
        "[profiles.fast.features]\nhooks = false\n",
        "profiles.fast.features.hooks",
    ),
    (
        Agent::Codex,
        Some(".codex/requirements.toml"),
        None,
        "allow_managed_hooks_only = true\n",
        "allow_managed_hooks_only",
    ),
    (
        Agent::Gemini,
        None,
        Some(".gemini/settings.json"),
        r#"{"hooksConfig": {"enabled": false}}"#,
        "hooksConfig.enabled",
    ),
    (
        Agent::Gemini,
        None,
        Some(".gemini/settings.json"),
        r#"{"hooksConfig": {"disabled": ["x", "hooks-guard"]}}"#,
        "hooksConfig.disabled",
    ),
    (
        Agent::Gemini,
        None,
        Some(".gemini/settings.json"),
        r#"{"hooksConfig": {"disabled": ["/opt/bin/hooks-guard hook gemini --timeout 600"]}}"#,
        "hooksConfig.disabled",
    ),
    (
        Agent::Copilot,
        Some(".copilot/config.json"),
        Some(".github/copilot/settings.json"),
        r#"{"disableAllHooks": true}"#,
        "disableAllHooks",
    ),
    (
        Agent::Copilot,
        Some(".copilot/settings.json"),
        Some(".github/copilot/settings.local.json"),
        r#"{"disableAllHooks": true}"#,
        "disableAllHooks",
    ),
    (
        Agent::Copilot,
        None,
        Some(".claude/settings.json"),
        r#"{"disableAllHooks": true}"#,
        "disableAllHooks",
    ),
    (
        Agent::Copilot,
        None,
        Some(".claude/settings.local.json"),
        r#"{"disableAllHooks": true}"#,
        "disableAllHooks",
    ),
    (
        Agent::Goose,
        Some(".config/goose/settings.json"),
        Some(".config/goose/settings.json"),
        r#"{"disabledPlugins": ["other", "hooks-guard"]}"#,
        "disabledPlugins",
    ),
    (
        Agent::Goose,
        None,
        Some(".config/goose/settings.local.json"),
        r#"{"disabledPlugins": ["hooks-guard"]}"#,
        "disabledPlugins",
    ),
    (
        Agent::VsCode,
        None,
        Some(".vscode/settings.json"),
        r#"{"chat.useHooks": false}"#,
        "chat.useHooks",
    ),
];

fn write(file: &Path, text: &str) {
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}

/// Returns the failed checks of an agent.
fn failures(home: &Home, agent: Agent) -> Vec<Check> {
    let checks = home.examine().into_iter();
    let is_bad = |check: &Check| check.name == agent.name() && check.state == CheckState::Bad;
    checks.filter(is_bad).collect()
}

/// Asserts that `doctor` names a file and a key, and nothing without the file.
fn assert_named(home: &Home, agent: Agent, file: &Path, text: &str, key: &str) {
    assert_eq!(failures(home, agent), [], "{}", file.display());
    let before = fs::read_to_string(file).ok();
    write(file, text);
    let found = failures(home, agent);
    let [check] = &found[..] else {
        panic!("{} {text}: {found:#?}", file.display());
    };
    for part in [&*file.display().to_string(), &format!("`{key}`")] {
        assert!(check.what.contains(part), "{part}: {check:?}");
    }
    assert!(check.remedy.as_ref().unwrap().contains(key), "{check:?}");
    match before {
        Some(before) => fs::write(file, before).unwrap(),
        None => fs::remove_file(file).unwrap(),
    }
}

#[test]
fn each_setting_that_switches_hooks_off_is_named_with_its_file() {
    for (agent, user, project, text, key) in SWITCHES {
        let mut home = Home::new();
        home.install(*agent);
        if let Some(user) = user {
            assert_named(&home, *agent, &home.below(user), text, key);
        }
        let Some(path) = project else {
            continue;
        };
        // Directories around the current one, and the project of `--project`.
        let inner = home.below("work/project/sub");
        home.workspace = vec![inner.clone(), home.below("work/project")];
        assert_named(&home, *agent, &inner.join(path), text, key);
        assert_named(
            &home,
            *agent,
            &home.below("work/project").join(path),
            text,
            key,
        );
        home.workspace.clear();
        home.project = Some(inner.clone());
        assert_named(&home, *agent, &inner.join(path), text, key);
    }
}

#[test]
fn settings_that_keep_hooks_on_are_no_failure() {
    for (agent, _, project, text, _) in SWITCHES {
        let Some(path) = project else {
            continue;
        };
        let mut home = Home::new();
        home.install(*agent);
        let folder = home.below("work/project");
        home.workspace = vec![folder.clone()];
        let flipped = match text.contains("hooks-guard") {
            true => text.replace("hooks-guard", "another"),
            false if text.contains("true") => text.replace("true", "false"),
            false => text.replace("false", "true"),
        };
        write(&folder.join(path), &flipped);
        assert_eq!(failures(&home, *agent), [], "{path} {flipped}");
    }
}

#[test]
fn a_document_that_cannot_be_parsed_is_named_if_it_may_switch_hooks_off() {
    let mut home = Home::new();
    home.install(Agent::QwenCode);
    let folder = home.below("work/project");
    home.workspace = vec![folder.clone()];
    let file = folder.join(".qwen/settings.json");
    write(&file, "{disableAllHooks: true");
    let found = failures(&home, Agent::QwenCode);
    assert!(found[0].what.contains("cannot be parsed"), "{found:?}");
    write(&file, "{model");
    assert_eq!(failures(&home, Agent::QwenCode), []);
}

#[test]
fn a_file_named_by_a_variable_is_read() {
    for (agent, name, text, key) in [
        (
            Agent::Gemini,
            "GEMINI_CLI_SYSTEM_SETTINGS_PATH",
            r#"{"hooksConfig": {"enabled": false}}"#,
            "hooksConfig.enabled",
        ),
        (
            Agent::QwenCode,
            "QWEN_CODE_SYSTEM_DEFAULTS_PATH",
            r#"{"disableAllHooks": true}"#,
            "disableAllHooks",
        ),
        (
            Agent::ClaudeCode,
            "CLAUDE_CODE_MANAGED_SETTINGS_PATH",
            r#"{"allowManagedHooksOnly": true}"#,
            "allowManagedHooksOnly",
        ),
        (
            Agent::ClaudeCode,
            "CLAUDE_CODE_MANAGED_SETTINGS_PATH",
            r#"{"strictPluginOnlyCustomization": ["skills", "hooks"]}"#,
            "strictPluginOnlyCustomization",
        ),
    ] {
        let mut home = Home::new();
        home.install(agent);
        let file = home.below("elsewhere/system.json");
        home.variables = vec![(name.to_owned(), file.display().to_string())];
        assert_named(&home, agent, &file, text, key);
    }
}

/// Managed settings with the guard's hook may exclude all others.
#[test]
fn managed_settings_that_register_the_hook_may_exclude_other_hooks() {
    let mut home = Home::new();
    let installed = home.install(Agent::ClaudeCode);
    let file = home.below("elsewhere/managed-settings.json");
    let text = fs::read_to_string(installed).unwrap();
    let text = text.replacen('{', "{\"allowManagedHooksOnly\": true,", 1);
    write(&file, &text);
    let name = "CLAUDE_CODE_MANAGED_SETTINGS_PATH".to_owned();
    home.variables = vec![(name, file.display().to_string())];
    assert_eq!(failures(&home, Agent::ClaudeCode), []);
}

#[test]
fn variables_that_switch_hooks_off_are_named() {
    for (agent, name) in [
        (Agent::ClaudeCode, "CLAUDE_CODE_SAFE_MODE"),
        (Agent::ClaudeCode, "CLAUDE_CODE_SIMPLE"),
        (Agent::ClaudeCode, "CLAUDE_CODE_PERSONAL_HOOKS_OFF"),
        (Agent::QwenCode, "QWEN_CODE_SAFE_MODE"),
        (Agent::OpenCode, "OPENCODE_PURE"),
        (Agent::KiloCode, "KILO_PURE"),
    ] {
        let mut home = Home::new();
        home.install(agent);
        home.variables = set(&[name]);
        let found = failures(&home, agent);
        assert!(found[0].what.contains(name), "{found:?}");
        home.variables[0].1 = "0".to_owned();
        assert_eq!(failures(&home, agent), []);
        // A project sets it for the shell that starts the agent.
        home.variables.clear();
        let folder = home.below("project");
        write(&folder.join(".envrc"), &format!("export {name}=1\n"));
        home.assert("environment", CheckState::Bad, name);
    }
}

/// A project can move the settings of the user, and so the hook.
#[test]
fn variables_of_a_project_that_move_settings_are_bad() {
    for name in [
        "QWEN_HOME",
        "GEMINI_CLI_HOME",
        "GROK_HOME",
        "FACTORY_HOME_OVERRIDE",
    ] {
        let home = Home::new();
        let folder = home.below("project");
        write(&folder.join(".qwen/.env"), &format!("{name}=/tmp/x\n"));
        home.assert("environment", CheckState::Bad, name);
    }
}

/// OpenHands reads the file of a project instead of the file of the user.
#[test]
fn a_file_of_a_project_without_the_hook_switches_openhands_off() {
    let mut home = Home::new();
    home.install(Agent::OpenHands);
    assert_eq!(failures(&home, Agent::OpenHands), []);
    let folder = home.below("work/project");
    home.workspace = vec![folder.clone()];
    for text in [
        "{}",
        "{",
        r#"{"hooks": {"PreToolUse": [{"matcher": "x", "hooks": [{"type": "command", "command": "hooks-guard hook openhands"}]}]}}"#,
    ] {
        write(&folder.join(".openhands/hooks.json"), text);
        let found = failures(&home, Agent::OpenHands);
        let replaced = |check: &Check| check.what.contains("instead of the file of the user");
        assert!(found.iter().any(replaced), "{text}: {found:?}");
    }
}

/// An entry of a project cannot have the name of the entry of the user.
#[test]
fn the_hook_of_mistral_vibe_in_its_own_file_is_fine() {
    let home = Home::new();
    home.install(Agent::MistralVibe);
    home.assert(
        "mistral-vibe",
        CheckState::Ok,
        "the tool is blocked if the hook fails",
    );
    assert_eq!(failures(&home, Agent::MistralVibe), []);
}
