//! Implements `replay`, which decides about the past sessions of agents. In: transcripts, the
//! configuration and the user's rules. Out: the report, as text or JSON.

use std::collections::BTreeSet;
use std::env;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use comfy_table::Cell;
use hooks_guard::replay::{
    self, DecisionCounts, ReplayCollector, ReplayReason, ReplayReport, Transcript,
};
use hooks_guard::rules::RuleBook;
use hooks_runtime::display::{escape, shorten};
use jiff::Timestamp;

use super::failure::CommandError;
use super::setup::{LoadedConfig, Setup, homes, local_gate, protected, runtime};
use super::table::{class, table};
use super::when;

/// Maximum number of reasons on the screen.
const MAX_SHOWN: usize = 8;
/// Maximum number of shown characters of a call or a reason.
const MAX_SHOWN_CHARS: usize = 60;
/// Time between two lines of progress.
const PROGRESS_PERIOD: Duration = Duration::from_millis(200);

#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    /// Folders with transcripts, or transcripts. Default: where the agents keep them.
    folders: Vec<PathBuf>,
    /// Only calls after this time, such as `yesterday`, `2h`, `3 days`, `2026-05-01` or
    /// `2026-05-01T10:00:00Z`.
    #[arg(long, value_name = "TIME", value_parser = when::parse)]
    since: Option<Timestamp>,
    /// Prints a JSON object, with all reasons.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    setup: Setup,
}

/// Runs `replay`.
pub(crate) fn replay(options: ReplayArgs) -> Result<bool, CommandError> {
    let loaded = options.setup.load()?;
    let folders = match options.folders.is_empty() {
        true => usual_folders(&loaded),
        false => existing(options.folders)?,
    };
    let files: BTreeSet<PathBuf> = folders
        .iter()
        .flat_map(|folder| replay::transcript_files(folder))
        .filter(|file| options.since.is_none_or(|since| is_changed_since(file, since)))
        .collect();
    let runtime = runtime()?;
    let protected = protected(&loaded, runtime.block_on(loaded.listening_address()));
    let gate = local_gate(&loaded, protected.clone());
    let mut collector = ReplayCollector::default();
    let mut progress = ProgressLine::new(files.len());
    for file in &files {
        let read = async {
            let mut transcript = match Transcript::open(file) {
                Ok(transcript) => transcript,
                Err(_) => return collector.add_transcript(None, Default::default(), false),
            };
            let mut ended = true;
            loop {
                match transcript.next_call().await {
                    Ok(Some(call)) => {
                        let is_late = options.since.is_none_or(|since| call.at > Some(since));
                        if is_late && collector.is_new(&call) {
                            let decided = replay::decide(&gate, &call).await;
                            collector.add(&call, decided);
                        }
                    }
                    Ok(None) => break,
                    Err(error) => {
                        tracing::warn!(file = %file.display(), %error, "cannot read the transcript");
                        ended = false;
                        break;
                    }
                }
                progress.show(&collector);
            }
            collector.add_transcript(transcript.agent(), transcript.problems(), ended);
        };
        runtime.block_on(read);
        progress.show(&collector);
    }
    progress.clear();
    let report = collector.finish(&RuleBook::new(&loaded.places, protected))?;
    if report.transcripts.read == 0 {
        return Err(none_found(&folders, &files, &report));
    }
    let mut out = io::stdout().lock();
    if options.json {
        serde_json::to_writer_pretty(&mut out, &report)?;
        writeln!(out)?;
    } else {
        print(&mut out, &report, loaded.config.scripts.is_empty())?;
    }
    Ok(true)
}

/// Returns the folders in which agents keep their transcripts.
fn usual_folders(loaded: &LoadedConfig) -> Vec<PathBuf> {
    let homes = homes(&loaded.places);
    let data = env::var_os("XDG_DATA_HOME").map(PathBuf::from);
    let data = data.filter(|path| path.is_absolute());
    let data = data.unwrap_or_else(|| loaded.places.home.join(".local/share"));
    replay::usual_folders(|agent| homes.directory(agent), &data)
}

