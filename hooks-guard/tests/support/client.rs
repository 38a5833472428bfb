//! HTTP/1.1 by hand, so that tests can send malformed requests.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

/// Timeout after which a test treats the daemon as stuck.
const PATIENCE: Duration = Duration::from_secs(120);

/// A response.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut found = self
            .headers
            .iter()
            .filter(|(key, _)| key.eq_ignore_ascii_case(name));
        found.next().map(|(_, value)| value.as_str())
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        match serde_json::from_slice(&self.body) {
            Ok(value) => value,
            Err(error) => panic!("{error} in {} {:?}", self.status, self.text()),
        }
    }

    /// Returns the body of a successful response.
    #[track_caller]
    pub(crate) fn ok(&self) -> Value {
        assert_eq!(self.status, 200, "{}", self.text());
        let kind = self.header("content-type").unwrap_or_default();
        assert!(kind.starts_with("application/json"), "{kind}");
        self.json()
    }

    /// Returns the body of an error response with this status and code, in the form of P-44.
    #[track_caller]
    pub(crate) fn error(&self, status: u16, code: &str) -> Value {
        let body = self.refusal(status);
        assert_eq!(body["code"], code, "{body}");
        body
    }

    /// Returns the body of an error response with this status and any code.
    #[track_caller]
    pub(crate) fn refusal(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.text());
        let kind = self.header("content-type").unwrap_or_default();
        assert!(
            kind.starts_with("application/json"),
            "an error of type {kind:?}: {}",
            self.text()
        );
        let body = self.json();
        super::assert_error_shape(self, &body);
        body
    }
}

/// Stream for requests and responses.
pub(crate) trait Wire: Read + Write {}
impl<T: Read + Write> Wire for T {}

/// A persistent connection.
pub(crate) struct Connection<T: Wire = TcpStream> {
    reader: BufReader<T>,
}

impl Connection<TcpStream> {
    pub(crate) fn open(port: u16) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        Self::over(stream)
    }

    /// Uses an existing connection.
    pub(crate) fn over(stream: TcpStream) -> Self {
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        Self::on(stream)
    }

    pub(crate) fn stream(&self) -> &TcpStream {
        self.reader.get_ref()
    }
}

impl<T: Wire> Connection<T> {
    pub(crate) fn on(stream: T) -> Self {
        Self {
            reader: BufReader::new(stream),
        }
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.reader.get_mut().write_all(bytes)?;
        self.reader.get_mut().flush()
    }

    /// Reads the response to a request whose response has a body.
    pub(crate) fn read(&mut self) -> io::Result<Answer> {
        loop {
            let answer = self.read_one()?;
            if answer.status != 100 {
                return Ok(answer);
            }
        }
    }

    fn read_one(&mut self) -> io::Result<Answer> {
        let first = self.line()?;
        let status = first
            .strip_prefix("HTTP/1.")
            .and_then(|rest| rest.get(2..5))
            .and_then(|digits| digits.parse().ok())
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, first.clone()))?;
        let mut headers = Vec::new();
        loop {
            let line = self.line()?;
            if line.is_empty() {
                break;
            }
            let (key, value) = line
                .split_once(':')
                .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, line.clone()))?;
            headers.push((key.to_owned(), value.trim().to_owned()));
        }
        let mut answer = Answer {
            status,
            headers,
            body: Vec::new(),
        };
        if status == 100 || status == 204 {
            return Ok(answer);
        }
        if answer.header("transfer-encoding") == Some("chunked") {
            answer.body = self.chunks()?;
        } else if let Some(length) = answer.header("content-length") {
            let mut body = vec![0; length.parse().map_err(io::Error::other)?];
            self.reader.read_exact(&mut body)?;
            answer.body = body;
        } else {
            self.reader.read_to_end(&mut answer.body)?;
        }
        Ok(answer)
    }

    fn chunks(&mut self) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let size = usize::from_str_radix(self.line()?.trim(), 16).map_err(io::Error::other)?;
            let start = body.len();
            body.resize(start + size, 0);
            self.reader.read_exact(&mut body[start..])?;
            self.line()?;
            if size == 0 {
                return Ok(body);
            }
        }
    }

    /// Reads a line without its end; fails at the end of the stream.
    fn line(&mut self) -> io::Result<String> {
        let mut line = Vec::new();
        self.reader.read_until(b'\n', &mut line)?;
        if line.pop() != Some(b'\n') {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        String::from_utf8(line).map_err(io::Error::other)
    }

    /// Reads until the peer closes; fails after a timeout.
    pub(crate) fn rest(&mut self) -> io::Result<Vec<u8>> {
        let mut rest = Vec::new();
        match self.reader.read_to_end(&mut rest) {
            Ok(_) => Ok(rest),
            // Closed by a reset.
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => Ok(rest),
            Err(error) => Err(error),
        }
    }
}

/// A request on a separate connection.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    method: String,
    target: String,
    host: Option<String>,
    headers: Vec<(String, String)>,
    body: Option<Vec<u8>>,
}

impl Request {
    pub(crate) fn new(method: &str, target: &str) -> Self {
        Self {
            method: method.to_owned(),
            target: target.to_owned(),
            host: None,
            headers: Vec::new(),
            body: None,
        }
    }

    /// Replaces the daemon's address.
    pub(crate) fn host(mut self, host: &str) -> Self {
        self.host = Some(host.to_owned());
        self
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn bearer(self, token: &str) -> Self {
        self.header("Authorization", &format!("Bearer {token}"))
    }

    pub(crate) fn json(self, body: &Value) -> Self {
        self.header("Content-Type", "application/json")
            .body(body.to_string())
    }

    pub(crate) fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = Some(body.into());
        self
    }

    pub(crate) fn bytes(&self, host: &str) -> Vec<u8> {
        let host = self.host.as_deref().unwrap_or(host);
        let mut head = format!(
            "{} {} HTTP/1.1\r\nHost: {host}\r\n",
            self.method, self.target
        );
        for (name, value) in &self.headers {
            head += &format!("{name}: {value}\r\n");
        }
        if let Some(body) = &self.body {
            head += &format!("Content-Length: {}\r\n", body.len());
        }
        let mut bytes = (head + "\r\n").into_bytes();
        bytes.extend(self.body.iter().flatten());
        bytes
    }

    #[track_caller]
    pub(crate) fn send(&self, port: u16) -> Answer {
        match self.try_send(port) {
            Ok(answer) => answer,
            Err(error) => panic!("{} {}: {error}", self.method, self.target),
        }
    }

    pub(crate) fn try_send(&self, port: u16) -> io::Result<Answer> {
        let mut connection = Connection::open(port);
        // A server that refuses a body may close before it has read the body, and still respond.
        let written = connection.write(&self.bytes(&format!("127.0.0.1:{port}")));
        connection.read().map_err(|error| match written {
            Err(first) => first,
            Ok(()) => error,
        })
    }
}
