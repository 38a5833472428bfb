//! Explanations: the parts of a command, and the findings below its text.

use hooks_classify::{Classification, Classifier, Crud, Explanation, Method, UNKNOWN, Word};

fn explain(command: &str) -> Explanation {
    Classifier::new().explain(command).unwrap()
}

/// Returns the words of each program; `?` for unknown parts.
fn runs(command: &str) -> Vec<String> {
    let explanation = explain(command);
    let runs = explanation.parts().runs().map(|run| {
        let words = run.words.iter().map(Word::value);
        words.map(|word| word.unwrap_or("?")).collect::<Vec<_>>()
    });
    runs.map(|words| words.join(" ")).collect()
}

#[test]
fn every_program_is_found_at_any_position() {
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
fn words_have_positions_values_and_glob_flags() {
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
    let patterns: Vec<_> = run.words.iter().map(|word| word.is_glob).collect();
    assert_eq!(patterns, [false, false, false, true]);
    assert_eq!(run.arguments().collect::<Vec<_>>(), ["ä b", "*.rs"]);
    assert_eq!(explain("$x y").parts().all[0].program(), None);
    assert_eq!(explain("./rm y").parts().all[0].program(), Some("./rm"));
}

#[test]
fn an_effect_with_children_includes_the_programs_that_it_runs() {
    let explanation = explain("find . -exec rm x ;; mkdir a; ls");
    let effects: Vec<_> = explanation
        .parts()
        .runs()
        .map(|run| (run.program(), run.effect_with_children))
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
fn files_of_redirections_are_listed() {
    let explanation = explain("a < in > out 2>> log 2>&1 <<< text; { b; } > \"$x\"");
    let files: Vec<_> = explanation
        .parts()
        .redirections()
        .map(|file| file.path.value())
        .collect();
    assert_eq!(files, [Some("in"), Some("out"), Some("log"), None]);
}

#[test]
fn a_classification_is_understood_only_if_every_part_is() {
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
fn secret_files_are_recognized_by_name() {
    let classifier = Classifier::new();
    for path in [
        ".env",
        "a/.env",
        "~/.ssh/id_rsa",
        "server.pem",
        "/etc/shadow",
    ] {
        assert!(classifier.is_secret_path(path), "{path}");
    }
    for path in ["env", "src/environment.sh", "keys.txt", "a.envelope"] {
        assert!(!classifier.is_secret_path(path), "{path}");
    }
}

#[test]
fn the_drawing_marks_each_finding_under_the_command() {
    let drawn = explain("ls a && rm b; cat ~/.ssh/id_rsa").to_string();
    assert_eq!(
        drawn,
        "\
DELETE: REQUIRES_CONFIRMATION (confidence 0.99)
  |
1 | ls a && rm b; cat ~/.ssh/id_rsa
  | ----    ^^^^  ----^^^^^^^^^^^^^
  | |       |  |  |   |
  | |       |  |  |   reads `~/.ssh/id_rsa`, which holds secrets (READ, to be confirmed)
  | |       |  |  `cat` prints files (READ)
  | |       |  `rm` deletes `b` (DELETE)
  | |       `rm` deletes files (DELETE)
  | `ls` lists folders (READ)
  |
  = because: `rm` deletes files"
    );
}

#[test]
fn a_drawing_contains_the_lines_and_a_tree_of_hidden_programs() {
    let drawn =
        explain("x=rm\n\n\n\n\n\n$x a\ncat <<E | bash\nrm -r b\nE\nfor f in c d; do rm $f; done")
            .to_string();
    for line in [
        " 7 | $x a",
        "   | ^^^^",
        " 8 | cat <<E | bash",
        "   | ---       ^^^^",
        " 9 | rm -r b",
        "10 | E",
    ] {
        assert!(drawn.lines().any(|drawn| drawn == line), "{line}\n{drawn}");
    }
    let tree = "├─ rm a\n├─ cat\n├─ bash\n│  └─ rm -r b\n├─ rm c\n└─ rm d";
    assert!(drawn.ends_with(tree), "{drawn}");
    let plain = explain("for f in 'a b'; do echo 'x'; done; sudo ls \"c\"").to_string();
    assert!(!plain.contains('─'), "{plain}");
}

#[test]
fn a_long_line_is_not_truncated() {
    let long = "a".repeat(4900);
    let drawn = explain(&format!("echo {long}; rm b; echo {long}")).to_string();
    assert!(drawn.contains(&format!("echo {long}; rm b; echo {long}\n")));
    assert!(drawn.contains("`rm` deletes `b` (DELETE)"));
}

#[test]
fn a_drawing_limits_the_number_of_findings() {
    let drawn = explain(&"rm a;".repeat(2000)).to_string();
    assert!(
        drawn.contains("\n  = and 3450 more findings"),
        "{}",
        &drawn[drawn.len() - 200..]
    );
}

#[test]
fn control_and_invisible_characters_are_escaped_in_drawings() {
    let command =
        "frob\u{1b}[31mc\u{202e}x\u{200b} --a\u{9b}b 'c\u{7}\t'; rm \u{2066}ä\r\nls\u{85}";
    let explanation = explain(command);
    let hides = |c: char| {
        c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
    };
    let drawn = explanation.to_string();
    assert!(drawn.lines().all(|line| !line.contains(hides)), "{drawn:?}");
    assert!(
        drawn.contains(r"frob\u{1b}[31mc\u{202e}x\u{200b} --a\u{9b}b 'c\u{7}\t'; rm \u{2066}ä\r"),
        "{drawn}"
    );
    // The marks are below the escaped text.
    let mut lines = drawn.lines().skip_while(|line| !line.contains("rm "));
    let (text, marks) = (lines.next().unwrap(), lines.next().unwrap());
    let start = text.find("rm ").unwrap();
    assert_eq!(marks.as_bytes()[start], b'^', "{drawn}");
    let coloured = explanation.to_ansi_string();
    let styles = coloured.matches('\u{1b}').count();
    assert!(styles > 0);
    assert_eq!(coloured.matches("\u{1b}[").count(), styles);
    assert!(!coloured.contains("\u{1b}[31mc"), "{coloured:?}");
}

#[test]
fn hosts_of_a_part_are_parsed_from_urls_and_options() {
    let hosts = |command: &str| -> Vec<String> {
        let analysis = Classifier::new().analyze(command).unwrap();
        let parts = analysis.parts.all.iter();
        parts
            .flat_map(|part| &part.hosts)
            .map(|host| host.name.clone())
            .collect()
    };
    assert_eq!(
        hosts("curl -s http://user@EXAMPLE.com:8080/a?b"),
        ["example.com"]
    );
    assert_eq!(hosts("curl 2130706433/a"), ["127.0.0.1"]);
    assert_eq!(hosts("curl https://$host/a"), [UNKNOWN.to_string()]);
    assert_eq!(
        hosts("curl --proxy http://p.example:1 http://[::1]/"),
        ["::1", "p.example"]
    );
    assert_eq!(hosts("rsync -a a.txt ada@b.example:c"), ["b.example"]);
    assert_eq!(hosts("psql -h db.example -c 'select 1'"), ["db.example"]);
    assert_eq!(hosts("echo x > /dev/tcp/c.example/80"), ["c.example"]);
    assert_eq!(
        hosts("git status; echo http://a.example; cat file:///etc/hosts"),
        [""; 0]
    );
    let analysis = Classifier::new().analyze("curl http://a.example/").unwrap();
    let word = &analysis.parts.all[0].hosts[0].word;
    assert_eq!((word.start, word.end), (5, 22));
}

#[test]
fn a_part_is_understood_if_the_tables_know_its_program_and_all_its_words() {
    for (command, expected) in [
        ("git push --force", true),
        ("sudo -u ada ls", true),
        ("rm --frob a", false),
        ("git alias", false),
        ("frobnicate", false),
        ("$PROGRAM a", false),
        ("{ ls; } > a.txt", false),
    ] {
        let analysis = Classifier::new().analyze(command).unwrap();
        let part = &analysis.parts.all[0];
        assert_eq!(part.is_understood(), expected, "{command}");
    }
}

#[test]
fn reasons_name_the_effect_or_the_unknown_part() {
    for (command, reason) in [
        ("rm --help", "`rm --help` prints help"),
        ("rm --version", "`rm --version` prints its version"),
        ("git alias", "unknown git subcommand `alias`"),
        ("git remote frob", "unknown git remote subcommand `frob`"),
        ("frobnicate", "unknown program `frobnicate`"),
        ("rm --frob a", "unknown option `--frob` of `rm`"),
        (
            "git push --dry-run",
            "`git push` with `--dry-run` only reads",
        ),
        ("if then", "incomplete shell command"),
    ] {
        let classification = Classifier::new().classify(command).unwrap();
        let reasons = classification
            .findings
            .iter()
            .map(|finding| finding.reason.as_str());
        assert!(
            reasons.clone().any(|found| found == reason),
            "{command}: {:?}",
            reasons.collect::<Vec<_>>()
        );
    }
}

#[test]
fn the_readme_and_the_book_show_the_output_of_explain() {
    let readme = include_str!("../../README.md");
    let (_, shown) = readme
        .split_once("```text\n")
        .expect("the output of the example");
    let (shown, _) = shown.split_once("```").expect("the end of the output");
    let commands = ["git status", "find . -name '*.tmp' -exec rm {} +"];
    let drawn = commands.map(|command| explain(command).to_string());
    assert_eq!(shown, format!("{}\n", drawn.join("\n\n")));
    for command in commands {
        assert!(readme.contains(command), "{command}");
    }

    let page = include_str!("../../../docs/classifier.md");
    let (_, shown) = page
        .split_once("$ hooks-guard explain --tables-only \"")
        .expect("the command `explain`");
    let (command, shown) = shown.split_once("\"\n").expect("the end of the command");
    let (shown, _) = shown.split_once("```").expect("the end of the output");
    assert_eq!(shown, format!("{}\n", explain(command)));
}

/// P-07.
#[test]
fn the_method_says_whether_a_table_matched_the_part_that_decides() {
    let classifier = Classifier::new();
    for (command, method) in [
        ("git status", Method::PatternMatch),
        ("rm -r build", Method::PatternMatch),
        ("frobnicate --all", Method::Fallback),
        ("ls | frobnicate", Method::Fallback),
        // The known part decides.
        ("frobnicate; rm -r build", Method::PatternMatch),
    ] {
        let found = classifier.classify(command).expect("a command");
        assert_eq!(found.method, method, "{command}");
        assert!(!found.has_failed(), "{command}");
        assert_eq!(
            found.confidence > 0.5,
            method == Method::PatternMatch,
            "{command}"
        );
    }
    for failed in [
        Classification::fallback("it failed"),
        Classification::timed_out(),
    ] {
        assert_eq!(failed.method, Method::Fallback);
        assert!(failed.has_failed());
    }
}
