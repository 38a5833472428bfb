//! Loader of the tables: entries of the files in, the checked model out. A mistake in a table is an error
//! of the build.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use crate::calls::{call_patterns, check_command};
use crate::format;
use crate::languages::{self, language};
use crate::model::{
    ArityDef, CallPatternDef, CheckDef, Code, ContentsDef, CountDef, DetailsDef, FileLocatorDef,
    InteractiveDef, LoadRuleDef, NamedProgram, OperandDef, OptionDef, PagerDef, ProgramDef,
    RecursionDef, SecretRuleDef, ShimFolderDef, TablesDef, VariableDef, VariablesDef,
};
use crate::raw::{
    Family, RawCheck, RawFiles, RawLoadRule, RawPager, RawProgram, RawSecretRule, RawShimFolder,
    RawShims, RawTerminal, RawVariable, RawVariables,
};
use crate::read::{Source, TableError, read};
use crate::secret_words::{self, WordLists};
use crate::setting_pattern::SettingPattern;
use crate::tokens::{self, TokensDef};
use crate::words::{
    UNSTATED, client_address, control_target, dialect, discarded_data, effect, file_notation,
    file_operation, operand, option_line, output_source, program_notation, secret_input,
    slash_words, style,
};

const VARIABLES: &str = "programs/variables.toml";
const SECRETS: &str = "programs/secrets.toml";
const FILES: &str = "programs/files.toml";
const SHIMS: &str = "programs/shims.toml";
/// End of the path of the file about a family, which is the folder of its programs.
const FAMILY: &str = "/family.toml";

/// Files with the settings of a repository of git.
const REPOSITORY_FILES: [&str; 2] = ["config", "config.worktree"];
/// Settings of a repository that name further files with settings.
const REPOSITORY_INCLUDES: [&str; 2] = ["include.path", "includeIf.*.path"];

/// Loads all tables, or returns every mistake in them.
pub(crate) fn tables(sources: &[Source]) -> Result<TablesDef, Vec<TableError>> {
    let mut errors = Vec::new();
    let mut programs = Vec::new();
    let mut keep = |result: Result<(), TableError>| errors.extend(result.err());
    let (mut variables, mut secrets, mut languages) = (VariablesDef::default(), None, Vec::new());
    let mut tokens = TokensDef::default();
    let (mut files, mut words) = (RawFiles::default(), WordLists::default());
    let mut shims = Vec::new();
    let missing = |file: &str| TableError {
        file: file.to_owned(),
        line: None,
        message: "the file is missing".to_owned(),
    };
    let mut families: HashMap<&str, Family> = HashMap::new();
    for source in sources {
        if let Some(folder) = source.file.strip_suffix(FAMILY) {
            keep(read(source).map(|family| _ = families.insert(folder, family)));
        }
    }
    for source in sources {
        match source.file.as_str() {
            VARIABLES => keep(read(source).map(|raw| variables = self::variables(raw))),
            SECRETS => keep(read(source).map(|lists| secrets = Some(lists))),
            FILES => keep(read(source).map(|raw| files = raw)),
            SHIMS => keep(read(source).and_then(|raw| {
                shims = shim_folders(source, raw)?;
                Ok(())
            })),
            secret_words::FILE => {
                keep(secret_words::load(source).map(|lists| words = lists));
            }
            tokens::FILE => match tokens::load(source) {
                Ok(loaded) => tokens = loaded,
                Err(more) => more.into_iter().for_each(|error| keep(Err(error))),
            },
            file if file.starts_with("languages/") => {
                keep(language(source).map(|language| languages.push(language)));
            }
            file if file.ends_with(FAMILY) => {}
            file => {
                let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
                match families
                    .get(folder)
                    .map(|family| programs_of(source, *family))
                {
                    Some(Ok(more)) => programs.extend(more),
                    Some(Err(more)) => more.into_iter().for_each(|error| keep(Err(error))),
                    None => keep(Err(missing(&format!("{folder}{FAMILY}")))),
                }
            }
        }
    }
    let mut known = HashMap::new();
    for entry in &programs {
        for name in &entry.names {
            if let Some(before) = known.insert(name, &entry.file) {
                keep(Err(TableError {
                    file: entry.file.clone(),
                    line: None,
                    message: format!("duplicate program `{name}`; see also {before}"),
                }));
            }
        }
    }
    let needed = languages::FILES.iter().map(|known| known.file);
    for file in needed.chain([
        VARIABLES,
        SECRETS,
        FILES,
        SHIMS,
        tokens::FILE,
        secret_words::FILE,
    ]) {
        if !sources.iter().any(|source| source.file == file) {
            keep(Err(missing(file)));
        }
    }
    match secrets {
        Some(secrets) if errors.is_empty() => Ok(TablesDef {
            programs,
            variables,
            shims,
            secrets,
            tokens,
            secret_words: words,
            files,
            languages,
        }),
        _ => Err(errors),
    }
}

