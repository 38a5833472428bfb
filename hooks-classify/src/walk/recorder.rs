//! Recorder: calls, files and words in the order of the walk in, the [`Parts`] of the command out.

use std::ops::Range;

use crate::host;
use crate::model::arg::{Arg, UNKNOWN};
use crate::model::effect::Crud;
use crate::model::io::Input;
use crate::model::language::Language;
use crate::model::parts::{
    Expansion, FileRead, Manifest, Part, PartAssignment, PartCall, PartHost, Parts, PathEffect,
    Script, Word,
};
use crate::model::role::Role;
use crate::model::span::Span;
use crate::model::unseen_code::UnseenCode;
use crate::options::call::{Call, ParsedOption};
use crate::tables::{FileLocator, StdinUse};

/// Limit of parts; the commands of a loop count each time that they are followed.
const MAX_PARTS: usize = 2000;
/// Limit of bytes in all words.
const MAX_BYTES: usize = 1 << 20;

/// Records the parts of a command.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    enabled: bool,
    parts: Parts,
    open_parts: Vec<usize>,
    /// `true` if the innermost part has no words yet.
    awaits_words: bool,
    bytes: usize,
    limit_reached: bool,
    /// Indices of the parts that are wrappers.
    wrappers: Vec<usize>,
    /// Parts whose output the present command of a pipeline reads.
    pipe_source: Option<Range<usize>>,
}

impl Recorder {
    pub(crate) fn enabled() -> Self {
        Self {
            enabled: true,
            ..Self::default()
        }
    }

    /// Returns the recorded parts.
    pub(crate) fn into_parts(mut self, command: &str, agreed: bool, complete: bool) -> Parts {
        self.parts.parsers_agree = agreed;
        self.parts.complete = complete && !self.limit_reached;
        for word in self.parts.all.iter_mut().flat_map(Part::every_word) {
            let place = Span::new(word.start, word.end).within(command);
            (word.start, word.end) = (place.start, place.end);
        }
        for at in self.wrappers {
            let runs_command = |part: &Part| part.parent == Some(at) && !part.words.is_empty();
            let is_alone = !self.parts.all.iter().skip(at + 1).any(runs_command);
            self.parts.all[at].runs_input |= is_alone;
        }
        // A part precedes the parts that it runs.
        for at in (0..self.parts.all.len()).rev() {
            let part = &mut self.parts.all[at];
            part.effect_with_children = part.effect_with_children.max(part.effect);
            let (effect, within) = (part.effect_with_children, part.parent);
            if let Some(around) = within.and_then(|within| self.parts.all.get_mut(within)) {
                around.effect_with_children = around.effect_with_children.max(effect);
            }
        }
        self.parts.command = command.to_owned();
        self.parts
    }

    fn innermost_part(&mut self) -> Option<&mut Part> {
        self.parts.all.get_mut(*self.open_parts.last()?)
    }

    /// Opens a part, which [`close_part`](Self::close_part) closes.
    pub(crate) fn open_part(&mut self, span: Span) {
        if !self.enabled {
            return;
        }
        let mut part = Part::new(span);
        part.parent = self.open_parts.last().copied();
        part.fed_by.clone_from(&self.pipe_source);
        if self.parts.all.len() >= MAX_PARTS {
            self.limit_reached = true;
            // Later parts are recorded in the last one; incomplete parts match no rule that allows.
            self.open_parts.push(MAX_PARTS - 1);
            return;
        }
        self.open_parts.push(self.parts.all.len());
        self.parts.all.push(part);
    }

    /// Returns the index of the next part.
    pub(crate) fn next_part(&self) -> usize {
        self.parts.all.len()
    }

    /// Makes the output of these parts the input of the next ones. Returns the parts before.
    pub(crate) fn pipe_from(&mut self, source: Option<Range<usize>>) -> Option<Range<usize>> {
        std::mem::replace(&mut self.pipe_source, source)
    }

    pub(crate) fn close_part(&mut self) {
        self.awaits_words = false;
        self.open_parts.pop();
    }

