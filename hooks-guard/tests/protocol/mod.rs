//! Tests the inputs of agents' hooks and the replies.

mod changed;
mod holds;
mod hostile;
mod modes;
mod never;
mod page;
mod past;
#[path = "../../../hooks-classify/tests/support/random.rs"]
mod random;
mod recorded;
mod samples;
mod tools;

use std::fs;
use std::path::{Path, PathBuf};

use hooks_guard::PermissionDecision;
use hooks_guard::classify::{Crud, Decision, Method};
use hooks_guard::protocol::{Agent, DecisionRequest, HookEvent, read};
use serde_json::Value;

/// An input of a hook, from `recorded` or `samples`.
struct Sample {
    /// File name without the extension, such as `recorded/codex/PreToolUse.Bash.default`.
    name: String,
    input: Value,
}

/// Returns every input, recorded or from documentation.
fn samples() -> Vec<Sample> {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/protocol"));
    let files = |folder: &Path| -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect()
    };
    let mut paths = files(&root.join("samples"));
    let folders = files(&root.join("recorded"));
    let folders = folders.iter().filter(|path| path.is_dir());
    paths.extend(folders.flat_map(|folder| files(folder)));
    paths.sort();
    let sample = |path: PathBuf| {
        let value: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        let name = path.with_extension("");
        Sample {
            name: name.strip_prefix(root).unwrap().display().to_string(),
            input: value.get("input").unwrap_or(&value["request"]).clone(),
        }
    };
    paths.into_iter().map(sample).collect()
}

/// Returns the question in an input.
fn question(agent: Agent, input: &Value) -> DecisionRequest {
    match read(agent, input.to_string().as_bytes()) {
        Ok(HookEvent::Ask(question)) => question,
        other => panic!("{agent} does not ask in {input}: {other:?}"),
    }
}

fn permission(
    decision: Decision,
    class: Crud,
    denied: bool,
    rule: Option<&str>,
) -> PermissionDecision {
    PermissionDecision {
        decision,
        classification: class,
        reasoning: "a test reason".into(),
        confidence: 0.9,
        explanation: "at length".into(),
        classification_method: Method::PatternMatch,
        timestamp: jiff::Timestamp::UNIX_EPOCH,
        id: None,
        secret: None,
        approved: false,
        left_to_agent: false,
        names_tool: false,
        hidden_code: false,
        timed_out: false,
        denied,
        rule: rule.map(str::to_owned),
    }
}
