//! Parameters: an expansion such as `${name:-word}` in, the characters of its value out.

use super::expanded_word::ExpandedWord;
use super::interpreter::Interpreter;
use super::state::Binding;
use crate::model::arg::{Arg, UNKNOWN, may_compute};
use crate::model::effect::Effect;
use crate::model::possible_path::PossiblePath;
use crate::model::script::{DefaultWord, ParameterOperator, ShellWord, WordPiece};
use crate::model::shells::Shells;
use crate::model::span::Span;
use crate::model::value::{Value, is_numeric, possible_address};
use crate::model::variable_name::is_numeric_parameter;

impl Interpreter<'_> {
    pub(crate) fn expand_parameter(
        &mut self,
        name: &str,
        change: &ParameterOperator,
        quoted: bool,
        out: &mut ExpandedWord,
    ) {
        if is_numeric_parameter(name) {
            self.sink.recorder.record_substitution();
            if *change == ParameterOperator::None {
                out.push_unknown_number(quoted);
                return;
            }
        }
        if (name == "@" || (name == "*" && !quoted))
            && *change == ParameterOperator::None
            && let Some(args) = self.shell.environment.positional.clone()
        {
            for (at, arg) in args.iter().enumerate() {
                if at > 0 {
                    out.push(" ", false, true);
                }
                match arg.has_guessed_number || arg.overridden.is_some() {
                    true => out.push_unknown(true),
                    false => out.push_value(&arg.text, quoted, true, arg.inert),
                }
            }
            if args.iter().any(|arg| !arg.is_known()) {
                self.shell.add_pipeline_paths_of("@");
            }
            return;
        }
        let address = match self.shell.environment.variables.get(name) {
            Some(Value::Address(address)) => match change {
                ParameterOperator::None => Some(address.clone()),
                ParameterOperator::Length(_) | ParameterOperator::Indirect(_) => None,
                _ => Some(possible_address(address)),
            },
            _ => None,
        };
        let mut known = self.shell.known_variable(name);
        let mut inert = self.shell.is_inert(name);
        let mut replaces_number = !matches!(
            change,
            ParameterOperator::None | ParameterOperator::Length(_) | ParameterOperator::Other(_)
        );
        if let ParameterOperator::Length(inner) | ParameterOperator::Indirect(inner) = change {
            let mut operator = ExpandedWord::default();
            self.expand_pieces(inner, &mut operator);
            let operation = operator.text();
            let list = matches!(operation.as_str(), "[@]" | "[*]");
            let keyed = self.shell.environment.associative_arrays.contains(name);
            let operation = Arg {
                inert: operator.is_inert(),
                ..Arg::new(operation, self.cursor.span_map.map(inner.span))
            };
            if operation.text.starts_with('[') && !list {
                self.evaluate_subscript(&operation, keyed);
            }
            inert = matches!(change, ParameterOperator::Length(_)) || (list && !keyed);
            let names = list || matches!(operation.text.as_str(), "@" | "*");
            if matches!(change, ParameterOperator::Indirect(_)) && !names {
                self.evaluate_indirect_name(name, known.as_deref(), operation.span);
                if let Some(named) = &known {
                    self.shell.add_pipeline_paths_of(named);
                }
                // `${!#}` is the last parameter.
                if name == "#" {
                    self.shell.add_pipeline_paths_of("@");
                    self.add_secret_values("@", None);
                }
                self.evaluate_transformation(name, &operation.text, None, operation.span);
            }
            known = None;
        }
        if let ParameterOperator::Other(inner) = change {
            let mut operator = ExpandedWord::default();
            self.expand_pieces(inner, &mut operator);
            let operator = operator.without_guessed_numbers();
            let operation = operator.text();
            let after_subscript = match operation.strip_prefix('[') {
                Some(rest) => rest.split_once(']').map_or("", |(_, after)| after),
                None => &operation,
            };
            inert &= operator.is_inert()
                && known.as_deref().is_none_or(is_numeric)
                && !may_compute(after_subscript);
            let list = matches!(operation.as_str(), "[@]" | "[*]");
            replaces_number = replacement(after_subscript).is_some();
            if let Some(word) = replacement(after_subscript) {
                self.note_value(word);
            }
            let changed = match list {
                // Each of the parameters is changed.
                _ if matches!(name, "@" | "*") => None,
                true => self
                    .shell
                    .environment
                    .variables
                    .get(name)
                    .and_then(Value::list)
                    .map(str::to_owned),
                // An empty pattern, which some shells find before the first character: `${x/''/word}`.
                false if operation.starts_with("//") && !begins_with(inner, "//") => None,
                false => known
                    .as_deref()
                    .and_then(|value| apply_operator(value, &operation)),
            };
            // Shells evaluate subscripts and offsets.
            let offset = operation
                .strip_prefix(':')
                .is_some_and(|rest| !rest.starts_with(['+', '?', '-', '=']));
            let operation = Arg {
                inert: operator.is_inert(),
                ..Arg::new(operation, self.cursor.span_map.map(inner.span))
            };
            if operation.text.starts_with('[') && !list {
                self.evaluate_subscript(
                    &operation,
                    self.shell.environment.associative_arrays.contains(name),
                );
            } else if offset {
                self.evaluate_expression(&operation);
            }
            let operation = operation.text;
            if changed.is_none() {
                let options = &self.shell.environment.options;
                if operation.starts_with('/') {
                    options.note_all_ends(&operation);
                }
                options.note_cut(known.as_deref());
                self.add_secret_values(name, known.as_deref());
            }
            self.evaluate_transformation(
                name,
                &operation,
                known.as_deref(),
                self.cursor.span_map.map(inner.span),
            );
            if operation.starts_with('[')
                && let Some((_, rest)) = operation.split_once(']')
                && let Some(value) = rest.trim_start_matches(':').strip_prefix('=')
            {
                let value = Arg::new(value, self.cursor.span_map.map(inner.span));
                self.check_variable(&format!("{name}["), &value);
                self.evaluate_if_integer(name, &value);
            }
            if list && let Some(words) = changed {
                out.push(&words, false, true);
                return;
            }
            known = changed;
        }
        let mut default_prefix = None;
        let mut is_default = false;
        if let ParameterOperator::Default(default) | ParameterOperator::Assign(default) = change {
            let DefaultWord {
                word: inner,
                replaces_empty,
            } = default;
            let mut word = ExpandedWord::default();
            self.expand_pieces(inner, &mut word);
            let text = word.text();
            self.note_value(&text);
            let assigns = matches!(change, ParameterOperator::Assign(_));
            let binding = self.shell.binding(name);
            let replaces = match (binding, known.as_deref()) {
                (Binding::Unset | Binding::Inherited, _) => Some(true),
                (Binding::Set, Some(_)) if !replaces_empty => Some(false),
                (Binding::Set, Some("")) => Some(true),
                // Some shells take several empty parameters for an empty value.
                (Binding::Set, Some(value))
                    if matches!(name, "@" | "*") && value.trim().is_empty() =>
                {
                    None
                }
                (Binding::Set, Some(value)) if !value.contains(UNKNOWN) => Some(false),
                (Binding::Set | Binding::Unclear, _) => None,
            };
            if assigns && replaces != Some(false) {
                let value = Arg {
                    inert: word.is_inert(),
                    ..Arg::new(text.clone(), self.cursor.span_map.map(inner.span))
                };
                self.check_variable(name, &value);
                self.evaluate_if_integer(name, &value);
                self.add_secret_paths(name, &value);
                let inert = inert && word.is_inert() && !may_compute(&text);
                let value = if inert { Value::Inert } else { Value::Unknown };
                self.shell.environment.set(name, value);
            }
            match replaces {
                Some(true) => {
                    let may_differ = binding == Binding::Inherited;
                    is_default = may_differ || word.chars.iter().any(|ch| ch.is_default);
                    let reshapes =
                        assigns && self.shell.environment.formatted_variables.contains(name);
                    inert &= word.is_inert() && !(assigns && may_compute(&text));
                    default_prefix = word.path_of_only_prefix(&text);
                    known = Some(text).filter(|text| !(reshapes || may_differ && text.is_empty()));
                }
                Some(false) => {}
                None => {
                    inert &= word.is_inert() && !may_compute(&text);
                    known = None;
                }
            }
        }
        if let ParameterOperator::Disputed(inner) = change {
            let span = self.cursor.span_map.map(inner.span);
            self.expand_unsplit(inner);
            self.add_finding(
                Effect::Unknown,
                span,
                "shells end this expansion at different quotes",
            );
            self.shell.environment.set_unknown(name);
            (known, inert) = (None, false);
        }
        if name == "IFS" && known.is_none() && !self.shell.environment.variables.contains_key("IFS")
        {
            known = Some(" \t\n".to_owned());
        }
        // If the text changes `IFS`, the words of the value are unknown.
        let splits = !quoted && self.shell.environment.variables.contains_key("IFS");
        if splits {
            self.shell.environment.options.note_cut(known.as_deref());
        }
        // Some shells expand braces after variables.
        let braces = !quoted
            && self
                .cursor
                .shells
                .intersects(Shells::BRACES_AFTER_VARIABLES)
            && known.as_deref().is_some_and(|value| {
                value.contains('{') || value.contains([',', '.', '}']) && out.has_open_brace()
            });
        if braces {
            let options = &self.shell.environment.options;
            options.note_all_ends(known.as_deref().unwrap_or_default());
            known = None;
        }
        match known {
            Some(text) if !splits || !text.contains(|c: char| !c.is_alphanumeric()) => {
                if text.contains(UNKNOWN) {
                    self.shell.add_pipeline_paths_of(name);
                }
                if out.may_start_path() {
                    out.prefix_start = out.chars.len();
                    out.path_of_prefix = default_prefix;
                }
                match is_default {
                    true => out.push_default(&text, quoted, inert),
                    false => out.push_value(&text, quoted, true, inert),
                }
            }
            _ => {
                self.shell.add_pipeline_paths_of(name);
                // A number is one word.
                let number = !replaces_number
                    && (is_numeric_parameter(name)
                        || matches!(change, ParameterOperator::Other(_)) && name == "#"
                        || matches!(change, ParameterOperator::Length(_)));
                out.may_split |= (!quoted && !number) || name == "@";
                if out.may_start_path()
                    && matches!(
                        change,
                        ParameterOperator::None | ParameterOperator::Default(_)
                    )
                {
                    let tables = self.tables;
                    let own_path = self
                        .shell
                        .environment
                        .variable_paths
                        .get(name)
                        .map(String::as_str);
                    let set = self.shell.environment.variables.contains_key(name);
                    let known =
                        own_path.or_else(|| tables.default_path_of_variable(name).filter(|_| !set));
                    out.prefix_start = out.chars.len();
                    out.path_of_prefix = known.map(str::to_owned);
                }
                match address.filter(|_| !splits) {
                    Some(address) => out.push_address(&address, quoted),
                    None => out.push_unknown(inert || number),
                }
            }
        }
    }

    /// Records a text that may replace a value: it may be an option, or name a secret.
    fn note_value(&mut self, text: &str) {
        self.shell.environment.options.note(text);
        self.add_secret_value(text);
    }

    fn add_secret_value(&mut self, text: &str) {
        if self.tables.may_read_secrets(text) {
            self.shell.paths_in_pipeline.push(PossiblePath {
                path: text.to_owned(),
                secret: true,
            });
        }
    }

    /// Records the secrets that a changed value names: a change may leave the path as it is.
    fn add_secret_values(&mut self, name: &str, value: Option<&str>) {
        let words = self.shell.environment.positional.iter().flatten();
        let words: Vec<String> = match name {
            "@" | "*" => words.map(|word| word.path().to_owned()).collect(),
            _ => value.into_iter().map(str::to_owned).collect(),
        };
        for word in words {
            self.add_secret_value(&word);
        }
    }

    /// Evaluates a subscript. The subscript of an associative array is not evaluated, but some
    /// shells expand it once more.
    pub(crate) fn evaluate_subscript(&mut self, subscript: &Arg, keyed: bool) {
        self.run_subscript(subscript);
        self.run_stored_subscripts(subscript.span);
        if !keyed {
            self.evaluate_expression(subscript);
        }
    }

    /// Evaluates `${name@P}`, which runs the substitutions in the value.
    fn evaluate_transformation(
        &mut self,
        name: &str,
        operation: &str,
        known: Option<&str>,
        span: Span,
    ) {
        if operation.ends_with("@P") {
            self.add_finding(
                Effect::Code,
                span,
                "expands a value as a prompt, and runs code in it",
            );
        }
        if operation.starts_with('@')
            && name != "@"
            && let Some(known) = known
        {
            self.run_subscript(&Arg::new(known, span));
        }
    }

    /// Evaluates the subscript in the name that `${!name}` refers to.
    fn evaluate_indirect_name(&mut self, name: &str, known: Option<&str>, span: Span) {
        let is_number = matches!(name, "#" | "OPTIND")
            || self.shell.environment.variables.get(name) == Some(&Value::Inert);
        match known {
            _ if is_number => {}
            Some(known) => self.evaluate_variable_name(&Arg::new(known, span)),
            None => self.evaluate_variable_name(&Arg::unknown(span)),
        }
    }
}

