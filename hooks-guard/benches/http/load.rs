//! Load generator: connections that send a request, wait for the response, and repeat.

use std::cell::RefCell;
use std::io;
use std::rc::Rc;
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::LocalSet;

/// Result of a load.
pub(crate) struct Answered {
    /// Latencies in ascending order.
    times: Vec<Duration>,
    /// Duration of the load.
    whole: Duration,
}

impl Answered {
    pub(crate) fn many(&self) -> usize {
        self.times.len()
    }

    pub(crate) fn per_second(&self) -> f64 {
        self.times.len() as f64 / self.whole.as_secs_f64()
    }

    /// Returns a percentile of the latency in milliseconds.
    pub(crate) fn share(&self, share: f64) -> f64 {
        let at = ((self.times.len().max(1) - 1) as f64 * share).round() as usize;
        self.times
            .get(at)
            .map_or(0.0, |time| time.as_secs_f64() * 1e3)
    }
}

/// End of a load.
#[derive(Clone, Copy)]
pub(crate) enum Until {
    /// After a duration.
    Time(Duration),
    /// After a number of responses.
    Answers(usize),
}

/// Rate of a load.
#[derive(Clone, Copy)]
pub(crate) enum Pace {
    /// The next request follows each response immediately.
    Full,
    /// Fixed number of requests per second, regardless of the responses. Latency is measured from
    /// the time at which a request was due.
    PerSecond(u32),
}

struct State {
    asked: usize,
    times: Vec<Duration>,
}

/// Runs a load on a number of connections.
pub(crate) async fn run(
    port: u16,
    connections: usize,
    until: Until,
    pace: Pace,
) -> io::Result<Answered> {
    let mut open = Vec::with_capacity(connections);
    for _ in 0..connections {
        open.push(Connection::open(port).await?);
    }
    let state = Rc::new(RefCell::new(State {
        asked: 0,
        times: Vec::new(),
    }));
    let began = Instant::now();
    let local = LocalSet::new();
    let tasks: Vec<_> = open
        .into_iter()
        .map(|connection| local.spawn_local(ask(connection, state.clone(), began, until, pace)))
        .collect();
    local
        .run_until(async {
            for task in tasks {
                task.await.map_err(io::Error::other)??;
            }
            Ok::<_, io::Error>(())
        })
        .await?;
    let whole = began.elapsed();
    let mut times = std::mem::take(&mut state.borrow_mut().times);
    times.sort_unstable();
    Ok(Answered { times, whole })
}

async fn ask(
    mut connection: Connection,
    state: Rc<RefCell<State>>,
    began: Instant,
    until: Until,
    pace: Pace,
) -> io::Result<()> {
    loop {
        let number = state.borrow().asked;
        let due = match pace {
            Pace::Full => Instant::now(),
            Pace::PerSecond(rate) => {
                began + Duration::from_secs_f64(number as f64 / f64::from(rate))
            }
        };
        let over = match until {
            Until::Time(time) => due >= began + time,
            Until::Answers(answers) => number >= answers,
        };
        if over {
            return Ok(());
        }
        state.borrow_mut().asked += 1;
        if due > Instant::now() {
            tokio::time::sleep_until(due.into()).await;
        }
        let status = connection.exchange(&request(number)).await?;
        if status != 200 {
            return Err(io::Error::other(format!("status {status}")));
        }
        state.borrow_mut().times.push(due.elapsed());
    }
}

/// Returns a typical request of an agent: mostly reads, some changes that the agent asks its user
/// about. All requests differ, so that no cache has a result.
pub(crate) fn request(number: usize) -> Vec<u8> {
    let command = match number % 20 {
        0..12 => format!("git status --short src/module_{number}"),
        12..15 => format!("mkdir -p build/output/{number}"),
        15..19 => format!("git commit -am 'change number {number}'"),
        _ => format!(
            "ls -la target/{number} | grep incremental | head -{}",
            number % 7
        ),
    };
    let agent = ["claude-code", "codex", "gemini"][number % 3];
    let body = json!({
        "command": command,
        "agent": agent,
        "session_id": format!("session-{}", number / 200),
        "cwd": "/srv/ada/projects/app",
        "asks_itself": true,
    })
    .to_string();
    format!(
        "POST /api/hooks/permission-request HTTP/1.1\r\nHost: localhost\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// A persistent connection.
pub(crate) struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Connection {
    pub(crate) async fn open(port: u16) -> io::Result<Self> {
        let stream = TcpStream::connect(("127.0.0.1", port)).await?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream,
            buffer: Vec::with_capacity(4096),
        })
    }

    /// Returns the body of the last response.
    pub(crate) fn body(&self) -> &[u8] {
        let end = head(&self.buffer).unwrap_or(self.buffer.len());
        &self.buffer[end..]
    }

    /// Sends a request, reads the response, and returns its status.
    pub(crate) async fn exchange(&mut self, request: &[u8]) -> io::Result<u16> {
        self.stream.write_all(request).await?;
        self.buffer.clear();
        loop {
            if self.stream.read_buf(&mut self.buffer).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            if let Some(status) = complete(&self.buffer) {
                return Ok(status);
            }
        }
    }
}

/// Returns the status of a response, if the response is complete.
fn complete(bytes: &[u8]) -> Option<u16> {
    let end = head(bytes)?;
    let head = std::str::from_utf8(&bytes[..end]).ok()?;
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        let is_length = name.eq_ignore_ascii_case("content-length");
        is_length.then(|| value.trim().parse::<usize>().ok())?
    })?;
    let status = head.get(9..12)?.parse().ok()?;
    (bytes.len() >= end + length).then_some(status)
}

/// Returns the end of the head of a response.
fn head(bytes: &[u8]) -> Option<usize> {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
    Some(end + 4)
}
