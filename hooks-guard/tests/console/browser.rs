//! Headless Chromium, controlled through its protocol over a pair of pipes: nothing is downloaded,
//! and nothing listens on a port.

use std::cell::RefCell;
use std::env;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Generous timeout: a machine under load starts processes slowly.
const PATIENCE: Duration = Duration::from_secs(90);

/// Browsers that no test uses. They end when this process closes their pipes.
static IDLE: Mutex<Vec<Process>> = Mutex::new(Vec::new());

/// A running browser.
struct Process {
    requests: File,
    answers: Receiver<Value>,
    /// Number of the last request.
    last: u64,
}

/// A browser that one test uses, with profiles of its own.
pub(crate) struct Browser {
    /// `None` after the end of the test.
    process: RefCell<Option<Process>>,
    contexts: RefCell<Vec<String>>,
    /// Errors reported by the pages.
    console_errors: RefCell<Vec<String>>,
}

impl Drop for Browser {
    /// Closes all windows, and keeps the browser for another test. A failed test closes it.
    fn drop(&mut self) {
        if thread::panicking() {
            return;
        }
        for context in self.contexts.take() {
            let parameters = json!({ "browserContextId": context });
            self.call(None, "Target.disposeBrowserContext", parameters);
        }
        IDLE.lock().unwrap().extend(self.process.take());
    }
}

/// Returns Chromium's path; if it is missing, the test has already reported that.
#[track_caller]
fn program() -> Option<PathBuf> {
    let paths = env::var_os("PATH").unwrap_or_default();
    let names = [
        "chromium-headless-shell",
        "chromium",
        "chromium-browser",
        "google-chrome",
    ];
    let found = env::split_paths(&paths)
        .flat_map(|path| names.map(|name| path.join(name)))
        .find(|path| path.is_file());
    if found.is_none() {
        crate::support::left_out("`chromium` is missing");
    }
    found
}

impl Process {
    #[expect(
        clippy::zombie_processes,
        reason = "the browser ends when its pipe is closed, at the latest with this process"
    )]
    fn start(program: &Path) -> Self {
        let folder = tempfile::tempdir().unwrap().keep();
        let pipe = |name| {
            let path = folder.join(name);
            let made = Command::new("mkfifo").arg(&path).status().unwrap();
            assert!(made.success());
            path
        };
        let (to, from) = (pipe("to"), pipe("from"));
        // A shell can pass descriptors 3 and 4 to a program, and removes the folder after it.
        Command::new("sh")
            .args([
                "-c",
                r#"folder="$1"; shift; "$@" 3<"$folder/to" 4>"$folder/from"; rm -rf "$folder""#,
            ])
            .arg("sh")
            .args([&folder, program])
            .args([
                "--headless",
                "--remote-debugging-pipe",
                // Containers run as root, for which the sandbox is unavailable.
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--disable-background-networking",
                "--no-first-run",
                "--hide-scrollbars",
                "--lang=en-GB",
            ])
            .arg(format!("--user-data-dir={}", folder.display()))
            .env("HOME", &folder)
            .env("TMPDIR", &folder)
            .env("TZ", "UTC")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // In the order in which the shell opens its ends.
        let requests = fs::OpenOptions::new().write(true).open(&to).unwrap();
        let mut reader = BufReader::new(File::open(&from).unwrap());
        let (sender, answers) = channel();
        thread::spawn(move || {
            let mut message = Vec::new();
            while let Ok(1..) = reader.read_until(0, &mut message) {
                message.pop();
                let Ok(value) = serde_json::from_slice(&message) else {
                    return;
                };
                if sender.send(value).is_err() {
                    return;
                }
                message.clear();
            }
        });
        Self {
            requests,
            answers,
            last: 0,
        }
    }

    /// Sends a request, and returns its number.
    fn send(&mut self, session: Option<&str>, method: &str, parameters: Value) -> u64 {
        self.last += 1;
        let mut request = json!({ "id": self.last, "method": method, "params": parameters });
        if let Some(session) = session {
            request["sessionId"] = session.into();
        }
        let mut bytes = request.to_string().into_bytes();
        bytes.push(0);
        self.requests.write_all(&bytes).unwrap();
        self.last
    }
}

