//! Implements `approvals`, which lists and revokes remembered approvals: through the running service,
//! or in the trail if no service runs.

use std::io::{self, Write};

use clap::{Args, Subcommand};
use comfy_table::Cell;
use hooks_guard::audit::Remembered;
use hooks_guard::client::{Client, ClientError};
use hooks_runtime::display::{escape, shorten};

use super::approve::token;
use super::audit::{existing_trail, trail};
use super::failure::CommandError;
use super::questions;
use super::setup::{Setup, open, runtime};
use super::table::{class, table};
use super::when::shown_time;

/// Recorded as the author of a revocation without a service.
const BY_COMMAND_LINE: &str = "command line";

#[derive(Debug, Args)]
pub(crate) struct ApprovalsArgs {
    #[command(subcommand)]
    command: ApprovalsCommand,
}

#[derive(Debug, Subcommand)]
enum ApprovalsCommand {
    /// Lists the remembered approvals that are active, oldest first.
    List {
        /// Includes revoked approvals.
        #[arg(long)]
        all: bool,
        /// Prints one JSON object per line instead of a table.
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        setup: Setup,
    },
    /// Revokes remembered approvals: the command needs approval again, from its next request.
    ///
    /// Prompts for the operator's token if a service runs.
    ///
    /// Exit status: 0 if all were revoked, 1 if one was unknown or already revoked.
    Revoke {
        /// Ids of the approvals, as `approvals list` prints them.
        #[arg(required = true)]
        ids: Vec<i64>,
        #[command(flatten)]
        setup: Setup,
    },
}

/// Runs `approvals`.
pub(crate) fn approvals(options: ApprovalsArgs) -> Result<bool, CommandError> {
    let runtime = runtime()?;
    match options.command {
        ApprovalsCommand::List { all, json, setup } => {
            let found = runtime.block_on(async {
                match service(&setup).await? {
                    Some(client) => Ok(questions::remembered(&client, all).await?),
                    None => {
                        let trail = trail(&setup).await?;
                        let store = trail.store()?;
                        Ok::<_, CommandError>(match all {
                            true => store.remembered_history().await?,
                            false => store.all_remembered().await?,
                        })
                    }
                }
            })?;
            print(&found, all, json)?;
            Ok(true)
        }
        ApprovalsCommand::Revoke { ids, setup } => match runtime.block_on(service(&setup))? {
            Some(client) => {
                let client = client.with_token(token()?);
                runtime.block_on(revoke_over_http(&client, &ids))
            }
            None => runtime.block_on(revoke_in_trail(&setup, &ids)),
        },
    }
}

/// Returns a client of the running service; `None` if no service runs.
///
/// # Errors
/// If another program listens at the service's address, or if the service does not respond.
async fn service(setup: &Setup) -> Result<Option<Client>, CommandError> {
    // Without a key, no service has run.
    let Ok(client) = setup.load()?.client() else {
        return Ok(None);
    };
    match questions::check(&client).await {
        Ok(()) => Ok(Some(client)),
        Err(ClientError::Unreachable(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

async fn revoke_over_http(client: &Client, ids: &[i64]) -> Result<bool, CommandError> {
    let mut all = true;
    for id in ids {
        match questions::revoke(client, *id).await {
            Ok(revoked) => print_revoked(*id, revoked["command"].as_str().unwrap_or("-"))?,
            Err(ClientError::Refused { status: 404, .. }) => {
                all = false;
                eprintln!("{id}: {UNKNOWN}");
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(all)
}

async fn revoke_in_trail(setup: &Setup, ids: &[i64]) -> Result<bool, CommandError> {
    let store = open(&existing_trail(setup)?).await?;
    let mut all = true;
    for &id in ids {
        let found = store.remembered_by_id(id).await?;
        match (found, store.revoke(id, BY_COMMAND_LINE).await?) {
            (Some(found), true) => print_revoked(id, &found.command)?,
            _ => {
                all = false;
                eprintln!("{id}: {UNKNOWN}");
            }
        }
    }
    store.close().await;
    Ok(all)
}

/// Printed for an id that cannot be revoked.
const UNKNOWN: &str =
    "unknown or already revoked; list approvals with `hooks-guard approvals list`";

fn print_revoked(id: i64, command: &str) -> io::Result<()> {
    let command = shorten(&escape(command), 200);
    writeln!(
        io::stdout().lock(),
        "{id}: revoked; `{command}` needs approval again"
    )
}

fn print(found: &[Remembered], all: bool, json: bool) -> Result<(), CommandError> {
    let mut out = io::stdout().lock();
    if json {
        for one in found {
            writeln!(out, "{}", serde_json::to_string(one)?)?;
        }
        return Ok(());
    }
    if found.is_empty() {
        let what = match all {
            true => "no remembered approvals yet",
            false => "no remembered approvals",
        };
        writeln!(
            out,
            "{what}; `s` and `a` in `hooks-guard approve` remember an approval"
        )?;
        return Ok(());
    }
    let mut table = table(["id", "since", "class", "applies", "command"], 2);
    for one in found {
        table.add_row([
            Cell::new(one.id),
            Cell::new(shown_time(one.created_at)),
            match one.classification {
                Some(known) => class(known),
                None => Cell::new("-"),
            },
            Cell::new(applies(one)),
            Cell::new(shorten(&escape(&one.command), 200)),
        ]);
    }
    writeln!(out, "{table}")?;
    let active = found.iter().filter(|one| one.revoked_at.is_none()).count();
    match (active, all) {
        (0, _) => writeln!(out, "none is active")?,
        (_, true) => writeln!(out, "{active} of {} active", found.len())?,
        (_, false) => writeln!(out, "revoke one with `hooks-guard approvals revoke ID`")?,
    }
    Ok(())
}

/// Describes where an approval applies, or who revoked it.
fn applies(one: &Remembered) -> String {
    let name = |text: &Option<String>| shorten(&escape(text.as_deref().unwrap_or("-")), 40);
    if let Some(at) = one.revoked_at {
        return format!("revoked {} by {}", shown_time(at), name(&one.revoked_by));
    }
    if one.holds.is_none() {
        return format!("never: {}", Remembered::UNBOUND_REASON);
    }
    let lasts = match &one.session_id {
        Some(_) => format!("in session {}", name(&one.session_id)),
        None => "always".to_owned(),
    };
    let agent = match &one.agent {
        Some(_) => format!(", for {}", name(&one.agent)),
        None => String::new(),
    };
    let folder = match &one.cwd {
        Some(cwd) => format!(", in {}", escape(&cwd.display().to_string())),
        None => String::new(),
    };
    let files = match one.covers.as_slice() {
        [] => String::new(),
        covers => format!(
            ", while {} unchanged",
            shorten(&escape(&covers.join(", ")), 80)
        ),
    };
    format!("{lasts}{agent}{folder}{files}")
}
