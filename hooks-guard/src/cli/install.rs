//! Implements `install`, which adds the hook to the settings of an agent or removes it. In: the
//! agent and the place of its settings. Out: the changed files, a report, and steps left to the
//! user.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use hooks_guard::install::{self, FileChange, SettingsScope};
use hooks_guard::protocol::Agent;
use hooks_runtime::display::escape;

use super::failure::CommandError;
use super::setup::{Setup, agents, homes, places};

#[derive(Debug, Args)]
pub(crate) struct InstallArgs {
    /// The agent.
    #[arg(value_parser = agents())]
    agent: Agent,
    /// Shows the changes without making them.
    #[arg(long)]
    dry_run: bool,
    /// Removes the hook.
    #[arg(long)]
    uninstall: bool,
    /// The agent runs without a user at the keyboard, such as in CI: the hook asks the operator,
    /// and denies if no service runs.
    #[arg(long)]
    unattended: bool,
    /// Changes the settings of the project in this directory instead of the user's.
    #[arg(long, value_name = "DIRECTORY")]
    project: Option<PathBuf>,
    #[command(flatten)]
    setup: Setup,
}

pub(crate) fn install(options: InstallArgs) -> Result<bool, CommandError> {
    let (config, database) = match options.setup.for_hook() {
        Ok(named) => named,
        // Uninstalling does not need a readable configuration.
        Err(_) if options.uninstall => (places()?.config_file(), None),
        Err(error) => return Err(error),
    };
    let wanted = install::InstallOptions {
        homes: homes(&places()?),
        config,
        database,
        place: match options.project {
            Some(project) => SettingsScope::Project(std::path::absolute(project)?),
            None => SettingsScope::User,
        },
        binary: std::env::current_exe()?,
        path: std::env::var_os("PATH"),
        unattended: options.unattended,
        dry_run: options.dry_run,
    };
    let report = match options.uninstall {
        true => install::uninstall(options.agent, &wanted)?,
        false => install::install(options.agent, &wanted)?,
    };
    let mut out = io::stdout().lock();
    print_report(&mut out, &report, options.dry_run)?;
    if let Some(also) = &report.also {
        print_report(&mut out, also, options.dry_run)?;
    }
    for sentence in &report.to_do {
        writeln!(out, "{}", escape(sentence))?;
    }
    Ok(true)
}

/// Prints the change of a file, or the change that would be made.
fn print_report(out: &mut impl Write, report: &install::Report, dry_run: bool) -> io::Result<()> {
    let file = escape(&report.file.display().to_string());
    if dry_run {
        write!(out, "{}", lines(&report.diff))?;
    }
    let (would, done) = match report.change {
        FileChange::None => ("already up to date:", "already up to date:"),
        FileChange::Created => ("would create", "created"),
        FileChange::Changed => ("would change", "changed"),
        FileChange::Removed => ("would remove", "removed (it contained nothing else):"),
    };
    writeln!(out, "{} {file}", if dry_run { would } else { done })?;
    if let Some(backup) = &report.backup {
        let backup = escape(&backup.display().to_string());
        writeln!(out, "backup of the previous content: {backup}")?;
    }
    Ok(())
}

/// Returns a text with each line escaped.
fn lines(text: &str) -> String {
    text.lines().map(|line| escape(line) + "\n").collect()
}