/// Loads the programs of a file.
pub(crate) fn programs_of(
    source: &Source,
    family: Family,
) -> Result<Vec<NamedProgram>, Vec<TableError>> {
    let parsed = format::programs(source).map_err(|error| vec![error])?;
    let (mut programs, mut errors) = (Vec::new(), Vec::new());
    for mut raw in parsed {
        raw.offline |= family.offline && !raw.online;
        match named_program(raw, &source.file) {
            Ok(program) => programs.push(program),
            Err(fault) => errors.push(fault.located(source)),
        }
    }
    match errors.is_empty() {
        true => Ok(programs),
        false => Err(errors),
    }
}

/// A mistake in the table of a program or of one of its commands.
#[derive(Debug)]
struct EntryError {
    /// The names of the command and of those above it, the innermost first.
    path: Vec<String>,
    line: usize,
    message: String,
}

impl EntryError {
    fn of_entry(names: &[String], line: usize, message: String) -> Self {
        let path = vec![names.first().cloned().unwrap_or_default()];
        Self {
            path,
            line,
            message,
        }
    }

    /// Returns the mistake with the line and the names of the table.
    fn located(mut self, source: &Source) -> TableError {
        self.path.reverse();
        TableError {
            file: source.file.clone(),
            line: Some(self.line),
            message: format!(
                "`{}`: {}; see the page about tables",
                self.path.join(" "),
                self.message
            ),
        }
    }
}

fn checked_of(raw: RawCheck) -> Result<CheckDef, String> {
    let RawCheck { version, by, on } = raw;
    if version.is_empty() || by.is_empty() || on.date.is_none() || on.time.is_some() {
        return Err(
            "`checked` needs a version, the command it was checked by, and a day".to_owned(),
        );
    }
    let on = on.to_string();
    Ok(CheckDef { version, by, on })
}

/// Loads the folders of version managers.
fn shim_folders(source: &Source, raw: RawShims) -> Result<Vec<ShimFolderDef>, TableError> {
    let one = |raw: RawShimFolder| {
        let loads: Result<_, String> = raw.loads.into_iter().map(load_rule).collect();
        let folder = raw.folder;
        loads.map(|loads| ShimFolderDef { folder, loads })
    };
    let folders: Result<_, String> = raw.manager.into_iter().map(one).collect();
    folders.map_err(|message| TableError {
        file: source.file.clone(),
        line: None,
        message,
    })
}

fn variables(raw: RawVariables) -> VariablesDef {
    let one = |raw: RawVariable| {
        raw.names.into_iter().map(move |pattern| VariableDef {
            pattern,
            why: raw.why.clone(),
            harmless: raw.harmless.clone(),
            harmless_folders: raw.harmless_folders.clone(),
            runs_value: raw.runs_value,
            settings: raw.settings,
            only: raw.only.clone(),
        })
    };
    VariablesDef {
        rules: raw.variable.into_iter().flat_map(one).collect(),
        harmless: raw.harmless,
    }
}

