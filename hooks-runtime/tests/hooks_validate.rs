//! The program `hooks-validate`, with real programs.
//!
//! It is built and tested with the feature `validate`, which a test of the whole workspace
//! has: `cargo test --workspace`, or `cargo test -p hooks-runtime --features validate`.

#![cfg(unix)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use hooks_runtime::CommandHook;
use hooks_runtime::testing::contract::{StopSignal, Subject, case};
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::Value;

const VALIDATE: &str = env!("CARGO_BIN_EXE_hooks-validate");

fn validate(arguments: &[&str]) -> Output {
    Command::new(VALIDATE).args(arguments).output().unwrap()
}

/// Validates a script of the shell.
fn shell(options: &[&str], script: &str) -> Output {
    validate(&[options, &["--", "/bin/sh", "-c", script]].concat())
}

fn report(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Returns the failed cases.
fn failed(output: &Output) -> Vec<String> {
    let report = report(output);
    let lines = report
        .lines()
        .filter_map(|line| line.strip_prefix("FAIL  "));
    let names = lines.filter_map(|line| line.split(' ').next());
    names.map(str::to_owned).collect()
}

/// Validates a script that fails exactly these cases.
fn fails(options: &[&str], script: &str, cases: &[&str]) -> String {
    let output = shell(options, script);
    assert_eq!(failed(&output), cases, "{}", report(&output));
    assert_eq!(output.status.code(), Some(1));
    report(&output)
}

#[test]
fn e_160_a_correct_program_passes_every_case() {
    let script = r#"cat >/dev/null; echo checked >&2; echo '{"action": "continue"}'"#;
    let output = shell(&[], script);
    assert_eq!(output.status.code(), Some(0), "{}", report(&output));
    let report = report(&output);
    assert_eq!(
        report
            .lines()
            .filter(|line| line.starts_with("PASS  "))
            .count(),
        18,
        "{report}"
    );
    assert!(
        report.contains("PASS  program_writes_one_result\n"),
        "{report}"
    );
    assert!(report.ends_with("18 passed, 0 failed\n"), "{report}");
}

#[test]
fn e_160_a_program_may_deny_ignore_its_input_and_print_nothing() {
    for script in ["exit 0", "echo 'not today' >&2; exit 2"] {
        let output = shell(&[], script);
        assert_eq!(
            output.status.code(),
            Some(0),
            "{script}: {}",
            report(&output)
        );
    }
}

/// A typical hook in another language.
const PYTHON: &str = r#"
import json, sys
data = json.load(sys.stdin)["data"]
path = data.get("file_path")
if isinstance(path, str) and path.endswith(".key"):
    print(json.dumps({"action": "deny", "reason": "keys are not written"}))
elif isinstance(path, str):
    print(json.dumps({"action": "modify", "data": {**data, "checked": True, "content": None, "tool_input": {}}}))
else:
    print(json.dumps({}))
"#;

/// Returns the path of Python, which starts faster than a command that selects a version of it.
/// Without Python, prints a note and returns `None`, or panics if everything is required.
fn python() -> Option<String> {
    let path = ["-c", "import sys; print(sys.executable)"];
    if let Ok(output) = Command::new("python3").args(path).output() {
        return Some(String::from_utf8(output.stdout).unwrap().trim().to_owned());
    }
    let required = std::env::var_os("HOOKS_REQUIRE_ALL").is_some_and(|value| value == "1");
    assert!(!required, "`python3` is missing");
    eprintln!("left out: `python3` is missing");
    None
}

#[test]
fn e_160_a_correct_python_program_passes_every_case() {
    if let Some(python) = python() {
        let output = validate(&["--timeout", "60", &python, "-c", PYTHON]);
        assert_eq!(output.status.code(), Some(0), "{}", report(&output));
    }
}

#[test]
fn e_160_a_python_program_that_trusts_its_input_fails() {
    if let Some(python) = python() {
        let trusting = "import json, sys\nprint(json.dumps({'reason': json.load(sys.stdin)['data']['file_path'][:9]}))";
        let output = validate(&["--timeout", "60", &python, "-c", trusting]);
        assert_eq!(output.status.code(), Some(1), "{}", report(&output));
        assert!(
            failed(&output).contains(&"survives_empty_data".to_owned()),
            "{}",
            report(&output)
        );
        assert!(
            report(&output).contains("KeyError: 'file_path'"),
            "{}",
            report(&output)
        );
    }
}

#[test]
fn e_41_a_crash_on_null_fails_the_case_with_null_data() {
    let script = r#"case "$(cat)" in *'"tool_name":null'*) echo 'no tool!' >&2; exit 3;; esac"#;
    let report = fails(&[], script, &["survives_null_data"]);
    assert!(
        report.contains("FAIL  survives_null_data\n      sent:   `tool:pre` with {"),
        "{report}"
    );
    assert!(
        report.contains("ended with exit status: 3: no tool!"),
        "{report}"
    );
    assert!(
        report.contains("remedy: treat a field that is `null` as missing"),
        "{report}"
    );
    assert!(report.ends_with("17 passed, 1 failed\n"), "{report}");
}

#[test]
fn e_38_an_output_in_another_format_fails() {
    let script = r#"cat >/dev/null; echo '{"decision": "approve"}'"#;
    let output = shell(&[], script);
    let failed = failed(&output);
    assert!(
        failed.contains(&"program_writes_one_result".to_owned()),
        "{failed:?}"
    );
    let report = report(&output);
    assert!(report.contains("there is no `action`"), "{report}");
}

#[test]
fn e_93_an_unknown_action_fails_and_is_named() {
    let script =
        r#"cat >/dev/null; [ "$HOOK_EVENT" != no:such:event ] || echo '{"action": "allow"}'"#;
    let report = fails(
        &[],
        script,
        &["handles_an_unknown_event", "program_writes_one_result"],
    );
    assert!(
        report.contains("field `action` is `allow`; it is one of `continue`"),
        "{report}"
    );
}

#[test]
fn e_93_a_wrong_type_beside_a_denial_fails_and_is_named() {
    let script = r#"cat >/dev/null; echo '{"action": "deny", "ephemeral": "yes"}'"#;
    let report = fails(&[], script, &["program_writes_one_result"]);
    assert!(
        report.contains("field `ephemeral` is `yes`; it is `true` or `false`"),
        "{report}"
    );
}

#[test]
fn e_160_garbage_on_standard_output_fails() {
    let output = shell(&[], r"cat >/dev/null; printf 'so far\033[2J so good\n'");
    assert_eq!(output.status.code(), Some(1));
    let report = report(&output);
    assert_eq!(failed(&output), OUTPUT_CASES, "{report}");
    assert!(
        report.contains("does not end with a JSON object"),
        "{report}"
    );
    assert!(
        report.contains(r"got:    `so far\u{1b}[2J so good`, which is not one JSON object"),
        "{report}"
    );
    assert!(!report.contains('\u{1b}'), "{report}");
}

#[test]
fn e_160_text_before_the_output_object_fails_and_is_shown() {
    let script = "cat >/dev/null; echo looking; echo '{}'";
    let report = fails(&[], script, &["program_writes_one_result"]);
    assert!(
        report.contains(r"`looking\n{}`, which is not one JSON object"),
        "{report}"
    );
    let report = fails(&[], r"printf '\377'", &OUTPUT_CASES);
    assert!(report.contains("which is not UTF-8"), "{report}");
}

#[test]
fn an_output_that_a_registry_reads_leniently_fails_and_its_parts_are_named() {
    for (printed, parts) in [
        (
            r#"{"action": "deny"}\n{"action": "continue"}"#,
            "2 JSON objects",
        ),
        (
            r#"looking\n{"action": "deny"}"#,
            "text around the JSON, `looking`",
        ),
        (
            r#"{"action": "deny"}\n{}\ndone"#,
            "2 JSON objects and text around the JSON, `done`",
        ),
        (r"\357\273\277{}", "a byte order mark"),
        (r"\033[32m{}\033[0m", "colour codes"),
        (r"{\000}\000", "UTF-16 text"),
    ] {
        let script = format!("cat >/dev/null; printf '{printed}\\n'");
        // Two bytes a character.
        let script = script.replace(r"\000}\000\n", r"\000}\000\n\000");
        let report = fails(&[], &script, &["program_writes_one_result"]);
        assert!(report.contains("which is not one JSON object"), "{report}");
        assert!(report.contains(&format!("; it has {parts}\n")), "{report}");
    }
}

#[test]
fn a_program_that_cannot_be_started_ends_the_validation_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let output = validate(&[folder.path().to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2));
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(
        message.contains("is a folder; give the path of a program"),
        "{message}"
    );
}

