//! Requests for permission, of both versions of the protocol.

use serde_json::{Value, json};

use super::{
    Connection, DENY_MAKE, Home, notification, options, permission, request, selected, shell,
};

fn connection(rules: &str) -> Connection {
    let home = Home::new();
    home.rules(rules);
    let mut connection = Connection::with(home, &[]);
    connection.start_session(1);
    connection
}

#[test]
fn a_read_is_allowed_once_a_denied_command_rejected_and_the_rest_passed_on() {
    let mut connection = connection(DENY_MAKE);
    let reply = connection.is_answered(&shell(8, "git status"));
    assert_eq!((selected(&reply), &reply["id"]), ("yes", &json!(8)));
    let reply = connection.is_answered(&shell(9, "make all"));
    assert_eq!(selected(&reply), "no");
    let reason = &reply["result"]["_meta"]["hooks-guard"]["reason"];
    assert!(
        reason.as_str().expect("text").contains("not here"),
        "{reply}"
    );
    connection.passes(&shell(10, "rm -r build"));
    assert_eq!(connection.home.trail()[0]["command"], "rm -r build");
}

#[test]
fn a_list_of_words_is_a_command() {
    let mut connection = connection(DENY_MAKE);
    let reply = connection.is_answered(&shell(8, json!(["bash", "-lc", "git status"])));
    assert_eq!(selected(&reply), "yes");
    let reply = connection.is_answered(&shell(9, json!(["bash", "-lc", "ls && make"])));
    assert_eq!(selected(&reply), "no");
    // The words are not a text of a shell.
    let reply = connection.is_answered(&shell(10, json!(["ls", "; rm -r build", "$(rm -r x)"])));
    assert_eq!(selected(&reply), "yes");
}

/// No option is invented, and none that the agent remembers is selected for an allow.
#[test]
fn an_option_of_the_decision_must_be_offered() {
    let mut connection = connection(DENY_MAKE);
    let call = |command: &str| json!({"kind": "execute", "rawInput": {"command": command}});
    let always = json!([
        {"optionId": "always", "name": "x", "kind": "allow_always"},
        {"optionId": "never", "name": "x", "kind": "reject_always"},
    ]);
    connection.passes(&permission(8, &call("git status"), &always));
    let reply = connection.is_answered(&permission(9, &call("make"), &always));
    assert_eq!(selected(&reply), "never");
    let allow = json!([{"optionId": "yes", "name": "x", "kind": "allow_once"}]);
    let reply = connection.is_answered(&permission(10, &call("make"), &allow));
    assert_eq!(selected(&reply), "cancelled");
    let two = json!([
        {"optionId": "turn", "name": "x", "kind": "allow_once"},
        {"optionId": "review", "name": "x", "kind": "allow_once"},
    ]);
    connection.passes(&permission(11, &call("git status"), &two));
    let same = json!([
        {"optionId": "same", "name": "x", "kind": "allow_once"},
        {"optionId": "same", "name": "x", "kind": "reject_once"},
    ]);
    connection.passes(&permission(12, &call("git status"), &same));
    let reply = connection.is_answered(&permission(13, &call("make"), &same));
    assert_eq!(selected(&reply), "cancelled");
}

/// Options whose ids are known: Qwen Code offers one that changes its mode, codex-acp one after which it
/// continues.
#[test]
fn an_option_that_does_more_is_not_selected() {
    let mut connection = connection(DENY_MAKE);
    let call = |command: &str| json!({"kind": "execute", "rawInput": {"command": command}});
    let qwen = json!([
        {"optionId": "proceed_once_and_switch_to_default", "name": "x", "kind": "allow_once"},
        {"optionId": "proceed_once", "name": "x", "kind": "allow_once"},
        {"optionId": "cancel", "name": "x", "kind": "reject_once"},
    ]);
    let reply = connection.is_answered(&permission(8, &call("git status"), &qwen));
    assert_eq!(selected(&reply), "proceed_once");
    let codex = json!([
        {"optionId": "allow_once", "name": "x", "kind": "allow_once"},
        {"optionId": "cancel", "name": "x", "kind": "reject_once"},
        {"optionId": "decline", "name": "x", "kind": "reject_once"},
    ]);
    let reply = connection.is_answered(&permission(9, &call("make"), &codex));
    assert_eq!(selected(&reply), "decline");
}

/// claude-agent-acp passes the message of an error to its model, and no reason of a rejection.
#[test]
fn an_agent_that_goes_on_after_an_error_is_told_the_reason() {
    let home = Home::new();
    home.rules(DENY_MAKE);
    let mut connection = Connection::with(home, &[]);
    connection.start_session_with("@agentclientprotocol/claude-agent-acp", 1);
    let reply = connection.is_answered(&shell(8, "make all"));
    assert_eq!(reply["error"]["code"], -32003, "{reply}");
    let message = reply["error"]["message"].as_str().expect("text");
    assert!(message.contains("not here"), "{reply}");
    let reply = connection.is_answered(&shell(9, "git status"));
    assert_eq!(selected(&reply), "yes");
}

