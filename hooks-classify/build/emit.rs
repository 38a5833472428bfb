//! Writer of the tables: the checked model in, Rust source with static data out.
//!
//! Equal parts are written once and shared. Names of options and commands are numbers of one sorted
//! list, the parts of programs are numbers of their items, and rows of numbers are flat arrays: an
//! array of 40 000 structs with references would take the compiler seconds and the loader 40 000
//! relocations in each process.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;
use std::rc::Rc;

use crate::model::{
    ArityDef, CallPatternDef, ContentsDef, DetailsDef, FileLocatorDef, InteractiveDef, LanguageDef,
    LoadRuleDef, NamedProgram, OptionDef, PagerDef, ProgramDef, RecursionDef, SecretRuleDef,
    TablesDef, VariableDef,
};
use crate::secrets;

/// Returns the source of the module with the programs, variables and secrets.
pub(crate) fn tables(tables: &TablesDef) -> String {
    let mut emitter = Emitter::new(&tables.programs);
    for entry in &tables.programs {
        emitter.program(&entry.program);
    }
    let mut names: Vec<(&str, &Rc<ProgramDef>)> = Vec::new();
    for entry in &tables.programs {
        names.extend(
            entry
                .names
                .iter()
                .map(|name| (name.as_str(), &entry.program)),
        );
    }
    names.sort_by_key(|(name, _)| *name);
    let by_name = emitter.commands(&names, &[]);
    let shims: Vec<String> = (tables.shims.iter())
        .map(|shims| {
            let loads = emitter.load_rules(&shims.loads);
            format!(
                "ShimFolder {{ folder: {:?}, loads: {loads} }}",
                shims.folder
            )
        })
        .collect();
    let mut code = emitter.finish();
    let _ = writeln!(
        code,
        "pub(super) static SHIMS: &[ShimFolder] = {};",
        list(shims)
    );
    let _ = writeln!(
        code,
        "pub(super) static PROGRAMS_BY_NAME: CommandTable = {by_name};"
    );
    let variables = list(tables.variables.rules.iter().map(variable));
    let _ = writeln!(
        code,
        "pub(super) static VARIABLES: &[VariableRule] = {variables};"
    );
    let _ = writeln!(
        code,
        "pub(super) static HARMLESS_VARIABLES: &[&str] = {};",
        strings(&tables.variables.harmless)
    );
    let paths = secrets::paths(&tables.secrets);
    let _ = writeln!(code, "pub(super) static SECRETS: SecretPaths = {paths};");
    let files = &tables.files.code;
    let _ = writeln!(
        code,
        "pub(super) static CODE_FILES: CodeFiles = CodeFiles {{ names: &{:?}, endings: &{:?}, folders: &{:?} }};",
        files.names, files.endings, files.folders
    );
    let checked = tables.programs.iter().filter_map(|entry| {
        let (name, checked) = (entry.names.first()?, entry.checked.as_ref()?);
        let (version, by, on) = (&checked.version, &checked.by, &checked.on);
        Some(format!(
            "TableCheck {{ program: {name:?}, version: {version:?}, by: {by:?}, on: {on:?} }}"
        ))
    });
    let _ = writeln!(
        code,
        "pub(crate) static CHECKED: &[TableCheck] = {};",
        list(checked)
    );
    let functions = list(functions(&tables.programs));
    let _ = writeln!(
        code,
        "/// Functions that tables name, each with the message if `programs/` has no such function.\n\
         pub(crate) const FUNCTIONS: &[(&str, &str)] = {functions};"
    );
    code
}

/// Returns the source of the lists of `languages/`.
pub(crate) fn languages(languages: &[LanguageDef]) -> String {
    let mut code = String::new();
    for language in languages {
        let (item, type_name) = (language.item, language.type_name);
        let _ = writeln!(
            code,
            "pub(super) static {item}: {type_name} = {type_name} {{"
        );
        for one in &language.lists {
            let key = one.key;
            let _ = match one.is_set {
                true => {
                    let words: BTreeSet<&String> = one.words.iter().collect();
                    writeln!(code, "{key}: WordSet({}),", strings(words))
                }
                false => writeln!(code, "{key}: {},", strings(&one.words)),
            };
        }
        code.push_str("};\n");
    }
    code
}

