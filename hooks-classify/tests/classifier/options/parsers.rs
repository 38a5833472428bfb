//! Styles that a library or a shell defines, compared with that library or shell.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};

use super::lines::{OptionGrammar, ParsedLine, compare};
use super::{count, seed};
use crate::support::random::Random;
use crate::support::required::has;

/// Separators of words and of lines.
const WORD: char = '\u{1f}';
const PART: char = '\u{1d}';
const LINE: char = '\u{1e}';

fn lines<'a>(
    programs: &'a [OptionGrammar],
    random: &mut Random,
) -> Vec<(&'a OptionGrammar, Vec<String>)> {
    assert!(!programs.is_empty(), "no program has this style");
    let line = |_| {
        let grammar = &programs[random.below(programs.len())];
        (grammar, grammar.line(random))
    };
    (0..count(800)).map(line).collect()
}

fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// Runs a program with this input and returns its output.
fn output(program: &str, args: &[&str], input: &str) -> String {
    let mut command = Command::new(program);
    command.args(args).env_remove("POSIXLY_CORRECT");
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("a program that starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let text = input.to_owned();
    let writer = std::thread::spawn(move || stdin.write_all(text.as_bytes()));
    let output = child.wait_with_output().expect("output");
    writer.join().expect("a thread").expect("a written text");
    String::from_utf8(output.stdout).expect("text")
}

/// Parses the output of a shell: for each line its words, or `refused`.
fn records(output: &str) -> Vec<Option<Vec<String>>> {
    let record = |text: &str| {
        let words = text.strip_suffix(WORD).unwrap_or(text);
        (text != "refused").then(|| words.split(WORD).map(str::to_owned).collect())
    };
    output.split_terminator(LINE).map(record).collect()
}

fn value(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

/// Parses the output of `getopt`: options with values, `--` and operands.
fn from_getopt(grammar: &OptionGrammar, words: Vec<String>) -> ParsedLine {
    let mut options = Vec::new();
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        if word == "--" {
            break;
        }
        let option = grammar.option(&word).expect("an option of the table");
        let has_value = option.requires_value || option.may_have_value;
        let text = if has_value { words.next() } else { None };
        options.push((word, text.as_deref().and_then(value)));
    }
    let operands = words.collect();
    ParsedLine { options, operands }
}

fn compare_with_getopt(style: &str, mode: &str) {
    if !has("getopt") || !has("bash") {
        return;
    }
    let programs = OptionGrammar::with_style(style);
    let lines = lines(&programs, &mut Random(seed()));
    let mut script = String::from(
        r#"one() {
            local out
            out=$(getopt -q -o "$1" -l "$2" -- "${@:3}") || { printf 'refused\036'; return; }
            eval set -- "$out"
            printf '%s\037' "$@"
            printf '\036'
        }
"#,
    );
    for (grammar, line) in &lines {
        let (mut letters, mut names) = (mode.to_owned(), Vec::new());
        for option in &grammar.options {
            let sign = match (option.requires_value, option.may_have_value) {
                (true, _) => ":",
                (_, true) => "::",
                _ => "",
            };
            match option.name.strip_prefix("--") {
                Some(long) => names.push(format!("{long}{sign}")),
                None => letters.push_str(&format!("{}{sign}", &option.name[1..])),
            }
        }
        let words: Vec<String> = line.iter().map(|word| quoted(word)).collect();
        let names = quoted(&names.join(","));
        let _ = writeln!(
            script,
            "one {} {names} {}",
            quoted(&letters),
            words.join(" ")
        );
    }
    let output = output("bash", &[], &script);
    let parsed: Vec<Option<ParsedLine>> = records(&output)
        .into_iter()
        .zip(&lines)
        .map(|(words, (grammar, _))| words.map(|words| from_getopt(grammar, words)))
        .collect();
    compare(&format!("getopt, {style}"), &lines, &parsed);
}

#[test]
fn gnu_style_is_parsed_like_getopt() {
    compare_with_getopt("Gnu", "");
}

#[test]
fn posix_style_is_parsed_like_getopt() {
    compare_with_getopt("Posix", "+");
}

