//! Arithmetic: an expression or the name of a variable in, the code in it out.
//!
//! In an expression, the value of a variable is an expression in its turn, and a subscript in it is
//! expanded: `x='a[$(cmd)]'; echo $((x))` runs `cmd`. This also applies to a subscript in a word
//! that names a variable: `read "$x"`, `[[ -v $x ]]`, `${!x}`. So an unknown value must be a
//! number, or be confirmed.

use super::interpreter::Interpreter;
use crate::model::arg::{Arg, UNKNOWN};
use crate::model::effect::Effect;
use crate::model::environment::INTEGER_VARIABLES;
use crate::model::io::Input;
use crate::model::span::Span;
use crate::model::unseen_code::UnseenCode;
use crate::model::value::Value;

impl Interpreter<'_> {
    /// Evaluates an expression.
    pub(crate) fn evaluate_expression(&mut self, expression: &Arg) {
        let span = expression.span;
        self.run_subscript(expression);
        self.set_assigned_variables(&expression.text, span);
        // A division by zero ends the list.
        self.shell.environment.may_have_ended |= may_divide_by_zero(&expression.text);
        self.run_stored_subscripts(span);
        if !expression.is_known() && !expression.inert {
            self.add_unseen_code(
                span,
                UnseenCode::Expression,
                "the shell evaluates an expression that is only known when it runs, and runs code in it",
            );
        }
        if let Some(name) = self.shell.unknown_operand(&expression.text) {
            self.add_unseen_code(
                span,
                UnseenCode::Expression,
                format!(
                    "the shell computes `{name}`, whose value is only known when it runs, and \
                     runs what stands in it"
                ),
            );
        }
    }

    /// Evaluates the substitution in the subscript of a word, if there is one.
    pub(crate) fn run_subscript(&mut self, word: &Arg) {
        let text = word.text.as_str();
        let Some(at) = text.find("$(").or_else(|| text.find('`')) else {
            return;
        };
        let reason = "the shell computes this, and runs code in it";
        self.add_finding(Effect::Code, word.span, reason);
        let inner = text[at..].trim_start_matches(['$', '(', '`']);
        let inner = inner.split([')', '`']).next().unwrap_or(inner);
        if !inner.is_empty() {
            self.run_shell_text(&word.with_text(inner), &Input::Unknown);
        }
    }

    /// Evaluates the subscript in a word that names a variable.
    pub(crate) fn evaluate_variable_name(&mut self, word: &Arg) {
        self.run_subscript(word);
        let (name, index) = word.text.split_once('[').unwrap_or((&word.text, ""));
        if name.contains(UNKNOWN) {
            self.add_unseen_code(
                word.span,
                UnseenCode::Expression,
                "which variable this is is only known when it runs, and an index in it runs code",
            );
        }
        if !index.is_empty() {
            self.evaluate_expression(&word.with_text(index));
        }
    }

    /// Sets the variables that an expression assigns.
    fn set_assigned_variables(&mut self, expression: &str, span: Span) {
        for (at, _) in expression.match_indices('=') {
            let (before, after) = (&expression[..at], &expression[at + 1..]);
            if after.starts_with('=') || before.ends_with(['=', '!']) {
                continue;
            }
            let before = before.trim_end_matches(|c: char| "+-*/%&|^<> ".contains(c));
            let name = before
                .rsplit(|c: char| !(c.is_alphanumeric() || c == '_'))
                .next()
                .unwrap_or("");
            if !name.is_empty() {
                self.check_variable(name, &Arg::unknown(span));
                self.shell.environment.set(name, Value::Inert);
            }
        }
    }

    /// Evaluates the subscripts in the values of all variables: their code runs in any expression.
    pub(crate) fn run_stored_subscripts(&mut self, span: Span) {
        for value in self.shell.values_with_subscript_code() {
            self.run_subscript(&Arg::new(value, span));
        }
    }

    /// Evaluates a value that is assigned to a variable, if the variable is an integer.
    pub(crate) fn evaluate_if_integer(&mut self, name: &str, value: &Arg) {
        let name = name.split(['+', '[']).next().unwrap_or(name);
        let names = self.shell.environment.nameref_targets(name);
        let computed = |name: &String| {
            self.shell.environment.integer_variables.contains(name)
                || INTEGER_VARIABLES.contains(&name.as_str())
        };
        if names.iter().any(computed) {
            self.evaluate_expression(value);
        }
    }

    /// Sets a variable that a builtin fills with values of this kind.
    pub(crate) fn fill_variable(&mut self, name: &Arg, value: &Arg) {
        self.evaluate_variable_name(name);
        self.check_variable(&name.text, &Arg::unknown(name.span));
        self.evaluate_if_integer(&name.text, value);
        let plain = name.text.split('[').next().unwrap_or("");
        // `read -a` and `mapfile` make the variable an array.
        self.shell.environment.arrays.insert(plain.to_owned());
        self.shell.environment.set_unknown(plain);
    }
}

/// Returns `true` if an expression divides by something that may be zero.
fn may_divide_by_zero(expression: &str) -> bool {
    let mut signs = expression.match_indices(['/', '%']);
    signs.any(|(at, _)| {
        let divisor = expression[at + 1..].trim_start();
        !divisor.starts_with(|c: char| ('1'..='9').contains(&c))
    })
}
