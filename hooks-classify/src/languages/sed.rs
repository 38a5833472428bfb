//! `sed`: a script in, the files that it reads and writes and the commands that it runs out.

use crate::analysis::Analysis;
use crate::model::arg::{Arg, UNKNOWN};
use crate::model::effect::Effect;
use crate::model::io::Input;
use crate::model::role::Role;

/// Returns the effects of a script.
pub(super) fn analyze(arg: &Arg) -> Analysis {
    let mut analysis = Analysis::new();
    if !arg.is_known() {
        // `s/a/$X/` with an unknown text may end the command and start another.
        let risky = arg.text.trim_end().ends_with(UNKNOWN);
        if risky || arg.text.starts_with(UNKNOWN) && !starts_with_address(&arg.text) {
            analysis.add_finding(
                Effect::Code,
                arg.span,
                "`sed` runs a script that is only known when it runs",
            );
            return analysis;
        }
    }
    let characters: Vec<char> = arg.text.chars().collect();
    let mut reader = SedReader {
        text: &characters,
        at: 0,
    };
    if reader.read_script(&mut analysis, arg).is_none() {
        analysis.add_finding(
            Effect::Unknown,
            arg.span,
            "this `sed` script is not understood",
        );
    }
    analysis
}

/// Returns `true` for `${FROM},${TO}p`: the unknown parts are numbers of lines.
fn starts_with_address(text: &str) -> bool {
    let rest = text.trim_start_matches([
        UNKNOWN, ',', '1', '2', '3', '4', '5', '6', '7', '8', '9', '0', '+', '~', '$',
    ]);
    matches!(
        rest,
        "p" | "q" | "d" | "Q" | "=" | "!d" | "!p" | "p;q" | "{p;q}"
    )
}

struct SedReader<'a> {
    text: &'a [char],
    at: usize,
}

