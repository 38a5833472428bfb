//! Tests `approve` and `watch` with many pending questions, and with lists that cannot be read:
//! neither reports that no question is pending unless that is known.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use hmac::{Hmac, Mac};
use serde_json::{Value, json};
use sha2::Sha256;

use crate::cli::Terminal;
use crate::support::daemon::{Daemon, Setup, TOKEN};
use crate::support::questions::flood;

const DOWN: &str = "\u{1b}[B";
const NOTHING: &str = "no pending questions";
/// Message about a service that does not prove itself.
const STRANGER: &str = "is not this user's hooks-guard";

fn flooded(count: usize) -> (Daemon, i64) {
    let setup = Setup::new();
    let honest = flood(
        &setup.database_file(),
        count,
        10,
        Duration::from_secs(3_600),
    );
    (setup.start(), honest)
}

#[test]
fn flood_approve_shows_every_session_and_the_pending_count() {
    let (daemon, honest) = flooded(20_000);
    let mut terminal = Terminal::of_size(&daemon, &["approve"], 60, 160);
    terminal.shows("operator's token: ");
    terminal.send(&format!("{TOKEN}\n"));
    let screen = terminal.shows("[y] approve");
    for part in [
        "20001 pending questions",
        "20000 from agent codex, session flood",
        "rm -r flood-",
    ] {
        assert!(screen.contains(part), "`{part}` in {screen}");
    }
    terminal.send("\n");
    terminal.shows("rm -r honest");
    terminal.until(|screen| screen.matches("[y] approve").count() == 2);
    terminal.send("y\n");
    terminal.shows(&format!("{honest}: APPROVED"));
    terminal.send("\u{3}");
    // A single question is answered without a list.
    let mut terminal = Terminal::start(&daemon, &["approve", "--deny", "1"]);
    terminal.shows("operator's token: ");
    terminal.send(&format!("{TOKEN}\n"));
    assert_eq!(terminal.end(), 0, "{}", terminal.screen());
    // All others are denied at once.
    let arguments = [
        "approve",
        "--deny-all",
        "--session",
        "flood",
        "--note",
        "a flood",
    ];
    let mut terminal = Terminal::start(&daemon, &arguments);
    terminal.shows("operator's token: ");
    terminal.send(&format!("{TOKEN}\n"));
    assert_eq!(terminal.end(), 0, "{}", terminal.screen());
    terminal.shows("19999 denied");
    assert!(daemon.pending().is_empty());
    assert_eq!(daemon.record(&json!(2))["answer_note"], "a flood");
}

#[test]
fn flood_approve_reaches_all_questions_although_pages_shift() {
    // More than two pages of one session; each answer moves later questions forward.
    let (daemon, _) = flooded(230);
    let mut terminal = Terminal::of_size(&daemon, &["approve"], 60, 160);
    terminal.shows("operator's token: ");
    terminal.send(&format!("{TOKEN}\n"));
    terminal.shows("[y] approve");
    // Leave every third one pending.
    for number in 0..231 {
        terminal.send(if number % 3 == 0 { "\n" } else { "n\n" });
    }
    assert_eq!(terminal.end(), 0, "{}", terminal.screen());
    assert_eq!(daemon.pending().len(), 77);
}

#[test]
fn approve_deny_all_is_limited_to_the_given_filters() {
    let daemon = Daemon::plain();
    for (agent, session) in [("codex", "a"), ("codex", "b"), ("gemini", "a")] {
        let body = json!({ "command": "mkdir x", "agent": agent, "session_id": session });
        daemon.post(&body).ok();
    }
    let run = |arguments: &[&str], expected: &str| {
        let words = [&["approve", "--deny-all"], arguments].concat();
        let mut terminal = Terminal::start(&daemon, &words);
        terminal.shows("operator's token: ");
        terminal.send(&format!("{TOKEN}\n"));
        assert_eq!(terminal.end(), 0);
        terminal.shows(expected);
    };
    run(&["--session", "a", "--agent", "gemini"], "1 denied");
    run(&["--session", "c"], "0 denied");
    assert_eq!(daemon.pending().len(), 2);
    run(&[], "2 denied");
}

