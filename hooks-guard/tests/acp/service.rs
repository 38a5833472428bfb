//! The operator's answers, with a running service.

use std::time::Instant;

use serde_json::{Value, json};

use super::{
    Connection, DENY_MAKE, Home, Service, WAIT, notification, request, selected, shell, terminal,
};

pub(super) fn connection() -> (Service, Connection) {
    connection_with(&[])
}

fn connection_with(options: &[&str]) -> (Service, Connection) {
    let home = Home::new();
    home.rules(DENY_MAKE);
    let service = Service::start(&home);
    let mut connection = Connection::with(home, options);
    connection.start_session(1);
    (service, connection)
}

#[test]
fn a_command_waits_for_the_operator_while_other_messages_pass() {
    let (service, mut connection) = connection();
    let create = terminal(8, "rm", &["-r", "build"]);
    connection.agent(&create);
    let question = service.wait_for_question();
    assert_eq!(question["command"], "rm -r build");
    assert_eq!(question["agent"], "fake-agent");
    connection.passes(&notification("session/update", &json!({"sessionId": "s"})));
    connection.passes(&terminal(9, "ls", &[]));
    connection.client_reads.is_silent();
    service.answer("APPROVED");
    assert_eq!(connection.client_reads.next(), create);
    let created = json!({"jsonrpc": "2.0", "id": 8, "result": {"terminalId": "t"}});
    connection.client(&created);
    assert_eq!(connection.agent_reads.next(), created);
    let is_recorded =
        |record: &Value| record["command"] == "rm -r build" && record["execution_happened"] == true;
    let home = &connection.home;
    home.wait_for(|trail| trail.iter().any(is_recorded).then_some(()));
}

#[test]
fn the_operator_denies() {
    for options in [&[][..], &["--ask", "operator"]] {
        operator_denies(connection_with(options));
    }
}

fn operator_denies((service, mut connection): (Service, Connection)) {
    connection.agent(&terminal(8, "rm", &["-r", "build"]));
    service.answer("DENIED");
    let reply = connection.agent_reads.next();
    assert_eq!(reply["error"]["code"], -32003);
    assert!(
        reply["error"]["message"]
            .as_str()
            .expect("text")
            .contains("operator"),
        "{reply}"
    );
    connection.client_reads.is_silent();
}

#[test]
fn permission_requests_are_answered_by_the_operator() {
    let (service, mut connection) = connection();
    for (response, option) in [("APPROVED", "yes"), ("DENIED", "no")] {
        connection.agent(&shell(8, format!("rm -r {option}")));
        service.answer(response);
        let reply = connection.agent_reads.next();
        assert_eq!((selected(&reply), &reply["id"]), (option, &json!(8)));
        connection.client_reads.is_silent();
    }
    let reply = connection.is_answered(&shell(9, "make"));
    assert_eq!(selected(&reply), "no");
    let reply = connection.is_answered(&shell(10, "ls"));
    assert_eq!(selected(&reply), "yes");
}

#[test]
fn the_operator_sees_the_change_of_a_file() {
    let (service, mut connection) = connection();
    let path = connection.home.project().join("a.txt");
    std::fs::write(&path, "old line\n").expect("a file");
    let params = json!({"sessionId": "s", "path": path, "content": "new line\n"});
    let write = request(8, "fs/write_text_file", &params);
    connection.agent(&write);
    let question = service.wait_for_question();
    let until = Instant::now() + WAIT;
    loop {
        let path = format!("/api/hooks/decisions/{}/changes", question["id"]);
        let changes = service.send("GET", &path, &Value::Null).to_string();
        if changes.contains("-old line") && changes.contains("+new line") {
            break;
        }
        assert!(Instant::now() < until, "{changes}");
    }
    service.answer("APPROVED");
    assert_eq!(connection.client_reads.next(), write);
}

/// The number of held requests is limited.
#[test]
fn a_flood_of_questions_is_an_error() {
    let (service, mut connection) = connection();
    for id in 100..164 {
        connection.agent(&terminal(id, "rm", &["-r", "build"]));
    }
    connection.agent(&terminal(200, "rm", &["-r", "build"]));
    let reply = connection.agent_reads.next();
    assert_eq!(
        (&reply["id"], &reply["error"]["code"]),
        (&json!(200), &json!(-32600)),
        "{reply}"
    );
    assert!(!service.questions().is_empty());
    connection.client_reads.is_silent();
}
