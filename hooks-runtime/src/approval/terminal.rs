//! Questions at the terminal of the program.

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

/// Asks at the terminal of this program, one question at a time.
///
/// The user answers with the number of an option, its label, or as much of a label's start as
/// tells it from the others. What was typed before the question is thrown away, so that it
/// cannot answer it. Everything shown is escaped ([`display`](crate::display)), and the data
/// that would be approved are shown with the question.
///
/// It waits for the terminal without a thread, and needs a tokio runtime. Without a terminal,
/// or when that is closed, asking fails, and the default of the question applies.
///
/// ```
/// use hooks_runtime::Coordinator;
/// use hooks_runtime::approval::{FixedAnswers, TerminalPrompt};
///
/// let coordinator = match TerminalPrompt::is_available() {
///     true => Coordinator::builder().provider(TerminalPrompt::new()),
///     // Nobody is there to ask.
///     false => Coordinator::builder().provider(FixedAnswers::deny()),
/// };
/// let coordinator = coordinator.build();
/// ```
#[derive(Debug)]
pub struct TerminalPrompt {
    /// Whose turn it is.
    turn: Semaphore,
}

impl TerminalPrompt {
    /// Questions at the terminal of this program.
    pub fn new() -> Self {
        TerminalPrompt {
            turn: Semaphore::new(1),
        }
    }

    /// Whether there is a terminal to ask at.
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

/// A terminal, opened for this program alone, so that it may be read without blocking.
#[derive(Debug)]
struct Terminal(File);

impl Terminal {
    fn open() -> io::Result<Self> {
        let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        // By its own name, where it has one: not every system can wait for `/dev/tty`.
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

/// The terminal of this program, if it has one.
const CONTROLLING: &str = "/dev/tty";

/// Ends the line of a question that nobody has answered.
struct Asked {
    terminal: Terminal,
    is_answered: bool,
}

impl Drop for Asked {
    fn drop(&mut self) {
        if !self.is_answered {
            // A terminal that is closed shows nothing.
            let _ = self.terminal.0.write_all(b"\n(no longer asked)\n");
        }
    }
}

/// The next line that is typed.
async fn line(reader: &mut BufReader<Receiver>) -> io::Result<String> {
    let mut line = Vec::new();
    reader.read_until(b'\n', &mut line).await?;
    if line.last() != Some(&b'\n') {
        return Err(io::Error::other("the terminal has been closed"));
    }
    Ok(String::from_utf8_lossy(&line).into_owned())
}

/// The question as it is shown.
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
        let _ = writeln!(shown, "  {number}) {}", escape(&option.label));
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

/// What is approved, as text; what is too long to be read ends with how much is missing.
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

/// The most characters that are shown of what is approved.
const SUBJECT: usize = 4000;

/// The option that an input names: by its number, its label, or the start of one label only.
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
