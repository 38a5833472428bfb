//! Secrets of a command: its parts, as the walk recorded them, in, the spans of its secrets out.

use std::collections::HashSet;
use std::ops::Range;

use super::source_text::{CommandText, span};
use crate::model::arg::UNKNOWN;
use crate::model::effect::Crud;
use crate::model::language::Language;
use crate::model::parts::{Part, Parts, Word};
use crate::model::secret_shape::{SecretInput, SecretShape};
use crate::model::secret_span::SecretSpan;
use crate::secrets::names::{FILE_WORDS, LABELS, SETTERS, SecretName};
use crate::secrets::redis::redis_secrets;
use crate::secrets::text::{
    is_value, passwords_of_pgpass, secrets_after_options, secrets_by_context,
};
use crate::secrets::with_formats;

impl Parts {
    /// Returns the secrets of the command, in order and without overlaps. If the interpreter did not
    /// follow the whole command, secrets that only a table would show may be missing.
    #[must_use]
    pub fn secrets(&self) -> Vec<SecretSpan> {
        secret_spans(&self.command, self)
    }
}

fn secret_spans(command: &str, parts: &Parts) -> Vec<SecretSpan> {
    let mut finder = SecretFinder {
        command,
        parts,
        source: CommandText::new(command, parts),
        certain: Vec::new(),
        plain: Vec::new(),
    };
    for at in 0..parts.all.len() {
        finder.add_part(at);
    }
    // A comment is also read as words, and as commands after it.
    let has_comment = parts.all.iter().any(is_comment);
    match parts.is_followed() && !finder.source.is_exhausted() && !has_comment {
        true => finder.add_uncovered_text(),
        // A parser may have read a word otherwise than the shell does.
        false => finder.add_unread_text(0, command),
    }
    let SecretFinder { certain, plain, .. } = finder;
    with_formats(command, certain, &plain)
}

struct SecretFinder<'p> {
    command: &'p str,
    parts: &'p Parts,
    source: CommandText<'p>,
    certain: Vec<Range<usize>>,
    /// Code that may look random: a script in base64.
    plain: Vec<Range<usize>>,
}

