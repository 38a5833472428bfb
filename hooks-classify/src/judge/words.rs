//! Words as far as their values are known.

use super::environment::{Contents, is_numeric, perhaps};
use super::numbers::Shown;
use super::{Input, Judge, Value};
use crate::shell::{Change, Piece, Span, Word};
use crate::tables::Effect;

/// Stands in a value for what is only known when the command runs.
pub(crate) const UNKNOWN: char = '\u{F0000}';

/// More words than this are not made out of braces.
const MOST: usize = 64;

/// Words with more braces than this are not followed.
const BRACES: usize = 20;

/// A word after expansion.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Arg {
    /// The value, with [`UNKNOWN`] for every part that is not known.
    pub(crate) text: String,
    pub(crate) span: Span,
    /// Whether a pattern in it stands for names of files.
    pub(crate) glob: bool,
    /// Whether the value is a default that a variable may replace.
    pub(crate) maybe: bool,
    /// Whether it may become several words.
    pub(crate) many: bool,
    /// Whether what is not known in it is no code: numbers, and what the shell was started with.
    pub(crate) inert: bool,
    /// Whether some number stands in it for one that is not known.
    pub(crate) guess: bool,
    /// Whether it assigns a list in brackets that are not quoted: `NAME=(…)`.
    pub(crate) compound: bool,
    /// The path that it is where it begins with a variable such as `HOME`: `~/x` for `$HOME/x`.
    pub(crate) place: Option<String>,
    /// The path that such a variable stands for, where it is all that is not known.
    pub(crate) prefix: Option<String>,
}

impl Arg {
    pub(crate) fn new(text: impl Into<String>, span: Span) -> Self {
        Self {
            text: text.into(),
            span,
            glob: false,
            maybe: false,
            many: false,
            inert: false,
            guess: false,
            compound: false,
            place: None,
            prefix: None,
        }
    }

    pub(crate) fn unknown(span: Span) -> Self {
        Self::new(UNKNOWN, span)
    }

    /// Returns true if a word is the same, wherever it is in the text.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let span = self.span;
        *self
            == Self {
                span,
                ..other.clone()
            }
    }

    pub(crate) fn known(&self) -> bool {
        !self.text.contains(UNKNOWN)
    }

    /// Returns the path that it is, as far as it is known.
    pub(crate) fn path(&self) -> &str {
        self.place.as_deref().unwrap_or(&self.text)
    }

    /// The same word with a part of its text.
    pub(crate) fn with(&self, text: &str) -> Self {
        let place = match self.text == text {
            true => self.place.clone(),
            false => placed(self.prefix.as_deref(), text),
        };
        Self {
            text: text.to_owned(),
            place,
            ..self.clone()
        }
    }
}

/// Returns the path that a text is which begins with a variable of which it is known where it leads.
fn placed(prefix: Option<&str>, text: &str) -> Option<String> {
    let rest = text.strip_prefix(UNKNOWN)?;
    let prefix = prefix?;
    (rest.is_empty() || rest.starts_with('/')).then(|| format!("{prefix}{rest}"))
}

#[derive(Clone, Copy, Debug)]
struct Cell {
    character: char,
    quoted: bool,
    /// Came out of an expansion: blanks split it, braces mean nothing.
    value: bool,
    /// Stands for what is not known, and is no code.
    inert: bool,
    /// Stands for a number that is not known.
    guess: bool,
}

impl Cell {
    fn is_inert(self) -> bool {
        self.inert || self.character != UNKNOWN
    }
}

#[derive(Debug, Default)]
struct Cells {
    all: Vec<Cell>,
    quotes: bool,
    maybe: bool,
    many: bool,
    /// The path that a variable at the beginning stands for.
    prefix: Option<String>,
    /// Where that variable begins in the word.
    prefix_at: usize,
}

impl Cells {
    fn push(&mut self, text: &str, quoted: bool, value: bool) {
        self.push_value(text, quoted, value, false);
    }

    fn push_value(&mut self, text: &str, quoted: bool, value: bool, inert: bool) {
        self.all.extend(text.chars().map(|character| Cell {
            character,
            quoted,
            value,
            inert,
            guess: false,
        }));
    }

    /// Some number.
    fn push_number(&mut self, quoted: bool) {
        self.all.push(Cell {
            character: '1',
            quoted,
            value: true,
            inert: true,
            guess: true,
        });
    }

