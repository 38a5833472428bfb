//! Implements `run`, which starts an agent only if it calls the hook. In: the agent and its arguments.
//! Out: the agent in place of this process, or the reasons against it.

use std::ffi::OsString;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::Command;

use clap::Args;
use hooks_guard::doctor::{Check, unguarded};
use hooks_guard::install::in_path;
use hooks_guard::protocol::Agent;

use super::doctor::{Surroundings, directories_above};
use super::failure::CommandError;
use super::setup::{Setup, agents, places};

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    setup: Setup,
    /// The agent.
    #[arg(value_parser = agents())]
    agent: Agent,
    /// Arguments of the agent.
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "ARGUMENT"
    )]
    arguments: Vec<OsString>,
}

/// Exit status if the agent is not started.
const NOT_STARTED: u8 = 3;

/// Replaces this process by the agent. Returns an exit status if the agent is not started.
pub(crate) fn run(options: RunArgs) -> Result<u8, CommandError> {
    let RunArgs {
        setup,
        agent,
        arguments,
    } = options;
    let directory = std::env::current_dir()?;
    let workspace = directories_above(&directory, &places()?.home);
    let loaded = setup.load()?;
    let around = Surroundings::read(&setup, Some(&loaded), Some(directory), workspace)?;
    let found = unguarded(agent, &around.context(), &arguments);
    if !found.is_empty() {
        report(agent, &found)?;
        return Ok(NOT_STARTED);
    }
    let name = agent.program();
    let program = in_path(std::env::var_os("PATH").as_deref(), name);
    let program = program.ok_or_else(|| {
        CommandError::Other(format!(
            "`{name}` is not in PATH; install {}",
            agent.title()
        ))
    })?;
    let error = Command::new(program).arg0(name).args(arguments).exec();
    Err(error.into())
}

fn report(agent: Agent, found: &[Check]) -> Result<(), CommandError> {
    let mut out = io::stderr().lock();
    let title = agent.title();
    writeln!(
        out,
        "hooks-guard: {title} is not started, because it would run unguarded"
    )?;
    for check in found {
        writeln!(out, "{}", check.what)?;
        if let Some(remedy) = &check.remedy {
            writeln!(out, "     → {remedy}")?;
        }
    }
    Ok(())
}
