//! Many concurrent requests: each gets a response, and each decision has a record.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::support::daemon::{Daemon, Setup, ask};
use crate::support::left_out;

/// Returns 2 000, or the value of `HOOKS_PARALLEL`.
fn parallel() -> usize {
    std::env::var("HOOKS_PARALLEL").map_or(2_000, |text| text.parse().unwrap())
}

/// Returns how many files this process may open: now, and with a raised limit.
fn open_files() -> Option<(usize, usize)> {
    let text = std::fs::read_to_string("/proc/self/limits").ok()?;
    let mut lines = text.lines();
    let line = lines.find(|line| line.starts_with("Max open files"))?;
    let mut limits = line.split_whitespace().skip(3).map(|limit| {
        let limit = limit.replace("unlimited", "1000000000");
        limit.parse().ok()
    });
    Some((limits.next()??, limits.next()??))
}

/// Returns for how many of `sockets` there is room, here and in child processes; prints a notice if
/// there are fewer.
pub(crate) fn room_for(sockets: usize) -> usize {
    let needed = sockets + 500;
    if let Some((soft, hard)) = open_files()
        && soft < needed.min(hard)
    {
        // Raise the soft limit to the hard limit; child processes inherit it.
        let _ = Command::new("prlimit")
            .args(["--pid", &std::process::id().to_string()])
            .arg(format!("--nofile={}:", needed.min(hard)))
            .status();
    }
    let room = open_files().map_or(sockets, |(soft, _)| sockets.min(soft.saturating_sub(500)));
    if room < sockets {
        eprintln!("only {room} of {sockets} sockets: no more files may be open");
    }
    room
}

/// Makes room for this many sockets, here and in child processes, or prints why it cannot.
fn has_room_for(sockets: usize) -> bool {
    let room = room_for(sockets);
    if room < sockets {
        left_out(&format!(
            "room for {sockets} sockets is needed, for {room} it is there"
        ));
    }
    room == sockets
}

/// Number of connections that a client tries before it gives up.
const TRIES: usize = 5;

/// Errors of a connection that is closed without a response.
const CLOSED: [&str; 3] = ["reset by peer", "Broken pipe", "no head"];

/// Returns the status and body of a request on a separate connection. The request is sent again, and
/// added to `repeated`, if its connection is closed without a response. Above `max_connections`, the
/// service closes connections whose client has sent nothing for 100 ms, and requests that run for
/// more than 8 s; on a busy machine this happens to honest clients.
async fn send_until_answered(
    port: u16,
    bytes: Vec<u8>,
    repeated: Arc<AtomicUsize>,
) -> Result<(u16, Value), String> {
    let mut tries = 1;
    loop {
        match send_one(port, bytes.clone()).await {
            Err(error) if tries < TRIES && CLOSED.iter().any(|closed| error.contains(closed)) => {
                tries += 1;
                repeated.fetch_add(1, Ordering::Relaxed);
            }
            answer => return answer,
        }
    }
}

/// Returns the status and body of a request on a separate connection.
async fn send_one(port: u16, bytes: Vec<u8>) -> Result<(u16, Value), String> {
    let exchange = async {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).await?;
        stream.write_all(&bytes).await?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await?;
        Ok::<_, std::io::Error>(answer)
    };
    let answer = tokio::time::timeout(Duration::from_secs(300), exchange)
        .await
        .map_err(|_| "no answer".to_owned())?
        .map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&answer);
    let (head, body) = text.split_once("\r\n\r\n").ok_or("no head")?;
    let status = head
        .get(9..12)
        .and_then(|it| it.parse().ok())
        .ok_or("no status")?;
    let body = serde_json::from_str(body).map_err(|error| format!("{error}: {text}"))?;
    Ok((status, body))
}

