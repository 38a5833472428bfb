//! Masking of secrets. Takes a command; returns the command without its secrets.
//!
//! For a model, masking is generous: the model cannot lower a class, and hidden text only keeps it
//! from raising one. In the audit trail a person has to see what was run, so e-mail addresses are
//! kept, and so are hexadecimal numbers, which are mostly commits and digests. Text beside a secret
//! that a shell would run is always kept.

#[cfg(test)]
mod cases;
mod hidden;
mod precondition;
mod programs;
mod rule;
mod rules;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod runs;
mod shell;
mod sql;
#[cfg(test)]
mod tests;
mod tokens;

use std::cell::LazyCell;
use std::cmp::Reverse;
use std::ops::Range;

use self::hidden::{Hidden, HiddenKind, MaskReader};
use self::precondition::PreparedText;
use self::programs::PasswordReader;
use self::rule::FalsePositiveRisk;
use self::rules::{DIGESTS, NAMES_OF_ENTRIES, RULES, begins_with_a_name};
use self::shell::CommandBoundaries;
use self::tokens::TOKENS;

/// Minimum length of a secret that is replaced in other texts, and in commands. Shorter secrets
/// would remove letters from unrelated words of a text, or words that determine what a command
/// does.
const MIN_SECRET: usize = 3;
const MIN_SECRET_IN_COMMAND: usize = 6;

/// Minimum length of a text that looks random.
const MIN_RANDOM: usize = 20;

/// A command with masked secrets.
#[derive(Debug)]
pub(crate) struct Masked {
    /// The command to show.
    pub(crate) text: String,
    /// Masked secrets, longest first.
    secrets: Vec<(String, HiddenKind)>,
    reader: MaskReader,
    #[cfg(any(feature = "sqlite", feature = "postgres"))]
    hides_code: bool,
}

impl Masked {
    /// Masks a command for a model on another machine.
    pub(crate) fn for_model(command: &str) -> Self {
        Self::new(
            command,
            MaskReader::Model,
            hidden(command, MaskReader::Model),
        )
    }

    /// Masks a command for storage. Text that determines which programs run is never masked.
    #[cfg(any(feature = "sqlite", feature = "postgres"))]
    pub(crate) fn for_storage(command: &str) -> Self {
        let mut ranges = hidden(command, MaskReader::Trail);
        let hides_code = runs::reveal(command, &mut ranges);
        Self {
            hides_code,
            ..Self::new(command, MaskReader::Trail, ranges)
        }
    }

    fn new(command: &str, reader: MaskReader, ranges: Vec<Hidden>) -> Self {
        Self {
            text: replace_ranges(command, &ranges),
            secrets: secrets(command, &ranges),
            reader,
            #[cfg(any(feature = "sqlite", feature = "postgres"))]
            hides_code: false,
        }
    }

    /// Returns `true` if a masked text may run as code, so that the rest does not show everything
    /// that runs.
    #[cfg(any(feature = "sqlite", feature = "postgres"))]
    pub(crate) fn hides_code(&self) -> bool {
        self.hides_code
    }

    /// Masks a text about the command, which may quote a secret without its recognisable context.
    pub(crate) fn other(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (secret, kind) in &self.secrets {
            if secret.chars().count() >= MIN_SECRET && text.contains(secret.as_str()) {
                text = text.replace(secret.as_str(), &kind.label(secret));
            }
        }
        replace_ranges(
            &text,
            &ranges(&text, self.reader, &CommandBoundaries::default()),
        )
    }
}

/// Returns `true` if a command contains a secret that the trail would not store.
pub(crate) fn has_secret(command: &str) -> bool {
    !hidden(command, MaskReader::Trail).is_empty()
}

/// Masks a text that is not a command, such as a note.
#[cfg(any(feature = "sqlite", feature = "postgres"))]
pub(crate) fn note(text: &str) -> String {
    replace_ranges(
        text,
        &ranges(text, MaskReader::Trail, &CommandBoundaries::default()),
    )
}

/// Masks a text that is not a command and returns its lines: a secret of several lines leaves a mark
/// on each of them.
#[cfg(any(feature = "sqlite", feature = "postgres"))]
pub(crate) fn lines(text: &str) -> Vec<String> {
    let ranges = ranges(text, MaskReader::Trail, &CommandBoundaries::default());
    let mut pieces: Vec<Hidden> = Vec::new();
    for (range, kind) in ranges {
        let mut start = range.start;
        for line in text[range].split('\n') {
            let end = start + line.len();
            if start < end {
                pieces.push((start..end, kind));
            }
            start = end + 1;
        }
    }
    let masked = replace_ranges(text, &pieces);
    masked.split('\n').map(str::to_owned).collect()
}

