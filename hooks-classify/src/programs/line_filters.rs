//! Programs that print some of the lines of their input: the words of a call in, the lines that it
//! prints out.

use regex::{Regex, RegexBuilder};

use crate::model::arg::Arg;
use crate::options::call::Call;
use crate::tables::Tables;

/// Lines that a program prints of its input, or more lines than those.
#[derive(Clone, Debug)]
pub(crate) enum LineFilter {
    /// Each line, in any order.
    All,
    /// No line: a number, a status.
    None,
    /// The lines that match or, if `inverted`, the lines that do not match.
    Matching { pattern: Regex, inverted: bool },
}

impl LineFilter {
    pub(crate) fn passes(&self, line: &str) -> bool {
        match self {
            Self::All => true,
            Self::None => false,
            Self::Matching { pattern, inverted } => pattern.is_match(line) != *inverted,
        }
    }

    /// Returns the filter of a command that reads its standard input; `None` if it may print anything.
    pub(crate) fn of_words(tables: &Tables, words: &[Arg]) -> Option<Self> {
        let (name, args) = words.split_first()?;
        let program = tables.program(&name.text)?;
        Self::of_call(&Call::read(&name.text, program, args))
    }

    fn of_call(call: &Call) -> Option<Self> {
        if !call.unrecognized.is_empty()
            || call.options.iter().any(|option| option.version_dependent)
        {
            return None;
        }
        // `-2` prints the lines around.
        let is_context =
            |name: &str| name.len() == 2 && name.ends_with(|c: char| c.is_ascii_digit());
        if call.options.iter().any(|option| is_context(&option.name)) {
            return None;
        }
        let has = |names: &[&str]| {
            call.options
                .iter()
                .any(|o| names.contains(&o.name.as_str()))
        };
        match call.path.as_str() {
            "sort" | "uniq" | "head" | "tail" | "cat" => {
                let has_operands = !call.operands.is_empty();
                let writes = has(&[
                    "-o",
                    "--output",
                    "--compress-program",
                    "-T",
                    "--files0-from",
                ]);
                (!has_operands && !writes).then_some(Self::All)
            }
            "wc" => call.operands.is_empty().then_some(Self::None),
            "grep" | "egrep" | "fgrep" => {
                let prints_more = [
                    "-A",
                    "--after-context",
                    "-B",
                    "--before-context",
                    "-C",
                    "--context",
                    "-f",
                    "--file",
                    "-z",
                    "--null-data",
                    "-P",
                    "--perl-regexp",
                    "-r",
                    "-R",
                    "--recursive",
                ];
                if has(&prints_more) {
                    return None;
                }
                let given = call
                    .options
                    .iter()
                    .filter(|o| ["-e", "--regexp"].contains(&o.name.as_str()));
                let given: Option<Vec<&str>> = given
                    .map(|option| {
                        option
                            .value
                            .as_ref()
                            .filter(|v| v.is_known())
                            .map(|v| v.text.as_str())
                    })
                    .collect();
                let mut patterns = given?;
                let mut operands = call.operands.iter().map(|operand| &operand.arg);
                if patterns.is_empty() {
                    let pattern = operands
                        .next()
                        .filter(|pattern| pattern.is_known() && !pattern.glob)?;
                    patterns.push(&pattern.text);
                }
                if operands.next().is_some() {
                    return None;
                }
                if has(&["-c", "--count", "-q", "--quiet", "--silent", "-l", "-L"]) {
                    return Some(Self::None);
                }
                let inverted = has(&["-v", "--invert-match"]);
                // Without the two, more lines match, which is too little if they are inverted.
                if inverted && has(&["-w", "--word-regexp", "-x", "--line-regexp"]) {
                    return None;
                }
                let is_fixed = has(&["-F", "--fixed-strings"]) || call.path == "fgrep";
                let is_extended = has(&["-E", "--extended-regexp"]) || call.path == "egrep";
                let pieces: Option<Vec<String>> = patterns
                    .iter()
                    .flat_map(|pattern| pattern.split('\n'))
                    .map(|pattern| match (is_fixed, is_extended) {
                        (true, _) => Some(regex::escape(pattern)),
                        (false, true) => extended(pattern),
                        (false, false) => basic(pattern),
                    })
                    .collect();
                let pattern = RegexBuilder::new(&pieces?.join("|"))
                    .case_insensitive(has(&["-i", "-y", "--ignore-case"]))
                    .size_limit(1 << 20)
                    .build();
                let pattern = pattern.ok()?;
                Some(Self::Matching { pattern, inverted })
            }
            _ => None,
        }
    }
}

/// Returns an extended expression of POSIX as one of the crate `regex`; `None` if the two may differ.
fn extended(pattern: &str) -> Option<String> {
    let mut before = '|';
    let mut characters = pattern.chars().peekable();
    while let Some(c) = characters.next() {
        let begins = matches!(before, '|' | '(' | '^');
        let ends = matches!(characters.peek(), None | Some('|' | ')'));
        let is_plain = match c {
            '*' | '+' | '?' => !begins && !matches!(before, '*' | '+' | '?' | '$'),
            '^' => begins && before != '^',
            '$' => ends,
            '|' | ')' => before != '(' && before != '|',
            c => c.is_alphanumeric() || " _-=/:,.(@%&~".contains(c),
        };
        before = is_plain.then_some(c)?;
    }
    (before != '|').then(|| format!("(?:{pattern})"))
}