/// Cases that a program with invalid output fails.
const OUTPUT_CASES: [&str; 16] = [
    "returns_valid_results",
    "survives_empty_data",
    "survives_null_data",
    "handles_every_standard_event",
    "handles_an_unknown_event",
    "survives_a_huge_text",
    "survives_many_fields",
    "survives_deep_nesting",
    "survives_wrong_types",
    "survives_odd_text",
    "handles_repeated_events",
    "handles_concurrent_events",
    "handles_collected_events",
    "survives_being_dropped",
    "unregisters",
    "program_writes_one_result",
];

#[test]
fn e_160_exit_code_2_with_an_allowing_output_fails() {
    let script = r#"cat >/dev/null; echo '{"action": "continue"}'; exit 2"#;
    let report = fails(&[], script, &["program_exits_with_0_or_2"]);
    assert!(
        report.contains("exit code 2, which denies, with the output `continue`"),
        "{report}"
    );
}

#[test]
fn e_36_an_undefined_exit_code_fails() {
    let script =
        r#"cat >/dev/null; [ "$HOOK_EVENT" != no:such:event ] || { echo hm >&2; exit 7; }"#;
    let report = fails(
        &[],
        script,
        &["handles_an_unknown_event", "program_exits_with_0_or_2"],
    );
    assert!(
        report.contains("exit status: 7, with `hm` on its standard error"),
        "{report}"
    );
}

