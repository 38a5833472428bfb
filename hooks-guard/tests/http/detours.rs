//! The threat model, line by line: reads that reach secrets or the service indirectly.

use std::fs;
use std::path::Path;

use hooks_guard::protocol::{Agent, HookEvent, read};
use serde_json::{Value, json};

use crate::support::daemon::Daemon;

/// Decisions about commands in a project in the home of the service's user.
struct Project {
    daemon: Daemon,
}

impl Project {
    fn new() -> Self {
        let daemon = Daemon::plain();
        fs::create_dir_all(daemon.setup().home().join("project/src")).unwrap();
        Self { daemon }
    }

    fn folder(&self, folder: &str) -> String {
        let folder = self.daemon.setup().home().join(folder);
        folder.to_string_lossy().into_owned()
    }

    fn decision(&self, command: &str) -> Value {
        let body = json!({ "command": command, "cwd": self.folder("project") });
        self.daemon.post(&body).ok()
    }

    #[track_caller]
    fn assert_asks(&self, commands: &[&str]) {
        for command in commands {
            let answer = self.decision(command);
            assert_eq!(answer["decision"], "REQUIRES_CONFIRMATION", "{command}");
        }
    }

    #[track_caller]
    fn assert_allows(&self, commands: &[&str]) {
        for command in commands {
            let answer = self.decision(command);
            assert_eq!(answer["decision"], "AUTO_ALLOWED", "{command}: {answer}");
        }
    }
}

#[test]
fn threat_file_names_passed_to_another_command_require_confirmation() {
    let project = Project::new();
    let token = project.folder(".config/hooks-guard/token");
    project.assert_asks(&[
        "echo ~/.config/hooks-guard/token | xargs cat",
        &format!("echo {token} | xargs cat"),
        "find ~ -name token -exec cat {} +",
        "for f in ~/.config/*/token; do cat $f; done",
        "find ~ -name token | while read f; do cat $f; done",
        "cat $(find ~ -name token)",
        "find .. -name x.json | xargs cat",
        "mapfile -t f < <(find ~ -type f); cat \"${f[@]}\"",
    ]);
    project.assert_asks(&[
        "while read -u 3 f; do cat \"$f\"; done 3< <(find ~ -name '*.key')",
        "exec 4< <(find ~ -type f); while read -r f <&4; do head \"$f\"; done",
        "compgen -f ~/. | xargs cat",
        "lsof -F n | xargs cat",
        "find . -name 'id_*' -exec cat {} +",
        "find . -name '*_rsa' | xargs cat",
        "cat $h/.config/app/x",
    ]);
    // Names in a file are unknown.
    project.assert_allows(&[
        "xargs cat < list",
        "find . -name '*.rs' | xargs cat",
        "find . -name '*config*' -exec cat {} +",
        "while read -u 3 f; do cat \"$f\"; done 3< <(git ls-files)",
        "cat $h/.github/workflows/ci.yml",
    ]);
}

#[test]
fn threat_recursive_reads_of_a_parent_folder_require_confirmation() {
    let project = Project::new();
    project.assert_asks(&[
        "tar cf - ~/.config",
        "grep -r x ~/.config",
        "rg x ..",
        "cat ../.config/*/x",
        "diff -r ~/.config /tmp",
        "find ~/.local/share -name audit.db -exec strings {} +",
        "gzip -rc ~/.config",
        "zstd -rc ~/.config",
    ]);
    project.assert_allows(&["grep -rn x src", "tar cf - src", "find ~ -name token"]);
    for (tool, cwd, decision) in [
        ("Grep", project.folder(""), "REQUIRES_CONFIRMATION"),
        ("Grep", project.folder("project"), "AUTO_ALLOWED"),
        ("Glob", project.folder("project"), "AUTO_ALLOWED"),
    ] {
        let input = json!({ "hook_event_name": "PreToolUse", "session_id": "s", "cwd": cwd,
            "tool_name": tool, "tool_input": { "pattern": "x..y" } });
        let request = match read(Agent::ClaudeCode, input.to_string().as_bytes()) {
            Ok(HookEvent::Ask(question)) => question.request,
            other => panic!("{tool}: {other:?}"),
        };
        let file = serde_json::to_value(&request.file).unwrap();
        let body = json!({ "command": request.command, "file": file, "cwd": cwd });
        let answer = project.daemon.post(&body).ok();
        assert_eq!(answer["decision"], decision, "{tool} {cwd}: {answer}");
    }
    for (path, decision) in [
        (project.folder(".config"), "REQUIRES_CONFIRMATION"),
        (project.folder(""), "REQUIRES_CONFIRMATION"),
        (project.folder("project/src"), "AUTO_ALLOWED"),
    ] {
        let file = json!({ "tool": "Grep", "effect": "READ", "paths": [path] });
        let body = json!({ "command": "Grep x", "file": file, "cwd": project.folder("project") });
        let answer = project.daemon.post(&body).ok();
        assert_eq!(answer["decision"], decision, "{path}: {answer}");
    }
}

