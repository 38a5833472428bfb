//! Masking of secrets. Takes a command; returns the command without its secrets.
//!
//! For a model, masking is generous: the model cannot lower a class, and hidden text only keeps it
//! from raising one. In the audit trail a person has to see what was run, so e-mail addresses are
//! kept, and so are hexadecimal numbers, which are mostly commits and digests. Text beside a secret
//! that a shell would run is always kept.

#[cfg(test)]
mod cases;
mod hidden;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::ops::Range;

use hooks_classify::{
    Classifier, CodeKind, CodeSpan, Parts, SecretKind, SecretSpan, secrets_in_text,
};

use self::hidden::{Hidden, HiddenKind, MaskReader};

/// Minimum length of a secret that is replaced in other texts, and in commands. Shorter secrets
/// would remove letters from unrelated words of a text, or words that determine what a command
/// does.
const MIN_SECRET: usize = 3;
const MIN_SECRET_IN_COMMAND: usize = 6;

/// A command with masked secrets.
#[derive(Debug)]
pub(crate) struct Masked {
    /// The command to show.
    pub(crate) text: String,
    /// Masked secrets, longest first.
    secrets: Vec<(String, HiddenKind)>,
    reader: MaskReader,
    hides_code: bool,
}

impl Masked {
    /// Masks a command for a model on another machine.
    pub(crate) fn for_model(command: &str) -> Self {
        let parts = Classifier::new().parts(command);
        let spans = match &parts {
            Some(parts) => parts.secrets(),
            None => secrets_in_text(command),
        };
        let ranges = hidden(command, parts.as_ref(), &spans, MaskReader::Model);
        Self::new(command, MaskReader::Model, ranges)
    }

    /// Masks a command for storage. Text that determines which programs run is never masked.
    pub(crate) fn for_storage(command: &str) -> Self {
        Self::with_parts(command, None)
    }

    /// Masks a command for storage, by its parts if these are known.
    pub(crate) fn with_parts(command: &str, parts: Option<&Parts>) -> Self {
        let known = parts.filter(|parts| parts.command() == command);
        let parsed = match known {
            Some(_) => None,
            None => Classifier::new().parts(command),
        };
        let parts = known.or(parsed.as_ref());
        let (spans, code) = secrets_and_code(command, parts);
        let mut ranges = hidden(command, parts, &spans, MaskReader::Trail);
        let hides_code = match parts {
            _ if ranges.is_empty() => false,
            Some(parts) if parts.is_followed() => reveal_code(command, &code, &mut ranges),
            _ => true,
        };
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
            hides_code: false,
        }
    }

    /// Returns `true` if a masked text may run as code, so that the rest does not show everything
    /// that runs.
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
        replace_ranges(&text, &ranges(&text, self.reader))
    }
}

/// Returns `true` if a command contains a secret that the trail would not store.
pub(crate) fn has_secret(command: &str) -> bool {
    let parts = Classifier::new().parts(command);
    let (spans, _) = secrets_and_code(command, parts.as_ref());
    !hidden(command, parts.as_ref(), &spans, MaskReader::Trail).is_empty()
}

/// Masks a text that is not a command, such as a note.
pub(crate) fn note(text: &str) -> String {
    replace_ranges(text, &ranges(text, MaskReader::Trail))
}