/// Tells the client of a tool call, as the agent.
fn describe(connection: &mut Connection, id: u64, update: &Value) {
    let mut update = update.clone();
    update["toolCallId"] = format!("call-{id}").into();
    connection.passes(&notification(
        "session/update",
        &json!({"sessionId": "s", "update": update}),
    ));
}

#[test]
fn a_request_is_joined_with_what_the_agent_said_of_the_call() {
    let mut connection = connection(DENY_MAKE);
    // Only the update has the command.
    let said = json!({"sessionUpdate": "tool_call", "kind": "execute", "title": "x",
        "status": "pending", "rawInput": {}});
    describe(&mut connection, 8, &said);
    let more = json!({"sessionUpdate": "tool_call_update", "status": "in_progress",
        "rawInput": {"command": "git status", "description": "x"}});
    describe(&mut connection, 8, &more);
    let reply = connection.is_answered(&permission(8, &json!({}), &options()));
    assert_eq!(selected(&reply), "yes");
    describe(&mut connection, 9, &said);
    let make = json!({"sessionUpdate": "tool_call_update", "rawInput": {"command": "make"}});
    describe(&mut connection, 9, &make);
    let reply = connection.is_answered(&permission(9, &json!({"title": "a plan"}), &options()));
    assert_eq!(selected(&reply), "no");
    // What the request itself says counts.
    describe(&mut connection, 10, &more);
    let call = json!({"kind": "execute", "rawInput": {"command": "make"}});
    let reply = connection.is_answered(&permission(10, &call, &options()));
    assert_eq!(selected(&reply), "no");
    // A call that has ended says nothing of a later one.
    describe(&mut connection, 11, &said);
    describe(&mut connection, 11, &more);
    let ended = json!({"sessionUpdate": "tool_call_update", "status": "completed"});
    describe(&mut connection, 11, &ended);
    connection.passes(&permission(11, &json!({"kind": "execute"}), &options()));
}

/// codex-acp describes a patch in the update, and names its files in the request.
#[test]
fn a_patch_in_an_earlier_message_is_judged() {
    let mut connection =
        connection("[[rule]]\neffect = 'deny'\npath = 'secret/**'\nreason = 'not here'\n");
    let project = connection.home.project().display().to_string();
    let file = |name: &str| format!("{project}/{name}");
    let diff = |name: &str| {
        json!({"sessionUpdate": "tool_call", "kind": "edit", "title": "Editing files",
            "status": "in_progress",
            "content": [{"type": "diff", "path": file(name), "oldText": null, "newText": "x"}]})
    };
    let edit = |name: &str| json!({"kind": "edit", "locations": [{"path": file(name)}]});
    describe(&mut connection, 8, &diff("secret/a"));
    let reply = connection.is_answered(&permission(8, &json!({"kind": "edit"}), &options()));
    assert_eq!(selected(&reply), "no");
    // The files of both messages count.
    describe(&mut connection, 9, &diff("a"));
    let reply = connection.is_answered(&permission(9, &edit("secret/a"), &options()));
    assert_eq!(selected(&reply), "no");
    describe(&mut connection, 10, &diff("a"));
    connection.passes(&permission(10, &edit("a"), &options()));
    assert!(
        connection.home.trail()[0]["command"]
            .as_str()
            .expect("text")
            .contains("/a")
    );
}

/// Copilot CLI repeats the parts of a command.
#[test]
fn the_parts_of_a_command_are_no_other_command() {
    let mut connection = connection(DENY_MAKE);
    let call = |command: &str, parts: &[&str]| json!({"kind": "execute", "rawInput": {"command": command, "commands": parts}});
    let known = call("git status && ls", &["git status", "ls"]);
    let reply = connection.is_answered(&permission(8, &known, &options()));
    assert_eq!(selected(&reply), "yes");
    let reply = connection.is_answered(&permission(9, &call("ls", &["make"]), &options()));
    assert_eq!(selected(&reply), "no");
    connection.passes(&permission(10, &call("ls", &["ls", "pwd"]), &options()));
}

/// A call without a kind is judged by its tool.
#[test]
fn a_read_without_a_kind_is_judged_by_its_tool() {
    let rule = "[[rule]]\neffect = 'deny'\npath = 'secret/**'\nreason = 'not here'\n";
    let mut connection = connection(rule);
    let file = connection.home.project().join("secret/a");
    let call = json!({"name": "Read", "rawInput": {"file_path": file}});
    let reply = connection.is_answered(&permission(8, &call, &options()));
    assert_eq!(selected(&reply), "no");
    let unknown = json!({"name": "Frobnicate", "rawInput": {"file_path": file}});
    connection.passes(&permission(9, &unknown, &options()));
}

