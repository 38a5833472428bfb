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
fn check_without_a_context_warns_of_a_hook_that_fails_with_an_empty_message() {
    let check = |source: &str| {
        let folder = Folder::new();
        folder.put("hook.js", source);
        let output = folder.call(&["check", "hook.js", "--json"]);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let shown: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(shown["outcome"], "registered");
        let findings = shown["findings"].as_array().unwrap().iter();
        let findings = findings.map(|finding| {
            let [level, message] = ["level", "message"].map(|name| finding[name].as_str().unwrap());
            format!("{level}: {message}")
        });
        let findings: Vec<_> = findings.collect();
        let text = folder.call(&["check", "hook.js"]);
        let text = String::from_utf8(text.stdout).unwrap();
        let lines: Vec<_> = text.lines().skip(1).collect();
        assert_eq!(lines, findings);
        findings
    };
    let start = "warning: with an empty message (`in` and `data` without fields), the hook ";
    for (source, found) in [
        ("({ in: m }) => ({ out: m })", &[][..]),
        ("({ in: m }) => { if (m.text) return { out: {} }; }", &[]),
        (
            "({ in: m }) => ({ out: m.text.trim() })",
            &[
                "threw TypeError: cannot read property 'trim' of undefined at 1:39; test that a field exists before you use it",
            ],
        ),
        (
            "({ data }) => ({ out: { id: data.user.id } })",
            &[
                "threw TypeError: cannot read property 'id' of undefined at 1:44; test that a field exists before you use it",
            ],
        ),
        (
            "({ in: m }) => m.text ? { out: m } : null",
            &[
                "returned null; return `{ out: … }` with the message, or nothing to leave it unchanged",
            ],
        ),
        (
            "({ in: m }) => { while (!m.text); return { out: m }; }",
            &["exceeded its fuel limit of 300000000"],
        ),
        (
            "({ in: m }) => { if (m.text.length > 9) throw new HookStopException('long'); }",
            &[
                "threw TypeError: cannot read property 'length' of undefined at 1:37; test that a field exists before you use it",
                REJECTS,
            ],
        ),
        (
            "({ in: m }) => { if (m.text?.length > 9) throw new HookStopException('long'); }",
            &[REJECTS],
        ),
        (
            "() => { throw new HookStopException('never'); }",
            &[REJECTS],
        ),
    ] {
        let expected: Vec<_> = found
            .iter()
            .map(|found| match *found {
                REJECTS => REJECTS.to_owned(),
                found => format!("{start}{found}"),
            })
            .collect();
        assert_eq!(check(&format!("export default {source};")), expected);
    }
    let found = check("export default ({ in: m }) => { console.log(m.text); };");
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("no effect before an action"), "{found:?}");
}

