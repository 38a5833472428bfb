//! Tests that the hook follows neither variables that a project can set nor files that it can
//! write.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::{Home, decision_of, pre_tool_use};
use crate::repository::make_repository;

/// A project with files that allow everything.
fn project() -> tempfile::TempDir {
    let project = tempfile::tempdir().expect("a folder");
    for folder in ["x", "x/hooks-guard", "x/.config/hooks-guard"] {
        fs::create_dir_all(project.path().join(folder)).expect("a folder");
    }
    make_repository(project.path());
    let skip = "dangerously_skip_confirmations = true\nenabled = false\n";
    let allow = "[[rule]]\neffect = 'allow'\nprogram = 'rm'\n";
    for folder in ["x", "x/hooks-guard", "x/.config/hooks-guard"] {
        let folder = project.path().join(folder);
        fs::write(folder.join("config.toml"), skip).expect("a file");
        fs::write(folder.join("rules.toml"), allow).expect("a file");
    }
    project
}

fn in_project(command: &str, project: &Path) -> Value {
    let mut input = pre_tool_use(command, "1");
    input["cwd"] = project.to_str().expect("text").into();
    input
}

#[test]
fn environment_variables_do_not_redirect_an_installed_hook() {
    let project = project();
    let x = project.path().join("x");
    let x = x.to_str().expect("text");
    let config = format!("{x}/config.toml");
    let trail = format!("{x}/audit.db");
    let server = "postgres://127.0.0.1:9/x";
    for variables in [
        &[("HOOKS_GUARD_CONFIG", config.as_str())][..],
        &[("HOOKS_GUARD_DATABASE", trail.as_str())],
        &[("HOOKS_GUARD_DATABASE", server)],
        &[("XDG_CONFIG_HOME", x)],
        &[
            ("XDG_CONFIG_HOME", x),
            ("XDG_DATA_HOME", x),
            ("XDG_STATE_HOME", x),
        ],
        &[("HOME", x)],
        &[("HOME", x), ("HOOKS_GUARD_CONFIG", config.as_str())],
        &[
            ("HOOKS_GUARD_LISTEN", "127.0.0.1:1"),
            ("HOOKS_GUARD_SOCKET", trail.as_str()),
        ],
        &[
            ("HOOKS_GUARD_SEMANTIC_URL", "http://127.0.0.1:9"),
            ("HOOKS_GUARD_SEMANTIC_MODEL", "x"),
        ],
        &[("PGHOST", "127.0.0.1"), ("PGOPTIONS", "-c search_path=x")],
    ] {
        let home = Home::new();
        for (agent, decision) in [("claude-code", "ask"), ("codex", "deny")] {
            let input = in_project("rm -rf build", project.path());
            let output = home.hook_in(variables, agent, &[], &input);
            let (actual, reason) = decision_of(&output);
            assert_eq!(actual, decision, "{variables:?}: {reason}");
            assert!(reason.starts_with("DELETE"), "{variables:?}: {reason}");
        }
        assert_eq!(home.trail().len(), 2, "{variables:?}");
    }
    let mut files: Vec<PathBuf> = Vec::new();
    for folder in ["x", "x/hooks-guard", "x/.config/hooks-guard"] {
        let entries = fs::read_dir(project.path().join(folder)).expect("a folder");
        files.extend(entries.map(|entry| entry.expect("a file").path()));
    }
    files.retain(|file| file.is_file());
    assert_eq!(files.len(), 6, "nothing was written there: {files:?}");
}

