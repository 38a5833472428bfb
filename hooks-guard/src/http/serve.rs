//! The server. Takes a configuration and a state; binds the sockets and serves requests until it is
//! stopped.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, io};

use axum::Router;
use axum::http::{Request, Uri};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use thiserror::Error;
use tokio::net::{TcpListener, TcpSocket, UnixListener};
use tokio::time::{sleep, timeout};
use tower_service::Service;

use super::connections::{ActivityHandle, Connections};
use super::identity::LocalEnd;
use super::limit::{ClientIdentity, Peer};
use super::state::AppState;
use super::stream::SocketStream;
use super::{agent_hook, app, upkeep};
use crate::config::Config;

/// Timeout for receiving the head of a request.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
/// Timeout of a request; a long poll takes at most a minute.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(75);
/// Backlog of connections that wait to be accepted, limited by the system.
const BACKLOG: u32 = 16 * 1024;
/// Time for running requests to finish during a shutdown.
const GRACE_PERIOD: Duration = Duration::from_secs(5);

/// Error returned when the service cannot listen on a socket.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The address is in use or does not belong to this machine.
    #[error("cannot listen on {address}: {source}{}", remedy(.source))]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The Unix socket cannot be created.
    #[error("cannot listen on `{path}`: {source}; check the permissions of its directory, or change `socket`", path = .path.display())]
    Socket {
        /// Path of the socket.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The path of the Unix socket exists and is not a socket.
    #[error("`{path}` is not a socket; move it away, or set `socket` to another path", path = .path.display())]
    NoSocket {
        /// Path of the socket.
        path: PathBuf,
    },
    /// Another process listens on the Unix socket.
    #[error("another process listens on `{path}`; stop it, or set `socket` to another path", path = .path.display())]
    SocketTaken {
        /// Path of the socket.
        path: PathBuf,
    },
}

fn remedy(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::AddrInUse => {
            "; stop the process that listens there, which may be another `hooks-guard serve`, or choose another address with `--listen`"
        }
        _ => "",
    }
}

/// Bound sockets of a service that does not serve requests yet.
#[derive(Debug)]
pub struct Sockets {
    tcp: TcpListener,
    unix: Option<Socket>,
}

impl Sockets {
    /// Binds the configured sockets.
    ///
    /// # Errors
    /// Returns an error if an address is in use or does not belong to this machine.
    pub async fn bind(config: &Config) -> Result<Self, ServeError> {
        let address = config.listen;
        let tcp = listener(address).map_err(|source| ServeError::Listen { address, source })?;
        let unix = match &config.socket {
            Some(path) => Some(listen(path).await?),
            None => None,
        };
        Ok(Self { tcp, unix })
    }

    /// Returns the bound address, including the port if the configuration left it open.
    ///
    /// # Errors
    /// Returns an error if the system does not report the address.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.tcp.local_addr()
    }
}

/// HTTP server of the service.
#[derive(Debug)]
pub struct Server {
    sockets: Sockets,
    state: AppState,
}

/// A Unix socket whose file is deleted with its listener.
#[derive(Debug)]
struct Socket {
    listener: UnixListener,
    path: PathBuf,
}

impl Drop for Socket {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

impl Server {
    /// Creates a server from sockets and a state.
    #[must_use]
    pub fn new(sockets: Sockets, state: AppState) -> Self {
        Self { sockets, state }
    }

