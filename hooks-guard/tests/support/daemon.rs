//! Starts and stops a daemon with a separate home.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::client::{Answer, Connection, Request};

/// The operator's token of all daemons with a token.
pub(crate) const TOKEN: &str = "operator-of-these-tests-4711";

const LISTENS: &str = "hooks-guard listens on http://";
/// Generous, because processes start slowly on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Setup of a daemon, and the folder with its home and database, and with the operator's files
/// beside the home.
pub(crate) struct Setup {
    folder: TempDir,
    listen: Option<String>,
    database: Option<String>,
    token: bool,
    rate_limit: Option<u32>,
    config: Option<String>,
    arguments: Vec<String>,
    environment: Vec<(String, String)>,
    wrapper: Vec<String>,
}

impl Setup {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["home", "home/run", "data", "operator"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        fs::write(folder.path().join("operator/token"), TOKEN).unwrap();
        let database = format!("sqlite:{}", folder.path().join("data/audit.db").display());
        Self {
            folder,
            listen: Some("127.0.0.1:0".to_owned()),
            database: Some(database),
            token: true,
            rate_limit: Some(1_000_000),
            config: None,
            arguments: Vec::new(),
            environment: Vec::new(),
            wrapper: Vec::new(),
        }
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.folder().join("home")
    }

    pub(crate) fn database_file(&self) -> PathBuf {
        self.folder().join("data/audit.db")
    }

    /// `None` selects the daemon's default.
    pub(crate) fn listen(mut self, address: Option<&str>) -> Self {
        self.listen = address.map(ToOwned::to_owned);
        self
    }

    pub(crate) fn database(mut self, url: &str) -> Self {
        self.database = Some(url.to_owned());
        self
    }

    /// Uses the daemon's default path of the trail.
    pub(crate) fn without_database(mut self) -> Self {
        self.database = None;
        self
    }

    pub(crate) fn without_token(mut self) -> Self {
        self.token = false;
        self
    }

    /// `None` selects the daemon's default.
    pub(crate) fn rate_limit(mut self, limit: Option<u32>) -> Self {
        self.rate_limit = limit;
        self
    }

    pub(crate) fn config(mut self, toml: &str) -> Self {
        self.config = Some(toml.to_owned());
        self
    }

