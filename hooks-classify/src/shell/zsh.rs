//! Zsh: a text with harmless notation of zsh in, the text in the notation of other shells out.

use super::lex::find_closing_bracket;

/// Parameter flags that run and evaluate nothing.
const HARMLESS_FLAGS: &str = "@0aBbcCDfFikLmMnNoOqQRStuUvVwWXz";

/// Glob qualifiers of one letter or sign that run nothing.
const HARMLESS_QUALIFIERS: &str = "/.=@*%prwxRWXsStAIEUGNDMTFn^,-";

/// Returns a text with the glob qualifiers, parameter flags and tests for a parameter of zsh
/// replaced; `None` if there are none, or if one of them may run code.
pub(crate) fn translate_zsh(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(text.len());
    let mut double = false;
    let mut word = ScannedWord::default();
    // In an expression, brackets are only brackets.
    let is_expression = text.contains("((");
    let mut at = 0;
    let mut copied = 0;
    while at < bytes.len() {
        let rest = &text.get(at..)?;
        let replaced = match bytes[at] {
            b'\\' => {
                at += 1;
                None
            }
            b'\'' if !double => {
                at += 1 + text.get(at + 1..)?.find('\'')?;
                None
            }
            b'"' => {
                double = !double;
                None
            }
            b'$' => translate_parameter(rest),
            b'(' if !double => {
                let is_pattern = !is_expression && word.is_pattern(text, at);
                let used = is_pattern.then(|| qualifiers_length(rest)).flatten();
                used.map(|used| (String::new(), used))
            }
            byte => {
                if byte.is_ascii_whitespace() || b";|&<>()".contains(&byte) {
                    word = ScannedWord::at(at + 1);
                }
                None
            }
        };
        at += match replaced {
            Some((new, used)) => {
                out.push_str(&text[copied..at]);
                out.push_str(&new);
                copied = at + used;
                used
            }
            None => 1,
        };
        while at < text.len() && !text.is_char_boundary(at) {
            at += 1;
        }
    }
    out.push_str(text.get(copied..)?);
    (copied > 0).then_some(out)
}

/// The word up to the present character. Each character is read once.
#[derive(Default)]
struct ScannedWord {
    read: usize,
    has_wildcard: bool,
    has_other: bool,
}

impl ScannedWord {
    fn at(start: usize) -> Self {
        Self {
            read: start,
            ..Self::default()
        }
    }

    /// Returns `true` if the word up to here is a pattern, not an assignment and not expanded.
    fn is_pattern(&mut self, text: &str, end: usize) -> bool {
        let more = &text[self.read..end];
        self.has_wildcard |= more.contains(['*', '?']);
        self.has_other |= more.contains(['=', '$', '"']);
        self.read = end;
        self.has_wildcard && !self.has_other
    }
}

/// Returns the length of the glob qualifiers at the start of a text, with their brackets.
fn qualifiers_length(rest: &str) -> Option<usize> {
    let end = rest.find(')')?;
    let inside = &rest[1..end];
    let behind = rest[end + 1..].chars().next();
    let ends = behind.is_none_or(|c| c.is_whitespace() || ";|&)".contains(c));
    let mut letters = inside.chars().peekable();
    while let Some(c) = letters.next() {
        let known = match c {
            // A selection: `[1,3]`.
            '[' => letters
                .by_ref()
                .take_while(|c| *c != ']')
                .all(|c| c.is_ascii_digit() || ",-".contains(c)),
            // A sort key follows; the keys `e` and `+` run code.
            'o' | 'O' => letters.next_if(|c| "nNLlamcd".contains(*c)).is_some(),
            // A part of the name: `:t`.
            ':' => letters.next_if(|c| "thraAelu".contains(*c)).is_some(),
            'L' | 'l' | 'a' | 'm' | 'c' => {
                while letters.next_if(|c| "kKmMgGpPhwsd".contains(*c)).is_some() {}
                letters.next_if(|c| "+-".contains(*c));
                letters.next_if(char::is_ascii_digit).is_some()
            }
            'Y' => letters.peek().is_some_and(char::is_ascii_digit),
            _ => c.is_ascii_digit() || HARMLESS_QUALIFIERS.contains(c),
        };
        if !known {
            return None;
        }
    }
    (ends && !inside.is_empty()).then_some(end + 1)
}

