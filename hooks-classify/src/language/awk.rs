//! `awk`: output to files and commands, `system`, `getline` from commands.

use crate::judge::Judge;
use crate::model::arg::Arg;
use crate::model::effect::Effect;
use crate::model::io::Input;

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Text(String),
    Word(String),
    Number,
    Sign(String),
    Line,
}

pub(super) fn judge(judge: &mut Judge<'_>, arg: &Arg) {
    if !arg.known() {
        judge.find(
            Effect::Code,
            arg.span,
            "`awk` runs a program that is only known when it runs",
        );
    }
    let Some(tokens) = tokens(&arg.text) else {
        judge.find(
            Effect::Unknown,
            arg.span,
            "this `awk` program is not understood",
        );
        return;
    };
    let sign =
        |token: Option<&Token>, text: &str| token.is_some_and(|t| *t == Token::Sign(text.into()));
    let mut printing = false;
    let mut depth = 0usize;
    for (at, token) in tokens.iter().enumerate() {
        let next = tokens.get(at + 1);
        match token {
            Token::Word(word) if word == "system" => match (tokens.get(at + 2), tokens.get(at + 3))
            {
                (Some(Token::Text(text)), Some(Token::Sign(end))) if end == ")" => {
                    run(judge, arg, text);
                }
                (Some(Token::Text(text)), _) => {
                    judge.find(
                        Effect::Code,
                        arg.span,
                        "`awk` runs a command that it puts together",
                    );
                    run(judge, arg, &format!("{text} \"$_\""));
                }
                _ => judge.find(
                    Effect::Code,
                    arg.span,
                    "`awk` runs a command that it puts together",
                ),
            },
            // A file whose name is only known when it runs; with the name of a variable before it.
            Token::Word(word) if word == "getline" => {
                let plain = matches!(next, Some(Token::Word(_)));
                let at = at + 1 + usize::from(plain);
                if sign(tokens.get(at), "<") && !matches!(tokens.get(at + 1), Some(Token::Text(_)))
                {
                    judge.input_file(&Arg::unknown(arg.span));
                }
            }
            Token::Word(word) if word == "print" || word == "printf" => {
                printing = true;
                depth = 0;
            }
            Token::Word(word) if word.starts_with('@') => judge.find(
                Effect::Code,
                arg.span,
                "`awk` loads code, or calls what it names while it runs",
            ),
            Token::Text(text) if is_connection(text) => {
                judge.find(Effect::Code, arg.span, "`awk` connects to another machine")
            }
            // After these a line goes on.
            Token::Line => {
                let before = tokens[..at].iter().rev().find(|t| **t != Token::Line);
                printing &= matches!(before, Some(Token::Sign(s)) if matches!(s.as_str(), "," | "&&" | "||"));
            }
            Token::Sign(text) => match text.as_str() {
                "(" => depth += 1,
                ")" => depth = depth.saturating_sub(1),
                ";" | "}" | "{" => printing = false,
                "@" => judge.find(
                    Effect::Code,
                    arg.span,
                    "`awk` calls a function by a name that it computes",
                ),
                ">" | ">>" if printing && depth == 0 => match next {
                    Some(Token::Text(file)) if nowhere(file) => {}
                    Some(Token::Text(file)) => {
                        let effect = if text == ">" {
                            Effect::Create
                        } else {
                            Effect::Update
                        };
                        judge.find(effect, arg.span, format!("`awk` writes `{file}`"));
                    }
                    _ => judge.find(Effect::Create, arg.span, "`awk` writes a file"),
                },
                "|" | "|&" => {
                    let before = at.checked_sub(1).and_then(|at| tokens.get(at));
                    let getline = matches!(next, Some(Token::Word(word)) if word == "getline");
                    let command = if getline { before } else { next };
                    let alone = if getline {
                        !at.checked_sub(2)
                            .and_then(|at| tokens.get(at))
                            .is_some_and(|t| {
                                matches!(t, Token::Text(_) | Token::Word(_) | Token::Number)
                            })
                    } else {
                        !tokens.get(at + 2).is_some_and(|t| {
                            matches!(t, Token::Text(_) | Token::Word(_) | Token::Number)
                        }) && !sign(tokens.get(at + 2), "$")
                    };
                    match command {
                        Some(Token::Text(text)) => {
                            if !getline && matches!(text.trim(), "sh" | "bash" | "/bin/sh") {
                                // What is printed is what runs.
                                let start = tokens[..at].iter().rposition(|t| matches!(t, Token::Word(w) if w == "print" || w == "printf")).unwrap_or(at);
                                let line: String = tokens[start..at]
                                    .iter()
                                    .map(|t| match t {
                                        Token::Text(text) => text.clone(),
                                        Token::Word(w) if w == "print" || w == "printf" => {
                                            String::new()
                                        }
                                        _ => " \"$_\" ".to_owned(),
                                    })
                                    .collect();
                                run(judge, arg, &line);
                            }
                            if !alone {
                                judge.find(
                                    Effect::Code,
                                    arg.span,
                                    "`awk` runs a command that it puts together",
                                );
                            }
                            run(judge, arg, text);
                        }
                        _ => judge.find(
                            Effect::Code,
                            arg.span,
                            "`awk` runs a command that it puts together",
                        ),
                    }
                }
                _ => {}
            },
            _ => {}
        }
    }
}

