//! Simple commands: assignments, redirections, and a program.

use super::interpreter::Interpreter;
use super::names::DESCRIPTORS;
use super::output_kind::output_kind;
use super::redirect::{RedirectContext, Stdout};
use crate::model::arg::{Arg, shown};
use crate::model::effect::Effect;
use crate::model::environment::is_numeric;
use crate::model::io::OutputKind;
use crate::model::io::{Input, Output};
use crate::model::named::Named;
use crate::model::program_name::plain_program;
use crate::model::script::{Change, Piece, Redirect, Word};
use crate::model::span::Span;
use crate::model::variable_name::{base_name, is_status};
use crate::programs::file_roles::prints_facts;
use crate::tables::{Call, matches};

impl Interpreter<'_> {
    pub(crate) fn simple(
        &mut self,
        assigns: &[Word],
        words: &[Word],
        redirects: &[Redirect],
        span: Span,
        (input, piped): (&Input, bool),
    ) -> Output {
        self.sink.parts.enter(span);
        let mut set = Vec::new();
        for assign in assigns {
            let noted = std::mem::take(&mut self.shell.paths_in_pipeline);
            let assigned = self.assignment(assign);
            let names = std::mem::replace(&mut self.shell.paths_in_pipeline, noted);
            if let Some((name, value)) = assigned {
                if !names.is_empty() {
                    self.shell.holds_names(base_name(&name.text), &names);
                }
                self.sink.parts.assignment(&name.text, &value);
                self.index(&name);
                set.push((name.text, value));
            }
        }
        let noted = std::mem::take(&mut self.shell.paths_in_pipeline);
        // What runs to make its words reads what it reads.
        let read = if piped { noted.clone() } else { Vec::new() };
        let args = self.with_names(read, |interpreter| interpreter.expand_all(words));
        // What a substitution printed may be their names.
        let mut names = self.shell.paths_in_pipeline.clone();
        self.shell.paths_in_pipeline.extend(noted);
        let label = args.iter().map(shown).collect::<Vec<_>>().join(" ");
        self.step(
            span,
            match label.is_empty() {
                true => "(assignment or redirection)".to_owned(),
                false => label,
            },
        );
        // Some shells take `a &> f b` for `a &` and `> f b`.
        let part = redirects.iter().find(|redirect| redirect.both);
        if let Some(part) = part {
            let behind = |word: &&Word| word.span.start >= part.span.end;
            let words: Vec<&Word> = words.iter().filter(behind).collect();
            let rest: Vec<Arg> = words
                .into_iter()
                .flat_map(|word| self.expand(word))
                .collect();
            if !rest.is_empty() {
                self.run(rest, &Input::Unknown);
            }
        }
        self.behind_brace(words);
        let silent = args.first().is_some_and(|name| self.speaks(&name.text));
        // What is substituted in its words may read before it does.
        let reads = |word: &Word| !word.pieces.iter().all(is_quiet);
        let unread = match input {
            Input::Known(_) if assigns.iter().chain(words).any(reads) => &Input::Unknown,
            input => input,
        };
        let how = RedirectContext {
            piped,
            silent,
            facts: self.prints_facts(&args),
        };
        let mut sent = self.redirects(redirects, unread, how);
        if !redirects.is_empty() && moves(&args) {
            self.shell.environment.stdio_redirected = true;
            // `exec 3< <(find …)`: what reads the descriptor later gets these names.
            if redirects.iter().any(Redirect::takes) {
                let names = self.names_in(&Input::Unknown);
                self.shell.holds_names(DESCRIPTORS, &names);
            }
        }
        let Some(name) = args.first() else {
            for (name, value) in set {
                self.sets(&name, &value);
                self.assign(&name, &value);
            }
            self.written(&sent, Some(""), span, "");
            self.sink.parts.close();
            // An assignment that the shell refuses may end it.
            return None;
        };
        let program = name.text.clone();
        let lookup = program.rsplit('/').next().unwrap_or(&program).to_owned();
        for (name, value) in &set {
            self.sets(name, value);
            let own = self
                .tables
                .program(&lookup)
                .is_some_and(|table| table.variables.iter().any(|pattern| matches(pattern, name)));
            let known = value.known().then_some(value.text.as_str());
            if own && self.tables.variable(name, None).is_none() && known != Some("") {
                self.find(
                    Effect::Code,
                    value.span,
                    format!("sets `{name}`, which changes what `{program}` runs"),
                );
            }
        }
        if !matches!(lookup.as_str(), "echo" | "printf" | "test" | "[") {
            self.emptied(&sent, &args);
        }
        let prints = |arg: &Arg| {
            let name = arg.text.rsplit('/').next().unwrap_or("");
            PRINTS_WORDS.contains(&name)
        };
        if sent.printed != Stdout::Away && args.iter().any(prints) {
            self.prints_variables(words);
        }
        self.sink.parts.ready();
        // Others may print less than follows from their words, or end the shell.
        let plain = PRINTS.contains(&program.as_str())
            || self.shell.environment.functions.contains_key(&program);
        let piped = match redirects.iter().any(Redirect::reads) {
            true => OutputKind::Anything,
            false => self.shell.piped_output_kind,
        };
        let shown = output_kind(&args, &self.shell.environment, piped);
        // `$_` stands for a word of the command before.
        let repeats = words.iter().flat_map(|word| &word.pieces).any(is_last_word);
        names.extend(self.shell.last_secret_path.clone().filter(|_| repeats));
        let secret = |arg: &&Arg| self.tables.secret_within(arg.path());
        let last_secret = args.iter().skip(1).find(secret).map(|arg| Named {
            path: arg.path().to_owned(),
            secret: true,
        });
        let certain = plain && set.is_empty() && words.iter().all(is_certain);
        let keeps = KEEPS.contains(&program.as_str())
            || self.shell.environment.functions.contains_key(&program);
        let output = self.capturing(sent.printed == Stdout::Away, |interpreter| {
            interpreter.with_variables(&set, keeps, |interpreter| {
                interpreter.with_names(names, |interpreter| {
                    interpreter.run(args, &sent.input.clone())
                })
            })
        });
        self.shell.last_secret_path = last_secret;
        self.judge_processes(words, redirects);
        self.written(&sent, output.as_deref(), span, &program);
        self.sink.parts.close();
        if words.iter().flat_map(|word| &word.pieces).any(is_process) {
            // What it hands to a process may come out of that.
            sent.printed = Stdout::Unclear;
        }
        let output = output.filter(|_| certain);
        self.shell.output_kind = self.shell.output_kind.and(match (&output, sent.printed) {
            (_, Stdout::Away) => OutputKind::Numbers,
            (_, Stdout::Unclear) => OutputKind::Anything,
            (Some(text), _) if is_numeric(text) => OutputKind::Numbers,
            (Some(_), _) => OutputKind::Anything,
            (None, _) => shown,
        });
        sent.out(output)
    }

    /// Judges again the processes that are given what a command prints, now that its names are known:
    /// `tee >(xargs cat)`.
    fn judge_processes(&mut self, words: &[Word], redirects: &[Redirect]) {
        let names: Vec<Named> = self
            .shell
            .paths_in_pipeline
            .iter()
            .filter(|named| named.secret)
            .cloned()
            .collect();
        let targets = redirects.iter().map(|redirect| &redirect.target);
        let processes = words.iter().chain(targets);
        let processes = processes.filter(|word| word.pieces.iter().any(is_process));
        for word in processes.filter(|_| !names.is_empty()) {
            self.with_names(names.clone(), |interpreter| interpreter.value(word));
        }
    }

    /// Judges the words behind a `}`, which ends a group in some shells: `{ a } always { b; }`.
    fn behind_brace(&mut self, words: &[Word]) {
        let is = |word: &Word, text: &str| {
            matches!(
                word.pieces.as_slice(),
                [Piece::Text { text: piece, quoted: false }] if piece == text
            )
        };
        let Some(at) = words.iter().position(|word| is(word, "}")) else {
            return;
        };
        let behind = words[at..].iter();
        let rest = behind.skip_while(|word| is(word, "}") || is(word, "always") || is(word, "{"));
        let rest: Vec<Arg> = rest.flat_map(|word| self.expand(word)).collect();
        if let Some(first) = rest.first() {
            let span = first.span;
            self.find(Effect::Unknown, span, "some shells end a group before this");
            self.run(rest, &Input::Unknown);
        }
    }

    /// Returns true if a command prints at most facts about what it reads, such as its number of lines.
    fn prints_facts(&self, args: &[Arg]) -> bool {
        let Some(name) = args.first() else {
            return false;
        };
        if self.shell.environment.functions.contains_key(&name.text)
            || self.shell.environment.aliases.contains_key(&name.text)
        {
            return false;
        }
        let program = self.tables.program(plain_program(&name.text));
        let call = program.map(|program| Call::read(&name.text, program, &args[1..]));
        call.is_some_and(|call| prints_facts(&call))
    }

    /// Whether a name stands for a command of which nothing comes out but what it says.
    fn speaks(&self, name: &str) -> bool {
        matches!(name, "echo" | "printf")
            && !self.shell.environment.functions.contains_key(name)
            && !self.shell.environment.aliases.contains_key(name)
    }
}

