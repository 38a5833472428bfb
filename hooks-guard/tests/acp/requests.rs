//! Requests that the client would run: commands and files.

use std::process::Stdio;

use serde_json::{Value, json};

use super::{Connection, DENY_MAKE, Home, request, terminal};

fn connection(rules: &str) -> Connection {
    let home = Home::new();
    home.rules(rules);
    let mut connection = Connection::with(home, &["--ask", "operator"]);
    connection.start_session(1);
    connection
}

/// Returns the message of an error reply.
fn error(reply: &Value) -> &str {
    assert_eq!(reply["error"]["code"], -32003, "{reply}");
    reply["error"]["message"].as_str().unwrap_or_default()
}

#[test]
fn a_read_passes_byte_for_byte_and_a_change_is_denied_without_an_operator() {
    let mut connection = connection("");
    let line = b"{ \"jsonrpc\":\"2.0\",\"id\":7, \"method\":\"terminal\\/create\",\
        \"params\":{\"sessionId\":\"s\",\"command\":\"git\",\"args\":[\"st\\u0061tus\"],\
        \"_meta\":{\"x\":1}}}\r\n";
    connection.agent_bytes(line);
    assert_eq!(connection.client_reads.bytes(), line);
    let reply = connection.is_answered(&terminal(8, "rm", &["-r", "build"]));
    assert_eq!(reply["id"], 8);
    let why = error(&reply);
    assert!(
        why.starts_with("DELETE") && why.contains("hooks-guard serve"),
        "{why}"
    );
    let trail = connection.home.trail();
    assert_eq!(trail[0]["command"], "rm -r build");
    assert_eq!(trail[0]["agent"], "fake-agent");
    assert_eq!(trail[0]["session_id"], "s");
    assert_eq!(trail[1]["command"], "git status");
}

#[test]
fn a_rule_denies_with_its_reason() {
    let mut connection = connection(DENY_MAKE);
    let reply = connection.is_answered(&terminal(8, "make", &["all"]));
    assert!(error(&reply).contains("not here"), "{reply}");
}

/// Some clients start the words as a program, others pass them to a shell.
#[test]
fn a_command_is_read_as_words_and_as_a_text_of_a_shell() {
    let mut connection = connection("");
    for (command, args) in [
        ("ls; rm -r build", &[][..]),
        ("ls", &["; rm -r build"]),
        ("ls", &["$(rm -r build)"]),
        ("sh", &["-c", "rm -r build"]),
        ("bash", &["-lc", "cd x && rm -r build"]),
        ("rm -r build", &[]),
    ] {
        let reply = connection.is_answered(&terminal(8, command, args));
        assert!(
            error(&reply).contains("DELETE"),
            "{command} {args:?}: {reply}"
        );
    }
    connection.passes(&terminal(9, "git", &["log", "--format=%h %s"]));
}

#[test]
fn the_environment_of_a_command_counts() {
    let mut connection = connection("");
    let create = |id: u64, env: Value| {
        let params = json!({"sessionId": "s", "command": "git", "args": ["status"], "env": env});
        request(id, "terminal/create", &params)
    };
    connection.passes(&create(8, json!([{"name": "LANG", "value": "C"}])));
    for (name, value) in [
        ("LD_PRELOAD", "/tmp/evil.so"),
        ("GIT_EXTERNAL_DIFF", "rm -r build"),
        ("BASH_FUNC_git%%", "() { rm -r build; }"),
    ] {
        let reply = connection.is_answered(&create(9, json!([{"name": name, "value": value}])));
        error(&reply);
    }
}

/// Kimi Code sets `SHELL` to the shell that it runs.
#[test]
fn a_shell_that_is_the_program_itself_changes_nothing() {
    let mut connection = connection("");
    let create = |id: u64, shell: &str| {
        let params = json!({
            "sessionId": "s", "command": "/bin/bash", "args": ["-c", "git status"],
            "env": [{"name": "SHELL", "value": shell}],
        });
        request(id, "terminal/create", &params)
    };
    connection.passes(&create(8, "/bin/bash"));
    let reply = connection.is_answered(&create(9, "/tmp/evil"));
    error(&reply);
}

