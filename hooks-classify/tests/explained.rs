//! What an explanation says of the programs that would run.

use hooks_classify::{Classifier, Crud, Explanation, Word};

fn explain(command: &str) -> Explanation {
    Classifier::new().explain(command).unwrap()
}

/// The words of each program; `?` for what is not known.
fn runs(command: &str) -> Vec<String> {
    let explanation = explain(command);
    let runs = explanation.parts().runs().map(|run| {
        let words = run.words.iter().map(Word::value);
        words.map(|word| word.unwrap_or("?")).collect::<Vec<_>>()
    });
    runs.map(|words| words.join(" ")).collect()
}

#[test]
fn every_program_is_named_wherever_it_stands() {
    for command in [
        "a; rm x",
        "a && rm x || b",
        "a | rm x",
        "(rm x)",
        "! rm x",
        "rm x &",
        "if a; then rm x; fi",
        "while a; do rm x; done",
        "case $a in b) rm x;; esac",
        "echo $(rm x)",
        "echo \"in `rm x` text\"",
        "a=$(rm x) b",
        "cat <(rm x)",
        "cat <<END\n$(rm x)\nEND",
        "a > $(rm x)",
        "time rm x",
        "env A=b nohup rm x",
        "find . -exec rm x ;",
        "sh -c 'sh -c \"rm x\"'",
        "r\\m 'x'",
        "f() { rm x; }; f",
    ] {
        assert!(
            runs(command).iter().any(|run| run == "rm x"),
            "{command}: {:?}",
            runs(command)
        );
    }
}

#[test]
fn words_have_their_places_and_what_is_not_known_of_them() {
    let command = "/usr/bin/cat 'ä b' \"$x\" *.rs";
    let explanation = explain(command);
    let [run] = &explanation.parts().all[..] else {
        panic!("{explanation:?}");
    };
    assert_eq!(run.program(), Some("cat"));
    assert_eq!(run.effect, Crud::Read);
    let words: Vec<_> = run
        .words
        .iter()
        .map(|word| &command[word.start..word.end])
        .collect();
    assert_eq!(words, ["/usr/bin/cat", "'ä b'", "\"$x\"", "*.rs"]);
    let texts: Vec<_> = run.words.iter().map(Word::value).collect();
    assert_eq!(
        texts,
        [Some("/usr/bin/cat"), Some("ä b"), None, Some("*.rs")]
    );
    let patterns: Vec<_> = run.words.iter().map(|word| word.pattern).collect();
    assert_eq!(patterns, [false, false, false, true]);
    assert_eq!(run.arguments().collect::<Vec<_>>(), ["ä b", "*.rs"]);
    assert_eq!(explain("$x y").parts().all[0].program(), None);
    assert_eq!(explain("./rm y").parts().all[0].program(), Some("./rm"));
}

#[test]
fn an_effect_includes_that_of_what_is_run_in_turn() {
    let explanation = explain("find . -exec rm x ;; mkdir a; ls");
    let effects: Vec<_> = explanation
        .parts()
        .runs()
        .map(|run| (run.program(), run.effect_in_all))
        .collect();
    assert_eq!(
        effects,
        [
            (Some("find"), Crud::Delete),
            (Some("rm"), Crud::Delete),
            (Some("mkdir"), Crud::Create),
            (Some("ls"), Crud::Read),
        ]
    );
}

#[test]
fn files_of_redirections_are_named() {
    let explanation = explain("a < in > out 2>> log 2>&1 <<< text; { b; } > \"$x\"");
    let files: Vec<_> = explanation
        .parts()
        .redirections()
        .map(|file| file.path.value())
        .collect();
    assert_eq!(files, [Some("in"), Some("out"), Some("log"), None]);
}

#[test]
fn a_verdict_says_whether_all_of_it_is_understood() {
    let understood = |command| explain(command).classification().understood();
    assert!(understood("ls && rm x; sh run.sh"));
    assert!(!understood("mkdir a && frobnicate x"));
    assert!(!understood("if then fi"));
    let explanation = explain("mkdir a && frobnicate x");
    let findings = &explanation.classification().findings;
    assert!(
        findings
            .iter()
            .any(|finding| finding.part == "frobnicate" && !finding.understood)
    );
}

#[test]
fn files_that_hold_secrets_are_known_by_their_names() {
    let classifier = Classifier::new();
    for path in [
        ".env",
        "a/.env",
        "~/.ssh/id_rsa",
        "server.pem",
        "/etc/shadow",
    ] {
        assert!(classifier.holds_secrets(path), "{path}");
    }
    for path in ["env", "src/environment.sh", "keys.txt", "a.envelope"] {
        assert!(!classifier.holds_secrets(path), "{path}");
    }
}