impl SecretFinder<'_> {
    fn add_part(&mut self, at: usize) {
        let parts = self.parts;
        let part = &parts.all[at];
        if is_comment(part) {
            return;
        }
        let calls = || part.calls.iter();
        for (word, shape) in calls().flat_map(|call| &call.secret_words) {
            self.add_shape(word, *shape);
        }
        self.plain
            .extend(calls().flat_map(|call| &call.code_words).map(span));
        // Text in the place of a program.
        for name in part.words.iter().take(1) {
            self.add_text(name);
            self.add_options_in(name);
        }
        for (number, word) in part.words.iter().enumerate().skip(1) {
            if !self.is_code_of_others(at, word) {
                self.add_argument(part, number);
            }
        }
        for one in &part.assignments {
            let name = SecretName::new(&one.name);
            let text = one.value.text.as_str();
            match is_value(&name, text) {
                true => self.add(&one.value, 0..text.len()),
                false => {
                    self.add_text(&one.value);
                    self.add_options_in(&one.value);
                }
            }
        }
        let files = part.redirections.iter().map(|file| &file.path);
        for text in files.chain(&part.here_documents) {
            self.add_text(text);
            self.add_options_in(text);
        }
        if calls().any(|call| call.prints_words) {
            self.add_printed_words(part);
        } else if !part.is_understood() {
            self.add_words_by(part, secrets_by_context);
        }
        let mut files = part.redirections.iter();
        if files.any(|file| file.path.text.ends_with(".pgpass")) {
            let printed = part.words.iter().skip(1).chain(&part.here_documents);
            for text in printed {
                for found in passwords_of_pgpass(&text.text) {
                    self.add(text, found);
                }
            }
        }
        let mut scripts = parts
            .scripts
            .iter()
            .filter(|script| script.part == Some(at));
        if scripts.any(|script| script.language == Language::Redis) {
            self.add_words_by(part, redis_secrets);
            for text in &part.here_documents {
                for found in redis_secrets(&text.text) {
                    self.add(text, found);
                }
            }
        }
        if let Some(input) = calls().find_map(|call| call.secret_input) {
            self.add_input(at, input);
        }
        self.add_substituted_files(at);
    }

    /// Adds the secrets of an argument, judged by its own text and by the option before it.
    fn add_argument(&mut self, part: &Part, number: usize) {
        let word = &part.words[number];
        // The table may read the value of an option otherwise than its name suggests.
        match word
            .text
            .split_once('=')
            .filter(|_| word.text.starts_with('-'))
        {
            Some((_, value)) => {
                let start = word.text.len() - value.len();
                for found in secrets_by_context(value) {
                    self.add(word, start + found.start..start + found.end);
                }
            }
            None => self.add_text(word),
        }
        if part.calls.is_empty() && word.text.contains(char::is_whitespace) {
            self.add_options_in(word);
        }
        if let Some((name, value)) = word.text.split_once('=')
            && !name.contains(|c: char| c.is_whitespace() || "?&;,\"'({[<>|!$".contains(c))
        {
            let start = word.text.len() - value.len();
            let is_option = name.starts_with('-');
            let name = SecretName::new(name);
            let value_word = word.with_text(value);
            let is_read = is_option && is_read_by_table(part, &value_word);
            if is_value(&name, value) && !is_read {
                self.add(word, start..word.text.len());
            }
        }
        let before = &part.words[number - 1];
        if number > 1 && self.is_set_by_name(part, number) {
            self.add(word, 0..word.text.len());
            return;
        }
        let Some(name) = (before.text.starts_with('-') && before.known).then_some(&before.text)
        else {
            return;
        };
        if word.text.starts_with('-') {
            return;
        }
        let is_its_value = takes_value(part, name, word);
        let secret_name = SecretName::new(name);
        let is_named = !name.contains('=')
            && is_value(&secret_name, &word.text)
            && is_its_value.unwrap_or_else(|| !secret_name.is_switch());
        if is_named && !is_read_by_table(part, word) {
            self.add(word, 0..word.text.len());
        }
        // `--user NAME:PASSWORD` of a program that has no table.
        let is_user =
            matches!(name.as_str(), "--user" | "--proxy-user") || name.ends_with(['u', 'U']);
        if is_user
            && is_its_value.is_none()
            && let Some((user, password)) = word.text.split_once(':')
            && !password.starts_with("//")
            && !user.contains(['/', '.'])
        {
            self.add(word, user.len() + 1..word.text.len());
        }
    }

    /// Returns `true` if a word is the value of a variable in capitals before it, in a call that sets
    /// one and that no table reads: `set -gx API_KEY x`.
    fn is_set_by_name(&self, part: &Part, number: usize) -> bool {
        let (name, value) = (&part.words[number - 1].text, &part.words[number].text);
        let is_variable = name.contains('_')
            && name
                .bytes()
                .all(|byte| byte == b'_' || byte.is_ascii_uppercase() || byte.is_ascii_digit());
        let sets = |word: &Word| {
            let mut words = word.text.split(|c: char| !c.is_ascii_alphabetic());
            words.any(|word| SETTERS.contains(&word))
        };
        is_variable
            && part.calls.is_empty()
            && part.words[..number - 1].iter().any(sets)
            && !value.starts_with('-')
            && is_value(&SecretName::new(name), value)
    }

    /// Adds the secret of a word that a table describes.
    fn add_shape(&mut self, word: &Word, shape: SecretShape) {
        if shape == SecretShape::Options {
            self.add_options_in(word);
        }
        if let Some(secret) = shape.secret_in(&word.text) {
            self.add(word, secret);
        }
    }

    /// Adds the secrets that a program prints: its words are one text.
    fn add_printed_words(&mut self, part: &Part) {
        for word in part.words.iter().skip(1) {
            // The word after an option in a sentence is no value.
            let is_word = |text: &str| text.bytes().all(|byte| byte.is_ascii_lowercase());
            let found = secrets_after_options(&word.text).into_iter();
            for found in found.filter(|found| !is_word(&word.text[found.clone()])) {
                self.add(word, found);
            }
        }
        self.add_words_by(part, secrets_by_context);
        let operands: Vec<&Word> = part.calls.iter().flat_map(|call| &call.operands).collect();
        // A format that labels its arguments as secrets.
        if let [format, rest @ ..] = operands.as_slice()
            && format.text.contains("%s")
            && labels_a_secret(&format.text)
        {
            rest.iter()
                .for_each(|word| self.add(word, 0..word.text.len()));
        }
        let is_kept = part
            .redirections
            .iter()
            .any(|file| file.effect > Crud::Read && is_file_of_a_secret(&file.path.text));
        if is_kept && let [.., last] = operands.as_slice() {
            let text = last.text.trim_end_matches(['\n', ' ']);
            let text = text.strip_suffix("\\n").unwrap_or(text);
            let start = text.rfind(['\n', ' ']).map(|at| at + 1);
            let start = start.max(text.rfind("\\n").map(|at| at + 2)).unwrap_or(0);
            if !text.contains("://") {
                self.add(last, start..text.len());
            }
        }
    }

    /// Adds the secrets that a function finds in the arguments of a part as one text.
    fn add_words_by(&mut self, part: &Part, find: fn(&str) -> Vec<Range<usize>>) {
        // The name of an unknown program may be text, too.
        let first = usize::from(!part.calls.is_empty()).min(part.words.len());
        let words = &part.words[first..];
        let mut joined = String::new();
        let mut places = Vec::new();
        for word in words {
            let start = joined.len();
            joined.push_str(&word.text);
            places.push((start..joined.len(), word));
            joined.push(' ');
        }
        for found in find(&joined) {
            for (place, word) in &places {
                let start = found.start.max(place.start);
                let end = found.end.min(place.end);
                if start < end {
                    self.add(word, start - place.start..end - place.start);
                }
            }
        }
    }

    /// Adds the secrets that a program reads from its standard input.
    fn add_input(&mut self, at: usize, input: SecretInput) {
        let parts = self.parts;
        let Some(text) = &parts.all[at].input else {
            return;
        };
        let Some(text) = text else {
            // The output of a command that prints its words, with more before or after it.
            for part in parts.all[at]
                .fed_by
                .iter()
                .flat_map(|source| &parts.all[source.clone()])
            {
                for word in printed_operands(part) {
                    self.add(word, 0..word.text.trim_end_matches("\\n").len());
                }
            }
            return;
        };
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let secrets: Vec<&str> = match input {
            SecretInput::Lines => lines.collect(),
            SecretInput::FirstLine => lines.take(1).collect(),
            SecretInput::Accounts => lines
                .filter_map(|line| line.split_once(':').map(|(_, secret)| secret))
                .collect(),
            SecretInput::Logins => lines
                .filter_map(|line| {
                    let mut words = line.split_whitespace().filter(|word| *word != "quote");
                    let command = words.next()?;
                    match command.eq_ignore_ascii_case("user") {
                        true => words.nth(1),
                        false => words
                            .next()
                            .filter(|_| command.eq_ignore_ascii_case("PASS")),
                    }
                })
                .collect(),
        };
        for secret in secrets {
            // Several words of one line: `echo correct horse`.
            let pieces: HashSet<&str> = secret.split([' ', UNKNOWN]).collect();
            for (number, part) in parts.all.iter().enumerate() {
                let prints = number < at && part.calls.iter().any(|call| call.prints_words);
                let words = part.words.iter().skip(1).filter(|_| prints);
                let texts = part.here_documents.iter().filter(|_| number <= at);
                for word in words.chain(texts) {
                    if pieces.contains(word.text.as_str()) {
                        self.add(word, 0..word.text.len());
                        continue;
                    }
                    for (start, _) in word.text.match_indices(secret) {
                        if is_delimited(&word.text, start, start + secret.len()) {
                            self.add(word, start..start + secret.len());
                        }
                    }
                }
            }
        }
    }

    /// Adds the output of substitutions that a program reads as the file of a secret:
    /// `--password-file <(echo x)`.
    fn add_substituted_files(&mut self, at: usize) {
        let parts = self.parts;
        let part = &parts.all[at];
        for (number, word) in part.words.iter().enumerate().skip(1) {
            let before = &part.words[number - 1].text;
            let is_command = word.text.contains(char::is_whitespace)
                && SecretName::new(before).names_a_secret_of_a_program();
            if !(is_command || word.text.contains("/dev/fd/")) {
                continue;
            }
            let near = part.words[number.saturating_sub(2)..=number].iter();
            let mut labels = near
                .map(|word| &word.text)
                .chain(part.calls.iter().flat_map(|call| &call.path));
            if !labels.any(|text| labels_a_secret(text)) {
                continue;
            }
            for other in &parts.all {
                let is_inside = word.start <= other.start && other.end <= word.end;
                if is_inside && other.parent == Some(at) {
                    for word in printed_operands(other) {
                        self.add(word, 0..word.text.len());
                    }
                }
            }
        }
    }

    /// Adds the secrets of text that is no word of a command: comments, functions that are not
    /// called, conditions.
    fn add_uncovered_text(&mut self) {
        let mut covered: Vec<Range<usize>> = Vec::new();
        for part in self.parts.all.iter().filter(|part| !is_comment(part)) {
            let values = part.assignments.iter().map(|one| &one.value);
            let files = part.redirections.iter().map(|file| &file.path);
            let words = part.words.iter().chain(&part.here_documents);
            covered.extend(words.chain(values).chain(files).map(span));
        }
        covered.sort_by_key(|range| range.start);
        covered.push(self.command.len()..self.command.len());
        let mut at = 0;
        for range in covered {
            if let Some(text) = self.command.get(at..range.start) {
                self.add_unread_text(at, text);
            }
            at = at.max(range.end);
        }
    }

    /// Adds the secrets of a part of the command that no parser has read.
    fn add_unread_text(&mut self, start: usize, text: &str) {
        let found = secrets_by_context(text).into_iter();
        for found in found.chain(secrets_after_options(text)) {
            self.certain.push(start + found.start..start + found.end);
        }
    }

    /// Adds the secrets that follow options in the text of a word.
    fn add_options_in(&mut self, word: &Word) {
        for found in secrets_after_options(&word.text) {
            self.add(word, found);
        }
    }

    /// Adds the secrets of a word that its own text shows.
    fn add_text(&mut self, word: &Word) {
        for found in secrets_by_context(&word.text) {
            self.add(word, found);
        }
    }

    /// Adds a range of the text of a word.
    fn add(&mut self, word: &Word, range: Range<usize>) {
        let text = &word.text[range.clone()];
        let trimmed = text.trim_start_matches(['"', '\'', '\\']);
        let start = range.start + text.len() - trimmed.len();
        let end = match start > range.start {
            true => start + trimmed.trim_end_matches(['"', '\'', '\\']).len(),
            false => range.end,
        };
        let secret = &word.text[start..end.max(start)];
        if secret.chars().all(|c| c == UNKNOWN || c.is_whitespace()) {
            return;
        }
        let ranges = self.source.ranges(word, start..end.max(start));
        // The text between two expansions is a sign: `$USER:$PASSWORD`.
        let is_known = !secret.contains(UNKNOWN);
        let has_letters = |range: &Range<usize>| {
            self.command[range.clone()].contains(|c: char| c.is_alphanumeric())
        };
        let ranges = ranges
            .into_iter()
            .filter(|range| is_known || has_letters(range));
        self.certain.extend(ranges);
    }

    /// Returns `true` if a word is the text of other parts, which have its secrets: the text of
    /// `sh -c`, the command of a wrapper.
    fn is_code_of_others(&self, at: usize, word: &Word) -> bool {
        let is_script = |text: &str| {
            let mut scripts = self.parts.scripts.iter();
            scripts.any(|script| script.part == Some(at) && script.text == text)
        };
        !is_script(&word.text)
            && self.parts.all.iter().skip(at + 1).any(|part| {
                part.parent == Some(at)
                    && !part.words.is_empty()
                    && part.start <= word.start
                    && word.end <= part.end
            })
    }
}