    /// Makes the next words that run the words of the open part.
    pub(crate) fn expect_words(&mut self) {
        self.awaits_words = self.enabled;
    }

    /// Records the words of a part, and opens a part unless an open part has no words yet. Returns
    /// `true` if it opened a part.
    pub(crate) fn record_words(&mut self, args: &[Arg], input: &Input) -> bool {
        if !self.enabled {
            return false;
        }
        let opened = !std::mem::take(&mut self.awaits_words);
        if opened {
            let start = args.iter().map(|arg| arg.span.start).min().unwrap_or(0);
            let end = args.iter().map(|arg| arg.span.end).max().unwrap_or(start);
            self.open_part(Span::new(start, end));
        }
        let bytes: usize = args.iter().map(|arg| arg.text.len()).sum::<usize>()
            + match input {
                Input::Known(text) => text.len(),
                _ => 0,
            };
        self.bytes += bytes;
        if self.limit_reached || self.bytes > MAX_BYTES {
            self.limit_reached = true;
            return opened;
        }
        if let Some(part) = self.innermost_part() {
            part.words = args.iter().map(Word::of).collect();
            part.input = match input {
                Input::Inherited => None,
                Input::Known(text) => Some(Some(text.clone())),
                Input::Unknown => Some(None),
            };
        }
        opened
    }

    pub(crate) fn record_call(&mut self, call: &Call) {
        if !self.enabled || self.limit_reached {
            return;
        }
        let mut read = PartCall {
            path: call.path.split(' ').map(str::to_owned).collect(),
            options: call
                .options
                .iter()
                .map(|opt| (opt.name.clone(), opt.value.as_ref().map(Word::of)))
                .collect(),
            operands: call.operands.iter().map(|o| Word::of(&o.arg)).collect(),
            understood: call.unrecognized.is_empty(),
            offline: call.program.details.offline,
            connects: call.program.connects(),
            connects_to_localhost: call.connects_to_localhost(),
            secret_words: call
                .secret_words()
                .into_iter()
                .map(|word| (Word::of(&word.arg), word.shape))
                .collect(),
            plain_values: call
                .options
                .iter()
                .filter(|opt| !may_be_secret(opt.spec.role))
                .filter_map(|opt| opt.value.as_ref().map(Word::of))
                .collect(),
            code_words: Vec::new(),
            secret_input: call.secret_input(),
            prints_words: call.program.details.prints_words,
            sets_variables: call.program.details.sets_variables,
            schedules_input: call.program.details.schedules_input,
            is_client: call.program.is_client(),
        };
        let (mut path_effects, mut hosts) = (Vec::new(), Vec::new());
        for (role, args) in call.roles().0 {
            push_path_effects(role, &args, &mut path_effects);
            push_code_words(role, &args, &mut read.code_words);
            let args = args.iter();
            hosts.extend(args.filter_map(|arg| named_host(call, role, arg, true)));
        }
        for opt in &call.options {
            let role = opt.spec.role;
            push_path_effects(role, opt.value.as_slice(), &mut path_effects);
            push_code_words(role, opt.value.as_slice(), &mut read.code_words);
            let value = opt.value.iter();
            hosts.extend(value.filter_map(|arg| named_host(call, role, arg, false)));
        }
        let runs_input = call.stdin_use();
        if runs_input == StdinUse::PassedToCommand {
            self.wrappers.extend(self.open_parts.last().copied());
        }
        if let Some(part) = self.innermost_part() {
            part.runs_input |= runs_input == StdinUse::MayRun;
            add_manifests(part, call);
            part.calls.push(read);
            part.path_effects.append(&mut path_effects);
            part.hosts.append(&mut hosts);
        }
    }

    /// Records a file whose code runs.
    pub(crate) fn record_code_file(&mut self, file: &Arg) {
        if let Some(part) = self.innermost_part() {
            let file = Word::of(file);
            if !part.code_files.contains(&file) {
                part.code_files.push(file);
            }
        }
    }

    /// Records the value of a variable or setting that names a program.
    pub(crate) fn record_run_value(&mut self, value: &Arg) {
        if let Some(part) = self.innermost_part() {
            part.run_values.push(Word::of(value));
        }
    }

