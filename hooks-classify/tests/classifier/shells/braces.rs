//! Expands random words with braces in real shells. A command is allowed only if it is allowed with
//! the words of each shell.
//!
//! `HOOKS_COMMANDS` is the number of words, `HOOKS_SEED` the seed.

use std::process::Stdio;

use hooks_classify::{Classifier, Decision};

use super::number;
use crate::support::process::installed;
use crate::support::random::Random;
use crate::support::required;

/// Maximum nesting of braces.
const DEPTH: usize = 3;

/// Plain parts of words: names of programs, options that write, and separators.
const LITERALS: &[&str] = &[
    "", "", "m", "r", "l", "s", "-", "-o", "o", "x", "1", "a.b", "..", "../x", "'q'", "\"m\"",
    "\\r", "}", "é",
];

/// Ends of sequences.
const NUMBERS: &[&str] = &[
    "0", "1", "2", "3", "7", "10", "12", "-1", "-2", "-10", "01", "003", "-03", "00", "-0", "+2",
    "0x3", "99", "",
];

const STEPS: &[&str] = &[
    "", "", "", "..1", "..2", "..3", "..-1", "..-2", "..-4", "..0", "..02",
];

/// Commands that a word may turn into one that writes, runs or deletes something.
const COMMANDS: &[(&str, &str)] = &[
    ("command ", " x"),
    ("sudo ", " -r x"),
    ("sort a ", ""),
    ("uniq ", ""),
    ("git branch ", ""),
    ("find . -name x ", "delete"),
    ("for i in ", "; do $i x; done"),
    ("f() { \"$@\"; }; f ", " x"),
];

/// The commands whose word is the name of a program.
const NAMES: &[&str] = &["command ", "sudo ", "for i in ", "f() { \"$@\"; }; f "];

/// Generator of words.
struct WordGenerator(Random);

impl WordGenerator {
    fn word(&mut self, depth: usize) -> String {
        let mut out = String::new();
        for _ in 0..=self.0.below(3) {
            let piece = match self.0.below(6) {
                0 | 1 => self.0.of(LITERALS).to_owned(),
                2 => self.letters(),
                3 => self.numbers(),
                _ if depth > 0 => self.list(depth - 1),
                _ => "x".to_owned(),
            };
            out.push_str(&piece);
        }
        out
    }

    fn list(&mut self, depth: usize) -> String {
        let parts: Vec<String> = (0..=self.0.below(3)).map(|_| self.word(depth)).collect();
        let close = if self.0.below(12) == 0 { "" } else { "}" };
        format!("{{{}{close}", parts.join(","))
    }

    fn letters(&mut self) -> String {
        let base = self.0.of(b"aaannA");
        let letter = |at: usize| char::from(base + u8::try_from(at).expect("a small number"));
        let (from, to) = (letter(self.0.below(9)), letter(self.0.below(9)));
        let signs = [
            from.to_string(),
            "-".into(),
            "1".into(),
            "'b'".into(),
            "zz".into(),
        ];
        let from = match self.0.below(8) {
            0 => signs[self.0.below(signs.len())].clone(),
            _ => from.to_string(),
        };
        format!("{{{from}..{to}{}}}", self.0.of(STEPS))
    }

    fn numbers(&mut self) -> String {
        let (from, to) = (self.0.of(NUMBERS), self.0.of(NUMBERS));
        format!("{{{from}..{to}{}}}", self.0.of(STEPS))
    }
}

/// Returns the words to which a shell expands a word; `None` if the shell rejects it.
fn expanded(shell: &str, word: &str) -> Option<Vec<String>> {
    let script = format!("for i in {word}; do printf '%s\\0' \"$i\"; done");
    let output = installed(shell)
        .args(["-c", &script])
        .env_clear()
        .env("LC_ALL", "C.UTF-8")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .expect("the shell runs");
    if !output.status.success() {
        return None;
    }
    let text = String::from_utf8(output.stdout).ok()?;
    Some(text.split_terminator('\0').map(str::to_owned).collect())
}

fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[test]
fn p_01_braces_expand_to_the_words_of_every_shell() {
    let shells: Vec<&str> = ["bash", "zsh", "ksh93", "mksh", "dash"]
        .into_iter()
        .filter(|shell| match *shell {
            "bash" => required::has(shell),
            other => required::find(other).is_some(),
        })
        .collect();
    let classifier = Classifier::new();
    let allows = |command: &str| {
        let classification = classifier.classify(command).expect("a command");
        classification.decision == Decision::AutoAllowed
    };
    let confidence = |command: &str| {
        let classification = classifier.classify(command).expect("a command");
        classification.confidence
    };
    let mut words = WordGenerator(Random(number("HOOKS_SEED", 0x0b2a_ce5e)));
    let count = number("HOOKS_COMMANDS", 150);
    let (mut allowed, mut refused, mut wrong) = (0, 0, Vec::new());
    for _ in 0..count {
        let word = words.word(DEPTH);
        let commands: Vec<_> = COMMANDS
            .iter()
            .map(|(before, after)| (format!("{before}{word}{after}"), before, after))
            .collect();
        let (open, closed): (Vec<_>, Vec<_>) =
            commands.iter().partition(|(command, _, _)| allows(command));
        refused += closed.len();
        for shell in shells.iter().filter(|_| !open.is_empty()) {
            let mut last = (String::new(), None);
            for (command, before, after) in &open {
                // A command may continue the last word.
                let glued = after.split([' ', ';']).next().unwrap_or("");
                let whole = format!("{word}{glued}");
                if last.0 != whole {
                    last = (whole.clone(), expanded(shell, &whole));
                }
                let Some(words) = &last.1 else {
                    continue;
                };
                let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
                let plain = format!("{before}{}{}", words.join(" "), &after[glued.len()..]);
                // The classifier rejects longer texts, and counts quoted braces as nesting.
                if plain.len() > 5000 || plain.matches('{').count() > 50 {
                    continue;
                }
                allowed += 1;
                // An unknown program is not there.
                let is_missing = || NAMES.contains(before) && confidence(&plain) == 0.5;
                if !allows(&plain) && !is_missing() {
                    wrong.push(format!("{shell}: `{command}` runs `{plain}`"));
                }
            }
        }
    }
    println!("{allowed} expansions of {count} words were compared in {shells:?}");
    assert!(allowed > 50, "{allowed} expansions were compared");
    assert!(refused > 50, "{refused} commands need confirmation");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn p_01_a_sequence_keeps_its_order_in_every_shell() {
    let classifier = Classifier::new();
    let first_words = |command: &str| {
        let explanation = classifier.explain(command).expect("a command");
        let part = explanation.parts().runs().next().expect("a program");
        let words = part.words.iter().map(|word| word.text.clone());
        words.collect::<Vec<_>>().join(" ")
    };
    for (word, wanted) in [
        ("{r..n}m", "rm qm pm om nm"),
        ("{n..r}m", "nm om pm qm rm"),
        ("{e..a..2}", "e c a"),
        ("{3..1}", "3 2 1"),
        ("{5..1..2}", "5 3 1"),
        ("{1..5..-2}", "1 3 5"),
        ("{03..1}", "03 02 01"),
        ("{-1..01}", "-1 00 01"),
        ("{a,b{2..1}}{d..c}", "ad ac b2d b2c b1d b1c"),
        ("x{{b..a}}", "x{b} x{a}"),
        ("{a..c,d}", "a..c d"),
    ] {
        let words = first_words(&format!("echo {word}"));
        let words = words.strip_prefix("echo ").expect("the program");
        assert_eq!(words, wanted, "{word}");
        let bash = expanded("bash", word).expect("bash expands it").join(" ");
        assert_eq!(bash, wanted, "bash {word}");
    }
}
