//! Perl, Ruby, PHP and Lua: a script in, `true` out if its lines only compute and print.
//!
//! The reader accepts a subset on which all versions of these languages agree: known words, numbers,
//! strings without computed parts, variables, brackets and operators; in Perl also matches and
//! replacements. It refuses each notation in which a quote may not begin a string: comments, patterns
//! of other languages, special variables.

use super::names::WORDS;
use crate::tables::WordSet;

/// Tokens that lines of a language may have.
pub(super) struct LineSyntax {
    words: &'static WordSet,
    /// In addition to `( ) , ; . + - * = [ ]`.
    signs: &'static str,
    /// Signs before the name of a variable.
    sigils: &'static str,
    /// `true` if a string in double quotes has variables in it.
    interpolates: bool,
    /// `true` if `/` and `?` are read.
    matches: bool,
}

pub(super) static PERL: LineSyntax = LineSyntax {
    words: &WORDS.perl,
    signs: "{}!~|&<>%:",
    sigils: "$@%",
    interpolates: true,
    matches: true,
};
pub(super) static RUBY: LineSyntax = LineSyntax {
    words: &WORDS.ruby,
    signs: "",
    sigils: "",
    interpolates: true,
    matches: false,
};
pub(super) static PHP: LineSyntax = LineSyntax {
    words: &WORDS.php,
    signs: "",
    sigils: "$",
    interpolates: true,
    matches: false,
};
pub(super) static LUA: LineSyntax = LineSyntax {
    words: &WORDS.lua,
    signs: "",
    sigils: "",
    interpolates: false,
    matches: false,
};

/// The kind of the token that was read last, without white space.
#[derive(Clone, Copy, PartialEq)]
enum LastToken {
    /// Nothing, an operator or an opening bracket: an operand follows.
    Operator,
    /// A word of the language: any token may follow.
    Word,
    /// The end of a block, or of an index.
    Brace,
    /// A variable, a number, a string or a closing bracket.
    Operand,
}

/// Returns `true` if a text only computes and prints.
pub(super) fn is_harmless(line: &'static LineSyntax, text: &str) -> bool {
    // Documentation of Perl and Ruby begins with `=`.
    if text.starts_with('=') || text.contains("\n=") {
        return false;
    }
    let mut reader = LineScanner {
        line,
        rest: text,
        last: LastToken::Operator,
    };
    while !reader.rest.is_empty() {
        if reader.next_token().is_none() {
            return false;
        }
    }
    true
}

struct LineScanner<'t> {
    line: &'static LineSyntax,
    rest: &'t str,
    last: LastToken,
}

impl<'t> LineScanner<'t> {
    /// Reads one token. Returns `None` if it is not understood, or not harmless.
    fn next_token(&mut self) -> Option<()> {
        let first = self.rest.chars().next()?;
        let second = self.rest[first.len_utf8()..].chars().next().unwrap_or(' ');
        match first {
            ' ' | '\t' | '\n' => self.skip(1),
            'a'..='z' | 'A'..='Z' | '_' => self.word(),
            '0'..='9' => {
                self.number();
                // A quote directly after a number may be part of another word.
                (!self.rest.starts_with(['\'', '"', '.'])).then_some(())
            }
            '\'' | '"' => self.string(first),
            sigil if self.is_variable(sigil, second) => self.variable(sigil),
            '/' if self.line.matches && self.last == LastToken::Operator => self.pattern(1),
            '?' if self.line.matches && self.last == LastToken::Operand => {
                self.operator(1, LastToken::Operator)
            }
            '(' | '[' => {
                // A call of a value.
                if first == '(' && self.last == LastToken::Operand {
                    return None;
                }
                // Lua's long brackets.
                if first == '[' && matches!(second, '[' | '=') {
                    return None;
                }
                self.operator(1, LastToken::Operator)
            }
            ')' | ']' => self.operator(1, LastToken::Operand),
            '}' if self.line.signs.contains('}') => self.operator(1, LastToken::Brace),
            // A comment in Lua; a method or a reference in Perl and PHP.
            '-' if matches!(second, '-' | '>') => None,
            // `<FILE>` reads a file.
            '<' if self.last != LastToken::Operand || second != ' ' && second != '=' => None,
            '&' | '|' if self.line.signs.contains(first) => {
                let joins = second == first && self.last != LastToken::Operator;
                joins.then(|| self.operator(2, LastToken::Operator))?
            }
            ':' if self.line.signs.contains(':') => match second {
                ':' => self.operator(2, LastToken::Operator),
                _ => self.operator(1, LastToken::Operator),
            },
            // A hash or a glob of any name, unless it is an operator.
            '%' | '*' if self.last != LastToken::Operand => None,
            '*' if second == '*' => self.operator(2, LastToken::Operator),
            ',' | ';' | '.' | '+' | '-' | '*' | '=' => self.operator(1, LastToken::Operator),
            sign if self.line.signs.contains(sign) => self.operator(1, LastToken::Operator),
            _ => None,
        }
    }

    #[expect(clippy::unnecessary_wraps, reason = "like the other readers")]
    fn skip(&mut self, bytes: usize) -> Option<()> {
        self.rest = &self.rest[bytes..];
        Some(())
    }

    fn operator(&mut self, bytes: usize, last: LastToken) -> Option<()> {
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

    /// Reads a number, and the operator of a range after it.
    fn number(&mut self) {
        self.name();
        self.last = LastToken::Operand;
        if let Some(rest) = self.rest.strip_prefix("..") {
            self.rest = rest;
            self.last = LastToken::Operator;
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
        self.last = if self.line.matches && WORDS.perl_before_an_operand.contains(word) {
            LastToken::Operator
        } else {
            LastToken::Word
        };
        self.line.words.contains(word).then_some(())
    }

    fn is_variable(&self, sigil: char, second: char) -> bool {
        self.line.sigils.contains(sigil)
            && (second.is_ascii_alphanumeric()
                || second == '_'
                || sigil == '$' && self.line.matches && ".,!&#".contains(second))
            // A hash, not a remainder.
            && (sigil != '%' || self.last == LastToken::Operator)
    }

    fn variable(&mut self, sigil: char) -> Option<()> {
        self.skip(1)?;
        if let Some(rest) = self.rest.strip_prefix('#') {
            // `$#list` is the last index of a list.
            self.rest = rest;
            if !rest.starts_with(|c: char| c.is_ascii_alphabetic()) {
                return None;
            }
        }
        let name = self.name();
        if name.is_empty() {
            self.skip(1)?;
        }
        self.last = LastToken::Operand;
        // `@ARGV` contains names of files, which may be programs; the others lead to code.
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
        self.last = LastToken::Operand;
        (!computes && !inside.contains('\n')).then_some(())
    }

    /// Reads a number of texts with `/` between and after them.
    fn pattern(&mut self, texts: usize) -> Option<()> {
        self.skip(1)?;
        for _ in 0..texts {
            let inside = self.until('/')?;
            if is_computed(inside) || inside.contains("(?{") || inside.contains("(??{") {
                return None;
            }
        }
        let flags = self.take(|c| c.is_ascii_alphabetic());
        self.last = LastToken::Operand;
        flags
            .chars()
            .all(|flag| "gimsxrcd".contains(flag))
            .then_some(())
    }

    /// Reads past the next character `end` that is not escaped, and returns the text before it.
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

/// Returns `true` if a text with variables in it may have code in it.
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

/// Returns the text after a number in brackets, or after a name in braces.
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
