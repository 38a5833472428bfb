//! Code in a command: its parts, as the walk recorded them, in, the spans of text that runs, or may
//! run, out.
//!
//! A text that is only known at run time may come from everything that the part that runs it can
//! reach: variables that the command sets, the words of commands around it, and its input.

use std::collections::HashMap;
use std::ops::Range;

use super::part_index::PartIndex;
use super::source_text::{CommandText, span};
use crate::languages::evaluation::code_of_script;
use crate::model::arg::UNKNOWN;
use crate::model::code_span::{CodeKind, CodeSpan};
use crate::model::effect::Crud;
use crate::model::language::Language;
use crate::model::parts::{Part, Parts, Script, Word};
use crate::model::secret_shape::SecretShape;
use crate::model::unseen_code::UnseenCode;
use crate::programs::builtins::Builtin;
use crate::secrets::names::SecretName;
use crate::tables::Tables;

impl Parts {
    /// Returns the spans of text that runs, or may run, in the order of the parts.
    #[must_use]
    pub fn code(&self) -> Vec<CodeSpan> {
        code_spans(&self.command, self)
    }
}

fn code_spans(command: &str, parts: &Parts) -> Vec<CodeSpan> {
    let mut finder = CodeFinder {
        parts,
        index: PartIndex::new(parts),
        source: CommandText::new(command, parts),
        found: Vec::new(),
        words_added: vec![false; parts.all.len()],
        words_added_up_to: 0,
        values_added: vec![false; parts.all.len()],
        all_values_added: false,
        last_arguments: HashMap::new(),
    };
    for at in 0..parts.all.len() {
        finder.add_part(at);
    }
    for script in &parts.scripts {
        finder.add_script(script);
    }
    if parts.unseen_code.is_some_and(runs_unknown_text) {
        finder.add_set_values();
        finder.add_words_up_to(parts.all.len());
    }
    if finder.source.is_exhausted() {
        finder
            .found
            .push(CodeSpan::new(0..command.len(), CodeKind::MayRun));
    }
    finder.found
}

struct CodeFinder<'p> {
    parts: &'p Parts,
    index: PartIndex<'p>,
    source: CommandText<'p>,
    found: Vec<CodeSpan>,
    /// Parts whose words were added.
    words_added: Vec<bool>,
    /// Number of parts from the first whose words were all added.
    words_added_up_to: usize,
    /// Parts whose values of variables were added.
    values_added: Vec<bool>,
    all_values_added: bool,
    /// Last part with an argument that contains a value, by the start of the value's word.
    last_arguments: HashMap<(usize, usize), Option<usize>>,
}

