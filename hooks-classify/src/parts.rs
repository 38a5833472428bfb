//! What a command is made of: every program that would run, with its words,
//! the files it names, its redirections and assignments.
//!
//! [`Parts`] are what rules are held against, and what an explanation tells; they
//! are recorded on the same walk that classifies the command. What is known only
//! when the command runs is marked so, and never left out.

use super::judge::{Arg, Input, UNKNOWN as MARK, plain};
use super::shell::Span;
use super::tables::{Call, Decides, Given, Language, Role, RunsInput};
use super::{Classification, Crud};

/// Stands in the text of a [`Word`] for what is only known when the command runs (P-09).
pub const UNKNOWN: char = MARK;

/// More than this is not recorded; a loop's commands count each time they are followed.
const MOST_PARTS: usize = 2000;
/// More bytes of words than this are not recorded.
const MOST_BYTES: usize = 1 << 20;

/// A classification, and the parts it came from (P-05).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Judgement {
    /// What the command would do.
    pub classification: Classification,
    /// What it is made of; no parts, and not [`complete`](Parts::complete), where that could not
    /// be found out.
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

/// A judgement without parts, which no rule of one's own can allow.
impl From<Classification> for Judgement {
    fn from(classification: Classification) -> Self {
        Self::new(classification, None)
    }
}

/// What a command is made of (P-09).
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Parts {
    /// In the order in which they were met; what one runs comes after it.
    pub all: Vec<Part>,
    /// Whether both parsers read every text the same.
    pub agreed: bool,
    /// Whether everything was followed to its end.
    pub complete: bool,
    /// Whether a function is defined.
    pub functions: bool,
    /// Whether something is substituted outside of any part, such as in the list of a loop.
    pub substitutions: bool,
    /// The strongest effect that has to be asked about and belongs to no part.
    pub loose: Option<Crud>,
    /// The texts in other languages that run, each with the part that runs it.
    pub scripts: Vec<Script>,
    /// Where code that belongs to no part comes from, if it is only known when it runs.
    pub unseen_code: Option<UnseenCode>,
}

/// A command that would run: a program with its words; or, without words, what stands around
/// others or alone: a group with redirections, an assignment (P-09).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Part {
    /// Where it begins in the command, in bytes.
    pub start: usize,
    /// Where it ends, in bytes.
    pub end: usize,
    /// The part that runs this one, by its place in [`Parts::all`]: a wrapper such as `sudo`, a
    /// shell with `-c`, the command in which it is substituted, the group around it.
    pub within: Option<usize>,
    /// The program and what it is told, after expansion as far as that is known.
    pub words: Vec<Word>,
    /// What its tables make of it; several where a program stands for another.
    pub calls: Vec<PartCall>,
    /// The files that it names, as far as its tables tell.
    pub touches: Vec<Touch>,
    /// Its own redirections from and to files; none to nowhere (`/dev/null`), none between
    /// descriptors.
    pub redirections: Vec<Touch>,
    /// The files whose contents it reads, also those of which only a folder is known.
    pub reads: Vec<FileRead>,
    /// The texts that it is given by here-documents and here-strings.
    pub documents: Vec<Word>,
    /// The variables that it sets.
    pub assignments: Vec<PartAssignment>,
    /// Whether something is substituted in it.
    pub substitutions: bool,
    /// Whether it reads a pipe, a file or a document; what that holds, if it is known.
    pub input: Option<Option<String>>,
    /// Whether it is told a setting that may change what runs (`git -c core.pager=…`).
    pub told: bool,
    /// The strongest effect of its own, without what it runs.
    pub effect: Crud,
    /// The strongest effect of it and of all that it runs in turn.
    pub effect_in_all: Crud,
    /// Whether something about it has to be asked about.
    pub ask: bool,
    /// Whether it runs code that the command does not show, or is not understood.
    pub code: bool,
    /// Whether code in what it reads may run: it is an interpreter, a client of one, or a wrapper
    /// that may start a shell.
    pub runs_input: bool,
    /// The files whose code it runs, which its words name: the script of an interpreter, a
    /// program by its path.
    pub code_files: Vec<Word>,
    /// Words that name files which decide what it does, if there are such files.
    pub settings_files: Vec<Word>,
    /// Whether it may put other files in place of those that are there, such as `git pull`.
    pub replaces_files: bool,
    /// The files that it looks up by a name of its own, such as `Makefile`.
    pub manifests: Vec<Manifest>,
    /// The scripts of a manifest that it runs, such as `test` of `package.json`.
    pub package_scripts: Vec<Word>,
    /// Where code that it runs comes from, if that is only known when it runs.
    pub unseen_code: Option<UnseenCode>,
}

/// Where code comes from that is only known when it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnseenCode {
    /// The input of an interpreter: a pipe, a file or a document.
    Input,
    /// A word that is a script in another language than the shell's.
    Script,
    /// Text that the shell runs.
    Text,
    /// The name of a program.
    Program,
    /// The value of an alias.
    Alias,
    /// An expression that the shell computes, or an index in it.
    Expression,
}