fn existing(folders: Vec<PathBuf>) -> Result<Vec<PathBuf>, CommandError> {
    match folders.iter().find(|folder| !folder.exists()) {
        None => Ok(folders),
        Some(missing) => Err(CommandError::Other(format!(
            "`{}` does not exist",
            escape(&missing.display().to_string())
        ))),
    }
}

/// Returns `false` for a file that was changed last before a time: its calls are older.
fn is_changed_since(file: &Path, since: Timestamp) -> bool {
    let changed = file.metadata().and_then(|file| file.modified());
    let changed = changed.ok().and_then(|at| Timestamp::try_from(at).ok());
    changed.is_none_or(|changed| changed >= since)
}

/// Returns the error if there is nothing to report, with what was tried.
fn none_found(folders: &[PathBuf], files: &BTreeSet<PathBuf>, report: &ReplayReport) -> CommandError {
    let names: Vec<_> = replay::replayed_agents().iter().map(|agent| agent.title()).collect();
    let names = names.join(", ");
    let counts = report.transcripts;
    let folders: Vec<_> = folders.iter().map(|folder| folder.display().to_string()).collect();
    let folders = escape(&folders.join(", "));
    CommandError::Other(match (files.len(), counts.unreadable) {
        (0, _) => format!("no transcripts in {folders}; the formats are those of {names}"),
        (all, unreadable) => format!(
            "no transcript of a known format among {} in {folders} ({unreadable} could not be read); the \
             formats are those of {names}",
            count(all, "file")
        ),
    })
}

/// A line on a terminal that shows how far the work is.
struct ProgressLine {
    is_shown: bool,
    files: usize,
    next: Instant,
}

impl ProgressLine {
    fn new(files: usize) -> Self {
        Self {
            is_shown: io::stderr().is_terminal(),
            files,
            next: Instant::now() + PROGRESS_PERIOD,
        }
    }

    fn show(&mut self, collector: &ReplayCollector) {
        if !self.is_shown || Instant::now() < self.next {
            return;
        }
        self.next = Instant::now() + PROGRESS_PERIOD;
        let (counts, calls) = collector.progress();
        let done = counts.read + counts.unknown + counts.unreadable;
        // An error is not worth the end of the command.
        let _ = write!(
            io::stderr().lock(),
            "\r\u{1b}[K{done} of {} files, {calls} calls",
            self.files
        );
    }

    fn clear(&self) {
        if self.is_shown {
            let _ = write!(io::stderr().lock(), "\r\u{1b}[K");
        }
    }
}

/// Returns `1 call`, `2 calls`.
fn count(number: usize, of: &str) -> String {
    match number {
        1 => format!("1 {of}"),
        _ => format!("{number} {of}s"),
    }
}

/// Prints the report.
fn print(out: &mut impl Write, report: &ReplayReport, no_scripts: bool) -> io::Result<()> {
    print_heading(out, report)?;
    print_decisions(out, &report.decisions, report.unattended)?;
    print_reasons(out, "asked about", &report.asked)?;
    print_reasons(out, "denied", &report.denied)?;
    print_comparison(out, report)?;
    print_rules(out, report)?;
    print_notes(out, report, no_scripts)
}

fn print_heading(out: &mut impl Write, report: &ReplayReport) -> io::Result<()> {
    let days = [report.first, report.last].map(|at| at.map(|at| when::local_time(at, "%F")));
    let period = match days {
        [Some(first), Some(last)] if first == last => format!(", {first}"),
        [Some(first), Some(last)] => format!(", {first} to {last}"),
        _ => String::new(),
    };
    let (calls, sessions) = (count(report.calls, "call"), count(report.sessions, "session"));
    writeln!(out, "{calls} in {sessions}{period}")?;
    for agent in &report.agents {
        let (calls, sessions) = (count(agent.calls, "call"), count(agent.sessions, "session"));
        writeln!(out, "  {:<16} {calls} in {sessions}", agent.title)?;
    }
    Ok(())
}

fn print_decisions(out: &mut impl Write, counts: &DecisionCounts, unattended: usize) -> io::Result<()> {
    let all = counts.total().max(1);
    let asked = match unattended {
        0 => "asked".to_owned(),
        some => format!("asked; for {some} of them the agent shows no prompt, so an operator answers"),
    };
    writeln!(out, "\nwith these settings:")?;
    for (number, what) in [
        (counts.allowed, "allowed without a question"),
        (counts.asked, asked.as_str()),
        (counts.denied, "denied"),
        (counts.left_to_agent, "left to the agent's own rules"),
        (counts.not_checked, "of tools without an effect that is checked"),
    ] {
        if number > 0 {
            writeln!(out, "  {number:>6} {:>3} %  {what}", number * 100 / all)?;
        }
    }
    Ok(())
}

