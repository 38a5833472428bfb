//! Implements `rules suggest`, which suggests rules from the answers in the audit trail. In: the
//! trail and the user's rules. Out: rules in TOML or JSON, or the changed rules file.

use std::io::{self, BufRead, IsTerminal, Write};
use std::path::Path;

use clap::Args;
use futures_util::TryStreamExt;
use hooks_guard::audit::{Filter, UserResponse};
use hooks_guard::install;
use hooks_guard::rules::{Origin, PastAnswer, Protected, RuleBook, Rules, Suggestions};
use hooks_runtime::display::{escape, shorten};
use jiff::Timestamp;

use super::failure::CommandError;
use super::report::print_backup;
use super::setup::{LoadedConfig, Setup, database, missing_trail, protected, runtime};
use super::snapshot::Trail;
use super::when;

/// Maximum number of shown commands that no rule is suggested for.
const MAX_SHOWN: usize = 10;
/// Maximum number of shown characters of such a command.
const MAX_SHOWN_CHARS: usize = 100;

#[derive(Debug, Args)]
pub(crate) struct SuggestArgs {
    /// Only approvals after this time, such as `yesterday`, `2h`, `3 days`, `2026-05-01` or
    /// `2026-05-01T10:00:00Z`. Denials of the whole trail apply.
    #[arg(long, value_name = "TIME", value_parser = when::parse)]
    since: Option<Timestamp>,
    /// Minimum number of approvals that a rule would have saved.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    min: u32,
    /// Prints a JSON object instead of TOML.
    #[arg(long, conflicts_with = "write")]
    json: bool,
    /// Appends the rules to the user's rules file, after a question on the terminal.
    #[arg(long)]
    write: bool,
    /// With `--write`: does not ask.
    #[arg(long, requires = "write")]
    yes: bool,
    #[command(flatten)]
    setup: Setup,
}

/// Runs `rules suggest`.
pub(crate) fn suggest(options: SuggestArgs) -> Result<bool, CommandError> {
    let loaded = options.setup.load()?;
    if options.write && !options.yes && !io::stdin().is_terminal() {
        return Err(CommandError::Other(
            "`--write` asks on the terminal; pass `--yes` to write without a question".to_owned(),
        ));
    }
    let runtime = runtime()?;
    let answers = runtime.block_on(answers(&loaded, options.since))?;
    let protected = protected(&loaded, runtime.block_on(loaded.listening_address()));
    let book = RuleBook::new(&loaded.places, protected.clone());
    let min = usize::try_from(options.min).unwrap_or(usize::MAX);
    let suggestions = book.suggest(&answers, min)?;
    let mut out = io::stdout().lock();
    if options.json {
        serde_json::to_writer_pretty(&mut out, &suggestions)?;
        writeln!(out)?;
        return Ok(true);
    }
    let approvals = answers.iter().filter(|answer| answer.approved).count();
    if suggestions.rules.is_empty() {
        // A comment, so that the output can be appended in any case.
        writeln!(out, "# {}", nothing(&suggestions, approvals, min))?;
        print_unsuitable(&suggestions)?;
        return Ok(true);
    }
    if out.is_terminal() {
        writeln!(out, "# {}\n", heading(&suggestions, approvals))?;
    }
    write!(out, "{}", suggestions.toml())?;
    out.flush()?;
    print_unsuitable(&suggestions)?;
    if options.write {
        let file = loaded.places.rules_file();
        if !options.yes && !confirm(&suggestions, &file)? {
            eprintln!("nothing written");
            return Ok(true);
        }
        write_rules(&file, &suggestions, &protected)?;
    }
    Ok(true)
}

