//! Patterns of calls: the entries of the keys that select calls, such as `outside`, in, checked
//! patterns out, or a mistake.

use crate::model::{CallPatternDef, ProgramDef};

/// Reads the entries of a key. `program` has all its commands.
pub(crate) fn call_patterns(
    entries: &[String],
    program: &ProgramDef,
) -> Result<Vec<CallPatternDef>, String> {
    let pattern = |text: &String| {
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        Ok(match text.as_str() {
            "*" => CallPatternDef::Every,
            "host:" => CallPatternDef::OtherHost,
            "url:" => CallPatternDef::Request,
            "alone:" => CallPatternDef::Alone,
            "config:" => CallPatternDef::ConfigOverride,
            _ if words.is_empty() => return Err("an entry without a name".to_owned()),
            _ if text.starts_with('-') => {
                match words
                    .iter()
                    .find(|name| !program.has_option(name, |_| true))
                {
                    Some(name) => return Err(format!("`{name}` is not an option of the program")),
                    None => CallPatternDef::Options(words),
                }
            }
            _ => {
                let is_option = |word: &String| word.starts_with('-');
                let at = words.iter().position(is_option).unwrap_or(words.len());
                let (path, options) = words.split_at(at);
                check_command(program, path, options)?;
                match options {
                    [] => CallPatternDef::Command(words),
                    _ => CallPatternDef::CommandWithOptions(path.to_vec(), options.to_vec()),
                }
            }
        })
    };
    let patterns: Vec<CallPatternDef> = entries.iter().map(pattern).collect::<Result<_, _>>()?;
    // The value of an option may name a package.
    let has_others = patterns
        .iter()
        .any(|one| !matches!(one, CallPatternDef::Every | CallPatternDef::Options(_)));
    match patterns.contains(&CallPatternDef::Every) && has_others {
        true => Err("`*` is every call; remove the other entries".to_owned()),
        false => Ok(patterns),
    }
}

/// Returns a mistake unless the program has every command of a path, in which a word may be several
/// names, separated by `|`, and these commands have the options.
pub(crate) fn check_command(
    program: &ProgramDef,
    path: &[String],
    options: &[String],
) -> Result<(), String> {
    let Some((names, rest)) = path.split_first() else {
        let mut options = options.iter();
        return match options.find(|name| !program.has_option(name, |_| true)) {
            Some(name) => Err(format!("`{name}` is not an option of the command")),
            None => Ok(()),
        };
    };
    for name in names.split('|') {
        let mut commands = program.every_command();
        let command = commands.find(|(known, _)| *known == name);
        let (_, command) = command.ok_or_else(|| format!("unknown command `{name}`"))?;
        check_command(command, rest, options)?;
    }
    Ok(())
}
