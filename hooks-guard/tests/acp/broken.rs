//! Broken messages: an error for the sender, and nothing for the receiver.

use serde_json::{Value, json};

use super::{Connection, notification, request, terminal};

const BROKEN: &[&str] = &[
    "started\n",
    "{\n",
    "[]\n",
    "null\n",
    r#"[{"jsonrpc":"2.0","id":5,"method":"terminal/create","params":{"sessionId":"s","command":"rm"}}]
"#,
    "{\"jsonrpc\":\"2.0\",\"method\":\"x\"} {\"jsonrpc\":\"2.0\",\"method\":\"terminal/create\"}\n",
    "{\"jsonrpc\":\"2.0\",\"x\":\r{\"jsonrpc\":\"2.0\",\"method\":\"y\"}\r,\"method\":\"x\"}\n",
    "{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":\"\\ud800\"}\n",
    "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"x\"}\n",
    "{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"x\"}\n",
    "{\"id\":5,\"method\":\"x\"}\n",
];

#[test]
fn a_broken_message_of_either_side_is_not_passed() {
    let mut connection = Connection::new();
    connection.start_session(1);
    for line in BROKEN {
        connection.agent_bytes(line.as_bytes());
        let reply = connection.agent_reads.next();
        let code = reply["error"]["code"].as_i64();
        assert!(matches!(code, Some(-32700 | -32600)), "{line}: {reply}");
        connection.client_bytes(line.as_bytes());
        let reply = connection.client_reads.next();
        let code = reply["error"]["code"].as_i64();
        assert!(matches!(code, Some(-32700 | -32600)), "{line}: {reply}");
    }
    connection.agent_bytes(b"{\"jsonrpc\":\"2.0\",\"method\":\"\xff\"}\n");
    assert_eq!(connection.agent_reads.next()["error"]["code"], -32700);
    // The connection still works, and nothing else has passed.
    connection.passes(&notification("session/update", &json!({})));
    connection.agent_reads.is_silent();
    assert!(String::from_utf8_lossy(&connection.errors.bytes()).contains("broken message"));
}

#[test]
fn duplicate_keys_are_an_error_with_the_id_if_it_is_certain() {
    let mut connection = Connection::new();
    connection.start_session(1);
    for (line, id) in [
        (
            r#"{"jsonrpc":"2.0","id":5,"method":"x","method":"terminal/create"}"#,
            json!(5),
        ),
        (
            r#"{"jsonrpc":"2.0","id":5,"method":"x","Method":"terminal/create"}"#,
            json!(5),
        ),
        (
            r#"{"jsonrpc":"2.0","id":5,"id":6,"method":"x"}"#,
            Value::Null,
        ),
        (
            r#"{"jsonrpc":"2.0","id":5,"method":"terminal/create","params":{"sessionId":"s","command":"ls","command":"rm"}}"#,
            json!(5),
        ),
        (
            r#"{"jsonrpc":"2.0","id":5,"method":"x","params":{"a":[{"b":1,"\u0062":2}]}}"#,
            json!(5),
        ),
    ] {
        connection.agent_bytes(format!("{line}\n").as_bytes());
        let reply = connection.agent_reads.next();
        assert_eq!(
            (&reply["id"], &reply["error"]["code"]),
            (&id, &json!(-32600)),
            "{line}"
        );
    }
    connection.client_reads.is_silent();
}

/// If the response of the client is broken, the agent gets an error in its place.
#[test]
fn a_broken_response_ends_its_request() {
    let mut connection = Connection::new();
    connection.start_session(1);
    connection.passes(&terminal(8, "ls", &[]));
    connection.client_bytes(b"{\"jsonrpc\":\"2.0\",\"id\":8,\"result\":{\"a\":1,\"a\":2}}\n");
    let error = connection.client_reads.next();
    assert_eq!(
        (&error["id"], &error["error"]["code"]),
        (&Value::Null, &json!(-32600))
    );
    let reply = connection.agent_reads.next();
    assert_eq!(
        (&reply["id"], &reply["error"]["code"]),
        (&json!(8), &json!(-32603))
    );
    // So it is in the other direction.
    connection.client(&request(9, "session/prompt", &json!({})));
    connection.agent_reads.next();
    connection.agent_bytes(b"{\"jsonrpc\":\"2.0\",\"id\":9,\"result\":1,\"error\":{}}\n");
    let error = connection.agent_reads.next();
    assert_eq!(error["id"], Value::Null);
    let reply = connection.client_reads.next();
    assert_eq!(
        (&reply["id"], &reply["error"]["code"]),
        (&json!(9), &json!(-32603))
    );
}

