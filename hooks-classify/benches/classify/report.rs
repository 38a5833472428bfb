//! Writes the section in the page of figures. All its figures are measured when it is written.

use std::fmt::Write as _;
use std::process::Command;
use std::time::Instant;

use hooks_classify::Classifier;

use crate::counts;
use crate::page::{judged, missed};
use crate::workload::{self, Parsers, SHAPES};

/// Start of the section; it ends at the start of another section.
pub(crate) const MARK: &str = "<!-- the classifier -->";

const MEDIAN_TARGET: f64 = 100.0;
/// Maximum ratio of the median to that of both parsers.
const RATIO_TARGET: f64 = 3.0;
/// The ratio before the patterns of secret paths were compiled into one automaton.
const RATIO_BEFORE: f64 = 8.9;
const PERCENTILE_TARGET: f64 = 1_000.0;
/// Maximum ratio of the time per character in a command of 10 000 characters to that in a command
/// of 1 000.
const LINEAR_TARGET: f64 = 1.5;
const START_TARGET: f64 = 20.0;

const ROUNDS: usize = 5;
/// Number of commands of one shape and length.
const VARIANTS: usize = 67;
const STARTS: usize = 21;

pub(crate) fn section() -> Result<String, String> {
    let mut misses = Vec::new();
    let mut text = format!(
        "{MARK}\n\n## The classifier\n\n\
         Written by `cargo bench -p hooks-classify --bench classify -- write`, in one process. \
         The parsers are those of the classifier, called alone; *both* is their sum, the lower \
         bound of a classifier that uses them.\n"
    );
    eprintln!("everyday commands");
    everyday(&mut text, &mut misses);
    eprintln!("long commands");
    long(&mut text, &mut misses);
    eprintln!("instructions");
    counts::table(&mut text, &mut misses)?;
    eprintln!("first start");
    first_start(&mut text, &mut misses)?;
    text += &missed(&misses);
    Ok(text)
}

/// Returns a percentile of the microseconds of the classifier, of brush-parser and of tree-sitter
/// for each command. Each of the three gets its own list of commands.
///
/// The commands run in turns, so that none is found in a cache: brush-parser caches the last 64
/// texts.
fn times(
    classifier: &Classifier,
    parsers: &mut Parsers,
    commands: [&[String]; 3],
    part: f64,
) -> Vec<[f64; 3]> {
    let mut samples = vec![[const { Vec::new() }; 3]; commands[0].len()];
    for _ in 0..ROUNDS {
        for (command, samples) in commands[0].iter().zip(&mut samples) {
            samples[0].push(once(|| workload::classify(classifier, command)));
        }
        for (command, samples) in commands[1].iter().zip(&mut samples) {
            samples[1].push(once(|| parsers.brush(command)));
        }
        for (command, samples) in commands[2].iter().zip(&mut samples) {
            samples[2].push(once(|| parsers.tree(command)));
        }
    }
    samples
        .into_iter()
        .map(|samples| samples.map(|samples| share(samples, part)))
        .collect()
}

fn once(run: impl FnOnce()) -> f64 {
    let began = Instant::now();
    run();
    began.elapsed().as_secs_f64() * 1e6
}

/// Returns the percentile of the samples for this share.
fn share(mut samples: Vec<f64>, share: f64) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples[((samples.len() - 1) as f64 * share).round() as usize]
}

fn everyday(text: &mut String, misses: &mut Vec<String>) {
    let (classifier, mut parsers) = (Classifier::new(), Parsers::new());
    let commands = workload::everyday();
    workload::repeat(1);
    let mut columns = [const { Vec::new() }; 4];
    for [all, brush, tree] in times(&classifier, &mut parsers, [&commands; 3], 0.5) {
        for (column, time) in columns.iter_mut().zip([all, brush, tree, brush + tree]) {
            column.push(time);
        }
    }
    let characters: usize = commands.iter().map(|command| command.chars().count()).sum();
    let _ = write!(
        text,
        "\nThe {} everyday commands of the corpus, {} characters each on average. The time of \
         a command is the median of {ROUNDS} runs, in microseconds. *Before* is the ratio to both parsers in the \
         last version that compared each path with each pattern of secrets.\n\n\
         | | classifier | target | brush-parser | tree-sitter | both | ratio | before | target |\n\
         |---|---:|---:|---:|---:|---:|---:|---:|---:|\n",
        commands.len(),
        characters / commands.len()
    );
    for (name, part, target, ratio_target) in [
        ("median", 0.5, Some(MEDIAN_TARGET), Some(RATIO_TARGET)),
        ("99th percentile", 0.99, Some(PERCENTILE_TARGET), None),
        ("longest", 1.0, None, None),
    ] {
        let [all, brush, tree, both] = columns.clone().map(|column| share(column, part));
        let reached = target.is_none_or(|target| all < target);
        let shown = judged(format!("{all:.1}"), reached);
        let target = target.map_or("–".into(), |target| format!("< {target:.0}"));
        let ratio = all / both;
        let is_close = ratio_target.is_none_or(|target| ratio <= target);
        let shown_ratio = judged(format!("{ratio:.1}"), is_close);
        let end = ratio_target.map_or("– | –".into(), |target| {
            format!("{RATIO_BEFORE} | ≤ {target}")
        });
        let _ = writeln!(
            text,
            "| {name} | {shown} | {target} | {brush:.1} | {tree:.1} | {both:.1} | {shown_ratio} | {end} |"
        );
        if !is_close {
            misses.push(format!(
                "{name}: {ratio:.1} × both parsers, not {RATIO_TARGET} ×"
            ));
        }
        if !reached {
            misses.push(format!("{name}: {all:.1} µs, not {target} µs"));
        }
    }
}

