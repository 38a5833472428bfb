//! Floods of questions, listeners and readers: none of them locks out the operator or another
//! agent, or makes the service's memory grow without bound.

use std::collections::BTreeSet;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use hooks_guard::client::{Address, Client};
use hooks_guard::proof::ServiceKey;
use serde_json::{Value, json};

use crate::support::client::{Answer, Request};
use crate::support::daemon::{Daemon, Setup, TOKEN, ask};
use crate::support::questions::flood;

const PENDING: &str = "/api/hooks/pending";
const DENY: &str = "/api/hooks/pending/deny";

fn question(session: &str, number: usize) -> Value {
    json!({
        "command": format!("mkdir {session}-{number}"), "agent": "codex", "session_id": session,
    })
}

fn operator(method: &str, target: &str) -> Request {
    Request::new(method, target).bearer(TOKEN)
}

/// Returns the commands of a page, the start of the next page, and the total.
#[track_caller]
fn page(daemon: &Daemon, query: &str) -> (Vec<String>, Value, u64) {
    let body = daemon.get(&format!("{PENDING}?{query}")).ok();
    let pending = body["pending"].as_array().unwrap().iter();
    let commands = pending.map(|record| record["command"].as_str().unwrap().to_owned());
    let commands = commands.collect();
    (
        commands,
        body["next"].clone(),
        body["total"].as_u64().unwrap(),
    )
}

/// Returns the peak memory of a process in MiB.
fn peak_memory(daemon: &Daemon) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", daemon.pid())).unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .unwrap();
    let kib: u64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    kib / 1024
}

#[test]
fn p_26_pending_questions_are_listed_in_pages() {
    let daemon = Daemon::plain();
    for number in 1..=3 {
        daemon.post(&question("a", number)).ok();
    }
    daemon.post(&question("b", 1)).ok();
    daemon.ask("mkdir none");
    for (order, expected) in [
        (
            "oldest",
            [
                "mkdir a-1",
                "mkdir a-2",
                "mkdir a-3",
                "mkdir b-1",
                "mkdir none",
            ],
        ),
        (
            "fair",
            [
                "mkdir a-1",
                "mkdir b-1",
                "mkdir none",
                "mkdir a-2",
                "mkdir a-3",
            ],
        ),
    ] {
        for limit in 1..=6 {
            let (mut all, mut after) = (Vec::new(), String::new());
            loop {
                let query = format!("order={order}&limit={limit}{after}");
                let (commands, next, total) = page(&daemon, &query);
                assert_eq!(total, 5);
                assert!(commands.len() <= limit);
                all.extend(commands);
                match next.as_str() {
                    Some(next) => after = format!("&after={next}"),
                    None => break,
                }
            }
            assert_eq!(all, expected, "{order}, {limit} a page");
        }
    }
    // Default: the order of earlier versions.
    assert_eq!(page(&daemon, "limit=1").0, ["mkdir a-1"]);
    assert_eq!(page(&daemon, "session_id=b").0, ["mkdir b-1"]);
    let (of_agent, _, total) = page(&daemon, "agent=codex&limit=0");
    assert_eq!((of_agent.len(), total), (0, 4));
    let sessions = daemon.get(PENDING).ok()["sessions"].clone();
    assert_eq!(
        sessions[0],
        json!({ "agent": "codex", "session_id": "a", "count": 3 })
    );
    let wrong = daemon.get(&format!("{PENDING}?order=random"));
    assert_eq!(
        wrong.error(400, "INVALID_FILTER")["valid_values"],
        json!(["oldest", "fair"])
    );
    for query in [
        "after=x",
        "after=1.2",
        "after=-1",
        "order=fair&after=1",
        "limit=x",
        "limit=-1",
    ] {
        daemon
            .get(&format!("{PENDING}?{query}"))
            .error(400, "INVALID_FILTER");
    }
}