    /// The same with what is not known in place of numbers that are not.
    fn sure(mut self) -> Self {
        for cell in self.all.iter_mut().filter(|cell| cell.guess) {
            cell.character = UNKNOWN;
        }
        self
    }

    fn push_unknown(&mut self, inert: bool) {
        self.push_value(UNKNOWN.encode_utf8(&mut [0; 4]), true, true, inert);
    }

    /// An address of which some is known.
    fn push_address(&mut self, address: &str, quoted: bool) {
        for (at, known) in address.split(UNKNOWN).enumerate() {
            if at > 0 {
                self.push_unknown(false);
            }
            self.push(known, quoted, true);
        }
    }

    fn text(&self) -> String {
        text(&self.all)
    }

    fn is_inert(&self) -> bool {
        self.all.iter().all(|cell| cell.is_inert())
    }

    /// Returns whether what comes next may begin a path: `--folder=…`.
    fn starts_path(&self) -> bool {
        self.all
            .last()
            .is_none_or(|cell| matches!(cell.character, '=' | ':' | '@' | '(' | ' '))
    }

    /// Returns the path that a text made of the cells is, if a variable with a known place begins it.
    fn place(&self, text: &str, start: usize) -> Option<String> {
        let prefix = self.prefix.as_deref();
        placed(prefix.filter(|_| self.prefix_at == start), text)
    }

    /// Returns what the variable stands for, if nothing else in a text is unknown.
    fn prefix(&self, text: &str) -> Option<String> {
        let alone = text.matches(UNKNOWN).count() == 1;
        self.prefix.clone().filter(|_| alone)
    }
}

fn text(cells: &[Cell]) -> String {
    cells.iter().map(|cell| cell.character).collect()
}

