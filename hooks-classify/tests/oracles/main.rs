//! Holds the tables to what the programs of this machine say of themselves.
//!
//! `cargo test -p hooks-classify --test oracles` prints a table of figures and fails with the list
//! of commands and options that a program describes and its table lacks, or reads differently.
//! `HOOKS_WRITE=1` writes the figures into `docs/classifier.md`. A program that is not installed is
//! left out. It is not a part of `cargo test`: another version of a program may know more.

#[path = "help.rs"]
mod help;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::{env, fs};

use hooks_classify::{Classifier, Decision, Tables};

use help::Takes;

/// Where the figures begin and end in the page.
const MARK: &str = "<!-- oracles: written by the test of the tables -->";
const END: &str = "<!-- end of oracles -->";

/// A word that no table knows.
const OPERAND: &str = "zzz9";

/// Lines of help that look like options and describe something else.
const NO_OPTIONS: [(&str, &str); 2] = [
    // A range of bytes or fields.
    ("cut", "-M"),
    ("numfmt", "-M"),
];

/// The programs of coreutils, which describe their options alike.
const COREUTILS: &str = "arch b2sum base32 base64 basename basenc cat chcon chgrp chmod chown chroot cksum comm cp \
     csplit cut date dd df dir dircolors dirname du env expand expr factor fmt fold groups head hostid id install join \
     link ln logname ls md5sum mkdir mkfifo mknod mktemp mv nice nl nohup nproc numfmt od paste pathchk pinky pr \
     printenv ptx pwd readlink realpath rm rmdir runcon sha1sum sha224sum sha256sum sha384sum sha512sum shred shuf \
     sleep sort split stat stdbuf stty sum sync tac tail tee timeout touch tr truncate tsort tty uname unexpand uniq \
     unlink uptime users vdir wc who whoami yes";

/// A command as its program describes it.
struct Described {
    /// `["docker", "ps"]`
    path: Vec<String>,
    options: Vec<(String, Takes)>,
    /// Whether the program shows which options take a value as the next word.
    shows_values: bool,
}

/// What was compared with one program.
#[derive(Default)]
struct Figures {
    version: String,
    commands: usize,
    options: usize,
    wrong: BTreeSet<String>,
}

/// Runs a program; returns what it prints on both outputs, or `None` if it cannot be run.
fn printed(words: &[&str]) -> Option<String> {
    let output = Command::new(words[0])
        .args(&words[1..])
        .env("COLUMNS", "1000")
        .env("KUBECONFIG", "/nonexistent")
        .env("DOCKER_HOST", "unix:///nonexistent")
        .env("LC_ALL", "C.UTF-8")
        .env("GH_NO_UPDATE_NOTIFIER", "1")
        .env("PAGER", "cat")
        .stdin(Stdio::null())
        .output()
        .ok()?;
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    if text.trim().is_empty() {
        text = String::from_utf8_lossy(&output.stderr).into_owned();
    }
    Some(text)
}

fn version(words: &[&str]) -> Option<String> {
    let text = printed(words)?;
    let digit = |word: &&str| {
        let word = word.trim_start_matches(['v', '"']);
        word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.')
    };
    let mut words = text.split(|c: char| c.is_whitespace() || c == ',');
    let found = words.find(digit)?;
    Some(found.trim_matches(['v', '"']).to_owned())
}

/// The commands of a program made with cobra, by its own completion.
fn cobra(path: &[&str], found: &mut Vec<Described>) {
    let mut words = vec![path[0], "__complete"];
    words.extend(&path[1..]);
    words.push("");
    let text = printed(&words).unwrap_or_default();
    let names = text.lines().take_while(|line| !line.starts_with(':'));
    let names = names.filter_map(|line| line.split_once('\t').map(|(name, _)| name));
    let is_name = |name: &&str| !name.starts_with('-') && !["help", "completion"].contains(name);
    for name in names.filter(is_name) {
        let inner = [path, &[name]].concat();
        let help = printed(&[inner.as_slice(), &["--help"]].concat()).unwrap_or_default();
        if !help.lines().any(|line| {
            line.trim()
                .trim_start_matches("Usage:")
                .trim()
                .starts_with(&inner.join(" "))
        }) {
            continue;
        }
        found.push(Described {
            path: inner.iter().map(|&word| word.to_owned()).collect(),
            options: help::options(&help),
            shows_values: true,
        });
        if inner.len() < 5 {
            cobra(&inner, found);
        }
    }
}

