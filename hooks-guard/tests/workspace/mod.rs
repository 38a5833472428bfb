//! Commands in folders with real files: the files and variables beside a command decide.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use hooks_guard::LocalWorkspace;
use hooks_guard::classify::{Classification, Classifier, Crud, Decision};
use serde_json::{Map, Value};

/// Classifies a command in a folder with the files and variables of a case.
pub(crate) fn classify(case: &Value) -> Classification {
    let folder = tempfile::tempdir().expect("a folder");
    let home = tempfile::tempdir().expect("a folder");
    for (path, text) in entries(case, "files") {
        write(&folder.path().join(path), text);
    }
    for (path, text) in entries(case, "home") {
        write(&home.path().join(path), text);
    }
    let variables = entries(case, "environment");
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let workspace = LocalWorkspace::new(folder.path(), Some(home.path()));
    let workspace = workspace.expect("a local folder").with_variables(variables);
    let command = case["command"].as_str().expect("a command");
    let classifier = Classifier::new().with_workspace(workspace);
    classifier.classify(command).expect("a command")
}

/// Returns the entries of an object of a case.
fn entries<'c>(case: &'c Value, key: &str) -> impl Iterator<Item = (&'c str, &'c str)> {
    let entries = case[key].as_object().into_iter().flat_map(Map::iter);
    entries.map(|(name, text)| (name.as_str(), text.as_str().expect("a text")))
}

/// Writes a file, a link if the text begins with `-> `, or a folder if the path ends in `/`.
fn write(path: &Path, text: &str) {
    if path.as_os_str().as_encoded_bytes().ends_with(b"/") {
        return fs::create_dir_all(path).expect("a folder");
    }
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    match text.strip_prefix("-> ") {
        Some(target) => symlink(target, path).expect("a link"),
        None => fs::write(path, text).expect("a file"),
    }
    if text.starts_with("#!") {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("a mode");
    }
}

#[test]
fn what_lies_beside_a_command_decides() {
    let cases = std::env::var("HOOKS_CASES")
        .map(|file| fs::read_to_string(file).expect("a file"))
        .unwrap_or_else(|_| include_str!("cases.jsonl").to_owned());
    let mut wrong = Vec::new();
    for line in cases.lines() {
        let case: Value = serde_json::from_str(line).expect("a case");
        let found = classify(&case);
        let decision = match case["expect"].as_str().expect("an answer") {
            "ask" => Decision::RequiresConfirmation,
            "allow" => Decision::AutoAllowed,
            other => panic!("unknown answer `{other}`"),
        };
        let class: Crud = serde_json::from_value(case["class"].clone()).expect("a class");
        if (found.decision, found.crud) != (decision, class) {
            let (shown, reason) = (found.crud, &found.reasoning);
            wrong.push(format!("{line}\n  {shown}, {}: {reason}", found.decision));
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}