/// Loads a program of a file, with the keys that are allowed for programs only.
fn named_program(mut raw: RawProgram, file: &str) -> Result<NamedProgram, EntryError> {
    let (names, line) = (raw.names.clone(), raw.line);
    let of_entry = |message: String| EntryError::of_entry(&names, line, message);
    let checked = raw.checked.take().map(checked_of).transpose();
    let checked = checked.map_err(of_entry)?;
    let packages_in = raw.packages_in.take();
    if packages_in.is_some() && raw.runs_packages.is_empty() {
        return Err(of_entry("`packages_in` needs `runs_packages`".to_owned()));
    }
    let call_lists = [
        ("outside", std::mem::take(&mut raw.outside)),
        ("installs", std::mem::take(&mut raw.installs)),
        ("runs_packages", std::mem::take(&mut raw.runs_packages)),
        ("places_links", std::mem::take(&mut raw.places_links)),
        ("keeps_files", std::mem::take(&mut raw.keeps_files)),
        (
            "sets_shell_variables",
            std::mem::take(&mut raw.sets_shell_variables),
        ),
    ];
    let controls = std::mem::take(&mut raw.controls);
    let discards = std::mem::take(&mut raw.discards);
    let client = raw.client.take().as_deref().map(client_address);
    let client = client.transpose().map_err(of_entry)?;
    let output = raw.output.take().as_deref().map(output_source);
    let output = output.transpose().map_err(of_entry)?;
    let operation = raw.file_operation.take().as_deref().map(file_operation);
    let operation = operation.transpose().map_err(of_entry)?;
    let slash_words = raw.slash_words.take().as_deref().map(slash_words);
    let slash_words = slash_words.transpose().map_err(of_entry)?;
    let edits_named_files = std::mem::take(&mut raw.edits_named_files);
    let changes_directory = std::mem::take(&mut raw.changes_directory);
    let mut program = program(raw, None)?;
    let controls = calls_by_name("controls", &controls, control_target, &program);
    let controls = controls.map_err(of_entry)?;
    let discards = calls_by_name("discards", &discards, discarded_data, &program);
    let discards = discards.map_err(of_entry)?;
    let [
        outside,
        installs,
        runs_packages,
        places_links,
        keeps_files,
        sets_shell_variables,
    ] = call_lists.map(|(key, entries)| {
        call_patterns(&entries, &program).map_err(|message| of_entry(format!("`{key}`: {message}")))
    });
    let details = &mut program.details;
    (details.outside, details.installs) = (outside?, installs?);
    (details.runs_packages, details.packages_in) = (runs_packages?, packages_in);
    (details.places_links, details.controls) = (places_links?, controls);
    details.keeps_files = keeps_files?;
    details.discards = discards;
    details.sets_shell_variables = sets_shell_variables?;
    (details.client, details.output) = (client, output);
    details.file_operation = operation;
    details.edits_named_files = edits_named_files;
    details.changes_directory = changes_directory;
    details.slash_words = slash_words;
    Ok(NamedProgram {
        file: file.to_owned(),
        names,
        checked,
        program: Rc::new(program),
    })
}

/// Reads a key with a list of calls for each of several names.
fn calls_by_name(
    key: &str,
    lists: &BTreeMap<String, Vec<String>>,
    code: fn(&str) -> Result<Code, String>,
    program: &ProgramDef,
) -> Result<Vec<(Code, Vec<CallPatternDef>)>, String> {
    let list = |(name, entries): (&String, &Vec<String>)| {
        if entries.is_empty() {
            return Err(format!("`{key}`: `{name}` has no calls"));
        }
        let of_key = |message: String| format!("`{key}`: {message}");
        let name = code(name).map_err(of_key)?;
        Ok((name, call_patterns(entries, program).map_err(of_key)?))
    };
    lists.iter().map(list).collect()
}