/// Returns an expression of a slice.
pub(crate) fn list(parts: impl IntoIterator<Item = String>) -> String {
    let parts: Vec<String> = parts.into_iter().collect();
    format!("&[{}]", parts.join(", "))
}

/// Returns an expression of a slice of texts.
pub(crate) fn strings<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> String {
    list(texts.into_iter().map(|text| format!("{:?}", text.as_ref())))
}

fn optional(text: Option<String>) -> String {
    text.map_or_else(|| "None".to_owned(), |text| format!("Some({text})"))
}

fn variable(variable: &VariableDef) -> String {
    format!(
        "VariableRule {{ pattern: {:?}, why: {:?}, harmless: {}, harmless_folders: {}, runs_value: {}, settings: {}, only: {} }}",
        variable.pattern,
        variable.why,
        strings(&variable.harmless),
        strings(&variable.harmless_folders),
        variable.runs_value,
        variable.settings,
        strings(&variable.only),
    )
}

/// Returns the functions that tables name, each with the message if `programs/` has no such function.
fn functions(entries: &[NamedProgram]) -> Vec<String> {
    fn visit(
        program: &ProgramDef,
        path: &str,
        file: &str,
        functions: &mut BTreeMap<String, String>,
    ) {
        if let Some(function) = &program.function {
            let message = || {
                format!("{file}: `{path}` names the function `{function}`, which does not exist")
            };
            functions.entry(function.clone()).or_insert_with(message);
        }
        for (name, command) in program.every_command() {
            visit(command, &format!("{path} {name}"), file, functions);
        }
    }
    let mut functions = BTreeMap::new();
    for entry in entries {
        let name = entry.names.first().map_or("", String::as_str);
        visit(&entry.program, name, &entry.file, &mut functions);
    }
    let functions = functions.iter();
    functions
        .map(|(name, message)| format!("({name:?}, {message:?})"))
        .collect()
}

/// Items that are written once, however often they are used.
struct SharedItems {
    prefix: &'static str,
    type_name: &'static str,
    names: HashMap<String, usize>,
    code: String,
}

impl SharedItems {
    fn new(prefix: &'static str, type_name: &'static str) -> Self {
        Self {
            prefix,
            type_name,
            names: HashMap::new(),
            code: String::new(),
        }
    }

    /// Returns the name of the static item with this value.
    fn item(&mut self, value: String) -> String {
        let next = self.names.len();
        let prefix = self.prefix;
        if let Some(known) = self.names.get(&value) {
            return format!("{prefix}{known}");
        }
        let type_name = self.type_name;
        let _ = writeln!(self.code, "static {prefix}{next}: {type_name} = {value};");
        self.names.insert(value, next);
        format!("{prefix}{next}")
    }
}

/// Values that are written once, in one array, however often they are used.
struct NumberedItems {
    name: &'static str,
    type_name: &'static str,
    numbers: HashMap<String, u16>,
    values: Vec<String>,
}

impl NumberedItems {
    fn new(name: &'static str, type_name: &'static str) -> Self {
        Self {
            name,
            type_name,
            numbers: HashMap::new(),
            values: Vec::new(),
        }
    }

    /// Returns the number of a value in the array.
    fn number(&mut self, value: String) -> u16 {
        let next = to_u16(self.values.len());
        let number = *self.numbers.entry(value.clone()).or_insert(next);
        if number == next {
            self.values.push(value);
        }
        number
    }

    fn code(&self) -> String {
        let (name, type_name, count) = (self.name, self.type_name, self.values.len());
        let values = self.values.join(",\n");
        format!("pub(super) static {name}: [{type_name}; {count}] = [\n{values}];\n")
    }
}

/// Rows of two numbers, of which equal runs are kept once.
#[derive(Default)]
struct Rows {
    rows: Vec<(u16, u16)>,
    runs: HashMap<Vec<(u16, u16)>, usize>,
}

impl Rows {
    /// Returns where the run begins.
    fn run(&mut self, run: Vec<(u16, u16)>) -> usize {
        let next = self.rows.len();
        let first = *self.runs.entry(run.clone()).or_insert(next);
        if first == next {
            self.rows.extend(run);
        }
        first
    }

