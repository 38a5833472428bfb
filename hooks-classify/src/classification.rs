//! Classification: findings in, [`Classification`] out: class, decision, confidence and reason.

use std::fmt;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::model::effect::Crud;
use crate::model::finding::{Certainty, SpanFinding};
use crate::model::parts::Parts;
use crate::model::span::Span;
use crate::model::terminal_input::TerminalInput;

/// Decision about a command.
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Decision {
    /// The command may run: it only reads.
    AutoAllowed,
    /// A person must confirm the command: it changes something, is unknown, or reads secrets.
    RequiresConfirmation,
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AutoAllowed => "AUTO_ALLOWED",
            Self::RequiresConfirmation => "REQUIRES_CONFIRMATION",
        })
    }
}

/// Method by which a class was found.
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// Parsers and tables of programs.
    PatternMatch,
    /// A language model, which may only raise a class.
    Semantic,
    /// None: no table knows the part that decides, or the analysis
    /// [failed](Classification::has_failed).
    Fallback,
}

impl Method {
    /// Returns `true` if a classification by this method, with this confidence, is of a command that
    /// could not be analysed: see [`Classification::has_failed`].
    #[must_use]
    pub fn has_failed(self, confidence: f64) -> bool {
        self == Self::Fallback && confidence <= 0.0
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::PatternMatch => "pattern_match",
            Self::Semantic => "semantic",
            Self::Fallback => "fallback",
        })
    }
}

/// Effect of one span of a command, with the reason.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// Start of the span in the command, in bytes.
    pub start: usize,
    /// End of the span in the command, in bytes.
    pub end: usize,
    /// Start of the span in the command, in characters.
    pub start_character: usize,
    /// End of the span in the command, in characters.
    pub end_character: usize,
    /// Text of the span.
    pub part: String,
    /// Effect of the span.
    pub effect: Crud,
    /// `true` if the span needs confirmation, which a read of secrets does, too.
    pub ask: bool,
    /// Reason in one phrase: "`rm` deletes files".
    pub reason: String,
    /// `true` if the effect is known from the tables, or if the span runs code that the command does
    /// not show. If `false`, the effect is assumed.
    pub understood: bool,
}

/// Classification of a command, with the parts that it follows from.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CommandAnalysis {
    /// Effects of the command.
    pub classification: Classification,
    /// Parts of the command. If the analysis failed, there are none, and they are not
    /// [`complete`](Parts::complete).
    pub parts: Parts,
}

impl CommandAnalysis {
    pub(crate) fn new(classification: Classification, parts: Option<Parts>) -> Self {
        Self {
            classification,
            parts: parts.unwrap_or_default(),
        }
    }
}

/// Returns an analysis without parts, which no rule of a user can allow.
impl From<Classification> for CommandAnalysis {
    fn from(classification: Classification) -> Self {
        Self::new(classification, None)
    }
}

/// An effect of a tool that is not a shell; see [`Classification::of_tool`].
#[derive(Clone, Debug, PartialEq)]
pub struct ToolEffect {
    /// Effect of the tool.
    pub effect: Crud,
    /// `true` if the call needs confirmation even if it only reads.
    pub ask: bool,
    /// The reason.
    pub reason: String,
    /// `true` if the effect is known; `false` if it is assumed.
    pub understood: bool,
}

/// Class, decision and reason of one command.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Classification {
    /// Decision: run, or ask for confirmation.
    pub decision: Decision,
    /// Class: the strongest effect of the command.
    #[serde(rename = "classification")]
    pub crud: Crud,
    /// Reason of the finding that decided, in one phrase.
    pub reasoning: String,
    /// Probability that the class is right, from 0 to 1.
    pub confidence: f64,
    /// Reasons of the strongest findings in sentences, for people.
    pub explanation: String,
    /// Method by which the class was found.
    #[serde(rename = "classification_method")]
    pub method: Method,
    /// Kind of commands that programs take from the terminal. They are not classified.
    #[serde(default, skip_serializing_if = "takes_none")]
    pub terminal_input: TerminalInput,
    /// `true` if the classification took longer than it may.
    #[serde(skip)]
    pub timed_out: bool,
    /// Context that the caller gave.
    #[serde(skip)]
    pub context: Option<String>,
    /// All findings; the finding that decided is the first.
    #[serde(skip)]
    pub findings: Vec<Finding>,
}