/// Goose passes the command as one text, and names the session to it.
#[test]
fn a_text_without_arguments_is_one_for_a_shell_unless_there_is_such_a_program() {
    let mut connection = connection("");
    let project = connection.home.project();
    let create = |id: u64, command: &str, session: &str| {
        let params = json!({
            "sessionId": "s", "command": command, "cwd": project,
            "env": [{"name": "AGENT_SESSION_ID", "value": session}],
        });
        request(id, "terminal/create", &params)
    };
    connection.passes(&create(8, "cat a.txt", "s"));
    connection.passes(&create(9, "cat src/a.txt && git status", "s"));
    connection.passes(&create(10, &format!("cat src/{}", "a".repeat(300)), "s"));
    let reply = connection.is_answered(&create(11, "rm -r build", "s"));
    assert!(error(&reply).contains("DELETE"), "{reply}");
    let reply = connection.is_answered(&create(12, "cat a.txt", "other"));
    assert!(error(&reply).contains("AGENT_SESSION_ID"), "{reply}");
    std::fs::create_dir(project.join("cat src")).expect("a folder");
    std::fs::write(project.join("cat src/b.txt"), "").expect("a file");
    let reply = connection.is_answered(&create(13, "cat src/b.txt", "s"));
    assert!(error(&reply).contains("runs the file"), "{reply}");
    // The client may look for programs elsewhere.
    let params = json!({
        "sessionId": "s", "command": "cat a.txt", "cwd": project,
        "env": [{"name": "PATH", "value": "/usr/bin"}],
    });
    let reply = connection.is_answered(&request(14, "terminal/create", &params));
    error(&reply);
}

#[test]
fn parameters_that_the_guard_does_not_know_need_approval() {
    let mut connection = connection("");
    let params = json!({"sessionId": "s", "command": "ls", "shell": "rm -r build; true"});
    let reply = connection.is_answered(&request(8, "terminal/create", &params));
    error(&reply);
}

#[test]
fn invalid_parameters_are_an_error() {
    let mut connection = connection("");
    for (method, params) in [
        ("terminal/create", json!({"sessionId": "s"})),
        ("terminal/create", json!({"sessionId": "s", "command": ""})),
        (
            "terminal/create",
            json!({"sessionId": "s", "command": "ls", "args": ["a", 1]}),
        ),
        (
            "terminal/create",
            json!({"sessionId": "s", "command": "ls", "cwd": "relative"}),
        ),
        (
            "terminal/create",
            json!({"sessionId": "s", "command": "ls", "Command": "rm"}),
        ),
        (
            "terminal/create",
            json!({"sessionId": "s", "command": "ls", "args": ["\0"]}),
        ),
        ("terminal/create", json!(["ls"])),
        (
            "fs/write_text_file",
            json!({"sessionId": "s", "path": "a.txt", "content": "x"}),
        ),
        (
            "fs/write_text_file",
            json!({"sessionId": "s", "path": "/a.txt"}),
        ),
        (
            "fs/read_text_file",
            json!({"sessionId": "s", "path": "a.txt"}),
        ),
        (
            "session/request_permission",
            json!({"sessionId": "s", "toolCall": {}, "options": []}),
        ),
        (
            "session/request_permission",
            json!({"sessionId": "s", "options": []}),
        ),
    ] {
        let reply = connection.is_answered(&request(8, method, &params));
        assert_eq!(reply["id"], 8, "{params}");
        assert_eq!(reply["error"]["code"], -32602, "{method} {params}: {reply}");
    }
}

