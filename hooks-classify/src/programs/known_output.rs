//! Known output: a call, its input and known contents of files in, the output of the call out, if it
//! follows from them.

use std::collections::HashMap;
use std::iter::Peekable;
use std::str::Chars;

use base64::Engine;

use crate::model::environment::FileContents;
use crate::model::io::{Input, Output};
use crate::options::call::Call;

/// Maximum length of a text that is followed, in bytes.
const MAX_OUTPUT: usize = 20_000;

/// Returns the text that a call prints, if its words and its input determine it.
pub(super) fn known_output(
    call: &Call,
    input: &Input,
    files: &HashMap<String, FileContents>,
) -> Output {
    let words: Option<Vec<&str>> = call
        .args
        .iter()
        .map(|arg| (arg.is_known() && !arg.glob).then_some(arg.text.as_str()))
        .collect();
    let words = words?;
    let read = || match input {
        Input::Known(text) => Some(text.as_str()),
        Input::Inherited | Input::Unknown => None,
    };
    let output = match call.path.as_str() {
        "echo" => output_of_echo(&words)?,
        "printf" => output_of_printf(&words)?,
        "cat" => match words.as_slice() {
            [] | ["-"] => read()?.to_owned(),
            names => {
                let mut all = String::new();
                for file in names {
                    match files.get(*file) {
                        Some(FileContents::Text(text)) => all.push_str(text),
                        None if *file == "/dev/null" => {}
                        _ => return None,
                    }
                }
                all
            }
        },
        "base64" | "gbase64" => {
            let ["-d" | "-D" | "--decode" | "-di" | "-id"] = words.as_slice() else {
                return None;
            };
            decode_base64(read()?)?
        }
        "openssl" | "openssl base64" | "openssl enc" => {
            let (["base64", options @ ..] | ["enc", "-base64", options @ ..]) = words.as_slice()
            else {
                return None;
            };
            let text = read()?;
            // Without `-A` it reads short lines only.
            let lines = text.lines().all(|line| line.len() <= 64) && text.ends_with('\n');
            match options {
                ["-d"] if lines => decode_base64(text)?,
                ["-d", "-A"] | ["-A", "-d"] if text.lines().count() == 1 => decode_base64(text)?,
                _ => return None,
            }
        }
        "rev" if words.is_empty() => read()?
            .lines()
            .map(|line| line.chars().rev().collect::<String>() + "\n")
            .collect(),
        "xxd" => {
            let (["-r", "-p"] | ["-p", "-r"] | ["-rp" | "-pr"]) = words.as_slice() else {
                return None;
            };
            let text = read()?.trim();
            let digits: Option<Vec<u32>> = text.chars().map(|c| c.to_digit(16)).collect();
            let digits = digits.filter(|digits| digits.len() % 2 == 0)?;
            let bytes = digits
                .chunks_exact(2)
                .map(|pair| (pair[0] * 16 + pair[1]) as u8)
                .collect();
            String::from_utf8(bytes).ok()?
        }
        "tr" => output_of_tr(&words, read()?)?,
        _ => return None,
    };
    (output.len() <= MAX_OUTPUT).then_some(output)
}

/// Returns the base64 form of a text.
fn decode_base64(text: &str) -> Option<String> {
    let text: String = text.chars().filter(|c| !matches!(c, '\n' | '\r')).collect();
    let bytes = base64::engine::general_purpose::STANDARD
        .decode(text)
        .ok()?;
    String::from_utf8(bytes).ok()
}

/// Returns the output of `echo`, if all shells agree on it.
fn output_of_echo(words: &[&str]) -> Option<String> {
    let mut rest = words;
    let mut escapes = false;
    let mut newline = true;
    while let Some(flags) = rest.first().and_then(|word| word.strip_prefix('-'))
        && !flags.is_empty()
        && flags.chars().all(|c| "neE".contains(c))
    {
        escapes = flags.contains('e') || (escapes && !flags.contains('E'));
        newline &= !flags.contains('n');
        rest = &rest[1..];
    }
    let text = rest.join(" ");
    let text = match escapes {
        true => unescape(&text, EscapeContext::Echo)?,
        // Some shells read escapes without `-e`.
        false if text.contains('\\') => return None,
        false => text,
    };
    Some(if newline { text + "\n" } else { text })
}

