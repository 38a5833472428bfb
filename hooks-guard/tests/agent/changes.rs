//! The operator's question shows what a file tool would change, from the payloads that agents send.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::home::{Home, Service, WAIT};

/// Returns the input of a recorded call, in another directory.
fn recorded(file: &str, folder: &Path) -> Value {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/protocol/recorded");
    let text = fs::read_to_string(place.join(file)).expect("a recorded call");
    let text = text.replace("/srv/dev/proj", folder.to_str().expect("text"));
    let recorded: Value = serde_json::from_str(&text).expect("JSON");
    recorded["input"].clone()
}

/// Returns a recorded call with another tool and input.
fn with_tool(mut input: Value, tool: &str, arguments: Value) -> Value {
    let (name, field) = match () {
        () if input.get("tool_name").is_some() => ("tool_name", "tool_input"),
        () if input.get("toolName").is_some() => ("toolName", "toolArgs"),
        () => {
            input["input"]["tool"] = tool.into();
            input["output"]["args"] = arguments;
            return input;
        }
    };
    input[name] = tool.into();
    input[field] = arguments;
    input
}

/// Calls a hook, and returns the changes that its question shows, and its reply to a denial.
fn changes(home: &Home, service: &Service, agent: &str, input: &Value) -> (Value, String) {
    let mut command = home.hook_command(agent);
    command.arg("--unattended");
    let input = input.clone();
    let hook = thread::spawn(move || super::run_hook(command.stdin(Stdio::piped()), &input));
    let until = Instant::now() + WAIT;
    let question = loop {
        let pending = service.send("GET", "/api/hooks/pending", &Value::Null);
        let question = pending["pending"][0].clone();
        if question["changes"].is_object() {
            break question;
        }
        assert!(Instant::now() < until, "no changes: {pending}");
        thread::sleep(Duration::from_millis(20));
    };
    let path = format!("/api/hooks/decisions/{}/changes", question["id"]);
    let changes = service.send("GET", &path, &Value::Null);
    service.answer("DENIED");
    let output = hook.join().expect("it ends");
    let after = service.send("GET", &path, &Value::Null);
    assert_eq!(after["code"], "NOT_FOUND", "{after}");
    (
        changes,
        String::from_utf8_lossy(&output.stdout).into_owned(),
    )
}

fn service(home: &Home) -> Service {
    home.config("");
    Service::start(home)
}

#[test]
fn the_question_shows_the_change_of_each_agents_tool() {
    let home = Home::new();
    let service = service(&home);
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path().canonicalize().expect("it is there");
    let file = folder.join("new.txt");
    let path = file.to_str().expect("text");
    let claude = recorded("claude-code/PreToolUse.Write.ask.default.json", &folder);
    let codex = recorded(
        "codex/PreToolUse.apply_patch.deny.bypassPermissions.json",
        &folder,
    );
    let copilot = recorded("copilot/preToolUse.create.ask.json", &folder);
    let gemini = recorded("gemini/BeforeTool.write_file.ask.json", &folder);
    let opencode = recorded("opencode/tool.execute.before.write.throws.json", &folder);
    // The recorded calls create a file.
    for (agent, input) in [
        ("claude-code", &claude),
        ("codex", &codex),
        ("copilot", &copilot),
        ("gemini", &gemini),
        ("opencode", &opencode),
    ] {
        let (changes, reply) = changes(&home, &service, agent, input);
        let file = &changes["files"][0];
        assert_eq!(file["path"], path, "{agent}: {changes}");
        assert_eq!(
            (&file["kind"], &file["added"]),
            (&json!("create"), &json!(1)),
            "{agent}"
        );
        let diff = file["diff"].as_str().expect("a diff");
        assert!(
            diff.starts_with("@@ -0,0 +1,1 @@\n+hello\n"),
            "{agent}: {diff}"
        );
        assert!(reply.contains("denied by the operator"), "{agent}: {reply}");
    }
    fs::write(&file, "one\ntwo\nthree\n").expect("a file");
    let patch =
        format!("*** Begin Patch\n*** Update File: {path}\n@@\n one\n-two\n+2\n*** End Patch");
    let swap =
        |path_field: &str, old: &str, new: &str| json!({path_field: path, old: "two", new: "2"});
    let diff = "@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n";
    for (agent, input, tool, arguments) in [
        (
            "claude-code",
            &claude,
            "Edit",
            swap("file_path", "old_string", "new_string"),
        ),
        (
            "claude-code",
            &claude,
            "MultiEdit",
            json!({"file_path": path, "edits": [
                {"old_string": "two", "new_string": "zwei"},
                {"old_string": "zwei", "new_string": "2"},
            ]}),
        ),
        ("codex", &codex, "apply_patch", json!({"command": patch})),
        (
            "copilot",
            &copilot,
            "edit",
            swap("path", "old_str", "new_str"),
        ),
        (
            "gemini",
            &gemini,
            "replace",
            swap("file_path", "old_string", "new_string"),
        ),
        (
            "opencode",
            &opencode,
            "edit",
            swap("filePath", "oldString", "newString"),
        ),
        ("opencode", &opencode, "patch", json!({"patchText": patch})),
    ] {
        let input = with_tool(input.clone(), tool, arguments);
        let (changes, _) = changes(&home, &service, agent, &input);
        let file = &changes["files"][0];
        assert_eq!(file["kind"], "edit", "{agent} {tool}");
        assert_eq!(file["diff"], diff, "{agent} {tool}: {changes}");
        assert_eq!((&file["added"], &file["removed"]), (&json!(1), &json!(1)));
    }
    let notebook = folder.join("n.ipynb");
    fs::write(
        &notebook,
        r#"{"cells": [{"id": "c1", "source": ["x = 1\n", "y = 2"]}]}"#,
    )
    .expect("a file");
    let arguments =
        json!({"notebook_path": notebook, "cell_id": "c1", "new_source": "x = 1\ny = 3"});
    let input = with_tool(claude.clone(), "NotebookEdit", arguments);
    let (changes, _) = changes(&home, &service, "claude-code", &input);
    let diff = changes["files"][0]["diff"].as_str().expect("a diff");
    assert!(
        diff.contains(" x = 1\n-y = 2\n") && diff.contains("+y = 3\n"),
        "{diff}"
    );
}

