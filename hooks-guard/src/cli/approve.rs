//! `approve`: answers the questions of a service that runs.

use std::io::{self, BufRead, IsTerminal, Write};
use std::time::Duration;

use clap::{Args, ValueEnum};
use hooks_guard::client::Client;
use hooks_runtime::display::escape;
use serde_json::{Value, json};

use super::Failure;
use super::setup::{Setup, runtime};

/// How long the service may take to answer.
const LIMIT: Duration = Duration::from_secs(10);

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The decisions to answer; without one, all that wait are shown and asked about.
    ids: Vec<i64>,
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
    let waiting = runtime.block_on(client.get("/api/hooks/pending", LIMIT))?;
    let waiting = waiting["pending"].as_array().cloned().unwrap_or_default();
    if waiting.is_empty() && options.ids.is_empty() {
        println!("nothing waits for an answer");
        return Ok(true);
    }
    if !io::stdin().is_terminal() {
        return Err(Failure::Other(
            "the operator's token is read from a terminal; run this in one".to_owned(),
        ));
    }
    let client = client.with_token(token()?);
    let mut all = true;
    if options.ids.is_empty() {
        for question in &waiting {
            show(question)?;
            let Some(mut answer) = ask()? else { continue };
            answer["id"] = question["id"].clone();
            all &= send(&runtime, &client, &answer)?;
        }
    }
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

/// Reads the token without showing it.
fn token() -> Result<String, Failure> {
    Ok(rpassword::prompt_password("operator's token: ")?)
}

fn show(question: &Value) -> io::Result<()> {
    let text = |field: &str| escape(question[field].as_str().unwrap_or("-"));
    let mut out = io::stdout().lock();
    writeln!(out)?;
    // All of it: nobody agrees to what is not shown.
    writeln!(
        out,
        "{}  {}  {}",
        question["id"],
        text("classification"),
        text("command")
    )?;
    writeln!(out, "    {}", text("reasoning"))?;
    writeln!(out, "    agent {}, in {}", text("agent"), text("cwd"))?;
    match question["always"].as_str() {
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
        Err(error @ hooks_guard::client::ClientError::Refused { status: 401, .. }) => {
            Err(error.into())
        }
        Err(error) => {
            eprintln!("{id}: {}", escape(&error.to_string()));
            Ok(false)
        }
    }
}