/// Loads a program or a command with the commands below it.
fn program(mut raw: RawProgram, parent: Option<&ProgramDef>) -> Result<ProgramDef, EntryError> {
    let (name, line) = (raw.names.first().cloned().unwrap_or_default(), raw.line);
    let own_loads = raw.loads.len();
    let names_files = raw.decided_by.is_some() || raw.configured_by.is_some();
    let commands = std::mem::take(&mut raw.command);
    let names = raw.names.clone();
    let of_entry = |message: String| EntryError::of_entry(&names, line, message);
    for (key, is_set) in [
        ("checked", raw.checked.is_some()),
        ("outside", !raw.outside.is_empty()),
        ("installs", !raw.installs.is_empty()),
        ("runs_packages", !raw.runs_packages.is_empty()),
        ("packages_in", raw.packages_in.is_some()),
        ("places_links", !raw.places_links.is_empty()),
        ("keeps_files", !raw.keeps_files.is_empty()),
        ("controls", !raw.controls.is_empty()),
        ("discards", !raw.discards.is_empty()),
        ("sets_shell_variables", !raw.sets_shell_variables.is_empty()),
        ("client", raw.client.is_some()),
        ("file_operation", raw.file_operation.is_some()),
        ("output", raw.output.is_some()),
        ("edits_named_files", raw.edits_named_files),
        ("changes_directory", raw.changes_directory),
        ("slash_words", raw.slash_words.is_some()),
    ] {
        if is_set {
            return Err(of_entry(format!("`{key}` is allowed for programs only")));
        }
    }
    let mut own = entry(raw, parent).map_err(of_entry)?;
    for raw in commands {
        let names = raw.names.clone();
        let command = program(raw, Some(&own)).map_err(|mut fault| {
            fault.path.push(name.clone());
            fault
        })?;
        let command = Rc::new(command);
        for name in names {
            if name.contains('*') {
                own.patterns.push((name, Rc::clone(&command)));
                continue;
            }
            let before = own.commands.insert(name.clone(), Rc::clone(&command));
            if before.is_some() {
                return Err(of_entry(format!("duplicate command `{name}`")));
            }
        }
    }
    for rule in &own.details.loads[..own_loads] {
        let names = rule.off.iter().chain(&rule.on).chain(&rule.instead);
        // `--color=never`
        let mut names =
            names.map(|name| name.split_once('=').map_or(name.as_str(), |(name, _)| name));
        if let Some(name) = names.find(|name| !own.has_option(name, |_| true)) {
            return Err(of_entry(format!(
                "`loads`: `{name}` is not an option of the program"
            )));
        }
        for path in &rule.calls {
            check_command(&own, path, &[])
                .map_err(|error| of_entry(format!("`loads`: {error}")))?;
        }
    }
    let values = (own.details.decided_by.iter()).chain(&own.details.configured_by);
    let options = values.filter_map(|entry| match entry {
        FileLocatorDef::Options(names) | FileLocatorDef::InOption(names, _) => Some(names),
        _ => None,
    });
    let takes_value = |option: &OptionDef| option.arity != ArityDef::None;
    let mut options = options.flatten();
    let without_value = options.find(|name| !own.has_option(name, takes_value));
    // An inherited name may be an option of another command of the program.
    if let Some(name) = without_value.filter(|_| names_files) {
        return Err(of_entry(format!("`{name}` is not an option with a value")));
    }
    Ok(own)
}

