//! Helpers of the tests that start the permission service.

pub(crate) mod client;
pub(crate) mod daemon;
pub(crate) mod questions;
#[path = "../../../hooks-classify/tests/support/required.rs"]
mod required;

use std::path::{Path, PathBuf};
use std::process::Command;

use jiff::Timestamp;
use serde_json::Value;

use client::Answer;
pub(crate) use required::{has, left_out};

/// Parses a time in a response, which must have the fixed width: UTC with nine digits of fraction.
#[track_caller]
pub(crate) fn instant(value: &Value) -> Timestamp {
    let Some(text) = value.as_str() else {
        panic!("no instant: {value}")
    };
    let at = text.parse().unwrap();
    assert_eq!(text, format!("{at:.9}"), "no fixed width");
    at
}

/// P-44: checks the fields of an error, and that it reveals no internals.
#[track_caller]
pub(crate) fn assert_error_shape(answer: &Answer, body: &Value) {
    let fields = body.as_object().unwrap();
    assert!(
        fields["error"]
            .as_str()
            .is_some_and(|text| !text.is_empty()),
        "{body}"
    );
    let code = fields["code"].as_str().unwrap();
    assert!(
        !code.is_empty()
            && code
                .bytes()
                .all(|byte| byte.is_ascii_uppercase() || byte == b'_'),
        "{body}"
    );
    for (name, value) in fields {
        let fits = match name.as_str() {
            "error" | "code" | "details" | "request_id" | "example" => value.is_string(),
            "retry_after_seconds" => value.is_u64(),
            "excerpt" | "valid_values" => value.is_array(),
            _ => panic!("`{name}` in {body}"),
        };
        assert!(fits, "`{name}` in {body}");
    }
    if answer.status == 500 {
        assert_eq!(
            fields["request_id"].as_str(),
            answer.header("x-request-id"),
            "{body}"
        );
    }
    assert_no_internals(&answer.text());
}

/// P-13: checks that a text reveals no internals.
#[track_caller]
pub(crate) fn assert_no_internals(text: &str) {
    let lower = text.to_lowercase();
    for inside in [
        "sqlx",
        "sqlite",
        "select ",
        "insert ",
        ".rs",
        "panicked",
        "thread '",
        "hooks_guard::",
        "tokio",
        "os error",
        "no such table",
        "/tmp/",
        ".db",
    ] {
        assert!(!lower.contains(inside), "`{inside}` in {text}");
    }
}

/// Escapes a value for a query.
pub(crate) fn escaped(value: &str) -> String {
    value.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

/// Returns all files below a folder.
pub(crate) fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            } else {
                files.push(entry.path());
            }
        }
    }
    files
}

pub(crate) fn contains(bytes: &[u8], what: &str) -> bool {
    bytes
        .windows(what.len())
        .any(|window| window == what.as_bytes())
}

/// A library that shifts the clocks of a process by a number of seconds in a file.
///
/// Not available without a C compiler: `new` prints the reason and returns `None`.
pub(crate) struct ShiftedClock {
    folder: tempfile::TempDir,
}

impl ShiftedClock {
    #[track_caller]
    pub(crate) fn new() -> Option<Self> {
        if !cfg!(target_os = "linux") {
            left_out("clocks are put forward by a library of Linux");
            return None;
        }
        if !has("cc") {
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/shifted_clock.c");
        let output = Command::new("cc")
            .args(["-O1", "-shared", "-fPIC", "-o"])
            .arg(folder.path().join("shifted_clock.so"))
            .arg(source)
            .arg("-ldl")
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let clock = Self { folder };
        clock.shift(0);
        Some(clock)
    }

    /// Shifts the date by a number of seconds.
    pub(crate) fn shift(&self, seconds: i64) {
        self.write(seconds, 0);
    }

    /// Moves time forward by a number of seconds, also for timers; never back.
    pub(crate) fn forward(&self, seconds: i64) {
        self.write(seconds, seconds);
    }

    fn write(&self, calendar: i64, steady: i64) {
        // Written by a rename, so that readers never see half a number.
        let new = self.folder.path().join("new");
        std::fs::write(&new, format!("{calendar} {steady}")).unwrap();
        std::fs::rename(new, self.folder.path().join("seconds")).unwrap();
    }

    /// Returns the environment variables of a process.
    pub(crate) fn environment(&self) -> [(&'static str, String); 2] {
        let path = |name| self.folder.path().join(name).display().to_string();
        [
            ("LD_PRELOAD", path("shifted_clock.so")),
            ("SHIFTED_CLOCK", path("seconds")),
        ]
    }

    pub(crate) fn on(&self, mut setup: daemon::Setup) -> daemon::Setup {
        for (name, value) in self.environment() {
            setup.forget_environment(name);
            setup = setup.environment(name, &value);
        }
        setup
    }
}
