//! Tests the changes of settings files.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::Command;

use hooks_guard::install::{
    FileChange, Homes, InstallError, SettingsScope, install, settings_files, uninstall,
};
use hooks_guard::protocol::Agent;
use serde_json::Value;

use crate::install::{Home, installable};

const TEXT: &str = "{\"model\": \"x\"}\n";

fn mode(path: &std::path::Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_dry_run_writes_nothing() {
    let mut home = Home::with(Agent::ClaudeCode, TEXT);
    home.options.dry_run = true;
    for agent in installable() {
        let report = home.install(agent);
        assert_ne!(report.change, FileChange::None, "{agent}");
        assert!(report.diff.contains("+++ "), "{agent}: {}", report.diff);
        assert_eq!(report.backup, None);
    }
    assert_eq!(home.files(), [home.settings(Agent::ClaudeCode)]);
    assert_eq!(home.read(Agent::ClaudeCode), TEXT);
    home.options.dry_run = false;
    home.install(Agent::ClaudeCode);
    let installed = home.read(Agent::ClaudeCode);
    home.options.dry_run = true;
    let report = home.uninstall(Agent::ClaudeCode);
    assert_eq!(report.change, FileChange::Changed);
    assert!(
        report
            .diff
            .lines()
            .any(|line| line == "+{\"model\": \"x\"}"),
        "{}",
        report.diff
    );
    assert_eq!(home.read(Agent::ClaudeCode), installed);
}

#[test]
fn a_backup_is_private_and_removed_with_the_hook() {
    let home = Home::with(Agent::ClaudeCode, TEXT);
    let file = home.settings(Agent::ClaudeCode);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    let backup = home.install(Agent::ClaudeCode).backup.unwrap();
    assert_eq!(backup, file.with_file_name("settings.json.hooks-guard.bak"));
    assert_eq!(fs::read_to_string(&backup).unwrap(), TEXT);
    assert_eq!((mode(&backup), mode(&file)), (0o600, 0o640));
    home.uninstall(Agent::ClaudeCode);
    assert_eq!(home.files(), std::slice::from_ref(&file));
    assert_eq!(mode(&file), 0o640);
}

#[test]
fn uninstalling_removes_the_created_files() {
    for agent in installable() {
        let home = Home::new();
        assert_eq!(home.uninstall(agent).change, FileChange::None);
        home.install(agent);
        assert_eq!(mode(&home.settings(agent)), 0o600);
        assert_eq!(home.uninstall(agent).change, FileChange::Removed, "{agent}");
        assert!(home.files().is_empty(), "{agent}");
    }
}

#[test]
fn symbolic_links_are_followed_and_preserved() {
    let home = Home::new();
    let kept = home.path().join("dotfiles.json");
    fs::write(&kept, TEXT).unwrap();
    let link = home.settings(Agent::ClaudeCode);
    fs::create_dir_all(link.parent().unwrap()).unwrap();
    symlink("../dotfiles.json", &link).unwrap();
    assert_eq!(
        fs::canonicalize(home.install(Agent::ClaudeCode).file).unwrap(),
        fs::canonicalize(&kept).unwrap()
    );
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(fs::read_to_string(&kept).unwrap().contains("onFailure"));
    home.uninstall(Agent::ClaudeCode);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(&kept).unwrap(), TEXT);

    fs::remove_file(&link).unwrap();
    symlink("settings.json", &link).unwrap();
    let error = install(Agent::ClaudeCode, &home.options).unwrap_err();
    assert!(matches!(error, InstallError::Read { .. }), "{error:?}");
}

#[test]
fn a_link_in_place_of_the_temporary_file_is_not_followed() {
    let home = Home::with(Agent::ClaudeCode, TEXT);
    let precious = home.path().join("precious");
    fs::write(&precious, "precious").unwrap();
    let name = format!("settings.json.{}.tmp", std::process::id());
    symlink(
        &precious,
        home.settings(Agent::ClaudeCode).with_file_name(name),
    )
    .unwrap();
    home.install(Agent::ClaudeCode);
    assert_eq!(fs::read_to_string(&precious).unwrap(), "precious");
    assert!(home.read(Agent::ClaudeCode).contains("onFailure"));
}

