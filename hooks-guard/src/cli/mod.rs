//! The command line. In: the arguments of the program. Out: its exit status and its output.

#[cfg(feature = "acp")]
mod acp;
mod approvals;
mod approve;
mod audit;
mod calls;
mod check;
mod color;
mod describe;
mod diff;
mod doctor;
mod failure;
mod filters;
mod hook;
mod install;
#[cfg(test)]
mod operation_page;
mod ownership;
mod presets;
mod questions;
mod replay;
mod report;
mod rules;
mod run;
mod semantic;
mod serve;
mod setup;
mod snapshot;
mod suggest;
mod table;
mod token;
mod watch;
mod when;

use std::io;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};
use clap_complete::Shell;
use hooks_guard::install::InstallError;
use hooks_guard::rules::RulesError;
use hooks_runtime::display::escape;

use self::failure::CommandError;

/// Classifies shell commands and decides which need approval.
#[derive(Debug, Parser)]
#[command(name = "hooks-guard", version, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: CliCommand,
}

#[derive(Debug, Subcommand)]
enum CliCommand {
    /// Decides about commands as the service would: commands from the arguments, or one per line of
    /// standard input.
    ///
    /// Uses the configuration, the user's rules and those of the current directory's project.
    /// Records nothing and ignores earlier approvals. A line is a command, or a JSON object with
    /// `command` and optionally `context`. An invalid line is reported as one that needs
    /// confirmation; the other lines are still checked.
    ///
    /// Exit status: 0 if every command may run, 1 if one needs confirmation, is denied, is left to
    /// the agent or is invalid, 2 for invalid options, 3 if the input could not be read or the output not written.
    Check(check::CheckArgs),
    /// Prints the parsed command as a tree, with effects and reasons.
    ///
    /// A last line shows the decision if a rule made it, or if the configuration changes that of
    /// the tables.
    ///
    /// Exit status: as for `check`.
    Explain(check::ExplainArgs),
    /// Runs the permission service until it is interrupted.
    Serve(serve::ServeArgs),
    /// Answers pending questions of a running service; prompts for the operator's token.
    Approve(approve::ApproveArgs),
    /// Lists and revokes remembered approvals.
    Approvals(approvals::ApprovalsArgs),
    /// Shows pending questions and recent events in the terminal, and takes answers.
    Watch(watch::WatchArgs),
    /// Reads, verifies and cleans up the audit trail.
    Audit(audit::AuditArgs),
    /// Answers an agent's hook: reads its input and prints the reply.
    Hook(hook::HookArgs),
    /// Runs an agent of the Agent Client Protocol for an editor, and decides about its requests.
    ///
    /// Takes the place of the agent's command in the editor's settings: `hooks-guard acp -- COMMAND`.
    /// Commands and files that the agent requests from the editor are decided as with a hook; so
    /// are the requests for permission that name a command or a file. Everything else passes
    /// unchanged.
    ///
    /// Exit status: that of the agent, 128 and the number of the signal that ended it, or 3 if it
    /// cannot be started.
    #[cfg(feature = "acp")]
    Acp(acp::AcpArgs),
    /// Adds the hook to the settings of an agent, or removes it.
    Install(install::InstallArgs),
    /// Prints the token with which an agent calls its hooks over HTTP.
    ///
    /// The token lets the agent ask for decisions. It answers no questions.
    Token(token::TokenArgs),
    /// Checks your installation and suggests fixes.
    ///
    /// Exit status: 0 if there are no failures (warnings are allowed), 1 if something does not
    /// protect.
    Doctor(doctor::DoctorArgs),
    /// Starts an agent if it calls the hook, and refuses otherwise.
    ///
    /// Checks that the hook is registered as `install` registers it, and that no file of the user, the
    /// machine, the current directory and those above it, no variable and no argument switches it
    /// off. A refusal names each file and key on standard error.
    ///
    /// Exit status: that of the agent, or 3 if it is not started.
    Run(run::RunArgs),
    /// Shows what the guard would have decided about the past sessions of your agents.
    ///
    /// Reads the transcripts that agents keep in your home directory, or those in the folders, and decides
    /// about each call as the hook would have: with the configuration, your rules and those of the
    /// project, and the files of its directory as they are now. Earlier approvals are ignored, no
    /// language model is asked, and nothing is changed, recorded or sent. Secrets are masked.
    ///
    /// Exit status: 0, 2 for invalid options, 3 if there are no transcripts or they cannot be read.
    Replay(replay::ReplayArgs),
    /// Suggests rules, and writes presets of rules to your rules file.
    #[command(subcommand)]
    Rules(RulesCommand),
    /// Runs the tests in rules files.
    ///
    /// Exit status: 0 if all pass, 1 if one fails.
    TestRules(rules::TestRulesArgs),
    /// Trusts a project's rules file (pinned by hash; edits revoke the trust).
    Trust(rules::TrustArgs),
    /// Prints the OpenAPI document of the service.
    Openapi,
    /// Prints a shell completion script.
    Completions {
        /// The shell to generate the script for.
        shell: Shell,
    },
    /// Prints the manual page of this program, or writes those of all its commands.
    Man(describe::ManArgs),
}

