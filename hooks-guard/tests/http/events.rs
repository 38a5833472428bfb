//! Changes are streamed live (`GET /api/hooks/events`).

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::client::Request;
use crate::support::daemon::{Daemon, Setup};
use crate::support::questions::flood;

/// An event of the stream.
#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) kind: String,
    pub(crate) id: Option<i64>,
    pub(crate) data: Value,
}

/// A listener, after the head of its response.
pub(crate) struct Listener(BufReader<TcpStream>);

impl Listener {
    fn open(port: u16, target: &str, headers: &str) -> Self {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        // HTTP/1.0, so that the events are not chunked.
        let head = format!("GET {target} HTTP/1.0\r\nHost: 127.0.0.1:{port}\r\n{headers}\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        Self(BufReader::new(stream))
    }

    /// Connects a listener and reads the head and the first event.
    #[track_caller]
    pub(crate) fn connect(daemon: &Daemon, target: &str, headers: &str) -> (Self, Event) {
        let mut listener = Self::open(daemon.port, target, headers);
        let status = listener.line().unwrap();
        assert!(status.contains(" 200 "), "{status}");
        let mut kind = String::new();
        while let Some(line) = listener.line().filter(|line| !line.is_empty()) {
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-type: ") {
                kind = value.to_owned();
            }
        }
        assert!(kind.starts_with("text/event-stream"), "{kind}");
        let hello = listener.next().unwrap();
        assert_eq!(hello.kind, "hello");
        (listener, hello)
    }

    #[track_caller]
    pub(crate) fn new(daemon: &Daemon) -> Self {
        Self::connect(daemon, "/api/hooks/events", "").0
    }

    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        match self.0.read_line(&mut line).unwrap() {
            0 => None,
            _ => Some(line.trim_end_matches(['\r', '\n']).to_owned()),
        }
    }

    /// Returns the next event; `None` at the end of the stream.
    pub(crate) fn next(&mut self) -> Option<Event> {
        let (mut kind, mut id, mut data) = (None, None, String::new());
        loop {
            let line = self.line()?;
            match line.split_once(": ") {
                Some(("event", value)) => kind = Some(value.to_owned()),
                Some(("id", value)) => id = Some(value.parse().unwrap()),
                Some(("data", value)) => data.push_str(value),
                Some(("retry", _)) => {}
                None if line.is_empty() => {
                    // A heartbeat.
                    if kind.as_deref() == Some("alive") {
                        (kind, data) = (None, String::new());
                    }
                    if let Some(kind) = kind.take() {
                        let data = serde_json::from_str(&data).unwrap();
                        return Some(Event { kind, id, data });
                    }
                }
                _ => panic!("{line:?} is not a line of an event"),
            }
        }
    }

    #[track_caller]
    pub(crate) fn expect(&mut self, kind: &str) -> Event {
        let event = self.next().expect("an event");
        assert_eq!(event.kind, kind, "{event:?}");
        event
    }
}

#[test]
fn a_stream_without_changes_sends_an_event_every_15_seconds() {
    let daemon = Daemon::plain();
    let mut listener = Listener::new(&daemon);
    let first = [listener.line(), listener.line()].map(Option::unwrap);
    assert_eq!(first, ["event: alive", "data: {}"]);
}

#[test]
fn every_event_contains_its_record() {
    let daemon = Daemon::plain();
    let mut listener = Listener::new(&daemon);
    let permission = daemon.ask("mkdir out");
    let id = &permission["id"];
    let asked = listener.expect("asked");
    assert_eq!(asked.data["id"], *id);
    assert_eq!(asked.data["command"], "mkdir out");
    assert!(asked.data["deadline"].is_string());
    assert_eq!(
        asked.data["secret"],
        Value::Null,
        "only the requester gets the secret"
    );

    let body = json!({ "id": id, "response": "APPROVED", "remember": "always" });
    daemon.respond_with(&body).ok();
    let answered = listener.expect("answered");
    assert_eq!(answered.data["user_response"], "APPROVED");
    assert!(answered.id > asked.id);
    let remembered = listener.expect("remembered").data["id"].clone();

    daemon.executed(id, &permission["secret"]).ok();
    let executed = listener.expect("executed");
    let mut record = daemon.record(id);
    // The state of the approval may change without an event of this decision.
    record.as_object_mut().unwrap().remove("approval").unwrap();
    assert_eq!(executed.data, record);
    assert_eq!(executed.data["execution_happened"], true);

    let target = format!("/api/hooks/remembered/{remembered}");
    daemon.as_operator("DELETE", &target).ok();
    assert_eq!(listener.expect("forgotten").data["id"], remembered);
}

#[test]
fn all_listeners_receive_events_in_the_same_order() {
    let daemon = Daemon::plain();
    let mut listeners: Vec<_> = (0..5).map(|_| Listener::new(&daemon)).collect();
    let asked: Vec<Value> = (0..40)
        .map(|at| daemon.ask(&format!("mkdir d{at}"))["id"].clone())
        .collect();
    for listener in &mut listeners {
        let received: Vec<Value> = asked
            .iter()
            .map(|_| listener.expect("asked").data["id"].clone())
            .collect();
        assert_eq!(received, asked);
    }
}

