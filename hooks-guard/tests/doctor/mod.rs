//! Tests `doctor` in temporary home directories.

mod other_hooks;
mod switches;

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use hooks_guard::config::{Config, ConfigWarning};
use hooks_guard::doctor::{
    Check, CheckError, CheckState, Daemon, DoctorContext, RuleFile, Service, TrailStatus, examine,
    worst_state,
};
use hooks_guard::excerpt::Excerpt;
use hooks_guard::install::{Homes, InstallOptions, SettingsScope, install};
use hooks_guard::protocol::Agent;
use jiff::{Timestamp, ToSpan};
use tempfile::TempDir;

use crate::install::{SERVICE, installable, options};

/// Findings of the other components.
#[derive(Clone)]
struct Found {
    daemon: Result<Option<Daemon>, String>,
    audit: Result<Option<TrailStatus>, String>,
    rules: Vec<RuleFile>,
    configuration: Result<Vec<ConfigWarning>, CheckError>,
}

impl Service for Found {
    fn daemon(&self) -> Result<Option<Daemon>, String> {
        self.daemon.clone()
    }
    fn audit(&self) -> Result<Option<TrailStatus>, String> {
        self.audit.clone()
    }
    fn rules(&self) -> Vec<RuleFile> {
        self.rules.clone()
    }
    fn configuration(&self) -> Result<Vec<ConfigWarning>, CheckError> {
        self.configuration.clone()
    }
}

struct Home {
    directory: TempDir,
    homes: Homes,
    binary: PathBuf,
    path: OsString,
    private: Vec<PathBuf>,
    settings: Vec<PathBuf>,
    workspace: Vec<PathBuf>,
    variables: Vec<(String, String)>,
    project: Option<PathBuf>,
    found: Found,
}

/// Returns variables with a value.
fn set(names: &[&str]) -> Vec<(String, String)> {
    let pair = |name: &&str| ((*name).to_owned(), "1".to_owned());
    names.iter().map(pair).collect()
}

fn now() -> Timestamp {
    "2026-05-01T10:00:00Z".parse().unwrap()
}

impl Home {
    /// Creates a home without problems and without an agent.
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let homes = Homes::new(directory.path(), |_| None);
        let binary = directory.path().join("bin/hooks-guard");
        program(&binary);
        let audit = TrailStatus {
            database: "audit.db".into(),
            broken: None,
            newest: Some(now()),
            changed: (None, 0),
        };
        let daemon = Daemon {
            address: "127.0.0.1:3000".into(),
            version: env!("CARGO_PKG_VERSION").into(),
        };
        Self {
            path: directory.path().join("bin").into(),
            homes,
            binary,
            private: Vec::new(),
            settings: Vec::new(),
            workspace: vec![directory.path().join("project")],
            variables: Vec::new(),
            project: None,
            found: Found {
                daemon: Ok(Some(daemon)),
                audit: Ok(Some(audit)),
                rules: Vec::new(),
                configuration: Ok(Vec::new()),
            },
            directory,
        }
    }

    fn below(&self, path: &str) -> PathBuf {
        self.directory.path().join(path)
    }

    fn options(&self) -> InstallOptions {
        InstallOptions {
            homes: self.homes.clone(),
            binary: self.binary.clone(),
            ..options(self.directory.path())
        }
    }

    fn install(&self, agent: Agent) -> PathBuf {
        install(agent, &self.options()).unwrap().file
    }

    fn examine(&self) -> Vec<Check> {
        let around = DoctorContext {
            homes: &self.homes,
            project: self.project.as_deref(),
            workspace: &self.workspace,
            binary: &self.binary,
            config: Path::new("/srv/ada/.config/hooks-guard/config.toml"),
            database: Some("/srv/ada/.local/share/hooks-guard/audit.db"),
            service: SERVICE,
            variables: &self.variables,
            path: Some(&self.path),
            private: &self.private,
            settings: &self.settings,
            now: now(),
        };
        examine(&around, &self.found)
    }

    /// Returns the worst check with this name.
    fn check(&self, name: &str) -> Check {
        let checks = self.examine();
        let of_it = checks.into_iter().filter(|check| check.name == name);
        of_it
            .max_by_key(|check| check.state)
            .unwrap_or_else(|| panic!("nothing about {name}"))
    }

    fn assert(&self, name: &str, state: CheckState, what: &str) {
        let check = self.check(name);
        assert_eq!(check.state, state, "{check:?}");
        assert!(check.what.contains(what), "{check:?}");
        assert!(
            check.remedy.is_some() || state == CheckState::Ok,
            "{check:?}"
        );
    }
}

