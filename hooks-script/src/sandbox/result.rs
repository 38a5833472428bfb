//! What a call of the engine comes to. See `engine/shim.c`, which this mirrors.

use crate::outbox::OutboundRequest;
use crate::run::{ConsoleLine, Failure, Position};

/// How a call returned: `enum status` of the shim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    Done,
    Stop,
    Thrown,
    Syntax,
    Imported,
    Exports,
    Unsettled,
    NoData,
}

/// How a call ended.
#[derive(Debug)]
pub(crate) enum Ended {
    /// It returned, and says this.
    Returned(Status, Said),
    /// A limit, or a fault of the engine.
    Failed(Failure),
    /// Nobody waits for it any more.
    Cancelled,
}

/// A call, and what it used.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) ended: Ended,
    /// Whether the script did anything, and not only the host.
    pub(crate) began: bool,
    pub(crate) fuel: u64,
    pub(crate) peak: usize,
    pub(crate) console: Vec<ConsoleLine>,
    pub(crate) console_dropped: usize,
    pub(crate) outbox: Vec<OutboundRequest>,
    pub(crate) memory_hash: Option<String>,
}

impl Report {
    /// Of a call that was not made.
    pub(crate) fn failed(failure: Failure) -> Self {
        Report {
            ended: Ended::Failed(failure),
            began: false,
            fuel: 0,
            peak: 0,
            console: Vec::new(),
            console_dropped: 0,
            outbox: Vec::new(),
            memory_hash: None,
        }
    }
}

/// The texts of a call: `result` of the shim. Cut off where a script could make them long,
/// but for `text`, which has a limit of its own.
#[derive(Debug, Default)]
pub(crate) struct Said {
    pub(crate) class: String,
    pub(crate) message: String,
    pub(crate) stack: String,
    pub(crate) text: Vec<u8>,
}

const LONGEST_CLASS: usize = 200;
const LONGEST_MESSAGE: usize = 4 << 10;
const LONGEST_STACK: usize = 8 << 10;

/// `result` of the shim, as it lies in memory.
pub(crate) struct Fields([u32; Fields::COUNT]);

impl Fields {
    const COUNT: usize = 8;

    /// `None` if it does not lie within memory.
    pub(crate) fn read(memory: &[u8], address: u32) -> Option<Self> {
        let bytes = slice(memory, address, 4 * Fields::COUNT as u32)?;
        let mut words = bytes
            .chunks_exact(4)
            .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]));
        Some(Fields(std::array::from_fn(|_| words.next().unwrap_or(0))))
    }

    /// The length of the text, before it is copied.
    pub(crate) fn text_length(&self) -> usize {
        self.0[7] as usize
    }

    pub(crate) fn said(&self, memory: &[u8]) -> Option<Said> {
        let field = |index: usize| slice(memory, self.0[index], self.0[index + 4]);
        let text = |index: usize, limit| field(index).map(|bytes| cut(bytes, limit));
        Some(Said {
            class: text(0, LONGEST_CLASS)?,
            message: text(1, LONGEST_MESSAGE)?,
            stack: text(2, LONGEST_STACK)?,
            text: field(3)?.to_vec(),
        })
    }
}

impl Said {
    pub(crate) fn text(&self) -> String {
        cut(&self.text, LONGEST_MESSAGE)
    }

    /// Where it was thrown, as the stack has it: behind the constructors of its class, and frames
    /// of what the compiler made up have no line.
    pub(crate) fn position(&self) -> Option<Position> {
        let constructor = format!("at {} (", self.class);
        let thrown = self.stack.rsplit_once(&constructor);
        Said::first_place(
            thrown
                .and_then(|(_, stack)| Some(stack.split_once('\n')?.1))
                .unwrap_or_default(),
        )
        .or_else(|| Said::first_place(&self.stack))
    }

    fn first_place(stack: &str) -> Option<Position> {
        stack.match_indices("hook.js:").find_map(|(at, found)| {
            let mut numbers = stack[at + found.len()..].split(|c: char| !c.is_ascii_digit());
            Some(Position {
                line: numbers.next()?.parse().ok()?,
                column: numbers.next()?.parse().ok()?,
            })
            .filter(|position| position.line > 0 && position.column > 0)
        })
    }

    /// How deep a call has gone at least that ends like this for want of more stack than this, if
    /// any does. What is thrown then, a script can throw as well, but not without having been
    /// there; the compiler, of sources and of regular expressions, says anything where it cannot
    /// go on.
    pub(super) fn least_depth(&self, status: Status, stack: usize) -> Option<usize> {
        /// What the last frames had not written to yet.
        const FRAMES: usize = 4 << 10;
        match (status, self.class.as_str(), self.message.as_str()) {
            (Status::Syntax, ..) | (Status::Thrown, "SyntaxError", "stack overflow") => {
                Some(stack.saturating_sub(FRAMES))
            }
            // A function is refused as a whole, with all of its variables.
            (Status::Thrown | Status::NoData, "RangeError", "Maximum call stack size exceeded") => {
                Some(stack - stack / 4)
            }
            _ => None,
        }
    }

    /// What was thrown, as a failure.
    pub(crate) fn thrown(self) -> Failure {
        Failure::Thrown {
            position: self.position(),
            class: if self.class.is_empty() {
                "throw".to_owned()
            } else {
                self.class
            },
            message: self.message,
            stack: self.stack,
        }
    }
}

pub(crate) fn slice(memory: &[u8], address: u32, length: u32) -> Option<&[u8]> {
    let start = address as usize;
    memory.get(start..start.checked_add(length as usize)?)
}

/// A text of a script's, of at most `limit` bytes. What is no UTF-8 is half of a character.
pub(crate) fn cut(bytes: &[u8], limit: usize) -> String {
    let mut bytes_of_text = bytes[..bytes.len().min(limit)].to_vec();
    let mut at = 0;
    // Half of a surrogate pair, as three bytes that would be a mark each.
    while let Some(half) = bytes_of_text[at..]
        .windows(3)
        .position(|three| matches!(three, [0xed, 0xa0..=0xbf, 0x80..=0xbf]))
    {
        at += half + 3;
        bytes_of_text[at - 3..at].copy_from_slice("\u{fffd}".as_bytes());
    }
    let mut text = String::from_utf8_lossy(&bytes_of_text).into_owned();
    if bytes.len() > limit {
        // The cut may have gone through a character.
        while text.ends_with('\u{fffd}') {
            text.pop();
        }
        text.push('…');
    }
    text
}