/// Masks a name of a session, an agent or a call for storage. A name that is a secret is replaced
/// by a digest, which distinguishes it from others.
#[cfg(any(feature = "sqlite", feature = "postgres"))]
pub(crate) fn name(name: &str) -> String {
    use sha2::{Digest, Sha256};

    if ranges(name, MaskReader::Names, &CommandBoundaries::default()).is_empty() {
        return name.to_owned();
    }
    let digest = hex::encode(&Sha256::digest(name)[..8]);
    format!("{} {digest}]", hidden::SECRET_LABEL)
}

/// Returns `true` if a text contains the label of a secret or of an e-mail address.
#[cfg(any(feature = "sqlite", feature = "postgres"))]
pub(crate) fn has_label(text: &str) -> bool {
    text.contains(hidden::SECRET_LABEL) || text.contains(hidden::MAIL_LABEL)
}

/// Returns the secrets in these ranges, longest first.
fn secrets(command: &str, ranges: &[Hidden]) -> Vec<(String, HiddenKind)> {
    let mut secrets: Vec<(String, HiddenKind)> = Vec::new();
    for (range, kind) in ranges {
        let text = &command[range.clone()];
        for secret in [text, text.trim_matches(['"', '\'', '\\'])] {
            if !secrets.iter().any(|(known, _)| known == secret) {
                secrets.push((secret.to_owned(), *kind));
            }
        }
    }
    secrets.sort_by_key(|(secret, _)| Reverse(secret.len()));
    secrets
}

/// Returns the ranges to mask in a command: its secrets, and their repetitions.
fn hidden(command: &str, reader: MaskReader) -> Vec<Hidden> {
    let syntax = CommandBoundaries::of(command);
    let mut ranges = ranges(command, reader, &syntax);
    for (secret, kind) in secrets(command, &ranges) {
        add_repetitions(command, &syntax, &secret, kind, &mut ranges);
    }
    ranges
}

/// Adds the repetitions of a secret. A word that names a program is kept: it was identified as a
/// secret only by the command itself.
fn add_repetitions(
    command: &str,
    syntax: &CommandBoundaries,
    secret: &str,
    kind: HiddenKind,
    ranges: &mut Vec<Hidden>,
) {
    if secret.chars().count() < MIN_SECRET_IN_COMMAND {
        return;
    }
    let is_word = secret
        .bytes()
        .all(|b| b.is_ascii_lowercase() || b"/._-".contains(&b));
    let found = command
        .match_indices(secret)
        .map(|(at, _)| at..at + secret.len());
    for found in found {
        let place = ranges.partition_point(|(range, _)| range.end <= found.start);
        let is_hidden = (ranges.get(place)).is_some_and(|(range, _)| range.start < found.end);
        if !(is_hidden
            || syntax.end(found.start, found.end) < found.end
            || syntax.is_program(command, found.start)
            || is_word && is_delimited(command, &found)
            || has_blanks(secret) && !is_quoted(command, &found))
        {
            ranges.insert(place, (found, kind));
        }
    }
}

fn replace_ranges(text: &str, ranges: &[Hidden]) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut at = 0;
    for (range, kind) in ranges {
        masked.push_str(&text[at..range.start]);
        masked.push_str(&kind.label(&text[range.clone()]));
        at = range.end;
    }
    masked.push_str(&text[at..]);
    masked
}