/// Returns a basic expression of POSIX as one of the crate `regex`; `None` if the two may differ.
fn basic(pattern: &str) -> Option<String> {
    let mut text = String::new();
    let mut characters = pattern.chars().peekable();
    // At the start of an alternative, `*` is literal, and `^` is no literal.
    let mut is_start = true;
    while let Some(c) = characters.next() {
        let begins = std::mem::replace(&mut is_start, false);
        match c {
            '\\' => match characters.next()? {
                '|' => {
                    text.push('|');
                    is_start = true;
                }
                c @ ('.' | '*' | '^' | '$') => text.extend(['\\', c]),
                _ => return None,
            },
            '^' if begins => {
                text.push(c);
                is_start = true;
            }
            '$' if characters.peek().is_none() => text.push(c),
            '*' if begins => text.push_str("\\*"),
            '.' | '*' => text.push(c),
            '+' | '?' | '(' | ')' | '|' => text.extend(['\\', c]),
            c if c.is_alphanumeric() || " _-=/:,@%&~".contains(c) => text.push(c),
            _ => return None,
        }
    }
    Some(format!("(?:{text})"))
}

#[cfg(all(test, unix))]
mod tests {
    use std::io::Write;
    use std::process::{Command, Stdio};

    use proptest::prelude::*;

    use super::{LineFilter, basic, extended};
    use crate::model::arg::Arg;
    use crate::model::span::Span;
    use crate::tables::Tables;

    fn filter(words: &[String]) -> Option<LineFilter> {
        let words = std::iter::once("grep").chain(words.iter().map(String::as_str));
        let words: Vec<Arg> = words.map(|word| Arg::new(word, Span::default())).collect();
        LineFilter::of_words(Tables::embedded(), &words)
    }

    /// Returns the lines that the program prints; `None` if it rejects its words.
    fn printed(words: &[String], text: &str) -> Option<String> {
        let mut child = Command::new("grep")
            .args(words)
            .env("LC_ALL", "C.UTF-8")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("grep");
        let mut input = child.stdin.take().expect("a pipe");
        // The program may end before it has read its input.
        let _ = input.write_all(text.as_bytes());
        drop(input);
        let output = child.wait_with_output().expect("an end");
        let is_ended = output.status.code().is_some_and(|code| code < 2);
        is_ended.then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

        /// Each line that grep prints passes the filter.
        #[test]
        fn no_line_that_grep_prints_is_missed(
            options in prop::collection::vec(prop::sample::select(&["-i", "-v", "-E", "-F", "-w", "-x", "-n", "-o", "-c", "-e", "-m1", "-2", "-A1", "-hs", "--color=never", "-P", "-z"][..]), 0..3),
            pattern in r"[AaBb.*^$|+?()\\\[\]{}=_ -]{0,6}",
            lines in prop::collection::vec("[AaBb.*^$|+?()=_ -]{0,8}", 1..6),
        ) {
            let mut words: Vec<String> = options.iter().map(|word| (*word).to_owned()).collect();
            words.push(pattern);
            let text = lines.join("\n") + "\n";
            if let Some(filter) = filter(&words)
                && let Some(printed) = printed(&words, &text)
            {
                let is_number = words.iter().any(|word| word == "-c");
                for line in text.lines().filter(|line| !filter.passes(line)) {
                    let is_printed = |out: &str| out == line || out.split_once(':').is_some_and(|(at, rest)| rest == line && at.parse::<u32>().is_ok());
                    let known = text.lines().filter(|other| filter.passes(other)).any(|other| other == line);
                    prop_assert!(is_number || known || line.is_empty() || !printed.lines().any(is_printed), "{words:?}: {line:?}");
                }
            }
        }
    }

    #[test]
    fn expressions_that_may_differ_are_refused() {
        assert_eq!(basic("a+b|c").as_deref(), Some("(?:a\\+b\\|c)"));
        assert_eq!(basic("^HTTP\\|PROXY").as_deref(), Some("(?:^HTTP|PROXY)"));
        assert_eq!(basic("a$b"), None);
        assert_eq!(basic("a^b"), None);
        assert_eq!(basic("^*a").as_deref(), Some("(?:^\\*a)"));
        assert_eq!(basic("*a").as_deref(), Some("(?:\\*a)"));
        for pattern in ["a\\{2\\}", "[a-z]", "\\(a\\)\\1", "\\w", "a\\"] {
            assert_eq!(basic(pattern), None, "{pattern}");
        }
        assert_eq!(extended("^(A|B)=").as_deref(), Some("(?:^(A|B)=)"));
        assert_eq!(extended("a{2}"), None);
        assert_eq!(extended("\\bA"), None);
    }
}
