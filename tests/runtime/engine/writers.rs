//! Several processes that append to one file.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use hooks_runtime::engine::Storage;
use serde_json::Value;

/// Environment variable with the folder; a process that has it is a writer.
const FOLDER: &str = "HOOKS_TEST_WRITER_FOLDER";
/// The number of the writer.
const WRITER: &str = "HOOKS_TEST_WRITER";

const LINES: u64 = 300;

/// Starts this very test as another process.
fn start(test: &str, folder: &Path, writer: u64) -> Child {
    Command::new(std::env::current_exe().expect("this program has a file"))
        .args(["--exact", test, "--nocapture"])
        .env(FOLDER, folder)
        .env(WRITER, writer.to_string())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it was started before")
}

/// Writes lines, in a process that was started as a writer; loops forever if `lines` is `None`.
fn run_as_writer(lines: Option<u64>) -> bool {
    let (Ok(folder), Ok(writer)) = (std::env::var(FOLDER), std::env::var(WRITER)) else {
        return false;
    };
    let storage = Storage::new(folder).expect("the folder is there");
    let long = "x".repeat(20_000);
    for line in 0..lines.unwrap_or(u64::MAX) {
        let line = (&writer, line, &long);
        storage.append("log", &line).expect("there is room");
    }
    true
}

fn read(folder: &Path) -> String {
    std::fs::read_to_string(folder.join("log")).unwrap_or_default()
}

#[test]
fn r_27_concurrent_processes_append_whole_lines_without_loss() {
    if run_as_writer(Some(LINES)) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let test = "engine::writers::r_27_concurrent_processes_append_whole_lines_without_loss";
    let writers: Vec<_> = (0..3).map(|n| start(test, folder.path(), n)).collect();
    for mut writer in writers {
        assert!(writer.wait().unwrap().success());
    }
    let text = read(folder.path());
    let lines: Vec<(String, u64, String)> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let different: BTreeSet<_> = lines
        .iter()
        .map(|(writer, line, _)| (writer, line))
        .collect();
    assert_eq!(
        (lines.len(), different.len()),
        (3 * LINES as usize, 3 * LINES as usize)
    );
}

#[test]
fn r_27_a_killed_writer_does_not_block_other_writers() {
    if run_as_writer(None) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let storage = Storage::new(folder.path()).unwrap();
    let test = "engine::writers::r_27_a_killed_writer_does_not_block_other_writers";
    for round in 0..3 {
        let before = read(folder.path()).len();
        let mut writer = start(test, folder.path(), round);
        while read(folder.path()).len() < before + 500_000 {
            assert!(
                writer.try_wait().unwrap().is_none(),
                "the writer runs until it is killed"
            );
            std::thread::yield_now();
        }
        writer.kill().unwrap();
        writer.wait().unwrap();
        storage.append("log", &round).unwrap();
    }
    let text = read(folder.path());
    let whole: Vec<Value> = text
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect();
    let own: Vec<_> = whole.iter().filter_map(Value::as_u64).collect();
    assert_eq!(own, [0, 1, 2]);
    // Each killed writer may have torn one line.
    assert!(text.lines().count() - whole.len() <= 3);
}
