//! Random command lines of the programs in the tables, and the results of parsing them.

use hooks_classify::{CommandLine, OptionEntry, options_of, programs, read_command_line};

use crate::support::random::Random;

/// A program or one of its commands, with the options of its table that a parser supports.
pub(crate) struct OptionGrammar {
    pub(crate) path: String,
    pub(crate) options: Vec<OptionEntry>,
}

/// A command line as a parser reads it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ParsedLine {
    pub(crate) options: Vec<(String, Option<String>)>,
    pub(crate) operands: Vec<String>,
}

/// Returns `true` if a name is a letter with one dash, or a name of at least two characters with
/// two.
fn plain(name: &str) -> bool {
    let of_name = |c: char| c.is_ascii_alphanumeric() || c == '-';
    match name.strip_prefix("--") {
        Some(long) => long.len() > 1 && long.chars().all(of_name),
        None => name.len() == 2 && name.starts_with('-') && name.ends_with(of_name),
    }
}

impl OptionGrammar {
    /// Returns the entry of a path if it has plain options, and no command takes its operands.
    fn of(path: &str) -> Option<(String, Self)> {
        let (style, options) = options_of(path)?;
        let mut words: Vec<&str> = path.split(' ').collect();
        words.push("qqq");
        let line = read_command_line(&words)?;
        // An option that takes a command is tested elsewhere.
        let mut options = options;
        options.retain(|option| !option.takes_command);
        let simple = line.unrecognized.is_empty() && line.operands == ["qqq"];
        let plain = options.iter().all(|option| plain(&option.name));
        (simple && plain && !options.is_empty()).then(|| {
            let path = path.to_owned();
            (style, Self { path, options })
        })
    }

    /// Returns the programs whose tables have a style.
    pub(crate) fn with_style(style: &str) -> Vec<Self> {
        let names = programs()
            .into_iter()
            .map(|program| program.names[0].clone());
        let found = names.filter_map(|name| Self::of(&name));
        found
            .filter(|(own, _)| own == style)
            .map(|(_, grammar)| grammar)
            .collect()
    }

    /// Returns the commands of these paths whose options are plain.
    pub(crate) fn of_paths(paths: &[&str]) -> Vec<Self> {
        let found = paths.iter().filter_map(|path| Self::of(path));
        found.map(|(_, grammar)| grammar).collect()
    }

    pub(crate) fn option(&self, name: &str) -> Option<&OptionEntry> {
        self.options.iter().find(|option| option.name == name)
    }

    /// Returns a random command line: options in all spellings, values, operands, dashes.
    pub(crate) fn line(&self, random: &mut Random) -> Vec<String> {
        let count = 1 + random.below(6);
        (0..count).map(|_| self.word(random)).collect()
    }

    fn word(&self, random: &mut Random) -> String {
        let values = ["a", "b", "", "x=1", "-", "--help", "-n", "=", "false", "--"];
        if random.below(3) == 0 {
            return random.of(&values).to_owned();
        }
        let option = &self.options[random.below(self.options.len())];
        let mut word = option.name.clone();
        if word.starts_with("--") && random.below(3) == 0 {
            word.truncate(3 + random.below(word.len() - 2));
        }
        // Letters that share a dash.
        while word.len() < 5 && !word.starts_with("--") && random.below(2) == 0 {
            let other = &self.options[random.below(self.options.len())].name;
            word.push_str(other.trim_start_matches('-').get(..1).unwrap_or(""));
        }
        if random.below(3) == 0 {
            word.push_str(random.of(&["=a", "=", "b", "=--help", "n"]));
        }
        word
    }

    /// Returns the line as the classifier reads it.
    pub(crate) fn read(&self, line: &[String]) -> CommandLine {
        let words: Vec<&str> = self.path.split(' ').collect();
        let words: Vec<&str> = words
            .into_iter()
            .chain(line.iter().map(String::as_str))
            .collect();
        let mut read = read_command_line(&words).expect("a program of the tables");
        for (_, value) in &mut read.options {
            *value = value.take().filter(|value| !value.is_empty());
        }
        read
    }
}

/// Compares the results of a parser and of the reader; `None` is a line that the parser rejects.
pub(crate) fn compare(
    parser: &str,
    lines: &[(&OptionGrammar, Vec<String>)],
    parsed: &[Option<ParsedLine>],
) {
    assert_eq!(
        lines.len(),
        parsed.len(),
        "{parser} does not read every line"
    );
    let mut compared = 0;
    let mut wrong = Vec::new();
    for ((grammar, line), parsed) in lines.iter().zip(parsed) {
        let Some(parsed) = parsed else { continue };
        compared += 1;
        let read = grammar.read(line);
        let (options, operands) = (read.options, read.operands);
        let own = ParsedLine { options, operands };
        if &own != parsed || !read.unrecognized.is_empty() {
            let words = line.join("` `");
            let why = read.unrecognized.join(", ");
            wrong.push(format!(
                "{} `{words}`:\n    {parser}: {parsed:?}\n    reader: {own:?} {why}",
                grammar.path
            ));
        }
    }
    wrong.truncate(20);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let least = lines.len() / 10;
    assert!(
        compared > least,
        "{parser} refuses all but {compared} lines"
    );
    eprintln!("{parser}: {compared} of {} lines", lines.len());
}
