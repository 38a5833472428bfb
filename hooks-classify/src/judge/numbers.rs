//! What a shell computes, and which values are numbers.
//!
//! In an expression the value of a variable is an expression in its turn, and an index in it is
//! expanded: `x='a[$(cmd)]'; echo $((x))` runs `cmd`. So is the index in a word that names a
//! variable: `read "$x"`, `[[ -v $x ]]`, `${!x}`. What comes from elsewhere must be a number, then,
//! or be asked about.

use std::collections::HashSet;

use super::Judge;
use super::words::is_number;
use crate::model::arg::{Arg, UNKNOWN};
use crate::model::environment::{COMPUTED, FILLED, Value, is_numeric};
use crate::model::program_name::plain_program;
use crate::model::span::Span;
use crate::model::unseen_code::UnseenCode;

/// What is printed, as far as it is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    Anything,
    /// Lines of a number, this character, and more.
    Counted(char),
    Numbers,
}

impl Shown {
    /// What holds of both.
    pub(crate) fn and(self, other: Self) -> Self {
        match (self, other) {
            _ if self == other => self,
            (Self::Numbers, counted) | (counted, Self::Numbers) => counted,
            _ => Self::Anything,
        }
    }
}

impl Judge<'_> {
    /// Judges an expression that the shell computes.
    pub(super) fn computes(&mut self, expression: &Arg) {
        let span = expression.span;
        self.computed(expression);
        self.assigned_within(&expression.text, span);
        self.computed_values(span);
        if !expression.known() && !expression.inert {
            self.runs_unseen(
                span,
                UnseenCode::Expression,
                "the shell computes what is only known when it runs, and runs what stands in it",
            );
        }
        let mut seen = HashSet::new();
        if let Some(name) = self.foreign(&expression.text, &mut seen) {
            self.runs_unseen(
                span,
                UnseenCode::Expression,
                format!(
                    "the shell computes `{name}`, whose value is only known when it runs, and \
                     runs what stands in it"
                ),
            );
        }
    }

    /// Judges a word that names a variable, of which an index is computed.
    pub(super) fn names_variable(&mut self, word: &Arg) {
        self.computed(word);
        let (name, index) = word.text.split_once('[').unwrap_or((&word.text, ""));
        if name.contains(UNKNOWN) {
            self.runs_unseen(
                word.span,
                UnseenCode::Expression,
                "which variable this is is only known when it runs, and an index in it runs code",
            );
        }
        if !index.is_empty() {
            self.computes(&word.with(index));
        }
    }

    /// A variable in an expression of which it is not known what its value would run.
    fn foreign(&self, expression: &str, seen: &mut HashSet<String>) -> Option<String> {
        let part = |c: char| c.is_alphanumeric() || c == '_';
        let names = expression
            .split(|c| !part(c))
            .filter(|word| word.starts_with(|c: char| !c.is_ascii_digit()));
        for name in names {
            if !seen.insert(name.to_owned()) {
                continue;
            }
            match self.environment.variables.get(name) {
                Some(Value::Unknown | Value::Address(_)) => return Some(name.to_owned()),
                Some(Value::Text(text) | Value::List(text)) => {
                    if let Some(name) = self.foreign(text, seen) {
                        return Some(name);
                    }
                }
                _ if FILLED.contains(&name) => return Some(name.to_owned()),
                Some(Value::Inert) | None => {}
            }
        }
        None
    }

    /// Notes the variables that an expression sets.
    fn assigned_within(&mut self, expression: &str, span: Span) {
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
                self.sets(name, &Arg::unknown(span));
                self.environment.set(name, Value::Inert);
            }
        }
    }

    /// Code in the index of an array that a value holds runs where any of them is computed.
    pub(super) fn computed_values(&mut self, span: Span) {
        let values: Vec<String> = self
            .environment
            .variables
            .values()
            .filter_map(Value::text)
            .chain(self.environment.outer.iter().map(String::as_str))
            .filter(|value| value.contains('[') && (value.contains("$(") || value.contains('`')))
            .map(str::to_owned)
            .collect();
        for value in values {
            self.computed(&Arg::new(value, span));
        }
    }

    /// Judges a value that a variable takes: that of an integer is computed, whichever command
    /// sets it.
    pub(super) fn takes(&mut self, name: &str, value: &Arg) {
        let name = name.split(['+', '[']).next().unwrap_or(name);
        let names = self.environment.referents(name);
        let computed = |name: &String| {
            self.environment.integers.contains(name) || COMPUTED.contains(&name.as_str())
        };
        if names.iter().any(computed) {
            self.computes(value);
        }
    }

    /// Sets a variable that a command of the shell fills with values such as this one.
    pub(super) fn fills(&mut self, name: &Arg, value: &Arg) {
        self.names_variable(name);
        self.sets(&name.text, &Arg::unknown(name.span));
        self.takes(&name.text, value);
        let plain = name.text.split('[').next().unwrap_or("");
        // `read -a` and `mapfile` make it an array.
        self.environment.arrays.insert(plain.to_owned());
        self.environment.set_unknown(plain);
    }

    /// Returns true if a variable holds a number, or what the shell was started with.
    pub(super) fn is_numeric(&self, name: &str) -> bool {
        match self.environment.variables.get(name).map(Value::list) {
            Some(Some(text)) => is_numeric(text),
            _ => self.is_inert(name),
        }
    }

    /// Whether a variable holds what runs nothing if it is computed.
    pub(super) fn is_inert(&self, name: &str) -> bool {
        let positional = self.environment.positional.as_deref();
        let inert = |arg: &Arg| arg.inert || arg.known();
        if let Ok(index) = name.parse::<usize>() {
            return positional.map_or(!self.environment.given, |args| {
                index
                    .checked_sub(1)
                    .and_then(|at| args.get(at))
                    .is_none_or(inert)
            });
        }
        match name {
            "@" | "*" => positional.map_or(!self.environment.given, |args| args.iter().all(inert)),
            _ if is_number(name) => true,
            _ => {
                let value = self.environment.variables.get(name);
                !value.is_some_and(Value::is_unknown) && !FILLED.contains(&name)
            }
        }
    }

    /// What a command shows where it is not known what exactly.
    pub(super) fn shows(&self, args: &[Arg], input: Shown) -> Shown {
        let Some((name, args)) = args.split_first() else {
            return Shown::Numbers;
        };
        if self.environment.aliases.contains_key(&name.text) {
            return Shown::Anything;
        }
        if self.environment.functions.contains_key(&name.text) {
            // Its commands are asked.
            return Shown::Numbers;
        }
        let known = args.iter().all(|arg| arg.known() && !arg.glob);
        let words: Vec<&str> = args.iter().map(|arg| arg.text.as_str()).collect();
        let (flags, operands): (Vec<&str>, Vec<&str>) =
            words.iter().partition(|word| word.starts_with(['-', '+']));
        let flagged = |letters: &str| {
            flags
                .iter()
                .any(|flag| !flag.starts_with("--") && flag.contains(|c| letters.contains(c)))
        };
        let number = |arg: &Arg| match arg.known() {
            true => is_numeric(&arg.text),
            false => arg.inert,
        };
        let name = plain_program(&name.text);
        let flags_within = |letters: &str| {
            flags
                .iter()
                .all(|flag| flag[1..].chars().all(|c| letters.contains(c)))
        };
        let shows = match name {
            // They print nothing.
            "test" | "[" | "[[" | "true" | "false" | ":" | "sleep" | "exit" | "return"
            | "shift" | "break" | "continue" | "unset" | "read" | "let" | "wait" => true,
            "echo" | "seq" => args.iter().all(number),
            "printf" => known_format(&words) && args.iter().skip(1).all(number),
            "expr" => args
                .iter()
                .all(|arg| number(arg) || ["+", "-", "*", "/", "%"].contains(&arg.text.as_str())),
            _ if !known => false,
            "nproc" => true,
            "pgrep" => flags_within("fxoniuPtgs"),
            "bc" => words.is_empty() && input == Shown::Numbers,
            "wc" => operands.is_empty() && flags_within("clmwL"),
            "date" => words
                .iter()
                .any(|word| word.strip_prefix('+').is_some_and(date)),
            "id" => flagged("ugG") && !flagged("n"),
            "tput" => matches!(words.as_slice(), ["cols" | "lines"]),
            "stat" => match words.as_slice() {
                ["-c" | "-f", format, _] => stat(format),
                [format, _] => format.strip_prefix("-c").is_some_and(stat),
                _ => false,
            },
            "grep" | "egrep" | "fgrep" => {
                let counts = flagged("c") || words.contains(&"--count");
                let short = flags.iter().all(|flag| {
                    *flag == "--count" || flag[1..].chars().all(|c| "civwxEFPm".contains(c))
                });
                counts && short && operands.len() <= 2
            }
            "git" => words.starts_with(&["rev-list", "--count"]),
            "jq" => {
                flags_within("rceMsS")
                    && operands.first().is_some_and(|filter| {
                        *filter == "length" || filter.trim_end().ends_with("| length")
                    })
            }
            "curl" => {
                let away = words
                    .windows(2)
                    .any(|pair| pair[0].ends_with('o') && pair[1] == "/dev/null");
                let format = words
                    .iter()
                    .position(|word| matches!(*word, "-w" | "--write-out"))
                    .and_then(|at| words.get(at + 1));
                let long = ["--write-out", "--max-time", "--connect-timeout"];
                let plain = flags.iter().all(|flag| {
                    long.contains(flag) || flag[1..].chars().all(|c| "sSoLkfIXmw".contains(c))
                });
                away && plain && format.is_some_and(|format| status(format))
            }
            "cut" => {
                let first = |words: &[&str]| matches!(words, ["-f1"] | ["-f", "1"]);
                let parted = |by: &str| match words.as_slice() {
                    ["-d", sign, rest @ ..] => *sign == by && first(rest),
                    [joined, rest @ ..] if joined.starts_with("-d") => {
                        joined[2..] == *by && first(rest)
                    }
                    rest => by == "\t" && first(rest),
                };
                match input {
                    Shown::Counted(sign) => parted(sign.encode_utf8(&mut [0; 4])),
                    Shown::Anything | Shown::Numbers => false,
                }
            }
            "awk" | "gawk" | "mawk" => {
                matches!(input, Shown::Numbers | Shown::Counted(' ' | '\t'))
                    && matches!(words.as_slice(), ["{print $1}" | "{ print $1 }"])
            }
            "tr" => match words.as_slice() {
                ["-d", _] => input == Shown::Numbers,
                ["-dc" | "-cd", kept] => kept
                    .replace("[:digit:]", "")
                    .chars()
                    .all(|c| c.is_ascii_digit() || "-.\n".contains(c)),
                _ => false,
            },
            "xargs" => input == Shown::Numbers && words.is_empty(),
            _ => false,
        };
        match name {
            _ if shows => Shown::Numbers,
            "wc" | "cksum" | "sum" if known && flags_within("clmwL") => Shown::Counted(' '),
            "du" if known && flags_within("sbkmacx") => Shown::Counted('\t'),
            "grep" | "egrep" | "fgrep"
                if known && flagged("n") && flags_within("civnowxEFPm") && operands.len() <= 2 =>
            {
                Shown::Counted(':')
            }
            // Some of the lines that they read.
            "head" | "tail" if known && some_lines(&words) => input,
            "sort" if flags_within("nru") && operands.is_empty() => input,
            "cat" | "uniq" if words.is_empty() => input,
            _ => Shown::Anything,
        }
    }
}

