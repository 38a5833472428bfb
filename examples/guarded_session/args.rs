//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;

use crate::confine::Plan;
use crate::registries::Approve;

/// Replays the recorded session of a coding agent: hooks decide about each
/// call, and what they allow runs in a scratch copy that it cannot leave
#[derive(Debug, Parser)]
#[command(name = "guarded_session", after_help = EXIT_STATUS)]
pub(crate) struct Args {
    /// A file with one JSON object a line, or `-` for standard input [default: the bundled session]
    pub(crate) session: Option<PathBuf>,

    /// Print the report as one JSON object
    #[arg(long)]
    pub(crate) json: bool,

    /// Run the session up to call N, and print which hooks ran for it, were skipped or failed,
    /// and who stopped it, in place of the report
    #[arg(long, value_name = "N", conflicts_with = "json")]
    pub(crate) explain: Option<usize>,

    /// Skip broken lines instead of running nothing
    #[arg(long)]
    pub(crate) keep_going: bool,

    /// Run without confinement, for a session that you trust
    #[arg(long)]
    pub(crate) no_sandbox: bool,

    /// Stop a call after so many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=3600))]
    time_limit: u64,

    /// Stop a call that writes more than so many bytes
    #[arg(long, value_name = "BYTES", default_value_t = 64 << 10)]
    pub(crate) output_limit: usize,

    /// Refuse what comes after so many calls
    #[arg(long, value_name = "CALLS", default_value_t = 1000)]
    pub(crate) budget: usize,

    /// Answer the questions of hooks: yes, no, or as you say at the terminal
    #[arg(long, value_name = "ANSWER", value_enum, default_value_t)]
    pub(crate) approve: Approve,

    /// Ask a hook in JavaScript as well, before the others; can be given more than once. Needs
    /// a build with `--features script`
    #[arg(long = "script", value_name = "FILE")]
    pub(crate) scripts: Vec<PathBuf>,

    /// Have the hook engine write its records to this folder, and keep them
    #[arg(long, value_name = "FOLDER")]
    pub(crate) records: Option<PathBuf>,

    /// Use this confinement instead of the strongest one
    #[arg(long, value_name = "PLAN", hide = true, conflicts_with = "no_sandbox")]
    pub(crate) confinement: Option<Plan>,
}

impl Args {
    pub(crate) fn time_limit(&self) -> Duration {
        Duration::from_secs(self.time_limit)
    }
}

const EXIT_STATUS: &str = "\
Exit status: 0 when every call was decided, whatever was decided; 1 when the \
machine would not do it; 2 for a bad command line, a bad session, or no \
confinement; 130 when stopped";