fn print_reasons(out: &mut impl Write, what: &str, reasons: &[ReplayReason]) -> io::Result<()> {
    if reasons.is_empty() {
        return Ok(());
    }
    let mut rows = table(["Calls", "Ran", "Class", "What", "Example"], 1);
    for reason in reasons.iter().take(MAX_SHOWN) {
        rows.add_row([
            Cell::new(reason.calls),
            Cell::new(reason.ran),
            reason.class.map_or_else(|| Cell::new(""), class),
            Cell::new(shorten(&escape(&reason.subject), MAX_SHOWN_CHARS)),
            Cell::new(shorten(&escape(&reason.example), MAX_SHOWN_CHARS)),
        ]);
    }
    writeln!(out, "\n{what}:\n{rows}")?;
    match reasons.len().checked_sub(MAX_SHOWN) {
        None | Some(0) => Ok(()),
        Some(more) => {
            let reasons = count(more, "further reason");
            writeln!(out, "and {reasons}; `--json` lists all")
        }
    }
}

fn print_comparison(out: &mut impl Write, report: &ReplayReport) -> io::Result<()> {
    let ran = &report.ran;
    writeln!(
        out,
        "\nran, although these settings would have asked: {}, denied: {}",
        ran.asked, ran.denied
    )?;
    let by = &report.agent_decided;
    let prompts = by.approved.total() + by.rejected.total();
    if prompts + by.not_asked.total() + by.refused.total() == 0 {
        return writeln!(out, "the transcripts do not show the agents' own prompts");
    }
    writeln!(
        out,
        "the agents asked about {}: {} approved, {} rejected; they refused {} themselves",
        count(prompts, "call"),
        by.approved.total(),
        by.rejected.total(),
        by.refused.total()
    )?;
    writeln!(
        out,
        "  of the approved, these settings allow {} and deny {}; of the rejected, they allow {}",
        by.approved.allowed, by.approved.denied, by.rejected.allowed
    )?;
    writeln!(
        out,
        "  they ask about {} and deny {} of {} that the agents ran without a question",
        by.not_asked.asked,
        by.not_asked.denied,
        count(by.not_asked.total(), "call")
    )
}

fn print_rules(out: &mut impl Write, report: &ReplayReport) -> io::Result<()> {
    if report.rules.is_empty() {
        return Ok(());
    }
    let rules = match report.rules.len() {
        1 => "this rule".to_owned(),
        number => format!("these {number} rules"),
    };
    let (saved, asked) = (report.saved, report.decisions.asked);
    writeln!(out, "\n{rules} would have saved {saved} of {}:\n", count(asked, "question"))?;
    let texts: Vec<&str> = report.rules.iter().map(|rule| rule.toml.as_str()).collect();
    write!(out, "{}", texts.join("\n"))
}

fn print_notes(out: &mut impl Write, report: &ReplayReport, no_scripts: bool) -> io::Result<()> {
    let counts = report.transcripts;
    let mut notes = Vec::new();
    if report.folders_gone > 0 {
        let calls = count(report.folders_gone, "call");
        notes.push(format!("the directory of {calls} is gone: only the text was classified"));
    }
    if counts.broken + counts.too_long > 0 {
        let lines = count(counts.broken, "broken line");
        let long = count(counts.too_long, "line");
        notes.push(format!("skipped {lines} and {long} over the limit of length"));
    }
    if counts.unknown + counts.unreadable > 0 {
        let files = count(counts.unknown, "file");
        notes.push(format!(
            "{files} of no known format, {} could not be read",
            counts.unreadable
        ));
    }
    if !no_scripts {
        notes.push("the hooks of `scripts` were not run".to_owned());
    }
    if !notes.is_empty() {
        writeln!(out)?;
    }
    notes.iter().try_for_each(|note| writeln!(out, "note: {note}"))
}
