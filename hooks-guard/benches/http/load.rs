//! The load: connections that ask, wait for the answer, and ask again.

use std::cell::RefCell;
use std::io;
use std::rc::Rc;
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::LocalSet;

/// What was answered.
pub(crate) struct Answered {
    /// How long each answer took, the shortest first.
    times: Vec<Duration>,
    /// How long all of them took.
    whole: Duration,
}

impl Answered {
    pub(crate) fn many(&self) -> usize {
        self.times.len()
    }

    pub(crate) fn per_second(&self) -> f64 {
        self.times.len() as f64 / self.whole.as_secs_f64()
    }

    /// What this share of the answers did not exceed, in milliseconds.
    pub(crate) fn share(&self, share: f64) -> f64 {
        let at = ((self.times.len().max(1) - 1) as f64 * share).round() as usize;
        self.times
            .get(at)
            .map_or(0.0, |time| time.as_secs_f64() * 1e3)
    }
}

/// When the load is over.
#[derive(Clone, Copy)]
pub(crate) enum Until {
    /// After this time.
    Time(Duration),
    /// After so many answers.
    Answers(usize),
}

/// How fast it is asked.
#[derive(Clone, Copy)]
pub(crate) enum Pace {
    /// As soon as there was an answer.
    Full,
    /// So often a second, whether there was an answer or not; an answer's time begins when its
    /// request was due.
    PerSecond(u32),
}

struct State {
    asked: usize,
    times: Vec<Duration>,
}

/// Asks on so many connections.
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

/// What agents ask: mostly to look, sometimes to change something, and then they ask their user
/// themselves. No two are the same, so that nothing is found in a cache.
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

/// A connection that is kept.
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

    /// The body of the last answer.
    pub(crate) fn body(&self) -> &[u8] {
        let end = head(&self.buffer).unwrap_or(self.buffer.len());
        &self.buffer[end..]
    }

    /// Sends a request, reads the answer, and returns its status.
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

/// The status of an answer, if all of it is there.
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

/// Where the head of an answer ends.
fn head(bytes: &[u8]) -> Option<usize> {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
    Some(end + 4)
}
