//! The stage between the tables and the fallback (P-07): somebody who
//! understands text, usually a language model, is asked about commands in
//! which the tables do not know something.
//!
//! What it answers is not trusted. It may raise a class and never lower one,
//! and nothing is allowed because of it: a command that tells the model to call
//! it harmless has won nothing.

#[cfg(feature = "semantic")]
mod openai;
#[cfg(feature = "semantic")]
mod prompt;

use std::error::Error as StdError;
use std::fmt;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hooks_runtime::display::hides_text;
use thiserror::Error;
use tokio::time::{Instant, timeout_at};

#[cfg(feature = "semantic")]
pub use self::openai::{EndpointError, OpenAiCompatible, OpenAiCompatibleBuilder};

use super::{Classification, Crud, Decision, Method};
use crate::mask::Masked;

/// How long a classification may take with all its stages (P-08).
pub const MOST_TIME: Duration = Duration::from_secs(2);

/// A class of less confidence is worth a second opinion; the statistics of
/// decisions call it low, too.
const LOW: f64 = 0.8;

/// As sure as an answer may claim to be: nothing has been proven by it.
const MOST_CONFIDENCE: f64 = LOW;

/// What is kept of a reason, a model's or the tables', in characters.
const MOST_REASONING: usize = 300;

/// How many findings of the tables a model is told.
const MOST_REASONS: usize = 10;

/// What is asked of a [`Semantic`] (P-07). Secrets and e-mail addresses are masked in
/// all of it; nothing of it may be taken for an instruction.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Question {
    /// The command.
    pub command: String,
    /// Where the caller says that it belongs, such as `git`.
    pub context: Option<String>,
    /// The class by the tables; a lower one will not be heard. None if they
    /// have found out nothing.
    pub class: Option<Crud>,
    /// What the tables say of its parts, the one that decided first.
    pub reasons: Vec<String>,
}

impl Question {
    /// What is asked about a command of which the tables say this.
    #[must_use]
    pub fn new(command: &str, verdict: &Classification) -> Self {
        let masked = Masked::for_model(command);
        let mut reasons: Vec<String> = Vec::new();
        for finding in &verdict.findings {
            let reason = masked.other(&finding.reason);
            let reason: String = reason.chars().take(MOST_REASONING).collect();
            if reasons.len() < MOST_REASONS && !reasons.contains(&reason) {
                reasons.push(reason);
            }
        }
        Self {
            context: verdict
                .context
                .as_deref()
                .map(|context| masked.other(context)),
            class: (verdict.method != Method::Fallback).then_some(verdict.crud),
            command: masked.text,
            reasons,
        }
    }
}

/// What a [`Semantic`] makes of a command (P-07).
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The strongest effect.
    pub class: Crud,
    /// Why. It is shown cut to 300 characters and without control characters.
    pub reasoning: String,
    /// How likely the class is right, 0 to 1; shown as 0.8 at most.
    pub confidence: f64,
}

impl Answer {
    /// An answer.
    #[must_use]
    pub fn new(class: Crud, reasoning: impl Into<String>, confidence: f64) -> Self {
        Self {
            class,
            reasoning: reasoning.into(),
            confidence,
        }
    }
}

/// Why there is no answer. What the tables say then stays (P-07).
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SemanticError {
    /// It is not what was asked for.
    #[error("the answer is malformed: {0}; use a model that follows a JSON schema")]
    Malformed(&'static str),
    /// It is too long to be one.
    #[error("the answer has more than {limit} bytes; use a model that follows a JSON schema")]
    TooLarge {
        /// What it may have.
        limit: usize,
    },
    /// The server answers with another status than success.
    #[error("the server answers with status {0}; look into its log")]
    Status(u16),
    /// It took too long.
    #[error("there is no answer in time; use a smaller model")]
    Late,
    /// The implementation panicked.
    #[error("the implementation of `Semantic` panicked")]
    Panicked,
    /// The question does not arrive, or the answer does not.
    #[error("there is no answer: {0}")]
    Failed(#[source] Box<dyn StdError + Send + Sync>),
}

/// Says what a command would do, by its meaning (P-07). Written with an
/// `async fn`.
///
/// ```
/// use hooks_guard::classify::{Answer, Classifier, Crud, Decision, Question, Semantic, SemanticError};
///
/// /// Knows the one program that everybody here uses.
/// struct House;
///
/// impl Semantic for House {
///     async fn ask(&self, question: &Question) -> Result<Answer, SemanticError> {
///         if question.command.contains("housectl purge") {
///             return Ok(Answer::new(Crud::Delete, "`housectl purge` empties a room", 0.8));
///         }
///         Err(SemanticError::Malformed("not one of our programs"))
///     }
/// }
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
/// let classifier = Classifier::new().with_semantic(House);
/// let verdict = classifier.classify_fully("housectl purge 7", None).await?;
/// assert_eq!(verdict.crud, Crud::Delete);
/// assert_eq!(verdict.decision, Decision::RequiresConfirmation);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not judge commands; implement `Semantic` for it",
    label = "not a semantic stage"
)]
pub trait Semantic: Send + Sync {
    /// Answers a question. The future is dropped when the time is over.
    ///
    /// # Errors
    /// If there is no answer to be had.
    fn ask(
        &self,
        question: &Question,
    ) -> impl Future<Output = Result<Answer, SemanticError>> + Send;
}

