//! A home directory with the guard's files, and a service with its operator.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

/// Time after which a test treats a question, a message or an end as missing.
pub(crate) const WAIT: Duration = Duration::from_secs(30);

/// A temporary home directory.
pub(crate) struct Home(TempDir);

impl Home {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn config(&self, text: &str) {
        write(&self.config_file(), text);
    }

    pub(crate) fn rules(&self, text: &str) {
        write(&self.rules_file(), text);
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.path().join(".local/share/hooks-guard/audit.db")
    }

    pub(crate) fn config_file(&self) -> PathBuf {
        self.path().join(".config/hooks-guard/config.toml")
    }

    pub(crate) fn rules_file(&self) -> PathBuf {
        self.path().join(".config/hooks-guard/rules.toml")
    }

    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hooks-guard"));
        command.env_clear().env("HOME", self.path());
        command
    }

    /// Returns the trail, newest first.
    pub(crate) fn trail(&self) -> Vec<Value> {
        let output = self
            .command()
            .args(["audit", "export"])
            .output()
            .expect("it runs");
        assert!(output.status.success(), "{output:?}");
        let text = String::from_utf8(output.stdout).expect("text");
        let lines = text.lines().rev();
        lines
            .map(|line| serde_json::from_str(line).expect("an object"))
            .collect()
    }
}

/// Writes a file, and creates its folder.
pub(crate) fn write(file: &Path, text: &str) {
    let folder = file.parent().expect("a folder");
    std::fs::create_dir_all(folder).expect("a folder");
    std::fs::write(file, text).expect("a file");
}

const TOKEN: &str = "a token that cannot be guessed";

/// A running service; ends with the test.
pub(crate) struct Service {
    pub(crate) child: Child,
    pub(crate) port: u16,
}

impl Service {
    /// Starts a service with the files of a home directory, and enters its address in the
    /// configuration.
    pub(crate) fn start(home: &Home) -> Self {
        Self::at(home, "127.0.0.1:0")
    }

    pub(crate) fn at(home: &Home, address: &str) -> Self {
        Self::with(home, address, &[])
    }

    pub(crate) fn with(home: &Home, address: &str, more: &[&str]) -> Self {
        let service = Self::spawn(home, address, more);
        home.config(&format!("listen = '127.0.0.1:{}'", service.port));
        service
    }

    /// Stops the service and starts a new one in its place.
    pub(crate) fn restart(mut self, home: &Home) -> Self {
        let result = Command::new("kill")
            .arg(self.child.id().to_string())
            .status();
        assert!(result.expect("`kill` runs").success());
        assert!(self.child.wait().expect("it ends").success());
        Self::at(home, &format!("127.0.0.1:{}", self.port))
    }

    fn spawn(home: &Home, address: &str, options: &[&str]) -> Self {
        let token = home.path().join("token");
        std::fs::write(&token, TOKEN).expect("a file");
        let mut child = home
            .command()
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
        let until = Instant::now() + WAIT;
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
