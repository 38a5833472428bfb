//! Words of secrets: the lists of `secrets/words.toml` in, the source of their constants out.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::read::{Source, TableError, read};

pub(crate) const FILE: &str = "secrets/words.toml";

/// The checked lists, by their names.
pub(crate) type WordLists = BTreeMap<String, Vec<String>>;

/// Loads the lists. A duplicate word or a word in another case is a mistake.
pub(crate) fn load(source: &Source) -> Result<WordLists, TableError> {
    let lists: WordLists = read(source)?;
    for (name, words) in &lists {
        for (at, word) in words.iter().enumerate() {
            let is_plain = !word.is_empty() && *word == word.to_lowercase();
            if !is_plain || words[..at].contains(word) {
                return Err(TableError {
                    file: source.file.clone(),
                    line: None,
                    message: format!("`{name}`: `{word}` is a duplicate or not in lower case"),
                });
            }
        }
    }
    Ok(lists)
}

/// Returns the source of the constants.
pub(crate) fn code(lists: &WordLists) -> String {
    let mut code = String::new();
    for (name, words) in lists {
        let name = name.to_uppercase();
        let _ = writeln!(code, "pub(crate) const {name}: &[&str] = &{words:?};");
    }
    code
}