impl CodeFinder<'_> {
    fn add_part(&mut self, at: usize) {
        let parts = self.parts;
        let part = &parts.all[at];
        if let Some(name) = part.words.first() {
            let places = self.source.ranges(name, 0..name.text.len());
            // Text that is computed, and not written: from a variable, an input, a substitution.
            if places.is_empty() && !name.text.is_empty() {
                self.add_sources(at);
                self.add_set_values();
            }
            self.found.extend(
                places
                    .into_iter()
                    .map(|place| CodeSpan::new(place, CodeKind::Program)),
            );
        }
        // A text that a variable has, and that a shell runs, is code as a whole.
        if !(part.run_texts.iter()).all(|text| self.source.is_written_in_place(text)) {
            for one in &part.expansions {
                self.add_values_named(at, &one.name);
            }
        }
        // An option that a variable has determines what the program does.
        for word in part
            .words
            .iter()
            .skip(1)
            .filter(|word| word.text.starts_with('-'))
        {
            if !self.source.is_written_in_place(word) {
                self.add_text(word, 0..word.text.len(), CodeKind::Program);
            }
        }
        self.add_settings(part);
        let is_judged = self.index.has_script[at] || !self.index.children[at].is_empty();
        if part.runs_input && !is_judged && !is_client(part) {
            for text in &part.here_documents {
                self.add_span(text, CodeKind::MayRun);
            }
        }
        let files = part.path_effects.iter().chain(&part.redirections);
        for file in files.filter(|file| names_a_file(part, &file.path, file.effect)) {
            self.add_text(&file.path, 0..file.path.text.len(), CodeKind::File);
        }
        for word in part.calls.iter().flat_map(|call| &call.code_words) {
            if word.text.contains(UNKNOWN) {
                self.add_sources(at);
            }
        }
        for word in &part.run_values {
            self.add_text(word, 0..word.text.len(), CodeKind::MayRun);
            if word.text.contains(UNKNOWN) {
                self.add_set_values();
            }
        }
        let sources_pipe = || {
            let is_pipe = |file: &Word| {
                file.text.starts_with("/dev/")
                    || file.text.starts_with("/proc/")
                    || file.text.contains(UNKNOWN)
            };
            part.code_files.iter().any(is_pipe)
        };
        if part.unseen_code.is_some_and(runs_unknown_text) || sources_pipe() {
            self.add_sources(at);
        }
        if self.runs_written_text(at) {
            self.add_written_text(at);
        }
    }

    /// Adds the values of settings that name programs: `core.pager=less`, `SHELL=sh`.
    fn add_settings(&mut self, part: &Part) {
        let sets_config =
            (part.calls.iter()).any(|call| call.path.iter().any(|name| name == "config"));
        for word in part.words.iter().skip(1) {
            let is_alias = sets_config && word.text.starts_with('!');
            let names_a_program = word.text.split_once('=').is_some_and(|(name, _)| {
                name.starts_with("scripts.") || SecretName::new(name).names_a_program()
            });
            if is_alias || names_a_program {
                self.add_span(word, CodeKind::MayRun);
                if word.text.contains(UNKNOWN) {
                    self.add_set_values();
                }
            }
        }
        for one in &part.assignments {
            if SecretName::new(&one.name).names_a_program() {
                self.add_span(&one.value, CodeKind::MayRun);
            }
        }
    }

    /// Adds everything that may become code of a part.
    fn add_sources(&mut self, at: usize) {
        let parts = self.parts;
        let part = &parts.all[at];
        let is_client = is_client(part);
        let is_program_known =
            (part.words.first()).is_some_and(|name| !name.text.contains(UNKNOWN) && !name.is_glob);
        for other in self.index.inside(at) {
            self.add_words(other);
            if !is_client {
                self.add_set_values();
            }
        }
        let chain: Vec<usize> = std::iter::once(at).chain(self.ancestors(at)).collect();
        if !is_client {
            let place = match part.words.first() {
                Some(name) if !is_program_known => span(name),
                _ => part.start..part.end,
            };
            let expands = chain
                .iter()
                .any(|one| self.expands_set_variable(*one, &place));
            if expands || part.has_substitutions {
                self.add_set_values();
            }
            if self.index.reads_variables {
                self.add_set_values();
                self.add_words_up_to(parts.all.len());
            }
            match is_program_known {
                true => self.add_words(at),
                false => self.add_evaluated_words(part),
            }
        }
        for around in chain.iter().skip(1) {
            self.add_words(*around);
            self.add_values_of(*around);
        }
        for one in &chain {
            if parts.all[*one].input.is_some() {
                self.add_words_before(at, is_client);
                if !is_client {
                    self.add_set_values();
                }
            }
        }
    }

    /// Adds the words of a program, only known at run time, that may be code: `"$SHELL" -c TEXT`.
    fn add_evaluated_words(&mut self, part: &Part) {
        let takes_code = |option: &Word| {
            option.text.starts_with('-') && option.text.ends_with(['c', 'e', 'l'])
                || option.text.to_ascii_lowercase().ends_with("-command")
        };
        for (number, pair) in part.words.windows(2).enumerate() {
            if number == 0 || takes_code(&pair[0]) {
                self.add_span(&pair[1], CodeKind::MayRun);
            }
        }
    }

    /// Adds a script in another language.
    fn add_script(&mut self, script: &Script) {
        let Some(at) = script.part else {
            return;
        };
        let parts = self.parts;
        let part = &parts.all[at];
        let code = code_of_script(script.language, &script.text);
        let texts = part.words.iter().chain(&part.here_documents);
        let own = texts.filter(|word| word.text.contains(&script.text));
        let mut written = false;
        for word in own {
            written = true;
            let start = word.text.find(&script.text).unwrap_or_default();
            for range in &code.ranges {
                self.add_text(
                    word,
                    start + range.start..start + range.end,
                    CodeKind::MayRun,
                );
            }
        }
        if !written && !code.ranges.is_empty() {
            // The input is text that other parts print.
            self.add_words_before(at, false);
        }
        let expands = || {
            let place = part.start..part.end;
            self.expands_set_variable(at, &place)
        };
        if code.evaluates {
            self.add_set_values();
            self.add_words(at);
            let around: Vec<usize> = self.ancestors(at).collect();
            around.into_iter().for_each(|around| self.add_words(around));
            if part.input.is_some() {
                self.add_words_before(at, false);
            }
        } else if script.text.contains(UNKNOWN) && !script.language.is_query() && expands() {
            self.add_set_values();
        }
    }

    /// Returns `true` if a part writes text to a file that runs later: a script, a file of start, a
    /// schedule, or a file that another part of the command runs.
    fn runs_written_text(&self, at: usize) -> bool {
        let part = &self.parts.all[at];
        let files = part.path_effects.iter().chain(&part.redirections);
        let mut written = files.filter(|file| file.effect > Crud::Read);
        let runs = |name: &str| {
            let names = |word: &Word| !name.is_empty() && word.text.ends_with(name);
            let mut words = self.index.opaque_words.iter();
            words.any(|(other, word)| *other != at && names(word))
        };
        part.calls.iter().any(|call| call.schedules_input)
            || written.any(|file| {
                let path = file.path.text.as_str();
                Tables::embedded().is_code_file(path)
                    || runs(path.rsplit('/').next().unwrap_or_default())
            })
    }

    /// Adds the text that a part writes, as far as it is code.
    fn add_written_text(&mut self, at: usize) {
        let parts = self.parts;
        let part = &parts.all[at];
        let prints = |part: &Part| part.calls.iter().any(|call| call.prints_words);
        let words = part.words.iter().skip(1).filter(|_| prints(part));
        let mut texts: Vec<&Word> = words.chain(&part.here_documents).collect();
        if part.input.is_some() && texts.is_empty() {
            let before = parts.all[..at].iter();
            texts.extend(before.flat_map(|part| {
                let words = part.words.iter().skip(1).filter(|_| prints(part));
                words.chain(&part.here_documents)
            }));
        }
        for text in texts {
            for range in code_of_file(&text.text) {
                self.add_text(text, range, CodeKind::MayRun);
            }
            if text.text.contains(UNKNOWN) {
                self.add_set_values();
            }
        }
    }

    /// Returns `true` if a word of a part within a place expands a variable that the command may
    /// set.
    fn expands_set_variable(&self, at: usize, place: &Range<usize>) -> bool {
        let expansions = self.parts.all[at].expansions.iter();
        let mut names = expansions
            .filter(|one| one.span.start < place.end && place.start < one.span.end)
            .map(|one| one.name.as_str());
        names.any(|name| self.may_set(name))
    }

    /// Returns `true` if the command may set a variable. Variables that no word mentions are
    /// inherited, if they have the name of a variable of the environment.
    fn may_set(&self, name: &str) -> bool {
        let is_environment = name
            .bytes()
            .all(|byte| byte == b'_' || byte.is_ascii_uppercase() || byte.is_ascii_digit())
            && name.starts_with(|c: char| c.is_ascii_uppercase());
        !is_environment || self.index.set_names.contains(name)
    }

    /// Adds the values that the command gives a variable, as text that a shell runs.
    fn add_values_named(&mut self, at: usize, name: &str) {
        for (value, start) in self.index.values_named(name) {
            // A value that is a part of an argument is data of its program.
            let is_argument = self
                .last_argument(value, start)
                .is_some_and(|last| last > at);
            if !is_argument {
                self.add_text(value, start..value.text.len(), CodeKind::ShellText);
            }
        }
    }

    /// Returns the last part with an argument that contains a value.
    fn last_argument(&mut self, value: &Word, start: usize) -> Option<usize> {
        let text = &value.text[start..];
        let (source, arguments) = (&self.source, &self.index.arguments);
        *(self.last_arguments)
            .entry((value.start, start))
            .or_insert_with(|| {
                source.add_cost(arguments.len() * text.len().max(1));
                let mut arguments = arguments.iter().rev();
                let last = arguments.find(|(_, word)| word.text.contains(text));
                last.map(|(part, _)| *part)
            })
    }

    /// Adds the values of all variables that the command sets.
    fn add_set_values(&mut self) {
        if std::mem::replace(&mut self.all_values_added, true) {
            return;
        }
        for at in 0..self.parts.all.len() {
            self.add_values_of(at);
        }
    }

    fn add_values_of(&mut self, at: usize) {
        if std::mem::replace(&mut self.values_added[at], true) {
            return;
        }
        let parts = self.parts;
        let part = &parts.all[at];
        for one in &part.assignments {
            self.add_span(&one.value, CodeKind::MayRun);
        }
        let builtin = part.program().and_then(Builtin::named);
        let sets = part.calls.iter().any(|call| call.sets_variables)
            || matches!(builtin, Some(Builtin::Declare(_) | Builtin::Set));
        if sets {
            for word in part.words.iter().skip(1) {
                self.add_span(word, CodeKind::MayRun);
            }
        }
    }

    fn add_words_up_to(&mut self, end: usize) {
        (self.words_added_up_to..end).for_each(|at| self.add_words(at));
        self.words_added_up_to = self.words_added_up_to.max(end);
    }

    /// Adds the words of the parts that may print the input of a part.
    fn add_words_before(&mut self, at: usize, is_client: bool) {
        self.add_words_up_to(at);
        if !is_client {
            self.add_words(at);
        } else {
            let parts = self.parts;
            for text in &parts.all[at].here_documents {
                self.add_span(text, CodeKind::MayRun);
            }
        }
    }

    /// Adds the words of a part, without the secrets that its table reads.
    fn add_words(&mut self, at: usize) {
        if std::mem::replace(&mut self.words_added[at], true) {
            return;
        }
        let parts = self.parts;
        let part = &parts.all[at];
        let secret_in = |word: &Word| {
            let words = part.calls.iter().flat_map(|call| &call.secret_words);
            let mut secrets = words.filter_map(|(other, shape)| {
                let secret = shape.secret_in(&other.text)?;
                let is_same = other.start == word.start && other.end == word.end;
                let start = word.text.len().checked_sub(other.text.len())?;
                (is_same && word.text.ends_with(&other.text))
                    .then(|| start + secret.start..start + secret.end)
            });
            secrets.next()
        };
        let files = part.redirections.iter().map(|file| &file.path);
        for word in part.words.iter().skip(1) {
            match secret_in(word) {
                Some(secret) => {
                    self.add_text(word, 0..secret.start, CodeKind::MayRun);
                    self.add_text(word, secret.end..word.text.len(), CodeKind::MayRun);
                }
                None => self.add_span(word, CodeKind::MayRun),
            }
        }
        for word in files.chain(&part.here_documents) {
            self.add_span(word, CodeKind::MayRun);
        }
    }

    fn add_text(&mut self, word: &Word, range: Range<usize>, kind: CodeKind) {
        for range in self.source.ranges(word, range) {
            self.found.push(CodeSpan::new(range, kind));
        }
        let is_expanded = word.text.contains(UNKNOWN) || !self.source.is_written_in_place(word);
        if kind == CodeKind::MayRun && is_expanded {
            self.add_expanded_values(word);
        }
    }

    /// Adds the values of the variables that a word expands.
    fn add_expanded_values(&mut self, word: &Word) {
        for name in self.index.names_expanded_in(&span(word)) {
            for (value, start) in self.index.values_named(name) {
                for range in self.source.ranges(value, start..value.text.len()) {
                    self.found.push(CodeSpan::new(range, CodeKind::MayRun));
                }
            }
        }
    }

    /// Adds a word where it is written, with its expansions.
    fn add_span(&mut self, word: &Word, kind: CodeKind) {
        self.add_text(word, 0..word.text.len(), kind);
        self.found.push(CodeSpan::new(span(word), kind));
    }

    /// Returns the parts around a part, innermost first.
    fn ancestors(&self, at: usize) -> impl Iterator<Item = usize> + use<'_> {
        let parts = self.parts;
        let around = move |at: &usize| parts.all[*at].parent;
        std::iter::successors(around(&at), around)
    }
}

