//! Lines of Perl, Ruby, PHP and Lua that only compute and print.
//!
//! What is read here is so little of these languages that a text cannot mean anything else to
//! them: known words, numbers, strings in which nothing is computed, variables, brackets and
//! operators; of Perl, matches and replacements as well. Everything by which a quote may be no
//! quote (comments, patterns of other languages, special variables) is refused.

use super::names::WORDS;
use crate::tables::Set;

/// What lines of a language may be made of.
pub(super) struct Line {
    words: &'static Set,
    /// Beside `( ) , ; . + - * = [ ]`.
    signs: &'static str,
    /// What stands before the name of a variable.
    sigils: &'static str,
    /// Whether a string in double quotes has variables in it.
    interpolates: bool,
    /// Whether `/` and `?` are read.
    matches: bool,
}

pub(super) static PERL: Line = Line {
    words: &WORDS.perl,
    signs: "{}!~|&<>%:",
    sigils: "$@%",
    interpolates: true,
    matches: true,
};
pub(super) static RUBY: Line = Line {
    words: &WORDS.ruby,
    signs: "",
    sigils: "",
    interpolates: true,
    matches: false,
};
pub(super) static PHP: Line = Line {
    words: &WORDS.php,
    signs: "",
    sigils: "$",
    interpolates: true,
    matches: false,
};
pub(super) static LUA: Line = Line {
    words: &WORDS.lua,
    signs: "",
    sigils: "",
    interpolates: false,
    matches: false,
};

/// Words of Perl behind which `/` begins a match and divides nothing, and `%` is a hash.
const BEFORE_AN_OPERAND: &[&str] = &[
    "and", "each", "grep", "if", "keys", "my", "not", "or", "print", "scalar", "split", "unless",
    "until", "values", "while",
];

/// What has been read last, white space apart.
#[derive(Clone, Copy, PartialEq)]
enum Last {
    /// Nothing, an operator or an opening bracket: an operand follows.
    Operator,
    /// A word of the language: what follows may be anything.
    Word,
    /// The end of a block, or of an index.
    Brace,
    /// A variable, a number, a string or a closing bracket.
    Operand,
}

/// Whether a text only computes and prints.
pub(super) fn is_harmless(line: &'static Line, text: &str) -> bool {
    // Documentation begins like that.
    if text.starts_with('=') || text.contains("\n=") {
        return false;
    }
    let mut reader = Reader {
        line,
        rest: text,
        last: Last::Operator,
    };
    while !reader.rest.is_empty() {
        if reader.step().is_none() {
            return false;
        }
    }
    true
}

struct Reader<'t> {
    line: &'static Line,
    rest: &'t str,
    last: Last,
}

impl<'t> Reader<'t> {
    /// Reads on; none where it is not understood, or not harmless.
    fn step(&mut self) -> Option<()> {
        let first = self.rest.chars().next()?;
        let second = self.rest[first.len_utf8()..].chars().next().unwrap_or(' ');
        match first {
            ' ' | '\t' | '\n' => self.skip(1),
            'a'..='z' | 'A'..='Z' | '_' => self.word(),
            '0'..='9' => {
                self.number();
                // A quote directly behind it may be part of another word.
                (!self.rest.starts_with(['\'', '"', '.'])).then_some(())
            }
            '\'' | '"' => self.string(first),
            sigil if self.is_variable(sigil, second) => self.variable(sigil),
            '/' if self.line.matches && self.last == Last::Operator => self.pattern(1),
            '?' if self.line.matches && self.last == Last::Operand => self.sign(1, Last::Operator),
            '(' | '[' => {
                // A call of what is no word.
                if first == '(' && self.last == Last::Operand {
                    return None;
                }
                // Lua's long brackets.
                if first == '[' && matches!(second, '[' | '=') {
                    return None;
                }
                self.sign(1, Last::Operator)
            }
            ')' | ']' => self.sign(1, Last::Operand),
            '}' if self.line.signs.contains('}') => self.sign(1, Last::Brace),
            // A comment of Lua; a method or what a reference leads to, in Perl and PHP.
            '-' if matches!(second, '-' | '>') => None,
            // No file is read, and no subroutine called by its sign.
            '<' if self.last != Last::Operand || second != ' ' && second != '=' => None,
            '&' | '|' if self.line.signs.contains(first) => {
                let joins = second == first && self.last != Last::Operator;
                joins.then(|| self.sign(2, Last::Operator))?
            }
            ':' if self.line.signs.contains(':') => match second {
                ':' => self.sign(2, Last::Operator),
                _ => self.sign(1, Last::Operator),
            },
            // A hash or a glob of any name, unless it is an operator.
            '%' | '*' if self.last != Last::Operand => None,
            '*' if second == '*' => self.sign(2, Last::Operator),
            ',' | ';' | '.' | '+' | '-' | '*' | '=' => self.sign(1, Last::Operator),
            sign if self.line.signs.contains(sign) => self.sign(1, Last::Operator),
            _ => None,
        }
    }

