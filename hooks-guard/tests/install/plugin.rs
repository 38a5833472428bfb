//! Tests the plugin for opencode, run by node with a stand-in for the binary.

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

/// At its first start opencode waits for a package that the plugin does not need: the delay is
/// limited, and the user's own `.npmrc` is unchanged.
#[test]
fn installing_limits_the_delay_of_the_first_start_of_opencode() {
    let home = Home::new();
    let npmrc = home.path().join(".config/opencode/.npmrc");
    home.install(Agent::OpenCode);
    let text = fs::read_to_string(&npmrc).unwrap();
    assert!(text.contains("fetch-retries=0"), "{text}");
    assert_eq!(home.install(Agent::OpenCode).change, FileChange::None);
    home.uninstall(Agent::OpenCode);
    assert!(home.files().is_empty(), "{:?}", home.files());
    fs::write(&npmrc, "save-exact=true\n").unwrap();
    let report = home.install(Agent::OpenCode);
    assert!(
        report
            .to_do
            .iter()
            .any(|line| line.contains("fetch-retries=0"))
    );
    home.uninstall(Agent::OpenCode);
    assert_eq!(fs::read_to_string(&npmrc).unwrap(), "save-exact=true\n");
}