/// Returns `true` if text runs that is only known at run time, apart from scripts in other
/// languages.
fn runs_unknown_text(source: UnseenCode) -> bool {
    source != UnseenCode::Script
}

/// Returns `true` for a client that runs its input and takes a password, which it never runs.
fn is_client(part: &Part) -> bool {
    part.calls.iter().any(|call| call.is_client)
}

/// Returns `true` if a person has to see the name of a file: of one that is deleted, and of one by
/// its path.
fn names_a_file(part: &Part, file: &Word, effect: Crud) -> bool {
    let is_secret = part
        .calls
        .iter()
        .flat_map(|call| &call.secret_words)
        .any(|(word, shape)| {
            *shape != SecretShape::Name && word.start == file.start && word.end == file.end
        });
    let path = file
        .text
        .rsplit_once('=')
        .map_or(file.text.as_str(), |(_, path)| path);
    !is_secret && (effect == Crud::Delete || path.starts_with(['/', '~', '.']))
}

/// Returns the parts of the text of a file that run as code, judged by its lines.
fn code_of_file(text: &str) -> Vec<Range<usize>> {
    let code = code_of_script(Language::Code, text);
    if code.evaluates {
        return code.ranges;
    }
    let mut ranges = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let end = start + line.len();
        let words = line.trim_start();
        let at = end - words.len();
        // The first word of a line, after a schedule, an assignment or a modifier.
        let is_assignment = words
            .split_once('=')
            .is_some_and(|(name, _)| name.split_whitespace().last().is_some_and(is_name))
            || words.starts_with("export ")
            || words.starts_with("alias ");
        let is_expanded = line.contains("$(") || line.contains('`');
        if !is_assignment || is_expanded || runs_a_variable(text) {
            ranges.push(at..end);
        }
        start = end;
    }
    ranges
}

fn is_name(text: &str) -> bool {
    text.bytes()
        .all(|byte| byte == b'_' || byte.is_ascii_alphanumeric())
}

/// Returns `true` if a line of a text runs the value of a variable.
fn runs_a_variable(text: &str) -> bool {
    text.lines().any(|line| {
        let line =
            line.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '@' | '-' | '"'));
        line.starts_with('$') || line.contains("eval ") || line.contains("\"scripts\"")
    })
}
