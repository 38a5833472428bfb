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

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Returns the failed cases.
fn failed(output: &Output) -> Vec<String> {
    let said = said(output);
    let lines = said.lines().filter_map(|line| line.strip_prefix("FAIL  "));
    let names = lines.filter_map(|line| line.split(' ').next());
    names.map(str::to_owned).collect()
}

/// Validates a script that fails exactly these cases.
fn fails(options: &[&str], script: &str, cases: &[&str]) -> String {
    let output = shell(options, script);
    assert_eq!(failed(&output), cases, "{}", said(&output));
    assert_eq!(output.status.code(), Some(1));
    said(&output)
}

#[test]
fn e_160_a_program_that_behaves_holds_every_case() {
    let script = r#"cat >/dev/null; echo checked >&2; echo '{"action": "continue"}'"#;
    let output = shell(&[], script);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let said = said(&output);
    assert_eq!(
        said.lines()
            .filter(|line| line.starts_with("PASS  "))
            .count(),
        18,
        "{said}"
    );
    assert!(said.contains("PASS  program_writes_one_answer\n"), "{said}");
    assert!(said.ends_with("18 passed, 0 failed\n"), "{said}");
}

#[test]
fn e_160_a_program_may_say_no_read_nothing_and_be_silent() {
    for script in ["exit 0", "echo 'not today' >&2; exit 2"] {
        let output = shell(&[], script);
        assert_eq!(output.status.code(), Some(0), "{script}: {}", said(&output));
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

/// Returns `true` if Python is installed; without it, the test prints a note, and fails if
/// everything is required.
fn has_python() -> bool {
    let found = Command::new("python3").arg("--version").output().is_ok();
    if !found {
        let required = std::env::var_os("HOOKS_REQUIRE_ALL").is_some_and(|value| value == "1");
        assert!(!required, "`python3` is missing");
        eprintln!("left out: `python3` is missing");
    }
    found
}

#[test]
fn e_160_a_program_in_another_language_holds_every_case() {
    if has_python() {
        let output = validate(&["--timeout", "60", "python3", "-c", PYTHON]);
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    }
}

#[test]
fn e_160_a_program_in_another_language_that_trusts_its_input_does_not() {
    if has_python() {
        let trusting = "import json, sys\nprint(json.dumps({'reason': json.load(sys.stdin)['data']['file_path'][:9]}))";
        let output = validate(&["--timeout", "60", "python3", "-c", trusting]);
        assert_eq!(output.status.code(), Some(1), "{}", said(&output));
        assert!(
            failed(&output).contains(&"survives_empty_data".to_owned()),
            "{}",
            said(&output)
        );
        assert!(
            said(&output).contains("KeyError: 'file_path'"),
            "{}",
            said(&output)
        );
    }
}

#[test]
fn e_41_a_crash_on_null_fails_that_case() {
    let script = r#"case "$(cat)" in *'"tool_name":null'*) echo 'no tool!' >&2; exit 3;; esac"#;
    let said = fails(&[], script, &["survives_null_data"]);
    assert!(
        said.contains("FAIL  survives_null_data\n      sent:   `tool:pre` with {"),
        "{said}"
    );
    assert!(
        said.contains("ended with exit status: 3: no tool!"),
        "{said}"
    );
    assert!(
        said.contains("remedy: treat a field that is `null` as missing"),
        "{said}"
    );
    assert!(said.ends_with("17 passed, 1 failed\n"), "{said}");
}

#[test]
fn e_38_an_answer_in_another_format_is_found() {
    let script = r#"cat >/dev/null; echo '{"decision": "approve"}'"#;
    let output = shell(&[], script);
    let failed = failed(&output);
    assert!(
        failed.contains(&"program_writes_one_answer".to_owned()),
        "{failed:?}"
    );
    let said = said(&output);
    assert!(said.contains("there is no `action`"), "{said}");
}

#[test]
fn e_93_an_unknown_action_fails_and_is_named() {
    let script =
        r#"cat >/dev/null; [ "$HOOK_EVENT" != no:such:event ] || echo '{"action": "allow"}'"#;
    let said = fails(
        &[],
        script,
        &["answers_an_unknown_event", "program_writes_one_answer"],
    );
    assert!(
        said.contains("field `action` is `allow`; it is one of `continue`"),
        "{said}"
    );
}

#[test]
fn e_93_a_wrong_type_beside_a_denial_fails_and_is_named() {
    let script = r#"cat >/dev/null; echo '{"action": "deny", "ephemeral": "yes"}'"#;
    let said = fails(&[], script, &["program_writes_one_answer"]);
    assert!(
        said.contains("field `ephemeral` is `yes`; it is `true` or `false`"),
        "{said}"
    );
}

#[test]
fn e_160_garbage_on_standard_output_fails() {
    let output = shell(&[], r"cat >/dev/null; printf 'so far\033[2J so good\n'");
    assert_eq!(output.status.code(), Some(1));
    let said = said(&output);
    assert_eq!(failed(&output), ALL_ANSWERS, "{said}");
    assert!(said.contains("does not end with a JSON object"), "{said}");
    assert!(
        said.contains(r"got:    `so far\u{1b}[2J so good`, which is not one JSON object"),
        "{said}"
    );
    assert!(!said.contains('\u{1b}'), "{said}");
}

#[test]
fn e_160_what_is_written_before_an_answer_fails_and_is_shown() {
    let script = "cat >/dev/null; echo looking; echo '{}'";
    let said = fails(&[], script, &["program_writes_one_answer"]);
    assert!(
        said.contains(r"`looking\n{}`, which is not one JSON object"),
        "{said}"
    );
    let said = fails(&[], r"printf '\377'", &ALL_ANSWERS);
    assert!(said.contains("which is not UTF-8"), "{said}");
}

/// Cases that a program with invalid output fails.
const ALL_ANSWERS: [&str; 16] = [
    "answers_validly",
    "survives_empty_data",
    "survives_null_data",
    "answers_every_standard_event",
    "answers_an_unknown_event",
    "survives_a_huge_text",
    "survives_many_fields",
    "survives_deep_nesting",
    "survives_wrong_types",
    "survives_odd_text",
    "answers_again_and_again",
    "answers_concurrently",
    "answers_when_collected",
    "survives_being_dropped",
    "unregisters",
    "program_writes_one_answer",
];

#[test]
fn e_160_a_no_that_says_yes_fails() {
    let script = r#"cat >/dev/null; echo '{"action": "continue"}'; exit 2"#;
    let said = fails(&[], script, &["program_exits_with_0_or_2"]);
    assert!(
        said.contains("exit code 2, which denies, with the answer `continue`"),
        "{said}"
    );
}

#[test]
fn e_36_an_exit_code_of_its_own_fails() {
    let script =
        r#"cat >/dev/null; [ "$HOOK_EVENT" != no:such:event ] || { echo hm >&2; exit 7; }"#;
    let said = fails(
        &[],
        script,
        &["answers_an_unknown_event", "program_exits_with_0_or_2"],
    );
    assert!(
        said.contains("exit status: 7, with `hm` on its standard error"),
        "{said}"
    );
}

#[test]
fn e_160_a_program_that_hangs_fails() {
    let script = r#"case "$(cat)" in *'"tool_name":null'*) exec sleep 60;; esac"#;
    let said = fails(&["--timeout", "1.5"], script, &["survives_null_data"]);
    assert!(said.contains("got:    no output within 1.5s"), "{said}");
}

#[test]
fn e_160_processes_that_outlive_the_answer_fail() {
    let case = ["program_leaves_nothing_running"];
    let said = fails(&[], "cat >/dev/null; sleep 60 & exit 0", &case);
    assert!(said.contains("while its output stays open"), "{said}");
    let said = fails(
        &[],
        "cat >/dev/null; sleep 60 >/dev/null 2>&1 & exit 0",
        &case,
    );
    assert!(
        said.contains("while another process of it runs on"),
        "{said}"
    );
}

#[test]
fn e_160_the_odd_data_go_to_the_events_that_were_chosen() {
    let script =
        r#"[ "$HOOK_EVENT" != deploy:start ] || case "$(cat)" in *'"data":{}'*) exit 1;; esac"#;
    assert_eq!(shell(&[], script).status.code(), Some(0));
    let events = ["--event", "tool:pre", "--event", "deploy:start"];
    let cases = [
        "survives_empty_data",
        "survives_null_data",
        "program_exits_with_0_or_2",
    ];
    let said = fails(&events, script, &cases);
    assert!(said.contains("sent:   `deploy:start` with {}"), "{said}");
}

#[test]
fn e_160_the_outcome_can_be_had_as_json() {
    let script = r#"case "$(cat)" in *'"tool_name":null'*) exit 3;; esac"#;
    let output = shell(&["--json"], script);
    assert_eq!(output.status.code(), Some(1));
    let outcome: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&outcome["passed"], &outcome["failed"]),
        (&17.into(), &1.into())
    );
    assert_eq!(outcome["command"][0], "/bin/sh");
    let cases = outcome["cases"].as_array().unwrap();
    let failed: Vec<_> = cases
        .iter()
        .filter(|case| case["passed"] == false)
        .collect();
    assert_eq!(failed.len(), 1);
    assert_eq!(failed[0]["name"], "survives_null_data");
    assert_eq!(failed[0]["rule"], "E-41");
    assert!(
        failed[0]["came"]
            .as_str()
            .unwrap()
            .contains("exit status: 3"),
        "{outcome:#}"
    );
    assert!(cases[0].get("came").is_none(), "{outcome:#}");
}

