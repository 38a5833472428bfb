//! Facts of the interpreter in, [`Parts`] out: every program that would run, with its words, files,
//! hosts, redirections and assignments.
//!
//! [`Recorder`] records the parts while the interpreter classifies the command. A value that is only known
//! when the command runs is marked with [`UNKNOWN`] and never left out.

use super::host;
use super::judge::{Arg, Input, UNKNOWN as MARK, plain};
use super::shell::Span;
use super::tables::{Call, Decides, Given, Language, Role, RunsInput};
use super::{Classification, Crud};

/// Placeholder in the text of a [`Word`] for a value that is only known when the command runs.
pub const UNKNOWN: char = MARK;

/// Maximum number of recorded parts; the commands of a loop count each time they are followed.
const MAX_PARTS: usize = 2000;
/// Maximum number of recorded bytes of words.
const MAX_BYTES: usize = 1 << 20;

/// The classification of a command, with the parts of the command.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Judgement {
    /// Class, decision and reason.
    pub classification: Classification,
    /// Programs, files, hosts and redirections. If the analysis failed, there are no parts and
    /// [`complete`](Parts::complete) is `false`.
    pub parts: Parts,
}

impl Judgement {
    pub(crate) fn new(classification: Classification, parts: Option<Parts>) -> Self {
        Self {
            classification,
            parts: parts.unwrap_or_default(),
        }
    }
}

/// Wraps a classification without parts, which no rule about parts can allow.
impl From<Classification> for Judgement {
    fn from(classification: Classification) -> Self {
        Self::new(classification, None)
    }
}

/// The parts of a command.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Parts {
    /// All parts in the order of the analysis; a program stands before the programs that it runs.
    pub all: Vec<Part>,
    /// `true` if both parsers read every text in the same way.
    pub agreed: bool,
    /// `true` if the analysis followed the whole command.
    pub complete: bool,
    /// `true` if the command defines a function.
    pub functions: bool,
    /// `true` if there is a substitution outside of every part, for example in the list of a loop.
    pub substitutions: bool,
    /// Strongest effect that needs confirmation and belongs to no part.
    pub loose: Option<Crud>,
    /// Scripts in other languages, each with the part that runs it.
    pub scripts: Vec<Script>,
    /// Source of code that belongs to no part and is only known when it runs.
    pub unseen_code: Option<UnseenCode>,
}

/// A program that would run, with its words. A part without words is a group of commands, a
/// redirection or an assignment.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Part {
    /// Start of the part in the command, in bytes.
    pub start: usize,
    /// End of the part in the command, in bytes.
    pub end: usize,
    /// Index in [`Parts::all`] of the part that runs this part: a wrapper such as `sudo`, a shell with
    /// `-c`, the command around a substitution, or a group.
    pub within: Option<usize>,
    /// The program and its arguments after expansion. Unknown text is [`UNKNOWN`].
    pub words: Vec<Word>,
    /// The calls as the tables read them; more than one if a program stands for another program.
    pub calls: Vec<PartCall>,
    /// Files among the words, as the tables tell them.
    pub touches: Vec<Touch>,
    /// Redirections from and to files, without `/dev/null` and without duplicated descriptors.
    pub redirections: Vec<Touch>,
    /// Hosts that its words and redirections name, as the URL standard reads them.
    pub hosts: Vec<PartHost>,
    /// Files whose contents the part reads; a folder stands for the files in it.
    pub reads: Vec<FileRead>,
    /// Texts of its here-documents and here-strings.
    pub documents: Vec<Word>,
    /// Variables that the part sets.
    pub assignments: Vec<PartAssignment>,
    /// `true` if the part has a substitution.
    pub substitutions: bool,
    /// Standard input: `None` if it is inherited, `Some(None)` if its contents are unknown.
    pub input: Option<Option<String>>,
    /// `true` if an option sets a configuration value that may run other code (`git -c core.pager=…`).
    pub told: bool,
    /// Strongest effect of the part itself, without the programs that it runs.
    pub effect: Crud,
    /// Strongest effect of the part and of the programs that it runs.
    pub effect_in_all: Crud,
    /// `true` if the part needs confirmation.
    pub ask: bool,
    /// `true` if the part is unknown, or runs code that the command does not show.
    pub code: bool,
    /// `true` if the part may run its standard input as code: it is an interpreter, a client of an
    /// interpreter, or a wrapper that may start a shell.
    pub runs_input: bool,
    /// Files with code that the words name: the script of an interpreter, or a program by its path.
    pub code_files: Vec<Word>,
    /// Words that may name configuration files of the program.
    pub settings_files: Vec<Word>,
    /// `true` if the part may replace existing files, for example `git pull`.
    pub replaces_files: bool,
    /// Files that the program finds by a fixed name, for example `Makefile`.
    pub manifests: Vec<Manifest>,
    /// Scripts of a manifest that the part runs, for example `test` of `package.json`.
    pub package_scripts: Vec<Word>,
    /// Source of code that is only known when it runs.
    pub unseen_code: Option<UnseenCode>,
}

