//! One word of a command line, and what the shell makes of its quotes.

use std::ops::Range;

/// One word of a command line.
#[derive(Clone, Debug, Default)]
pub(crate) struct Word {
    /// What the program receives; absent if only running it would tell.
    pub(crate) text: Option<String>,
    /// The word as it stands in the command line.
    pub(crate) source: String,
    /// Whether `text` is a pattern that the shell replaces by file names.
    pub(crate) is_pattern: bool,
    /// Whether it names the home folder, as `~` or `$HOME`.
    pub(crate) names_home: bool,
    /// Where it stands in the command line.
    pub(crate) place: Range<usize>,
}

impl Word {
    /// Takes the backslashes off a word without quotes, and marks what is special.
    pub(super) fn read_bare(&mut self) {
        let source = self.source.as_str();
        let mut text = String::with_capacity(source.len());
        let mut characters = source.chars();
        let mut is_known = true;
        while let Some(character) = characters.next() {
            match character {
                '\\' => text.extend(characters.next().filter(|next| *next != '\n')),
                '*' | '?' | '[' => {
                    self.is_pattern = true;
                    text.push(character);
                }
                // `{a,b}` becomes several words; `{}` is what `find` replaces.
                '{' | '}' if source != "{}" => is_known = false,
                '~' if text.is_empty() => {
                    self.names_home = true;
                    is_known = false;
                }
                _ => text.push(character),
            }
        }
        self.text = is_known.then_some(text);
    }
}

/// The inside of a string in double quotes, without expansions in it.
pub(super) fn unquote(inside: &str) -> String {
    let mut text = String::with_capacity(inside.len());
    let mut characters = inside.chars().peekable();
    while let Some(character) = characters.next() {
        match (character, characters.peek()) {
            ('\\', Some('"' | '\\' | '$' | '`')) => text.extend(characters.next()),
            ('\\', Some('\n')) => {
                characters.next();
            }
            _ => text.push(character),
        }
    }
    text
}

/// Whether an expansion names the home folder.
pub(super) fn names_home(source: &str) -> bool {
    ["$HOME", "${HOME", "$OLDPWD", "${OLDPWD"]
        .iter()
        .any(|name| source.contains(name))
}
