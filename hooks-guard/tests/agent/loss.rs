//! Tests the part of a question that lists what its command would discard, from an agent's input to the reply.

use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use super::{Home, Service, decision_of, pre_tool_use};
use crate::home::write;

/// Makes a repository with a changed, an untracked and two ignored files.
fn repository(home: &Home) -> PathBuf {
    let root = home.path().join("work");
    write(&root.join("a.txt"), "one\n");
    write(&root.join(".gitignore"), "build/\n");
    for arguments in [
        &["init", "-q"][..],
        &["add", "."],
        &[
            "-c",
            "user.name=Ada",
            "-c",
            "user.email=a@b",
            "commit",
            "-qm",
            "first",
        ],
    ] {
        let mut git = Command::new("git");
        let git = git.current_dir(&root).env("HOME", home.path());
        assert!(git.args(arguments).status().expect("git runs").success());
    }
    write(&root.join("a.txt"), "changed\n");
    write(&root.join("new.txt"), "x");
    write(&root.join("build/a.o"), "1234");
    write(&root.join("build/b/b.o"), "1234");
    root
}

const COMMANDS: [(&str, &str); 3] = [
    (
        "git reset --hard",
        "would discard 1 changed file (a.txt) and keep 1 untracked file",
    ),
    (
        "rm -rf build",
        "would delete 2 files, 8 bytes, all ignored by git",
    ),
    (
        "echo x > new.txt",
        "would overwrite new.txt (1 byte, untracked)",
    ),
];

#[test]
fn a_question_says_what_its_command_would_discard() {
    let home = Home::new();
    let root = repository(&home);
    let ask = |command: &str| {
        let mut input = pre_tool_use(command, command);
        input["cwd"] = json!(root);
        decision_of(&home.hook("claude-code", &[], &input))
    };
    let check_all = || {
        for (command, expected) in COMMANDS {
            let (decision, reason) = ask(command);
            assert_eq!(decision, "ask", "{command}");
            let expected = format!("; {expected}");
            assert!(reason.contains(&expected), "{command}: {reason}");
            let trail = home.trail();
            let recorded = trail[0]["reasoning"].as_str().expect("a reason");
            assert!(recorded.ends_with(&expected), "{command}: {recorded}");
        }
        assert_eq!(ask("git status").0, "allow");
    };
    check_all();
    let service = Service::start(&home);
    check_all();
    // A client without the key learns nothing about files.
    let request = json!({"command": "git reset --hard", "cwd": root});
    let response: Value = service.send("POST", "/api/hooks/permission-request", &request);
    let reason = response["reasoning"].as_str().expect("a reason");
    assert_eq!(response["decision"], "REQUIRES_CONFIRMATION");
    assert!(!reason.contains("would"), "{reason}");
}
