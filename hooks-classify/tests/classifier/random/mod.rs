//! Commands of the corpora, changed at random: the fuzz target's assertions
//! on a stable toolchain.

mod holds;

use std::fs;
use std::path::Path;

use hooks_classify::Classifier;
use serde::Deserialize;

use crate::support::parallel;
use crate::support::random::Random;

/// Number of texts; a few seconds without optimisation.
const TEXTS: usize = 3_000;

/// Fixed seed, printed with a failure after the failing text.
const SEED: u64 = 0x5eed_c1a5;

#[derive(Deserialize)]
struct CorpusCommand {
    command: String,
}

/// Tokens that are difficult for shells and their parsers.
const TOKENS: [&str; 40] = [
    "'",
    "\"",
    "`",
    "$(",
    ")",
    "${",
    "}",
    "{ ",
    "((",
    "))",
    "[[ ",
    " ]]",
    "<(",
    ">",
    ">>",
    "<<E\n",
    "<<<",
    "&",
    "&&",
    "||",
    "|",
    ";",
    ";;",
    "\n",
    "\\",
    "\\\n",
    "#",
    "!",
    "$'\\x72",
    "$",
    "=",
    "é",
    "\u{2003}",
    "\t",
    " if ",
    " fi",
    " case x in ",
    " esac",
    " do ",
    " done",
];

fn changed(random: &mut Random, commands: &[String]) -> String {
    let mut text: Vec<char> = commands[random.below(commands.len())].chars().collect();
    for _ in 0..=random.below(4) {
        let at = random.below(text.len() + 1);
        let end = (at + random.below(12)).min(text.len());
        match random.below(6) {
            0 => drop(text.drain(at..end)),
            1 => text.truncate(at),
            2 => {
                let part = text[at..end].to_vec();
                text.splice(at..at, part);
            }
            3 => {
                let other = &commands[random.below(commands.len())];
                let from = random.below(other.chars().count());
                text.splice(at..end, other.chars().skip(from));
            }
            4 => {
                text.splice(at..end, random.of(&TOKENS).chars());
            }
            _ => {
                text.splice(at..at, random.of(&TOKENS).chars());
            }
        }
    }
    text.into_iter().take(10_000).collect()
}

#[test]
fn the_classification_of_a_changed_command_is_well_formed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let mut commands = Vec::new();
    for file in ["everyday.jsonl", "adversarial.jsonl"] {
        let text = fs::read_to_string(folder.join(file)).expect("a corpus");
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        commands.extend(lines.map(|line| {
            serde_json::from_str::<CorpusCommand>(line)
                .expect("a command")
                .command
        }));
    }
    let classifier = Classifier::new();
    let mut random = Random(SEED);
    let texts: Vec<_> = (0..TEXTS)
        .map(|_| changed(&mut random, &commands))
        .collect();
    parallel::map(&texts, |text| holds::assert_holds(&classifier, text));
}
