//! In: the tables in the folder `languages`. Out: the names that harmless code may use, and the words
//! that say what code does.

use std::collections::HashSet;
use std::sync::LazyLock;

use serde::Deserialize;
use serde::de::DeserializeOwned;

/// What says, in any language, what code does.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Any {
    pub(super) deletes: Vec<String>,
    pub(super) updates: Vec<String>,
    pub(super) shells: Vec<String>,
    pub(super) facts: Vec<String>,
    pub(super) facts_behind: Vec<String>,
}

/// What harmless code of a language may use.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Names {
    pub(super) modules: HashSet<String>,
    calls: HashSet<String>,
    values: HashSet<String>,
    pub(super) methods: HashSet<String>,
    #[serde(default)]
    pub(super) attributes: HashSet<String>,
}

/// The words of which harmless lines of a language are made.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Words {
    pub(super) perl: HashSet<String>,
    pub(super) ruby: HashSet<String>,
    pub(super) php: HashSet<String>,
    pub(super) lua: HashSet<String>,
}

/// What is done in the shell of a document database; in small letters.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Mongo {
    pub(super) deletes: Vec<String>,
    pub(super) updates: Vec<String>,
    pub(super) creates: Vec<String>,
    pub(super) reaches: Vec<String>,
    pub(super) reads: HashSet<String>,
}

pub(super) static ANY: LazyLock<Any> =
    LazyLock::new(|| read(include_str!("../../languages/any.toml")));
pub(super) static PYTHON: LazyLock<Names> =
    LazyLock::new(|| read(include_str!("../../languages/python.toml")));
pub(super) static JAVASCRIPT: LazyLock<Names> =
    LazyLock::new(|| read(include_str!("../../languages/javascript.toml")));
pub(super) static WORDS: LazyLock<Words> =
    LazyLock::new(|| read(include_str!("../../languages/words.toml")));
pub(super) static MONGO: LazyLock<Mongo> =
    LazyLock::new(|| read(include_str!("../../languages/mongo.toml")));

/// The files are part of the program, and a test reads each.
fn read<T: DeserializeOwned>(text: &str) -> T {
    toml::from_str(text).expect("a table of this program")
}

impl Any {
    /// Returns true if the name of a file, between two parts of a script, is given to a call that
    /// does not read the file.
    pub(super) fn says_facts(&self, before: &str, after: &str) -> bool {
        let call = self.facts.iter().any(|call| before.ends_with(call)) && after.starts_with(')');
        call || self.facts_behind.iter().any(|end| after.starts_with(end))
    }
}

impl Names {
    pub(super) fn is_call(&self, path: &str) -> bool {
        self.calls.contains(path)
    }

    /// What is asked of the value with which a path begins; nothing where it is the value itself.
    pub(super) fn of_value<'p>(&self, path: &'p str) -> Option<&'p str> {
        if self.values.contains(path) {
            return Some("");
        }
        let dots = path.match_indices('.').map(|(at, _)| at);
        let mut dots: Vec<usize> = dots.collect();
        dots.reverse();
        let at = dots
            .into_iter()
            .find(|at| self.values.contains(&path[..*at]))?;
        Some(&path[at + 1..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_can_be_read() {
        assert!(ANY.deletes.iter().all(|word| !word.is_empty()));
        assert!(PYTHON.is_call("print") && JAVASCRIPT.is_call("console.log"));
        assert!(WORDS.perl.contains("print") && MONGO.reads.contains("find"));
    }

    #[test]
    fn a_path_is_that_of_the_longest_value() {
        assert_eq!(PYTHON.of_value("sys.version_info"), Some(""));
        assert_eq!(PYTHON.of_value("sys.version_info.major"), Some("major"));
        assert_eq!(PYTHON.of_value("os.remove"), None);
    }
}