/// Returns the operands that a part prints, without the format of others.
fn printed_operands(part: &Part) -> impl Iterator<Item = &Word> {
    let calls = part.calls.iter().filter(|call| call.prints_words);
    calls.flat_map(|call| {
        let is_format = call.operands.len() > 1 && call.operands[0].text.contains("%s");
        call.operands.iter().skip(usize::from(is_format))
    })
}

/// Returns `true` for a comment that an interactive shell reads as words.
fn is_comment(part: &Part) -> bool {
    part.words.first().is_some_and(|name| name.text == "#")
}

/// Returns `true` if the table reads a word as a file, a program, a secret or the name of a secret, so
/// that the name of its option does not count.
fn is_read_by_table(part: &Part, word: &Word) -> bool {
    let is_same = |other: &Word| {
        other.text == word.text && other.start == word.start && other.end == word.end
    };
    part.calls.iter().any(|call| {
        let marked = call.secret_words.iter().filter(|(other, shape)| {
            *shape == SecretShape::Name || shape.secret_in(&other.text).is_some()
        });
        let mut words = call
            .plain_values
            .iter()
            .chain(marked.map(|(other, _)| other));
        words.any(is_same)
    })
}

/// Returns whether a word is the value of the option before it, or `None` if no table knows the
/// option.
fn takes_value(part: &Part, name: &str, word: &Word) -> Option<bool> {
    let call = part.calls.last()?;
    let mut known = false;
    // A program without a style of options, or an option that the table has as `--*`.
    let is_operand = call.operands.iter().any(|operand| operand.text == name);
    if is_operand || call.options.iter().any(|(option, _)| option.ends_with('*')) {
        return None;
    }
    for (option, value) in &call.options {
        let is_option = option == name || name.starts_with("--") && option.starts_with(name);
        if is_option && value.as_ref().is_some_and(|value| value.text == word.text) {
            return Some(true);
        }
        known |= is_option;
    }
    (known || call.understood).then_some(false)
}

/// Returns `true` if a text has a word for secrets.
fn labels_a_secret(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    LABELS.iter().any(|word| lower.contains(word))
}

/// Returns `true` for the name of a file whose content is a secret: `password.txt`.
fn is_file_of_a_secret(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    ["", ".txt", ".key", "_file", "-file", ".file"]
        .iter()
        .any(|end| {
            let stem = name.strip_suffix(end);
            let word = stem.and_then(|stem| stem.rsplit(|c: char| !c.is_alphanumeric()).next());
            word.is_some_and(|word| FILE_WORDS.contains(&word))
        })
}

/// Returns `true` if no letter or digit surrounds a range.
fn is_delimited(text: &str, start: usize, end: usize) -> bool {
    let before = text[..start].chars().next_back();
    let behind = text[end..].chars().next();
    // `\n` in a format
    let is_escape = before == Some('n') && text[..start].ends_with("\\n");
    (is_escape || !before.is_some_and(char::is_alphanumeric))
        && !behind.is_some_and(char::is_alphanumeric)
}