impl Judge<'_> {
    /// The words that a word becomes.
    pub(crate) fn expand(&mut self, word: &Word) -> Vec<Arg> {
        let span = self.place.map(word.span);
        if let [Piece::Text { text, quoted }] = word.pieces.as_slice()
            && (*quoted || !text.contains(['{', '*', '?', '[']))
        {
            return vec![Arg::new(text.clone(), span)];
        }
        let mut cells = Cells::default();
        self.cells(word, &mut cells);
        split(&cells, span)
    }

    /// The words of an assignment in a declaration: the whole of it first, which is not split, then
    /// what an older shell would split off.
    pub(super) fn expand_assignment(&mut self, word: &Word) -> Vec<Arg> {
        let mut cells = Cells::default();
        self.cells(word, &mut cells);
        let mut whole = self.unsplit(&cells, &cells.all, word);
        whole.glob = false;
        whole.compound = matches!(
            word.pieces.first(),
            Some(Piece::Text { text, quoted: false }) if text.contains("=(")
        );
        let words = split(&cells, whole.span);
        std::iter::once(whole)
            .chain(words.into_iter().skip(1))
            .collect()
    }

    /// The value of a word that is not split: of an assignment, a redirection.
    pub(crate) fn value(&mut self, word: &Word) -> Arg {
        let mut cells = Cells::default();
        self.cells(word, &mut cells);
        self.unsplit(&cells, &cells.all, word)
    }

    /// The words on both sides of the `=` of an assignment.
    pub(super) fn parted(&mut self, word: &Word) -> Option<(Arg, Arg)> {
        let mut cells = Cells::default();
        self.cells(word, &mut cells);
        let cells = cells.sure();
        let sign = |cell: &Cell| cell.character == '=' && !cell.quoted && !cell.value;
        let at = cells.all.iter().position(sign)?;
        Some((
            self.unsplit(&cells, &cells.all[..at], word),
            self.unsplit(&cells, &cells.all[at + 1..], word),
        ))
    }

    /// A test, and what stands between its `&&` and `||`.
    pub(super) fn conditions(&mut self, word: &Word) -> (Arg, Vec<Arg>) {
        let mut cells = Cells::default();
        self.cells(word, &mut cells);
        let sign = |cell: &Cell| matches!(cell.character, '&' | '|') && !cell.value;
        let conditions = cells.all.split(sign).filter(|one| !one.is_empty());
        let conditions = conditions.map(|one| self.unsplit(&cells, one, word));
        (self.unsplit(&cells, &cells.all, word), conditions.collect())
    }

    fn unsplit(&self, whole: &Cells, cells: &[Cell], word: &Word) -> Arg {
        // A part of the word is its end, or begins nowhere where it matters.
        let start = whole.all.len() - cells.len();
        Arg {
            text: text(cells),
            span: self.place.map(word.span),
            glob: cells
                .iter()
                .any(|c| !c.quoted && !c.value && matches!(c.character, '*' | '?')),
            maybe: whole.maybe,
            many: false,
            inert: cells.iter().all(|cell| cell.is_inert()),
            guess: cells.iter().any(|cell| cell.guess),
            compound: false,
            place: whole.place(&text(cells), start),
            prefix: whole.prefix(&text(cells)),
        }
    }

    fn cells(&mut self, word: &Word, out: &mut Cells) {
        let span = self.place.map(word.span);
        for piece in &word.pieces {
            match piece {
                Piece::Text { text, quoted } => {
                    out.quotes |= quoted;
                    out.push(text, *quoted, false);
                }
                Piece::Variable {
                    name,
                    change,
                    quoted,
                } => {
                    out.quotes |= *quoted && name != "@";
                    self.variable(name, change, *quoted, out);
                }
                Piece::Substitution { text, quoted } => {
                    out.quotes |= quoted;
                    self.parts.substitution();
                    let place = self.place.inner(text, word.span);
                    let before = self.environment.clone();
                    let outer = std::mem::replace(&mut self.shown, Shown::Numbers);
                    let output = self.capturing(true, |judge| {
                        judge.text(&text.text, place, &Input::Inherited)
                    });
                    let shown = std::mem::replace(&mut self.shown, outer);
                    self.leave(before);
                    // How it splits is not followed where the text changes `IFS`.
                    let splits = !quoted && self.environment.variables.contains_key("IFS");
                    match output.filter(|_| !splits) {
                        Some(output) => out.push(output.trim_end_matches('\n'), *quoted, true),
                        None => {
                            out.many |= !quoted;
                            out.push_unknown(shown == Shown::Numbers);
                        }
                    }
                }
                Piece::Process { text } => {
                    self.parts.substitution();
                    let place = self.place.inner(text, word.span);
                    let before = self.environment.clone();
                    let outer = self.shown;
                    let output = self.text(&text.text, place, &Input::Unknown);
                    self.shown = outer;
                    self.leave(before);
                    let path = format!("/dev/fd/{}", 63 + self.environment.files.len());
                    let contents = output.map_or(Contents::Unknown, Contents::Text);
                    self.environment.files.insert(path.clone(), contents);
                    out.push(&path, true, true);
                }
                Piece::Arithmetic { inner } => {
                    self.parts.substitution();
                    let mut number = Cells::default();
                    self.cells(inner, &mut number);
                    self.computes(&Arg {
                        inert: number.is_inert(),
                        ..Arg::new(number.text(), span)
                    });
                    out.push_number(true);
                }
            }
        }
    }

    fn variable(&mut self, name: &str, change: &Change, quoted: bool, out: &mut Cells) {
        if is_number(name) {
            self.parts.substitution();
            if matches!(change, Change::None) {
                out.push_number(quoted);
                return;
            }
        }
        if (name == "@" || (name == "*" && !quoted))
            && matches!(change, Change::None)
            && let Some(args) = self.environment.positional.clone()
        {
            for (at, arg) in args.iter().enumerate() {
                if at > 0 {
                    out.push(" ", false, true);
                }
                match arg.guess {
                    true => out.push_unknown(true),
                    false => out.push_value(&arg.text, quoted, true, arg.inert),
                }
            }
            if args.iter().any(|arg| !arg.known()) {
                self.names_held("@");
            }
            return;
        }
        let address = match self.environment.variables.get(name) {
            Some(Value::Address(address)) => match change {
                Change::None => Some(address.clone()),
                Change::Length(_) | Change::Indirect(_) => None,
                _ => Some(perhaps(address)),
            },
            _ => None,
        };
        let mut known = self.known_variable(name);
        let mut inert = self.is_inert(name);
        if let Change::Length(inner) | Change::Indirect(inner) = change {
            let mut operator = Cells::default();
            self.cells(inner, &mut operator);
            let operation = operator.text();
            let list = matches!(operation.as_str(), "[@]" | "[*]");
            let keyed = self.environment.keyed.contains(name);
            let operation = Arg {
                inert: operator.is_inert(),
                ..Arg::new(operation, self.place.map(inner.span))
            };
            if operation.text.starts_with('[') && !list {
                self.key(&operation, keyed);
            }
            inert = matches!(change, Change::Length(_)) || (list && !keyed);
            let names = list || matches!(operation.text.as_str(), "@" | "*");
            if matches!(change, Change::Indirect(_)) && !names {
                self.indirect(name, known.as_deref(), operation.span);
                self.transformed(name, &operation.text, None, operation.span);
            }
            known = None;
        }
        if let Change::Other(inner) = change {
            let mut operator = Cells::default();
            self.cells(inner, &mut operator);
            let operator = operator.sure();
            let operation = operator.text();
            inert &= operator.is_inert() && known.as_deref().is_none_or(is_numeric);
            let list = matches!(operation.as_str(), "[@]" | "[*]");
            let changed = match list {
                true => self
                    .environment
                    .variables
                    .get(name)
                    .and_then(Value::list)
                    .map(str::to_owned),
                false => known
                    .as_deref()
                    .and_then(|value| changed(value, &operation)),
            };
            // Indices and offsets are computed.
            let offset = operation
                .strip_prefix(':')
                .is_some_and(|rest| !rest.starts_with(['+', '?']));
            let operation = Arg {
                inert: operator.is_inert(),
                ..Arg::new(operation, self.place.map(inner.span))
            };
            if operation.text.starts_with('[') && !list {
                self.key(&operation, self.environment.keyed.contains(name));
            } else if offset {
                self.computes(&operation);
            }
            let operation = operation.text;
            self.transformed(
                name,
                &operation,
                known.as_deref(),
                self.place.map(inner.span),
            );
            if operation.starts_with('[')
                && let Some((_, rest)) = operation.split_once(']')
                && let Some(value) = rest.trim_start_matches(':').strip_prefix('=')
            {
                let value = Arg::new(value, self.place.map(inner.span));
                self.sets(&format!("{name}["), &value);
                self.takes(name, &value);
            }
            if list && let Some(words) = changed {
                out.push(&words, false, true);
                return;
            }
            known = changed;
        }
        let mut default_prefix = None;
        if let Change::Default(inner) | Change::Assign(inner) = change {
            let mut default = Cells::default();
            self.cells(inner, &mut default);
            let text = default.text();
            default_prefix = default.prefix(&text);
            inert &= default.is_inert();
            if matches!(change, Change::Assign(_)) {
                let value = Arg {
                    inert: default.is_inert(),
                    ..Arg::new(text.clone(), self.place.map(inner.span))
                };
                self.sets(name, &value);
                self.takes(name, &value);
            }
            let set = self.environment.variables.contains_key(name);
            if !set || known.as_deref() == Some("") {
                out.maybe |= !set;
                let assigns = matches!(change, Change::Assign(_));
                let reshapes = assigns && self.environment.reshaped.contains(name);
                inert &= !assigns || !text.contains(['[', '$', '`']);
                known = (!reshapes).then_some(text);
                if assigns {
                    let value = if inert { Value::Inert } else { Value::Unknown };
                    self.environment.set(name, value);
                }
            }
        }
        if name == "IFS" && known.is_none() && !self.environment.variables.contains_key("IFS") {
            known = Some(" \t\n".to_owned());
        }
        // How a value splits is not followed where the text changes `IFS`.
        let splits = !quoted && self.environment.variables.contains_key("IFS");
        match known {
            Some(text) if !splits || !text.contains(|c: char| !c.is_alphanumeric()) => {
                if text.contains(UNKNOWN) {
                    self.names_held(name);
                }
                if out.starts_path() {
                    out.prefix_at = out.all.len();
                    out.prefix = default_prefix;
                }
                out.push_value(&text, quoted, true, inert);
            }
            _ => {
                self.names_held(name);
                // Numbers are one word each.
                let number = is_number(name)
                    || matches!(change, Change::Other(_)) && name == "#"
                    || matches!(change, Change::Length(_));
                out.many |= (!quoted && !number) || name == "@";
                if out.starts_path() && matches!(change, Change::None | Change::Default(_)) {
                    let tables = self.tables;
                    let own = self.environment.places.get(name).map(String::as_str);
                    let set = self.environment.variables.contains_key(name);
                    let known = own.or_else(|| tables.known_place(name).filter(|_| !set));
                    out.prefix_at = out.all.len();
                    out.prefix = known.map(str::to_owned);
                }
                match address.filter(|_| !splits) {
                    Some(address) => out.push_address(&address, quoted),
                    None => out.push_unknown(inert || number),
                }
            }
        }
    }

    /// Judges a subscript: of an array with keys it is none to compute, but some shells expand it
    /// once more, or know no keys.
    pub(super) fn key(&mut self, subscript: &Arg, keyed: bool) {
        self.computed(subscript);
        self.computed_values(subscript.span);
        if !keyed {
            self.computes(subscript);
        }
    }

    fn known_variable(&self, name: &str) -> Option<String> {
        let positional = self.environment.positional.as_ref();
        if let Ok(index) = name.parse::<usize>() {
            let args = positional?;
            return match index {
                0 => None,
                _ => args
                    .get(index - 1)
                    .filter(|arg| !arg.glob && !arg.guess)
                    .map_or(Some(String::new()), |arg| Some(arg.text.clone())),
            };
        }
        match name {
            "@" | "*" => {
                let words: Vec<&str> = positional?.iter().map(|arg| arg.text.as_str()).collect();
                Some(words.join(" "))
            }
            _ => self
                .environment
                .variables
                .get(name)?
                .text()
                .map(str::to_owned),
        }
    }

    /// `${name@P}` runs the substitutions in the value.
    fn transformed(&mut self, name: &str, operation: &str, known: Option<&str>, span: Span) {
        if operation.ends_with("@P") {
            self.find(
                Effect::Code,
                span,
                "expands a value as a prompt, and runs what stands in it",
            );
        }
        if operation.starts_with('@')
            && name != "@"
            && let Some(known) = known
        {
            self.computed(&Arg::new(known, span));
        }
    }

    /// `${!name}`: the variable that the value names, of which an index is computed.
    fn indirect(&mut self, name: &str, known: Option<&str>, span: Span) {
        let own = matches!(name, "#" | "OPTIND")
            || self.environment.variables.get(name) == Some(&Value::Inert);
        match known {
            _ if own => {}
            Some(known) => self.names_variable(&Arg::new(known, span)),
            None => self.names_variable(&Arg::unknown(span)),
        }
    }
}