/// Programs of the style `bsd` read like `getopt`, with or without options after operands: an
/// option that makes a call harmless counts only if both readings have it, a change counts if one
/// has it.
#[test]
fn bsd_style_trusts_only_options_that_every_version_parses() {
    for grammar in OptionGrammar::with_style("Bsd") {
        let mut random = Random(seed());
        for _ in 0..20 {
            let line = grammar.line(&mut random);
            let first = line.iter().position(|word| !word.starts_with('-'));
            let read = grammar.read(&line);
            let exempt = |(name, _): &&(String, Option<String>)| {
                grammar
                    .option(name)
                    .is_some_and(|option| option.makes_harmless)
            };
            // An option does not take an operand before all options as its value.
            if first == Some(0) && line.first().is_some_and(|word| !word.is_empty()) {
                let late = read.options.iter().find(exempt);
                assert!(late.is_none(), "{} {line:?}: {read:?}", grammar.path);
            }
        }
    }
}

/// `getopts` of a shell supports letters only.
fn compare_with_getopts(shell: &str, args: &[&str]) {
    if !has(shell) {
        return;
    }
    let mut programs = OptionGrammar::with_style("Posix");
    programs.extend(OptionGrammar::with_style("BashBuiltin"));
    for grammar in &mut programs {
        let letter = |name: &str| name.len() == 2 && !name.ends_with('-');
        grammar
            .options
            .retain(|option| letter(&option.name) && !option.may_have_value);
    }
    programs.retain(|grammar| !grammar.options.is_empty());
    let mut lines = lines(&programs, &mut Random(seed()));
    lines.retain(|(_, line)| {
        let long = |word: &String| word.starts_with("--") && word.len() > 2;
        !line.iter().any(long)
    });
    let mut script = String::from(
        r#"one() {
            spec=$1; shift
            OPTIND=1 OPTARG=
            while getopts ":$spec" o; do
                case $o in '?'|:) printf 'refused\036'; return;; esac
                printf -- '-%s\037%s\037' "$o" "$OPTARG"
                OPTARG=
            done
            shift $((OPTIND - 1))
            printf '\035'
            for word do printf '%s\037' "$word"; done
            printf '\036'
        }
"#,
    );
    for (grammar, line) in &lines {
        let letter = |option: &hooks_classify::OptionEntry| {
            let sign = if option.requires_value { ":" } else { "" };
            format!("{}{sign}", &option.name[1..])
        };
        let letters: String = grammar.options.iter().map(letter).collect();
        let words: Vec<String> = line.iter().map(|word| quoted(word)).collect();
        let _ = writeln!(script, "one {letters} {}", words.join(" "));
    }
    let output = output(shell, args, &script);
    let record = |text: &str| {
        // Options before the error are printed too.
        if text.ends_with("refused") {
            return None;
        }
        let (options, operands) = text.split_once(PART).expect("both parts");
        let split = |text: &str| -> Vec<String> {
            text.split_terminator(WORD).map(str::to_owned).collect()
        };
        let options = split(options)
            .chunks(2)
            .map(|pair| (pair[0].clone(), value(&pair[1])))
            .collect();
        let operands = split(operands);
        Some(ParsedLine { options, operands })
    };
    let parsed: Vec<_> = output.split_terminator(LINE).map(record).collect();
    compare(&format!("getopts of {shell}"), &lines, &parsed);
}

#[test]
fn posix_style_is_parsed_like_bash() {
    compare_with_getopts("bash", &["-s"]);
}

#[test]
fn posix_style_is_parsed_like_dash() {
    compare_with_getopts("dash", &["-s"]);
}

#[test]
fn posix_style_is_parsed_like_zsh() {
    compare_with_getopts("zsh", &["-f", "-s"]);
}

#[test]
fn posix_style_is_parsed_like_busybox() {
    compare_with_getopts("busybox", &["ash", "-s"]);
}