/// Source of code that is only known when it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnseenCode {
    /// The input of an interpreter: a pipe, a file or a document.
    Input,
    /// A word that is a script in another language than the shell.
    Script,
    /// Text that the shell runs.
    Text,
    /// The name of a program.
    Program,
    /// The value of an alias.
    Alias,
    /// An expression of shell arithmetic, or an index in it.
    Expression,
}

impl UnseenCode {
    /// Returns the reason for a part with such code: a verb phrase such as "runs its input".
    #[must_use]
    pub fn reason(self) -> &'static str {
        match self {
            Self::Input => "runs its input",
            Self::Script => "runs a script that is only known when it runs",
            Self::Text => "runs text that is only known when it runs",
            Self::Program => "runs a program that is only known when it runs",
            Self::Alias => "runs an unknown alias",
            Self::Expression => "computes an expression that is only known when it runs",
        }
    }

    /// The source of a part that has two of them.
    fn and(self, other: Self) -> Self {
        match (self, other) {
            _ if self == other => self,
            // Neither may hide the other.
            (Self::Input | Self::Script, Self::Input | Self::Script) => Self::Text,
            (Self::Input | Self::Script, _) => other,
            _ => self,
        }
    }
}

/// A file that a program finds by a fixed name.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Manifest {
    /// File name or pattern, as in the key `decided_by` of the table.
    pub pattern: String,
    /// Folder that the program searches. `None` is the working directory.
    pub folder: Option<Word>,
    /// `true` if the program fails without such a file.
    pub needed: bool,
}

/// A word after removal of quotes and after expansion.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Word {
    /// The text, with [`UNKNOWN`] for each unknown value.
    pub text: String,
    /// `true` if the whole text is known and is exactly one word.
    pub known: bool,
    /// `true` if the word is a pattern that the shell replaces by names of files.
    pub pattern: bool,
    /// Start of the word in the command, in bytes. A word of a nested text, such as the text of
    /// `sh -c`, has the place of the outer word.
    pub start: usize,
    /// End of the word in the command, in bytes.
    pub end: usize,
}

/// A call of a program as the table of the program reads it.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct PartCall {
    /// Program and subcommands: `["git", "push"]`.
    pub path: Vec<String>,
    /// Options by their names in the table, with their values.
    pub options: Vec<(String, Option<Word>)>,
    /// Operands: arguments that are neither options nor values of options.
    pub operands: Vec<Word>,
    /// `true` if the table knows every option and subcommand of the call.
    pub understood: bool,
    /// `true` if the program may connect to an address among its words.
    pub connects: bool,
    /// `true` if the program connects to this machine because no option names another host.
    pub connects_here: bool,
}

/// A script in another language that a part runs.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Script {
    /// Language of the script.
    pub language: Language,
    /// Source text, with [`UNKNOWN`] for each unknown value.
    pub text: String,
    /// Index in [`Parts::all`] of the part that runs the script.
    pub part: Option<usize>,
}

/// A file that a word or a redirection names, and the effect on the file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Touch {
    /// Path as the command writes it.
    pub path: Word,
    /// Effect on the file.
    pub effect: Crud,
}