/// The words that the characters of a word become.
fn split(cells: &Cells, span: Span) -> Vec<Arg> {
    let mut out = Vec::new();
    let many = cells
        .all
        .iter()
        .filter(|c| c.character == '{' && !c.quoted && !c.value)
        .count()
        > BRACES;
    let words = if many {
        vec![vec![Cell {
            character: UNKNOWN,
            quoted: true,
            value: true,
            inert: false,
            guess: false,
        }]]
    } else {
        braces(&cells.all)
    };
    for word in words {
        for field in fields(&word, cells.quotes) {
            let place = cells.place(&text(&field), 0);
            let prefix = cells.prefix(&text(&field));
            let glob = field
                .iter()
                .any(|cell| !cell.quoted && matches!(cell.character, '*' | '?' | '['));
            out.push(Arg {
                text: text(&field),
                span,
                glob,
                maybe: cells.maybe,
                many: glob || cells.many,
                inert: field.iter().all(|cell| cell.is_inert()),
                guess: field.iter().any(|cell| cell.guess),
                compound: false,
                place,
                prefix,
            });
        }
    }
    out
}

/// Whether a shell's parameter is a number, or flags, of which it is not known which.
pub(super) fn is_number(name: &str) -> bool {
    matches!(name, "?" | "#" | "$" | "!" | "-")
}