/// Git reads the options of its commands like `rev-parse --parseopt` those of scripts.
#[test]
fn git_style_is_parsed_like_parseopt() {
    if !has("git") || !has("bash") {
        return;
    }
    let mut programs = OptionGrammar::of_paths(&[
        "git add",
        "git branch",
        "git clean",
        "git commit",
        "git fetch",
        "git merge",
        "git mv",
        "git push",
        "git reset",
        "git restore",
        "git rm",
        "git status",
        "git switch",
        "git tag",
        "git apply",
        "git clone",
        "git init",
        "git ls-files",
        "git ls-remote",
        "git pull",
        "git rebase",
        "git revert",
        "git cherry-pick",
        "git describe",
        "git gc",
        "git grep",
    ]);
    for grammar in &mut programs {
        // `parseopt` handles help itself.
        let help = ["-h", "--help", "--help-all", "--end-of-options"];
        grammar
            .options
            .retain(|option| !help.contains(&option.name.as_str()));
    }
    assert!(
        programs.len() > 5,
        "only {} commands are plain",
        programs.len()
    );
    let mut lines = lines(&programs, &mut Random(seed()));
    lines.truncate(lines.len() / 2);
    lines.retain(|(_, line)| {
        !line.iter().any(|word| {
            // `--n` and `--no` abbreviate every negation, and `parseopt` picks one: the classifier
            // requires confirmation.
            word.starts_with("--h")
                || word == "-h"
                || ["--n", "--no", "--no-"].contains(&word.split('=').next().unwrap_or(word))
        })
    });
    let mut script = String::from(
        r#"one() {
            local out
            out=$(git rev-parse --parseopt --stuck-long -- "${@:2}" <<<"$1" 2>&-) || { printf 'refused\036'; return; }
            eval "$out"
            printf '%s\037' "$@"
            printf '\036'
        }
"#,
    );
    for (grammar, line) in &lines {
        let mut spec = String::from("usage\n--\n");
        for option in &grammar.options {
            let sign = match (option.requires_value, option.may_have_value) {
                (true, _) => "=",
                (_, true) => "?",
                _ => "",
            };
            let name = option.name.trim_start_matches('-');
            let _ = writeln!(spec, "{name}{sign}! text");
        }
        let words: Vec<String> = line.iter().map(|word| quoted(word)).collect();
        let _ = writeln!(script, "one {} {}", quoted(&spec), words.join(" "));
    }
    let output = output("bash", &[], &script);
    let parsed: Vec<Option<ParsedLine>> = records(&output)
        .into_iter()
        .zip(&lines)
        .map(|(words, (grammar, _))| words.map(|words| from_parseopt(grammar, words)))
        .collect();
    compare("git rev-parse --parseopt", &lines, &parsed);
}

/// Parses the output of `--parseopt`: `--name=value`, `-xvalue`, `--` and operands.
fn from_parseopt(grammar: &OptionGrammar, words: Vec<String>) -> ParsedLine {
    let mut options = Vec::new();
    let mut words = words.into_iter();
    for word in words.by_ref() {
        if word == "--" {
            break;
        }
        let (name, text) = match word.strip_prefix("--") {
            Some(_) => word.split_once('=').unwrap_or((&word, "")),
            None => word.split_at(2),
        };
        assert!(grammar.option(name).is_some(), "{word} in {}", grammar.path);
        options.push((name.to_owned(), value(text)));
    }
    let operands = words.collect();
    ParsedLine { options, operands }
}

/// Programs in Python that use `argparse`.
#[test]
fn argparse_style_is_parsed_like_python() {
    if !has("python3") {
        return;
    }
    let mut programs = OptionGrammar::with_style("Argparse");
    for grammar in &mut programs {
        // An optional value is read from the next word.
        grammar.options.retain(|option| !option.may_have_value);
    }
    programs.retain(|grammar| !grammar.options.is_empty());
    let mut lines = lines(&programs, &mut Random(seed()));
    lines.retain(|(grammar, line)| {
        // Versions of Python differ in the meaning of `=` within joined letters. Some read `-v=a`
        // as `-v -a` for flags, which the reader does not support.
        let letters = |word: &String| {
            !word.starts_with("--")
                && word
                    .find('=')
                    .is_some_and(|at| word.starts_with('-') && at > 2)
        };
        // An abbreviation may stand for an option with an optional value, which this parser lacks.
        let read = grammar.read(line);
        let is_known = |(name, _): &(String, Option<String>)| {
            grammar.options.iter().any(|option| option.name == *name)
        };
        !line.iter().any(letters)
            && read.unrecognized.is_empty()
            && read.options.iter().all(is_known)
    });
    let input: Vec<_> = lines
        .iter()
        .map(|(grammar, line)| {
            let options = grammar.options.iter();
            let options: Vec<_> = options.map(|o| (&o.name, o.requires_value)).collect();
            serde_json::json!([options, line])
        })
        .collect();
    let input = serde_json::to_string(&input).expect("JSON");
    let output = output("python3", &["-c", include_str!("argparse.py")], &input);
    type Line = (Vec<(String, Option<String>)>, Vec<String>);
    let read: Vec<Option<Line>> = serde_json::from_str(&output).expect("JSON");
    let parsed: Vec<Option<ParsedLine>> = read
        .into_iter()
        .map(|line| {
            let (options, operands) = line?;
            let options = options
                .into_iter()
                .map(|(name, text)| (name, text.as_deref().and_then(value)));
            let options = options.collect();
            Some(ParsedLine { options, operands })
        })
        .collect();
    compare("argparse", &lines, &parsed);
}
