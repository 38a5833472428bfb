//! Assertions for every text, shared with the fuzz target.

use brush_parser::ParserOptions;
use hooks_classify::{Classification, Classifier, Decision, MAX_COMMAND_CHARS};
use tree_sitter::Parser;

/// A command that must never be allowed, on its own line.
const MORE: &str = "\nrm x";

/// Classifies a text and asserts the invariants of the result.
pub(crate) fn assert_holds(classifier: &Classifier, text: &str) {
    let Ok(classification) = classifier.classify(text) else {
        return;
    };
    assert_form(text, &classification);
    let explanation = classifier.explain(text).expect("a command");
    assert_eq!(explanation.classification(), &classification, "{text:?}");
    let parts = explanation.parts();
    let words = parts.runs().flat_map(|run| &run.words);
    for word in words.chain(parts.redirections().map(|file| &file.path)) {
        assert!(
            text.get(word.start..word.end).is_some(),
            "{text:?}: {word:?}"
        );
    }
    if alone(text) && text.chars().count() + MORE.len() <= MAX_COMMAND_CHARS {
        let more = format!("{text}{MORE}");
        let classification = classifier.classify(&more).expect("a command");
        assert_form(&more, &classification);
        assert_eq!(
            classification.decision,
            Decision::RequiresConfirmation,
            "{more:?}: {}",
            classification.reasoning
        );
    }
}

fn assert_form(text: &str, classification: &Classification) {
    // The classifier catches panics and reports them as a failure.
    assert!(!classification.has_failed(), "a panic at {text:?}");
    assert!((0.0..=1.0).contains(&classification.confidence), "{text:?}");
    for finding in &classification.findings {
        assert!(finding.start <= finding.end, "{text:?}: {finding:?}");
        assert_eq!(
            text.get(finding.start..finding.end),
            Some(finding.part.as_str()),
            "{text:?}"
        );
        assert_eq!(
            finding.end_character - finding.start_character,
            finding.part.chars().count(),
            "{text:?}"
        );
    }
}

/// `true` if both parsers read the text as complete commands, so that a line after it is a separate
/// command. `false` if a line continues, a document may not end, or the text redefines `rm`.
fn alone(text: &str) -> bool {
    let open = text.trim_end_matches(['\r', '\n']).ends_with('\\')
        || ["<<", "()", "function", "alias"]
            .iter()
            .any(|sign| text.contains(sign));
    // Deep nesting may take the parsers long without the classifier's limits.
    let brackets = text.matches(['(', '{', '[', '`']).count() + text.matches("case").count();
    if open || brackets > 6 || text.contains('\0') {
        return false;
    }
    // One parser panics at a descriptor that does not fit 32 bits.
    let mut digits = 0;
    for c in text.replace("\\\n", "").chars() {
        digits = if c.is_ascii_digit() { digits + 1 } else { 0 };
        if digits > 9 {
            return false;
        }
    }
    let options = ParserOptions::default();
    if brush_parser::Parser::new(text.as_bytes(), &options)
        .parse_program()
        .is_err()
    {
        return false;
    }
    let mut parser = Parser::new();
    parser
        .set_language(&tree_sitter_bash::LANGUAGE.into())
        .expect("the grammar fits the library");
    parser
        .parse(text, None)
        .is_some_and(|tree| !tree.root_node().has_error())
}
