//! The trail after a request was answered: the answer of the editor's user, and the run of the tool
//! call, which the agent reports by `session/update`.

use serde_json::{Value, json};

use super::{
    Connection, DENY_MAKE, Home, Service, notification, request, selected, shell, terminal,
};

const DELETE: &str = "rm -r build";

fn connection(home: Home, options: &[&str]) -> Connection {
    let mut connection = Connection::with(home, options);
    connection.start_session(1);
    connection
}

/// Returns the update of a tool call.
fn update(session: &str, call: &str, status: &str) -> Value {
    let update = json!({"sessionUpdate": "tool_call_update", "toolCallId": call, "status": status});
    notification(
        "session/update",
        &json!({"sessionId": session, "update": update}),
    )
}

/// Answers a permission request as the user of the editor.
fn answer(connection: &mut Connection, id: impl Into<Value>, option: &str) {
    let outcome = json!({"outcome": {"outcome": "selected", "optionId": option}});
    let answer = json!({"jsonrpc": "2.0", "id": id.into(), "result": outcome});
    connection.client(&answer);
}

/// Returns the newest record about a command, once it passes a test.
fn wait_for(connection: &Connection, command: &str, test: impl Fn(&Value) -> bool) -> Value {
    let is_found = |record: &&Value| record["command"] == command;
    connection.home.wait_for(|trail| {
        let found = trail.iter().find(is_found)?;
        test(found).then(|| found.clone())
    })
}

fn has_run(record: &Value) -> bool {
    record["execution_happened"] == true
}

fn is_answered(record: &Value) -> bool {
    !record["user_response"].is_null()
}

#[test]
fn the_answer_of_the_user_and_the_run_are_recorded() {
    let mut connection = connection(Home::new(), &[]);
    for (option, status) in [("yes", "completed"), ("always", "failed")] {
        let command = format!("rm -r {option}");
        connection.passes(&shell(8, command.as_str()));
        answer(&mut connection, 8, option);
        connection.agent_reads.next();
        let record = wait_for(&connection, &command, is_answered);
        assert_eq!(record["user_response"], "APPROVED", "{record}");
        assert_eq!(record["answered_by"], "editor", "{record}");
        assert_eq!(record["execution_happened"], false, "{record}");
        connection.passes(&update("s", "call-8", "pending"));
        connection.passes(&update("s", "call-8", "in_progress"));
        connection.passes(&update("other", "call-8", status));
        connection.passes(&update("s", "call-9", status));
        // The reports are recorded in their order.
        connection.passes(&shell(9, "rm -r next"));
        answer(&mut connection, 9, "no");
        connection.agent_reads.next();
        let next = wait_for(&connection, "rm -r next", is_answered);
        assert_eq!(next["user_response"], "DENIED", "{next}");
        assert_eq!(next["answered_by"], "editor", "{next}");
        let record = wait_for(&connection, &command, |_| true);
        assert_eq!(record["execution_happened"], false, "{record}");
        connection.passes(&update("s", "call-8", status));
        let record = wait_for(&connection, &command, has_run);
        assert_eq!(record["answered_by"], "editor", "{record}");
    }
}

/// A client that reuses the id of a tool call does not exchange two answers.
#[test]
fn answers_belong_to_their_requests() {
    let mut connection = connection(Home::new(), &[]);
    let ask = |id: u64, command: &str| {
        let mut ask = shell(id, command);
        ask["params"]["toolCall"]["toolCallId"] = "same".into();
        ask
    };
    connection.passes(&ask(8, "rm -r one"));
    connection.passes(&ask(9, "rm -r two"));
    answer(&mut connection, 8, "yes");
    answer(&mut connection, 9, "no");
    let one = wait_for(&connection, "rm -r one", is_answered);
    let two = wait_for(&connection, "rm -r two", is_answered);
    assert_eq!(one["user_response"], "APPROVED");
    assert_eq!(two["user_response"], "DENIED");
    connection.passes(&update("s", "same", "completed"));
    wait_for(&connection, "rm -r one", has_run);
    let two = wait_for(&connection, "rm -r two", is_answered);
    assert_eq!(two["execution_happened"], false, "{two}");
}

/// A call that was denied ends, too; it has not run.
#[test]
fn the_end_of_a_denied_call_is_no_run() {
    let home = Home::new();
    home.rules(DENY_MAKE);
    let mut connection = connection(home, &[]);
    connection.passes(&shell(8, DELETE));
    answer(&mut connection, 8, "no");
    connection.agent_reads.next();
    connection.passes(&update("s", "call-8", "failed"));
    let reply = connection.is_answered(&shell(9, "make"));
    assert_eq!(selected(&reply), "no");
    connection.passes(&update("s", "call-9", "failed"));
    let reply = connection.is_answered(&shell(10, "git status"));
    assert_eq!(selected(&reply), "yes");
    connection.passes(&update("s", "call-10", "completed"));
    wait_for(&connection, "git status", has_run);
    for command in [DELETE, "make"] {
        let record = wait_for(&connection, command, |_| true);
        assert_eq!(record["execution_happened"], false, "{record}");
    }
}

