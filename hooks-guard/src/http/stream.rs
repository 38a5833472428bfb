//! Stream of an accepted connection, which the list of connections can inspect.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};

/// Stream of a connection. Clones share the socket.
#[derive(Clone, Debug)]
pub(super) enum SocketStream {
    Tcp(Arc<TcpStream>),
    Unix(Arc<UnixStream>),
}

/// Calls a method of either variant.
macro_rules! of {
    ($stream:expr, $inner:ident => $call:expr) => {
        match $stream {
            SocketStream::Tcp($inner) => $call,
            SocketStream::Unix($inner) => $call,
        }
    };
}

impl SocketStream {
    /// Returns `true` if all received bytes were read: then the client, and not this process,
    /// causes the wait.
    pub(super) fn is_drained(&self) -> bool {
        of!(self, stream => rustix::io::ioctl_fionread(stream)).is_ok_and(|bytes| bytes == 0)
    }
}

impl AsyncRead for SocketStream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            ready!(of!(&*self, stream => stream.poll_read_ready(cx)))?;
            let unfilled = buffer.initialize_unfilled();
            match of!(&*self, stream => stream.try_read(unfilled)) {
                Ok(read) => {
                    buffer.advance(read);
                    return Poll::Ready(Ok(()));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }
}

impl AsyncWrite for SocketStream {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(cx, &[IoSlice::new(bytes)])
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        loop {
            ready!(of!(&*self, stream => stream.poll_write_ready(cx)))?;
            match of!(&*self, stream => stream.try_write_vectored(bytes)) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                written => return Poll::Ready(written),
            }
        }
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        let ended =
            of!(&*self, stream => rustix::net::shutdown(stream, rustix::net::Shutdown::Write));
        Poll::Ready(ended.map_err(io::Error::from))
    }
}
