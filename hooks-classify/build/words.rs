//! Words of tables: names of effects, roles and styles in, expressions of Rust out.

use crate::model::{ArityDef, Code, CountDef, OperandDef, OptionDef};

/// Styles that the commands of a program inherit, unless they name a style.
const INHERITED: &[&str] = &[
    "Style::Argparse",
    "Style::Aws",
    "Style::Clap",
    "Style::Cobra",
    "Style::Git",
];

/// Names of styles.
pub(crate) const STYLES: &[(&str, &str)] = &[
    ("gnu", "Style::Gnu"),
    ("posix", "Style::Posix"),
    ("bsd", "Style::Bsd"),
    ("git", "Style::Git"),
    ("bash-builtin", "Style::BashBuiltin"),
    ("zsh-builtin", "Style::ZshBuiltin"),
    ("cobra", "Style::Cobra"),
    ("cobra-posix", "Style::CobraPosix"),
    ("clap", "Style::Clap"),
    ("clap-posix", "Style::ClapPosix"),
    ("argparse", "Style::Argparse"),
    ("aws", "Style::Aws"),
    ("single-dash", "Style::SingleDash"),
    ("single-dash-posix", "Style::SingleDashPosix"),
    ("single-dash-bsd", "Style::SingleDashBsd"),
    ("bundled", "Style::Bundled"),
    ("jar", "Style::Jar"),
    ("ps", "Style::Ps"),
    ("assign", "Style::Assign"),
    ("slash", "Style::Slash"),
    ("none", "Style::None"),
];

/// Names of effects.
const EFFECTS: &[(&str, &str)] = &[
    ("read", "Effect::Read"),
    ("create", "Effect::Create"),
    ("update", "Effect::Update"),
    ("delete", "Effect::Delete"),
    ("code", "Effect::Code"),
    ("unknown", "Effect::Unknown"),
];

/// Names of roles; `script:LANGUAGE` is one more.
pub(crate) const ROLES: &[(&str, &str)] = &[
    ("text", "Role::Text"),
    ("input", "Role::Input"),
    ("name", "Role::Name"),
    ("settings", "Role::Settings"),
    ("output", "Role::Output"),
    ("append", "Role::Append"),
    ("update", "Role::Update"),
    ("delete", "Role::Delete"),
    ("argv", "Role::Argv { more: false }"),
    ("argv+", "Role::Argv { more: true }"),
    ("shell", "Role::Shell"),
    ("program", "Role::Program"),
    ("pager", "Role::Pager"),
    ("module", "Role::Module"),
    ("scriptfile", "Role::ScriptFile"),
    ("url", "Role::Url"),
    ("send", "Role::Send"),
    ("header", "Role::Header"),
    ("format", "Role::Format"),
    ("endpoint", "Role::Endpoint"),
    ("host", "Role::Host"),
    ("config", "Role::Config"),
    ("request", "Role::Request"),
    ("method", "Role::Method"),
    ("setting", "Role::Setting"),
    ("filter", "Role::Filter"),
    ("list", "Role::List"),
    ("folder", "Role::Folder"),
];

/// Languages of the role `script:LANGUAGE`.
pub(crate) const LANGUAGES: &[(&str, &str)] = &[
    ("sed", "Language::Sed"),
    ("code", "Language::Code"),
    ("awk", "Language::Awk"),
    ("python", "Language::Python"),
    ("perl", "Language::Perl"),
    ("ruby", "Language::Ruby"),
    ("node", "Language::Node"),
    ("php", "Language::Php"),
    ("lua", "Language::Lua"),
    ("jq", "Language::Jq"),
    ("sql", "Language::Sql"),
    ("redis", "Language::Redis"),
    ("powershell", "Language::PowerShell"),
    ("mongo", "Language::Mongo"),
    ("cmd", "Language::Cmd"),
    ("tcl", "Language::Tcl"),
];

/// Returns the code of a name in one of the lists above.
fn code(list: &[(&str, &str)], kind: &str, name: &str) -> Result<Code, String> {
    let found = list.iter().find(|(known, _)| *known == name);
    let (_, code) = found.ok_or_else(|| format!("unknown {kind} `{name}`"))?;
    Ok((*code).to_owned())
}

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

