//! Compares the rule ids that tests cite with the pages of the specification, in both directions.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use hooks_tests::{repository, tracked_texts};

const PAGES: &str = "docs/specification";

/// Returns whether `word` is a rule id: a letter, a hyphen, and two or three digits (one or two
/// after `X`).
fn is_id(word: &str) -> bool {
    let Some((letter, number)) = word.split_once('-') else {
        return false;
    };
    let digits = match letter {
        "E" | "R" | "S" | "T" | "P" => 2..=3,
        "X" => 1..=2,
        _ => return false,
    };
    digits.contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns the rule ids in `text`.
fn ids(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !(c.is_alphanumeric() || c == '-' || c == '_'));
    words.filter(|word| is_id(word))
}

/// Returns the ids at the beginning of function names: `fn s_15_s_19_…` has two.
fn ids_of_names(text: &str) -> impl Iterator<Item = String> {
    text.split("fn ").skip(1).flat_map(|function| {
        let words: Vec<&str> = function.split('_').collect();
        let pairs = words.chunks(2).map(|pair| pair.join("-").to_uppercase());
        pairs.take_while(|id| is_id(id)).collect::<Vec<_>>()
    })
}

/// Splits a file into the part that must not contain ids and the part that may: a test file, or
/// the unit tests at the end of a source file.
fn split<'t>(file: &str, text: &'t str) -> (&'t str, &'t str) {
    let is_test = file.ends_with("/tests.rs") || file.starts_with("tests/");
    if is_test || file.contains("/tests/") {
        return ("", text);
    }
    let unit_tests = text.find("#[cfg(test)]\nmod tests {");
    text.split_at(unit_tests.unwrap_or(text.len()))
}

/// Returns a line of a page, with the files that cite its rule in the last column.
fn with_files(line: &str, cited: &mut BTreeMap<String, BTreeSet<&str>>) -> String {
    let row = line.strip_prefix("| ");
    let first_word = row.and_then(|row| row.split(' ').next());
    let Some(id) = first_word.filter(|word| is_id(word)) else {
        return line.to_owned();
    };
    let columns = line
        .strip_suffix('|')
        .and_then(|row| row.rsplit_once(" | "));
    let (text, tests) = columns.expect("a rule has three columns");
    let Some(files) = cited.remove(id) else {
        assert!(
            tests.starts_with("Not tested:"),
            "no test cites `{id}`, or two rows define it"
        );
        return line.to_owned();
    };
    let files: Vec<String> = files.iter().map(|file| format!("`{file}`")).collect();
    format!("{text} | {} |", files.join(", "))
}

#[test]
fn every_rule_is_defined_once_and_cited_only_in_tests() {
    let mut cited: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    let mut elsewhere = Vec::new();
    let files = tracked_texts();
    for (file, text) in &files {
        if file.starts_with(PAGES) {
            continue;
        }
        let (code, tests) = split(file, text);
        elsewhere.extend(ids(code).map(|id| format!("{file}: {id}")));
        for id in ids(tests).map(str::to_owned).chain(ids_of_names(tests)) {
            cited.entry(id).or_default().insert(file);
        }
    }
    assert!(
        elsewhere.is_empty(),
        "state these rules in words: {elsewhere:#?}"
    );

    let write = std::env::var_os("HOOKS_WRITE").is_some();
    for entry in fs::read_dir(repository().join(PAGES)).expect("the pages exist") {
        let path = entry.expect("it can be read").path();
        let page = fs::read_to_string(&path).expect("UTF-8");
        let lines = page.lines().map(|line| with_files(line, &mut cited) + "\n");
        let expected: String = lines.collect();
        if write {
            fs::write(&path, expected).expect("the page is written");
        } else {
            assert!(
                page == expected,
                "`{}` does not name the files that cite its rules; rewrite it with \
                 `HOOKS_WRITE=1 cargo test -p hooks-tests --test project specification`",
                path.display()
            );
        }
    }
    assert!(cited.is_empty(), "no page defines these rules: {cited:#?}");
}
