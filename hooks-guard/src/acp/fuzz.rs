//! Properties that hold for any messages, for the fuzz target and tests. In: any bytes of both
//! sides. Out: nothing; panics if the proxy passes a message that needs a decision, changes or loses
//! another message, or stores too much.

#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Deserializer;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt, BufReader, DuplexStream, duplex};
use tokio::task::yield_now;

use super::decide::{
    DecidedRequest, DecisionRecord, RecordKey, RequestDecision, RequestGate, RequestOutcome,
};
use super::message::{self, Envelope, MessageId};
use super::proxy::Proxy;
use super::requests::AgentRequest;

/// Passes the bytes through a proxy whose gate denies every request, and checks both outputs. A line
/// that starts with `>` is from the client, without the `>`; any other line is from the agent.
///
/// # Panics
/// If a request for a terminal, a file or a permission reaches the client; if another message does
/// not pass byte for byte, or in another order; if a message that does not pass has no reply; if the
/// proxy keeps a request that has ended.
#[cfg_attr(
    not(fuzzing),
    expect(unreachable_pub, reason = "public for the fuzz target only")
)]
pub fn fuzz_proxy(data: &[u8]) {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.expect("a runtime").block_on(run(data));
}

/// The methods of the requests that need a decision.
const DECIDED: [&str; 4] = [
    "terminal/create",
    "fs/write_text_file",
    "fs/read_text_file",
    "session/request_permission",
];
/// Number of yields in which the proxy must pass a message on.
const MAX_YIELDS: usize = 1_000_000;
/// Bytes in transit of one stream.
const PIPE_BYTES: usize = 64 << 10;

async fn run(data: &[u8]) {
    let [
        (agent_in, agent_proxy),
        (client_in, client_proxy),
        (agent_out, proxy_agent),
        (client_out, proxy_client),
    ] = [(); 4].map(|()| duplex(PIPE_BYTES));
    let agent = (BufReader::new(agent_proxy), proxy_agent);
    let client = (BufReader::new(client_proxy), proxy_client);
    let (proxy, tasks) = Proxy::new(Arc::new(DenyAll), agent, client);
    let tasks = [
        tokio::spawn(tasks.read_agent),
        tokio::spawn(tasks.read_client),
        tokio::spawn(async { tasks.write_agent.await.expect("the agent reads") }),
        tokio::spawn(async { tasks.write_client.await.expect("the client reads") }),
    ];
    let mut agent = ProxyPeer::new(agent_in, agent_out);
    let mut client = ProxyPeer::new(client_in, client_out);
    let mut expected = Expected::default();
    for (number, (is_from_client, part)) in parts(data).into_iter().enumerate() {
        // The mark passes after all earlier messages of its side.
        let mark = format!("\n{{\"jsonrpc\":\"2.0\",\"method\":\"_mark\",\"params\":{number}}}\n");
        let bytes = [part.as_slice(), mark.as_bytes()].concat();
        let mark = mark.trim_start().as_bytes();
        match is_from_client {
            false => {
                expected.add_lines(&bytes, Expected::add_from_agent);
                agent.send(&bytes).await;
                client.wait_for(mark, &expected.to_client).await;
            }
            true => {
                expected.add_lines(&bytes, Expected::add_from_client);
                client.send(&bytes).await;
                agent.wait_for(mark, &expected.to_agent).await;
            }
        }
        let open = (expected.open_of_agent.len(), expected.open_of_client.len());
        let [held, of_agent, of_client] = proxy.open_requests();
        assert_eq!((held, (of_agent, of_client)), (0, open), "open requests");
    }
    let (to_agent, to_client) = (agent.output, client.output);
    drop((agent.input, client.input));
    for task in tasks {
        task.await.expect("no panic");
    }
    for (output, reader) in [(&to_agent, agent.reader), (&to_client, client.reader)] {
        reader.await.expect("no panic");
        assert!(bytes_of(output).is_empty() || bytes_of(output).ends_with(b"\n"));
    }
    expected.check_agent(&bytes_of(&to_agent));
    expected.check_client(&bytes_of(&to_client));
}