#[test]
fn version_2_reports_runs_and_cancelled_calls() {
    let mut connection = Connection::with(Home::new(), &[]);
    connection.start_session(2);
    let project = connection.home.project();
    for (id, command) in [(8, "rm -r gone"), (9, "rm -r cancelled")] {
        let call = format!("call-{id}");
        let subject = json!({"type": "command", "command": command, "cwd": project,
            "toolCallId": call});
        let params = json!({"sessionId": "s", "title": "Run?", "subject": subject,
            "options": super::options()});
        connection.passes(&request(id, "session/request_permission", &params));
        answer(&mut connection, id, "yes");
        connection.agent_reads.next();
    }
    connection.passes(&update("s", "call-9", "cancelled"));
    connection.passes(&update("s", "call-9", "completed"));
    connection.passes(&update("s", "call-8", "completed"));
    wait_for(&connection, "rm -r gone", has_run);
    let cancelled = wait_for(&connection, "rm -r cancelled", is_answered);
    assert_eq!(cancelled["user_response"], "APPROVED");
    assert_eq!(cancelled["execution_happened"], false, "{cancelled}");
}

#[test]
fn the_answer_to_the_question_of_the_proxy_is_recorded() {
    let mut connection = connection(Home::new(), &[]);
    let create = terminal(8, "rm", &["-r", "build"]);
    connection.agent(&create);
    let question = connection.client_reads.next();
    answer(
        &mut connection,
        question["id"].clone(),
        "hooks-guard-allow-once",
    );
    assert_eq!(connection.client_reads.next(), create);
    let record = wait_for(&connection, DELETE, is_answered);
    assert_eq!(record["user_response"], "APPROVED", "{record}");
    assert_eq!(record["answered_by"], "editor", "{record}");
    assert_eq!(record["execution_happened"], false, "{record}");
    // The editor could not run the command.
    let failed =
        json!({"jsonrpc": "2.0", "id": 8, "error": {"code": -32603, "message": "no terminal"}});
    connection.client(&failed);
    assert_eq!(connection.agent_reads.next(), failed);
    let (_, home) = connection.close();
    let record = &home.trail()[0];
    assert_eq!(record["execution_happened"], false, "{record}");
}

#[test]
fn the_run_of_a_call_that_the_operator_approved_is_recorded() {
    let home = Home::new();
    let service = Service::start(&home);
    let mut connection = connection(home, &[]);
    connection.agent(&shell(8, DELETE));
    service.answer("APPROVED");
    assert_eq!(selected(&connection.agent_reads.next()), "yes");
    connection.passes(&update("s", "call-8", "completed"));
    let record = wait_for(&connection, DELETE, has_run);
    assert_eq!(record["answered_by"], "operator", "{record}");
}

/// The editor's user approves this request, and no other: the approval is recorded as used.
#[test]
fn the_approval_of_hidden_code_is_used_at_once() {
    let home = Home::new();
    let service = Service::start(&home);
    let mut connection = connection(home, &[]);
    let hidden = "export API_KEY=abcdefgh; printenv API_KEY | sh";
    connection.passes(&shell(8, hidden));
    assert_eq!(service.questions().len(), 1);
    answer(&mut connection, 8, "yes");
    connection.agent_reads.next();
    let record = connection.home.wait_for_record(is_answered);
    assert_eq!(record["user_response"], "APPROVED", "{record}");
    assert_eq!(record["answered_by"], "editor", "{record}");
    assert!(service.questions().is_empty());
    connection.passes(&shell(9, hidden));
    let record = &connection.home.trail()[0];
    assert_eq!(record["user_response"], Value::Null, "{record}");
}

/// The last reports are recorded before the proxy ends.
#[test]
fn a_run_at_the_end_of_the_agent_is_recorded() {
    let mut connection = connection(Home::new(), &[]);
    connection.passes(&shell(8, DELETE));
    answer(&mut connection, 8, "yes");
    connection.agent_reads.next();
    connection.passes(&update("s", "call-8", "completed"));
    let (_, home) = connection.close();
    let record = &home.trail()[0];
    assert_eq!(record["user_response"], "APPROVED", "{record}");
    assert_eq!(record["execution_happened"], true, "{record}");
}
