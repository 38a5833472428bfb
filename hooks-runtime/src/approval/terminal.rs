//! Asks questions at the terminal of the program.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use rustix::fs::{Mode, OFlags, open};
use rustix::termios::{QueueSelector, isatty, tcflush, ttyname};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::sync::Semaphore;

use super::provider::ApprovalProvider;
use super::request::{ApprovalAnswer, ApprovalRequest};
use crate::display::escape;
use crate::{ApprovalDefault, HookError};

/// An [`ApprovalProvider`] that asks at the terminal of this program, one question at a time.
///
/// The user answers with the number of an option, its label, or an unambiguous prefix of the label.
/// Input typed before the question is discarded, so it cannot answer the question. All text is
/// escaped ([`display`](crate::display)), and the data to approve are shown with the question.
///
/// Waiting needs no thread, but a tokio runtime. If there is no terminal, or if it is closed, the
/// request fails, and the default of the question applies.
///
/// ```
/// use hooks_runtime::Coordinator;
/// use hooks_runtime::approval::{FixedAnswers, TerminalPrompt};
///
/// let coordinator = match TerminalPrompt::is_available() {
///     true => Coordinator::builder().provider(TerminalPrompt::new()),
///     // No user answers here.
///     false => Coordinator::builder().provider(FixedAnswers::deny()),
/// };
/// let coordinator = coordinator.build();
/// ```
#[derive(Debug)]
pub struct TerminalPrompt {
    /// Serialises the questions.
    turn: Semaphore,
}

impl TerminalPrompt {
    /// Creates a provider for the terminal of this program.
    pub fn new() -> Self {
        TerminalPrompt {
            turn: Semaphore::new(1),
        }
    }

    /// Returns `true` if the program has a terminal.
    pub fn is_available() -> bool {
        Terminal::open().is_ok()
    }
}

impl Default for TerminalPrompt {
    fn default() -> Self {
        TerminalPrompt::new()
    }
}

impl ApprovalProvider for TerminalPrompt {
    async fn ask(&self, request: &Arc<ApprovalRequest>) -> Result<ApprovalAnswer, HookError> {
        let _turn = self.turn.acquire().await?;
        let terminal = Terminal::open()?;
        terminal.forget_input()?;
        let mut writer = Sender::from_file_unchecked(terminal.0.try_clone()?)?;
        let reader = Receiver::from_file_unchecked(terminal.0.try_clone()?)?;
        let mut reader = BufReader::new(reader);
        let mut asked = Asked {
            terminal,
            is_answered: false,
        };
        writer.write_all(question(request).as_bytes()).await?;
        loop {
            let line = line(&mut reader).await?;
            if let Some(answer) = choice(request, line.trim()) {
                asked.is_answered = true;
                return Ok(answer);
            }
            writer.write_all(AGAIN).await?;
        }
    }
}

const AGAIN: &[u8] = b"Answer with the number of an option: ";

/// A terminal, opened for this program alone, so that it can be read without blocking.
#[derive(Debug)]
struct Terminal(File);

impl Terminal {
    fn open() -> io::Result<Self> {
        let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        // Opened by its own name if it has one: not every system can wait for `/dev/tty`.
        let file = open(Terminal::name(), flags, Mode::empty())
            .or_else(|_| open(CONTROLLING, flags, Mode::empty()))
            .map_err(|error| {
                let error = io::Error::from(error);
                io::Error::new(
                    error.kind(),
                    format!("there is no terminal to ask at: {error}"),
                )
            })?;
        Ok(Terminal(File::from(file)))
    }

    fn name() -> PathBuf {
        let (input, errors) = (io::stdin(), io::stderr());
        let name = if isatty(&input) {
            ttyname(&input, Vec::new())
        } else {
            ttyname(&errors, Vec::new())
        };
        name.map_or(CONTROLLING.into(), |name| {
            OsString::from_vec(name.into_bytes()).into()
        })
    }

    fn forget_input(&self) -> io::Result<()> {
        Ok(tcflush(&self.0, QueueSelector::IFlush)?)
    }
}