/// A host that a part names: in an address, as a host by its table, or in `/dev/tcp/host/port`.
///
/// A part may reach other hosts, which settings or code name.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PartHost {
    /// The host as [`host::plain`](crate::host::plain) reads it: `2130706433` is `127.0.0.1`. It has
    /// [`UNKNOWN`] for text that is only known when the command runs.
    pub name: String,
    /// The word that names the host.
    pub word: Word,
}

/// A file whose contents a part reads.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileRead {
    /// Path of the file, with `~` for the home folder if the command uses a variable such as `$HOME`.
    pub path: Word,
    /// `true` if the part reads all files below the folder.
    pub below: bool,
}

/// A variable that a part sets.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PartAssignment {
    /// Name of the variable.
    pub name: String,
    /// Value of the variable.
    pub value: Word,
}

impl Part {
    fn new(span: Span) -> Self {
        Self {
            start: span.start,
            end: span.end,
            within: None,
            words: Vec::new(),
            calls: Vec::new(),
            touches: Vec::new(),
            hosts: Vec::new(),
            reads: Vec::new(),
            redirections: Vec::new(),
            documents: Vec::new(),
            assignments: Vec::new(),
            substitutions: false,
            input: None,
            told: false,
            effect: Crud::Read,
            effect_in_all: Crud::Read,
            ask: false,
            code: false,
            runs_input: false,
            code_files: Vec::new(),
            settings_files: Vec::new(),
            replaces_files: false,
            manifests: Vec::new(),
            package_scripts: Vec::new(),
            unseen_code: None,
        }
    }

    /// Every word, in whatever it is told.
    fn every_word(&mut self) -> impl Iterator<Item = &mut Word> {
        let calls = self.calls.iter_mut().flat_map(|call| {
            let options = call.options.iter_mut();
            let values = options.filter_map(|(_, value)| value.as_mut());
            values.chain(&mut call.operands)
        });
        let files = self.touches.iter_mut().chain(&mut self.redirections);
        let values = self.assignments.iter_mut().map(|one| &mut one.value);
        (self.words.iter_mut())
            .chain(calls)
            .chain(files.map(|file| &mut file.path))
            .chain(self.reads.iter_mut().map(|file| &mut file.path))
            .chain(self.hosts.iter_mut().map(|host| &mut host.word))
            .chain(&mut self.documents)
            .chain(values)
    }

    /// Returns the name of the program, without its folder if the folder belongs to the system.
    /// Returns `None` if the part has no words, or if the name is only known when it runs.
    #[must_use]
    pub fn program(&self) -> Option<&str> {
        let name = self.words.first().filter(|name| !name.pattern)?;
        name.value().map(plain)
    }

    /// Returns the known arguments.
    pub fn arguments(&self) -> impl Iterator<Item = &str> {
        self.words.iter().skip(1).filter_map(Word::value)
    }
}

impl Parts {
    /// Returns the programs that would run, each before the programs that it runs. A program in a
    /// loop may be returned more than once.
    pub fn runs(&self) -> impl Iterator<Item = &Part> {
        self.all.iter().filter(|part| !part.words.is_empty())
    }

    /// Returns the files of all redirections.
    pub fn redirections(&self) -> impl Iterator<Item = &Touch> {
        self.all.iter().flat_map(|part| &part.redirections)
    }
}

impl Word {
    fn of(arg: &Arg) -> Self {
        Self {
            text: arg.text.clone(),
            known: arg.known() && !arg.glob && !arg.many && !arg.maybe,
            pattern: arg.glob,
            start: arg.span.start,
            end: arg.span.end,
        }
    }

    /// Returns a known word that stands nowhere in the command.
    #[must_use]
    pub fn literal(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            known: true,
            ..Self::default()
        }
    }

    /// Returns the value that the program receives, or `None` if a part of the value is unknown.
    #[must_use]
    pub fn value(&self) -> Option<&str> {
        (!self.text.contains(UNKNOWN)).then_some(&self.text)
    }

    /// Returns the word with another text.
    #[must_use]
    pub fn with(&self, text: &str) -> Self {
        Self {
            text: text.to_owned(),
            ..self.clone()
        }
    }
}

impl PartHost {
    fn new(host: &str, arg: &Arg) -> Self {
        Self {
            name: host::plain(host),
            word: Word::of(arg),
        }
    }
}