/// A hook installed by an earlier version names no files.
#[test]
fn environment_variables_do_not_redirect_a_hook_without_options() {
    let project = project();
    let x = project.path().join("x");
    let mut command = Home::new().command();
    command
        .env("HOME", &x)
        .env("XDG_CONFIG_HOME", &x)
        .env("XDG_DATA_HOME", &x)
        .env("XDG_STATE_HOME", &x)
        .env("HOOKS_GUARD_CONFIG", x.join("config.toml"))
        .env("HOOKS_GUARD_DATABASE", x.join("audit.db"));
    // Only this user's files count, and they could be any: run the hook to see which ones it opens.
    let input = in_project("frobnicate --help-me", project.path());
    command.args(["hook", "codex", "--database"]);
    let trail = tempfile::tempdir().expect("a folder");
    let mut named = Command::new(command.get_program());
    named
        .args(command.get_args())
        .arg(trail.path().join("audit.db"));
    named.env_clear();
    named.envs(
        command
            .get_envs()
            .filter_map(|(name, value)| Some((name, value?))),
    );
    let (actual, reason) = decision_of(&super::run_hook(&mut named, &input));
    assert_eq!(actual, "deny", "{reason}");
    let output = super::run_hook(command.arg("relative.db"), &input);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned()
        + &String::from_utf8_lossy(&output.stdout);
    assert!(stderr.contains("not an absolute path"), "{stderr}");
    assert!(!x.join("audit.db").exists() && !x.join("hooks-guard/audit.db").exists());
}

/// Containers set another `HOME` than the user database has.
#[test]
fn without_options_or_installation_home_selects_the_files() {
    let used = hooks_guard::places::Places::of_user()
        .is_some_and(|user| user.config.exists() || user.data.join("service.key").exists());
    if used {
        eprintln!("left out: the guard is installed for this user");
        return;
    }
    let home = Home::new();
    let mut hook = home.command();
    hook.args(["hook", "claude-code"]);
    let input = pre_tool_use("rm -rf build", "1");
    assert_eq!(decision_of(&super::run_hook(&mut hook, &input)).0, "ask");
    assert_eq!(home.trail().len(), 1);
    // These directories in the project have no effect.
    let project = project();
    let mut hook = home.command();
    hook.args(["hook", "claude-code"]);
    hook.env("HOME", project.path().join("x"));
    let input = in_project("rm -rf build", project.path());
    let (actual, reason) = decision_of(&super::run_hook(&mut hook, &input));
    assert_eq!(actual, "ask", "{reason}");
    assert!(reason.contains("is inside the project"), "{reason}");
}

#[test]
fn the_hook_uses_the_defaults_if_the_configuration_is_missing() {
    let home = Home::new();
    assert!(!home.config_file().exists());
    let read = home.hook("claude-code", &[], &pre_tool_use("git status", "1"));
    assert_eq!(decision_of(&read).0, "allow");
    let output = home
        .command()
        .args(["check", "ls", "--config"])
        .arg(home.config_file())
        .output()
        .expect("it runs");
    assert!(
        !output.status.success(),
        "a configuration named by a person must exist"
    );
}

#[test]
fn configuration_trail_and_scripts_in_the_project_are_refused() {
    let project = project();
    let deep = project.path().join("src/deep");
    fs::create_dir_all(&deep).expect("a folder");
    let link = tempfile::tempdir().expect("a folder");
    let linked = link.path().join("config.toml");
    std::os::unix::fs::symlink(project.path().join("x/config.toml"), &linked).expect("a link");
    let inside = project.path().join("x/config.toml");
    let absent = project.path().join("x/none.toml");
    let home = Home::new();
    for cwd in [project.path(), &deep] {
        for config in [&inside, &absent, &linked] {
            for (agent, decision) in [("claude-code", "ask"), ("codex", "deny")] {
                let mut command = home.command();
                command.args(["hook", agent, "--config"]).arg(config);
                command.arg("--database").arg(home.database());
                let output = super::run_hook(&mut command, &in_project("ls", cwd));
                let (actual, reason) = decision_of(&output);
                assert_eq!(actual, decision, "{config:?}: {output:?}");
                assert!(reason.contains("inside the project"), "{reason}");
                assert!(reason.contains("hooks-guard install"), "{reason}");
            }
        }
        let mut command = home.command();
        command
            .args(["hook", "claude-code", "--config"])
            .arg(home.config_file());
        command
            .arg("--database")
            .arg(project.path().join("x/audit.db"));
        let (actual, reason) = decision_of(&super::run_hook(&mut command, &in_project("ls", cwd)));
        assert_eq!(actual, "ask", "{reason}");
        assert!(!project.path().join("x/audit.db").exists());
    }
    // A restricting script is useless once the project can replace it.
    let scripts = format!("scripts = ['{}']", project.path().join("x/s.js").display());
    home.config(&scripts);
    let output = home.hook("codex", &[], &in_project("ls", project.path()));
    let (actual, reason) = decision_of(&output);
    assert_eq!(actual, "deny", "{output:?}");
    assert!(reason.contains("s.js` is inside the project"), "{reason}");
    // For a request outside the project, the file is an ordinary file.
    let mut command = home.command();
    command
        .args(["hook", "claude-code", "--config"])
        .arg(&inside);
    command.arg("--database").arg(home.database());
    let output = super::run_hook(&mut command, &pre_tool_use("ls", "1"));
    assert!(
        output.status.success() && output.stdout.is_empty(),
        "it is off: {output:?}"
    );
}