/// What simple operators make of a known value.
fn changed(value: &str, operation: &str) -> Option<String> {
    let characters: Vec<char> = value.chars().collect();
    match operation {
        ",," => return Some(value.to_lowercase()),
        "^^" => return Some(value.to_uppercase()),
        _ => {}
    }
    if let Some(rest) = operation.strip_prefix("//") {
        let (from, to) = rest.split_once('/').unwrap_or((rest, ""));
        return plain(from).then(|| value.replace(from, to));
    }
    if let Some(rest) = operation.strip_prefix('/') {
        let (from, to) = rest.split_once('/').unwrap_or((rest, ""));
        return plain(from).then(|| value.replacen(from, to, 1));
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
            && plain(rest)
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

fn plain(pattern: &str) -> bool {
    !pattern.is_empty()
        && pattern
            .chars()
            .all(|c| c.is_alphanumeric() || "._-+ ".contains(c))
}

fn fields(cells: &[Cell], quotes: bool) -> Vec<Vec<Cell>> {
    let mut out = Vec::new();
    let mut current = Vec::new();
    let mut split = false;
    for cell in cells {
        if cell.value && !cell.quoted && cell.character.is_ascii_whitespace() {
            split = true;
            if !current.is_empty() {
                out.push(std::mem::take(&mut current));
            }
        } else {
            current.push(*cell);
        }
    }
    if !current.is_empty() || (quotes && !split) || (quotes && out.is_empty()) {
        out.push(current);
    }
    out
}

/// `a{b,c}` and `{1..3}`; what would be more than [`MOST`] words stays as it is.
fn braces(cells: &[Cell]) -> Vec<Vec<Cell>> {
    let is = |cell: &Cell, c: char| cell.character == c && !cell.quoted && !cell.value;
    let mut open = 0;
    while let Some(start) = cells[open..]
        .iter()
        .position(|c| is(c, '{'))
        .map(|i| i + open)
    {
        let mut depth = 0usize;
        let mut commas = Vec::new();
        let mut end = None;
        for (at, cell) in cells.iter().enumerate().skip(start) {
            if is(cell, '{') {
                depth += 1;
            } else if is(cell, '}') {
                depth -= 1;
                if depth == 0 {
                    end = Some(at);
                    break;
                }
            } else if is(cell, ',') && depth == 1 {
                commas.push(at);
            }
        }
        let Some(end) = end else {
            open = start + 1;
            continue;
        };
        let middle: Vec<Vec<Cell>> = if commas.is_empty() {
            match sequence(&cells[start + 1..end]) {
                Some(words) => words,
                None => {
                    open = start + 1;
                    continue;
                }
            }
        } else {
            let mut from = start + 1;
            let mut parts = Vec::new();
            for at in commas.into_iter().chain([end]) {
                parts.push(cells[from..at].to_vec());
                from = at + 1;
            }
            parts
        };
        let tails = braces(&cells[end + 1..]);
        let mut out = Vec::new();
        for part in middle {
            for part in braces(&part) {
                for tail in &tails {
                    if out.len() >= MOST {
                        return vec![vec![Cell {
                            character: UNKNOWN,
                            quoted: true,
                            value: true,
                            inert: false,
                            guess: false,
                        }]];
                    }
                    let mut word = cells[..start].to_vec();
                    word.extend_from_slice(&part);
                    word.extend_from_slice(tail);
                    out.push(word);
                }
            }
        }
        return out;
    }
    vec![cells.to_vec()]
}

fn sequence(cells: &[Cell]) -> Option<Vec<Vec<Cell>>> {
    let text: String = cells.iter().map(|cell| cell.character).collect();
    let mut parts = text.split("..");
    let (from, to) = (parts.next()?, parts.next()?);
    let step = parts
        .next()
        .map_or(Some(1), |step| step.parse::<i64>().ok())?
        .unsigned_abs()
        .max(1);
    let word = |text: String| -> Vec<Cell> {
        text.chars()
            .map(|character| Cell {
                character,
                quoted: true,
                value: true,
                inert: false,
                guess: false,
            })
            .collect()
    };
    if let (Ok(from), Ok(to)) = (from.parse::<i64>(), to.parse::<i64>()) {
        if from.abs_diff(to) / step >= MOST as u64 {
            return Some(vec![word(UNKNOWN.to_string())]);
        }
        let (low, high) = (from.min(to), from.max(to));
        let mut all: Vec<_> = (low..=high)
            .step_by(step as usize)
            .map(|n| word(n.to_string()))
            .collect();
        if from > to {
            all.reverse();
        }
        return Some(all);
    }
    let (mut a, mut b) = (from.chars(), to.chars());
    let (Some(from), None, Some(to), None) = (a.next(), a.next(), b.next(), b.next()) else {
        return None;
    };
    if !from.is_ascii() || !to.is_ascii() {
        return None;
    }
    let (low, high) = (from.min(to), from.max(to));
    Some((low..=high).map(|c| word(c.into())).collect())
}