/// Returns the target of the key `controls`.
pub(crate) fn control_target(name: &str) -> Result<Code, String> {
    Ok(match name {
        "git" => "ControlTarget::Git",
        "schedule" => "ControlTarget::Schedule",
        "login-shell" => "ControlTarget::LoginShell",
        "ssh" => "ControlTarget::Ssh",
        "programs" => "ControlTarget::Programs",
        "process-ids" => "ControlTarget::ProcessIds",
        "process-patterns" => "ControlTarget::ProcessPatterns",
        "process-names" => "ControlTarget::ProcessNames",
        "services" => "ControlTarget::Services",
        "all-processes" => "ControlTarget::AllProcesses",
        "inspected-processes" => "ControlTarget::InspectedProcesses",
        "parsing" => "ControlTarget::Parsing",
        other => return Err(format!("unknown target `{other}`")),
    }
    .to_owned())
}

/// Returns the data of the key `discards`.
pub(crate) fn discarded_data(name: &str) -> Result<Code, String> {
    Ok(match name {
        "changes" => "DiscardedData::Changes",
        "changes-of-operands" => "DiscardedData::ChangesOfOperands",
        "untracked" => "DiscardedData::Untracked",
        "untracked-folders" => "DiscardedData::UntrackedFolders",
        "ignored" => "DiscardedData::Ignored",
        "only-ignored" => "DiscardedData::OnlyIgnored",
        "stash" => "DiscardedData::Stash",
        "all-stashes" => "DiscardedData::AllStashes",
        "branches" => "DiscardedData::Branches",
        other => return Err(format!("unknown data `{other}`")),
    }
    .to_owned())
}

/// Returns the words with which a client names an address.
pub(crate) fn client_address(name: &str) -> Result<Code, String> {
    Ok(match name {
        "one-word" => "ClientAddress::OneWord",
        "two-words" => "ClientAddress::TwoWords",
        "scanned-host" => "ClientAddress::ScannedHost",
        other => return Err(format!("unknown address of a client `{other}`")),
    }
    .to_owned())
}

pub(crate) fn file_operation(name: &str) -> Result<Code, String> {
    Ok(match name {
        "copy" => "FileOperation::Copy",
        "move" => "FileOperation::Move",
        "link" => "FileOperation::Link",
        "delete" => "FileOperation::Delete",
        "empty-folder" => "FileOperation::EmptyFolder",
        "metadata" => "FileOperation::Metadata",
        other => return Err(format!("unknown operation on files `{other}`")),
    }
    .to_owned())
}

pub(crate) fn output_source(name: &str) -> Result<Code, String> {
    Ok(match name {
        "words" => "OutputSource::Words",
        "files" => "OutputSource::Files",
        "nothing" => "OutputSource::Nothing",
        other => return Err(format!("unknown source of output `{other}`")),
    }
    .to_owned())
}