#[test]
fn unreadable_or_unwritable_settings_are_an_error() {
    let home = Home::with(Agent::ClaudeCode, TEXT);
    fs::write(home.settings(Agent::ClaudeCode), b"{\"a\": \"\xff\"}").unwrap();
    let error = install(Agent::ClaudeCode, &home.options).unwrap_err();
    assert!(matches!(error, InstallError::Encoding { .. }), "{error:?}");

    let home = Home::new();
    fs::create_dir_all(home.settings(Agent::ClaudeCode)).unwrap();
    let error = install(Agent::ClaudeCode, &home.options).unwrap_err();
    assert!(
        matches!(error, InstallError::Read { .. }),
        "a directory: {error:?}"
    );

    let home = Home::new();
    fs::write(home.path().join(".claude"), "no directory").unwrap();
    install(Agent::ClaudeCode, &home.options).unwrap_err();
    assert_eq!(home.files(), [home.path().join(".claude")]);
}

#[test]
fn a_binary_without_a_usable_path_is_not_installed() {
    let mut home = Home::new();
    for binary in [
        "hooks-guard",
        "./hooks-guard",
        "/opt/a\nb/hooks-guard",
        "/opt/guard",
        "",
    ] {
        home.options.binary = PathBuf::from(binary);
        let error = install(Agent::Codex, &home.options).unwrap_err();
        assert!(
            matches!(error, InstallError::Binary { .. }),
            "{binary}: {error:?}"
        );
        uninstall(Agent::Codex, &home.options).unwrap_err();
    }
    assert!(home.files().is_empty());
}

#[test]
fn a_path_with_spaces_and_quotes_is_one_word_for_the_shell() {
    let mut home = Home::new();
    let binary = home.path().join("it's a $(dir)").join("hooks-guard");
    fs::create_dir_all(binary.parent().unwrap()).unwrap();
    fs::write(&binary, "#!/bin/sh\nprintf '%s.' \"$@\"\n").unwrap();
    fs::set_permissions(&binary, fs::Permissions::from_mode(0o755)).unwrap();
    home.options.binary = binary;
    home.install(Agent::Codex);
    let settings: serde_json::Value = serde_json::from_str(&home.read(Agent::Codex)).unwrap();
    let command = settings["hooks"]["PreToolUse"][0]["hooks"][0]["command"]
        .as_str()
        .unwrap();
    let output = std::process::Command::new("sh")
        .arg("-c")
        .arg(command)
        .output()
        .unwrap();
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        "hook.codex.--timeout.600.--config./srv/ada/.config/hooks-guard/config.toml.\
         --database./srv/ada/.local/share/hooks-guard/audit.db."
    );
    assert_eq!(home.install(Agent::Codex).change, FileChange::None);
    assert_eq!(home.uninstall(Agent::Codex).change, FileChange::Removed);
}

#[test]
fn project_settings_are_inside_the_project() {
    let mut home = Home::new();
    let project = home.path().join("project");
    fs::create_dir(&project).unwrap();
    home.options.place = SettingsScope::Project(project.clone());
    // Kimi Code reads no hooks from a project, and Mistral Vibe only if its user trusts the folder.
    let of_user = [Agent::KimiCode, Agent::MistralVibe];
    for agent in installable().filter(|agent| !of_user.contains(agent)) {
        let file = home.install(agent).file;
        assert!(file.starts_with(&project), "{}", file.display());
        home.uninstall(agent);
    }
    assert!(home.files().is_empty());
}

#[test]
fn the_owner_of_the_settings_is_preserved() {
    let home = Home::with(Agent::ClaudeCode, TEXT);
    let file = home.settings(Agent::ClaudeCode);
    // A file of another owner, which only the superuser can create.
    if std::os::unix::fs::chown(&file, Some(12_345), Some(12_345)).is_err() {
        let why = "the test does not run as the superuser";
        assert!(std::env::var_os("HOOKS_REQUIRE_ALL").is_none(), "{why}");
        eprintln!("not looked at: {why}");
        return;
    }
    home.install(Agent::ClaudeCode);
    let metadata = fs::metadata(&file).unwrap();
    assert_eq!((metadata.uid(), metadata.gid()), (12_345, 12_345));
}

