//! The section of the page with the score of the corpora.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use super::{Score, share};

/// Start and end of the section.
const MARK: &str = "<!-- score: written by the test of the corpora -->";
const END: &str = "<!-- end of score -->";

/// Variable that makes the test write the section instead of comparing it.
const WRITE: &str = "HOOKS_WRITE";

/// Counts of the test.
#[derive(Default)]
pub(crate) struct Counts {
    /// By file, in order.
    pub(crate) corpora: Vec<(String, Score)>,
    pub(crate) tags: BTreeMap<String, Score>,
    /// By confidence, in hundredths.
    pub(crate) confidence: BTreeMap<u8, Score>,
}

/// Minimum number of commands of a tag: the share of fewer is not meaningful.
const FEW: u32 = 10;

pub(crate) fn part(total: &Score, counts: &Counts) -> String {
    let mut text = format!(
        "{MARK}\n\n\
         | Corpus | commands | class right | READ allowed at once | wrongly allowed |\n\
         |---|---:|---:|---:|---:|\n"
    );
    for (name, score) in &counts.corpora {
        row(&mut text, &format!("`{name}`"), score);
    }
    row(&mut text, "all", total);
    let _ = write!(
        text,
        "\nBy tag, where at least {FEW} commands have it:\n\n\
         | Tag | commands | class right | READ allowed at once | wrongly allowed |\n\
         |---|---:|---:|---:|---:|\n"
    );
    for (tag, score) in counts.tags.iter().filter(|(_, score)| score.all >= FEW) {
        row(&mut text, tag, score);
    }
    text += "\nHow often the class is right where the classifier returns a confidence:\n\n\
             | Confidence | commands | class right |\n\
             |---|---:|---:|\n";
    for (hundredths, score) in &counts.confidence {
        let _ = writeln!(
            text,
            "| 0.{hundredths:02} | {} | {} |",
            score.all,
            share(score.right, score.all)
        );
    }
    let _ = write!(text, "\n{END}");
    text
}

fn row(text: &mut String, name: &str, score: &Score) {
    let _ = writeln!(
        text,
        "| {name} | {} | {} | {} | {} |",
        score.all,
        share(score.right, score.all),
        share(score.allowed, score.reads),
        share(score.wrong_allows, score.all - score.reads),
    );
}

/// Compares the section with the page, or writes it.
pub(crate) fn check(part: &str) -> Result<(), String> {
    let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/classifier.md");
    let page = fs::read_to_string(&path).expect("the page");
    let start = page.find(MARK).expect("the mark where the part begins");
    let end = page.find(END).expect("the mark where the part ends") + END.len();
    if env::var_os(WRITE).is_some() {
        let page = format!("{}{part}{}", &page[..start], &page[end..]);
        fs::write(&path, page).expect("the page can be written");
    } else if &page[start..end] != part {
        return Err(format!(
            "docs/classifier.md has another score than this:\n{part}\nwrite it with \
             `{WRITE}=1 cargo test -p hooks-classify --test corpus`"
        ));
    }
    Ok(())
}