/// Returns the bytes of both sides in their order; `true` are those of the client.
fn parts(data: &[u8]) -> Vec<(bool, Vec<u8>)> {
    let mut parts: Vec<(bool, Vec<u8>)> = Vec::new();
    for line in data.split_inclusive(|byte| *byte == b'\n') {
        let from_client = line.strip_prefix(b">");
        let (is_from_client, line) = (from_client.is_some(), from_client.unwrap_or(line));
        match parts.last_mut() {
            Some((side, bytes)) if *side == is_from_client => bytes.extend_from_slice(line),
            _ => parts.push((is_from_client, line.to_owned())),
        }
    }
    parts
}

/// Denies every request.
struct DenyAll;

impl RequestGate for DenyAll {
    async fn decide(self: Arc<Self>, _: AgentRequest, _: Option<String>) -> DecidedRequest {
        DecidedRequest {
            answer: RequestDecision::Deny("no".to_owned()),
            record: None,
        }
    }

    async fn report(&self, record: DecisionRecord, _: RequestOutcome) {
        panic!("an answer to the denied request {record:?}");
    }

    async fn report_run(&self, key: RecordKey) {
        panic!("a run of the denied request {key:?}");
    }
}

type Output = Arc<Mutex<Vec<u8>>>;

fn bytes_of(output: &Output) -> Vec<u8> {
    output
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .clone()
}

/// The agent or the client of a test.
struct ProxyPeer {
    input: DuplexStream,
    output: Output,
    reader: tokio::task::JoinHandle<()>,
}

impl ProxyPeer {
    fn new(input: DuplexStream, mut from: impl AsyncRead + Send + Unpin + 'static) -> Self {
        let output = Output::default();
        let written = Arc::clone(&output);
        let reader = tokio::spawn(async move {
            let mut buffer = [0; 4096];
            loop {
                let read = from.read(&mut buffer).await.expect("a pipe in memory");
                if read == 0 {
                    return;
                }
                let mut written = written.lock().unwrap_or_else(PoisonError::into_inner);
                written.extend_from_slice(&buffer[..read]);
            }
        });
        Self {
            input,
            output,
            reader,
        }
    }

    async fn send(&mut self, bytes: &[u8]) {
        self.input.write_all(bytes).await.expect("the proxy reads");
    }

    /// Waits until the output contains a line as often as expected.
    async fn wait_for(&self, line: &[u8], expected: &SideOutput) {
        let is_line = |other: &&[u8]| *other == line;
        let count = expected.passed.iter().filter(|passed| **passed == line);
        let count = count.count();
        let mut length = 0;
        for _ in 0..MAX_YIELDS {
            yield_now().await;
            let written = self.output.lock().unwrap_or_else(PoisonError::into_inner);
            if written.len() != std::mem::replace(&mut length, written.len()) {
                let lines = written.split_inclusive(|byte| *byte == b'\n');
                if lines.filter(is_line).count() == count {
                    return;
                }
            }
        }
        panic!("the proxy does not pass {}", String::from_utf8_lossy(line));
    }
}

/// The expected outputs.
#[derive(Default)]
struct Expected {
    /// Open requests of the agent that the client has.
    open_of_agent: HashSet<MessageId>,
    /// Open requests of the client that the agent has.
    open_of_client: HashSet<MessageId>,
    to_agent: SideOutput,
    to_client: SideOutput,
    /// Ids of the options that reject a permission request, by the request's id.
    rejecting: HashMap<MessageId, HashSet<String>>,
}

/// The expected output to one side.
#[derive(Default)]
struct SideOutput {
    /// Lines of the other side, in their order.
    passed: Vec<Vec<u8>>,
    /// Number of replies of the proxy.
    replies: usize,
}