#[test]
fn threat_reading_screens_processes_and_app_data_asks() {
    let project = Project::new();
    project.assert_asks(&[
        "ps auxeww",
        "find /proc -maxdepth 2 -name environ -exec cat {} +",
        "tmux capture-pane -p",
        "cat /dev/vcs1",
        "xclip -o",
        "wl-paste",
        "sqlite3 ~/.mozilla/firefox/x/places.sqlite .dump",
        "cat ~/.mozilla/firefox/x/sessionstore-backups/recovery.jsonlz4",
        "cat ~/.config/Slack/Cookies",
        "strings \"$HOME/.config/app/Local Storage/leveldb/000005.ldb\"",
        "cat /var/backups/shadow.bak",
        "git stash show -p -- .env",
        "bash -v -n ~/.netrc",
    ]);
    project.assert_allows(&[
        "wl-paste --list-types",
        "wl-paste --version",
        "git stash show -p",
        "cat /var/backups/dpkg.status.0",
    ]);
}

#[test]
#[cfg(unix)]
fn threat_a_link_in_the_project_does_not_expose_a_secret() {
    let project = Project::new();
    let home = project.daemon.setup().home();
    let secrets = home.join(".aws");
    fs::create_dir_all(&secrets).unwrap();
    fs::write(secrets.join("credentials"), "x").unwrap();
    let link = |target: &Path, name: &str| {
        std::os::unix::fs::symlink(target, home.join("project").join(name)).unwrap();
    };
    link(&secrets.join("credentials"), "notes.txt");
    link(&secrets, "docs");
    project.assert_asks(&[
        "cat notes.txt",
        "head -1 docs/credentials",
        "grep -r x docs/",
    ]);
    let file = json!({ "tool": "Read", "effect": "READ", "paths": ["notes.txt"] });
    let body = json!({ "command": "Read", "file": file, "cwd": project.folder("project") });
    let answer = project.daemon.post(&body).ok();
    assert_eq!(answer["decision"], "REQUIRES_CONFIRMATION", "{answer}");
    project.assert_allows(&["ls -l notes.txt"]);
}

#[test]
fn threat_any_program_that_connects_to_the_service_asks() {
    let project = Project::new();
    let port = project.daemon.port;
    for command in [
        "git ls-remote http://127.0.0.1:PORT/x",
        "gh api --hostname localhost:PORT user",
        "npm view x --registry http://localhost:PORT",
        "GH_HOST=localhost:PORT gh api user",
        "export http_proxy=http://127.0.0.1:PORT; npm view x",
        "psql -h localhost -p PORT -c 'select 1'",
        "redis-cli -p PORT info",
        "git ls-remote http://127.0.0.1.nip.io:PORT/x",
        "git ls-remote http://app-7f000001.nip.io:PORT/x",
        "git ls-remote http://www.127-0-0-1.sslip.io:PORT/x",
        "npm view x --registry http://any.localtest.me:PORT",
        "npm view x --registry http://lvh.me:PORT",
    ] {
        let command = command.replace("PORT", &port.to_string());
        let answer = project.decision(&command);
        assert_eq!(answer["decision"], "REQUIRES_CONFIRMATION", "{command}");
        assert_eq!(answer["rule"], "built in: the guard's address", "{command}");
    }
    let mentions = [
        format!("grep -rn 127.0.0.1:{port} src"),
        format!("git log --grep=localhost:{port}"),
    ];
    project.assert_allows(&mentions.each_ref().map(String::as_str));
}
