//! Formats of tokens: `secrets/tokens.toml` in, checked formats and the source of their tables out.
//!
//! A format is written like the token: text as it is, and the other characters as `{ALPHABET COUNT}`.
//! The first text is the keyword, which is searched for.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::raw::{RawToken, RawTokens};
use crate::read::{Source, TableError, line, read};

pub(crate) const FILE: &str = "secrets/tokens.toml";

/// Alphabets with their characters, as in a character class of a regular expression.
pub(crate) const ALPHABETS: &[(&str, &str)] = &[
    ("digit", "0-9"),
    ("hex", "0-9A-Fa-f"),
    ("lower", "0-9a-z"),
    ("upper", "0-9A-Z"),
    ("alnum", "0-9A-Za-z"),
    ("word", "0-9A-Za-z_"),
    ("base64", "0-9A-Za-z+/="),
    ("base64url", "0-9A-Za-z_-"),
];

/// Suffix of a format whose keyword occurs within other words, too.
const WHOLE_WORD: &str = " whole word";

/// Set of ASCII characters, one bit for each.
type CharSet = u128;

/// Bits of the class of a character: the first one of a keyword at the start of a token.
const KEYWORD: u8 = 1;
/// The first character of a keyword after other characters of a token.
const INNER_KEYWORD: u8 = 2;

/// Format of a token.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FormatDef {
    keyword: String,
    before: Option<RunDef>,
    tail: Vec<PartDef>,
    is_whole_word: bool,
}

/// Characters of an alphabet, with their minimum and maximum number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct RunDef {
    alphabet: CharSet,
    min: usize,
    max: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum PartDef {
    Text(String),
    Run(RunDef),
}

/// The checked contents of `secrets/tokens.toml`.
#[derive(Debug, Default)]
pub(crate) struct TokensDef {
    /// Sorted by keyword.
    pub(crate) formats: Vec<FormatDef>,
    /// Issuers and the shapes of their tokens.
    pub(crate) samples: Vec<(String, String)>,
}

/// Loads the formats, or returns every mistake in them.
pub(crate) fn load(source: &Source) -> Result<TokensDef, Vec<TableError>> {
    let raw: RawTokens = read(source).map_err(|error| vec![error])?;
    let (mut tokens, mut errors) = (TokensDef::default(), Vec::new());
    let mut lines = BTreeMap::new();
    for token in &raw.token {
        let issuer = token.issuer.get_ref();
        let mut mistakes = Mistakes::new();
        check_entry(token, &mut mistakes);
        let formats = formats(token, &mut mistakes);
        for (at, format) in formats {
            let line = line(&source.text, at);
            if let Some(before) = lines.insert(format.clone(), line) {
                mistakes.push((at, format!("duplicate format; see also line {before}")));
            }
            tokens.formats.push(format);
        }
        let samples = token.samples.iter().map(|text| text.get_ref().clone());
        tokens
            .samples
            .extend(samples.map(|sample| (issuer.clone(), sample)));
        errors.extend(mistakes.into_iter().map(|(at, message)| TableError {
            file: source.file.clone(),
            line: Some(line(&source.text, at)),
            message: format!("`{issuer}`: {message}; see the page about tables"),
        }));
    }
    tokens.formats.sort();
    match errors.is_empty() {
        true => Ok(tokens),
        false => Err(errors),
    }
}

/// Mistakes with the byte of the file where they are.
type Mistakes = Vec<(usize, String)>;

/// Reports an entry without an issuer or a source.
fn check_entry(token: &RawToken, mistakes: &mut Mistakes) {
    if token.issuer.get_ref().trim().is_empty() {
        mistakes.push((token.issuer.span().start, "`issuer` is empty".to_owned()));
    }
    let is_repository = |word: &str| word.split('/').filter(|part| !part.is_empty()).count() == 2;
    let source = token.source.get_ref();
    let words: Vec<&str> = source.split_whitespace().collect();
    let is_source = match words[..] {
        [url] => url.starts_with("https://"),
        [repository, _file] => is_repository(repository),
        _ => false,
    };
    if !is_source {
        let message = format!("source `{source}` is neither a URL nor `owner/name FILE`");
        mistakes.push((token.source.span().start, message));
    }
}