impl Browser {
    /// Returns a browser, if possible one that is already running; `None` if there is none, which
    /// has already been reported.
    #[track_caller]
    pub(crate) fn start() -> Option<Self> {
        let program = program()?;
        let idle = IDLE.lock().unwrap().pop();
        let process = idle.unwrap_or_else(|| Process::start(&program));
        Some(Self {
            process: RefCell::new(Some(process)),
            contexts: RefCell::default(),
            console_errors: RefCell::default(),
        })
    }

    #[track_caller]
    fn call(&self, session: Option<&str>, method: &str, parameters: Value) -> Value {
        let answer = self.answer(session, method, parameters);
        assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
        answer["result"].clone()
    }

    /// Returns the result or the error of a call.
    #[track_caller]
    fn answer(&self, session: Option<&str>, method: &str, parameters: Value) -> Value {
        let mut process = self.process.borrow_mut();
        let process = process.as_mut().expect("the test runs");
        let id = process.send(session, method, parameters);
        loop {
            let answer = process.answers.recv_timeout(PATIENCE);
            let answer = answer.unwrap_or_else(|_| panic!("no answer to {method}"));
            if answer["id"] == id {
                return answer;
            }
            self.note(&answer);
        }
    }

    /// Records an error reported by a page.
    fn note(&self, event: &Value) {
        let complaint = match event["method"].as_str() {
            Some("Runtime.exceptionThrown") => {
                let details = &event["params"]["exceptionDetails"];
                format!(
                    "{} {}",
                    details["text"], details["exception"]["description"]
                )
            }
            Some("Log.entryAdded") if event["params"]["entry"]["level"] == "error" => {
                let entry = &event["params"]["entry"];
                format!("{} {}", entry["text"], entry["url"])
            }
            Some("Runtime.consoleAPICalled") if event["params"]["type"] == "error" => {
                event["params"]["args"].to_string()
            }
            _ => return,
        };
        self.console_errors.borrow_mut().push(complaint);
    }

    /// Creates a separate profile: cookies and storage are shared by its windows.
    pub(crate) fn person(&self) -> Person<'_> {
        let made = self.call(None, "Target.createBrowserContext", json!({}));
        let context = made["browserContextId"].as_str().unwrap().to_owned();
        self.contexts.borrow_mut().push(context.clone());
        Person {
            browser: self,
            context,
        }
    }

    /// Returns the errors reported since the last call.
    pub(crate) fn console_errors(&self) -> Vec<String> {
        self.console_errors.take()
    }
}

/// A profile with windows.
pub(crate) struct Person<'b> {
    browser: &'b Browser,
    context: String,
}

impl<'b> Person<'b> {
    /// Opens a window of 1280 by 800, in light colours.
    pub(crate) fn window(&self) -> Page<'b> {
        let browser = self.browser;
        let parameters = json!({ "url": "about:blank", "browserContextId": self.context });
        let target = browser.call(None, "Target.createTarget", parameters);
        let parameters = json!({ "targetId": target["targetId"], "flatten": true });
        let attached = browser.call(None, "Target.attachToTarget", parameters);
        let page = Page {
            browser,
            session: attached["sessionId"].as_str().unwrap().to_owned(),
        };
        for domain in ["Page", "Runtime", "Log"] {
            page.call(&format!("{domain}.enable"), json!({}));
        }
        page.looks(1280, false);
        page
    }
}

/// A window.
pub(crate) struct Page<'b> {
    browser: &'b Browser,
    session: String,
}