impl Classification {
    /// Classifies the call of a tool that is not a shell by the effects that its caller knows. `line`
    /// describes the call; every finding is about all of it.
    #[must_use]
    pub fn of_tool(line: &str, effects: impl IntoIterator<Item = ToolEffect>) -> Self {
        let whole = Span::new(0, line.len());
        let finding = |effect: ToolEffect| SpanFinding {
            span: whole,
            effect: effect.effect,
            ask: effect.ask,
            reason: effect.reason,
            certainty: match effect.understood {
                true => Certainty::Known,
                false => Certainty::Guess,
            },
        };
        let found: Vec<SpanFinding> = effects.into_iter().map(finding).collect();
        Self::new(line, &found, true)
    }

    /// Returns the explanation without its statement about approval, for a caller whose own rules
    /// decide.
    #[must_use]
    pub fn explanation_of_effects(&self) -> String {
        let (full, effects) = closing(self.crud, self.decision == Decision::RequiresConfirmation);
        match self.explanation.strip_suffix(full) {
            Some(findings) => format!("{findings}{effects}"),
            None => self.explanation.clone(),
        }
    }

    pub(crate) fn new(command: &str, found: &[SpanFinding], agreed: bool) -> Self {
        let crud = found
            .iter()
            .map(|finding| finding.effect)
            .max()
            .unwrap_or(Crud::Read);
        let ask = crud != Crud::Read || found.iter().any(|finding| finding.ask);
        let deciding = found
            .iter()
            .enumerate()
            .filter(|(_, finding)| finding.effect == crud)
            .min_by_key(|(at, finding)| {
                (ask && !finding.ask, certainty_rank(finding.certainty), *at)
            })
            .map_or(0, |(at, _)| at);
        let characters = CharPositions::of(command);
        let mut findings: Vec<Finding> = found
            .iter()
            .map(|finding| public_finding(command, &characters, finding))
            .collect();
        if !findings.is_empty() {
            findings[..=deciding].rotate_right(1);
        }
        let reasoning = match findings.first() {
            Some(first) => first.reason.clone(),
            None => "nothing in it changes anything".to_owned(),
        };
        let certainty = found
            .get(deciding)
            .map_or(Certainty::Known, |finding| finding.certainty);
        let confidence = confidence(crud, certainty, agreed);
        let explanation = explanation(crud, ask, &findings);
        let decision = if ask {
            Decision::RequiresConfirmation
        } else {
            Decision::AutoAllowed
        };
        // No table matched the part that decided.
        let method = match certainty {
            Certainty::Guess => Method::Fallback,
            Certainty::Known | Certainty::Likely => Method::PatternMatch,
        };
        Self {
            decision,
            crud,
            reasoning,
            confidence,
            explanation,
            method,
            terminal_input: TerminalInput::None,
            timed_out: false,
            context: None,
            findings,
        }
    }

    /// Returns `true` if text that is typed into the terminal of the command can run other
    /// commands, directly or through a pager.
    #[must_use]
    pub fn takes_terminal_input(&self) -> bool {
        self.terminal_input != TerminalInput::None
    }

    /// Returns `true` if the tables know every part of the command. Returns `false` if a language model
    /// decided.
    #[must_use]
    pub fn understood(&self) -> bool {
        let known = self.findings.iter().all(|finding| finding.understood);
        known && self.method == Method::PatternMatch
    }