/// Programs that print their words, or a part of them.
const PRINTS_WORDS: &[&str] = &[
    "echo", "printf", "print", "gecho", "gprintf", "basename", "dirname", "expr", "yes", "jo",
    "jq", "gojq", "jaq", "yq", "awk", "gawk", "mawk", "nawk", "figlet", "toilet", "banner",
    "cowsay",
];

/// The commands of which it is followed what they print.
const PRINTS: &[&str] = &[
    ":", "true", "echo", "printf", "cat", "base64", "gbase64", "openssl", "rev", "xxd", "tr",
];

/// Whether a shell can make something of a word, whatever there is: no value that must be
/// computed, and no pattern, which some shells refuse where no file fits it.
fn is_certain(word: &Word) -> bool {
    word.pieces
        .iter()
        .enumerate()
        .all(|(at, piece)| match piece {
            Piece::Text { quoted: true, .. } => true,
            Piece::Text { text, .. } => {
                let pattern = text.contains(['*', '?', '[', '~', '^', '#', '(', '<']);
                !pattern && (at > 0 || !text.starts_with('='))
            }
            Piece::Variable { name, change, .. } => *change == Change::None && !is_status(name),
            Piece::Substitution { .. } => true,
            Piece::Process { .. } | Piece::Arithmetic { .. } => false,
        })
}

/// Whether nothing runs where a shell expands this.
fn is_quiet(piece: &Piece) -> bool {
    match piece {
        Piece::Text { .. } => true,
        Piece::Variable { change, .. } => *change == Change::None,
        Piece::Substitution { .. } | Piece::Process { .. } | Piece::Arithmetic { .. } => false,
    }
}

fn is_last_word(piece: &Piece) -> bool {
    matches!(piece, Piece::Variable { name, .. } if name == "_")
}

fn is_process(piece: &Piece) -> bool {
    matches!(piece, Piece::Process { .. })
}

/// Whether a command without a program, of which the redirections hold for the shell itself.
fn moves(args: &[Arg]) -> bool {
    let word = |arg: &Arg| {
        matches!(arg.text.as_str(), "exec" | "command" | "builtin") || arg.text.starts_with('-')
    };
    args.iter().any(|arg| arg.text == "exec") && args.iter().all(word)
}

/// What the shell runs itself, and which some shells let keep the variables before it.
const KEEPS: &[&str] = &[
    "eval", "export", "readonly", "set", "shift", "trap", "unset", ".", "source", ":", "exec",
    "break", "continue", "return", "exit", "declare", "typeset", "local", "builtin", "command",
];