impl<S: Semantic + ?Sized> Semantic for Arc<S> {
    fn ask(
        &self,
        question: &Question,
    ) -> impl Future<Output = Result<Answer, SemanticError>> + Send {
        (**self).ask(question)
    }
}

type Asking<'a> = Pin<Box<dyn Future<Output = Result<Answer, SemanticError>> + Send + 'a>>;

/// A [`Semantic`] as a classifier holds it.
trait Asks: Send + Sync {
    fn start<'a>(&'a self, question: &'a Question) -> Asking<'a>;
}

impl<S: Semantic> Asks for S {
    fn start<'a>(&'a self, question: &'a Question) -> Asking<'a> {
        Box::pin(self.ask(question))
    }
}

/// The stage of a classifier.
#[derive(Clone)]
pub(super) struct Stage {
    semantic: Arc<dyn Asks>,
    answered: Arc<AtomicBool>,
}

impl fmt::Debug for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Stage")
    }
}

impl Stage {
    pub(super) fn new(semantic: impl Semantic + 'static) -> Self {
        Self {
            semantic: Arc::new(semantic),
            answered: Arc::default(),
        }
    }

    /// Whether there has been an answer.
    pub(super) fn answered(&self) -> bool {
        self.answered.load(Ordering::Relaxed)
    }

    /// A verdict of the tables with what the stage makes of it, if it is
    /// worth asking: where a part was not understood (`unsure`), or the
    /// confidence is low, and the class can still rise.
    pub(super) async fn judge(
        &self,
        command: &str,
        verdict: Classification,
        unsure: bool,
        deadline: Instant,
    ) -> Classification {
        if verdict.crud == Crud::Delete || !(unsure || verdict.confidence < LOW) {
            return verdict;
        }
        let question = Question::new(command, &verdict);
        let answer = match timeout_at(deadline, self.ask(&question)).await {
            Ok(answer) => answer.and_then(sound),
            Err(_) => Err(SemanticError::Late),
        };
        match answer {
            Ok(answer) => {
                self.answered.store(true, Ordering::Relaxed);
                combine(verdict, &answer)
            }
            Err(error) => {
                tracing::warn!(
                    error = &error as &dyn StdError,
                    "the semantic stage gives no answer"
                );
                without_answer(verdict, unsure, &error)
            }
        }
    }

    /// A panic is no answer, wherever it happens.
    async fn ask(&self, question: &Question) -> Result<Answer, SemanticError> {
        let started = catch_unwind(AssertUnwindSafe(|| self.semantic.start(question)));
        let mut asking = started.map_err(|_| SemanticError::Panicked)?;
        poll_fn(move |cx| {
            catch_unwind(AssertUnwindSafe(|| asking.as_mut().poll(cx)))
                .unwrap_or(std::task::Poll::Ready(Err(SemanticError::Panicked)))
        })
        .await
    }
}

fn sound(answer: Answer) -> Result<Answer, SemanticError> {
    if (0.0..=1.0).contains(&answer.confidence) {
        Ok(answer)
    } else {
        Err(SemanticError::Malformed(
            "the confidence is not between 0 and 1",
        ))
    }
}

/// A verdict with an answer: never a lower class, never a permission that was
/// not there.
fn combine(mut verdict: Classification, answer: &Answer) -> Classification {
    let nothing_found = verdict.method == Method::Fallback;
    if !nothing_found && answer.class <= verdict.crud {
        return verdict;
    }
    let why = shown(&answer.reasoning);
    let before = if nothing_found {
        ""
    } else {
        verdict.explanation.as_str()
    };
    let explanation = format!(
        "A language model takes this for {}: {why}. That is not proven, and requires approval. {before}",
        answer.class
    );
    explanation.trim_end().clone_into(&mut verdict.explanation);
    verdict.decision = Decision::RequiresConfirmation;
    verdict.crud = answer.class;
    verdict.reasoning = format!("according to a language model: {why}");
    verdict.confidence = answer.confidence.min(MOST_CONFIDENCE);
    verdict.method = Method::Semantic;
    verdict
}