#[test]
fn an_id_belongs_to_one_open_request() {
    let mut connection = Connection::new();
    connection.start_session(1);
    connection.passes(&terminal(8, "ls", &[]));
    for second in [
        terminal(8, "ls", &["-l"]),
        request(8, "terminal/output", &json!({})),
    ] {
        let reply = connection.is_answered(&second);
        // The id would answer the first request.
        assert_eq!(
            (&reply["id"], &reply["error"]["code"]),
            (&Value::Null, &json!(-32600))
        );
    }
    // A text is another id, and an answered id is free.
    connection.passes(&request("8", "terminal/output", &json!({})));
    let created = json!({"jsonrpc": "2.0", "id": 8, "result": {"terminalId": "t"}});
    connection.client(&created);
    assert_eq!(connection.agent_reads.next(), created);
    connection.passes(&terminal(8, "ls", &[]));
    // The client's ids are separate.
    let prompt = request(8, "session/prompt", &json!({}));
    connection.client(&prompt);
    assert_eq!(connection.agent_reads.next(), prompt);
    connection.client(&prompt);
    assert_eq!(connection.client_reads.next()["error"]["code"], -32600);
}

#[test]
fn a_request_that_needs_a_decision_has_an_id() {
    let mut connection = Connection::new();
    connection.start_session(1);
    let params = json!({"sessionId": "s", "command": "rm"});
    for method in [
        "terminal/create",
        "fs/write_text_file",
        "session/request_permission",
    ] {
        let reply = connection.is_answered(&notification(method, &params));
        assert_eq!(reply["error"]["code"], -32600);
    }
}

#[test]
fn a_message_without_a_line_break_is_not_passed() {
    let mut connection = Connection::new();
    connection.start_session(1);
    connection.agent_bytes(notification("x", &json!({})).to_string().as_bytes());
    connection.agent_writes.take();
    assert_eq!(connection.agent_reads.next()["error"]["code"], -32700);
    connection.client_reads.is_silent();
    connection.client_bytes(notification("x", &json!({})).to_string().as_bytes());
    connection.client_writes.take();
    connection.agent_reads.ends();
}

#[test]
fn a_message_has_a_maximum_length() {
    let mut connection = Connection::new();
    connection.start_session(1);
    let long = "x".repeat(33 << 20);
    connection.agent(&notification("x", &long.clone().into()));
    let reply = connection.agent_reads.next();
    assert_eq!(reply["error"]["code"], -32600, "{reply}");
    let path = connection.home.project().join("a.txt");
    let params = json!({"sessionId": "s", "path": path, "content": &long[..11 << 20]});
    let reply = connection.is_answered(&request(8, "fs/write_text_file", &params));
    assert_eq!(
        (&reply["id"], &reply["error"]["code"]),
        (&json!(8), &json!(-32600))
    );
    connection.passes(&notification("x", &json!(&long[..20 << 20])));
}

#[test]
fn deep_messages_and_ids_that_programs_round_are_broken() {
    let mut connection = Connection::new();
    connection.start_session(1);
    let nested = |levels: usize| {
        let (open, close) = ("[".repeat(levels - 1), "]".repeat(levels - 1));
        format!("{{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":{open}{close}}}\n")
    };
    let with_id = |id: &str| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"x\"}}\n");
    for line in [
        nested(127),
        with_id("9007199254740991"),
        with_id("-9007199254740991"),
    ] {
        connection.agent_bytes(line.as_bytes());
        assert_eq!(connection.client_reads.bytes(), line.as_bytes());
    }
    let long = format!("\"{}\"", "i".repeat(501));
    for line in [
        nested(128),
        with_id("9007199254740993"),
        with_id("1e400"),
        with_id(&long),
    ] {
        connection.agent_bytes(line.as_bytes());
        let reply = connection.agent_reads.next();
        assert!(reply["error"]["code"].is_i64(), "{line}: {reply}");
    }
    connection.client_reads.is_silent();
}

#[test]
fn a_side_has_a_maximum_number_of_open_requests() {
    let mut connection = Connection::new();
    connection.start_session(1);
    let ask = |id: u64| format!("{}\n", request(id, "_ext/x", &Value::Null));
    for id in 0..10_000 {
        connection.agent_bytes(ask(id).as_bytes());
        assert_eq!(connection.client_reads.bytes(), ask(id).as_bytes());
    }
    let reply = connection.is_answered(&request(10_000, "_ext/x", &Value::Null));
    assert_eq!(
        (&reply["id"], &reply["error"]["code"]),
        (&json!(10_000), &json!(-32600))
    );
    let reply = connection.is_answered(&terminal(10_001, "ls", &[]));
    assert_eq!(
        (&reply["id"], &reply["error"]["code"]),
        (&json!(10_001), &json!(-32600))
    );
    // A response makes a place, and the client has its own places.
    let response = json!({"jsonrpc": "2.0", "id": 7, "result": null});
    connection.client(&response);
    assert_eq!(connection.agent_reads.next(), response);
    connection.passes(&request(10_000, "_ext/x", &Value::Null));
    let prompt = request(10_000, "session/prompt", &json!({}));
    connection.client(&prompt);
    assert_eq!(connection.agent_reads.next(), prompt);
}
