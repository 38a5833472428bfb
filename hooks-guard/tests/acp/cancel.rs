//! Cancellation of held requests.

use serde_json::{Value, json};

use super::{Connection, Home, Service, notification, selected, shell, terminal};

#[test]
fn the_end_of_a_turn_cancels_held_requests_of_its_session() {
    let mut connection = Connection::new();
    connection.start_session(1);
    connection.agent(&terminal(8, "rm", &["-r", "build"]));
    let question = connection.client_reads.next();
    let other = notification("session/cancel", &json!({"sessionId": "other"}));
    connection.client(&other);
    assert_eq!(connection.agent_reads.next(), other);
    connection.agent_reads.is_silent();
    let cancel = notification("session/cancel", &json!({"sessionId": "s"}));
    connection.client(&cancel);
    let mut got = [connection.agent_reads.next(), connection.agent_reads.next()];
    got.sort_by_key(|message| message.get("method").is_some());
    let [reply, passed] = got;
    assert_eq!(passed, cancel);
    assert_eq!(
        (&reply["id"], &reply["error"]["code"]),
        (&json!(8), &json!(-32800))
    );
    let cancelled = connection.client_reads.next();
    assert_eq!(cancelled["method"], "$/cancel_request");
    assert_eq!(cancelled["params"]["requestId"], question["id"]);
    // A late answer changes nothing.
    let outcome = json!({"outcome": {"outcome": "selected", "optionId": "hooks-guard-allow-once"}});
    connection.client(&json!({"jsonrpc": "2.0", "id": question["id"], "result": outcome}));
    connection.agent_reads.is_silent();
    connection.client_reads.is_silent();
    let record = connection
        .home
        .wait_for_record(|record| record["user_response"] == "DENIED");
    assert_eq!(record["execution_happened"], false);
}

#[test]
fn the_agent_cancels_a_held_request() {
    let home = Home::new();
    let service = Service::start(&home);
    let mut connection = Connection::with(home, &[]);
    connection.start_session(1);
    connection.agent(&shell(8, "rm -r build"));
    service.wait_for_question();
    connection.agent(&notification("$/cancel_request", &json!({"requestId": 8})));
    let reply = connection.agent_reads.next();
    assert_eq!((selected(&reply), &reply["id"]), ("cancelled", &json!(8)));
    connection.client_reads.is_silent();
    // The client has this request, so it gets the cancellation.
    let read = terminal(9, "ls", &[]);
    connection.passes(&read);
    connection.passes(&notification("$/cancel_request", &json!({"requestId": 9})));
    connection.passes(&notification(
        "$/cancel_request",
        &json!({"requestId": "unknown"}),
    ));
    // The question of the operator is closed.
    let until = std::time::Instant::now() + super::WAIT;
    while !service.questions().is_empty() {
        assert!(std::time::Instant::now() < until, "the question stays open");
    }
}

#[test]
fn the_end_of_the_client_cancels_held_requests() {
    let mut connection = Connection::new();
    connection.start_session(1);
    connection.agent(&terminal(8, "rm", &["-r", "build"]));
    connection.client_reads.next();
    connection.client_writes.take();
    let reply = connection.agent_reads.next();
    assert_eq!(reply["error"]["code"], -32800, "{reply}");
    connection.agent_reads.ends();
}

/// The messages of the client about its own requests pass.
#[test]
fn the_client_cancels_its_own_requests() {
    let mut connection = Connection::new();
    connection.start_session(1);
    let cancel = notification("$/cancel_request", &json!({"requestId": 1}));
    connection.client(&cancel);
    assert_eq!(connection.agent_reads.next(), cancel);
    let odd = notification("session/cancel", &Value::Null);
    connection.client(&odd);
    assert_eq!(connection.agent_reads.next(), odd);
}