/// Whether `head` and `tail` are told how many lines they show, and no file.
fn some_lines(words: &[&str]) -> bool {
    let number = |word: &str| word.chars().all(|c| c.is_ascii_digit());
    match words {
        [] => true,
        ["-n", count] => number(count),
        [flag] => {
            number(flag.trim_start_matches("-n").trim_start_matches('-'))
                && flag.len() > 1
                && flag.starts_with('-')
        }
        _ => false,
    }
}

/// Whether a format of `printf` shows only its words, and numbers.
fn known_format(words: &[&str]) -> bool {
    words.first().is_some_and(|format| {
        let rest = format
            .replace("%s", "")
            .replace("%d", "")
            .replace("\\n", "");
        rest.chars().all(|c| c.is_ascii_digit() || c == ' ')
    })
}

/// Whether the format of a time has only numbers.
fn date(format: &str) -> bool {
    let mut rest = format.chars();
    while let Some(c) = rest.next() {
        let number = match c {
            '%' => rest
                .next()
                .is_some_and(|c| "sYymdHMSNjuwUVWCGgIklFT".contains(c)),
            _ => c.is_ascii_digit() || "-:. ".contains(c),
        };
        if !number {
            return false;
        }
    }
    true
}

/// Whether a format of `stat` has only numbers.
fn stat(format: &str) -> bool {
    matches!(
        format,
        "%s" | "%Y" | "%X" | "%Z" | "%h" | "%i" | "%a" | "%u" | "%g" | "%b"
    )
}

/// Whether what `curl` writes after an answer is a number.
fn status(format: &str) -> bool {
    matches!(
        format.trim_end_matches("\\n"),
        "%{http_code}" | "%{response_code}" | "%{time_total}" | "%{size_download}"
    )
}
