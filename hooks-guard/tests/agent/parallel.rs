//! Tests many hooks at once without a service: agents call tools in parallel, and each call starts
//! a process that records its decision.

use std::collections::BTreeSet;
use std::io::Write;
use std::process::{Child, Output, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;
use sqlx::{Connection, Executor};

use super::{Home, decision_of, pre_tool_use};
use crate::home::Service;

/// Number of hooks at once.
const HOOKS: usize = 64;

/// Lets one test at a time start many processes.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Home {
    /// Starts a hook whose input is complete once its standard input is closed.
    fn start_hook(&self, agent: &str, input: &Value) -> Child {
        let mut child = self
            .hook_command(agent)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        let stdin = child.stdin.as_mut().expect("a pipe");
        let text = input.to_string();
        stdin.write_all(text.as_bytes()).expect("it reads");
        child
    }

    /// Runs hooks at once; returns their replies in order.
    fn hooks_at_once(&self, agent: &str, commands: &[String]) -> Vec<Output> {
        let _alone = alone();
        let mut children: Vec<Child> = (0..)
            .zip(commands)
            .map(|(number, command): (usize, _)| {
                let input = pre_tool_use(command, &format!("call-{number}"));
                self.start_hook(agent, &input)
            })
            .collect();
        // The processes wait for the end of their input, so that all of them run now.
        for child in &mut children {
            drop(child.stdin.take());
        }
        let output = |child: Child| child.wait_with_output().expect("it ends");
        children.into_iter().map(output).collect()
    }

    fn assert_intact(&self) {
        let verified = self.command().args(["audit", "verify"]).output();
        let verified = verified.expect("it runs");
        assert!(verified.status.success(), "{verified:?}");
    }

    /// Asserts that each command is recorded exactly once, with an intact chain.
    fn assert_recorded(&self, commands: &[String]) {
        let trail = self.trail();
        let recorded: Vec<&str> = trail
            .iter()
            .filter_map(|one| one["command"].as_str())
            .collect();
        assert_eq!(recorded.len(), commands.len(), "{recorded:?}");
        let recorded: BTreeSet<&str> = recorded.into_iter().collect();
        let expected: BTreeSet<&str> = commands.iter().map(String::as_str).collect();
        assert_eq!(recorded, expected);
        self.assert_intact();
    }
}

fn reads(round: usize) -> Vec<String> {
    let command = |number| format!("ls -la round-{round}/folder-{number}");
    (0..HOOKS).map(command).collect()
}

#[test]
fn hooks_at_once_are_allowed_and_recorded_once_on_a_new_and_an_existing_trail() {
    let home = Home::new();
    home.config("");
    let mut all = Vec::new();
    for round in 0..3 {
        let commands = reads(round);
        for output in home.hooks_at_once("claude-code", &commands) {
            let (decision, reason) = decision_of(&output);
            assert_eq!(decision, "allow", "{reason}");
        }
        all.extend(commands);
        home.assert_recorded(&all);
    }
}

/// Codex has no prompt: a request without a decision is denied.
#[test]
fn hooks_at_once_of_an_agent_without_a_prompt_are_not_denied() {
    let home = Home::new();
    home.config("");
    let commands = reads(0);
    for output in home.hooks_at_once("codex", &commands) {
        assert!(output.status.success(), "{output:?}");
        assert!(output.stdout.is_empty(), "{output:?}");
    }
    home.assert_recorded(&commands);
}

#[test]
fn hooks_at_once_ask_for_the_class_of_a_change_and_record_it_once() {
    let home = Home::new();
    home.config("");
    let commands: Vec<String> = (0..HOOKS)
        .map(|number| match number % 2 {
            0 => format!("cat file-{number}"),
            _ => format!("rm -r folder-{number}"),
        })
        .collect();
    let outputs = home.hooks_at_once("claude-code", &commands);
    for (output, command) in outputs.iter().zip(&commands) {
        let (decision, reason) = decision_of(output);
        match command.starts_with("cat") {
            true => assert_eq!(decision, "allow", "{reason}"),
            false => {
                assert_eq!(decision, "ask", "{reason}");
                assert!(reason.starts_with("DELETE"), "{reason}");
            }
        }
    }
    home.assert_recorded(&commands);
}

