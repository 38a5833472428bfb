//! Implements `install`, which adds the hook to the settings of an agent or removes it. In: the
//! agent and the place of its settings. Out: the changed files, a report, and steps left to the
//! user.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use hooks_guard::install::{self, SettingsScope};
use hooks_guard::protocol::Agent;
use hooks_runtime::display::escape;

use super::failure::CommandError;
use super::presets::{self, PresetChoice, presets};
use super::report::print_report;
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
    /// The agent posts its hooks to the running service instead of running this program; Claude
    /// Code only. It then needs the token that `hooks-guard token` prints.
    #[arg(long, conflicts_with = "uninstall")]
    http: bool,
    /// Changes the settings of the project in this directory instead of the user's.
    #[arg(long, value_name = "DIRECTORY")]
    project: Option<PathBuf>,
    /// Also writes this preset of rules to your rules file; `none` removes the present one.
    /// Default: asks at a terminal, otherwise writes none.
    #[arg(long, value_name = "NAME", value_parser = presets(), conflicts_with = "uninstall")]
    preset: Option<PresetChoice>,
    #[command(flatten)]
    setup: Setup,
}

pub(crate) fn install(options: InstallArgs) -> Result<bool, CommandError> {
    let rules = options.setup.rules_file()?;
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
        service: options.setup.service_address(),
        http: options.http,
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
    match options.preset {
        Some(choice) => presets::write(&mut out, &rules, choice.0, options.dry_run)?,
        None if !options.uninstall => presets::offer(&mut out, &rules, options.dry_run)?,
        None if rules.exists() => writeln!(
            out,
            "your rules in `{}` stay; `hooks-guard rules preset none` removes a preset from them",
            escape(&rules.display().to_string())
        )?,
        None => {}
    }
    Ok(true)
}