    /// Records text that a shell runs.
    pub(crate) fn record_run_text(&mut self, text: &Arg) {
        if let Some(part) = self.innermost_part() {
            part.run_texts.push(Word::of(text));
        }
    }

    /// Records the expansion of a variable in a word.
    pub(crate) fn record_expansion(&mut self, name: &str, span: Span) {
        if let Some(part) = self.innermost_part() {
            part.expansions.push(Expansion {
                name: name.to_owned(),
                span,
            });
        }
    }

    /// Records a word that may name a file of settings that determine which programs run.
    pub(crate) fn record_settings_file(&mut self, file: &Arg) {
        if let Some(part) = self.innermost_part() {
            part.settings_files.push(Word::of(file));
        }
    }

    /// Records a file whose code runs if it exists.
    pub(crate) fn record_optional_code_file(&mut self, file: &str) {
        if let Some(part) = self.innermost_part() {
            part.manifests.push(Manifest {
                pattern: file.to_owned(),
                folder: None,
                required: false,
            });
        }
    }

    /// Records code that is only known when it runs.
    pub(crate) fn record_unseen_code(&mut self, source: UnseenCode) {
        let slot = match self.open_parts.last() {
            Some(at) => self
                .parts
                .all
                .get_mut(*at)
                .map(|part| &mut part.unseen_code),
            None => Some(&mut self.parts.unseen_code),
        };
        if let Some(slot) = slot {
            *slot = Some(slot.map_or(source, |before| before.merge(source)));
        }
    }

    /// Records words in a role.
    pub(crate) fn record_role(&mut self, role: Role, args: &[Arg]) {
        if let Some(part) = self.innermost_part() {
            push_path_effects(role, args, &mut part.path_effects);
        }
    }

    /// Records a file that is read, by its path.
    pub(crate) fn record_read(&mut self, file: &Arg, path: &str, recursive: bool) {
        if !self.enabled || self.limit_reached {
            return;
        }
        self.bytes += path.len();
        if let Some(part) = self.innermost_part() {
            let is_unknown = path.contains(['*', '?', '[', UNKNOWN]);
            let path = Word {
                known: !is_unknown,
                is_glob: is_unknown && !path.contains(UNKNOWN),
                ..Word::of(file).with_text(path)
            };
            part.file_reads.push(FileRead { path, recursive });
        }
    }

    pub(crate) fn record_redirection(&mut self, target: &Arg, effect: Crud) {
        if let Some(part) = self.innermost_part() {
            if let Some(host) = host::of_dev_tcp_path(&target.text).filter(|host| !host.is_empty())
            {
                part.hosts.push(PartHost::new(host, target));
            }
            part.redirections.push(PathEffect::of(target, effect));
        }
    }

    pub(crate) fn record_here_document(&mut self, text: &Arg) {
        if let Some(part) = self.innermost_part() {
            part.here_documents.push(Word::of(text));
        }
    }

    pub(crate) fn record_assignment(&mut self, name: &str, value: &Arg) {
        if let Some(part) = self.innermost_part() {
            part.assignments.push(PartAssignment {
                name: name.to_owned(),
                value: Word::of(value),
            });
        }
    }

    pub(crate) fn record_substitution(&mut self) {
        match self.innermost_part() {
            Some(part) => part.has_substitutions = true,
            None => self.parts.has_substitutions = true,
        }
    }

    /// Records a script in another language that the innermost part runs.
    pub(crate) fn record_script(&mut self, language: Language, text: &str) {
        self.bytes += if self.enabled { text.len() } else { 0 };
        self.limit_reached |= self.bytes > MAX_BYTES;
        if self.enabled && !self.limit_reached {
            self.parts.scripts.push(Script {
                language,
                text: text.to_owned(),
                part: self.open_parts.last().copied(),
            });
        }
    }

    pub(crate) fn record_function_definition(&mut self) {
        self.parts.defines_functions = true;
    }

    pub(crate) fn record_config_override(&mut self) {
        if let Some(part) = self.innermost_part() {
            part.has_config_override = true;
        }
    }