#[test]
fn e_160_a_program_that_hangs_fails() {
    let script = r#"case "$(cat)" in *'"tool_name":null'*) exec sleep 60;; esac"#;
    let report = fails(&["--timeout", "1.5"], script, &["survives_null_data"]);
    assert!(report.contains("got:    no output within 1.5s"), "{report}");
}

#[test]
fn e_160_processes_that_outlive_the_program_fail() {
    let case = ["program_leaves_nothing_running"];
    // Only for one event, because each such run takes the whole grace period.
    let script = r#"cat >/dev/null; [ "$HOOK_EVENT" != no:such:event ] || { sleep 60 & }; exit 0"#;
    let report = fails(&[], script, &case);
    assert!(report.contains("while its output stays open"), "{report}");
    let report = fails(
        &[],
        "cat >/dev/null; sleep 60 >/dev/null 2>&1 & exit 0",
        &case,
    );
    assert!(
        report.contains("while another process of it runs on"),
        "{report}"
    );
}

#[test]
fn e_160_edge_case_data_are_sent_to_the_chosen_events() {
    let script =
        r#"[ "$HOOK_EVENT" != deploy:start ] || case "$(cat)" in *'"data":{}'*) exit 1;; esac"#;
    assert_eq!(shell(&[], script).status.code(), Some(0));
    let events = ["--event", "tool:pre", "--event", "deploy:start"];
    let cases = [
        "survives_empty_data",
        "survives_null_data",
        "program_exits_with_0_or_2",
    ];
    let report = fails(&events, script, &cases);
    assert!(
        report.contains("sent:   `deploy:start` with {}"),
        "{report}"
    );
}

#[test]
fn e_160_the_result_can_be_printed_as_json() {
    let script = r#"case "$(cat)" in *'"tool_name":null'*) exit 3;; esac"#;
    let output = shell(&["--json"], script);
    assert_eq!(output.status.code(), Some(1));
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&result["passed"], &result["failed"]),
        (&17.into(), &1.into())
    );
    assert_eq!(result["command"][0], "/bin/sh");
    let cases = result["cases"].as_array().unwrap();
    let failed: Vec<_> = cases
        .iter()
        .filter(|case| case["passed"] == false)
        .collect();
    assert_eq!(failed.len(), 1);
    assert_eq!(failed[0]["name"], "survives_null_data");
    assert!(
        failed[0]["came"]
            .as_str()
            .unwrap()
            .contains("exit status: 3"),
        "{result:#}"
    );
    assert!(cases[0].get("came").is_none(), "{result:#}");
}

#[test]
fn e_160_a_program_that_cannot_start_is_exit_status_2() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    for program in ["/no/such/program", folder.to_str().unwrap()] {
        let output = validate(&[program]);
        assert_eq!(output.status.code(), Some(2));
        assert_eq!(report(&output), "");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(
            errors.contains(program) && errors.contains("cannot be started"),
            "{errors}"
        );
    }
}

