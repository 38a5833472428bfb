//! One line of a program's help in, the options that it describes out.

/// Value of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HelpValue {
    None,
    /// A value, which may be the next word.
    Required,
    /// A value that must be joined.
    Optional,
    /// A value that may be joined; the help does not show if it may be the next word.
    Joined,
    /// The help does not show a value.
    Unknown,
}

/// Reads the lines that describe options, as pflag (`-f, --filter string   Text`), clap
/// (`--color <WHEN>`), GNU programs (`--color[=WHEN]`), git (`-S[<key-id>]`, `-l<n>`) and kubectl
/// (`-w, --watch=false:`) write them.
pub(crate) fn options(help: &str) -> Vec<(String, HelpValue)> {
    let lines = help.lines().filter(|line| {
        let indent = line.len() - line.trim_start().len();
        (1..=12).contains(&indent) && line.trim_start().starts_with('-')
    });
    let mut found: Vec<(String, HelpValue)> = Vec::new();
    for (name, takes) in lines.flat_map(|line| described(line.trim_start())) {
        match found.iter_mut().find(|(known, _)| *known == name) {
            // `--time` and `--time=WORD`.
            Some((_, known)) if *known != takes => *known = HelpValue::Optional,
            Some(_) => {}
            None => found.push((name, takes)),
        }
    }
    found
}

fn described(line: &str) -> Vec<(String, HelpValue)> {
    let mut names = Vec::new();
    let mut rest = line;
    let mut takes = HelpValue::None;
    loop {
        let is_name = |c: char| c.is_alphanumeric() || "-_.?@#:".contains(c);
        let end = rest.find(|c: char| !is_name(c)).unwrap_or(rest.len());
        let name = rest[..end].trim_end_matches(['.', ':']);
        let is_option = match name.strip_prefix("--") {
            Some(long) => !long.is_empty() && !long.starts_with('-'),
            // `-COLUMN` and `-nl` are not options with a letter.
            None => name.chars().count() == 2 && name.starts_with('-'),
        };
        if !is_option {
            return Vec::new();
        }
        rest = &rest[end..];
        let (found, length) = value(rest);
        // `-p, --indicator-style=slash`: the letter has no value.
        let literal = rest.strip_prefix('=').is_some_and(|value| {
            !["false:", "true:", "'", "["]
                .iter()
                .any(|default| value.starts_with(default))
                && value.starts_with(|c: char| c.is_ascii_lowercase())
        });
        // In `-w, --width=COLS`, the letter has the value too.
        let own = (literal || found != HelpValue::None).then_some(found);
        names.push((name.to_owned(), own));
        if !literal {
            takes = found;
        }
        rest = &rest[length..];
        let next = rest.strip_prefix(',').unwrap_or(rest).trim_start();
        let near = rest.starts_with(", ") || rest.starts_with("  -");
        if !near || !next.starts_with('-') || next.starts_with("- ") {
            break;
        }
        rest = next;
    }
    let names = names.into_iter();
    names
        .map(|(name, own)| (name, own.unwrap_or(takes)))
        .collect()
}

/// Returns the value of an option from the text after its name, and the length of the value's name.
fn value(rest: &str) -> (HelpValue, usize) {
    let dots = rest.len() - rest.strip_prefix("...").unwrap_or(rest).len();
    let rest = &rest[dots..];
    let word = rest[rest.len().min(1)..]
        .find([' ', ','])
        .map_or(rest.len(), |at| at + 1);
    let (takes, length) = match rest.as_bytes() {
        [b'[', b'=', ..] => (HelpValue::Optional, word),
        // `-S[<key-id>]`
        [b'[', b'<', ..] => (HelpValue::Optional, word),
        // `-l<n>`
        [b'<', ..] => (HelpValue::Joined, word),
        // kubectl shows the default: `--watch=false:` is a flag.
        [b'=', ..] if rest.starts_with("=false:") || rest.starts_with("=true:") => {
            (HelpValue::None, word)
        }
        [b'=', ..] => (HelpValue::Required, word),
        [b' ', b'<', ..] => (HelpValue::Required, word),
        // The next word is the value unless it begins with a dash.
        [b' ', b'[', b'<', ..] => (HelpValue::Required, word),
        [b' ', b' ', ..] | [] => (HelpValue::None, 0),
        [b' ', ..] => {
            let name = rest[1..].split("  ").next().unwrap_or("");
            match name.split(", ").next().unwrap_or("").contains(' ') {
                true => (HelpValue::None, 0),
                false => (HelpValue::Required, word),
            }
        }
        _ => (HelpValue::None, 0),
    };
    (takes, dots + length)
}