/// The commands of cargo.
fn cargo() -> Vec<Described> {
    let list = printed(&["cargo", "--list"]).unwrap_or_default();
    let lines = list
        .lines()
        .skip(1)
        .filter_map(|line| line.split_whitespace().next());
    lines
        .filter_map(|name| {
            let help = printed(&["cargo", name, "--help"])?;
            // Aliases and programs of others have pages of their own.
            let own = help.contains(&format!("Usage: cargo {name}"))
                || help.contains(&format!("cargo {name} ["));
            own.then(|| Described {
                path: vec!["cargo".to_owned(), name.to_owned()],
                options: help::options(&help),
                shows_values: true,
            })
        })
        .collect()
}

/// The commands of git that describe their options.
fn git(path: &[&str], found: &mut Vec<Described>) {
    let Some(text) = printed(&[path, &["--git-completion-helper-all"]].concat()) else {
        return;
    };
    let words: Vec<&str> = text.split_whitespace().collect();
    let fits = |word: &&str| {
        word.chars()
            .all(|c| c.is_alphanumeric() || "-=_".contains(c))
    };
    if words.is_empty() || !words.iter().all(fits) {
        return;
    }
    let options = words
        .iter()
        .filter(|word| word.len() > 2 && word.starts_with("--"));
    found.push(Described {
        path: path.iter().map(|&word| word.to_owned()).collect(),
        options: options
            .map(|word| match word.strip_suffix('=') {
                Some(name) => (name.to_owned(), Takes::Value),
                None => ((*word).to_owned(), Takes::Optional),
            })
            .collect(),
        shows_values: false,
    });
    if path.len() < 3 {
        for name in words.iter().filter(|word| !word.starts_with('-')) {
            git(&[path, &[name]].concat(), found);
        }
    }
}

fn described(program: &str) -> Vec<Described> {
    let mut found = Vec::new();
    match program {
        "git" => {
            let list = printed(&["git", "--list-cmds=main"]).unwrap_or_default();
            for name in list.split_whitespace().filter(|name| !name.contains("--")) {
                git(&["git", name], &mut found);
            }
        }
        "cargo" => found = cargo(),
        "coreutils" => {
            for name in COREUTILS.split_whitespace() {
                let help = printed(&[name, "--help"]).unwrap_or_default();
                found.push(Described {
                    path: vec![name.to_owned()],
                    options: help::options(&help),
                    shows_values: true,
                });
            }
        }
        program => cobra(&[program], &mut found),
    }
    found
}

/// Compares what a program describes with what its table reads.
fn compare(classifier: &Classifier, commands: &[Described], figures: &mut Figures) {
    for command in commands {
        figures.commands += 1;
        let path = command.path.join(" ");
        let plain = classifier.judge(&path).expect("a command");
        let call = |text: &str| {
            let judgement = classifier.judge(text).expect("a command");
            let part = judgement.parts.runs().next().cloned();
            part.and_then(|part| part.calls.last().cloned())
        };
        let Some(known) = call(&path) else {
            // A wrapper without a command has no call of its own.
            if !Tables::embedded().names().any(|name| name == path) {
                figures.wrong.insert(format!("{path}: unknown program"));
            }
            continue;
        };
        if !known.understood {
            figures.wrong.insert(format!("{path}: unknown command"));
            continue;
        }
        // What is asked about anyway needs no options.
        if plain.classification.decision != Decision::AutoAllowed {
            continue;
        }
        for (option, takes) in &command.options {
            let is_none = NO_OPTIONS.contains(&(path.as_str(), option.as_str()));
            if is_none || ["--help", "--version"].contains(&option.as_str()) {
                continue;
            }
            figures.options += 1;
            let text = match takes {
                Takes::Value => format!("{path} {option} 1"),
                _ => format!("{path} {option}"),
            };
            if call(&text).is_none_or(|call| !call.understood) {
                figures
                    .wrong
                    .insert(format!("{path} {option}: unknown option"));
                continue;
            }
            let Some(call) = call(&format!("{path} {option} {OPERAND}")) else {
                continue;
            };
            let is_operand = call.operands.iter().any(|operand| operand.text == OPERAND);
            let takes_next = *takes == Takes::Value;
            if is_operand == takes_next && (command.shows_values || takes_next) {
                let what = if takes_next {
                    "takes a value"
                } else {
                    "takes no value of its own"
                };
                figures.wrong.insert(format!("{path} {option}: {what}"));
            }
        }
    }
}

