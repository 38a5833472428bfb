//! Suggestions for misspelt words. In: a word and the known words. Out: the remedy of an error.

use strsim::levenshtein;

/// Maximum number of compared characters of a word.
const MOST: usize = 100;

/// Suggests the known word that is most similar to an unknown one; returns `otherwise` if none is.
pub(crate) fn suggestion(word: &str, known: &[&str], otherwise: &str) -> String {
    let word: String = word.chars().take(MOST).collect();
    let near = known
        .iter()
        .map(|key| (levenshtein(&word, key), key))
        .min()
        .filter(|(distance, key)| *distance <= key.len().div_ceil(3));
    match near {
        Some((_, key)) => format!("did you mean `{key}`?"),
        None => otherwise.to_owned(),
    }
}

/// Returns the words in backticks, separated by commas.
pub(crate) fn listed(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    quoted.join(", ")
}
