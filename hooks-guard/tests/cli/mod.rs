//! Tests `approve` and `watch` in a pseudoterminal with a screen to read and keys to send.

mod approvals;
mod approve;
mod changes;
mod flood;
mod presets;
mod run;
mod suggest;
mod tables;
mod token;
mod watch;

use std::fs::File;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use rexpect::process::{PtyProcess, WaitStatus};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::support::daemon::Daemon;

/// Generous timeout: a machine under load starts processes slowly.
const PATIENCE: Duration = Duration::from_secs(60);

/// A program in a terminal; killed when dropped.
pub(crate) struct Terminal {
    process: PtyProcess,
    keys: File,
    seen: Arc<Mutex<Seen>>,
}

struct Seen {
    screen: vt100::Parser,
    /// All bytes written by the program.
    bytes: Vec<u8>,
    /// `true` if all output was read.
    is_whole: bool,
}

/// Returns a configuration with which clients find a daemon and its key.
pub(crate) fn client_config(daemon: &Daemon) -> PathBuf {
    let folder = daemon.setup().folder();
    let config = folder.join("operator/client.toml");
    let key = folder.join("data/service.key");
    let (port, key) = (daemon.port, key.display());
    let text = format!("listen = '127.0.0.1:{port}'\nkey_file = '{key}'\n");
    std::fs::write(&config, text).unwrap();
    config
}

fn size(rows: u16, columns: u16) -> Winsize {
    Winsize {
        ws_row: rows,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    }
}

impl Terminal {
    /// Starts the program with these arguments, as a client of the daemon.
    pub(crate) fn start(daemon: &Daemon, arguments: &[&str]) -> Self {
        Self::of_size(daemon, arguments, 40, 120)
    }

    pub(crate) fn of_size(daemon: &Daemon, arguments: &[&str], rows: u16, columns: u16) -> Self {
        Self::in_environment(daemon, arguments, rows, columns, &[])
    }

    /// Starts the program with additional variables.
    pub(crate) fn in_environment(
        daemon: &Daemon,
        arguments: &[&str],
        rows: u16,
        columns: u16,
        variables: &[(&str, &str)],
    ) -> Self {
        let setup = daemon.setup();
        let config = client_config(daemon);
        let mut command = Command::new(env!("CARGO_BIN_EXE_hooks-guard"));
        command
            .args(arguments)
            .env_clear()
            .env("HOME", setup.home())
            .env("HOOKS_GUARD_CONFIG", &config)
            .env("TERM", "xterm-256color")
            .env("LANG", "C.UTF-8")
            .envs(variables.iter().copied());
        let mut process = PtyProcess::new(command).unwrap();
        process.set_kill_timeout(Some(2_000));
        let keys = process.get_file_handle().unwrap();
        tcsetwinsize(&keys, size(rows, columns)).unwrap();
        let seen = Arc::new(Mutex::new(Seen {
            screen: vt100::Parser::new(rows, columns, 0),
            bytes: Vec::new(),
            is_whole: false,
        }));
        let mut output = process.get_file_handle().unwrap();
        let shown = Arc::clone(&seen);
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            // An error means that the program has ended.
            while let Ok(count @ 1..) = output.read(&mut bytes) {
                let mut shown = shown.lock().unwrap();
                shown.screen.process(&bytes[..count]);
                shown.bytes.extend(&bytes[..count]);
            }
            shown.lock().unwrap().is_whole = true;
        });
        Self {
            process,
            keys,
            seen,
        }
    }

    pub(crate) fn screen(&self) -> String {
        self.seen.lock().unwrap().screen.screen().contents()
    }

    /// Returns all bytes written so far, with escape sequences.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.seen.lock().unwrap().bytes.clone()
    }

    /// Returns `true` if the program uses the alternate screen.
    pub(crate) fn alternate(&self) -> bool {
        self.seen.lock().unwrap().screen.screen().alternate_screen()
    }

    pub(crate) fn resize(&self, rows: u16, columns: u16) {
        let mut seen = self.seen.lock().unwrap();
        seen.screen.screen_mut().set_size(rows, columns);
        tcsetwinsize(&self.keys, size(rows, columns)).unwrap();
    }

    pub(crate) fn send(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
        self.keys.flush().unwrap();
    }

    /// Waits until the screen fulfils a condition.
    #[track_caller]
    pub(crate) fn until(&self, what: impl Fn(&str) -> bool) -> String {
        let start = Instant::now();
        loop {
            let screen = self.screen();
            if what(&screen) {
                return screen;
            }
            assert!(start.elapsed() < PATIENCE, "it does not come:\n{screen}");
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits until a text is on the screen.
    #[track_caller]
    pub(crate) fn shows(&self, text: &str) -> String {
        let start = Instant::now();
        loop {
            let screen = self.screen();
            if screen.contains(text) {
                return screen;
            }
            assert!(
                start.elapsed() < PATIENCE,
                "`{text}` does not come:\n{screen}"
            );
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits for the program's end, and returns its exit status.
    #[track_caller]
    pub(crate) fn end(&self) -> i32 {
        let start = Instant::now();
        // The status can be read only once, and the output may arrive later.
        let mut ended = None;
        loop {
            if ended.is_none() {
                match self.process.status() {
                    Some(WaitStatus::Exited(_, status)) => ended = Some(status),
                    Some(WaitStatus::StillAlive) => {}
                    other => panic!("{other:?}: {}", self.screen()),
                }
            }
            match ended {
                Some(status) if self.seen.lock().unwrap().is_whole => return status,
                _ => {}
            }
            assert!(
                start.elapsed() < PATIENCE,
                "it does not end:\n{}",
                self.screen()
            );
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Ends the program by a signal.
    pub(crate) fn terminate(&mut self) {
        self.process
            .signal(rexpect::process::Signal::SIGTERM)
            .unwrap();
    }
}