#[test]
fn a_reconnected_listener_receives_the_missed_events() {
    let daemon = Daemon::plain();
    let mut listener = Listener::new(&daemon);
    daemon.ask("mkdir a");
    let last = listener.expect("asked").id.unwrap();
    drop(listener);
    let missed = daemon.ask("mkdir b");
    daemon.respond(&missed["id"], "DENIED").ok();

    let again = [
        ("/api/hooks/events", format!("Last-Event-ID: {last}\r\n")),
        (&*format!("/api/hooks/events?after={last}"), String::new()),
    ]
    .map(|(target, headers)| (target.to_owned(), headers));
    let mut since = Vec::new();
    for (target, headers) in again {
        let (mut listener, hello) = Listener::connect(&daemon, &target, &headers);
        assert_eq!(hello.data["resumed"], true);
        assert_eq!(hello.id, Some(last), "the id does not skip missed events");
        let asked = listener.expect("asked");
        assert_eq!(asked.data["id"], missed["id"]);
        assert_eq!(
            asked.data["user_response"], "DENIED",
            "the record has its current state"
        );
        listener.expect("answered");
        since.push(daemon.ask("mkdir c")["id"].clone());
        for id in &since {
            assert_eq!(listener.expect("asked").data["id"], *id);
        }
    }
}

#[test]
fn a_restart_of_the_daemon_loses_no_event() {
    let daemon = Daemon::plain();
    let mut listener = Listener::new(&daemon);
    daemon.ask("mkdir a");
    let last = listener.expect("asked").id.unwrap();
    let daemon = daemon.restart(|setup| setup);
    while listener.next().is_some() {}
    let asked = daemon.ask("mkdir b");
    let target = format!("/api/hooks/events?after={last}");
    let (mut listener, hello) = Listener::connect(&daemon, &target, "");
    assert_eq!(hello.data["resumed"], true);
    assert_eq!(listener.expect("asked").data["id"], asked["id"]);
}

#[test]
fn an_old_or_unknown_event_id_does_not_resume_the_stream() {
    let daemon = Daemon::plain();
    for _ in 0..501 {
        daemon.ask("ls");
    }
    for after in ["0", "999999"] {
        let target = format!("/api/hooks/events?after={after}");
        let (_, hello) = Listener::connect(&daemon, &target, "");
        assert_eq!(hello.data["resumed"], false, "{after}");
        assert_eq!(hello.id, Some(501));
    }
    let (_, hello) = Listener::connect(&daemon, "/api/hooks/events?after=1", "");
    assert_eq!(hello.data["resumed"], true);
    let (_, hello) = Listener::connect(&daemon, "/api/hooks/events", "Last-Event-ID: x\r\n");
    assert_eq!(hello.data["resumed"], false);
    daemon
        .get("/api/hooks/events?after=x")
        .error(400, "INVALID_FILTER");
}

#[test]
fn records_of_another_process_are_sent_as_events() {
    let setup = Setup::new();
    let database = setup.database_file();
    let daemon = setup.start();
    let mut listener = Listener::new(&daemon);
    // This process writes to the trail of the service.
    let id = flood(&database, 0, 0, Duration::from_secs(60));
    assert_eq!(listener.expect("asked").data["id"], id);
}

#[test]
fn a_cleanup_is_sent_as_an_event() {
    let daemon = Daemon::plain();
    let mut listener = Listener::new(&daemon);
    daemon.delete("/api/hooks/cleanup?days=1&force=true").ok();
    listener.expect("cleaned");
}

#[test]
fn the_number_of_listeners_is_limited() {
    let daemon = Daemon::plain();
    let listeners: Vec<_> = (0..64)
        .map(|_| Listener::open(daemon.port, "/api/hooks/events", ""))
        .collect();
    for listener in &listeners {
        listener.0.get_ref().peek(&mut [0]).unwrap();
    }
    daemon
        .get("/api/hooks/events")
        .error(503, "TOO_MANY_LISTENERS");
    // Other clients are served meanwhile.
    daemon.ask("ls");
    drop(listeners);
    let free = || {
        let mut status = [0; 12];
        let mut listener = Listener::open(daemon.port, "/api/hooks/events", "");
        listener.0.read_exact(&mut status).unwrap();
        status.ends_with(b"200")
    };
    for _ in 0..600 {
        if free() {
            return;
        }
        thread::sleep(Duration::from_millis(100));
    }
    panic!("no stream became free");
}

#[test]
fn the_event_stream_ends_when_the_service_stops() {
    let mut daemon = Daemon::plain();
    let mut listener = Listener::new(&daemon);
    let status = daemon.terminate();
    assert!(status.success(), "{status}");
    assert!(listener.next().is_none());
    assert!(!daemon.stderr().contains("cut off"), "{}", daemon.stderr());
}

#[test]
fn p_14_a_page_of_another_site_gets_no_events() {
    let daemon = Daemon::plain();
    let request = Request::new("GET", "/api/hooks/events").header("Origin", "http://evil.test");
    daemon.send(&request).error(403, "FORBIDDEN_ORIGIN");
}