/// Returns the word that replaces a value: `+word`, `:-word`.
fn replacement(operation: &str) -> Option<&str> {
    let operation = operation.strip_prefix(':').unwrap_or(operation);
    operation.strip_prefix(['+', '-', '=', '?'])
}

/// Returns `true` if a word begins with this text, without empty quotes or a variable in it.
fn begins_with(word: &ShellWord, text: &str) -> bool {
    matches!(
        word.pieces.first(),
        Some(WordPiece::Text { text: first, .. }) if first.starts_with(text)
    )
}

/// Returns the result of a simple operator on a known value.
fn apply_operator(value: &str, operation: &str) -> Option<String> {
    let characters: Vec<char> = value.chars().collect();
    match operation {
        ",," => return Some(value.to_lowercase()),
        "^^" => return Some(value.to_uppercase()),
        _ => {}
    }
    if let Some(rest) = operation.strip_prefix("//") {
        let (from, to) = rest.split_once('/').unwrap_or((rest, ""));
        return is_literal(from).then(|| value.replace(from, to));
    }
    if let Some(rest) = operation.strip_prefix('/') {
        let (from, to) = rest.split_once('/').unwrap_or((rest, ""));
        return is_literal(from).then(|| value.replacen(from, to, 1));
    }
    if let Some(rest) = operation.strip_prefix(':') {
        let (from, length) = match rest.split_once(':') {
            Some((from, length)) => (from, Some(length.trim().parse::<usize>().ok()?)),
            None => (rest, None),
        };
        let from = from.trim().parse::<usize>().ok()?.min(characters.len());
        let to = length.map_or(characters.len(), |length| {
            (from + length).min(characters.len())
        });
        return Some(characters[from..to].iter().collect());
    }
    for (mark, end) in [("%", true), ("#", false)] {
        if let Some(rest) = operation.strip_prefix(mark)
            && is_literal(rest)
        {
            let cut = if end {
                value.strip_suffix(rest)
            } else {
                value.strip_prefix(rest)
            };
            return Some(cut.unwrap_or(value).to_owned());
        }
    }
    None
}

fn is_literal(pattern: &str) -> bool {
    !pattern.is_empty()
        && pattern
            .chars()
            .all(|c| c.is_alphanumeric() || "._-+ ".contains(c))
}
