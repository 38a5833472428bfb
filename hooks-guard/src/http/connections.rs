//! The open connections. Takes accepted connections and their activity; selects the connection to
//! close if there is no room for another.
//!
//! A connection that waits for its client occupies a place: for the rest of a request, or for the
//! next one. With a limit alone, slow clients could occupy all places until their deadlines, and an
//! honest client would have to wait that long to be accepted. Therefore every connection is
//! accepted, and if the limit is reached, the oldest waiting connection is closed. A client that
//! sends its request at once is served before its connection is closed. Streams and long polls,
//! which their clients resume, are closed after all waiting connections. A connection on which the
//! operator has sent a request is never closed for another.

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

use super::limit::ClientIdentity;
use super::stream::SocketStream;

/// Minimum running time of a request before its connection may be closed for another; decisions
/// take less.
const MIN_RUNNING: Duration = Duration::from_secs(8);

/// Minimum age of a stream or long poll before its connection may be closed for another. If they
/// occupy all places, another client is accepted within about a second.
const MIN_LONG_LIVED: Duration = Duration::from_secs(1);

/// Minimum waiting time of a connection before it may be closed for another. Many honest clients
/// may connect at once, and on a busy machine their requests arrive a moment later. Of 5000 clients
/// that reconnect continuously, each is accepted within about half a second.
const MIN_WAITING: Duration = Duration::from_millis(100);

/// Polling interval for a connection that may be closed.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Number of file descriptors reserved for everything except connections: the trail, rules,
/// scripts.
const RESERVED_FILES: u64 = 96;

/// Minimum of the limit, however few files the process may open.
const MIN_CONNECTIONS: usize = 16;

/// The open connections of a server.
#[derive(Debug)]
pub(super) struct Connections {
    max: usize,
    open: Mutex<OpenConnections>,
    freed: Notify,
}

#[derive(Debug, Default)]
struct OpenConnections {
    last: u64,
    /// Number of open sockets: the connections in `all`, and those that are being closed.
    alive: usize,
    all: HashMap<u64, ConnectionRecord>,
    /// Connections that wait for their client.
    waiting: ByClient,
    /// Connections with a complete request.
    running: ByClient,
    /// Connections with a stream or long poll.
    lasting: ByClient,
}

/// Activity of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Activity {
    /// Waits for its client.
    Waits,
    /// Runs a request.
    Runs,
    /// Runs a stream or long poll.
    Lasts,
}

#[derive(Debug)]
struct ConnectionRecord {
    client: ClientIdentity,
    since: Instant,
    activity: Activity,
    /// If `true`, the operator has sent a request on the connection.
    is_operators: bool,
    stream: SocketStream,
    /// `true` while the task of the connection is being polled.
    is_polled: Arc<AtomicBool>,
    /// `None` until the task of the connection is started.
    task: Option<AbortHandle>,
}

impl ConnectionRecord {
    /// Returns `true` if the client, and not this process, causes the wait: all received bytes were
    /// read and do not complete a request. The order of the checks matters: a task that is being
    /// polled may have read a request and not recorded it yet.
    fn is_late(&self) -> bool {
        self.stream.is_drained() && !self.is_polled.load(Ordering::SeqCst)
    }
}

/// Connections by client, each with the start of its activity.
#[derive(Debug, Default)]
struct ByClient(HashMap<ClientIdentity, BTreeSet<(Instant, u64)>>);

impl ByClient {
    fn insert(&mut self, client: ClientIdentity, since: Instant, id: u64) {
        self.0.entry(client).or_default().insert((since, id));
    }

    fn remove(&mut self, client: ClientIdentity, since: Instant, id: u64) {
        if let Some(of_client) = self.0.get_mut(&client) {
            of_client.remove(&(since, id));
            if of_client.is_empty() {
                self.0.remove(&client);
            }
        }
    }

    /// Returns the connections of at least this age, oldest first, of the client with the most
    /// connections.
    fn oldest_of_largest(&self, age: Duration) -> impl Iterator<Item = u64> {
        let most = self.0.values().max_by_key(|of_client| of_client.len());
        let connections = most.into_iter().flatten();
        connections
            .take_while(move |(since, _)| since.elapsed() >= age)
            .map(|(_, id)| *id)
    }
}

impl OpenConnections {
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
        // A connection in none of the lists is never closed for another.
        if !is_operators {
            self.list(activity).insert(client, now, id);
        }
    }

    fn remove(&mut self, id: u64) -> Option<ConnectionRecord> {
        let slot = self.all.remove(&id)?;
        self.list(slot.activity).remove(slot.client, slot.since, id);
        Some(slot)
    }
}