/// Returns the formats of an entry with their places in the file. Reports formats without a sample
/// and samples without a format.
fn formats(token: &RawToken, mistakes: &mut Mistakes) -> Vec<(usize, FormatDef)> {
    let mut formats = Vec::new();
    for text in &token.formats {
        let (at, text) = (text.span().start, text.get_ref());
        match format(text) {
            Ok(format) => formats.push((at, text, format)),
            Err(message) => mistakes.push((at, message)),
        }
    }
    let mut samples = Vec::new();
    for text in &token.samples {
        let (at, text) = (text.span().start, text.get_ref());
        match sample(text) {
            Ok(sample) if formats.iter().any(|(.., format)| format.matches(&sample)) => {
                samples.push(sample);
            }
            Ok(_) => mistakes.push((at, format!("sample `{text}` has none of the formats"))),
            Err(message) => mistakes.push((at, message)),
        }
    }
    for (at, text, format) in &formats {
        if !samples.iter().any(|sample| format.matches(sample)) {
            mistakes.push((*at, format!("format `{text}` has no sample")));
        }
    }
    let formats = formats.into_iter();
    formats.map(|(at, _, format)| (at, format)).collect()
}

/// Returns the pieces of a format or sample: texts, and runs in braces.
fn pieces(text: &str) -> Result<Vec<PartDef>, String> {
    let (mut pieces, mut rest) = (Vec::new(), text);
    while !rest.is_empty() {
        let (before, behind) = match rest.split_once('{') {
            Some((before, behind)) => (before, Some(behind)),
            None => (rest, None),
        };
        if let Some(c) = before.chars().find(|c| !c.is_ascii_graphic() || *c == '}') {
            return Err(format!("`{c}` is unexpected in `{text}`"));
        }
        if !before.is_empty() {
            pieces.push(PartDef::Text(before.to_owned()));
        }
        let Some(behind) = behind else { break };
        let (inner, behind) = behind
            .split_once('}')
            .ok_or_else(|| format!("a brace is not closed in `{text}`"))?;
        pieces.push(PartDef::Run(run(inner)?));
        rest = behind;
    }
    Ok(pieces)
}

/// Returns the run of `ALPHABET COUNT`.
fn run(text: &str) -> Result<RunDef, String> {
    let (alphabet, count) = text
        .split_once(' ')
        .ok_or_else(|| format!("`{{{text}}}` needs an alphabet and a count"))?;
    let number = |text: &str| text.parse::<u32>().ok().map(|number| number as usize);
    let counts = match (count.strip_suffix('+'), count.split_once('-')) {
        (Some(min), _) => number(min).map(|min| (min, usize::MAX)),
        (None, Some((min, max))) => number(min).zip(number(max)),
        (None, None) => number(count).map(|count| (count, count)),
    };
    match counts {
        Some((min, max)) if min <= max => Ok(RunDef {
            alphabet: self::alphabet(alphabet)?,
            min,
            max,
        }),
        _ => Err(format!("unknown count `{count}`")),
    }
}

/// Returns the characters of an alphabet: its name, and punctuation behind it.
fn alphabet(text: &str) -> Result<CharSet, String> {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric());
    let (name, more) = text.split_at(end.unwrap_or(text.len()));
    let known = ALPHABETS.iter().find(|(known, _)| *known == name);
    let (_, class) = known.ok_or_else(|| format!("unknown alphabet `{name}`"))?;
    let mut set = more.bytes().try_fold(0, |set, byte| {
        let is_new = byte.is_ascii_punctuation() && !b"{}".contains(&byte);
        is_new.then_some(set | bit(byte))
    });
    let class = class.as_bytes();
    let mut at = 0;
    while let Some(&first) = class.get(at) {
        let (last, next) = match class[at..] {
            [_, b'-', last, ..] => (last, at + 3),
            _ => (first, at + 1),
        };
        for byte in first..=last {
            set = set.map(|set: CharSet| set | bit(byte));
        }
        at = next;
    }
    set.ok_or_else(|| format!("`{more}` behind the alphabet `{name}` is not punctuation"))
}

fn bit(byte: u8) -> CharSet {
    1 << (byte & 127)
}

