//! Workload: the commands, the classifier, and the parsers alone.

use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use hooks_classify::Classifier;
use serde::Deserialize;

use crate::counts;

/// Argument that runs [`start`].
pub(crate) const START: &str = "start";
/// Arguments of the runs whose instructions are counted.
pub(crate) const NOTHING: &str = "nothing";
pub(crate) const EVERYDAY: &str = "everyday";
pub(crate) const LONG: &str = "long";
pub(crate) const ONCE: &str = "once";

#[derive(Deserialize)]
struct CorpusCommand {
    command: String,
}

/// Returns everyday commands of people and agents.
pub(crate) fn everyday() -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/everyday.jsonl");
    fs::read_to_string(path)
        .expect("the corpus")
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| serde_json::from_str::<CorpusCommand>(line).expect("a command"))
        .map(|line| line.command)
        .collect()
}

/// The parsers as the classifier uses them, without the classification.
pub(crate) struct Parsers {
    tree: tree_sitter::Parser,
    options: brush_parser::ParserOptions,
}

impl Parsers {
    pub(crate) fn new() -> Self {
        let mut tree = tree_sitter::Parser::new();
        tree.set_language(&tree_sitter_bash::LANGUAGE.into())
            .expect("the grammar fits the library");
        Self {
            tree,
            options: brush_parser::ParserOptions::default(),
        }
    }

    pub(crate) fn brush(&self, text: &str) {
        let _ = black_box(
            brush_parser::Parser::new(black_box(text).as_bytes(), &self.options).parse_program(),
        );
    }

    pub(crate) fn tree(&mut self, text: &str) {
        black_box(self.tree.parse(black_box(text), None));
    }
}

pub(crate) fn classify(classifier: &Classifier, text: &str) {
    black_box(classifier.classify(black_box(text)).expect("a command"));
}

pub(crate) fn repeat(times: u32) {
    let classifier = Classifier::new();
    let commands = everyday();
    for _ in 0..times {
        for command in &commands {
            classify(&classifier, command);
        }
    }
}

/// Returns the long command whose characters are counted.
pub(crate) fn long() -> String {
    let shape = SHAPES.iter().find(|shape| shape.name == counts::SHAPE);
    shape.expect("a shape of this name").of(counts::LONG, 0)
}

/// Classifies what the argument names. Each run reads the corpus, so that their difference is the
/// classification.
pub(crate) fn counted(argument: &str) {
    let (classifier, commands, long) = (Classifier::new(), everyday(), long());
    match argument {
        EVERYDAY => {
            for command in &commands[..counts::COMMANDS] {
                classify(&classifier, command);
            }
        }
        LONG => classify(&classifier, &long),
        _ => {}
    }
}

/// Classifies the first command of a process, and prints the elapsed milliseconds.
pub(crate) fn start() {
    let began = Instant::now();
    let classifier = Classifier::new();
    classify(&classifier, "git status && cargo test | tail -3");
    println!("{}", began.elapsed().as_secs_f64() * 1e3);
}

/// Shape of a long command.
pub(crate) struct Shape {
    /// Nanoseconds per character at 10 000 characters, before the patterns of secret paths were
    /// compiled into one automaton.
    pub(crate) before_ns: u32,
    pub(crate) name: &'static str,
    before: &'static str,
    repeated: &'static str,
    after: &'static str,
}

pub(crate) const SHAPES: [Shape; 10] = [
    shape(40, "one long word", "echo ", "abcdefghij", ""),
    shape(473, "many words", "echo", " abcdefghi", ""),
    shape(
        27,
        "one quoted text",
        "git commit -m \"",
        "some words ",
        "\"",
    ),
    shape(2966, "many options", "grep x", " --include='*.rs'", ""),
    shape(865, "a list", "ls src", "; cat a.txt", ""),
    shape(713, "a list with `&&`", "ls src", " && cat a.txt", ""),
    shape(853, "a pipeline", "cat a.txt", " | grep word", ""),
    shape(
        468,
        "groups, ten deep",
        "ls",
        "; { { { { { { { { { { ls src; }; }; }; }; }; }; }; }; }; }",
        "",
    ),
    shape(
        3222,
        "substitutions, three deep",
        "ls",
        "; echo $(echo $(echo $(ls src)))",
        "",
    ),
    shape(41, "a here-document", "cat <<'E'\n", "some words\n", "E"),
];

const fn shape(
    before_ns: u32,
    name: &'static str,
    before: &'static str,
    repeated: &'static str,
    after: &'static str,
) -> Shape {
    Shape {
        before_ns,
        name,
        before,
        repeated,
        after,
    }
}

impl Shape {
    /// Returns a command of this shape with at most `most` characters, distinct for each number.
    pub(crate) fn of(&self, most: usize, number: usize) -> String {
        let before = format!("ls {number:04}\n{}", self.before);
        let times = (most - before.len() - self.after.len()) / self.repeated.len();
        format!("{before}{}{}", self.repeated.repeat(times), self.after)
    }
}
