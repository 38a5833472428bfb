//! Checks the lists of the book, and runs its commands.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use hooks_tests::{GUIDES, repository};
use serde_json::Value;

/// Returns the rows of the tables in the section of this heading: the first text in backticks of
/// each.
fn rows<'p>(page: &'p str, heading: &str) -> BTreeSet<&'p str> {
    let heading = format!("## {heading}\n");
    let (_, behind) = page
        .split_once(&heading)
        .unwrap_or_else(|| panic!("there is no section `{heading}`"));
    let section = behind.split("\n## ").next().unwrap_or(behind);
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `"));
    rows.filter_map(|row| row.split('`').next()).collect()
}

#[test]
fn the_features_page_lists_every_feature() {
    let page = include_str!("../../docs/features.md");
    let output = Command::new(env!("CARGO"))
        .args([
            "metadata",
            "--no-deps",
            "--offline",
            "--format-version",
            "1",
        ])
        .output()
        .expect("cargo starts");
    let workspace: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let mut libraries = 0;
    for package in workspace["packages"].as_array().expect("a list") {
        let name = package["name"].as_str().expect("a text");
        // Unpublished crates have no users.
        if package["publish"].as_array().is_some_and(Vec::is_empty) {
            continue;
        }
        libraries += 1;
        let features = package["features"].as_object().expect("an object");
        let defaults = features.get("default").and_then(Value::as_array);
        let names: BTreeSet<&str> = features.keys().map(String::as_str).collect();
        let names = &names - &BTreeSet::from(["default"]);
        assert_eq!(rows(page, name), names, "the features of `{name}`");
        for feature in names {
            let is_default =
                defaults.is_some_and(|defaults| defaults.iter().any(|default| default == feature));
            let row = format!("| `{feature}` |{} |", if is_default { " yes" } else { "" });
            let (_, section) = page
                .split_once(&format!("## {name}\n"))
                .expect("it is there");
            assert!(section.contains(&row), "`{name}`: {row}");
        }
    }
    assert_eq!(libraries, 7);
}

/// The commands of the book and the README, except those of the guide, which its test runs: the
/// file that runs each of them, and the words in it that show this.
const RUN_BY: [(&str, &str, &[&str]); 16] = [
    (
        "cargo run --example guarded_session",
        ".ci/run",
        &["\ncargo run --example guarded_session\n"],
    ),
    (
        "cargo test --workspace",
        ".ci/run",
        &["\ncargo test --workspace"],
    ),
    (
        "RUSTFLAGS=\"--cfg hooks_single_threaded\" cargo test",
        ".ci/run",
        &["RUSTFLAGS='--cfg hooks_single_threaded", "cargo test"],
    ),
    (
        "tests/benches/check-counts",
        ".ci/run",
        &["    tests/benches/check-counts\n"],
    ),
    (
        "hooks-script check hook.js --manifest manifest.json",
        "hooks-script/tests/script/command_line.rs",
        &["\"check\"", "\"--manifest\", \"manifest.json\""],
    ),
    (
        "hooks-script check hook.js --context context.json",
        "hooks-script/tests/script/command_line.rs",
        &["\"check\", \"hook.js\", \"--context\", \"context.json\""],
    ),
    (
        "hooks-script run hook.js --context context.json --json",
        "hooks-script/tests/script/command_line.rs",
        &["\"run\", \"hook.js\", \"--context\", \"context.json\", \"--json\""],
    ),
    (
        "hooks-script bench hook.js other.js --context context.json --runs 1000",
        "hooks-script/tests/script/command_line.rs",
        &["\"bench\", \"good.js\", \"bad.js\"", "\"--runs\""],
    ),
    (
        "cargo run --example guarded_session --features script -- --script hook.js",
        "examples/tests/guarded_session/scripts.rs",
        &["\"--script\""],
    ),
    (
        "cargo install --locked --path hooks-runtime --features validate",
        ".ci/run",
        &["cargo install --quiet --locked --path hooks-runtime --features validate "],
    ),
    (
        "hooks-validate ./check-tool --strict",
        ".ci/run",
        &["    hooks-validate ./check-tool --strict\n"],
    ),
    (
        "hooks-validate --timeout 2 --event deploy:start -- python3 check_tool.py",
        "hooks-runtime/tests/hooks_validate.rs",
        &["\"--timeout\"", "\"--event\"", "\"python3\""],
    ),
    (
        "cargo run -p hooks-classify --example explain -- 'git status' 'rm -r build'",
        ".ci/run",
        &["-p hooks-classify --example explain -- 'git status' 'rm -r build'"],
    ),
    (
        "cargo install --path hooks-guard",
        ".ci/run",
        &["cargo install --quiet --locked --path hooks-guard "],
    ),
    (
        "hooks-guard install claude-code",
        ".ci/run",
        &["/hooks-guard\" install claude-code\n"],
    ),
    (
        "hooks-guard serve",
        "hooks-guard/tests/support/home.rs",
        &["\"serve\""],
    ),
];