#[test]
fn files_are_decided_like_file_tools() {
    let mut connection = connection(
        "[[rule]]\neffect = 'allow'\ntool = 'Write'\npath = 'docs/**'\nreason = 'pages'\n",
    );
    let project = connection.home.project();
    let write = |id: u64, path: &str| {
        let params = json!({"sessionId": "s", "path": path, "content": "hello"});
        request(id, "fs/write_text_file", &params)
    };
    let inside = project.join("docs/a.md");
    connection.passes(&write(8, inside.to_str().expect("text")));
    let reply = connection.is_answered(&write(9, project.join("a.txt").to_str().expect("text")));
    error(&reply);
    let read = |id: u64, path: &str| {
        request(
            id,
            "fs/read_text_file",
            &json!({"sessionId": "s", "path": path}),
        )
    };
    connection.passes(&read(10, project.join("a.txt").to_str().expect("text")));
    let secret = connection.home.path().join(".ssh/id_ed25519");
    let reply = connection.is_answered(&read(11, secret.to_str().expect("text")));
    error(&reply);
    let trail = connection.home.trail();
    assert!(
        trail[0]["command"]
            .as_str()
            .expect("text")
            .starts_with("Read "),
        "{}",
        trail[0]
    );
}

#[test]
fn the_directory_of_the_session_counts() {
    let mut connection = connection("");
    let rules = connection.home.project().join(".hooks-guard.toml");
    std::fs::write(rules, DENY_MAKE).expect("a file");
    let reply = connection.is_answered(&terminal(8, "make", &[]));
    assert!(error(&reply).contains("not here"), "{reply}");
    let elsewhere = connection.home.path().to_owned();
    let params = json!({"sessionId": "old", "cwd": elsewhere, "mcpServers": []});
    connection.client(&request(2, "session/load", &params));
    connection.agent_reads.next();
    let params = json!({"sessionId": "old", "command": "make"});
    let reply = connection.is_answered(&request(9, "terminal/create", &params));
    assert!(!error(&reply).contains("not here"), "{reply}");
}

#[test]
fn the_option_names_the_agent() {
    let mut connection = Connection::with(Home::new(), &["--agent", "mine"]);
    connection.start_session(1);
    connection.passes(&terminal(8, "ls", &[]));
    assert_eq!(connection.home.trail()[0]["agent"], "mine");
}

#[test]
fn a_disabled_guard_passes_everything() {
    let home = Home::new();
    home.config("enabled = false");
    let mut connection = Connection::with(home, &[]);
    connection.start_session(1);
    connection.passes(&terminal(8, "rm", &["-r", "build"]));
}

#[test]
fn a_broken_configuration_denies() {
    let home = Home::new();
    home.config("");
    let mut connection = Connection::with(home, &[]);
    connection.start_session(1);
    connection.home.config("auto_alow_read = true");
    let reply = connection.is_answered(&terminal(8, "ls", &[]));
    assert!(error(&reply).contains("auto_alow_read"), "{reply}");
}

#[test]
fn an_agent_without_a_name_is_recorded_as_acp() {
    let mut connection = Connection::new();
    connection.passes(&terminal(8, "ls", &[]));
    assert_eq!(connection.home.trail()[0]["agent"], "acp");
}

#[test]
fn the_log_has_denials_if_the_user_wants_so() {
    for (level, has_denial) in [("info", true), ("warn", false)] {
        let home = Home::new();
        home.rules(DENY_MAKE);
        let script = r#"echo "$1"; read -r reply"#;
        let mut command = home.acp(&[]);
        command.env("HOOKS_GUARD_LOG", level);
        command.args(["sh", "-c", script, "agent"]);
        command.arg(terminal(8, "make", &[]).to_string());
        command.stdin(Stdio::piped()).stderr(Stdio::piped());
        let mut proxy = command.spawn().expect("it starts");
        let client = proxy.stdin.take();
        let output = proxy.wait_with_output().expect("it runs");
        drop(client);
        let log = String::from_utf8_lossy(&output.stderr);
        assert_eq!(
            log.contains("denied") && log.contains("not here"),
            has_denial,
            "{log}"
        );
    }
}
