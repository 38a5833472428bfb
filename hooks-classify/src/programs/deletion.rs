//! Words that state a deletion, in names of commands, operations and fields.

/// Words of names that delete.
const DELETING_WORDS: &[&str] = &[
    "delete", "destroy", "remove", "drop", "prune", "purge", "truncate", "wipe",
];

/// Short names of commands that delete, which are no words of longer names.
const DELETING_COMMANDS: &[&str] = &["rm", "del", "erase", "uninstall"];

/// Number of words of a command line in which the name of a command is looked for.
const MAX_COMMAND_WORDS: usize = 3;

/// Returns `true` if a word states a deletion, in any letter case.
pub(crate) fn is_deleting_word(word: &str) -> bool {
    DELETING_WORDS
        .iter()
        .any(|verb| word.eq_ignore_ascii_case(verb))
}

/// Returns the first word of a command line that states a deletion, if it may be the name of a command:
/// `delete`, `projects:delete`, `permanent-delete`, and `rm` before an operand.
pub(crate) fn deleting_command<'a>(words: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let names: Vec<&str> = words
        .filter(|word| !word.starts_with('-'))
        .take(MAX_COMMAND_WORDS + 1)
        .collect();
    let is_name = |c: char| c.is_ascii_alphanumeric() || ":-_".contains(c);
    let found = names
        .iter()
        .take(MAX_COMMAND_WORDS)
        .enumerate()
        .find(|(at, name)| {
            let mut parts = name.split([':', '-', '_']);
            let first = parts.next().unwrap_or("");
            let last = parts.next_back().unwrap_or(first);
            let states = is_deleting_word(first) || is_deleting_word(last);
            states && name.chars().all(is_name)
                || DELETING_COMMANDS.contains(name) && names.len() > at + 1
        });
    found.map(|(_, name)| *name)
}

/// Returns `true` if one of the words of a name (`volumeDelete`, `bulk_remove_users`) states a
/// deletion.
pub(crate) fn states_deletion(name: &str) -> bool {
    let mut words = vec![String::new()];
    let mut after_small = false;
    for c in name.chars() {
        if c == '_' || c.is_uppercase() && after_small {
            words.push(String::new());
        }
        after_small = c.is_lowercase() || c.is_ascii_digit();
        if let (Some(word), true) = (words.last_mut(), c != '_') {
            word.extend(c.to_lowercase());
        }
    }
    // Names in one case: `deleteissue`, `volumedelete`; but not `deletedItems` and `undelete`.
    let (first, last) = (&words[0], &words[words.len() - 1]);
    let begins = |verb: &&str| {
        let rest = first.strip_prefix(*verb);
        rest.is_some_and(|rest| !rest.starts_with(['d', 'p']) && !rest.starts_with("ed"))
    };
    let ends = |verb: &&str| {
        let rest = last.strip_suffix(*verb);
        *verb != "drop" && rest.is_some_and(|rest| !rest.ends_with("un"))
    };
    words.iter().any(|word| is_deleting_word(word))
        || DELETING_WORDS.iter().any(|verb| begins(verb) || ends(verb))
}