/// Returns the replacement of `${(…)name}`, `${(…)"$(…)"}`, `$+name` and `${+name}`, and the length
/// of the original.
fn translate_parameter(rest: &str) -> Option<(String, usize)> {
    if let Some(name) = rest.strip_prefix("$+") {
        let length = name_length(name)?;
        let length = length
            + subscript_length(&name[length..], |c| {
                c.is_alphanumeric() || "_.-".contains(c)
            });
        return Some(("$#".to_owned(), length + 2));
    }
    if !rest.starts_with("${") {
        return None;
    }
    let close = find_closing_bracket(rest, 1, rest.len(), b'{', b'}');
    if close >= rest.len() {
        return None;
    }
    let inside = &rest[2..close];
    if let Some(name) = inside.strip_prefix('+') {
        let length = name_length(name)?;
        let length = length
            + subscript_length(&name[length..], |c| {
                c.is_alphanumeric() || "_.-".contains(c)
            });
        return (length == name.len()).then(|| ("$#".to_owned(), close + 1));
    }
    let value = inside.strip_prefix('(')?;
    let value = &value[flags_length(value)?..];
    let quoted = value.strip_prefix('"').and_then(|v| v.strip_suffix('"'));
    if let Some(command) = quoted {
        let whole = command.starts_with("$(")
            && find_closing_bracket(command, 1, command.len(), b'(', b')') + 1 == command.len();
        return whole.then(|| (command.to_owned(), close + 1));
    }
    let length = name_length(value)?;
    let index = subscript_length(&value[length..], |c| {
        c.is_ascii_digit() || "@*-".contains(c)
    });
    // The result of a replacement is unknown.
    let plain = length + index == value.len();
    plain.then(|| (format!("${{{value}//?/?}}"), close + 1))
}

/// Returns the length of parameter flags, with the bracket that closes them.
fn flags_length(text: &str) -> Option<usize> {
    let mut letters = text.char_indices();
    while let Some((at, c)) = letters.next() {
        match c {
            ')' => return Some(at + 1),
            // A string between two signs: `j:, :`.
            's' | 'j' => {
                let (_, sign) = letters.next()?;
                let mut string = letters.by_ref().map(|(_, c)| c).take_while(|c| *c != sign);
                if sign.is_alphanumeric() || string.any(|c| "$`(){}".contains(c)) {
                    return None;
                }
            }
            _ if HARMLESS_FLAGS.contains(c) => {}
            _ => return None,
        }
    }
    None
}

fn name_length(text: &str) -> Option<usize> {
    let part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let length = text.find(|c| !part(c)).unwrap_or(text.len());
    (length > 0 && !text.starts_with(|c: char| c.is_ascii_digit())).then_some(length)
}

/// Returns the length of `[…]` at the start of a text if it contains only these characters, or 0.
fn subscript_length(text: &str, allowed: impl Fn(char) -> bool) -> usize {
    let inside = text.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    match inside {
        Some((inside, _)) if !inside.is_empty() && inside.chars().all(allowed) => inside.len() + 2,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::translate_zsh;

    #[test]
    fn only_reading_zsh_syntax_is_translated() {
        let same =
            |text: &str, wanted: &str| assert_eq!(translate_zsh(text).as_deref(), Some(wanted));
        same("print -l *(om)", "print -l *");
        same("ls **/*.py(N) *(.om[1,3])", "ls **/*.py *");
        same("ls *(Lk+10mh-1)", "ls *");
        same(
            "echo ${(U)x} \"${(j:, :)a[@]}\"",
            "echo ${x//?/?} \"${a[@]//?/?}\"",
        );
        same("print -l ${(f)\"$(cat f)\"}", "print -l $(cat f)");
        same("(( $+commands[git] ))", "(( $# ))");
        for text in [
            "ls *(e:'rm x':)",
            "ls *(+f)",
            "ls *(oe:'rm x':)",
            "ls *(o+f)",
            "echo ${(e)x}",
            "echo ${(P)x}",
            "echo ${(%)x}",
            "echo ${(#)x}",
            "echo ${(l:n:)x}",
            "echo '${(U)x}' '*(N)'",
            "(( 2*(n) ))",
            "let x=2*(n)",
            "f() { ls; }",
            "echo *(",
            "echo $+",
            "echo (é\\",
        ] {
            assert_eq!(translate_zsh(text), None, "{text}");
        }
    }
}