#[test]
fn p_26_the_operator_denies_questions_in_bulk() {
    let daemon = Daemon::plain();
    for number in 0..5 {
        daemon.post(&question("a", number)).ok();
    }
    let other = daemon.post(&question("b", 0)).ok();
    let none = daemon.ask("mkdir of-no-session");
    let again = daemon.ask("mkdir of-none-either");
    let deny = |body: &Value| daemon.send(&operator("POST", DENY).json(body)).ok();
    for request in [
        Request::new("POST", DENY),
        Request::new("POST", DENY).bearer("another-operators-token"),
    ] {
        let answer = daemon.send(&request.json(&json!({ "all": true })));
        answer.error(401, "OPERATOR_TOKEN_REQUIRED");
    }
    // A selection is required.
    for body in [
        json!({}),
        json!({ "all": false }),
        json!({ "session_id": null }),
    ] {
        daemon
            .send(&operator("POST", DENY).json(&body))
            .error(400, "MISSING_FIELD");
    }
    let wrong = operator("POST", DENY).json(&json!({ "all": "yes" }));
    daemon.send(&wrong).error(400, "INVALID_JSON");
    assert_eq!(daemon.pending().len(), 8);
    let body = json!({ "session_id": "a", "note": "a flood" });
    assert_eq!(deny(&body), json!({ "denied": 5, "remaining": 0 }));
    let record = daemon.record(&json!(1));
    assert_eq!(record["user_response"], "DENIED");
    assert_eq!(record["answered_by"], "operator");
    assert_eq!(record["answer_note"], "a flood");
    // Questions without a session form one session.
    let body = json!({ "session_of": none["id"] });
    assert_eq!(deny(&body)["denied"], 2);
    assert_eq!(daemon.record(&again["id"])["user_response"], "DENIED");
    assert_eq!(daemon.record(&other["id"])["user_response"], Value::Null);
    assert_eq!(deny(&json!({ "session_of": 4711 }))["denied"], 0);
    assert_eq!(deny(&json!({ "all": true }))["denied"], 1);
    assert!(daemon.pending().is_empty());
}

#[test]
fn flood_one_session_cannot_block_another() {
    let daemon = Setup::new()
        .config("max_open_questions = 40\nmax_open_questions_per_session = 5")
        .start();
    let mut ids = Vec::new();
    for number in 0..5 {
        ids.push(daemon.post(&question("a", number)).ok()["id"].clone());
    }
    for number in 5..20 {
        let answer = daemon.post(&question("a", number));
        let body = answer.error(429, "TOO_MANY_QUESTIONS");
        assert_eq!(body["retry_after_seconds"], 60);
        assert_eq!(answer.header("retry-after"), Some("60"));
    }
    // A refusal is not a decision and leaves no record.
    let total = daemon.get("/api/hooks/decisions").ok()["pagination"]["total"].clone();
    assert_eq!(total, 5);
    // Requests without a question are still decided.
    let read = json!({ "command": "ls", "agent": "codex", "session_id": "a" });
    assert_eq!(daemon.post(&read).ok()["decision"], "AUTO_ALLOWED");
    let mut asks_itself = question("a", 6);
    asks_itself["asks_itself"] = true.into();
    daemon.post(&asks_itself).ok();
    daemon.post(&question("honest", 1)).ok();
    // Invented sessions leave room for others: none of them outnumbers the free places.
    for session in 0..6 {
        for number in 0..20 {
            daemon.post(&question(&format!("made-up-{session}"), number));
        }
    }
    daemon.post(&question("another", 1)).ok();
    let waits = daemon.get(&format!("{PENDING}?limit=1000")).ok();
    assert!(waits["total"].as_u64().unwrap() <= 40, "{}", waits["total"]);
    // An answer frees a place.
    daemon.respond(&ids[0], "DENIED").ok();
    daemon.respond(&ids[1], "DENIED").ok();
    daemon
        .send(&operator("POST", DENY).json(&json!({ "session_of": ids[2] })))
        .ok();
    daemon.post(&question("a", 30)).ok();
}