fn long(text: &mut String, misses: &mut Vec<String>) {
    let (classifier, mut parsers) = (Classifier::new(), Parsers::new());
    let _ = write!(
        text,
        "\nNanoseconds per character for commands of about this many characters, in the fastest of {} \
         runs, because longer runs are interrupted on a busy machine. *Growth* is the ratio of the last \
         column to the previous one; the last column has the growth of both parsers. *Before* is the last \
         version that compared each path with each pattern of secrets.\n\n\
         | Shape | 100 | 1 000 | 10 000 | before, 10 000 | growth | target | both parsers, 10 000 | their growth |\n\
         |---|---:|---:|---:|---:|---:|---:|---:|---:|\n",
        ROUNDS * VARIANTS
    );
    for shape in &SHAPES {
        let mut columns = Vec::new();
        for most in [100, 1_000, 10_000] {
            // Enough commands that none is cached.
            let mut commands = (0..3).map(|list| {
                let numbers = list * VARIANTS..(list + 1) * VARIANTS;
                numbers.map(|n| shape.of(most, n)).collect::<Vec<_>>()
            });
            let [own, brush, tree] = [(); 3].map(|()| commands.next().unwrap_or_default());
            let length = own[0].len() as f64;
            let classification = classifier.classify(&own[0]).expect("a command");
            assert!(!classification.has_failed(), "{}", shape.name);
            assert!(
                classification.confidence > 0.5,
                "{}: {classification:?}",
                shape.name
            );
            let times = times(&classifier, &mut parsers, [&own, &brush, &tree], 0.0);
            let [all, brush, tree] =
                [0, 1, 2].map(|at| share(times.iter().map(|times| times[at]).collect(), 0.0));
            columns.push((all * 1e3 / length, (brush + tree) * 1e3 / length));
        }
        let (growth, theirs) = (columns[2].0 / columns[1].0, columns[2].1 / columns[1].1);
        let reached = growth <= LINEAR_TARGET;
        let _ = writeln!(
            text,
            "| {} | {:.0} | {:.0} | {:.0} | {} | {} | ≤ {LINEAR_TARGET} | {:.0} | {theirs:.2} |",
            shape.name,
            columns[0].0,
            columns[1].0,
            columns[2].0,
            shape.before_ns,
            judged(format!("{growth:.2}"), reached),
            columns[2].1,
        );
        if !reached {
            misses.push(format!(
                "{}: the time per character grows by {growth:.2}, not {LINEAR_TARGET}; by {theirs:.2} with \
                 the parsers alone",
                shape.name
            ));
        }
    }
}

fn first_start(text: &mut String, misses: &mut Vec<String>) -> Result<(), String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut samples = Vec::new();
    for _ in 0..STARTS {
        let output = Command::new(&own)
            .arg(workload::START)
            .output()
            .map_err(|error| error.to_string())?;
        let shown = String::from_utf8_lossy(&output.stdout);
        let time = shown.trim().parse::<f64>();
        samples.push(time.map_err(|error| format!("the first start printed {shown:?}: {error}"))?);
    }
    let time = share(samples, 0.5);
    let reached = time < START_TARGET;
    let _ = writeln!(
        text,
        "\nThe first command in a new process, including all loading: {} ms (target < \
         {START_TARGET:.0} ms).",
        judged(format!("{time:.2}"), reached)
    );
    if !reached {
        misses.push(format!(
            "first start: {time:.2} ms, not {START_TARGET:.0} ms"
        ));
    }
    Ok(())
}
