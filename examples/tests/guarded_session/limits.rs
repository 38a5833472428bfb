//! Limits of time, output and disk, and that no process outlives its call.

use std::fs;

use serde_json::Value;

use crate::support::{
    Run, bash, confinements, is_root, run, script, session, with_and_without_confinement,
};

#[test]
fn a_timeout_kills_a_call_and_its_child_processes() {
    for (index, plan) in with_and_without_confinement().iter().enumerate() {
        // A duration that no other process sleeps.
        let mark = format!("{}{index}.25", std::process::id());
        let text = format!(
            "trap '' TERM INT HUP\nsleep {mark} &\n(sleep {mark}) > /dev/null 2>&1 &\nsleep {mark}"
        );
        let mut calls = script(&text).to_vec();
        calls.push(bash("echo next"));
        let run = limited(&calls, plan, &["--time-limit", "1"]);
        assert_eq!(
            statuses(&run),
            ["succeeded", "timed_out", "succeeded"],
            "{plan:?}"
        );
        assert!(run.calls()[1]["exit_code"].is_null());
        assert_eq!(run.report()["summary"]["timed_out"], 1);
        assert!(!is_running(&mark), "{plan:?}: a process outlived its call");
    }
}

#[test]
fn background_processes_of_a_call_are_killed_at_its_end() {
    for (index, plan) in with_and_without_confinement().iter().enumerate() {
        let mark = format!("{}{index}.75", std::process::id());
        let run = limited(&script(&format!("sleep {mark} & echo started")), plan, &[]);
        assert_eq!(run.last()["output"], "started\n", "{plan:?}");
        assert_eq!(run.last()["status"], "succeeded", "{plan:?}");
        assert!(!is_running(&mark), "{plan:?}: a process outlived its call");
    }
}

#[test]
fn processes_outside_the_group_do_not_outlive_a_confined_call() {
    for (index, plan) in confinements().iter().enumerate() {
        let mark = format!("{}{index}.5", std::process::id());
        let text =
            format!("setsid sleep {mark} > /dev/null 2>&1 &\nset -m\nsleep {mark} &\nsleep 0.2");
        limited(&script(&text), &["--confinement", plan], &[]);
        assert!(!is_running(&mark), "{plan}: a process outlived its call");
    }
}

#[test]
fn output_is_truncated_at_the_limit() {
    for plan in &with_and_without_confinement() {
        let run = limited(
            &[bash("yes"), bash("echo next")],
            plan,
            &["--output-limit", "1000"],
        );
        assert_eq!(statuses(&run), ["output_limit", "succeeded"], "{plan:?}");
        assert_eq!(run.calls()[0]["output"].as_str().map(str::len), Some(1000));
        let exact = limited(&[bash("printf 12345")], plan, &["--output-limit", "5"]);
        assert_eq!(statuses(&exact), ["succeeded"], "{plan:?}");
    }
}

#[test]
fn a_call_is_stopped_at_the_disk_limit_and_its_files_can_be_removed() {
    for plan in &with_and_without_confinement() {
        let fill =
            "i=0; while :; do i=$((i + 1)); head -c 60000000 /dev/zero > fill$i || exit 1; done";
        let mut calls = script(fill).to_vec();
        calls.extend([bash("rm fill*"), bash("echo next")]);
        let run = limited(&calls, plan, &["--approve", "always"]);
        assert_eq!(
            statuses(&run),
            ["succeeded", "disk_limit", "succeeded", "succeeded"],
            "{plan:?}"
        );
    }
}

#[test]
fn processes_and_memory_are_limited() {
    for plan in confinements() {
        let many = "for i in $(seq 400); do sleep 3 & done";
        let mut calls = script("ulimit -v; ulimit -c").to_vec();
        // The kernel does not limit the processes of root, only those of another user.
        if !(is_root() && (plan.starts_with("user") || *plan == "landlock")) {
            calls.extend(script(many));
        }
        let run = limited(&calls, &["--confinement", plan], &["--time-limit", "2"]);
        assert_eq!(run.calls()[1]["output"], "1048576\n0\n", "{plan}");
        if let Some(call) = run.calls().get(3) {
            let output = call["output"].as_str().expect("output");
            assert!(output.contains("fork"), "{plan}: {call}");
        }
    }
}

fn limited(calls: &[Value], plan: &[&str], limits: &[&str]) -> Run {
    let run = run(session(calls), &[&["--json"], plan, limits].concat());
    assert_eq!(run.status, Some(0), "{run:?}");
    run
}

fn statuses(run: &Run) -> Vec<String> {
    let status = |call: Value| call["status"].as_str().expect("a status").to_owned();
    run.calls().into_iter().map(status).collect()
}

/// Returns `true` if a process that is not a zombie has `mark` among its arguments.
fn is_running(mark: &str) -> bool {
    let processes = fs::read_dir("/proc").expect("/proc").flatten();
    processes.into_iter().any(|process| {
        fs::read_to_string(process.path().join("cmdline"))
            .is_ok_and(|line| line.split('\0').any(|argument| argument == mark))
    })
}