fn program(path: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, "").unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn every_check_is_ok_after_an_installation() {
    let home = Home::new();
    for agent in installable() {
        home.install(agent);
    }
    let checks = home.examine();
    assert_eq!(worst_state(&checks), CheckState::Ok, "{checks:#?}");
    for agent in installable() {
        home.assert(agent.name(), CheckState::Ok, "");
    }
    let json = serde_json::to_value(&checks).unwrap();
    assert_eq!(json[0]["name"], "binary");
    assert_eq!(json[0]["state"], "ok");
    assert!(json[0].get("remedy").is_none());
}

#[test]
fn a_binary_that_is_not_the_first_in_path_is_a_warning() {
    let mut home = Home::new();
    home.path = home.below("elsewhere").into();
    home.assert("binary", CheckState::Warn, "is not in PATH");
    program(&home.below("elsewhere/hooks-guard"));
    home.assert("binary", CheckState::Warn, "comes first in PATH");
    fs::remove_file(home.below("elsewhere/hooks-guard")).unwrap();
    symlink(&home.binary, home.below("elsewhere/hooks-guard")).unwrap();
    home.assert("binary", CheckState::Ok, "");
}

#[test]
fn agents_that_do_not_call_the_hook_are_reported() {
    let home = Home::new();
    home.assert("agents", CheckState::Warn, "no supported agent found");
    fs::create_dir(home.below(".claude")).unwrap();
    home.assert("claude-code", CheckState::Warn, "does not call the hook");
    assert!(
        home.check("claude-code")
            .remedy
            .unwrap()
            .contains("install claude-code")
    );
    fs::write(home.below(".claude/settings.json"), "{\"hooks\": 7}").unwrap();
    home.assert("claude-code", CheckState::Bad, "`hooks` is not an object");
    fs::write(home.below(".claude/settings.json"), "{\n  \"hooks\" 7}").unwrap();
    home.assert("claude-code", CheckState::Bad, "settings.json:2:11: ");
    fs::write(home.below(".claude/settings.json"), b"\xff").unwrap();
    home.assert("claude-code", CheckState::Bad, "not valid UTF-8");
}

#[test]
fn a_disabled_fail_closed_option_is_bad() {
    let home = Home::new();
    for (agent, on, off, name) in [
        (
            Agent::ClaudeCode,
            "\"onFailure\": \"block\"",
            "\"onFailure\": \"allow\"",
            "onFailure",
        ),
        (
            Agent::Cursor,
            "\"failClosed\": true",
            "\"failClosed\": false",
            "failClosed",
        ),
    ] {
        let file = home.install(agent);
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.contains(on));
        fs::write(&file, text.replace(on, off)).unwrap();
        home.assert(agent.name(), CheckState::Bad, name);
    }
}

#[test]
fn a_changed_hook_entry_is_reported() {
    let mut home = Home::new();
    let file = home.install(Agent::Gemini);
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("AfterTool", "AfterAgent")).unwrap();
    home.assert("gemini", CheckState::Bad, "`AfterTool`");
    fs::write(&file, text.replace("600000", "60000")).unwrap();
    home.assert(
        "gemini",
        CheckState::Warn,
        "differs from the one that this version",
    );
    fs::write(&file, &text).unwrap();
    home.assert("gemini", CheckState::Ok, "not if it times out");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
    home.assert("gemini", CheckState::Bad, "other users can write");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();

    let old = home.binary.clone();
    home.binary = home.below("new place/hooks-guard");
    program(&home.binary);
    home.assert("gemini", CheckState::Bad, "calls another binary");
    fs::remove_file(&old).unwrap();
    home.assert("gemini", CheckState::Bad, "which does not exist");
    home.install(Agent::Gemini);
    home.assert("gemini", CheckState::Ok, "");
}

#[test]
fn a_changed_plugin_is_bad() {
    let mut home = Home::new();
    let file = home.install(Agent::OpenCode);
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("\"deny\"", "\"allow\"")).unwrap();
    home.assert(
        "opencode",
        CheckState::Bad,
        "was changed after its installation",
    );
    fs::write(&file, text).unwrap();
    home.binary = home.below("other/hooks-guard");
    home.assert("opencode", CheckState::Bad, "calls another binary");
}