impl Expected {
    fn add_lines(&mut self, bytes: &[u8], add: fn(&mut Self, &[u8])) {
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            if !message::is_blank(line) {
                add(self, line);
            }
        }
    }

    fn add_from_agent(&mut self, line: &[u8]) {
        match message::read(line) {
            Err(broken) => {
                self.to_agent.replies += 1;
                let id = broken.id.filter(|_| broken.is_response);
                if id.is_some_and(|id| self.open_of_client.remove(&id)) {
                    self.to_client.replies += 1;
                }
            }
            Ok(Envelope::Request { id, method }) if DECIDED.contains(&method.as_str()) => {
                self.to_agent.replies += 1;
                let options = rejecting_options(line);
                self.rejecting.entry(id).or_default().extend(options);
            }
            Ok(Envelope::Notification { method }) if DECIDED.contains(&method.as_str()) => {
                self.to_agent.replies += 1;
            }
            Ok(Envelope::Request { id, .. }) if !self.open_of_agent.insert(id.clone()) => {
                self.to_agent.replies += 1;
            }
            Ok(Envelope::Response { id, .. }) => {
                id.map(|id| self.open_of_client.remove(&id));
                self.to_client.passed.push(line.to_owned());
            }
            Ok(_) => self.to_client.passed.push(line.to_owned()),
        }
    }

    fn add_from_client(&mut self, line: &[u8]) {
        match message::read(line) {
            Err(broken) => {
                self.to_client.replies += 1;
                let id = broken.id.filter(|_| broken.is_response);
                if id.is_some_and(|id| self.open_of_agent.remove(&id)) {
                    self.to_agent.replies += 1;
                }
            }
            Ok(Envelope::Request { id, .. }) if !self.open_of_client.insert(id.clone()) => {
                self.to_client.replies += 1;
            }
            Ok(Envelope::Response { id, .. }) => {
                id.map(|id| self.open_of_agent.remove(&id));
                self.to_agent.passed.push(line.to_owned());
            }
            Ok(_) => self.to_agent.passed.push(line.to_owned()),
        }
    }

    fn check_agent(&self, output: &[u8]) {
        for reply in self.to_agent.replies_in(output) {
            let outcome = &reply["result"]["outcome"];
            if is_error(&reply) || outcome["outcome"] == "cancelled" {
                continue;
            }
            let id: MessageId = serde_json::from_value(reply["id"].clone()).expect("an id");
            let option = outcome["optionId"].as_str().expect("an option");
            assert_eq!(outcome["outcome"], "selected", "{reply}");
            assert!(self.rejecting[&id].contains(option), "{reply}");
        }
    }

    fn check_client(&self, output: &[u8]) {
        for reply in self.to_client.replies_in(output) {
            assert!(is_error(&reply), "{reply}");
        }
        for line in output.split_inclusive(|byte| *byte == b'\n') {
            let keys = serde_json::Deserializer::from_slice(line).deserialize_map(Methods);
            for method in keys.expect("an object") {
                assert!(
                    !DECIDED.contains(&method.as_str()),
                    "undecided: {}",
                    String::from_utf8_lossy(line)
                );
            }
        }
    }
}

impl SideOutput {
    /// Checks that an output has all lines of the other side in their order, and returns the other
    /// lines.
    fn replies_in(&self, output: &[u8]) -> Vec<Value> {
        let mut passed = self.passed.iter().peekable();
        let mut replies = Vec::new();
        for line in output.split_inclusive(|byte| *byte == b'\n') {
            if passed.next_if(|next| *next == line).is_none() {
                replies.push(serde_json::from_slice(line).expect("a reply of the proxy"));
            }
        }
        if let Some(line) = passed.next() {
            panic!("not passed: {}", String::from_utf8_lossy(line));
        }
        assert_eq!(replies.len(), self.replies, "replies: {replies:?}");
        replies
    }
}

fn is_error(reply: &Value) -> bool {
    reply["error"]["code"].is_i64() && reply["error"]["message"].is_string()
}

/// Returns the ids of the options in a permission request that reject it.
fn rejecting_options(line: &[u8]) -> Vec<String> {
    let message: Value = serde_json::from_slice(line).unwrap_or_default();
    let options = message["params"]["options"].as_array();
    let rejects = |option: &&Value| {
        let kind = option["kind"].as_str().unwrap_or_default();
        kind.starts_with("reject_")
    };
    let options = options.into_iter().flatten().filter(rejects);
    let ids = options.filter_map(|option| option["optionId"].as_str());
    ids.map(str::to_owned).collect()
}

/// Reads all values of the key `method`, in any case, with which a parser may read the message.
struct Methods;

impl<'de> Visitor<'de> for Methods {
    type Value = Vec<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Vec<String>, A::Error> {
        let mut methods = Vec::new();
        while let Some(key) = map.next_key::<String>()? {
            match key.to_lowercase() == "method" {
                true => methods.push(map.next_value()?),
                false => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(methods)
    }
}
