//! Tests the scripts for Cline, run by a shell with a stand-in for the binary.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

use hooks_guard::install::{FileChange, InstallError, install, uninstall};
use hooks_guard::protocol::Agent;
use serde_json::{Value, json};

use crate::install::Home;

/// Runs the script with a binary of this text, and returns what Cline reads: the rest of the last line
/// that begins with `HOOK_CONTROL`, else the whole output. Cline ignores the exit status.
fn control(binary: Option<&str>) -> Option<Value> {
    let mut home = Home::new();
    home.options.binary = home.path().join("a folder/hooks-guard");
    if let Some(binary) = binary {
        fs::create_dir_all(home.options.binary.parent().unwrap()).unwrap();
        fs::write(&home.options.binary, format!("#!/bin/sh\n{binary}\n")).unwrap();
        let mode = fs::Permissions::from_mode(0o755);
        fs::set_permissions(&home.options.binary, mode).unwrap();
    }
    home.install(Agent::Cline);
    let ran = Command::new("sh").arg(home.settings(Agent::Cline)).output();
    let printed = String::from_utf8(ran.unwrap().stdout).unwrap();
    let last = printed.lines().rev();
    let mut marked = last.filter_map(|line| line.strip_prefix("HOOK_CONTROL\t"));
    serde_json::from_str(marked.next().unwrap_or(&printed)).ok()
}

#[test]
fn a_failed_hook_denies() {
    let refused = json!({"cancel": true, "errorMessage": "hooks-guard failed: refused"});
    for binary in [
        None,
        Some("exit 1"),
        Some("exit 2"),
        Some("exit 101"),
        Some("kill -KILL $$"),
        Some("printf '{\"cancel\": fal'; kill -KILL $$"),
        Some("echo '{\"cancel\": false}'; exit 1"),
    ] {
        assert_eq!(control(binary), Some(refused.clone()), "{binary:?}");
    }
    let decides = Some("echo '{\"cancel\": false}'");
    assert_eq!(control(decides), Some(json!({"cancel": false})));
    let arguments = control(Some("printf '\"%s\"' \"$*\"")).unwrap();
    assert!(
        arguments
            .as_str()
            .unwrap()
            .starts_with("hook cline --timeout 120 "),
        "{arguments}"
    );
}

#[test]
fn both_scripts_are_installed_and_removed() {
    let mut home = Home::new();
    let report = home.install(Agent::Cline);
    assert_eq!(report.also.unwrap().change, FileChange::Created);
    let folder = home.path().join(".cline/hooks");
    let scripts = ["PostToolUse.sh", "PreToolUse.sh"].map(|name| folder.join(name));
    assert_eq!(home.files(), scripts);
    let again = home.install(Agent::Cline);
    assert_eq!(again.change, FileChange::None);
    assert_eq!(again.also.unwrap().change, FileChange::None);

    home.options.binary = PathBuf::from("/opt/new/hooks-guard");
    let moved = home.install(Agent::Cline);
    assert_eq!(moved.change, FileChange::Changed);
    assert_eq!(moved.also.unwrap().change, FileChange::Changed);
    home.uninstall(Agent::Cline);
    let left = home.files();
    assert!(left.iter().all(|file| !scripts.contains(file)), "{left:?}");
}

#[test]
fn the_scripts_of_others_stay() {
    let home = Home::with(Agent::Cline, "#!/bin/sh\necho mine\n");
    for error in [
        install(Agent::Cline, &home.options).unwrap_err(),
        uninstall(Agent::Cline, &home.options).unwrap_err(),
    ] {
        assert!(matches!(error, InstallError::NotOurs { .. }), "{error:?}");
    }
    let home = Home::new();
    let after = home.path().join(".cline/hooks/PostToolUse.sh");
    fs::create_dir_all(after.parent().unwrap()).unwrap();
    fs::write(&after, "#!/bin/sh\n").unwrap();
    let report = home.install(Agent::Cline);
    assert!(report.also.is_none());
    assert!(
        report
            .to_do
            .iter()
            .any(|step| step.contains("runs are not recorded")),
        "{report:?}"
    );
    home.uninstall(Agent::Cline);
    assert_eq!(home.files(), [after]);
}
