//! The command line. In: the arguments of the program. Out: its exit status, and what it prints.

mod approve;
mod audit;
mod calls;
mod check;
mod describe;
mod doctor;
mod failure;
mod hook;
mod install;
#[cfg(test)]
mod operation_page;
mod ownership;
mod questions;
mod rules;
mod semantic;
mod serve;
mod setup;
mod snapshot;
mod watch;

use std::io;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};
use clap_complete::Shell;
use hooks_runtime::display::escape;

use self::failure::Failure;

/// Says what shell commands would do, and whether somebody must agree first.
#[derive(Debug, Parser)]
#[command(name = "hooks-guard", version, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Judges commands as the service would: the arguments, or lines of the standard input.
    ///
    /// The configuration, the user's rules and those of the current directory's project count.
    /// Nothing is recorded, and no earlier approval is used. A line is a command, or a JSON object with `command` and optionally
    /// `context`. A line that is no command is reported as one to confirm, and
    /// the others are judged all the same.
    ///
    /// Exit status: 0 if every command may run, 1 if one must be confirmed, is
    /// denied or was no command, 2 for a mistake in the options, 3 if the input could not
    /// be read or the output not written.
    Check(check::Options),
    /// Draws what a command would run, with effects and reasons.
    ///
    /// A last line has the decision, if a rule or the configuration makes another one than the
    /// tables, or a rule confirms it.
    ///
    /// Exit status: as that of `check`.
    Explain(check::ExplainOptions),
    /// Runs the permission service until it is interrupted.
    Serve(serve::Options),
    /// Answers the questions of a service that runs; asks for the operator's token.
    Approve(approve::Options),
    /// Shows what waits for an answer and what happens, and takes answers.
    Watch(watch::Options),
    /// Reads, checks and cleans up the audit trail.
    Audit(audit::Options),
    /// Answers an agent's hook: reads its input, prints its answer.
    Hook(hook::Options),
    /// Puts the hook into the settings of an agent, or takes it out.
    Install(install::Options),
    /// Says what is wrong with an installation, and how to mend it.
    ///
    /// Exit status: 0 if everything is as it should be or could be better, 1 if something does
    /// not protect.
    Doctor(doctor::Options),
    /// Tries the tests in files of rules.
    ///
    /// Exit status: 0 if all hold, 1 if one does not.
    TestRules(rules::TestOptions),
    /// Lets the rules of a project allow something, as they are now; a changed file is not
    /// trusted any more.
    Trust(rules::TrustOptions),
    /// Prints the OpenAPI document of the service.
    Openapi,
    /// Prints a script with which a shell completes these commands.
    Completions {
        /// The shell that is to run it.
        shell: Shell,
    },
    /// Prints the manual page of this program, or writes those of all its commands.
    Man(describe::ManOptions),
}

/// Runs what the arguments say.
pub(crate) fn run() -> ExitCode {
    let done = match Arguments::parse().command {
        Action::Check(options) => check::check(options),
        Action::Explain(options) => check::explain(options),
        Action::Serve(options) => serve::serve(options),
        Action::Approve(options) => approve::approve(options),
        Action::Watch(options) => watch::watch(options),
        Action::Audit(options) => audit::audit(options),
        Action::Hook(options) => return ExitCode::from(hook::hook(options)),
        Action::Install(options) => install::install(options),
        Action::Doctor(options) => doctor::doctor(options),
        Action::TestRules(options) => rules::test(options),
        Action::Trust(options) => rules::trust(options),
        Action::Openapi => openapi(),
        Action::Completions { shell } => describe::completions(Arguments::command(), shell),
        Action::Man(options) => describe::man(Arguments::command(), options),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(Failure::Io(error)) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::from(3),
        Err(Failure::Stage(error)) => Arguments::command()
            .error(ErrorKind::ValueValidation, error)
            .exit(),
        Err(error) => {
            eprintln!("hooks-guard: {}", escape(&error.to_string()));
            ExitCode::from(3)
        }
    }
}

fn openapi() -> Result<bool, Failure> {
    use std::io::Write;

    let document = serde_json::to_string_pretty(&hooks_guard::http::document())?;
    writeln!(io::stdout().lock(), "{document}")?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_sound() {
        super::Arguments::command().debug_assert();
    }
}
