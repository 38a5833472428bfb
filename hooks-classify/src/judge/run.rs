//! What the name of a program stands for: a function, an alias, a command of the shell, or a
//! program of the tables.

use super::builtin::quoted;
use super::environment::Contents;
use super::{Arg, Input, Judge, Output, Place, UNKNOWN};
use crate::parts::UnseenCode;
use crate::shell::Span;
use crate::tables::Effect;

/// Folders whose programs are what their names say.
const SYSTEM: &[&str] = &[
    "/bin/",
    "/usr/bin/",
    "/usr/local/bin/",
    "/sbin/",
    "/usr/sbin/",
    "/usr/local/sbin/",
    "/opt/homebrew/bin/",
    "/usr/lib/git-core/",
    "/usr/libexec/git-core/",
    "/busybox/",
];

/// What the shell runs itself, of what tables describe.
const ITSELF: &[&str] = &["compgen", "complete", "jobs", "noglob", "nocorrect"];

/// Returns the name of a program without its folder, if that is a folder of the system, in which
/// programs are what their names say.
#[must_use]
pub fn plain(name: &str) -> &str {
    SYSTEM
        .iter()
        .find_map(|folder| name.strip_prefix(folder))
        .unwrap_or(name)
}

impl Judge<'_> {
    /// Runs a command of which the words are known as far as they are.
    pub(crate) fn run(&mut self, args: Vec<Arg>, input: &Input) -> Output {
        self.in_child(|judge| judge.run_words(args, input))
    }

    fn run_words(&mut self, args: Vec<Arg>, input: &Input) -> Output {
        self.depth += 1;
        let opened = self.parts.words(&args, input);
        let output = self.run_here(args, input);
        if opened {
            self.parts.close();
        }
        self.depth -= 1;
        output
    }

    fn run_here(&mut self, args: Vec<Arg>, input: &Input) -> Output {
        let name = args.first()?.clone();
        self.work += 1;
        if self.work > super::STEPS || self.depth > super::DEPTH {
            self.find(
                Effect::Unknown,
                name.span,
                "there is too much in it to follow",
            );
            return None;
        }
        let says = matches!(
            name.text.as_str(),
            "echo" | "printf" | "print" | "basename" | "dirname" | "realpath" | "readlink"
        );
        for arg in &args[1..] {
            if says || self.tables.secret_within(arg.path()) {
                self.name(arg);
            }
        }
        // To zsh, `-` before a command only changes what programs call it.
        if name.text.is_empty() || (name.text == "-" && args.len() > 1) {
            return self.run_rest(&args, input);
        }
        // To zsh, `=NAME` is where the program is.
        if let Some(program) = name.text.strip_prefix('=')
            && self.tables.program(program).is_some()
        {
            let mut args = args.clone();
            args[0] = name.with(program);
            self.external(program, &args, name.span, input);
        }
        if name.glob && name.known() {
            self.patterned(&args, input);
        }
        if !name.known() || name.glob {
            self.runs_unseen(
                name.span,
                UnseenCode::Program,
                "which program runs is only known when it runs",
            );
            // What is not known may be empty: then the rest is the name.
            let rest = name.text.replace(UNKNOWN, "");
            let mut args = args;
            if !name.glob && !rest.is_empty() && self.tables.program(&rest).is_some() {
                args[0].text = rest;
                self.run(args, input);
            } else if rest.is_empty() && name.text.chars().count() == 1 {
                args.remove(0);
                if args
                    .first()
                    .is_some_and(|first| self.tables.program(&first.text).is_some())
                {
                    self.run(args, input);
                }
            }
            return None;
        }
        if name.maybe {
            self.runs_unseen(
                name.span,
                UnseenCode::Program,
                "a variable may name another program",
            );
        }
        let whole = Span::new(
            name.span.start,
            args.iter()
                .map(|arg| arg.span.end)
                .max()
                .unwrap_or(name.span.end),
        );
        let text = name.text.clone();
        self.alias(&text, &args, input);
        if self.environment.functions.contains_key(&text) {
            // The definition may not have been reached.
            let maybe =
                self.environment.maybe.contains(&text) || self.tables.program(&text).is_some();
            let before = maybe.then(|| self.environment.clone());
            let output = self.call_function(&text, &args[1..], input);
            let Some(before) = before else {
                return output;
            };
            self.environment.merge(&before);
            self.external(&text, &args, whole, input);
            return None;
        }
        if let Some(output) = self.builtin(&text, &args, whole, input) {
            return output;
        }
        self.external(&text, &args, whole, input)
    }

    /// A pattern as a program's name: every program that fits may run.
    fn patterned(&mut self, args: &[Arg], input: &Input) {
        let pattern = args[0].text.rsplit('/').next().unwrap_or("").to_owned();
        let names: Vec<&str> = self
            .tables
            .names()
            .filter(|name| fits(pattern.as_bytes(), name.as_bytes()))
            .take(20)
            .collect();
        for name in names {
            let mut args = args.to_vec();
            args[0] = Arg::new(name, args[0].span);
            self.run(args, input);
        }
    }

    fn run_rest(&mut self, args: &[Arg], input: &Input) -> Output {
        if args.len() < 2 {
            return None;
        }
        self.run(args[1..].to_vec(), input)
    }

    fn alias(&mut self, name: &str, args: &[Arg], input: &Input) {
        let Some(alias) = self.environment.aliases.get(name).cloned() else {
            return;
        };
        let span = args[0].span;
        let Some(value) = alias else {
            self.runs_unseen(
                span,
                UnseenCode::Alias,
                format!("`{name}` is an alias that is not known"),
            );
            return;
        };
        self.environment.aliases.remove(name);
        let rest: Vec<String> = args[1..].iter().map(quoted).collect();
        self.text(
            &format!("{value} {}", rest.join(" ")),
            Place::Fixed(span),
            input,
        );
        self.environment
            .aliases
            .insert(name.to_owned(), Some(value));
    }

    /// A program that is not the shell's own.
    pub(super) fn external(
        &mut self,
        name: &str,
        args: &[Arg],
        whole: Span,
        input: &Input,
    ) -> Output {
        if name.contains('/') {
            return self.path(name, args, whole, input);
        }
        if let Some(program) = self.tables.program(name) {
            let outer = std::mem::replace(&mut self.child, !ITSELF.contains(&name));
            let output = self.table(name, program, args, whole, input);
            self.child = outer;
            return output;
        }
        if super::special::cmdlet(name) {
            return self.cmdlet(args, whole);
        }
        let span = args[0].span;
        self.find(
            Effect::Unknown,
            span,
            format!("`{name}` is no program that is known here"),
        );
        None
    }

    /// A program by its path.
    fn path(&mut self, path: &str, args: &[Arg], whole: Span, input: &Input) -> Output {
        let clean = path.replace("/./", "/").replace("//", "/");
        for folder in SYSTEM {
            if let Some(name) = clean.strip_prefix(folder)
                && !name.contains('/')
                && !self.environment.files.contains_key(&clean)
            {
                let mut args = args.to_vec();
                args[0].text = name.to_owned();
                if self.tables.program(name).is_some() || self.builtin_name(name) {
                    return self.external_or_builtin(name, &args, whole, input);
                }
                self.find(
                    Effect::Unknown,
                    args[0].span,
                    format!("`{path}` is no program that is known here"),
                );
                return None;
            }
        }
        let short = path.trim_start_matches("./");
        let contents = [path, short]
            .iter()
            .find_map(|name| self.environment.files.get(*name))
            .cloned();
        let span = args[0].span;
        self.parts.code_file(&args[0]);
        self.find(
            Effect::Code,
            span,
            format!("runs `{path}`, whatever that is"),
        );
        let name = path.rsplit('/').next().unwrap_or("");
        let stands_for = match name {
            "gradlew" => "gradle",
            "mvnw" => "mvn",
            _ => name,
        };
        if (stands_for != name || path.contains("bin/"))
            && contents.is_none()
            && let Some(program) = self.tables.program(stands_for)
        {
            // Most likely that program; it is confirmed in any case.
            self.table(stands_for, program, args, whole, input);
        }
        match contents {
            Some(Contents::Text(text)) => {
                self.text(&text, Place::Fixed(span), input);
            }
            Some(Contents::Same(target)) => {
                let mut args = args.to_vec();
                args[0].text = target;
                self.run(args, input);
            }
            _ => {}
        }
        None
    }

    fn builtin_name(&self, name: &str) -> bool {
        matches!(name, "true" | "false" | "nohup")
    }

    fn external_or_builtin(
        &mut self,
        name: &str,
        args: &[Arg],
        whole: Span,
        input: &Input,
    ) -> Output {
        if self.builtin_name(name)
            && let Some(output) = self.builtin(name, args, whole, input)
        {
            return output;
        }
        self.external(name, args, whole, input)
    }
}

/// Whether a name fits a pattern of `*`, `?` and `[…]` (which fits any character here).
fn fits(pattern: &[u8], name: &[u8]) -> bool {
    let (mut at, mut place) = (0, 0);
    // Where to go on if it does not fit: only the last `*` need take more.
    let mut star = None;
    while place < name.len() {
        let one = match pattern.get(at) {
            Some(b'*') => {
                star = Some((at + 1, place));
                at += 1;
                continue;
            }
            Some(b'?') => Some(1),
            Some(b'[') => pattern[at..]
                .iter()
                .position(|byte| *byte == b']')
                .map(|end| end + 1),
            Some(byte) if *byte == name[place] => Some(1),
            _ => None,
        };
        match (one, star) {
            (Some(length), _) => {
                at += length;
                place += 1;
            }
            (None, Some((after, from))) => {
                star = Some((after, from + 1));
                (at, place) = (after, from + 1);
            }
            (None, None) => return false,
        }
    }
    pattern[at..].iter().all(|byte| *byte == b'*')
}
