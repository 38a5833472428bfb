//! Lines of a transcript. In: a stream of bytes. Out: its lines, of bounded length.

use std::io::{self, BufRead};

/// Maximum length of a line, in bytes. Longer lines are skipped: they hold pictures, or are no lines.
pub(super) const MAX_LINE_BYTES: usize = 32 << 20;

/// A line of a transcript.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum TranscriptLine<'a> {
    /// A line without its terminator. It need not be UTF-8.
    Text(&'a [u8]),
    /// A line that is too long.
    TooLong,
}

/// Reads lines one after another into one buffer.
#[derive(Debug)]
pub(super) struct LineReader<R> {
    input: R,
    buffer: Vec<u8>,
    max: usize,
}

impl<R: BufRead> LineReader<R> {
    pub(super) fn new(input: R, max: usize) -> Self {
        Self {
            input,
            buffer: Vec::new(),
            max,
        }
    }

    /// Returns the next line, and `None` at the end.
    pub(super) fn next_line(&mut self) -> io::Result<Option<TranscriptLine<'_>>> {
        self.buffer.clear();
        let mut is_too_long = false;
        let mut is_empty = true;
        loop {
            let bytes = match self.input.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                read => read?,
            };
            if bytes.is_empty() {
                break;
            }
            is_empty = false;
            let end = bytes.iter().position(|&byte| byte == b'\n');
            let part = &bytes[..end.unwrap_or(bytes.len())];
            if self.buffer.len() + part.len() > self.max {
                is_too_long = true;
                self.buffer = Vec::new();
            } else if !is_too_long {
                self.buffer.extend_from_slice(part);
            }
            let length = part.len() + usize::from(end.is_some());
            self.input.consume(length);
            if end.is_some() {
                break;
            }
        }
        Ok(match (is_empty, is_too_long) {
            (true, _) => None,
            (_, true) => Some(TranscriptLine::TooLong),
            _ => Some(TranscriptLine::Text(&self.buffer)),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::{LineReader, TranscriptLine};

    #[test]
    fn a_long_line_is_skipped_and_the_following_lines_are_read() {
        let text = b"one\n0123456789\n\ntwo".as_slice();
        for capacity in [1, 2, 3, 100] {
            let input = BufReader::with_capacity(capacity, text);
            let mut lines = LineReader::new(input, 5);
            let mut read = Vec::new();
            while let Some(line) = lines.next_line().expect("a line") {
                read.push(match line {
                    TranscriptLine::Text(text) => String::from_utf8_lossy(text).into_owned(),
                    TranscriptLine::TooLong => "too long".to_owned(),
                });
            }
            assert_eq!(read, ["one", "too long", "", "two"]);
        }
    }
}