/// Returns the answers to concurrent requests, and the number of requests that were sent again.
async fn all_at_once(daemon: &Daemon, count: usize) -> (Vec<Result<(u16, Value), String>>, usize) {
    let repeated = Arc::new(AtomicUsize::new(0));
    let tasks: Vec<_> = (0..count)
        .map(|number| {
            let command = match number % 4 {
                0 => format!("mkdir out-{number}"),
                _ => format!("ls {number}"),
            };
            let request = ask(&json!({ "command": command })).header("Connection", "close");
            let bytes = request.bytes(&format!("127.0.0.1:{}", daemon.port));
            tokio::spawn(send_until_answered(
                daemon.port,
                bytes,
                Arc::clone(&repeated),
            ))
        })
        .collect();
    let mut answers = Vec::new();
    for task in tasks {
        answers.push(task.await.unwrap());
    }
    (answers, repeated.load(Ordering::Relaxed))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn load_every_concurrent_request_is_answered_and_recorded() {
    let count = parallel();
    if !has_room_for(count) {
        return;
    }
    let mut daemon = Daemon::plain();
    let (answers, repeated) = all_at_once(&daemon, count).await;
    let mut ids = BTreeSet::new();
    let mut secrets = BTreeSet::new();
    let (mut lost, mut late) = (BTreeMap::new(), Vec::new());
    let mut without_id = repeated;
    for (number, answer) in answers.into_iter().enumerate() {
        match answer {
            Ok((200, permission)) => {
                let expected =
                    ["REQUIRES_CONFIRMATION", "AUTO_ALLOWED"][usize::from(number % 4 != 0)];
                assert_eq!(permission["decision"], expected);
                ids.insert(permission["id"].as_i64().unwrap());
                secrets.insert(permission["secret"].as_str().unwrap().to_owned());
            }
            // An overloaded service may refuse requests.
            Ok((503, body)) => assert!(body["code"].is_string(), "{body}"),
            // A busy machine may take longer than a request may; the command is not allowed then.
            Ok((408, body)) => {
                assert_eq!(body["decision"], "REQUIRES_CONFIRMATION");
                without_id += 1;
            }
            // On a busy machine a record may come too late; the command is not allowed then.
            Ok((500, body)) => {
                late.push(body["request_id"].as_str().unwrap().to_owned());
                without_id += 1;
            }
            // So many that the system has no room for their connections.
            Err(error) if count > 2_000 => *lost.entry(error).or_insert(0) += 1,
            other => panic!("request {number}: {other:?}"),
        }
    }
    eprintln!(
        "{} of {count} were decided, {repeated} were repeated; lost: {lost:?}",
        ids.len()
    );
    assert!(ids.len() > count / 10);
    // The log leaves out repetitions of an error.
    let log = daemon.stderr();
    let why = log
        .lines()
        .filter(|line| late.iter().any(|request| line.contains(request)));
    let why: Vec<_> = why.collect();
    assert!(late.is_empty() || !why.is_empty(), "{late:?}\n{log}");
    assert!(why.iter().all(|why| why.contains("locked")), "{why:?}");
    assert_eq!(secrets.len(), ids.len());
    let body = daemon.get("/api/hooks/decisions?limit=5000").ok();
    // A late or repeated request may have a record whose id no client knows.
    let records = body["pagination"]["total"].as_u64().unwrap() as usize;
    assert!(
        (ids.len()..=ids.len() + without_id).contains(&records),
        "{records} records for {} answers with an id and {without_id} without",
        ids.len()
    );
    // P-20: no more than 1000 on a page. A service on a busy machine may have refused half.
    for _ in records..=1_000 {
        daemon.ask("ls");
    }
    let body = daemon.get("/api/hooks/decisions?limit=5000").ok();
    assert_eq!(body["pagination"]["returned"], 1_000);
    assert_eq!(body["pagination"]["limit"], 1_000);
    assert_eq!(body["decisions"].as_array().unwrap().len(), 1_000);
    daemon.assert_healthy();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn load_p_11_concurrent_requests_do_not_exceed_the_limit() {
    if !has_room_for(500) {
        return;
    }
    let daemon = Setup::new().rate_limit(Some(100)).start();
    let (answers, repeated) = all_at_once(&daemon, 500).await;
    let mut passed = 0;
    for answer in answers {
        match answer.unwrap() {
            (200, _) => passed += 1,
            (429, body) => assert_eq!(body["code"], "RATE_LIMITED"),
            (503, _) => {}
            other => panic!("{other:?}"),
        }
    }
    // A repeated request may have passed the limit before.
    assert!(
        (100 - repeated.min(100)..=100).contains(&passed),
        "{passed}"
    );
    assert_eq!(
        daemon.get("/api/hooks/decisions").ok()["pagination"]["total"],
        100
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn load_a_killed_service_has_recorded_every_response() {
    let mut setup = Setup::new();
    let mut known = BTreeSet::new();
    for _ in 0..5 {
        let daemon = setup.start();
        let port = daemon.port;
        let (stop, stopped) = tokio::sync::watch::channel(false);
        let answered = Arc::new(AtomicUsize::new(0));
        let asking: Vec<_> = (0..16)
            .map(|_| {
                let (stopped, answered) = (stopped.clone(), Arc::clone(&answered));
                tokio::spawn(async move {
                    let mut ids = Vec::new();
                    while !*stopped.borrow() {
                        let request =
                            ask(&json!({ "command": "ls" })).header("Connection", "close");
                        match send_one(port, request.bytes(&format!("127.0.0.1:{port}"))).await {
                            Ok((200, permission)) => {
                                ids.push(permission["id"].as_i64().unwrap());
                                answered.fetch_add(1, Ordering::SeqCst);
                            }
                            _ => break,
                        }
                    }
                    ids
                })
            })
            .collect();
        while answered.load(Ordering::SeqCst) < 40 {
            assert!(
                asking.iter().any(|task| !task.is_finished()),
                "the load is over"
            );
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let daemon = daemon.restart(|setup| setup);
        stop.send(true).unwrap();
        for task in asking {
            known.extend(task.await.unwrap());
        }
        for id in &known {
            daemon.record(&json!(id));
        }
        setup = daemon.into_setup();
    }
    assert!(known.len() >= 200, "{}", known.len());
}
