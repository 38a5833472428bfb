//! Loading of tables: strict, so that a slip in one is an error and no hole.

use std::collections::HashMap;
use std::sync::Arc;

use serde::Deserialize;
use thiserror::Error;

use super::private::Private;
use super::raw::{File, Raw, RawTerminal, RawVariable, Secrets, Variables};
use super::secrets::{Lists, Paths};
use super::{
    Contents, Count, Decides, Effect, Keyboard, Language, Opt, Pager, Program, Recurses, Role,
    Style, Takes, Terminal, Variable, Verb,
};

/// A mistake in a table.
#[derive(Debug, Error)]
#[non_exhaustive]
pub(crate) enum TableError {
    #[error("`{file}` is no table; {source}")]
    Syntax {
        file: String,
        source: toml::de::Error,
    },
    #[error("`{file}`: `{program}`: {what}; see the page about tables")]
    Entry {
        file: String,
        program: String,
        what: String,
    },
}

fn read<'a, T: Deserialize<'a>>(file: &str, text: &'a str) -> Result<T, TableError> {
    toml::from_str(text).map_err(|source| TableError::Syntax {
        file: file.to_owned(),
        source,
    })
}

/// Files of programs that reach no other machine, but for those that are `online`.
const OFFLINE: [&str; 5] = [
    "coreutils.toml",
    "processes.toml",
    "search.toml",
    "shell.toml",
    "text.toml",
];

/// Reads the part of a file that is the table of one program.
pub(super) fn section(file: &str, text: &str) -> Result<Program, TableError> {
    let mut raw = match read::<File>(file, text)?.program {
        mut programs if programs.len() == 1 => programs.remove(0),
        _ => {
            return Err(TableError::Entry {
                file: file.to_owned(),
                program: String::new(),
                what: "it is not the table of one program".to_owned(),
            });
        }
    };
    raw.offline |= OFFLINE.contains(&file) && !raw.online;
    let label = raw.names.first().cloned().unwrap_or_default();
    program(raw, None).map_err(|what| TableError::Entry {
        file: file.to_owned(),
        program: label,
        what,
    })
}

/// Reads the table of variables.
pub(super) fn variables(text: &str) -> Result<Vec<Variable>, TableError> {
    let parsed = read::<Variables>("variables.toml", text)?.variable;
    let one = |raw: RawVariable| {
        raw.names.into_iter().map(move |pattern| Variable {
            pattern,
            why: raw.why.clone(),
            harmless: raw.harmless.clone(),
            harmless_folders: raw.harmless_folders.clone(),
            only: raw.only.clone(),
        })
    };
    Ok(parsed.into_iter().flat_map(one).collect())
}

/// Reads the patterns of paths that hold secrets, and of those that only look
/// so.
pub(super) fn secrets(text: &str) -> Result<Paths, TableError> {
    let parsed = read::<Secrets>("secrets.toml", text)?;
    let lists = Lists {
        paths: parsed.paths,
        folders: parsed.folders,
        harmless: parsed.harmless,
        searched: parsed.searched,
        hosts: parsed.hosts,
    };
    let raw = parsed.private;
    let private = Private::new(
        &raw.folders,
        &raw.open,
        raw.sources,
        raw.files,
        raw.home,
        raw.variables,
    );
    Ok(Paths::new(lists, private))
}