/// Returns the exit status and the standard output of `check` with a context.
fn check(source: &str, context: &Value, more: &[&str]) -> (i32, String) {
    let folder = Folder::new();
    folder.put("hook.js", source);
    folder.put("context.json", &context.to_string());
    folder.put(
        "manifest.json",
        r#"{"source": "s", "name": "Polite", "context": ["guild", "channel"]}"#,
    );
    let mut arguments = vec!["check", "hook.js", "--context", "context.json"];
    arguments.extend(more);
    let output = folder.call(&arguments);
    assert!(output.stderr.is_empty(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    (output.status.code().unwrap(), text)
}

/// Returns the findings of `check --json`.
fn findings(source: &str, context: &Value, more: &[&str]) -> (i32, Vec<String>) {
    let (status, text) = check(source, context, &[&["--json"], more].concat());
    let shown: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(shown["outcome"], "registered");
    let findings = shown["findings"].as_array().unwrap().iter();
    let findings = findings.map(|finding| {
        let [level, message] = ["level", "message"].map(|name| finding[name].as_str().unwrap());
        format!("{level}: {message}")
    });
    (status, findings.collect())
}

fn call(tool: &str) -> Value {
    json!({"stage": "pre", "in": {"tool_name": tool, "tool_input": {"command": "ls"}}})
}

#[test]
fn check_with_a_context_prints_the_input_the_result_and_the_limits() {
    let source = "export default ({ in: m }) => { console.log('seen'); return { out: { ...m, text: 'ho' } }; };";
    let (status, text) = check(source, &context("pre"), &["--fuel", "10000000"]);
    assert_eq!(status, 0);
    let lines: Vec<&str> = text.lines().collect();
    assert!(
        lines[0].starts_with("can be registered; SHA-256 "),
        "{text}"
    );
    assert_eq!(
        lines[1],
        "ran hook.js as `hook.js` before the action with context.json: `in` has `text`, `data` has `user`, `guild`"
    );
    assert_eq!(
        lines[2..6],
        ["log: seen", "out:", "{", "  \"text\": \"ho\""]
    );
    let usage = lines[7];
    assert!(
        usage.starts_with("fuel ") && usage.contains(" of 10 000 000, time "),
        "{text}"
    );
    assert!(usage.contains(" µs of 2 s, memory "), "{text}");
    assert!(usage.ends_with(" KiB of 8 192 KiB"), "{text}");
    assert_eq!(lines.len(), 8, "{text}");

    let (status, text) = check(source, &context("pre"), &["--json"]);
    let shown: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((status, &shown["stage"]), (0, &json!("pre")));
    let run = &shown["run"];
    assert_eq!(
        (&run["outcome"], &run["out"]),
        (&json!("out"), &json!({"text": "ho"}))
    );
    assert!(run["fuel"].as_u64() < run["fuel_limit"].as_u64());
    assert_eq!(run["fuel_limit"], 300_000_000);
    assert_eq!(run["duration_limit_us"], 2_000_000);
    assert_eq!(run["memory_limit_bytes"], 8 << 20);
    assert_eq!(shown["findings"], json!([]));
}

#[test]
fn check_accepts_a_stop_and_the_end_of_a_hook_after_the_action() {
    let stop = "export default () => { throw new HookStopException('no'); };";
    let (status, text) = check(stop, &context("pre"), &[]);
    assert_eq!(status, 0);
    assert!(
        text.contains("\nstop: HookStopException: no\nfuel "),
        "{text}"
    );
    let (status, text) = check("export default () => {};", &context("post"), &[]);
    assert_eq!(status, 0);
    assert!(text.contains(" after the action with "), "{text}");
    assert!(!text.contains("warning: "), "{text}");
}

/// The note of `check` about a hook that can stop an action.
const REJECTS: &str = "note: the source contains `HookStopException`, so an exception or an exceeded limit rejects the action; the host can change this with `fail_closed(false)`";

#[test]
fn check_finds_a_hook_that_has_no_effect_before_an_action() {
    let neither = "export default ({ in: m }) => { m.out_of = 1; /* out */ };";
    let (status, text) = check(neither, &context("pre"), &[]);
    assert_eq!(status, 0);
    assert!(text.contains("\nunchanged\nfuel "), "{text}");
    let warning = "\nwarning: the source contains neither `out` nor `HookStopException`, so the hook has no effect before an action; return `{ out: … }`, or throw a `HookStopException`\n";
    assert!(text.contains(warning), "{text}");
    let only_stops =
        "export default ({ in: m }) => { if (m.text === 'x') throw new HookStopException('x'); };";
    let (status, found) = findings(only_stops, &context("pre"), &[]);
    assert_eq!(status, 0);
    assert_eq!(
        found,
        [
            "note: if `in.text` is `x`, the hook stops the action",
            REJECTS
        ]
    );
    let (status, text) = check("export default ({ in: m }) => null;", &context("pre"), &[]);
    assert_eq!(status, 4);
    assert!(
        text.contains("\nhook.js: error (bad_return): returned null; return `{ out: … }` with the message, or nothing to leave it unchanged\nfuel "),
        "{text}"
    );
    assert!(text.contains(warning), "{text}");
    // A promise that never settles has no result in either stage.
    for stage in ["pre", "post"] {
        let source =
            "export default async () => { await new Promise(() => {}); return { out: {} }; };";
        let (status, text) = check(source, &context(stage), &[]);
        assert_eq!(status, 4);
        assert!(
            text.contains("awaits a promise that never settles"),
            "{text}"
        );
    }
}

#[test]
fn check_distinguishes_an_endless_loop_from_too_little_fuel() {
    let endless = "export default () => { for (;;) {} };";
    let (status, text) = check(endless, &context("pre"), &["--fuel", "100000"]);
    assert_eq!(status, 4);
    assert!(text.contains("\nfuel 100 000 of 100 000, "), "{text}");
    let end = "\nwarning: the hook does not end with 10 times the limits either (fuel 1 000 000, 20 s); look for an endless loop\n";
    assert!(text.ends_with(end), "{text}");

    let source = "export default ({ in: m }) => { let n = 0; for (let i = 0; i < 10000; i++) n += i; return { out: m }; };";
    let (_, shown) = one(source, "pre", &[]);
    let needed = shown["fuel"].as_u64().unwrap();
    let given = (needed / 2).to_string();
    let (status, found) = findings(source, &context("pre"), &["--fuel", &given]);
    assert_eq!((status, found.len()), (4, 1));
    assert!(
        found[0].starts_with("warning: the hook ends with more fuel: it used "),
        "{found:?}"
    );
    let digits: String = found[0].chars().filter(char::is_ascii_digit).collect();
    assert!(
        digits.starts_with(&needed.to_string()),
        "{found:?}, {needed}"
    );
}

#[test]
fn check_finds_keys_of_the_manifest_and_the_context_that_do_not_match() {
    let source = "export default ({ in: m, data }) => ({ out: { ...m, ...data } });";
    let (status, found) = findings(source, &context("pre"), &["--manifest", "manifest.json"]);
    assert_eq!(status, 0);
    assert_eq!(
        found,
        [
            "warning: context.json has `data.user`, but the hook does not receive it; add `user` to the `context` of the manifest, or remove it from context.json",
            "warning: the manifest requests `channel`, but context.json has no `data.channel`; add it, or remove `channel` from the manifest",
        ]
    );
    let (_, text) = check(source, &context("pre"), &["--manifest", "manifest.json"]);
    assert!(text.contains(" as `Polite` before "), "{text}");
    assert!(text.contains("`data` has `guild`\n"), "{text}");
}

#[test]
fn check_finds_a_hook_that_only_handles_other_tools() {
    let fails = "export default ({ in: m }) => {
        switch (m.tool_name) { case 'write': return { out: m }; case 'edit': return { out: {} }; }
        return null;
    };";
    let (status, found) = findings(fails, &call("bash"), &[]);
    assert_eq!(status, 4);
    assert_eq!(
        found,
        [
            "warning: if `in.tool_name` is `write`, the hook leaves the message unchanged; return `{ out: … }` for other values too",
            "warning: if `in.tool_name` is `edit`, the hook changes the message; return `{ out: … }` for other values too",
        ]
    );
    assert_eq!(findings(fails, &call("write"), &[]).0, 0);

    let passes = "export default ({ in: m }) => {
        if (m.tool_name === 'write') throw new HookStopException('no writes');
        return { out: m };
    };";
    let (status, found) = findings(passes, &call("bash"), &[]);
    assert_eq!(status, 0);
    assert_eq!(
        found,
        [
            "note: if `in.tool_name` is `write`, the hook stops the action",
            REJECTS
        ]
    );

    let without = "export default ({ in: m }) => ({ out: /^w/.test(m.tool_name) ? {} : m });";
    let (status, found) = findings(without, &call("bash"), &[]);
    assert_eq!(status, 0);
    assert_eq!(
        found,
        ["note: the output equals the message; check that the hook handles this action"]
    );
    let (status, found) = findings(
        "export default ({ in: m }) => { if (/^w/.test(m.tool_name)) return { out: {} }; };",
        &call("bash"),
        &[],
    );
    assert_eq!(status, 0);
    assert_eq!(
        found,
        ["note: the hook returned nothing; check that the hook handles this action"]
    );
    // A hook that changes the message handles it.
    let (_, found) = findings(
        "export default () => ({ out: { text: 'x' } });",
        &call("bash"),
        &[],
    );
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn the_page_shows_a_real_check() {
    let page = include_str!("../../../docs/script-hooks.md");
    let (_, section) = page
        .split_once("\n`check` registers the hook and runs it")
        .unwrap();
    let block = |language: &str| {
        let (_, block) = section.split_once(&format!("\n```{language}\n")).unwrap();
        block.split_once("```\n").unwrap().0
    };
    let context = json!({"stage": "pre", "in": {"tool_name": "bash"}});
    assert!(section.contains(&format!("`{}`", context["in"]).replace(':', ": ")));
    let (status, text) = check(block("js"), &context, &[]);
    assert_eq!(status, 0);
    let without_time = |text: &str| {
        let (before, rest) = text.split_once(", time ").unwrap();
        let (_, after) = rest.split_once(" µs of ").unwrap();
        format!("{before} {after}")
    };
    assert_eq!(without_time(block("text")), without_time(&text));
}

#[test]
fn settings_of_a_run_need_a_context() {
    let folder = Folder::new();
    folder.put("hook.js", "export default () => ({ out: {} });");
    let output = folder.call(&["check", "hook.js", "--fuel", "5"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        String::from_utf8(output.stderr)
            .unwrap()
            .contains("--context")
    );
    let output = folder.call(&["check", "hook.js", "--context", "missing.json"]);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
}

#[test]
fn run_and_bench_print_the_limits_of_the_used_resources() {
    let folder = Folder::new();
    folder.put("hook.js", "export default ({ in: m }) => ({ out: m });");
    folder.put("context.json", &context("pre").to_string());
    for command in ["run", "bench"] {
        let output = folder.call(&[command, "hook.js", "--context", "context.json"]);
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains(" of 300 000 000, "), "{text}");
        assert!(text.contains(" KiB of 8"), "{text}");
    }
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
