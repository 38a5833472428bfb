//! The open connections, and which of them is closed where there is no room for another.
//!
//! A connection that waits for its client keeps a place: for the rest of a request, or for the
//! next one. With a bound alone, slow clients would keep all places for as long as their deadlines
//! last, and an honest client would wait that long to be accepted. So every connection is
//! accepted, and where the bound is reached the oldest one that waits is closed: a client that
//! sends its request at once is answered before its turn comes. Then come streams and long polls,
//! which their clients begin anew. A connection on which the operator has sent a request is never
//! closed for another.

use std::collections::{BTreeSet, HashMap};
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use axum::body::Body;
use hyper::body::{Body as HttpBody, Bytes, Frame, Incoming, SizeHint};
use tokio::sync::Notify;
use tokio::task::AbortHandle;
use tokio::time::timeout;

use super::limit::Client;
use super::stream::Stream;

/// How long a request runs at least before its connection may be closed for another: decisions
/// take less.
const RUNNING: Duration = Duration::from_secs(8);

/// The same for streams and long polls, which last as long as their clients like. With as many of
/// them as there is room for, another client is accepted within about a second.
const LASTING: Duration = Duration::from_secs(1);

/// How long a connection waits for its client at least before it may be closed for another. Many
/// honest clients may come at once, and a busy machine lets their requests come a moment later.
/// Of 5000 clients that connect again and again, each is accepted within about half a second.
const PATIENCE: Duration = Duration::from_millis(100);

/// How often to look for a connection that may be closed by now.
const AGAIN: Duration = Duration::from_millis(20);

/// Open files that are left for everything but connections: the trail, rules, scripts.
const RESERVED_FILES: u64 = 96;

/// The least bound, however few files may be open.
const LEAST: usize = 16;

/// The open connections of a server.
#[derive(Debug)]
pub(super) struct Connections {
    max: usize,
    open: Mutex<Open>,
    freed: Notify,
}

#[derive(Debug, Default)]
struct Open {
    last: u64,
    /// How many have their socket open: those of `all`, and those that are being closed.
    alive: usize,
    all: HashMap<u64, Slot>,
    /// Those that wait for their client.
    waiting: ByClient,
    /// Those with a request that has come whole.
    running: ByClient,
    /// Those of them that stream or wait for something to happen.
    lasting: ByClient,
}

/// What a connection does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Activity {
    /// It waits for its client.
    Waits,
    /// A request runs.
    Runs,
    /// A request runs for as long as the client likes.
    Lasts,
}

#[derive(Debug)]
struct Slot {
    client: Client,
    since: Instant,
    activity: Activity,
    /// Whether the operator has sent a request on it.
    is_operators: bool,
    stream: Stream,
    /// Whether the task of the connection is being polled.
    is_polled: Arc<AtomicBool>,
    /// `None` until the task of the connection was started.
    task: Option<AbortHandle>,
}

impl Slot {
    /// Returns whether it is the client that is late, and not this process: all that has come was
    /// read, and did not make a request. The order matters: a task that is being polled may have
    /// read a request, and not yet said so.
    fn is_late(&self) -> bool {
        self.stream.is_drained() && !self.is_polled.load(Ordering::SeqCst)
    }
}

/// Connections by their client, each with the time since which it is in its state.
#[derive(Debug, Default)]
struct ByClient(HashMap<Client, BTreeSet<(Instant, u64)>>);

impl ByClient {
    fn insert(&mut self, client: Client, since: Instant, id: u64) {
        self.0.entry(client).or_default().insert((since, id));
    }

    fn remove(&mut self, client: Client, since: Instant, id: u64) {
        if let Some(of_client) = self.0.get_mut(&client) {
            of_client.remove(&(since, id));
            if of_client.is_empty() {
                self.0.remove(&client);
            }
        }
    }

    /// The connections of the client that has most of them that are of this age, the oldest first.
    fn old_of_most(&self, age: Duration) -> impl Iterator<Item = u64> {
        let most = self.0.values().max_by_key(|of_client| of_client.len());
        let connections = most.into_iter().flatten();
        connections
            .take_while(move |(since, _)| since.elapsed() >= age)
            .map(|(_, id)| *id)
    }
}

impl Open {
    fn list(&mut self, activity: Activity) -> &mut ByClient {
        match activity {
            Activity::Waits => &mut self.waiting,
            Activity::Runs => &mut self.running,
            Activity::Lasts => &mut self.lasting,
        }
    }

    fn put(&mut self, id: u64, activity: Activity) {
        let Some(slot) = self.all.get_mut(&id) else {
            return;
        };
        let (client, since, was) = (slot.client, slot.since, slot.activity);
        slot.since = Instant::now();
        slot.activity = activity;
        let (now, is_operators) = (slot.since, slot.is_operators);
        self.list(was).remove(client, since, id);
        // What is in no list is closed for no other connection.
        if !is_operators {
            self.list(activity).insert(client, now, id);
        }
    }

    fn remove(&mut self, id: u64) -> Option<Slot> {
        let slot = self.all.remove(&id)?;
        self.list(slot.activity).remove(slot.client, slot.since, id);
        Some(slot)
    }
}