fn program(raw: Raw, parent: Option<&Program>) -> Result<Program, String> {
    let names_files = raw.decided_by.is_some() || raw.configured_by.is_some();
    let permutes = raw.permutes.unwrap_or(true);
    let mut options = HashMap::new();
    for line in &raw.options {
        for (mut name, mut option) in option_line(line)? {
            option.permutes = permutes;
            if raw.style.as_deref() == Some("slash") {
                name.make_ascii_lowercase();
            }
            if options
                .insert(name.clone(), option.clone())
                .is_some_and(|before| before != option || raw.style.as_deref() != Some("slash"))
            {
                return Err(format!("option `{name}` stands there twice"));
            }
        }
    }
    let operands = match &raw.operands {
        Some(list) => list
            .iter()
            .map(|word| operand(word))
            .collect::<Result<Vec<_>, _>>()?,
        None => vec![(Role::Text, Count::Many)],
    };
    if operands
        .iter()
        .filter(|(_, count)| *count == Count::Many)
        .count()
        > 1
    {
        return Err("more than one operand with `*`".into());
    }
    // Formats may stand in the words of every command of it.
    let judge = raw.judge.or_else(|| {
        parent
            .and_then(|p| p.judge.clone())
            .filter(|judge| judge == "tmux")
    });
    let mut own = Program {
        does: raw.does,
        effect: effect(&raw.effect)?,
        given: raw.given.as_deref().map(effect).transpose()?,
        operands,
        options,
        style: style(raw.style.as_deref())?,
        judge,
        commands: HashMap::new(),
        patterns: Vec::new(),
        commands_of: raw.commands_of,
        options_anywhere: raw.options_anywhere || parent.is_some_and(|p| p.options_anywhere),
        reveals: raw.reveals,
        reveals_given: raw.reveals_given,
        sends: raw.sends || parent.is_some_and(|p| p.sends),
        offline: raw.offline || !raw.online && parent.is_some_and(|p| p.offline),
        hosts: raw.hosts || parent.is_some_and(|p| p.hosts),
        probes: raw.probes || parent.is_some_and(|p| p.probes),
        shows: raw.shows,
        only_first: raw.only_first,
        options_first: raw.options_first,
        permutes,
        help: match raw.help {
            Some(words) => words.split_whitespace().map(str::to_owned).collect(),
            None => parent.map(|p| p.help.clone()).unwrap_or_default(),
        },
        terminal: None,
        pager: None,
        contents: None,
        recurses: None,
        finds: raw.finds,
        variables: raw.variables,
        harmless_config: raw.harmless_config,
        runs_input: raw.runs_input || parent.is_some_and(|p| p.runs_input),
        decided_by: match &raw.decided_by {
            Some(entries) => decides(entries)?,
            None => parent.map(|p| p.decided_by.clone()).unwrap_or_default(),
        },
        configured_by: match &raw.configured_by {
            Some(entries) => decides(entries)?,
            None => parent.map(inherited_settings).unwrap_or_default(),
        },
        package_scripts: match raw.package_scripts {
            Some(scripts) => scripts,
            None => parent
                .map(|p| p.package_scripts.clone())
                .unwrap_or_default(),
        },
        replaces_files: raw.replaces_files,
    };
    let names = |names: &str| option_names(names, &own, parent);
    let terminal = raw.terminal.map(|raw| terminal(&raw, names)).transpose()?;
    let pager = match raw.pager {
        Some(raw) => Some(Pager {
            off: raw.off.as_deref().map(names).transpose()?,
            on: names(&raw.on)?,
        }),
        None => parent.and_then(|p| p.pager.clone()),
    };
    let contents = raw.contents.map(|raw| {
        Ok::<_, String>(Contents {
            off: names(&raw.off)?,
            on: names(&raw.on)?,
            only_on: raw.only_on,
        })
    });
    let contents = contents.transpose()?;
    let recurses = raw.recurses.map(|raw| {
        Ok::<_, String>(Recurses {
            on: names(&raw.on)?,
            off: names(&raw.off)?,
            names: raw.names,
        })
    });
    let recurses = recurses.transpose()?;
    (own.terminal, own.pager) = (terminal, pager);
    (own.contents, own.recurses) = (contents, recurses);
    if let Some(parent) = parent {
        own.variables.extend(parent.variables.iter().cloned());
        own.shows.extend(parent.shows.iter().cloned());
        own.harmless_config
            .extend(parent.harmless_config.iter().cloned());
    }
    for raw in raw.command {
        let names = raw.names.clone();
        let command = Arc::new(program(raw, Some(&own))?);
        for name in names {
            if name.contains('*') {
                own.patterns.push((name, Arc::clone(&command)));
                continue;
            }
            if own
                .commands
                .insert(name.clone(), Arc::clone(&command))
                .is_some()
            {
                return Err(format!("command `{name}` stands there twice"));
            }
        }
    }
    let values = own.decided_by.iter().chain(&own.configured_by);
    let options = values.filter_map(|entry| match entry {
        Decides::Options(names) => Some(names),
        _ => None,
    });
    let without_value = options.flatten().find(|name| !takes_value(&own, name));
    // What is inherited may be an option of another command of the program.
    if let Some(name) = without_value.filter(|_| names_files) {
        return Err(format!("`{name}` is no option with a value"));
    }
    Ok(own)
}

