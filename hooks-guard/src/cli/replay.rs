//! Implements `replay`, which decides about the past sessions of agents. In: transcripts, the
//! configuration and the user's rules. Out: the report, as text or JSON.

mod screen;

use std::collections::BTreeSet;
use std::env;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use hooks_guard::gate::Gate;
use hooks_guard::replay::{self, ReplayCollector, ReplayReport, Transcript, TranscriptProblems};
use hooks_guard::rules::RuleBook;
use hooks_runtime::display::escape;
use jiff::Timestamp;

use self::screen::count;
use super::failure::CommandError;
use super::setup::{LoadedConfig, Setup, homes, local_gate, protected, runtime};
use super::when;

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
    let found: BTreeSet<PathBuf> = folders
        .iter()
        .flat_map(|folder| replay::transcript_files(folder))
        .collect();
    let is_recent = |file: &&PathBuf| {
        let since = options.since;
        since.is_none_or(|since| replay::changed_at(file).is_none_or(|changed| changed >= since))
    };
    let files: Vec<&PathBuf> = found.iter().filter(is_recent).collect();
    let runtime = runtime()?;
    let protected = protected(&loaded, runtime.block_on(loaded.listening_address()));
    let gate = local_gate(&loaded, protected.clone());
    let mut collector = ReplayCollector::default();
    let mut progress = ProgressLine::new(files.len());
    for file in &files {
        let read = replay_file(file, options.since, &gate, &mut collector, &mut progress);
        runtime.block_on(read);
        progress.show(&collector);
    }
    progress.clear();
    let report = collector.finish(&RuleBook::new(&loaded.places, protected))?;
    if report.transcripts.read == 0 && files.len() == found.len() {
        return Err(none_found(&folders, &report));
    }
    let mut out = io::stdout().lock();
    if options.json {
        serde_json::to_writer_pretty(&mut out, &report)?;
        writeln!(out)?;
    } else {
        screen::print(&mut out, &report, loaded.config.scripts.is_empty())?;
    }
    Ok(true)
}

/// Reads a transcript, and decides about its calls.
async fn replay_file(
    file: &Path,
    since: Option<Timestamp>,
    gate: &Gate,
    collector: &mut ReplayCollector,
    progress: &mut ProgressLine,
) {
    let Ok(mut transcript) = Transcript::open(file) else {
        collector.add_transcript(None, TranscriptProblems::default(), false);
        return;
    };
    let ended = loop {
        match transcript.next_call().await {
            Ok(Some(call)) => {
                let is_recent = since.is_none_or(|since| call.at > Some(since));
                if is_recent && collector.is_new(&call) {
                    let decided = replay::decide(gate, &call).await;
                    collector.add(&call, decided);
                }
            }
            Ok(None) => break true,
            Err(error) => {
                tracing::warn!(file = %file.display(), %error, "cannot read the transcript");
                break false;
            }
        }
        progress.show(collector);
    };
    collector.add_transcript(transcript.agent(), transcript.problems(), ended);
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

/// Returns the error if there is no transcript, with what was tried.
fn none_found(folders: &[PathBuf], report: &ReplayReport) -> CommandError {
    let names: Vec<_> = replay::replayed_agents()
        .iter()
        .map(|agent| agent.title())
        .collect();
    let names = names.join(", ");
    let folders: Vec<_> = folders
        .iter()
        .map(|folder| folder.display().to_string())
        .collect();
    let folders = escape(&folders.join(", "));
    let counts = report.transcripts;
    let found = match counts.unknown + counts.unreadable {
        0 => "no transcripts".to_owned(),
        all => {
            let files = count(all, "file");
            let unreadable = counts.unreadable;
            format!("no known format in {files} ({unreadable} could not be read)")
        }
    };
    CommandError::Other(format!(
        "{found} in {folders}; the known formats are those of {names}"
    ))
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
            "\r\u{1b}[K{done} of {}, {}",
            count(self.files, "file"),
            count(calls, "call")
        );
    }

    fn clear(&self) {
        if self.is_shown {
            let _ = write!(io::stderr().lock(), "\r\u{1b}[K");
        }
    }
}