impl Connections {
    /// Room for so many connections, or for fewer if the process may not open as many files.
    pub(super) fn new(max: usize) -> Arc<Self> {
        let files = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
        let fit = files.map(|files| files.saturating_sub(RESERVED_FILES));
        let fit = fit.and_then(|fit| usize::try_from(fit).ok());
        Arc::new(Self {
            max: fit.map_or(max, |fit| max.min(fit.max(LEAST))),
            open: Mutex::default(),
            freed: Notify::new(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until there is room for another connection, for which others are closed. Where
    /// all of them are young, it waits for one of them to end, or to be old enough.
    pub(super) async fn room(&self) {
        loop {
            let (alive, listed) = {
                let open = self.lock();
                (open.alive, open.all.len())
            };
            if alive < self.max {
                return;
            }
            // A connection that was closed is alive until its task is dropped.
            if listed >= self.max {
                self.close_one();
            }
            let _ = timeout(AGAIN, self.freed.notified()).await;
        }
    }

    /// Closes the connection that can best be missed, if there is one. Its file may be open for a
    /// moment longer.
    pub(super) fn close_one(&self) -> bool {
        let mut open = self.lock();
        let is_late = |id: &u64| open.all.get(id).is_some_and(Slot::is_late);
        let waiting = open.waiting.old_of_most(PATIENCE).find(is_late);
        let found = waiting
            .or_else(|| open.lasting.old_of_most(LASTING).next())
            .or_else(|| open.running.old_of_most(RUNNING).next());
        let Some(id) = found else {
            return false;
        };
        if let Some(task) = open.remove(id).and_then(|slot| slot.task) {
            task.abort();
        }
        tracing::debug!("a connection was closed to have room for another");
        true
    }

    /// Adds a connection, which waits for its client.
    pub(super) fn add(self: &Arc<Self>, client: Client, stream: Stream) -> Connection {
        let mut open = self.lock();
        open.last += 1;
        open.alive += 1;
        let id = open.last;
        let since = Instant::now();
        let slot = Slot {
            client,
            since,
            activity: Activity::Waits,
            is_operators: false,
            stream,
            is_polled: Arc::default(),
            task: None,
        };
        open.all.insert(id, slot);
        open.waiting.insert(client, since, id);
        drop(open);
        Connection {
            connections: Arc::clone(self),
            id,
        }
    }

    /// Runs a connection in a task of its own, with which it can be closed.
    pub(super) fn spawn(
        &self,
        connection: Connection,
        run: impl Future<Output = ()> + Send + 'static,
    ) {
        let id = connection.id;
        let is_polled = match self.lock().all.get(&id) {
            Some(slot) => Arc::clone(&slot.is_polled),
            None => return,
        };
        let mut run = Box::pin(run);
        let task = tokio::spawn(async move {
            poll_fn(|cx| {
                is_polled.store(true, Ordering::SeqCst);
                let ended = run.as_mut().poll(cx);
                is_polled.store(false, Ordering::SeqCst);
                ended
            })
            .await;
            drop(connection);
        });
        if let Some(slot) = self.lock().all.get_mut(&id) {
            slot.task = Some(task.abort_handle());
        }
    }
}

/// An open connection; the end of the value is the end of the connection.
#[derive(Debug)]
pub(super) struct Connection {
    connections: Arc<Connections>,
    id: u64,
}

impl Drop for Connection {
    fn drop(&mut self) {
        let mut open = self.connections.lock();
        open.remove(self.id);
        open.alive -= 1;
        drop(open);
        self.connections.freed.notify_one();
    }
}

impl Connection {
    /// Follows what the connection does.
    pub(super) fn state(&self) -> State {
        State {
            connections: Arc::clone(&self.connections),
            id: self.id,
            running: Activity::Runs,
        }
    }
}

/// What a connection does: it waits for its client, or a request runs.
#[derive(Clone, Debug)]
pub(super) struct State {
    connections: Arc<Connections>,
    id: u64,
    /// What it does while the request runs.
    running: Activity,
}

impl State {
    fn put(&self, activity: Activity) {
        self.connections.lock().put(self.id, activity);
    }

    /// For a request that lasts as long as the client likes.
    pub(super) fn lasting(mut self) -> Self {
        self.running = Activity::Lasts;
        self
    }

    /// Keeps the connection from being closed for others: it is the operator's.
    pub(super) fn keep(&self) {
        let mut open = self.connections.lock();
        if let Some(slot) = open.all.get_mut(&self.id) {
            slot.is_operators = true;
            let activity = slot.activity;
            open.put(self.id, activity);
        }
    }

    /// The body of a request, with whose end the request runs.
    pub(super) fn request(&self, body: Incoming) -> Body {
        if body.is_end_stream() {
            self.put(self.running);
            return Body::new(body);
        }
        Body::new(RequestBody {
            body,
            state: self.clone(),
        })
    }

    /// The body of a response, with whose end the connection waits for the next request.
    pub(super) fn response(&self, body: Body) -> Body {
        self.put(self.running);
        Body::new(ResponseBody {
            body,
            state: self.clone(),
        })
    }
}

struct RequestBody {
    body: Incoming,
    state: State,
}

impl HttpBody for RequestBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(cx);
        let ended = matches!(frame, Poll::Ready(None));
        if ended || frame.is_ready() && self.body.is_end_stream() {
            self.state.put(self.state.running);
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

struct ResponseBody {
    body: Body,
    state: State,
}

impl Drop for ResponseBody {
    fn drop(&mut self) {
        self.state.put(Activity::Waits);
    }
}

impl HttpBody for ResponseBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
