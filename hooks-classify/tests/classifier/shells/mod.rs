//! Runs random commands in real shells: commands that are allowed without confirmation must change
//! nothing (P-01).
//!
//! `HOOKS_COMMANDS` is the number of commands, `HOOKS_SEED` the seed.

mod braces;
mod grammar;
mod programs;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use hooks_classify::{Classifier, Decision};

use crate::support::process::installed;
use crate::support::random::Random;
use crate::support::required;
use grammar::{FILES, PRINTS, REDIRECTIONS, RUNS, SETS, USES, WORDS};

/// Maximum nesting of commands.
const DEPTH: usize = 3;

/// Generator of commands.
struct CommandGenerator(Random);

impl CommandGenerator {
    fn of(&mut self, list: &[&'static str]) -> &'static str {
        self.0.of(list)
    }

    fn command(&mut self) -> String {
        if self.0.below(2) == 0 {
            let piece = self.of(RUNS);
            return self.filled(piece, DEPTH);
        }
        let mut parts: Vec<&str> = (0..=self.0.below(3)).map(|_| self.of(SETS)).collect();
        parts.push(self.of(USES));
        let joined = parts.join(["; ", "\n", " && "][self.0.below(3)]);
        self.filled(&joined, DEPTH)
    }

    /// Returns a piece with others in its gaps.
    fn filled(&mut self, piece: &str, depth: usize) -> String {
        let mut out = String::new();
        let mut rest = piece;
        while let Some(at) = rest.find('@') {
            out.push_str(&rest[..at]);
            let (list, plain) = match rest[at + 1..].chars().next() {
                Some('o') => (PRINTS, "cat evil"),
                Some('w') => (WORDS, "ls"),
                Some('r') => (REDIRECTIONS, ""),
                _ => {
                    out.push('@');
                    rest = &rest[at + 1..];
                    continue;
                }
            };
            let inner = match depth.checked_sub(1) {
                Some(depth) => {
                    let piece = self.of(list);
                    self.filled(piece, depth)
                }
                None => plain.to_owned(),
            };
            out.push_str(&inner);
            rest = &rest[at + 2..];
        }
        out + rest
    }
}

/// Runs a command in a temporary folder. Returns the names of new files.
fn runs(shell: &str, command: &str, folder: &Path) -> BTreeSet<OsString> {
    for entry in fs::read_dir(folder).expect("a folder") {
        fs::remove_file(entry.expect("an entry").path()).expect("a file");
    }
    for (name, text) in FILES {
        fs::write(folder.join(name), text).expect("a file");
    }
    let child = installed(shell)
        .args(["-c", command])
        .current_dir(folder)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the shell runs");
    end(child);
    for (name, text) in FILES {
        let now = fs::read_to_string(folder.join(name)).ok();
        assert_eq!(now.as_deref(), Some(*text), "{shell} {command:?}");
    }
    let there = fs::read_dir(folder).expect("a folder");
    let names = there.map(|entry| entry.expect("an entry").file_name());
    let given = |name: &OsString| FILES.iter().any(|(given, _)| **given == **name);
    names.filter(|name| !given(name)).collect()
}

/// Waits for a process, and kills it if it waits for something itself.
fn end(mut child: Child) {
    let until = Instant::now() + Duration::from_secs(3);
    while child.try_wait().expect("a child").is_none() {
        if Instant::now() > until {
            let _ = child.kill();
            let _ = child.wait();
            return;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn number(name: &str, usual: u64) -> u64 {
    let value = std::env::var(name).ok();
    value.map_or(usual, |value| value.parse().expect("a number"))
}

#[test]
fn p_01_allowed_commands_change_nothing_in_real_shells() {
    let shells: Vec<&str> = ["bash", "zsh", "dash"]
        .into_iter()
        .filter(|shell| required::has(shell))
        .collect();
    let folder = tempfile::tempdir().expect("a folder");
    let classifier = Classifier::new();
    let mut commands = CommandGenerator(Random(number("HOOKS_SEED", 0x5eed_5e11)));
    let count = number("HOOKS_COMMANDS", 1500);
    let mut wrong = Vec::new();
    let mut allowed = 0;
    for _ in 0..count {
        let command = commands.command();
        let classification = classifier.classify(&command).expect("a command");
        if classification.decision != Decision::AutoAllowed {
            continue;
        }
        allowed += 1;
        for shell in &shells {
            let made = runs(shell, &command, folder.path());
            if !made.is_empty() {
                wrong.push(format!("{shell} {command:?} made {made:?}"));
            }
        }
    }
    println!("{allowed} of {count} commands were allowed, and run in {shells:?}");
    assert!(allowed > count / 50, "{allowed} of {count} were allowed");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