    #[expect(clippy::unnecessary_wraps, reason = "as the others")]
    fn skip(&mut self, bytes: usize) -> Option<()> {
        self.rest = &self.rest[bytes..];
        Some(())
    }

    fn sign(&mut self, bytes: usize, last: Last) -> Option<()> {
        self.last = last;
        self.skip(bytes)
    }

    fn take(&mut self, is_part: impl Fn(char) -> bool) -> &'t str {
        let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken
    }

    fn name(&mut self) -> &'t str {
        self.take(is_in_name)
    }

    /// A number, and the operator of a range behind it: a single dot may belong to either.
    fn number(&mut self) {
        self.name();
        self.last = Last::Operand;
        if let Some(rest) = self.rest.strip_prefix("..") {
            self.rest = rest;
            self.last = Last::Operator;
        } else if let Some(rest) = self.rest.strip_prefix('.')
            && rest.starts_with(|c: char| c.is_ascii_digit())
        {
            self.rest = rest;
            self.name();
        }
    }

    fn word(&mut self) -> Option<()> {
        let word = self.name();
        if self.line.matches && self.rest.starts_with('/') {
            match word {
                "m" => return self.pattern(1),
                "s" | "tr" | "y" => return self.pattern(2),
                _ => {}
            }
        }
        // `q'…'`, and quotes that are part of a name.
        if self.rest.starts_with(['\'', '"']) {
            return None;
        }
        self.last = if self.line.matches && BEFORE_AN_OPERAND.contains(&word) {
            Last::Operator
        } else {
            Last::Word
        };
        self.line.words.contains(word).then_some(())
    }

    fn is_variable(&self, sigil: char, second: char) -> bool {
        self.line.sigils.contains(sigil)
            && (second.is_ascii_alphanumeric()
                || second == '_'
                || sigil == '$' && self.line.matches && ".,!&#".contains(second))
            // A hash, and no remainder.
            && (sigil != '%' || self.last == Last::Operator)
    }

    fn variable(&mut self, sigil: char) -> Option<()> {
        self.skip(1)?;
        if let Some(rest) = self.rest.strip_prefix('#') {
            // The last index of a list.
            self.rest = rest;
            if !rest.starts_with(|c: char| c.is_ascii_alphabetic()) {
                return None;
            }
        }
        let name = self.name();
        if name.is_empty() {
            self.skip(1)?;
        }
        self.last = Last::Operand;
        // The names of files that are read next, which may be programs; and where code is.
        let is_special = match name {
            "ARGV" => sigil == '@' || self.rest.starts_with('['),
            "INC" | "ENV" | "SIG" | "GLOBALS" => true,
            _ => false,
        };
        (!is_special && !self.rest.starts_with(['\'', '"', '('])).then_some(())
    }

    fn string(&mut self, quote: char) -> Option<()> {
        self.skip(1)?;
        let inside = self.until(quote)?;
        let computes = quote == '"' && self.line.interpolates && is_computed(inside);
        self.last = Last::Operand;
        (!computes && !inside.contains('\n')).then_some(())
    }

    /// So many texts between `/`, each but the first behind the one before it.
    fn pattern(&mut self, texts: usize) -> Option<()> {
        self.skip(1)?;
        for _ in 0..texts {
            let inside = self.until('/')?;
            if is_computed(inside) || inside.contains("(?{") || inside.contains("(??{") {
                return None;
            }
        }
        let flags = self.take(|c| c.is_ascii_alphabetic());
        self.last = Last::Operand;
        flags
            .chars()
            .all(|flag| "gimsxrcd".contains(flag))
            .then_some(())
    }

    /// What stands before this character, which is read, too.
    fn until(&mut self, end: char) -> Option<&'t str> {
        let mut escaped = false;
        let at = self.rest.find(|c| {
            let is_end = c == end && !escaped;
            escaped = c == '\\' && !escaped;
            is_end
        })?;
        let inside = &self.rest[..at];
        self.rest = &self.rest[at + 1..];
        Some(inside)
    }
}

/// Whether code may stand in a text that has variables in it.
fn is_computed(inside: &str) -> bool {
    if ["#{", "@{", "${", "{$", "->"]
        .iter()
        .any(|sign| inside.contains(sign))
    {
        return true;
    }
    // An index may be any code, unless it is a number or a name.
    inside.match_indices(['$', '@']).any(|(at, _)| {
        let mut behind = inside[at + 1..].trim_start_matches(is_in_name);
        while let Some(rest) = plain_index(behind) {
            behind = rest;
        }
        behind.starts_with(['[', '{'])
    })
}

/// What follows a number in brackets, or a name in braces.
fn plain_index(text: &str) -> Option<&str> {
    let (open, is_plain, close): (_, fn(char) -> bool, _) = match text.chars().next()? {
        '[' => ('[', |c| c.is_ascii_digit(), ']'),
        '{' => ('{', is_in_name, '}'),
        _ => return None,
    };
    let inside = text.strip_prefix(open)?.trim_start_matches(is_plain);
    inside.strip_prefix(close)
}

fn is_in_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}
