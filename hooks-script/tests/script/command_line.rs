//! Command line: output and exit status.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::{Value, json};

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Folder(tempfile::tempdir().unwrap())
    }

    fn put(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.path().join(name);
        fs::write(&path, text).unwrap();
        path
    }

    fn call(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_hooks-script"))
            .current_dir(self.0.path())
            .args(arguments)
            .output()
            .unwrap()
    }

    /// Returns the exit status and the JSON of each line.
    fn run(&self, source: &str, context: &Value, more: &[&str]) -> (i32, Vec<Value>) {
        self.put("hook.js", source);
        self.put("context.json", &context.to_string());
        let mut arguments = vec!["run", "hook.js", "--context", "context.json", "--json"];
        arguments.extend(more);
        let output = self.call(&arguments);
        let text = String::from_utf8(output.stdout).unwrap();
        let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
        (output.status.code().unwrap(), lines.collect())
    }
}

fn context(stage: &str) -> Value {
    json!({"stage": stage, "in": {"text": "hi"}, "data": {"user": {"id": "7"}, "guild": {"id": "g"}}})
}

fn one(source: &str, stage: &str, more: &[&str]) -> (i32, Value) {
    let (status, mut lines) = Folder::new().run(source, &context(stage), more);
    assert_eq!(lines.len(), 1);
    (status, lines.remove(0))
}

#[test]
fn run_prints_the_output_with_console_fuel_and_memory() {
    let (status, shown) = one(
        "export default ({ in: m }) => { console.warn('w'); return { out: m }; };",
        "pre",
        &[],
    );
    assert_eq!(status, 0);
    assert_eq!(shown["outcome"], "out");
    assert_eq!(shown["out"], json!({"text": "hi"}));
    assert_eq!(shown["console"], json!(["warn: w"]));
    assert!(shown["fuel"].as_u64().unwrap() > 0);
    assert!(shown["memory_bytes"].as_u64().unwrap() > 0);
    assert!(shown["duration_us"].is_u64());
    assert!(shown.get("stop").is_none() && shown.get("error").is_none());
}

#[test]
fn each_outcome_has_its_exit_status_and_fields() {
    let stop =
        "class Spam extends HookStopException {}\nexport default () => { throw new Spam('no'); };";
    let (status, shown) = one(stop, "pre", &[]);
    assert_eq!(
        (status, &shown["outcome"], &shown["stop"]),
        (
            3,
            &json!("stop"),
            &json!({"class": "Spam", "message": "no"})
        )
    );
    let (status, shown) = one(stop, "post", &[]);
    assert_eq!(
        (status, &shown["outcome"], &shown["stop"]["class"]),
        (0, &json!("annotated"), &json!("Spam"))
    );
    let (status, shown) = one("export default () => 5;", "post", &[]);
    assert_eq!(
        (status, &shown["outcome"], shown.get("out")),
        (0, &json!("out"), None)
    );
    let (status, shown) = one(
        "export default () => {\n  throw new RangeError('far');\n};",
        "pre",
        &[],
    );
    assert_eq!((status, &shown["outcome"]), (4, &json!("error")));
    assert_eq!(
        shown["error"],
        json!({"kind": "thrown", "class": "RangeError", "message": "far", "line": 2, "column": 13})
    );
    let (status, shown) = one(
        "export default () => { for (;;) {} };",
        "pre",
        &["--fuel", "100000"],
    );
    assert_eq!(
        (status, &shown["outcome"], &shown["error"]["kind"]),
        (4, &json!("interrupted"), &json!("fuel"))
    );
    assert_eq!(shown["fuel"], 100_000);
    let (status, shown) = one("export default () => {\n  let = 5;\n};", "pre", &[]);
    assert_eq!(
        (status, &shown["outcome"]),
        (5, &json!("rejected_at_registration"))
    );
    assert_eq!(
        (&shown["error"]["kind"], &shown["error"]["line"]),
        (&json!("syntax"), &json!(2))
    );
}

