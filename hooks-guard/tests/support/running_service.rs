//! A service that runs beside the program under test, and its operator.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

const TOKEN: &str = "a token that cannot be guessed";

/// A running service; ends with the test.
pub(crate) struct Service {
    pub(crate) child: Child,
    pub(crate) port: u16,
}

impl Service {
    /// Starts `serve` at an address of this machine, with the operator's token in a folder.
    pub(crate) fn spawn(
        mut command: Command,
        folder: &Path,
        address: &str,
        options: &[&str],
    ) -> Self {
        let token = folder.join("token");
        std::fs::write(&token, TOKEN).expect("a file");
        let mut child = command
            .args(["serve", "--listen", address, "--token-file"])
            .arg(&token)
            .args(options)
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut line = String::new();
        let stderr = child.stderr.take().expect("a pipe");
        let mut stderr = BufReader::new(stderr);
        stderr.read_line(&mut line).expect("the address is printed");
        let port = line.trim().rsplit(':').next().expect("a port");
        let port = port.parse().unwrap_or_else(|_| panic!("a port in {line}"));
        std::thread::spawn(move || std::io::copy(&mut stderr, &mut std::io::sink()));
        Self { child, port }
    }

    /// Sends a request with the operator's token, like a client without the key; returns the body
    /// of the response.
    pub(crate) fn send(&self, method: &str, path: &str, body: &Value) -> Value {
        let body = body.to_string();
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("it listens");
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
             Authorization: Bearer {TOKEN}\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        let (_, body) = answer.split_once("\r\n\r\n").expect("a body");
        serde_json::from_str(body).unwrap_or_else(|_| panic!("an object in {answer}"))
    }

    /// Returns the pending questions.
    pub(crate) fn questions(&self) -> Vec<Value> {
        let waiting = self.send("GET", "/api/hooks/pending", &Value::Null);
        waiting["pending"].as_array().cloned().unwrap_or_default()
    }

    /// Waits for a question, and returns the first one.
    pub(crate) fn wait_for_question(&self) -> Value {
        let until = Instant::now() + crate::WAIT;
        loop {
            if let Some(question) = self.questions().into_iter().next() {
                return question;
            }
            assert!(Instant::now() < until, "nothing was asked");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Answers the first question, and returns it.
    pub(crate) fn answer(&self, response: &str) -> Value {
        self.answer_with(response, &json!({}))
    }

    /// Answers the first question, with more fields in the answer, and returns the question.
    pub(crate) fn answer_with(&self, response: &str, more: &Value) -> Value {
        let question = self.wait_for_question();
        let mut answer = json!({"id": question["id"], "response": response});
        let more = more.as_object().expect("an object").clone();
        answer.as_object_mut().expect("an object").extend(more);
        let record = self.send("POST", "/api/hooks/permission-response", &answer);
        assert_eq!(record["user_response"], response, "{record}");
        question
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