#[test]
fn a_changed_script_is_bad() {
    let mut home = Home::new();
    let file = home.install(Agent::Cline);
    home.assert("cline", CheckState::Ok, "not if it times out");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("true", "false")).unwrap();
    home.assert("cline", CheckState::Bad, "the script");
    fs::write(&file, text).unwrap();
    home.binary = home.below("other/hooks-guard");
    home.assert("cline", CheckState::Bad, "calls another binary");
}

/// Kimi Code 2.1.0 ignores its whole list of hooks if it rejects one table.
#[test]
fn a_table_that_kimi_code_rejects_is_bad() {
    let home = Home::new();
    let file = home.install(Agent::KimiCode);
    home.assert("kimi-code", CheckState::Ok, "not if it times out");
    let text = fs::read_to_string(&file).unwrap();
    for (table, named) in [
        (
            "event = \"Unknown\"\ncommand = \"x\"",
            "entry 4 of `hooks` with the unknown event `Unknown`",
        ),
        ("command = \"x\"", "no event"),
        ("event = \"Stop\"", "no command"),
        ("event = \"Stop\"\ncommand = \"\"", "no command"),
        (
            "event = \"Stop\"\ncommand = \"x\"\ntimeout = 601",
            "`timeout`",
        ),
        (
            "event = \"Stop\"\ncommand = \"x\"\ntimeout = 0",
            "`timeout`",
        ),
        (
            "event = \"Stop\"\ncommand = \"x\"\ntimeout = 1.5",
            "`timeout`",
        ),
        (
            "event = \"Stop\"\ncommand = \"x\"\nmatcher = 1",
            "`matcher`",
        ),
        ("event = \"Stop\"\ncommand = \"x\"\nname = \"x\"", "`name`"),
    ] {
        fs::write(&file, format!("{text}\n[[hooks]]\n{table}\n")).unwrap();
        home.assert("kimi-code", CheckState::Bad, named);
        home.assert("kimi-code", CheckState::Bad, "ignores all hooks");
    }
    let other = "event = \"Stop\"\nmatcher = \"x\"\ncommand = \"x\"\ntimeout = 600";
    fs::write(&file, format!("{text}\n[[hooks]]\n{other}\n")).unwrap();
    let checks = home.examine().into_iter();
    let states: Vec<_> = checks
        .filter(|check| check.name == "kimi-code")
        .map(|check| check.state)
        .collect();
    assert_eq!(states, [CheckState::Ok]);
}

/// Pi runs the extensions of a project before the one of the guard.
#[test]
fn what_pi_loads_from_a_project_is_reported() {
    let mut home = Home::new();
    home.install(Agent::Pi);
    let folder = home.below("work/project");
    home.workspace = vec![folder.clone()];
    let warnings = |home: &Home| -> Vec<String> {
        let checks = home.examine().into_iter();
        let is_warning = |check: &Check| check.name == "pi" && check.state == CheckState::Warn;
        checks.filter(is_warning).map(|check| check.what).collect()
    };
    assert_eq!(warnings(&home), [""; 0]);
    fs::create_dir_all(folder.join(".pi/extensions")).unwrap();
    fs::write(folder.join(".pi/settings.json"), "{\"theme\": \"x\"}").unwrap();
    assert_eq!(warnings(&home), [""; 0]);
    fs::write(folder.join(".pi/extensions/mine.ts"), "").unwrap();
    let found = warnings(&home);
    assert!(
        found.len() == 1 && found[0].contains("`mine.ts`"),
        "{found:?}"
    );
    let text = "{\"shellCommandPrefix\": \"x\", /* c */ \"packages\": [\"npm:a\"]}";
    fs::write(folder.join(".pi/settings.json"), text).unwrap();
    let found = warnings(&home);
    assert_eq!(found.len(), 3, "{found:?}");
    for key in ["`packages`", "`shellCommandPrefix`"] {
        assert!(
            found.iter().any(|what| what.contains(key)),
            "{key}: {found:?}"
        );
    }
}