impl UnseenCode {
    /// What a part with such code does, as the end of a sentence.
    #[must_use]
    pub fn reason(self) -> &'static str {
        match self {
            Self::Input => "runs what it reads",
            Self::Script => "runs a script that is only known when it runs",
            Self::Text => "runs text that is only known when it runs",
            Self::Program => "runs a program that is only known when it runs",
            Self::Alias => "runs an alias that is not known",
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

/// A file that a program looks up by a name that its table knows.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Manifest {
    /// Its name, as the key `decided_by` of a table has it.
    pub pattern: String,
    /// The folder that is searched, if it is not the one in which the command runs.
    pub folder: Option<Word>,
    /// Whether the program does nothing without one of them.
    pub needed: bool,
}

/// A word after quotes and expansions, as far as these are known (P-09).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Word {
    /// Its text, with [`UNKNOWN`] for what is not known.
    pub text: String,
    /// Whether all of it is known, and that it is one word.
    pub known: bool,
    /// Whether it is a pattern, in whose place the shell puts names of files.
    pub pattern: bool,
    /// Where it stands in the command, in bytes; for a word of a text within the text, such as
    /// that of `sh -c`, where the outer word stands.
    pub start: usize,
    /// Where it ends, in bytes.
    pub end: usize,
}

/// A command as its table reads it (P-09).
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct PartCall {
    /// `["git", "push"]`
    pub path: Vec<String>,
    /// Its options by the names that the table has for them, with their values.
    pub options: Vec<(String, Option<Word>)>,
    /// Its operands.
    pub operands: Vec<Word>,
    /// Whether the table knows all of it.
    pub understood: bool,
    /// Whether it may connect to an address among its words.
    pub connects: bool,
    /// Whether it connects to this machine, because no option names another.
    pub connects_here: bool,
}

/// A text in another language that a part runs.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Script {
    /// Its language.
    pub language: Language,
    /// Its text, with [`UNKNOWN`] for what is not known.
    pub text: String,
    /// The part, by its place in [`Parts::all`].
    pub part: Option<usize>,
}

/// A file that is named (P-09).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Touch {
    /// Its path, as it is given.
    pub path: Word,
    /// What happens to it.
    pub effect: Crud,
}

/// A file whose contents are read (P-09).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileRead {
    /// Its path, with `~` for the user's home where the command has a variable for it.
    pub path: Word,
    /// Whether all that lies in it is read, if it is a folder.
    pub below: bool,
}

/// A variable that is set (P-09).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PartAssignment {
    /// Its name.
    pub name: String,
    /// Its value.
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
            .chain(&mut self.documents)
            .chain(values)
    }

    /// The program, without the folder if that is one of the system's; nothing if that is only
    /// known when it runs, or nothing runs.
    #[must_use]
    pub fn program(&self) -> Option<&str> {
        let name = self.words.first().filter(|name| !name.pattern)?;
        name.value().map(plain)
    }

    /// The arguments, as far as they are known.
    pub fn arguments(&self) -> impl Iterator<Item = &str> {
        self.words.iter().skip(1).filter_map(Word::value)
    }
}

impl Parts {
    /// The programs that would run, each before those that it runs in turn; one in a loop more
    /// than once.
    pub fn runs(&self) -> impl Iterator<Item = &Part> {
        self.all.iter().filter(|part| !part.words.is_empty())
    }

    /// The files that something is redirected from or to.
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

    /// What the program would be given; nothing if a part of it is only known when it runs.
    #[must_use]
    pub fn value(&self) -> Option<&str> {
        (!self.text.contains(UNKNOWN)).then_some(&self.text)
    }

    /// The same word, with a part of its text.
    #[must_use]
    pub fn with(&self, text: &str) -> Self {
        Self {
            text: text.to_owned(),
            ..self.clone()
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

/// Takes down the parts while a command is judged.
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
        if self.parts.all.len() >= MOST_PARTS {
            self.full = true;
            // What follows is put to the last one; nothing is allowed any more.
            self.open.push(MOST_PARTS - 1);
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
        if self.full || self.bytes > MOST_BYTES {
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
        let mut touches = Vec::new();
        for (role, args) in call.roles().0 {
            touch(role, &args, &mut touches);
        }
        for given in &call.options {
            touch(given.option.role, given.value.as_slice(), &mut touches);
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
        self.full |= self.bytes > MOST_BYTES;
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
    part.replaces_files |= program.details.replaces_files;
    let needed = program.details.decided_by.iter().map(|entry| (entry, true));
    let settings = program
        .details
        .configured_by
        .iter()
        .map(|entry| (entry, false));
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
                    .filter(|given| names.contains(&given.name.as_str()));
                let values = given.filter_map(|given| given.value.as_ref());
                words.extend(values.map(Word::of));
            }
            Decides::Operand => words.extend(operands.take(1).map(Word::of)),
            Decides::Operands => words.extend(operands.map(Word::of)),
            Decides::InOperand(pattern) => part.manifests.extend(operands.map(|arg| Manifest {
                pattern: (*pattern).to_owned(),
                folder: Some(Word::of(arg)),
                needed: false,
            })),
            Decides::UnknownCommand(_) if call.strange.is_empty() => {}
            Decides::UnknownCommand(pattern) | Decides::Manifest(pattern) => {
                part.manifests.push(Manifest {
                    pattern: (*pattern).to_owned(),
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
    for script in program.details.package_scripts {
        match *script {
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
