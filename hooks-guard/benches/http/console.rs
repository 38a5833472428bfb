//! Open windows of the console during a load: each receives events and reads what its page reads.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::yield_now;
use tokio::time::timeout;

use crate::load::Connection;
use crate::shared::runtime;

/// Time that a window waits for the next event before it checks if it must close.
const LOOK: Duration = Duration::from_millis(200);

/// A page, and what it reads after an event, no sooner than after a delay.
#[derive(Clone, Copy)]
enum Page {
    Inbox,
    Hooks,
    Statistics,
}

const PAGES: [Page; 3] = [Page::Inbox, Page::Hooks, Page::Statistics];
pub(crate) const WINDOWS: usize = PAGES.len();

impl Page {
    /// Returns the interval and the paths of the reads while events arrive.
    fn reads(self) -> (Duration, &'static [&'static str]) {
        match self {
            Self::Inbox => (Duration::MAX, &[]),
            Self::Hooks => (Duration::from_millis(500), &["/api/hooks/registered"]),
            Self::Statistics => (
                Duration::from_secs(5),
                &["/api/hooks/stats", "/api/hooks/series"],
            ),
        }
    }

    /// Returns the paths that it also reads after missed events.
    fn reads_anew(self) -> &'static [&'static str] {
        match self {
            Self::Inbox => &["/api/hooks/pending", "/api/hooks/decisions?limit=20"],
            Self::Hooks | Self::Statistics => &["/api/hooks/pending"],
        }
    }
}

/// Observations of the windows.
#[derive(Clone, Copy, Default)]
pub(crate) struct Seen {
    /// Number of events about decisions.
    pub(crate) events: usize,
    /// Number of `missed` events.
    pub(crate) missed: usize,
    /// Number of responses to reads.
    pub(crate) reads: usize,
    /// Latency of the slowest read.
    pub(crate) slowest: Duration,
}

/// Open windows, on a separate thread.
pub(crate) struct Windows {
    over: Arc<AtomicBool>,
    thread: JoinHandle<Result<Seen, String>>,
}

impl Windows {
    /// Opens a window for each page.
    pub(crate) fn open(port: u16) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let end = Arc::clone(&over);
        let thread = std::thread::spawn(move || {
            runtime()?.block_on(async {
                let [a, b, c] = PAGES.map(|page| window(port, page, &end));
                let (a, b, c) = tokio::try_join!(a, b, c).map_err(|error| error.to_string())?;
                Ok([a, b, c].into_iter().fold(Seen::default(), Seen::and))
            })
        });
        Self { over, thread }
    }

    pub(crate) fn close(self) -> Result<Seen, String> {
        self.over.store(true, Ordering::Relaxed);
        let seen = self.thread.join();
        seen.map_err(|_| "a window panicked".to_owned())?
    }
}

impl Seen {
    fn and(self, other: Self) -> Self {
        Self {
            events: self.events + other.events,
            missed: self.missed + other.missed,
            reads: self.reads + other.reads,
            slowest: self.slowest.max(other.slowest),
        }
    }
}

async fn window(port: u16, page: Page, over: &AtomicBool) -> io::Result<Seen> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await?;
    stream
        .write_all(b"GET /api/hooks/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        .await?;
    let mut connection = Connection::open(port).await?;
    let mut seen = Seen::default();
    let (pause, reads) = page.reads();
    let mut due: Option<Instant> = None;
    let mut buffer = vec![0; 256 * 1024];
    // The start of a line that ends in the next chunk.
    let mut kept = 0;
    while !over.load(Ordering::Relaxed) {
        let wait = due.map_or(LOOK, |due| due.saturating_duration_since(Instant::now()));
        match timeout(wait.min(LOOK), stream.read(&mut buffer[kept..])).await {
            Err(_) => {}
            Ok(Ok(0)) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(read) => {
                let there = kept + read?;
                let asked = count(&buffer[..there], kept, b"event: asked\n");
                let missed = count(&buffer[..there], kept, b"event: missed\n");
                seen.events += asked;
                seen.missed += missed;
                kept = there.min(b"event: missed".len());
                buffer.copy_within(there - kept..there, 0);
                if asked > 0 && !reads.is_empty() {
                    due.get_or_insert_with(|| Instant::now() + pause);
                }
                if missed > 0 {
                    seen = seen.and(read_all(&mut connection, page.reads_anew()).await?);
                    seen = seen.and(read_all(&mut connection, reads).await?);
                }
            }
        }
        if due.is_some_and(|due| due <= Instant::now()) {
            due = None;
            seen = seen.and(read_all(&mut connection, reads).await?);
        }
        // Let the other windows run, however fast the data arrives.
        yield_now().await;
    }
    Ok(seen)
}

async fn read_all(connection: &mut Connection, paths: &[&str]) -> io::Result<Seen> {
    let mut seen = Seen::default();
    for path in paths {
        let began = Instant::now();
        let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n");
        let status = connection.exchange(request.as_bytes()).await?;
        if status != 200 {
            return Err(io::Error::other(format!("{path}: status {status}")));
        }
        seen.reads += 1;
        seen.slowest = seen.slowest.max(began.elapsed());
    }
    Ok(seen)
}

/// Counts the lines equal to `line` that end after `new`.
fn count(bytes: &[u8], new: usize, line: &[u8]) -> usize {
    let ends = (new..bytes.len()).filter(|at| bytes[*at] == b'\n');
    ends.filter(|at| bytes[..=*at].ends_with(line)).count()
}
