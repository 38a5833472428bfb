//! AWK: a program of `awk` in, the files that it writes and the commands that it runs out.

use super::names::AWK;
use crate::analysis::Analysis;
use crate::model::arg::Arg;
use crate::model::effect::Effect;
use crate::model::io::Input;
use crate::model::role::Role;

#[derive(Clone, Debug, PartialEq)]
enum AwkToken {
    Text(String),
    Word(String),
    Number,
    Sign(String),
    Line,
}

/// Returns the effects of a program.
pub(super) fn analyze(arg: &Arg) -> Analysis {
    let mut analysis = Analysis::new();
    if !arg.is_known() {
        analysis.add_finding(
            Effect::Code,
            arg.span,
            "`awk` runs a program that is only known when it runs",
        );
    }
    let Some(tokens) = tokenize(&arg.text) else {
        analysis.add_finding(
            Effect::Unknown,
            arg.span,
            "this `awk` program is not understood",
        );
        return analysis;
    };
    let sign = |token: Option<&AwkToken>, text: &str| {
        token.is_some_and(|t| *t == AwkToken::Sign(text.into()))
    };
    let mut printing = false;
    let mut depth = 0usize;
    for (at, token) in tokens.iter().enumerate() {
        let next = tokens.get(at + 1);
        match token {
            AwkToken::Word(word) if word == "system" => {
                match (tokens.get(at + 2), tokens.get(at + 3)) {
                    (Some(AwkToken::Text(text)), Some(AwkToken::Sign(end))) if end == ")" => {
                        run_command(&mut analysis, arg, text);
                    }
                    (Some(AwkToken::Text(text)), _) => {
                        analysis.add_finding(
                            Effect::Code,
                            arg.span,
                            "`awk` runs a command that it puts together",
                        );
                        run_command(&mut analysis, arg, &format!("{text} \"$_\""));
                    }
                    _ => analysis.add_finding(
                        Effect::Code,
                        arg.span,
                        "`awk` runs a command that it puts together",
                    ),
                }
            }
            // The name of the file is only known at run time; a variable may stand before the `<`.
            AwkToken::Word(word) if word == "getline" => {
                let plain = matches!(next, Some(AwkToken::Word(_)));
                let at = at + 1 + usize::from(plain);
                if sign(tokens.get(at), "<")
                    && !matches!(tokens.get(at + 1), Some(AwkToken::Text(_)))
                {
                    analysis.read_file(&Arg::unknown(arg.span));
                }
            }
            AwkToken::Word(word) if AWK.prints.contains(word) => {
                printing = true;
                depth = 0;
            }
            AwkToken::Word(word) if word.starts_with('@') => analysis.add_finding(
                Effect::Code,
                arg.span,
                "`awk` loads code or calls a function by a computed name",
            ),
            AwkToken::Text(text) if is_connection(text) => {
                analysis.add_finding(Effect::Code, arg.span, "`awk` connects to another machine")
            }
            // A line continues after these signs.
            AwkToken::Line => {
                let before = tokens[..at].iter().rev().find(|t| **t != AwkToken::Line);
                printing &= matches!(before, Some(AwkToken::Sign(s)) if matches!(s.as_str(), "," | "&&" | "||"));
            }
            AwkToken::Sign(text) => match text.as_str() {
                "(" => depth += 1,
                ")" => depth = depth.saturating_sub(1),
                ";" | "}" | "{" => printing = false,
                "@" => analysis.add_finding(
                    Effect::Code,
                    arg.span,
                    "`awk` calls a function by a name that it computes",
                ),
                ">" | ">>" if printing && depth == 0 => match next {
                    Some(AwkToken::Text(file)) if is_unstored_output(file) => {}
                    Some(AwkToken::Text(file)) => {
                        let effect = if text == ">" {
                            Effect::Create
                        } else {
                            Effect::Update
                        };
                        analysis.add_finding(effect, arg.span, format!("`awk` writes `{file}`"));
                        analysis.record_role(Role::Output, &[Arg::new(file.clone(), arg.span)]);
                    }
                    _ => analysis.add_finding(Effect::Create, arg.span, "`awk` writes a file"),
                },
                "|" | "|&" => {
                    let before = at.checked_sub(1).and_then(|at| tokens.get(at));
                    let getline = matches!(next, Some(AwkToken::Word(word)) if word == "getline");
                    let command = if getline { before } else { next };
                    let alone = if getline {
                        !at.checked_sub(2)
                            .and_then(|at| tokens.get(at))
                            .is_some_and(|t| {
                                matches!(
                                    t,
                                    AwkToken::Text(_) | AwkToken::Word(_) | AwkToken::Number
                                )
                            })
                    } else {
                        !tokens.get(at + 2).is_some_and(|t| {
                            matches!(t, AwkToken::Text(_) | AwkToken::Word(_) | AwkToken::Number)
                        }) && !sign(tokens.get(at + 2), "$")
                    };
                    match command {
                        Some(AwkToken::Text(text)) => {
                            if !getline && AWK.shells.contains(text.trim()) {
                                // The shell runs the printed text.
                                let start = tokens[..at].iter().rposition(|t| matches!(t, AwkToken::Word(w) if AWK.prints.contains(w))).unwrap_or(at);
                                let line: String = tokens[start..at]
                                    .iter()
                                    .map(|t| match t {
                                        AwkToken::Text(text) => text.clone(),
                                        AwkToken::Word(w) if AWK.prints.contains(w) => {
                                            String::new()
                                        }
                                        _ => " \"$_\" ".to_owned(),
                                    })
                                    .collect();
                                run_command(&mut analysis, arg, &line);
                            }
                            if !alone {
                                analysis.add_finding(
                                    Effect::Code,
                                    arg.span,
                                    "`awk` runs a command that it puts together",
                                );
                            }
                            run_command(&mut analysis, arg, text);
                        }
                        _ => analysis.add_finding(
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
    analysis
}

/// Returns `true` if `gawk` opens a connection for a file of this name.
pub(crate) fn is_connection(file: &str) -> bool {
    ["/inet/", "/inet4/", "/inet6/"]
        .iter()
        .any(|folder| file.starts_with(folder))
}

fn is_unstored_output(file: &str) -> bool {
    matches!(file, "/dev/stdout" | "/dev/stderr" | "/dev/null" | "-")
}

fn run_command(analysis: &mut Analysis, arg: &Arg, text: &str) {
    analysis.run_shell_text(&arg.with_text(text), &Input::Inherited);
}

fn tokenize(text: &str) -> Option<Vec<AwkToken>> {
    let characters: Vec<char> = text.chars().collect();
    let mut out: Vec<AwkToken> = Vec::new();
    // For each open bracket, true if it contains a condition, after which a statement begins.
    let mut open: Vec<bool> = Vec::new();
    let mut begins = false;
    let mut at = 0;
    while let Some(&c) = characters.get(at) {
        at += 1;
        let behind_condition = std::mem::take(&mut begins);
        match c {
            '\n' => out.push(AwkToken::Line),
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
                out.push(AwkToken::Text(inside));
            }
            '/' => {
                // After a value it divides, elsewhere it opens an expression. Where it may do
                // either, all that follows may be text or not.
                let divides = match out.last() {
                    Some(AwkToken::Text(_) | AwkToken::Number) => true,
                    Some(AwkToken::Word(word)) => match word.as_str() {
                        word if AWK.before_an_operand.contains(word) => false,
                        word if AWK.before_either.contains(word) => return None,
                        _ => true,
                    },
                    Some(AwkToken::Sign(sign)) => match sign.as_str() {
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
                    out.push(AwkToken::Sign("/".into()));
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
                out.push(AwkToken::Text("/dev/null".into()));
            }
            c if c.is_ascii_digit()
                || c == '.' && characters.get(at).is_some_and(char::is_ascii_digit) =>
            {
                at = number(&characters, at - 1)?;
                out.push(AwkToken::Number);
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
                out.push(AwkToken::Word(characters[start..at].iter().collect()));
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
                        Some(AwkToken::Word(word)) if matches!(word.as_str(), "if" | "while" | "for" | "switch")
                    )),
                    ')' => begins = open.pop().unwrap_or_default(),
                    _ => {}
                }
                out.push(AwkToken::Sign(sign));
            }
        }
    }
    Some(out)
}

/// Returns the end of the number that begins at `start`. A name may follow it directly; a number in
/// hexadecimal digits differs between versions of `awk`.
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