/// Goose 1.52.0 loads one plugin of each name, and prefers that of the project.
#[test]
fn a_plugin_of_the_project_that_replaces_the_one_for_goose_is_bad() {
    let mut home = Home::new();
    let user = home.install(Agent::Goose);
    let folder = home.below("work/project");
    home.workspace = vec![folder.clone()];
    home.assert("goose", CheckState::Ok, "calls the hook");
    let states = |home: &Home| -> Vec<(CheckState, String)> {
        let checks = home.examine().into_iter();
        let checks = checks.filter(|check| check.name == "goose");
        checks.map(|check| (check.state, check.what)).collect()
    };
    assert_eq!(states(&home).len(), 1);
    let plugin = folder.join(".agents/plugins/hooks-guard");
    fs::create_dir_all(plugin.join("hooks")).unwrap();
    home.assert("goose", CheckState::Bad, "replaces the plugin of the guard");
    let hooks = plugin.join("hooks/hooks.json");
    fs::write(&hooks, "{\"hooks\": {}}").unwrap();
    home.assert("goose", CheckState::Bad, "replaces the plugin of the guard");
    fs::copy(user, &hooks).unwrap();
    assert_eq!(states(&home).len(), 1, "{:?}", states(&home));
}

/// The user's settings of Goose 1.52.0, and a variable, can disable a plugin by its path.
#[test]
fn a_plugin_that_goose_disables_by_its_path_is_bad() {
    let mut home = Home::new();
    let hooks = home.install(Agent::Goose);
    let plugin = hooks.parent().unwrap().parent().unwrap();
    let plugin = plugin.display().to_string();
    let settings = home.below(".config/goose/config.yaml");
    fs::create_dir_all(settings.parent().unwrap()).unwrap();
    let checks = |home: &Home| -> Vec<Check> {
        let checks = home.examine().into_iter();
        checks
            .filter(|check| check.name == "goose" && check.state == CheckState::Bad)
            .collect()
    };
    for (text, is_bad) in [
        (format!("plugins:\n  {plugin}:\n    enabled: true\n"), false),
        (format!("plugins:\n  {plugin}:\n    enabled: false\n"), true),
        (
            format!("plugins:\n  '{plugin}': {{enabled: false}}\n"),
            true,
        ),
        (
            "plugins:\n  /srv/other:\n    enabled: false\n".to_owned(),
            false,
        ),
    ] {
        fs::write(&settings, &text).unwrap();
        assert_eq!(!checks(&home).is_empty(), is_bad, "{text}");
    }
    fs::remove_file(&settings).unwrap();
    for (value, is_bad) in [
        (format!("{{\"{plugin}\": {{\"enabled\": false}}}}"), true),
        (format!("{{\"{plugin}\": {{\"enabled\": true}}}}"), false),
        ("git docker".to_owned(), false),
    ] {
        home.variables = vec![("PLUGINS".to_owned(), value.clone())];
        assert_eq!(!checks(&home).is_empty(), is_bad, "{value}");
    }
}

#[test]
fn agent_settings_that_disable_hooks_are_bad() {
    let home = Home::new();
    home.install(Agent::ClaudeCode);
    fs::write(
        home.below(".claude/settings.local.json"),
        "{\"disableAllHooks\": true}",
    )
    .unwrap();
    home.assert("claude-code", CheckState::Bad, "disableAllHooks");
    home.install(Agent::Gemini);
    let file = home.below(".gemini/settings.json");
    let text = fs::read_to_string(&file).unwrap();
    let off = text.replacen(
        '{',
        "{\"hooksConfig\": {\"enabled\": false}, // for now\n",
        1,
    );
    fs::write(&file, off).unwrap();
    home.assert("gemini", CheckState::Bad, "`hooksConfig.enabled`");
}

/// Codex silently skips hooks that its user has not trusted; `install` trusts them.
#[test]
fn hooks_not_trusted_by_codex_are_bad() {
    let home = Home::new();
    home.install(Agent::Codex);
    home.assert("codex", CheckState::Ok, "not if it times out");
    let config = home.below(".codex/config.toml");
    let trusted = fs::read_to_string(&config).unwrap();
    fs::remove_file(&config).unwrap();
    home.assert("codex", CheckState::Bad, "is not trusted");
    let remedy = home.check("codex").remedy.unwrap();
    assert!(
        remedy.contains("install codex") && remedy.contains("/hooks"),
        "{remedy}"
    );
    fs::write(&config, trusted.replacen("sha256:", "sha256:0", 1)).unwrap();
    home.assert("codex", CheckState::Bad, "has changed since it was trusted");
    let off = trusted.replacen("trusted_hash", "enabled = false\ntrusted_hash", 1);
    fs::write(&config, off).unwrap();
    home.assert("codex", CheckState::Bad, "is disabled");
    let one_less = trusted.rsplit_once("[hooks.state").unwrap().0;
    fs::write(&config, one_less).unwrap();
    home.assert("codex", CheckState::Bad, "is not trusted");
    home.install(Agent::Codex);
    home.assert("codex", CheckState::Ok, "");
}

