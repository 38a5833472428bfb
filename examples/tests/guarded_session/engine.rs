//! Hook engine around the calls: its refusals and its records.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{
    Run, bash, confinements, folder, run, script, session, with_and_without_confinement,
};

fn read(path: &str) -> Value {
    json!({"tool": "read", "path": path})
}

fn write(path: &str, text: &str) -> Value {
    json!({"tool": "write", "path": path, "text": text})
}

fn edit(path: &str, old: &str, new: &str) -> Value {
    json!({"tool": "edit", "path": path, "old": old, "new": new})
}

/// Returns the hook that decided on each call.
fn by(run: &Run) -> Vec<String> {
    let calls = run.calls();
    let by = calls.iter().map(|call| call["by"].as_str().expect("by"));
    by.map(str::to_owned).collect()
}

fn why(call: &Value) -> &str {
    call["why"].as_str().expect("why")
}

/// Returns the lines of a file of records.
fn lines(folder: &Path, file: &str) -> Vec<Value> {
    let text = fs::read_to_string(folder.join(file)).expect("records");
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).expect("a line of JSON"))
        .collect()
}

#[test]
fn r_28_a_file_outside_of_the_project_is_out_of_scope() {
    let calls = [
        write("/etc/passwd", ""),
        write("../x", ""),
        edit("/workspace/tally/../x", "a", "b"),
        write(".intentignore", "*"),
        write("/workspace/tally/new", ""),
    ];
    let run = run(session(&calls), &["--json", "--no-sandbox"]);
    let scope = "scope-enforcement";
    assert_eq!(by(&run), [scope, scope, scope, scope, "relocate"]);
    for call in &run.calls()[..4] {
        assert_eq!(call["decision"], "refused", "{call}");
        assert_eq!(call["status"], "not_run", "{call}");
        assert_eq!(call["ran"], Value::Null, "{call}");
        assert!(why(call).starts_with("Scope Violation: `"), "{call}");
        assert!(why(call).contains("; change a file in the scope"), "{call}");
    }
}

#[test]
fn r_28_a_path_of_the_original_project_is_checked_in_the_scratch_copy() {
    let calls = [
        bash("printf 'keep\n' > .intentignore"),
        write("/workspace/tally/keep", ""),
    ];
    let run = run(session(&calls), &["--json", "--no-sandbox"]);
    let last = run.last();
    assert_eq!(last["by"], "scope-enforcement");
    let start = "Protected by .intentignore: `./keep` is named by ";
    assert!(why(&last).starts_with(start), "{last}");
}

#[test]
fn r_27_a_file_that_has_changed_since_it_was_read_is_not_written() {
    let calls = [
        read("README.md"),
        bash("echo more >> README.md"),
        write("README.md", "x"),
        edit("./README.md", "more", "less"),
        read("/workspace/tally/README.md"),
        edit("README.md", "more", "less"),
        bash("sed -i s/less/none/ README.md"),
        edit("README.md", "none", "some"),
        // This file has not been read.
        bash("echo more >> tally.sh"),
        write("tally.sh", "x"),
    ];
    let run = run(session(&calls), &["--json", "--no-sandbox"]);
    let expected = [
        "validate",
        "validate",
        "concurrency",
        "concurrency",
        "relocate",
        "validate",
        "validate",
        "concurrency",
        "validate",
        "validate",
    ];
    assert_eq!(by(&run), expected);
    assert_eq!(
        run.calls()[2]["why"],
        "hook `concurrency` failed: `README.md` has changed since it was read; read it again before writing to it"
    );
}

#[test]
fn r_27_a_pipe_in_place_of_a_file_does_not_block_the_session() {
    for plan in &with_and_without_confinement() {
        let mut calls = vec![read("README.md"), read("tally.sh")];
        calls.extend(script("rm tally.sh; mkfifo tally.sh .intentignore"));
        calls.extend([edit("tally.sh", "a", "b"), write("new", "x")]);
        let run = run(session(&calls), &[&["--json"], &plan[..]].concat());
        assert_eq!(by(&run)[4..], ["concurrency", "scope-enforcement"]);
    }
}

#[test]
fn r_30_the_third_identical_call_is_halted_for_any_spelling_of_its_path() {
    let calls = [
        bash("ls /workspace/tally"),
        bash("ls ."),
        bash("ls ."),
        bash("ls -a"),
        bash("ls ."),
    ];
    let run = run(session(&calls), &["--json", "--no-sandbox"]);
    assert_eq!(
        by(&run),
        [
            "relocate",
            "validate",
            "circuit-breaker",
            "validate",
            "validate"
        ]
    );
    assert_eq!(
        run.calls()[2]["why"],
        "Circuit Breaker Tripped: `execute_command` was called 3 times in a row with the same parameters; try something else, or the same with other parameters"
    );
}