    /// Serves requests until `end` completes. Then no more connections are accepted, clients that
    /// wait for an answer of the operator are notified of the shutdown, and running requests have
    /// five seconds to finish.
    pub async fn run(self, end: impl Future<Output = ()>) {
        let Self {
            sockets: Sockets { tcp, unix },
            state,
        } = self;
        let connections = Connections::new(state.inner.config.max_connections);
        let router = app(state.clone());
        let graceful = GracefulShutdown::new();
        let upkeep = tokio::spawn(upkeep::run(state.clone()));
        let mut end = std::pin::pin!(end);
        loop {
            let accepted = tokio::select! {
                accepted = tcp.accept() => accepted.and_then(|(stream, peer)| {
                    let _ = stream.set_nodelay(true);
                    let reached = LocalEnd::new(Some(stream.local_addr()?));
                    Ok((SocketStream::Tcp(stream.into()), Some(peer), reached))
                }),
                accepted = accept(unix.as_ref()) => {
                    accepted.map(|stream| (SocketStream::Unix(stream.into()), None, LocalEnd::new(None)))
                }
                () = &mut end => break,
            };
            let (stream, peer, reached) = match accepted {
                Ok(accepted) => accepted,
                // Most likely there are no file descriptors left. Closing a connection frees one;
                // others become free as requests end.
                Err(error) => {
                    let pause = match connections.close_one() {
                        true => Duration::from_millis(1),
                        false => {
                            tracing::warn!(%error, "cannot accept a connection");
                            Duration::from_millis(100)
                        }
                    };
                    sleep(pause).await;
                    continue;
                }
            };
            tokio::select! {
                () = connections.room() => {}
                () = &mut end => break,
            }
            let connection = connections.add(ClientIdentity::of(peer), stream.clone());
            let of_connection = connection.state();
            let run = serve(
                &router,
                &graceful,
                stream,
                (peer, reached),
                of_connection,
                state.clone(),
            );
            connections.spawn(connection, run);
        }
        drop((tcp, unix));
        tracing::info!("shutting down");
        state.inner.ending.begin();
        if timeout(GRACE_PERIOD, graceful.shutdown()).await.is_err() {
            tracing::warn!("cut off running requests");
        }
        upkeep.abort();
    }
}

async fn accept(socket: Option<&Socket>) -> io::Result<tokio::net::UnixStream> {
    match socket {
        Some(socket) => socket.listener.accept().await.map(|(stream, _)| stream),
        None => std::future::pending().await,
    }
}

fn serve(
    router: &Router,
    graceful: &GracefulShutdown,
    stream: SocketStream,
    (peer, reached): (Option<SocketAddr>, LocalEnd),
    state: ActivityHandle,
    service: AppState,
) -> impl Future<Output = ()> + Send + 'static {
    let router = router.clone();
    let service = service_fn(move |request: Request<Incoming>| {
        let mut router = router.clone();
        let mut state = state.clone();
        if service.is_operator(request.headers()) {
            state.keep();
        }
        if may_be_long_lived(request.uri()) {
            state = state.long_lived();
        }
        let limit = time_limit(request.uri());
        let mut request = request.map(|body| state.request(body));
        request.extensions_mut().insert(Peer(peer));
        request.extensions_mut().insert(reached.clone());
        async move {
            let answer = timeout(limit, router.call(request));
            // A request that exceeds its timeout gets no response.
            answer.await.map(|answer| match answer {
                Ok(answer) => answer.map(|body| state.response(body)),
                Err(never) => match never {},
            })
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        // A client may shut down its sending side before it reads.
        .half_close(true)
        .max_buf_size(64 * 1024)
        .serve_connection(TokioIo::new(stream), service);
    let watched = graceful.watch(connection);
    async move {
        if let Err(error) = watched.await {
            tracing::debug!(%error, "a connection ended early");
        }
    }
}

/// Returns `true` if a request may run without a time limit: a stream or a long poll.
fn may_be_long_lived(uri: &Uri) -> bool {
    match uri.path() {
        "/api/hooks/events" | "/api/hooks/export" => true,
        path => path.starts_with("/api/hooks/decisions/") && uri.query().is_some(),
    }
}

/// Returns the timeout of a request. The hook of an agent may wait for the operator and has a
/// separate deadline.
fn time_limit(uri: &Uri) -> Duration {
    match uri.path().starts_with(agent_hook::PATH) {
        true => agent_hook::MAX_DURATION,
        false => REQUEST_TIMEOUT,
    }
}

/// Binds an address, with a large backlog.
fn listener(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    // Ignore leftovers of earlier connections.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Listens on a Unix socket that only this user can access.
async fn listen(path: &Path) -> Result<Socket, ServeError> {
    let failed = |source| ServeError::Socket {
        path: path.to_owned(),
        source,
    };
    if let Ok(file) = path.symlink_metadata()
        && !std::os::unix::fs::FileTypeExt::is_socket(&file.file_type())
    {
        let path = path.to_owned();
        return Err(ServeError::NoSocket { path });
    }
    match tokio::net::UnixStream::connect(path).await {
        Ok(_) => {
            return Err(ServeError::SocketTaken {
                path: path.to_owned(),
            });
        }
        // Left behind by a process that was killed.
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            fs::remove_file(path).map_err(failed)?;
        }
        Err(_) => {}
    }
    // Create the socket in a private folder with restricted permissions, then move it into place.
    let directory = path.parent().unwrap_or(Path::new("."));
    let private = directory.join(format!(".hooks-guard-{}", crate::random::random::<6>()));
    {
        use std::os::unix::fs::DirBuilderExt;
        let mut builder = fs::DirBuilder::new();
        builder.mode(0o700).create(&private).map_err(failed)?;
    }
    let made = private.join("socket");
    let listener = UnixListener::bind(&made).and_then(|listener| {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(&made, fs::Permissions::from_mode(0o600))?;
        fs::rename(&made, path)?;
        Ok(listener)
    });
    let _ = fs::remove_dir_all(&private);
    Ok(Socket {
        listener: listener.map_err(failed)?,
        path: path.to_owned(),
    })
}
