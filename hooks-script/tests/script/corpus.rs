//! Runs the hooks under `tests/corpus`: each ends as its first lines expect, and does not affect
//! later runs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use futures_executor::block_on;
use hooks_runtime::Map;
use hooks_script::{
    ContextData, ContextKey, Field, Limits, Manifest, PublicFields, Run, RunResult, ScriptEngine,
};
use serde_json::{Value, json};

use crate::support::{engine, map, message, pre, register, summary};

const CANARY: &str = "let runs = 0;
export default ({ in: message }) => ({
  out: { ...message, runs: ++runs, random: Math.random(), globals: Object.getOwnPropertyNames(globalThis).length },
});";

fn files(folder: &str) -> Vec<(PathBuf, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/corpus")
        .join(folder);
    let mut paths: Vec<_> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).unwrap();
        (path, text)
    };
    paths.into_iter().map(read).collect()
}

fn header<'a>(source: &'a str, name: &str) -> Option<&'a str> {
    let lines = source.lines().take_while(|line| line.starts_with("// "));
    lines
        .filter_map(|line| line[3..].split_once(": "))
        .find(|(key, _)| *key == name)
        .map(|(_, value)| value)
}

fn json_header(source: &str, name: &str) -> Option<Value> {
    header(source, name).map(|text| serde_json::from_str(text).unwrap())
}

fn binary(file: &Path, context: &Value) -> (i32, Value) {
    let folder = tempfile::tempdir().unwrap();
    let given = folder.path().join("context.json");
    fs::write(&given, context.to_string()).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_hooks-script"))
        .arg("run")
        .arg(file)
        .arg("--context")
        .arg(&given)
        .arg("--json")
        .output()
        .unwrap();
    let line = String::from_utf8(output.stdout).unwrap();
    let shown = serde_json::from_str(&line);
    let shown = shown.unwrap_or_else(|error| panic!("{}: {error}: {line}", file.display()));
    (output.status.code().expect("it is not killed"), shown)
}

fn binary_summary(shown: &Value) -> String {
    let text = |at: &str| {
        shown
            .pointer(at)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    let words = match text("/outcome").as_str() {
        "stop" => vec!["stop".to_owned(), text("/stop/class")],
        "out" => vec!["out".to_owned()],
        other => vec![other.to_owned(), text("/error/kind"), text("/error/class")],
    };
    words.join(" ").trim_end().to_owned()
}

/// A canary runs after each hook in the same instance.
#[test]
fn s_22_s_24_hostile_hooks_end_as_expected_and_affect_no_later_run() {
    let engine = engine();
    let canary = register(&engine, CANARY);
    let first = pre(&canary);
    let same = |run: &Run| {
        (&run.result, run.fuel, &run.memory_hash) == (&first.result, first.fuel, &first.memory_hash)
    };
    let files = files("hostile");
    assert!(files.len() >= 60);
    let mut wrong = Vec::new();
    for (path, source) in &files {
        let found = match engine.register(Manifest::new("s", "n", []).unwrap(), source) {
            Err(error) => format!("rejected_at_registration {}", error.kind()),
            Ok(hook) => summary(&pre(&hook)),
        };
        if found != header(source, "expects").unwrap() {
            wrong.push(format!("{}: {found}", path.display()));
        }
        let after = pre(&canary);
        if !same(&after) {
            wrong.push(format!("{}: the canary returned {after:?}", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn s_22_hostile_hooks_end_as_expected_on_the_command_line() {
    let context = json!({"stage": "pre", "in": message(), "data": {}});
    let folder = tempfile::tempdir().unwrap();
    let canary = folder.path().join("canary.js");
    fs::write(&canary, CANARY).unwrap();
    let without_time = |(status, mut shown): (i32, Value)| {
        shown["duration_us"] = json!(0);
        (status, shown)
    };
    let first = without_time(binary(&canary, &context));
    assert_eq!(first.0, 0);
    let mut wrong = Vec::new();
    for (index, (path, source)) in files("hostile").iter().enumerate() {
        let (status, shown) = binary(path, &context);
        let mut found = binary_summary(&shown);
        if found.starts_with("rejected") {
            // The class of the exception follows the kind.
            found = found.split(' ').take(2).collect::<Vec<_>>().join(" ");
        }
        let expected = header(source, "expects").unwrap();
        let code = match expected.split(' ').next().unwrap() {
            "out" | "unchanged" => 0,
            "stop" => 3,
            "rejected_at_registration" => 5,
            _ => 4,
        };
        if (found.as_str(), status) != (expected, code) {
            wrong.push(format!("{}: {found}, status {status}", path.display()));
        }
        if index % 10 == 0 {
            assert_eq!(
                without_time(binary(&canary, &context)),
                first,
                "after {}",
                path.display()
            );
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn benign(path: &Path, source: &str, engine: &ScriptEngine, data: &ContextData) -> Run {
    let hook = engine.register(Manifest::new("s", "n", ContextKey::ALL).unwrap(), source);
    let hook = hook.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let given: Map = map(json_header(source, "in").unwrap());
    block_on(hook.run_pre(&given, data))
}

#[test]
fn s_11_benign_hooks_return_exactly_the_expected_outputs() {
    let mut wrong = Vec::new();
    let engine = ScriptEngine::builder()
        .limits(Limits::default())
        .public_fields(PublicFields::new().user([Field::text("id")]))
        .build()
        .unwrap();
    let files = files("benign");
    assert!(files.len() >= 30);
    for (path, source) in &files {
        let mut data = ContextData::new();
        if let Some(given) = json_header(source, "data") {
            data = data.user(&given["user"]).unwrap();
        }
        let run = benign(path, source, &engine, &data);
        let expected = map(json_header(source, "out").unwrap());
        // Compare as text, because the order of keys matters.
        let text = |map: &Map| serde_json::to_string(map).unwrap();
        match &run.result {
            RunResult::Returned(out) if text(out) == text(&expected) => {}
            other => wrong.push(format!("{}: {other:?}", path.display())),
        }
        let console: Vec<_> = run.console.iter().map(ToString::to_string).collect();
        if json!(console) != json_header(source, "console").unwrap_or_else(|| json!([])) {
            wrong.push(format!("{}: {console:?}", path.display()));
        }

        let context = json!({
            "stage": "pre",
            "in": json_header(source, "in").unwrap(),
            "data": json_header(source, "data").unwrap_or_else(|| json!({})),
        });
        let (status, shown) = binary(path, &context);
        let printed = shown["out"].to_string();
        if status != 0 || printed != text(&expected) || shown["fuel"] != json!(run.fuel) {
            wrong.push(format!("{}: {shown}, fuel {}", path.display(), run.fuel));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
