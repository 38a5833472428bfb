//! Server-sent events, from bytes in pieces of any size.

use std::mem;

/// One event.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SseEvent {
    /// Its type; `message` by default.
    pub event: String,
    /// Its data; lines of it are separated by `\n`.
    pub data: String,
    /// Its id, if it has one.
    pub id: Option<String>,
}

/// Parses events from bytes, in pieces of any size.
///
/// Lines end with `\n`, `\r\n` or `\r`. Comments, retry times, and a byte order mark at the
/// beginning are skipped. Invalid UTF-8 becomes `U+FFFD`. An incomplete event at the end of the
/// bytes is dropped.
///
/// ```
/// use hooks_runtime::model::provider::SseParser;
///
/// let mut parser = SseParser::new();
/// let mut events = parser.push(b"event: ping\ndata: {\"a\":").unwrap();
/// assert!(events.is_empty());
/// events = parser.push(b"1}\n\n").unwrap();
/// assert_eq!((&*events[0].event, &*events[0].data), ("ping", "{\"a\":1}"));
/// ```
#[derive(Debug)]
pub struct SseParser {
    line: Vec<u8>,
    event: String,
    data: String,
    id: Option<String>,
    has_data: bool,
    is_first_line: bool,
    after_cr: bool,
    limit: usize,
}

/// A line or an event is longer than the limit of the parser.
#[derive(Debug, thiserror::Error)]
#[error("an event has more than {limit} bytes; a longer one is let in by `SseParser::with_limit`")]
#[non_exhaustive]
pub struct SseTooLong {
    /// The limit, in bytes.
    pub limit: usize,
}

impl Default for SseParser {
    fn default() -> Self {
        SseParser::new()
    }
}

impl SseParser {
    /// Creates a parser for events of at most 8 MiB.
    pub fn new() -> Self {
        SseParser::with_limit(8 << 20)
    }

    /// Creates a parser for events of at most this many bytes.
    pub fn with_limit(limit: usize) -> Self {
        SseParser {
            line: Vec::new(),
            event: String::new(),
            data: String::new(),
            id: None,
            has_data: false,
            is_first_line: true,
            after_cr: false,
            limit,
        }
    }

    /// Reads more bytes, and returns the events that they complete.
    ///
    /// # Errors
    /// If a line or an event is longer than the limit. The parser cannot be used afterwards.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Vec<SseEvent>, SseTooLong> {
        let mut events = Vec::new();
        let mut rest = bytes;
        while let Some(first) = rest.first() {
            // The second half of a line ending, possibly in another piece.
            if mem::take(&mut self.after_cr) && *first == b'\n' {
                rest = &rest[1..];
                continue;
            }
            let Some(end) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
                self.take(rest)?;
                break;
            };
            self.take(&rest[..end])?;
            self.after_cr = rest[end] == b'\r';
            rest = &rest[end + 1..];
            events.extend(self.end_line());
        }
        Ok(events)
    }

    fn take(&mut self, bytes: &[u8]) -> Result<(), SseTooLong> {
        self.line.extend_from_slice(bytes);
        if self.line.len() + self.data.len() > self.limit {
            return Err(SseTooLong { limit: self.limit });
        }
        Ok(())
    }

    fn end_line(&mut self) -> Option<SseEvent> {
        let bytes = mem::take(&mut self.line);
        let line = String::from_utf8_lossy(&bytes);
        let mut line = &*line;
        if mem::take(&mut self.is_first_line) {
            line = line.strip_prefix('\u{feff}').unwrap_or(line);
        }
        if line.is_empty() {
            return self.end_event();
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.event),
            "id" => self.id = Some(value.to_owned()),
            "data" => {
                if mem::replace(&mut self.has_data, true) {
                    self.data.push('\n');
                }
                self.data.push_str(value);
            }
            _ => {}
        }
        None
    }

    fn end_event(&mut self) -> Option<SseEvent> {
        let event = mem::take(&mut self.event);
        let data = mem::take(&mut self.data);
        let id = self.id.take();
        mem::take(&mut self.has_data).then(|| SseEvent {
            event: match event.is_empty() {
                true => "message".to_owned(),
                false => event,
            },
            data,
            id,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::SseParser;

    fn parse(pieces: &[&[u8]]) -> Vec<(String, String)> {
        let mut parser = SseParser::new();
        let mut events = Vec::new();
        for piece in pieces {
            events.extend(parser.push(piece).unwrap());
        }
        events
            .into_iter()
            .map(|event| (event.event, event.data))
            .collect()
    }

    fn message(data: &str) -> (String, String) {
        ("message".to_owned(), data.to_owned())
    }

    #[test]
    fn t_75_lines_end_with_lf_crlf_or_cr() {
        for text in [
            "data: a\n\ndata: b\n\n",
            "data: a\r\n\r\ndata: b\r\n\r\n",
            "data: a\r\rdata: b\r\r",
        ] {
            assert_eq!(
                parse(&[text.as_bytes()]),
                [message("a"), message("b")],
                "{text:?}"
            );
        }
    }

    #[test]
    fn t_75_a_line_ending_may_be_split_between_chunks() {
        assert_eq!(
            parse(&[b"data: a\r", b"\n", b"\r", b"\ndata: b\r\n\r", b"\n"]),
            [message("a"), message("b")]
        );
    }

    #[test]
    fn t_75_a_character_may_be_split_between_chunks() {
        assert_eq!(parse(&[b"data: \xc3", b"\xa4\n\n"]), [message("\u{e4}")]);
    }

    #[test]
    fn an_id_belongs_to_its_event_only() {
        let text = b"id: 7\ndata: a\n\ndata: b\n\nid: 8\n\ndata: c\n\n";
        let events = SseParser::new().push(text).unwrap();
        let ids: Vec<_> = events.iter().map(|event| event.id.as_deref()).collect();
        assert_eq!(ids, [Some("7"), None, None]);
    }

    #[test]
    fn t_75_comments_and_unknown_fields_are_ignored() {
        let text = "\u{feff}: hello\nid: 7\nretry: 10\nother\nevent: x\ndata\ndata:  two\n\nevent: lost\n\n:\n\ndata: no end\n";
        assert_eq!(
            parse(&[text.as_bytes()]),
            [("x".to_owned(), "\n two".to_owned())]
        );
    }

    #[test]
    fn t_75_a_byte_order_mark_is_skipped_only_at_the_start() {
        let text = "\u{feff}data: a\n\n\u{feff}data: b\n\n";
        assert_eq!(parse(&[text.as_bytes()]), [message("a")]);
    }

    #[test]
    fn t_75_an_event_over_the_size_limit_is_an_error() {
        let mut parser = SseParser::with_limit(20);
        parser.push(b"data: 0123456789\n").unwrap();
        assert!(parser.push(b"data: 01234").is_err());
        let mut parser = SseParser::with_limit(20);
        for _ in 0..9 {
            parser.push(b"data: 0123456789\n\n").unwrap();
        }
    }
}
