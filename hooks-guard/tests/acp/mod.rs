//! Tests `hooks-guard acp` between a client and an agent, which are real processes.
//!
//! The agent is a shell that copies its input and output to FIFOs, so that the test plays both
//! sides.

mod approved;
mod broken;
mod cancel;
mod ends;
mod permission;
mod question;
mod requests;
mod runs;
mod service;
mod streams;

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::home::{Home, Service, WAIT};

/// How long a message must not arrive.
const SILENCE: Duration = Duration::from_millis(400);

impl Home {
    /// Returns the folder of the session, and creates it.
    fn project(&self) -> PathBuf {
        let project = self.path().join("project");
        std::fs::create_dir_all(&project).expect("a folder");
        project
    }

    /// Returns the command of the proxy; the agent's command follows.
    fn acp(&self, options: &[&str]) -> Command {
        let mut command = self.command();
        command.env("PATH", "/usr/bin:/bin");
        command.arg("acp").arg("--config").arg(self.config_file());
        command.arg("--database").arg(self.database());
        command.args(options).arg("--");
        command
    }

    /// Waits until a search in the trail, newest record first, finds a value.
    fn wait_for<T>(&self, search: impl Fn(&[Value]) -> Option<T>) -> T {
        let until = Instant::now() + WAIT;
        loop {
            let trail = self.trail();
            if let Some(found) = search(&trail) {
                return found;
            }
            assert!(Instant::now() < until, "the trail is {trail:?}");
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// Waits until the newest record of the trail passes a test.
    fn wait_for_record(&self, test: impl Fn(&Value) -> bool) -> Value {
        self.wait_for(|trail| trail.first().filter(|record| test(record)).cloned())
    }
}

/// The lines of a stream.
struct Lines(Receiver<Vec<u8>>);

impl Lines {
    fn of(stream: impl Read + Send + 'static) -> Self {
        let (send, receive) = mpsc::channel();
        thread::spawn(move || {
            let mut stream = BufReader::new(stream);
            loop {
                let mut line = Vec::new();
                match stream.read_until(b'\n', &mut line) {
                    Ok(0) | Err(_) => return,
                    Ok(_) if send.send(line).is_err() => return,
                    Ok(_) => {}
                }
            }
        });
        Self(receive)
    }

    fn bytes(&self) -> Vec<u8> {
        self.0.recv_timeout(WAIT).expect("a line")
    }

    fn next(&self) -> Value {
        let line = self.bytes();
        serde_json::from_slice(&line)
            .unwrap_or_else(|_| panic!("JSON in {}", String::from_utf8_lossy(&line)))
    }

    fn is_silent(&self) {
        if let Ok(line) = self.0.recv_timeout(SILENCE) {
            panic!("unexpected: {}", String::from_utf8_lossy(&line));
        }
    }

    fn ends(&self) {
        match self.0.recv_timeout(WAIT) {
            Err(mpsc::RecvTimeoutError::Disconnected) => {}
            other => panic!("not the end: {other:?}"),
        }
    }
}

/// A client and an agent with the proxy between them.
struct Connection {
    home: Home,
    proxy: Child,
    client_writes: Option<ChildStdin>,
    client_reads: Lines,
    agent_writes: Option<File>,
    agent_reads: Lines,
    errors: Lines,
}

impl Connection {
    fn new() -> Self {
        Self::with(Home::new(), &[])
    }

    fn with(home: Home, options: &[&str]) -> Self {
        let [to_agent, from_agent] = ["to_agent", "from_agent"].map(|name| home.path().join(name));
        for fifo in [&to_agent, &from_agent] {
            let made = Command::new("mkfifo").arg(fifo).status();
            assert!(made.expect("it runs").success());
        }
        let script = r#"cat "$2" & exec > /dev/null; cat > "$1"; wait; exit 7"#;
        let mut command = home.acp(options);
        command.args(["sh", "-c", script, "agent"]);
        command.arg(&to_agent).arg(&from_agent);
        let mut proxy = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        let client_reads = Lines::of(proxy.stdout.take().expect("a pipe"));
        let errors = Lines::of(proxy.stderr.take().expect("a pipe"));
        let client_writes = proxy.stdin.take();
        // Opening a FIFO waits for its other end.
        let agent_reads = Lines::of(File::open(&to_agent).expect("a FIFO"));
        let agent_writes = File::create(&from_agent).expect("a FIFO");
        Self {
            home,
            proxy,
            client_writes,
            client_reads,
            agent_writes: Some(agent_writes),
            agent_reads,
            errors,
        }
    }

    /// Sends a line as the agent.
    fn agent_bytes(&mut self, line: &[u8]) {
        let agent = self.agent_writes.as_mut().expect("it is open");
        agent.write_all(line).expect("the proxy reads");
    }

    fn agent(&mut self, message: &Value) {
        self.agent_bytes(format!("{message}\n").as_bytes());
    }

    /// Sends a line as the client.
    fn client_bytes(&mut self, line: &[u8]) {
        let client = self.client_writes.as_mut().expect("it is open");
        client.write_all(line).expect("the proxy reads");
    }

    fn client(&mut self, message: &Value) {
        self.client_bytes(format!("{message}\n").as_bytes());
    }

    /// Creates the session `s` in the project, in a protocol version.
    fn start_session(&mut self, version: u64) {
        self.start_session_with("fake-agent", version);
    }

    /// Creates the session `s` with the agent of this name.
    fn start_session_with(&mut self, agent: &str, version: u64) {
        let cwd = self.home.project();
        let initialize =
            json!({"protocolVersion": version, "clientCapabilities": {"terminal": true}});
        self.client(&request(0, "initialize", &initialize));
        self.agent_reads.next();
        let info = json!({"name": agent, "version": "1"});
        let mut result = json!({"protocolVersion": version});
        result[if version == 2 { "info" } else { "agentInfo" }] = info;
        self.agent(&json!({"jsonrpc": "2.0", "id": 0, "result": result}));
        self.client_reads.next();
        let new = json!({"cwd": cwd, "mcpServers": []});
        self.client(&request(1, "session/new", &new));
        self.agent_reads.next();
        self.agent(&json!({"jsonrpc": "2.0", "id": 1, "result": {"sessionId": "s"}}));
        self.client_reads.next();
    }

    /// Sends a request of the agent, and checks that the client gets it byte for byte.
    fn passes(&mut self, message: &Value) {
        let line = format!("{message}\n").into_bytes();
        self.agent_bytes(&line);
        assert_eq!(self.client_reads.bytes(), line);
    }

    /// Sends a request of the agent, and returns the reply that the agent gets in the client's
    /// place.
    fn is_answered(&mut self, message: &Value) -> Value {
        self.agent(message);
        let reply = self.agent_reads.next();
        self.client_reads.is_silent();
        reply
    }

    /// Closes the client's output, and returns the exit status of the proxy.
    fn close(mut self) -> (ExitStatus, Home) {
        self.client_writes.take();
        self.agent_reads.ends();
        self.agent_writes.take();
        let status = wait(&mut self.proxy);
        let home = std::mem::replace(&mut self.home, Home::new());
        (status, home)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let _ = self.proxy.kill();
        let _ = self.proxy.wait();
    }
}

/// Waits for the end of a process.
fn wait(child: &mut Child) -> ExitStatus {
    let until = Instant::now() + WAIT;
    loop {
        if let Some(status) = child.try_wait().expect("it is ours") {
            return status;
        }
        assert!(Instant::now() < until, "the process does not end");
        thread::sleep(Duration::from_millis(20));
    }
}

fn request(id: impl Into<Value>, method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id.into(), "method": method, "params": params})
}