/// Masks a text that is not a command and returns its lines: a secret of several lines leaves a mark
/// on each of them.
pub(crate) fn lines(text: &str) -> Vec<String> {
    let ranges = ranges(text, MaskReader::Trail);
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
pub(crate) fn name(name: &str) -> String {
    use sha2::{Digest, Sha256};

    if ranges(name, MaskReader::Names).is_empty() {
        return name.to_owned();
    }
    let digest = hex::encode(&Sha256::digest(name)[..8]);
    format!("{} {digest}]", hidden::SECRET_LABEL)
}

/// Returns `true` if a text contains the label of a secret or of an e-mail address.
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
fn hidden(
    command: &str,
    parts: Option<&Parts>,
    spans: &[SecretSpan],
    reader: MaskReader,
) -> Vec<Hidden> {
    let mut ranges = shown_to(reader, command, spans);
    for (secret, kind) in secrets(command, &ranges) {
        add_repetitions(command, parts, &secret, kind, &mut ranges);
    }
    ranges
}

/// Returns the secrets of a command for the trail, and its code if it has secrets. A text that only
/// looks random and may run is not a secret: code in base64.
fn secrets_and_code(command: &str, parts: Option<&Parts>) -> (Vec<SecretSpan>, Vec<CodeSpan>) {
    let Some(parts) = parts else {
        return (secrets_in_text(command), Vec::new());
    };
    let mut spans = parts.secrets();
    let has = |kind: SecretKind| spans.iter().any(|span| span.kind == kind);
    // A secret in a command that was not followed makes it `hidden_code` without a look at its code.
    if !(has(SecretKind::Random) || has(SecretKind::Certain) && parts.is_followed()) {
        return (spans, Vec::new());
    }
    let code = parts.code();
    let may_run = |span: &SecretSpan| {
        code.iter()
            .any(|code| overlap(&code.range(), &span.range()))
    };
    spans.retain(|span| span.kind != SecretKind::Random || !may_run(span));
    (spans, code)
}

/// Removes the names of programs and files from the ranges to mask. Returns `true` if one of the
/// remaining ranges may run.
fn reveal_code(command: &str, code: &[CodeSpan], ranges: &mut Vec<Hidden>) -> bool {
    let meets = |range: &Range<usize>, is_kind: &dyn Fn(CodeKind) -> bool| {
        let mut code = code.iter().filter(|code| is_kind(code.kind));
        code.any(|code| overlap(&code.range(), range))
    };
    let is_shown = |range: &Range<usize>| meets(range, &|kind| kind != CodeKind::MayRun);
    for (range, kind) in std::mem::take(ranges) {
        if !is_shown(&range) {
            ranges.push((range, kind));
            continue;
        }
        // A token within code is masked.
        let tokens = secrets_in_text(&command[range.clone()]).into_iter();
        let tokens = tokens.filter(|token| token.kind >= SecretKind::Certain);
        let tokens = tokens.map(|token| range.start + token.start..range.start + token.end);
        let names_no_program = |token: &Range<usize>| {
            !meets(token, &|kind| {
                matches!(kind, CodeKind::Program | CodeKind::File)
            })
        };
        let tokens = tokens.filter(|token| *token != range && names_no_program(token));
        ranges.extend(tokens.map(|token| (token, kind)));
    }
    ranges
        .iter()
        .any(|(range, _)| meets(range, &|kind| kind == CodeKind::MayRun))
}

/// Adds the repetitions of a secret. A word that names a program is kept: it was identified as a
/// secret only by the command itself.
fn add_repetitions(
    command: &str,
    parts: Option<&Parts>,
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
    let is_program = |range: &Range<usize>| {
        let names = parts.into_iter().flat_map(|parts| &parts.all);
        let mut names = names.filter_map(|part| part.words.first());
        names.any(|name| overlap(&(name.start..name.end), range) && name.text.contains(secret))
    };
    let found = command
        .match_indices(secret)
        .map(|(at, _)| at..at + secret.len());
    for found in found {
        let place = ranges.partition_point(|(range, _)| range.end <= found.start);
        let is_hidden = (ranges.get(place)).is_some_and(|(range, _)| range.start < found.end);
        if !(is_hidden
            || is_program(&found)
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

/// Returns the ranges to mask in a text, ordered and without overlaps.
fn ranges(text: &str, reader: MaskReader) -> Vec<Hidden> {
    shown_to(reader, text, &secrets_in_text(text))
}

/// Returns the spans that a reader must not see.
fn shown_to(reader: MaskReader, text: &str, spans: &[SecretSpan]) -> Vec<Hidden> {
    let is_hidden = |span: &&SecretSpan| match reader {
        MaskReader::Model => true,
        MaskReader::Names => span.kind >= SecretKind::Certain,
        MaskReader::Trail => span.kind >= SecretKind::Random,
    };
    let hidden = spans.iter().filter(is_hidden);
    hidden
        .map(|span| match span.kind {
            SecretKind::Mail => (span.range(), HiddenKind::Mail),
            _ => (span.range(), HiddenKind::Secret),
        })
        .filter(|(range, _)| text.is_char_boundary(range.start) && text.is_char_boundary(range.end))
        .collect()
}

fn overlap(one: &Range<usize>, other: &Range<usize>) -> bool {
    one.start < other.end && other.start < one.end
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
