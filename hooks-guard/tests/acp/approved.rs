//! An approved change of a file covers the write that makes it, once.

use serde_json::{Value, json};

use super::{Connection, Home, Service, options, permission, request, selected};

fn connection(home: Home) -> Connection {
    let mut connection = Connection::with(home, &[]);
    connection.start_session(1);
    std::fs::write(connection.home.project().join("a.txt"), "one\ntwo\n").expect("a file");
    connection
}

/// Returns the permission request of an edit that changes `two` into `three`.
fn edit(connection: &Connection) -> Value {
    let path = connection.home.project().join("a.txt");
    let diff = json!({"type": "diff", "path": path, "oldText": "two", "newText": "three"});
    permission(8, &json!({"kind": "edit", "content": [diff]}), &options())
}

fn write(connection: &Connection, name: &str, content: &str) -> Value {
    let path = connection.home.project().join(name);
    let params = json!({"sessionId": "s", "path": path, "content": content});
    request(9, "fs/write_text_file", &params)
}

/// Approves the edit as the user of the editor.
fn approve_in_editor(connection: &mut Connection) {
    let edit = edit(connection);
    connection.passes(&edit);
    let outcome = json!({"outcome": {"outcome": "selected", "optionId": "yes"}});
    let answer = json!({"jsonrpc": "2.0", "id": 8, "result": outcome});
    connection.client(&answer);
    assert_eq!(connection.agent_reads.next(), answer);
}

/// Ends the write without an effect.
fn end_write(connection: &mut Connection) {
    let done = json!({"jsonrpc": "2.0", "id": 9, "result": {}});
    connection.client(&done);
    assert_eq!(connection.agent_reads.next(), done);
}

/// Sends a write, checks that the user of the editor is asked about it, and rejects it.
fn is_asked(connection: &mut Connection, write: &Value) {
    connection.agent(write);
    let question = connection.client_reads.next();
    assert_eq!(question["method"], "session/request_permission");
    let outcome = json!({"outcome": {"outcome": "cancelled"}});
    connection.client(&json!({"jsonrpc": "2.0", "id": question["id"], "result": outcome}));
    assert_eq!(connection.agent_reads.next()["error"]["code"], -32003);
}

#[test]
fn the_write_of_an_approved_change_needs_no_second_answer() {
    let mut connection = connection(Home::new());
    approve_in_editor(&mut connection);
    let exact = write(&connection, "a.txt", "one\nthree\n");
    connection.passes(&exact);
    end_write(&mut connection);
    let is_write = |record: &&Value| {
        let command = record["command"].as_str().unwrap_or_default();
        command.starts_with("Write ") && record["execution_happened"] == true
    };
    let record = connection
        .home
        .wait_for(|trail| trail.iter().find(is_write).cloned());
    assert_eq!(record["user_response"], "APPROVED", "{record}");
    assert_eq!(record["answered_by"], "permission request", "{record}");
    // The approval covers one write.
    is_asked(&mut connection, &exact);
}

/// Goose's requests have no diff, but the input of the tool.
#[test]
fn the_input_of_a_tool_shows_its_change() {
    let mut connection = connection(Home::new());
    let path = connection.home.project().join("a.txt");
    for (input, content) in [
        (json!({"path": path, "content": "new"}), "new"),
        (
            json!({"path": path, "before": "two", "after": "three"}),
            "one\nthree\n",
        ),
    ] {
        let call = json!({"kind": "edit", "rawInput": input});
        connection.passes(&permission(8, &call, &options()));
        let outcome = json!({"outcome": {"outcome": "selected", "optionId": "yes"}});
        let answer = json!({"jsonrpc": "2.0", "id": 8, "result": outcome});
        connection.client(&answer);
        assert_eq!(connection.agent_reads.next(), answer);
        let exact = write(&connection, "a.txt", content);
        connection.passes(&exact);
        end_write(&mut connection);
        is_asked(&mut connection, &exact);
    }
}

#[test]
fn another_change_than_the_approved_one_needs_approval() {
    let mut connection = connection(Home::new());
    for (name, content) in [
        ("a.txt", "one\nfour\n"),
        ("a.txt", "three"),
        ("b.txt", "one\nthree\n"),
    ] {
        approve_in_editor(&mut connection);
        let other = write(&connection, name, content);
        is_asked(&mut connection, &other);
    }
    // The file has changed since the approval.
    approve_in_editor(&mut connection);
    std::fs::write(connection.home.project().join("a.txt"), "zero\ntwo\n").expect("a file");
    let exact = write(&connection, "a.txt", "one\nthree\n");
    is_asked(&mut connection, &exact);
}

#[test]
fn a_rejected_or_cancelled_change_is_not_approved() {
    let mut connection = connection(Home::new());
    let edit = edit(&connection);
    connection.passes(&edit);
    let outcome = json!({"outcome": {"outcome": "selected", "optionId": "no"}});
    let answer = json!({"jsonrpc": "2.0", "id": 8, "result": outcome});
    connection.client(&answer);
    assert_eq!(connection.agent_reads.next(), answer);
    let exact = write(&connection, "a.txt", "one\nthree\n");
    is_asked(&mut connection, &exact);

    approve_in_editor(&mut connection);
    let cancel = super::notification("session/cancel", &json!({"sessionId": "s"}));
    connection.client(&cancel);
    assert_eq!(connection.agent_reads.next(), cancel);
    is_asked(&mut connection, &exact);
}

#[test]
fn a_rule_denies_the_write_of_an_approved_change() {
    let home = Home::new();
    let deny = "[[rule]]\neffect = 'deny'\ntool = 'Write'\npath = '**'\nreason = 'closed'\n";
    home.rules(deny);
    let mut connection = connection(home);
    approve_in_editor(&mut connection);
    let exact = write(&connection, "a.txt", "one\nthree\n");
    let reply = connection.is_answered(&exact);
    let message = reply["error"]["message"].as_str().expect("a text");
    assert!(message.contains("closed"), "{reply}");
}

#[test]
fn the_operator_is_asked_once_about_a_change_and_its_write() {
    let home = Home::new();
    let service = Service::start(&home);
    let mut connection = connection(home);
    let edit = edit(&connection);
    connection.agent(&edit);
    service.answer("APPROVED");
    assert_eq!(selected(&connection.agent_reads.next()), "yes");
    let exact = write(&connection, "a.txt", "one\nthree\n");
    connection.passes(&exact);
    end_write(&mut connection);
    // The second write is a question again.
    connection.agent(&exact);
    service.answer("APPROVED");
    assert_eq!(connection.client_reads.next(), exact);
}
