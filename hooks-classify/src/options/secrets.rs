//! Secrets among the words of a call: a call in, the words that its table reads as secrets or as
//! names of secrets out.

use super::call::Call;
use super::roles::assign;
use crate::model::arg::Arg;
use crate::model::secret_shape::{SecretInput, SecretShape};
use crate::secrets::names::SecretName;
use crate::tables::{SecretRule, matches};

/// A word of a call, with the part of it that is a secret.
#[derive(Debug)]
pub(crate) struct SecretWord {
    pub(crate) arg: Arg,
    pub(crate) shape: SecretShape,
}

impl Call {
    /// Returns the operands and the values of options that the table marks as
    /// secrets, or as names of secrets.
    pub(crate) fn secret_words(&self) -> Vec<SecretWord> {
        let mut words = Vec::new();
        let rule = self.secret_rule(|rule| !rule.options.is_empty());
        let named = rule.map_or(&[][..], |rule| rule.options);
        for opt in &self.options {
            let shape = match named.contains(&opt.name.as_str()) {
                true => SecretShape::Whole,
                false => opt.spec.secret,
            };
            if let (Some(arg), true) = (&opt.value, shape != SecretShape::Unstated) {
                let arg = arg.clone();
                words.push(SecretWord { arg, shape });
            }
        }
        let joined = self.secret_rule(|rule| !rule.joined.is_empty());
        for arg in joined.iter().flat_map(|_| &self.args) {
            let letters = joined.iter().flat_map(|rule| rule.joined);
            let is_known = self.options.iter().any(|opt| opt.name == arg.text);
            let value = letters
                .filter_map(|letters| arg.text.strip_prefix(letters))
                .next();
            if let Some(value) = value.filter(|value| !is_known && !value.is_empty()) {
                let arg = arg.with_text(value);
                words.push(SecretWord {
                    arg,
                    shape: SecretShape::Whole,
                });
            }
        }
        if let Some(rule) = self.secret_rule(|rule| !rule.operands.is_empty()) {
            let operands: Vec<usize> = (0..self.operands.len()).collect();
            let (assigned, _) = assign(rule.operands, operands, |_| false);
            for (shape, places) in assigned {
                for at in places {
                    let arg = &self.operands[at].arg;
                    let before = at.checked_sub(1).map(|at| &self.operands[at].arg.text);
                    let shape = match shape {
                        SecretShape::OfName
                            if !before.is_some_and(|name| SecretName::new(name).is_secret()) =>
                        {
                            SecretShape::Unstated
                        }
                        SecretShape::OfName => SecretShape::Whole,
                        shape => shape,
                    };
                    if shape != SecretShape::Unstated {
                        let arg = arg.clone();
                        words.push(SecretWord { arg, shape });
                    }
                }
            }
        }
        words
    }

    /// Returns what of its standard input the program reads as secrets.
    pub(crate) fn secret_input(&self) -> Option<SecretInput> {
        self.secret_rule(|rule| rule.stdin.is_some())?.stdin
    }

    /// Returns the first rule that applies to the call and that `fits`.
    fn secret_rule(&self, fits: impl Fn(&SecretRule) -> bool) -> Option<&'static SecretRule> {
        let has = |option: &&str| {
            self.options.iter().any(|opt| {
                let (name, value) = match option.split_once('=') {
                    Some((name, value)) => (name, Some(value)),
                    None => (*option, None),
                };
                let stated = opt.value.as_ref().map(|arg| arg.text.as_str());
                opt.name == name
                    && value.is_none_or(|value| stated.is_some_and(|stated| matches(value, stated)))
            })
        };
        let rules = self.program.details.secrets.iter();
        let mut rules = rules.filter(|rule| fits(rule));
        rules.find(|rule| rule.on.is_empty() || rule.on.iter().any(has))
    }
}
