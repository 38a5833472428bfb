//! Malicious input: classification ends in bounded time, never panics, and never reports a change
//! as a read.

use std::time::{Duration, Instant};

use hooks_classify::{Classifier, Crud, Decision, InputError};
use proptest::prelude::*;

/// Far above the time of these inputs on a busy machine; a parser with exponential backtracking takes
/// longer.
const LONG: Duration = Duration::from_secs(60);

fn assert_confirmed_in_time(command: &str) {
    let start = Instant::now();
    let classification = Classifier::new().classify(command).expect("a command");
    let shown: String = command.chars().take(40).collect();
    assert_eq!(
        classification.decision,
        Decision::RequiresConfirmation,
        "{shown}"
    );
    assert!(!classification.has_failed(), "a panic at {shown}");
    assert!(start.elapsed() < LONG, "{shown} took {:?}", start.elapsed());
}

#[test]
fn p_04_a_long_command_is_an_error() {
    let classifier = Classifier::new();
    let error = classifier
        .classify(&"x".repeat(10_001))
        .expect_err("too long");
    assert_eq!(
        error,
        InputError::TooLong {
            field: "command",
            length: 10_001,
            max: 10_000
        }
    );
    assert!(
        classifier.classify(&"é".repeat(10_000)).is_ok(),
        "characters count, not bytes"
    );
}

#[test]
fn nul_invalid_utf_8_and_empty_commands_are_errors() {
    let classifier = Classifier::new();
    assert_eq!(
        classifier.classify("ls\0rm").expect_err("a NUL"),
        InputError::Nul
    );
    assert_eq!(
        classifier.classify_bytes(b"ls \xff").expect_err("no UTF-8"),
        InputError::Encoding
    );
    assert_eq!(
        classifier.classify(" \n").expect_err("nothing"),
        InputError::Empty
    );
}

#[test]
fn code_of_many_parts_is_found_in_time() {
    let start = Instant::now();
    for line in [
        "a=$a$a;$a",
        "a%=x%;sh -c \"$a%\"",
        "echo %|sh",
        "echo %>f%;./f%",
        "read a%;$a% b",
        "ls",
    ] {
        let lines = (0_u32..).map(|number| line.replace('%', &number.to_string()) + "\n");
        let mut command = String::new();
        for line in lines {
            if command.len() + line.len() > 10_000 {
                break;
            }
            command.push_str(&line);
        }
        let parts = Classifier::new().parts(&command).expect("parts");
        assert!(parts.code().len() > 500, "{line}");
    }
    assert!(start.elapsed() < LONG, "took {:?}", start.elapsed());
}

#[test]
fn deeply_nested_brackets_need_confirmation() {
    for open in [
        "(",
        "{ ",
        "[",
        "$(",
        "((",
        "${",
        "<(",
        "[[ ",
        "`",
        "\"$(",
        "if ",
        "! ",
        "while ",
        "case x in ",
    ] {
        for count in [20, 90, 400, 10_000 / open.len()] {
            assert_confirmed_in_time(&open.repeat(count).chars().take(10_000).collect::<String>());
        }
    }
    for (open, close) in [
        ("(", ")"),
        ("{ ", "; }"),
        ("$(", ")"),
        ("<(", ")"),
        ("if ", "; fi"),
    ] {
        for count in [20, 90, 1500] {
            let command = format!("{}rm x{}", open.repeat(count), close.repeat(count));
            assert_confirmed_in_time(&command.chars().take(10_000).collect::<String>());
        }
    }
}

/// A scanner may index a table with a character beyond its end.
#[test]
fn characters_of_every_block_in_place_of_digits_are_classified() {
    let classifier = Classifier::new();
    for number in (0x80..0x11_0000).step_by(0x151) {
        let Some(character) = char::from_u32(number) else {
            continue;
        };
        for text in [
            format!("echo {{{character}..2}}"),
            format!("echo {{1..{character}}}"),
            format!("echo ${character} {character}"),
        ] {
            assert!(classifier.classify(&text).is_ok(), "{text}");
        }
    }
}

#[test]
fn long_texts_take_bounded_time() {
    assert_confirmed_in_time(&format!("sh <<E\n{}E", "rm x\n".repeat(1_900)));
    assert_confirmed_in_time(&"rm a;".repeat(1_999));
    assert_confirmed_in_time("rm a 22222222222>b");
    assert_confirmed_in_time("rm a 222222\\\n22222>b");
    assert_confirmed_in_time("rm a ~99999999999999999999999/$(ls)");
    assert_confirmed_in_time("( ( rm a ) )");
    assert_confirmed_in_time("$(<<  ");
    for word in ["\r", "\x0c", "''", "\"\"", "'\"'", "\r''", "-\r"] {
        for around in ["", "cat ", "(", "$(cat "] {
            assert_confirmed_in_time(&format!("{around}<<{word} \t"));
            assert_confirmed_in_time(&format!("{around}<<{word}"));
        }
    }
    assert_confirmed_in_time("echo ($(1  <<  4 ) ");
    assert_confirmed_in_time(&format!("{}:{} x", "*".repeat(40), "*a".repeat(4_000)));
    assert_confirmed_in_time("rm a|".repeat(1_999).trim_end_matches('|'));
    assert_confirmed_in_time(&format!("rm {}", "{a,b}".repeat(1_900)));
    assert_confirmed_in_time(&format!("rm {}", "a ".repeat(4_900)));
    assert_confirmed_in_time(&format!(
        "x={}; {}",
        "-a".repeat(2_000),
        "ls ${x%b};".repeat(500)
    ));
    assert_confirmed_in_time(&format!("o='-a -l -h'; ls {}", "$x ".repeat(3_000)));
    assert_confirmed_in_time(&format!("o='-a -l -h'; {}", "ls $x;".repeat(1_400)));
    assert_confirmed_in_time(&format!("ls {}> y", "${x:-a} ".repeat(1_200)));
    assert_confirmed_in_time(&format!("{}> y", "ls ${x:-a};".repeat(800)));
    assert_confirmed_in_time(&"f(){ f; f; }; f; rm x;".repeat(400));
    assert_confirmed_in_time(&format!("eval {}rm x", "eval ".repeat(1_900)));
    assert_confirmed_in_time(&format!("{}rm x", "sudo ".repeat(1_900)));
    assert_confirmed_in_time(&format!(
        "{}rm x; {}",
        "for a in 1 2 3 4 5 6 7 8; do ".repeat(12),
        "done;".repeat(12)
    ));
    assert_confirmed_in_time(&format!("python3 -c '{}'", "print(".repeat(1_600)));
    assert_confirmed_in_time(&format!("psql -c 'SELECT {}1'", "(".repeat(9_000)));
    assert_confirmed_in_time(&format!("awk '{}'", "{".repeat(9_000)));
    assert_confirmed_in_time(&format!("sed '{}'", "s/a/b/;{".repeat(1_200)));
}

