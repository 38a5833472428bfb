//! Implements `completions` and `man`. In: the definition of the command line. Out: a completion
//! script or manual pages.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, Command};
use clap_complete::Shell;

use super::failure::CommandError;

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Writes one page per command to this directory instead of printing one page.
    #[arg(long, value_name = "DIRECTORY")]
    directory: Option<PathBuf>,
}

pub(crate) fn completions(mut command: Command, shell: Shell) -> Result<bool, CommandError> {
    let name = command.get_name().to_owned();
    // Generate the script in memory: the generator panics if a write fails, for example on a closed
    // pipe.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, name, &mut script);
    io::stdout().lock().write_all(&script)?;
    Ok(true)
}

pub(crate) fn man(command: Command, options: ManArgs) -> Result<bool, CommandError> {
    match options.directory {
        Some(directory) => {
            fs::create_dir_all(&directory)?;
            clap_mangen::generate_to(command, directory)?;
        }
        None => clap_mangen::Man::new(command).render(&mut io::stdout().lock())?,
    }
    Ok(true)
}
