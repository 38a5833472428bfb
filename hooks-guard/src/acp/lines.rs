//! Reads and writes lines between the client and the agent. In: byte streams. Out: whole lines of
//! limited length, and a queue of lines for a writer.

use std::io;

use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;

/// Maximum length of a line in bytes. The longest messages contain images and files.
pub(super) const MAX_LINE_BYTES: usize = 32 << 20;

/// A line, or what is there instead.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// A line with its line break.
    Whole(Vec<u8>),
    /// A line longer than the limit; it was skipped.
    TooLong,
    /// The stream ended inside a line.
    Unfinished,
    /// The stream ended.
    End,
}

/// Reads a line of at most `limit` bytes. A longer line is skipped without being stored.
pub(super) async fn read_line(
    from: &mut (impl AsyncBufRead + Unpin),
    limit: usize,
) -> io::Result<Line> {
    let mut line = Vec::new();
    let mut is_long = false;
    loop {
        let read = from.fill_buf().await?;
        if read.is_empty() {
            return Ok(match line.is_empty() && !is_long {
                true => Line::End,
                false => Line::Unfinished,
            });
        }
        let end = read.iter().position(|byte| *byte == b'\n');
        let length = end.map_or(read.len(), |end| end + 1);
        is_long |= line.len() + length > limit;
        match is_long {
            true => line = Vec::new(),
            false => line.extend_from_slice(&read[..length]),
        }
        from.consume(length);
        if end.is_some() {
            return Ok(match is_long {
                true => Line::TooLong,
                false => Line::Whole(line),
            });
        }
    }
}

/// Maximum number of replies of the proxy that wait for their receiver to read.
const MAX_REPLIES: usize = 256;

/// Queue of a writer. Lines of the other side wait in a queue of one, so that a slow receiver slows
/// the sender; replies of the proxy have a queue that does not wait for those lines.
#[derive(Clone, Debug)]
pub(super) struct Outbox {
    passed: mpsc::Sender<Outgoing>,
    replies: mpsc::Sender<Vec<u8>>,
}

#[derive(Debug)]
enum Outgoing {
    Line(Vec<u8>),
    Close,
}

impl Outbox {
    /// Sends a line of the other side. Returns `false` if the receiver is gone.
    pub(super) async fn pass(&self, line: Vec<u8>) -> bool {
        self.passed.send(Outgoing::Line(line)).await.is_ok()
    }

    /// Sends a reply of the proxy. Returns `false` if the receiver is gone.
    pub(super) async fn reply(&self, line: Vec<u8>) -> bool {
        self.replies.send(line).await.is_ok()
    }

    /// Closes the stream after the lines that were sent before.
    pub(super) async fn close(&self) {
        // The writer has ended if the receiver is gone.
        let _ = self.passed.send(Outgoing::Close).await;
    }
}

/// Writes the lines of a queue to `to` until the queue is closed or the receiver is gone.
pub(super) struct LineWriter<W> {
    to: W,
    passed: mpsc::Receiver<Outgoing>,
    replies: mpsc::Receiver<Vec<u8>>,
}

/// Creates a queue and its writer.
pub(super) fn outbox<W: AsyncWrite + Unpin>(to: W) -> (Outbox, LineWriter<W>) {
    let (passed, passed_lines) = mpsc::channel(1);
    let (replies, reply_lines) = mpsc::channel(MAX_REPLIES);
    let writer = LineWriter {
        to,
        passed: passed_lines,
        replies: reply_lines,
    };
    (Outbox { passed, replies }, writer)
}

impl<W: AsyncWrite + Unpin> LineWriter<W> {
    /// Writes until the end.
    ///
    /// # Errors
    /// If the receiver is gone.
    pub(super) async fn run(mut self) -> io::Result<()> {
        loop {
            tokio::select! {
                biased;
                Some(line) = self.replies.recv() => self.to.write_all(&line).await?,
                passed = self.passed.recv() => match passed {
                    Some(Outgoing::Line(line)) => self.to.write_all(&line).await?,
                    Some(Outgoing::Close) | None => break,
                },
            }
            self.to.flush().await?;
        }
        while let Ok(line) = self.replies.try_recv() {
            self.to.write_all(&line).await?;
        }
        self.to.flush().await?;
        self.to.shutdown().await
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::BufReader;

    use super::{Line, outbox, read_line};

    #[tokio::test]
    async fn lines_have_a_limit_and_an_end() {
        let text = b"one\n\r\nlonger than the limit\nfour\nunfinished";
        for capacity in [1, 3, 100] {
            let mut from = BufReader::with_capacity(capacity, &text[..]);
            let mut next = async || read_line(&mut from, 10).await.expect("it reads");
            assert_eq!(next().await, Line::Whole(b"one\n".to_vec()));
            assert_eq!(next().await, Line::Whole(b"\r\n".to_vec()));
            assert_eq!(next().await, Line::TooLong);
            assert_eq!(next().await, Line::Whole(b"four\n".to_vec()));
            assert_eq!(next().await, Line::Unfinished);
            assert_eq!(next().await, Line::End);
        }
    }

    #[tokio::test]
    async fn lines_are_written_before_the_end() {
        let mut written = Vec::new();
        let (queue, writer) = outbox(&mut written);
        let sends = async {
            assert!(queue.pass(b"1\n".to_vec()).await);
            assert!(queue.reply(b"2\n".to_vec()).await);
            queue.close().await;
        };
        let (_, done) = tokio::join!(sends, writer.run());
        done.expect("it writes");
        assert!(written == b"1\n2\n" || written == b"2\n1\n", "{written:?}");
    }
}