/// Path of the program's terminal.
const CONTROLLING: &str = "/dev/tty";

/// Ends the line of a question that was not answered.
struct Asked {
    terminal: Terminal,
    is_answered: bool,
}

impl Drop for Asked {
    fn drop(&mut self) {
        if !self.is_answered {
            // A write to a closed terminal fails; ignore it.
            let _ = self.terminal.0.write_all(b"\n(no longer asked)\n");
        }
    }
}

/// Reads the next line.
async fn line(reader: &mut BufReader<Receiver>) -> io::Result<String> {
    let mut line = Vec::new();
    reader.read_until(b'\n', &mut line).await?;
    if line.last() != Some(&b'\n') {
        return Err(io::Error::other("the terminal has been closed"));
    }
    Ok(String::from_utf8_lossy(&line).into_owned())
}

/// Returns the question as text.
fn question(request: &ApprovalRequest) -> String {
    let mut shown = format!(
        "\n{} (asked by hook `{}`",
        escape(&request.prompt),
        escape(&request.hook)
    );
    if let Some(tool) = &request.tool {
        let _ = write!(shown, " about tool `{}`", escape(tool));
    }
    shown.push_str(")\n");
    if let Some(reason) = &request.reason {
        let _ = writeln!(shown, "  because: {}", escape(reason));
    }
    let _ = writeln!(shown, "  what is approved: {}", subject(request));
    if request.has_changed {
        shown.push_str("  a later hook changed this after the question had been put\n");
    }
    for (number, option) in (1..).zip(&request.options) {
        let note = match request.is_unclear(&option.label) {
            true => " (denies, because it says neither yes nor no)",
            false => "",
        };
        let _ = writeln!(shown, "  {number}) {}{note}", escape(&option.label));
    }
    let is_offered = |label: &&String| request.options.iter().any(|option| option.label == **label);
    let withheld = request.unclear.iter().filter(|label| !is_offered(label));
    let withheld: Vec<_> = withheld
        .map(|label| format!("`{}`", escape(label)))
        .collect();
    if !withheld.is_empty() {
        let _ = writeln!(
            shown,
            "  not offered, because the hook is not trusted and they say neither yes nor no: {}",
            withheld.join(", ")
        );
    }
    let default = match request.default {
        ApprovalDefault::Allow => "allowed",
        ApprovalDefault::Deny => "denied",
    };
    let left = request.time_left(Timestamp::now());
    let _ = match left == Duration::MAX {
        true => write!(shown, "Your answer ({default} without one): "),
        false => write!(
            shown,
            "Your answer ({default} after {} s): ",
            left.as_secs() + 1
        ),
    };
    shown
}

/// Returns the data to approve as text; a long text is cut, and ends with the number of missing
/// characters.
fn subject(request: &ApprovalRequest) -> String {
    let subject = serde_json::to_string(&*request.data).unwrap_or_default();
    let shown = escape(&subject);
    match shown.char_indices().nth(SUBJECT) {
        None => shown,
        Some((end, _)) => {
            let missing = shown[end..].chars().count();
            format!("{} … and {missing} more characters", &shown[..end])
        }
    }
}

/// Maximum length of the data in characters.
const SUBJECT: usize = 4000;

/// Returns the option for an input: a number, a label, or an unambiguous prefix of a label.
fn choice(request: &ApprovalRequest, input: &str) -> Option<ApprovalAnswer> {
    let options = &request.options;
    let is_named = |label: &str| label.trim() == input;
    if let Some(option) = options.iter().find(|option| is_named(&option.label)) {
        return Some(option.into());
    }
    if let Ok(number) = input.parse::<usize>() {
        return Some(options.get(number.checked_sub(1)?)?.into());
    }
    let input = input.to_lowercase();
    let starts = |label: &str| !input.is_empty() && label.to_lowercase().starts_with(&input);
    let mut named = options.iter().filter(|option| starts(&option.label));
    let option = named.next()?;
    named.next().is_none().then(|| option.into())
}