/// Returns the ranges to mask, ordered and without overlaps.
fn ranges(text: &str, reader: MaskReader, syntax: &CommandBoundaries) -> Vec<Hidden> {
    let mut found: Vec<Hidden> = Vec::new();
    let asked = PreparedText::new(text);
    for token in TOKENS
        .iter()
        .filter(|token| asked.may_contain(token.mark()))
    {
        found.extend(token.find(text).map(|range| {
            let end = syntax.end(range.start, range.end);
            (range.start..end, HiddenKind::Secret)
        }));
    }
    let tokens: Vec<_> = found.iter().map(|(range, _)| range.clone()).collect();
    // The limits of a token are known; a random-looking text may extend beyond them.
    let token_in = |hidden: &Range<usize>| {
        tokens
            .iter()
            .filter(|token| overlap(token, hidden))
            .min_by_key(|token| token.start)
    };
    // Most texts match no rule, and these patterns take long to compile.
    let digests = LazyCell::new(|| digests(text, reader));
    let entries = LazyCell::new(|| names_of_entries(text));
    let mut by_chance = Vec::new();
    let may_find = |rule: &&rule::MaskRule| rule.may_count(reader) && asked.has(rule.need);
    for rule in RULES.iter().filter(may_find) {
        for window in rule.windows(text) {
            let mut from = window.start;
            while from < text.len()
                && let Some(captures) = rule.pattern.get().captures_at(text, from)
            {
                let whole = captures.get(0).map_or(from..from, |group| group.range());
                if whole.start >= window.end {
                    break;
                }
                let hidden = captures
                    .iter()
                    .skip(1)
                    .flatten()
                    .next()
                    .map_or(whole.clone(), |group| group.range());
                let looks_like_chance =
                    rule.risk != FalsePositiveRisk::No && rule.kind == HiddenKind::Secret;
                if let Some(token) = token_in(&hidden).filter(|_| looks_like_chance) {
                    let before = hidden.start..token.start.max(hidden.start);
                    if before.len() >= MIN_RANDOM
                        && rule.counts(reader, &captures, &text[before.clone()])
                    {
                        found.push((before, rule.kind));
                    }
                    from = token.end.max(from + 1);
                } else if let Some(digest) = digests
                    .iter()
                    .find(|digest| looks_like_chance && overlap(digest, &hidden))
                {
                    from = digest.end.max(from + 1);
                } else if let Some(entry) = entries.iter().find(|entry| {
                    !looks_like_chance && entry.start <= hidden.start && hidden.end <= entry.end
                }) {
                    from = entry.end.max(from + 1);
                } else if rule.counts(reader, &captures, &text[hidden.clone()]) {
                    let end = match rule.finds_words && syntax.is_quoted(hidden.start) {
                        true => hidden.start + first_word(&text[hidden.clone()]),
                        false => hidden.end,
                    };
                    let hidden = hidden.start..self::end(text, syntax, &(hidden.start..end));
                    from = hidden.end.max(from + 1);
                    if looks_like_chance {
                        by_chance.push(hidden.clone());
                    }
                    found.push((hidden, rule.kind));
                } else {
                    // A text that is not a secret may contain one.
                    from = if whole.len() > hidden.len() {
                        hidden.start
                    } else {
                        hidden.end
                    }
                    .max(from + 1);
                }
                while from < text.len() && !text.is_char_boundary(from) {
                    from += 1;
                }
            }
        }
    }
    found.extend(documents(text, syntax));
    trim_random(&mut found, &by_chance);
    trim_user_names(text, &mut found);
    found.sort_by_key(|(range, _)| (range.start, range.end));
    let mut merged: Vec<Hidden> = Vec::new();
    for (range, kind) in found.into_iter().filter(|(range, _)| !range.is_empty()) {
        match merged.last_mut() {
            // A host after `name:password@` is not an e-mail address.
            Some((last, HiddenKind::Secret))
                if kind == HiddenKind::Mail
                    && range.start < last.end
                    && text[last.end..].starts_with('@') => {}
            Some((last, of)) if range.start < last.end => {
                last.end = last.end.max(range.end);
                if kind > *of {
                    *of = kind;
                }
            }
            _ => merged.push((range, kind)),
        }
    }
    merged
}

/// Moves the start of a random-looking range to the secret that a rule found in it: the text before
/// is an option or a name, such as the `-p` of `-pSECRET`.
fn trim_random(found: &mut [Hidden], by_chance: &[Range<usize>]) {
    let known: Vec<_> = (found.iter())
        .filter(|(range, _)| !by_chance.contains(range))
        .map(|(range, _)| range.clone())
        .collect();
    for (range, _) in found
        .iter_mut()
        .filter(|(range, _)| by_chance.contains(range))
    {
        let begins = (known.iter())
            .filter(|known| overlap(known, range) && known.start > range.start)
            .map(|known| known.start)
            .min();
        if let Some(start) = begins.filter(|start| start - range.start < MIN_RANDOM) {
            range.start = start;
        }
    }
}

/// Removes the user name from a range if another rule found the password after it.
fn trim_user_names(text: &str, found: &mut [Hidden]) {
    let starts: Vec<_> = (found.iter().map(|(range, _)| range.clone())).collect();
    for (range, _) in found.iter_mut() {
        let password = starts.iter().find(|other| {
            let before = text.get(range.start..other.start).unwrap_or_default();
            other.end == range.end
                && before.ends_with(':')
                && begins_with_a_name(&text[range.clone()])
        });
        if let Some(password) = password {
            range.start = password.start;
        }
    }
}