#[test]
fn absolute_paths_in_variables_select_the_settings() {
    let homes = Homes::new("/srv/me".as_ref(), |name| match name {
        "CODEX_HOME" => Some("/srv/codex".into()),
        "CLAUDE_CONFIG_DIR" => Some("relative".into()),
        _ => None,
    });
    assert_eq!(
        homes.settings(Agent::Codex, &SettingsScope::User),
        PathBuf::from("/srv/codex/hooks.json")
    );
    let claude = homes.settings(Agent::ClaudeCode, &SettingsScope::User);
    assert_eq!(claude, PathBuf::from("/srv/me/.claude/settings.json"));
}

#[test]
fn settings_files_contains_every_written_file() {
    let homes = Homes::new("/srv/me".as_ref(), |_| None);
    let files = settings_files(&homes, Some("/srv/me/p".as_ref()));
    for agent in Agent::ALL {
        for place in [
            SettingsScope::User,
            SettingsScope::Project("/srv/me/p".into()),
        ] {
            let file = homes.settings(agent, &place);
            assert!(files.contains(&file), "{}", file.display());
        }
    }
    for other in [
        "/srv/me/.codex/config.toml",
        "/srv/me/p/opencode.json",
        "/srv/me/p/.github/hooks",
    ] {
        assert!(files.contains(&PathBuf::from(other)), "{other}");
    }
    let distinct: BTreeSet<_> = files.iter().collect();
    assert_eq!(distinct.len(), files.len(), "each file is listed once");
}

/// Codex skips untrusted hooks: `install` trusts the hook, and changes nothing else.
#[test]
fn codex_trusts_an_installed_hook_until_it_is_uninstalled() {
    let text =
        "# mine\nmodel = \"x\"   # the best\n\n[projects.\"/srv/p\"]\ntrust_level = 'trusted'\n\n";
    let home = Home::new();
    let config = home.path().join(".codex/config.toml");
    fs::create_dir_all(config.parent().unwrap()).unwrap();
    fs::write(&config, text).unwrap();
    let report = home.install(Agent::Codex);
    let also = report.also.unwrap();
    assert_eq!(also.file, config);
    assert_eq!(also.change, FileChange::Changed);
    assert!(also.diff.contains("+trusted_hash"), "{}", also.diff);
    let trusted = fs::read_to_string(&config).unwrap();
    assert!(trusted.starts_with(text), "{trusted}");
    assert_eq!(trusted.matches("trusted_hash").count(), 3);
    let again = home.install(Agent::Codex);
    assert_eq!(again.also.unwrap().change, FileChange::None);
    home.uninstall(Agent::Codex);
    assert_eq!(fs::read_to_string(&config).unwrap(), text, "byte for byte");
    assert_eq!(home.files(), std::slice::from_ref(&config));

    let broken = "model = \n";
    fs::write(&config, broken).unwrap();
    let report = home.install(Agent::Codex);
    assert!(report.also.is_none());
    let by_hand = report.to_do.last().unwrap();
    assert!(by_hand.contains("Run `/hooks` in Codex"), "{by_hand}");
    assert_eq!(fs::read_to_string(&config).unwrap(), broken, "left alone");
    home.uninstall(Agent::Codex);

    fs::remove_file(&config).unwrap();
    home.install(Agent::Codex);
    home.uninstall(Agent::Codex);
    assert!(home.files().is_empty(), "{:?}", home.files());
}

/// `uninstall` restores a hand-written `config.toml` byte for byte.
#[test]
fn uninstalling_restores_the_configuration_of_codex_exactly() {
    for text in [
        "",
        " \n",
        "\u{feff}model = \"x\"\n",
        "model = \"x\"\r\n# c\r\n\r\n[projects.\"/srv/p\"]\r\ntrust_level = \"trusted\"\r\n",
    ] {
        let home = Home::new();
        let config = home.path().join(".codex/config.toml");
        fs::create_dir_all(config.parent().unwrap()).unwrap();
        fs::write(&config, text).unwrap();
        home.install(Agent::Codex);
        let trusted = fs::read_to_string(&config).unwrap();
        assert!(trusted.contains("trusted_hash"), "{text:?}: {trusted:?}");
        assert!(
            trusted.starts_with(text.trim_end()),
            "{text:?}: {trusted:?}"
        );
        home.uninstall(Agent::Codex);
        assert_eq!(fs::read_to_string(&config).unwrap(), text);
        assert_eq!(home.files(), std::slice::from_ref(&config));
    }
}

