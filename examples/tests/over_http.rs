//! Tests the HTTP examples over sockets.

mod program;

use std::io::{BufRead, BufReader, Lines, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread;

use serde_json::{Value, json};

/// An HTTP message: its first line, its other lines, its body.
struct Message {
    start: String,
    head: Vec<String>,
    body: String,
}

/// Reads a message with a `content-length`.
fn read(from: impl Read) -> Message {
    let mut from = BufReader::new(from);
    let mut lines = from.by_ref().lines().map(|line| line.expect("a line"));
    let start = lines.next().expect("a first line");
    let head: Vec<_> = lines.take_while(|line| !line.is_empty()).collect();
    let length = head
        .iter()
        .filter_map(|line| line.split_once(": "))
        .find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    let length = length.map_or(0, |(_, length)| length.parse().expect("a number"));
    let mut body = vec![0; length];
    from.read_exact(&mut body).expect("the whole body");
    let body = String::from_utf8(body).expect("UTF-8");
    Message { start, head, body }
}

/// Running service; killed on drop.
struct Service {
    program: Child,
    printed_lines: Lines<BufReader<ChildStdout>>,
    address: String,
}

impl Service {
    fn start() -> Self {
        let mut program = Command::new(program::find("hooks_around_an_http_service"))
            .stdout(Stdio::piped())
            .spawn()
            .expect("the example starts");
        let stdout = program.stdout.take().expect("it is piped");
        let mut printed_lines = BufReader::new(stdout).lines();
        let first = printed_lines.next().expect("it prints").expect("a line");
        let address = first.strip_prefix("listening on http://");
        let address = address.expect("an address").to_owned();
        Service {
            program,
            printed_lines,
            address,
        }
    }

    /// Sends a request. Returns the status, the body, and the line that the service prints.
    fn send(&mut self, request: &str, head: &str) -> (String, Value, String) {
        let (response, printed) = self.exchange(request, head);
        let status = response.start.split(' ').nth(1);
        let status = status.expect("a status").to_owned();
        let body = serde_json::from_str(&response.body).expect("JSON");
        (status, body, printed)
    }

    /// Sends a request. Returns the response, and the line that the service prints.
    fn exchange(&mut self, request: &str, head: &str) -> (Message, String) {
        let mut stream = TcpStream::connect(&self.address).expect("the service listens");
        write!(
            stream,
            "{request} HTTP/1.1\r\nhost: shop\r\nconnection: close\r\n{head}\r\n"
        )
        .expect("the service reads");
        let response = read(stream);
        let printed = self
            .printed_lines
            .next()
            .expect("it prints")
            .expect("a line");
        (response, printed)
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

/// The name of a request is set by a hook that moves the request, and returned by one that changes the
/// response.
#[test]
fn service_hooks_change_a_request_and_its_response() {
    let mut service = Service::start();
    let named = |response: &Message| {
        let name = response
            .head
            .iter()
            .find_map(|line| line.strip_prefix("x-request-id: "));
        name.map(str::to_owned)
    };
    let (response, _) = service.exchange("GET /items/tea", "");
    assert_eq!(named(&response).as_deref(), Some("1"));
    let (response, _) = service.exchange("GET /items/tea", "x-request-id: mine\r\n");
    assert_eq!(named(&response).as_deref(), Some("mine"));
    let (response, _) = service.exchange("GET /items/tea", "");
    assert_eq!(named(&response).as_deref(), Some("2"));
    // A refused request has no response of the handler.
    let (response, _) = service.exchange("POST /items/tea", "");
    assert_eq!(named(&response), None);
}

#[test]
fn service_hooks_refuse_requests_and_change_and_log_responses() {
    let mut service = Service::start();
    let (status, body, printed) = service.send("GET /items/tea", "");
    assert_eq!((&*status, &*printed), ("200", "GET /items/tea: 200"));
    assert_eq!(body, json!({"item": "tea", "cents": 360}));

    let (status, body, printed) = service.send("GET /items/beer", "");
    assert_eq!((&*status, &*printed), ("404", "GET /items/beer: 404"));
    assert_eq!(body, json!({"error": "there is no such item"}));

    // A refused request reaches no handler and does not count.
    for head in ["", "authorization: Bearer guess\r\n"] {
        let (status, body, printed) = service.send("POST /items/tea", head);
        assert_eq!((&*status, &*printed), ("401", "POST /items/tea: 401"));
        assert_eq!(body, json!({"error": "give your token"}));
    }
    let token = "authorization: Bearer open sesame\r\n";
    let (status, body, _) = service.send("POST /items/tea", token);
    assert_eq!((&*status, body), ("200", json!({"bought": "tea"})));

    assert_eq!(service.send("GET /items/cake", "").0, "200");
    let (status, body, _) = service.send("GET /items/cake", "");
    assert_eq!(
        (&*status, body),
        ("429", json!({"error": "come back later"}))
    );
}

/// Runs the client against a server that gives these responses, one per request. Returns the
/// client's output and the requests.
fn client(prompt: &str, responses: Vec<(&'static str, String)>) -> (String, Vec<Message>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/v1", listener.local_addr().expect("its address"));
    let server = thread::spawn(move || {
        let serve = |(head, body): (&str, String)| {
            let (mut stream, _) = listener.accept().expect("a client");
            let request = read(&stream);
            let length = body.len();
            write!(
                stream,
                "HTTP/1.1 {head}\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
            )
            .expect("the client reads");
            request
        };
        responses.into_iter().map(serve).collect()
    });
    let output = Command::new(program::find("hooks_around_an_llm_client"))
        .args([&url, "small", prompt])
        .env("OPENAI_API_KEY", "of-the-test")
        .env("NO_PROXY", "127.0.0.1")
        .output()
        .expect("the example starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let printed = String::from_utf8(output.stdout).expect("UTF-8");
    let requests = server.join().expect("as many requests as responses");
    (printed, requests)
}

const BUSY: (&str, &str) = ("429 Too Many Requests\r\nretry-after: 0", "");

#[test]
fn client_hooks_rewrite_and_retry_requests_and_read_responses() {
    let response = json!({
        "choices": [{"message": {"role": "assistant", "content": "a point \n"}}],
        "usage": {"total_tokens": 7},
    });
    let responses = vec![
        (BUSY.0, BUSY.1.to_owned()),
        (
            "200 OK\r\ncontent-type: application/json",
            response.to_string(),
        ),
    ];
    let (printed, requests) = client("is sk-123 one?", responses);
    assert_eq!(
        printed,
        "attempt 1: the server returned 429 Too Many Requests\n\
         a point\n\
         no response: not sent: 650 bytes, and at most 200 are allowed\n\
         7 tokens\n"
    );
    for request in &requests {
        assert_eq!(request.start, "POST /v1/chat/completions HTTP/1.1");
        let key = "authorization: Bearer of-the-test";
        assert!(request.head.iter().any(|line| line == key));
        let body: Value = serde_json::from_str(&request.body).expect("JSON");
        let message = json!({"role": "user", "content": "is [key] one?"});
        assert_eq!(body, json!({"model": "small", "messages": [message]}));
    }
    assert_eq!(requests.len(), 2);
}

#[test]
fn client_hooks_stop_after_three_attempts_or_an_unauthorized_response() {
    let busy = || (BUSY.0, BUSY.1.to_owned());
    let (printed, _) = client("hello", vec![busy(), busy(), busy()]);
    let failed = "no response: the server returned 429 Too Many Requests\n";
    assert!(printed.contains(failed), "{printed}");
    assert_eq!(printed.matches("attempt ").count(), 3, "{printed}");

    let (printed, requests) = client("hello", vec![("401 Unauthorized", String::new())]);
    let failed = "no response: the server returned 401 Unauthorized\n";
    assert!(printed.starts_with(failed), "{printed}");
    assert_eq!(requests.len(), 1);
}