    /// Records an effect of the innermost part, or of no part.
    pub(crate) fn record_effect(&mut self, effect: Crud, ask: bool, known: bool, by_program: bool) {
        match self.innermost_part() {
            Some(part) => {
                part.is_opaque |= ask && !known && effect > Crud::Read;
                part.asks_by_program |= by_program && ask;
                part.effect = part.effect.max(effect);
                part.ask |= ask;
            }
            None if ask => {
                self.parts.effect_outside_parts = self.parts.effect_outside_parts.max(Some(effect))
            }
            None => {}
        }
    }
}

/// Returns `true` if a text in the role may be a secret.
fn may_be_secret(role: Role) -> bool {
    matches!(
        role,
        Role::Text | Role::Send | Role::Header | Role::Url | Role::Config | Role::Request
    )
}

/// Adds words that are scripts or programs.
fn push_code_words(role: Role, args: &[Arg], out: &mut Vec<Word>) {
    if matches!(role, Role::Script(_) | Role::Shell | Role::Program) {
        out.extend(args.iter().map(Word::of));
    }
}

/// Returns the host that a word in a role names.
fn named_host(call: &Call, role: Role, arg: &Arg, is_operand: bool) -> Option<PartHost> {
    if call.program.details.offline && !call.program.details.hosts {
        return None;
    }
    let text = arg.text.as_str();
    let host = match role {
        Role::Url | Role::Host | Role::Endpoint => host::of_url(text),
        Role::Argv { .. } | Role::Shell | Role::Script(_) | Role::Format | Role::Header => "",
        _ if text.contains("://") => host::of_url(text),
        _ if is_operand && call.program.details.hosts => host::of_remote_path(text)?,
        _ => "",
    };
    let is_file = text.starts_with("file:");
    (!host.is_empty() && !is_file).then(|| PartHost::new(host, arg))
}

fn push_path_effects(role: Role, args: &[Arg], out: &mut Vec<PathEffect>) {
    let effect = match role {
        Role::Input | Role::Name | Role::Settings | Role::ScriptFile | Role::List => Crud::Read,
        Role::Output => Crud::Create,
        Role::Append | Role::Update => Crud::Update,
        Role::Delete => Crud::Delete,
        _ => return,
    };
    out.extend(args.iter().map(|arg| PathEffect::of(arg, effect)));
}

/// Returns the values of options with these names.
fn values_of<'c>(call: &'c Call, names: &'c [&str]) -> impl Iterator<Item = &'c Arg> {
    let options = call.options.iter();
    let matching = options.filter(|opt| names.contains(&opt.name.as_str()));
    matching.filter_map(|opt| opt.value.as_ref())
}

/// Adds the files that determine the effect of a call according to its table.
fn add_manifests(part: &mut Part, call: &Call) {
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
            FileLocator::Options(names) => words.extend(values_of(call, names).map(Word::of)),
            FileLocator::InOption(names, pattern) => {
                let folders = values_of(call, names);
                part.manifests.extend(folders.map(|folder| Manifest {
                    pattern: (*pattern).to_owned(),
                    folder: Some(Word::of(folder)),
                    required: false,
                }))
            }
            FileLocator::Operand => words.extend(operands.take(1).map(Word::of)),
            FileLocator::Operands => words.extend(operands.map(Word::of)),
            FileLocator::InOperand(pattern) => {
                part.manifests.extend(operands.map(|arg| Manifest {
                    pattern: (*pattern).to_owned(),
                    folder: Some(Word::of(arg)),
                    required: false,
                }))
            }
            FileLocator::UnknownCommand(_) if call.unrecognized.is_empty() => {}
            FileLocator::UnknownCommand(pattern) | FileLocator::Manifest(pattern) => {
                part.manifests.push(Manifest {
                    pattern: (*pattern).to_owned(),
                    folder: None,
                    required: needed,
                })
            }
        }
    }
    let is_script_file = |opt: &&ParsedOption| opt.spec.role == Role::ScriptFile;
    for value in call
        .options
        .iter()
        .filter(is_script_file)
        .filter_map(|opt| opt.value.as_ref())
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