/// Returns the meaning of words that begin with a slash.
pub(crate) fn slash_words(name: &str) -> Result<Code, String> {
    Ok(match name {
        "patterns" => "SlashWords::Patterns",
        "labels" => "SlashWords::Labels",
        other => return Err(format!("unknown meaning of words `{other}`")),
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
    match (name, above) {
        (Some(name), _) => code(STYLES, "style", name),
        (None, Some(above)) if INHERITED.contains(&above.as_str()) => Ok(above.clone()),
        (None, _) => Ok("Style::Gnu".to_owned()),
    }
}

pub(crate) fn effect(name: &str) -> Result<Code, String> {
    code(EFFECTS, "effect", name)
}

/// `ROLE[+SECRET]`, or `SECRET` for text: the role, and the part that is a secret.
fn role(name: &str) -> Result<(Code, Code), String> {
    if let Some(shape) = secret_shape(name)? {
        return Ok(("Role::Text".to_owned(), shape));
    }
    let (name, shape) = match name.split_once('+') {
        Some((name, shape)) if !shape.is_empty() => {
            let shape = secret_shape(shape)?.ok_or_else(|| format!("unknown role `{shape}`"))?;
            (name, shape)
        }
        _ => (name, UNSTATED.to_owned()),
    };
    let role = match name.strip_prefix("script:") {
        Some(name) => {
            let language = code(LANGUAGES, "language", name)?;
            format!("Role::Script({language})")
        }
        None => code(ROLES, "role", name)?,
    };
    Ok((role, shape))
}

/// A value whose role does not say whether it is a secret.
pub(crate) const UNSTATED: &str = "SecretShape::Unstated";

/// Returns the part of a value that is a secret, if the name is that of a secret.
fn secret_shape(name: &str) -> Result<Option<Code>, String> {
    let (name, detail) = match name.split_once(':') {
        Some((name, detail)) => (name, Some(detail)),
        None => (name, None),
    };
    Ok(Some(match (name, detail) {
        ("secret", None) => "SecretShape::Whole".to_owned(),
        ("secret", Some(schemes)) if !schemes.is_empty() => {
            let schemes: Vec<&str> = schemes.split(',').collect();
            format!("SecretShape::Scheme(&{schemes:?})")
        }
        ("secret-options", None) => "SecretShape::Options".to_owned(),
        ("login", None) => "SecretShape::Login(\":\")".to_owned(),
        ("login", Some(separators)) if !separators.is_empty() => {
            format!("SecretShape::Login({separators:?})")
        }
        ("secret-name", None) => "SecretShape::Name".to_owned(),
        ("secret-of-name", None) => "SecretShape::OfName".to_owned(),
        ("credentials", None) => "SecretShape::After(\":\")".to_owned(),
        ("credentials", Some(separators)) if !separators.is_empty() => {
            format!("SecretShape::After({separators:?})")
        }
        ("secret" | "secret-name" | "secret-of-name" | "credentials", Some(detail)) => {
            return Err(format!("unknown kind of secret `{name}:{detail}`"));
        }
        _ => return Ok(None),
    }))
}

/// Returns what of its standard input a program reads as secrets.
pub(crate) fn secret_input(name: &str) -> Result<Code, String> {
    Ok(match name {
        "lines" => "SecretInput::Lines",
        "first-line" => "SecretInput::FirstLine",
        "accounts" => "SecretInput::Accounts",
        "logins" => "SecretInput::Logins",
        other => return Err(format!("unknown input of secrets `{other}`")),
    }
    .to_owned())
}

/// `ROLE[? | *]`
pub(crate) fn operand(word: &str) -> Result<OperandDef, String> {
    let word = word.trim_end_matches('…');
    let (name, count) = match (word.strip_suffix('*'), word.strip_suffix('?')) {
        (Some(name), _) => (name, CountDef::Many),
        (None, Some(name)) => (name, CountDef::Optional),
        (None, None) => (word, CountDef::One),
    };
    let (role, secret) = role(name)?;
    Ok(OperandDef {
        role,
        secret,
        count,
    })
}

/// `NAMES [= | =?] [ROLE[+SECRET]] [VERB EFFECT]`; `--[no-]x` is `--x`, and a flag `--no-x` that changes nothing.
pub(crate) fn option_line(line: &str) -> Result<Vec<(String, OptionDef)>, String> {
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
        return Err(format!("option line `{line}` has no option"));
    }
    let arity = match words.peek() {
        Some(&"=") => ArityDef::Required,
        Some(&"=?") => ArityDef::Joined,
        _ => ArityDef::None,
    };
    if arity != ArityDef::None {
        words.next();
    }
    let plain = OptionDef {
        arity: ArityDef::None,
        role: "Role::Text".to_owned(),
        secret: UNSTATED.to_owned(),
        effect: None,
    };
    let mut option = OptionDef {
        arity,
        ..plain.clone()
    };
    if let Some(word) = words.peek()
        && !["raises", "means", "only", "reveals"].contains(word)
    {
        (option.role, option.secret) = role(word)?;
        words.next();
    }
    if let Some(verb) = words.next() {
        let secret = verb == "means" && words.next_if_eq(&"secret").is_some();
        let mut next_effect = || effect(words.next().ok_or("a verb without an effect")?);
        option.effect = Some(match verb {
            _ if secret => "OptionEffect::ReplacesAndReveals".to_owned(),
            "raises" => format!("OptionEffect::AtLeast({})", next_effect()?),
            "means" => format!("OptionEffect::Replaces({})", next_effect()?),
            "only" => format!("OptionEffect::Forces({})", next_effect()?),
            "reveals" => "OptionEffect::Reveals".to_owned(),
            other => return Err(format!("unknown verb `{other}` in `{line}`")),
        });
    }
    if let Some(extra) = words.next() {
        return Err(format!("`{extra}` is unexpected in `{line}`"));
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
