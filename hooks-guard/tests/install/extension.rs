//! Tests the extension for Pi, run by Node.js with a stand-in for the binary.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use hooks_guard::install::{FileChange, InstallError, install, uninstall};
use hooks_guard::protocol::Agent;
use serde_json::{Value, json};

use crate::install::Home;

/// What the extension printed, and the inputs that the binary received.
struct Extension {
    lines: Vec<String>,
    inputs: Vec<Value>,
}

/// Runs the extension with a binary of this text; `None` without Node.js.
fn run(binary: &str) -> Option<Extension> {
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
        let script = format!("#!/bin/sh\n{{ cat; echo; }} >> \"$0.seen\"\n{binary}\n");
        fs::write(&path, script).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    home.options.binary = path.clone();
    home.install(Agent::Pi);
    let module = home.path().join("run.mjs");
    fs::copy(
        home.settings(Agent::Pi),
        home.path().join("extension-of-guard.mjs"),
    )
    .unwrap();
    fs::write(&module, include_str!("extension.mjs")).unwrap();
    let output = Command::new("node").arg(module).output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let seen = fs::read_to_string(path.with_extension("seen")).unwrap_or_default();
    let printed = String::from_utf8(output.stdout).unwrap();
    Some(Extension {
        lines: printed.lines().map(str::to_owned).collect(),
        inputs: seen
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect(),
    })
}

const FROZEN: [&str; 3] = ["frozen"; 3];

#[test]
fn the_extension_applies_the_reply_of_the_binary() {
    let Some(allowed) = run("printf '{\"block\":false}'") else {
        return;
    };
    assert_eq!(allowed.lines[..4], ["runs", "runs", "runs", ""]);
    assert_eq!(allowed.lines[4..7], FROZEN);
    assert_eq!(allowed.lines[7], "unchanged");
    let call = json!({"type": "tool_call", "toolName": "bash", "toolCallId": "c",
        "input": {"command": "make", "env": {"A": "1"}}});
    assert_eq!(
        allowed.inputs[0],
        json!({"event": call,
            "ctx": {"cwd": "/srv/p", "hasUI": true, "mode": "tui", "sessionId": "s"}})
    );
    let after = allowed.inputs.last().unwrap();
    assert_eq!(after["event"]["type"], "tool_result");
    assert_eq!(after["event"]["isError"], false);
    assert_eq!(after["event"]["structuredContent"], json!({"exit_code": 0}));
    assert!(
        !after.to_string().contains("secret"),
        "output stays in Pi: {after}"
    );

    let denied = run("printf '{\"block\":true,\"reason\":\"refused\"}'").unwrap();
    assert_eq!(
        denied.lines[..4],
        ["true refused", "true refused", "true refused", ""]
    );
}

#[test]
fn the_extension_asks_where_there_is_a_dialog() {
    let Some(asked) = run("printf '{\"confirm\":\"DELETE: why\"}'") else {
        return;
    };
    let unread = "true hooks-guard: its answer cannot be read";
    let refused = "true DELETE: why; the user refused";
    assert_eq!(asked.lines[..3], ["runs", refused, unread]);
    let dialog = "hooks-guard: allow bash? DELETE: why";
    assert_eq!(asked.lines[3], [dialog, dialog].join("|"));
    let refusals: Vec<_> = asked
        .inputs
        .iter()
        .filter(|input| input["event"]["type"] == "tool_refused")
        .collect();
    assert_eq!(refusals.len(), 1, "the refusal is reported once");
    assert_eq!(refusals[0]["reason"], "the user refused");
    assert_eq!(refusals[0]["event"]["toolCallId"], "c");
}

#[test]
fn an_invalid_reply_of_the_binary_blocks_the_tool() {
    for binary in [
        "",
        "exit 0",
        "exit 2",
        "printf '{\"block\":false}'; exit 1",
        "printf 'null'",
        "printf '{\"block\":fal'",
        "printf '[]'",
        "printf '{}'",
        "printf '{\"block\":null}'",
        "printf '{\"block\":0}'",
        "printf '{\"confirm\":1}'",
        "printf '{\"block\":true,\"confirm\":\"x\"}'",
        "printf '{\"decision\":\"allow\"}'",
        "kill -9 $$",
    ] {
        let Some(done) = run(binary) else { return };
        for line in &done.lines[..3] {
            assert!(line.starts_with("true hooks-guard: "), "{binary}: {line}");
        }
        assert_eq!(done.lines[3], "", "{binary}: no dialog");
    }
}

#[test]
fn a_modified_extension_is_neither_replaced_nor_removed() {
    let home = Home::new();
    assert_eq!(home.install(Agent::Pi).change, FileChange::Created);
    assert_eq!(
        home.files(),
        [home.path().join(".pi/agent/extensions/hooks-guard.ts")]
    );
    assert_eq!(home.install(Agent::Pi).change, FileChange::None);
    let changed = home.read(Agent::Pi).replace("block: true", "block: false");
    fs::write(home.settings(Agent::Pi), &changed).unwrap();
    for error in [
        install(Agent::Pi, &home.options).unwrap_err(),
        uninstall(Agent::Pi, &home.options).unwrap_err(),
    ] {
        assert!(matches!(error, InstallError::NotOurs { .. }), "{error:?}");
    }
    assert_eq!(home.read(Agent::Pi), changed);
}