#[test]
fn codex_settings_that_prevent_the_hook_are_reported() {
    let home = Home::new();
    home.install(Agent::Codex);
    let config = home.below(".codex/config.toml");
    let trusted = fs::read_to_string(&config).unwrap();
    for (settings, state, what) in [
        ("", CheckState::Ok, ""),
        ("approval_policy = \"never\"\n", CheckState::Ok, ""),
        ("approval_policy = \"on-request\"\n", CheckState::Ok, ""),
        (
            "approval_policy = \"untrusted\"\n",
            CheckState::Warn,
            "does not start with it",
        ),
        (
            "[profiles.careful]\napproval_policy = \"untrusted\"\n",
            CheckState::Warn,
            "does not start with it",
        ),
        (
            "features.hooks = false\n",
            CheckState::Bad,
            "features.hooks",
        ),
        (
            "approval_policy = untrusted\n",
            CheckState::Bad,
            "config.toml:1:19: invalid TOML",
        ),
    ] {
        fs::write(&config, format!("{settings}{trusted}")).unwrap();
        home.assert("codex", state, what);
    }
}

/// From 2.1.295 on, Claude Code denies a tool call if the hook is late; the installed command
/// itself denies after any other failure.
#[test]
fn a_claude_code_version_that_ignores_late_hooks_is_a_warning() {
    let home = Home::new();
    home.install(Agent::ClaudeCode);
    program(&home.below("versions/2.1.294"));
    symlink(home.below("versions/2.1.294"), home.below("bin/claude")).unwrap();
    home.assert(
        "claude-code",
        CheckState::Warn,
        "2.1.294 runs the tool if the hook times out",
    );
    fs::remove_file(home.below("bin/claude")).unwrap();
    program(&home.below("lib/claude-code/cli.js"));
    symlink(
        home.below("lib/claude-code/cli.js"),
        home.below("bin/claude"),
    )
    .unwrap();
    home.assert("claude-code", CheckState::Ok, "");
    for (name, version, state) in [
        ("claude-code", "2.0.999", CheckState::Warn),
        ("claude-code", "2.1.295", CheckState::Ok),
        ("claude-code-linux-x64", "2.1.197", CheckState::Warn),
        ("claude-code-linux-x64", "3.0.0", CheckState::Ok),
    ] {
        let package = format!("{{\"name\": \"@anthropic-ai/{name}\", \"version\": \"{version}\"}}");
        fs::write(home.below("lib/claude-code/package.json"), package).unwrap();
        home.assert("claude-code", state, "");
    }
}

#[test]
fn a_daemon_of_another_version_is_bad() {
    let mut home = Home::new();
    home.assert("daemon", CheckState::Ok, "127.0.0.1:3000");
    home.found.daemon = Ok(None);
    home.assert("daemon", CheckState::Warn, "no daemon");
    home.found.daemon = Err("something else listens at 127.0.0.1:3000".into());
    home.assert("daemon", CheckState::Bad, "something else");
    home.found.daemon = Ok(Some(Daemon {
        address: "127.0.0.1:3000".into(),
        version: "0.0.1".into(),
    }));
    home.assert("daemon", CheckState::Bad, "0.0.1");
}

#[test]
fn a_broken_trail_and_a_wrong_clock_are_bad() {
    let mut home = Home::new();
    home.assert("clock", CheckState::Ok, "");
    let newest = now().checked_add(1.hour()).unwrap();
    home.found.audit = Ok(Some(TrailStatus {
        database: "audit.db".into(),
        broken: Some("entry 7 is not as it was written\u{1b}[2J".into()),
        newest: Some(newest),
        changed: (None, 0),
    }));
    home.assert("audit", CheckState::Bad, "entry 7");
    assert!(
        !home.check("audit").what.contains('\u{1b}'),
        "it is shown on a terminal"
    );
    home.assert("clock", CheckState::Bad, "but the newest record is from");
    home.found.audit = Err("the database is locked".into());
    home.assert("audit", CheckState::Bad, "locked");
    home.found.audit = Ok(None);
    home.assert("audit", CheckState::Ok, "no database yet");
}

