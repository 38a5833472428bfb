//! Implements `approve`, which answers pending questions of a running service.

use std::collections::HashSet;
use std::io::{self, BufRead, IsTerminal, Write};
use std::time::Duration;

use clap::{Args, ValueEnum};
use hooks_guard::audit::AuditRecord;
use hooks_guard::classify::Crud;
use hooks_guard::client::{Client, ClientError};
use hooks_runtime::display::escape;
use ratatui::crossterm;
use ratatui::crossterm::style::Stylize;
use serde_json::{Value, json};

use super::color::has_color;
use super::diff::{self, DiffLine, DiffLineKind};
use super::failure::CommandError;
use super::questions::{self, ShownQuestions};
use super::setup::{Setup, runtime};

#[derive(Debug, Args)]
pub(crate) struct ApproveArgs {
    /// Ids of the decisions to answer. Default: shows every pending question in turn, starting with
    /// the oldest of each session.
    ids: Vec<i64>,
    /// Denies all pending questions, or those of `--session` and `--agent`.
    #[arg(long, conflicts_with_all = ["ids", "deny", "remember"])]
    deny_all: bool,
    /// Only questions of this session.
    #[arg(long, value_name = "SESSION", conflicts_with = "ids")]
    session: Option<String>,
    /// Only questions of this agent.
    #[arg(long, value_name = "AGENT", conflicts_with = "ids")]
    agent: Option<String>,
    /// Denies instead of approving.
    #[arg(long)]
    deny: bool,
    /// How long the approval lasts.
    #[arg(long, value_enum, default_value = "once", conflicts_with = "deny")]
    remember: RememberArg,
    /// Confirms that `--remember always` applies to deletions, too.
    #[arg(long, conflicts_with_all = ["deny", "deny_all"])]
    confirm_deletion: bool,
    /// A note to store with the answer.
    #[arg(long)]
    note: Option<String>,
    #[command(flatten)]
    setup: Setup,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum RememberArg {
    /// This command only.
    Once,
    /// Until the session ends: equal commands of this agent in this directory, while the files that
    /// determine their effect are unchanged.
    Session,
    /// In every session, with the conditions of `session`, until revoked.
    Always,
}

/// Runs `approve`. The token is read from the terminal because an agent's process has no terminal,
/// and an agent could read an argument or a variable.
pub(crate) fn approve(options: ApproveArgs) -> Result<bool, CommandError> {
    // The client sends the token only after the service has proved on this connection that it has
    // the key.
    let client = options.setup.load()?.client()?;
    let runtime = runtime()?;
    // Check the service before the prompt: the operator must not type the token for another
    // program.
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
        let which = ShownQuestions {
            agent: options.agent,
            session: options.session,
        };
        return answer_each(&runtime, client, &which);
    }
    let client = client.with_token(token()?);
    let mut all = true;
    for id in &options.ids {
        let remember = match options.remember {
            RememberArg::Once => "once",
            RememberArg::Session => "session",
            RememberArg::Always => "always",
        };
        let answer = json!({
            "id": id,
            "response": if options.deny { "DENIED" } else { "APPROVED" },
            "remember": remember,
            "confirm_deletion": options.confirm_deletion,
            "note": options.note,
        });
        all &= send(&runtime, &client, &answer)?;
    }
    Ok(all)
}