/// Returns the answers of the trail: the approvals after a time, and all denials.
async fn answers(
    loaded: &LoadedConfig,
    since: Option<Timestamp>,
) -> Result<Vec<PastAnswer>, CommandError> {
    let url = database(&loaded.config)?;
    if missing_trail(&url).is_some() {
        return Ok(Vec::new());
    }
    let trail = Trail::open(&url).await?;
    let store = trail.store()?;
    let mut answers = Vec::new();
    for (response, since) in [
        (UserResponse::Approved, since),
        (UserResponse::Denied, None),
    ] {
        let filter = Filter {
            response: Some(response),
            since,
            ..Filter::default()
        };
        let mut records = std::pin::pin!(store.export(&filter));
        while let Some(record) = records.try_next().await? {
            answers.extend(record.past_answer());
        }
    }
    Ok(answers)
}

/// Returns `1 rule`, `2 rules`.
fn count(number: usize, of: &str) -> String {
    match number {
        1 => format!("1 {of}"),
        _ => format!("{number} {of}s"),
    }
}

fn heading(suggestions: &Suggestions, approvals: usize) -> String {
    let rules = suggestions.rules.len();
    format!(
        "{} from {}; review them, then append them to your rules, or use `--write`",
        count(rules, "suggested rule"),
        count(approvals, "approval")
    )
}

/// Returns the line that is printed if no rule is suggested.
fn nothing(suggestions: &Suggestions, approvals: usize, min: usize) -> String {
    let seldom = match suggestions.rare {
        0 => String::new(),
        rare => format!(
            "; {} of commands that were approved fewer than {min} times (`--min`)",
            count(rare, "approval")
        ),
    };
    match approvals {
        0 => "no rules suggested: the audit trail has no approved commands".to_owned(),
        _ => format!(
            "no rules suggested from {}{seldom}",
            count(approvals, "approval")
        ),
    }
}

fn print_unsuitable(suggestions: &Suggestions) -> io::Result<()> {
    let Some(more) = suggestions.unsuitable.len().checked_sub(1) else {
        return Ok(());
    };
    let mut out = io::stderr().lock();
    let commands = count(more + 1, "approved command");
    writeln!(out, "\nno rule is suggested for {commands}:")?;
    for command in suggestions.unsuitable.iter().take(MAX_SHOWN) {
        let text = shorten(&escape(&command.command), MAX_SHOWN_CHARS);
        let reason = escape(&command.reason);
        writeln!(out, "  {}× {text}: {reason}", command.approvals)?;
    }
    match (more + 1).checked_sub(MAX_SHOWN) {
        None | Some(0) => Ok(()),
        Some(others) => writeln!(out, "  and {others} more; `--json` lists all"),
    }
}

fn confirm(suggestions: &Suggestions, file: &Path) -> io::Result<bool> {
    let rules = count(suggestions.rules.len(), "rule");
    let file = escape(&file.display().to_string());
    let mut out = io::stderr().lock();
    write!(out, "\nappend {rules} to {file}? [y/N] ")?;
    out.flush()?;
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    Ok(matches!(line.trim(), "y" | "Y" | "yes"))
}

/// Appends the rules to the user's file, unless a test of the whole file would then fail that
/// passes now.
fn write_rules(
    file: &Path,
    suggestions: &Suggestions,
    protected: &Protected,
) -> Result<(), CommandError> {
    let parse = |text: &str| {
        let name = file.display().to_string();
        Rules::parse(text, &name, Origin::User, None, protected)
    };
    let report = install::append(file, &suggestions.toml(), |text| {
        let rules = parse(text)?;
        let added = text.len() - suggestions.toml().len();
        let first = text[..added].lines().count() + 1;
        let failed = rules
            .test()
            .into_iter()
            .find(|outcome| !outcome.passed() && outcome.line >= first);
        match failed {
            None => Ok::<(), CommandError>(()),
            Some(outcome) => Err(CommandError::Other(format!(
                "`{}` would be {} and not {}; the file is unchanged, because it was changed in the \
                 meantime; try again",
                outcome.command, outcome.got, outcome.expected
            ))),
        }
    })?;
    let mut out = io::stderr().lock();
    let rules = count(suggestions.rules.len(), "rule");
    writeln!(
        out,
        "appended {rules} to {}",
        escape(&report.file.display().to_string())
    )?;
    print_backup(&mut out, &report)?;
    Ok(())
}
