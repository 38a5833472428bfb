//! Runs every `corpus/*.jsonl`: labelled commands that the tables were not written from.
//!
//! The test compares the score in `docs/classifier.md`; `HOOKS_WRITE=1` writes it instead.

mod page;

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use hooks_classify::{Classifier, Decision, Shells};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LabelledCommand {
    command: String,
    label: String,
    must_confirm: bool,
    tags: Vec<String>,
    #[expect(dead_code, reason = "explains the label to readers")]
    why: String,
}

#[derive(Default)]
pub(crate) struct Score {
    all: u32,
    right: u32,
    reads: u32,
    allowed: u32,
    wrong_allows: u32,
}

/// Formats the share and its 95 % interval after Wilson.
pub(crate) fn share(hits: u32, all: u32) -> String {
    if all == 0 {
        return "–".into();
    }
    let (n, p, z) = (f64::from(all), f64::from(hits) / f64::from(all), 1.96);
    let middle = (p + z * z / (2.0 * n)) / (1.0 + z * z / n);
    let half = z / (1.0 + z * z / n) * (p * (1.0 - p) / n + z * z / (4.0 * n * n)).sqrt();
    format!(
        "{hits}/{all} = {:.1} % [{:.1}, {:.1}]",
        p * 100.0,
        ((middle - half) * 100.0).max(0.0),
        (middle + half) * 100.0
    )
}

#[test]
fn corpus_commands_are_never_wrongly_allowed_and_95_percent_are_right() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("corpus");
    // The shells to which agents pass commands.
    let classifier = Classifier::new().with_shells(Shells::BASH | Shells::ZSH);
    let mut total = Score::default();
    let mut counts = page::Counts::default();
    let mut report = String::new();
    let mut wrong_allows = Vec::new();
    let mut files: Vec<_> = fs::read_dir(folder)
        .expect("the corpus")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.sort();
    for path in files
        .iter()
        .filter(|path| path.extension().is_some_and(|e| e == "jsonl"))
    {
        let text = fs::read_to_string(path).expect("a readable file");
        let name = path.file_name().expect("a name").to_string_lossy();
        let mut own = Score::default();
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let line: LabelledCommand = serde_json::from_str(line).expect("a labelled command");
            assert_eq!(line.must_confirm, line.label != "READ", "{}", line.command);
            let classification = classifier.classify(&line.command).expect("a command");
            let allowed = classification.decision == Decision::AutoAllowed;
            let class = classification.crud.to_string();
            let right = class == line.label
                || line
                    .tags
                    .iter()
                    .any(|tag| tag.strip_prefix("alt:") == Some(&class));
            let count = |score: &mut Score| {
                score.all += 1;
                score.right += u32::from(right);
                score.reads += u32::from(line.label == "READ");
                score.allowed += u32::from(line.label == "READ" && allowed);
                score.wrong_allows += u32::from(line.must_confirm && allowed);
            };
            count(&mut total);
            count(&mut own);
            let hundredths = (classification.confidence * 100.0).round() as u8;
            count(counts.confidence.entry(hundredths).or_default());
            for tag in line.tags.iter().filter(|tag| !tag.starts_with("alt:")) {
                count(counts.tags.entry(tag.clone()).or_default());
            }
            if line.must_confirm && allowed {
                wrong_allows.push(line.command.clone());
            } else if !right || (line.label == "READ" && !allowed) {
                let _ = writeln!(
                    report,
                    "{} {class} {:?}: {}",
                    line.label, line.command, classification.reasoning
                );
            }
        }
        counts.corpora.push((name.into_owned(), own));
    }
    println!("{report}");
    println!("class right:        {}", share(total.right, total.all));
    println!("READ auto-allowed:  {}", share(total.allowed, total.reads));
    println!(
        "wrongly allowed:    {}",
        share(total.wrong_allows, total.all - total.reads)
    );
    for (tag, score) in &counts.tags {
        println!(
            "  {tag:12} class {}; READ allowed {}",
            share(score.right, score.all),
            share(score.allowed, score.reads)
        );
    }
    let page_check = page::check(&page::part(&total, &counts));
    assert!(
        total.all >= 1000,
        "the corpus has only {} commands",
        total.all
    );
    assert_eq!(
        wrong_allows,
        Vec::<String>::new(),
        "must be confirmed, but were allowed"
    );
    assert!(
        total.allowed * 100 >= total.reads * 95,
        "READ allowed: {}",
        share(total.allowed, total.reads)
    );
    for (name, score) in &counts.corpora {
        assert!(
            score.allowed * 100 >= score.reads * 95,
            "READ allowed in {name}: {}",
            share(score.allowed, score.reads)
        );
    }
    assert!(
        total.right * 100 >= total.all * 95,
        "class right: {}",
        share(total.right, total.all)
    );
    page_check.unwrap_or_else(|why| panic!("{why}"));
}