/// Shows pending questions page by page and sends the answers. Fails if a page cannot be read,
/// because the set of pending questions is then unknown.
fn answer_each(
    runtime: &tokio::runtime::Runtime,
    client: Client,
    which: &ShownQuestions,
) -> Result<bool, CommandError> {
    let first = runtime.block_on(questions::page_of(&client, which, None));
    let (client, mut page) = match first {
        Ok(page) if page.total == 0 && page.pending.is_empty() => {
            match which.agent.is_some() || which.session.is_some() {
                true => println!("no matching pending questions; change `--agent` or `--session`"),
                false => println!("no pending questions"),
            }
            return Ok(true);
        }
        Ok(page) => (client.with_token(token()?), page),
        // A busy service reserves connections for the operator, so try again with the token.
        Err(ClientError::Refused { status: 503, .. } | ClientError::Timeout(_)) => {
            let client = client.with_token(token()?);
            let page = runtime.block_on(questions::page_of(&client, which, None))?;
            (client, page)
        }
        Err(error) => return Err(error.into()),
    };
    if page.total > page.pending.len() as u64 {
        println!(
            "{} pending questions; showing the oldest of each session first. To deny all, use \
             `--deny-all`, with `--session` for one session",
            page.total
        );
        for of in &page.sessions {
            let name = |text: &Option<String>| escape(text.as_deref().unwrap_or("-"));
            println!(
                "    {} from agent {}, session {}",
                of.count,
                name(&of.agent),
                name(&of.session_id)
            );
        }
    }
    // An answer moves later questions forward, so paging by the cursor would skip some.
    let (mut seen, mut all) = (HashSet::new(), true);
    // `generated_at` is rounded down to milliseconds.
    let until = page.generated_at + Duration::from_millis(1);
    loop {
        let new = page.pending.iter().filter(|question| {
            // Skip questions that were asked after this command started.
            question.timestamp <= until && seen.insert(question.id)
        });
        let new: Vec<_> = new.collect();
        let after = page.next.clone().filter(|_| new.is_empty());
        if new.is_empty() && after.is_none() {
            return Ok(all);
        }
        for equal in by_key(&new) {
            let question = equal[0];
            show(&equal)?;
            let changes = changes(runtime, &client, question);
            let hidden = show_changes(&changes, true)?;
            let whole = || show_changes(&changes, false).map(drop);
            let Some(mut answer) = ask(question, hidden, whole)? else {
                continue;
            };
            for question in equal {
                answer["id"] = question.id.into();
                all &= send(runtime, &client, &answer)?;
            }
        }
        page = runtime.block_on(questions::page_of(&client, which, after.as_deref()))?;
    }
}

/// Groups equal questions, in the order of the first ones. A question without a key is alone.
fn by_key<'q>(questions: &[&'q AuditRecord]) -> Vec<Vec<&'q AuditRecord>> {
    let mut groups: Vec<Vec<&AuditRecord>> = Vec::new();
    for question in questions {
        let key = &question.question_key;
        let is_equal = |group: &&mut Vec<&AuditRecord>| group[0].question_key == *key;
        match groups.iter_mut().find(is_equal).filter(|_| key.is_some()) {
            Some(group) => group.push(question),
            None => groups.push(vec![question]),
        }
    }
    groups
}

/// Reads the token without echo.
pub(super) fn token() -> Result<String, CommandError> {
    if !io::stdin().is_terminal() {
        return Err(CommandError::Other(
            "the operator's token is read from a terminal; run this command in one".to_owned(),
        ));
    }
    Ok(rpassword::prompt_password("operator's token: ")?)
}

/// Prints a question. `equal` has it and the questions that are equal to it.
fn show(equal: &[&AuditRecord]) -> io::Result<()> {
    let (question, others) = (equal[0], &equal[1..]);
    let or_none = |text: Option<&str>| escape(text.unwrap_or("-"));
    let cwd = question.cwd.as_ref().map(|cwd| cwd.display().to_string());
    let mut out = io::stdout().lock();
    writeln!(out)?;
    // Print the whole command: an operator must see everything they approve.
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
    if let Some(always) = &question.always {
        writeln!(out, "    {}", escape(always))?;
    }
    if !others.is_empty() {
        let ids: Vec<String> = others.iter().map(|other| other.id.to_string()).collect();
        let ids = ids.join(", ");
        writeln!(
            out,
            "    asked {} times; the answer applies to {ids}, too",
            equal.len()
        )?;
    }
    Ok(())
}

/// Returns the lines of the changes of a question.
fn changes(
    runtime: &tokio::runtime::Runtime,
    client: &Client,
    question: &AuditRecord,
) -> Vec<DiffLine> {
    if question.changes.is_none() {
        return Vec::new();
    }
    diff::of_result(runtime.block_on(questions::changes(client, question.id)))
}