#[test]
fn flood_requests_without_a_session_leave_room_for_sessions() {
    let daemon = Setup::new().config("max_open_questions = 10").start();
    let statuses: Vec<u16> = (0..10)
        .map(|number| {
            let command = format!("mkdir {number}");
            daemon.post(&json!({ "command": command })).status
        })
        .collect();
    assert_eq!(statuses, [[200; 5], [429; 5]].concat());
    daemon.post(&question("honest", 1)).ok();
}

#[test]
fn flood_the_limit_applies_to_concurrent_requests() {
    let daemon = Setup::new()
        .config("max_open_questions = 10\nmax_open_questions_per_session = 1")
        .start();
    let port = daemon.port;
    let threads: Vec<_> = (0..60)
        .map(|number| {
            thread::spawn(move || ask(&question(&format!("s{number}"), 0)).send(port).status)
        })
        .collect();
    let statuses: Vec<u16> = threads.into_iter().map(|one| one.join().unwrap()).collect();
    let asked = statuses.iter().filter(|status| **status == 200).count();
    let refused = statuses.iter().filter(|status| **status == 429).count();
    assert_eq!((asked, refused), (10, 50), "{statuses:?}");
    assert_eq!(daemon.pending().len(), 10);
}

#[test]
fn flood_invalid_limits_are_configuration_errors() {
    for (key, value) in [
        ("max_open_questions", "0"),
        ("max_open_questions", "100001"),
        ("max_open_questions_per_session", "0"),
        ("max_open_questions_per_session", "-1"),
    ] {
        let (_, stderr) = Setup::new().config(&format!("{key} = {value}")).fail();
        assert!(stderr.contains(key) || stderr.contains(value), "{stderr}");
    }
}

#[test]
fn flood_a_hook_denies_if_its_question_is_refused() {
    let daemon = Setup::new().config("max_open_questions = 1").start();
    daemon.post(&question("flood", 1)).ok();
    let config = daemon.setup().folder().join("operator/client.toml");
    let database = daemon.setup().folder().join("data/hook.db");
    let text = format!(
        "listen = \"127.0.0.1:{}\"\ndatabase = \"{}\"",
        daemon.port,
        database.display()
    );
    fs::write(&config, text).unwrap();
    let mut hook = Command::new(env!("CARGO_BIN_EXE_hooks-guard"))
        .args([
            "hook",
            "claude-code",
            "--unattended",
            "--timeout",
            "60",
            "--config",
        ])
        .arg(&config)
        .env_clear()
        .env("HOME", daemon.setup().home())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let input = json!({
        "session_id": "s1", "hook_event_name": "PreToolUse", "tool_name": "Bash",
        "cwd": daemon.setup().home(), "tool_input": { "command": "rm -r build" },
    });
    hook.stdin
        .take()
        .unwrap()
        .write_all(input.to_string().as_bytes())
        .unwrap();
    let output = hook.wait_with_output().unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(stdout.contains("deny"), "{output:?}");
    assert!(!stdout.contains("\"allow\""), "{output:?}");
    assert_eq!(daemon.pending().len(), 1);
}