/// Loads the entry of a program or command without the commands below it.
fn entry(raw: RawProgram, parent: Option<&ProgramDef>) -> Result<ProgramDef, String> {
    let own_names = raw.names.clone();
    let mut options = BTreeMap::new();
    for line in &raw.options {
        for (mut name, option) in option_line(line)? {
            if raw.style.as_deref() == Some("slash") {
                name.make_ascii_lowercase();
            }
            if options
                .insert(name.clone(), option.clone())
                .is_some_and(|before| before != option || raw.style.as_deref() != Some("slash"))
            {
                return Err(format!("duplicate option `{name}`"));
            }
        }
    }
    let operands = match &raw.operands {
        Some(list) => list
            .iter()
            .map(|word| operand(word))
            .collect::<Result<Vec<_>, _>>()?,
        None => vec![OperandDef {
            role: "Role::Text".to_owned(),
            secret: UNSTATED.to_owned(),
            count: CountDef::Many,
        }],
    };
    if operands
        .iter()
        .filter(|operand| operand.count == CountDef::Many)
        .count()
        > 1
    {
        return Err("more than one operand with `*`".to_owned());
    }
    // Every command of `tmux` may have formats in its words.
    let function = raw.function.or_else(|| {
        parent
            .and_then(|p| p.function.clone())
            .filter(|function| function == "tmux")
    });
    let above = parent.map(|parent| &parent.details);
    let details = DetailsDef {
        commands_of: raw.commands_of,
        options_anywhere: raw.options_anywhere || above.is_some_and(|p| p.options_anywhere),
        reveals: raw.reveals,
        reveals_given: raw.reveals_given,
        dash_is_file: raw.dash_is_file || above.is_some_and(|p| p.dash_is_file),
        shell_text: raw.shell_text,
        prints_words: raw.prints_words,
        prints_paths: raw.prints_paths,
        dialect: inherited(raw.dialect, dialect, above.map(|p| &p.dialect))?,
        files_in_words: inherited(
            raw.files_in_words,
            file_notation,
            above.map(|p| &p.files_in_words),
        )?,
        programs_in_words: inherited(
            raw.programs_in_words,
            program_notation,
            above.map(|p| &p.programs_in_words),
        )?,
        sends: raw.sends || above.is_some_and(|p| p.sends),
        offline: raw.offline || !raw.online && above.is_some_and(|p| p.offline),
        hosts: raw.hosts || above.is_some_and(|p| p.hosts),
        probes: raw.probes || above.is_some_and(|p| p.probes),
        shows: raw.shows,
        only_first: raw.only_first,
        options_first: raw.options_first,
        help: match raw.help {
            Some(words) => words.split_whitespace().map(str::to_owned).collect(),
            None => above.map(|p| p.help.clone()).unwrap_or_default(),
        },
        terminal: None,
        pager: None,
        contents: None,
        recurses: None,
        finds: raw.finds,
        variables: raw.variables,
        harmless_variables: raw.harmless_variables,
        expands_files: raw.expands_files || above.is_some_and(|p| p.expands_files),
        unguarded: match raw.unguarded.iter().find(|option| !option.starts_with('-')) {
            Some(word) => return Err(format!("`unguarded`: `{word}` is not an option")),
            None if raw.unguarded.is_empty() => {
                above.map(|p| p.unguarded.clone()).unwrap_or_default()
            }
            None => raw.unguarded,
        },
        harmless_config: raw.harmless_config,
        runs_input: raw.runs_input || above.is_some_and(|p| p.runs_input),
        decided_by: match &raw.decided_by {
            Some(entries) => decides(entries)?,
            None => above.map(|p| p.decided_by.clone()).unwrap_or_default(),
        },
        configured_by: match &raw.configured_by {
            Some(entries) => decides(entries)?,
            None => above.map(inherited_settings).unwrap_or_default(),
        },
        package_scripts: match raw.package_scripts {
            Some(scripts) => scripts,
            None => above.map(|p| p.package_scripts.clone()).unwrap_or_default(),
        },
        replaces_files: raw.replaces_files,
        sets_variables: raw.sets_variables || above.is_some_and(|p| p.sets_variables),
        schedules_input: raw.schedules_input,
        // `named_program` sets the keys that are allowed for programs only.
        ..DetailsDef::default()
    };
    let mut own = ProgramDef {
        does: raw.does,
        effect: effect(&raw.effect)?,
        given: raw.given.as_deref().map(effect).transpose()?,
        operands,
        options,
        style: style(raw.style.as_deref(), parent.map(|parent| &parent.style))?,
        function,
        commands: BTreeMap::new(),
        patterns: Vec::new(),
        details,
    };
    let names = |names: &str| option_names(names, &own, parent);
    let terminal = raw.terminal.map(|raw| terminal(&raw, names)).transpose()?;
    let pager = match raw.pager {
        Some(RawPager { off, on }) => Some(PagerDef {
            off: off.as_ref().map(|off| names(&off.0)).transpose()?,
            on: names(&on.0)?,
        }),
        None => parent.and_then(|p| p.details.pager.clone()),
    };
    let contents = raw.contents.map(|raw| {
        Ok::<_, String>(ContentsDef {
            off: names(&raw.off.0)?,
            on: names(&raw.on.0)?,
            only_on: raw.only_on,
        })
    });
    let contents = contents.transpose()?;
    let recurses = raw.recurses.map(|raw| {
        Ok::<_, String>(RecursionDef {
            on: names(&raw.on.0)?,
            off: names(&raw.off.0)?,
            names: raw.names,
        })
    });
    let recurses = recurses.transpose()?;
    let mut secrets = Vec::new();
    for raw in raw.secrets {
        secrets.push(secret_rule(raw, names)?);
    }
    if own
        .operands
        .iter()
        .any(|operand| operand.secret != UNSTATED)
    {
        let operands = own.operands.iter();
        secrets.push(SecretRuleDef {
            on: Vec::new(),
            operands: operands
                .map(|one| (one.secret.clone(), one.count))
                .collect(),
            options: Vec::new(),
            joined: Vec::new(),
            stdin: None,
        });
    }
    let mut loads = Vec::new();
    for raw in raw.loads {
        loads.push(load_rule(raw)?);
    }
    let prints_variables = raw
        .prints_variables
        .map(|raw| names(&raw.off.0))
        .transpose()?;
    let elsewhere = raw.elsewhere || parent.is_some_and(|parent| parent.details.elsewhere);
    let details = &mut own.details;
    (details.prints_variables, details.elsewhere) = (prints_variables, elsewhere);
    if !raw.reveals_from.is_empty() && details.reveals.is_none() {
        return Err("`reveals_from` needs `reveals`".to_owned());
    }
    details.reveals_from = raw.reveals_from;
    (details.runs_scripts, details.loads_decide) = (raw.runs_scripts, raw.loads_decide);
    (details.secrets, details.loads) = (secrets, loads);
    (details.terminal, details.pager) = (terminal, pager);
    (details.contents, details.recurses) = (contents, recurses);
    if let Some(above) = parent.map(|parent| &parent.details) {
        details.variables.extend_from_slice(&above.variables);
        details
            .harmless_variables
            .extend_from_slice(&above.harmless_variables);
        details.shows.extend_from_slice(&above.shows);
        let inherited = above.loads.iter();
        details
            .loads
            .extend(inherited.filter_map(|rule| rule.of_command(&own_names)));
        details
            .harmless_config
            .extend_from_slice(&above.harmless_config);
    }
    Ok(own)
}

