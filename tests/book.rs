//! What the book lists is what there is.

use std::collections::BTreeSet;
use std::process::Command;

use serde_json::Value;

/// The rows of the tables in the section of this heading: what stands in backticks first.
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
fn every_feature_is_on_its_page() {
    let page = include_str!("../docs/features.md");
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
        // What is not published has no users.
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
    assert_eq!(libraries, 5);
}
