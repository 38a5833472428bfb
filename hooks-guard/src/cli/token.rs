//! Implements `token`, which prints the token with which an agent calls its hooks over HTTP. In: the
//! agent, and the configuration. Out: the token.

use std::io::{self, Write};

use clap::Args;
use hooks_guard::proof::ServiceKey;
use hooks_guard::protocol::Agent;

use super::failure::CommandError;
use super::setup::{Setup, agents};

#[derive(Debug, Args)]
pub(crate) struct TokenArgs {
    /// The agent.
    #[arg(value_parser = agents())]
    agent: Agent,
    #[command(flatten)]
    setup: Setup,
}

pub(crate) fn token(options: TokenArgs) -> Result<bool, CommandError> {
    let loaded = options.setup.load()?;
    // The service uses the same key if it starts later.
    let key = ServiceKey::load_or_create(&loaded.key_file())?;
    let token = key.agent_token(options.agent.name());
    writeln!(io::stdout().lock(), "{token}")?;
    Ok(true)
}
