//! Takes down the parts of a command while it is judged.

use crate::model::arg::{Arg, UNKNOWN};
use crate::model::effect::Crud;
use crate::model::io::Input;
use crate::model::language::Language;
use crate::model::parts::{
    FileRead, Manifest, Part, PartAssignment, PartCall, Parts, Script, Touch, Word,
};
use crate::model::role::Role;
use crate::model::span::Span;
use crate::model::unseen_code::UnseenCode;
use crate::options::call::{Call, ParsedOption};
use crate::tables::{Decides, RunsInput};

/// More than this is not recorded; a loop's commands count each time they are followed.
const MOST_PARTS: usize = 2000;
/// More bytes of words than this are not recorded.
const MOST_BYTES: usize = 1 << 20;

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
            understood: call.unrecognized.is_empty(),
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
            let open = path.contains(['*', '?', '[', UNKNOWN]);
            let path = Word {
                known: !open,
                pattern: open && !path.contains(UNKNOWN),
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
            Decides::UnknownCommand(_) if call.unrecognized.is_empty() => {}
            Decides::UnknownCommand(pattern) | Decides::Manifest(pattern) => {
                part.manifests.push(Manifest {
                    pattern: (*pattern).to_owned(),
                    folder: None,
                    needed,
                })
            }
        }
    }
    let runs = |given: &&ParsedOption| given.option.role == Role::ScriptFile;
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
