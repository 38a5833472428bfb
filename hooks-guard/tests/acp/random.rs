//! Random messages of both sides have the properties of the fuzz target `acp`.

use hooks_guard::acp::fuzz_proxy;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{options, request};

/// Messages of which random ones are made.
fn messages() -> Vec<Value> {
    let terminal = json!({"sessionId": "s", "command": "rm", "args": ["-r", "build"]});
    let write = json!({"sessionId": "s", "path": "/srv/a.txt", "content": "x"});
    let call = json!({"toolCallId": "c", "kind": "execute", "rawInput": {"command": "rm"}});
    let ask = json!({"sessionId": "s", "toolCall": call, "options": options()});
    let subject = json!({"type": "command", "command": "rm", "cwd": "/srv"});
    let ask_2 = json!({"sessionId": "s", "title": "x", "subject": subject, "options": options()});
    let update = json!({"sessionUpdate": "tool_call_update", "toolCallId": "c",
        "status": "completed"});
    vec![
        request(1, "terminal/create", &terminal),
        request(1, "fs/write_text_file", &write),
        request(
            2,
            "fs/read_text_file",
            &json!({"sessionId": "s", "path": "/srv/a.txt"}),
        ),
        request(2, "session/request_permission", &ask),
        request(3, "session/request_permission", &ask_2),
        request(
            1,
            "session/prompt",
            &json!({"sessionId": "s", "prompt": []}),
        ),
        request(0, "initialize", &json!({"protocolVersion": 1})),
        request(2, "session/new", &json!({"cwd": "/srv", "mcpServers": []})),
        request("1", "_ext/x", &Value::Null),
        super::notification(
            "session/update",
            &json!({"sessionId": "s", "update": update}),
        ),
        super::notification("session/cancel", &json!({"sessionId": "s"})),
        super::notification("$/cancel_request", &json!({"requestId": 1})),
        json!({"jsonrpc": "2.0", "id": 1, "result": {"terminalId": "t"}}),
        json!({"jsonrpc": "2.0", "id": 2, "result": {"outcome": {"outcome": "selected",
            "optionId": "yes"}}}),
        json!({"jsonrpc": "2.0", "id": 0, "result": {"protocolVersion": 2}}),
        json!({"jsonrpc": "2.0", "id": "1", "error": {"code": -32601, "message": "x"}}),
    ]
}

/// Texts that change how a message is read.
const SPLICES: &[&str] = &[
    "\n",
    "\r",
    "\0",
    " ",
    "\t",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "null",
    "1.5",
    "1e3",
    "\"id\":1,",
    "\"ID\":1,",
    "\"method\":\"terminal/create\",",
    "\"Method\":\"x\",",
    "\"result\":{},",
    "\"error\":null,",
    "\"method\":\"session\\/request_permission\",",
    "\\u0000",
    "\\ud800",
    "\u{2028}",
    "\u{feff}",
    "[1,",
    "\"\\u006dethod\":\"fs/write_text_file\",",
    "\"jsonrpc\":\"2.0\",",
    "\"params\":{},",
    "\"params\":[],",
    "\"optionId\":\"no\",",
];

fn line() -> impl Strategy<Value = Vec<u8>> {
    let messages = messages();
    let index = 0..messages.len();
    let splices = prop::collection::vec((any::<prop::sample::Index>(), 0..SPLICES.len()), 0..3);
    let bytes = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..2);
    // Half of the lines stay as they are.
    let changes = prop::option::of((splices, bytes));
    (index, changes).prop_map(move |(index, changes)| {
        let mut text = messages[index].to_string().into_bytes();
        if let Some((splices, bytes)) = changes {
            for (at, splice) in splices {
                let at = at.index(text.len() + 1);
                text.splice(at..at, SPLICES[splice].bytes());
            }
            for (at, byte) in bytes {
                let at = at.index(text.len());
                text[at] = byte;
            }
        }
        text.push(b'\n');
        text
    })
}

/// Returns messages of both sides, one side after the other.
fn conversation() -> impl Strategy<Value = Vec<u8>> {
    let part = prop::collection::vec(line(), 0..5).prop_map(|lines| lines.concat());
    prop::collection::vec(part, 1..8).prop_map(|parts| parts.join(&0))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_request_passes_undecided_and_all_else_passes_byte_for_byte(data in conversation()) {
        fuzz_proxy(&data);
    }

    #[test]
    fn any_bytes_are_a_message_or_an_error(data in prop::collection::vec(any::<u8>(), 0..500)) {
        fuzz_proxy(&data);
    }
}

#[test]
fn each_message_of_each_side_has_the_properties() {
    for message in messages() {
        let line = format!("{message}\n");
        for data in [
            line.clone(),
            format!("\0{line}"),
            // The ids are open, or answered.
            format!("{line}{line}\0{line}\0{line}"),
        ] {
            fuzz_proxy(data.as_bytes());
        }
    }
}