/// Returns the output of `printf` with simple conversions.
fn output_of_printf(words: &[&str]) -> Option<String> {
    let words = match words {
        ["--", words @ ..] => words,
        [option, ..] if option.starts_with('-') => return None,
        words => words,
    };
    let (format, mut args) = words.split_first()?;
    let mut out = String::new();
    loop {
        let before = args.len();
        let mut characters = format.chars();
        let mut plain = String::new();
        while let Some(c) = characters.next() {
            if c != '%' {
                plain.push(c);
                continue;
            }
            out.push_str(&unescape(
                &std::mem::take(&mut plain),
                EscapeContext::Format,
            )?);
            let kind = characters.next()?;
            if kind == '%' {
                out.push('%');
                continue;
            }
            let (first, rest) = args
                .split_first()
                .map_or(("", args), |(first, rest)| (*first, rest));
            args = rest;
            let digit = |c: char| c.is_ascii_digit();
            let word = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
            match kind {
                's' => out.push_str(first),
                'b' => out.push_str(&unescape(first, EscapeContext::Word)?),
                'd' | 'i' if first == "0" => out.push('0'),
                'd' | 'i' if first.chars().all(digit) && !first.starts_with('0') => {
                    out.push_str(if first.is_empty() { "0" } else { first });
                }
                'q' if !first.is_empty() && first.chars().all(word) => out.push_str(first),
                _ => return None,
            }
        }
        out.push_str(&unescape(&plain, EscapeContext::Format)?);
        if args.is_empty() {
            return Some(out);
        }
        if args.len() == before || out.len() > MAX_OUTPUT {
            return None;
        }
    }
}

/// The place of an escape; each place has its own escapes.
#[derive(Clone, Copy, PartialEq)]
enum EscapeContext {
    /// In the format of `printf`: `\123`.
    Format,
    /// In the word of a `%b`: `\0123` and `\123`.
    Word,
    /// In a word of `echo -e`: `\0123`.
    Echo,
}

/// Returns a text without its escapes; `None` for an escape that shells read differently, or not at all.
fn unescape(text: &str, place: EscapeContext) -> Option<String> {
    let mut bytes = Vec::new();
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        if c != '\\' {
            bytes.extend(c.encode_utf8(&mut [0; 4]).bytes());
            continue;
        }
        let max_digits = |first: char| match (place, first) {
            (EscapeContext::Format, _) | (EscapeContext::Word, '1'..='7') => Some(3),
            (EscapeContext::Word | EscapeContext::Echo, '0') => Some(4),
            (EscapeContext::Echo | EscapeContext::Word, _) => None,
        };
        match characters.peek().copied()? {
            'x' => {
                characters.next();
                let byte = take_number(&mut characters, 16, 2)?;
                // Some shells leave the escape, which matters if the character is special to a shell.
                if !(byte.is_ascii_alphanumeric() || b" /-._".contains(&byte)) {
                    return None;
                }
                bytes.push(byte);
            }
            first @ '0'..='7' => bytes.push(take_number(&mut characters, 8, max_digits(first)?)?),
            other => {
                characters.next();
                bytes.push(match other {
                    'n' => b'\n',
                    't' => b'\t',
                    'r' => b'\r',
                    'a' => 7,
                    'b' => 8,
                    'f' => 12,
                    'v' => 11,
                    'e' => 27,
                    '\\' => b'\\',
                    '"' if place == EscapeContext::Format => b'"',
                    _ => return None,
                });
            }
        }
    }
    String::from_utf8(bytes).ok()
}

/// Reads a number of one to `most` digits.
fn take_number(characters: &mut Peekable<Chars<'_>>, radix: u32, max_digits: usize) -> Option<u8> {
    let mut value = None;
    for _ in 0..max_digits {
        let Some(digit) = characters.peek().and_then(|c| c.to_digit(radix)) else {
            break;
        };
        value = Some(value.unwrap_or(0) * radix + digit);
        characters.next();
    }
    u8::try_from(value?).ok()
}

/// Returns the output of `tr`.
fn output_of_tr(words: &[&str], text: &str) -> Option<String> {
    let set = |text: &str| -> Option<Vec<char>> {
        if text.contains(['\\', '[']) || !text.is_ascii() {
            return None;
        }
        let characters: Vec<char> = text.chars().collect();
        let mut out = Vec::new();
        let mut at = 0;
        while at < characters.len() {
            if characters.get(at + 1) == Some(&'-') && at + 2 < characters.len() {
                if characters[at] > characters[at + 2] {
                    return None;
                }
                out.extend(characters[at]..=characters[at + 2]);
                at += 3;
            } else {
                out.push(characters[at]);
                at += 1;
            }
        }
        Some(out)
    };
    match words {
        ["-d", from] => {
            let from = set(from)?;
            Some(text.chars().filter(|c| !from.contains(c)).collect())
        }
        [from, to] if !from.starts_with('-') => {
            let (from, to) = (set(from)?, set(to)?);
            let last = *to.last()?;
            Some(
                text.chars()
                    .map(|c| {
                        from.iter()
                            .position(|f| *f == c)
                            .map_or(c, |i| *to.get(i).unwrap_or(&last))
                    })
                    .collect(),
            )
        }
        _ => None,
    }
}