/// If the trust cannot be written, the hook is installed and the user is told the remaining step.
#[test]
fn unwritable_trust_is_a_remaining_step_for_the_user() {
    let home = Home::new();
    fs::create_dir_all(home.path().join(".codex/config.toml")).unwrap();
    let report = home.install(Agent::Codex);
    assert_eq!(report.change, FileChange::Created);
    assert!(report.also.is_none());
    let by_hand = report.to_do.last().unwrap();
    assert!(by_hand.contains("cannot read"), "{by_hand}");
    assert!(by_hand.contains("Run `/hooks` in Codex"), "{by_hand}");
}

/// The client's version is checked because older ones do not support `onFailure`.
#[test]
fn installing_for_claude_code_checks_its_version() {
    let mut home = Home::new();
    let bin = home.path().join("bin");
    fs::create_dir_all(&bin).unwrap();
    let claude = bin.join("claude");
    // The last note is about what can still switch the hook off.
    let remaining_steps = |home: &Home| {
        let mut steps = home.install(Agent::ClaudeCode).to_do;
        let last = steps.pop().expect("a note");
        assert!(last.contains("`hooks-guard run claude-code`"), "{last}");
        steps.join(" ")
    };
    home.options.path = Some(bin.into_os_string());
    assert_eq!(remaining_steps(&home), "", "Claude Code is not installed");
    fs::write(&claude, "").unwrap();
    fs::set_permissions(&claude, fs::Permissions::from_mode(0o755)).unwrap();
    assert!(
        remaining_steps(&home).contains("could not be determined"),
        "{}",
        remaining_steps(&home)
    );
    for (version, late) in [("2.1.197", true), ("2.1.295", false)] {
        let package = format!(
            "{{\"name\": \"@anthropic-ai/claude-code-linux-x64\", \"version\": \"{version}\"}}"
        );
        fs::write(claude.with_file_name("package.json"), package).unwrap();
        let remaining_steps = remaining_steps(&home);
        assert_eq!(
            remaining_steps.contains("2.1.197 runs the tool"),
            late,
            "{version}: {remaining_steps}"
        );
        assert_eq!(
            remaining_steps.is_empty(),
            !late,
            "{version}: {remaining_steps}"
        );
    }
}

/// Droid's events are at the top of the document, and Antigravity's in an object with the name of
/// the hook.
#[test]
fn the_events_are_where_the_agent_reads_them() {
    for (agent, pointer, text) in [
        (
            Agent::Droid,
            "/PreToolUse/1/hooks/0/command",
            r#"{"PreToolUse": [{"hooks": []}]}"#,
        ),
        (
            Agent::Antigravity,
            "/hooks-guard/PreToolUse/0/hooks/0/command",
            r#"{"mine": {"PreToolUse": []}}"#,
        ),
        (
            Agent::Crush,
            "/hooks/PreToolUse/0/command",
            r#"{"models": {}}"#,
        ),
        (Agent::Windsurf, "/hooks/pre_run_command/0/command", "{}"),
    ] {
        let home = Home::with(agent, text);
        home.install(agent);
        let installed: Value = serde_json::from_str(&home.read(agent)).unwrap();
        let line = installed.pointer(pointer).and_then(Value::as_str);
        let line = line.unwrap_or_else(|| panic!("{agent}: {installed}"));
        assert!(
            line.contains(&format!(" hook {agent} --timeout ")),
            "{line}"
        );
        assert_eq!(home.install(agent).change, FileChange::None, "{agent}");
        home.uninstall(agent);
        assert_eq!(home.read(agent), text, "{agent}");
        // Something else has changed since.
        home.install(agent);
        let changed = home.read(agent).replacen('{', "{\"other\": 1, ", 1);
        fs::write(home.settings(agent), &changed).unwrap();
        home.uninstall(agent);
        let left: Value = serde_json::from_str(&home.read(agent)).unwrap();
        let mut wanted: Value = serde_json::from_str(text).unwrap();
        wanted["other"] = 1.into();
        assert_eq!(left, wanted, "{agent}");
    }
}