/// A killed process leaves the queue, at its head or in it, and its record is complete or missing.
#[test]
fn hooks_that_are_killed_hold_up_no_other_hook() {
    let home = Home::new();
    home.config("");
    let commands = reads(0);
    let _alone = alone();
    let mut victims = Vec::new();
    let mut others = Vec::new();
    for (number, command) in commands.iter().enumerate() {
        let input = pre_tool_use(command, &format!("call-{number}"));
        let mut child = home.start_hook("claude-code", &input);
        drop(child.stdin.take());
        match number % 4 {
            0 => victims.push(child),
            _ => others.push((command, child)),
        }
    }
    for (number, mut child) in victims.into_iter().enumerate() {
        std::thread::sleep(Duration::from_millis(number as u64 * 7 % 40));
        child.kill().expect("killed");
        child.wait().expect("dead");
    }
    let mut allowed = BTreeSet::new();
    for (command, child) in others {
        let (decision, reason) = decision_of(&child.wait_with_output().expect("it ends"));
        assert_eq!(decision, "allow", "{reason}");
        allowed.insert(command.clone());
    }
    let trail = home.trail();
    let recorded: Vec<String> = trail
        .iter()
        .filter_map(|one| one["command"].as_str().map(str::to_owned))
        .collect();
    let distinct: BTreeSet<String> = recorded.iter().cloned().collect();
    assert_eq!(distinct.len(), recorded.len(), "{recorded:?}");
    assert!(distinct.is_superset(&allowed), "{recorded:?}");
    home.assert_intact();
}

/// A suspended hook keeps its turn; a suspended service keeps its lock.
#[test]
fn a_stuck_queue_and_a_lock_of_another_program_give_different_reasons() {
    let home = Home::new();
    home.config("");
    home.hook("claude-code", &[], &pre_tool_use("ls", "1"));
    let queue = home.database().with_extension("db-queue");
    let holder = std::fs::File::open(&queue).expect("the queue");
    holder.lock().expect("no hook runs");
    for (agent, expected) in [("claude-code", "ask"), ("codex", "deny")] {
        let output = home.hook(agent, &[], &pre_tool_use("ls", "2"));
        let (decision, reason) = decision_of(&output);
        assert_eq!(decision, expected, "{reason}");
        for part in ["other hooks", "try again", "hooks-guard serve"] {
            assert!(reason.contains(part), "{reason}");
        }
        assert!(!reason.contains("locked"), "{reason}");
    }
    drop(holder);
    let (decision, reason) = decision_of(&home.hook("claude-code", &[], &pre_tool_use("ls", "3")));
    assert_eq!(decision, "allow", "{reason}");

    // Now a program that does not queue has the lock, whether a hook is the first or waits.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = runtime.expect("a runtime");
    let lock = runtime.block_on(async {
        let url = format!("sqlite:{}", home.database().display());
        let mut lock = sqlx::SqliteConnection::connect(&url)
            .await
            .expect("it opens");
        lock.execute("BEGIN IMMEDIATE").await.expect("no writer");
        lock
    });
    let commands: Vec<String> = (0..16).map(|number| format!("ls other-{number}")).collect();
    for output in home.hooks_at_once("claude-code", &commands) {
        let (decision, reason) = decision_of(&output);
        assert_eq!(decision, "ask", "{reason}");
        assert!(reason.contains("locked by another process"), "{reason}");
    }
    drop(lock);
    let (decision, reason) = decision_of(&home.hook("claude-code", &[], &pre_tool_use("ls", "4")));
    assert_eq!(decision, "allow", "{reason}");
    home.assert_intact();
}

#[test]
fn a_second_service_on_a_trail_is_refused_and_names_the_first() {
    let home = Home::new();
    let first = Service::start(&home);
    let token = home.path().join("token");
    let serve = |database: &std::path::Path| {
        let mut command = home.command();
        command
            .args(["serve", "--listen", "127.0.0.1:0", "--token-file"])
            .arg(&token)
            .arg("--database")
            .arg(database);
        command
    };
    // Another name of the file is the same trail.
    let link = home.path().join("link.db");
    std::os::unix::fs::symlink(home.database(), &link).expect("a link");
    for database in [home.database(), link] {
        let second = serve(&database).output().expect("it runs");
        assert!(!second.status.success(), "{second:?}");
        let error = String::from_utf8_lossy(&second.stderr);
        let process = format!("process {}", first.child.id());
        let address = format!("127.0.0.1:{}", first.port);
        for part in [&*process, &*address, &*database.to_string_lossy()] {
            assert!(error.contains(part), "`{part}` in {error}");
        }
    }
    // The claim of a killed service ends with it.
    drop(first);
    let next = Service::start(&home);
    let (decision, reason) = decision_of(&home.hook("claude-code", &[], &pre_tool_use("ls", "1")));
    assert_eq!(decision, "allow", "{reason}");
    drop(next);
    home.assert_intact();
}
