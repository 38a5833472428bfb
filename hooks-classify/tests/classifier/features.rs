//! Without the feature of a language, code in the language is confirmed; with it, a read is allowed.

use hooks_classify::{Classifier, Crud, Decision};

/// Asserts that commands are allowed exactly if the feature of their language is on.
#[track_caller]
fn allowed_with(feature: bool, commands: &[&str]) {
    let classifier = Classifier::new();
    for command in commands {
        let classification = classifier.classify(command).expect("a command");
        let (class, decision) = match feature {
            true => (Crud::Read, Decision::AutoAllowed),
            false => (Crud::Create, Decision::RequiresConfirmation),
        };
        assert_eq!(
            (classification.crud, classification.decision),
            (class, decision),
            "{command}: {}",
            classification.reasoning
        );
    }
}

#[test]
fn python_is_parsed_only_with_its_feature() {
    let commands = [
        "python3 -c 'print(1)'",
        "echo 'print(1)' | python3",
        "python3 - <<END\nimport json\nprint(json.dumps([1]))\nEND",
    ];
    allowed_with(cfg!(feature = "python"), &commands);
}

#[test]
fn javascript_is_parsed_only_with_its_feature() {
    let commands = [
        "node -e 'console.log(1)'",
        "node -p '1 + 1'",
        "mongosh --eval 'db.users.find()'",
        "mongosh --eval 'show dbs'",
    ];
    allowed_with(cfg!(feature = "javascript"), &commands);
}

#[test]
fn sql_is_parsed_only_with_its_feature() {
    let commands = [
        "psql -c 'select 1'",
        "psql -c '\\dt'",
        "echo 'select 1' | psql",
        "mysql -e 'show tables'",
        "sqlite3 shop.db .tables",
    ];
    allowed_with(cfg!(feature = "sql"), &commands);
}

#[test]
fn powershell_is_parsed_only_with_its_feature() {
    let commands = [
        "pwsh -c Get-Date",
        "powershell -Command 'Get-ChildItem | Select-Object Name'",
        "Get-ChildItem | Select-Object Name",
    ];
    allowed_with(cfg!(feature = "powershell"), &commands);
}

/// Other languages need no feature.
#[test]
fn small_languages_are_parsed_without_a_feature() {
    let commands = [
        "sed -n 1,5p notes.txt",
        "awk '{ print $1 }' notes.txt",
        "jq .name package.json",
        "perl -ne 'print if /x/' notes.txt",
        "redis-cli GET x",
        "cmd /c dir",
    ];
    allowed_with(true, &commands);
}

/// The words of code reveal a delete even if the code is not parsed.
#[test]
fn code_that_deletes_is_a_delete_without_any_feature() {
    let classifier = Classifier::new();
    for command in [
        "python3 -c 'import os; os.remove(\"a\")'",
        "node -e 'require(\"fs\").unlinkSync(\"a\")'",
        "mongosh --eval 'db.users.drop()'",
    ] {
        let classification = classifier.classify(command).expect("a command");
        assert_eq!(classification.crud, Crud::Delete, "{command}");
    }
}
