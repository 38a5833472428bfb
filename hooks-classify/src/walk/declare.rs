//! Declarations: `declare`, `export`, `typeset` or `integer` with its words in, effects and the new
//! environment out.
//!
//! The operands are assignments: shells do not split them, evaluate subscripts and numbers in them,
//! and read options only before the first operand.

use super::interpreter::Interpreter;
use crate::model::arg::{Arg, UNKNOWN, shell_quoted};
use crate::model::effect::Effect;
use crate::model::io::{Input, Output};
use crate::model::script::{ShellWord, WordPiece};
use crate::model::shells::Shells;
use crate::model::span::Span;
use crate::model::value::Value;
use crate::model::variable_name::{is_variable_name, split_assignment};
use crate::options::call::Call;
use crate::programs::builtins::{Builtin, Declaration};
use crate::programs::call::analyze_unrecognized;

/// Words that may precede the name of a declaration, besides builtins.
const DECLARATION_PREFIXES: &[&str] = &["-", "-p", "--"];

impl Interpreter<'_> {
    /// Reads the words of a builtin by its table.
    pub(crate) fn read_builtin(&self, args: &[Arg]) -> Option<Call> {
        let (name, words) = args.split_first()?;
        let table = self.tables.program(&name.text)?;
        Some(Call::read(&name.text, table, words))
    }

    /// Expands the words of a simple command. The assignments of a declaration are not split; the
    /// words that an older shell would split off follow them.
    pub(crate) fn expand_command_words(&mut self, words: &[ShellWord]) -> Vec<Arg> {
        let mut names = words.iter().map(ShellWord::literal);
        let precedes = |name: &str| {
            DECLARATION_PREFIXES.contains(&name)
                || Builtin::named(name).is_some_and(Builtin::precedes_declaration)
        };
        let name = names.find(|name| !name.as_deref().is_some_and(precedes));
        let declares = name
            .flatten()
            .is_some_and(|name| Builtin::declaration(&name).is_some());
        let expand = |word: &ShellWord| match declares && is_assignment(word) {
            true => self.expand_assignment(word),
            false => self.expand(word),
        };
        words.iter().flat_map(expand).collect()
    }

    /// Runs a declaration.
    pub(crate) fn declare(
        &mut self,
        declaration: Declaration,
        args: &[Arg],
        whole: Span,
    ) -> Output {
        let call = self.read_builtin(args)?;
        self.perform_analysis(|_| analyze_unrecognized(&call));
        // An option that changes something counts anywhere; a harmless one only where the shell
        // reads options.
        let flag = |letter: char| {
            args.iter()
                .any(|arg| arg.text.starts_with('-') && arg.text.contains(letter))
        };
        let operands: Vec<Arg> = call.operands.iter().map(|o| o.arg.clone()).collect();
        if call.has_option(&["-f"]) {
            // ksh93 assigns with this option, too.
            for (name, value) in operands.iter().filter_map(split_assignment) {
                self.check_variable(&name, &value);
                self.shell.environment.options.note(&value.text);
                self.shell.environment.set_unknown(&name);
            }
            let exports = declaration == Declaration::Export || flag('x');
            if exports {
                let names = operands.iter().map(|arg| arg.text.clone());
                self.shell.environment.exported_functions.extend(names);
            }
            return exports.then(String::new);
        }
        if flag('p') {
            for arg in &operands {
                self.check_printed_variable(&arg.text, arg.span);
            }
        }
        // `export` has no types.
        let typed = declaration != Declaration::Export;
        let declares = declaration == Declaration::Any;
        let local = declares || declaration == Declaration::Local;
        // In zsh also `export -i`.
        let number = declaration == Declaration::Number || "iFEX".chars().any(flag);
        let readonly = declaration == Declaration::Readonly || typed && flag('r');
        let reshapes = typed && "ulcLRZ".chars().any(flag);
        let array = typed && (flag('a') || flag('A'));
        if typed && flag('T') {
            let reason = "a variable that sets another one with it";
            self.add_finding(Effect::Code, whole, reason);
        }
        // In zsh, `readonly` in a function declares a local variable, too.
        let may_be_local = declaration != Declaration::Readonly
            || self.shell.locals.is_some() && self.cursor.shells.intersects(Shells::ANY_ZSH);
        let mut read_only = Vec::new();
        for arg in &operands {
            let variable = arg.text.split('=').next().unwrap_or("");
            let plain = variable.split(['+', '[']).next().unwrap_or("");
            if readonly {
                read_only.push(plain.to_owned());
            }
            if number {
                self.shell
                    .environment
                    .integer_variables
                    .insert(plain.to_owned());
                self.evaluate_expression(arg);
            }
            if array {
                self.shell.environment.arrays.insert(plain.to_owned());
            }
            if reshapes {
                self.shell
                    .environment
                    .formatted_variables
                    .insert(plain.to_owned());
                self.check_variable(plain, &Arg::unknown(arg.span));
            }
            if typed && may_be_local && !flag('g') {
                self.shell.make_local(plain);
            }
            if typed && (flag('n') || declaration == Declaration::Reference) {
                self.set_nameref(arg);
                continue;
            }
            if typed && flag('A') {
                self.shell
                    .environment
                    .associative_arrays
                    .insert(variable.to_owned());
            }
            // Shells expand a subscript once more, also of an associative array.
            if variable.contains('[') {
                self.evaluate_variable_name(arg);
            }
            if let Some((name, value)) = split_assignment(arg) {
                self.check_variable(&name, &value);
                if !typed || flag('x') {
                    let passed = &mut self.shell.environment.exported_assignments;
                    passed.push((name.clone(), value.clone()));
                }
                // An unknown value is a list only if the variable is an array already.
                let list = array || local && (value.is_known() || self.shell.is_array(plain));
                if list && !arg.is_array_literal {
                    self.expand_array_value(&name, &value);
                }
                self.set_variable(&name, &value);
                if !value.is_known() {
                    let paths = self.shell.paths_of_unknown_words.clone();
                    self.shell.add_variable_paths(plain, &paths);
                }
                if declares {
                    // Some shells do not have this builtin.
                    self.shell.environment.mark_possibly_unset(&name);
                }
            } else if arg.is_known() && (!typed || flag('x')) {
                // `NAME=value; export NAME`
                let names = &mut self.shell.environment.exported_names;
                names.insert(arg.text.clone());
                if let Some(value) = self.shell.environment.variables.get(&arg.text) {
                    let value = match value.text() {
                        Some(text) => Arg::new(text, arg.span),
                        None => Arg::unknown(arg.span),
                    };
                    let passed = &mut self.shell.environment.exported_assignments;
                    passed.push((arg.text.clone(), value));
                }
            } else if !arg.is_known() {
                self.add_finding(
                    Effect::Code,
                    arg.span,
                    "which variable is set is only known when it runs",
                );
            } else if typed && may_be_local {
                // In a function, this declares a local variable without a value.
                self.shell.environment.mark_possibly_unset(&arg.text);
            }
        }
        let environment = &mut self.shell.environment;
        environment.readonly_variables.extend(read_only);
        Some(String::new())
    }

    /// Sets a list: `set -A NAME WORDS`.
    pub(crate) fn set_array(&mut self, name: &Arg, words: &[Arg]) {
        let quoted: Vec<String> = words.iter().map(shell_quoted).collect();
        self.evaluate_variable_name(name);
        self.check_variable(
            &name.text,
            &name.with_text(&format!("({})", quoted.join(" "))),
        );
        let plain =
            |arg: &Arg| arg.is_known() && !arg.glob && !arg.text.contains(char::is_whitespace);
        let value = match words.iter().all(plain) {
            true => {
                let words: Vec<&str> = words.iter().map(|arg| arg.text.as_str()).collect();
                Value::List(words.join(" "))
            }
            false => Value::Unknown,
        };
        for word in words {
            self.shell.environment.options.note(&word.text);
        }
        self.shell.environment.arrays.insert(name.text.clone());
        self.shell.environment.set(&name.text, value);
    }

    /// Sets a name reference: `NAME=TARGET`.
    fn set_nameref(&mut self, arg: &Arg) {
        let target = split_assignment(arg);
        if let Some((name, target)) = &target
            && is_variable_name(name)
            && is_variable_name(&target.text)
        {
            let pair = (name.clone(), target.text.clone());
            self.shell.environment.namerefs.insert(pair);
            let variables = &mut self.shell.environment.variables;
            variables.insert(name.clone(), Value::Unknown);
            return;
        }
        let reason = "a name for another variable, which is then set by it";
        self.add_finding(Effect::Code, arg.span, reason);
        self.evaluate_variable_name(&target.map_or_else(|| arg.clone(), |(_, target)| target));
    }

    /// Expands the quoted value of an array, which the shell reads as a list once more.
    fn expand_array_value(&mut self, name: &str, value: &Arg) {
        let (first, last) = (value.text.chars().next(), value.text.chars().next_back());
        let could =
            |c: Option<char>, bracket: char| c.is_some_and(|c| c == bracket || c == UNKNOWN);
        if !could(first, '(') || !could(last, ')') {
            return;
        }
        let text = value.with_text(&format!("{name}={}", value.text));
        match value.inert && !value.is_known() {
            true => self.run_shell_text(
                &text.with_text(&text.text.replace(UNKNOWN, "1")),
                &Input::Unknown,
            ),
            false => self.run_shell_text(&text, &Input::Unknown),
        };
    }
}

/// Returns `true` if a word is an assignment before expansion: `NAME=…`, `NAME[…]+=…`.
fn is_assignment(word: &ShellWord) -> bool {
    let Some(WordPiece::Text {
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
    let sign =
        |piece: &WordPiece| matches!(piece, WordPiece::Text { text, .. } if text.contains('='));
    named && word.pieces.iter().any(sign)
}
