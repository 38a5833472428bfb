//! Tests that `check` and `explain` escape deceptive characters of a command in a terminal.

use hooks_runtime::display::hides_text;
use serde_json::Value;

use crate::check::{out, program};

/// Resets the terminal, reverses the text, and hides a character; twice, so that reasons quote it.
const TRICKS: &str = "frob\u{1b}c\u{202e}x\u{200b} --a\u{9b}b 'c\u{7}\u{1b}]0;t'; \u{2066}frob\td";

fn assert_shown(text: &str) {
    for line in text.lines() {
        assert!(!hides_text(line) && !line.contains('\t'), "{line:?}");
    }
}

#[test]
fn the_table_of_check_escapes_deceptive_characters() {
    let output = program().args(["check", TRICKS]).output().unwrap();
    let shown = out(&output);
    assert_shown(shown);
    assert!(
        shown.contains(r"frob\u{1b}c\u{202e}x\u{200b} --a\u{9b}b"),
        "{shown}"
    );
}

#[test]
fn the_output_of_explain_escapes_deceptive_characters() {
    let output = program().args(["explain", TRICKS]).output().unwrap();
    let shown = out(&output);
    assert_shown(shown);
    assert!(
        shown.contains(r"1 | frob\u{1b}c\u{202e}x\u{200b}"),
        "{shown}"
    );
    let mut lines = shown.lines();
    let because = lines.find(|line| line.contains("because:")).unwrap();
    assert!(
        because.contains(r"`frob\u{1b}c\u{202e}x\u{200b}`"),
        "{because}"
    );
}

#[test]
fn json_output_contains_the_unescaped_command() {
    let output = program()
        .args(["check", "--json", TRICKS])
        .output()
        .unwrap();
    let row: Value = serde_json::from_str(out(&output)).unwrap();
    assert_eq!(row["command"], TRICKS);
    assert!(
        row["reasoning"]
            .as_str()
            .unwrap()
            .contains("frob\u{1b}c\u{202e}x\u{200b}"),
        "{row}"
    );
}