/// Loads an entry of `secrets`.
fn secret_rule(
    raw: RawSecretRule,
    names: impl Fn(&str) -> Result<Vec<String>, String>,
) -> Result<SecretRuleDef, String> {
    // `--type=SecureString`
    let on = raw.on.0.split_whitespace().map(str::to_owned).collect();
    for option in raw.on.0.split_whitespace() {
        names(option.split_once('=').map_or(option, |(name, _)| name))?;
    }
    let operands = raw.operands.iter().map(|word| {
        let operand = operand(word)?;
        Ok((operand.secret, operand.count))
    });
    let rule = SecretRuleDef {
        on,
        operands: operands.collect::<Result<_, String>>()?,
        options: names(&raw.options.0)?,
        joined: raw.joined.0.split_whitespace().map(str::to_owned).collect(),
        stdin: raw.stdin.as_deref().map(secret_input).transpose()?,
    };
    let is_empty = rule.operands.is_empty() && rule.options.is_empty() && rule.joined.is_empty();
    match is_empty && rule.stdin.is_none() {
        true => Err("`secrets` needs `operands`, `options`, `joined` or `stdin`".to_owned()),
        false => Ok(rule),
    }
}

/// Loads an entry of `loads`.
fn load_rule(mut raw: RawLoadRule) -> Result<LoadRuleDef, String> {
    if matches!(raw.search.as_deref(), Some("repository" | "submodules")) && raw.files.is_empty() {
        raw.files = REPOSITORY_FILES.map(str::to_owned).into();
        raw.follows = REPOSITORY_INCLUDES.map(str::to_owned).into();
        raw.format = Some("gitconfig".to_owned());
    }
    let is_path = |file: &String| {
        let (folder, _) = file.rsplit_once('/').unwrap_or_default();
        let has_folder_pattern = raw.modules.is_empty() && folder.contains('*');
        !file.is_empty() && !file.starts_with(['/', '~']) && !has_folder_pattern
    };
    if let Some(file) = raw.files.iter().find(|file| !is_path(file)) {
        return Err(format!("`loads`: `{file}` is not a file in a folder"));
    }
    let patterns = raw.settings.iter().chain(&raw.follows);
    for pattern in patterns.chain(&raw.requires) {
        SettingPattern::parse(pattern).map_err(|error| format!("`loads`: `{pattern}`: {error}"))?;
    }
    if raw.files.is_empty() || raw.seen.is_empty() {
        return Err("`loads` needs `files` and the version in `seen`".to_owned());
    }
    let format = match &raw.format {
        _ if raw.settings.is_empty() && raw.follows.is_empty() => None,
        Some(name) => {
            Some(settings_format(name).ok_or_else(|| format!("unknown format `{name}`"))?)
        }
        None => {
            let mut formats = raw.files.iter().map(|file| {
                let ending = file.rsplit('.').next().unwrap_or_default();
                settings_format(ending).ok_or_else(|| format!("`loads`: `{file}` needs a `format`"))
            });
            let first = formats.next().transpose()?;
            match formats.all(|other| other.ok() == first) {
                true => first,
                false => return Err("`loads`: the files have several formats".to_owned()),
            }
        }
    };
    let format = format.map(|format| format!("SettingsFormat::{format}"));
    let search = match raw.search.as_deref() {
        None | Some("folder") => "Folder",
        Some("upwards") => "Upwards",
        Some("operands") => "Operands",
        Some("named") => "Named",
        Some("repository") => "Repository",
        Some("submodules") => "Submodules",
        Some("hooks") => "Hooks",
        Some(other) => return Err(format!("`loads`: unknown search `{other}`")),
    };
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect();
    Ok(LoadRuleDef {
        files: raw.files,
        search: format!("FileSearch::{search}"),
        format,
        settings: raw.settings,
        follows: raw.follows,
        modules: raw.modules,
        writes: raw.writes,
        creates: raw.creates,
        inside_only: raw.inside_only,
        calls: raw.calls.iter().map(|path| words(path)).collect(),
        names: Vec::new(),
        beside: raw.beside,
        unless: raw.unless,
        requires: raw.requires,
        instead: words(&raw.instead.0),
        on: words(&raw.on.0),
        off: words(&raw.off.0),
        off_variables: raw.off_variables,
    })
}