impl SedReader<'_> {
    fn peek(&self) -> Option<char> {
        self.text.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += 1;
        Some(c)
    }

    fn skip(&mut self, set: &[char]) {
        while self
            .peek()
            .is_some_and(|c| set.contains(&c) || (c.is_whitespace() && set.contains(&' ')))
        {
            self.at += 1;
        }
    }

    fn line(&mut self) -> String {
        let mut out = String::new();
        while let Some(c) = self.peek().filter(|c| *c != '\n') {
            out.push(c);
            self.at += 1;
        }
        out
    }

    /// Reads past the next delimiter that is not escaped.
    fn until(&mut self, end: char) -> Option<()> {
        let mut class = false;
        loop {
            match self.next()? {
                '\\' => {
                    self.next()?;
                }
                '[' if !class => {
                    class = true;
                    if self.peek() == Some('^') {
                        self.at += 1;
                    }
                    // A `]` at the beginning is part of the class.
                    if self.peek() == Some(']') {
                        self.at += 1;
                    }
                    // A class without an end is none.
                    if !self.text[self.at..]
                        .iter()
                        .take_while(|c| **c != '\n')
                        .any(|c| *c == ']')
                    {
                        class = false;
                    }
                }
                ']' => class = false,
                c if c == end && !class => return Some(()),
                // Some implementations end even a class at the delimiter.
                _ => {}
            }
        }
    }

    fn replacement(&mut self, end: char) -> Option<()> {
        loop {
            match self.next()? {
                '\\' => {
                    self.next()?;
                }
                c if c == end => return Some(()),
                _ => {}
            }
        }
    }

    fn address(&mut self) -> Option<()> {
        loop {
            match self.peek() {
                Some(c)
                    if c.is_ascii_digit()
                        || matches!(c, '$' | ',' | '+' | '~' | ' ' | '!')
                        || c == UNKNOWN =>
                {
                    self.at += 1
                }
                Some('/') => {
                    self.at += 1;
                    self.until('/')?;
                    self.flags();
                }
                Some('\\') => {
                    self.at += 1;
                    let end = self.next()?;
                    self.until(end)?;
                    self.flags();
                }
                _ => return Some(()),
            }
        }
    }

    fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(' ' | '\t')) {
            self.at += 1;
        }
    }

    fn flags(&mut self) {
        while matches!(self.peek(), Some('I' | 'M')) {
            self.at += 1;
        }
    }

    fn read_script(&mut self, analysis: &mut Analysis, arg: &Arg) -> Option<()> {
        loop {
            self.skip(&[' ', ';', '{', '}']);
            if self.peek().is_none() {
                return Some(());
            }
            self.address()?;
            self.skip(&[' ']);
            let command = self.next()?;
            match command {
                '{' | '}' => {}
                '#' => {
                    self.line();
                }
                '=' | 'd' | 'D' | 'g' | 'G' | 'h' | 'H' | 'n' | 'N' | 'p' | 'P' | 'x' | 'z'
                | 'F' => {}
                'l' | 'L' | 'q' | 'Q' => {
                    while self.peek().is_some_and(|c| c == ' ' || c.is_ascii_digit()) {
                        self.at += 1;
                    }
                }
                'b' | 't' | 'T' | ':' | 'v' => {
                    self.skip_blanks();
                    while self
                        .peek()
                        .is_some_and(|c| !c.is_whitespace() && !matches!(c, ';' | '}'))
                    {
                        self.at += 1;
                    }
                    self.skip_blanks();
                    // Implementations differ: part of the label, or the next command.
                    if !matches!(self.peek(), None | Some('\n' | ';' | '}')) {
                        return None;
                    }
                }
                'a' | 'i' | 'c' => loop {
                    // A line that ends in a backslash continues in the next line.
                    let line = self.line();
                    if !line.ends_with('\\') || self.next().is_none() {
                        break;
                    }
                },
                'r' | 'R' => {
                    let file = self.line();
                    analysis.read_file(&arg.with_text(file.trim()));
                }
                'w' | 'W' => {
                    let file = self.line();
                    note_written_file(analysis, arg, file.trim());
                }
                'e' => {
                    let text = self.line();
                    if text.trim().is_empty() {
                        analysis.add_finding(
                            Effect::Code,
                            arg.span,
                            "`sed` runs the lines that it reads",
                        );
                    } else {
                        analysis.add_finding(Effect::Code, arg.span, "`sed` runs a command");
                        analysis.run_shell_text(&arg.with_text(text.trim()), &Input::Unknown);
                    }
                }
                'y' => {
                    let end = self.next()?;
                    self.replacement(end)?;
                    self.replacement(end)?;
                }
                's' => {
                    let end = self.next()?;
                    if end == '\n' || end == '\\' {
                        return None;
                    }
                    self.until(end)?;
                    let start = self.at;
                    self.replacement(end)?;
                    let text: String = self.text[start..self.at - 1].iter().collect();
                    while let Some(flag) = self.peek() {
                        self.at += 1;
                        match flag {
                            'g' | 'p' | 'i' | 'I' | 'm' | 'M' | '0'..='9' => {}
                            'e' => {
                                analysis.add_finding(
                                    Effect::Code,
                                    arg.span,
                                    "`sed` runs text by the flag `e`",
                                );
                                analysis.run_shell_text(&arg.with_text(&text), &Input::Unknown);
                            }
                            'w' => {
                                let file = self.line();
                                note_written_file(analysis, arg, file.trim());
                                break;
                            }
                            ' ' | ';' | '\n' | '}' | '\t' => {
                                self.at -= 1;
                                break;
                            }
                            '#' => {
                                self.line();
                            }
                            _ => return None,
                        }
                    }
                }
                _ => return None,
            }
        }
    }
}

fn note_written_file(analysis: &mut Analysis, arg: &Arg, file: &str) {
    if !matches!(file, "/dev/stdout" | "/dev/stderr" | "/dev/null") {
        analysis.add_finding(Effect::Create, arg.span, format!("`sed` writes `{file}`"));
        analysis.record_role(Role::Output, &[Arg::new(file, arg.span)]);
    }
}
