//! `approve`: answers the questions of a service that runs.

use std::collections::HashSet;
use std::io::{self, BufRead, IsTerminal, Write};
use std::time::Duration;

use clap::{Args, ValueEnum};
use hooks_guard::audit::AuditRecord;
use hooks_guard::client::{Client, ClientError};
use hooks_runtime::display::escape;
use serde_json::{Value, json};

use super::failure::Failure;
use super::questions;
use super::setup::{Setup, runtime};

/// How long the service may take to answer.
const LIMIT: Duration = Duration::from_secs(10);

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The decisions to answer; without one, all that wait are shown and asked about, the oldest of
    /// each session first.
    ids: Vec<i64>,
    /// Denies all that wait, or all of `--session` and `--agent`, at once.
    #[arg(long, conflicts_with_all = ["ids", "deny", "remember"])]
    deny_all: bool,
    /// With `--deny-all`: only what was asked in this session.
    #[arg(long, value_name = "SESSION", requires = "deny_all")]
    session: Option<String>,
    /// With `--deny-all`: only what this agent asked.
    #[arg(long, value_name = "AGENT", requires = "deny_all")]
    agent: Option<String>,
    /// Denies in place of approving.
    #[arg(long)]
    deny: bool,
    /// For what else the approval holds.
    #[arg(long, value_enum, default_value = "once", conflicts_with = "deny")]
    remember: Remember,
    /// What there is to add.
    #[arg(long)]
    note: Option<String>,
    #[command(flatten)]
    setup: Setup,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Remember {
    /// For this command alone.
    Once,
    /// For the same command in the same directory by the same agent, in this session, while the
    /// files that decide what it does are unchanged.
    Session,
    /// The same in every session, until it is revoked.
    Always,
}

/// The token is read from the terminal: what agents start has none, and an argument or a variable
/// could be read by them.
pub(crate) fn approve(options: Options) -> Result<bool, Failure> {
    // The token is sent only after the service has proved on the same connection that it has the key.
    let client = options.setup.load()?.client()?;
    let runtime = runtime()?;
    // The token is not to be typed for another program.
    runtime.block_on(questions::check(&client))?;
    if options.deny_all {
        let client = client.with_token(token()?);
        let which = json!({
            "all": true,
            "session_id": options.session,
            "agent": options.agent,
            "note": options.note,
        });
        let denied = runtime.block_on(questions::deny_all(&client, &which))?;
        println!("{denied} denied");
        return Ok(true);
    }
    if options.ids.is_empty() {
        return one_by_one(&runtime, client);
    }
    let client = client.with_token(token()?);
    let mut all = true;
    for id in &options.ids {
        let remember = match options.remember {
            Remember::Once => "once",
            Remember::Session => "session",
            Remember::Always => "always",
        };
        let answer = json!({
            "id": id,
            "response": if options.deny { "DENIED" } else { "APPROVED" },
            "remember": remember,
            "note": options.note,
        });
        all &= send(&runtime, &client, &answer)?;
    }
    Ok(all)
}