#[test]
fn files_writable_by_other_users_are_refused() {
    let home = Home::new();
    home.config("auto_allow_read = true");
    let folder = home.config_file().parent().expect("a folder").to_owned();
    home.rules("");
    decision_of(&home.hook("claude-code", &[], &pre_tool_use("ls", "0")));
    let data = home.database().parent().expect("a folder").to_owned();
    for (path, mode) in [
        (home.config_file(), 0o646),
        (home.rules_file(), 0o666),
        (folder.clone(), 0o777),
        (home.database(), 0o606),
        (data, 0o707),
    ] {
        let original = fs::metadata(&path).expect("it is there").permissions();
        fs::set_permissions(&path, PermissionsExt::from_mode(mode)).expect("it is ours");
        let (actual, reason) =
            decision_of(&home.hook("claude-code", &[], &pre_tool_use("ls", "1")));
        assert_eq!(actual, "ask", "{path:?}: {reason}");
        assert!(reason.contains("other users can write"), "{reason}");
        let (actual, _) = decision_of(&home.hook("codex", &[], &pre_tool_use("ls", "1")));
        assert_eq!(actual, "deny");
        let doctor = home.command().args(["doctor", "--json"]).output();
        let doctor = doctor.expect("it runs");
        let printed = String::from_utf8_lossy(&doctor.stdout);
        assert!(printed.contains("hooks refuse to decide"), "{printed}");
        assert_eq!(doctor.status.code(), Some(1));
        fs::set_permissions(&path, original).expect("it is ours");
        assert_eq!(
            decision_of(&home.hook("claude-code", &[], &pre_tool_use("ls", "1"))).0,
            "allow"
        );
    }
}

/// The user's settings stay protected if variables move an agent's settings.
#[test]
fn agent_settings_stay_protected_if_a_variable_moves_them() {
    let home = Home::new();
    home.config("");
    let allow = "[[rule]]\neffect = 'allow'\nprogram = 'touch'\n";
    home.rules(allow);
    let settings = home.path().join(".claude/settings.json");
    for variables in [&[][..], &[("CLAUDE_CONFIG_DIR", "/srv/x")]] {
        let touch = format!("touch {}", settings.display());
        let (actual, reason) =
            decision_of(&home.hook_in(variables, "claude-code", &[], &pre_tool_use(&touch, "1")));
        assert_eq!(actual, "ask", "{variables:?}: {reason}");
    }
}