#[test]
fn flood_watch_shows_every_session_and_denies_one_in_bulk() {
    let (daemon, honest) = flooded(20_000);
    let mut terminal = Terminal::of_size(&daemon, &["watch"], 40, 120);
    terminal.shows("operator's token (Enter for view only): ");
    terminal.send(&format!("{TOKEN}\n"));
    let screen = terminal.shows("1–100 of 20,001 pending questions");
    assert!(screen.contains("rm -r honest"), "{screen}");
    assert!(
        screen.contains("most: 20,000 from codex, session flood"),
        "{screen}"
    );
    terminal.send(">");
    let screen = terminal.shows("101–200 of 20,001 pending questions");
    assert!(screen.contains("100 DELETE"), "{screen}");
    terminal.send("<");
    terminal.shows("1–100 of 20,001 pending questions");
    // Answers from elsewhere are counted.
    daemon.respond(&json!(1), "DENIED").ok();
    terminal.shows("1–100 of 20,000 pending questions");
    terminal.send("N");
    terminal.shows("select a question first");
    terminal.send(DOWN);
    let screen = terminal.shows("reason");
    assert!(screen.contains("rm -r flood-"), "{screen}");
    // The key counts only if pressed twice in a row.
    terminal.send("N");
    terminal.shows("N again to deny all questions from agent codex, session flood");
    terminal.send("j");
    terminal.until(|screen| !screen.contains("N again"));
    terminal.send("k");
    terminal.send("N");
    terminal.shows("N again to deny all questions from agent codex, session flood");
    terminal.send("N");
    terminal.shows("questions denied");
    let screen = terminal.shows("1 pending question");
    assert!(screen.contains("rm -r honest"), "{screen}");
    daemon.respond(&json!(honest), "DENIED").ok();
    terminal.shows(NOTHING);
}

#[test]
fn flood_watch_polls_if_no_event_stream_is_free() {
    let daemon = Daemon::plain();
    let listen = |_| {
        let mut stream = TcpStream::connect(("127.0.0.1", daemon.port)).unwrap();
        let head = "GET /api/hooks/events HTTP/1.0\r\nHost: localhost\r\n\r\n";
        stream.write_all(head.as_bytes()).unwrap();
        stream.read_exact(&mut [0; 12]).unwrap();
        stream
    };
    let _strangers: Vec<_> = (0..64).map(listen).collect();
    daemon.ask("mkdir out");
    // The service reserves a stream for the operator.
    let mut terminal = Terminal::of_size(&daemon, &["watch"], 40, 120);
    terminal.shows("operator's token (Enter for view only): ");
    terminal.send(&format!("{TOKEN}\n"));
    terminal.shows(" connected");
    terminal.shows("1 pending question");
    // A viewer without a token polls.
    let mut looking = Terminal::of_size(&daemon, &["watch"], 40, 120);
    looking.shows("operator's token (Enter for view only): ");
    looking.send("\n");
    looking.shows("polling every second: ");
    looking.shows("1 pending question");
    daemon.ask("mkdir more");
    looking.shows("2 pending questions");
    terminal.shows("2 pending questions");
}

/// A service with a faulty response on one path; `None` never responds. It has the key and proves
/// itself, so that clients accept it.
struct Faulty {
    daemon: Daemon,
}

impl Faulty {
    fn start(path: &'static str, response: Option<Vec<u8>>) -> Self {
        Self::of(path, response, None)
    }

    /// Starts the service; responses of one path may lack a proof after the handshake.
    fn of(path: &'static str, response: Option<Vec<u8>>, unproved: Option<&'static str>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut daemon = Daemon::plain();
        daemon.port = listener.local_addr().unwrap().port();
        let key = daemon.setup().folder().join("data/service.key");
        let key = hex(fs::read_to_string(key).unwrap().trim());
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (key, response) = (key.clone(), response.clone());
                thread::spawn(move || serve(stream, &key, path, response, unproved));
            }
        });
        Self { daemon }
    }

    /// Starts a program in a terminal as a client of this service.
    fn terminal(&self, arguments: &[&str]) -> Terminal {
        Terminal::of_size(&self.daemon, arguments, 40, 140)
    }
}