#[test]
fn r_31_calls_beyond_the_budget_are_refused() {
    let calls = [bash("pwd"), bash("ls"), read("README.md")];
    let budget = |calls_left: &str| {
        let arguments = ["--json", "--no-sandbox", "--budget", calls_left];
        run(session(&calls), &arguments)
    };
    let one = budget("1");
    assert_eq!(by(&one), ["validate", "budget", "budget"]);
    let why = "Budget Exceeded: 1 of 1 calls are used for intent `REQ-replay`; ";
    let last = one.last();
    assert!(
        last["why"].as_str().expect("why").starts_with(why),
        "{last}"
    );
    assert_eq!(by(&budget("0")), ["budget"; 3]);
    assert_eq!(by(&budget("3")), ["validate"; 3]);
}

#[test]
fn r_26_the_records_contain_each_call_that_ran() {
    let records = folder();
    let folder = records.path().join("new/records");
    let secret = "ghp_0123456789abcdefghijklmnop";
    let calls = [
        write("/workspace/tally/a", "one\n"),
        edit("a", "one", "two"),
        write("b", &format!("token={secret}\n")),
        edit("a", "missing", "x"),
        write("../out", "x"),
        bash(&format!("echo {secret}; exit 3")),
    ];
    let folder_name = folder.to_str().expect("a name");
    for times in 1..=2 {
        let arguments = ["--json", "--no-sandbox", "--records", folder_name];
        let run = run(session(&calls), &arguments);
        assert_eq!(run.status, Some(0), "{run:?}");

        let mutations = lines(&folder, "mutations.jsonl");
        assert_eq!(
            mutations.len(),
            3 * times,
            "each session appends its records"
        );
        let recorded = mutations[..3].iter().map(|line| {
            json!([
                line["request_id"],
                line["tool"],
                line["file"],
                line["bytes"],
                line["intent_id"]
            ])
        });
        let intent = "REQ-replay";
        let expected = json!([
            ["1", "write_to_file", "a", 4, intent],
            ["2", "search_and_replace", "a", 4, intent],
            ["3", "write_to_file", "b", 37, intent],
        ]);
        assert_eq!(recorded.collect::<Value>(), expected);
        // Content of `two`, with its line break.
        assert_eq!(
            mutations[1]["content_hash"],
            "sha256:27dd8ed44a83ff94d557f9fd0412ed5a8cbca69ea04922d88c01184a07300a5a"
        );
        assert_eq!(lines(&folder, "agent_trace.jsonl").len(), 3 * times);
    }
    // The selection of the intent, and the calls that ran.
    let trace = lines(&folder, "trace.jsonl");
    let ended: Vec<_> = trace[..6].iter().map(|line| &line["status"]).collect();
    let (good, bad) = ("SUCCESS", "FAILURE");
    assert_eq!(ended, [good, good, good, good, bad, bad]);
    assert_eq!(trace[0]["tool"], "select_active_intent");
    assert_eq!(trace[5]["exit_code"], 3);
    for file in fs::read_dir(&folder).expect("the folder") {
        // The audit trail is among the files, and is not text.
        let bytes = fs::read(file.expect("a file").path()).expect("a file");
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains(secret), "{text}");
    }
    let lessons = lines(&folder, "lessons.jsonl");
    assert_eq!(lessons.len(), 1, "each lesson is written once: {lessons:?}");
    assert_eq!(lessons[0]["kind"], "scope-violation");
}

#[test]
fn a_relative_records_folder_is_relative_to_the_working_directory() {
    let folder = folder();
    let mut command = crate::support::example();
    command
        .args(["-", "--json", "--no-sandbox", "--records", "records"])
        .current_dir(folder.path());
    let run = crate::support::finish(&mut command, session(&[bash("ls")]).as_bytes());
    assert_eq!(run.status, Some(0), "{run:?}");
    let output = run.last()["output"].to_string();
    assert!(!output.contains("records"), "{output}");
    assert!(folder.path().join("records/trace.jsonl").exists());
}

#[test]
fn no_call_runs_if_the_records_folder_cannot_be_created() {
    let folder = folder();
    let file = folder.path().join("file");
    fs::write(&file, "").expect("a file");
    let name = file.to_str().expect("a name");
    let run = run(
        session(&[bash("ls")]),
        &["--json", "--no-sandbox", "--records", name],
    );
    assert_eq!(run.status, Some(1), "{run:?}");
    assert!(run.stdout.is_empty(), "{run:?}");
    let message = "cannot start the session: cannot create the hook engine: ";
    assert!(run.stderr.contains(message), "{run:?}");
}

#[test]
fn a_confined_call_cannot_access_the_records() {
    for plan in confinements() {
        let calls = script(
            "for place in . .. ../.. ../home ../tmp; do
                cat $place/records/trace.jsonl && echo read
                echo x >> $place/records/trace.jsonl && echo written
                rm -r $place/records && echo removed
                cat $place/audit/audit.db && echo read
                echo x >> $place/audit/audit.db && echo written
                rm -r $place/audit && echo removed
            done",
        );
        let mut calls = calls.to_vec();
        calls.push(bash("echo next"));
        let run = run(session(&calls), &["--json", "--confinement", plan]);
        let output = run.calls()[1]["output"].to_string();
        for done in ["read\\n", "written", "removed"] {
            assert!(!output.contains(done), "{plan}: {output}");
        }
        // An engine without its records would refuse this call.
        assert_eq!(run.last()["output"], "next\n", "{plan}");
    }
}