/// Whether a name of a file is one by which `gawk` connects.
pub(crate) fn is_connection(file: &str) -> bool {
    ["/inet/", "/inet4/", "/inet6/"]
        .iter()
        .any(|folder| file.starts_with(folder))
}

fn nowhere(file: &str) -> bool {
    matches!(file, "/dev/stdout" | "/dev/stderr" | "/dev/null" | "-")
}

fn run(judge: &mut Judge<'_>, arg: &Arg, text: &str) {
    judge.shell_text(&arg.with(text), &Input::Unknown);
}

fn tokens(text: &str) -> Option<Vec<Token>> {
    let characters: Vec<char> = text.chars().collect();
    let mut out: Vec<Token> = Vec::new();
    // Whether each open bracket holds a condition, behind which a statement begins.
    let mut open: Vec<bool> = Vec::new();
    let mut begins = false;
    let mut at = 0;
    while let Some(&c) = characters.get(at) {
        at += 1;
        let behind_condition = std::mem::take(&mut begins);
        match c {
            '\n' => out.push(Token::Line),
            c if c.is_whitespace() => begins = behind_condition,
            '\\' if characters.get(at) == Some(&'\n') => at += 1,
            '#' => {
                while characters.get(at).is_some_and(|c| *c != '\n') {
                    at += 1;
                }
            }
            '"' => {
                let mut inside = String::new();
                loop {
                    match *characters.get(at)? {
                        '"' => break,
                        '\\' => {
                            at += 1;
                            match *characters.get(at)? {
                                'n' => inside.push('\n'),
                                't' => inside.push('\t'),
                                '0'..='7' | 'x' => return None,
                                other => inside.push(other),
                            }
                        }
                        '\n' => return None,
                        other => inside.push(other),
                    }
                    at += 1;
                }
                at += 1;
                out.push(Token::Text(inside));
            }
            '/' => {
                // After a value it divides, elsewhere it opens an expression. Where it may do
                // either, all that follows may be text or not.
                let divides = match out.last() {
                    Some(Token::Text(_) | Token::Number) => true,
                    Some(Token::Word(word)) => match word.as_str() {
                        "print" | "printf" | "return" | "in" | "case" | "else" | "do" => false,
                        "getline" | "length" | "next" | "exit" | "delete" | "nextfile" => {
                            return None;
                        }
                        _ => true,
                    },
                    Some(Token::Sign(sign)) => match sign.as_str() {
                        ")" => !behind_condition,
                        "]" => true,
                        "++" | "--" => return None,
                        _ => false,
                    },
                    _ => false,
                };
                // An assignment, or an expression that begins with `=`: it depends on the `awk`.
                if divides && characters.get(at) == Some(&'=') {
                    return None;
                }
                if divides {
                    out.push(Token::Sign("/".into()));
                    continue;
                }
                let mut class = false;
                loop {
                    match *characters.get(at)? {
                        '\\' => at += 1,
                        '[' => class = true,
                        ']' => class = false,
                        '/' if !class => break,
                        '\n' => return None,
                        _ => {}
                    }
                    at += 1;
                }
                at += 1;
                out.push(Token::Text("/dev/null".into()));
            }
            c if c.is_ascii_digit()
                || c == '.' && characters.get(at).is_some_and(char::is_ascii_digit) =>
            {
                at = number(&characters, at - 1)?;
                out.push(Token::Number);
            }
            c if c.is_alphabetic()
                || c == '_'
                || (c == '@' && characters.get(at).is_some_and(|c| c.is_alphabetic())) =>
            {
                let start = at - 1;
                while characters
                    .get(at)
                    .is_some_and(|c| c.is_alphanumeric() || *c == '_')
                {
                    at += 1;
                }
                out.push(Token::Word(characters[start..at].iter().collect()));
            }
            c => {
                let mut sign = c.to_string();
                if let Some(&next) = characters.get(at)
                    && matches!(
                        (c, next),
                        ('+', '+')
                            | ('-', '-')
                            | ('>', '>' | '=')
                            | ('|', '|' | '&')
                            | ('&', '&')
                            | ('<' | '=' | '!', '=')
                    )
                {
                    sign.push(next);
                    at += 1;
                }
                match c {
                    '(' => open.push(matches!(
                        out.last(),
                        Some(Token::Word(word)) if matches!(word.as_str(), "if" | "while" | "for" | "switch")
                    )),
                    ')' => begins = open.pop().unwrap_or_default(),
                    _ => {}
                }
                out.push(Token::Sign(sign));
            }
        }
    }
    Some(out)
}

/// Where the number ends that begins there. A name may follow it directly; one in hexadecimal
/// digits is another number to each `awk`.
fn number(characters: &[char], start: usize) -> Option<usize> {
    let digits = |mut at: usize| {
        while characters.get(at).is_some_and(char::is_ascii_digit) {
            at += 1;
        }
        at
    };
    let mut at = digits(start);
    if matches!(characters.get(at), Some('x' | 'X')) {
        return None;
    }
    if characters.get(at) == Some(&'.') {
        at = digits(at + 1);
    }
    if matches!(characters.get(at), Some('e' | 'E')) {
        let sign = usize::from(matches!(characters.get(at + 1), Some('+' | '-')));
        let end = digits(at + 1 + sign);
        if end > at + 1 + sign {
            at = end;
        } else {
            // `1e` is a number to some.
            return None;
        }
    }
    Some(at)
}