#[test]
fn clock_and_seed_are_fixed_by_default_and_runs_are_reproducible() {
    let source = "export default () => ({ out: { now: Date.now(), random: Math.random() } });";
    let (_, first) = one(source, "pre", &[]);
    assert_eq!(first["out"]["now"], 0);
    assert_eq!(one(source, "pre", &[]).1["out"], first["out"]);
    assert_eq!(
        one(source, "pre", &["--now", "1700000000000"]).1["out"]["now"],
        json!(1_700_000_000_000_u64)
    );
    assert_ne!(one(source, "pre", &["--seed", "2"]).1["out"], first["out"]);
    let (status, lines) = Folder::new().run(source, &context("pre"), &["--repeat", "3"]);
    assert_eq!((status, lines.len()), (0, 3));
    assert!(
        lines
            .iter()
            .all(|line| line["out"] == first["out"] && line["fuel"] == first["fuel"])
    );
}

#[test]
fn s_07_all_data_are_granted_unless_a_manifest_requests_fewer() {
    let source = "export default ({ data }) => ({ out: data });";
    assert_eq!(one(source, "pre", &[]).1["out"], context("pre")["data"]);
    let folder = Folder::new();
    folder.put(
        "manifest.json",
        r#"{"source": "s", "name": "n", "context": ["guild"]}"#,
    );
    let (_, lines) = folder.run(source, &context("pre"), &["--manifest", "manifest.json"]);
    assert_eq!(lines[0]["out"], json!({"guild": {"id": "g"}}));
    folder.put(
        "manifest.json",
        r#"{"source": "s", "name": "n", "context": ["password"]}"#,
    );
    let (status, lines) = folder.run(source, &context("pre"), &["--manifest", "manifest.json"]);
    assert_eq!(
        (status, &lines[0]["error"]["kind"]),
        (5, &json!("manifest"))
    );
}

#[test]
fn check_reports_the_result_of_a_registration() {
    let folder = Folder::new();
    folder.put("good.js", "export default () => ({ out: {} });");
    folder.put("bad.js", "export default () => {\n  return {;\n};");
    let good = folder.call(&["check", "good.js"]);
    assert_eq!(good.status.code(), Some(0));
    assert!(
        String::from_utf8(good.stdout)
            .unwrap()
            .starts_with("can be registered; SHA-256 ")
    );
    let bad = folder.call(&["check", "bad.js"]);
    assert_eq!(bad.status.code(), Some(5));
    let text = String::from_utf8(bad.stdout).unwrap();
    assert!(
        text.starts_with("bad.js:2:11: rejected (syntax): "),
        "{text}"
    );
    assert!(
        text.ends_with("\n  |\n2 |   return {;\n  |           ^\n"),
        "{text}"
    );
}

#[test]
fn invalid_json_is_reported_with_its_line() {
    let folder = Folder::new();
    folder.put("hook.js", "export default () => ({ out: {} });");
    folder.put("bad.json", "{\n  \"source\": \"s\",\n  \"name\" 3\n}");
    let drawn = "\n  |\n3 |   \"name\" 3\n  |          ^\n";
    let output = folder.call(&["check", "hook.js", "--manifest", "bad.json"]);
    assert_eq!(output.status.code(), Some(5));
    let text = String::from_utf8(output.stdout).unwrap();
    let start = "bad.json:3:10: rejected (manifest): the manifest is not JSON: expected `:`";
    assert_eq!(text, format!("{start}{drawn}"));
    folder.put("bad.json", "{\n  \"stage\": \"pre\",\n  \"in\" 3\n}");
    let drawn = "\n  |\n3 |   \"in\" 3\n  |        ^\n";
    let output = folder.call(&["run", "hook.js", "--context", "bad.json"]);
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(text, format!("error: bad.json:3:8: expected `:`{drawn}"));
    // A long line is cut around the position.
    folder.put(
        "bad.json",
        &format!(
            "{{\"stage\": \"pre\", \"in\": {{\"a\": \"{}\" x \"{}\"}}}}",
            "b".repeat(5000),
            "c".repeat(5000)
        ),
    );
    let output = folder.call(&["run", "hook.js", "--context", "bad.json"]);
    let text = String::from_utf8(output.stderr).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[2].chars().count() < 130, "{text}");
    let at = lines[3].chars().position(|one| one == '^').unwrap();
    assert_eq!(lines[2].chars().nth(at), Some('x'), "{text}");
}