#[test]
fn e_160_what_cannot_be_started_is_2() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    for program in ["/no/such/program", folder.to_str().unwrap()] {
        let output = validate(&[program]);
        assert_eq!(output.status.code(), Some(2));
        assert_eq!(said(&output), "");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(
            errors.contains(program) && errors.contains("cannot be started"),
            "{errors}"
        );
    }
}

#[test]
fn e_160_a_bad_command_line_is_2() {
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
    let said = said(&output);
    for word in [
        "--timeout",
        "--json",
        "--event",
        "COMMAND",
        "HOOK_EVENT",
        "Exit status: 0",
        "[default: 5]",
    ] {
        assert!(said.contains(word), "{word}: {said}");
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
    assert!(pids.len() >= count, "{pids:?}: {}", said(&output));
    (output, pids)
}

#[test]
fn e_160_a_signal_ends_the_program_before_the_validation() {
    for (signal, status) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)] {
        let script = r#"echo $$ >>"$0"; exec sleep 3600"#;
        let (output, pids) = stopped(&[], script, 1, signal);
        assert_eq!(output.status.code(), Some(status));
        assert!(have_ended(&pids), "{pids:?}");
        assert_eq!(failed(&output), [""; 0], "{}", said(&output));
    }
    let script = r#"echo $$ >>"$0"; exec sleep 3600"#;
    let (output, _) = stopped(&["--json"], script, 1, Signal::INT);
    assert_eq!((output.status.code(), &*said(&output)), (Some(130), ""));
}

#[test]
fn e_160_a_stop_ends_programs_that_run_at_once_and_what_they_have_started() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pids");
    let script = r#"sleep 3600 & echo $! >>"$0"; echo $$ >>"$0"; wait"#;
    let program = CommandHook::new("/bin/sh").args(["-c", script]).arg(&file);
    let stop = StopSignal::new();
    let subject = Subject::program(program)
        .time_limit(Duration::from_secs(3600))
        .stopped_by(&stop);
    let case = case("answers_concurrently").unwrap();
    let check = std::thread::spawn(move || case.check(&subject));
    let pids = pids(&file, 16);
    stop.stop();
    let failure = check.join().unwrap().unwrap_err();
    assert!(failure.came.contains("was stopped"), "{failure}");
    assert_eq!(pids.len(), 16);
    assert!(have_ended(&pids), "{pids:?}");
}
