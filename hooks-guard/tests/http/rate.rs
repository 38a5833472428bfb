//! Rate limits (P-11).

use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::net::TcpSocket;

use crate::support::client::{Answer, Connection, Request};
use crate::support::daemon::{Daemon, Setup, TOKEN, ask};
use crate::support::{ShiftedClock, left_out};

fn read(daemon: &Daemon) -> Answer {
    daemon.post(&json!({ "command": "ls" }))
}

#[track_caller]
fn number(answer: &Answer, header: &str) -> i64 {
    let value = answer.header(header);
    match value.map(str::parse) {
        Some(Ok(number)) => number,
        _ => panic!("`{header}` is {value:?}"),
    }
}

#[track_caller]
fn assert_limited(answer: &Answer, limit: u32) -> Value {
    let body = answer.error(429, "RATE_LIMITED");
    assert_eq!(
        body["error"],
        format!("Rate limit exceeded: {limit} requests per minute")
    );
    let seconds = body["retry_after_seconds"].as_i64().unwrap();
    assert!((1..=60).contains(&seconds), "{body}");
    assert_eq!(number(answer, "retry-after"), seconds);
    assert_eq!(number(answer, "x-ratelimit-limit"), i64::from(limit));
    assert_eq!(number(answer, "x-ratelimit-remaining"), 0);
    body
}

#[test]
fn p_11_the_default_limit_is_100_requests_a_minute() {
    let daemon = Setup::new().rate_limit(None).start();
    for number_so_far in 0..100 {
        let answer = read(&daemon);
        answer.ok();
        assert_eq!(number(&answer, "x-ratelimit-limit"), 100);
        assert_eq!(number(&answer, "x-ratelimit-remaining"), 99 - number_so_far);
        let reset = number(&answer, "x-ratelimit-reset");
        let now = Timestamp::now().as_second();
        assert!((now - 1..=now + 61).contains(&reset), "{reset} at {now}");
    }
    assert_limited(&read(&daemon), 100);
    // A refused request is not a decision.
    let body = daemon.get("/api/hooks/decisions").ok();
    assert_eq!(body["pagination"]["total"], 100);
}

#[test]
fn p_11_the_limit_is_configurable() {
    for daemon in [
        Setup::new().rate_limit(Some(3)).start(),
        Setup::new()
            .rate_limit(None)
            .config("rate_limit_per_minute = 3")
            .start(),
    ] {
        for remaining in [2, 1, 0] {
            let answer = read(&daemon);
            answer.ok();
            assert_eq!(number(&answer, "x-ratelimit-limit"), 3);
            assert_eq!(number(&answer, "x-ratelimit-remaining"), remaining);
        }
        assert_limited(&read(&daemon), 3);
    }
}

#[test]
fn p_11_errors_count_and_report_the_remaining_requests() {
    let daemon = Setup::new().rate_limit(Some(3)).start();
    for remaining in [2, 1, 0] {
        let answer = daemon.post(&json!({}));
        answer.error(400, "MISSING_FIELD");
        assert_eq!(number(&answer, "x-ratelimit-remaining"), remaining);
    }
    assert_limited(&read(&daemon), 3);
}

#[test]
fn p_11_the_window_is_sliding() {
    let Some(clock) = ShiftedClock::new() else {
        return;
    };
    let daemon = clock.on(Setup::new().rate_limit(Some(4))).start();
    // Two now, two half a minute later.
    read(&daemon).ok();
    read(&daemon).ok();
    clock.forward(30);
    read(&daemon).ok();
    read(&daemon).ok();
    let body = assert_limited(&read(&daemon), 4);
    let seconds = body["retry_after_seconds"].as_i64().unwrap();
    assert!((20..=31).contains(&seconds), "{body}");
    // All four are still within the last 60 seconds.
    clock.forward(50);
    assert_limited(&read(&daemon), 4);
    // The first two are not within the window any more.
    clock.forward(62);
    read(&daemon).ok();
    read(&daemon).ok();
    assert_limited(&read(&daemon), 4);
    clock.forward(93);
    read(&daemon).ok();
    read(&daemon).ok();
    assert_limited(&read(&daemon), 4);
}

#[tokio::test]
async fn p_11_all_addresses_of_this_machine_have_one_limit() {
    let daemon = Setup::new().rate_limit(Some(4)).start();
    for number_so_far in 0..12 {
        let socket = TcpSocket::new_v4().unwrap();
        let own = format!("127.{number_so_far}.0.{}:0", number_so_far + 1);
        socket.bind(own.parse().unwrap()).unwrap();
        let address = format!("127.0.0.1:{}", daemon.port);
        let stream = socket.connect(address.parse().unwrap()).await.unwrap();
        let stream = stream.into_std().unwrap();
        stream.set_nonblocking(false).unwrap();
        let mut connection = Connection::over(stream);
        let request = ask(&json!({ "command": "ls" }));
        connection.write(&request.bytes(&address)).unwrap();
        let answer = connection.read().unwrap();
        if number_so_far < 4 {
            answer.ok();
        } else {
            assert_limited(&answer, 4);
        }
    }
}

#[test]
fn p_11_ipv4_and_ipv6_of_this_machine_have_one_limit() {
    // A dual-stack IPv6 address, which also accepts IPv4.
    let config = "listen = \"[::]:0\"\nallow_remote = true";
    let setup = Setup::new().rate_limit(Some(2)).listen(None).config(config);
    if std::net::TcpListener::bind("[::1]:0").is_err() {
        left_out("this machine has no IPv6");
        return;
    }
    let daemon = setup.start();
    let mut statuses = Vec::new();
    for address in ["127.0.0.1", "[::1]", "127.0.0.2", "[::1]"] {
        let address = format!("{address}:{}", daemon.port);
        let stream = std::net::TcpStream::connect(&address).unwrap();
        let mut connection = Connection::over(stream);
        let request = ask(&json!({ "command": "ls" })).host("localhost");
        connection.write(&request.bytes(&address)).unwrap();
        statuses.push(connection.read().unwrap().status);
    }
    assert_eq!(statuses, [200, 200, 429, 429]);
}

#[test]
fn p_11_forwarded_headers_do_not_change_the_client_address() {
    let daemon = Setup::new().rate_limit(Some(2)).start();
    for number_so_far in 0..4 {
        let address = format!("10.0.0.{number_so_far}");
        let request = ask(&json!({ "command": "ls" }))
            .header("X-Forwarded-For", &address)
            .header("X-Real-IP", &address)
            .header("Forwarded", &format!("for={address}"));
        let answer = daemon.send(&request);
        if number_so_far < 2 {
            answer.ok();
        } else {
            assert_limited(&answer, 2);
        }
    }
}

#[test]
fn p_11_the_operator_can_answer_if_an_agent_exceeds_the_limit() {
    let daemon = Setup::new().rate_limit(Some(2)).start();
    let permission = daemon.ask("mkdir out");
    for _ in 0..5 {
        read(&daemon);
    }
    assert_limited(&read(&daemon), 2);
    let body = json!({ "id": permission["id"], "response": "APPROVED" });
    let request = Request::new("POST", "/api/hooks/permission-response").bearer(TOKEN);
    daemon.send(&request.json(&body)).ok();
    assert_eq!(
        daemon.record(&permission["id"])["user_response"],
        "APPROVED"
    );
    daemon.get("/health").ok();
}