    pub(crate) fn argument(mut self, argument: impl Into<String>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    pub(crate) fn environment(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn forget_environment(&mut self, name: &str) {
        self.environment.retain(|(key, _)| key != name);
    }

    /// Sets a program that runs the daemon, as words before the daemon's.
    pub(crate) fn wrapper(mut self, words: &[&str]) -> Self {
        self.wrapper = words.iter().map(|&word| word.to_owned()).collect();
        self
    }

    /// Returns the daemon's command line.
    pub(crate) fn words(&self) -> Vec<String> {
        let mut words = self.wrapper.clone();
        words.extend([
            env!("CARGO_BIN_EXE_hooks-guard").to_owned(),
            "serve".to_owned(),
        ]);
        let mut option = |name: &str, value: String| words.extend([name.to_owned(), value]);
        if let Some(address) = &self.listen {
            option("--listen", address.clone());
        }
        if let Some(url) = &self.database {
            option("--database", url.clone());
        }
        if self.token {
            let path = self.folder().join("operator/token");
            option("--token-file", path.display().to_string());
        }
        if let Some(limit) = self.rate_limit {
            option("--rate-limit", limit.to_string());
        }
        if let Some(toml) = &self.config {
            let path = self.folder().join("operator/config.toml");
            fs::write(&path, toml).unwrap();
            option("--config", path.display().to_string());
        }
        words.extend(self.arguments.iter().cloned());
        words
    }

    pub(crate) fn command(&self) -> Command {
        let words = self.words();
        let mut command = Command::new(&words[0]);
        let home = self.home();
        command
            .args(&words[1..])
            .current_dir(self.folder())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", &home)
            .env("XDG_CONFIG_HOME", home.join(".config"))
            .env("XDG_DATA_HOME", home.join(".local/share"))
            .env("XDG_STATE_HOME", home.join(".local/state"))
            .env("XDG_CACHE_HOME", home.join(".cache"))
            .env("XDG_RUNTIME_DIR", home.join("run"))
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        command
    }

    #[track_caller]
    pub(crate) fn start(self) -> Daemon {
        Daemon::start(self)
    }

    /// Starts a daemon that must fail, and returns its status and its standard error.
    #[track_caller]
    pub(crate) fn fail(&self) -> (ExitStatus, String) {
        let mut child = self.command().spawn().unwrap();
        let (stderr, _) = read_stderr(&mut child);
        let status = match wait(&mut child) {
            Some(status) => status,
            None => {
                child.kill().unwrap();
                child.wait().unwrap();
                panic!("it runs: {}", stderr.lock().unwrap());
            }
        };
        // The stderr closes when the process exits, but the reader may need a moment.
        thread::sleep(Duration::from_millis(200));
        let stderr = stderr.lock().unwrap().clone();
        assert!(!status.success(), "it ended without an error: {stderr}");
        assert!(status.code().is_some(), "it was killed: {status}, {stderr}");
        assert!(!stderr.contains("panicked"), "{stderr}");
        assert!(!stderr.trim().is_empty(), "it did not say why it ended");
        (status, stderr)
    }
}

/// Collects the stderr of a child, and sends the address that it listens on.
fn read_stderr(child: &mut Child) -> (Arc<Mutex<String>>, Receiver<String>) {
    let stderr = Arc::new(Mutex::new(String::new()));
    let all = Arc::clone(&stderr);
    let (sender, receiver) = channel();
    let reader = BufReader::new(child.stderr.take().unwrap());
    thread::spawn(move || {
        for line in reader.lines().map_while(Result::ok) {
            let mut all = all.lock().unwrap();
            all.push_str(&line);
            all.push('\n');
            if let Some((_, address)) = line.split_once(LISTENS) {
                let address = address.split_whitespace().next().unwrap_or_default();
                // The receiver may be gone.
                let _ = sender.send(address.trim_end_matches('/').to_owned());
            }
        }
    });
    (stderr, receiver)
}

/// Returns `None` if the child still runs.
fn wait(child: &mut Child) -> Option<ExitStatus> {
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        if let Some(status) = child.try_wait().unwrap() {
            return Some(status);
        }
        thread::sleep(Duration::from_millis(10));
    }
    None
}

/// A running daemon, killed when dropped.
pub(crate) struct Daemon {
    setup: Setup,
    child: Child,
    stderr: Arc<Mutex<String>>,
    pub(crate) address: String,
    pub(crate) port: u16,
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // It may have exited already.
        let _ = self.child.kill();
        let _ = self.child.wait();
        if thread::panicking() {
            eprintln!("stderr of the daemon:\n{}", self.stderr());
        }
    }
}

impl Daemon {
    #[track_caller]
    pub(crate) fn start(setup: Setup) -> Self {
        let mut child = setup.command().spawn().unwrap();
        let (stderr, address) = read_stderr(&mut child);
        let Ok(address) = address.recv_timeout(PATIENCE) else {
            let _ = child.kill();
            let _ = child.wait();
            panic!("it does not listen: {}", stderr.lock().unwrap());
        };
        let port = address.rsplit(':').next().unwrap().parse().unwrap();
        Self {
            setup,
            child,
            stderr,
            address,
            port,
        }
    }

    pub(crate) fn plain() -> Self {
        Setup::new().start()
    }