/// What a command has of `configured_by` of the program above it.
fn inherited_settings(parent: &Program) -> Vec<Decides> {
    let of_known = |entry: &&Decides| !matches!(entry, Decides::UnknownCommand(_));
    parent
        .configured_by
        .iter()
        .filter(of_known)
        .cloned()
        .collect()
}

/// Reads the entries of `decided_by` and `configured_by`.
fn decides(entries: &[String]) -> Result<Vec<Decides>, String> {
    let entry = |text: &String| {
        let name = text.strip_prefix("operand/").unwrap_or(text);
        let name = name.strip_prefix('?').unwrap_or(name);
        let below_home = name.strip_prefix("~/").unwrap_or(name);
        let folders = name.trim_start_matches('^').rsplit_once('/');
        let star_in_folder = folders.is_some_and(|(folder, _)| folder.contains('*'));
        Ok(match text.as_str() {
            "operand" => Decides::Operand,
            "operands" => Decides::Operands,
            _ if text.starts_with('-') => {
                Decides::Options(text.split_whitespace().map(str::to_owned).collect())
            }
            _ if below_home.is_empty() || below_home.starts_with(['/', '~']) || star_in_folder => {
                return Err(format!("`{text}` names no file in a folder"));
            }
            _ if text.starts_with('?') => Decides::UnknownCommand(name.to_owned()),
            _ if name.len() < text.len() => Decides::InOperand(name.to_owned()),
            _ => Decides::Manifest(name.to_owned()),
        })
    };
    entries.iter().map(entry).collect()
}

/// Returns true if a program or one of its commands has an option of this name with a value.
fn takes_value(program: &Program, name: &str) -> bool {
    let option = program.options.get(name);
    let patterns = program.patterns.iter().map(|(_, command)| command);
    option.is_some_and(|option| option.takes != Takes::Nothing)
        || (program.commands.values())
            .chain(patterns)
            .any(|command| takes_value(command, name))
}

fn terminal(
    raw: &RawTerminal,
    names: impl Fn(&str) -> Result<Vec<String>, String>,
) -> Result<Terminal, String> {
    Ok(Terminal {
        reads: match raw.reads.as_str() {
            "input" => Keyboard::Input,
            "keys" => Keyboard::Keys,
            "screen" => Keyboard::Screen,
            other => return Err(format!("unknown source of commands `{other}`")),
        },
        off: names(&raw.off)?,
        on: names(&raw.on)?,
        operands: raw.operands,
    })
}

/// Names of options that stand in the table of the program or of the program above it.
fn option_names(
    names: &str,
    own: &Program,
    parent: Option<&Program>,
) -> Result<Vec<String>, String> {
    let known = |name: &str| {
        let above = parent.is_some_and(|parent| parent.options.contains_key(name));
        own.options.contains_key(name) || above
    };
    match names.split_whitespace().find(|name| !known(name)) {
        Some(name) => Err(format!("`{name}` is no option of it")),
        None => Ok(names.split_whitespace().map(str::to_owned).collect()),
    }
}

fn style(name: Option<&str>) -> Result<Style, String> {
    Ok(match name {
        None | Some("gnu") => Style::Gnu,
        Some("posix") => Style::Posix,
        Some("single") => Style::Single,
        Some("bundled") => Style::Bundled,
        Some("assign") => Style::Assign,
        Some("slash") => Style::Slash,
        Some("none") => Style::None,
        Some(other) => return Err(format!("unknown style `{other}`")),
    })
}

fn effect(name: &str) -> Result<Effect, String> {
    Ok(match name {
        "read" => Effect::Read,
        "create" => Effect::Create,
        "update" => Effect::Update,
        "delete" => Effect::Delete,
        "code" => Effect::Code,
        "unknown" => Effect::Unknown,
        other => return Err(format!("unknown effect `{other}`")),
    })
}

