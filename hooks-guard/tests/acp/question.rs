//! Requests that need approval without a service: the proxy asks the user of the client.

use serde_json::{Value, json};

use super::{Connection, Home, Service, request, terminal};

fn connection(version: u64) -> Connection {
    let mut connection = Connection::with(Home::new(), &[]);
    connection.start_session(version);
    connection
}

fn answer(question: &Value, option: &str) -> Value {
    let outcome = json!({"outcome": {"outcome": "selected", "optionId": option}});
    json!({"jsonrpc": "2.0", "id": question["id"], "result": outcome})
}

/// Returns the ids of the options that allow and reject.
fn option_ids(question: &Value) -> [String; 2] {
    let options = question["params"]["options"].as_array().expect("options");
    let id = |kind: &str| {
        let option = options.iter().find(|option| option["kind"] == kind);
        option.expect(kind)["optionId"]
            .as_str()
            .expect("an id")
            .to_owned()
    };
    assert_eq!(options.len(), 2);
    [id("allow_once"), id("reject_once")]
}

#[test]
fn the_client_is_asked_and_gets_the_request_after_a_yes() {
    let mut connection = connection(1);
    let create = terminal(8, "rm", &["-r", "build"]);
    connection.agent(&create);
    let question = connection.client_reads.next();
    assert_eq!(question["method"], "session/request_permission");
    let call = &question["params"]["toolCall"];
    assert_eq!(call["rawInput"]["command"], "rm -r build");
    assert_eq!(call["kind"], "execute");
    assert!(
        call["content"][0]["content"]["text"]
            .as_str()
            .expect("text")
            .contains("DELETE")
    );
    let [allow, _] = option_ids(&question);
    // Other messages pass in the meantime.
    let update = super::notification("session/update", &json!({"sessionId": "s"}));
    connection.passes(&update);
    connection.client(&answer(&question, &allow));
    assert_eq!(connection.client_reads.next(), create);
    connection.agent_reads.is_silent();
    let created = json!({"jsonrpc": "2.0", "id": 8, "result": {"terminalId": "t"}});
    connection.client(&created);
    assert_eq!(connection.agent_reads.next(), created);
    let record = connection
        .home
        .wait_for_record(|record| record["execution_happened"] == true);
    assert_eq!(record["user_response"], "APPROVED");
}

#[test]
fn everything_but_a_yes_denies() {
    let mut connection = connection(1);
    let replies = |question: &Value, reject: &str| {
        let id = &question["id"];
        [
            answer(question, reject),
            answer(question, "invented"),
            json!({"jsonrpc": "2.0", "id": id, "result": {"outcome": {"outcome": "cancelled"}}}),
            json!({"jsonrpc": "2.0", "id": id, "result": {"outcome": {"outcome": "_other",
                "optionId": "hooks-guard-allow-once"}}}),
            json!({"jsonrpc": "2.0", "id": id, "result": {}}),
            json!({"jsonrpc": "2.0", "id": id, "result": null}),
            json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "no method"}}),
        ]
    };
    for number in 0..7 {
        connection.agent(&terminal(8, "rm", &["-r", "build"]));
        let question = connection.client_reads.next();
        let [_, reject] = option_ids(&question);
        connection.client(&replies(&question, &reject)[number]);
        let reply = connection.agent_reads.next();
        assert_eq!(reply["error"]["code"], -32003, "{number}: {reply}");
        connection.client_reads.is_silent();
    }
    let record = connection
        .home
        .wait_for_record(|record| record["user_response"] == "DENIED");
    assert_eq!(record["execution_happened"], false);
}

#[test]
fn a_file_is_asked_about_in_version_2() {
    let mut connection = connection(2);
    let path = connection.home.project().join("a.txt");
    let params = json!({"sessionId": "s", "path": path, "content": "x"});
    let write = request(8, "fs/write_text_file", &params);
    connection.agent(&write);
    let question = connection.client_reads.next();
    let params = &question["params"];
    assert!(
        params["title"].as_str().expect("text").contains("a.txt"),
        "{question}"
    );
    assert_eq!(params["subject"]["type"], "tool_call");
    assert_eq!(params["subject"]["toolCall"]["kind"], "edit");
    let [allow, _] = option_ids(&question);
    connection.client(&answer(&question, &allow));
    assert_eq!(connection.client_reads.next(), write);
}

/// A broken answer of the client is an error for the client, and no approval.
#[test]
fn a_broken_answer_denies() {
    let mut connection = connection(1);
    connection.agent(&terminal(8, "rm", &["-r", "build"]));
    let question = connection.client_reads.next();
    let id = &question["id"];
    let allow = &option_ids(&question)[0];
    let line = format!(
        r#"{{"jsonrpc":"2.0","id":{id},"result":{{"outcome":{{"outcome":"selected","optionId":"x","optionId":"{allow}"}}}}}}"#
    );
    connection.client_bytes(format!("{line}\n").as_bytes());
    let error = connection.client_reads.next();
    assert_eq!(
        (&error["id"], &error["error"]["code"]),
        (&Value::Null, &json!(-32600))
    );
    let reply = connection.agent_reads.next();
    assert_eq!(reply["error"]["code"], -32003, "{reply}");
    connection.client_reads.is_silent();
}

#[test]
fn the_option_asks_the_client_although_a_service_runs() {
    let home = Home::new();
    let _service = Service::start(&home);
    let mut connection = Connection::with(home, &["--ask", "editor"]);
    connection.start_session(1);
    connection.agent(&terminal(8, "rm", &["-r", "build"]));
    let question = connection.client_reads.next();
    let [allow, _] = option_ids(&question);
    connection.client(&answer(&question, &allow));
    assert_eq!(connection.client_reads.next()["method"], "terminal/create");
}

/// A response of the agent goes to the client, whatever its id is.
#[test]
fn the_agent_cannot_answer_the_question() {
    let mut connection = connection(1);
    connection.agent(&terminal(8, "rm", &["-r", "build"]));
    let question = connection.client_reads.next();
    let [allow, reject] = option_ids(&question);
    connection.passes(&answer(&question, &allow));
    connection.client_reads.is_silent();
    let mut reused = terminal(8, "ls", &[]);
    reused["id"] = question["id"].clone();
    let reply = connection.is_answered(&reused);
    assert_eq!(reply["error"]["code"], -32600, "{reply}");
    connection.client(&answer(&question, &reject));
    assert_eq!(connection.agent_reads.next()["error"]["code"], -32003);
}