fn notification(method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "method": method, "params": params})
}

/// Returns a `terminal/create` of the session `s`.
fn terminal(id: u64, command: &str, args: &[&str]) -> Value {
    request(
        id,
        "terminal/create",
        &json!({"sessionId": "s", "command": command, "args": args}),
    )
}

/// Returns the options that most agents offer.
fn options() -> Value {
    json!([
        {"optionId": "always", "name": "Always", "kind": "allow_always"},
        {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
        {"optionId": "no", "name": "No", "kind": "reject_once"},
        {"optionId": "never", "name": "Never", "kind": "reject_always"},
    ])
}

/// Returns a permission request of version 1 about a tool call.
fn permission(id: u64, call: &Value, options: &Value) -> Value {
    let mut call = call.clone();
    call["toolCallId"] = format!("call-{id}").into();
    let params = json!({"sessionId": "s", "toolCall": call, "options": options});
    request(id, "session/request_permission", &params)
}

/// Returns the permission request of a shell tool.
fn shell(id: u64, command: impl Into<Value>) -> Value {
    let input = json!({"command": command.into(), "description": "x"});
    let call = json!({"kind": "execute", "title": "x", "rawInput": input});
    permission(id, &call, &options())
}

/// Returns the selected option of a reply, or the outcome without one.
fn selected(reply: &Value) -> &str {
    let outcome = &reply["result"]["outcome"];
    let option = outcome["optionId"].as_str();
    option.unwrap_or_else(|| outcome["outcome"].as_str().unwrap_or("no outcome"))
}

const DENY_MAKE: &str = "[[rule]]\neffect = 'deny'\nprogram = 'make'\nreason = 'not here'\n";
