//! Commands that affect the guard itself, or that run later as the user, always lead to a question,
//! however harmless they look, and answers about them are never remembered.

use serde_json::{Value, json};

use crate::support::daemon::{Daemon, TOKEN};

fn home(daemon: &Daemon) -> String {
    daemon.setup().home().display().to_string()
}

/// Checks that a question is asked, and asked again after every kind of answer.
#[track_caller]
fn assert_always_asked(daemon: &Daemon, request: &Value) {
    for remember in ["session", "always"] {
        let permission = daemon.post(request).ok();
        assert_eq!(permission["decision"], "REQUIRES_CONFIRMATION", "{request}");
        let answer =
            json!({ "id": permission["id"], "response": "APPROVED", "remember": remember });
        let answer = daemon.respond_with(&answer);
        if answer.status != 200 {
            answer.refusal(409);
        }
        // The single approval may be used first.
        daemon.post(request).ok();
        let permission = daemon.post(request).ok();
        assert_eq!(permission["decision"], "REQUIRES_CONFIRMATION", "{request}");
        let body = daemon.get("/api/hooks/remembered").ok();
        assert_eq!(body["remembered"], json!([]), "{request}");
    }
}

#[track_caller]
fn assert_commands(daemon: &Daemon, commands: &[String]) {
    for command in commands {
        let request = json!({
            "command": command, "cwd": home(daemon), "session_id": "s-1", "agent": "claude-code",
        });
        assert_always_asked(daemon, &request);
    }
}

#[test]
fn threat_reading_the_token_file_requires_confirmation() {
    let daemon = Daemon::plain();
    let folder = daemon.setup().folder().display().to_string();
    assert_commands(
        &daemon,
        &[
            format!("cat {folder}/operator/token"),
            "cat ../operator/token".to_owned(),
            format!("head -c 100 '{folder}/operator/../operator/token'"),
            format!("grep -r . {folder}/operator/token"),
            format!("cd {folder}/operator && cat token"),
            format!("cat < {folder}/operator/token"),
        ],
    );
    for tool in ["Read", "Write"] {
        let effect = ["READ", "UPDATE"][usize::from(tool == "Write")];
        let path = format!("{folder}/operator/token");
        let request = json!({
            "command": format!("{tool} {path}"), "cwd": home(&daemon), "session_id": "s-1",
            "file": { "tool": tool, "effect": effect, "paths": [path] },
        });
        assert_always_asked(&daemon, &request);
    }
}

#[test]
fn threat_connecting_to_the_guards_port_requires_confirmation() {
    let daemon = Daemon::plain();
    let port = daemon.port;
    assert_commands(
        &daemon,
        &[
            format!("curl -s http://localhost:{port}/api/hooks/pending"),
            format!("curl -s 127.0.0.1:{port}/health"),
            format!("curl -s 'http://[::1]:{port}/health'"),
            format!("curl -s http://127.1:{port}/health"),
            format!("wget -qO- http://localhost:{port}/api/hooks/decisions"),
            format!("nc localhost {port}"),
        ],
    );
}

#[test]
fn threat_accessing_the_guards_files_requires_confirmation() {
    let daemon = Daemon::plain();
    let database = daemon.setup().database_file().display().to_string();
    assert_commands(
        &daemon,
        &[
            format!("cat {database}"),
            format!("sqlite3 {database} .dump"),
            format!("rm {database}"),
            format!("cat {database}-wal"),
            "cat ~/.config/hooks-guard/config.toml".to_owned(),
            "echo x >> ~/.config/hooks-guard/config.toml".to_owned(),
        ],
    );
}

#[test]
fn threat_accessing_the_guards_process_requires_confirmation() {
    let daemon = Daemon::plain();
    let pid = daemon.pid();
    assert_commands(
        &daemon,
        &[
            format!("kill {pid}"),
            "killall hooks-guard".to_owned(),
            "pkill -f hooks-guard".to_owned(),
            format!("gdb -p {pid}"),
            format!("cat /proc/{pid}/mem"),
            format!("cat /proc/{pid}/environ"),
            format!("strace -p {pid}"),
        ],
    );
}

#[test]
fn threat_running_the_guards_commands_requires_confirmation() {
    let daemon = Daemon::plain();
    let commands = [
        "hooks-guard approve",
        "hooks-guard approve 1",
        "hooks-guard trust",
        "hooks-guard install claude-code --uninstall",
        "hooks-guard serve --config other.toml",
        "sh -c 'hooks-guard approve 1'",
        "env hooks-guard approve 1",
        "/usr/local/bin/hooks-guard approve 1",
    ];
    assert_commands(&daemon, &commands.map(ToOwned::to_owned));
}

#[test]
fn threat_changing_settings_and_start_files_requires_confirmation() {
    let daemon = Daemon::plain();
    let commands = [
        "echo '{}' > ~/.claude/settings.json",
        "echo x > .claude/settings.local.json",
        "echo x >> ~/.bashrc",
        "echo x >> ~/.profile",
        "echo x > .git/hooks/pre-commit",
        "git config core.hooksPath elsewhere",
        "tee -a .git/config",
    ];
    assert_commands(&daemon, &commands.map(ToOwned::to_owned));
    let home = home(&daemon);
    for path in [
        format!("{home}/.claude/settings.json"),
        format!("{home}/.bashrc"),
        ".git/hooks/pre-commit".to_owned(),
        "src/../.git/config".to_owned(),
        format!("{home}/.config/hooks-guard/config.toml"),
    ] {
        let request = json!({
            "command": format!("Edit {path}"), "cwd": home, "session_id": "s-1",
            "file": { "tool": "Edit", "effect": "UPDATE", "paths": [path] },
        });
        assert_always_asked(&daemon, &request);
    }
}

#[test]
fn threat_settings_do_not_relax_the_protection_of_the_guard() {
    for config in [
        "dangerously_skip_confirmations = true",
        "require_confirmation_cud = false",
    ] {
        let daemon = crate::support::daemon::Setup::new().config(config).start();
        let permission = daemon.ask("hooks-guard approve 1");
        assert_eq!(permission["decision"], "REQUIRES_CONFIRMATION", "{config}");
        let token = daemon.setup().folder().join("operator/token");
        let permission = daemon.ask(&format!("cat {}", token.display()));
        assert_eq!(permission["decision"], "REQUIRES_CONFIRMATION", "{config}");
    }
}

#[test]
fn threat_the_token_in_a_command_is_not_recorded() {
    let daemon = Daemon::plain();
    daemon.ask(&format!(
        "curl -H 'Authorization: Bearer {TOKEN}' https://api.example"
    ));
    let text = daemon.get("/api/hooks/decisions").text();
    assert!(!text.contains(TOKEN), "{text}");
}