/// Parses a format.
fn format(text: &str) -> Result<FormatDef, String> {
    let (body, is_whole_word) = match text.strip_suffix(WHOLE_WORD) {
        Some(body) => (body, true),
        None => (text, false),
    };
    let mut parts = pieces(body)?.into_iter().peekable();
    let before = match parts.peek() {
        Some(&PartDef::Run(run)) => {
            parts.next();
            Some(run)
        }
        _ => None,
    };
    let Some(PartDef::Text(keyword)) = parts.next() else {
        return Err(format!("format `{text}` has no keyword"));
    };
    let tail: Vec<PartDef> = parts.collect();
    if tail.is_empty() {
        return Err(format!("format `{text}` has no `{{…}}` behind its keyword"));
    }
    for pair in tail.windows(2) {
        // A run takes all characters of its alphabet, so the next text would never be found.
        match pair {
            [PartDef::Run(run), PartDef::Text(next)]
                if run.alphabet & bit(next.as_bytes()[0]) == 0 => {}
            [PartDef::Text(_), _] => {}
            _ => {
                return Err(format!(
                    "format `{text}`: the alphabet of a run contains the next character"
                ));
            }
        }
    }
    Ok(FormatDef {
        keyword,
        before,
        tail,
        is_whole_word,
    })
}

/// Returns the possible characters at each place of a sample.
fn sample(text: &str) -> Result<Vec<CharSet>, String> {
    let mut places = Vec::new();
    for piece in pieces(text)? {
        match piece {
            PartDef::Text(text) => places.extend(text.bytes().map(bit)),
            PartDef::Run(run) if run.min == run.max => {
                places.extend(std::iter::repeat_n(run.alphabet, run.min));
            }
            PartDef::Run(_) => return Err(format!("sample `{text}` has no exact count")),
        }
    }
    Ok(places)
}

impl FormatDef {
    /// Returns `true` if each text with this shape is a token of the format as a whole.
    fn matches(&self, sample: &[CharSet]) -> bool {
        let starts = match self.before {
            None => 0..1,
            Some(_) => 0..sample.len(),
        };
        starts.into_iter().any(|at| self.matches_at(sample, at))
    }

    fn matches_at(&self, sample: &[CharSet], at: usize) -> bool {
        let is_before =
            |run: &RunDef| run.end(sample, 0) >= at && (run.min..=run.max).contains(&at);
        if !self.before.as_ref().is_none_or(is_before) {
            return false;
        }
        let Some(mut end) = end_of_text(sample, at, &self.keyword) else {
            return false;
        };
        for part in &self.tail {
            end = match part {
                PartDef::Text(text) => match end_of_text(sample, end, text) {
                    Some(end) => end,
                    None => return false,
                },
                PartDef::Run(run) => {
                    let run_end = run.end(sample, end);
                    let is_clear = |set: &CharSet| set & run.alphabet == 0;
                    if !(run.min..=run.max).contains(&(run_end - end))
                        || !sample.get(run_end).is_none_or(is_clear)
                    {
                        return false;
                    }
                    run_end
                }
            };
        }
        end == sample.len()
    }
}

impl RunDef {
    /// Returns the place behind the characters that certainly belong to the run.
    fn end(&self, sample: &[CharSet], from: usize) -> usize {
        let belongs = |set: &&CharSet| **set & !self.alphabet == 0;
        from + sample[from..].iter().take_while(belongs).count()
    }
}

fn end_of_text(sample: &[CharSet], from: usize, text: &str) -> Option<usize> {
    let places = sample.get(from..from + text.len())?;
    let is_text = places
        .iter()
        .zip(text.bytes())
        .all(|(set, byte)| *set == bit(byte));
    is_text.then_some(from + text.len())
}

/// Returns the source of the tables: the formats, sorted by keyword, and an index of the first two
/// characters of the keywords.
pub(crate) fn code(tokens: &TokensDef) -> String {
    let alphabets: BTreeSet<CharSet> = tokens
        .formats
        .iter()
        .flat_map(FormatDef::alphabets)
        .collect();
    let alphabets: Vec<CharSet> = alphabets.into_iter().collect();
    let run = |run: &RunDef| {
        let alphabet = alphabets.binary_search(&run.alphabet).unwrap_or_default();
        let max = match run.max {
            usize::MAX => "usize::MAX".to_owned(),
            max => max.to_string(),
        };
        format!(
            "Run {{ alphabet: {alphabet}, min: {}, max: {max} }}",
            run.min
        )
    };
    let mut code = format!(
        "pub(super) const ALPHABETS: [CharSet; {}] = {alphabets:?};\n\
         pub(super) static FORMATS: &[TokenFormat] = &[\n",
        alphabets.len()
    );
    for format in &tokens.formats {
        let before = match &format.before {
            Some(before) => format!("Some({})", run(before)),
            None => "None".to_owned(),
        };
        let tail: Vec<String> = format
            .tail
            .iter()
            .map(|part| match part {
                PartDef::Text(text) => format!("FormatPart::Text({text:?})"),
                PartDef::Run(part) => format!("FormatPart::Run({})", run(part)),
            })
            .collect();
        let _ = writeln!(
            code,
            "TokenFormat {{ before: {before}, keyword: {:?}, tail: &[{}], is_whole_word: {} }},",
            format.keyword,
            tail.join(", "),
            format.is_whole_word
        );
    }
    code.push_str("];\n");
    index(&tokens.formats, &mut code);
    let _ = writeln!(
        code,
        "/// Issuers and the shapes of their tokens.\n\
         #[cfg(test)]\npub(super) const SAMPLES: &[(&str, &str)] = &{:?};",
        tokens.samples
    );
    code
}