#[test]
fn e_160_an_invalid_command_line_is_exit_status_2() {
    let lines: [&[&str]; 6] = [
        &[],
        &["--no-such-option", "true"],
        &["--timeout", "0", "true"],
        &["--timeout", "-1", "true"],
        &["--timeout", "soon", "true"],
        &["--timeout", "NaN", "true"],
    ];
    for line in lines {
        assert_eq!(validate(line).status.code(), Some(2), "{line:?}");
    }
}

#[test]
fn e_160_the_help_names_every_option_and_exit_status() {
    let output = validate(&["--help"]);
    assert_eq!(output.status.code(), Some(0));
    let report = report(&output);
    for word in [
        "--timeout",
        "--json",
        "--event",
        "COMMAND",
        "HOOK_EVENT",
        "Exit status: 0",
        "[default: 5]",
    ] {
        assert!(report.contains(word), "{word}: {report}");
    }
    assert_eq!(validate(&["--version"]).status.code(), Some(0));
}

/// Returns the running processes that have written their ids into a file, once there are so many,
/// or after a timeout. The run that only checks the start may have written its id as well.
fn pids(file: &Path, count: usize) -> Vec<i32> {
    let mut ids = Vec::new();
    for _ in 0..6000 {
        let lines = std::fs::read_to_string(file).unwrap_or_default();
        ids = lines.lines().filter_map(|id| id.parse().ok()).collect();
        ids.retain(|id| runs(*id));
        if ids.len() >= count {
            break;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    ids
}

/// Returns `true` if a process runs; zombies do not count.
fn runs(pid: i32) -> bool {
    if cfg!(target_os = "linux") {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let state = stat.rsplit_once(") ").map(|(_, rest)| &rest[..1]);
        return state.is_some_and(|state| state != "Z");
    }
    Pid::from_raw(pid).is_some_and(|pid| test_kill_process(pid).is_ok())
}

/// Returns `true` if none of these runs. A killed process ends after a delay.
fn have_ended(pids: &[i32]) -> bool {
    (0..2000).any(|_| {
        std::thread::sleep(Duration::from_millis(5));
        !pids.iter().any(|pid| runs(*pid))
    })
}

/// Starts a validation of a script, which writes the ids of so many hanging processes into the file
/// `$0`; then sends the signal.
fn stopped(options: &[&str], script: &str, count: usize, signal: Signal) -> (Output, Vec<i32>) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pids");
    let validation = Command::new(VALIDATE)
        .args(options)
        .args(["--timeout", "3600", "--", "/bin/sh", "-c", script])
        .arg(&file)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let pids = pids(&file, count);
    kill_process(Pid::from_child(&validation), signal).unwrap();
    let output = validation.wait_with_output().unwrap();
    assert!(pids.len() >= count, "{pids:?}: {}", report(&output));
    (output, pids)
}

#[test]
fn e_160_a_signal_kills_the_program_before_the_validation_exits() {
    for (signal, status) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)] {
        let script = r#"echo $$ >>"$0"; exec sleep 3600"#;
        let (output, pids) = stopped(&[], script, 1, signal);
        assert_eq!(output.status.code(), Some(status));
        assert!(have_ended(&pids), "{pids:?}");
        assert_eq!(failed(&output), [""; 0], "{}", report(&output));
    }
    let script = r#"echo $$ >>"$0"; exec sleep 3600"#;
    let (output, _) = stopped(&["--json"], script, 1, Signal::INT);
    assert_eq!((output.status.code(), &*report(&output)), (Some(130), ""));
}

#[test]
fn e_160_a_stop_kills_concurrent_programs_and_their_children() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pids");
    let script = r#"sleep 3600 & echo $! >>"$0"; echo $$ >>"$0"; wait"#;
    let program = CommandHook::new("/bin/sh").args(["-c", script]).arg(&file);
    let stop = StopSignal::new();
    let subject = Subject::program(program)
        .time_limit(Duration::from_secs(3600))
        .stopped_by(&stop);
    let case = case("handles_concurrent_events").unwrap();
    let check = std::thread::spawn(move || case.check(&subject));
    let pids = pids(&file, 16);
    stop.stop();
    let failure = check.join().unwrap().unwrap_err();
    assert!(failure.came.contains("was stopped"), "{failure}");
    assert_eq!(pids.len(), 16);
    assert!(have_ended(&pids), "{pids:?}");
}