/// A prefix of a command is not allowed if the whole command is not. A long chain of words nests as
/// deeply in the parser's tree.
#[cfg(feature = "sql")]
#[test]
fn deep_sql_fits_on_the_stack() {
    let classifier = Classifier::new();
    for (start, link, end) in [
        ("1", "+1", ""),
        ("1", " and 1", ""),
        ("1", " union select 1", ""),
        ("a", "::int", ""),
        ("a", "[1]", ""),
        ("a", ".b", ""),
        ("", "(", "1"),
        ("", "not ", "1"),
        ("", "- ", "1"),
        ("", "case when ", "1"),
        ("", "(select ", "1"),
    ] {
        for bytes in [9_900, 40_000] {
            let chain = link.repeat(bytes / link.len());
            let command = format!("psql -c 'select {start}{chain}{end}'");
            assert!(classifier.parts(&command).is_some(), "{link} in {bytes}");
            if bytes < 10_000 {
                let classification = classifier.classify(&command).expect("a command");
                assert!(!classification.has_failed(), "{link}");
            }
        }
    }
}

#[test]
fn prefixes_of_commands_do_not_panic() {
    let classifier = Classifier::new();
    for command in [
        "if [ -f lock ]; then rm lock; fi",
        "cat <<'E' | sh\nrm -rf build\nE",
        "git commit -m \"$(cat <<'E'\nit's (a) `b`\nE\n)\"",
        "find . -name '*.o' -exec rm {} \\; | xargs -I{} sh -c 'rm {}'",
        "for f in a{b,c}; do x=${f%.*}; rm \"$x\" &> /dev/null; done",
        "psql -c \"EXPLAIN ANALYZE DELETE FROM t\" && awk '{print > \"x\"}' y",
        "bash -eo pipefail -c 'ls' | sed -n -f a.sed",
        "eval \"$(printf '\\x72\\x6d é')\" <(ls) >(tee x) 2>&1",
    ] {
        for (at, _) in command.char_indices().skip(1) {
            let classification = classifier.classify(&command[..at]);
            let has_failed = classification.map(|found| found.has_failed());
            assert_ne!(has_failed, Ok(true), "{:?}", &command[..at]);
        }
    }
}

#[test]
fn the_context_never_lowers_a_class() {
    let classifier = Classifier::new();
    let classification = classifier
        .classify_in_context("rm x", Some("read only"))
        .expect("a command");
    assert_eq!(classification.crud, Crud::Delete);
    assert_eq!(classification.context.as_deref(), Some("read only"));
    assert!(
        classifier
            .classify_in_context("ls", Some(&"x".repeat(101)))
            .is_err()
    );
}

const HARMLESS: &[&str] = &[
    "ls -la src",
    "git status",
    "grep -r x . | head -3",
    "cat a.txt",
    "echo 'a b'",
    "for f in a b; do wc -l \"$f\"; done",
];

proptest! {
    #[test]
    fn a_command_after_a_harmless_command_is_classified(at in 0..HARMLESS.len()) {
        let classification = Classifier::new().classify(&format!("{}; rm x", HARMLESS[at])).expect("a command");
        prop_assert_eq!(classification.crud, Crud::Delete);
    }

    #[test]
    fn quotes_do_not_change_the_classification(word in "[a-z]{1,8}", program in prop::sample::select(vec!["ls", "rm", "cat", "mkdir", "touch", "git"])) {
        let classifier = Classifier::new();
        let plain = classifier.classify(&format!("{program} {word}")).expect("a command");
        for quoted in [format!("'{word}'"), format!("\"{word}\""), format!("$'{word}'"), format!("\\{word}")] {
            let other = classifier.classify(&format!("{program} {quoted}")).expect("a command");
            prop_assert_eq!(plain.crud, other.crud, "{}", quoted);
            prop_assert_eq!(plain.decision, other.decision);
        }
        let quoted = classifier.classify(&format!("'{program}' {word}")).expect("a command");
        prop_assert_eq!(plain.crud, quoted.crud);
    }

    #[test]
    fn any_text_is_classified_without_a_panic(text in "[ -~\n]{1,60}") {
        let classification = Classifier::new().classify(&text);
        prop_assert_ne!(classification.map(|found| found.has_failed()), Ok(true));
    }
}
