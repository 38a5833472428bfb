//! rust-analyzer, as an editor drives it: the Language Server Protocol over its standard input
//! and output.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;
use std::{fs, io, thread};

use serde_json::{Value, json};

/// Longer than loading takes on a slow machine, including the build of the macros.
const MESSAGE_TIMEOUT: Duration = Duration::from_secs(600);

/// A place in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) line: u64,
    pub(crate) column: u64,
}

/// The server, with one project loaded and one file open.
pub(crate) struct Server {
    /// Ends when its input closes, at the end of the test at the latest.
    _program: Child,
    input: ChildStdin,
    messages: Receiver<Value>,
    uri: String,
    /// Number of changes of the text.
    version: u64,
    requests: u64,
    is_idle: bool,
}

impl Server {
    /// Returns the program, or the reason why it is missing.
    pub(crate) fn find() -> Result<PathBuf, String> {
        let answer = |program: &str, args: &[&str]| {
            let output = Command::new(program).args(args).output().ok()?;
            let text = String::from_utf8(output.stdout).ok()?;
            output.status.success().then(|| text.trim().to_owned())
        };
        let sysroot = answer("rustc", &["--print", "sysroot"]).ok_or("`rustc` does not run")?;
        // Without them, no type of the standard library is known.
        let sources = Path::new(&sysroot).join("lib/rustlib/src/rust/library");
        if !sources.is_dir() {
            return Err(
                "the sources of the standard library are missing; `rustup component add rust-src`"
                    .into(),
            );
        }
        let program = answer("rustup", &["which", "rust-analyzer"])
            .unwrap_or_else(|| "rust-analyzer".to_owned());
        match answer(&program, &["--version"]) {
            Some(_) => Ok(program.into()),
            None => Err("there is no rust-analyzer; `rustup component add rust-analyzer`".into()),
        }
    }

    /// Starts the program in a project whose one file is `text`, and waits until it has
    /// loaded it.
    pub(crate) fn start(program: &Path, project: &Path, text: &str) -> io::Result<Self> {
        let file = project.join("src/lib.rs");
        fs::create_dir_all(project.join("src"))?;
        fs::write(&file, text)?;
        let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let core = workspace.join("hooks-core").canonicalize()?;
        fs::write(project.join("Cargo.toml"), manifest(&core))?;
        // With equal versions, nothing has to be fetched except, once per machine, the dependencies
        // of the standard library.
        fs::copy(workspace.join("Cargo.lock"), project.join("Cargo.lock"))?;

        let mut program = Command::new(program)
            .current_dir(project)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let (Some(input), Some(output)) = (program.stdin.take(), program.stdout.take()) else {
            unreachable!("both are piped");
        };
        let (sender, messages) = channel();
        thread::spawn(move || receive(BufReader::new(output), &sender));
        let mut server = Server {
            _program: program,
            input,
            messages,
            uri: uri(&file),
            version: 1,
            requests: 0,
            is_idle: false,
        };
        server.request("initialize", initialize(project));
        server.notify("initialized", json!({}));
        let document = json!({"uri": server.uri, "languageId": "rust", "version": 1, "text": text});
        server.notify("textDocument/didOpen", json!({"textDocument": document}));
        while !server.is_idle {
            server.next();
        }
        Ok(server)
    }

    /// Replaces the open text.
    pub(crate) fn open(&mut self, text: &str) {
        self.version += 1;
        let document = json!({"uri": self.uri, "version": self.version});
        let changes = json!([{"text": text}]);
        self.notify(
            "textDocument/didChange",
            json!({"textDocument": document, "contentChanges": changes}),
        );
    }

    /// Returns the errors in the open text, as the editor underlines them.
    pub(crate) fn errors(&mut self) -> Vec<String> {
        let file = json!({"textDocument": {"uri": self.uri}});
        let answer = self.request("textDocument/diagnostic", file);
        let items = answer["items"].as_array().cloned().unwrap_or_default();
        let errors = items.iter().filter(|item| item["severity"] == 1);
        errors
            .filter_map(|error| error["message"].as_str())
            .map(str::to_owned)
            .collect()
    }

    /// Returns the completions at a place.
    pub(crate) fn completions(&mut self, at: Place) -> Vec<String> {
        let answer = self.request("textDocument/completion", self.at(at));
        let items = answer.get("items").unwrap_or(&answer).as_array();
        let labels = items.into_iter().flatten().filter_map(|item| {
            // `filterText` is the name alone, where the label shows more.
            item["filterText"]
                .as_str()
                .or_else(|| item["label"].as_str())
        });
        labels.map(str::to_owned).collect()
    }