impl Touch {
    pub(crate) fn of(arg: &Arg, effect: Crud) -> Self {
        Self {
            path: Word::of(arg),
            effect,
        }
    }
}

/// Records the parts while the interpreter analyses a command.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    on: bool,
    parts: Parts,
    open: Vec<usize>,
    /// Whether the innermost part still waits for its words.
    waits: bool,
    bytes: usize,
    full: bool,
    /// The parts that are wrappers.
    wrappers: Vec<usize>,
}

impl Recorder {
    pub(crate) fn on() -> Self {
        Self {
            on: true,
            ..Self::default()
        }
    }

    /// What was taken down.
    pub(crate) fn done(mut self, command: &str, agreed: bool, complete: bool) -> Parts {
        self.parts.agreed = agreed;
        self.parts.complete = complete && !self.full;
        for word in self.parts.all.iter_mut().flat_map(Part::every_word) {
            let place = Span::new(word.start, word.end).within(command);
            (word.start, word.end) = (place.start, place.end);
        }
        for at in self.wrappers {
            let runs_command = |part: &Part| part.within == Some(at) && !part.words.is_empty();
            let is_alone = !self.parts.all.iter().skip(at + 1).any(runs_command);
            self.parts.all[at].runs_input |= is_alone;
        }
        // What a part runs comes after it.
        for at in (0..self.parts.all.len()).rev() {
            let part = &mut self.parts.all[at];
            part.effect_in_all = part.effect_in_all.max(part.effect);
            let (effect, within) = (part.effect_in_all, part.within);
            if let Some(around) = within.and_then(|within| self.parts.all.get_mut(within)) {
                around.effect_in_all = around.effect_in_all.max(effect);
            }
        }
        self.parts
    }

    fn current(&mut self) -> Option<&mut Part> {
        self.parts.all.get_mut(*self.open.last()?)
    }

    /// Opens a part, which [`close`](Self::close) closes.
    pub(crate) fn enter(&mut self, span: Span) {
        if !self.on {
            return;
        }
        let mut part = Part::new(span);
        part.within = self.open.last().copied();
        if self.parts.all.len() >= MAX_PARTS {
            self.full = true;
            // What follows is put to the last one; nothing is allowed any more.
            self.open.push(MAX_PARTS - 1);
            return;
        }
        self.open.push(self.parts.all.len());
        self.parts.all.push(part);
    }

    pub(crate) fn close(&mut self) {
        self.waits = false;
        self.open.pop();
    }

    /// Says that the next words that run are those of the part that is open.
    pub(crate) fn ready(&mut self) {
        self.waits = self.on;
    }

    /// The words of a part; opens one unless one waits for them. Says whether
    /// it has to be closed.
    pub(crate) fn words(&mut self, args: &[Arg], input: &Input) -> bool {
        if !self.on {
            return false;
        }
        let opened = !std::mem::take(&mut self.waits);
        if opened {
            let start = args.iter().map(|arg| arg.span.start).min().unwrap_or(0);
            let end = args.iter().map(|arg| arg.span.end).max().unwrap_or(start);
            self.enter(Span::new(start, end));
        }
        let bytes: usize = args.iter().map(|arg| arg.text.len()).sum::<usize>()
            + match input {
                Input::Known(text) => text.len(),
                _ => 0,
            };
        self.bytes += bytes;
        if self.full || self.bytes > MAX_BYTES {
            self.full = true;
            return opened;
        }
        if let Some(part) = self.current() {
            part.words = args.iter().map(Word::of).collect();
            part.input = match input {
                Input::Inherited => None,
                Input::Known(text) => Some(Some(text.clone())),
                Input::Unknown => Some(None),
            };
        }
        opened
    }