impl FormatDef {
    /// Returns the possible characters two characters behind the start of the keyword.
    fn third_characters(&self) -> CharSet {
        match (self.keyword.as_bytes(), self.tail.first()) {
            ([_, _, third, ..], _) => bit(*third),
            ([_, _], Some(PartDef::Run(run))) if run.min > 0 => run.alphabet,
            _ => CharSet::MAX,
        }
    }

    fn alphabets(&self) -> impl Iterator<Item = CharSet> {
        let tail = self.tail.iter().filter_map(|part| match part {
            PartDef::Run(run) => Some(run),
            PartDef::Text(_) => None,
        });
        self.before.iter().chain(tail).map(|run| run.alphabet)
    }
}

/// Writes the index: a class for each character, and for each pair of characters the formats whose
/// keyword may begin with it and the possible third characters.
fn index(formats: &[FormatDef], code: &mut String) {
    let mut rows: BTreeMap<u8, Vec<BTreeSet<usize>>> = BTreeMap::new();
    let mut classes = [0_u8; 256];
    let word = alphabet("word").unwrap_or_default();
    for (byte, class) in (0..=u8::MAX).zip(&mut classes) {
        let is_word = byte < 128 && word & bit(byte) != 0;
        *class = match is_word {
            true => INNER_KEYWORD << 4,
            false => (KEYWORD | INNER_KEYWORD) << 4,
        };
    }
    for (at, format) in formats.iter().enumerate() {
        let keyword = format.keyword.as_bytes();
        let row = rows
            .entry(keyword[0])
            .or_insert_with(|| vec![BTreeSet::new(); 128]);
        match keyword.get(1) {
            Some(second) => _ = row[usize::from(*second)].insert(at),
            None => row.iter_mut().for_each(|formats| _ = formats.insert(at)),
        }
        classes[usize::from(keyword[0])] |= match format.before {
            None => KEYWORD,
            Some(_) => INNER_KEYWORD,
        };
    }
    let mut buckets = vec![BTreeSet::new()];
    let mut row_of = [0_u8; 128];
    let mut cells = vec![vec![0_usize; 128]];
    for (first, row) in rows {
        row_of[usize::from(first)] = u8::try_from(cells.len()).unwrap_or(u8::MAX);
        let mut numbers = Vec::new();
        for formats in row {
            let known = buckets.iter().position(|bucket| *bucket == formats);
            numbers.push(known.unwrap_or(buckets.len()));
            if known.is_none() {
                buckets.push(formats);
            }
        }
        cells.push(numbers);
    }
    let bucket = |bucket: &BTreeSet<usize>| {
        let at: Vec<&usize> = bucket.iter().collect();
        let thirds = bucket.iter().map(|at| formats[*at].third_characters());
        let thirds = thirds.fold(0, |all, set| all | set);
        format!("Bucket {{ thirds: {thirds}, formats: &{at:?} }}")
    };
    let buckets: Vec<String> = buckets.iter().map(bucket).collect();
    let _ = writeln!(
        code,
        "pub(super) static CLASSES: [u8; 256] = {classes:?};\n\
         pub(super) static ROWS: [u8; 128] = {row_of:?};\n\
         pub(super) static CELLS: [[u16; 128]; {}] = {cells:?};\n\
         pub(super) static BUCKETS: &[Bucket] = &[{}];",
        cells.len(),
        buckets.join(", ")
    );
}