/// Goose 1.52.0 gives every request the kind `other`, and names the tool in the update before.
#[test]
fn a_tool_of_the_kind_other_is_judged_by_its_name() {
    let mut connection = connection(DENY_MAKE);
    let named = |tool: &str, extension: &str| {
        let call = json!({"toolName": tool, "extensionName": extension});
        json!({"sessionUpdate": "tool_call", "title": "x", "_meta": {"goose": {"toolCall": call}}})
    };
    let shell = |command: &str| {
        json!({"kind": "other", "status": "pending", "title": format!("shell · {command}"),
            "rawInput": {"command": command, "timeout_secs": 60}})
    };
    describe(&mut connection, 8, &named("shell", "developer"));
    let reply = connection.is_answered(&permission(8, &shell("git status"), &options()));
    assert_eq!(selected(&reply), "yes");
    describe(&mut connection, 9, &named("shell", "developer"));
    let reply = connection.is_answered(&permission(9, &shell("make all"), &options()));
    assert_eq!(selected(&reply), "no");
    describe(&mut connection, 10, &named("shell", "developer"));
    connection.passes(&permission(10, &shell("rm -r build"), &options()));
    // A tool of an MCP server has any effect.
    describe(&mut connection, 11, &named("shell", "notes"));
    connection.passes(&permission(11, &shell("git status"), &options()));
    connection.passes(&permission(12, &shell("git status"), &options()));
    let path = connection.home.project().join("a.txt");
    let write = json!({"kind": "other", "rawInput": {"path": path, "content": "x"}});
    describe(&mut connection, 13, &named("write", "developer"));
    connection.passes(&permission(13, &write, &options()));
    let trail = connection.home.trail();
    assert_eq!(trail[0]["command"], format!("Edit {}", path.display()));
    assert_eq!(trail[0]["classification"], "UPDATE", "{}", trail[0]);
}

/// A tool of another kind, and a shell tool that asks for more than the command, may do more than
/// the command.
#[test]
fn only_the_command_of_a_shell_is_allowed() {
    let mut connection = connection(DENY_MAKE);
    for call in [
        json!({"kind": "other", "rawInput": {"command": "git status"}}),
        json!({"rawInput": {"command": "git status"}}),
        json!({"kind": "execute", "rawInput": {"command": "git status", "url": "https://x"}}),
        json!({"kind": "execute", "rawInput": {"command": "git status", "cmd": "ls"}}),
        json!({"kind": "execute", "rawInput": {"command": "ls", "dangerouslyDisableSandbox": true}}),
        json!({"kind": "execute", "rawInput": {"command": "git status"},
            "content": [{"type": "diff", "path": "/etc/passwd", "newText": ""}]}),
        json!({"kind": "execute", "rawInput": ["git status"]}),
        json!({"kind": "execute"}),
        json!({"kind": "think", "title": "a plan"}),
    ] {
        connection.passes(&permission(8, &call, &options()));
        let answer =
            json!({"jsonrpc": "2.0", "id": 8, "result": {"outcome": {"outcome": "cancelled"}}});
        connection.client(&answer);
        connection.agent_reads.next();
    }
    for call in [
        json!({"kind": "other", "rawInput": {"command": "make"}}),
        json!({"kind": "execute", "rawInput": {"command": "make", "url": "https://x"}}),
        json!({"kind": "execute", "rawInput": {"command": "ls", "cmd": "make"}}),
    ] {
        let reply = connection.is_answered(&permission(9, &call, &options()));
        assert_eq!(selected(&reply), "no", "{call}");
    }
}

/// A title is a text for display: it can deny, but not allow.
#[test]
fn a_title_denies_and_never_allows() {
    let mut connection = connection(DENY_MAKE);
    for title in ["git status", "`git status`"] {
        let call = json!({"kind": "execute", "title": title});
        connection.passes(&permission(8, &call, &options()));
        let answer =
            json!({"jsonrpc": "2.0", "id": 8, "result": {"outcome": {"outcome": "cancelled"}}});
        connection.client(&answer);
        connection.agent_reads.next();
    }
    for title in [
        "make all",
        "Run `make all` in the project",
        "`ls` and `make`",
    ] {
        let call = json!({"kind": "execute", "title": title});
        let reply = connection.is_answered(&permission(9, &call, &options()));
        assert_eq!(selected(&reply), "no", "{title}");
    }
}

