//! Counts phrases that plain English replaces by a noun or a verb, in comments, messages and pages,
//! and prints where they are.

use hooks_tests::tracked_texts;

/// Phrases for which plain English has a noun, a verb or a conjunction.
const PHRASES: [&str; 17] = [
    "nobody",
    "somebody",
    "anybody",
    "whoever",
    "one's own",
    "but for",
    "be it",
    "unless given",
    "goes on",
    "is told",
    "are told",
    "hears",
    "that one",
    "stands",
    "lies",
    "wants",
    "says",
];

/// First words of a documentation comment that does not name its item.
const OPENINGS: [&str; 3] = ["What ", "Who ", "Whether "];

/// Maximum number of places in the whole tree; some uses are legitimate.
const MAX_PLACES: usize = 120;

/// Files whose wording is fixed: history, and texts of others.
const EXCEPTIONS: [&str; 6] = [
    "CHANGELOG.md",
    "docs/decisions/",
    "docs/specification/",
    "hooks-classify/programs/",
    "tests/fixtures/",
    "tests/project/words.rs",
];

/// Returns whether `phrase` occurs in `line` as whole words.
fn contains(line: &str, phrase: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '\'' | '-');
    line.match_indices(phrase).any(|(at, _)| {
        let (before, after) = (&line[..at], &line[at + phrase.len()..]);
        !before.ends_with(is_word) && !after.starts_with(is_word)
    })
}

/// Returns the prose of a line of Rust: its comment, or the string literals that are sentences.
fn prose_of_rust(line: &str) -> String {
    let trimmed = line.trim_start();
    if trimmed.starts_with("//") {
        return trimmed.to_owned();
    }
    let literals = line.split('"').skip(1).step_by(2);
    let sentences: Vec<&str> = literals.filter(|text| text.contains(' ')).collect();
    sentences.join(" ")
}

/// Returns the numbered lines of a file that hold prose, without blocks of code.
fn prose<'t>(file: &str, text: &'t str) -> Box<dyn Iterator<Item = (usize, String)> + 't> {
    let lines = (1..).zip(text.lines());
    if file.ends_with(".rs") {
        return Box::new(lines.map(|(number, line)| (number, prose_of_rust(line))));
    }
    let mut is_code = false;
    Box::new(lines.filter_map(move |(number, line)| {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        }
        (!is_code).then(|| (number, line.to_owned()))
    }))
}

/// Returns the places of a file that use an excluded phrase.
fn places<'t>(file: &'t str, text: &'t str) -> impl Iterator<Item = String> + 't {
    let mut follows_doc = false;
    prose(file, text).filter_map(move |(number, line)| {
        let doc = line.strip_prefix("/// ").or(line.strip_prefix("//! "));
        let opens = doc.filter(|_| !follows_doc);
        follows_doc = line.starts_with("///") || line.starts_with("//!");
        let phrase = PHRASES.into_iter().find(|phrase| contains(&line, phrase));
        let opening = OPENINGS
            .into_iter()
            .find(|word| opens.is_some_and(|doc| doc.starts_with(word)));
        let found = phrase.or(opening)?;
        Some(format!("{file}:{number}: {}", found.trim()))
    })
}

#[test]
fn excluded_phrases_are_rare_in_the_tree() {
    let texts = tracked_texts();
    let read = texts.iter().filter(|(file, _)| {
        let is_prose = file.ends_with(".rs") || file.ends_with(".md");
        is_prose && !EXCEPTIONS.iter().any(|part| file.starts_with(part))
    });
    let found: Vec<String> = read.flat_map(|(file, text)| places(file, text)).collect();
    assert!(
        found.len() <= MAX_PLACES,
        "{} places use excluded phrases, at most {MAX_PLACES} may:\n{}",
        found.len(),
        found.join("\n")
    );
}

#[test]
fn excluded_phrases_match_whole_words_of_comments_and_sentences() {
    let text = "/// What is left.\n/// Who knows.\nlet x = \"nobody\"; // nobody\nsay(\"nobody is here\");\n/// One nobody-like thing.\n";
    let found: Vec<String> = places("a.rs", text).collect();
    assert_eq!(found, ["a.rs:1: What", "a.rs:4: nobody"]);
    let page = "Goes on.\n```text\nit goes on\n```\nit goes on\n";
    let found: Vec<String> = places("a.md", page).collect();
    assert_eq!(found, ["a.md:5: goes on"]);
}