/// Checks that `doctor` reports each mode of a file as stated.
fn assert_permissions(home: &mut Home, file: &Path, modes: [(u32, CheckState); 4]) {
    let name = file.file_name().unwrap().to_str().unwrap();
    for (mode, state) in modes {
        fs::set_permissions(file, fs::Permissions::from_mode(mode)).unwrap();
        home.assert("permissions", state, name);
    }
}

#[test]
fn a_private_file_readable_by_other_users_is_bad() {
    let mut home = Home::new();
    let file = home.below("audit.db");
    home.private = vec![file.clone(), home.below("not there")];
    fs::write(&file, "").unwrap();
    let modes = [
        (0o600, CheckState::Ok),
        (0o400, CheckState::Ok),
        (0o640, CheckState::Bad),
        (0o604, CheckState::Bad),
    ];
    assert_permissions(&mut home, &file, modes);
    assert!(
        home.check("permissions")
            .remedy
            .unwrap()
            .starts_with("chmod 600")
    );
}

/// A file with the mode of a usual umask passes, because rules and configuration are not secret.
#[test]
fn settings_may_be_readable_but_not_writable_by_other_users() {
    let mut home = Home::new();
    let file = home.below("rules.toml");
    home.settings = vec![file.clone(), home.below("not there")];
    fs::write(&file, "").unwrap();
    let modes = [
        (0o600, CheckState::Ok),
        (0o644, CheckState::Ok),
        (0o664, CheckState::Bad),
        (0o602, CheckState::Bad),
    ];
    assert_permissions(&mut home, &file, modes);
}

#[test]
fn rules_and_configuration_are_checked() {
    let mut home = Home::new();
    home.assert("configuration", CheckState::Ok, "");
    home.found.configuration = Ok(vec![ConfigWarning::new(
        "`dangerously_skip_confirmations` is on",
    )]);
    home.assert(
        "configuration",
        CheckState::Warn,
        "dangerously_skip_confirmations",
    );
    // The remedy of a warning is the one that it names.
    home.found.configuration = Ok(Config::default().warnings());
    let check = home.check("configuration");
    assert_eq!(
        check.what,
        "`cleanup` is `open`: everyone who can reach the service can delete records"
    );
    let remedy = "set `cleanup = \"operator\"` in the configuration";
    assert_eq!(check.remedy.as_deref(), Some(remedy));
    home.found.configuration = Err(CheckError {
        message: "config.toml:2:1: unknown key".to_owned(),
        excerpt: Some(Excerpt::new("a = 1\nbcd = 2\n", 6..9)),
    });
    home.assert("configuration", CheckState::Bad, "config.toml:2:1");
    let lines = ["bcd = 2".to_owned(), "^^^".to_owned()];
    assert_eq!(home.check("configuration").excerpt, Some(lines));
    let file = |mistakes: &[&str], trusted| RuleFile {
        path: "/srv/p/guard.toml".into(),
        mistakes: mistakes
            .iter()
            .map(|&line| line.to_owned().into())
            .collect(),
        trusted,
    };
    for (file, state, what) in [
        (file(&[], None), CheckState::Ok, "guard.toml"),
        (file(&[], Some(true)), CheckState::Ok, "guard.toml"),
        (file(&[], Some(false)), CheckState::Warn, "not trusted"),
        (
            file(&["guard.toml:1:1: x", "y"], Some(true)),
            CheckState::Bad,
            "x (and 1 more)",
        ),
    ] {
        home.found.rules = vec![file];
        home.assert("rules", state, what);
    }
}

/// `install` cannot register the hook for every agent of Kiro.
#[test]
fn an_agent_that_is_installed_by_hand_is_not_checked() {
    let home = Home::new();
    assert!(home.examine().iter().all(|check| check.name != "kiro"));
    fs::create_dir_all(home.below(".kiro/agents")).unwrap();
    home.assert("kiro", CheckState::Warn, "its hooks are not checked");
    let remedy = home.check("kiro").remedy.unwrap();
    assert!(remedy.contains("`hooks.preToolUse`"), "{remedy}");
}