/// Shows what waits, page by page, and takes the answers. Whatever cannot be read is an error:
/// what waits is unknown then.
fn one_by_one(runtime: &tokio::runtime::Runtime, client: Client) -> Result<bool, Failure> {
    let first = runtime.block_on(questions::page(&client, None));
    let (client, mut page) = match first {
        Ok(page) if page.total == 0 && page.pending.is_empty() => {
            println!("nothing waits for an answer");
            return Ok(true);
        }
        Ok(page) => (client.with_token(token()?), page),
        // The operator has places of its own with a service that is busy.
        Err(ClientError::Refused { status: 503, .. } | ClientError::Late(_)) => {
            let client = client.with_token(token()?);
            let page = runtime.block_on(questions::page(&client, None))?;
            (client, page)
        }
        Err(error) => return Err(error.into()),
    };
    if page.total > page.pending.len() as u64 {
        println!(
            "{} questions wait; here is the oldest of each session, then the others. To deny all, \
             use `--deny-all`, with `--session` for one session",
            page.total
        );
        for of in &page.sessions {
            let name = |text: &Option<String>| escape(text.as_deref().unwrap_or("-"));
            println!(
                "    {} of agent {}, session {}",
                of.count,
                name(&of.agent),
                name(&of.session_id)
            );
        }
    }
    // Answers move the questions behind them forward, so that a cursor would pass over some.
    let (mut seen, mut all) = (HashSet::new(), true);
    // Its milliseconds are rounded down.
    let until = page.generated_at + Duration::from_millis(1);
    loop {
        let new = page.pending.iter().filter(|question| {
            // What is asked from now on is for the next time.
            question.timestamp <= until && seen.insert(question.id)
        });
        let new: Vec<_> = new.collect();
        let after = page.next.clone().filter(|_| new.is_empty());
        if new.is_empty() && after.is_none() {
            return Ok(all);
        }
        for question in new {
            show(question)?;
            let Some(mut answer) = ask()? else { continue };
            answer["id"] = question.id.into();
            all &= send(runtime, &client, &answer)?;
        }
        page = runtime.block_on(questions::page(&client, after.as_deref()))?;
    }
}

/// Reads the token without showing it.
fn token() -> Result<String, Failure> {
    if !io::stdin().is_terminal() {
        return Err(Failure::Other(
            "the operator's token is read from a terminal; run this in one".to_owned(),
        ));
    }
    Ok(rpassword::prompt_password("operator's token: ")?)
}

fn show(question: &AuditRecord) -> io::Result<()> {
    let or_none = |text: Option<&str>| escape(text.unwrap_or("-"));
    let cwd = question.cwd.as_ref().map(|cwd| cwd.display().to_string());
    let mut out = io::stdout().lock();
    writeln!(out)?;
    // All of it: nobody agrees to what is not shown.
    writeln!(
        out,
        "{}  {}  {}",
        question.id,
        question.classification,
        escape(&question.command)
    )?;
    writeln!(out, "    {}", escape(&question.reasoning))?;
    writeln!(
        out,
        "    agent {}, in {}",
        or_none(question.agent.as_deref()),
        or_none(cwd.as_deref())
    )?;
    match &question.always {
        Some(always) => writeln!(out, "    {}", escape(always)),
        None => Ok(()),
    }
}

/// None to leave the question open.
fn ask() -> io::Result<Option<Value>> {
    let mut out = io::stdout().lock();
    loop {
        write!(
            out,
            "[y] approve  [s] for this session  [a] always  [n] deny  [Enter] later: "
        )?;
        out.flush()?;
        let mut line = String::new();
        if io::stdin().lock().read_line(&mut line)? == 0 {
            return Ok(None);
        }
        return Ok(Some(match line.trim() {
            "y" => json!({"response": "APPROVED"}),
            "s" => json!({"response": "APPROVED", "remember": "session"}),
            "a" => json!({"response": "APPROVED", "remember": "always"}),
            "n" => json!({"response": "DENIED"}),
            "" => return Ok(None),
            _ => continue,
        }));
    }
}

fn send(
    runtime: &tokio::runtime::Runtime,
    client: &Client,
    answer: &Value,
) -> Result<bool, Failure> {
    let sent = runtime.block_on(client.post("/api/hooks/permission-response", answer, LIMIT));
    let id = &answer["id"];
    match sent {
        Ok(record) => {
            let said = record["user_response"].as_str().unwrap_or("-");
            let lasting = answer["remember"]
                .as_str()
                .is_some_and(|remember| remember != "once");
            match record["always"].as_str().filter(|_| lasting) {
                Some(always) => println!("{id}: {}; {}", escape(said), escape(always)),
                None => println!("{id}: {}", escape(said)),
            }
            Ok(true)
        }
        Err(error @ ClientError::Refused { status: 401, .. }) => Err(error.into()),
        Err(error) => {
            eprintln!("{id}: {}", escape(&error.to_string()));
            Ok(false)
        }
    }
}