#[test]
fn special_files_neither_block_the_question_nor_are_shown() {
    let home = Home::new();
    let service = service(&home);
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path().canonicalize().expect("it is there");
    let at = |name: &str| folder.join(name);
    let made = std::process::Command::new("mkfifo")
        .arg(at("fifo"))
        .status();
    assert!(made.expect("`mkfifo` runs").success());
    fs::write(at("binary"), [0xff, 0, 1]).expect("a file");
    fs::File::create(at("large"))
        .and_then(|file| file.set_len(1 << 40))
        .expect("a file");
    fs::create_dir(at("elsewhere")).expect("a folder");
    fs::write(at("elsewhere/target"), "old\n").expect("a file");
    std::os::unix::fs::symlink("elsewhere/target", at("link")).expect("a link");
    let claude = recorded("claude-code/PreToolUse.Write.ask.default.json", &folder);
    for (name, note) in [
        ("fifo", "not a regular file"),
        ("binary", "binary or not UTF-8"),
        ("large", "larger than 1 MiB"),
        ("link", "leads through a link to "),
    ] {
        let arguments = json!({"file_path": at(name), "content": "new\n"});
        let input = with_tool(claude.clone(), "Write", arguments);
        let (changes, _) = changes(&home, &service, "claude-code", &input);
        let file = &changes["files"][0];
        assert!(
            file["notes"].to_string().contains(note),
            "{name}: {changes}"
        );
        assert_eq!(file["kind"], "overwrite", "{name}");
        let diff = file["diff"].as_str().expect("a diff");
        assert!(diff.ends_with("+new\n"), "{name}: {diff}");
        assert_eq!(diff.contains("-old\n"), name == "link");
    }
}

#[test]
fn secrets_and_long_changes_are_limited() {
    let home = Home::new();
    let service = service(&home);
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path().canonicalize().expect("it is there");
    let claude = recorded("claude-code/PreToolUse.Write.ask.default.json", &folder);
    let write = |content: &str| {
        let arguments = json!({"file_path": folder.join("a"), "content": content});
        with_tool(claude.clone(), "Write", arguments)
    };
    let (secret, _) = changes(
        &home,
        &service,
        "claude-code",
        &write("API_KEY=abcdefghijklmnop\nx\n"),
    );
    let file = &secret["files"][0];
    assert_eq!(file["diff"], "@@ -0,0 +1,2 @@\n+API_KEY=[secret]\n+x\n");
    assert_eq!(file["masked"], true);
    let long: String = (0..5_000).map(|line| format!("line {line}\n")).collect();
    let (long, _) = changes(&home, &service, "claude-code", &write(&long));
    let file = &long["files"][0];
    assert_eq!(file["added"], 5_000);
    assert_eq!(file["omitted_lines"], 4_601);
    assert_eq!(file["diff"].as_str().expect("a diff").lines().count(), 400);
}

/// The agent's own prompt shows the change, so the service gets none.
#[test]
fn a_question_of_an_agent_with_its_own_prompt_has_no_changes() {
    let home = Home::new();
    let service = service(&home);
    let folder = tempfile::tempdir().expect("a folder");
    let input = recorded(
        "claude-code/PreToolUse.Write.ask.default.json",
        folder.path(),
    );
    let output = home.hook("claude-code", &[], &input);
    assert_eq!(super::decision_of(&output).0, "ask");
    let all = service.send("GET", "/api/hooks/decisions", &Value::Null);
    let record = &all["decisions"][0];
    assert_eq!(record["changes"], Value::Null);
    let path = format!("/api/hooks/decisions/{}/changes", record["id"]);
    assert_eq!(
        service.send("GET", &path, &Value::Null)["code"],
        "NOT_FOUND"
    );
}