#[test]
fn examining_changes_no_file() {
    let home = Home::new();
    for agent in installable() {
        home.install(agent);
    }
    let stamp = |path: &Path| fs::metadata(path).unwrap().modified().unwrap();
    let files: Vec<_> = installable()
        .map(|agent| home.homes.settings(agent, &SettingsScope::User))
        .collect();
    let before: Vec<_> = files
        .iter()
        .map(|file| (stamp(file), fs::read(file).unwrap()))
        .collect();
    home.examine();
    let after: Vec<_> = files
        .iter()
        .map(|file| (stamp(file), fs::read(file).unwrap()))
        .collect();
    assert_eq!(before, after);
}

const PROJECT: [(&str, &str); 7] = [
    (".claude/settings.json", r#"{"env": {"NAME": "x"}}"#),
    (
        ".claude/settings.local.json",
        r#"{/* c */ "env": {"NAME": "x",},}"#,
    ),
    (
        ".codex/config.toml",
        "[shell_environment_policy.set]\nNAME = 'x'\n",
    ),
    (
        ".vscode/settings.json",
        r#"{"terminal.integrated.env.linux": {"NAME": "x"}}"#,
    ),
    (".gemini/.env", "NAME=x\n"),
    (".env", "export NAME=x\n"),
    (".envrc", "export NAME=x\n"),
];

#[test]
fn variables_set_by_a_project_for_its_agent_are_bad() {
    for name in [
        "HOOKS_GUARD_CONFIG",
        "HOOKS_GUARD_DATABASE",
        "HOOKS_GUARD_LISTEN",
        "HOOKS_GUARD_SEMANTIC_URL",
        "XDG_CONFIG_HOME",
        "XDG_DATA_HOME",
        "HOME",
        "LD_PRELOAD",
        "DYLD_INSERT_LIBRARIES",
        "BASH_ENV",
        "CLAUDE_CONFIG_DIR",
        "PGHOST",
    ] {
        for (file, text) in PROJECT {
            let home = Home::new();
            home.assert("environment", CheckState::Ok, "no variable");
            let path = home.workspace[0].join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text.replace("NAME", name)).unwrap();
            home.assert("environment", CheckState::Bad, name);
            let check = home.check("environment");
            assert!(check.what.contains(file), "{check:?}");
            assert!(check.remedy.unwrap().contains(name));
            assert_eq!(worst_state(&home.examine()), CheckState::Bad);
        }
    }
}