fn hex(digits: &str) -> Vec<u8> {
    let byte = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).unwrap();
    (0..digits.len()).step_by(2).map(byte).collect()
}

/// The proofs of a connection, as the book describes them.
struct Proofs {
    key: Vec<u8>,
    challenge: String,
}

const NONCE: &str = "5555555555555555555555555555555555555555555555555555555555555555";

impl Proofs {
    fn of(&self, purpose: &str, parts: &[&[u8]]) -> String {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.key).unwrap();
        let agreed = [
            purpose.as_bytes(),
            self.challenge.as_bytes(),
            NONCE.as_bytes(),
        ];
        for part in agreed.iter().chain(parts) {
            mac.update(&(part.len() as u64).to_be_bytes());
            mac.update(part);
        }
        let bytes = mac.finalize().into_bytes();
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Adds a proof to a response. A response that is not HTTP gets none; a body that no client
    /// reads to its end is not covered.
    fn add(&self, request: &str, mut response: Vec<u8>) -> Vec<u8> {
        let is_end = |four: &[u8]| four == b"\r\n\r\n";
        let Some(end) = response.windows(4).position(is_end) else {
            return response;
        };
        let head = String::from_utf8_lossy(&response[..end]).into_owned();
        let status: u16 = head.split(' ').nth(1).unwrap().parse().unwrap();
        let body = match head.contains("text/event-stream") {
            true => &b"stream"[..],
            false => &response[end + 4..],
        };
        let body = &body[..body.len().min(1 << 20)];
        let parts = [request.as_bytes(), &status.to_be_bytes(), body];
        let proof = self.of("hooks-guard response 1", &parts);
        let header = format!("\r\nx-hooks-guard-proof: {proof}");
        response.splice(end..end, header.into_bytes());
        response
    }
}

fn whole(status: &str, body: &Value) -> Vec<u8> {
    let body = body.to_string();
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// Returns the head of the next request; `None` if there is none.
fn next_head(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read(&mut byte) {
            Ok(1) => head.push(byte[0]),
            _ => return None,
        }
    }
    Some(String::from_utf8_lossy(&head).into_owned())
}

fn header(head: &str, name: &str) -> String {
    let mut lines = head.lines().filter_map(|line| line.split_once(':'));
    let found = lines.find(|(key, _)| key.eq_ignore_ascii_case(name));
    found.map_or("", |(_, value)| value.trim()).to_owned()
}

