//! Contender: `vm` of node, in a process that performs a requested number of runs.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::workload::{self, Work};

pub(crate) struct Node {
    process: Child,
    ask: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

/// Returns node's version, or the reason why it is left out.
pub(crate) fn version() -> Result<String, String> {
    let output = Command::new("node").arg("--version").output();
    let output = output.map_err(|error| format!("node cannot be started: {error}"))?;
    if !output.status.success() {
        return Err(format!("`node --version` ends with {}", output.status));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

impl Node {
    pub(crate) fn start(work: &Work) -> Result<Self, String> {
        let input = String::from_utf8(workload::input()).map_err(|error| error.to_string())?;
        let mut process = Command::new("node")
            .args(["-e", include_str!("node.js"), work.source, &input])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| error.to_string())?;
        let ask = process.stdin.take();
        let answers = process.stdout.take().ok_or("node has no output")?;
        Ok(Node {
            process,
            ask,
            answers: BufReader::new(answers),
        })
    }

    /// Runs the hook `repeats` times. Returns microseconds per run.
    pub(crate) fn run(&mut self, repeats: u32) -> f64 {
        let ask = self.ask.as_mut().expect("until it is dropped");
        writeln!(ask, "{repeats}").expect("node reads");
        let mut line = String::new();
        self.answers.read_line(&mut line).expect("node answers");
        line.trim().parse().expect("node answers with a number")
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        drop(self.ask.take());
        let _ = self.process.wait();
    }
}