#[test]
fn edits_are_decided_by_their_files() {
    let deny = "[[rule]]\neffect = 'deny'\npath = 'secret/**'\nreason = 'closed'\n";
    let allow = "[[rule]]\neffect = 'allow'\ntool = 'Edit'\npath = 'docs/**'\nreason = 'pages'\n";
    let mut connection = connection(&format!("{deny}{allow}"));
    let project = connection.home.project();
    let diff = |path: &str| {
        let path = project.join(path);
        json!({"type": "diff", "path": path, "oldText": "a", "newText": "b"})
    };
    let edit = |content: Value, input: Value| json!({"kind": "edit", "content": content, "rawInput": input});
    for (call, option) in [
        (edit(json!([diff("docs/a.md")]), Value::Null), "yes"),
        (edit(json!([diff("secret/a.md")]), Value::Null), "no"),
        (
            edit(json!([diff("docs/a.md"), diff("secret/a.md")]), Value::Null),
            "no",
        ),
        (
            edit(
                json!([diff("docs/a.md")]),
                json!({"file_path": "secret/b.md"}),
            ),
            "no",
        ),
        (
            json!({"kind": "delete", "locations": [{"path": project.join("secret/x")}]}),
            "no",
        ),
        (
            json!({"kind": "read", "rawInput": {"file_path": "secret/b.md"}}),
            "no",
        ),
        (
            json!({"kind": "move", "rawInput": {"source": "docs/a.md", "destination": "secret/a.md"}}),
            "no",
        ),
    ] {
        let reply = connection.is_answered(&permission(8, &call, &options()));
        assert_eq!(selected(&reply), option, "{call}");
    }
    let call = edit(json!([diff("docs/a.md"), diff("src/a.rs")]), Value::Null);
    connection.passes(&permission(9, &call, &options()));
}

#[test]
fn version_2_names_the_command_in_its_subject() {
    let home = Home::new();
    home.rules(DENY_MAKE);
    let mut connection = Connection::with(home, &[]);
    connection.start_session(2);
    let project = connection.home.project();
    let ask = |id: u64, subject: Value| {
        let params =
            json!({"sessionId": "s", "title": "Run?", "subject": subject, "options": options()});
        request(id, "session/request_permission", &params)
    };
    let command = |command: &str| json!({"type": "command", "command": command, "cwd": project});
    let reply = connection.is_answered(&ask(8, command("git status")));
    assert_eq!(selected(&reply), "yes");
    let reply = connection.is_answered(&ask(9, command("make")));
    assert_eq!(selected(&reply), "no");
    connection.passes(&ask(10, command("rm -r build")));
    let call = json!({"toolCallId": "c", "kind": "execute", "rawInput": {"command": "make"}});
    let reply = connection.is_answered(&ask(11, json!({"type": "tool_call", "toolCall": call})));
    assert_eq!(selected(&reply), "no");
    connection.passes(&ask(12, json!({"type": "_other", "command": "git status"})));
    connection.passes(&ask(13, Value::Null));
    let relative = json!({"type": "command", "command": "ls", "cwd": "x"});
    let reply = connection.is_answered(&ask(14, relative));
    assert_eq!(reply["error"]["code"], -32602, "{reply}");
    let mut both = ask(15, command("ls"));
    both["params"]["toolCall"] = json!({"toolCallId": "c"});
    let reply = connection.is_answered(&both);
    assert_eq!(reply["error"]["code"], -32602, "{reply}");
}

#[test]
fn the_answer_of_the_user_is_recorded() {
    let mut connection = connection("");
    connection.passes(&shell(8, "rm -r build"));
    let outcome = json!({"outcome": {"outcome": "selected", "optionId": "no"}});
    let answer = json!({"jsonrpc": "2.0", "id": 8, "result": outcome});
    connection.client(&answer);
    assert_eq!(connection.agent_reads.next(), answer);
    let record = connection
        .home
        .wait_for_record(|record| record["user_response"] == "DENIED");
    assert_eq!(record["command"], "rm -r build");
}

/// Neither a rule nor the classifier allows more than the guard can read.
#[test]
fn a_rule_allows_no_request_with_unknown_parts() {
    let allow = "[[rule]]\neffect = 'allow'\nprogram = 'make'\narguments = ['*']\n";
    let mut connection = connection(allow);
    let known = json!({"kind": "execute", "rawInput": {"command": "make all"}});
    let reply = connection.is_answered(&permission(8, &known, &options()));
    assert_eq!(selected(&reply), "yes");
    for (id, call) in [
        (
            9,
            json!({"kind": "other", "rawInput": {"command": "make all"}}),
        ),
        (
            10,
            json!({"kind": "execute", "rawInput": {"command": "make all", "sandbox": false}}),
        ),
        (11, json!({"kind": "execute", "title": "make all"})),
    ] {
        connection.passes(&permission(id, &call, &options()));
    }
}