/// Compares every operation of AWS with the members of its output.
fn botocore(classifier: &Classifier) -> Option<Figures> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oracles/operations.py");
    let text = printed(&["python3", script.to_str()?])?;
    let mut lines = text.lines();
    let version = lines.next()?;
    if !version.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let mut figures = Figures {
        version: version.to_owned(),
        ..Figures::default()
    };
    for line in lines {
        let (command, members) = line.split_once('\t').unwrap_or((line, ""));
        figures.commands += 1;
        let found = classifier.classify(command).expect("a command");
        if found.decision == Decision::AutoAllowed && !members.is_empty() {
            figures.wrong.insert(format!("{command}: prints {members}"));
        }
    }
    Some(figures)
}

fn page(all: &BTreeMap<&str, Figures>) -> String {
    let mut text = format!(
        "{MARK}\n\n| Program | version | commands | options of commands that read | unknown or read differently |\n\
         |---|---|---:|---:|---:|\n"
    );
    for (program, figures) in all {
        let options = match figures.options {
            0 => "–".to_owned(),
            options => options.to_string(),
        };
        let _ = writeln!(
            text,
            "| {program} | {} | {} | {options} | {} |",
            figures.version,
            figures.commands,
            figures.wrong.len()
        );
    }
    let _ = write!(text, "\n{END}");
    text
}

fn write(part: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/classifier.md");
    let page = fs::read_to_string(&path).expect("the page");
    let start = page.find(MARK).expect("the mark where the figures begin");
    let end = page.find(END).expect("the mark where the figures end") + END.len();
    let page = format!("{}{part}{}", &page[..start], &page[end..]);
    fs::write(&path, page).expect("the page can be written");
}

fn main() -> ExitCode {
    let classifier = Classifier::new();
    let mut all = BTreeMap::new();
    let programs: [(&str, &[&str]); 6] = [
        ("git", &["git", "--version"]),
        ("docker", &["docker", "--version"]),
        ("kubectl", &["kubectl", "version", "--client"]),
        ("gh", &["gh", "--version"]),
        ("cargo", &["cargo", "--version"]),
        ("coreutils", &["ls", "--version"]),
    ];
    for (program, words) in programs {
        let Some(version) = version(words) else {
            println!("left out: `{program}` is not installed");
            continue;
        };
        let mut figures = Figures {
            version,
            ..Figures::default()
        };
        compare(&classifier, &described(program), &mut figures);
        all.insert(program, figures);
    }
    match botocore(&classifier) {
        Some(figures) => drop(all.insert("botocore", figures)),
        None => println!("left out: `botocore` is not installed; run `pip install botocore`"),
    }
    let part = page(&all);
    println!("{part}");
    if env::var_os("HOOKS_WRITE").is_some() {
        write(&part);
    }
    let mut wrong = all
        .iter()
        .flat_map(|(_, figures)| &figures.wrong)
        .peekable();
    if wrong.peek().is_none() {
        return ExitCode::SUCCESS;
    }
    for line in wrong {
        println!("{line}");
    }
    ExitCode::FAILURE
}