/// Prints the lines of changes, at most a screen of them unless all are wanted. Returns the number
/// of lines that are left.
fn show_changes(lines: &[DiffLine], screen_only: bool) -> io::Result<usize> {
    let mut out = io::stdout().lock();
    let (columns, rows) = crossterm::terminal::size().unwrap_or((80, 24));
    let has_color = has_color(&out);
    // Leave rows for the question and the prompt.
    let mut left = usize::from(rows.saturating_sub(9).max(5));
    for (at, DiffLine { kind, text }) in lines.iter().enumerate() {
        let height = text
            .chars()
            .count()
            .div_ceil(usize::from(columns.max(1)))
            .max(1);
        if screen_only && height > left && at > 0 {
            let more = lines.len() - at;
            writeln!(out, "    {}", diff::more_lines(more))?;
            return Ok(more);
        }
        left = left.saturating_sub(height);
        let text = text.as_str();
        match kind {
            _ if !has_color => writeln!(out, "{text}")?,
            DiffLineKind::Added => writeln!(out, "{}", text.green())?,
            DiffLineKind::Removed => writeln!(out, "{}", text.red())?,
            DiffLineKind::File => writeln!(out, "{}", text.bold())?,
            DiffLineKind::Note => writeln!(out, "{}", text.yellow())?,
            DiffLineKind::Hunk => writeln!(out, "{}", text.cyan())?,
            DiffLineKind::Same => writeln!(out, "{text}")?,
        }
    }
    Ok(0)
}

/// Reads one answer. Returns `None` to leave the question pending. `hidden` is the number of lines
/// of changes that `whole` would show.
fn ask(
    question: &AuditRecord,
    hidden: usize,
    whole: impl Fn() -> io::Result<()>,
) -> io::Result<Option<Value>> {
    loop {
        let mut out = io::stdout().lock();
        let more = if hidden > 0 { "[d] all lines  " } else { "" };
        write!(
            out,
            "{more}[y] approve  [s] for this session  [a] always  [n] deny  [Enter] later: "
        )?;
        out.flush()?;
        let mut line = String::new();
        if io::stdin().lock().read_line(&mut line)? == 0 {
            return Ok(None);
        }
        return Ok(Some(match line.trim() {
            "y" => json!({"response": "APPROVED"}),
            "s" => json!({"response": "APPROVED", "remember": "session"}),
            "a" if question.classification == Crud::Delete && !confirm_deletion()? => continue,
            "a" => json!({
                "response": "APPROVED", "remember": "always",
                "confirm_deletion": question.classification == Crud::Delete,
            }),
            "n" => json!({"response": "DENIED"}),
            "" => return Ok(None),
            "d" => {
                drop(out);
                whole()?;
                continue;
            }
            _ => continue,
        }));
    }
}

/// Asks whether to always allow a deletion.
fn confirm_deletion() -> io::Result<bool> {
    let mut out = io::stdout().lock();
    write!(out, "always allow this deletion? type yes: ")?;
    out.flush()?;
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    Ok(line.trim() == "yes")
}

fn send(
    runtime: &tokio::runtime::Runtime,
    client: &Client,
    answer: &Value,
) -> Result<bool, CommandError> {
    let id = &answer["id"];
    match runtime.block_on(questions::answer(client, answer)) {
        Ok(record) => {
            let response = record["user_response"].as_str().unwrap_or("-");
            let lasting = answer["remember"]
                .as_str()
                .is_some_and(|remember| remember != "once");
            match record["always"].as_str().filter(|_| lasting) {
                Some(always) => println!("{id}: {}; {}", escape(response), escape(always)),
                None => println!("{id}: {}", escape(response)),
            }
            Ok(true)
        }
        Err(error @ ClientError::Refused { status: 401, .. }) => Err(error.into()),
        Err(ClientError::Refused { code, .. }) if code == "DELETION_NOT_CONFIRMED" => {
            eprintln!(
                "{id}: not answered; `always` would allow this deletion in every session without \
                 another question; confirm it with `--confirm-deletion` ({code})"
            );
            Ok(false)
        }
        Err(error) => {
            eprintln!("{id}: {}", escape(&error.to_string()));
            Ok(false)
        }
    }
}