impl Connections {
    /// Creates a list with a maximum number of connections, lowered if the process may not open as
    /// many files.
    pub(super) fn new(max: usize) -> Arc<Self> {
        let files = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
        let fit = files.map(|files| files.saturating_sub(RESERVED_FILES));
        let fit = fit.and_then(|fit| usize::try_from(fit).ok());
        Arc::new(Self {
            max: fit.map_or(max, |fit| max.min(fit.max(MIN_CONNECTIONS))),
            open: Mutex::default(),
            freed: Notify::new(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, OpenConnections> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until there is room for another connection, and closes others for it. If all
    /// connections are too young, waits until one ends or is old enough.
    pub(super) async fn room(&self) {
        loop {
            let (alive, listed) = {
                let open = self.lock();
                (open.alive, open.all.len())
            };
            if alive < self.max {
                return;
            }
            // A closed connection stays alive until its task is dropped.
            if listed >= self.max {
                self.close_one();
            }
            let _ = timeout(POLL_INTERVAL, self.freed.notified()).await;
        }
    }

    /// Closes the connection that is least needed. Returns `false` if none may be closed. The
    /// socket may stay open for a moment.
    pub(super) fn close_one(&self) -> bool {
        let mut open = self.lock();
        let is_late = |id: &u64| open.all.get(id).is_some_and(ConnectionRecord::is_late);
        let waiting = open.waiting.oldest_of_largest(MIN_WAITING).find(is_late);
        let found = waiting
            .or_else(|| open.lasting.oldest_of_largest(MIN_LONG_LIVED).next())
            .or_else(|| open.running.oldest_of_largest(MIN_RUNNING).next());
        let Some(id) = found else {
            return false;
        };
        if let Some(task) = open.remove(id).and_then(|slot| slot.task) {
            task.abort();
        }
        tracing::debug!("closed a connection to make room for another");
        true
    }

    /// Adds a connection, which waits for its client.
    pub(super) fn add(
        self: &Arc<Self>,
        client: ClientIdentity,
        stream: SocketStream,
    ) -> ConnectionGuard {
        let mut open = self.lock();
        open.last += 1;
        open.alive += 1;
        let id = open.last;
        let since = Instant::now();
        let slot = ConnectionRecord {
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
        ConnectionGuard {
            connections: Arc::clone(self),
            id,
        }
    }

    /// Spawns the task of a connection, which can be aborted to close it.
    pub(super) fn spawn(
        &self,
        connection: ConnectionGuard,
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

/// Guard of an open connection; removes the connection from the list when dropped.
#[derive(Debug)]
pub(super) struct ConnectionGuard {
    connections: Arc<Connections>,
    id: u64,
}

impl Drop for ConnectionGuard {
    fn drop(&mut self) {
        let mut open = self.connections.lock();
        open.remove(self.id);
        open.alive -= 1;
        drop(open);
        self.connections.freed.notify_one();
    }
}

impl ConnectionGuard {
    /// Returns a handle that updates the activity of the connection.
    pub(super) fn state(&self) -> ActivityHandle {
        ActivityHandle {
            connections: Arc::clone(&self.connections),
            id: self.id,
            running: Activity::Runs,
        }
    }
}

/// Handle that updates the activity of a connection.
#[derive(Clone, Debug)]
pub(super) struct ActivityHandle {
    connections: Arc<Connections>,
    id: u64,
    /// Activity while a request runs.
    running: Activity,
}

impl ActivityHandle {
    fn put(&self, activity: Activity) {
        self.connections.lock().put(self.id, activity);
    }

    /// Marks the request as a stream or long poll.
    pub(super) fn long_lived(mut self) -> Self {
        self.running = Activity::Lasts;
        self
    }

    /// Protects the connection from being closed for others, because the operator uses it.
    pub(super) fn keep(&self) {
        let mut open = self.connections.lock();
        if let Some(slot) = open.all.get_mut(&self.id) {
            slot.is_operators = true;
            let activity = slot.activity;
            open.put(self.id, activity);
        }
    }

    /// Wraps the body of a request. The request counts as running when its body ends.
    pub(super) fn request(&self, body: Incoming) -> Body {
        if body.is_end_stream() {
            self.put(self.running);
            return Body::new(body);
        }
        Body::new(TrackedRequestBody {
            body,
            state: self.clone(),
        })
    }

    /// Wraps the body of a response. The connection waits for the next request when the body ends.
    pub(super) fn response(&self, body: Body) -> Body {
        self.put(self.running);
        Body::new(TrackedResponseBody {
            body,
            state: self.clone(),
        })
    }
}

struct TrackedRequestBody {
    body: Incoming,
    state: ActivityHandle,
}

impl HttpBody for TrackedRequestBody {
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

struct TrackedResponseBody {
    body: Body,
    state: ActivityHandle,
}

impl Drop for TrackedResponseBody {
    fn drop(&mut self) {
        self.state.put(Activity::Waits);
    }
}

impl HttpBody for TrackedResponseBody {
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