impl Page<'_> {
    #[track_caller]
    pub(crate) fn call(&self, method: &str, parameters: Value) -> Value {
        self.browser.call(Some(&self.session), method, parameters)
    }

    /// Sets the width and the colour scheme.
    pub(crate) fn looks(&self, width: u32, dark: bool) {
        let height = if width < 600 { 844 } else { 800 };
        self.call(
            "Emulation.setDeviceMetricsOverride",
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600 }),
        );
        let scheme = if dark { "dark" } else { "light" };
        let features = json!([
            { "name": "prefers-color-scheme", "value": scheme },
            { "name": "prefers-reduced-motion", "value": "reduce" },
        ]);
        self.call(
            "Emulation.setEmulatedMedia",
            json!({ "features": features }),
        );
    }

    /// Opens an address, and waits until the console is connected.
    #[track_caller]
    pub(crate) fn goto(&self, url: &str) {
        self.load(url);
        self.until("document.getElementById('live')?.dataset.state === 'live'");
    }

    /// Loads a page, which may not get an event stream.
    pub(crate) fn load(&self, url: &str) {
        self.call("Page.navigate", json!({ "url": "about:blank" }));
        self.call("Page.navigate", json!({ "url": url }));
    }

    /// Runs a script in every page that the window loads from now on, before the page's scripts.
    pub(crate) fn before_load(&self, source: &str) {
        let parameters = json!({ "source": source });
        self.call("Page.addScriptToEvaluateOnNewDocument", parameters);
    }

    /// Evaluates an expression; awaits a promise.
    #[track_caller]
    pub(crate) fn eval(&self, expression: &str) -> Value {
        let parameters = json!({
            "expression": expression, "awaitPromise": true, "returnByValue": true, "userGesture": true,
        });
        let result = self.call("Runtime.evaluate", parameters);
        let fault = &result["exceptionDetails"];
        assert!(fault.is_null(), "{expression}: {fault}");
        result["result"]["value"].clone()
    }

    /// Waits until an expression is true; tolerates that the page changes meanwhile.
    #[track_caller]
    pub(crate) fn until(&self, expression: &str) {
        let start = Instant::now();
        while start.elapsed() < PATIENCE {
            let parameters = json!({ "expression": expression, "returnByValue": true });
            let session = Some(&*self.session);
            let answer = self.browser.answer(session, "Runtime.evaluate", parameters);
            if answer["result"]["result"]["value"] == true {
                return;
            }
            thread::sleep(Duration::from_millis(50));
        }
        let text = self.eval("document.body.innerText");
        panic!(
            "never: {expression}\nthe page: {text}\n{:?}",
            self.browser.console_errors()
        );
    }

    /// Waits for an enabled element, and clicks on its centre.
    #[track_caller]
    pub(crate) fn click(&self, selector: &str) {
        let found = format!("document.querySelector({})", json!(selector));
        self.until(&format!("{found} !== null && !{found}.disabled"));
        let place = self.eval(&format!(
            "(() => {{ const element = {found}; element.scrollIntoView({{ block: 'center', behavior: 'instant' }}); \
             const box = element.getBoundingClientRect(); \
             return [box.x + box.width / 2, box.y + box.height / 2]; }})()"
        ));
        for kind in ["mousePressed", "mouseReleased"] {
            self.call(
                "Input.dispatchMouseEvent",
                json!({ "type": kind, "x": place[0], "y": place[1], "button": "left", "clickCount": 1 }),
            );
        }
    }

    /// Presses a key, such as `y`, `Tab` or `Enter`.
    pub(crate) fn press(&self, key: &str) {
        let text = match key {
            "Enter" => "\r",
            key if key.chars().count() == 1 => key,
            _ => "",
        };
        let code = match key {
            "Enter" => 13,
            "Tab" => 9,
            "Escape" => 27,
            "End" => 35,
            _ => 0,
        };
        let key_down =
            json!({ "type": "keyDown", "key": key, "text": text, "windowsVirtualKeyCode": code });
        self.call("Input.dispatchKeyEvent", key_down);
        let key_up = json!({ "type": "keyUp", "key": key, "windowsVirtualKeyCode": code });
        self.call("Input.dispatchKeyEvent", key_up);
    }

    /// Types into the focused element.
    pub(crate) fn write(&self, text: &str) {
        self.call("Input.insertText", json!({ "text": text }));
    }

    /// Saves a picture of the window.
    pub(crate) fn picture(&self, path: &Path) {
        let shot = self.call("Page.captureScreenshot", json!({ "format": "png" }));
        use base64::Engine as _;
        let bytes =
            base64::engine::general_purpose::STANDARD.decode(shot["data"].as_str().unwrap());
        fs::write(path, bytes.unwrap()).unwrap();
    }
}