fn serve(
    mut stream: TcpStream,
    key: &[u8],
    path: &str,
    response: Option<Vec<u8>>,
    unproved: Option<&str>,
) {
    let Some(head) = next_head(&mut stream) else {
        return;
    };
    assert!(head.starts_with("GET /api/hooks/identity "), "{head}");
    let proofs = Proofs {
        key: key.to_vec(),
        challenge: header(&head, "x-hooks-guard-challenge"),
    };
    let address = header(&head, "x-hooks-guard-address");
    let proof = proofs.of("hooks-guard service 1", &[address.as_bytes()]);
    let identity = whole("200 OK", &json!({ "nonce": NONCE, "proof": proof }));
    let _ = stream.write_all(&identity);
    let Some(head) = next_head(&mut stream) else {
        return;
    };
    let request = header(&head, "x-hooks-guard-proof");
    let target = head.split(' ').nth(1).unwrap_or_default();
    let has_none = unproved.is_some_and(|path| target.starts_with(path));
    let add = |response: Vec<u8>| match has_none {
        false => proofs.add(&request, response),
        true => response,
    };
    let answer = if target.starts_with(path) {
        match response {
            Some(response) => response,
            // Keep the connection open as long as the client does.
            None => {
                thread::sleep(Duration::from_secs(60));
                return;
            }
        }
    } else if target.starts_with("/api/hooks/events") {
        let hello = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n\
            id: 1\nevent: hello\ndata: {\"resumed\": false}\n\n";
        let _ = stream.write_all(&add(hello.as_bytes().to_vec()));
        thread::sleep(Duration::from_secs(60));
        return;
    } else if target.starts_with("/api/hooks/pending") {
        let empty = json!({ "pending": [], "total": 0, "next": null, "sessions": [],
            "generated_at": "2026-05-01T00:00:00Z" });
        whole("200 OK", &empty)
    } else if target.starts_with("/health") {
        let version = env!("CARGO_PKG_VERSION");
        whole(
            "200 OK",
            &json!({ "status": "healthy", "version": version }),
        )
    } else {
        whole("200 OK", &json!({ "decisions": [] }))
    };
    let _ = stream.write_all(&add(answer));
}

/// Responses that are not a complete list of questions.
fn faults() -> Vec<(&'static str, Vec<u8>)> {
    let refused =
        |status: &str, code: &str| whole(status, &json!({ "error": "not now", "code": code }));
    let list = json!({ "pending": [], "total": 0, "next": null, "sessions": [],
        "generated_at": "2026-05-01T00:00:00Z" });
    let mut parts = vec![
        (
            "too many requests",
            refused("429 Too Many Requests", "RATE_LIMITED"),
        ),
        (
            "an error of the database",
            refused("500 Internal Server Error", "DB_ERROR"),
        ),
        (
            "the end of the service",
            refused("503 Service Unavailable", "SHUTTING_DOWN"),
        ),
        ("no list", whole("200 OK", &json!({}))),
        (
            "a list that is none",
            whole("200 OK", &json!({ "pending": null, "total": 0 })),
        ),
        (
            "no JSON",
            b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello".to_vec(),
        ),
        ("no HTTP", b"220 mail.example ESMTP\r\n".to_vec()),
        ("nothing", Vec::new()),
    ];
    for field in ["pending", "total", "next"] {
        let mut list = list.clone();
        list.as_object_mut().unwrap().remove(field);
        parts.push(("a list without one of its fields", whole("200 OK", &list)));
    }
    // Truncated, with a length and with chunks.
    let mut cut = whole("200 OK", &list);
    cut.truncate(cut.len() - 3);
    parts.push(("a list that is cut off", cut));
    let chunk = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{\"pen\r\n";
    parts.push(("chunks that are cut off", chunk.as_bytes().to_vec()));
    // More than a client reads: 70 MB of blanks before the list.
    let body = format!("{}{list}", " ".repeat(70 << 20));
    let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len());
    parts.push(("more than is read", (head + &body).into_bytes()));
    parts
}

#[test]
fn approve_reports_no_questions_only_after_a_valid_response() {
    for (fault, response) in faults() {
        let faulty = Faulty::start("/api/hooks/pending", Some(response));
        let mut terminal = faulty.terminal(&["approve"]);
        // The service may be busy with other clients: then the operator is asked for the token.
        let screen = terminal.until(|screen| !screen.trim().is_empty());
        if screen.contains("operator's token") {
            terminal.send(&format!("{TOKEN}\n"));
        }
        assert_eq!(terminal.end(), 3, "{fault}: {}", terminal.screen());
        let screen = terminal.screen();
        assert!(!screen.contains(NOTHING), "{fault}: {screen}");
        // The response is rejected, not the service.
        assert!(!screen.contains(STRANGER), "{fault}: {screen}");
    }
    // A correct service is accepted.
    let faulty = Faulty::start("/no/path", None);
    let terminal = faulty.terminal(&["approve"]);
    terminal.shows(NOTHING);
    assert_eq!(terminal.end(), 0, "{}", terminal.screen());
    // The list without a proof is rejected.
    let faulty = Faulty::of("/no/path", None, Some("/api/hooks/pending"));
    let terminal = faulty.terminal(&["approve"]);
    assert_eq!(terminal.end(), 3, "{}", terminal.screen());
    let screen = terminal.screen();
    assert!(screen.contains(STRANGER), "{screen}");
    assert!(!screen.contains(NOTHING), "{screen}");
    // Without a service.
    let mut faulty = Faulty::start("/no/path", None);
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    faulty.daemon.port = free.local_addr().unwrap().port();
    drop(free);
    let terminal = faulty.terminal(&["approve"]);
    assert_eq!(terminal.end(), 3);
    assert!(
        !terminal.screen().contains(NOTHING),
        "{}",
        terminal.screen()
    );
}

#[test]
fn approve_reports_a_service_that_does_not_respond() {
    let faulty = Faulty::start("/api/hooks/pending", None);
    let mut terminal = faulty.terminal(&["approve"]);
    terminal.shows("operator's token: ");
    terminal.send(&format!("{TOKEN}\n"));
    assert_eq!(terminal.end(), 3, "{}", terminal.screen());
    let screen = terminal.shows("no response within");
    assert!(!screen.contains(NOTHING), "{screen}");
}

#[test]
fn watch_reports_no_questions_only_after_a_valid_response() {
    for (fault, response) in faults() {
        let faulty = Faulty::start("/api/hooks/pending", Some(response));
        let mut terminal = faulty.terminal(&["watch"]);
        terminal.shows("operator's token (Enter for view only): ");
        terminal.send("\n");
        let screen = terminal.shows("disconnected: ");
        assert!(
            screen.contains("pending questions unknown"),
            "{fault}: {screen}"
        );
        assert!(!screen.contains(NOTHING), "{fault}: {screen}");
        assert!(!screen.contains(STRANGER), "{fault}: {screen}");
        terminal.send("q");
    }
    // A list without a proof is rejected, and events without one are ignored.
    for path in ["/api/hooks/pending", "/api/hooks/events"] {
        let faulty = Faulty::of("/no/path", None, Some(path));
        let mut terminal = faulty.terminal(&["watch"]);
        terminal.shows("operator's token (Enter for view only): ");
        terminal.send("\n");
        let screen = terminal.shows(STRANGER);
        assert!(!screen.contains(NOTHING), "{path}: {screen}");
        terminal.send("q");
    }
    // Without any response.
    let faulty = Faulty::start("/api/hooks/pending", None);
    let mut terminal = faulty.terminal(&["watch"]);
    terminal.shows("operator's token (Enter for view only): ");
    terminal.send("\n");
    for _ in 0..10 {
        let screen = terminal.shows("pending questions unknown");
        assert!(!screen.contains(NOTHING), "{screen}");
        thread::sleep(Duration::from_millis(200));
    }
    // With a correct service, the list is current.
    let faulty = Faulty::start("/no/path", None);
    let mut terminal = faulty.terminal(&["watch"]);
    terminal.shows("operator's token (Enter for view only): ");
    terminal.send("\n");
    terminal.shows(NOTHING);
}

#[test]
fn doctor_accepts_a_service_only_after_a_valid_health_response() {
    for (fault, response) in faults() {
        let faulty = Faulty::start("/health", Some(response));
        let terminal = faulty.terminal(&["doctor"]);
        assert_eq!(terminal.end(), 1, "{fault}: {}", terminal.screen());
        let screen = terminal.shows("BAD  daemon: ");
        assert!(!screen.contains(STRANGER), "{fault}: {screen}");
    }
    // A correct service is accepted, and one without proofs is not.
    for (unproved, expected) in [(None, "ok   daemon: "), (Some("/health"), STRANGER)] {
        let faulty = Faulty::of("/no/path", None, unproved);
        let terminal = faulty.terminal(&["doctor"]);
        terminal.end();
        terminal.shows(expected);
    }
}

#[test]
fn watch_shows_since_when_the_pending_questions_are_unknown() {
    let daemon = Daemon::plain();
    daemon.ask("mkdir out");
    let mut terminal = Terminal::of_size(&daemon, &["watch"], 40, 140);
    terminal.shows("operator's token (Enter for view only): ");
    terminal.send("\n");
    terminal.shows("1 pending question");
    let setup = daemon.into_setup();
    let screen = terminal.shows("pending questions unknown: ");
    let at = screen.split("; at ").nth(1).unwrap_or_default();
    // A local time in seconds.
    let time: String = at.chars().take(8).collect();
    let is_time = time
        .split(':')
        .filter(|part| part.parse::<u8>().is_ok())
        .count()
        == 3;
    assert!(is_time, "{screen}");
    assert!(at[8..].starts_with(": 1 pending question"), "{screen}");
    drop(setup);
}
