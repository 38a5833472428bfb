//! Reads the words of tables: names of effects, roles and styles in, expressions of Rust out.

use crate::model::{Code, Count, Operand, Opt, Takes};

/// Styles that the commands of a program have, too, unless they name one of their own.
const INHERITED: &[&str] = &[
    "Style::Argparse",
    "Style::Aws",
    "Style::Clap",
    "Style::Cobra",
    "Style::Git",
];

/// Returns the dialect of SQL with this name.
pub(crate) fn dialect(name: &str) -> Result<Code, String> {
    Ok(match name {
        "mysql" => "SqlDialect::MySql",
        "postgresql" => "SqlDialect::PostgreSql",
        "sqlite" => "SqlDialect::Sqlite",
        other => return Err(format!("unknown dialect of SQL `{other}`")),
    }
    .to_owned())
}

/// Returns the notation in which words name files.
pub(crate) fn file_notation(name: &str) -> Result<Code, String> {
    Ok(match name {
        "url" => "FileNotation::Url",
        "at" => "FileNotation::At",
        "from-file" => "FileNotation::FromFile",
        "encrypted" => "FileNotation::Encrypted",
        "member" => "FileNotation::Member",
        "source" => "FileNotation::Source",
        "expression" => "FileNotation::Expression",
        "quoted" => "FileNotation::Quoted",
        other => return Err(format!("unknown notation of files `{other}`")),
    }
    .to_owned())
}

/// Returns the notation in which words name programs.
pub(crate) fn program_notation(name: &str) -> Result<Code, String> {
    Ok(match name {
        "remote-helper" => "ProgramNotation::RemoteHelper",
        "backend" => "ProgramNotation::Backend",
        "formula" => "ProgramNotation::Formula",
        other => return Err(format!("unknown notation of programs `{other}`")),
    }
    .to_owned())
}

/// Returns the style of a program or a command, below one with the style `above`.
pub(crate) fn style(name: Option<&str>, above: Option<&Code>) -> Result<Code, String> {
    Ok(match name {
        None => match above {
            Some(above) if INHERITED.contains(&above.as_str()) => return Ok(above.clone()),
            _ => "Style::Gnu",
        },
        Some("gnu") => "Style::Gnu",
        Some("posix") => "Style::Posix",
        Some("bsd") => "Style::Bsd",
        Some("git") => "Style::Git",
        Some("bash-builtin") => "Style::BashBuiltin",
        Some("zsh-builtin") => "Style::ZshBuiltin",
        Some("cobra") => "Style::Cobra",
        Some("cobra-posix") => "Style::CobraPosix",
        Some("clap") => "Style::Clap",
        Some("clap-posix") => "Style::ClapPosix",
        Some("argparse") => "Style::Argparse",
        Some("aws") => "Style::Aws",
        Some("single-dash") => "Style::SingleDash",
        Some("single-dash-posix") => "Style::SingleDashPosix",
        Some("single-dash-bsd") => "Style::SingleDashBsd",
        Some("bundled") => "Style::Bundled",
        Some("jar") => "Style::Jar",
        Some("ps") => "Style::Ps",
        Some("assign") => "Style::Assign",
        Some("slash") => "Style::Slash",
        Some("none") => "Style::None",
        Some(other) => return Err(format!("unknown style `{other}`")),
    }
    .to_owned())
}

pub(crate) fn effect(name: &str) -> Result<Code, String> {
    Ok(match name {
        "read" => "Effect::Read",
        "create" => "Effect::Create",
        "update" => "Effect::Update",
        "delete" => "Effect::Delete",
        "code" => "Effect::Code",
        "unknown" => "Effect::Unknown",
        other => return Err(format!("unknown effect `{other}`")),
    }
    .to_owned())
}

fn role(name: &str) -> Result<Code, String> {
    Ok(match name {
        "text" => "Role::Text",
        "input" => "Role::Input",
        "name" => "Role::Name",
        "settings" => "Role::Settings",
        "output" => "Role::Output",
        "append" => "Role::Append",
        "update" => "Role::Update",
        "delete" => "Role::Delete",
        "argv" => "Role::Argv { more: false }",
        "argv+" => "Role::Argv { more: true }",
        "shell" => "Role::Shell",
        "program" => "Role::Program",
        "pager" => "Role::Pager",
        "module" => "Role::Module",
        "scriptfile" => "Role::ScriptFile",
        "url" => "Role::Url",
        "send" => "Role::Send",
        "header" => "Role::Header",
        "format" => "Role::Format",
        "endpoint" => "Role::Endpoint",
        "host" => "Role::Host",
        "config" => "Role::Config",
        "request" => "Role::Request",
        "method" => "Role::Method",
        "setting" => "Role::Setting",
        "filter" => "Role::Filter",
        "list" => "Role::List",
        "folder" => "Role::Folder",
        other => match other.strip_prefix("script:") {
            Some(name) => return Ok(format!("Role::Script({})", script_language(name)?)),
            None => return Err(format!("unknown role `{other}`")),
        },
    }
    .to_owned())
}

fn script_language(name: &str) -> Result<Code, String> {
    Ok(match name {
        "sed" => "Language::Sed",
        "code" => "Language::Code",
        "awk" => "Language::Awk",
        "python" => "Language::Python",
        "perl" => "Language::Perl",
        "ruby" => "Language::Ruby",
        "node" => "Language::Node",
        "php" => "Language::Php",
        "lua" => "Language::Lua",
        "jq" => "Language::Jq",
        "sql" => "Language::Sql",
        "redis" => "Language::Redis",
        "powershell" => "Language::PowerShell",
        "mongo" => "Language::Mongo",
        "cmd" => "Language::Cmd",
        other => return Err(format!("unknown language `{other}`")),
    }
    .to_owned())
}

/// `ROLE[? | *]`
pub(crate) fn operand(word: &str) -> Result<Operand, String> {
    let word = word.trim_end_matches('…');
    let (name, count) = match (word.strip_suffix('*'), word.strip_suffix('?')) {
        (Some(name), _) => (name, Count::Many),
        (None, Some(name)) => (name, Count::Maybe),
        (None, None) => (word, Count::One),
    };
    let role = role(name)?;
    Ok(Operand { role, count })
}

/// `NAMES [= | =?] [ROLE] [VERB EFFECT]`; `--[no-]x` is `--x`, and a flag `--no-x` that changes nothing.
pub(crate) fn option_line(line: &str) -> Result<Vec<(String, Opt)>, String> {
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
    let plain = Opt {
        takes: Takes::Nothing,
        role: "Role::Text".to_owned(),
        effect: None,
    };
    let mut option = Opt {
        takes,
        ..plain.clone()
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
        option.effect = Some(match verb {
            _ if secret => "OptionEffect::ReplacesAndReveals".to_owned(),
            "raises" => format!("OptionEffect::AtLeast({})", what()?),
            "means" => format!("OptionEffect::Replaces({})", what()?),
            "only" => format!("OptionEffect::Forces({})", what()?),
            "reveals" => "OptionEffect::Reveals".to_owned(),
            other => return Err(format!("unknown verb `{other}` in `{line}`")),
        });
    }
    if let Some(extra) = words.next() {
        return Err(format!("`{extra}` is left over in `{line}`"));
    }
    let mut options = Vec::new();
    for name in names {
        match name.strip_prefix("--[no-]") {
            Some(rest) => {
                options.push((format!("--{rest}"), option.clone()));
                options.push((format!("--no-{rest}"), plain.clone()));
            }
            None => options.push((name, option.clone())),
        }
    }
    Ok(options)
}