    fn code(&self) -> String {
        let rows = self.rows.iter();
        let rows: Vec<String> = rows
            .map(|(name, entry)| format!("[{name},{entry}]"))
            .collect();
        format!("[[u16; 2]; {}] = [{}]", rows.len(), rows.join(","))
    }
}

struct Emitter<'a> {
    /// All names of options, programs and commands, with their numbers in order.
    names: BTreeMap<&'a str, u16>,
    texts: SharedItems,
    operands: NumberedItems,
    decides: SharedItems,
    calls: SharedItems,
    controls: SharedItems,
    discards: SharedItems,
    secrets: SharedItems,
    loads: SharedItems,
    details: NumberedItems,
    /// What programs do, and the names of their functions.
    phrases: NumberedItems,
    /// The different options, apart from their names.
    kinds: Vec<String>,
    kind_numbers: HashMap<String, u16>,
    options: Rows,
    commands: Rows,
    programs: Vec<String>,
    program_numbers: HashMap<*const ProgramDef, u16>,
}

impl<'a> Emitter<'a> {
    fn new(entries: &'a [NamedProgram]) -> Self {
        fn visit<'a>(program: &'a ProgramDef, names: &mut BTreeMap<&'a str, u16>) {
            for name in program.options.keys() {
                names.insert(name, 0);
            }
            for (name, command) in program.every_command() {
                names.insert(name, 0);
                visit(command, names);
            }
        }
        let mut names = BTreeMap::new();
        for entry in entries {
            names.extend(entry.names.iter().map(|name| (name.as_str(), 0)));
            visit(&entry.program, &mut names);
        }
        for (at, number) in names.values_mut().enumerate() {
            *number = to_u16(at);
        }
        Self {
            names,
            texts: SharedItems::new("T", "&[&str]"),
            operands: NumberedItems::new("OPERAND_LISTS", "&[(Role, OperandCount)]"),
            decides: SharedItems::new("F", "&[FileLocator]"),
            calls: SharedItems::new("C", "&[CallPattern]"),
            controls: SharedItems::new("K", "&[(ControlTarget, &[CallPattern])]"),
            discards: SharedItems::new("X", "&[(DiscardedData, &[CallPattern])]"),
            secrets: SharedItems::new("S", "&[SecretRule]"),
            loads: SharedItems::new("L", "&[LoadRule]"),
            details: NumberedItems::new("PROGRAM_DETAILS", "ProgramDetails"),
            phrases: NumberedItems::new("PHRASES", "&str"),
            kinds: Vec::new(),
            kind_numbers: HashMap::new(),
            options: Rows::default(),
            commands: Rows::default(),
            programs: Vec::new(),
            program_numbers: HashMap::new(),
        }
    }

    /// Returns the number of a program, whose commands are numbered before it.
    fn program(&mut self, program: &'a Rc<ProgramDef>) -> u16 {
        if let Some(known) = self.program_numbers.get(&Rc::as_ptr(program)) {
            return *known;
        }
        let commands: Vec<_> = program
            .commands
            .iter()
            .map(|(name, c)| (name.as_str(), c))
            .collect();
        let patterns: Vec<_> = program
            .patterns
            .iter()
            .map(|(name, c)| (name.as_str(), c))
            .collect();
        let commands = self.commands(&commands, &patterns);
        let options = self.options(&program.options);
        let operands = program
            .operands
            .iter()
            .map(|operand| format!("({}, {})", operand.role, operand.count.code()));
        let operands = self.operands.number(list(operands));
        let details = self.details(&program.details);
        let does = self.phrases.number(program.does.clone());
        let function = program.function.as_ref().map(|function| {
            let number = self.phrases.number(function.clone());
            format!("Phrase({number})")
        });
        let function = optional(function);
        self.programs.push(format!(
            "Program {{ does: Phrase({does}), effect: {}, given: {}, operands: OperandList({operands}), \
             options: {options}, style: {}, function: {function}, commands: {commands}, \
             details: Details({details}) }}",
            program.effect,
            optional(program.given.clone()),
            program.style,
        ));
        let number = to_u16(self.programs.len() - 1);
        self.program_numbers.insert(Rc::as_ptr(program), number);
        number
    }

    /// Returns the expression of the commands: those with plain names in the order of the names,
    /// then the patterns.
    fn commands(
        &mut self,
        plain: &[(&'a str, &'a Rc<ProgramDef>)],
        patterns: &[(&'a str, &'a Rc<ProgramDef>)],
    ) -> String {
        let mut rows = Vec::new();
        for (name, command) in plain.iter().chain(patterns) {
            rows.push((self.names[name], self.program(command)));
        }
        let first = self.commands.run(rows);
        let (plain, patterns) = (plain.len(), patterns.len());
        format!("CommandTable {{ first: {first}, plain: {plain}, patterns: {patterns} }}")
    }

    fn options(&mut self, options: &BTreeMap<String, OptionDef>) -> String {
        let mut rows = Vec::new();
        for (name, option) in options {
            rows.push((self.names[name.as_str()], self.kind(option)));
        }
        let count = rows.len();
        let first = self.options.run(rows);
        format!("OptionTable {{ first: {first}, count: {count} }}")
    }

    fn kind(&mut self, option: &OptionDef) -> u16 {
        let arity = match option.arity {
            ArityDef::None => "None",
            ArityDef::Required => "Required",
            ArityDef::Joined => "Joined",
        };
        let code = format!(
            "OptionSpec {{ arity: ValueArity::{arity}, role: {}, secret: {}, effect: {} }}",
            option.role,
            option.secret,
            optional(option.effect.clone())
        );
        let next = to_u16(self.kinds.len());
        let number = *self.kind_numbers.entry(code.clone()).or_insert(next);
        if number == next {
            self.kinds.push(code);
        }
        number
    }

    /// Returns the number of the details.
    fn details(&mut self, details: &DetailsDef) -> u16 {
        let text = |text: &Option<String>| optional(text.as_ref().map(|text| format!("{text:?}")));
        let terminal = details
            .terminal
            .as_ref()
            .map(|terminal| self.terminal(terminal));
        let pager = details.pager.as_ref().map(|pager| self.pager(pager));
        let contents = details
            .contents
            .as_ref()
            .map(|contents| self.contents(contents));
        let recurses = details
            .recurses
            .as_ref()
            .map(|recurses| self.recurses(recurses));
        let code = format!(
            "ProgramDetails {{ commands_of: {}, options_anywhere: {}, reveals: {}, reveals_given: {}, \
             dash_is_file: {}, shell_text: {}, prints_words: {}, prints_paths: {}, dialect: {}, \
             files_in_words: {}, programs_in_words: {}, sends: {}, offline: {}, hosts: {}, probes: {}, shows: {}, only_first: {}, \
             options_first: {}, help: {}, terminal: {}, pager: {}, contents: {}, \
             recurses: {}, finds: {}, variables: {}, harmless_variables: {}, expands_files: {}, unguarded: {}, harmless_config: {}, runs_input: {}, \
             decided_by: {}, configured_by: {}, package_scripts: {}, replaces_files: {}, \
             outside: {}, installs: {}, runs_packages: {}, packages_in: {}, places_links: {}, keeps_files: {}, controls: {}, discards: {}, sets_shell_variables: {}, client: {}, file_operation: {}, \
             output: {}, edits_named_files: {}, changes_directory: {}, slash_words: {}, sets_variables: {}, schedules_input: {}, secrets: {}, loads: {}, prints_variables: {}, elsewhere: {}, runs_scripts: {}, reveals_from: {}, loads_decide: {} }}",
            text(&details.commands_of),
            details.options_anywhere,
            text(&details.reveals),
            text(&details.reveals_given),
            details.dash_is_file,
            details.shell_text,
            details.prints_words,
            details.prints_paths,
            details.dialect.as_deref().unwrap_or("SqlDialect::Unknown"),
            optional(details.files_in_words.clone()),
            optional(details.programs_in_words.clone()),
            details.sends,
            details.offline,
            details.hosts,
            details.probes,
            self.texts(&details.shows),
            details.only_first,
            details.options_first,
            self.texts(&details.help),
            optional(terminal),
            optional(pager),
            optional(contents),
            optional(recurses),
            text(&details.finds),
            self.texts(&details.variables),
            self.texts(&details.harmless_variables),
            details.expands_files,
            self.texts(&details.unguarded),
            self.texts(&details.harmless_config),
            details.runs_input,
            self.decides(&details.decided_by),
            self.decides(&details.configured_by),
            self.texts(&details.package_scripts),
            details.replaces_files,
            self.call_patterns(&details.outside),
            self.call_patterns(&details.installs),
            self.call_patterns(&details.runs_packages),
            text(&details.packages_in),
            self.call_patterns(&details.places_links),
            self.call_patterns(&details.keeps_files),
            {
                let controls = self.calls_by_name(&details.controls);
                self.controls.item(controls)
            },
            {
                let discards = self.calls_by_name(&details.discards);
                self.discards.item(discards)
            },
            self.call_patterns(&details.sets_shell_variables),
            optional(details.client.clone()),
            optional(details.file_operation.clone()),
            optional(details.output.clone()),
            details.edits_named_files,
            details.changes_directory,
            optional(details.slash_words.clone()),
            details.sets_variables,
            details.schedules_input,
            self.secret_rules(&details.secrets),
            self.load_rules(&details.loads),
            optional(details.prints_variables.as_ref().map(|off| self.texts(off))),
            details.elsewhere,
            details.runs_scripts,
            self.texts(&details.reveals_from),
            details.loads_decide,
        );
        self.details.number(code)
    }

    fn texts(&mut self, texts: &[String]) -> String {
        self.texts.item(strings(texts))
    }

    fn decides(&mut self, entries: &[FileLocatorDef]) -> String {
        let entries: Vec<String> = entries
            .iter()
            .map(|entry| match entry {
                FileLocatorDef::Options(names) => {
                    format!("FileLocator::Options({})", self.texts(names))
                }
                FileLocatorDef::Operand => "FileLocator::Operand".to_owned(),
                FileLocatorDef::Operands => "FileLocator::Operands".to_owned(),
                FileLocatorDef::InOperand(name) => format!("FileLocator::InOperand({name:?})"),
                FileLocatorDef::InOption(names, file) => {
                    format!("FileLocator::InOption({}, {file:?})", self.texts(names))
                }
                FileLocatorDef::UnknownCommand(name) => {
                    format!("FileLocator::UnknownCommand({name:?})")
                }
                FileLocatorDef::Manifest(name) => format!("FileLocator::Manifest({name:?})"),
            })
            .collect();
        self.decides.item(list(entries))
    }

    fn call_patterns(&mut self, patterns: &[CallPatternDef]) -> String {
        let patterns: Vec<String> = patterns
            .iter()
            .map(|pattern| match pattern {
                CallPatternDef::Every => "CallPattern::Every".to_owned(),
                CallPatternDef::Command(path) => {
                    format!("CallPattern::Command({})", self.texts(path))
                }
                CallPatternDef::CommandWithOptions(path, options) => {
                    let (path, options) = (self.texts(path), self.texts(options));
                    format!("CallPattern::CommandWithOptions({path}, {options})")
                }
                CallPatternDef::Options(names) => {
                    format!("CallPattern::Options({})", self.texts(names))
                }
                CallPatternDef::Alone => "CallPattern::Alone".to_owned(),
                CallPatternDef::ConfigOverride => "CallPattern::ConfigOverride".to_owned(),
                CallPatternDef::OtherHost => "CallPattern::OtherHost".to_owned(),
                CallPatternDef::Request => "CallPattern::Request".to_owned(),
            })
            .collect();
        self.calls.item(list(patterns))
    }

    fn calls_by_name(&mut self, lists: &[(String, Vec<CallPatternDef>)]) -> String {
        let lists: Vec<String> = lists
            .iter()
            .map(|(name, calls)| format!("({name}, {})", self.call_patterns(calls)))
            .collect();
        list(lists)
    }

    fn secret_rules(&mut self, rules: &[SecretRuleDef]) -> String {
        let rules: Vec<String> = rules
            .iter()
            .map(|rule| {
                let operands = rule.operands.iter();
                let operands =
                    operands.map(|(shape, count)| format!("({shape}, {})", count.code()));
                format!(
                    "SecretRule {{ on: {}, operands: {}, options: {}, joined: {}, stdin: {} }}",
                    self.texts(&rule.on),
                    list(operands),
                    self.texts(&rule.options),
                    self.texts(&rule.joined),
                    optional(rule.stdin.clone())
                )
            })
            .collect();
        self.secrets.item(list(rules))
    }

    fn load_rules(&mut self, rules: &[LoadRuleDef]) -> String {
        // A rule for commands below concerns only these.
        let rules = rules.iter().filter(|rule| rule.calls.is_empty());
        let rules: Vec<String> = rules
            .map(|rule| {
                let modules: Vec<String> = (rule.modules.iter())
                    .flat_map(|names| names.split_whitespace().map(str::to_owned))
                    .collect();
                format!(
                    "LoadRule {{ files: {}, search: {}, format: {}, settings: {}, follows: {}, modules: {}, \
                     writes: {}, creates: {}, inside_only: {}, names: {}, beside: {}, unless: {}, requires: {}, instead: {}, on: {}, off: {}, \
                     off_variables: {} }}",
                    self.texts(&rule.files),
                    rule.search,
                    optional(rule.format.clone()),
                    self.texts(&rule.settings),
                    self.texts(&rule.follows),
                    self.texts(&modules),
                    rule.writes,
                    rule.creates,
                    rule.inside_only,
                    self.texts(&rule.names),
                    self.texts(&rule.beside),
                    self.texts(&rule.unless),
                    self.texts(&rule.requires),
                    self.texts(&rule.instead),
                    self.texts(&rule.on),
                    self.texts(&rule.off),
                    self.texts(&rule.off_variables),
                )
            })
            .collect();
        self.loads.item(list(rules))
    }

    fn terminal(&mut self, terminal: &InteractiveDef) -> String {
        format!(
            "InteractiveRule {{ source: {}, off: {}, on: {}, operands: {:?} }}",
            terminal.source,
            self.texts(&terminal.off),
            self.texts(&terminal.on),
            terminal.operands
        )
    }

    fn pager(&mut self, pager: &PagerDef) -> String {
        let off = pager.off.as_ref().map(|off| self.texts(off));
        let (off, on) = (optional(off), self.texts(&pager.on));
        format!("PagerRule {{ off: {off}, on: {on} }}")
    }

    fn contents(&mut self, contents: &ContentsDef) -> String {
        format!(
            "ContentsRule {{ off: {}, on: {}, only_on: {} }}",
            self.texts(&contents.off),
            self.texts(&contents.on),
            self.texts(&contents.only_on)
        )
    }

    fn recurses(&mut self, recurses: &RecursionDef) -> String {
        format!(
            "RecursionRule {{ on: {}, off: {}, names: {} }}",
            self.texts(&recurses.on),
            self.texts(&recurses.off),
            self.texts(&recurses.names)
        )
    }

    fn finish(self) -> String {
        let mut code = String::new();
        let shared_items = [
            self.texts,
            self.decides,
            self.calls,
            self.controls,
            self.discards,
            self.secrets,
            self.loads,
        ];
        for shared in shared_items {
            code.push_str(&shared.code);
        }
        for numbered in [&self.operands, &self.details] {
            code.push_str(&numbered.code());
        }
        code.push_str(&joined(
            "PHRASE",
            self.phrases.values.iter().map(String::as_str),
        ));
        code.push_str(&joined("NAME", self.names.keys().copied()));
        let (kinds, programs) = (self.kinds.len(), self.programs.len());
        let _ = write!(
            code,
            "pub(super) static OPTION_KINDS: [OptionSpec; {kinds}] = [\n{}];\n\
             pub(super) static OPTION_ROWS: {};\n\
             pub(super) static COMMAND_ROWS: {};\n\
             pub(super) static PROGRAMS: [Program; {programs}] = [\n{}];\n",
            self.kinds.join(",\n"),
            self.options.code(),
            self.commands.code(),
            self.programs.join(",\n"),
        );
        code
    }
}

/// Returns the items of texts that are joined to one: the text, and where each of them ends.
fn joined<'t>(prefix: &str, texts: impl Iterator<Item = &'t str>) -> String {
    let (mut all, mut ends) = (String::new(), Vec::new());
    for text in texts {
        all.push_str(text);
        ends.push(all.len().to_string());
    }
    let (count, ends) = (ends.len(), ends.join(","));
    format!(
        "pub(super) static {prefix}_TEXT: &str = {all:?};\n\
         pub(super) static {prefix}_ENDS: [u32; {count}] = [{ends}];\n"
    )
}

/// Returns a number of the tables, which have fewer than 65 536 of everything.
fn to_u16(number: usize) -> u16 {
    u16::try_from(number).expect("fewer names, options and programs than a `u16` counts")
}