    pub(crate) fn call(&mut self, call: &Call) {
        if !self.on || self.full {
            return;
        }
        let read = PartCall {
            path: call.path.split(' ').map(str::to_owned).collect(),
            options: call
                .options
                .iter()
                .map(|given| (given.name.clone(), given.value.as_ref().map(Word::of)))
                .collect(),
            operands: call.operands.iter().map(|o| Word::of(&o.arg)).collect(),
            understood: call.strange.is_empty(),
            connects: call.program.connects(),
            connects_here: call.connects_here(),
        };
        let (mut touches, mut hosts) = (Vec::new(), Vec::new());
        for (role, args) in call.roles().0 {
            touch(role, &args, &mut touches);
            let args = args.iter();
            hosts.extend(args.filter_map(|arg| named_host(call, role, arg, true)));
        }
        for given in &call.options {
            let role = given.option.role;
            touch(role, given.value.as_slice(), &mut touches);
            let value = given.value.iter();
            hosts.extend(value.filter_map(|arg| named_host(call, role, arg, false)));
        }
        let runs_input = call.runs_input();
        if runs_input == RunsInput::ByCommand {
            self.wrappers.extend(self.open.last().copied());
        }
        if let Some(part) = self.current() {
            part.runs_input |= runs_input == RunsInput::Yes;
            decided_by(part, call);
            part.calls.push(read);
            part.touches.append(&mut touches);
            part.hosts.append(&mut hosts);
        }
    }

    /// A file whose code runs.
    pub(crate) fn code_file(&mut self, file: &Arg) {
        if let Some(part) = self.current() {
            let file = Word::of(file);
            if !part.code_files.contains(&file) {
                part.code_files.push(file);
            }
        }
    }

    /// A word that may name a file which decides what runs.
    pub(crate) fn settings_file(&mut self, file: &Arg) {
        if let Some(part) = self.current() {
            part.settings_files.push(Word::of(file));
        }
    }

    /// A file whose code runs if it exists.
    pub(crate) fn maybe_code_file(&mut self, file: &str) {
        if let Some(part) = self.current() {
            part.manifests.push(Manifest {
                pattern: file.to_owned(),
                folder: None,
                needed: false,
            });
        }
    }

    /// Notes code that is only known when it runs.
    pub(crate) fn unseen_code(&mut self, source: UnseenCode) {
        let noted = match self.open.last() {
            Some(at) => self
                .parts
                .all
                .get_mut(*at)
                .map(|part| &mut part.unseen_code),
            None => Some(&mut self.parts.unseen_code),
        };
        if let Some(noted) = noted {
            *noted = Some(noted.map_or(source, |before| before.and(source)));
        }
    }

    /// Words in a role, where the judge of a program says so.
    pub(crate) fn role(&mut self, role: Role, args: &[Arg]) {
        if let Some(part) = self.current() {
            touch(role, args, &mut part.touches);
        }
    }

    /// A file that is read, by its path.
    pub(crate) fn reads(&mut self, file: &Arg, path: &str, below: bool) {
        if !self.on || self.full {
            return;
        }
        self.bytes += path.len();
        if let Some(part) = self.current() {
            let open = path.contains(['*', '?', '[', MARK]);
            let path = Word {
                known: !open,
                pattern: open && !path.contains(MARK),
                ..Word::of(file).with(path)
            };
            part.reads.push(FileRead { path, below });
        }
    }

    pub(crate) fn redirection(&mut self, target: &Arg, effect: Crud) {
        if let Some(part) = self.current() {
            if let Some(host) = host::of_device(&target.text).filter(|host| !host.is_empty()) {
                part.hosts.push(PartHost::new(host, target));
            }
            part.redirections.push(Touch::of(target, effect));
        }
    }

    pub(crate) fn document(&mut self, text: &Arg) {
        if let Some(part) = self.current() {
            part.documents.push(Word::of(text));
        }
    }

    pub(crate) fn assignment(&mut self, name: &str, value: &Arg) {
        if let Some(part) = self.current() {
            part.assignments.push(PartAssignment {
                name: name.to_owned(),
                value: Word::of(value),
            });
        }
    }

    pub(crate) fn substitution(&mut self) {
        match self.current() {
            Some(part) => part.substitutions = true,
            None => self.parts.substitutions = true,
        }
    }

    /// Takes down a text in another language that the innermost part runs.
    pub(crate) fn script(&mut self, language: Language, text: &str) {
        self.bytes += if self.on { text.len() } else { 0 };
        self.full |= self.bytes > MAX_BYTES;
        if self.on && !self.full {
            self.parts.scripts.push(Script {
                language,
                text: text.to_owned(),
                part: self.open.last().copied(),
            });
        }
    }