/// Returns the names of accounts, settings and entries that follow words for secrets.
fn names_of_entries(text: &str) -> Vec<Range<usize>> {
    if !["--secret", "dscl", "-cli", "git "]
        .iter()
        .any(|name| text.contains(name))
    {
        return Vec::new();
    }
    let found = NAMES_OF_ENTRIES.get().captures_iter(text);
    found
        .filter_map(|captures| {
            captures
                .iter()
                .skip(1)
                .flatten()
                .next()
                .map(|group| group.range())
        })
        .collect()
}

fn overlap(one: &Range<usize>, other: &Range<usize>) -> bool {
    one.start < other.end && other.start < one.end
}

/// Returns labelled digests, such as those in npm's lock files: the trail has to show what was
/// installed.
fn digests(text: &str, reader: MaskReader) -> Vec<Range<usize>> {
    match reader {
        MaskReader::Model => Vec::new(),
        _ => (DIGESTS.get().find_iter(text))
            .map(|found| found.range())
            .collect(),
    }
}

/// Returns the end of a secret. A substitution ends it even within quotes: the text may go to a
/// file that a shell reads later.
fn end(text: &str, syntax: &CommandBoundaries, hidden: &Range<usize>) -> usize {
    let end = syntax.end(hidden.start, hidden.end);
    let inside = &text[hidden.start..end];
    let is_escaped = |at: usize| inside[..at].ends_with('\\');
    let substitution = inside
        .match_indices(['`', '$'])
        .map(|(at, _)| at)
        .find(|at| {
            !is_escaped(*at) && (inside[*at..].starts_with('`') || inside[*at..].starts_with("$("))
        });
    substitution.map_or(end, |at| hidden.start + at)
}

/// Returns the length of the first piece of a word: a quoted string, or the text before one.
fn first_word(word: &str) -> usize {
    let escapes = word.len() - word.trim_start_matches('\\').len();
    let Some(quote) = word[escapes..]
        .chars()
        .next()
        .filter(|c| matches!(c, '"' | '\''))
    else {
        let quote = word.find(['"', '\'']).unwrap_or(word.len());
        return word[..quote].trim_end_matches('\\').len().max(1);
    };
    let inside = escapes + 1;
    let mut from = inside;
    while let Some(at) = word[from..].find(quote).map(|at| from + at) {
        let before = word[inside..at].len() - word[inside..at].trim_end_matches('\\').len();
        if before == escapes || escapes == 0 && before & 1 == 0 {
            return at + 1;
        }
        from = at + 1;
    }
    word.len()
}

/// Returns the passwords in here-documents of programs that read passwords.
fn documents(text: &str, syntax: &CommandBoundaries) -> Vec<Hidden> {
    let mut found = Vec::new();
    for document in syntax.documents() {
        let start = text[..document.start].trim_end_matches('\n').rfind('\n');
        let command = &text[start.map_or(0, |at| at + 1)..document.start];
        let Some(reader) = PasswordReader::of(command) else {
            continue;
        };
        let mut at = document.start;
        for line in text[document.clone()].split_inclusive('\n') {
            let value = line.trim();
            let end = at + line.trim_end().len();
            let start = match reader {
                PasswordReader::Accounts => {
                    value.find(':').map(|colon| end - value.len() + colon + 1)
                }
                _ => (!value.is_empty()).then_some(end - value.len()),
            };
            // A variable only shows where a secret comes from.
            let shown = |start: &usize| *start < end && !text[*start..end].starts_with('$');
            if let Some(start) = start.filter(shown) {
                found.push((start..end, HiddenKind::Secret));
            }
            if reader == PasswordReader::FirstLine {
                break;
            }
            at += line.len();
        }
    }
    found
}

/// Returns `true` if a range is surrounded by whitespace or the ends of the command.
fn is_delimited(command: &str, found: &Range<usize>) -> bool {
    let before = command[..found.start].chars().next_back();
    let behind = command[found.end..].chars().next();
    [before, behind]
        .into_iter()
        .flatten()
        .all(char::is_whitespace)
}

fn has_blanks(text: &str) -> bool {
    text.contains(char::is_whitespace)
}

/// Returns `true` if a range is surrounded by quotes.
fn is_quoted(command: &str, found: &Range<usize>) -> bool {
    const QUOTES: [char; 2] = ['"', '\''];
    command[..found.start].ends_with(QUOTES) && command[found.end..].starts_with(QUOTES)
}
