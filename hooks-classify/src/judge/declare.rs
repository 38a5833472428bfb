//! Declarations of variables: `declare`, `export`, `typeset`, `integer` and their like.
//!
//! Their operands are assignments: shells do not split them, evaluate subscripts and numbers in
//! them, and read options before the first operand only.

use super::environment::OWN;
use super::simple::{is_name, split_assignment};
use super::{Arg, Input, Judge, Output, UNKNOWN, Value};
use crate::shell::{Piece, Span, Word};
use crate::tables::{Call, Effect};

/// Words before the name of a command that leave it a declaration.
const BEFORE: &[&str] = &["command", "builtin", "noglob", "nocorrect", "-", "-p", "--"];

impl Judge<'_> {
    /// Returns the operands and options of a command of the shell, as its table reads them.
    pub(super) fn read_builtin(&self, name: &str, args: &[Arg]) -> Option<Call> {
        let table = self.tables.program(name)?;
        Some(Call::read(name, table, &args[1..]))
    }

    /// Returns true if a command declares variables.
    pub(super) fn declares(&self, name: &str) -> bool {
        let table = self.tables.program(name);
        table.is_some_and(|table| table.judge == Some("declare"))
    }

    /// Expands the words of a simple command. The assignments of a declaration are not split; what
    /// an older shell would split off follows them.
    pub(super) fn expand_all(&mut self, words: &[Word]) -> Vec<Arg> {
        let mut names = words.iter().map(Word::literal);
        let name =
            names.find(|name| !matches!(name, Some(name) if BEFORE.contains(&name.as_str())));
        let declares = matches!(name, Some(Some(name)) if self.declares(&name));
        let expand = |word: &Word| match declares && is_assignment(word) {
            true => self.expand_assignment(word),
            false => self.expand(word),
        };
        words.iter().flat_map(expand).collect()
    }

    /// Judges a declaration.
    pub(super) fn declare(&mut self, name: &str, args: &[Arg], whole: Span) -> Output {
        let call = self.read_builtin(name, args)?;
        self.strange(&call);
        // What an option may change counts wherever it stands; what it promises, only where it is
        // read as an option.
        let flag = |letter: char| {
            args.iter()
                .any(|arg| arg.text.starts_with('-') && arg.text.contains(letter))
        };
        let operands: Vec<Arg> = call.operands.iter().map(|o| o.arg.clone()).collect();
        if call.has(&["-f"]) {
            let exports = name == "export" || flag('x');
            if exports {
                let names = operands.iter().map(|arg| arg.text.clone());
                self.environment.exported.extend(names);
            }
            return exports.then(String::new);
        }
        if flag('p') {
            for arg in &operands {
                self.prints_variable(&arg.text, arg.span);
            }
        }
        // `export` has no types.
        let typed = name != "export";
        let declares = matches!(name, "declare" | "typeset");
        let local = declares || name == "local";
        let number = matches!(name, "integer" | "float") || "iFEX".chars().any(flag);
        let reshapes = typed && "ulcLRZ".chars().any(flag);
        let array = typed && (flag('a') || flag('A'));
        if typed && flag('T') {
            let reason = "a variable that sets another one with it";
            self.find(Effect::Code, whole, reason);
        }
        for arg in &operands {
            let variable = arg.text.split('=').next().unwrap_or("");
            let plain = variable.split(['+', '[']).next().unwrap_or("");
            if typed && number {
                self.environment.integers.insert(plain.to_owned());
                self.computes(arg);
            }
            if array {
                self.environment.arrays.insert(plain.to_owned());
            }
            if reshapes {
                self.environment.reshaped.insert(plain.to_owned());
                self.sets(plain, &Arg::unknown(arg.span));
            }
            if typed && name != "readonly" && !flag('g') {
                self.own_variable(plain);
            }
            if typed && (flag('n') || name == "nameref") {
                self.refer(arg);
                continue;
            }
            if typed && flag('A') {
                self.environment.keyed.insert(variable.to_owned());
            }
            // Shells expand it once more, also where it is a key.
            if variable.contains('[') {
                self.names_variable(arg);
            }
            if let Some((name, value)) = split_assignment(arg) {
                self.sets(&name, &value);
                // Whether it is an array already matters where its value is not known.
                let list = array || local && (value.known() || self.is_array(plain));
                if list && !arg.compound {
                    self.expand_list(&name, &value);
                }
                self.assign(&name, &value);
                if !value.known() {
                    self.holds_names(plain, self.handed.clone());
                }
                if declares {
                    // Some shells have no such command.
                    self.environment.doubt(&name);
                }
            } else if !arg.known() {
                self.find(
                    Effect::Code,
                    arg.span,
                    "which variable is set is only known when it runs",
                );
            } else if typed && name != "readonly" {
                // In a function it is another one, without a value.
                self.environment.doubt(&arg.text);
            }
        }
        Some(String::new())
    }

    /// Judges a list that is set by words: `set -A NAME WORDS`.
    pub(super) fn sets_list(&mut self, name: &Arg, words: &[Arg]) {
        let quoted: Vec<String> = words.iter().map(super::builtin::quoted).collect();
        self.names_variable(name);
        self.sets(&name.text, &name.with(&format!("({})", quoted.join(" "))));
        let plain = |arg: &Arg| arg.known() && !arg.glob && !arg.text.contains(char::is_whitespace);
        let value = match words.iter().all(plain) {
            true => {
                let words: Vec<&str> = words.iter().map(|arg| arg.text.as_str()).collect();
                Value::List(words.join(" "))
            }
            false => Value::Unknown,
        };
        self.environment.arrays.insert(name.text.clone());
        self.environment.set(&name.text, value);
    }

    /// Returns true if a variable may be an array: the text makes it one, or the shell does.
    fn is_array(&self, name: &str) -> bool {
        self.environment.arrays.contains(name) || OWN.contains(&name)
    }

    /// Judges a name reference: `NAME=TARGET`.
    fn refer(&mut self, arg: &Arg) {
        let target = split_assignment(arg);
        if let Some((name, target)) = &target
            && is_name(name)
            && is_name(&target.text)
        {
            let pair = (name.clone(), target.text.clone());
            self.environment.references.insert(pair);
            let variables = &mut self.environment.variables;
            variables.insert(name.clone(), Value::Unknown);
            return;
        }
        let reason = "a name for another variable, which is then set by it";
        self.find(Effect::Code, arg.span, reason);
        self.names_variable(&target.map_or_else(|| arg.clone(), |(_, target)| target));
    }

    /// Judges the quoted value of an array, which the shell expands as a list once more.
    fn expand_list(&mut self, name: &str, value: &Arg) {
        let (first, last) = (value.text.chars().next(), value.text.chars().next_back());
        let could =
            |c: Option<char>, bracket: char| c.is_some_and(|c| c == bracket || c == UNKNOWN);
        if !could(first, '(') || !could(last, ')') {
            return;
        }
        let text = value.with(&format!("{name}={}", value.text));
        match value.inert && !value.known() {
            true => self.shell_text(
                &text.with(&text.text.replace(UNKNOWN, "1")),
                &Input::Unknown,
            ),
            false => self.shell_text(&text, &Input::Unknown),
        };
    }

    /// Notes that a function has a variable of its own.
    fn own_variable(&mut self, name: &str) {
        let before = self.environment.variables.get(name);
        if let Some(locals) = &mut self.locals {
            locals
                .entry(name.to_owned())
                .or_insert_with(|| before.cloned());
        }
    }
}

/// Returns true if a word is an assignment before anything is expanded: `NAME=…`, `NAME[…]+=…`.
fn is_assignment(word: &Word) -> bool {
    let Some(Piece::Text {
        text,
        quoted: false,
    }) = word.pieces.first()
    else {
        return false;
    };
    let name = text.split(['=', '[', '+']).next().unwrap_or("");
    let named = !name.is_empty()
        && name.len() < text.len()
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !name.starts_with(|c: char| c.is_ascii_digit());
    let sign = |piece: &Piece| matches!(piece, Piece::Text { text, .. } if text.contains('='));
    named && word.pieces.iter().any(sign)
}