#[test]
fn flood_event_streams_are_reserved_for_the_operator() {
    let daemon = Daemon::plain();
    let listen = |headers: &str, query: &str| {
        let mut stream = TcpStream::connect(("127.0.0.1", daemon.port)).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        let head = format!(
            "GET /api/hooks/events{query} HTTP/1.0\r\nHost: 127.0.0.1:{}\r\n{headers}\r\n",
            daemon.port
        );
        stream.write_all(head.as_bytes()).unwrap();
        let mut status = [0; 12];
        stream.read_exact(&mut status).unwrap();
        (String::from_utf8_lossy(&status)[9..].to_owned(), stream)
    };
    let signing = operator("POST", "/api/console/session");
    let signed_in = daemon.send(&signing);
    let csrf = signed_in.ok()["csrf"].as_str().unwrap().to_owned();
    let cookie = signed_in.header("set-cookie").unwrap();
    let cookie = cookie.split(';').next().unwrap().to_owned();
    let strangers: Vec<_> = (0..64).map(|_| listen("", "")).collect();
    assert!(strangers.iter().all(|(status, _)| status == "200"));
    for headers in [
        String::new(),
        "Authorization: Bearer another-operators-token\r\n".to_owned(),
        // A cookie alone is not enough, because browsers send it to every port of this machine.
        format!("Cookie: {cookie}\r\n"),
    ] {
        assert_eq!(listen(&headers, "").0, "503", "{headers}");
    }
    assert_eq!(listen("", &format!("?csrf={csrf}")).0, "503");
    let bearer = format!("Authorization: Bearer {TOKEN}\r\n");
    let cookie = format!("Cookie: {cookie}\r\n");
    let own: Vec<_> = (0..4)
        .flat_map(|_| {
            [
                listen(&bearer, ""),
                listen(&cookie, &format!("?csrf={csrf}")),
            ]
        })
        .collect();
    assert!(own.iter().all(|(status, _)| status == "200"), "{own:?}");
    // They receive events.
    daemon.ask("mkdir out");
    for (_, mut stream) in own {
        let mut heard = String::new();
        while !heard.contains("event: asked") {
            let mut bytes = [0; 4096];
            let count = stream.read(&mut bytes).unwrap();
            assert!(count > 0, "{heard}");
            heard.push_str(&String::from_utf8_lossy(&bytes[..count]));
        }
    }
}

/// Clients that repeat a request continuously.
struct Hammering {
    stop: Arc<AtomicBool>,
    answered: Arc<AtomicUsize>,
    threads: Vec<JoinHandle<()>>,
}

impl Hammering {
    fn start(port: u16, clients: usize, requests: &[Request]) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let answered = Arc::new(AtomicUsize::new(0));
        let threads = (0..clients).map(|client| {
            let request = requests[client % requests.len()].clone();
            let (stop, answered) = (Arc::clone(&stop), Arc::clone(&answered));
            thread::spawn(move || {
                while !stop.load(Ordering::SeqCst) {
                    if request.try_send(port).is_ok() {
                        answered.fetch_add(1, Ordering::SeqCst);
                    }
                }
            })
        });
        let threads = threads.collect();
        Self {
            stop,
            answered,
            threads,
        }
    }
}

