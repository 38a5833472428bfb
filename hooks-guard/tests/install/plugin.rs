//! Tests the plugin for opencode and Kilo Code, run by node with a stand-in for the binary.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use hooks_guard::install::{FileChange, InstallError, install, uninstall};
use hooks_guard::protocol::Agent;

use crate::install::Home;

#[test]
fn a_modified_plugin_is_neither_replaced_nor_removed() {
    let home = Home::new();
    home.install(Agent::OpenCode);
    assert_eq!(home.install(Agent::OpenCode).change, FileChange::None);
    let changed = home.read(Agent::OpenCode).replace("refuse(", "accept(");
    for text in [changed.as_str(), "export default async () => ({})\n", ""] {
        fs::write(home.settings(Agent::OpenCode), text).unwrap();
        for error in [
            install(Agent::OpenCode, &home.options).unwrap_err(),
            uninstall(Agent::OpenCode, &home.options).unwrap_err(),
        ] {
            assert!(matches!(error, InstallError::NotOurs { .. }), "{error:?}");
        }
        assert_eq!(home.read(Agent::OpenCode), text);
    }
}

#[test]
fn a_plugin_is_replaced_if_the_binary_has_moved() {
    let mut home = Home::new();
    home.install(Agent::OpenCode);
    home.options.binary = "/opt/\"new\"/hooks-guard".into();
    assert_eq!(home.install(Agent::OpenCode).change, FileChange::Changed);
    assert!(
        home.read(Agent::OpenCode)
            .contains(r#""/opt/\"new\"/hooks-guard""#)
    );
    assert_eq!(home.uninstall(Agent::OpenCode).change, FileChange::Removed);
    assert!(home.files().is_empty());
}

/// Returns what the plugin does: `returned`, or the error's message; for opencode 2 the effect.
fn run(binary: &str) -> Option<Vec<String>> {
    if Command::new("node").arg("--version").output().is_err() {
        assert!(
            std::env::var_os("HOOKS_REQUIRE_ALL").is_none(),
            "node is not installed"
        );
        eprintln!("not looked at: node is not installed");
        return None;
    }
    let mut home = Home::new();
    let path = home.path().join("bin/hooks-guard");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    if !binary.is_empty() {
        fs::write(&path, format!("#!/bin/sh\n{binary}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    home.options.binary = path;
    home.install(Agent::OpenCode);
    let module = home.path().join("run.mjs");
    fs::copy(
        home.settings(Agent::OpenCode),
        home.path().join("plugin.mjs"),
    )
    .unwrap();
    fs::write(&module, include_str!("plugin.mjs")).unwrap();
    let output = Command::new("node").arg(module).output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let printed = String::from_utf8(output.stdout).unwrap();
    Some(printed.lines().map(str::to_owned).collect())
}

#[test]
fn the_plugin_applies_the_reply_of_the_binary() {
    let Some(done) = run("cat > \"$0.seen\"; case $(cat \"$0.seen\") in \
        *permission.evaluate*) printf '{\"effect\":\"ask\",\"message\":\"why\"}';; \
        *) printf '{\"returns\":null}';; esac")
    else {
        return;
    };
    assert_eq!(done, ["returned", "ask why"]);
    let refuses = run("cat >/dev/null; printf '{\"throws\":\"refused\"}'").unwrap();
    assert_eq!(refuses, ["refused", "deny refused"]);
}

#[test]
fn an_invalid_reply_of_the_binary_is_a_denial() {
    for binary in [
        "",
        "exit 0",
        "cat >/dev/null; exit 2",
        "cat >/dev/null; printf '{\"returns\":null}'; exit 1",
        "cat >/dev/null; printf 'null'",
        "cat >/dev/null; printf '{\"returns\":nu'",
        "cat >/dev/null; printf '[]'",
        "cat >/dev/null; kill -9 $$",
    ] {
        let Some(done) = run(binary) else { return };
        assert!(done[0].starts_with("hooks-guard: "), "{binary}: {done:?}");
        assert!(
            done[1].starts_with("deny hooks-guard: "),
            "{binary}: {done:?}"
        );
    }
    // Without a decision, opencode 1 throws, and opencode 2 applies its own rules.
    let Some(done) = run("cat >/dev/null; printf '{}'") else {
        return;
    };
    assert!(done[0].starts_with("hooks-guard: "), "{done:?}");
    assert_eq!(done[1], "ask undefined");
    let odd = run("cat >/dev/null; printf '{\"effect\":\"perhaps\",\"returns\":0}'").unwrap();
    assert_eq!(
        (odd[0].starts_with("hooks-guard: "), odd[1].as_str()),
        (true, "deny undefined")
    );
}

/// At its first start, opencode or Kilo Code waits for a package that the plugin does not need: the
/// delay is limited, and the user's own `.npmrc` is unchanged.
#[test]
fn installing_limits_the_delay_of_the_first_start() {
    for (agent, folder) in [(Agent::OpenCode, "opencode"), (Agent::KiloCode, "kilo")] {
        let home = Home::new();
        let npmrc = home.path().join(format!(".config/{folder}/.npmrc"));
        home.install(agent);
        let text = fs::read_to_string(&npmrc).unwrap();
        assert!(text.contains("fetch-retries=0"), "{text}");
        assert_eq!(home.install(agent).change, FileChange::None);
        home.uninstall(agent);
        assert!(home.files().is_empty(), "{:?}", home.files());
        fs::write(&npmrc, "save-exact=true\n").unwrap();
        let report = home.install(agent);
        let mut to_do = report.to_do.iter();
        assert!(to_do.any(|line| line.contains("fetch-retries=0")));
        home.uninstall(agent);
        assert_eq!(fs::read_to_string(&npmrc).unwrap(), "save-exact=true\n");
    }
}

/// Kilo Code loads the plugin of opencode, which names Kilo Code and calls the hook for it.
#[test]
fn the_plugin_for_kilo_code_differs_only_in_the_agent() {
    let body = |agent: Agent| {
        let home = Home::new();
        let file = home.install(agent).file;
        let name = file.strip_prefix(home.path()).unwrap().to_owned();
        let text = home.read(agent);
        let (_, body) = text.split_once('\n').unwrap();
        (name, body.to_owned())
    };
    let (_, opencode) = body(Agent::OpenCode);
    let (name, kilo) = body(Agent::KiloCode);
    assert_eq!(name.to_str(), Some(".config/kilo/plugins/hooks-guard.js"));
    assert!(kilo.contains(r#"["hook","kilo-code","#), "{kilo}");
    assert!(kilo.contains("before and after Kilo Code uses a tool"));
    let renamed = opencode
        .replace("and after opencode", "and after Kilo Code")
        .replace("install opencode", "install kilo-code")
        .replace("\"opencode\"", "\"kilo-code\"");
    assert_eq!(renamed, kilo);
}
