//! What commands print whose output follows from their words.

use std::iter::Peekable;
use std::str::Chars;

use base64::Engine;

use crate::classify::judge::environment::Contents;
use crate::classify::judge::{Input, Judge, Output};
use crate::classify::tables::Call;

/// Longer texts than this are not followed.
const MOST: usize = 20_000;

impl Judge<'_> {
    /// What a call prints, where its words and its input say it.
    pub(crate) fn printed(&self, call: &Call, input: &Input) -> Output {
        let words: Option<Vec<&str>> = call
            .args
            .iter()
            .map(|arg| (arg.known() && !arg.glob).then_some(arg.text.as_str()))
            .collect();
        let words = words?;
        let output = match call.path.as_str() {
            "echo" => echo(&words),
            "printf" => printf(&words),
            "cat" | "tac" => match (words.as_slice(), input) {
                ([] | ["-"], Input::Known(text)) => text.clone(),
                ([], _) | (["/dev/null"], _) if words == ["/dev/null"] => String::new(),
                (files, _) if !files.is_empty() => {
                    let mut all = String::new();
                    for file in files {
                        match self.environment.files.get(*file)? {
                            Contents::Text(text) => all.push_str(text),
                            _ => return None,
                        }
                    }
                    all
                }
                _ => return None,
            },
            "base64" | "gbase64" | "openssl" | "openssl base64" | "openssl enc" => {
                let Input::Known(text) = input else {
                    return None;
                };
                if !words
                    .iter()
                    .any(|w| matches!(*w, "-d" | "-D" | "--decode" | "-di" | "-id"))
                {
                    return None;
                }
                let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
                let bytes = base64::engine::general_purpose::STANDARD
                    .decode(text)
                    .ok()?;
                String::from_utf8(bytes).ok()?
            }
            "rev" => {
                let Input::Known(text) = input else {
                    return None;
                };
                text.lines()
                    .map(|line| line.chars().rev().collect::<String>() + "\n")
                    .collect()
            }
            "xxd" => {
                let Input::Known(text) = input else {
                    return None;
                };
                let plain =
                    words.iter().any(|w| w.contains('p')) && words.iter().any(|w| w.contains('r'));
                if !plain {
                    return None;
                }
                let digits: Vec<u32> = text.chars().filter_map(|c| c.to_digit(16)).collect();
                let bytes = digits
                    .chunks_exact(2)
                    .map(|pair| (pair[0] * 16 + pair[1]) as u8)
                    .collect();
                String::from_utf8(bytes).ok()?
            }
            "tr" => {
                let Input::Known(text) = input else {
                    return None;
                };
                tr(&words, text)?
            }
            _ => return None,
        };
        (output.len() <= MOST).then_some(output)
    }
}

fn echo(words: &[&str]) -> String {
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
    let text = if escapes { unescape(&text) } else { text };
    if newline { text + "\n" } else { text }
}

fn printf(words: &[&str]) -> String {
    let words = if words.first() == Some(&"--") {
        &words[1..]
    } else {
        words
    };
    let Some((format, mut args)) = words.split_first() else {
        return String::new();
    };
    let mut out = String::new();
    loop {
        let before = args.len();
        let mut characters = format.chars().peekable();
        let mut plain = String::new();
        while let Some(c) = characters.next() {
            if c != '%' {
                plain.push(c);
                continue;
            }
            out.push_str(&unescape(&std::mem::take(&mut plain)));
            match characters.next() {
                Some('%') => out.push('%'),
                Some(kind @ ('s' | 'b' | 'q' | 'd' | 'i')) => {
                    let (first, rest) = args
                        .split_first()
                        .map_or(("", args), |(first, rest)| (*first, rest));
                    args = rest;
                    if kind == 'b' {
                        out.push_str(&unescape(first))
                    } else {
                        out.push_str(first)
                    }
                }
                Some(other) => {
                    out.push(other);
                }
                None => {}
            }
        }
        out.push_str(&unescape(&plain));
        if args.is_empty() || args.len() == before || out.len() > MOST {
            return out;
        }
    }
}

fn unescape(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        if c != '\\' {
            bytes.extend(c.encode_utf8(&mut [0; 4]).bytes());
            continue;
        }
        match characters.peek().copied() {
            Some('x') => {
                characters.next();
                bytes.push(number(&mut characters, 16, 2));
            }
            Some('0'..='7') => bytes.push(number(&mut characters, 8, 4)),
            Some(other) => {
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
                    '"' => b'"',
                    '\'' => b'\'',
                    _ => {
                        bytes.push(b'\\');
                        bytes.extend(other.encode_utf8(&mut [0; 4]).bytes());
                        continue;
                    }
                });
            }
            None => bytes.push(b'\\'),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn number(characters: &mut Peekable<Chars<'_>>, radix: u32, most: usize) -> u8 {
    let mut value = 0u32;
    for _ in 0..most {
        let Some(digit) = characters.peek().and_then(|c| c.to_digit(radix)) else {
            break;
        };
        value = value * radix + digit;
        characters.next();
    }
    value as u8
}

fn tr(words: &[&str], text: &str) -> Option<String> {
    let set = |text: &str| -> Option<Vec<char>> {
        if text.contains(['\\', '[']) {
            return None;
        }
        let characters: Vec<char> = text.chars().collect();
        let mut out = Vec::new();
        let mut at = 0;
        while at < characters.len() {
            if characters.get(at + 1) == Some(&'-') && at + 2 < characters.len() {
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