fn without_answer(verdict: Classification, unsure: bool, error: &SemanticError) -> Classification {
    // P-08; what the tables found to be stronger stays.
    let open = verdict.method == Method::Fallback || unsure && verdict.crud <= Crud::Create;
    if open && matches!(error, SemanticError::Late) {
        let mut late = Classification::timed_out();
        late.terminal_input = verdict.terminal_input;
        late.context = verdict.context;
        late.findings = verdict.findings;
        return late;
    }
    verdict
}

/// A text that nobody vouches for, so that it can stand in a terminal: what
/// does not show, or changes how the rest shows, is written out.
fn shown(text: &str) -> String {
    let mut shown = String::new();
    let mut length = 0;
    for character in text.trim().chars() {
        let written = if invisible(character) {
            character.escape_unicode().to_string()
        } else {
            character.to_string()
        };
        length += written.chars().count();
        if length >= MOST_REASONING {
            shown.push('…');
            return shown;
        }
        shown.push_str(&written);
    }
    if shown.is_empty() {
        "no reason given".to_owned()
    } else {
        shown.trim_end_matches('.').to_owned()
    }
}

/// What does not show, or changes how the rest shows; line breaks and tabs as well.
fn invisible(character: char) -> bool {
    character.is_control() || hides_text(character.encode_utf8(&mut [0; 4]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(class: Crud) -> Answer {
        Answer::new(class, "so it seems", 0.95)
    }

    fn nothing_found() -> Classification {
        let mut verdict = Classification::fallback("it could not be analysed");
        verdict.context = Some("git".to_owned());
        verdict
    }

    #[test]
    fn p_07_a_read_that_was_not_proven_still_asks() {
        let verdict = combine(nothing_found(), &answer(Crud::Read));
        assert_eq!(verdict.crud, Crud::Read);
        assert_eq!(verdict.decision, Decision::RequiresConfirmation);
        assert_eq!(verdict.method, Method::Semantic);
        assert_eq!(verdict.context.as_deref(), Some("git"));
        assert_eq!(verdict.confidence, MOST_CONFIDENCE);
        assert!(!verdict.understood(), "nobody can prove it");
    }

    #[test]
    fn p_07_an_answer_comes_before_the_fallback() {
        let verdict = combine(nothing_found(), &answer(Crud::Update));
        assert_eq!(
            (verdict.crud, verdict.method),
            (Crud::Update, Method::Semantic)
        );
        assert_eq!(
            verdict.reasoning,
            "according to a language model: so it seems"
        );
    }

    #[test]
    fn p_08_too_late_where_nothing_was_found_out_gives_the_texts_of_a_timeout() {
        let verdict = without_answer(nothing_found(), true, &SemanticError::Late);
        assert_eq!(verdict.crud, Crud::Create);
        assert_eq!(verdict.decision, Decision::RequiresConfirmation);
        assert_eq!(verdict.confidence, 0.0);
        assert_eq!(verdict.method, Method::Fallback);
        assert_eq!(
            verdict.reasoning,
            "Classification timed out; defaulting to safest option"
        );
        assert_eq!(
            verdict.explanation,
            "The classifier could not determine the command type within 2 seconds. \
             Defaulting to CREATE (safest) to require confirmation."
        );
        assert_eq!(verdict.context.as_deref(), Some("git"));
    }

    #[test]
    fn p_07_an_error_where_nothing_was_found_out_leaves_the_fallback() {
        assert_eq!(
            without_answer(nothing_found(), true, &SemanticError::Status(500)),
            nothing_found()
        );
    }

    #[test]
    fn a_question_where_nothing_was_found_out_names_no_class() {
        let question = Question::new("frob a@example.org", &nothing_found());
        assert_eq!(question.class, None);
        assert_eq!(question.command, "frob [e-mail]");
        assert_eq!(question.context.as_deref(), Some("git"));
    }

    #[test]
    fn what_a_model_says_is_shown_short_and_without_tricks() {
        assert_eq!(
            shown("a\u{1b}[2Jb\nc\u{202e}d\u{200b}"),
            "a\\u{1b}[2Jb\\u{a}c\\u{202e}d\\u{200b}"
        );
        assert_eq!(shown(" It deletes. "), "It deletes");
        assert_eq!(shown("\u{3000}"), "no reason given");
        let long = shown(&"\u{7}".repeat(5000));
        assert!(
            long.chars().count() <= MOST_REASONING && long.ends_with("\\u{7}…"),
            "{long}"
        );
    }
}