/// The shell expands `~` to `HOME`; the guard's files are those of the user.
#[test]
fn a_tilde_is_resolved_with_the_homes_of_shell_and_user() {
    let home = Home::new();
    home.config("");
    let allow = "[[rule]]\neffect = 'allow'\nprogram = 'touch'\n";
    home.rules(allow);
    let above = home.path().join(".config");
    let above = above.to_str().expect("text");
    for (variables, command, decision) in [
        (&[][..], "touch ~/notes.txt", "allow"),
        (&[("HOME", above)], "touch ~/notes.txt", "allow"),
        (&[("HOME", above)], "touch ~/hooks-guard/config.toml", "ask"),
        (
            &[("HOME", above)],
            "touch $HOME/hooks-guard/rules.toml",
            "ask",
        ),
    ] {
        let input = pre_tool_use(command, "1");
        let (actual, reason) = decision_of(&home.hook_in(variables, "claude-code", &[], &input));
        assert_eq!(actual, decision, "{command}: {reason}");
        // Also with a service, which has another home directory.
        let _service = super::Service::start(&home);
        let (actual, reason) = decision_of(&home.hook_in(variables, "claude-code", &[], &input));
        assert_eq!(actual, decision, "with a service, {command}: {reason}");
    }
}

/// The arguments written by `install` determine the hook's files, whatever the environment is
/// later.
#[test]
fn an_installed_hook_uses_the_files_of_its_installation() {
    let home = Home::new();
    let bin = home.path().join("bin");
    fs::create_dir_all(&bin).expect("a folder");
    let binary = bin.join("hooks-guard");
    // A file that this process has open for writing while another thread forks cannot be executed.
    let copied = Command::new("cp")
        .arg(env!("CARGO_BIN_EXE_hooks-guard"))
        .arg(&binary)
        .status();
    assert!(copied.expect("it runs").success());
    let install = |home: &Home, more: &[&str]| {
        let mut command = Command::new(&binary);
        command
            .env_clear()
            .env("HOME", home.path())
            .args(["install", "claude-code"])
            .args(more);
        let output = command.output().expect("it runs");
        assert!(output.status.success(), "{output:?}");
        let settings = home.path().join(".claude/settings.json");
        let settings = fs::read_to_string(settings).expect("it is there");
        let settings: Value = serde_json::from_str(&settings).expect("JSON");
        let line = &settings["hooks"]["PreToolUse"][0]["hooks"][0]["command"];
        line.as_str().expect("text").to_owned()
    };
    let line = install(&home, &[]);
    assert!(
        line.contains(&format!("--config {}", home.config_file().display())),
        "{line}"
    );
    assert!(
        line.contains(&format!("--database {}", home.database().display())),
        "{line}"
    );
    let project = project();
    let x = project.path().join("x");
    let mut hook = Command::new("sh");
    hook.args(["-c", &line]).env_clear();
    for name in ["HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"] {
        hook.env(name, &x);
    }
    hook.env("HOOKS_GUARD_CONFIG", x.join("config.toml"));
    let input = in_project("rm -rf build", project.path());
    let (actual, reason) = decision_of(&super::run_hook(&mut hook, &input));
    assert_eq!(actual, "ask", "{reason}");
    assert_eq!(home.trail().len(), 1);

    // A password belongs in the configuration, which other users cannot read.
    let trail = home.path().join("other.db");
    let trail = trail.to_str().expect("text");
    for (database, written) in [
        (trail, Some(trail)),
        (
            "postgres://guard@db.example/trail",
            Some("postgres://guard@db.example/trail"),
        ),
        ("postgres://guard:hunter2@db.example/trail", None),
        (
            "postgres://db.example/trail?user=guard&password=hunter2",
            None,
        ),
    ] {
        home.config(&format!("database = '{database}'"));
        let line = install(&home, &[]);
        assert!(!line.contains("hunter2"), "{line}");
        assert_eq!(line.contains("--database"), written.is_some(), "{line}");
        assert!(
            written.is_none_or(|written| line.contains(written)),
            "{line}"
        );
    }
    // An unreadable configuration does not prevent uninstalling.
    home.config("no = such_key");
    let uninstall = Command::new(&binary)
        .env_clear()
        .env("HOME", home.path())
        .args(["install", "claude-code", "--uninstall"])
        .output()
        .expect("it runs");
    assert!(uninstall.status.success(), "{uninstall:?}");
}