impl Drop for Hammering {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// Timeout for a response to the operator. It takes a fraction of a second; the rest allows for a
/// machine that is busy with the flood and with other tests.
const PROMPT: Duration = Duration::from_secs(5);

#[test]
fn flood_answers_are_prompt_under_the_load_of_200_clients() {
    let setup = Setup::new();
    flood(
        &setup.database_file(),
        3_000,
        2_000,
        Duration::from_secs(3_600),
    );
    let mut daemon = setup.config("max_open_questions = 3000").start();
    let requests = [
        Request::new("GET", &format!("{PENDING}?limit=1000&order=fair")),
        Request::new("GET", "/api/hooks/export?format=jsonl"),
        Request::new("GET", "/api/hooks/stats"),
        Request::new(
            "GET",
            "/api/hooks/decisions?limit=1000&command_filter=flood",
        ),
        Request::new("GET", "/api/hooks/decisions/1?wait=1"),
        ask(&json!({ "command": "mkdir out", "session_id": "hammer" })),
    ];
    let hammering = Hammering::start(daemon.port, 200, &requests);
    while hammering.answered.load(Ordering::SeqCst) < 200 {
        thread::sleep(Duration::from_millis(20));
    }
    let mut slowest = [Duration::ZERO; 2];
    for id in 1..=10 {
        let requests = [
            operator("POST", "/api/hooks/permission-response")
                .json(&json!({ "id": id, "response": "DENIED" })),
            operator("GET", &format!("{PENDING}?limit=100&order=fair")),
        ];
        for (slowest, request) in slowest.iter_mut().zip(requests) {
            let start = Instant::now();
            daemon.send(&request).ok();
            *slowest = start.elapsed().max(*slowest);
        }
    }
    let answered = hammering.answered.load(Ordering::SeqCst);
    drop(hammering);
    let [answer, page] = slowest;
    eprintln!("an answer took {answer:?} at most, a page {page:?}, among {answered} of others");
    assert!(answer < PROMPT && page < 2 * PROMPT, "{answer:?}, {page:?}");
    daemon.assert_healthy();
}

#[test]
fn flood_readers_beyond_the_queue_get_503() {
    let setup = Setup::new();
    flood(
        &setup.database_file(),
        2_000,
        2_000,
        Duration::from_secs(3_600),
    );
    let daemon = setup.start();
    let busy = Arc::new(AtomicUsize::new(0));
    let threads: Vec<_> = (0..150)
        .map(|_| {
            let (port, busy) = (daemon.port, Arc::clone(&busy));
            thread::spawn(move || {
                let target = "/api/hooks/decisions?limit=1000&command_filter=flood-1";
                let answer = Request::new("GET", target).send(port);
                if answer.status == 503 {
                    answer.error(503, "BUSY");
                    assert_eq!(answer.header("retry-after"), Some("1"));
                    busy.fetch_add(1, Ordering::SeqCst);
                } else {
                    answer.ok();
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    eprintln!(
        "{} of 150 were refused with 503",
        busy.load(Ordering::SeqCst)
    );
    assert!(busy.load(Ordering::SeqCst) < 150);
}

#[test]
fn flood_20000_stored_questions_use_bounded_memory_and_hide_none() {
    let setup = Setup::new();
    let honest = flood(
        &setup.database_file(),
        20_000,
        800,
        Duration::from_secs(3_600),
    );
    let daemon = setup.start();
    let usual = daemon.get(PENDING);
    assert!(usual.body.len() < 300_000, "{}", usual.body.len());
    let usual = usual.ok();
    assert_eq!(usual["pending"].as_array().unwrap().len(), 100);
    assert_eq!(usual["total"], 20_001);
    // A page ends when it is too long, regardless of its limit, and the next page continues there.
    for order in ["oldest", "fair"] {
        let (mut seen, mut after) = (BTreeSet::new(), String::new());
        for _ in 0..12 {
            let path = format!("{PENDING}?order={order}&limit=99999999999999999999{after}");
            let page = daemon.get(&path);
            assert!(page.body.len() < 320_000, "{}", page.body.len());
            let page = page.ok();
            let questions = page["pending"].as_array().unwrap();
            assert!(
                (50..1_000).contains(&questions.len()),
                "{}",
                questions.len()
            );
            for question in questions {
                assert!(seen.insert(question["id"].as_i64().unwrap()), "{question}");
            }
            after = format!("&after={}", page["next"].as_str().unwrap());
        }
        // No question is skipped between two pages.
        seen.remove(&honest);
        let last = *seen.last().unwrap();
        assert_eq!(i64::try_from(seen.len()).unwrap(), last, "{order}");
    }
    // The question of another session is among the first.
    let fair = daemon.get(&format!("{PENDING}?order=fair&limit=2")).ok();
    assert_eq!(fair["pending"][1]["id"], honest);
    assert_eq!(fair["sessions"][0]["count"], 20_000);
    // Clients that repeatedly request much data and read none of it.
    let deaf: Vec<_> = (0..100)
        .map(|number| {
            let mut stream = TcpStream::connect(("127.0.0.1", daemon.port)).unwrap();
            let target = [
                "/api/hooks/pending?limit=1000",
                "/api/hooks/decisions?limit=1000",
                "/api/hooks/export",
                "/api/hooks/events?after=19000",
            ][number % 4];
            let head = format!(
                "GET {target} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n",
                daemon.port
            );
            stream.write_all(head.as_bytes()).unwrap();
            stream
        })
        .collect();
    thread::sleep(Duration::from_secs(3));
    assert!(
        daemon
            .get("/metrics")
            .text()
            .contains("hooks_guard_pending 20001")
    );
    // A client with the key gets a response that it can verify, of any length and without the
    // token.
    let key = ServiceKey::load(&daemon.setup().folder().join("data/service.key")).unwrap();
    let address = Address::Tcp(([127, 0, 0, 1], daemon.port).into());
    let client = Client::new(address).with_key(key);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    for path in ["pending?limit=1000", "decisions?limit=1000", "decisions"] {
        let path = format!("/api/hooks/{path}");
        let read = runtime.block_on(client.get(&path, Duration::from_secs(30)));
        assert!(read.is_ok(), "{path}: {read:?}");
    }
    drop(deaf);
    let start = Instant::now();
    let mut denied = 0;
    loop {
        let body = json!({ "session_id": "flood" });
        let done = daemon.send(&operator("POST", DENY).json(&body)).ok();
        denied += done["denied"].as_u64().unwrap();
        assert!(done["denied"].as_u64().unwrap() <= 2_000);
        if done["remaining"] == 0 {
            break;
        }
    }
    eprintln!("{denied} were denied in {:?}", start.elapsed());
    assert_eq!(denied, 20_000);
    let left: Vec<Value> = daemon
        .pending()
        .iter()
        .map(|one| one["id"].clone())
        .collect();
    assert_eq!(left, [json!(honest)]);
    let peak = peak_memory(&daemon);
    eprintln!("at most {peak} MiB");
    assert!(peak < 300, "{peak} MiB");
}

#[test]
fn flood_many_overdue_questions_do_not_delay_requests() {
    let setup = Setup::new();
    // All are overdue when the service starts.
    flood(&setup.database_file(), 20_000, 10, Duration::from_millis(1));
    let daemon = setup.start();
    let (mut slowest, mut asked) = (Duration::ZERO, 0);
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(60) {
        let start = Instant::now();
        let session = format!("s{asked}");
        daemon.post(&question(&session, 0)).ok();
        slowest = slowest.max(start.elapsed());
        asked += 1;
        let left = daemon
            .get("/api/hooks/decisions?response=TIMEOUT&limit=1")
            .ok();
        if left["pagination"]["total"] == 20_001 {
            break;
        }
        thread::sleep(Duration::from_millis(20));
    }
    eprintln!("{asked} were decided meanwhile, the slowest in {slowest:?}");
    assert!(
        begun.elapsed() < Duration::from_secs(60),
        "the overdue questions have not expired"
    );
    assert!(slowest < PROMPT, "{slowest:?}");
}

#[test]
fn flood_long_polls_do_not_block_the_operator() {
    let mut daemon = Setup::new().config("max_connections = 60").start();
    let id = daemon.ask("mkdir out")["id"].clone();
    // Opened before the flood, and not closed because of it.
    let mut own = daemon.connect();
    let host = format!("127.0.0.1:{}", daemon.port);
    own.write(&operator("GET", &format!("/api/hooks/decisions/{id}?wait=60")).bytes(&host))
        .unwrap();
    thread::sleep(Duration::from_millis(200));
    let waits = Request::new("GET", &format!("/api/hooks/decisions/{id}?wait=60"));
    let hammering = Hammering::start(daemon.port, 120, &[waits]);
    thread::sleep(Duration::from_secs(3));
    let mut slowest = Duration::ZERO;
    for _ in 0..3 {
        let start = Instant::now();
        daemon.send(&operator("GET", PENDING)).ok();
        slowest = slowest.max(start.elapsed());
    }
    eprintln!("the operator waited {slowest:?} at most");
    assert!(slowest < Duration::from_secs(5), "{slowest:?}");
    daemon.respond(&id, "DENIED").ok();
    let answer: Answer = own.read().expect("it was closed");
    assert_eq!(answer.ok()["user_response"], "DENIED");
    drop(hammering);
    daemon.assert_healthy();
}

#[test]
fn p_20_a_parameter_without_a_value_is_refused() {
    let daemon = Daemon::plain();
    let permission = daemon.ask("mkdir out");
    let one = format!("/api/hooks/decisions/{}", permission["id"]);
    let filters = [
        "classification",
        "response",
        "since",
        "until",
        "command_filter",
        "agent",
        "session_id",
    ];
    let with = |more: &[&'static str]| [&filters[..], more].concat();
    let all = [
        ("/api/hooks/decisions", with(&["limit", "offset"])),
        ("/api/hooks/export", with(&["format"])),
        (one.as_str(), vec!["wait"]),
        (
            PENDING,
            vec!["limit", "order", "after", "agent", "session_id"],
        ),
        ("/api/hooks/remembered", vec!["limit", "after"]),
        ("/api/hooks/events", vec!["after", "csrf"]),
        ("/api/hooks/stats", vec!["since", "until"]),
        ("/api/hooks/series", vec!["since", "until"]),
    ];
    for (path, parameters) in all {
        for parameter in parameters {
            for query in [
                parameter.to_owned(),
                format!("{parameter}="),
                format!("a=b&{parameter}="),
                format!("{parameter}=&{parameter}=1"),
            ] {
                let body = daemon.get(&format!("{path}?{query}")).refusal(400);
                let code = match parameter {
                    "since" | "until" => "INVALID_DATE",
                    _ => "INVALID_FILTER",
                };
                assert_eq!(body["code"], code, "{path}?{query}: {body}");
                let error = body["error"].as_str().unwrap();
                assert!(error.contains(parameter), "{path}?{query}: {body}");
            }
        }
    }
    for query in ["days=", "days=&force=true"] {
        daemon
            .delete(&format!("/api/hooks/cleanup?{query}"))
            .error(400, "INVALID_DAYS");
    }
    let force = daemon.delete("/api/hooks/cleanup?force=");
    force.error(400, "INVALID_FILTER");
    assert_eq!(daemon.record(&permission["id"])["command"], "mkdir out");
}

#[test]
fn p_02_null_is_invalid_for_flags_and_absent_for_optional_fields() {
    let daemon = Daemon::plain();
    for flag in ["confirm", "asks_itself"] {
        for value in [json!(null), json!(0), json!(""), json!("true"), json!([])] {
            let mut body = json!({ "command": "ls" });
            body[flag] = value;
            let error = daemon.post(&body).error(400, "INVALID_JSON");
            assert!(error["details"].as_str().unwrap().contains(flag), "{error}");
        }
    }
    let optional = [
        "context",
        "agent",
        "session_id",
        "cwd",
        "call_id",
        "permission_mode",
        "types_into_programs",
        "network",
        "file",
    ];
    let mut ids = BTreeSet::new();
    for field in optional {
        let mut body = json!({ "command": "mkdir out" });
        body[field] = Value::Null;
        ids.insert(daemon.post(&body).ok()["id"].as_i64().unwrap());
    }
    for id in &ids {
        let body = json!({ "id": id, "response": "DENIED", "remember": null, "note": null });
        daemon.respond_with(&body).ok();
    }
    for body in [
        json!({ "id": null, "response": "DENIED" }),
        json!({ "id": 1, "response": null }),
    ] {
        daemon.respond_with(&body).error(400, "MISSING_FIELD");
    }
    let permission = daemon.ask("ls");
    let target = format!("/api/hooks/decisions/{}/executed", permission["id"]);
    let body = json!({ "secret": permission["secret"], "exit_status": null });
    daemon.send(&Request::new("POST", &target).json(&body)).ok();
}