#[test]
fn every_documented_command_is_run_by_a_test_or_job() {
    let mut pages = vec![repository().join("README.md")];
    for entry in fs::read_dir(repository().join("docs")).expect("the book is there") {
        let page = entry.expect("it can be read").path();
        if page.extension().is_some_and(|extension| extension == "md") {
            pages.push(page);
        }
    }
    let mut commands = BTreeSet::new();
    for page in pages {
        let text = fs::read_to_string(&page).expect("UTF-8");
        if GUIDES.concat().contains(&&*text) {
            continue;
        }
        let blocks = text.split("```sh\n").skip(1);
        for block in blocks.filter_map(|rest| rest.split("```").next()) {
            commands.extend(block.lines().map(str::to_owned));
        }
    }
    let known = RUN_BY.map(|(command, ..)| command.to_owned());
    assert_eq!(commands, BTreeSet::from(known));
    for (command, file, words) in RUN_BY {
        let text = fs::read_to_string(repository().join(file)).expect("the file is there");
        for word in words {
            assert!(text.contains(word), "`{command}`: `{file}` has no `{word}`");
        }
    }
}

/// Returns the headings of a page, in lower case.
fn headings(page: &str) -> Vec<String> {
    let page = fs::read_to_string(repository().join("docs").join(page)).expect("a page");
    let headings = page.lines().filter(|line| line.starts_with('#'));
    headings.map(str::to_lowercase).collect()
}

/// Features that users of other hook systems look for: the page and its section, an example, and the
/// names in other systems.
const WANTED: [(&str, &str, &[&str]); 12] = [
    (
        "around.md",
        "middleware_with_around",
        &["around", "middleware", "wrapper"],
    ),
    (
        "events-control.md#middleware-around-an-event",
        "middleware_with_around",
        &["middleware"],
    ),
    (
        "ordering.md#before-and-after-another-hook",
        "ordering_relative_to_a_key",
        &["before", "after"],
    ),
    (
        "entries.md#conditions-filters",
        "hooks_with_conditions",
        &["condition", "filter"],
    ),
    (
        "entries.md#switches",
        "filtering_events_by_tool",
        &["switch"],
    ),
    (
        "events-control.md#filters-and-matchers",
        "filtering_events_by_tool",
        &["filter", "matcher"],
    ),
    ("results.md", "changing_tool_results", &["result hook"]),
    (
        "hook-kinds.md#concurrent-slots-hooks-in-parallel",
        "asking_services_in_parallel",
        &["concurrent", "parallel"],
    ),
    (
        "events-control.md#transform-decide-observe",
        "deciding_and_observing",
        &["observe"],
    ),
    (
        "phases.md#observers",
        "deciding_and_observing",
        &["observer"],
    ),
    (
        "entries.md#for-one-call",
        "hooks_for_one_call",
        &["for one call"],
    ),
    (
        "events-control.md#declared-events",
        "declaring_events",
        &["declared"],
    ),
];

#[test]
fn wanted_features_are_found_by_their_names_in_other_systems() {
    let read = |path: &str| fs::read_to_string(repository().join(path)).expect("a text");
    let glossary = read("docs/glossary.md").to_lowercase();
    let coming_from = ["docs/coming-from.md", "docs/coming-from-plugins.md"]
        .map(read)
        .concat();
    let examples = read("examples/README.md");
    for (section, example, names) in WANTED {
        let page = section.split('#').next().unwrap_or(section);
        let headings = headings(page);
        for name in names {
            let found = headings.iter().any(|heading| heading.contains(name));
            assert!(found, "no heading of {page} has `{name}`");
            assert!(glossary.contains(name), "no term `{name}` in the glossary");
        }
        let link = format!("]({section})");
        assert!(
            coming_from.contains(&link),
            "`Coming from elsewhere` has no link to {section}"
        );
        assert!(examples.contains(&format!("[`{example}`]")), "{example}");
        assert!(
            repository().join(format!("examples/{example}.rs")).exists(),
            "{example}"
        );
    }
}

#[test]
fn no_table_of_the_book_repeats_a_row() {
    let mut pages = 0;
    for folder in ["docs", "docs/specification"] {
        for entry in fs::read_dir(repository().join(folder)).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.extension().is_none_or(|extension| extension != "md") {
                continue;
            }
            pages += 1;
            let page = fs::read_to_string(&path).expect("a text");
            let mut rows = BTreeSet::new();
            for line in page.lines() {
                if !line.starts_with("| ") {
                    rows.clear();
                } else if !rows.insert(line) {
                    panic!("{} repeats a row: {line}", path.display());
                }
            }
        }
    }
    assert!(pages > 50, "only {pages} pages");
}
