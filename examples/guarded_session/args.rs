//! Command-line arguments.

use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;

use crate::confine::Plan;
use crate::registries::Approve;

/// Replays a recorded session of a coding agent: hooks decide on each call, and allowed calls run
/// confined in a scratch copy
#[derive(Debug, Parser)]
#[command(name = "guarded_session", after_help = EXIT_STATUS)]
pub(crate) struct Args {
    /// File with one JSON object per line, or `-` for standard input [default: the bundled session]
    pub(crate) session: Option<PathBuf>,

    /// List every call in full. By default, the report omits calls that were allowed and succeeded,
    /// and shortens commands and reasons to the width of the terminal (80 columns without a terminal;
    /// `COLUMNS` takes precedence)
    #[arg(long, conflicts_with_all = ["json", "explain"])]
    pub(crate) all: bool,

    /// Print the report as one JSON object
    #[arg(long)]
    pub(crate) json: bool,

    /// Run the session up to call N; instead of the report, print which hooks ran, were skipped or
    /// failed for it, and which one stopped it
    #[arg(long, value_name = "N", conflicts_with = "json")]
    pub(crate) explain: Option<usize>,

    /// Skip invalid lines instead of refusing the whole session
    #[arg(long)]
    pub(crate) keep_going: bool,

    /// Run without confinement; only for sessions that you trust
    #[arg(long)]
    pub(crate) no_sandbox: bool,

    /// Stop a call after this many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=3600))]
    time_limit: u64,

    /// Stop a call that writes more than this many bytes
    #[arg(long, value_name = "BYTES", default_value_t = 64 << 10)]
    pub(crate) output_limit: usize,

    /// Refuse further calls after this many
    #[arg(long, value_name = "CALLS", default_value_t = 1000)]
    pub(crate) budget: usize,

    /// Answer the questions of hooks: always yes, always no, or ask in the terminal
    #[arg(long, value_name = "ANSWER", value_enum, default_value_t)]
    pub(crate) approve: Approve,

    /// Add a JavaScript hook before the others; can be repeated. Needs a build with `--features
    /// script`
    #[arg(long = "script", value_name = "FILE")]
    pub(crate) scripts: Vec<PathBuf>,

    /// Write the records of the hook engine to this folder, and keep them
    #[arg(long, value_name = "FOLDER")]
    pub(crate) records: Option<PathBuf>,

    /// Use this confinement instead of the strongest available one
    #[arg(long, value_name = "PLAN", hide = true, conflicts_with = "no_sandbox")]
    pub(crate) confinement: Option<Plan>,
}

impl Args {
    pub(crate) fn time_limit(&self) -> Duration {
        Duration::from_secs(self.time_limit)
    }
}

const EXIT_STATUS: &str = "\
Exit status: 0 if every call was decided, whatever the decisions; 1 for an \
error of the system; 2 for an invalid command line, an invalid session, or no \
confinement; 130 if stopped by a signal";