#[test]
fn text_output_is_escaped() {
    let folder = Folder::new();
    folder.put("hook.js", "export default () => { console.log('\\u001b[2J'); throw new HookStopException('\\u202eevil\\nline'); };");
    folder.put("context.json", &context("pre").to_string());
    let output = folder.call(&["run", "hook.js", "--context", "context.json"]);
    assert_eq!(output.status.code(), Some(3));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains(r"log: \u{1b}[2J"), "{text}");
    assert!(
        text.contains(r"stop: HookStopException: \u{202e}evil\nline"),
        "{text}"
    );
}

#[test]
fn unusable_arguments_and_files_are_exit_status_2() {
    let folder = Folder::new();
    folder.put("hook.js", "export default () => {};");
    folder.put("bad.json", r#"{"stage": "now", "in": {}}"#);
    folder.put("list.json", r#"{"stage": "pre", "in": []}"#);
    for arguments in [
        &["run", "hook.js"][..],
        &["run", "missing.js", "--context", "bad.json"],
        &["run", "hook.js", "--context", "missing.json"],
        &["run", "hook.js", "--context", "bad.json"],
        &["run", "hook.js", "--context", "list.json"],
        &["run", "hook.js", "--context", "bad.json", "--repeat", "0"],
        &["check"],
        &[],
    ] {
        let output = folder.call(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(output.stdout.is_empty() && !output.stderr.is_empty());
    }
}

/// Text of a hook cannot reach a terminal as a control sequence.
#[test]
fn json_output_escapes_control_and_invisible_characters() {
    let folder = Folder::new();
    folder.put(
        "hook.js",
        "export default () => ({ out: { text: '\\u009b2J \\u202e \\u007f \\u{e0041} é' } });",
    );
    folder.put("context.json", &context("pre").to_string());
    let output = folder.call(&["run", "hook.js", "--context", "context.json", "--json"]);
    let text = String::from_utf8(output.stdout).unwrap();
    let is_plain = |c: char| c == '\n' || c == 'é' || matches!(c, ' '..='~');
    assert!(text.chars().all(is_plain), "{text:?}");
    let shown: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(shown["out"]["text"], "\u{9b}2J \u{202e} \u{7f} \u{e0041} é");
}

#[test]
fn bench_exits_with_the_status_of_the_first_failed_hook() {
    let folder = Folder::new();
    folder.put(
        "throws.js",
        "export default () => { throw new Error('no'); };",
    );
    let output = folder.call(&["bench", "throws.js", "--runs", "1"]);
    assert_eq!(output.status.code(), Some(4));
    folder.put("bad.js", "export default 1;");
    for (first, second, status) in [("throws.js", "bad.js", 4), ("bad.js", "throws.js", 5)] {
        let output = folder.call(&["bench", first, second, "--runs", "1"]);
        assert_eq!(output.status.code(), Some(status), "{first}");
    }
}

#[test]
fn bench_reports_the_time_of_each_hook_and_rejected_hooks() {
    let folder = Folder::new();
    folder.put("good.js", "export default ({ in: m }) => ({ out: m });");
    folder.put("bad.js", "export default 1;");
    let output = folder.call(&["bench", "good.js", "bad.js", "--runs", "3", "--json"]);
    assert_eq!(output.status.code(), Some(5));
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let [good, bad] = lines.as_slice() else {
        panic!("{text}");
    };
    assert_eq!(
        (&good["outcome"], &good["runs"]),
        (&json!("out"), &json!(3))
    );
    assert!(good["median_us"].as_f64().unwrap() > 0.0);
    assert!(good["median_with_wait_us"].as_f64() >= good["median_us"].as_f64());
    assert!(good["fuel"].as_u64().unwrap() > 0);
    assert_eq!(bad["outcome"], "rejected_at_registration");

    let text_output = folder.call(&["bench", "good.js", "--runs", "1"]);
    assert_eq!(text_output.status.code(), Some(0));
    assert!(
        String::from_utf8(text_output.stdout)
            .unwrap()
            .starts_with("good.js: out, 1 runs")
    );
}

#[test]
fn a_context_with_invalid_unknown_or_duplicate_fields_is_refused() {
    let folder = Folder::new();
    folder.put("hook.js", "export default () => ({ out: {} });");
    for (text, part) in [
        (r#"["pre", {}, {}]"#, "is a list"),
        (r#"{"stage": "pre", "in": {}, "more": 1}"#, "`more`"),
        (
            r#"{"stage": "pre", "stage": "pre", "in": {}}"#,
            "given.json:1:24: duplicate field `stage`",
        ),
        (
            r#"{"stage": "pre", "in": {}, "data": {"users": {}}}"#,
            "`data.users`",
        ),
        (
            r#"{"stage": "pre", "in": {}, "data": {"user": 5}}"#,
            "`data.user`",
        ),
    ] {
        folder.put("given.json", text);
        let output = folder.call(&["run", "hook.js", "--context", "given.json"]);
        assert_eq!(output.status.code(), Some(2), "{text}");
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(
            message.contains("given.json") && message.contains(part),
            "{message}"
        );
    }
}

#[test]
fn s_02_a_time_outside_the_range_of_dates_is_refused() {
    let source = "export default () => ({ out: { now: new Date().getTime() } });";
    for now in [8_640_000_000_000_000_i64, -8_640_000_000_000_000] {
        let now = now.to_string();
        assert_eq!(
            one(source, "pre", &["--now", &now]).1["out"]["now"].to_string(),
            now
        );
    }
    let folder = Folder::new();
    folder.put("hook.js", source);
    folder.put("context.json", &context("pre").to_string());
    for now in [
        "8640000000000001",
        "-8640000000000001",
        "9223372036854775807",
    ] {
        let output = folder.call(&["run", "hook.js", "--context", "context.json", "--now", now]);
        assert_eq!(output.status.code(), Some(2));
        assert!(
            String::from_utf8(output.stderr)
                .unwrap()
                .contains("8640000000000000")
        );
    }
}

#[test]
fn a_rejected_manifest_is_reported_with_its_file_name() {
    let folder = Folder::new();
    folder.put("hook.js", "export default () => ({ out: {} });");
    folder.put("bad.json", "{}");
    let output = folder.call(&["check", "hook.js", "--manifest", "bad.json"]);
    assert_eq!(output.status.code(), Some(5));
    let message = String::from_utf8(output.stdout).unwrap();
    assert!(
        message.starts_with("bad.json: rejected (manifest)"),
        "{message}"
    );
}

#[cfg(unix)]
#[test]
fn a_closed_or_full_standard_output_does_not_panic() {
    use std::io::{BufRead, BufReader};
    use std::process::Stdio;

    let folder = Folder::new();
    folder.put(
        "hook.js",
        "export default () => { throw new HookStopException('no'); };",
    );
    folder.put("context.json", &context("pre").to_string());
    let program = |more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hooks-script"));
        command.current_dir(folder.0.path());
        command
            .args(["run", "hook.js", "--context", "context.json"])
            .args(more);
        command
    };
    for more in [&["--repeat", "5000"][..], &["--repeat", "5000", "--json"]] {
        let mut child = program(more)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut reader = BufReader::new(child.stdout.take().unwrap());
        reader.read_line(&mut line).unwrap();
        drop(reader);
        let output = child.wait_with_output().unwrap();
        // The status is that of the completed runs.
        assert_eq!((output.status.code(), output.stderr.len()), (Some(3), 0));
    }
    let full = fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let output = program(&[]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(
        message.starts_with("error: cannot write the output: "),
        "{message}"
    );
}

#[cfg(unix)]
#[test]
fn s_22_an_endless_file_is_read_only_up_to_a_limit() {
    let folder = Folder::new();
    let output = folder.call(&["check", "/dev/zero", "--json"]);
    assert_eq!(output.status.code(), Some(5));
    assert!(
        String::from_utf8(output.stdout)
            .unwrap()
            .contains("too_large")
    );
    folder.put("hook.js", "export default () => ({ out: {} });");
    let output = folder.call(&["run", "hook.js", "--context", "/dev/zero"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        String::from_utf8(output.stderr)
            .unwrap()
            .contains("longer than")
    );
}
