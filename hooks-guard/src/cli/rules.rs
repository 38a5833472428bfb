//! Implements `test-rules` and `trust`. In: rules files. Out: the results of their tests, or the
//! changed list of trusted projects.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use hooks_guard::places::Places;
use hooks_guard::rules::{Rules, RulesError, Trust};
use hooks_runtime::display::escape;

use super::color::{LineState, has_color, label};
use super::failure::CommandError;
use super::setup::{Setup, protected};

#[derive(Debug, Args)]
pub(crate) struct TestRulesArgs {
    /// Rules files. Default: the user's and that of the current directory's project.
    files: Vec<PathBuf>,
    #[command(flatten)]
    setup: Setup,
}

#[derive(Debug, Args)]
pub(crate) struct TrustArgs {
    /// The project. Default: the current directory.
    directory: Option<PathBuf>,
    /// Revokes the trust.
    #[arg(long)]
    revoke: bool,
    /// Lists trusted files.
    #[arg(long, conflicts_with_all = ["revoke", "directory"])]
    list: bool,
    #[command(flatten)]
    setup: Setup,
}

/// Runs `test-rules`. Returns `true` if every test passes.
pub(crate) fn test(options: TestRulesArgs) -> Result<bool, CommandError> {
    let loaded = options.setup.load()?;
    // Tests of rules have the same result whether a service runs or not.
    let protected = protected(&loaded, None);
    let places = loaded.places;
    let trust = Trust::load(&places.trust_file())?;
    let mut files = options.files;
    let given = !files.is_empty();
    if !given {
        files.push(places.rules_file());
        files.push(Places::project_rules(&std::env::current_dir()?));
        files.retain(|file| file.exists());
    }
    let mut out = io::stdout().lock();
    let has_color = has_color(&out);
    if files.is_empty() {
        writeln!(
            out,
            "no rules; write them to `{}`, or to `.hooks-guard.toml` in a project",
            escape(&places.rules_file().display().to_string())
        )?;
        return Ok(true);
    }
    let (mut passed_count, mut failed_count) = (0, 0);
    let mut mistakes = Vec::new();
    for file in &files {
        if !file.exists() {
            return Err(CommandError::Other(format!(
                "`{}` does not exist; pass the path of a rules file",
                file.display()
            )));
        }
        let own = *file == places.rules_file();
        let (user, project) = match own {
            true => (Some(file.as_path()), None),
            false => (None, Some(file.as_path())),
        };
        let rules = match Rules::load(user, project, &trust, &protected) {
            Ok(rules) => rules,
            // The other files are tested, too.
            Err(RulesError::Mistakes(more)) => {
                mistakes.extend(more);
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        let shown = file.display();
        let warn = label(LineState::Warning, "warn", has_color);
        for outcome in rules.test() {
            let mark = match outcome.passed() {
                true => label(LineState::Good, "ok", has_color),
                false => label(LineState::Bad, "FAIL", has_color),
            };
            let tried = format!("{shown}:{}: `{}`", outcome.line, outcome.command);
            write!(out, "{mark} {} → {}", escape(&tried), outcome.got)?;
            match outcome.passed() {
                true => {
                    passed_count += 1;
                    writeln!(out)?;
                }
                false => {
                    failed_count += 1;
                    let why = escape(&outcome.why);
                    writeln!(out, ", expected {}: {why}", outcome.expected)?;
                }
            }
        }
        for warning in rules.warnings() {
            writeln!(out, "{warn} {}", escape(&warning.to_string()))?;
        }
        if rules.untrusted() {
            let file = escape(&file.display().to_string());
            writeln!(
                out,
                "{warn} {file} is not trusted: its `allow` rules are ignored; review it, then run \
                 `hooks-guard trust`"
            )?;
        }
    }
    if passed_count + failed_count > 0 || mistakes.is_empty() {
        writeln!(out, "{passed_count} passed, {failed_count} failed")?;
    }
    match mistakes.is_empty() {
        true => Ok(failed_count == 0),
        false => Err(RulesError::Mistakes(mistakes).into()),
    }
}

pub(crate) fn trust(options: TrustArgs) -> Result<bool, CommandError> {
    let path = options.setup.load()?.places.trust_file();
    let mut trust = Trust::load(&path)?;
    let mut out = io::stdout().lock();
    if options.list {
        if trust.files().next().is_none() {
            writeln!(
                out,
                "no trusted files; run `hooks-guard trust` in a project to apply its rules"
            )?;
        }
        for (file, hash) in trust.files() {
            writeln!(out, "{hash} {}", escape(&file.display().to_string()))?;
        }
        return Ok(true);
    }
    let directory = options.directory.map_or_else(std::env::current_dir, Ok)?;
    let file = Places::project_rules(&directory);
    let shown = escape(&file.display().to_string());
    if options.revoke {
        let was = trust.remove(&file);
        trust.save(&path)?;
        let what = if was {
            "is no longer trusted"
        } else {
            "was not trusted"
        };
        writeln!(out, "{shown} {what}")?;
        return Ok(was);
    }
    trust.add(&file)?;
    trust.save(&path)?;
    writeln!(out, "{shown} is now trusted (edits revoke the trust)")?;
    Ok(true)
}