    pub(crate) fn setup(&self) -> &Setup {
        &self.setup
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Returns its stderr so far.
    pub(crate) fn stderr(&self) -> String {
        self.stderr.lock().unwrap().clone()
    }

    pub(crate) fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    pub(crate) fn signal(&self, name: &str) {
        signal(self.pid(), name);
    }

    /// Stops it with SIGTERM.
    #[track_caller]
    pub(crate) fn terminate(&mut self) -> ExitStatus {
        self.signal("TERM");
        self.end()
    }

    /// Waits for its exit.
    #[track_caller]
    pub(crate) fn end(&mut self) -> ExitStatus {
        match wait(&mut self.child) {
            Some(status) => status,
            None => panic!("it does not end"),
        }
    }

    /// Kills it and returns its setup.
    pub(crate) fn into_setup(mut self) -> Setup {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        std::mem::replace(&mut self.setup, Setup::new())
    }

    /// Restarts it with its home and database, after `change` of its setup.
    #[track_caller]
    pub(crate) fn restart(self, change: impl FnOnce(Setup) -> Setup) -> Self {
        change(self.into_setup()).start()
    }

    pub(crate) fn connect(&self) -> Connection {
        Connection::open(self.port)
    }

    #[track_caller]
    pub(crate) fn send(&self, request: &Request) -> Answer {
        request.send(self.port)
    }

    #[track_caller]
    pub(crate) fn get(&self, target: &str) -> Answer {
        self.send(&Request::new("GET", target))
    }

    #[track_caller]
    pub(crate) fn delete(&self, target: &str) -> Answer {
        self.send(&Request::new("DELETE", target))
    }

    /// Sends a request without a body as the operator.
    #[track_caller]
    pub(crate) fn as_operator(&self, method: &str, target: &str) -> Answer {
        self.send(&Request::new(method, target).bearer(TOKEN))
    }

    /// Sends `POST /api/hooks/permission-request` with this body.
    #[track_caller]
    pub(crate) fn post(&self, body: &Value) -> Answer {
        self.send(&ask(body))
    }

    /// Returns its decision about a command without further fields.
    #[track_caller]
    pub(crate) fn ask(&self, command: &str) -> Value {
        self.post(&json!({ "command": command })).ok()
    }

    /// Answers a question as the operator.
    #[track_caller]
    pub(crate) fn respond(&self, id: &Value, response: &str) -> Answer {
        self.respond_with(&json!({ "id": id, "response": response }))
    }

    #[track_caller]
    pub(crate) fn respond_with(&self, body: &Value) -> Answer {
        let request = Request::new("POST", "/api/hooks/permission-response");
        self.send(&request.bearer(TOKEN).json(body))
    }

    /// Sends a permission request and approves it; returns its id.
    #[track_caller]
    pub(crate) fn approve(&self, body: &Value, remember: &str) -> Value {
        let id = self.post(body).ok()["id"].clone();
        let answer = json!({
            "id": id, "response": "APPROVED", "remember": remember, "confirm_deletion": true,
        });
        self.respond_with(&answer).ok();
        id
    }

    /// Waits until a decision has an answer, and returns the answer.
    #[track_caller]
    pub(crate) fn answered(&self, id: &Value) -> Value {
        let target = format!("/api/hooks/decisions/{id}?wait=30");
        self.get(&target).ok()["user_response"].clone()
    }

    #[track_caller]
    pub(crate) fn record(&self, id: &Value) -> Value {
        self.get(&format!("/api/hooks/decisions/{id}")).ok()
    }

    /// Reports that the command of a decision was executed.
    #[track_caller]
    pub(crate) fn executed(&self, id: &Value, secret: &Value) -> Answer {
        let target = format!("/api/hooks/decisions/{id}/executed");
        self.send(&Request::new("POST", &target).json(&json!({ "secret": secret })))
    }

    #[track_caller]
    pub(crate) fn pending(&self) -> Vec<Value> {
        let body = self.get("/api/hooks/pending").ok();
        body["pending"].as_array().unwrap().clone()
    }

    #[track_caller]
    pub(crate) fn assert_healthy(&mut self) {
        assert!(self.is_running(), "the daemon has ended: {}", self.stderr());
        self.get("/health").ok();
        assert!(!self.stderr().contains("panicked"), "{}", self.stderr());
    }

    /// Waits for a health status without sending other requests.
    #[track_caller]
    pub(crate) fn await_health(&self, status: u16) {
        let begin = Instant::now();
        loop {
            let health = self.get("/health");
            if health.status == status {
                let state = if status == 200 { "ok" } else { "degraded" };
                assert_eq!(health.json()["status"], state);
                return;
            }
            assert!(
                begin.elapsed() < Duration::from_secs(30),
                "{}",
                health.text()
            );
            thread::sleep(Duration::from_millis(100));
        }
    }
}

/// Sends a signal, such as `STOP`, to a process.
#[track_caller]
pub(crate) fn signal(pid: u32, name: &str) {
    let status = Command::new("kill")
        .args([&format!("-{name}"), &pid.to_string()])
        .status()
        .unwrap();
    assert!(status.success());
}

/// Returns a permission request.
pub(crate) fn ask(body: &Value) -> Request {
    Request::new("POST", "/api/hooks/permission-request").json(body)
}