    /// Returns the declarations of the item at a place: the file, and the place in it.
    pub(crate) fn declared(&mut self, at: Place) -> Vec<(String, Place)> {
        let answer = self.request("textDocument/definition", self.at(at));
        let places = answer.as_array().cloned().unwrap_or_default();
        let declared = places.iter().map(|place| {
            let file = place["uri"].as_str().unwrap_or_default().to_owned();
            let start = &place["range"]["start"];
            let number = |field: &str| start[field].as_u64().unwrap_or_default();
            let (line, column) = (number("line"), number("character"));
            (file, Place { line, column })
        });
        declared.collect()
    }

    /// Returns the hover text of a place.
    pub(crate) fn shown(&mut self, at: Place) -> String {
        let answer = self.request("textDocument/hover", self.at(at));
        let text = answer["contents"]["value"].as_str();
        text.unwrap_or_default().to_owned()
    }

    /// Returns the address of the open file.
    pub(crate) fn uri(&self) -> &str {
        &self.uri
    }

    fn at(&self, place: Place) -> Value {
        json!({
            "textDocument": {"uri": self.uri},
            "position": {"line": place.line, "character": place.column},
        })
    }

    /// Sends a request, and waits for the response.
    fn request(&mut self, method: &str, params: Value) -> Value {
        loop {
            self.requests += 1;
            let id = self.requests;
            self.send(json!({"id": id, "method": method, "params": params}));
            let answer = loop {
                let message = self.next();
                if message["id"] == id && message.get("method").is_none() {
                    break message;
                }
            };
            match answer["error"]["code"].as_i64() {
                None => return answer["result"].clone(),
                // The text had changed meanwhile, or the server was about to analyse it again.
                Some(-32801 | -32802) => thread::sleep(Duration::from_millis(100)),
                Some(_) => panic!("{method}: {}", answer["error"]),
            }
        }
    }

    fn notify(&mut self, method: &str, params: Value) {
        self.send(json!({"method": method, "params": params}));
    }

    fn send(&mut self, mut message: Value) {
        message["jsonrpc"] = "2.0".into();
        let text = message.to_string();
        write!(self.input, "Content-Length: {}\r\n\r\n{text}", text.len())
            .and_then(|()| self.input.flush())
            .expect("rust-analyzer reads");
    }

    /// Returns the next message; handles the server's requests to the editor.
    fn next(&mut self) -> Value {
        let message = self.messages.recv_timeout(MESSAGE_TIMEOUT);
        let message = message.expect("rust-analyzer sends a message in time");
        match (message.get("id"), message["method"].as_str()) {
            (_, Some("experimental/serverStatus")) => {
                let status = &message["params"];
                assert_eq!(status["health"], "ok", "{status}");
                self.is_idle = status["quiescent"] == true;
            }
            // A request for settings or a report of progress: this editor returns null.
            (Some(id), Some(_)) => self.send(json!({"id": id, "result": null})),
            _ => {}
        }
        message
    }
}

fn manifest(core: &Path) -> String {
    let core = core.display().to_string();
    format!(
        "[package]\nname = \"fixture\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
         [workspace]\n\n[dependencies]\nhooks-core.path = {core:?}\n"
    )
}

fn initialize(project: &Path) -> Value {
    json!({
        "processId": std::process::id(),
        "rootUri": uri(project),
        "capabilities": {
            "experimental": {"serverStatusNotification": true},
            "textDocument": {"hover": {"contentFormat": ["markdown"]}},
        },
        "initializationOptions": {
            "cachePriming": {"enable": false},
            "cargo": {
                "targetDir": project.join("target"),
            },
            "checkOnSave": false,
            // Unknown methods and type mismatches are among these.
            "diagnostics": {"experimental": {"enable": true}},
        },
    })
}

fn uri(path: &Path) -> String {
    format!("file://{}", path.display())
}

/// Reads messages until there are no more.
fn receive(mut output: impl BufRead, messages: &Sender<Value>) {
    loop {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if output.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            match line.trim().split_once(": ") {
                Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                    length = value.parse().expect("a length is a number");
                }
                Some(_) => {}
                None => break,
            }
        }
        let mut body = vec![0; length];
        if output.read_exact(&mut body).is_err() {
            return;
        }
        let message = serde_json::from_slice(&body).expect("a message is JSON");
        if messages.send(message).is_err() {
            return;
        }
    }
}