#[test]
fn variables_that_only_restrict_or_inform_are_not_reported() {
    let home = Home::new();
    let path = home.workspace[0].join(".claude/settings.json");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let text =
        r#"{"env": {"HOOKS_GUARD_UNATTENDED": "1", "HOOKS_GUARD_LOG": "debug", "NO_COLOR": "1"}}"#;
    fs::write(&path, text).unwrap();
    home.assert("environment", CheckState::Ok, "no variable");
    fs::write(&path, r#"{"env": {"PATH": "bin:/usr/bin"}}"#).unwrap();
    home.assert("environment", CheckState::Warn, "which programs");
}

#[test]
fn variables_set_by_the_user_are_a_warning() {
    let mut home = Home::new();
    home.variables = set(&["HOME", "PATH", "XDG_CONFIG_HOME"]);
    home.assert("environment", CheckState::Ok, "no variable");
    home.variables = set(&["HOOKS_GUARD_CONFIG"]);
    home.assert("environment", CheckState::Warn, "hooks ignore it");
    home.variables.clear();
    fs::create_dir_all(home.below(".claude")).unwrap();
    let env = r#"{"env": {"HOOKS_GUARD_DATABASE": "x"}}"#;
    fs::write(home.below(".claude/settings.json"), env).unwrap();
    home.assert("environment", CheckState::Warn, "HOOKS_GUARD_DATABASE");
}

/// Earlier versions registered the hook without its files.
#[test]
fn a_hook_of_an_earlier_version_or_for_other_files_is_reported() {
    for agent in installable() {
        let home = Home::new();
        let file = home.install(agent);
        home.assert(agent.name(), CheckState::Ok, "calls the hook");
        let text = fs::read_to_string(&file).unwrap();
        if matches!(
            agent,
            Agent::OpenCode | Agent::Cline | Agent::Pi | Agent::KiloCode
        ) {
            continue;
        }
        let (config, trail) = (
            "/srv/ada/.config/hooks-guard/config.toml",
            "/srv/ada/.local/share/hooks-guard/audit.db",
        );
        let files = format!(" --config {config} --database {trail}");
        let quoted = format!(" --config '{config}' --database '{trail}'");
        fs::write(&file, text.replace(&files, "").replace(&quoted, "")).unwrap();
        home.assert(agent.name(), CheckState::Warn, "without `--config`");
        let check = home.check(agent.name());
        assert!(
            check
                .remedy
                .unwrap()
                .contains(&format!("hooks-guard install {agent}"))
        );
        fs::write(&file, text.replace("/srv/ada/.config", "/srv/bob/.config")).unwrap();
        home.assert(agent.name(), CheckState::Warn, "/srv/bob/.config");
        fs::write(&file, text.replace("share/hooks-guard/audit.db", "x.db")).unwrap();
        home.assert(agent.name(), CheckState::Warn, "x.db");
        home.install(agent);
        home.assert(agent.name(), CheckState::Ok, "calls the hook");
    }
}

#[test]
fn hooks_over_http_are_checked() {
    let mut home = Home::new();
    let mut options = InstallOptions {
        database: None,
        http: true,
        ..home.options()
    };
    let file = install(Agent::ClaudeCode, &options).unwrap().file;
    home.assert(
        "claude-code",
        CheckState::Warn,
        "`HOOKS_GUARD_AGENT_TOKEN` is not set",
    );
    home.variables = set(&["HOOKS_GUARD_AGENT_TOKEN"]);
    home.assert("claude-code", CheckState::Ok, "calls the hook over HTTP");
    home.assert("environment", CheckState::Ok, "no variable redirects");
    home.variables.extend(set(&["HTTP_PROXY"]));
    home.assert("claude-code", CheckState::Warn, "`HTTP_PROXY` is set");
    home.variables.pop();
    // The project sends the hooks to a program of the project.
    let project = home.below("project/.claude/settings.json");
    fs::create_dir_all(project.parent().unwrap()).unwrap();
    fs::write(&project, r#"{"env": {"HTTP_PROXY": "http://127.0.0.1:9"}}"#).unwrap();
    home.assert(
        "environment",
        CheckState::Warn,
        "can answer in the service's place",
    );
    fs::write(&project, r#"{"env": {"HOOKS_GUARD_AGENT_TOKEN": "x"}}"#).unwrap();
    home.assert(
        "environment",
        CheckState::Bad,
        "everyone who can read the file",
    );
    fs::remove_file(&project).unwrap();
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("\"onFailure\"", "\"onFail\"")).unwrap();
    home.assert("claude-code", CheckState::Bad, "lacks `onFailure`");
    fs::write(&file, text.replace(":3000/", ":4000/")).unwrap();
    home.assert("claude-code", CheckState::Warn, "differs from the one");
    fs::write(&file, &text).unwrap();
    program(&home.below("versions/2.1.294"));
    symlink(home.below("versions/2.1.294"), home.below("bin/claude")).unwrap();
    home.assert("claude-code", CheckState::Bad, "2.1.294 runs the tool");
    options.http = false;
    install(Agent::ClaudeCode, &options).unwrap();
    home.assert("claude-code", CheckState::Warn, "2.1.294 runs the tool");
}

/// Earlier versions registered the hook for shell and file tools only.
#[test]
fn an_entry_without_the_tools_of_mcp_servers_is_reported() {
    for (agent, pattern) in [
        (Agent::Codex, "|mcp__.*"),
        (Agent::Gemini, "|mcp_.*"),
        (Agent::Copilot, "|.+-.+"),
    ] {
        let home = Home::new();
        let file = home.install(agent);
        home.assert(agent.name(), CheckState::Ok, "calls the hook");
        let text = fs::read_to_string(&file).unwrap();
        let before = text.replace(pattern, "");
        assert_ne!(text, before);
        fs::write(&file, before).unwrap();
        let what = "does not call the hook for tools of MCP servers";
        home.assert(agent.name(), CheckState::Warn, what);
        home.install(agent);
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
        home.assert(agent.name(), CheckState::Ok, "calls the hook");
    }
}

#[test]
fn a_plugin_for_other_files_is_reported() {
    let home = Home::new();
    let options = InstallOptions {
        config: "/srv/bob/config.toml".into(),
        database: None,
        ..home.options()
    };
    install(Agent::OpenCode, &options).unwrap();
    home.assert(
        "opencode",
        CheckState::Warn,
        "differs from the one that this version",
    );
}