#[derive(Debug, Subcommand)]
enum RulesCommand {
    /// Writes a preset of rules to your rules file, or lists the presets.
    ///
    /// The rules are in a marked block, which replaces the block of another preset. Your own rules are
    /// kept.
    Preset(presets::PresetArgs),
    /// Suggests rules that would have allowed the commands and MCP tools that you approved, each with
    /// its tests.
    ///
    /// Prints TOML that can be appended to the user's rules as it is. A suggested rule never allows
    /// a command or tool that the audit trail has as denied. Commands that no rule is suggested for follow
    /// on standard error, with the reason.
    Suggest(suggest::SuggestArgs),
}

/// As [`Arguments`] for a hook, which an agent waits for. Describing the arguments of all commands takes
/// more instructions than classifying one: −7 % in the `ls -la` of the bench `http -- instructions`.
#[derive(Debug, Parser)]
#[command(name = "hooks-guard", version, max_term_width = 100)]
struct HookArguments {
    #[command(subcommand)]
    command: HookCommand,
}

#[derive(Debug, Subcommand)]
enum HookCommand {
    /// Answers an agent's hook: reads its input and prints the reply.
    Hook(hook::HookArgs),
}

/// Reads the arguments of this process.
fn arguments() -> CliCommand {
    match std::env::args_os()
        .nth(1)
        .is_some_and(|word| word == "hook")
    {
        true => {
            let HookCommand::Hook(options) = HookArguments::parse().command;
            CliCommand::Hook(options)
        }
        false => Arguments::parse().command,
    }
}

/// Runs the command that the arguments select.
pub(crate) fn run() -> ExitCode {
    let done = match arguments() {
        CliCommand::Check(options) => check::check(options),
        CliCommand::Explain(options) => check::explain(options),
        CliCommand::Serve(options) => serve::serve(options),
        CliCommand::Approve(options) => approve::approve(options),
        CliCommand::Approvals(options) => approvals::approvals(options),
        CliCommand::Watch(options) => watch::watch(options),
        CliCommand::Audit(options) => audit::audit(options),
        CliCommand::Hook(options) => return ExitCode::from(hook::hook(options)),
        #[cfg(feature = "acp")]
        CliCommand::Acp(options) => match acp::acp(options) {
            Ok(status) => return ExitCode::from(status),
            Err(error) => Err(error),
        },
        CliCommand::Install(options) => install::install(options),
        CliCommand::Token(options) => token::token(options),
        CliCommand::Doctor(options) => doctor::doctor(options),
        CliCommand::Run(options) => match run::run(options) {
            Ok(status) => return ExitCode::from(status),
            Err(error) => Err(error),
        },
        CliCommand::Replay(options) => replay::replay(options),
        CliCommand::Rules(RulesCommand::Preset(options)) => presets::preset(options),
        CliCommand::TestRules(options) => rules::test(options),
        CliCommand::Rules(RulesCommand::Suggest(options)) => suggest::suggest(options),
        CliCommand::Trust(options) => rules::trust(options),
        CliCommand::Openapi => openapi(),
        CliCommand::Completions { shell } => describe::completions(Arguments::command(), shell),
        CliCommand::Man(options) => describe::man(Arguments::command(), options),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(CommandError::Io(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            ExitCode::from(3)
        }
        Err(CommandError::Stage(error)) => Arguments::command()
            .error(ErrorKind::ValueValidation, error)
            .exit(),
        Err(error) => {
            eprintln!("{}", message(&error));
            ExitCode::from(3)
        }
    }
}

/// Returns an error for standard error. Errors of parsers show the invalid line.
fn message(error: &CommandError) -> String {
    let color = color::has_color(&io::stderr());
    let report = match error {
        CommandError::Config(error) => error.report(color),
        CommandError::Trust(error) => error.report(color),
        CommandError::Rules(RulesError::Mistakes(mistakes))
        | CommandError::Install(InstallError::Rules(RulesError::Mistakes(mistakes))) => {
            let mistakes = mistakes.iter().map(|mistake| mistake.report(color));
            Some(mistakes.collect::<Vec<_>>().join("\n\n"))
        }
        CommandError::Install(error) => error.report(color),
        _ => None,
    };
    report.unwrap_or_else(|| format!("hooks-guard: {}", escape(&error.to_string())))
}

fn openapi() -> Result<bool, CommandError> {
    use std::io::Write;

    let document = serde_json::to_string_pretty(&hooks_guard::http::document())?;
    writeln!(io::stdout().lock(), "{document}")?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_definition_is_valid() {
        super::Arguments::command().debug_assert();
    }
}