/// Returns the format of settings with this name or ending of files.
fn settings_format(name: &str) -> Option<&'static str> {
    Some(match name {
        "toml" => "Toml",
        "json" | "jsonc" | "json5" => "Json",
        "yaml" | "yml" => "Yaml",
        "ini" | "cfg" => "Ini",
        "npmrc" => "NpmRc",
        "yarnrc" => "YarnRc",
        "gitconfig" => "GitConfig",
        "words" => "Words",
        _ => return None,
    })
}

/// Returns the value of a key that commands have of the program above them.
fn inherited(
    own: Option<String>,
    read: impl Fn(&str) -> Result<Code, String>,
    above: Option<&Option<Code>>,
) -> Result<Option<Code>, String> {
    match own {
        Some(word) => read(&word).map(Some),
        None => Ok(above.cloned().flatten()),
    }
}

/// Returns the part of `configured_by` that a command inherits from the program above it.
fn inherited_settings(parent: &DetailsDef) -> Vec<FileLocatorDef> {
    let of_known = |entry: &&FileLocatorDef| !matches!(entry, FileLocatorDef::UnknownCommand(_));
    parent
        .configured_by
        .iter()
        .filter(of_known)
        .cloned()
        .collect()
}

/// Reads the entries of `decided_by` and `configured_by`.
fn decides(entries: &[String]) -> Result<Vec<FileLocatorDef>, String> {
    let entry = |text: &String| {
        let name = text.strip_prefix("operand/").unwrap_or(text);
        let name = name.strip_prefix('?').unwrap_or(name);
        let below_home = name.strip_prefix("~/").unwrap_or(name);
        let folders = name.trim_start_matches('^').rsplit_once('/');
        let star_in_folder = folders.is_some_and(|(folder, _)| folder.contains('*'));
        Ok(match text.as_str() {
            "operand" => FileLocatorDef::Operand,
            "operands" => FileLocatorDef::Operands,
            _ if text.starts_with('-') => {
                let (names, file) = match text.split_once('/') {
                    Some((names, file)) => (names, Some(file)),
                    None => (text.as_str(), None),
                };
                let names = names.split_whitespace().map(str::to_owned).collect();
                match file {
                    Some("") => return Err(format!("`{text}` is not a file in a folder")),
                    Some(file) => FileLocatorDef::InOption(names, file.to_owned()),
                    None => FileLocatorDef::Options(names),
                }
            }
            _ if below_home.is_empty() || below_home.starts_with(['/', '~']) || star_in_folder => {
                return Err(format!("`{text}` is not a file in a folder"));
            }
            _ if text.starts_with('?') => FileLocatorDef::UnknownCommand(name.to_owned()),
            _ if name.len() < text.len() => FileLocatorDef::InOperand(name.to_owned()),
            _ => FileLocatorDef::Manifest(name.to_owned()),
        })
    };
    entries.iter().map(entry).collect()
}

fn terminal(
    raw: &RawTerminal,
    names: impl Fn(&str) -> Result<Vec<String>, String>,
) -> Result<InteractiveDef, String> {
    Ok(InteractiveDef {
        source: match raw.reads.as_str() {
            "input" => "CommandSource::Stdin".to_owned(),
            "keys" => "CommandSource::Terminal".to_owned(),
            "screen" => "CommandSource::TerminalOfStdout".to_owned(),
            other => return Err(format!("unknown source of commands `{other}`")),
        },
        off: names(&raw.off.0)?,
        on: names(&raw.on.0)?,
        operands: raw.operands,
    })
}

/// Names of options in the table of the program or of the program above it.
fn option_names(
    names: &str,
    own: &ProgramDef,
    parent: Option<&ProgramDef>,
) -> Result<Vec<String>, String> {
    let known = |name: &str| {
        let above = parent.is_some_and(|parent| parent.options.contains_key(name));
        own.options.contains_key(name) || above
    };
    match names.split_whitespace().find(|name| !known(name)) {
        Some(name) => Err(format!("`{name}` is not an option of the program")),
        None => Ok(names.split_whitespace().map(str::to_owned).collect()),
    }
}