    /// Returns `true` if the command could not be analysed, or not in time: the class is assumed. A
    /// command of an unknown program was analysed; its class is a guess.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.method.has_failed(self.confidence)
    }

    /// Returns the classification of a command that could not be analysed: CREATE, to be confirmed.
    #[must_use]
    pub fn fallback(why: &str) -> Self {
        Self {
            decision: Decision::RequiresConfirmation,
            crud: Crud::Create,
            reasoning: format!("{why}; defaulting to safest option"),
            confidence: 0.0,
            explanation: format!("{why}. Defaulting to CREATE (safest) to require confirmation."),
            method: Method::Fallback,
            terminal_input: TerminalInput::None,
            timed_out: false,
            context: None,
            findings: Vec::new(),
        }
    }

    /// Returns the classification of a command that was not classified within two seconds: CREATE, to be
    /// confirmed.
    #[must_use]
    pub fn timed_out() -> Self {
        Self {
            reasoning: "Classification timed out; defaulting to safest option".to_owned(),
            explanation: "The classifier could not determine the command type within 2 seconds. \
                          Defaulting to CREATE (safest) to require confirmation."
                .to_owned(),
            timed_out: true,
            ..Self::fallback("")
        }
    }
}

fn takes_none(input: &TerminalInput) -> bool {
    *input == TerminalInput::None
}

/// Returns the share of right classes in the corpora for this certainty, as the page on the classifier
/// lists them, rounded.
fn confidence(crud: Crud, sure: Certainty, agreed: bool) -> f64 {
    match (crud, sure, agreed) {
        // No other reading can be stronger.
        (Crud::Delete, _, false) => 0.9,
        (_, _, false) => 0.6,
        (Crud::Read | Crud::Delete, Certainty::Known, true) => 0.99,
        (_, Certainty::Known, true) => 0.98,
        // A read that needs confirmation.
        (Crud::Read, Certainty::Likely, true) => 0.95,
        (_, Certainty::Likely, true) => 0.87,
        (_, Certainty::Guess, true) => 0.5,
    }
}

fn certainty_rank(sure: Certainty) -> u8 {
    match sure {
        Certainty::Known => 0,
        Certainty::Likely => 1,
        Certainty::Guess => 2,
    }
}

/// Byte positions of the characters of a text; `None` if every character is one byte.
struct CharPositions(Option<Vec<usize>>);

impl CharPositions {
    fn of(text: &str) -> Self {
        Self((!text.is_ascii()).then(|| text.char_indices().map(|(at, _)| at).collect()))
    }

    /// Returns the number of characters that begin before a byte.
    fn count_before(&self, byte: usize) -> usize {
        self.0
            .as_ref()
            .map_or(byte, |starts| starts.partition_point(|start| *start < byte))
    }
}

fn public_finding(command: &str, characters: &CharPositions, finding: &SpanFinding) -> Finding {
    let Range { start, end } = finding.span.within(command);
    Finding {
        start,
        end,
        start_character: characters.count_before(start),
        end_character: characters.count_before(end),
        part: command[start..end].to_owned(),
        effect: finding.effect,
        ask: finding.ask,
        reason: finding.reason.clone(),
        understood: finding.certainty != Certainty::Guess,
    }
}

fn explanation(crud: Crud, ask: bool, findings: &[Finding]) -> String {
    let mut text = String::new();
    for finding in findings
        .iter()
        .filter(|f| f.effect == crud || f.ask)
        .take(5)
    {
        let part: String = finding.part.chars().take(80).collect();
        text.push_str(&format!("`{part}`: {}. ", finding.reason));
    }
    text.push_str(closing(crud, ask).0);
    text
}

/// Returns the last sentence of an explanation, with and without its statement about approval.
fn closing(crud: Crud, ask: bool) -> (&'static str, &'static str) {
    match (crud, ask) {
        (Crud::Read, false) => (
            "Nothing changes; no confirmation needed.",
            "Nothing changes.",
        ),
        (Crud::Read, true) => (
            "Nothing changes, but what it reads or sends requires approval.",
            "Nothing changes.",
        ),
        (Crud::Create, _) => (
            "This creates something or runs code, and requires approval.",
            "This creates something or runs code.",
        ),
        (Crud::Update, _) => (
            "This changes something that exists, and requires approval.",
            "This changes something that exists.",
        ),
        (Crud::Delete, _) => (
            "This deletes or discards something, and requires approval.",
            "This deletes or discards something.",
        ),
    }
}
