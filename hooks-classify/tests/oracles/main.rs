//! Compares the tables with the help of the programs on this machine.
//!
//! `cargo test -p hooks-classify --test oracles` prints a table of figures. It fails with a list of
//! the commands and options that a program describes and its table lacks, or reads differently.
//! `HOOKS_WRITE=1` writes the figures to `docs/classifier.md`. Programs that are not installed are
//! left out. The test is not a part of `cargo test`, because another version of a program may have
//! more options.

#[path = "compare.rs"]
mod compare;
#[path = "help.rs"]
mod help;
#[path = "programs.rs"]
mod programs;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::{env, fs};

use hooks_classify::{Classifier, Decision};

use compare::{Figures, compare};
use programs::Machine;

/// Start and end of the figures in the page.
const MARK: &str = "<!-- oracles: written by the test of the tables -->";
const END: &str = "<!-- end of oracles -->";

/// Compares every operation of AWS with the members of its output.
fn botocore(classifier: &Classifier, machine: &Machine) -> Option<Figures> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oracles/operations.py");
    let text = machine.printed(&["python3", script.to_str()?])?;
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
    let machine = Machine::new(None);
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
        let Some(version) = machine.version(words) else {
            println!("left out: `{program}` is not installed");
            continue;
        };
        let mut figures = Figures {
            version,
            ..Figures::default()
        };
        compare(&classifier, &machine.described(program), &mut figures);
        all.insert(program, figures);
    }
    match botocore(&classifier, &machine) {
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
