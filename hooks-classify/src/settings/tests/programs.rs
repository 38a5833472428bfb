//! Comparison with git, Python and the package `ini` of npm on texts of random pieces.

use std::collections::BTreeMap;
use std::env;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;

use super::super::pattern::PatternKey;
use super::super::value::SettingKind;
use super::super::{Settings, SettingsFormat as Format};
use super::listing;

/// Returns texts of random pieces, the same at every run.
fn texts(count: usize, pieces: &[&'static str]) -> Vec<String> {
    let mut runner = TestRunner::deterministic();
    let strategy = proptest::collection::vec(proptest::sample::select(pieces.to_vec()), 1..16);
    let mut text = || {
        strategy
            .new_tree(&mut runner)
            .expect("a text")
            .current()
            .concat()
    };
    (0..count).map(|_| text()).collect()
}

/// Returns the file of a program in `PATH`. Prints if the program is missing, and panics under
/// `HOOKS_REQUIRE_ALL=1`.
fn find(program: &str) -> Option<PathBuf> {
    let paths = env::var_os("PATH").unwrap_or_default();
    let file = env::split_paths(&paths)
        .map(|path| path.join(program))
        .find(|file| file.is_file());
    if file.is_none() {
        let is_required = env::var_os("HOOKS_REQUIRE_ALL").is_some_and(|value| value == "1");
        assert!(!is_required, "`{program}` is missing");
        eprintln!("left out: `{program}` is missing");
    }
    file
}

/// Runs a program with JSON as its input and returns the JSON that it prints.
fn run_with_json(program: &str, arguments: &[&str], texts: &[String]) -> serde_json::Value {
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a process");
    let input = serde_json::to_vec(texts).expect("JSON");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin
        .write_all(&input)
        .expect("the program reads its input");
    drop(stdin);
    let output = child.wait_with_output().expect("an output");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

#[test]
fn git_config_is_read_as_git_reads_it() {
    let pieces = [
        "[a]",
        "[A.b]",
        "[a \"B.c\"]",
        "[a\t\"\\\"\"]",
        "[",
        "]",
        "\"",
        "\\",
        "\\\n",
        "\\t",
        "k",
        "K-1",
        "=",
        " = ",
        " ",
        "\t",
        "\n",
        "\n",
        "\n",
        "\r\n",
        "\r",
        "#",
        ";",
        "v",
        "1",
        "é",
        "[s]\nk = ",
        "[s]\nk=",
    ];
    if find("git").is_none() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("config");
    for text in texts(400, &pieces) {
        std::fs::write(&path, &text).expect("a file");
        let output = Command::new("git")
            .args(["config", "--no-includes", "--list", "-z", "-f"])
            .arg(&path)
            .output()
            .expect("git runs");
        let ours = Settings::read(Format::GitConfig, &text);
        assert_eq!(ours.is_ok(), output.status.success(), "{text:?}: {ours:?}");
        let Ok(settings) = ours else { continue };
        let printed = String::from_utf8(output.stdout).expect("UTF-8");
        let theirs: Vec<String> = printed
            .split_terminator('\0')
            .map(|entry| match entry.split_once('\n') {
                Some((key, value)) => format!("{key}={value}"),
                None => format!("{entry}=true"),
            })
            .collect();
        let ours: Vec<String> = (0..settings.len())
            .filter(|node| {
                matches!(
                    settings.value(*node).kind,
                    SettingKind::Untyped | SettingKind::Boolean
                )
            })
            .map(|node| {
                let path = settings.names(node).join(".");
                format!("{path}={}", settings.value(node).text)
            })
            .collect();
        assert_eq!(ours, theirs, "{text:?}");
    }
}

#[test]
fn ini_is_read_as_python_reads_it() {
    let pieces = [
        "[a]",
        "[b c]",
        "[DEFAULT]",
        "[",
        "]",
        "[a]\n",
        "[a]\nk=",
        "\nk = ",
        "\nk",
        "K",
        "k",
        "=",
        ":",
        " ",
        "\t",
        "\n",
        "\n",
        "\n  ",
        "\n    ",
        "\r\n",
        "#",
        ";",
        "# c",
        "v",
        "1",
        "é",
    ];
    let script = r"
import configparser, json, sys
out = []
for text in json.load(sys.stdin):
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
    try:
        parser.read_string(text.replace('\r\n', '\n').replace('\r', '\n'))
    except (configparser.Error, AttributeError):
        out.append(None)
        continue
    sections = dict(parser._sections, DEFAULT=parser._defaults)
    out.append([[s, k, v] for s, options in sections.items() for k, v in options.items()])
print(json.dumps(out))
";
    let texts = texts(2000, &pieces);
    if find("python3").is_none() {
        return;
    }
    let results = run_with_json("python3", &["-c", script], &texts);
    for (text, theirs) in texts.iter().zip(results.as_array().expect("a list")) {
        let ours = Settings::read(Format::Ini, text);
        assert_eq!(
            ours.is_err(),
            theirs.is_null(),
            "{text:?}: {ours:?} {theirs}"
        );
        let Ok(settings) = ours else { continue };
        // The last value of an option.
        let ours: BTreeMap<_, _> = (0..settings.len())
            .filter(|node| settings.names(*node).len() == 2)
            .map(|node| {
                let value = settings.value(node);
                let text = (value.kind != SettingKind::Flag).then(|| value.text.clone());
                (settings.names(node), text)
            })
            .collect();
        let theirs: BTreeMap<_, _> = theirs
            .as_array()
            .expect("a list")
            .iter()
            .map(|entry| {
                let text = |at: usize| entry[at].as_str().map(str::to_owned);
                (
                    vec![text(0).expect("a section"), text(1).expect("an option")],
                    text(2),
                )
            })
            .collect();
        assert_eq!(ours, theirs, "{text:?}");
    }
}

#[test]
fn npm_rc_is_read_as_npm_reads_it() {
    let pieces = [
        "[a]", "[a.b]", "[c\\.d]", "[", "]", "[]", "k", "k.l", "=", " = ", " ", "\n", "\n", "\n",
        "\r\n", "\r", "#", ";", "\\", "\\;", "\"", "\"v\"", "'", "'v'", "true", "null", "v", "1",
        "é", "\nk=", "\nl[]=",
    ];
    let script = r"
const path = require('path');
const root = path.dirname(require('fs').realpathSync(process.argv[1]));
const ini = require(path.join(root, '..', 'node_modules', 'ini'));
const flat = (value, keys) => value !== null && typeof value === 'object'
  ? Object.keys(value).flatMap((key) => flat(value[key], keys.concat(Array.isArray(value) ? '0' : key)))
  : [[keys, String(value)]];
let input = '';
process.stdin.on('data', (data) => { input += data; });
process.stdin.on('end', () => {
  console.log(JSON.stringify(JSON.parse(input).map((text) => flat(ini.parse(text), []))));
});
";
    let (Some(_), Some(npm)) = (find("node"), find("npm")) else {
        return;
    };
    let npm = npm.to_string_lossy();
    let texts = texts(2000, &pieces);
    let results = run_with_json("node", &["-e", script, &npm], &texts);
    for (text, theirs) in texts.iter().zip(results.as_array().expect("a list")) {
        let settings = Settings::read(Format::NpmRc, text).expect("every text is accepted");
        // A repeated key keeps one value there, and all values here.
        for entry in theirs.as_array().expect("a list") {
            let keys: Vec<_> = entry[0]
                .as_array()
                .expect("keys")
                .iter()
                .map(|key| PatternKey::Name(key.as_str().expect("a key").to_owned()))
                .collect();
            let value = entry[1].as_str().expect("a text");
            // The package splits a key with dots if its value is null.
            if value == "null" {
                continue;
            }
            let list = match keys.split_last() {
                Some((last, list)) if *last == PatternKey::Name("0".to_owned()) => list,
                _ => &keys,
            };
            let mut found = settings.nodes_at(&keys).chain(settings.nodes_at(list));
            assert!(
                found.any(|node| settings.value(node).text == value),
                "{text:?}: {keys:?} = {value:?}, read {:?}",
                listing(&settings)
            );
        }
    }
}
