//! Implements `audit`, which reads, checks and cleans up the audit trail in its database, without
//! the service.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};
use comfy_table::Cell;
use futures_util::TryStreamExt;
use hooks_guard::audit::{
    ApprovalState, ApprovalStatus, AuditStore, ChainHead, HeadState, Listing, NotedHead, Page,
    RememberScope, Verification, export,
};
use hooks_guard::config::Config;
use hooks_runtime::display::{escape, shorten};
use jiff::{SignedDuration, Timestamp};

use super::failure::CommandError;
use super::filters::{Filters, Selection, answer};
use super::setup::{Setup, database, missing_trail, open, runtime};
use super::snapshot::Trail;
use super::table::{class, table, warning};
use super::when::shown_time;

#[derive(Debug, Args)]
pub(crate) struct AuditArgs {
    #[command(subcommand)]
    command: AuditCommand,
}

#[derive(Debug, Subcommand)]
enum AuditCommand {
    /// Lists decisions, newest first.
    List {
        /// Maximum number of decisions.
        #[arg(long, default_value_t = 20)]
        limit: u64,
        /// Prints one JSON object per line instead of a table.
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        filter: Filters,
        #[command(flatten)]
        setup: Setup,
    },
    /// Prints one decision with all its fields, and how long its approval lasts.
    Show {
        /// Id of the decision.
        id: i64,
        /// Prints a JSON object.
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        setup: Setup,
    },
    /// Writes decisions to standard output, oldest first.
    Export {
        /// Output format.
        #[arg(long, value_enum, default_value = "jsonl")]
        format: TrailFormat,
        #[command(flatten)]
        filter: Filters,
        #[command(flatten)]
        setup: Setup,
    },
    /// Verifies the hash chain of the trail. Exit status: 0 if the chain is intact and contains
    /// every `--head`, 1 if not.
    Verify {
        /// A head printed earlier by `audit head`; fails if the chain did not have this hash at
        /// that length. Can be repeated.
        #[arg(long, value_name = "COUNT:HASH")]
        head: Vec<ChainHead>,
        #[command(flatten)]
        setup: Setup,
    },
    /// Prints the length and the last hash of the chain. Store them where the agent cannot change
    /// them, and pass them to `audit verify --head` later.
    Head {
        #[command(flatten)]
        setup: Setup,
    },
    /// Copies an SQLite trail to a new file while the service runs, and verifies the copy. Exit
    /// status: 0 if the copy is intact, 1 if not.
    Backup {
        /// The new file; must not exist.
        file: PathBuf,
        #[command(flatten)]
        setup: Setup,
    },
    /// Deletes decisions older than a number of days.
    Cleanup {
        /// Age in days, 1 to 36500.
        #[arg(long, value_parser = clap::value_parser!(u32).range(1..=36_500))]
        days: u32,
        #[command(flatten)]
        setup: Setup,
    },
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum TrailFormat {
    /// One JSON object per line.
    Jsonl,
    /// Comma-separated values, safe to open in a spreadsheet.
    Csv,
}

pub(crate) fn audit(options: AuditArgs) -> Result<bool, CommandError> {
    let runtime = runtime()?;
    runtime.block_on(async {
        match options.command {
            AuditCommand::List {
                limit,
                json,
                filter,
                setup,
            } => {
                let selection = filter.into();
                list(trail(&setup).await?.store()?, &selection, limit, json).await
            }
            AuditCommand::Show { id, json, setup } => {
                show(trail(&setup).await?.store()?, id, json).await
            }
            AuditCommand::Export {
                format,
                filter,
                setup,
            } => {
                let selection = filter.into();
                write_all(trail(&setup).await?.store()?, &selection, format).await?;
                Ok(true)
            }
            AuditCommand::Verify { head, setup } => {
                let found = trail(&setup).await?.verify(&head).await?;
                print_verification(&found)?;
                Ok(found.is_intact())
            }
            AuditCommand::Head { setup } => {
                let head = trail(&setup).await?.store()?.head().await?;
                writeln!(io::stdout().lock(), "{head}")?;
                Ok(true)
            }
            AuditCommand::Backup { file, setup } => {
                backup(trail(&setup).await?.store()?, &file).await
            }
            AuditCommand::Cleanup { days, setup } => {
                let age = SignedDuration::from_hours(24 * i64::from(days));
                let store = open(&existing_trail(&setup)?).await?;
                let done = store
                    .cleanup(Timestamp::now() - age, "command line")
                    .await?;
                writeln!(
                    io::stdout().lock(),
                    "{} decisions deleted, {} remain",
                    done.deleted,
                    done.remaining
                )?;
                Ok(true)
            }
        }
    })
}

async fn backup(store: &AuditStore, file: &Path) -> Result<bool, CommandError> {
    store.backup(file).await?;
    let path = std::path::absolute(file)?;
    let copy = AuditStore::open(&format!("sqlite:{}", path.display())).await?;
    let found = copy.verify().await?;
    // Closing the store merges the write-ahead log into the copy.
    copy.close().await;
    print_verification(&found)?;
    Ok(found.is_intact())
}

fn print_verification(found: &Verification) -> io::Result<()> {
    let mut out = io::stdout().lock();
    for cleanup in &found.cleanups {
        writeln!(
            out,
            "cleanup at {} by {}: {} decisions before {} deleted",
            cleanup.at,
            escape(&cleanup.by),
            cleanup.deleted,
            cleanup.older_than
        )?;
    }
    print_heads(&mut out, &found.heads)?;
    let broken = [&found.broken, &found.broken_entries];
    for broken in broken.into_iter().flatten() {
        let entry = broken.entry.map(|entry| format!("entry {entry}: "));
        let decision = broken.decision.map(|id| format!(" (decision {id})"));
        writeln!(
            out,
            "broken: {}{}{}",
            entry.unwrap_or_default(),
            escape(&broken.problem),
            decision.unwrap_or_default()
        )?;
    }
    if !found.has_whole_entries {
        return Ok(());
    }
    let state = match (&found.broken, found.is_intact()) {
        (Some(_), _) => "entries intact",
        (None, true) => "intact",
        (None, false) => "consistent, but does not match the noted heads",
    };
    writeln!(
        out,
        "{state}: {} decisions, {} entries; head {}",
        found.decisions, found.entries, found.head
    )
}

fn print_heads(out: &mut impl Write, heads: &[NotedHead]) -> io::Result<()> {
    for NotedHead { head, found } in heads {
        let count = head.count;
        match *found {
            HeadState::Holds => writeln!(out, "head {count}: matches")?,
            HeadState::Differs { after } => writeln!(
                out,
                "head {count}: the hash differs; the chain was changed between entry {} and entry \
                 {count}",
                after + 1
            )?,
            HeadState::Missing { count: end } => writeln!(
                out,
                "head {count}: the chain ends at entry {end}; later entries were removed"
            )?,
            HeadState::Removed { first, last } => writeln!(
                out,
                "head {count}: cannot be checked, a cleanup removed the entries {first} to \
                 {last}; note a newer head"
            )?,
            HeadState::Unreachable => writeln!(
                out,
                "head {count}: cannot be checked, the chain is broken before it"
            )?,
            _ => writeln!(out, "head {count}: unknown")?,
        }
    }
    Ok(())
}

/// Returns the configuration if the trail exists. Opening a missing trail would create an empty
/// one, which verifies.
pub(super) fn existing_trail(setup: &Setup) -> Result<Config, CommandError> {
    let config = setup.config()?;
    let url = database(&config)?;
    if let Some(path) = missing_trail(&url) {
        return Err(CommandError::Other(format!(
            "no audit trail at `{}`; the first decision creates it, or set its place with \
             `--database`",
            path.display()
        )));
    }
    Ok(config)
}

/// Opens the trail for reading.
pub(super) async fn trail(setup: &Setup) -> Result<Trail, CommandError> {
    Trail::open(&database(&existing_trail(setup)?)?).await
}

/// Returns the newest records of a selection, and the number of all.
async fn newest(
    store: &AuditStore,
    selection: &Selection,
    limit: u64,
) -> Result<Listing, CommandError> {
    if selection.is_filter() {
        let page = Page { limit, offset: 0 };
        return Ok(store.decisions(&selection.filter, page).await?);
    }
    let (mut newest, mut total) = (VecDeque::new(), 0);
    let mut records = std::pin::pin!(store.export(&selection.filter));
    while let Some(record) = records.try_next().await? {
        if !selection.fits(&record) {
            continue;
        }
        total += 1;
        newest.push_front(record);
        if newest.len() as u64 > limit {
            newest.pop_back();
        }
    }
    Ok(Listing {
        records: newest.into(),
        total,
    })
}

async fn list(
    store: &AuditStore,
    selection: &Selection,
    limit: u64,
    json: bool,
) -> Result<bool, CommandError> {
    let listing = newest(store, selection, limit).await?;
    if json {
        let mut out = io::stdout().lock();
        for record in &listing.records {
            out.write_all(export::jsonl(record).as_bytes())?;
        }
        return Ok(true);
    }
    let mut table = table(["id", "time", "class", "answer", "ran", "command"], 3);
    for record in &listing.records {
        let answer = answer(record);
        let (command, shown) = (&record.command, |text: &str| shorten(&escape(text), 200));
        table.add_row([
            Cell::new(record.id),
            Cell::new(shown_time(record.timestamp)),
            class(record.classification),
            Cell::new(answer),
            match (&record.ran_command, record.execution_happened) {
                (Some(_), _) => warning("OTHER"),
                (None, true) => Cell::new("yes"),
                (None, false) => Cell::new(""),
            },
            Cell::new(match &record.ran_command {
                Some(ran) => format!("{}; not decided, and ran: {}", shown(command), shown(ran)),
                None => shown(command),
            }),
        ]);
    }
    let mut out = io::stdout().lock();
    if !table.is_empty() {
        writeln!(out, "{table}")?;
    }
    match (listing.total, selection.is_all()) {
        (0, true) => writeln!(
            out,
            "no decisions yet; connect an agent with `hooks-guard install`"
        )?,
        (0, false) => writeln!(out, "no matching decisions; change the filters")?,
        (total, _) => writeln!(out, "{} of {total}", listing.records.len())?,
    }
    Ok(true)
}

/// Prints a decision.
async fn show(store: &AuditStore, id: i64, json: bool) -> Result<bool, CommandError> {
    let Some(record) = store.decision(id).await? else {
        eprintln!("unknown decision {id}; list decisions with `hooks-guard audit list`");
        return Ok(false);
    };
    let approval = store.approval_status(&record, true).await?;
    let mut out = io::stdout().lock();
    if json {
        let mut value = serde_json::to_value(&record)?;
        if let Some(approval) = &approval {
            value["approval"] = serde_json::to_value(approval)?;
        }
        writeln!(out, "{value}")?;
        return Ok(true);
    }
    let mut field = |name: &str, value: Option<String>| match value.filter(|it| !it.is_empty()) {
        Some(value) => writeln!(out, "{name:<11} {}", escape(&value)),
        None => Ok(()),
    };
    let cwd = record.cwd.as_ref().map(|cwd| cwd.display().to_string());
    let ran = record.executed_at.map(|at| match record.exit_status {
        Some(status) => format!("{}, exit status {status}", shown_time(at)),
        None => shown_time(at),
    });
    field("decision", Some(record.id.to_string()))?;
    field("command", Some(record.command.clone()))?;
    field("time", Some(shown_time(record.timestamp)))?;
    field("class", Some(record.classification.to_string()))?;
    field("reason", Some(record.reasoning.clone()))?;
    field("rule", record.rule.clone())?;
    field("agent", record.agent.clone())?;
    field("session", record.session_id.clone())?;
    field("directory", cwd)?;
    field("context", record.context.clone())?;
    field("error", record.error.clone())?;
    field("answer", Some(answer(&record)))?;
    field("answered", record.answered_at.map(shown_time))?;
    field("note", record.answer_note.clone())?;
    field("approval", approval.as_ref().map(approval_sentence))?;
    field("always", record.always.clone())?;
    field("ran", ran)?;
    let other = record.ran_command.as_ref();
    field(
        "NOT DECIDED",
        other.map(|other| {
            format!(
                "`{other}` ran; another hook, a plugin or the agent changed the command after the \
                 decision; `hooks-guard doctor` lists other hooks"
            )
        }),
    )?;
    field("details", Some(record.explanation.clone()))?;
    Ok(true)
}

/// Describes how long an approval lasts, and if it still applies.
fn approval_sentence(approval: &ApprovalStatus) -> String {
    let id = approval.remembered_id.unwrap_or_default();
    let lasts = match approval.remember {
        RememberScope::Once => "once",
        RememberScope::Session => "for the session",
        RememberScope::Always => "always",
    };
    let revoke = format!("revoke it with `hooks-guard approvals revoke {id}`");
    match approval.state {
        ApprovalState::Unused => format!("{lasts}; not used yet"),
        ApprovalState::Used => format!("{lasts}; used"),
        ApprovalState::Expired => format!("{lasts}; not used before the deadline"),
        ApprovalState::Active => format!("{lasts}; active, {revoke}"),
        ApprovalState::Changed => {
            let why = approval.reason.as_deref().unwrap_or("unknown");
            format!("{lasts}; does not apply at present: {why}; {revoke}")
        }
        ApprovalState::Revoked => {
            let at = approval.revoked_at.map(shown_time);
            let by = approval.revoked_by.as_deref().unwrap_or("unknown");
            format!("{lasts}; revoked {} by {by}", at.unwrap_or_default())
        }
    }
}

async fn write_all(
    store: &AuditStore,
    selection: &Selection,
    format: TrailFormat,
) -> Result<(), CommandError> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    let mut records = std::pin::pin!(store.export(&selection.filter));
    if matches!(format, TrailFormat::Csv) {
        out.write_all(export::csv_header().as_bytes())?;
    }
    while let Some(record) = records.try_next().await? {
        if !selection.fits(&record) {
            continue;
        }
        let line = match format {
            TrailFormat::Jsonl => export::jsonl(&record),
            TrailFormat::Csv => export::csv(&record),
        };
        out.write_all(line.as_bytes())?;
    }
    out.flush()?;
    Ok(())
}