    pub(crate) fn function(&mut self) {
        self.parts.functions = true;
    }

    pub(crate) fn told(&mut self) {
        if let Some(part) = self.current() {
            part.told = true;
        }
    }

    /// What the innermost part does, or else the command around it.
    pub(crate) fn finding(&mut self, effect: Crud, ask: bool, known: bool) {
        match self.current() {
            Some(part) => {
                part.code |= ask && !known && effect > Crud::Read;
                part.effect = part.effect.max(effect);
                part.ask |= ask;
            }
            None if ask => self.parts.loose = self.parts.loose.max(Some(effect)),
            None => {}
        }
    }
}

/// Returns the host that a word in a role names.
fn named_host(call: &Call, role: Role, arg: &Arg, operand: bool) -> Option<PartHost> {
    if call.program.offline && !call.program.hosts {
        return None;
    }
    let text = arg.text.as_str();
    let host = match role {
        Role::Url | Role::Host | Role::Endpoint => host::of_address(text),
        Role::Argv { .. } | Role::Shell | Role::Script(_) | Role::Format | Role::Header => "",
        _ if text.contains("://") => host::of_address(text),
        _ if operand && call.program.hosts => host::of_place(text)?,
        _ => "",
    };
    let is_file = text.starts_with("file:");
    (!host.is_empty() && !is_file).then(|| PartHost::new(host, arg))
}

fn touch(role: Role, args: &[Arg], out: &mut Vec<Touch>) {
    let effect = match role {
        Role::Input | Role::Name | Role::Settings | Role::ScriptFile | Role::List => Crud::Read,
        Role::Output => Crud::Create,
        Role::Append | Role::Update => Crud::Update,
        Role::Delete => Crud::Delete,
        _ => return,
    };
    out.extend(args.iter().map(|arg| Touch::of(arg, effect)));
}

/// Adds the files that decide what a call does, as its table names them.
fn decided_by(part: &mut Part, call: &Call) {
    let program = &call.program;
    part.replaces_files |= program.replaces_files;
    let needed = program.decided_by.iter().map(|entry| (entry, true));
    let settings = program.configured_by.iter().map(|entry| (entry, false));
    for (entry, needed) in needed.chain(settings) {
        let operands = call.operands.iter().map(|operand| &operand.arg);
        let words = match needed {
            true => &mut part.code_files,
            false => &mut part.settings_files,
        };
        match entry {
            Decides::Options(names) => {
                let given = call
                    .options
                    .iter()
                    .filter(|given| names.contains(&given.name));
                let values = given.filter_map(|given| given.value.as_ref());
                words.extend(values.map(Word::of));
            }
            Decides::Operand => words.extend(operands.take(1).map(Word::of)),
            Decides::Operands => words.extend(operands.map(Word::of)),
            Decides::InOperand(pattern) => part.manifests.extend(operands.map(|arg| Manifest {
                pattern: pattern.clone(),
                folder: Some(Word::of(arg)),
                needed: false,
            })),
            Decides::UnknownCommand(_) if call.strange.is_empty() => {}
            Decides::UnknownCommand(pattern) | Decides::Manifest(pattern) => {
                part.manifests.push(Manifest {
                    pattern: pattern.clone(),
                    folder: None,
                    needed,
                })
            }
        }
    }
    let runs = |given: &&Given| given.option.role == Role::ScriptFile;
    for value in call
        .options
        .iter()
        .filter(runs)
        .filter_map(|given| given.value.as_ref())
    {
        let file = Word::of(value);
        if !part.code_files.contains(&file) {
            part.code_files.push(file);
        }
    }
    for script in &program.package_scripts {
        match script.as_str() {
            "operand" => {
                let first = call.operands.iter().take(1);
                part.package_scripts
                    .extend(first.map(|operand| Word::of(&operand.arg)));
            }
            name => part.package_scripts.push(Word {
                text: match name {
                    "command" => call.path.rsplit(' ').next().unwrap_or(name).to_owned(),
                    name => name.to_owned(),
                },
                known: true,
                ..Word::default()
            }),
        }
    }
}
