//! Results of calls into the engine. The types mirror `engine/shim.c`.

use crate::outbox::OutboundRequest;
use crate::position::Position;
use crate::run::{ConsoleLine, Failure};

/// Status of a call: `enum status` of the shim.
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
pub(crate) enum CallEnd {
    /// The call returned with this result.
    Returned(Status, CallTexts),
    /// A limit was exceeded, or the engine failed.
    Failed(Failure),
    /// The future of the run was dropped.
    Cancelled,
}

impl CallEnd {
    /// Returns `true` if the function of the hook returned, whatever its value. The conversion of
    /// the value to JSON belongs to the run: it may call functions of the hook.
    pub(crate) fn has_returned(&self) -> bool {
        match self {
            CallEnd::Returned(Status::Done, _) => true,
            // Without a kind of value, the conversion threw.
            CallEnd::Returned(Status::NoData, texts) => !texts.text.is_empty(),
            _ => false,
        }
    }
}

/// Result and cost of a call.
#[derive(Debug)]
pub(crate) struct CallReport {
    pub(crate) ended: CallEnd,
    /// `true` if the script started, and not only the host's part.
    pub(crate) began: bool,
    pub(crate) fuel: u64,
    pub(crate) peak: usize,
    pub(crate) console: Vec<ConsoleLine>,
    pub(crate) console_dropped: usize,
    pub(crate) outbox: Vec<OutboundRequest>,
    pub(crate) memory_hash: Option<String>,
}

impl CallReport {
    /// Creates the report of a call that was not made.
    pub(crate) fn failed(failure: Failure) -> Self {
        CallReport {
            ended: CallEnd::Failed(failure),
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

/// Texts of a call: `result` of the shim. They are truncated if a script controls their length,
/// except `text`, which has its own limit.
#[derive(Debug, Default)]
pub(crate) struct CallTexts {
    pub(crate) class: String,
    pub(crate) message: String,
    pub(crate) stack: String,
    pub(crate) text: Vec<u8>,
}

const MAX_CLASS_BYTES: usize = 200;
const MAX_MESSAGE_BYTES: usize = 4 << 10;
const MAX_STACK_BYTES: usize = 8 << 10;

/// `result` of the shim, in its memory layout.
pub(crate) struct ResultFields([u32; ResultFields::COUNT]);

impl ResultFields {
    const COUNT: usize = 8;

    /// Reads the result; `None` if it is outside of memory.
    pub(crate) fn read(memory: &[u8], address: u32) -> Option<Self> {
        let bytes = slice(memory, address, 4 * ResultFields::COUNT as u32)?;
        let mut words = bytes
            .chunks_exact(4)
            .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]));
        Some(ResultFields(std::array::from_fn(|_| {
            words.next().unwrap_or(0)
        })))
    }

    /// Returns the length of the text before it is copied.
    pub(crate) fn text_length(&self) -> usize {
        self.0[7] as usize
    }

    pub(crate) fn texts(&self, memory: &[u8]) -> Option<CallTexts> {
        let field = |index: usize| slice(memory, self.0[index], self.0[index + 4]);
        let text = |index: usize, limit| field(index).map(|bytes| cut(bytes, limit));
        Some(CallTexts {
            class: text(0, MAX_CLASS_BYTES)?,
            message: text(1, MAX_MESSAGE_BYTES)?,
            stack: text(2, MAX_STACK_BYTES)?,
            text: field(3)?.to_vec(),
        })
    }
}

impl CallTexts {
    pub(crate) fn text(&self) -> String {
        cut(&self.text, MAX_MESSAGE_BYTES)
    }

    /// Returns the position of the throw from the stack trace. Skips frames of the class's
    /// constructors and frames of generated code, which have no line.
    pub(crate) fn position(&self) -> Option<Position> {
        let constructor = format!("at {} (", self.class);
        let thrown = self.stack.rsplit_once(&constructor);
        CallTexts::first_position(
            thrown
                .and_then(|(_, stack)| Some(stack.split_once('\n')?.1))
                .unwrap_or_default(),
        )
        .or_else(|| CallTexts::first_position(&self.stack))
    }

    fn first_position(stack: &str) -> Option<Position> {
        stack.match_indices("hook.js:").find_map(|(at, found)| {
            let mut numbers = stack[at + found.len()..].split(|c: char| !c.is_ascii_digit());
            Some(Position {
                line: numbers.next()?.parse().ok()?,
                column: numbers.next()?.parse().ok()?,
            })
            .filter(|position| position.line > 0 && position.column > 0)
        })
    }

    /// Returns the minimum stack depth that a call must have reached to fail in this way for lack
    /// of stack; `None` if it failed for another reason. A script can throw such an exception
    /// itself, but not at that depth without having used the stack. The compiler of sources and
    /// regular expressions may report any error when it runs out of stack.
    pub(super) fn least_depth(&self, status: Status, stack: usize) -> Option<usize> {
        /// Bytes of the last frames that may be unwritten.
        const MAX_FRAME_BYTES: usize = 4 << 10;
        match (status, self.class.as_str(), self.message.as_str()) {
            (Status::Syntax, ..) | (Status::Thrown, "SyntaxError", "stack overflow") => {
                Some(stack.saturating_sub(MAX_FRAME_BYTES))
            }
            // A call is refused as a whole, with all local variables of the function.
            (Status::Thrown | Status::NoData, "RangeError", "Maximum call stack size exceeded") => {
                Some(stack - stack / 4)
            }
            _ => None,
        }
    }

    /// Converts the exception to a failure.
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

/// Decodes at most `limit` bytes of a script's text. Unpaired surrogates, which are not valid
/// UTF-8, become replacement characters.
pub(crate) fn cut(bytes: &[u8], limit: usize) -> String {
    let mut bytes_of_text = bytes[..bytes.len().min(limit)].to_vec();
    let mut at = 0;
    // An unpaired surrogate has three bytes, each of which would become a replacement character.
    while let Some(half) = bytes_of_text[at..]
        .windows(3)
        .position(|three| matches!(three, [0xed, 0xa0..=0xbf, 0x80..=0xbf]))
    {
        at += half + 3;
        bytes_of_text[at - 3..at].copy_from_slice("\u{fffd}".as_bytes());
    }
    let mut text = String::from_utf8_lossy(&bytes_of_text).into_owned();
    if bytes.len() > limit {
        // The cut may have split a character.
        while text.ends_with('\u{fffd}') {
            text.pop();
        }
        text.push('…');
    }
    text
}