fn role(name: &str) -> Result<Role, String> {
    Ok(match name {
        "text" => Role::Text,
        "input" => Role::Input,
        "name" => Role::Name,
        "settings" => Role::Settings,
        "output" => Role::Output,
        "append" => Role::Append,
        "update" => Role::Update,
        "delete" => Role::Delete,
        "argv" => Role::Argv { more: false },
        "argv+" => Role::Argv { more: true },
        "shell" => Role::Shell,
        "program" => Role::Program,
        "pager" => Role::Pager,
        "module" => Role::Module,
        "scriptfile" => Role::ScriptFile,
        "url" => Role::Url,
        "send" => Role::Send,
        "header" => Role::Header,
        "format" => Role::Format,
        "endpoint" => Role::Endpoint,
        "host" => Role::Host,
        "config" => Role::Config,
        "request" => Role::Request,
        "method" => Role::Method,
        "setting" => Role::Setting,
        "filter" => Role::Filter,
        "list" => Role::List,
        "folder" => Role::Folder,
        other => match other.strip_prefix("script:") {
            Some(name) => Role::Script(language(name)?),
            None => return Err(format!("unknown role `{other}`")),
        },
    })
}

fn language(name: &str) -> Result<Language, String> {
    Ok(match name {
        "sed" => Language::Sed,
        "code" => Language::Code,
        "awk" => Language::Awk,
        "python" => Language::Python,
        "perl" => Language::Perl,
        "ruby" => Language::Ruby,
        "node" => Language::Node,
        "php" => Language::Php,
        "lua" => Language::Lua,
        "jq" => Language::Jq,
        "sql" => Language::Sql,
        "redis" => Language::Redis,
        "powershell" => Language::PowerShell,
        "mongo" => Language::Mongo,
        "cmd" => Language::Cmd,
        other => return Err(format!("unknown language `{other}`")),
    })
}

fn operand(word: &str) -> Result<(Role, Count), String> {
    let word = word.trim_end_matches('…');
    if let Some(name) = word.strip_suffix('*') {
        return Ok((role(name)?, Count::Many));
    }
    if let Some(name) = word.strip_suffix('?') {
        return Ok((role(name)?, Count::Maybe));
    }
    Ok((role(word)?, Count::One))
}

/// `NAMES [= | =?] [ROLE] [VERB EFFECT]`
fn option_line(line: &str) -> Result<Vec<(String, Opt)>, String> {
    let mut words = line.split_whitespace().peekable();
    let mut names = Vec::new();
    while let Some(word) = words.peek() {
        let named = word.starts_with(['-', '+'])
            || word.starts_with('/')
            || (word.len() > 1 && word.ends_with('='));
        if !named {
            break;
        }
        names.push((*word).to_owned());
        words.next();
    }
    if names.is_empty() {
        return Err(format!("option line `{line}` names no option"));
    }
    let takes = match words.peek() {
        Some(&"=") => Takes::Value,
        Some(&"=?") => Takes::Maybe,
        _ => Takes::Nothing,
    };
    if takes != Takes::Nothing {
        words.next();
    }
    let mut option = Opt {
        takes,
        role: Role::Text,
        verb: None,
        permutes: true,
    };
    if let Some(word) = words.peek()
        && !["raises", "means", "only", "reveals"].contains(word)
    {
        option.role = role(word)?;
        words.next();
    }
    if let Some(verb) = words.next() {
        let secret = verb == "means" && words.next_if_eq(&"secret").is_some();
        let mut what = || effect(words.next().ok_or("a verb without an effect")?);
        option.verb = Some(match verb {
            _ if secret => Verb::MeansSecret,
            "raises" => Verb::Raises(what()?),
            "means" => Verb::Means(what()?),
            "only" => Verb::Only(what()?),
            "reveals" => Verb::Reveals,
            other => return Err(format!("unknown verb `{other}` in `{line}`")),
        });
    }
    if let Some(extra) = words.next() {
        return Err(format!("`{extra}` is left over in `{line}`"));
    }
    Ok(names
        .into_iter()
        .map(|name| (name, option.clone()))
        .collect())
}