/// Goose reads the hooks of a plugin, which needs a manifest.
#[test]
fn a_manifest_is_written_beside_the_hooks_of_goose() {
    let home = Home::new();
    let manifest = home.path().join(".agents/plugins/hooks-guard/plugin.json");
    let report = home.install(Agent::Goose);
    assert_eq!(report.also.unwrap().change, FileChange::Created);
    let text = fs::read_to_string(&manifest).unwrap();
    let value: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["name"], "hooks-guard");
    let hooks: Value = serde_json::from_str(&home.read(Agent::Goose)).unwrap();
    assert_eq!(
        hooks["hooks"]["PreToolUse"][0]["hooks"][0]["on_failure"],
        "block"
    );
    assert!(
        hooks["hooks"]["PostToolUse"][0]["hooks"][0]
            .get("on_failure")
            .is_none()
    );
    fs::write(&manifest, text.replace("1.0.0", "1.0.1")).unwrap();
    assert_eq!(
        home.install(Agent::Goose).also.unwrap().change,
        FileChange::None
    );
    assert!(
        home.uninstall(Agent::Goose).also.is_none(),
        "a changed manifest stays"
    );
    assert_eq!(home.files(), [manifest]);
}

#[test]
fn an_agent_without_settings_for_all_sessions_is_installed_by_hand() {
    let (agent, place) = (Agent::Kiro, "hooks.preToolUse");
    let home = Home::new();
    let error = install(agent, &home.options).unwrap_err();
    assert!(matches!(error, InstallError::ByHand { .. }), "{error:?}");
    let text = error.to_string();
    assert!(text.contains(place), "{text}");
    assert!(
        text.contains(&format!(
            "/opt/guard/hooks-guard hook {agent} --timeout 600"
        )),
        "{text}"
    );
    assert!(uninstall(agent, &home.options).is_err());
    assert!(home.files().is_empty());
}

/// The hook's reason is not followed by an error if the hook itself denies by its exit status.
#[test]
fn the_installed_command_denies_if_the_guard_fails() {
    let mut home = Home::new();
    let guard = home.path().join("bin/hooks-guard");
    fs::create_dir_all(guard.parent().unwrap()).unwrap();
    home.options.binary.clone_from(&guard);
    for (agent, by_status) in [(Agent::OpenHands, true), (Agent::Droid, false)] {
        home.install(agent);
        let installed: Value = serde_json::from_str(&home.read(agent)).unwrap();
        let events = installed.get("hooks").unwrap_or(&installed);
        let line = events["PreToolUse"][0]["hooks"][0]["command"]
            .as_str()
            .unwrap();
        for (script, status, said) in [
            ("exit 0", 0, ""),
            (
                "echo why >&2; exit 2",
                2,
                if by_status {
                    "why"
                } else {
                    "why\nhooks-guard failed: refused"
                },
            ),
            ("exit 1", 2, "hooks-guard failed: refused"),
            ("kill -KILL $$", 2, "hooks-guard failed: refused"),
        ] {
            fs::write(&guard, format!("#!/bin/sh\n{script}\n")).unwrap();
            fs::set_permissions(&guard, fs::Permissions::from_mode(0o755)).unwrap();
            let output = Command::new("sh").args(["-c", line]).output().unwrap();
            assert_eq!(output.status.code(), Some(status), "{agent} {script}");
            let stderr = String::from_utf8(output.stderr).unwrap();
            // The shell may report the signal.
            let stderr: Vec<_> = stderr
                .lines()
                .filter(|line| !line.contains("Killed"))
                .collect();
            assert_eq!(stderr.join("\n"), said, "{agent} {script}");
        }
        fs::remove_file(&guard).unwrap();
        let output = Command::new("sh").args(["-c", line]).output().unwrap();
        assert_eq!(
            output.status.code(),
            Some(2),
            "{agent}: the program is missing"
        );
        home.uninstall(agent);
    }
}
